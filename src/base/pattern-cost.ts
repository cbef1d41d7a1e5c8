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
import { type PatternPart, parsePattern } from './linear-pattern.ts'
import { Effort, PatternGraph, type PumpedText, TooComplex, waysMax } from './pattern-graph.ts'

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
 * A text that takes more steps than `stepsMax`, and more than four for each character: an
 * exponential one if there is any. `unjudged`: the pattern is too complex.
 * @param pattern of a whole text, valid with the flag u
 * @param characters of the longest text
 */
export function findCostlyText(
  pattern: string,
  characters: number,
  stepsMax: number,
): CostlyText | 'unjudged' | undefined {
  if (boundSteps(pattern, characters) <= allowedSteps(characters, stepsMax)) return undefined
  const isTooComplex = (thrown: unknown): boolean => thrown instanceof TooComplex || isSyntaxError(thrown)
  const weighed = attempt(() => ({ costly: weighPattern(pattern, characters, stepsMax) }), isTooComplex)
  return weighed ? weighed.costly : 'unjudged'
}

function weighPattern(pattern: string, characters: number, stepsMax: number): CostlyText | undefined {
  const effort = new Effort()
  for (const source of convertConsumingParts(pattern)) {
    const parts = parsePattern(source)
    const length = Math.min(characters, longestMatch(parts) + 1)
    for (const each of weighTexts(parts, length, stepsMax, effort))
      if (each.steps > allowedSteps(length, stepsMax)) return each
  }
  return undefined
}

/** For each character, any text takes some. */
const stepsOfCharacterMax = 4
const allowedSteps = (characters: number, stepsMax: number): number =>
  Math.max(stepsMax, stepsOfCharacterMax * characters)

/**
 * A first bound, enough for most patterns: unless a group is repeated, each repetition ends at one
 * of the characters, and each bar is one choice.
 */
function boundSteps(pattern: string, characters: number): number {
  const bare = pattern.replace(/\\(?:[pPu]\{[^}]*\}|.)/gsu, 'a').replace(/\[[^\]]*\]/g, 'a')
  const repetitions = bare.match(/[*+]|\?(?![:=!<])|\{/g)?.length ?? 0
  const bars = bare.split('|').length - 1
  if (bars === 0 && repetitions < 2) return characters
  return /\)[*+?{]/.test(bare) ? Number.POSITIVE_INFINITY : (characters + 1) ** repetitions * 2 ** bars
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
    const { sums, end, isOver } = exact.countWays(text, Math.min(countedCharacters, characters))
    if (end !== undefined) yield { ...text, end, ...extrapolate(sums, isOver ? sums.length : characters, stepsMax) }
  }
}

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
