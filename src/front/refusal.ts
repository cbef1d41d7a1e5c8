/**
 * Refusals of the front door (rows 1–9 and 13 of the decisions), before a face or a page is called:
 * one closed union, with its statuses. REST writes them as its own problems, SOAP as faults where
 * the request speaks SOAP, pages by `respondToRefusal`.
 */
import { writeRetryAfter } from '../http/fields.ts'
import type { Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { type Refusal, Refused } from '../service/refusal.ts'

export type FrontRefusal =
  /** The message or its target is not valid HTTP. */
  | { readonly kind: 'bad-request'; readonly detail: string }
  | { readonly kind: 'fields-too-large' }
  | { readonly kind: 'target-too-long' }
  | { readonly kind: 'unknown-method' }
  | { readonly kind: 'not-allowed'; readonly allow: string }
  | { readonly kind: 'expectation-failed' }
  /** An https target on an unsecured connection. */
  | { readonly kind: 'misdirected' }
  | Extract<Refusal, { readonly kind: 'too-many' | 'unavailable' }>

export const statusOfFrontRefusal: Readonly<Record<FrontRefusal['kind'], number>> = {
  'bad-request': 400,
  'not-allowed': 405,
  'target-too-long': 414,
  'expectation-failed': 417,
  misdirected: 421,
  'too-many': 429,
  'fields-too-large': 431,
  'unknown-method': 501,
  unavailable: 503,
}

export function refuseAtFront(refusal: FrontRefusal): never {
  throw new Refused<FrontRefusal>(refusal)
}

const detailOfKind: Readonly<Record<FrontRefusal['kind'], string>> = {
  'bad-request': 'the request is not valid HTTP (RFC 9110, RFC 3986)',
  'not-allowed': 'this address does not support the method: use one that Allow lists',
  'target-too-long': 'the request-target is longer than 8 KiB: shorten the query',
  'expectation-failed': 'the only supported expectation is 100-continue',
  misdirected: 'an https target requires a secured connection (RFC 9110 §7.4): connect with TLS',
  'too-many': 'too many requests from this address: wait as long as Retry-After says',
  'fields-too-large': 'the header fields are larger than 32 KiB: send fewer or shorter ones',
  'unknown-method': 'this server does not support the method',
  unavailable: 'the service cannot answer now: retry after as long as Retry-After says',
}

/** The response to a refusal outside the faces. */
export function respondToRefusal(refusal: FrontRefusal): Response {
  const detail = refusal.kind === 'bad-request' ? refusal.detail : detailOfKind[refusal.kind]
  return respond(statusOfFrontRefusal[refusal.kind], { detail, fields: fieldsOfRefusal(refusal) })
}

function fieldsOfRefusal(refusal: FrontRefusal): Response['fields'] {
  switch (refusal.kind) {
    case 'not-allowed':
      return { allow: refusal.allow }
    case 'too-many':
    case 'unavailable':
      return { 'retry-after': writeRetryAfter(refusal.after) }
    default:
      return {}
  }
}
