/**
 * The step between the blocks and the Body at which a message proves who sent it (WSS SOAP Message
 * Security). What it hands on is what was proven, not the place where it was found: the Body that
 * is read is the element it answers, by identity.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Caller } from '../contract/policy.ts'
import { type Document, type Element, internName } from '../xml/index.ts'
import type { SoapVersion } from './version.ts'

export const securityName = internName(
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd',
  'Security',
)

/**
 * The identifier of an element by which a signature refers to it (WSS SOAP Message Security 1.1
 * §4.2).
 */
export const wsuId = internName(
  'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd',
  'Id',
)

/** What there is to prove from. */
export interface Evidence {
  readonly version: SoapVersion
  /**
   * The whole message: `document.root` is its Envelope. Its elements have their places in
   * `document.bytes`.
   */
  readonly document: Document
  /** The one Body of it. */
  readonly body: Element
  /** All header blocks. */
  readonly blocks: readonly Element[]
  /** Those for this node, the Security block among them if there is one. */
  readonly targeted: readonly Element[]
  /**
   * Whether this endpoint demands it (`/secure`); otherwise it is asked only when there is a
   * Security block.
   */
  readonly demanded: boolean
  /** Milliseconds since 1970. */
  readonly now: number
  /** This endpoint, as it was asked. */
  readonly address: string
  /** The address of the peer. */
  readonly from: string
  /** Whether a password may travel here: TLS, or loopback where settings allow it. */
  readonly confidential: boolean
  /** `cid:` URIs of all parts of the package but the message itself. */
  readonly parts: readonly string[]
  /** Octets of the parts of the package by `cid:` URI, without taking them. */
  readonly part: (href: string) => Uint8Array | undefined
}

export interface SecuredMessage {
  /**
   * Who was proven to have sent it. Undefined: the block says nothing of a person, and the
   * transport's caller stands.
   */
  readonly caller: Caller | undefined
  /** The Body that was proven, or the one it decrypted: this element is read, and no other. */
  readonly body: Element
}

/** Refuses with `no({ kind: 'security', … })`. */
export type VerifyMessage = (evidence: Evidence) => Maybe<SecuredMessage>
