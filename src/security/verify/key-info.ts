/**
 * Finds the key that a KeyInfo names (WSS §7, X.509 Token Profile 1.1 §3, SAML Token Profile 1.1
 * §3.4). What always holds:
 *  (1) A KeyInfo only names. The configuration of the service decides which keys are trusted.
 *  (2) One element names the key, and every other statement must be true of that key (XML Signature
 *      §4.5). Nothing is fetched; a reference is followed once.
 */

import type { KeyObject } from 'node:crypto'
import { attempt } from '../../base/attempt.ts'
import { encodeBase64 } from '../../base/base64.ts'
import { chain, type Maybe } from '../../base/maybe.ts'
import { Element, type Name } from '../../xml/index.ts'
import { harmlessAllowances, readDigestMethod } from '../crypto/algorithm.ts'
import type { Certificate } from '../crypto/certificate.ts'
import { parseCertificate } from '../crypto/certification-path.ts'
import { readDer, readDerValues, SEQUENCE } from '../crypto/der.ts'
import { parseDistinguishedName } from '../crypto/distinguished-name.ts'
import { type CertificateReference, type CertificateTrust, carriedMax, findNamed } from '../crypto/trust.ts'
import { failSecurity, Insecure, orFail } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import { readBase64, requiredAttribute, requiredChild, textOnly, trimmedText } from '../tree/strict-children.ts'
import {
  BinarySecurityTokenName,
  base64TypeUri,
  DEREncodedKeyValueName,
  EmbeddedName,
  encodingTypeAttribute,
  KeyIdentifierName,
  KeyNameName,
  KeyValueName,
  keyIdentifierEncryptedKeyUri,
  keyIdentifierSkiUri,
  keyIdentifierThumbprintUri,
  SecurityTokenReferenceName,
  saml1IdUri,
  saml2IdUri,
  TokenReferenceName,
  uriAttribute,
  valueTypeAttribute,
  X509CertificateName,
  X509CRLName,
  X509DataName,
  X509DigestName,
  X509IssuerNameName,
  X509IssuerSerialName,
  X509SerialNumberName,
  X509SKIName,
  X509SubjectNameName,
  x509PathUri,
  x509v3Uri,
} from '../vocabulary.ts'
import { readKeyValue } from './key-value.ts'

/**
 * How a key is named: by an element of the message, a certificate inside the KeyInfo, or the name
 * of a certificate or secret; of an EncryptedKey its digest (WSS §7.3).
 */
export type KeyReference = KeyNaming & {
  /** Further statements about the certificate or the key. */
  readonly also?: readonly KeyStatement[]
  /** Names of the key: ignored where something else identifies it. */
  readonly names?: readonly string[]
}
type KeyNaming =
  | { readonly kind: 'token'; readonly element: Element }
  | { readonly kind: 'certificates'; readonly der: Buffer; readonly others: readonly Buffer[] }
  | { readonly kind: 'certificate'; readonly reference: CertificateReference }
  | { readonly kind: 'encrypted-key'; readonly digest: Buffer }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'value'; readonly key: KeyObject }
type KeyStatement = CertificateReference | { readonly by: 'key'; readonly key: KeyObject }

const certificateOctetsMax = 16 * 1024
/** In a KeyInfo, or in an X509Data besides its certificates; senders write three at most. */
const statementsMax = 8

/**
 * What a KeyInfo names. XML Signature §4.5: everything in it refers to one key, so a token or a
 * certificate takes precedence over a bare key, and that over a name.
 */
export function readKeyReference(keyInfo: Element | undefined, identifiers: Identifiers): KeyReference {
  const children = keyInfo?.elements() ?? []
  const ranked = children.length > statementsMax ? [] : children.map(each => ({ each, rank: rankOf(each) }))
  const [first, ...others] = ranked.toSorted((one, other) => one.rank - other.rank)
  if (!first || others.some(({ rank }) => rank === unknownRank || (rank === first.rank && rank !== valueRank)))
    return failSecurity('SecurityTokenUnavailable', 'a KeyInfo that does not name one key')
  const named = readNaming(first.each, identifiers)
  if (others.length === 0) return named
  const statements = others.map(({ each }) => (each.name === KeyNameName ? trimmedText(each) : readKeyValue(each)))
  const keys = statements.flatMap(each => (typeof each === 'string' ? [] : [{ by: 'key', key: each } as const]))
  const names = statements.filter(each => typeof each === 'string')
  return { ...named, also: [...(named.also ?? []), ...keys], names }
}

