/**
 * How long the engine of JavaScript may take for a text: it tries one way through an expression
 * after the other, so a text that does not match takes a step for each character of each way. The
 * ways are counted for texts that repeat a part: a part that leads from a place in the expression
 * back to it in two ways doubles them each time, and one that leads from a loop to itself and to
 * another loop adds as many as it has been repeated (A. Weideman et al., CIAA 2016). Texts of other
 * kinds are not looked for, and back references are left out.
 */
import { attempt, isSyntaxError } from './attempt.ts'
import { convertConsumingParts } from './convert-pattern.ts'
import { buildSteps, type MatchStep, type PatternPart, parsePattern } from './linear-pattern.ts'

/** A text without a match that takes long, and how long. */
export interface CostlyText {
  /** Its beginning, the part that repeats, and an end that does not match. */
  readonly start: string
  readonly pump: string
  readonly end: string
  /** Steps for a text of so many characters. */
  readonly steps: number
  /** The number of characters up to which it takes no more steps than are allowed. */
  readonly charactersMax: number
}

/**
 * A text that takes more steps than `stepsMax`, an exponential one if there is any; `unjudged` if
 * the pattern is too complex.
 * @param pattern of a whole text, valid with the flag u
 * @param characters of the longest text
 */
export function findCostlyText(
  pattern: string,
  characters: number,
  stepsMax: number,
): CostlyText | 'unjudged' | undefined {
  if (!mayHaveManyWays(pattern)) return undefined
  const isTooComplex = (thrown: unknown): boolean => thrown instanceof TooComplex || isSyntaxError(thrown)
  const weighed = attempt(() => ({ costly: weighPattern(pattern, characters, stepsMax) }), isTooComplex)
  return weighed ? weighed.costly : 'unjudged'
}

function weighPattern(pattern: string, characters: number, stepsMax: number): CostlyText | undefined {
  const effort = new Effort()
  for (const source of convertConsumingParts(pattern)) {
    const parts = parsePattern(source)
    const length = Math.min(characters, longestMatch(parts) + 1)
    for (const each of weighTexts(parts, length, stepsMax, effort)) if (each.steps > stepsMax) return each
  }
  return undefined
}

class TooComplex extends Error {}

/** Bounds the time in which a pattern is judged to some tenths of a second. */
class Effort {
  #left = 5_000_000

  spend(looks: number): void {
    this.#left -= looks
    if (this.#left < 0) throw new TooComplex()
  }
}

/** Whether it has a choice and a repetition, or several of either. */
function mayHaveManyWays(pattern: string): boolean {
  const bare = pattern.replace(/\\(?:[pPu]\{[^}]*\}|.)/gsu, 'a').replace(/\[[^\]]*\]/g, 'a')
  const repetitions = bare.match(/[*+]|\?(?![:=!<])|\{/g) ?? []
  return repetitions.length > 1 || bare.split('|').length > 4 || (repetitions.length > 0 && bare.includes('|'))
}

/** In characters; infinite if nothing bounds it. */
const longestMatch = (alternatives: readonly (readonly PatternPart[])[]): number =>
  Math.max(0, ...alternatives.map(each => each.reduce((sum, part) => sum + longestOf(part), 0)))

function longestOf(part: PatternPart): number {
  if (part.kind === 'atom') return 1
  if (part.kind === 'choice') return longestMatch(part.alternatives)
  const one = longestOf(part.of)
  return one === 0 ? 0 : one * part.max
}

/** Counted repetitions that are written out more often than this become loops. */
const copiesMax = 64
/** The length of the texts whose ways are counted; longer ones are computed from these. */
const countedCharacters = 400

function* weighTexts(
  parts: readonly (readonly PatternPart[])[],
  characters: number,
  stepsMax: number,
  effort: Effort,
): Generator<CostlyText> {
  const exact = PatternGraph.of(parts, copiesMax, effort)
  if (exact.isDeterministic()) return
  for (const text of findPumps(PatternGraph.of(parts, 2, effort), effort)) {
    const { sums, end } = exact.countWays(text, Math.min(countedCharacters, characters))
    if (end !== undefined) yield { ...text, end, ...extrapolate(sums, characters, stepsMax) }
  }
}

/** Ways are counted up to this number; exponential growth reaches it within the counted length. */
const waysMax = 1e9
/** Growth by a higher power of the length is called exponential, as is that of a shorter text. */
const [powerMax, powerCharacters] = [7, 100]

/** @param sums of the ways for one character, for two, and so on */
function extrapolate(sums: readonly number[], characters: number, stepsMax: number) {
  const { length } = sums
  const [half = 0, whole = 0] = [sums[Math.floor(length / 2) - 1], sums[length - 1]]
  const power = Math.max(1, Math.log2(whole / Math.max(1, half)))
  const isExponential = whole > waysMax && (power > powerMax || length < powerCharacters)
  const exceeding = sums.findIndex(each => each > stepsMax)
  return {
    steps: isExponential ? Number.POSITIVE_INFINITY : whole * (characters / length) ** power,
    charactersMax: exceeding < 0 ? Math.floor(length * (stepsMax / whole) ** (1 / power)) : exceeding,
  }
}

