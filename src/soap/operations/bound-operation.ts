/**
 * What an endpoint can be asked: for each element that may stand in a Body, how it is read, what it
 * does and how its answer is written. The face knows operations by this alone; `operation.ts` makes
 * one from each operation of a contract.
 */

import type { Maybe } from '../../base/maybe.ts'
import type { Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import type { Caller } from '../../contract/policy.ts'
import type { ExpectsResult } from '../../service/call.ts'
import type { StoredOctets } from '../../service/store.ts'
import type { Cursor, Name } from '../../xml/index.ts'
import type { LiteralReading, LiteralWriting, StreamedPart } from '../codecs/values.ts'
import type { Block } from '../headers/block.ts'
import type { FaultWording } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'

export interface BoundOperation {
  readonly name: string
  /** The child of Body that asks for it (rule B4.6); undefined: an empty Body does. */
  readonly element: Name | undefined
  readonly action: string
  /** Undefined: nothing answers (rule B4.10). */
  readonly replyAction: string | undefined
  readonly faultAction: (fault: string) => string
  /** Changes nothing. */
  readonly safe: boolean
  /** Octets that a message may have, its attachments not counted. */
  readonly longest: number
  /**
   * What must have come of a package before its message is read: where nothing must, octets may be
   * `StreamedPart`.
   */
  readonly awaits?: 'all' | 'nothing'
  readonly request: Fields
  /** At the `start` of its element; goes to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values
  /** The child of Body that answers, written. */
  readonly write: (answer: Values, writing: LiteralWriting, version: SoapVersion) => string
  readonly perform: (asked: OperationRequest) => Maybe<OperationResponse>
  readonly wording: FaultWording
}

export interface OperationRequest {
  /** The content; what was wrong with it is thrown here, after the caller is admitted. */
  readonly content: () => Values
  /** What of a package has not come yet. */
  readonly beside: StreamedField | undefined
  readonly caller: Caller
  /** The address of the peer. */
  readonly from: string
  /** The id of this request, for the audit and the log. */
  readonly request: string
  /** For content: the message's id, and what tells another message under it apart. */
  readonly once: ((content: Values) => { readonly key: string; readonly fingerprint: string }) | undefined
  /** The values of a declared header block for this node, in their order. */
  readonly blocks: <T>(declared: Block<T>) => readonly T[]
  /** Adds a block, as `blockWriter` writes it, to the reply. */
  readonly add: (block: string) => void
  /** A precondition of the transport's, on what stands. */
  readonly expects?: (current: Standing | undefined) => ExpectsResult
}

export interface StreamedField {
  /** The octets of one part as they come; they end when the package has. */
  octets(coming: StreamedPart): AsyncIterable<Uint8Array>
  /** Reads on to the end, where nothing of what comes is wanted. */
  passed(): Maybe<void>
}

/** What stands, for validators. Milliseconds since 1970. */
export interface Standing {
  readonly version: number
  readonly modified: number
}

export interface OperationResponse {
  readonly row: Values
  /** The item that it shows and nothing else: the same again is written as it was. */
  readonly of?: object
  /** Of its octets, where they travel outside the XML. */
  readonly mediaType?: string
  /** The octets of this field of the row, which has none: they are read as they are sent. */
  readonly large?: { readonly field: string; readonly octets: StoredOctets }
  readonly standing: Standing | undefined
}
