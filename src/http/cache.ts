/**
 * RFC 9111, as far as clients and checkers of a service need it: Cache-Control, Vary, age and
 * freshness.
 */

import { parseDate } from './date.ts'
import {
  cursorOver,
  isAtEnd,
  quoteString,
  readToken,
  readTokenOrQuoted,
  skipCharacter,
  splitElements,
  trimSpace,
  writeTokenOrQuoted,
} from './grammar.ts'
import type { HttpFields } from './message.ts'

/** By lower-case name, without a prototype; `true` for a directive without an argument. */
export type Directives = Readonly<Record<string, string | true>>

/**
 * §5.2 Cache-Control. The first of repeated directives counts (§4.2.1); malformed ones are left
 * out.
 */
export function parseCacheControl(field: string): Directives {
  const directives: Record<string, string | true> = Object.create(null)
  for (const element of splitElements(field)) {
    const cursor = cursorOver(element)
    const name = readToken(cursor).toLowerCase()
    const value = skipCharacter(cursor, '=') ? readTokenOrQuoted(cursor) : true
    if (name !== '' && value !== undefined && isAtEnd(cursor)) directives[name] ??= value
  }
  return directives
}

/**
 * `public, max-age=60`; false and undefined omit a directive. Field names are quoted, even a single
 * one (§5.2.2.4, §5.2.2.7).
 */
export function writeCacheControl(directives: Readonly<Record<string, string | number | boolean | undefined>>): string {
  return Object.entries(directives)
    .flatMap(([name, value]) => {
      if (value === undefined || value === false) return []
      const writeValue = /^(no-cache|private)$/i.test(name) ? quoteString : writeTokenOrQuoted
      return value === true ? [name] : [`${name}=${writeValue(String(value))}`]
    })
    .join(', ')
}

/** §1.2.2 delta-seconds; values beyond 2^31 are 2^31. Undefined for other text. */
function parseSeconds(text: string | true | undefined): number | undefined {
  return typeof text === 'string' && /^\d+$/.test(text) ? Math.min(Number(text), 2_147_483_648) : undefined
}

/**
 * Milliseconds for which a response is fresh from its creation on (§4.2.1); undefined if it does
 * not say.
 */
export function freshnessLifetime(fields: HttpFields, shared: boolean): number | undefined {
  const control = parseCacheControl(fields['cache-control'] ?? '')
  for (const name of shared ? ['s-maxage', 'max-age'] : ['max-age'])
    if (control[name] !== undefined) return (parseSeconds(control[name]) ?? 0) * 1000 // §4.2.1: invalid means stale
  if (fields['expires'] === undefined) return undefined
  const date = parseDate(fields['date'] ?? '')
  const expires = parseDate(fields['expires'])
  return expires === undefined || date === undefined ? 0 : Math.max(0, expires - date) // §5.3: "0" is in the past
}

/**
 * §4.2.3, milliseconds.
 * @param requestedAt when the request was sent, by the clock of `now`
 * @param answered when the response arrived, by the same clock
 */
export function currentAge(fields: HttpFields, requestedAt: number, receivedAt: number, now: number): number {
  const date = parseDate(fields['date'] ?? '') ?? receivedAt
  const apparent = Math.max(0, receivedAt - date)
  const corrected = (parseSeconds(splitElements(fields['age'] ?? '')[0]) ?? 0) * 1000 + (receivedAt - requestedAt)
  return Math.max(apparent, corrected) + (now - receivedAt)
}

/** §4.2 and §5.2.2.4: whether a stored response may be used without revalidation. */
export function isFresh(
  fields: HttpFields,
  shared: boolean,
  requestedAt: number,
  receivedAt: number,
  now: number,
): boolean {
  const control = parseCacheControl(fields['cache-control'] ?? '')
  if (control['no-cache'] !== undefined) return false
  return currentAge(fields, requestedAt, receivedAt, now) < (freshnessLifetime(fields, shared) ?? 0)
}

/**
 * RFC 9110 §12.5.5: a Vary with all the names, each once; `*` replaces all others. Empty without
 * names.
 */
export function writeVary(...names: readonly (string | undefined)[]): string {
  const found = new Map<string, string>()
  for (const name of names.flatMap(field => (field === undefined ? [] : field.split(','))).map(trimSpace))
    if (name !== '' && !found.has(name.toLowerCase())) found.set(name.toLowerCase(), name)
  return found.has('*') ? '*' : [...found.values()].join(', ')
}

/**
 * §4.1: whether a response stored for one request can answer another, by the fields that its Vary
 * names.
 */
export function matchesVary(vary: string | undefined, stored: HttpFields, request: HttpFields): boolean {
  const names = splitElements(vary ?? '').map(name => name.toLowerCase())
  return !names.includes('*') && names.every(name => normalizeList(stored[name]) === normalizeList(request[name]))
}

/** White space between list elements is ignored. */
const normalizeList = (value: string | undefined) => value && splitElements(value).join(',')
