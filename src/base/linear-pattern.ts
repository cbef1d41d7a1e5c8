/**
 * Regular expressions that take time in proportion to the text, whatever the expression is: all
 * ways through it are followed at once (K. Thompson, 1968), and the result for each character is
 * remembered. A backtracking engine takes quadratic time for `.*[a-z]+@`, and more for others.
 */

/** Whether a step accepts this character. */
export type Atom = (character: string) => boolean

/** A step through the expression: it consumes a character, or leads on without one. */
export interface MatchStep {
  readonly atom: Atom | undefined
  next: readonly number[]
  /**
   * It ends a turn that began at one of these steps and took a character: beyond the fewest turns,
   * repetitions have no empty ones (ECMA-262 §22.2.2.3.1).
   */
  turnStarts?: readonly number[]
}

/** A part of the expression, to be copied as often as its quantifier says. */
export type PatternPart =
  | { readonly kind: 'atom'; readonly source: string }
  | { readonly kind: 'choice'; readonly alternatives: readonly (readonly PatternPart[])[] }
  | { readonly kind: 'repeat'; readonly of: PatternPart; readonly min: number; readonly max: number }

/** Counted repetitions are written out: an expression with more steps than this is refused. */
const stepsMax = 4000
/** This many sets of places are remembered; then the memory is emptied. */
const placesMax = 256
/** A text that leads to as many new sets is followed without remembering any more of them. */
const newPlacesMax = 300

/** An expression of `xsd-pattern.ts`: classes, groups, bars and quantifiers. @throws SyntaxError */
export class LinearPattern {
  readonly #steps: readonly MatchStep[]
  readonly #start: MatchPlaces
  readonly #known = new Map<string, MatchPlaces>()

  constructor(source: string) {
    this.#steps = buildSteps(parsePattern(source))
    this.#start = this.#placesOf([0])
  }

  /** Whether it matches all of the text. */
  test(text: string): boolean {
    let places = this.#start
    let [offset, moves] = [0, 0]
    for (const character of text) {
      const known = places.next.get(character)
      if (!known && ++moves > newPlacesMax) return this.#follow(places.at, text.slice(offset))
      places = known ?? this.#move(places, character)
      if (places.at.length === 0) return false
      offset += character.length
    }
    return places.isEnd
  }

  /**
   * Like `test`, but from these places and without remembering sets. For a set that no text reaches
   * twice, it takes a tenth of the time: some ten nanoseconds for each step and character, so a
   * bound on the steps bounds the time.
   */
  #follow(from: readonly number[], text: string): boolean {
    const reachedIn = new Uint32Array(this.#steps.length)
    let [at, reached]: [number[], number[]] = [[...from], []]
    let turn = 0
    const reachAll = (all: readonly number[]): void => {
      for (const each of all) {
        if (reachedIn[each] === turn) continue
        reachedIn[each] = turn
        reached.push(each)
      }
    }
    for (const character of text) {
      turn++
      const takers = new Map<Atom | undefined, boolean>([[undefined, false]])
      for (const each of at) {
        const { atom, next } = this.#steps[each]!
        const takes = takers.get(atom) ?? atom?.(character) ?? false
        takers.set(atom, takes)
        if (takes) reachAll(next)
      }
      // The list grows while it is read: steps without a character lead on.
      for (const each of reached) if (!this.#steps[each]!.atom) reachAll(this.#steps[each]!.next)
      if (reached.length === 0) return false
      ;[at, reached] = [reached, []]
    }
    return at.some(each => this.#isEnd(each))
  }

  #move(from: MatchPlaces, character: string): MatchPlaces {
    const taken = from.at.flatMap(at => {
      const { atom, next } = this.#steps[at]!
      return atom?.(character) ? next : []
    })
    const places = this.#placesOf(taken)
    if (from.next.size < placesMax) from.next.set(character, places)
    return places
  }

  /** These places, and all that are reached from them without a character. */
  #placesOf(from: readonly number[]): MatchPlaces {
    const all = new Set(from)
    for (const at of all) if (!this.#steps[at]!.atom) for (const each of this.#steps[at]!.next) all.add(each)
    const at = [...all].filter(each => this.#steps[each]!.atom || this.#isEnd(each)).sort((one, other) => one - other)
    const name = at.join()
    const known = this.#known.get(name)
    if (known) return known
    if (this.#known.size >= placesMax) this.#forget()
    const places = { at, isEnd: at.some(each => this.#isEnd(each)), next: new Map<string, MatchPlaces>() }
    this.#known.set(name, places)
    return places
  }
  #isEnd(at: number): boolean {
    return at === this.#steps.length - 1
  }
  #forget(): void {
    for (const { next } of this.#known.values()) next.clear()
    this.#known.clear()
  }
}

/** Where a match may be. */
interface MatchPlaces {
  readonly at: readonly number[]
  readonly isEnd: boolean
  readonly next: Map<string, MatchPlaces>
}

// From parts to steps

/** The last step is the end. @throws SyntaxError if there are too many */
export function buildSteps(alternatives: readonly (readonly PatternPart[])[]): readonly MatchStep[] {
  const builder = new StepBuilder()
  const last = builder.addPart({ kind: 'choice', alternatives }, builder.add())
  builder.addBehind(last)
  return builder.steps
}

class StepBuilder {
  readonly steps: MatchStep[] = []
  readonly #atoms = new Map<string, Atom>()

  add(atom?: Atom, next: readonly number[] = []): number {
    if (this.steps.length >= stepsMax) throw new SyntaxError(`the pattern has more than ${stepsMax} steps`)
    return this.steps.push({ atom, next }) - 1
  }

  addBehind(from: number, atom?: Atom): number {
    const at = this.add(atom)
    this.#lead(from, at)
    return at
  }

  /** Adds the part behind a step that leads to it; gives the step in which it ends. */
  addPart(part: PatternPart, from: number): number {
    switch (part.kind) {
      case 'atom':
        return this.addBehind(from, this.#atomOf(part.source))
      case 'choice': {
        const ends = part.alternatives.map(each =>
          each.reduce((at, one) => this.addPart(one, at), this.addBehind(from)),
        )
        const end = this.add()
        for (const each of ends) this.#lead(each, end)
        return end
      }
      case 'repeat':
        return this.#addRepeat(part, from)
    }
  }

  #addRepeat({ of, min, max }: Extract<PatternPart, { kind: 'repeat' }>, from: number): number {
    let at = from
    for (let count = 0; count < min; count++) at = this.addPart(of, at)
    if (max === Number.POSITIVE_INFINITY) return this.#addLoop(of, at)
    const end = this.add()
    for (let count = min; count < max; count++) {
      this.#lead(at, end)
      at = isNullable(of) ? this.#addTurn(of, at) : this.addPart(of, at)
    }
    this.#lead(at, end)
    return end
  }

  /** Entered and repeated by steps of their own: a loop around may enter it again at once. */
  #addLoop(of: PatternPart, from: number): number {
    const entry = this.addBehind(from)
    const last = this.addPart(of, entry)
    const [back, exit] = [this.add(undefined, this.steps[entry]!.next), this.add()]
    this.steps[back]!.turnStarts = [entry, back]
    this.#lead(last, back)
    for (const each of [entry, back]) this.#lead(each, exit)
    return exit
  }

  #addTurn(of: PatternPart, from: number): number {
    const start = this.addBehind(from)
    const end = this.addBehind(this.addPart(of, start))
    this.steps[end]!.turnStarts = [start]
    return end
  }

  #lead(from: number, to: number): void {
    this.steps[from]!.next = [...this.steps[from]!.next, to]
  }

  #atomOf(source: string): Atom {
    const expression = new RegExp(`^(?:${source})$`, 'v')
    const matches = this.#atoms.get(source) ?? (character => expression.test(character))
    this.#atoms.set(source, matches)
    return matches
  }
}

