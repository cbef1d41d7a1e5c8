/**
 * A regular expression as a graph of places, each of which takes a character, with the number of
 * ways from one to another: what `pattern-cost.ts` searches for texts with many ways.
 */
import { buildSteps, type MatchStep, type PatternPart } from './linear-pattern.ts'

/** Ways are counted up to this number; exponential growth reaches it within the counted length. */
export const waysMax = 1e9

export class TooComplex extends Error {}

/** Bounds the time in which a pattern is judged to some tenths of a second. */
export class Effort {
  #left = 5_000_000

  spend(looks: number): void {
    this.#left -= looks
    if (this.#left < 0) throw new TooComplex()
  }
}

/** Leads to a place in so many ways. */
export interface PlaceEdge {
  readonly to: number
  readonly ways: number
}

/** Places, each with the number of ways that lead there. */
type PlaceWays = ReadonlyMap<number, number>

/** Sets of places among which an end without a match is looked for, at most. */
const endsMax = 100

export interface PumpedText {
  readonly start: string
  readonly pump: string
}

interface CountedWays {
  readonly sums: readonly number[]
  readonly end: string | undefined
  /** No way is left: longer texts have no more. */
  readonly isOver: boolean
}

export class PatternGraph {
  readonly edges: readonly (readonly PlaceEdge[])[]
  /** One character for each set of places that take the same characters. */
  readonly letters: readonly string[]
  readonly #ends: ReadonlySet<number>
  readonly #effort: Effort
  readonly #reached = new Map<number, ReadonlySet<number>>()
  readonly #takes: ReadonlyMap<string, readonly boolean[]>

  /** @param copies as which counted repetitions are written out */
  static of(parts: readonly (readonly PatternPart[])[], copies: number, effort: Effort): PatternGraph {
    const letters = sampleCharacters(parts)
    for (let most = copies; ; most >>= 1)
      try {
        return new PatternGraph(
          buildSteps(parts.map(each => each.map(part => boundCopies(part, most)))),
          letters,
          effort,
        )
      } catch (thrown) {
        if (!(thrown instanceof SyntaxError) || most <= 1) throw thrown
      }
  }

  constructor(steps: readonly MatchStep[], letters: ReadonlySet<string>, effort: Effort) {
    effort.spend(steps.length * letters.size)
    this.#effort = effort
    const walks = steps.map(({ atom }, at) =>
      at === 0 || atom ? walkFrom(steps, at, effort) : { edges: [], isEnd: false },
    )
    this.edges = walks.map(({ edges }) => edges)
    this.#ends = new Set(walks.flatMap(({ isEnd }, at) => (isEnd ? [at] : [])))
    this.#takes = findTakers(steps, letters)
    this.letters = [...this.#takes.keys()]
  }

  /** Whether each character has one way at each place. */
  isDeterministic(): boolean {
    return this.edges.every(edges => {
      const reached = edges.flatMap(({ to, ways }) => (ways > 1 ? [to, to] : [to]))
      return this.letters.every(letter => reached.filter(to => this.takes(to, letter)).length < 2)
    })
  }

  /** Whether a word that is not empty leads from one place to the other. */
  leads(from: number, to: number): boolean {
    return this.#reachedFrom(from).has(to)
  }
  mayLead(from: number, to: number): boolean {
    return from === to || this.leads(from, to)
  }

  #reachedFrom(from: number): ReadonlySet<number> {
    const known = this.#reached.get(from)
    if (known) return known
    const all = new Set<number>(this.edges[from]!.map(({ to }) => to))
    for (const at of all) {
      this.#effort.spend(this.edges[at]!.length)
      for (const { to } of this.edges[at]!) all.add(to)
    }
    this.#reached.set(from, all)
    return all
  }

  takes(place: number, letter: string): boolean {
    return this.#takes.get(letter)?.[place] ?? false
  }

