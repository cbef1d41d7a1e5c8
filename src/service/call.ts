/**
 * One call, one outcome. A face hands over what was asked as functions; they are asked here, inside the one transaction,
 * so what was compared is what is changed, and nothing is parsed for a caller who is refused.
 */
import type { Row } from '../contract/implement.ts'
import type { Reading } from '../contract/json.ts'
import type { Operation } from '../contract/operation.ts'
import type { Caller } from '../contract/policy.ts'
import type { Query, Snapshot } from './store.ts'

/** What a precondition says of what stands: go on, the caller has it already, or it does not hold. */
export type Verdict = 'proceed' | 'unchanged' | 'failed'

/** The content of a call, read on demand; it refuses (`malformed`, `invalid`) when it can't be read. */
export interface Input {
  readonly value: Row
  /** Server fields that came along in content, to be compared with what will stand. */
  readonly server: Reading['server']
}

export interface Call {
  readonly operation: Operation
  readonly caller: Caller
  /** The item, file owner, search or job that is meant. */
  readonly id?: string
  /** Of a list, a search or a bulk removal; `within` is the service's to fill. */
  readonly query?: Omit<Query, 'within'>
  /** The content. For a patch it is given what stands; for a change of an item too, so that parts can be kept. */
  readonly input?: (current: Snapshot | undefined) => Input
  /** The bytes of a file. */
  readonly file?: () => { readonly mediaType: string; readonly bytes: Uint8Array }
  /** The precondition, asked once what stands is known. Absent: none was given. */
  readonly expects?: (current: Snapshot | undefined) => Verdict
  /** Fields of the newest contract that the caller's version does not know: a change keeps them. */
  readonly hidden?: readonly string[]
  /** At most once under this key for this caller; `fingerprint` tells whether it is the same request. */
  readonly once?: { readonly key: string; readonly fingerprint: string; readonly space: 'idempotency' | 'message' }
  /** For the audit and the log. */
  readonly face: 'rest' | 'soap' | 'job'
  readonly request: string
}
