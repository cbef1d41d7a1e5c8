/** An X.509 certificate (RFC 5280): how messages refer to it, and whether it may sign. */

import { createHash, type KeyObject, X509Certificate } from 'node:crypto'
import { isCryptoError } from '../../base/attempt.ts'
import { encodeHex } from '../../base/base64.ts'
import {
  BIT_STRING,
  BOOLEAN,
  type DerValue,
  INTEGER,
  NotDer,
  OCTET_STRING,
  readDer,
  readDerText,
  readDerValues,
  readObjectIdentifier,
  SEQUENCE,
} from './der.ts'

export class Certificate {
  readonly x509: X509Certificate
  readonly der: Buffer
  readonly key: KeyObject
  /** Milliseconds since 1970. */
  readonly notBefore: number
  readonly notAfter: number
  readonly issuer: DistinguishedName
  readonly serial: bigint
  readonly signatureAlgorithm: string
  /** RFC 5280 §4.2.1.2. */
  readonly subjectKeyIdentifier: Buffer | undefined
  /** RFC 5280 §4.2: false for an unknown critical extension, which rejects the certificate. */
  readonly isUnderstood: boolean
  /** The first eight bits of KeyUsage (RFC 5280 §4.2.1.3), digitalSignature the highest. */
  readonly #usage: number | undefined
  /**
   * RFC 5280 §4.2.1.9: how many authorities may be below this one; undefined for other
   * certificates.
   */
  readonly #pathLength: number | undefined

  /**
   * Reads all of it at once, so that nothing fails later.
   * @param source PEM or DER
   * @throws an error of `isCertificateError` when it is not a certificate
   */
  constructor(source: string | Uint8Array) {
    this.x509 = new X509Certificate(source)
    this.der = this.x509.raw
    this.key = this.x509.publicKey
    this.notBefore = Date.parse(this.x509.validFrom)
    this.notAfter = Date.parse(this.x509.validTo)
    // RFC 5280 §4.1: SEQUENCE { tbsCertificate, signatureAlgorithm, signatureValue }
    const [signed, algorithm] = readDerValues(readDer(this.der).content)
    const fields = readDerValues(requireValue(signed).content)
    const at = fields[0]?.tag === INTEGER ? 0 : 1
    this.serial = readSerial(this.x509.serialNumber)
    this.issuer = readDistinguishedName(requireValue(fields[at + 2]))
    this.signatureAlgorithm = readObjectIdentifier(
      requireValue(readDerValues(requireValue(algorithm).content)[0]).content,
    )
    const extensions = readExtensions(fields.find(field => field.tag === 0xa3))
    this.isUnderstood = [...extensions].every(([id, { critical }]) => !critical || processedExtensions.has(id))
    this.#usage = readUsage(extensions.get('2.5.29.15'))
    this.#pathLength = this.x509.ca ? readPathLength(extensions.get('2.5.29.19')) : undefined
    const identifier = extensions.get('2.5.29.14')
    this.subjectKeyIdentifier = identifier && readDer(identifier.content).content
  }

  /** RFC 5280 §4.2.1.3: whether it may sign messages. Without the extension it may. */
  get maySign(): boolean {
    return this.#usage === undefined || (this.#usage & 0xc0) !== 0 // digitalSignature, nonRepudiation
  }

  /**
   * Whether it is an authority that may have so many authorities below it; `checkIssued` asks its
   * keyUsage.
   */
  mayIssue(below: number): boolean {
    return this.#pathLength !== undefined && this.#pathLength >= below
  }

  /** Of the whole encoding, SHA-1: a name, not a proof. */
  get thumbprint(): Buffer {
    return createHash('sha1').update(this.der).digest()
  }
}

interface Extension {
  readonly critical: boolean
  readonly content: Buffer
}

/**
 * By extnID. Extension ::= SEQUENCE { extnID, critical BOOLEAN DEFAULT FALSE, extnValue OCTET
 * STRING }
 */
function readExtensions(field: DerValue | undefined): ReadonlyMap<string, Extension> {
  const found = new Map<string, Extension>()
  for (const one of field ? readDerValues(readDer(field.content).content) : []) {
    const [name, ...rest] = readDerValues(one.content)
    const critical = rest[0]?.tag === BOOLEAN && rest[0].content[0] !== 0
    const octets = rest.find(part => part.tag === OCTET_STRING)
    if (octets) found.set(readObjectIdentifier(requireValue(name).content), { critical, content: octets.content })
  }
  return found
}

function readUsage(extension: Extension | undefined): number | undefined {
  if (!extension) return undefined
  const bits = readDer(extension.content)
  return bits.tag === BIT_STRING ? (bits.content[1] ?? 0) : 0
}

/** Of BasicConstraints; infinite without a pathLenConstraint. */
function readPathLength(extension: Extension | undefined): number | undefined {
  if (!extension) return undefined
  const longest = readDerValues(readDer(extension.content).content).find(part => part.tag === INTEGER)
  return longest ? Number(BigInt(`0x${encodeHex(longest.content) || '0'}`)) : Number.POSITIVE_INFINITY
}

