/**
 * RFC 9651 Structured Fields (which replaces RFC 8941): items, lists, dictionaries; parsed as §4.2
 * demands, all or nothing, and written in the canonical form of §4.1. Our own code: the parser of
 * structured-headers 2.1.0 rejects a Date followed by anything, and its writer drops the zero of
 * `%0a` in a Display String.
 */
import { decodePercent } from '../base/attempt.ts'
import { decodeBase64Loosely, encodeBase64 } from '../base/base64.ts'
import { cursorOver, isAtEnd, skipCharacter, skipSpace, type TextCursor } from './grammar.ts'

/** §3.3: the value of an item, without its parameters. */
export type BareItem =
  | { readonly kind: 'integer' | 'decimal'; readonly value: number }
  | { readonly kind: 'string' | 'token' | 'display'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Seconds since 1970. */
  | { readonly kind: 'date'; readonly value: number }

/** §3.1.2: parameters by key, in order. */
export type ItemParameters = ReadonlyMap<string, BareItem>
/** §3.3: a value and its parameters. */
export type StructuredItem = BareItem & { readonly parameters: ItemParameters }
/** §3.1.1: a list within a list or a dictionary. */
export interface InnerList {
  readonly kind: 'list'
  readonly items: readonly StructuredItem[]
  readonly parameters: ItemParameters
}
/** A member of a list or a dictionary. */
export type StructuredMember = StructuredItem | InnerList

const noItemParameters: ItemParameters = new Map()
const trueItem: BareItem = { kind: 'boolean', value: true }

/** Items to write, without their `kind` spelled out. */
export const integerItem = (value: number): BareItem => ({ kind: 'integer', value })
export const stringItem = (value: string): BareItem => ({ kind: 'string', value })
/** An item of this value, with these parameters. */
export const createStructuredItem = (
  bare: BareItem,
  parameters: Readonly<Record<string, BareItem>> = {},
): StructuredItem => ({
  ...bare,
  parameters: new Map(Object.entries(parameters)),
})

/** The field as an item (§3.3); undefined if it is malformed. */
export const parseItem = (field: string): StructuredItem | undefined => parseAllOf(field, readStructuredItem)
/** The field as a list (§3.1), empty for an empty field; undefined if it is malformed. */
export const parseList = (field: string): readonly StructuredMember[] | undefined => parseAllOf(field, readList)
/** The field as a dictionary (§3.2), by key; undefined if it is malformed. */
export const parseDictionary = (field: string): ReadonlyMap<string, StructuredMember> | undefined =>
  parseAllOf(field, readDictionary)

/** §4.2: the whole text, except for spaces around it. */
function parseAllOf<T>(field: string, read: (cursor: TextCursor) => T | undefined): T | undefined {
  const cursor = cursorOver(field)
  skipSpaces(cursor)
  const value = read(cursor)
  skipSpaces(cursor)
  return isAtEnd(cursor) ? value : undefined
}

function skipSpaces(cursor: TextCursor) {
  while (cursor.text.charCodeAt(cursor.at) === 0x20) cursor.at++
}

/** §4.2.1 and §4.2.2 share the rule of commas: false if one is missing, or nothing follows one. */
function readSeparated(cursor: TextCursor, read: () => boolean): boolean {
  while (!isAtEnd(cursor)) {
    if (!read()) return false
    skipSpace(cursor)
    if (isAtEnd(cursor)) return true
    if (!skipCharacter(cursor, ',')) return false
    skipSpace(cursor)
    if (isAtEnd(cursor)) return false
  }
  return true
}

function readList(cursor: TextCursor): readonly StructuredMember[] | undefined {
  const members: StructuredMember[] = []
  const all = readSeparated(cursor, () => {
    const member = readListMember(cursor)
    if (member) members.push(member)
    return member !== undefined
  })
  return all ? members : undefined
}

function readDictionary(cursor: TextCursor): ReadonlyMap<string, StructuredMember> | undefined {
  const members = new Map<string, StructuredMember>()
  const all = readSeparated(cursor, () => {
    const name = readItemKey(cursor)
    const member =
      name !== undefined && (skipCharacter(cursor, '=') ? readListMember(cursor) : withParameters(cursor, trueItem))
    if (!name || !member) return false
    members.set(name, member)
    return true
  })
  return all ? members : undefined
}

const readListMember = (cursor: TextCursor): StructuredMember | undefined =>
  cursor.text[cursor.at] === '(' ? readInnerList(cursor) : readStructuredItem(cursor)

/** §4.2.1.2. */
function readInnerList(cursor: TextCursor): InnerList | undefined {
  const items: StructuredItem[] = []
  cursor.at++
  for (;;) {
    skipSpaces(cursor)
    if (skipCharacter(cursor, ')')) break
    const item = readStructuredItem(cursor)
    const next = cursor.text[cursor.at]
    if (item === undefined || (next !== ' ' && next !== ')')) return undefined
    items.push(item)
  }
  const parameters = readItemParameters(cursor)
  return parameters && { kind: 'list', items, parameters }
}

function readStructuredItem(cursor: TextCursor): StructuredItem | undefined {
  const bare = readBareItem(cursor)
  return bare && withParameters(cursor, bare)
}

function withParameters(cursor: TextCursor, bare: BareItem): StructuredItem | undefined {
  const parameters = readItemParameters(cursor)
  return parameters && { ...bare, parameters }
}

/** §4.2.3.2; the last of repeated keys counts, in the position of the first. */
function readItemParameters(cursor: TextCursor): ItemParameters | undefined {
  if (cursor.text[cursor.at] !== ';') return noItemParameters
  const parameters = new Map<string, BareItem>()
  while (skipCharacter(cursor, ';')) {
    skipSpaces(cursor)
    const name = readItemKey(cursor)
    const value = skipCharacter(cursor, '=') ? readBareItem(cursor) : trueItem
    if (name === undefined || value === undefined) return undefined
    parameters.set(name, value)
  }
  return parameters
}

/** What a sticky expression finds at the cursor, which is then after it. */
function matchAtCursor(cursor: TextCursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at
  if (!pattern.test(cursor.text)) return undefined
  const text = cursor.text.slice(cursor.at, pattern.lastIndex)
  cursor.at = pattern.lastIndex
  return text
}

const keyPattern = /[a-z*][a-z0-9_\-.*]*/y
const tokenPattern = /[A-Za-z*][A-Za-z0-9!#$%&'*+\-.^_`|~:/]*/y
const numberPattern = /-?\d+(?:\.\d*)?/y
const stringPattern = /"(?:[ !#-[\]-~]|\\["\\])*"/y
const bytesPattern = /:[A-Za-z0-9+/=]*:/y
const displayPattern = /%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y

