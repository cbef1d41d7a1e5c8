/**
 * Keys, by what a KeyInfo says of them (WSS §7, X.509 Token Profile 1.1 §3, SAML Token Profile 1.1 §3.4). What always holds:
 *  (1) A KeyInfo only names. Whether the key is believed is decided by what this side was configured with.
 *  (2) Exactly one thing names the key; nothing is fetched; a reference is followed once.
 */
import { createPublicKey, type KeyObject } from 'node:crypto'
import { Element } from '../../xml/index.ts'
import { type Certificate, parseName } from '../crypto/certificate.ts'
import { SEQUENCE, value, values } from '../crypto/der.ts'
import type { CertificateReference, Trust } from '../crypto/trust.ts'
import { fail, or } from '../security-fault.ts'
import type { Identifiers } from '../tree/identifiers.ts'
import { attributeOf, base64, required, trimmed } from '../tree/strict-children.ts'
import {
  BinarySecurityToken,
  base64Type,
  ECKeyValue,
  Embedded,
  EncodingType,
  Exponent,
  KeyIdentifier,
  KeyName,
  KeyValue,
  keyIdentifierSki,
  keyIdentifierThumbprint,
  Modulus,
  NamedCurve,
  PublicKey,
  RSAKeyValue,
  SecurityTokenReference,
  saml1Id,
  saml2Id,
  TokenReference,
  URI,
  ValueType,
  X509Certificate,
  X509Data,
  X509IssuerName,
  X509IssuerSerial,
  X509SerialNumber,
  X509SKI,
  x509Path,
  x509v3,
} from '../vocabulary.ts'

/** What names a key: an element of the message, a certificate that stands in the KeyInfo, or one that this side may have. */
export type KeyReference =
  | { readonly kind: 'token'; readonly element: Element }
  | { readonly kind: 'certificates'; readonly der: Buffer; readonly others: readonly Buffer[] }
  | { readonly kind: 'certificate'; readonly reference: CertificateReference }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'value'; readonly key: KeyObject }

const longestCertificate = 16 * 1024

/** The one thing that a KeyInfo says. */
export function keyReference(keyInfo: Element | undefined, identifiers: Identifiers): KeyReference {
  const [child, another] = keyInfo?.elements() ?? []
  if (!child || another) return fail('SecurityTokenUnavailable', 'a KeyInfo that does not name one key')
  if (child.name === SecurityTokenReference) return followed(child, identifiers)
  if (child.name === X509Data) return x509Data(child)
  if (child.name === KeyName) return { kind: 'name', name: trimmed(child) }
  if (child.name === KeyValue) return { kind: 'value', key: keyValue(child) }
  return fail('SecurityTokenUnavailable', 'a KeyInfo of a kind that is not taken')
}

/** WSS §7: what a SecurityTokenReference says. */
function followed(reference: Element, identifiers: Identifiers): KeyReference {
  const [child, another] = reference.elements()
  if (!child || another) return fail('SecurityTokenUnavailable', 'a reference to no one token')
  if (child.name === X509Data) return x509Data(child)
  if (child.name === KeyName) return { kind: 'name', name: trimmed(child) }
  if (child.name === KeyIdentifier) {
    const by = by509.get(child.attribute(ValueType) ?? '')
    if (by) return { kind: 'certificate', reference: { by, value: base64(child) } }
    if (child.attribute(ValueType) === x509v3) {
      return { kind: 'certificates', der: certificateOctets(base64(child)), others: [] } // as WSS4J writes it
    }
  }
  return { kind: 'token', element: tokenOf(reference, identifiers) }
}

const by509: ReadonlyMap<string, 'thumbprint' | 'key-identifier'> = new Map([
  [keyIdentifierThumbprint, 'thumbprint'],
  [keyIdentifierSki, 'key-identifier'],
])

/** The token in the message that a SecurityTokenReference refers to. */
export function tokenOf(reference: Element, identifiers: Identifiers): Element {
  const [child, another] = reference.elements()
  if (!child || another) return fail('SecurityTokenUnavailable', 'a reference to no one token')
  if (child.name === TokenReference) return found(attributeOf(child, URI), identifiers)
  if (child.name === Embedded) {
    const [token, second] = child.elements()
    return !token || second ? fail('SecurityTokenUnavailable', 'Embedded without one token') : token
  }
  const type = child.name === KeyIdentifier ? child.attribute(ValueType) : undefined
  if (type === saml1Id || type === saml2Id) return found(`#${trimmed(child)}`, identifiers)
  return fail('SecurityTokenUnavailable', 'a reference of a kind that is not taken')
}

/**
 * WSS §8.3: what a SecurityTokenReference stands for where it is signed: the token in the message, or for a certificate that is
 * only named the BinarySecurityToken that it would be, in the form that WSS4J gives it.
 */
export function standsFor(reference: Element, identifiers: Identifiers, trust: Trust | undefined): Element {
  const said = followed(reference, identifiers)
  if (said.kind === 'token') return said.element
  const der = said.kind === 'certificate' ? trust?.find(said.reference)?.der : said.kind === 'certificates' && said.der
  if (!der) return fail('SecurityTokenUnavailable', 'a certificate that is not known here')
  const attributes = [{ name: ValueType, prefix: '', value: x509v3 }]
  const token = new Element(undefined, BinarySecurityToken, reference.prefix, attributes)
  token.append([{ kind: 'text', value: der.toString('base64') }])
  return token
}

