/** Rates per caller (rules A8.1, A8.2), counted in fixed windows. */

import type { Maybe } from '../base/maybe.ts'
import type { Rate } from '../contract/resource.ts'
import type { Quota } from './call.ts'

/**
 * Counts one; undefined once the window is full. Several instances share one through the database.
 */
export interface Limiter {
  take(key: string, rate: Rate, now: number): Maybe<Quota & { readonly exceeded: boolean }>
}

/**
 * Callers it remembers at most; when full, windows that are over go first, then all: a limit is
 * never worth the memory.
 */
const mostKeys = 100_000

/** Fixed windows by key. */
class MemoryWindows {
  readonly #kept = new Map<string, { from: number; count: number; span: number }>()

  add(key: string, span: number, by: number, now: number): Counted {
    let window = this.#kept.get(key)
    if (!window || now - window.from >= window.span || now < window.from) {
      if (this.#kept.size >= mostKeys) this.#clear(now)
      this.#kept.set(key, (window = { from: now, count: 0, span }))
    }
    window.count += by
    return { count: window.count, left: window.from + window.span - now }
  }

  #clear(now: number): void {
    for (const [key, window] of this.#kept) if (now - window.from >= window.span) this.#kept.delete(key)
    if (this.#kept.size >= mostKeys) this.#kept.clear()
  }
}

/** In the memory of one process. */
export function createMemoryLimiter(): Limiter {
  const kept = new MemoryWindows()
  return { take: (key, rate, now) => quotaOf(rate, kept.add(key, rate.seconds * 1000, 1, now)) }
}

/** Milliseconds that windows out of reach are left alone. */
const pause = 1000

/** So many for one key, in a window of `span` milliseconds. */
export interface Count {
  readonly key: string
  readonly span: number
  readonly by: number
}
export interface Counted {
  /** In this window, these among them. */
  readonly count: number
  /** Milliseconds until the window is over. */
  readonly left: number
}

/**
 * One limit over all instances: `count` adds to windows that they share, all or none. It is never
 * exceeded, and still cheap: one question is under way at a time, who comes meanwhile goes along
 * with the next, and for a caller with many requests at once some more are counted ahead (`Ahead`),
 * so that a busy instance asks once for many. While the windows are out of reach each instance
 * counts for itself: what needs them will be told so by the store. One caller a second finds out
 * whether they are back, and nobody waits with him.
 */
export function createSharedLimiter(count: (counts: readonly Count[]) => Promise<readonly Counted[]>): Limiter {
  const alone = createMemoryLimiter()
  const ahead = new Ahead()
  const told = ({ key, rate, takers }: Asking, { by }: Pick<Count, 'by'> = { by: 0 }, counted?: Counted): void => {
    const before = counted && { ...counted, count: counted.count - by }
    if (before) ahead.keep(key, rate, { ...before, count: before.count + takers.length }, by - takers.length, latest)
    // Each has a number of its own, in the order they came.
    for (const [i, taker] of takers.entries()) taker(before && { ...before, count: before.count + i + 1 })
  }
  let waiting = new Map<string, Asking>()
  let asking = false
  let latest = 0
  /** When they were found out of reach. */
  let away: number | undefined
  const ask = async (): Promise<void> => {
    asking = true
    while (waiting.size > 0) {
      // In one order, so that two instances never wait for each other.
      const asked = [...waiting.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
      waiting = new Map()
      const counts = asked.map(({ key, span, rate, takers }) => ({
        key,
        span,
        by: takers.length + wantedAhead(rate, takers.length),
      }))
      const counted = await count(counts).catch(() => undefined)
      away = counted ? undefined : latest
      for (const [i, one] of asked.entries()) told(one, counts[i], counted?.[i])
      if (counted) continue
      for (const one of waiting.values()) told(one, undefined, undefined)
      waiting = new Map()
    }
    asking = false
  }
  return {
    take(key, rate, now) {
      latest = now
      if (away !== undefined && (asking || Math.abs(now - away) < pause)) return alone.take(key, rate, now)
      const known = ahead.take(key, now)
      if (known) return quotaOf(rate, known)
      const span = rate.seconds * 1000
      return new Promise(resolve => {
        const found = waiting.get(key)
        const takers = found?.takers ?? []
        if (!found) waiting.set(key, { key, span, rate, takers })
        takers.push(counted => resolve(counted ? quotaOf(rate, counted) : (alone.take(key, rate, now) as LimitResult))) // memory answers at once
        if (!asking) void ask()
      })
    },
  }
}
type LimitResult = Quota & { readonly exceeded: boolean }
interface Asking {
  readonly key: string
  readonly span: number
  readonly rate: Rate
  readonly takers: ((counted: Counted | undefined) => void)[]
}

/** Requests of one caller at once, from which on more are counted ahead. */
const many = 4
/** At most one in a hundred of a limit, and as many as such a caller sends in a moment. */
const wantedAhead = ({ count }: Rate, takers: number): number =>
  takers < many ? 0 : Math.min(Math.floor(count / 100), takers * 16)

/**
 * Counts that an instance has taken before they were asked for. What it does not use by the end of
 * the window is lost, so a caller who sends many at once may be told one in a hundred too early for
 * each instance, and nobody is ever told too late.
 */
class Ahead {
  readonly #kept = new Map<string, { readonly from: number; readonly until: number; count: number; spare: number }>()

  take(key: string, now: number): Counted | undefined {
    const kept = this.#kept.get(key)
    if (!kept || kept.spare === 0 || now < kept.from || now >= kept.until) return undefined
    kept.spare--
    return { count: ++kept.count, left: kept.until - now }
  }

  /** @param counted what was told to the last who asked; `taken` more were counted with it */
  keep(key: string, rate: Rate, { count, left }: Counted, taken: number, now: number): void {
    if (taken === 0) return
    if (this.#kept.size >= mostKeys) this.#kept.clear()
    const spare = Math.max(0, Math.min(taken, rate.count - count))
    this.#kept.set(key, { from: now, until: now + left, count, spare })
  }
}

function quotaOf({ count: limit, seconds }: Rate, { count, left }: Counted): LimitResult {
  return {
    limit,
    remaining: Math.max(0, limit - count),
    reset: Math.max(0, Math.ceil(left / 1000)),
    window: seconds,
    exceeded: count > limit,
  }
}

/** The windows themselves, where one process keeps them for several. */
export function windowsOf(): (counts: readonly Count[], now: number) => readonly Counted[] {
  const kept = new MemoryWindows()
  return (counts, now) => counts.map(({ key, span, by }) => kept.add(key, span, by, now))
}
