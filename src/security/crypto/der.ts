/**
 * ASN.1 in DER (ITU-T X.690), as far as certificates and their paths need it. No read goes beyond
 * the given octets.
 */

import { encodeHex } from '../../base/base64.ts'

export interface DerValue {
  /** The identifier octet: class, constructed flag, number. Numbers above 30 are not supported. */
  readonly tag: number
  readonly content: Buffer
  /** The whole encoding. */
  readonly octets: Buffer
}

export class NotDer extends Error {}

/** The single value that these octets encode. @throws NotDer */
export function readDer(octets: Buffer): DerValue {
  const [first, another] = readDerValues(octets)
  if (!first || another) throw new NotDer('not exactly one value')
  return first
}

/** The sequence of values that these octets encode. @throws NotDer */
export function readDerValues(octets: Buffer): DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < octets.length; ) {
    const value = readDerAt(octets, at)
    values.push(value)
    at += value.octets.length
  }
  return values
}

function readDerAt(octets: Buffer, at: number): DerValue {
  const tag = octets[at] ?? 0x1f
  let length = octets[at + 1] ?? 0x80
  let from = at + 2
  if ((tag & 0x1f) === 0x1f || length === 0x80 || length > 0x84)
    throw new NotDer('a form that DER or certificates do not use')
  if (length > 0x80) {
    const size = length - 0x80
    if (from + size > octets.length) throw new NotDer('cut short')
    length = octets.readUIntBE(from, size)
    from += size
  }
  if (from + length > octets.length) throw new NotDer('cut short')
  return { tag, content: octets.subarray(from, from + length), octets: octets.subarray(at, from + length) }
}

export const BOOLEAN = 0x01
export const INTEGER = 0x02
export const BIT_STRING = 0x03
export const OCTET_STRING = 0x04
export const OBJECT_IDENTIFIER = 0x06
export const ENUMERATED = 0x0a
export const UTC_TIME = 0x17
export const GENERALIZED_TIME = 0x18
export const SEQUENCE = 0x30
export const SET = 0x31

/** A context-specific tag: EXPLICIT, or IMPLICIT for a constructed type. */
export const constructedTag = (number: number): number => 0xa0 | number
/** The IMPLICIT tag of a primitive type. */
export const primitiveTag = (number: number): number => 0x80 | number

/**
 * The fields of a SEQUENCE in order. Each is read once, by its expected tag; `end` refuses a field
 * that was not read.
 */
export class DerFields {
  readonly #values: readonly DerValue[]
  #at = 0

  /** @throws NotDer */
  constructor({ tag, content }: DerValue, expected = SEQUENCE) {
    if (tag !== expected) throw new NotDer('not a SEQUENCE')
    this.#values = readDerValues(content)
  }

  /** The next field, if it has this tag. */
  optional(...tags: readonly number[]): DerValue | undefined {
    const next = this.#values[this.#at]
    if (!next || !tags.includes(next.tag)) return undefined
    this.#at++
    return next
  }

  /** The next field. @throws NotDer if its tag is another one */
  required(...tags: readonly number[]): DerValue {
    const next = this.optional(...tags)
    if (!next) throw new NotDer('a field is missing, or has another type')
    return next
  }

  /** The next field, of any type. */
  any(): DerValue | undefined {
    return this.#values[this.#at++]
  }

  /** @throws NotDer if there are unread fields */
  end(): void {
    if (this.#at < this.#values.length) throw new NotDer('an unexpected field')
  }
}

/** The values of a SEQUENCE OF or a SET OF. @throws NotDer */
export function readDerList({ tag, content }: DerValue, expected = SEQUENCE): DerValue[] {
  if (tag !== expected) throw new NotDer('not a list')
  return readDerValues(content)
}

/** X.690 §8.3: two's complement. */
export function readDerInteger(value: DerValue): bigint {
  const octets = readIntegerOctets(value)
  return BigInt.asIntN(octets.length * 8, BigInt(`0x${encodeHex(octets)}`))
}

/** The octets of an INTEGER, equal for equal numbers: §8.3.2 forbids redundant octets. */
export function readIntegerOctets({ content }: DerValue): Buffer {
  const first = content[0]
  const second = content[1] ?? 0
  if (first === undefined) throw new NotDer('an INTEGER without content')
  if (content.length > 1 && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80))
    throw new NotDer('an INTEGER with redundant octets')
  return content
}

