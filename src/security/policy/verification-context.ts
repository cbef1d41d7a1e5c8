/** All that the checks ask of the world: clock, memory, keys and people. Nothing here is looked up by name or fetched. */
import type { KeyObject } from 'node:crypto'
import type { Maybe } from '../../base/maybe.ts'
import type { Identities } from '../../service/identity-port.ts'
import type { Certificate } from '../crypto/certificate.ts'
import type { CertificateTrust } from '../crypto/trust.ts'

export interface VerificationContext {
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  readonly identities: Identities
  /**
   * Whether this key has been seen before; from now until `expires` (milliseconds since 1970) it has. One memory for all
   * endpoints and instances, kept over restarts, and asked only of messages that hold in all else.
   */
  readonly seen: (key: string, expires: number) => Maybe<boolean>
  /** Whose certificates may sign messages. */
  readonly trust?: CertificateTrust
  /** What is encrypted to this side. */
  readonly decrypts?: readonly Decryption[]
  /** Symmetric keys, by KeyName: HMAC signatures and AES key wrap. */
  readonly secrets?: ReadonlyMap<string, KeyObject>
  readonly saml?: AssertionTrust
  /** Takes the token of a Kerberos AP-REQ (bare, or in the GSS-API framing) and says whose it is. */
  readonly kerberos?: (token: Uint8Array) => Maybe<{ readonly principal: string } | undefined>
}

export interface Decryption {
  readonly key: KeyObject
  /** Of the public half, by which senders name it. */
  readonly certificate: Certificate
}

export interface AssertionTrust {
  /** Issuer, as assertions name it → whose certificates may sign its assertions. */
  readonly issuers: ReadonlyMap<string, CertificateTrust>
  /** Whose certificates may sign messages that carry another's assertion (sender-vouches). */
  readonly vouchers?: CertificateTrust
  /** The names of this service, one of which an AudienceRestriction must have. */
  readonly audiences: readonly string[]
}