const found = (uri: string, identifiers: Identifiers): Element =>
  identifiers.referred(uri) ?? fail('SecurityTokenUnavailable', 'a reference to no token of this message')

/** XML Signature §4.5.4: certificates, the first being the one that is meant; or one way to name one. */
function x509Data(data: Element): KeyReference {
  const children = data.elements()
  const [child] = children
  const carried = children.filter(({ name }) => name === X509Certificate)
  if (carried.length > 0) {
    const [der, ...others] = carried.map(each => certificateOctets(base64(each)))
    return { kind: 'certificates', der: der!, others }
  }
  if (!child || children.length > 1)
    return fail('SecurityTokenUnavailable', 'X509Data that does not name one certificate')
  if (child.name === X509SKI) return { kind: 'certificate', reference: { by: 'key-identifier', value: base64(child) } }
  if (child.name !== X509IssuerSerial) return fail('SecurityTokenUnavailable', 'X509Data of a kind that is not taken')
  const issuer = parseName(trimmed(required(child, X509IssuerName)))
  const serial = trimmed(required(child, X509SerialNumber))
  if (!issuer || !/^\d{1,60}$/.test(serial)) return fail('SecurityTokenUnavailable', 'no issuer and serial number')
  return { kind: 'certificate', reference: { by: 'issuer-serial', issuer, serial: BigInt(serial) } }
}

function certificateOctets(octets: Buffer): Buffer {
  return octets.length > longestCertificate ? fail('InvalidSecurityToken', 'a certificate that is too long') : octets
}

/** WSS §6.3: the octets of a BinarySecurityToken of this ValueType. */
export function binary(token: Element): Buffer {
  if ((token.attribute(EncodingType) ?? base64Type) !== base64Type) {
    return fail('UnsupportedSecurityToken', 'a BinarySecurityToken in an encoding that is not taken')
  }
  return base64(token, 'InvalidSecurityToken')
}

/** X.509 Token Profile 1.1 §3.1: the certificate in a BinarySecurityToken, and those that lead to it. */
export function certificatesIn(token: Element): { readonly der: Buffer; readonly others: readonly Buffer[] } {
  const type = token.name === BinarySecurityToken ? token.attribute(ValueType) : undefined
  if (type === x509v3) return { der: certificateOctets(binary(token)), others: [] }
  if (type !== x509Path) return fail('UnsupportedSecurityToken', 'a token without a certificate')
  const path = or('InvalidSecurityToken', 'no path', () => {
    const sequence = value(certificateOctets(binary(token)))
    return sequence.tag === SEQUENCE ? values(sequence.content).map(({ octets }) => octets) : []
  })
  const der = path.at(-1) ?? fail('InvalidSecurityToken', 'a path of nothing')
  return { der, others: path.slice(0, -1).reverse() }
}

/** The certificate that this names, if it is trusted now. */
export function trustedCertificate(key: KeyReference, trust: Trust, now: number): Certificate {
  const carried = key.kind === 'token' ? certificatesIn(key.element) : key.kind === 'certificates' ? key : undefined
  if (carried) {
    return (
      trust.trusted(carried.der, now, carried.others) ?? fail('FailedAuthentication', 'the certificate is not trusted')
    )
  }
  if (key.kind !== 'certificate') return fail('SecurityTokenUnavailable', 'the key has no certificate')
  const known = trust.find(key.reference) ?? fail('SecurityTokenUnavailable', 'a certificate that is not known here')
  return trust.trusted(known.der, now) ?? fail('FailedAuthentication', 'the certificate is not trusted now')
}

/** XML Signature §4.5.2: a key as such, which proves nothing; an assertion may vouch for it. */
function keyValue(element: Element): KeyObject {
  const [child, another] = element.elements()
  const fault = 'InvalidSecurityToken'
  if (child && !another && child.name === RSAKeyValue) {
    const n = base64(required(child, Modulus), fault).toString('base64url')
    const e = base64(required(child, Exponent), fault).toString('base64url')
    return or(fault, 'no RSA key', () => createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }))
  }
  if (!child || another || child.name !== ECKeyValue) return fail('SecurityTokenUnavailable', 'a key of another kind')
  const curve = curves.get(attributeOf(required(child, NamedCurve), URI)) ?? fail(fault, 'another curve')
  const point = base64(required(child, PublicKey), fault)
  const half = (point.length - 1) / 2
  if (point[0] !== 0x04) return fail(fault, 'a point in another form')
  const x = point.subarray(1, 1 + half).toString('base64url')
  const y = point.subarray(1 + half).toString('base64url')
  return or(fault, 'no EC key', () => createPublicKey({ key: { kty: 'EC', crv: curve, x, y }, format: 'jwk' }))
}

const curves: ReadonlyMap<string, string> = new Map([
  ['urn:oid:1.2.840.10045.3.1.7', 'P-256'],
  ['urn:oid:1.3.132.0.34', 'P-384'],
  ['urn:oid:1.3.132.0.35', 'P-521'],
])
