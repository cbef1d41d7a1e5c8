/**
 * The means of proof: as an application configures them, and as the checks use them. Keys and
 * certificates are read once, and an error names the place of a mistake and its cure.
 */

import type { KeyObject } from 'node:crypto'
import {
  type CertificateSource,
  type PrivateKeySource,
  readOneCertificate,
  readPrivateKey,
  readSecret,
  requirePair,
  type SecretSource,
} from '../crypto/key-source.ts'
import { type Anchors, CertificateTrust } from '../crypto/trust.ts'
import { findKeyFlaw } from './pair-flaws.ts'
import type { AssertionTrust, Decryption, SubjectRule, VerificationContext } from './verification-context.ts'

/** A key pair of the service: senders encrypt to the certificate. */
export interface DecryptionKey {
  readonly key: PrivateKeySource
  readonly certificate: CertificateSource
}

/** An issuer of assertions. */
export interface SamlIssuer extends Anchors {
  /** Its name, as written in its assertions. */
  readonly name: string
  /**
   * The people whom it may identify. Default, for the only issuer: `same`, every person whose name
   * is that of a subject. With several issuers each needs a rule.
   */
  readonly people?: SubjectRule
}

/**
 * The SAML assertions that are accepted: their issuers, the names of this service, the vouchers.
 */
export interface SamlSettings {
  readonly issuers: readonly SamlIssuer[]
  /** The certificates that may sign messages with the assertion of another party. */
  readonly vouchers?: Anchors
  /** The names of this service; an AudienceRestriction must have one of them. */
  readonly audiences: readonly string[]
}

/** The keys, certificates and issuers by which a service verifies messages. */
export interface ProofMeans {
  /** Keys to which senders encrypt; several while one replaces another. */
  readonly decrypts?: readonly DecryptionKey[]
  /** Keys shared by both sides, by KeyName: for HMAC signatures and AES key wrap. */
  readonly secrets?: ReadonlyMap<string, SecretSource> | Readonly<Record<string, SecretSource>>
  readonly saml?: SamlSettings
  /** Verifies the token of a Kerberos AP-REQ, bare or in the GSS-API framing. */
  readonly kerberos?: VerificationContext['kerberos']
}

export type PreparedMeans = Pick<VerificationContext, 'decrypts' | 'secrets' | 'saml' | 'kerberos'>

/** @throws TypeError that names the place of a mistake below `place`, and its cure */
export function prepareMeans({ decrypts, secrets, saml, kerberos }: ProofMeans, place: string): PreparedMeans {
  return {
    ...(decrypts && { decrypts: decrypts.map((each, at) => prepareDecryption(each, `${place}.decrypts[${at}]`)) }),
    ...(secrets && { secrets: prepareSecrets(secrets, `${place}.secrets`) }),
    ...(saml && { saml: prepareSaml(saml, `${place}.saml`) }),
    ...(kerberos && { kerberos }),
  }
}

/** @throws TypeError if the key is not a key, cannot be used, or belongs to another certificate */
export function prepareDecryption(source: DecryptionKey, place: string): Decryption {
  const key = readPrivateKey(source.key, `${place}.key`)
  const certificate = readOneCertificate(source.certificate, `${place}.certificate`)
  requirePair(key, certificate, [`${place}.key`, `${place}.certificate`])
  const flaw = findKeyFlaw(key)
  if (flaw !== undefined)
    throw new TypeError(`${place}.key is ${flaw}: use RSA of 2048 to 8192 bits, or EC on P-256, P-384 or P-521`)
  return { key, certificate }
}

function prepareSecrets(secrets: NonNullable<ProofMeans['secrets']>, place: string): ReadonlyMap<string, KeyObject> {
  const entries = secrets instanceof Map ? [...secrets] : Object.entries(secrets)
  return new Map(entries.map(([name, source]) => [name, readSecret(source, `${place}.${name}`)]))
}

function prepareSaml({ issuers, vouchers, audiences }: SamlSettings, place: string): AssertionTrust {
  const found = issuers.map(({ name, people, ...anchors }, at) => {
    const trust = new CertificateTrust(anchors, `${place}.issuers[${at}]`)
    return [name, { trust, people }] as const
  })
  const twice = issuers.find(({ name }, at) => issuers.findIndex(each => each.name === name) < at)
  if (twice) throw new TypeError(`${place}.issuers has ${twice.name} twice: give all of its certificates in one`)
  return {
    issuers: new Map(found),
    audiences,
    ...(vouchers && { vouchers: new CertificateTrust(vouchers, `${place}.vouchers`) }),
  }
}
