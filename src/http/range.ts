/**
 * RFC 9110 §14: byte ranges. Guards the server against requests for the same octets many times over
 * (§17.15): ranges that overlap or touch become one, and a field with more ranges than the limit is
 * ignored, as §14.2 allows.
 */
import { parseDate } from './date.ts'
import { sameStrongly } from './entity-tag.ts'
import { splitElements } from './grammar.ts'
import type { Validators } from './precondition.ts'

/** Octets from `first` to `last`, both included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/** §14.1.2, with any number of digits. A number larger than any length need not be exact. */
const rangePattern = /^(\d+)-(\d*)$|^-(\d+)$/

/**
 * §14.1.2, §14.2: the ranges that the Range field of a GET requests (§14.2: other methods only
 * where they define it), of a representation of `length` octets, in order and never overlapping.
 * `'whole'`: the field is absent or malformed, its unit is unknown, or it requests too much: answer
 * 200. `'unsatisfiable'`: no range is inside: answer 416 with the Content-Range of
 * writeContentRange(undefined, length).
 */
export function parseRange(
  field: string | undefined,
  length: number,
  limit = 16,
): readonly ByteRange[] | 'whole' | 'unsatisfiable' {
  const [, list] = /^bytes=(.*)$/i.exec(field ?? '') ?? []
  const specs = list === undefined ? [] : splitElements(list)
  if (specs.length === 0 || specs.length > limit) return 'whole'
  const ranges: ByteRange[] = []
  for (const text of specs) {
    const [, first, last, suffix] = rangePattern.exec(text) ?? []
    if (first === undefined && suffix === undefined) return 'whole'
    if (first !== undefined && last && Number(last) < Number(first)) return 'whole' // §14.1.1: invalid
    const from = suffix === undefined ? Number(first) : Math.max(0, length - Number(suffix))
    const to = suffix !== undefined || !last ? length - 1 : Math.min(Number(last), length - 1)
    if (length === 0 && Number(suffix) > 0) return 'whole' // all of nothing, which no 206 can say
    if (from <= to && suffix !== '0') ranges.push({ first: from, last: to })
  }
  return ranges.length === 0 ? 'unsatisfiable' : mergeRanges(ranges)
}

/**
 * Joins ranges that overlap or touch, in the order of their first octets (§15.3.7.2 allows both).
 */
function mergeRanges(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const found: { first: number; last: number }[] = []
  for (const { first, last } of [...ranges].sort((a, b) => a.first - b.first)) {
    const before = found.at(-1)
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last)
    else found.push({ first, last })
  }
  return found
}

/**
 * §13.1.5 If-Range: whether Range applies. A tag is compared strongly; a date must be exactly
 * Last-Modified, and at least a second old, so that it is a strong validator (§8.8.2.2).
 */
export function isRangeApplicable(ifRange: string | undefined, current: Validators, now: number): boolean {
  if (ifRange === undefined) return true
  if (ifRange.endsWith('"')) return current.etag !== undefined && sameStrongly(ifRange, current.etag)
  const date = parseDate(ifRange, now)
  if (date === undefined || current.lastModified === undefined) return false
  return Math.floor(current.lastModified / 1000) * 1000 === date && now - date >= 1000
}

/** §14.4 Content-Range of a part; without a range, that of a 416. */
export function writeContentRange(range: ByteRange | undefined, length: number): string {
  return range === undefined ? `bytes */${length}` : `bytes ${range.first}-${range.last}/${length}`
}

/**
 * §14.4, for clients; undefined if malformed, or in another unit. `length` is undefined for `*`.
 */
export function parseContentRange(field: string): { range?: ByteRange; length?: number } | undefined {
  const [, first, last, length] = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15}|\*)$/i.exec(field) ?? []
  if (length === undefined) return undefined
  const whole = length === '*' ? undefined : Number(length)
  if (first === undefined) return whole === undefined ? undefined : { length: whole }
  const range = { first: Number(first), last: Number(last) }
  if (range.last < range.first || (whole !== undefined && range.last >= whole)) return undefined
  return { range, ...(whole !== undefined && { length: whole }) }
}

/**
 * §14.6 multipart/byteranges: the content of a 206 with several ranges, as texts and ranges of
 * octets, in order. The boundary must not occur in the content.
 */
export function writeByteRangeParts(
  ranges: readonly ByteRange[],
  length: number,
  mediaType: string,
  boundary: string,
): readonly (string | ByteRange)[] {
  const head = (range: ByteRange): string =>
    `\r\n--${boundary}\r\nContent-Type: ${mediaType}\r\nContent-Range: ${writeContentRange(range, length)}\r\n\r\n`
  return [...ranges.flatMap(range => [head(range), range]), `\r\n--${boundary}--\r\n`]
}