/** Whether this means that octets are not a certificate, by OpenSSL or by their DER. */
export const isCertificateError = (thrown: unknown): boolean => isCryptoError(thrown) || thrown instanceof NotDer

const requireValue = (value: DerValue | undefined): DerValue => {
  if (value) return value
  throw new NotDer('a value is missing')
}

/** RFC 5280 §4.1.2.2: a positive integer. */
function readSerial(hex: string): bigint {
  if (/^[0-9A-F]+$/.test(hex)) return BigInt(`0x${hex}`)
  throw new NotDer('the serial number is not a positive integer')
}

/**
 * keyUsage, basicConstraints; extKeyUsage and subjectAltName do not limit any use of a key here.
 */
const processedExtensions = new Set(['2.5.29.15', '2.5.29.19', '2.5.29.37', '2.5.29.17'])

/**
 * Relative distinguished names from the root down, each as its sorted `type=value` parts, folded
 * for comparison.
 */
export type DistinguishedName = readonly string[]

function readDistinguishedName(name: DerValue): DistinguishedName {
  return readDerValues(name.content).map(relative =>
    readDerValues(relative.content)
      .map(part => {
        const [type, value] = readDerValues(part.tag === SEQUENCE ? part.content : Buffer.alloc(0))
        return type && value ? foldAttribute(readObjectIdentifier(type.content), readDerText(value)) : ''
      })
      .sort()
      .join('+'),
  )
}

/** RFC 4518 in short: case and white space make no difference. */
const foldAttribute = (type: string, value: string): string =>
  `${type}=${value.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim()}`

/** RFC 4514 §3, and older spellings of the same. */
const attributeOids: ReadonlyMap<string, string> = new Map([
  ['CN', '2.5.4.3'],
  ['SN', '2.5.4.4'],
  ['SURNAME', '2.5.4.4'],
  ['SERIALNUMBER', '2.5.4.5'],
  ['C', '2.5.4.6'],
  ['L', '2.5.4.7'],
  ['ST', '2.5.4.8'],
  ['S', '2.5.4.8'],
  ['STREET', '2.5.4.9'],
  ['O', '2.5.4.10'],
  ['OU', '2.5.4.11'],
  ['T', '2.5.4.12'],
  ['TITLE', '2.5.4.12'],
  ['GN', '2.5.4.42'],
  ['GIVENNAME', '2.5.4.42'],
  ['DC', '0.9.2342.19200300.100.1.25'],
  ['UID', '0.9.2342.19200300.100.1.1'],
  ['E', '1.2.840.113549.1.9.1'],
  ['EMAIL', '1.2.840.113549.1.9.1'],
  ['EMAILADDRESS', '1.2.840.113549.1.9.1'],
])

/**
 * A name in the string form of RFC 4514 or 2253 (XML Signature §4.5.4.1), which begins with the
 * leaf; undefined for other text. Linear in the length of the text.
 */
export function parseDistinguishedName(text: string): DistinguishedName | undefined {
  const names: string[] = []
  let parts: string[] = []
  let at = 0
  while (at < text.length) {
    const equals = text.indexOf('=', at)
    if (equals < 0) return undefined
    const type = text.slice(at, equals).trim()
    const oid =
      attributeOids.get(type.toUpperCase()) ?? (/^(?:OID\.)?[0-9.]+$/i.test(type) ? type.replace(/^oid\./i, '') : '')
    const value = readEscapedValue(text, equals + 1)
    if (!value || oid === '') return undefined
    parts.push(foldAttribute(oid, value.text))
    at = value.to
    if (text[at] !== '+') {
      names.push(parts.sort().join('+'))
      parts = []
    }
    at++
  }
  return names.reverse()
}

/** The value up to the next separator that is not escaped. */
function readEscapedValue(text: string, from: number): { readonly text: string; readonly to: number } | undefined {
  let at = from
  while (text[at] === ' ') at++
  const quoted = text[at] === '"'
  const bytes: number[] = []
  if (quoted) at++
  for (; at < text.length; at++) {
    const character = text[at]!
    if (quoted ? character === '"' : /[,;+]/.test(character)) break
    if (character !== '\\')
      bytes.push(...Buffer.from(text.codePointAt(at)! > 0xffff ? text.slice(at, ++at + 1) : character))
    else if (/^[0-9a-fA-F]{2}$/.test(text.slice(at + 1, at + 3))) {
      bytes.push(Number.parseInt(text.slice(at + 1, at + 3), 16))
      at += 2
    } else if (++at < text.length) bytes.push(...Buffer.from(text[at]!))
  }
  if (quoted) {
    if (text[at] !== '"') return undefined
    at++
    while (text[at] === ' ') at++
    if (at < text.length && !/[,;+]/.test(text[at]!)) return undefined
  }
  return { text: Buffer.from(bytes).toString(), to: at }
}

/** Peers write names in either order. A name selects a certificate, and proves nothing. */
export function sameDistinguishedName(a: DistinguishedName, b: DistinguishedName): boolean {
  const one = a.join(',')
  return one === b.join(',') || one === [...b].reverse().join(',')
}
