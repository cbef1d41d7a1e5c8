/**
 * Guards changes against being lost and responses from being sent twice: RFC 9110 §13.
 *  (1) The order of evaluation is the RFC's; a later field is not even read when an earlier one
 *      decides.
 *  (2) An invalid date is ignored (§13.1.3, §13.1.4). An invalid list of tags matches nothing, and
 *      lets no change through: its sender intended to be careful.
 * Deliberately absent: the response. The result is a word, which the plan maps to a status.
 */
import { parseDate } from './date.ts'
import { type EntityTag, parseEntityTags, sameStrongly, sameWeakly } from './entity-tag.ts'
import type { HttpFields } from './message.ts'

/** The value of If-Match or If-None-Match: any representation, or these entity tags. */
export type Tags = '*' | readonly EntityTag[]

/** The preconditions of a request. Dates in milliseconds. */
export interface Preconditions {
  readonly ifMatch?: Tags | 'malformed'
  readonly ifNoneMatch?: Tags | 'malformed'
  readonly ifModifiedSince?: number
  readonly ifUnmodifiedSince?: number
}

/** The validators of the selected representation. */
export interface Validators {
  readonly etag?: EntityTag
  /** Milliseconds, compared by whole seconds, since HTTP has no others; NaN is not known. */
  readonly lastModified?: number
}

/** Whether two entity tags are the same, strongly or weakly (RFC 9110 §8.8.3.2). */
export type TagComparison = (a: EntityTag, b: EntityTag) => boolean

/** The result of RFC 9110 §13.2.2 for a request: continue, 412, or 304. */
export type PreconditionResult = 'proceed' | 'failed' | 'not-modified'

const noPreconditions: Preconditions = {}

/**
 * The preconditions in the fields of a request (§13.1), without those that its other fields
 * overrule.
 * @param now for years of two digits; see parseDate
 */
export function parsePreconditions(fields: HttpFields, now?: number): Preconditions {
  const ifMatch = fields['if-match']
  const ifNoneMatch = fields['if-none-match']
  const modified = fields['if-modified-since']
  const unmodified = fields['if-unmodified-since']
  if (ifMatch === undefined && ifNoneMatch === undefined && modified === undefined && unmodified === undefined)
    return noPreconditions
  // §13.1.3, §13.1.4: a date is ignored if there is a tag, even an invalid one.
  const ifModifiedSince = modified && ifNoneMatch === undefined ? parseDate(modified, now) : undefined
  const ifUnmodifiedSince = unmodified && ifMatch === undefined ? parseDate(unmodified, now) : undefined
  return {
    ...(ifMatch !== undefined && { ifMatch: parseEntityTags(ifMatch) ?? 'malformed' }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch: parseEntityTags(ifNoneMatch) ?? 'malformed' }),
    ...(ifModifiedSince !== undefined && { ifModifiedSince }),
    ...(ifUnmodifiedSince !== undefined && { ifUnmodifiedSince }),
  }
}

/**
 * RFC 9110 §13.2.2, for a request that would otherwise succeed, with a method that selects a
 * representation (§13.2.1).
 * @param current validators of the selected representation; undefined without one
 * @param same how If-Match compares: `sameStrongly`, or `sameVersion` for tags of the service
 * @param sameForNone how If-None-Match compares: `sameWeakly`, or `sameVersionWeakly`
 */
export function evaluatePreconditions(
  preconditions: Preconditions,
  method: string,
  current: Validators | undefined,
  same: TagComparison = sameStrongly,
  sameForNone: TagComparison = sameWeakly,
): PreconditionResult {
  if (preconditions === noPreconditions || method === 'OPTIONS' || method === 'TRACE' || method === 'CONNECT')
    return 'proceed'
  const reads = method === 'GET' || method === 'HEAD'
  if (preconditions.ifMatch !== undefined) {
    if (!matchesTags(preconditions.ifMatch, current, same)) return 'failed' // step 1
  } else if (
    preconditions.ifUnmodifiedSince !== undefined &&
    isModifiedSince(preconditions.ifUnmodifiedSince, current) === true
  )
    return 'failed' // step 2
  if (preconditions.ifNoneMatch !== undefined) {
    const safe = reads || method === 'QUERY' // RFC 10008: a safe method whose response a tag can validate, as with GET
    if (preconditions.ifNoneMatch === 'malformed') return safe ? 'proceed' : 'failed'
    if (matchesTags(preconditions.ifNoneMatch, current, sameForNone)) return safe ? 'not-modified' : 'failed' // step 3
  } else if (reads && isModifiedSince(preconditions.ifModifiedSince, current) === false) return 'not-modified' // step 4
  return 'proceed' // step 5 is range.ts; step 6
}

function matchesTags(tags: Tags | 'malformed', current: Validators | undefined, same: TagComparison): boolean {
  if (current === undefined || tags === 'malformed') return false
  if (tags === '*') return true
  const { etag } = current
  if (etag !== undefined) for (const tag of tags) if (same(tag, etag)) return true
  return false
}

/**
 * Whether it was modified after a date; undefined, which decides nothing, if either date is not
 * known.
 */
function isModifiedSince(since: number | undefined, current: Validators | undefined): boolean | undefined {
  if (since === undefined || current?.lastModified === undefined || Number.isNaN(current.lastModified)) return undefined
  return Math.floor(current.lastModified / 1000) > Math.floor(since / 1000)
}
