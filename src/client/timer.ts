/** Waits that the caller's signal ends. */
import type { Maybe } from '../base/maybe.ts'

/** A longer wait would end at once (HTML §8.6). */
export const longestTimerMs = 2 ** 31 - 1

/** Waits some milliseconds, or until the signal is aborted. @throws the signal's reason */
export type Wait = (milliseconds: number, signal?: AbortSignal) => Promise<void>

/** @throws the signal's reason */
export function waitFor(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const timer = setTimeout(end, Math.min(milliseconds, longestTimerMs))
    function end(): void {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      if (signal?.aborted) reject(signal.reason)
      else resolve()
    }
    signal?.addEventListener('abort', end)
  })
}

/** A wait that others share: the signal ends this one alone. @throws the signal's reason */
export async function waitUnlessAborted<T>(work: Maybe<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work
  const stop = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal })
  })
  return Promise.race([work, aborted]).finally(() => stop.abort())
}
