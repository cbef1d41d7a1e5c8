/**
 * An OCSP response (RFC 6960 §4.2.1) and the request for it (§4.1.1), as octets. `ocsp.ts` decides
 * whether a response counts.
 */

import { createHash } from 'node:crypto'
import type { Certificate } from './certificate.ts'
import { readExtensions } from './certificate-extensions.ts'
import { parseCertificate } from './certification-path.ts'
import {
  BIT_STRING,
  constructedTag,
  DerFields,
  type DerValue,
  ENUMERATED,
  GENERALIZED_TIME,
  INTEGER,
  NotDer,
  OBJECT_IDENTIFIER,
  OCTET_STRING,
  primitiveTag,
  readDer,
  readDerIdentifier,
  readDerInteger,
  readDerList,
  readDerOctets,
  readDerTime,
  readIntegerOctets,
  SEQUENCE,
  writeDer,
} from './der.ts'
import { readDistinguishedName, writeNameKey } from './distinguished-name.ts'
import { checkX509Signature, type SignedObject } from './x509-signature.ts'

/** The hashes by which requests name the issuer: from RFC 5019 §2.1.1 and from RFC 9919. */
export const ocspHashes = ['sha1', 'sha256'] as const
export type OcspHash = (typeof ocspHashes)[number]

/** Object identifiers of all hashes accepted in responses (RFC 3279, RFC 5754). */
const hashIdentifiers = {
  sha1: Buffer.of(0x06, 5, 0x2b, 0x0e, 0x03, 0x02, 0x1a),
  sha256: Buffer.of(0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01),
  sha384: Buffer.of(0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02),
  sha512: Buffer.of(0x06, 9, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x03),
}
type NamingHash = keyof typeof hashIdentifiers
const hashNames: ReadonlyMap<string, NamingHash> = new Map(
  (Object.keys(hashIdentifiers) as NamingHash[]).map(name => [hashIdentifiers[name].toString('latin1'), name]),
)

/**
 * CertID (§4.1.1). Its hashes only name the issuer, whose key then has to prove the response: SHA-1
 * does no harm here.
 */
export interface CertificateIdentity {
  readonly hash: NamingHash
  readonly issuerNameHash: Buffer
  readonly issuerKeyHash: Buffer
  /** The content of the INTEGER. */
  readonly serial: Buffer
}

/** A hash of the octets: a name, not a proof. KeyHash of a ResponderID is always SHA-1 (§4.2.1). */
export const hashToName = (octets: Uint8Array, hash: NamingHash = 'sha1'): Buffer =>
  createHash(hash).update(octets).digest()

export const identityOf = (
  { issuerOctets, serialKey }: Certificate,
  issuer: Certificate,
  hash: NamingHash,
): CertificateIdentity => ({
  hash,
  issuerNameHash: hashToName(issuerOctets, hash),
  issuerKeyHash: hashToName(issuer.keyOctets, hash),
  serial: Buffer.from(serialKey, 'latin1'),
})

export const isSameIdentity = (one: CertificateIdentity, other: CertificateIdentity): boolean =>
  one.hash === other.hash &&
  one.issuerNameHash.equals(other.issuerNameHash) &&
  one.issuerKeyHash.equals(other.issuerKeyHash) &&
  one.serial.equals(other.serial)

/** 1.3.6.1.5.5.7.48.1.2 */
const nonceIdentifier = Buffer.of(0x06, 9, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01, 0x02)

/**
 * OCSPRequest for one certificate, unsigned (§4.1.1, RFC 9919 §3.1.1).
 * @param nonce octets that the response must repeat (RFC 9654 §2.1)
 */
export function writeOcspRequest(identity: CertificateIdentity, nonce: Buffer | undefined): Buffer {
  const algorithm = writeDer(SEQUENCE, hashIdentifiers[identity.hash], Buffer.of(0x05, 0x00))
  const certId = writeDer(
    SEQUENCE,
    algorithm,
    writeDer(OCTET_STRING, identity.issuerNameHash),
    writeDer(OCTET_STRING, identity.issuerKeyHash),
    writeDer(INTEGER, identity.serial),
  )
  const list = writeDer(SEQUENCE, writeDer(SEQUENCE, certId))
  const extensions = nonce
    ? [writeDer(constructedTag(2), writeDer(SEQUENCE, writeDer(SEQUENCE, nonceIdentifier, nonceValue(nonce))))]
    : []
  return writeDer(SEQUENCE, writeDer(SEQUENCE, list, ...extensions))
}

const nonceValue = (nonce: Buffer): Buffer => writeDer(OCTET_STRING, writeDer(OCTET_STRING, nonce))

/** SingleResponse (§4.2.1). */
export interface SingleAnswer {
  readonly identity: CertificateIdentity
  readonly status: 'good' | 'revoked' | 'unknown'
  /** Milliseconds since 1970. */
  readonly thisUpdate: number
  readonly nextUpdate: number | undefined
}

/** ResponderID: the name or the key of the claimed signer. */
export type ResponderIdentity =
  | { readonly by: 'name'; readonly key: string }
  | { readonly by: 'key'; readonly hash: Buffer }

const statusNames: ReadonlyMap<bigint, string> = new Map([
  [1n, 'malformedRequest'],
  [2n, 'internalError'],
  [3n, 'tryLater'],
  [5n, 'sigRequired'],
  [6n, 'unauthorized'],
])

/** How many certificates a response may carry: the signer's, seldom another. */
const certificatesMax = 5
/** Answers about other certificates, against which RFC 5019 §2.2.1 advises, are skipped. */
const answersMax = 100