const valueRank = 1
const unknownRank = 3
const rankOf = ({ name }: Element): number => rankOfName.get(name) ?? unknownRank
const rankOfName: ReadonlyMap<Name, number> = new Map([
  [SecurityTokenReferenceName, 0],
  [X509DataName, 0],
  [KeyValueName, valueRank],
  [DEREncodedKeyValueName, valueRank],
  [KeyNameName, 2],
])

function readNaming(child: Element, identifiers: Identifiers): KeyReference {
  if (child.name === SecurityTokenReferenceName) return followReference(child, identifiers)
  if (child.name === X509DataName) return readX509Data(child)
  if (child.name === KeyNameName) return { kind: 'name', name: trimmedText(child) }
  if (rankOf(child) === valueRank) return { kind: 'value', key: readKeyValue(child) }
  return failSecurity('SecurityTokenUnavailable', 'a KeyInfo of an unsupported kind')
}

/** Refuses a certificate if a statement about it is false. */
export function requireMatchingCertificate({ also = [] }: KeyReference, certificate: Certificate): void {
  for (const each of also)
    if (each.by === 'key' ? !isSameKey(each.key, certificate.key) : !findNamed(certificate, each)) refuseTwoKeys()
}
/** The same for a key without a certificate; only another form of it can be a true statement. */
export function requireMatchingKey({ also = [] }: KeyReference, key: KeyObject): void {
  for (const each of also) if (each.by !== 'key' || !isSameKey(each.key, key)) refuseTwoKeys()
}
/** For a secret that was sent or is shared: no statement about it is possible. */
export function requireNoStatements({ also = [], names = [] }: KeyReference): void {
  if (also.length + names.length > 0) refuseTwoKeys()
}
const refuseTwoKeys = (): never => failSecurity('SecurityTokenUnavailable', 'a KeyInfo that names two keys')
const isSameKey = (one: KeyObject, other: KeyObject): boolean =>
  one.asymmetricKeyType === other.asymmetricKeyType && one.equals(other)

/** WSS §7: the single thing that a SecurityTokenReference names. */
export function followReference(reference: Element, identifiers: Identifiers): KeyReference {
  const [child, another] = reference.elements()
  if (!child || another) return failSecurity('SecurityTokenUnavailable', 'a reference that does not name one token')
  if (child.name === X509DataName) return readX509Data(child)
  if (child.name === KeyNameName) return { kind: 'name', name: trimmedText(child) }
  if (child.name === KeyIdentifierName) {
    if ((child.attribute(encodingTypeAttribute) ?? base64TypeUri) !== base64TypeUri)
      return failSecurity('SecurityTokenUnavailable', 'a KeyIdentifier in an unsupported encoding') // BSP 1.1 R3071
    const by = referenceFormOf.get(child.attribute(valueTypeAttribute) ?? '')
    if (by) return { kind: 'certificate', reference: { by, value: readBase64(child) } }
    if (child.attribute(valueTypeAttribute) === keyIdentifierEncryptedKeyUri)
      return { kind: 'encrypted-key', digest: readBase64(child) }
    if (child.attribute(valueTypeAttribute) === x509v3Uri) {
      return { kind: 'certificates', der: limitCertificate(readBase64(child)), others: [] } // as WSS4J writes it
    }
  }
  return { kind: 'token', element: findToken(reference, identifiers) }
}

const referenceFormOf: ReadonlyMap<string, 'thumbprint' | 'key-identifier'> = new Map([
  [keyIdentifierThumbprintUri, 'thumbprint'],
  [keyIdentifierSkiUri, 'key-identifier'],
])

/** The token in the message that a SecurityTokenReference refers to. */
export function findToken(reference: Element, identifiers: Identifiers): Element {
  const [child, another] = reference.elements()
  if (!child || another) return failSecurity('SecurityTokenUnavailable', 'a reference that does not name one token')
  if (child.name === TokenReferenceName) return requireReferred(requiredAttribute(child, uriAttribute), identifiers)
  if (child.name === EmbeddedName) {
    const [token, second] = child.elements()
    return !token || second
      ? failSecurity('SecurityTokenUnavailable', 'an Embedded that does not contain one token')
      : token
  }
  const type = child.name === KeyIdentifierName ? child.attribute(valueTypeAttribute) : undefined
  if (type === saml1IdUri || type === saml2IdUri) return requireReferred(`#${trimmedText(child)}`, identifiers)
  return failSecurity('SecurityTokenUnavailable', 'a reference of an unsupported kind')
}

