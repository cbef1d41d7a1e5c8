/**
 * Signatures of certificates and CRLs (RFC 5280 §4.1.1.2, RFC 4055, RFC 5758, RFC 8410): which
 * algorithms, parameters and keys count. An unlisted algorithm is refused.
 */

import { constants, type KeyObject, verify } from 'node:crypto'
import { attempt, isCryptoError } from '../../base/attempt.ts'
import { constructedTag, DerFields, type DerValue, NotDer, readDer, readDerIdentifier, readDerInteger } from './der.ts'
import { findKeyWeakness, modulusBitsMax } from './key-strength.ts'

interface X509SignatureMethod {
  readonly hash: 'sha256' | 'sha384' | 'sha512' | undefined
  readonly keys: readonly string[]
  /** The length of the salt of RSASSA-PSS in octets. */
  readonly salt?: number
}

const sha2Arcs = [
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
] as const
const hashOfIdentifier = new Map<string, 'sha256' | 'sha384' | 'sha512'>(sha2Arcs)
const pssIdentifier = '1.2.840.113549.1.1.10'
const mgf1Identifier = '1.2.840.113549.1.1.8'

/** RFC 4055 §5: NULL, or absent as well. RFC 5758 §3.2, RFC 8410 §3: absent. */
const rsa = (hash: 'sha256' | 'sha384' | 'sha512'): X509SignatureMethod => ({ hash, keys: ['rsa'] })
const ecdsa = (hash: 'sha256' | 'sha384' | 'sha512'): X509SignatureMethod => ({ hash, keys: ['ec'] })
const methods: ReadonlyMap<string, X509SignatureMethod> = new Map([
  ['1.2.840.113549.1.1.11', rsa('sha256')],
  ['1.2.840.113549.1.1.12', rsa('sha384')],
  ['1.2.840.113549.1.1.13', rsa('sha512')],
  ['1.2.840.10045.4.3.2', ecdsa('sha256')],
  ['1.2.840.10045.4.3.3', ecdsa('sha384')],
  ['1.2.840.10045.4.3.4', ecdsa('sha512')],
  ['1.3.101.112', { hash: undefined, keys: ['ed25519'] }],
  ['1.3.101.113', { hash: undefined, keys: ['ed448'] }],
])

/** Known but too weak, or of another kind: named in the reasons of refusals. */
const refusedNames: ReadonlyMap<string, string> = new Map([
  ['1.2.840.113549.1.1.2', 'MD2'],
  ['1.2.840.113549.1.1.4', 'MD5'],
  ['1.2.840.113549.1.1.5', 'SHA-1'],
  ['1.2.840.113549.1.1.14', 'SHA-224'],
  ['1.2.840.10045.4.1', 'SHA-1'],
  ['1.2.840.10040.4.3', 'DSA'],
  ['2.16.840.1.101.3.4.3.2', 'DSA'],
])

/** The method of an AlgorithmIdentifier, or why it is refused. */
function readX509Method(algorithm: DerValue): X509SignatureMethod | string {
  const fields = new DerFields(algorithm)
  const identifier = readDerIdentifier(fields.required(0x06))
  const parameters = fields.any()
  fields.end()
  if (identifier === pssIdentifier) return parameters ? readPss(parameters) : 'signed with RSASSA-PSS and SHA-1'
  const method = methods.get(identifier)
  if (!method) return `signed with ${refusedNames.get(identifier) ?? `an unsupported algorithm (${identifier})`}`
  const mayBeNull = method.keys.includes('rsa')
  if (parameters && !(mayBeNull && parameters.octets.equals(nullOctets)))
    return 'signed by an algorithm with unknown parameters'
  return method
}

const nullOctets = Buffer.of(0x05, 0x00)

/** The longest salt that fits the longest key; some issuers use all of it. */
const saltOctetsMax = BigInt(modulusBitsMax / 8)

/** RFC 4055 §3.1; an absent parameter means SHA-1, which is refused. */
function readPss(parameters: DerValue): X509SignatureMethod | string {
  const fields = new DerFields(parameters)
  const hash = readHash(fields.optional(constructedTag(0)))
  const mask = fields.optional(constructedTag(1))
  const salt = fields.optional(constructedTag(2))
  const trailer = fields.optional(constructedTag(3))
  fields.end()
  if (!hash) return 'signed with RSASSA-PSS and SHA-1 or an unknown hash'
  if (!mask || readMaskHash(readDer(mask.content)) !== hash)
    return 'signed with RSASSA-PSS and another hash in its mask'
  if (trailer && readDerInteger(readDer(trailer.content)) !== 1n) return 'signed with RSASSA-PSS and an unknown trailer'
  const length = salt ? readDerInteger(readDer(salt.content)) : 20n
  if (length < 0n || length > saltOctetsMax) return 'signed with RSASSA-PSS and a salt of an unsupported length'
  return { hash, keys: ['rsa', 'rsa-pss'], salt: Number(length) }
}

function readHash(explicit: DerValue | undefined): 'sha256' | 'sha384' | 'sha512' | undefined {
  return explicit && readHashAlgorithm(readDer(explicit.content))
}

function readHashAlgorithm(algorithm: DerValue): 'sha256' | 'sha384' | 'sha512' | undefined {
  const fields = new DerFields(algorithm)
  const identifier = readDerIdentifier(fields.required(0x06))
  const parameters = fields.any()
  fields.end()
  return parameters && !parameters.octets.equals(nullOctets) ? undefined : hashOfIdentifier.get(identifier)
}

function readMaskHash(algorithm: DerValue): 'sha256' | 'sha384' | 'sha512' | undefined {
  const fields = new DerFields(algorithm)
  const identifier = readDerIdentifier(fields.required(0x06))
  const hash = fields.any()
  fields.end()
  return identifier === mgf1Identifier && hash ? readHashAlgorithm(hash) : undefined
}

/** The common structure of a certificate and a CRL: the signed octets, and the signature. */
export interface SignedObject {
  /** The octets of tbsCertificate or tbsCertList. */
  readonly signed: Buffer
  /** The AlgorithmIdentifier inside the signed octets, and the one next to the signature. */
  readonly algorithms: readonly [inside: DerValue, outside: DerValue]
  readonly signature: Buffer
}

/** Why this key did not, or may not, sign it; undefined if the signature holds. */
export function checkX509Signature(
  { signed, algorithms, signature }: SignedObject,
  key: KeyObject,
): string | undefined {
  const [inside, outside] = algorithms
  if (!inside.octets.equals(outside.octets)) return 'it names two signature algorithms' // RFC 5280 §4.1.1.2
  const method =
    attempt(
      () => readX509Method(outside),
      thrown => thrown instanceof NotDer,
    ) ?? 'its signature algorithm is not DER'
  if (typeof method === 'string') return method
  const weakness = findKeyWeakness(key)
  if (weakness) return `signed by ${weakness}`
  if (!method.keys.includes(key.asymmetricKeyType ?? '')) return 'signed with an algorithm that does not fit the key'
  const options =
    method.salt === undefined ? key : { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: method.salt }
  const holds = attempt(() => verify(method.hash, signed, options, signature), isCryptoError)
  return holds === true ? undefined : 'its signature is not by the key of its issuer'
}
