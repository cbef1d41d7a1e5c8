/**
 * Regular expressions that take time in proportion to the text, whatever the expression is: all
 * ways through it are followed at once (K. Thompson, 1968), and the result for each character is
 * remembered. A backtracking engine takes quadratic time for `.*[a-z]+@`, and more for others.
 */

/** Whether a step accepts this character. */
type Atom = (character: string) => boolean

/** A step through the expression: it consumes a character, or leads on without one. */
interface MatchStep {
  readonly atom: Atom | undefined
  next: readonly number[]
}

/** A part of the expression, to be copied as often as its quantifier says. */
type PatternPart =
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

/** The last step is the end. */
function buildSteps(alternatives: readonly (readonly PatternPart[])[]): readonly MatchStep[] {
  const steps: MatchStep[] = []
  const add = (atom: Atom | undefined, next: readonly number[]): number => {
    if (steps.length >= stepsMax) throw new SyntaxError(`the pattern has more than ${stepsMax} steps`)
    return steps.push({ atom, next }) - 1
  }
  const atoms = new Map<string, Atom>()
  const atomOf = (source: string): Atom => {
    const expression = new RegExp(`^(?:${source})$`, 'v')
    const matches = atoms.get(source) ?? (character => expression.test(character))
    atoms.set(source, matches)
    return matches
  }
  /** Adds the part behind a step that leads to it; gives the step in which it ends. */
  const addPart = (part: PatternPart, from: number): number => {
    switch (part.kind) {
      case 'atom': {
        const at = add(atomOf(part.source), [])
        lead(from, at)
        return at
      }
      case 'choice': {
        const ends = part.alternatives.map(each => {
          const start = add(undefined, [])
          lead(from, start)
          return each.reduce((at, one) => addPart(one, at), start)
        })
        const end = add(undefined, [])
        for (const each of ends) lead(each, end)
        return end
      }
      case 'repeat':
        return addRepeat(part, from)
    }
  }
  const addRepeat = ({ of, min, max }: Extract<PatternPart, { kind: 'repeat' }>, from: number): number => {
    let at = from
    for (let count = 0; count < min; count++) at = addPart(of, at)
    if (max === Number.POSITIVE_INFINITY) {
      const again = add(undefined, [])
      lead(at, again)
      lead(addPart(of, again), again)
      return again
    }
    const end = add(undefined, [])
    for (let count = min; count < max; count++) {
      lead(at, end)
      at = addPart(of, at)
    }
    lead(at, end)
    return end
  }
  const lead = (from: number, to: number): void => {
    steps[from]!.next = [...steps[from]!.next, to]
  }
  const last = addPart({ kind: 'choice', alternatives }, add(undefined, []))
  lead(last, add(undefined, []))
  return steps
}

// From the source to parts

function parsePattern(source: string): readonly (readonly PatternPart[])[] {
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