/**
 * WSS §8.3: what a SecurityTokenReference represents where it is signed: the token in the message;
 * or, for a certificate that is only named, the BinarySecurityToken that WSS4J would write for it.
 */
export function dereferenceToken(
  reference: Element,
  identifiers: Identifiers,
  trust: CertificateTrust | undefined,
  now: number,
): Element {
  const resolved = followReference(reference, identifiers)
  if (resolved.kind === 'token') return resolved.element
  const pinned = resolved.kind === 'certificate' ? trust?.findPinned(resolved.reference, now) : undefined
  if (pinned) requireMatchingCertificate(resolved, pinned)
  const der = resolved.kind === 'certificates' ? resolved.der : pinned?.der
  if (!der) return failSecurity('SecurityTokenUnavailable', 'an unknown certificate')
  const attributes = [{ name: valueTypeAttribute, prefix: '', value: x509v3Uri }]
  const token = new Element(undefined, BinarySecurityTokenName, reference.prefix, attributes)
  token.append([{ kind: 'text', value: encodeBase64(der) }])
  return token
}

const requireReferred = (uri: string, identifiers: Identifiers): Element =>
  identifiers.findReferred(uri) ??
  failSecurity('SecurityTokenUnavailable', 'a reference to a token that is not in this message')

/**
 * XML Signature §4.5.4: certificates in any order, of which the one that issued none of the others
 * is meant; or ways to name a certificate.
 */
function readX509Data(data: Element): KeyReference {
  const children = data.elements()
  const carried = children.filter(({ name }) => name === X509CertificateName)
  if (carried.length > 0) {
    const certificates = carried.map(each => limitCertificate(readBase64(each)))
    requireTrueNames(children, certificates)
    const at = certificates.length > 1 ? findLastCertificate(certificates) : 0
    return { kind: 'certificates', der: certificates[at]!, others: certificates.filter((_, index) => index !== at) }
  }
  const names = children.filter(({ name }) => name !== X509CRLName)
  if (names.length === 0 || names.length > statementsMax)
    return failSecurity('SecurityTokenUnavailable', 'X509Data that does not name one certificate')
  const references = names.map(readCertificateName)
  const reference =
    references.find(({ by }) => by !== 'subject') ??
    failSecurity('SecurityTokenUnavailable', 'X509Data of an unsupported kind: a subject may have many certificates')
  return { kind: 'certificate', reference, also: references.filter(each => each !== reference) }
}

/** Names next to certificates must be those of one of them, as far as they can be read. */
function requireTrueNames(children: readonly Element[], carried: readonly Buffer[]): void {
  const names = children.filter(({ name }) => nameForms.has(name)).slice(0, statementsMax)
  if (names.length === 0) return
  const certificates = carried.slice(0, carriedMax + 1).flatMap(each => parseCertificate(each) ?? [])
  for (const name of names) {
    const reference = attempt(
      () => readCertificateName(name),
      thrown => thrown instanceof Insecure,
    )
    if (reference && !certificates.some(each => findNamed(each, reference))) refuseTwoKeys()
  }
}
const nameForms: ReadonlySet<Name> = new Set([X509SKIName, X509DigestName, X509SubjectNameName, X509IssuerSerialName])

/** XML Signature 1.1 §4.5.4: ways to name a certificate. */
function readCertificateName(element: Element): CertificateReference {
  const { name } = element
  if (name === X509SKIName) return { by: 'key-identifier', value: readBase64(element) }
  if (name === X509DigestName) {
    const hash = readDigestMethod(element, harmlessAllowances)
    return { by: 'digest', hash, value: readBase64(element) }
  }
  if (name === X509SubjectNameName) {
    const subject = parseDistinguishedName(trimmedText(element))
    return subject ? { by: 'subject', subject } : failSecurity('SecurityTokenUnavailable', 'an invalid subject')
  }
  if (name !== X509IssuerSerialName) return failSecurity('SecurityTokenUnavailable', 'X509Data of an unsupported kind')
  const issuer = parseDistinguishedName(trimmedText(requiredChild(element, X509IssuerNameName)))
  const serial = trimmedText(requiredChild(element, X509SerialNumberName))
  if (!issuer || !/^\d{1,60}$/.test(serial))
    return failSecurity('SecurityTokenUnavailable', 'an invalid issuer or serial number')
  return { by: 'issuer-serial', issuer, serial: BigInt(serial) }
}

