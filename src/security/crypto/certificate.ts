/**
 * An X.509 certificate (RFC 5280 §4). It is decoded completely at once, so that nothing fails
 * later. `certification-path.ts` decides what it may be used for.
 */

import { createHash, type KeyObject, X509Certificate } from 'node:crypto'
import { isCryptoError } from '../../base/attempt.ts'
import { type CertificateExtensions, KeyUsage, readCertificateExtensions } from './certificate-extensions.ts'
import {
  BIT_STRING,
  constructedTag,
  DerFields,
  type DerValue,
  GENERALIZED_TIME,
  INTEGER,
  NotDer,
  readDer,
  readDerInteger,
  readDerOctets,
  readDerTime,
  SEQUENCE,
  UTC_TIME,
} from './der.ts'
import { type DistinguishedName, findAttributes, readDistinguishedName, writeNameKey } from './distinguished-name.ts'
import { checkX509Signature, type SignedObject } from './x509-signature.ts'

const commonNameType = '2.5.4.3'
const emailAddressType = '1.2.840.113549.1.9.1'

/** An X.509 certificate, decoded once (RFC 5280 §4.1). */
export class Certificate {
  readonly x509: X509Certificate
  readonly der: Buffer
  readonly key: KeyObject
  /** Milliseconds since 1970; `notAfter` is still valid (RFC 5280 §4.1.2.5). */
  readonly notBefore: number
  readonly notAfter: number
  readonly issuer: DistinguishedName
  readonly subject: DistinguishedName
  /** Equal for equal names. */
  readonly issuerKey: string
  readonly subjectKey: string
  readonly commonNames: readonly string[]
  /** Attributes of the subject with the type emailAddress. */
  readonly emailAddresses: readonly string[]
  readonly serial: bigint
  /** Equal for equal serial numbers. */
  readonly serialKey: string
  /** The encoding of the issuer's name, and the content of subjectPublicKey. */
  readonly issuerOctets: Buffer
  readonly keyOctets: Buffer
  readonly extensions: CertificateExtensions
  readonly #signed: SignedObject
  /** Issuer → why its key did not sign this certificate; empty if it did. */
  readonly #issuers = new WeakMap<Certificate, string>()

  /**
   * @param source PEM or DER
   * @throws an error that `isCertificateError` knows if it is not a certificate
   */
  constructor(source: string | Uint8Array) {
    this.x509 = new X509Certificate(source)
    this.der = this.x509.raw
    this.key = this.x509.publicKey
    const whole = new DerFields(readDer(this.der))
    const signed = whole.required(SEQUENCE)
    const algorithm = whole.required(SEQUENCE)
    const signature = readDerOctets(whole.required(BIT_STRING))
    whole.end()
    const fields = readCertificateFields(signed)
    this.serial = readDerInteger(fields.serial)
    this.serialKey = fields.serial.content.toString('latin1')
    this.issuerOctets = fields.issuer.octets
    this.keyOctets = readSubjectKey(fields.subjectPublicKey)
    this.issuer = readDistinguishedName(fields.issuer)
    this.subject = readDistinguishedName(fields.subject)
    this.issuerKey = writeNameKey(this.issuer)
    this.subjectKey = writeNameKey(this.subject)
    this.commonNames = findAttributes(fields.subject, commonNameType)
    this.emailAddresses = findAttributes(fields.subject, emailAddressType)
    this.notBefore = fields.notBefore
    this.notAfter = fields.notAfter
    this.extensions = readCertificateExtensions(fields.extensions)
    this.#signed = { signed: signed.octets, algorithms: [fields.algorithm, algorithm], signature }
  }

  /** RFC 5280 §4.2.1.3: whether it may sign messages; without the extension it may. */
  get maySign(): boolean {
    const { keyUsage } = this.extensions
    return !keyUsage || keyUsage.has(KeyUsage.digitalSignature) || keyUsage.has(KeyUsage.nonRepudiation)
  }

  get subjectKeyIdentifier(): Buffer | undefined {
    return this.extensions.subjectKeyIdentifier
  }

  /** RFC 5280 §6.1: issuer and subject have the same name. */
  get isSelfIssued(): boolean {
    return this.issuerKey === this.subjectKey
  }

  /** SHA-1 of the whole encoding: a name, not a proof. */
  get thumbprint(): Buffer {
    return createHash('sha1').update(this.der).digest()
  }

  /** Why this issuer's key did not, or may not, sign the certificate; undefined if it did. */
  checkSignature(issuer: Certificate): string | undefined {
    let found = this.#issuers.get(issuer)
    if (found === undefined) {
      found = checkX509Signature(this.#signed, issuer.key) ?? ''
      this.#issuers.set(issuer, found)
    }
    return found === '' ? undefined : found
  }
}

interface CertificateFields {
  readonly serial: DerValue
  readonly algorithm: DerValue
  readonly issuer: DerValue
  readonly notBefore: number
  readonly notAfter: number
  readonly subject: DerValue
  readonly subjectPublicKey: DerValue
  readonly extensions: DerValue | undefined
}

const versionThree = 2n

/** TBSCertificate (RFC 5280 §4.1). */
function readCertificateFields(signed: DerValue): CertificateFields {
  const fields = new DerFields(signed)
  const explicit = fields.optional(constructedTag(0))
  const version = explicit ? readDerInteger(readDer(explicit.content)) : 0n
  const serial = fields.required(INTEGER)
  const algorithm = fields.required(SEQUENCE)
  const issuer = fields.required(SEQUENCE)
  const times = new DerFields(fields.required(SEQUENCE))
  const notBefore = readTimeField(times)
  const notAfter = readTimeField(times)
  times.end()
  const subject = fields.required(SEQUENCE)
  const subjectPublicKey = fields.required(SEQUENCE)
  fields.optional(0x81) // issuerUniqueID
  fields.optional(0x82) // subjectUniqueID
  const extensions = fields.optional(constructedTag(3))
  fields.end()
  if (version > versionThree || version < 0n) throw new NotDer('a certificate of an unknown version')
  if (extensions && version !== versionThree) throw new NotDer('extensions in a certificate before version 3')
  return {
    serial,
    algorithm,
    issuer,
    notBefore,
    notAfter,
    subject,
    subjectPublicKey,
    extensions: extensions && readDer(extensions.content),
  }
}

/** SubjectPublicKeyInfo, whose algorithm and key OpenSSL reads. */
function readSubjectKey(value: DerValue): Buffer {
  const fields = new DerFields(value)
  fields.required(SEQUENCE)
  return readDerOctets(fields.required(BIT_STRING))
}

const readTimeField = (fields: DerFields): number => readDerTime(fields.required(UTC_TIME, GENERALIZED_TIME))

/** Whether OpenSSL or the DER reader says by this error that octets are not a certificate. */
export const isCertificateError = (thrown: unknown): boolean => isCryptoError(thrown) || thrown instanceof NotDer
