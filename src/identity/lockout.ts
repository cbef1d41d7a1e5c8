/**
 * Failed log-ins, counted in the store: all instances count together, and a restart forgets
 * nothing. What it guards:
 *  (1) After ten failures a name is refused from that address, after a hundred any name, for a
 *      minute from the last.
 *  (2) Neither names nor addresses rest in the store: what was typed as a name may have been a
 *      password.
 */

import type { Maybe } from '../base/maybe.ts'
import type { ExpiringRecord, Store, StoreReader } from '../service/store.ts'
import { authenticationTag } from './local-key.ts'

const space = 'failures'
const perName = 10
const perAddress = 100
/** Milliseconds. */
const span = 60_000

export interface Lockout {
  /**
   * Whether no password of this name is looked at from there; to be asked within one look at the
   * store.
   */
  locked(reader: StoreReader, name: string, from: string, now: number): Promise<boolean>
  /** Counts a failure; whether it was the last that is heard. */
  failed(name: string, from: string, now: number): Promise<boolean>
  /** A success takes the count of that name back. */
  passed(name: string, from: string): Promise<void>
}

export function createLockout(store: Store, secret: Uint8Array): Lockout {
  const slots = (name: string, from: string) =>
    [
      [authenticationTag(secret, `${from} ${name}`), perName],
      [authenticationTag(secret, from), perAddress],
    ] as const
  return {
    locked: async (reader, name, from, now) => {
      for (const [slot, most] of slots(name, from))
        if (countOf(await reader.recall(space, slot), now) >= most) return true
      return false
    },
    failed: (name, from, now) =>
      store.write(async writer => {
        let last = false
        for (const [slot, most] of slots(name, from)) {
          const count = countOf(await writer.recall(space, slot), now) + 1
          last ||= count === most
          await writer.forget(space, slot)
          await writer.remember(space, slot, { value: String(count), expires: now + span }, now)
        }
        return last
      }),
    passed: async (name, from) => {
      const [[slot]] = slots(name, from)
      const memo = await store.read(reader => reader.recall(space, slot))
      if (memo) await store.write((writer): Maybe<void> => writer.forget(space, slot))
    },
  }
}

const countOf = (memo: ExpiringRecord | undefined, now: number): number =>
  memo && memo.expires > now ? Number(memo.value) : 0
