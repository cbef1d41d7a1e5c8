/**
 * Failed log-ins, counted in the store: all instances count together, and counts survive a restart.
 * What it guards:
 *  (1) After ten failures a name is refused from that address, after a hundred any name, for a
 *      minute after the last failure.
 *  (2) A pending guess counts as a failure, so simultaneous guesses gain nothing over consecutive
 *      ones.
 *  (3) The store has neither names nor addresses: a text entered as a name may be a password.
 */

import { clocksDifferMs, type ExpiringRecord, type Store, type StoreReader } from '../service/store.ts'
import { authenticationTag } from './local-key.ts'

const space = 'failures'
const failuresOfName = 10
const failuresOfAddress = 100
const spanMs = 60_000

export interface Lockout {
  /** The stored failures of a name from an address. */
  readFailures(reader: StoreReader, name: string, from: string, now: number): Promise<Failures>
  /** Whether passwords of this name are refused from that address. */
  isLocked(failures: Failures): boolean
  /** Counts a guess for as long as `judge` takes. */
  countWhile<T>(failures: Failures, judge: () => Promise<T>): Promise<T>
  /** Counts a failure; true if it locks the name or the address. */
  recordFailure(failures: Failures, now: number): Promise<boolean>
  /** Resets the count of a name once its password has been hashed again and has matched. */
  recordSuccess(failures: Failures): Promise<void>
}

/** For a name and for its address: the record and the count that was read. */
export type Failures = readonly [Slot, Slot]
interface Slot {
  readonly key: string
  readonly max: number
  readonly count: number
}

export function createLockout(store: Store, secret: Uint8Array): Lockout {
  /** (2) Pending guesses by the keys of their records. */
  const open = new Map<string, number>()
  const countOpen = (failures: Failures, by: 1 | -1): void => {
    for (const { key } of failures) {
      const count = (open.get(key) ?? 0) + by
      if (count === 0) open.delete(key)
      else open.set(key, count)
    }
  }
  return {
    readFailures: async (reader, name, from, now) => {
      const read = async (text: string, max: number): Promise<Slot> => {
        const key = authenticationTag(secret, text)
        return { key, max, count: countOf(await reader.recall(space, key), now) }
      }
      return [await read(`${from} ${name}`, failuresOfName), await read(from, failuresOfAddress)]
    },
    isLocked: failures => failures.some(({ key, max, count }) => count + (open.get(key) ?? 0) >= max),
    countWhile: async (failures, judge) => {
      countOpen(failures, 1)
      try {
        return await judge()
      } finally {
        countOpen(failures, -1)
      }
    },
    recordFailure: (failures, now) =>
      store.write(async writer => {
        let isLast = false
        for (const { key, max } of failures) {
          const count = countOf(await writer.recall(space, key), now) + 1
          isLast ||= count === max
          await writer.forget(space, key)
          await writer.remember(space, key, { value: String(count), expires: now + spanMs }, now)
        }
        return isLast
      }),
    recordSuccess: async ([{ key, count }]) => {
      if (count > 0) await store.write(async writer => void (await writer.forget(space, key)))
    },
  }
}

const countOf = (memo: ExpiringRecord | undefined, now: number): number =>
  memo && memo.expires > now && memo.expires <= now + spanMs + clocksDifferMs ? Number(memo.value) : 0
