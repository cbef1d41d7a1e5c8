/**
 * Which status a refusal is (rules A7.1–A7.18): one table, total at compile time, the twin of
 * `soap/refusal.ts`. What this face alone can refuse is declared here; the rest is
 * `front/refusal.ts` and `service/refusal.ts`.
 */
import { type FrontRefusal, statusOfFrontRefusal } from '../front/refusal.ts'
import { type Refusal, Refused } from '../service/refusal.ts'

export type HttpRefusal =
  /** A query parameter that is unknown or does not read. */
  | { readonly kind: 'bad-parameter'; readonly name: string; readonly detail: string }
  /** A version that is no longer served; `successor` is the address of the same in the newest. */
  | { readonly kind: 'retired'; readonly successor: string }
  | { readonly kind: 'too-large'; readonly limit: number }
  /**
   * `take` are fields that say what would be taken: Accept-Post, Accept-Patch, Accept-Query,
   * Accept-Encoding.
   */
  | {
      readonly kind: 'unsupported-media-type'
      readonly take: Readonly<Record<string, string>>
      readonly detail: string
    }
  | { readonly kind: 'not-acceptable'; readonly offers: readonly string[] }
  /** No range that was asked for lies within the octets there are. */
  | { readonly kind: 'range'; readonly length: number }
  /** A bug of ours: nothing is said but the name of the incident. */
  | { readonly kind: 'failed'; readonly incident: string }

export type AnyRestRefusal = Refusal | HttpRefusal | FrontRefusal
export type RefusalKind = AnyRestRefusal['kind']

export const statusOf: Readonly<Record<RefusalKind, number>> = {
  ...statusOfFrontRefusal,
  'bad-parameter': 400,
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'not-acceptable': 406,
  conflict: 409,
  'in-flight': 409,
  gone: 410,
  retired: 410,
  stale: 412,
  'too-large': 413,
  'unsupported-media-type': 415,
  range: 416,
  invalid: 422,
  'key-reused': 422,
  /** The fault's own takes its place: `statusOfRefusal`. */
  declared: 422,
  'precondition-required': 428,
  failed: 500,
  /** For GET and HEAD; anything else is sent again as it is: `statusOfRefusal`. */
  moved: 301,
}

/** RFC 9110 §15.4.2, §15.4.9: after 301 a client may change POST to GET, after 308 it may not. */
export function statusOfRefusal(refusal: AnyRestRefusal, method: string): number {
  if (refusal.kind === 'declared') return refusal.fault.status
  if (refusal.kind === 'moved' && method !== 'GET' && method !== 'HEAD') return 308
  return statusOf[refusal.kind]
}

export function refuseRequest(refusal: AnyRestRefusal): never {
  throw new Refused<AnyRestRefusal>(refusal)
}
