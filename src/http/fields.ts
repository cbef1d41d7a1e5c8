/**
 * Single fields. Guards the wire against response splitting: text that is not a field is not sent.
 */

import { parseDate } from './date.ts'
import { isToken, splitElements } from './grammar.ts'
import { parseMediaType } from './media-type.ts'
import { createStructuredItem, parseItem, type StructuredItem, stringItem, writeItem } from './structured-fields.ts'

/** RFC 9110 §5.1: a field name is a token. */
export const isFieldName = isToken

/**
 * RFC 9110 §5.5 field-value: VCHAR, obs-text, SP and HTAB inside; no CR, LF, NUL or other control
 * character, no white space at its ends, and no character above one octet, which would be sent as
 * another.
 */
export function isFieldValue(value: string): boolean {
  return /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/.test(value)
}

/**
 * RFC 10008 §3 Accept-Query: the media types that QUERY accepts, as a structured list of tokens (or
 * strings, where a type is not such a token) with their parameters. Text that is not a media type
 * is left out. (Accept-Post and Accept-Patch are plain lists.)
 */
export function writeAcceptQuery(mediaTypes: readonly string[]): string {
  return mediaTypes.flatMap(text => writeAcceptQueryMember(text) ?? []).join(', ')
}

function writeAcceptQueryMember(text: string): string | undefined {
  const type = parseMediaType(text)
  if (type === undefined) return undefined
  const entries = Object.entries(type.parameters).map(([name, value]) => [name, stringItem(value)] as const)
  const parameters = Object.fromEntries(entries)
  const token: StructuredItem = createStructuredItem({ kind: 'token', value: type.essence }, parameters)
  return writeItem(token) ?? writeItem(createStructuredItem(stringItem(type.essence), parameters))
}

/**
 * A whole number that changes each time, as text. The engine caches the text of each number that it
 * writes, so a count in each response would fill a part of its memory that is seldom collected: the
 * last three digits are therefore written here.
 */
export function writeDecimal(count: number): string {
  return count < 1000 ? String(count) : `${Math.floor(count / 1000)}${lastDigits[count % 1000]}`
}

const lastDigits = Array.from({ length: 1000 }, (_, digits) => String(digits).padStart(3, '0'))

/**
 * RFC 9745 §2.1 Deprecation: a date item, from milliseconds; undefined for an invalid time.
 * (Sunset, RFC 8594, is an HTTP-date: see date.ts.)
 */
export const writeDeprecation = (time: number): string | undefined =>
  writeItem(createStructuredItem({ kind: 'date', value: Math.floor(time / 1000) }))

/** Milliseconds; undefined if malformed. */
export function parseDeprecation(field: string): number | undefined {
  const item = parseItem(field)
  return item?.kind === 'date' ? item.value * 1000 : undefined
}

/**
 * draft-ietf-httpapi-idempotency-key-header §2.1: an item that is a string, in quotes; undefined
 * when malformed or empty.
 */
export function parseIdempotencyKey(field: string): string | undefined {
  const item = parseItem(field)
  return item?.kind === 'string' && item.value !== '' ? item.value : undefined
}

/** Undefined if the key has characters that such a string cannot contain. */
export const writeIdempotencyKey = (key: string): string | undefined => writeItem(createStructuredItem(stringItem(key)))

/** RFC 9110 §10.2.3 Retry-After: whole seconds, rounded up, never negative (A4.22). */
export const writeRetryAfter = (seconds: number): string => String(Math.max(0, Math.ceil(seconds)))

/**
 * Milliseconds to wait from now on, 0 for a date in the past; undefined if it is neither seconds
 * nor a date.
 */
export function parseRetryAfter(field: string, now: number): number | undefined {
  if (/^\d{1,10}$/.test(field)) return Number(field) * 1000
  const date = parseDate(field, now)
  return date === undefined ? undefined : Math.max(0, date - now)
}

/**
 * A list of tokens, in lower case: Content-Encoding, in the order applied (RFC 9110 §8.4),
 * Connection, Access-Control-Request-Headers. Undefined when an element is not a token; empty for
 * an empty field.
 */
export function parseTokens(field: string): readonly string[] | undefined {
  const tokens = splitElements(field)
  return tokens.every(isToken) ? tokens.map(token => token.toLowerCase()) : undefined
}
