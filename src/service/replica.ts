/**
 * A copy of the database for what only reads. It may be a little behind, so its word counts where it found what was asked
 * for; whatever it would refuse (what was just made is not there yet), and all it cannot answer, is asked of the original.
 * Changes, and what they compare, never see it.
 */
import { Refused } from './refusal.ts'
import type { Maybe, Reader, Store } from './store.ts'

/** Milliseconds that a copy which could not be asked is left alone. */
const pause = 1000

export function withReplica(store: Store, replica: Pick<Store, 'read'>, clock: () => number): Store {
  let resting = 0
  const read = async <T>(work: (reader: Reader) => Maybe<T>): Promise<T> => {
    if (clock() < resting) return store.read(work)
    try {
      return await replica.read(work)
    } catch (thrown) {
      if (!(thrown instanceof Refused)) resting = clock() + pause
      else if (thrown.refusal.kind === 'unchanged') throw thrown
      return store.read(work)
    }
  }
  return { ...bound(store), read }
}

/** The methods of a store, which may be those of a class. */
const bound = (store: Store): Omit<Store, 'read'> => ({
  write: work => store.write(work),
  sweep: now => store.sweep(now),
  ready: () => store.ready(),
  close: () => store.close(),
})
