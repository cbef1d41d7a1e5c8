/**
 * A message as it came in, and what its Security block was found to hold: `verify` hands it to
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

/** A message as the envelope was opened. */
export interface Incoming {
  readonly envelope: Element
  readonly header: Element | undefined
  readonly body: Element
  /** The header blocks that are targeted at this node. */
  readonly blocks: readonly Element[]
  /** Header blocks that this node processes, those of WS-Addressing among them; default none. */
  readonly processed?: readonly Element[]
  /** The other parts of the package that the message came in, by Content-ID. */
  readonly parts?: PackedParts
  /** The peer's address. */
  readonly from: string
  /** Whether a password may travel in clear here. */
  readonly confidential: boolean
  /** For a reply: the values of the signatures in the request, which it must confirm. */
  readonly sent?: readonly Buffer[]
  /** Of a reply: the key that its request was signed with, if it had one of its own. */
  readonly exchangeKey?: ExchangeKey
}

/**
 * The holder of a key that was trusted, by what it was trusted for. That of an `exchange` key is
 * its sender, of whom nothing is known by it.
 */
export type Signer =
  | { readonly kind: 'x509'; readonly key: KeyObject; readonly certificate: Certificate }
  | { readonly kind: 'secret'; readonly key: KeyObject; readonly name: string }
  | { readonly kind: 'saml'; readonly key: KeyObject; readonly assertion: Assertion }
  | { readonly kind: 'exchange'; readonly key: KeyObject; readonly source: ExchangeKey }

/**
 * What a Security block holds, once all of it was checked that can be without asking another party.
 */
export interface ExaminedBlock {
  readonly stamped: VerifiedTimestamp | undefined
  readonly signature: VerifiedSignature<Signer> | undefined
  /** By a certificate, of that signature, which an exchange key has made. */
  readonly endorsement: VerifiedSignature<Signer> | undefined
  /** In which forms its secrets were used. */
  readonly keyForms: ReadonlySet<KeyForm>
  readonly usernameToken: Element | undefined
  readonly ticket: Element | undefined
  readonly assertion: Assertion | undefined
  /** Elements that came encrypted. */
  readonly revealed: ReadonlySet<Element>
  /** Its attachments, as far as they are any. */
  readonly parts: IncomingParts
  /** Header blocks that came encrypted. */
  readonly blocks: readonly Element[]
}

/**
 * Whether the signature is that of a known party. By an exchange key alone it is not: such a key
 * counts where a certificate endorses it, or where the receiver itself has sent it.
 */
export const isSignerKnown = (
  { signature, endorsement }: Pick<ExaminedBlock, 'signature' | 'endorsement'>,
  { exchangeKey }: Pick<Incoming, 'exchangeKey'>,
): boolean => {
  const signer = signature?.signer
  return signer?.kind === 'exchange' ? endorsement !== undefined || signer.source === exchangeKey : signer !== undefined
}
