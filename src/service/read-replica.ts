/**
 * A copy of the database for what only reads. It may be a little behind, so its word counts where
 * it found what was asked for; whatever it would refuse (what was just made is not there yet), and
 * all it cannot answer, is asked of the original. Changes, and what they compare, never see it. One
 * that could not be asked is left alone for a while; then one read finds out whether it is back,
 * and nobody waits with that one.
 */

import type { Maybe } from '../base/maybe.ts'
import { Refused } from './refusal.ts'
import type { Store, StoreReader } from './store.ts'

/** Milliseconds that a copy which could not be asked is left alone. */
const pause = 1000

export function withReplica(store: Store, replica: Pick<Store, 'read'>, clock: () => number): Store {
  /** When it could not be asked. */
  let away: number | undefined
  let trying = false
  const left = (): boolean => away !== undefined && (trying || Math.abs(clock() - away) < pause)
  const read = async <T>(work: (reader: StoreReader) => Maybe<T>): Promise<T> => {
    if (left()) return store.read(work)
    const first = away !== undefined
    if (first) trying = true
    try {
      const answer = await replica.read(work)
      away = undefined
      return answer
    } catch (thrown) {
      away = thrown instanceof Refused ? undefined : clock()
      return store.read(work)
    } finally {
      if (first) trying = false
    }
  }
  return { ...bindStore(store), read }
}

/** The methods of a store, which may be those of a class. */
const bindStore = (store: Store): Omit<Store, 'read'> => ({
  write: work => store.write(work),
  sweep: now => store.sweep(now),
  ready: () => store.ready(),
  usage: () => store.usage?.(),
  close: () => store.close(),
})
