/**
 * Names of subjects and issuers (RFC 5280 §7.1, RFC 4514): read from DER and from text, into the
 * single form in which equal names are equal texts.
 */

import { attempt } from '../../base/attempt.ts'
import { decodeHex, encodeHex } from '../../base/base64.ts'
import {
  type DerValue,
  isCharacterString,
  NotDer,
  readDer,
  readDerIdentifier,
  readDerList,
  readDerText,
  readDerValues,
  SEQUENCE,
  SET,
} from './der.ts'

/**
 * Relative distinguished names from the root down, each as its sorted `type=value` parts, folded
 * for comparison.
 */
export type DistinguishedName = readonly string[]

/** Folding removes control characters, so nothing in a value looks like a separator. */
const partSeparator = '\u0000'
const nameSeparator = '\u0001'

/** Name ::= SEQUENCE OF RelativeDistinguishedName (RFC 5280 §4.1.2.4). @throws NotDer */
export const readDistinguishedName = (name: DerValue): DistinguishedName =>
  readDerList(name).map(relative => readRelativeName(relative))

/** The attributes of a RelativeDistinguishedName. @throws NotDer */
export const readRelativeName = (relative: DerValue, tag: number = SET): string =>
  joinParts(readDerList(relative, tag).map(part => foldAttribute(...readAttribute(part))))

/** The values of this attribute type, as written. */
export const findAttributes = (name: DerValue, type: string): string[] =>
  readDerList(name).flatMap(relative =>
    readDerList(relative, SET).flatMap(part => {
      const [own, value] = readAttribute(part)
      return own === type ? [value] : []
    }),
  )

const readAttribute = (part: DerValue): [type: string, value: string] => {
  const [type, value] = splitAttribute(part)
  return [type, readAttributeValue(value)]
}

/** AttributeTypeAndValue. */
function splitAttribute(part: DerValue): [type: string, value: DerValue] {
  const [type, value] = part.tag === SEQUENCE ? readDerValues(part.content) : []
  if (!type || !value) throw new NotDer('an attribute without type or value')
  return [readDerIdentifier(type), value]
}

/** A value that is not a text becomes # and its octets in hexadecimal. */
const readAttributeValue = (value: DerValue): string =>
  isCharacterString(value) ? readDerText(value) : writeHexadecimal(value)
const writeHexadecimal = ({ octets }: DerValue): string => `#${encodeHex(octets)}`

const joinParts = (parts: string[]): string => parts.sort().join(partSeparator)

/** RFC 4518 §2: white space becomes one space, invisible characters go, case is ignored. */
const foldAttribute = (type: string, value: string): string =>
  `${type}=${value
    .replace(/[\t\n\v\f\r\u0085\p{Z}]+/gu, ' ')
    .replace(/[\p{Cc}\p{Default_Ignorable_Code_Point}\ufffc]/gu, '')
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .trim()}`

/** A text that is equal for equal names only. */
export const writeNameKey = (name: DistinguishedName): string => name.join(nameSeparator)

/** Whether a name is this base, or below it (RFC 5280 §4.2.1.10, directoryName). */
export const isNameWithin = (name: DistinguishedName, base: DistinguishedName): boolean =>
  base.length <= name.length && base.every((part, at) => part === name[at])

/** Peers write names in either order. A name only selects a certificate and proves nothing. */
export function sameDistinguishedName(a: DistinguishedName, b: DistinguishedName): boolean {
  const one = writeNameKey(a)
  return one === writeNameKey(b) || one === writeNameKey([...b].reverse())
}

/** The types that RFC 4514 §3 names, so that every receiver knows them. */
const standardTypes = ['CN', 'L', 'ST', 'O', 'OU', 'C', 'STREET', 'DC', 'UID'] as const

