/**
 * At most one effect under a key (row 25 of the HTTP decisions; a MessageID in SOAP). The outcome
 * is stored in the transaction of the effect, under the caller's own name, and replayed unchanged.
 * A refused call leaves no key behind, since its transaction was undone.
 */

import type { Call } from './call.ts'
import type { Outcome } from './outcome.ts'
import { refuse } from './refusal.ts'
import type { StoreWriter } from './store.ts'
import { packTyped, unpackTyped } from './typed-json.ts'

const keepMs = 24 * 3_600_000

type OnceTerms = NonNullable<Call['once']>

function idempotencyKeyOf({ admitted: { operation, caller, party } }: Call, { key }: OnceTerms): string {
  // Anonymous callers at different addresses have separate keys.
  const owner = caller.subject === undefined ? [null, party] : [caller.subject]
  return JSON.stringify([...owner, operation.name, key])
}

/** The keys of calls that run here now: a second call is refused instead of waiting. */
export class KeyLocks {
  readonly #held = new Set<string>()

  run<T>(call: Call, once: OnceTerms, work: () => Promise<T>): Promise<T> {
    const key = `${once.space} ${idempotencyKeyOf(call, once)}`
    if (this.#held.has(key)) refuse({ kind: 'in-flight' })
    this.#held.add(key)
    return work().finally(() => this.#held.delete(key))
  }
}

/** @param work resolves to undefined if the call continues with another transaction */
export async function performOnce<T extends Outcome | undefined>(
  call: Call,
  once: OnceTerms,
  writer: StoreWriter,
  now: number,
  work: () => Promise<T>,
): Promise<Outcome | T> {
  const { fingerprint, space } = once
  const key = idempotencyKeyOf(call, once)
  const memo = await writer.recall(space, key)
  if (memo && memo.expires > now) {
    const before = unpackTyped(memo.value) as { fingerprint: string; outcome: Outcome } // only written below
    return before.fingerprint === fingerprint ? before.outcome : refuse({ kind: 'key-reused' })
  }
  const outcome = await work()
  if (outcome)
    await writer.remember(space, key, { value: packTyped({ fingerprint, outcome }), expires: now + keepMs }, now)
  return outcome
}