const readItemKey = (cursor: TextCursor) => matchAtCursor(cursor, keyPattern)

/** §4.2.3.1: the first character decides the kind. */
function readBareItem(cursor: TextCursor): BareItem | undefined {
  const first = cursor.text[cursor.at]
  if (first === undefined) return undefined
  if (first === '"') return readStringItem(cursor)
  if (first === '-' || (first >= '0' && first <= '9')) return readNumberItem(cursor)
  if (first === ':') return readBytesItem(cursor)
  if (first === '?') return readBooleanItem(cursor)
  if (first === '@') return readDateItem(cursor)
  if (first === '%') return readDisplayItem(cursor)
  const value = matchAtCursor(cursor, tokenPattern)
  return value === undefined ? undefined : { kind: 'token', value }
}

function readStringItem(cursor: TextCursor): BareItem | undefined {
  const text = matchAtCursor(cursor, stringPattern)
  return text === undefined ? undefined : { kind: 'string', value: text.slice(1, -1).replace(/\\(.)/g, '$1') }
}

/** §4.2.4: at most 15 digits, or 12 before the point and one to three after it. */
function readNumberItem(cursor: TextCursor): BareItem | undefined {
  const text = matchAtCursor(cursor, numberPattern)
  if (text === undefined) return undefined
  const [whole, fraction] = text.replace('-', '').split('.') as [string, string?] // the first part is always present
  const value = Number(text) + 0 // §4.2.4: −0 is 0
  if (fraction === undefined) return whole.length <= 15 ? { kind: 'integer', value } : undefined
  const fits = whole.length <= 12 && fraction.length >= 1 && fraction.length <= 3
  return fits ? { kind: 'decimal', value } : undefined
}

function readBooleanItem(cursor: TextCursor): BareItem | undefined {
  cursor.at++
  if (skipCharacter(cursor, '1')) return trueItem
  return skipCharacter(cursor, '0') ? { kind: 'boolean', value: false } : undefined
}

function readDateItem(cursor: TextCursor): BareItem | undefined {
  cursor.at++
  const found = readNumberItem(cursor)
  return found?.kind === 'integer' ? { kind: 'date', value: found.value } : undefined
}

