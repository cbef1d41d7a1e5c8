/**
 * The operations of an endpoint: for each possible element of a Body, how to read it, what to do
 * and how to write the reply. The face knows operations by this interface only;
 * `contract-operation.ts` makes one from each operation of a contract.
 */

import type { MarkedValue } from '../../base/marked-octets.ts'
import type { Maybe } from '../../base/maybe.ts'
import type { ReadingOrder } from '../../base/passing-octets.ts'
import type { Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import type { Caller } from '../../contract/policy.ts'
import type { UriContent, UriPairs } from '../../contract/uri-content.ts'
import type { ExpectsResult } from '../../service/call.ts'
import type { StoredOctets } from '../../service/store.ts'
import type { Cursor, Name } from '../../xml/index.ts'
import type { LiteralReading, LiteralWriting } from '../codecs/values.ts'
import type { Block } from '../headers/block.ts'
import type { RemainingParts } from '../mime/parts.ts'
import type { FaultWording } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'

/** An operation of an endpoint, ready to be called: how its Body begins, and what it does. */
export interface BoundOperation {
  readonly name: string
  /** The elements with which its Body begins (rule B4.6); undefined: an empty Body. */
  readonly firsts: readonly (Name | undefined)[]
  /** Its content declaration, if other operations may share it: content cannot distinguish them. */
  readonly declared?: object | undefined
  /** Whether its Body may also begin with any element of this namespace. */
  readonly mayBegin?: ((uri: string) => boolean) | undefined
  readonly action: string
  /**
   * What the transport may state instead: the `soapAction` of a WSDL with another [action]; empty:
   * the WSDL has none.
   */
  readonly transportAction?: string
  /** Undefined: there is no reply (rule B4.10). */
  readonly replyAction: string | undefined
  readonly faultAction: (fault: string) => string
  /** The operation changes nothing. */
  readonly safe: boolean
  /** The operation may be long work, done in the turns of its caller. */
  readonly isLong: boolean
  /** Octets that a message may have, without its attachments. */
  readonly longest: number
  /**
   * The parts of a package that must arrive before its message is read; with `nothing`, octets may
   * be `StreamedPart`.
   */
  readonly awaits?: 'all' | 'nothing'
  /** Octets of a package whose parts pass to the backend (`awaits: 'nothing'`). */
  readonly passingMax?: number | undefined
  /** Parts of its reply travel next to the envelope. */
  readonly repliesWithParts?: boolean
  readonly request: Fields
  /** How an address carries content that is not a row of fields; `none`: no address can. */
  readonly retrieval?: () => RetrievedContent | 'none'
  /** Header blocks of this operation. */
  readonly blocks?: readonly Block[]
  /** From the `start` of its first element, or the `end` of an empty Body, to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values
  /** The children of the reply's Body, as XML. */
  readonly write: (answer: Values, writing: LiteralWriting, version: SoapVersion) => string
  readonly perform: (request: OperationRequest) => Maybe<OperationResponse>
  readonly wording: FaultWording
}

/** The content of a request in an address (SOAP 1.2 Part 2 §7.4). */
export interface RetrievedContent extends Pick<UriContent, 'names' | 'required'> {
  /** The template of the address, appended to that of the endpoint; undefined: the name alone. */
  readonly location: string | undefined
  /** Refuses invalid content. */
  readonly read: (pairs: UriPairs) => Values
}

/** The request to an operation. */
export interface OperationRequest {
  /** The content; throws its refusals, so that they follow admission. */
  readonly content: () => Values
  /** The parts of a package that have not arrived yet. */
  readonly beside: RemainingParts | undefined
  /** The order in which the reply's octets may be read while it is sent; undefined: not at all. */
  readonly passing: () => ReadingOrder | undefined
  readonly caller: Caller
  /** The address of the peer. */
  readonly from: string
  /** Aborted when no client is left to reply to. */
  readonly gone: (() => AbortSignal) | undefined
  /** The version of the message, and of its reply. */
  readonly version: SoapVersion
  /** The id of this request, for the audit and the log. */
  readonly request: string
  /** For the content: the message's id, and a fingerprint that differs for any other message. */
  readonly once: ((content: Values) => { readonly key: string; readonly fingerprint: string }) | undefined
  /** The values of a declared header block for this node, in order. */
  readonly blocks: <T>(declared: Block<T>) => readonly T[]
  /** Adds a block, as `compileBlockWriter` writes it, to the reply. */
  readonly add: (block: string) => void
  /** A precondition of the transport on the current item. */
  readonly expects?: (current: CurrentState | undefined) => ExpectsResult
}

/** The current state, for validators; `modified` in milliseconds since 1970. */
export interface CurrentState {
  readonly version: number
  readonly modified: number
}

/** The result of an operation, before it becomes a message. */
export interface OperationResponse {
  readonly row: Values
  /** The media type of its octets, for a package. */
  readonly mediaType?: string
  /** The octets of a field that the row omits: they are read while they are sent. */
  readonly large?: { readonly field: string; readonly octets: StoredOctets }
  /** Passing octets, by their placeholders in the row. */
  readonly passing?: MarkedValue
  readonly standing: CurrentState | undefined
}
