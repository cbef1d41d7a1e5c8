/** The dependencies of the checks: clock, memory, keys and identities. Nothing is fetched. */
import type { KeyObject } from 'node:crypto'
import type { Maybe } from '../../base/maybe.ts'
import type { Identities } from '../../service/identity-port.ts'
import type { Certificate } from '../crypto/certificate.ts'
import type { CertificateTrust } from '../crypto/trust.ts'

/** The dependencies of verification: the time, keys, people, and the memory of replays. */
export interface VerificationContext {
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  readonly identities: Identities
  /**
   * Whether this key was seen before; it counts as seen until `expires` (milliseconds since 1970).
   * One memory for all endpoints and instances, which survives restarts, and is asked only about
   * messages that are otherwise valid.
   */
  readonly seen: (key: string, expires: number) => Maybe<boolean>
  /** The certificates that may sign messages. */
  readonly trust?: CertificateTrust
  /** Whether the authority of a signer's certificate may identify this person. Default: always. */
  readonly mayName?: (signer: Certificate, person: string) => boolean
  /** The service's own keys, to which senders encrypt. */
  readonly decrypts?: readonly Decryption[]
  /** The key pair that signs answers. */
  readonly signs?: Decryption
  /** Symmetric keys by KeyName: for HMAC signatures and AES key wrap. */
  readonly secrets?: ReadonlyMap<string, KeyObject>
  readonly saml?: AssertionTrust
  /** Verifies the token of a Kerberos AP-REQ, bare or in the GSS-API framing. */
  readonly kerberos?: (token: Uint8Array) => Maybe<{ readonly principal: string } | undefined>
}

/** A private key for messages encrypted to its certificate. */
export interface Decryption {
  readonly key: KeyObject
  /** The certificate of the public half, by which senders name the key. */
  readonly certificate: Certificate
}

/** The statement of an assertion about its subject (SAML 2.0 §2.2.2, SAML 1.1 §2.4.2.2). */
export interface AssertionSubject {
  readonly issuer: string
  readonly name: string
  readonly format: string | undefined
  readonly qualifier: string | undefined
}

/**
 * The people that an issuer may identify: `same`, those with the names of its subjects; a table
 * from subject to name; or a function, which returns undefined for a subject that is not accepted.
 */
export type SubjectRule =
  | 'same'
  | Readonly<Record<string, string>>
  | ((subject: AssertionSubject) => string | undefined)

export interface AssertionIssuer {
  /** The certificates that may sign its assertions. */
  readonly trust: CertificateTrust
  /** Default, for the only issuer: `same`. */
  readonly people?: SubjectRule | undefined
}

/**
 * The SAML assertions that are accepted: their issuers, the audience, and the vouchers for other
 * subjects.
 */
export interface AssertionTrust {
  /** By their name in assertions. */
  readonly issuers: ReadonlyMap<string, AssertionIssuer>
  /** The certificates that may sign messages with another party's assertion (sender-vouches). */
  readonly vouchers?: CertificateTrust
  /** The names of this service; an AudienceRestriction must have one of them. */
  readonly audiences: readonly string[]
}