  /**
   * The ways that are tried for a text without a match of one character, of two, and so on, until
   * they are more than `waysMax`, or until no way is left. The end is undefined if no end is known
   * without a match.
   */
  countWays({ start, pump }: PumpedText, characters: number): CountedWays {
    const [before, repeated] = [[...start], [...pump]]
    const sums: number[] = []
    let at: PlaceWays = new Map([[0, 1]])
    for (let length = 0, sum = 0; length < characters && at.size > 0 && sum <= waysMax; length++) {
      at = this.#follow(at, before[length] ?? repeated[(length - before.length) % repeated.length]!)
      for (const ways of at.values()) sum += ways
      sums.push(sum)
    }
    return { sums, end: this.#findEnd(at), isOver: at.size === 0 }
  }

  /** The shortest end without a match, among the first sets of places that are found. */
  #findEnd(from: PlaceWays): string | undefined {
    const matches = (places: PlaceWays): boolean => [...places.keys()].some(place => this.#ends.has(place))
    if (!matches(from)) return ''
    const found = new Map<string, readonly [PlaceWays, string]>([['', [from, '']]])
    for (const [places, end] of found.values())
      for (const letter of this.letters) {
        const reached = this.#follow(places, letter)
        if (!matches(reached)) return end + letter
        if (found.size < endsMax) found.set([...reached.keys()].sort().join(), [reached, end + letter])
      }
    return undefined
  }

  #follow(from: PlaceWays, letter: string): PlaceWays {
    const reached = new Map<number, number>()
    for (const [place, count] of from) {
      this.#effort.spend(this.edges[place]!.length)
      for (const { to, ways } of this.edges[place]!)
        if (this.takes(to, letter)) reached.set(to, (reached.get(to) ?? 0) + count * ways)
    }
    return reached
  }
}

/** By letter: the places that take it. Of letters that the same places take, the first. */
function findTakers(steps: readonly MatchStep[], letters: Iterable<string>): ReadonlyMap<string, readonly boolean[]> {
  const found = new Map<string, readonly [string, readonly boolean[]]>()
  for (const letter of letters) {
    const takers = steps.map(({ atom }) => atom?.(letter) ?? false)
    const name = takers.map(Number).join('')
    if (!found.has(name)) found.set(name, [letter, takers])
  }
  return new Map(found.values())
}

/** Of usual sets of characters; those of the expression and their neighbours follow. */
const usualCharacters = 'aA0_ -.,:/@!\n\t\u00e9\u00df\u044f\u4e2d\u0663\u20ac\u2028\u0000\u{1f600}'
const codeForm = /\\u\{([0-9a-f]+)\}/g

function sampleCharacters(alternatives: readonly (readonly PatternPart[])[]): ReadonlySet<string> {
  const found = new Set(usualCharacters)
  const collect = (part: PatternPart): void => {
    if (part.kind === 'choice') part.alternatives.flat().forEach(collect)
    else if (part.kind === 'repeat') collect(part.of)
    else
      for (const [, code = ''] of part.source.matchAll(codeForm))
        for (const near of [0, -1, 1]) found.add(characterAt(Number.parseInt(code, 16) + near))
  }
  alternatives.flat().forEach(collect)
  return found
}

const characterAt = (code: number): string => String.fromCodePoint(Math.min(Math.max(code, 0), 0x10_ff_ff))

function boundCopies(part: PatternPart, most: number): PatternPart {
  if (part.kind === 'atom') return part
  if (part.kind === 'choice')
    return { ...part, alternatives: part.alternatives.map(each => each.map(one => boundCopies(one, most))) }
  const of = boundCopies(part.of, most)
  if (part.min === part.max) return { ...part, of, min: Math.min(part.min, most), max: Math.min(part.max, most) }
  return { ...part, of, min: Math.min(part.min, most), max: part.max > most ? Number.POSITIVE_INFINITY : part.max }
}

/**
 * The places that follow, each by as many ways as lead there without a character. No such way
 * passes a step twice.
 */
function walkFrom(steps: readonly MatchStep[], from: number, effort: Effort) {
  const found = new Map<number, number>()
  const passed = new Set<number>()
  let isEnd = false
  const walk = (at: number): void => {
    effort.spend(1)
    if (passed.has(at) || steps[at]!.turnStarts?.some(start => passed.has(start))) return
    if (at === steps.length - 1) isEnd = true
    if (steps[at]!.atom) return void found.set(at, (found.get(at) ?? 0) + 1)
    passed.add(at)
    for (const each of steps[at]!.next) walk(each)
    passed.delete(at)
  }
  for (const each of steps[from]!.next) walk(each)
  return { edges: [...found].map(([to, ways]): PlaceEdge => ({ to, ways })), isEnd }
}
