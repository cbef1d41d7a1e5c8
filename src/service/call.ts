/**
 * One call, one outcome. A face hands over what was asked as functions; they are asked here, inside
 * the one transaction, so what was compared is what is changed, and nothing is parsed for a caller
 * who is refused.
 */

import type { Maybe } from '../base/maybe.ts'
import type { ReadOptions } from '../contract/field-json.ts'
import type { Values } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { ReceivedFile } from './file-content.ts'
import type { Outcome } from './outcome.ts'
import type { FileOctets, Query, Snapshot } from './store.ts'

/**
 * What a precondition says of what stands: go on, the caller has it already, or it does not hold.
 */
export type ExpectsResult = 'proceed' | 'unchanged' | 'failed'

/**
 * The content of a call, read on demand; it refuses (`malformed`, `invalid`) when it can't be read.
 */
export interface Input {
  readonly value: Values
  /** Server fields that came along in content, to be compared with what will stand. */
  readonly server: ReadOptions['server']
}

/**
 * Proof that this caller may ever do this and is within their rate: only `Calls.admit` makes one,
 * and a call cannot be written without it. So neither face, nor a job, nor a bridge has a way
 * around.
 */
export interface Admitted {
  readonly operation: Operation
  readonly caller: Caller
  /** What is left of the caller's rate for this operation, for RateLimit fields. */
  readonly quota: Quota
}
export interface Quota {
  readonly limit: number
  readonly remaining: number
  /** Seconds until it is whole again. */
  readonly reset: number
  /** Seconds. */
  readonly window: number
}

export interface Call {
  readonly admitted: Admitted
  /** The item, file owner, search or job that is meant. */
  readonly id?: string
  /** Of a list, a search or a bulk removal; `within` is the service's to fill. */
  readonly query?: Omit<Query, 'within'>
  /**
   * The content; it is given what stands, so that a patch can be applied to it and parts can be
   * kept.
   */
  readonly input?: (current: Snapshot | undefined) => Input
  /** What is to be the file. */
  readonly file?: { readonly mediaType: string; readonly octets: FileOctets }
  /** The precondition, asked once what stands is known. Absent: none was given. */
  readonly expects?: (current: Snapshot | undefined) => ExpectsResult
  /**
   * Fields of the newest contract that the caller's version does not know: a replacement keeps
   * them.
   */
  readonly hidden?: readonly string[]
  /**
   * At most once under this key for this caller; `fingerprint` tells whether it is the same
   * request.
   */
  readonly once?: { readonly key: string; readonly fingerprint: string; readonly space: 'idempotency' | 'message' }
  readonly face: 'rest' | 'soap' | 'job'
  /** The request id, for the audit and the log. */
  readonly request: string
}

/** The service as a face sees it. Each throws `Refused` and nothing else that is expected. */
export interface Calls {
  /**
   * May this caller ever do this (401, 403)? Is it within their rate (429)? Rows 15–17 of the HTTP
   * decisions. `from` is the peer's address: those who have not said who they are share the rate of
   * it.
   */
  admit(operation: Operation, caller: Caller, from: string, face: Call['face']): Maybe<Admitted>
  /** The target and the precondition alone, before the content is asked for (rows 22–24). */
  precheck(call: Call): Maybe<void>
  /**
   * Takes the content of a file in as it arrives, for the call that `perform` is given next.
   * Undefined as soon as there is more than `limit`; throws what the content throws. Either leaves
   * nothing behind.
   */
  keep(admitted: Admitted, content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedFile | undefined>
  perform(call: Call): Maybe<Outcome>
  /**
   * May this caller do this to this item, now? For links: the same policy and machine that
   * `perform` asks.
   */
  offers(operation: Operation, caller: Caller, item: Snapshot): boolean
}
