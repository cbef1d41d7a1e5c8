/**
 * The supported algorithms, by URI. An unlisted algorithm is refused, and so is one listed under an
 * allowance that the policy does not grant. An algorithm accepts only keys of its own kind: a
 * public key never serves as an HMAC secret.
 */
import { constants, createHmac, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto'
import type { CanonicalForm, Element } from '../../xml/index.ts'
import { failSecurity, orFail, refuseAlgorithm } from '../security-fault.ts'
import { requiredAttribute } from '../tree/strict-children.ts'
import {
  algorithmAttribute,
  dsNs,
  exclusiveC14nNs,
  InclusiveNamespacesName,
  prefixListAttribute,
  xencNs,
} from '../vocabulary.ts'
import { curves, keyDetailsOf, modulusBitsMax, modulusBitsMin } from './key-strength.ts'

/**
 * Algorithms that only old peers need; a policy must allow each by its name. `sha1`: SHA-1 digests,
 * and RSA or HMAC signatures with them. `rsa-1_5`: keys transported with PKCS#1 v1.5, whose padding
 * is an oracle for frequent callers. `cbc`: AES-CBC where no signature covers the ciphertext, which
 * is an oracle as well.
 */
export type Allowance = 'sha1' | 'rsa-1_5' | 'cbc'
export type Allowances = ReadonlySet<Allowance>

export type Hash = 'sha1' | 'sha256' | 'sha384' | 'sha512'

const hashOfUri: ReadonlyMap<string, Hash> = new Map([
  [`${dsNs}sha1`, 'sha1'],
  [`${xencNs}sha256`, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#sha384', 'sha384'],
  [`${xencNs}sha384`, 'sha384'], // XML Encryption 1.1 §5.8.3 gives it a new name
  [`${xencNs}sha512`, 'sha512'],
])

export const digestUri = (hash: Hash): string => findUri(hashOfUri, value => value === hash)

/**
 * Where a digest only identifies something or belongs to OAEP (RFC 8017 §B.1), a collision does no
 * harm.
 */
export const harmlessAllowances: Allowances = new Set(['sha1'])

/** The hash that a DigestMethod names. */
export function readDigestMethod(method: Element, allow: Allowances): Hash {
  if (method.elements().length > 0) return failSecurity('UnsupportedAlgorithm', 'a DigestMethod with parameters')
  const uri = requiredAttribute(method, algorithmAttribute)
  const found = hashOfUri.get(uri)
  if (!found || (found === 'sha1' && !allow.has('sha1'))) return refuseAlgorithm('an unsupported digest', uri)
  return found
}

export interface Method {
  readonly hash: Hash
  readonly family: 'rsa' | 'rsa-pss' | 'ecdsa' | 'hmac'
}

const moreNs = 'http://www.w3.org/2001/04/xmldsig-more#'
const more2007Ns = 'http://www.w3.org/2007/05/xmldsig-more#'
const hashes = ['sha256', 'sha384', 'sha512'] as const
const methodOfUri: ReadonlyMap<string, Method> = new Map<string, Method>([
  [`${dsNs}rsa-sha1`, { hash: 'sha1', family: 'rsa' }],
  [`${dsNs}hmac-sha1`, { hash: 'sha1', family: 'hmac' }],
  ...hashes.flatMap((hash): [string, Method][] => [
    [`${moreNs}rsa-${hash}`, { hash, family: 'rsa' }],
    [`${more2007Ns}${hash}-rsa-MGF1`, { hash, family: 'rsa-pss' }],
    [`${moreNs}ecdsa-${hash}`, { hash, family: 'ecdsa' }],
    [`${moreNs}hmac-${hash}`, { hash, family: 'hmac' }],
  ]),
])

export const methodUri = (family: Method['family'], hash: Hash): string =>
  findUri(methodOfUri, method => method.family === family && method.hash === hash)

function findUri<T>(table: ReadonlyMap<string, T>, is: (value: T) => boolean): string {
  for (const [uri, value] of table) if (is(value)) return uri
  throw new TypeError('unknown algorithm')
}

/**
 * The method that a SignatureMethod names. A parameter such as HMACOutputLength is refused (XML
 * Signature §6.3.1).
 */
export function readSignatureMethod(element: Element, allow: Allowances): Method {
  if (element.elements().length > 0) return failSecurity('UnsupportedAlgorithm', 'a SignatureMethod with parameters')
  const uri = requiredAttribute(element, algorithmAttribute)
  const found = methodOfUri.get(uri)
  if (!found || (found.hash === 'sha1' && !allow.has('sha1')))
    return refuseAlgorithm('an unsupported signature algorithm', uri)
  return found
}

const secretOctetsMin = 16

/** Whether a key has the kind and size that a method needs. */
export function fitsKey({ family }: Method, key: KeyObject): boolean {
  if (family === 'hmac') return key.type === 'secret' && (key.symmetricKeySize ?? 0) >= secretOctetsMin
  const { modulusLength = 0, namedCurve = '' } = keyDetailsOf(key)
  if (family === 'ecdsa') return key.asymmetricKeyType === 'ec' && curves.has(namedCurve)
  return key.asymmetricKeyType === 'rsa' && modulusLength >= modulusBitsMin && modulusLength <= modulusBitsMax
}

/**
 * The key as node:crypto needs it. For node:crypto a bare RSA key means RSASSA-PKCS1-v1_5, and is
 * faster than options.
 */
function withSignatureOptions({ family }: Method, key: KeyObject) {
  if (family === 'rsa') return key
  if (family === 'ecdsa') return { key, dsaEncoding: 'ieee-p1363' as const } // XML Signature §6.4.3
  return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
}

export function verifySignatureValue(method: Method, key: KeyObject, data: Uint8Array, signature: Buffer): boolean {
  if (!fitsKey(method, key)) return failSecurity('FailedCheck', 'the key does not fit the algorithm')
  if (method.family === 'hmac') {
    const expected = createHmac(method.hash, key).update(data).digest()
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
  return orFail('FailedCheck', 'the signature cannot be checked', () =>
    verify(method.hash, data, withSignatureOptions(method, key), signature),
  )
}

export function signOctets(method: Method, key: KeyObject, data: Buffer): Buffer {
  if (!fitsKey(method, key)) throw new TypeError(`the key does not fit ${method.family}`)
  if (method.family === 'hmac') return createHmac(method.hash, key).update(data).digest()
  return sign(method.hash, data, withSignatureOptions(method, key))
}

const commentsSuffix = 'WithComments'
export const exclusiveC14n = exclusiveC14nNs
export const inclusiveC14n = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315'
const inclusiveC14n11 = 'http://www.w3.org/2006/12/xml-c14n11'
const canonicalFormOf: ReadonlyMap<string, CanonicalForm> = new Map([
  [exclusiveC14n, { exclusive: true, comments: false }],
  [`${exclusiveC14n}${commentsSuffix}`, { exclusive: true, comments: true }],
  [inclusiveC14n, { exclusive: false, comments: false }],
  [`${inclusiveC14n}#${commentsSuffix}`, { exclusive: false, comments: true }],
  [inclusiveC14n11, { exclusive: false, comments: false, version: '1.1' }],
  [`${inclusiveC14n11}#${commentsSuffix}`, { exclusive: false, comments: true, version: '1.1' }],
])

export const isCanonicalization = (uri: string): boolean => canonicalFormOf.has(uri)

/**
 * The form that a CanonicalizationMethod names, or a Transform that is a canonicalization, with its
 * InclusiveNamespaces (Exclusive C14N §4).
 */
export function readCanonicalization(method: Element): CanonicalForm {
  const uri = requiredAttribute(method, algorithmAttribute)
  const form = canonicalFormOf.get(uri)
  if (!form) return refuseAlgorithm('an unsupported canonicalization', uri)
  const [list, another] = method.elements()
  if (!list) return form
  if (another || list.name !== InclusiveNamespacesName || !form.exclusive) {
    return failSecurity('UnsupportedAlgorithm', 'a canonicalization with unknown parameters')
  }
  const prefixes = (list.attribute(prefixListAttribute) ?? '').split(/[ \t\r\n]+/).filter(prefix => prefix !== '')
  return prefixes.length > 256 ? failSecurity('InvalidSecurity', 'too many prefixes') : { ...form, prefixes }
}