/** A BasicOCSPResponse. */
export class OcspResponse {
  readonly responder: ResponderIdentity
  readonly producedAt: number
  readonly answers: readonly SingleAnswer[]
  /** The content of the nonce extension. */
  readonly nonce: Buffer | undefined
  /** DER. */
  readonly certificates: readonly Certificate[]
  readonly #signed: SignedObject

  /** @throws NotDer if it is not a response, or has no answer */
  constructor(der: Buffer) {
    const fields = new DerFields(readBasicResponse(der))
    const signed = fields.required(SEQUENCE)
    const algorithm = fields.required(SEQUENCE)
    const signature = readDerOctets(fields.required(BIT_STRING))
    const carried = fields.optional(constructedTag(0))
    fields.end()
    const data = readResponseData(signed)
    this.responder = data.responder
    this.producedAt = data.producedAt
    this.answers = data.answers
    this.nonce = data.nonce
    const certificates = carried ? readDerList(readDer(carried.content)) : []
    this.certificates = certificates.slice(0, certificatesMax).flatMap(({ octets }) => parseCertificate(octets) ?? [])
    this.#signed = { signed: signed.octets, algorithms: [algorithm, algorithm], signature }
  }

  /** Whether it repeats the nonce of its request. */
  hasNonce(nonce: Buffer): boolean {
    return this.nonce?.equals(writeDer(OCTET_STRING, nonce)) ?? false
  }

  /** Why this certificate's key did not sign the response; undefined if it did. */
  checkSignature(signer: Certificate): string | undefined {
    return checkX509Signature(this.#signed, signer.key)
  }
}

const basicResponse = '1.3.6.1.5.5.7.48.1.1'

/** OCSPResponse: the BasicOCSPResponse in it, or the error that it reports. */
function readBasicResponse(der: Buffer): DerValue {
  const fields = new DerFields(readDer(der))
  const status = readDerInteger(fields.required(ENUMERATED))
  const explicit = fields.optional(constructedTag(0))
  fields.end()
  if (status !== 0n || !explicit)
    throw new NotDer(`the responder answers ${statusNames.get(status) ?? `with the status ${status}`}`)
  const bytes = new DerFields(readDer(explicit.content))
  const type = readDerIdentifier(bytes.required(OBJECT_IDENTIFIER))
  const { content } = bytes.required(OCTET_STRING)
  bytes.end()
  if (type !== basicResponse) throw new NotDer(`a response of the type ${type}`)
  return readDer(content)
}

/** ResponseData (§4.2.1). */
function readResponseData(signed: DerValue) {
  const fields = new DerFields(signed)
  const version = fields.optional(constructedTag(0))
  const responder = readResponder(fields.required(constructedTag(1), constructedTag(2)))
  const producedAt = readDerTime(fields.required(GENERALIZED_TIME))
  const list = readDerList(fields.required(SEQUENCE))
  const explicit = fields.optional(constructedTag(1))
  fields.end()
  if (version && readDerInteger(readDer(version.content)) !== 0n) throw new NotDer('a response of an unknown version')
  if (list.length > answersMax) throw new NotDer(`a response about over ${answersMax} certificates`)
  const nonce = readKnownExtensions(explicit).get(nonceName)?.content
  return { responder, producedAt, answers: list.flatMap(readSingleAnswer), nonce }
}

function readResponder({ tag, content }: DerValue): ResponderIdentity {
  const value = readDer(content)
  if (tag === constructedTag(1)) return { by: 'name', key: writeNameKey(readDistinguishedName(value)) }
  if (value.tag !== OCTET_STRING) throw new NotDer('a key hash that is not an OCTET STRING')
  return { by: 'key', hash: value.content }
}

const nonceName = '1.3.6.1.5.5.7.48.1.2'

/** §4.4: critical extensions have to be known; only the nonce has a meaning here. */
function readKnownExtensions(explicit: DerValue | undefined) {
  const all = readExtensions(explicit && readDer(explicit.content))
  for (const [id, { critical }] of all)
    if (critical && id !== nonceName) throw new NotDer(`a critical extension that is not supported (${id})`)
  return all
}

const statusOfTag: ReadonlyMap<number, SingleAnswer['status']> = new Map([
  [primitiveTag(0), 'good'],
  [constructedTag(1), 'revoked'],
  [primitiveTag(2), 'unknown'],
])

/** Empty for an answer that names its certificate by an unknown hash. */
function readSingleAnswer(value: DerValue): SingleAnswer[] {
  const fields = new DerFields(value)
  const identity = readIdentity(fields.required(SEQUENCE))
  const { tag } = fields.required(...statusOfTag.keys())
  const thisUpdate = readDerTime(fields.required(GENERALIZED_TIME))
  const next = fields.optional(constructedTag(0))
  readKnownExtensions(fields.optional(constructedTag(1)))
  fields.end()
  const nextUpdate = next && readDerTime(readDer(next.content))
  return identity ? [{ identity, status: statusOfTag.get(tag)!, thisUpdate, nextUpdate }] : []
}

function readIdentity(value: DerValue): CertificateIdentity | undefined {
  const fields = new DerFields(value)
  const algorithm = new DerFields(fields.required(SEQUENCE)).required(OBJECT_IDENTIFIER)
  const issuerNameHash = fields.required(OCTET_STRING).content
  const issuerKeyHash = fields.required(OCTET_STRING).content
  const serial = readIntegerOctets(fields.required(INTEGER))
  fields.end()
  const hash = hashNames.get(algorithm.octets.toString('latin1'))
  return hash && { hash, issuerNameHash, issuerKeyHash, serial }
}
