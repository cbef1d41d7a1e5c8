/** Rates per caller (rules A8.1, A8.2), counted in fixed windows. */
import type { Rate } from '../contract/resource.ts'
import type { Quota } from './call.ts'
import type { Maybe } from './store.ts'

/** Counts one; undefined once the window is full. Several instances share one through the database. */
export interface Limiter {
  take(key: string, rate: Rate, now: number): Maybe<Quota & { readonly exceeded: boolean }>
}

/** Callers it remembers at most; when full, windows that are over go first, then all: a limit is never worth the memory. */
const mostKeys = 100_000

/** Fixed windows by key. */
class Windows {
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
export function memoryLimiter(): Limiter {
  const kept = new Windows()
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
 * One limit over all instances: `count` adds to windows that they share, all or none. Exact, and still cheap: one question is
 * under way at a time, and who comes meanwhile goes along with the next, so that a busy instance asks once for many. While the
 * windows are out of reach each instance counts for itself: what needs them will be told so by the store. One caller a second
 * finds out whether they are back, and nobody waits with him.
 */
export function sharedLimiter(count: (counts: readonly Count[]) => Promise<readonly Counted[]>): Limiter {
  const alone = memoryLimiter()
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
      const counts = asked.map(({ key, span, takers }) => ({ key, span, by: takers.length }))
      const counted = await count(counts).catch(() => undefined)
      away = counted ? undefined : latest
      for (const [i, { takers }] of asked.entries()) told(takers, counted?.[i])
      if (counted) continue
      for (const { takers } of waiting.values()) told(takers, undefined)
      waiting = new Map()
    }
    asking = false
  }
  return {
    take(key, rate, now) {
      latest = now
      if (away !== undefined && (asking || Math.abs(now - away) < pause)) return alone.take(key, rate, now)
      const span = rate.seconds * 1000
      return new Promise(resolve => {
        const found = waiting.get(key)
        const takers = found?.takers ?? []
        if (!found) waiting.set(key, { key, span, takers })
        takers.push(counted => resolve(counted ? quotaOf(rate, counted) : (alone.take(key, rate, now) as Taken))) // memory answers at once
        if (!asking) void ask()
      })
    },
  }
}
type Taken = Quota & { readonly exceeded: boolean }
interface Asking {
  readonly key: string
  readonly span: number
  readonly takers: ((counted: Counted | undefined) => void)[]
}

/** Each has a number of its own, in the order they came. */
function told(takers: Asking['takers'], counted: Counted | undefined): void {
  takers.forEach((taker, i) => {
    taker(counted && { ...counted, count: counted.count - takers.length + i + 1 })
  })
}

function quotaOf({ count: limit, seconds }: Rate, { count, left }: Counted): Taken {
  return {
    limit,
    remaining: Math.max(0, limit - count),
    reset: Math.max(0, Math.ceil(left / 1000)),
    window: seconds,
    exceeded: count > limit,
  }
}

/** The windows themselves, where one process keeps them for several. */
export function windows(): (counts: readonly Count[], now: number) => readonly Counted[] {
  const kept = new Windows()
  return (counts, now) => counts.map(({ key, span, by }) => kept.add(key, span, by, now))
}