/** §4.2.7: missing padding and non-zero unused bits are accepted, as the RFC recommends. */
function readBytesItem(cursor: TextCursor): BareItem | undefined {
  const text = matchAtCursor(cursor, bytesPattern)
  const value = text === undefined ? undefined : decodeBase64Loosely(text.slice(1, -1))
  return value && { kind: 'bytes', value }
}

function readDisplayItem(cursor: TextCursor): BareItem | undefined {
  const text = matchAtCursor(cursor, displayPattern)
  const value = text === undefined ? undefined : decodePercent(text.slice(2, -1))
  return value === undefined ? undefined : { kind: 'display', value }
}

/**
 * An item as text; undefined if RFC 9651 §4.1 fails: a key, token or string with forbidden
 * characters, a number out of range.
 */
export function writeItem(of: StructuredItem): string | undefined {
  return joinDefined([writeBare(of), writeItemParameters(of.parameters)], '')
}

/** A list as text; undefined if a member cannot be written (§4.1). */
export function writeList(members: readonly StructuredMember[]): string | undefined {
  return joinDefined(members.map(writeMember), ', ')
}

/** A dictionary as text; undefined if a key or member cannot be written (§4.1). */
export function writeDictionary(members: ReadonlyMap<string, StructuredMember>): string | undefined {
  return joinDefined(
    [...members].map(([name, of]) => {
      if (of.kind === 'boolean' && of.value)
        return joinDefined([writeKey(name), writeItemParameters(of.parameters)], '')
      return joinDefined([writeKey(name), writeMember(of)], '=')
    }),
    ', ',
  )
}

function joinDefined(parts: readonly (string | undefined)[], by: string): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(by)
}

function writeMember(of: StructuredMember): string | undefined {
  if (of.kind !== 'list') return writeItem(of)
  const items = joinDefined(of.items.map(writeItem), ' ')
  return items === undefined ? undefined : joinDefined([`(${items})`, writeItemParameters(of.parameters)], '')
}

function writeItemParameters(parameters: ItemParameters): string | undefined {
  return joinDefined(
    [...parameters].map(([name, value]) => {
      const key = writeKey(name)
      if (value.kind === 'boolean' && value.value) return key && `;${key}`
      return joinDefined([key && `;${key}`, writeBare(value)], '=')
    }),
    '',
  )
}

const writeKey = (name: string) => matchWhole(keyPattern, name)

/** The text, if the expression matches all of it. */
function matchWhole(pattern: RegExp, text: string): string | undefined {
  pattern.lastIndex = 0
  return pattern.test(text) && pattern.lastIndex === text.length ? text : undefined
}

function writeBare(of: BareItem): string | undefined {
  switch (of.kind) {
    case 'integer':
      return writeIntegerItem(of.value)
    case 'decimal':
      return writeDecimalItem(of.value)
    case 'string':
      return matchWhole(stringPattern, `"${of.value.replace(/["\\]/g, '\\$&')}"`)
    case 'token':
      return matchWhole(tokenPattern, of.value)
    case 'bytes':
      return `:${encodeBase64(of.value)}:`
    case 'boolean':
      return of.value ? '?1' : '?0'
    case 'date': {
      const seconds = writeIntegerItem(of.value)
      return seconds && `@${seconds}`
    }
    case 'display':
      return of.value.isWellFormed() ? `%"${of.value.replace(/[^ !#$&-~]+/gu, escapeDisplay)}"` : undefined
  }
}

const writeIntegerItem = (value: number) =>
  Number.isInteger(value) && Math.abs(value) <= 999_999_999_999_999 ? String(value + 0) : undefined

/** §4.1.5: at most three digits after the point, ties to even, and at least one digit. */
function writeDecimalItem(value: number): string | undefined {
  const thousandths = Math.abs(value) * 1000
  const below = Math.floor(thousandths)
  const up = thousandths - below > 0.5 || (thousandths - below === 0.5 && below % 2 === 1)
  const rounded = (below + (up ? 1 : 0)) / 1000
  if (!(rounded < 1e12)) return undefined
  const text = rounded.toFixed(3).replace(/0{1,2}$/, '')
  return value < 0 && rounded > 0 ? `-${text}` : text
}

const escapeDisplay = (text: string) =>
  Array.from(new TextEncoder().encode(text), octet => `%${octet.toString(16).padStart(2, '0')}`).join('')