// The expression as places, each of which takes a character

/** Leads to a place in so many ways. */
interface PlaceEdge {
  readonly to: number
  readonly ways: number
}

/** Places, each with the number of ways that lead there. */
type PlaceWays = ReadonlyMap<number, number>

/** Sets of places among which an end without a match is looked for, at most. */
const endsMax = 100

interface PumpedText {
  readonly start: string
  readonly pump: string
}

class PatternGraph {
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
   * they are more than `waysMax`. The end is undefined if no end is known without a match, or if
   * such texts soon have no way at all.
   */
  countWays({ start, pump }: PumpedText, characters: number): { sums: readonly number[]; end: string | undefined } {
    const [before, repeated] = [[...start], [...pump]]
    const sums: number[] = []
    let at: PlaceWays = new Map([[0, 1]])
    for (let length = 0, sum = 0; length < characters && at.size > 0 && sum <= waysMax; length++) {
      at = this.#follow(at, before[length] ?? repeated[(length - before.length) % repeated.length]!)
      for (const ways of at.values()) sum += ways
      sums.push(sum)
    }
    const isOver = (sums.at(-1) ?? 0) > waysMax
    return { sums, end: at.size > 0 || isOver ? this.#findEnd(at) : undefined }
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

// Texts that may have many ways

/** Texts that may have many ways, each once. */
function* findPumps(graph: PatternGraph, effort: Effort): Generator<PumpedText> {
  const seen = new Set<string>()
  for (const [place, pump] of listPumps(graph, effort)) {
    const start = findWord(graph, { from: [0], to: [place] }, effort)
    if (start === undefined || seen.has(`${start} ${pump}`)) continue
    seen.add(`${start} ${pump}`)
    yield { start, pump }
  }
}

/** Words, each with the place from which it may be repeated. */
function* listPumps(graph: PatternGraph, effort: Effort): Generator<readonly [place: number, pump: string]> {
  const places = graph.edges.flatMap((edges, place) => (place > 0 && edges.length > 0 ? [place] : []))
  const loops = places.filter(place => graph.leads(place, place))
  const search = (sought: SoughtWord): string | undefined => findWord(graph, sought, effort)
  for (const place of loops) {
    const pump = search({ from: [place, place], to: [place, place], apart: true })
    if (pump !== undefined) yield [place, pump]
  }
  for (const place of loops)
    for (const other of loops) {
      if (place === other || !graph.leads(place, other)) continue
      const pump = search({ from: [place, place, other], to: [place, other, other] })
      if (pump !== undefined) yield [place, pump]
    }
  // Without a loop there may still be many ways: for a letter again and again.
  for (const place of places) for (const letter of graph.letters) if (graph.takes(place, letter)) yield [place, letter]
}

interface SoughtWord {
  readonly from: readonly number[]
  readonly to: readonly number[]
  /** The first two ways must differ somewhere. */
  readonly apart?: boolean
}

/** The shortest word, empty only for one place, that leads all places to theirs. */
function findWord(graph: PatternGraph, { from, to, apart = false }: SoughtWord, effort: Effort): string | undefined {
  let visited: SearchVisit[] = [{ at: from, isApart: !apart, word: '' }]
  const seen = new Set<string>()
  const isFound = ({ at, isApart, word }: SearchVisit): boolean =>
    isApart && at.every((place, i) => place === to[i]) && (word !== '' || from.length === 1)
  if (isFound(visited[0]!)) return ''
  while (visited.length > 0) {
    const next: SearchVisit[] = []
    for (const visit of visited)
      for (const step of stepAll(graph, visit, to, effort)) {
        if (isFound(step)) return step.word
        const name = `${step.at.join()} ${step.isApart}`
        if (seen.has(name)) continue
        seen.add(name)
        next.push(step)
      }
    visited = next
  }
  return undefined
}

interface SearchVisit {
  readonly at: readonly number[]
  readonly isApart: boolean
  readonly word: string
}

/** All that one letter leads to, as far as it may still lead to what is sought. */
function* stepAll(graph: PatternGraph, { at, isApart, word }: SearchVisit, to: readonly number[], effort: Effort) {
  for (const letter of graph.letters) {
    const choices = at.map((place, i) =>
      graph.edges[place]!.filter(edge => graph.takes(edge.to, letter) && graph.mayLead(edge.to, to[i]!)),
    )
    effort.spend(at.reduce((sum, place) => sum + graph.edges[place]!.length, 0))
    for (const edges of combine(choices)) {
      effort.spend(20) // it is remembered
      const [first, second] = edges
      const differs = first?.to !== second?.to || (first !== undefined && first.ways > 1)
      yield { at: edges.map(edge => edge.to), isApart: isApart || differs, word: word + letter }
    }
  }
}

function* combine<T>([first, ...others]: readonly (readonly T[])[]): Generator<readonly T[]> {
  if (!first) return void (yield [])
  for (const one of first) for (const each of combine(others)) yield [one, ...each]
}
