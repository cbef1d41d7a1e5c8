/** Rates per caller (rules A8.1, A8.2), counted in fixed windows. */

import type { Maybe } from '../base/maybe.ts'
import type { Rate } from '../contract/resource.ts'
import type { Quota } from './call.ts'

/**
 * Counts one request; `exceeded` beyond the limit. Instances may share windows through the
 * database.
 */
export interface Limiter {
  take(key: string, rate: Rate, now: number): Maybe<Quota & { readonly exceeded: boolean }>
}

/**
 * Maximum number of keys. When full, ended windows are dropped first, then the half with the lowest
 * counts: so a crowd of new keys never resets a key that is near its limit.
 */
const keysMax = 100_000

/** Fixed windows by key, in the memory of one process. */
export class MemoryWindows {
  readonly #kept = new Map<string, { from: number; count: number; span: number }>()

  /** Counts requests in a window of this length in milliseconds. */
  add(key: string, span: number, by: number, now: number): Counted {
    let window = this.#kept.get(key)
    if (!window || now - window.from >= window.span || now < window.from) {
      if (this.#kept.size >= keysMax) this.#clear(now)
      this.#kept.set(key, (window = { from: now, count: 0, span }))
    }
    window.count += by
    return { count: window.count, leftMs: window.from + window.span - now }
  }

  #clear(now: number): void {
    for (const [key, window] of this.#kept) if (now - window.from >= window.span) this.#kept.delete(key)
    if (this.#kept.size < keysMax) return
    const counts = Float64Array.from(this.#kept.values(), each => each.count).sort()
    const median = counts[counts.length >> 1] ?? 0
    for (const [key, { count }] of this.#kept)
      if (count <= median && this.#kept.size > keysMax / 2) this.#kept.delete(key)
  }
}

/** Counts in the memory of one process. */
export function createMemoryLimiter(): Limiter {
  const windows = new MemoryWindows()
  return { take: (key, rate, now) => quotaOf(rate, windows.add(key, rate.seconds * 1000, 1, now)) }
}

/** How often unreachable windows are tried again. */
const retryEveryMs = 1000

/** Adds `by` requests for a key, in a window of `span` milliseconds. */
export interface Count {
  readonly key: string
  readonly span: number
  readonly by: number
}
export interface Counted {
  /** Requests in this window, these included. */
  readonly count: number
  /** Milliseconds until the window ends. */
  readonly leftMs: number
}

/**
 * One limit for all instances: `count` adds to windows that they share, all or none. The limit is
 * never exceeded, and it is cheap: one query runs at a time, later requests join the next one, and
 * for a caller with many requests at once some more are counted ahead (`Ahead`), so that a busy
 * instance queries once for many. While the windows are unreachable, each instance counts for
 * itself, and the store refuses operations that need it. One request a second tests whether the
 * windows are back, and no other waits for it.
 */
export function createSharedLimiter(count: (counts: readonly Count[]) => Promise<readonly Counted[]>): Limiter {
  const alone = createMemoryLimiter()
  const ahead = new CountsAhead()
  const settleTakers = (
    { key, rate, takers }: WaitingKey,
    { by }: Pick<Count, 'by'> = { by: 0 },
    counted?: Counted,
  ): void => {
    const before = counted && { ...counted, count: counted.count - by }
    if (before) ahead.keep(key, rate, { ...before, count: before.count + takers.length }, by - takers.length, latest)
    // Each taker has its own number, in order of arrival.
    for (const [i, taker] of takers.entries()) taker(before && { ...before, count: before.count + i + 1 })
  }
  let waiting = new Map<string, WaitingKey>()
  let asking = false
  let latest = 0
  /** When the windows became unreachable. */
  let unreachableSince: number | undefined
  const ask = async (): Promise<void> => {
    asking = true
    while (waiting.size > 0) {
      // In a fixed order, so that no two instances wait for each other.
      const batch = [...waiting.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      waiting = new Map()
      const counts = batch.map(({ key, span, rate, takers }) => ({
        key,
        span,
        by: takers.length + wantedAhead(rate, takers.length),
      }))
      const counted = await count(counts).catch(() => undefined)
      unreachableSince = counted ? undefined : latest
      for (const [i, entry] of batch.entries()) settleTakers(entry, counts[i], counted?.[i])
      if (counted) continue
      for (const entry of waiting.values()) settleTakers(entry, undefined, undefined)
      waiting = new Map()
    }
    asking = false
  }
  return {
    take(key, rate, now) {
      latest = now
      if (unreachableSince !== undefined && (asking || Math.abs(now - unreachableSince) < retryEveryMs))
        return alone.take(key, rate, now)
      const known = ahead.take(key, now)
      if (known) return quotaOf(rate, known)
      const span = rate.seconds * 1000
      return new Promise(resolve => {
        const entry = waiting.get(key)
        const takers = entry?.takers ?? []
        if (!entry) waiting.set(key, { key, span, rate, takers })
        takers.push(counted => resolve(counted ? quotaOf(rate, counted) : (alone.take(key, rate, now) as LimitResult))) // the memory limiter is synchronous
        if (!asking) void ask()
      })
    },
  }
}
type LimitResult = Quota & { readonly exceeded: boolean }
interface WaitingKey {
  readonly key: string
  readonly span: number
  readonly rate: Rate
  readonly takers: ((counted: Counted | undefined) => void)[]
}

/** From this many requests of one caller at once, more are counted ahead. */
const aheadFromTakers = 4
/** At most 1 % of a limit, and what such a caller sends in a moment. */
const wantedAhead = ({ count }: Rate, takers: number): number =>
  takers < aheadFromTakers ? 0 : Math.min(Math.floor(count / 100), takers * 16)

/**
 * Requests that an instance has counted in advance. Those that it has not used by the end of the
 * window are lost, so a caller with many requests at once may be refused early, by 1 % of the limit
 * per instance, but never too late.
 */
class CountsAhead {
  readonly #kept = new Map<string, { readonly from: number; readonly until: number; count: number; spare: number }>()

  take(key: string, now: number): Counted | undefined {
    const window = this.#kept.get(key)
    if (!window || window.spare === 0 || now < window.from || now >= window.until) return undefined
    window.spare--
    return { count: ++window.count, leftMs: window.until - now }
  }

  /** @param taken requests counted in advance, in addition to the given count */
  keep(key: string, rate: Rate, { count, leftMs }: Counted, taken: number, now: number): void {
    if (taken === 0) return
    if (this.#kept.size >= keysMax) this.#kept.clear()
    const spare = Math.max(0, Math.min(taken, rate.count - count))
    this.#kept.set(key, { from: now, until: now + leftMs, count, spare })
  }
}

function quotaOf({ count: limit, seconds }: Rate, { count, leftMs }: Counted): LimitResult {
  return {
    limit,
    remaining: Math.max(0, limit - count),
    reset: Math.max(0, Math.ceil(leftMs / 1000)),
    window: seconds,
    exceeded: count > limit,
  }
}

/** Windows that one process keeps for several. */
export function createMemoryWindows(): (counts: readonly Count[], now: number) => readonly Counted[] {
  const kept = new MemoryWindows()
  return (counts, now) => counts.map(({ key, span, by }) => kept.add(key, span, by, now))
}
