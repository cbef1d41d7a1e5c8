/**
 * For how long each party has held the event loop of late, and when it rests for that. While others
 * ask, a party that has used a whole turn beyond a fifth of the time rests four times as long as it
 * has used: it takes a fifth of the time at most, by one long work or by many short ones. A party
 * that asks alone does not wait. All times are in milliseconds, by one clock.
 */

/** Of one turn of the event loop. */
export const turnMs = 10
const restFactor = 4
/** No rest is longer, whatever came before it. */
const restMaxMs = 400
/** While others ask: for how long a party rests that has held the event loop for this time. */
export const restMsAfter = (heldMs: number): number => Math.min(restMaxMs, restFactor * heldMs)

interface Used {
  readonly ms: number
  /** Until when it was counted: a quarter of what passes then is forgiven. */
  readonly atMs: number
  /** Requests of all parties when the first of it began. */
  readonly seen: number
}
interface Rest {
  readonly untilMs: number
  /** If others have asked since then, it rests. */
  readonly seen: number
}

export class TimeShares {
  readonly #callers: Pick<RecentCallers, 'requests' | 'hasOthers'>
  readonly #used = new Map<string, Used>()
  readonly #rests = new Map<string, Rest>()
  #forgetsAtMs = 0

  constructor(callers: Pick<RecentCallers, 'requests' | 'hasOthers'>) {
    this.#callers = callers
  }

  /**
   * Counts work of the party that ends now and has held the event loop for so long.
   *
   * @param since requests of all parties when it began
   */
  spend(party: string, heldMs: number, nowMs: number, since: number): void {
    this.#forget(nowMs)
    const used = this.#used.get(party)
    const left = used ? remainingMs(used, nowMs - heldMs) : 0
    const ms = left + heldMs
    const rest = this.#rests.get(party)
    const isResting = rest && nowMs < rest.untilMs // and has gone on, since others had not asked
    const seen = isResting ? rest.seen : used && left > 0 ? used.seen : since
    if (ms < turnMs) {
      this.#used.set(party, { ms, atMs: nowMs, seen })
      return
    }
    this.#used.delete(party)
    this.#rests.set(party, { untilMs: nowMs + restMsAfter(ms), seen })
  }

  /** In the past for a party that does not rest. */
  restsUntilMs(party: string): number {
    const rest = this.#rests.get(party)
    return rest && this.#callers.hasOthers(party, rest.seen) ? rest.untilMs : 0
  }

  /** Parties of which something is remembered. */
  get size(): number {
    return this.#used.size + this.#rests.size
  }

  /** What counts no more, once in the time of the longest rest. */
  #forget(nowMs: number): void {
    if (nowMs < this.#forgetsAtMs) return
    this.#forgetsAtMs = nowMs + restMaxMs
    for (const [party, { untilMs }] of this.#rests) if (untilMs <= nowMs) this.#rests.delete(party)
    for (const [party, used] of this.#used) if (remainingMs(used, nowMs) === 0) this.#used.delete(party)
  }
}

const remainingMs = ({ ms, atMs }: Used, nowMs: number): number =>
  Math.max(0, ms - Math.max(0, nowMs - atMs) / restFactor)

/** Whose requests come at the moment: so long work knows whether it holds up others. */
export class RecentCallers {
  #requests = 0
  #latest = ''
  /** Requests of the latest caller in a row. */
  #inRow = 0

  /** To be told of each request that is admitted. */
  note(caller: string): void {
    this.#requests++
    this.#inRow = this.#latest === caller ? this.#inRow + 1 : 1
    this.#latest = caller
  }

  /** The number of requests until now, for `hasOthers`. */
  get requests(): number {
    return this.#requests
  }

  /** Whether another caller has asked since there were so many requests. */
  hasOthers(caller: string, since: number): boolean {
    const later = this.#requests - since
    return later > 0 && !(this.#latest === caller && this.#inRow >= later)
  }
}