/** X.690 §11.1. */
export function readDerBoolean({ content }: DerValue): boolean {
  if (content.length !== 1) throw new NotDer('a BOOLEAN that is not one octet')
  return content[0] !== 0
}

/** The numbers of the named bits that are set. */
export function readDerBits({ content }: DerValue): ReadonlySet<number> {
  const unused = content[0]
  if (unused === undefined || unused > 7) throw new NotDer('a BIT STRING without its count of unused bits')
  const bits = new Set<number>()
  for (let bit = 0; bit < (content.length - 1) * 8 - unused; bit++)
    if ((content[1 + (bit >> 3)]! >> (7 - (bit & 7))) & 1) bits.add(bit)
  return bits
}

/** A BIT STRING with whole octets. */
export function readDerOctets({ content }: DerValue): Buffer {
  if (content[0] !== 0) throw new NotDer('a BIT STRING that does not consist of whole octets')
  return content.subarray(1)
}

/** RFC 5280 §4.1.2.5: UTCTime or GeneralizedTime, each in its only form, as milliseconds. */
export function readDerTime({ tag, content }: DerValue): number {
  const text = content.toString('latin1')
  const year = tag === UTC_TIME ? `${text < '50' ? '20' : '19'}${text}` : text
  if (!(tag === UTC_TIME || tag === GENERALIZED_TIME) || !/^\d{14}Z$/.test(year)) throw new NotDer('not a time')
  const iso = year.replace(/^(....)(..)(..)(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6.000Z')
  const time = Date.parse(iso)
  if (Number.isNaN(time) || new Date(time).toISOString() !== iso) throw new NotDer('not a time of the calendar')
  return time
}

/** The object identifier that this value encodes. */
export function readDerIdentifier({ tag, content }: DerValue): string {
  if (tag !== OBJECT_IDENTIFIER) throw new NotDer('not an OBJECT IDENTIFIER')
  return readObjectIdentifier(content)
}

/** An object identifier in its dotted form. */
export function readObjectIdentifier(content: Buffer): string {
  const arcs: bigint[] = []
  let arc = 0n
  for (const octet of content) {
    arc = arc * 128n + BigInt(octet & 0x7f)
    if (octet < 0x80) {
      arcs.push(arc)
      arc = 0n
    }
  }
  if (content.length === 0 || content.length > 64 || content.at(-1)! >= 0x80)
    throw new NotDer('an OBJECT IDENTIFIER that is cut short or too long')
  const [first = 0n, ...others] = arcs
  const root = first < 80n ? first / 40n : 2n
  return [root, first - 40n * root, ...others].join('.')
}

/** One DER value: the tag, and its content in parts. */
export function writeDer(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  if (length > 0xffff) throw new RangeError('a value of over 65,535 octets')
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...size), content])
}

/** Types of character strings; a value of another type is not a text. */
const characterStrings = new Set([0x0c, 0x12, 0x13, 0x14, 0x16, 0x1a, 0x1b, 0x1c, 0x1e])
export const isCharacterString = ({ tag }: DerValue): boolean => characterStrings.has(tag)

/** A character string of any type allowed in names. */
export function readDerText({ tag, content }: DerValue): string {
  if (tag === 0x1e)
    return Buffer.from(content.subarray(0, content.length & ~1))
      .swap16()
      .toString('utf16le') // BMPString
  if (tag === 0x1c) return readUniversalString(content)
  return content.toString(tag === 0x0c ? 'utf8' : 'latin1') // UTF8String, or PrintableString, IA5String, TeletexString
}

/** Decodes four octets for each character. */
function readUniversalString(content: Buffer): string {
  let text = ''
  for (let at = 0; at + 4 <= content.length; at += 4) {
    const point = content.readUInt32BE(at)
    if (point > 0x10ffff) throw new NotDer('a UniversalString with a number that is not a character')
    text += String.fromCodePoint(point)
  }
  return text
}
