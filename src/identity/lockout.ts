/**
 * Failed log-ins, counted in the store: all instances count together, and counts survive a restart.
 * What it guards:
 *  (1) After ten failures a name is refused from that address, after a hundred any name, for a
 *      minute after the last.
 *  (2) The store has neither names nor addresses: a text that was entered as a name may be a
 *      password.
 */

import type { Maybe } from '../base/maybe.ts'
import type { ExpiringRecord, Store, StoreReader } from '../service/store.ts'
import { authenticationTag } from './local-key.ts'

const space = 'failures'
const failuresOfName = 10
const failuresOfAddress = 100
const spanMs = 60_000

export interface Lockout {
  /** Whether passwords of this name are refused from that address. */
  isLocked(reader: StoreReader, name: string, from: string, now: number): Promise<boolean>
  /** Counts a failure; true if it locks the name or the address. */
  recordFailure(name: string, from: string, now: number): Promise<boolean>
  /** Resets the count of a name after a success. */
  recordSuccess(name: string, from: string): Promise<void>
}

export function createLockout(store: Store, secret: Uint8Array): Lockout {
  const slots = (name: string, from: string) =>
    [
      [authenticationTag(secret, `${from} ${name}`), failuresOfName],
      [authenticationTag(secret, from), failuresOfAddress],
    ] as const
  return {
    isLocked: async (reader, name, from, now) => {
      for (const [slot, max] of slots(name, from))
        if (countOf(await reader.recall(space, slot), now) >= max) return true
      return false
    },
    recordFailure: (name, from, now) =>
      store.write(async writer => {
        let last = false
        for (const [slot, max] of slots(name, from)) {
          const count = countOf(await writer.recall(space, slot), now) + 1
          last ||= count === max
          await writer.forget(space, slot)
          await writer.remember(space, slot, { value: String(count), expires: now + spanMs }, now)
        }
        return last
      }),
    recordSuccess: async (name, from) => {
      const [[slot]] = slots(name, from)
      const memo = await store.read(reader => reader.recall(space, slot))
      if (memo) await store.write((writer): Maybe<void> => writer.forget(space, slot))
    },
  }
}

const countOf = (memo: ExpiringRecord | undefined, now: number): number =>
  memo && memo.expires > now ? Number(memo.value) : 0
