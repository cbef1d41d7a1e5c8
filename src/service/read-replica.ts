/**
 * A copy of the database for reads. It may lag a little, so its answer counts only if it found the
 * item; if it refuses a read (a new item may be missing there) or cannot answer, the read goes to
 * the original. Changes and their preconditions never use it. An unreachable replica is left alone
 * for a while; then one read tests whether it is back, and no other waits for it. A replica that
 * has not followed for minutes is read only while the original cannot be.
 */

import { Refused } from './refusal.ts'
import { type ReadWork, type Store, Unavailable } from './store.ts'

/** A store that follows another. */
export interface FollowingStore extends Pick<Store, 'read'> {
  /** Milliseconds since the last change that it has; instances make one each minute. */
  lagMs?(): Promise<number>
}
/** Receives why the replica is not read from now on, or undefined once it is read again. */
export type TellReplica = (unused: 'unreachable' | 'late' | undefined, cause?: unknown) => void

/** How often an unreachable replica is tried again. */
const retryEveryMs = 1000
/** How long a lag is assumed not to have grown. */
const lagEveryMs = 5000
/** Three times as long as a replica that follows may be without a change. */
export const lagMaxMs = 180_000

export function withReplica(
  store: Store,
  replica: FollowingStore,
  clock: () => number,
  tell: TellReplica = () => {},
): Store {
  const lag = new ReplicaLag(replica, clock)
  /** When it became unreachable. */
  let unreachableSince: number | undefined
  let trying = false
  let told: 'unreachable' | 'late' | undefined
  const note = (unused: typeof told, cause?: unknown): void => {
    if (unused !== told) tell(unused, cause)
    told = unused
  }
  const isLeftAlone = (): boolean =>
    unreachableSince !== undefined && (trying || Math.abs(clock() - unreachableSince) < retryEveryMs)
  const readReplica = async <T>(work: ReadWork<T>): Promise<T> => {
    const first = unreachableSince !== undefined
    if (first) trying = true
    try {
      const answer = await replica.read(work)
      unreachableSince = undefined
      if (!lag.isLate) note(undefined)
      return answer
    } catch (thrown) {
      unreachableSince = thrown instanceof Refused ? undefined : clock()
      if (unreachableSince !== undefined) note('unreachable', thrown)
      return store.read(work)
    } finally {
      if (first) trying = false
    }
  }
  const readLate = async <T>(work: ReadWork<T>): Promise<T> => {
    note('late')
    try {
      return await store.read(work)
    } catch (thrown) {
      if (thrown instanceof Unavailable) return replica.read(work)
      throw thrown
    }
  }
  const read = async <T>(work: ReadWork<T>): Promise<T> => {
    if (isLeftAlone()) return store.read(work)
    lag.look()
    return lag.isLate ? readLate(work) : readReplica(work)
  }
  return { ...bindStore(store), read }
}

/** No read waits until the lag is known. */
class ReplicaLag {
  readonly #replica: FollowingStore
  readonly #clock: () => number
  #lookedAt: number | undefined
  isLate = false

  constructor(replica: FollowingStore, clock: () => number) {
    this.#replica = replica
    this.#clock = clock
  }

  look(): void {
    const now = this.#clock()
    if (this.#lookedAt !== undefined && Math.abs(now - this.#lookedAt) < lagEveryMs) return
    this.#lookedAt = now
    this.#replica.lagMs?.().then(
      lag => (this.isLate = lag > lagMaxMs),
      () => {}, // a read tells that it is unreachable
    )
  }
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
