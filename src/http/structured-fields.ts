/**
 * RFC 9651 Structured Fields (which replaces RFC 8941): items, lists, dictionaries; parsed as §4.2 demands, all or nothing,
 * and written in the canonical form of §4.1. Our own: the parser of structured-headers 2.1.0 takes no Date that anything
 * follows, and its writer drops the zero of `%0a` in a Display String.
 */
import { decodePercent } from '../base/attempt.ts'
import { decodeBase64Loosely, encodeBase64 } from '../base/base64.ts'
import { cursorOver, isAtEnd, skipCharacter, skipSpace, type TextCursor } from './grammar.ts'

export type BareItem =
  | { readonly kind: 'integer' | 'decimal'; readonly value: number }
  | { readonly kind: 'string' | 'token' | 'display'; readonly value: string }
  | { readonly kind: 'bytes'; readonly value: Uint8Array }
  | { readonly kind: 'boolean'; readonly value: boolean }
  /** Seconds since 1970. */
  | { readonly kind: 'date'; readonly value: number }

export type ItemParameters = ReadonlyMap<string, BareItem>
export type StructuredItem = BareItem & { readonly parameters: ItemParameters }
export interface InnerList {
  readonly kind: 'list'
  readonly items: readonly StructuredItem[]
  readonly parameters: ItemParameters
}
export type StructuredMember = StructuredItem | InnerList

const none: ItemParameters = new Map()
const yes: BareItem = { kind: 'boolean', value: true }

/** Items to write, without their `kind` spelled out. */
export const integerItem = (value: number): BareItem => ({ kind: 'integer', value })
export const stringItem = (value: string): BareItem => ({ kind: 'string', value })
export const createItem = (bare: BareItem, parameters: Readonly<Record<string, BareItem>> = {}): StructuredItem => ({
  ...bare,
  parameters: new Map(Object.entries(parameters)),
})

export const parseItem = (field: string): StructuredItem | undefined => whole(field, itemAt)
export const parseList = (field: string): readonly StructuredMember[] | undefined => whole(field, list)
export const parseDictionary = (field: string): ReadonlyMap<string, StructuredMember> | undefined =>
  whole(field, dictionary)

/** §4.2: all of the text, but for spaces around it. */
function whole<T>(field: string, read: (cursor: TextCursor) => T | undefined): T | undefined {
  const cursor = cursorOver(field)
  spaces(cursor)
  const found = read(cursor)
  spaces(cursor)
  return isAtEnd(cursor) ? found : undefined
}

function spaces(cursor: TextCursor) {
  while (cursor.text.charCodeAt(cursor.at) === 0x20) cursor.at++
}

/** §4.2.1 and §4.2.2 share their commas: undefined when one is missing, or nothing follows one. */
function separated(cursor: TextCursor, read: () => boolean): boolean {
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

function list(cursor: TextCursor): readonly StructuredMember[] | undefined {
  const members: StructuredMember[] = []
  const all = separated(cursor, () => {
    const found = member(cursor)
    if (found) members.push(found)
    return found !== undefined
  })
  return all ? members : undefined
}

function dictionary(cursor: TextCursor): ReadonlyMap<string, StructuredMember> | undefined {
  const members = new Map<string, StructuredMember>()
  const all = separated(cursor, () => {
    const name = key(cursor)
    const found = name !== undefined && (skipCharacter(cursor, '=') ? member(cursor) : parameterised(cursor, yes))
    if (!name || !found) return false
    members.set(name, found)
    return true
  })
  return all ? members : undefined
}

const member = (cursor: TextCursor): StructuredMember | undefined =>
  cursor.text[cursor.at] === '(' ? innerList(cursor) : itemAt(cursor)

/** §4.2.1.2. */
function innerList(cursor: TextCursor): InnerList | undefined {
  const items: StructuredItem[] = []
  cursor.at++
  for (;;) {
    spaces(cursor)
    if (skipCharacter(cursor, ')')) break
    const found = itemAt(cursor)
    const next = cursor.text[cursor.at]
    if (found === undefined || (next !== ' ' && next !== ')')) return undefined
    items.push(found)
  }
  const parameters = parametersAt(cursor)
  return parameters && { kind: 'list', items, parameters }
}

function itemAt(cursor: TextCursor): StructuredItem | undefined {
  const bare = bareItem(cursor)
  return bare && parameterised(cursor, bare)
}

function parameterised(cursor: TextCursor, bare: BareItem): StructuredItem | undefined {
  const parameters = parametersAt(cursor)
  return parameters && { ...bare, parameters }
}

/** §4.2.3.2; of a key that comes twice the last counts, at the place of the first. */
function parametersAt(cursor: TextCursor): ItemParameters | undefined {
  if (cursor.text[cursor.at] !== ';') return none
  const found = new Map<string, BareItem>()
  while (skipCharacter(cursor, ';')) {
    spaces(cursor)
    const name = key(cursor)
    const value = skipCharacter(cursor, '=') ? bareItem(cursor) : yes
    if (name === undefined || value === undefined) return undefined
    found.set(name, value)
  }
  return found
}

/** What a sticky expression finds at the cursor, which is then behind it. */
function match(cursor: TextCursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at
  if (!pattern.test(cursor.text)) return undefined
  const found = cursor.text.slice(cursor.at, pattern.lastIndex)
  cursor.at = pattern.lastIndex
  return found
}

const keys = /[a-z*][a-z0-9_\-.*]*/y
const tokens = /[A-Za-z*][A-Za-z0-9!#$%&'*+\-.^_`|~:/]*/y
const numbers = /-?\d+(?:\.\d*)?/y
const strings = /"(?:[ !#-[\]-~]|\\["\\])*"/y
const byteSequences = /:[A-Za-z0-9+/=]*:/y
const displayStrings = /%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y

