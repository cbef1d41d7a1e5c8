/**
 * Names of subjects and issuers (RFC 5280 §7.1, RFC 4514): read from DER and from text, into the
 * single form in which equal names are equal texts.
 */

import { encodeHex } from '../../base/base64.ts'
import {
  type DerValue,
  isCharacterString,
  NotDer,
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

/** AttributeTypeAndValue; a value that is not a text becomes # and its octets in hexadecimal. */
function readAttribute(part: DerValue): [type: string, value: string] {
  const [type, value] = part.tag === SEQUENCE ? readDerValues(part.content) : []
  if (!type || !value) throw new NotDer('an attribute without type or value')
  return [readDerIdentifier(type), isCharacterString(value) ? readDerText(value) : `#${encodeHex(value.octets)}`]
}

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

/** RFC 4514 §3, and older spellings of the same types. */
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
    parts.push(foldAttribute(oid, value.text))
    at = value.to
    if (text[at] !== '+') {
      names.push(joinParts(parts))
      parts = []
    }
    at++
  }
  return names.reverse()
}

/** The value up to the next unescaped separator. */
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
