/**
 * The protection that a client adds to its messages, as an application configures it: keys and
 * certificates are read once, and an error names the place of a mistake and its cure.
 */

import { createPublicKey, KeyObject } from 'node:crypto'
import type { Hash } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import {
  type CertificateSource,
  type PrivateKeySource,
  readOneCertificate,
  readPrivateKey,
  readSecret,
  requirePair,
  type SecretSource,
} from '../crypto/key-source.ts'
import { findKeyWeakness } from '../crypto/key-strength.ts'
import type { CoveredPart } from '../policy/policy.ts'
import type { Encryption } from './encrypt.ts'
import type { Protection } from './protect.ts'
import type { ReferenceForm } from './protection-draft.ts'
import type { Signing } from './sign.ts'

/** The signed parts of a message, and the key. */
export interface SigningOptions extends Pick<Signing, 'pss'> {
  /** Default: SHA-256. */
  readonly hash?: Exclude<Hash, 'sha1'>
  /** The private key of the certificate or the assertion; the secret, where `by` names one. */
  readonly key: PrivateKeySource | SecretSource
  /**
   * How the receiver identifies the key: by a certificate and the way to name it (default: it is
   * sent along), by the name of a secret, or by the assertion of the message.
   */
  readonly by:
    | { readonly certificate: CertificateSource; readonly refer?: ReferenceForm }
    | { readonly name: string }
    | 'assertion'
  /** The parts that are covered completely. Default: Headers, Body, Timestamp and Attachments. */
  readonly parts?: readonly CoveredPart[]
}

/** The encrypted parts of a message, and their receiver. */
export interface EncryptionOptions extends Omit<Encryption, 'to' | 'parts'> {
  /** The certificate of the receiver. */
  readonly to: CertificateSource
  /** Default: the content of the Body, and Attachments. */
  readonly parts?: readonly CoveredPart[]
}

/** Additions to each message; none by default. */
export interface ProtectionOptions extends Omit<Protection, 'signature' | 'encryption' | 'exchange'> {
  readonly signature?: SigningOptions
  readonly encryption?: EncryptionOptions
}

/** @throws TypeError that names the place of a mistake below `place`, and its cure */
export function prepareProtection(options: ProtectionOptions, place: string): Protection {
  const { signature, encryption, ...others } = options
  const signing = signature && prepareSigning(signature, `${place}.signature`)
  return {
    ...(signing?.parts.includes('Timestamp') && { timestamp: {} }),
    ...others,
    ...(signing && { signature: signing }),
    ...(encryption && { encryption: prepareEncryption(encryption, `${place}.encryption`) }),
  }
}

function prepareSigning(
  { key: source, by, parts = ['Headers', 'Body', 'Timestamp', 'Attachments'], ...how }: SigningOptions,
  place: string,
): Signing {
  const keyPlace = `${place}.key`
  if (by !== 'assertion' && 'name' in by)
    return { ...how, parts, by, key: readSecret(source as SecretSource, keyPlace) } // which refuses any other value
  if (by === 'assertion' && source instanceof KeyObject && source.type === 'secret')
    return { ...how, parts, by, key: source }
  const key = requireStrong(readPrivateKey(source as PrivateKeySource, keyPlace), keyPlace) // the same
  if (by === 'assertion') return { ...how, parts, by, key }
  const certificate = readOneCertificate(by.certificate, `${place}.by.certificate`)
  requirePair(key, certificate, [keyPlace, `${place}.by.certificate`])
  return { ...how, parts, key, by: { certificate, refer: by.refer ?? 'direct' } }
}

/** XML Signature has identifiers for RSA and ECDSA. */
function requireStrong(key: KeyObject, place: string): KeyObject {
  const isNamed = key.asymmetricKeyType === 'rsa' || key.asymmetricKeyType === 'ec'
  const weakness = isNamed ? findKeyWeakness(createPublicKey(key)) : `a key of the kind ${key.asymmetricKeyType}`
  if (weakness === undefined) return key
  throw new TypeError(`${place} is ${weakness}: give one of RSA of 2048 bits or more, or of P-256, P-384 or P-521`)
}

const prepareEncryption = (
  { to, parts = ['Body', 'Attachments'], ...how }: EncryptionOptions,
  place: string,
): Encryption => ({
  ...how,
  parts,
  to: readReceiver(to, `${place}.to`),
})

/** The certificate of a receiver. @throws TypeError if it cannot be used to encrypt */
export function readReceiver(source: CertificateSource, place: string): Certificate {
  const certificate = readOneCertificate(source, place)
  const kind = certificate.key.asymmetricKeyType
  if ((kind === 'rsa' || kind === 'ec') && !findKeyWeakness(certificate.key)) return certificate
  throw new TypeError(
    `${place} is not for an RSA key of 2048 bits or more, or one on P-256, P-384 or P-521: give the receiver's certificate for encryption`,
  )
}