/** The index of the last certificate of their path; if they do not form a path, of the first. */
function findLastCertificate(carried: readonly Buffer[]): number {
  const parsed = carried.slice(0, carriedMax + 1).map(parseCertificate)
  const issuers = new Set(parsed.flatMap(each => (each && !each.isSelfIssued ? [each.issuerKey] : [])))
  return Math.max(
    parsed.findIndex(each => each && !issuers.has(each.subjectKey)),
    0,
  )
}

function limitCertificate(octets: Buffer): Buffer {
  return octets.length > certificateOctetsMax
    ? failSecurity('InvalidSecurityToken', 'a certificate that is too long')
    : octets
}

/** WSS §6.3: the octets of a BinarySecurityToken with this ValueType. */
export function readBinaryToken(token: Element): Buffer {
  requireBase64Token(token)
  return readBase64(token, 'InvalidSecurityToken')
}

function requireBase64Token(token: Element): void {
  if ((token.attribute(encodingTypeAttribute) ?? base64TypeUri) !== base64TypeUri)
    failSecurity('UnsupportedSecurityToken', 'a BinarySecurityToken in an unsupported encoding')
}

/**
 * X.509 Token Profile 1.1 §3.1: the certificate in a BinarySecurityToken, and those on its path.
 */
export function readCertificates(token: Element): { readonly der: Buffer; readonly others: readonly Buffer[] } {
  if (isCertificateToken(token)) return { der: limitCertificate(readBinaryToken(token)), others: [] }
  const type = token.name === BinarySecurityTokenName ? token.attribute(valueTypeAttribute) : undefined
  if (type !== x509PathUri) return failSecurity('UnsupportedSecurityToken', 'a token without a certificate')
  const path = orFail('InvalidSecurityToken', 'an invalid path', () => {
    const sequence = readDer(limitCertificate(readBinaryToken(token)))
    return sequence.tag === SEQUENCE ? readDerValues(sequence.content).map(({ octets }) => octets) : []
  })
  const der = path.at(-1) ?? failSecurity('InvalidSecurityToken', 'an empty path')
  return { der, others: path.slice(0, -1).reverse() }
}

/** Whether an element is a BinarySecurityToken with one certificate. */
export const isCertificateToken = (token: Element): boolean =>
  token.name === BinarySecurityTokenName && token.attribute(valueTypeAttribute) === x509v3Uri

/** The certificate named here; refuses one that is not trusted now. */
export function requireTrusted(key: KeyReference, trust: CertificateTrust, now: number): Certificate {
  const certificate = findTrusted(key, trust, now)
  requireMatchingCertificate(key, certificate)
  return certificate
}
function findTrusted(key: KeyReference, trust: CertificateTrust, now: number): Certificate {
  if (key.kind === 'token' && isCertificateToken(key.element)) return requireTrustedToken(key.element, trust, now)
  const carried = key.kind === 'token' ? readCertificates(key.element) : key.kind === 'certificates' ? key : undefined
  if (carried) return requireJudged(trust.judge(carried.der, now, carried.others), untrusted)
  if (key.kind !== 'certificate') return failSecurity('SecurityTokenUnavailable', 'the key has no certificate')
  const certificate =
    trust.findPinned(key.reference, now) ?? failSecurity('SecurityTokenUnavailable', 'an unknown certificate')
  return requireJudged(trust.judge(certificate.der, now), 'the certificate is not trusted now')
}

/**
 * The same for a token with one certificate, the usual kind. Its text is decoded unless it was
 * trusted before.
 */
function requireTrustedToken(token: Element, trust: CertificateTrust, now: number): Certificate {
  requireBase64Token(token)
  const text = textOnly(token, 'InvalidSecurityToken')
  const decode = () => limitCertificate(readBase64(token, 'InvalidSecurityToken'))
  return requireJudged(trust.judgeSpelling(text, now, decode), untrusted)
}

const untrusted = 'the certificate is not trusted'

/** Refuses a trusted certificate if responders do not confirm it. */
export const requireConfirmed = (certificate: Certificate, trust: CertificateTrust, now: number): Maybe<void> =>
  chain(trust.confirm(certificate, now), problem => {
    if (problem !== undefined) failSecurity('FailedAuthentication', `the certificate is not trusted: ${problem}`)
  })

const requireJudged = (found: Certificate | string, problem: string): Certificate =>
  typeof found === 'string' ? failSecurity('FailedAuthentication', `${problem}: ${found}`) : found
