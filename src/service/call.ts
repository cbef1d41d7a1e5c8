/**
 * One call, one outcome. A face passes preconditions and content as functions, which run inside the
 * one transaction: so the version that was compared is the one that is changed, and the content of
 * a refused call is never parsed.
 */

import type { Maybe } from '../base/maybe.ts'
import type { PortExchange } from '../contract/exchange.ts'
import type { Viewer } from '../contract/field-access.ts'
import type { ReadOptions } from '../contract/field-json.ts'
import type { Values } from '../contract/implement.ts'
import type { Operation } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { ExchangeBasis } from '../contract/port-handlers.ts'
import type { ReceivedFile } from './file-content.ts'
import type { Outcome } from './outcome.ts'
import type { Query, Snapshot } from './store.ts'

/**
 * The result of a precondition: it holds, the caller already has the current state, or it failed.
 */
export type ExpectsResult = 'proceed' | 'unchanged' | 'failed'

/** The content of a call, read on demand; reading refuses (`malformed`, `invalid`). */
export interface Input {
  readonly value: Values
  /** Read-only fields in the content, to be compared with the new state. */
  readonly server: ReadOptions['server']
}

/**
 * Proof that this caller may ever do this and is within their rate: only `Calls.admit` creates one,
 * and a call cannot be written without it. So no face, job or bridge can bypass admission.
 */
export interface Admitted {
  readonly operation: Operation
  readonly caller: Caller
  /** The subject, or the address of an anonymous caller: whose turn it is. */
  readonly party: string
  /** The caller's remaining rate for this operation, for RateLimit fields. */
  readonly quota: Quota
}
export interface Quota {
  readonly limit: number
  readonly remaining: number
  /** Seconds until the quota is full again. */
  readonly reset: number
  /** Length of the window, in seconds. */
  readonly window: number
}

/** Header blocks of a call, and those that handlers set for its response. */
export interface CallHeaders {
  readonly given: Values
  /** By name, in the form that the face sends. */
  readonly answer: Map<string, string>
  /** @returns undefined for a header that this answer does not have */
  readonly write: (name: string, value: unknown) => string | undefined
}

export interface Call {
  readonly admitted: Admitted
  /** The identifier of the item, the file's owner, the search or the job. */
  readonly id?: string | undefined
  /**
   * The identifiers of the parents of a nested resource, nearest first: all those in an address, or
   * only the nearest. An existing item knows its own.
   */
  readonly parents?: readonly string[] | undefined
  /** For a list, a search or a bulk removal; the service adds `within`. */
  readonly query?: Omit<Query, 'within'> | undefined
  /** The content; it receives the current item, to apply a patch to it and to keep parts of it. */
  readonly input?: (current: Snapshot | undefined) => Input
  /** The new content of a file. */
  readonly file?: { readonly mediaType: string; readonly octets: ReceivedFile }
  /** The precondition, evaluated once the current item is known. Default: none. */
  readonly expects?: ((current: Snapshot | undefined) => ExpectsResult) | undefined
  /** Fields of the newest contract that the caller's version lacks: a replacement keeps them. */
  readonly hidden?: readonly string[] | undefined
  /**
   * At most one effect under this key for this caller; the same request has the same `fingerprint`.
   */
  readonly once?:
    | { readonly key: string; readonly fingerprint: string; readonly space: 'idempotency' | 'message' }
    | undefined
  readonly headers?: CallHeaders | undefined
  /** Aborted when the client is gone. Default: never. */
  readonly gone?: (() => AbortSignal) | undefined
  readonly face: 'rest' | 'soap' | 'job'
  /** The request id, for the audit and the log. */
  readonly request: string
}

/** A call of an exchange, which has its own kind of content, and no target item. */
export interface ServedExchange extends Pick<Call, 'gone' | 'face' | 'request'>, Pick<Admitted, 'caller' | 'party'> {
  readonly port: string
  /** Its name in the port. */
  readonly exchange: string
  readonly isSafe: boolean
}

/**
 * The service as a face sees it. Each function throws `Refused`, or `Unavailable` while the store
 * is busy or unreachable; anything else is a bug.
 */
export interface Calls {
  /**
   * May this caller ever do this (401, 403), and are they within their rate (429)? Rows 15–17 of
   * the HTTP decisions. `from` is the peer's address, whose rate anonymous callers share.
   */
  admit(operation: Operation, caller: Caller, from: string, face: Call['face']): Maybe<Admitted>
  /** The same for an exchange of a port; its calls count with all reads or changes of the caller. */
  admitExchange(exchange: Pick<PortExchange, 'allow' | 'isSafe'>, caller: Caller, from: string): Maybe<string>
  /** The input and the abilities of the handler of an admitted exchange. */
  serveExchange(call: ServedExchange): ExchangeBasis
  /** Checks the target and the precondition before the content is read (rows 22–24). */
  precheck(call: Call): Maybe<void>
  /**
   * Stores the content of a file as it arrives, for the next `perform`. Undefined once it exceeds
   * `limit` octets; throws what the content throws. Both leave nothing behind.
   */
  keep(admitted: Admitted, content: AsyncIterable<Uint8Array>, limit: number): Promise<ReceivedFile | undefined>
  perform(call: Call): Maybe<Outcome>
  /**
   * Whether the operation is possible on this item, for links; by the policy and machine of
   * `perform`.
   */
  offers(operation: Operation, viewer: Viewer, item: Snapshot): boolean
}