/** Whether it matches the empty text. */
const isNullable = (part: PatternPart): boolean =>
  part.kind === 'repeat'
    ? part.min === 0 || isNullable(part.of)
    : part.kind === 'choice' && part.alternatives.some(each => each.every(isNullable))

// From the source to parts

/** An expression of `xsd-pattern.ts` as its alternatives. @throws SyntaxError */
export function parsePattern(source: string): readonly (readonly PatternPart[])[] {
  const reader = new SourceReader(source)
  const alternatives = reader.alternatives()
  if (!reader.isAtEnd) throw new SyntaxError('a group ends that has not begun')
  return alternatives
}

const quantifier = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})/y
const simpleAtom = /\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\[\s\S]|[^()[\]{}|*+?]/uy

class SourceReader {
  readonly #source: string
  #at = 0
  constructor(source: string) {
    this.#source = source
  }
  get isAtEnd(): boolean {
    return this.#at >= this.#source.length
  }

  alternatives(): readonly (readonly PatternPart[])[] {
    const all: PatternPart[][] = [[]]
    while (!this.isAtEnd && this.#source[this.#at] !== ')') {
      if (this.#source[this.#at] === '|') {
        this.#at++
        all.push([])
      } else all.at(-1)?.push(this.#quantified(this.#one()))
    }
    return all
  }

  #one(): PatternPart {
    if (this.#source.startsWith('(?:', this.#at)) {
      this.#at += 3
      const alternatives = this.alternatives()
      if (this.#source[this.#at++] !== ')') throw new SyntaxError('a group does not end')
      return { kind: 'choice', alternatives }
    }
    const source = this.#source[this.#at] === '[' ? this.#classSource() : this.#match(simpleAtom)?.[0]
    if (source === undefined) throw new SyntaxError('a quantifier has nothing to repeat')
    return { kind: 'atom', source }
  }

  #quantified(part: PatternPart): PatternPart {
    const found = this.#match(quantifier)
    if (!found) return part
    const [sign, least, comma, most] = found
    if (least === undefined)
      return {
        kind: 'repeat',
        of: part,
        min: sign === '+' ? 1 : 0,
        max: sign === '?' ? 1 : Number.POSITIVE_INFINITY,
      }
    const min = Number(least)
    const max = comma === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most)
    if (max < min) throw new SyntaxError('a quantifier has its bounds in the wrong order')
    return { kind: 'repeat', of: part, min, max }
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source) ?? undefined
    if (found) this.#at = expression.lastIndex
    return found
  }

  /** Classes may be in classes. */
  #classSource(): string {
    const start = this.#at
    let depth = 0
    do {
      const character = this.#source[this.#at++]
      if (character === undefined) throw new SyntaxError('a class does not end')
      if (character === '\\') this.#at++
      if (character === '[') depth++
      if (character === ']') depth--
    } while (depth > 0)
    return this.#source.slice(start, this.#at)
  }
}
