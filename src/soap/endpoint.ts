/** What a binding and the processing model hand each other, and what a node is made of. */

import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import type { MessageStyle } from '../contract/xml-message.ts'
import type { FaceContext } from '../service/face-context.ts'
import type { Cursor } from '../xml/index.ts'
import type { SoapFault } from './fault.ts'
import type { Addressing, AgreedAddressing, ReplyTargets } from './headers/addressing.ts'
import type { Block } from './headers/block.ts'
import type { NodeRoles } from './headers/node.ts'
import type { RemainingParts } from './mime/parts.ts'
import type { Base64Insert } from './mime/streamed-base64.ts'
import type { Attached } from './mime/write-package.ts'
import type { BoundOperation, Standing } from './operations/bound-operation.ts'
import type { AnySoapRefusal, FaultWording } from './refusal.ts'
import type { VerifyMessage } from './security-port.ts'
import type { SoapVersion } from './version.ts'

export interface Endpoint {
  /** The version of the contract: `v1`. */
  readonly version: string
  readonly path: string
  readonly style: MessageStyle
  /** Demands WS-Security, whatever the transport knows of its caller. */
  readonly secure: boolean
  readonly versions: 'both' | '1.1' | '1.2'
}

/** What an application may add to an endpoint. */
export interface SoapOptions {
  /** Header blocks that are understood here, beside those of WS-Addressing and WS-Security. */
  readonly blocks?: readonly Block[]
  /** Roles that this node plays beside `next` and the ultimate receiver. */
  readonly roles?: readonly string[]
  readonly secure?: VerifyMessage
  /** Where replies may go beside back. Default: nowhere. */
  readonly elsewhere?: ReplyTargets
  /**
   * `w3c`: a Sender fault of SOAP 1.2 has status 400 (SOAP 1.2 Part 2 Table 20). Default: every
   * fault has 500 (rule B4.5).
   */
  readonly faultStatus?: 'w3c'
  /**
   * Decodes gzip; undefined when the octets are not gzip, have something behind it, or would exceed
   * the limit.
   */
  readonly inflate?: (bytes: Uint8Array, limit: number) => Maybe<Uint8Array | undefined>
  /**
   * What GET on the endpoint answers with this query: a WSDL, a schema. Undefined: nothing of the
   * kind.
   */
  readonly describe?: (query: string, address: string) => Maybe<Description | undefined>
  /** Content codings of descriptions by name, the preferred first. */
  readonly codings?: Readonly<Record<string, (octets: Uint8Array) => Uint8Array>>
  /** The name of the service in challenges; default `soap`. */
  readonly realm?: string
  /** The page of the service, for browsers. */
  readonly page?: (address: string) => Maybe<string>
}

/** A description of an endpoint: kept by its owner, so that it is digested and coded once. */
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
  readonly byElement: ReadonlyMap<BoundOperation['element'], BoundOperation>
  readonly byAction: ReadonlyMap<string, BoundOperation>
  /** Octets that the operations take: the least of them, and the most. */
  readonly sizes: { readonly shortest: number; readonly longest: number }
  readonly place: NodeRoles
  /** For faults before an operation is known. */
  readonly wording: FaultWording
}

/** One message, as a binding hands it over. */
export interface ReceivedMessage {
  readonly bytes: Uint8Array
  readonly charset: string | undefined
  /** The version whose media type it came with. */
  readonly media: SoapVersion
  /** What the transport says of the action: a hint (rule 1). */
  readonly action: string | undefined
  readonly parts: RemainingParts | undefined
  /** Whether its sender takes a package for an answer. */
  readonly takesPackage: boolean
  /** This endpoint as it was asked, and as it is known. */
  readonly addresses: readonly [string, ...string[]]
  readonly from: string
  /** What the request that brought it is called. */
  readonly request: string
  readonly confidential: boolean
  /** Who the transport says is asking; refuses bad credentials. */
  readonly caller: () => Maybe<Caller>
}

/** What a binding is to send. */
export interface SentMessage {
  readonly version: SoapVersion
  /** Undefined: nothing but that the message was accepted. */
  readonly envelope: string | undefined
  readonly fault?: { readonly code: SoapFault['code']; readonly refusal: AnySoapRefusal }
  readonly attached?: readonly Attached[]
  /** Octets whose base64 stands in the envelope where this mark does. */
  readonly filling?: Base64Insert
  readonly standing?: Standing | undefined
}

/** What is known of the exchange so far, for a fault at any step. */
export interface ExchangeFacts {
  /** This endpoint, for the fault's Node. */
  readonly address: string
  version: SoapVersion
  exchange?: BoundOperation
  addressing?: Addressing | undefined
  agreed?: AgreedAddressing
  /** Blocks that handlers added to the reply. */
  readonly blocks: string[]
  /** What the declared blocks for this node say. */
  readonly values: { readonly declaration: Block; readonly value: unknown }[]
}
export interface Exchanged extends ExchangeFacts {
  readonly message: ReceivedMessage
  /** Over the octets of the message. */
  cursor?: Cursor
}