const key = (cursor: TextCursor) => match(cursor, keys)

/** §4.2.3.1: the first character says which kind it is. */
function bareItem(cursor: TextCursor): BareItem | undefined {
  const first = cursor.text[cursor.at]
  if (first === undefined) return undefined
  if (first === '"') return stringAt(cursor)
  if (first === '-' || (first >= '0' && first <= '9')) return numberAt(cursor)
  if (first === ':') return bytesAt(cursor)
  if (first === '?') return booleanAt(cursor)
  if (first === '@') return dateAt(cursor)
  if (first === '%') return displayAt(cursor)
  const value = match(cursor, tokens)
  return value === undefined ? undefined : { kind: 'token', value }
}

function stringAt(cursor: TextCursor): BareItem | undefined {
  const text = match(cursor, strings)
  return text === undefined ? undefined : { kind: 'string', value: text.slice(1, -1).replace(/\\(.)/g, '$1') }
}

/** §4.2.4: at most 15 digits, or 12 before the point and one to three after it. */
function numberAt(cursor: TextCursor): BareItem | undefined {
  const text = match(cursor, numbers)
  if (text === undefined) return undefined
  const [whole, fraction] = text.replace('-', '').split('.') as [string, string?] // the first part is always there
  const value = Number(text) + 0 // §4.2.4: −0 is 0
  if (fraction === undefined) return whole.length <= 15 ? { kind: 'integer', value } : undefined
  const fits = whole.length <= 12 && fraction.length >= 1 && fraction.length <= 3
  return fits ? { kind: 'decimal', value } : undefined
}

function booleanAt(cursor: TextCursor): BareItem | undefined {
  cursor.at++
  if (skipCharacter(cursor, '1')) return yes
  return skipCharacter(cursor, '0') ? { kind: 'boolean', value: false } : undefined
}

function dateAt(cursor: TextCursor): BareItem | undefined {
  cursor.at++
  const found = numberAt(cursor)
  return found?.kind === 'integer' ? { kind: 'date', value: found.value } : undefined
}

/** §4.2.7: missing padding and spare bits that are not zero are taken, as the RFC recommends. */
function bytesAt(cursor: TextCursor): BareItem | undefined {
  const text = match(cursor, byteSequences)
  const value = text === undefined ? undefined : decodeBase64Loosely(text.slice(1, -1))
  return value && { kind: 'bytes', value }
}

function displayAt(cursor: TextCursor): BareItem | undefined {
  const text = match(cursor, displayStrings)
  const value = text === undefined ? undefined : decodePercent(text.slice(2, -1))
  return value === undefined ? undefined : { kind: 'display', value }
}

/** undefined where RFC 9651 §4.1 fails: a key, token or string with characters that none has, a number out of range. */
export function writeItem(of: StructuredItem): string | undefined {
  return joined([writeBare(of), writeParameters(of.parameters)], '')
}

export function writeList(members: readonly StructuredMember[]): string | undefined {
  return joined(members.map(writeMember), ', ')
}

export function writeDictionary(members: ReadonlyMap<string, StructuredMember>): string | undefined {
  return joined(
    [...members].map(([name, of]) => {
      if (of.kind === 'boolean' && of.value) return joined([writeKey(name), writeParameters(of.parameters)], '')
      return joined([writeKey(name), writeMember(of)], '=')
    }),
    ', ',
  )
}

function joined(parts: readonly (string | undefined)[], by: string): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join(by)
}

function writeMember(of: StructuredMember): string | undefined {
  if (of.kind !== 'list') return writeItem(of)
  const items = joined(of.items.map(writeItem), ' ')
  return items === undefined ? undefined : joined([`(${items})`, writeParameters(of.parameters)], '')
}

function writeParameters(given: ItemParameters): string | undefined {
  return joined(
    [...given].map(([name, value]) => {
      const key = writeKey(name)
      if (value.kind === 'boolean' && value.value) return key && `;${key}`
      return joined([key && `;${key}`, writeBare(value)], '=')
    }),
    '',
  )
}

const writeKey = (name: string) => only(keys, name)

/** The text, if the expression takes all of it. */
function only(pattern: RegExp, text: string): string | undefined {
  pattern.lastIndex = 0
  return pattern.test(text) && pattern.lastIndex === text.length ? text : undefined
}

function writeBare(of: BareItem): string | undefined {
  switch (of.kind) {
    case 'integer':
      return writeInteger(of.value)
    case 'decimal':
      return writeDecimal(of.value)
    case 'string':
      return only(strings, `"${of.value.replace(/["\\]/g, '\\$&')}"`)
    case 'token':
      return only(tokens, of.value)
    case 'bytes':
      return `:${encodeBase64(of.value)}:`
    case 'boolean':
      return of.value ? '?1' : '?0'
    case 'date': {
      const seconds = writeInteger(of.value)
      return seconds && `@${seconds}`
    }
    case 'display':
      return of.value.isWellFormed() ? `%"${of.value.replace(/[^ !#$&-~]+/gu, escapeDisplay)}"` : undefined
  }
}

const writeInteger = (value: number) =>
  Number.isInteger(value) && Math.abs(value) <= 999_999_999_999_999 ? String(value + 0) : undefined

/** §4.1.5: three digits after the point, ties to the even one, and at least one digit. */
function writeDecimal(value: number): string | undefined {
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
