/**
 * How long each party has held the event loop recently, and when it has to rest. While others send
 * requests, a party that has used a whole turn more than a fifth of the time rests four times as
 * long as it has used: it gets a fifth of the time at most, by one long piece of work or by many
 * short ones. A party without competition does not wait. All times are in milliseconds, by one
 * clock.
 */

/** The length of one turn of the event loop. */
export const turnMs = 10
const restFactor = 4
/** The longest rest, whatever came before it. */
const restMaxMs = 400
/**
 * How long a party rests that has held the event loop for this time, while others send requests.
 */
export const restMsAfter = (heldMs: number): number => Math.min(restMaxMs, restFactor * heldMs)

interface Used {
  readonly ms: number
  /** The time of the last count: a quarter of the time since then is forgiven. */
  readonly atMs: number
  /** The number of requests of all parties when the first of them began. */
  readonly seen: number
}
interface Rest {
  readonly untilMs: number
  /** The party rests if others have sent requests since then. */
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
    const remaining = used ? remainingMs(used, nowMs - heldMs) : 0
    const ms = remaining + heldMs
    const rest = this.#rests.get(party)
    const isResting = rest && nowMs < rest.untilMs // and has continued, since there were no other requests
    const seen = isResting ? rest.seen : used && remaining > 0 ? used.seen : since
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

  /** The number of parties about which something is remembered. */
  get size(): number {
    return this.#used.size + this.#rests.size
  }

  /** Forgets what no longer counts, once in the time of the longest rest. */
  #forget(nowMs: number): void {
    if (nowMs < this.#forgetsAtMs) return
    this.#forgetsAtMs = nowMs + restMaxMs
    for (const [party, { untilMs }] of this.#rests) if (untilMs <= nowMs) this.#rests.delete(party)
    for (const [party, used] of this.#used) if (remainingMs(used, nowMs) === 0) this.#used.delete(party)
  }
}

const remainingMs = ({ ms, atMs }: Used, nowMs: number): number =>
  Math.max(0, ms - Math.max(0, nowMs - atMs) / restFactor)

/** Recent callers: long work uses them to know whether it holds up others. */
export class RecentCallers {
  #requests = 0
  #latest = ''
  /** The number of requests in a row by the latest caller. */
  #inRow = 0

  /** Called for each request that is admitted. */
  note(caller: string): void {
    this.#requests++
    this.#inRow = this.#latest === caller ? this.#inRow + 1 : 1
    this.#latest = caller
  }

  /** The number of requests until now, for `hasOthers`. */
  get requests(): number {
    return this.#requests
  }

  /** Whether another caller has sent a request since this number of requests. */
  hasOthers(caller: string, since: number): boolean {
    const later = this.#requests - since
    return later > 0 && !(this.#latest === caller && this.#inRow >= later)
  }
}
