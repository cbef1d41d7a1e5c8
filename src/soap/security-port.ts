/**
 * The step between the blocks and the Body that proves the sender of a message (WSS SOAP Message
 * Security). It returns the proven Body, not its position: the Body that is read is this element,
 * by identity.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import { type Document, type Element, internName } from '../xml/index.ts'
import type { SoapVersion } from './version.ts'

export const securityName = internName(
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  'Security',
)

/** The encrypted form of another block (WSS SOAP Message Security 1.1 §9.3). */
export const encryptedHeaderName = internName(
  'http://docs.oasis-open.org/wss/oasis-wss-wssecurity-secext-1.1.xsd',
  'EncryptedHeader',
)

/**
 * The identifier by which a signature refers to an element (WSS SOAP Message Security 1.1 §4.2).
 */
export const wsuId = internName(
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  'Id',
)

/** A part of a package next to its message. */
export interface PackedPart {
  /** Its Content-Type; empty without one. */
  readonly type: string
  readonly bytes: Uint8Array
  /** Its MIME fields, by lower-case name. */
  readonly fields?: Readonly<Record<string, string>>
}

/** The parts of a package except its message, by Content-ID; the empty key: parts without one. */
export type PackedParts = ReadonlyMap<string, PackedPart>

/** A part on its way out. */
export interface SentPart {
  /** Its Content-ID. */
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** The message and its circumstances, for verification. */
export interface Evidence {
  readonly version: SoapVersion
  /**
   * The message: `document.root` is its Envelope; elements know their positions in
   * `document.bytes`. A block that arrived encrypted replaces its EncryptedHeader.
   */
  readonly document: Document
  /** The one Body. */
  readonly body: Element
  /** All header blocks. */
  readonly blocks: readonly Element[]
  /** The blocks for this node, among them the Security block if there is one. */
  readonly targeted: readonly Element[]
  /** Whether this node processes a block, apart from the Security block. */
  readonly isProcessed: (block: Element) => boolean
  /** The endpoint demands WS-Security (`/secure`); others verify only messages that have it. */
  readonly demanded: boolean
  /** Milliseconds since 1970. */
  readonly now: number
  /** The address of this endpoint. */
  readonly address: string
  /** The address of the peer. */
  readonly from: string
  /** A password may travel with this message: over TLS, or on loopback if the settings allow it. */
  readonly confidential: boolean
  /** All parts of the package except the message itself. */
  readonly parts: PackedParts
}

/** An authenticated message: its sender, and the parts that may be read. */
export interface SecuredMessage {
  /**
   * The authenticated sender. Undefined: the block names none, and the caller is that of the
   * transport.
   */
  readonly caller: Caller | undefined
  /** The Body that was proven, or decrypted: this element is read, and no other. */
  readonly body: Element
  /** The attachments that may be read, decrypted if they were encrypted; no others are read. */
  readonly parts: PackedParts
  /** Protects the answer, even a fault. Undefined: the answer is sent unprotected. */
  readonly protect?: ProtectAnswer
}

/** A message with its attachments, in memory. */
export interface WholeMessage {
  readonly envelope: string
  readonly attached: readonly SentPart[]
}

/**
 * The reply with a Security block. Its envelope holds the octets of files as base64, and the
 * signature covers the parts that the contract places next to it.
 * @param now milliseconds since 1970
 */
export type ProtectAnswer = (answer: WholeMessage, now: number) => WholeMessage

/** Refuses with `refuseMessage({ kind: 'security', … })`. */
export type VerifyMessage = (evidence: Evidence) => Maybe<SecuredMessage>
