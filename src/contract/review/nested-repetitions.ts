/**
 * Patterns of a contract are matched by JavaScript, which tries all ways through one. A group that
 * is repeated, contains a repetition, and has nothing to tell where one turn ends and the next
 * begins, as in `(a+)+` or `((a{2,3}){2,3})*`, has more ways than a text has atoms; `(a+,)+` has
 * one, since the comma tells.
 */

/** More ways than this, for one text, are a mistake. */
const waysMax = 100_000

/** What one turn of a sequence may be. */
interface RepeatedTurn {
  /** Ways to divide a text among its repetitions. */
  readonly ways: number
  /** Its atoms that may occur any of several times. */
  readonly varying: readonly string[]
  /** Its atoms that occur as often in each turn. */
  readonly steady: readonly string[]
}

const tokenForm =
  /\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?|(?:[*+?]|\{\d+(?:,\d*)?\})\??|\\(?:[pPu]\{[^}]*\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu
const quantifierForm = /^(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})\??$/
/** They consume nothing. */
const anchors: ReadonlySet<string> = new Set(['^', '$', '\\b', '\\B'])

/** Whether the expression nests repetitions; its syntax is valid. */
export function nestsRepetitions(pattern: string): boolean {
  const walk = new RepetitionWalk(pattern.match(tokenForm) ?? [])
  walk.readTurns()
  return walk.isNested
}

class RepetitionWalk {
  isNested = false
  readonly #tokens: readonly string[]
  #at = 0
  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  /** The branches up to the end of the group. */
  readTurns(): readonly RepeatedTurn[] {
    const turns = [this.#readTurn()]
    while (this.#tokens[this.#at] === '|') {
      this.#at++
      turns.push(this.#readTurn())
    }
    this.#at++ // its bracket
    return turns
  }

  #readTurn(): RepeatedTurn {
    let ways = 1
    const varying: string[] = []
    const steady: string[] = []
    for (let token = this.#tokens[this.#at]; token && token !== '|' && token !== ')'; token = this.#tokens[this.#at]) {
      this.#at++
      if (anchors.has(token)) continue
      const inner = token.startsWith('(') ? this.readTurns() : [{ ways: 1, varying: [], steady: [token] }]
      const [min, max] = this.#readBounds()
      const repeated = this.#repeat(inner, min, max)
      ways *= repeated.ways
      varying.push(...repeated.varying)
      steady.push(...repeated.steady)
    }
    return { ways, varying, steady }
  }

  #repeat(turns: readonly RepeatedTurn[], min: number, max: number): RepeatedTurn {
    const blurred = turns.filter(turn => turn.varying.length > 0 && !hasDelimiter(turn))
    const within = Math.max(1, ...blurred.map(({ ways }) => ways))
    const ways = within ** (within > 1 ? max : 1) * (max - min + 1)
    if (max > 1 && within > 1 && !(ways <= waysMax)) this.isNested = true
    const atoms = turns.flatMap(({ varying, steady }) => [...varying, ...steady])
    const isSteady = min === max && turns.length === 1
    return isSteady && turns[0]
      ? { ...turns[0], ways: Math.max(ways, turns[0].ways) }
      : { ways: Math.max(ways, ...turns.map(turn => turn.ways)), varying: atoms, steady: [] }
  }

  #readBounds(): readonly [min: number, max: number] {
    const [, sign, least, comma, most] = quantifierForm.exec(this.#tokens[this.#at] ?? '') ?? []
    if (sign === undefined && least === undefined) return [1, 1]
    this.#at++
    if (sign !== undefined) return [sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY]
    return [Number(least), comma === undefined ? Number(least) : Number(most || Number.POSITIVE_INFINITY)]
  }
}

/** An atom that no repetition of the turn has. */
const hasDelimiter = ({ varying, steady }: RepeatedTurn): boolean => steady.some(each => !varying.includes(each))
