/**
 * The status of each refusal (rules A7.1–A7.18): one table, total at compile time, the twin of
 * `soap/refusal.ts`. Refusals that only this face has are declared here; the others in
 * `front/refusal.ts` and `service/refusal.ts`.
 */
import { type FrontRefusal, statusOfFrontRefusal } from '../front/refusal.ts'
import { type Refusal, Refused } from '../service/refusal.ts'

export type HttpRefusal =
  /** A query parameter that is unknown or has an invalid value. */
  | { readonly kind: 'bad-parameter'; readonly name: string; readonly detail: string }
  /** A version no longer served; `successor` is the same address in the newest one. */
  | { readonly kind: 'retired'; readonly successor: string }
  | { readonly kind: 'too-large'; readonly limit: number }
  /** `acceptFields` list the supported types or codings: Accept-Post, -Patch, -Query, -Encoding. */
  | {
      readonly kind: 'unsupported-media-type'
      readonly acceptFields: Readonly<Record<string, string>>
      readonly detail: string
    }
  | { readonly kind: 'not-acceptable'; readonly offers: readonly string[] }
  /** No requested range lies within the content; `length` in octets. */
  | { readonly kind: 'range'; readonly length: number }
  /** A bug of ours: the client learns the incident and nothing else. */
  | { readonly kind: 'failed'; readonly incident: string }

export type AnyRestRefusal = Refusal | HttpRefusal | FrontRefusal
export type RefusalKind = AnyRestRefusal['kind']

export const statusOf: Readonly<Record<RefusalKind, number>> = {
  ...statusOfFrontRefusal,
  'bad-parameter': 400,
  malformed: 400,
  unserved: 400,
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
  /** Replaced by the fault's own status: `statusOfRefusal`. */
  declared: 422,
  'precondition-required': 428,
  failed: 500,
  unimplemented: 501,
  /** For GET and HEAD; other methods get 308: `statusOfRefusal`. */
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