/** RFC 4514 §3, and other spellings, as Java, OpenSSL and .NET have them. */
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
  ['BUSINESSCATEGORY', '2.5.4.15'],
  ['POSTALCODE', '2.5.4.17'],
  ['NAME', '2.5.4.41'],
  ['G', '2.5.4.42'],
  ['GN', '2.5.4.42'],
  ['GIVENNAME', '2.5.4.42'],
  ['I', '2.5.4.43'],
  ['INITIALS', '2.5.4.43'],
  ['GENERATION', '2.5.4.44'],
  ['GENERATIONQUALIFIER', '2.5.4.44'],
  ['DNQ', '2.5.4.46'],
  ['DNQUALIFIER', '2.5.4.46'],
  ['PSEUDONYM', '2.5.4.65'],
  ['ORGANIZATIONIDENTIFIER', '2.5.4.97'],
  ['DC', '0.9.2342.19200300.100.1.25'],
  ['UID', '0.9.2342.19200300.100.1.1'],
  ['E', '1.2.840.113549.1.9.1'],
  ['EMAIL', '1.2.840.113549.1.9.1'],
  ['EMAILADDRESS', '1.2.840.113549.1.9.1'],
])

const standardNames: ReadonlyMap<string, string> = new Map(standardTypes.map(type => [attributeOids.get(type)!, type]))

/**
 * A name in the string form of RFC 4514 §2, leaf first. A type that the standard does not name is
 * its identifier, and the value its octets: Java reads no organizationIdentifier.
 * @throws NotDer
 */
export const writeDistinguishedName = (name: DerValue): string =>
  readDerList(name)
    .reverse()
    .map(relative => readDerList(relative, SET).map(writeAttributePart).join('+'))
    .join(',')

function writeAttributePart(part: DerValue): string {
  const [type, value] = splitAttribute(part)
  const known = isCharacterString(value) ? standardNames.get(type) : undefined
  return known === undefined ? `${type}=${writeHexadecimal(value)}` : `${known}=${escapeNameValue(readDerText(value))}`
}

/** §2.4; spaces at both ends and control characters in hexadecimal (XML Signature §4.5.4.1). */
const escapeNameValue = (text: string): string =>
  text
    .replace(/["+,;<>\\]|^#/g, character => `\\${character}`)
    .replace(/[\0-\x1f]|^ | $/g, character => `\\${encodeHex(Buffer.from(character))}`)

/**
 * A name in the string form of RFC 4514 or 2253 (XML Signature §4.5.4.1), leaf first; undefined for
 * other text. Takes linear time.
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
    const read = value.isVerbatim ? readHexadecimal(value.text) : value.text
    if (read === undefined) return undefined
    parts.push(foldAttribute(oid, read))
    at = value.to
    if (text[at] !== '+') {
      names.push(joinParts(parts))
      parts = []
    }
    at++
  }
  return names.reverse()
}

/** RFC 4514 §2.4: a value as the octets of its encoding, as Java writes most types. */
function readHexadecimal(text: string): string | undefined {
  const octets = decodeHex(text.slice(1).trim())
  return (
    octets &&
    attempt(
      () => readAttributeValue(readDer(Buffer.from(octets))),
      thrown => thrown instanceof NotDer,
    )
  )
}

interface EscapedValue {
  readonly text: string
  readonly to: number
  /** Whether it begins with a `#` that is not escaped. */
  readonly isVerbatim: boolean
}

/** The value up to the next unescaped separator. */
function readEscapedValue(text: string, from: number): EscapedValue | undefined {
  let at = from
  while (text[at] === ' ') at++
  const quoted = text[at] === '"'
  const isVerbatim = text[at] === '#'
  const bytes: number[] = []
  if (quoted) at++
  for (; at < text.length; at++) {
    const character = text[at]!
    const isDoubled = quoted && character === '"' && text[at + 1] === '"' // as .NET writes a quotation mark
    if (isDoubled) at++
    else if (quoted ? character === '"' : /[,;+]/.test(character)) break
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
  return { text: Buffer.from(bytes).toString(), to: at, isVerbatim }
}
