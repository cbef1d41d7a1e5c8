/**
 * An incoming message, and the findings in its Security block: `verify` hands them to
 * `authenticate`.
 */

import type { KeyObject } from 'node:crypto'
import type { PackedParts } from '../../soap/security-port.ts'
import type { Element } from '../../xml/index.ts'
import type { Certificate } from '../crypto/certificate.ts'
import type { ExchangeKey } from '../crypto/derived-key.ts'
import type { KeyForm } from '../policy/policy.ts'
import type { IncomingParts } from './incoming-parts.ts'
import type { Assertion } from './saml.ts'
import type { VerifiedSignature } from './signature.ts'
import type { VerifiedTimestamp } from './timestamp.ts'

/** A message with its envelope open. */
export interface Incoming {
  readonly envelope: Element
  readonly header: Element | undefined
  readonly body: Element
  /** The header blocks targeted at this node. */
  readonly blocks: readonly Element[]
  /** Whether this node processes a block, as those of WS-Addressing; default: none. */
  readonly isProcessed?: (block: Element) => boolean
  /** The other parts of the message's package, by Content-ID. */
  readonly parts?: PackedParts
  /** The peer's address. */
  readonly from: string
  /** Whether a password may travel in clear here. */
  readonly confidential: boolean
  /** For a reply: the values of the signatures in the request, which it must confirm. */
  readonly sent?: readonly Buffer[]
  /** For a reply: it may leave out the confirmation; one that is there must hold. */
  readonly isUnconfirmed?: boolean
  /** For a reply: when its request was sent, in milliseconds since 1970; it is not older. */
  readonly sentAt?: number | undefined
  /** For a reply: the key with which its request was signed, if it had its own. */
  readonly exchangeKey?: ExchangeKey
}

/**
 * The holder of a trusted key, by the reason for trust. The holder of an `exchange` key is the
 * sender, about whom the key says nothing.
 */
export type Signer =
  | {
      readonly kind: 'x509'
      readonly key: KeyObject
      readonly certificate: Certificate
      /** The token of the message that brought the certificate. */
      readonly token: Element | undefined
    }
  | { readonly kind: 'secret'; readonly key: KeyObject; readonly name: string }
  | { readonly kind: 'saml'; readonly key: KeyObject; readonly assertion: Assertion }
  | { readonly kind: 'exchange'; readonly key: KeyObject; readonly source: ExchangeKey }

/** The contents of a Security block, after every check that needs no other party. */
export interface ExaminedBlock {
  readonly stamped: VerifiedTimestamp | undefined
  readonly signature: VerifiedSignature<Signer> | undefined
  /** A certificate's endorsement of that signature, where an exchange key made it. */
  readonly endorsement: VerifiedSignature<Signer> | undefined
  /** The forms in which its secrets were used. */
  readonly keyForms: ReadonlySet<KeyForm>
  readonly usernameToken: Element | undefined
  readonly ticket: Element | undefined
  readonly assertion: Assertion | undefined
  /** Elements that arrived encrypted. */
  readonly revealed: ReadonlySet<Element>
  /** Its parts, as far as they are attachments. */
  readonly parts: IncomingParts
  /** Header blocks that arrived encrypted. */
  readonly blocks: readonly Element[]
}

/**
 * Whether the signer is a known party. An exchange key alone does not make one: it counts where a
 * certificate endorses it, or where the receiver itself sent it.
 */
export const isSignerKnown = (
  { signature, endorsement }: Pick<ExaminedBlock, 'signature' | 'endorsement'>,
  { exchangeKey }: Pick<Incoming, 'exchangeKey'>,
): boolean => {
  const signer = signature?.signer
  return signer?.kind === 'exchange' ? endorsement !== undefined || signer.source === exchangeKey : signer !== undefined
}
