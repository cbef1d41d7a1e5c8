/**
 * A copy of the database for reads. It may lag a little, so its answer counts only if it found the
 * item; if it refuses a read (a new item may be missing there) or cannot answer, the read goes to
 * the original. Changes and their preconditions never use it. An unreachable replica is left alone
 * for a while; then one read tests whether it is back, and no other waits for it.
 */

import type {} from '../base/maybe.ts'
import { Refused } from './refusal.ts'
import type { ReadWork, Store } from './store.ts'

/** How often an unreachable replica is tried again. */
const retryEveryMs = 1000

export function withReplica(store: Store, replica: Pick<Store, 'read'>, clock: () => number): Store {
  /** When it became unreachable. */
  let unreachableSince: number | undefined
  let trying = false
  const isLeftAlone = (): boolean =>
    unreachableSince !== undefined && (trying || Math.abs(clock() - unreachableSince) < retryEveryMs)
  const read = async <T>(work: ReadWork<T>): Promise<T> => {
    if (isLeftAlone()) return store.read(work)
    const first = unreachableSince !== undefined
    if (first) trying = true
    try {
      const answer = await replica.read(work)
      unreachableSince = undefined
      return answer
    } catch (thrown) {
      unreachableSince = thrown instanceof Refused ? undefined : clock()
      return store.read(work)
    } finally {
      if (first) trying = false
    }
  }
  return { ...bindStore(store), read }
}

/** Binds the methods of a store, which may be an instance of a class. */
const bindStore = (store: Store): Omit<Store, 'read'> => ({
  write: (work, turn) => store.write(work, turn),
  sweep: now => store.sweep(now),
  ready: () => store.ready(),
  ...(store.findDropped && { findDropped: () => store.findDropped!() }),
  ...(store.findCrowded && { findCrowded: () => store.findCrowded!() }),
  usage: () => store.usage?.(),
  close: () => store.close(),
})
