/** Types shared by the bindings and the processing model: endpoints, nodes, messages. */

import type { MarkedOctets } from '../base/marked-octets.ts'
import type { Maybe } from '../base/maybe.ts'
import type { OctetDecoder } from '../base/octets.ts'
import type { MessageStyle, SpokenVersions } from '../contract/endpoint-rule.ts'
import type { Caller } from '../contract/policy.ts'
import type { VersionRule } from '../contract/service.ts'
import type { FaceContext, RequestNotes } from '../service/face-context.ts'
import type { Cursor, Name } from '../xml/index.ts'
import type { SoapFault } from './fault.ts'
import type { Addressing, AgreedAddressing, ReplyTargets } from './headers/addressing.ts'
import type { Block } from './headers/block.ts'
import type { NodeRoles } from './headers/node.ts'
import type { RemainingParts } from './mime/parts.ts'
import type { Packing } from './mime/write-package.ts'
import type { BoundOperation, CurrentState } from './operations/bound-operation.ts'
import type { AnySoapRefusal, FaultWording } from './refusal.ts'
import type { ProtectAnswer, VerifyMessage } from './security-port.ts'
import type { SoapVersion } from './version.ts'

/**
 * A SOAP endpoint: which version of the contract it serves, at which path, in which style and SOAP
 * versions.
 */
export interface Endpoint {
  /** The version of the contract: `v1`. */
  readonly version: string
  readonly path: string
  readonly style: MessageStyle
  /** Demands WS-Security, even if the transport knows the caller. */
  readonly secure: boolean
  readonly versions: SpokenVersions
}

/** Options of an endpoint. */
export interface SoapOptions {
  /** Header blocks understood besides those of WS-Addressing and WS-Security. */
  readonly blocks?: readonly Block[]
  /** URIs of roles that this node plays besides `next` and the ultimate receiver. */
  readonly roles?: readonly string[]
  readonly secure?: VerifyMessage
  /** Reply addresses allowed besides the sender's connection. Default: none. */
  readonly elsewhere?: ReplyTargets
  /**
   * `w3c`: a Sender fault of SOAP 1.2 has status 400 (SOAP 1.2 Part 2 Table 20). Default: every
   * fault has 500 (rule B4.5).
   */
  readonly faultStatus?: 'w3c'
  /** Decodes gzip. Default: gzip is not accepted. */
  readonly inflate?: (...args: Parameters<OctetDecoder>) => Maybe<ReturnType<OctetDecoder>>
  /**
   * The description that GET on the endpoint returns for a query: a WSDL, a schema; undefined: 404.
   */
  readonly describe?: (query: string, address: string) => Maybe<Description | undefined>
  /** Content codings of descriptions by name, most preferred first. */
  readonly codings?: Readonly<Record<string, (octets: Uint8Array) => Uint8Array>>
  /** The name of the service in challenges. Default: `soap`. */
  readonly realm?: string
  /** The page of the endpoint for browsers, as HTML. */
  readonly page?: (address: string) => Maybe<string>
}

/**
 * A description of an endpoint. It is digested and compressed once per object, so its owner keeps
 * the object.
 */
export interface Description {
  readonly mediaType: string
  readonly content: string
}

export interface SoapNode extends SoapOptions {
  readonly realm: string
  readonly serving: Omit<FaceContext, 'app' | 'calls'>
  readonly endpoint: Omit<Endpoint, 'version' | 'style'>
  readonly spoken: readonly SoapVersion[]
  readonly exchanges: readonly BoundOperation[]
  /** The operations by each element with which their Body may begin. */
  readonly byFirst: ReadonlyMap<Name | undefined, readonly BoundOperation[]>
  /** Operations whose Body may begin with undeclared elements. */
  readonly open: readonly BoundOperation[]
  readonly byAction: ReadonlyMap<string, BoundOperation>
  /** Octets that a message may have: the smallest and the largest limit of all operations. */
  readonly sizes: {
    readonly shortest: number
    readonly longest: number
    /** The limit of a package whose parts pass. */
    readonly passing: number
  }
  readonly place: NodeRoles
  /** The caller, where one of our own pages has proven them. */
  readonly proven?: Caller
  /** For a contract version that ends: how, and this endpoint's path in the newest version. */
  readonly ending?: { readonly rule: VersionRule; readonly at: number; readonly successor: string }
  /** For faults raised before the operation is known. */
  readonly wording: FaultWording
}

/** One message as a binding received it. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array
  readonly charset: string | undefined
  /** The version that its media type names. */
  readonly media: SoapVersion
  /** The action according to the transport: a hint, see (1) of `face.ts`. */
  readonly action: string | undefined
  readonly parts: RemainingParts | undefined
  /** The sender accepts a package as the reply. */
  readonly takesPackage: boolean
  /** The addresses of this endpoint: the public one, if there is one, and that of the request. */
  readonly addresses: readonly [string, ...string[]]
  readonly from: string
  /** Aborted when no client on this connection is left to reply to. */
  readonly gone?: (() => AbortSignal) | undefined
  /** The id of the request. */
  readonly request: string
  readonly notes: RequestNotes
  /** A password may travel with it (`front/authenticate.ts`). */
  readonly isConfidential: () => boolean
  /** The caller according to the transport; refuses invalid credentials. */
  readonly caller: () => Maybe<Caller>
}

/** A message for a binding to send. */
export interface SentMessage {
  readonly version: SoapVersion
  /** Undefined: the message was accepted and there is no reply. */
  readonly envelope: string | undefined
  readonly fault?: { readonly code: SoapFault['code']; readonly refusal: AnySoapRefusal }
  /** Sent in a package with these parts. */
  readonly packed?: Packing
  /** Octets whose base64 replaces their marks in the envelope. */
  readonly filling?: MarkedOctets
  readonly standing?: CurrentState | undefined
}

/** The facts of the exchange so far, for a fault at any step. */
export interface ExchangeFacts {
  /** The address of this endpoint, for the fault's Node. */
  readonly address: string
  version: SoapVersion
  exchange?: BoundOperation
  addressing?: Addressing | undefined
  agreed?: AgreedAddressing
  /** Protects the answer to a message that proved its sender. */
  protect?: ProtectAnswer | undefined
  /** The role in which a header block is being processed; undefined: the ultimate receiver's. */
  role?: string | undefined
  /** Blocks that handlers added to the reply. */
  readonly blocks: string[]
  /** The values of the declared blocks for this node. */
  readonly values: { readonly declaration: Block; readonly value: unknown }[]
}
export interface MessageFacts extends ExchangeFacts {
  readonly message: ReceivedMessage
  /** The cursor over the octets of the message. */
  cursor?: Cursor
}
