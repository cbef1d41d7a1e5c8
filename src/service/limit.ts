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

/** In the memory of one process. */
export function memoryLimiter(): Limiter {
  const windows = new Map<string, { from: number; count: number; span: number }>()
  const clear = (now: number): void => {
    for (const [key, window] of windows) if (now - window.from >= window.span) windows.delete(key)
    if (windows.size >= mostKeys) windows.clear()
  }
  return {
    take(key, rate, now) {
      const span = rate.seconds * 1000
      let window = windows.get(key)
      if (!window || now - window.from >= span || now < window.from) {
        if (windows.size >= mostKeys) clear(now)
        windows.set(key, (window = { from: now, count: 0, span }))
      }
      window.count++
      return {
        limit: rate.count,
        remaining: Math.max(0, rate.count - window.count),
        reset: Math.ceil((window.from + span - now) / 1000),
        window: rate.seconds,
        exceeded: window.count > rate.count,
      }
    },
  }
}
