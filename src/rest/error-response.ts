/** A refusal as a response: status, the fields that belong to it, and a problem that says why. */

import { writeAuthChallenges } from '../front/authenticate.ts'
import { linkToSuccessor } from '../front/version-end.ts'
import { writeRetryAfter } from '../http/fields.ts'
import type { Response } from '../http/message.ts'
import { writeContentRange } from '../http/range.ts'
import { writeRateLimit, writeRateLimitPolicy } from '../http/rate-limit.ts'
import type { Exchange } from './exchange.ts'
import { createProblem, writeProblem } from './problem.ts'
import { type AnyRestRefusal, statusOfRefusal } from './refusal.ts'
import { fillTemplate } from './route.ts'

export function errorResponse(exchange: Exchange, refusal: AnyRestRefusal): Response {
  const status = statusOfRefusal(refusal, exchange.entry.request.method)
  const { type, content } = writeProblem(exchange, createProblem(exchange, refusal))
  const fields: Record<string, string> = {
    'content-type': type,
    'cache-control': refusal.kind === 'moved' ? 'private, no-cache' : 'no-store',
    'content-language': 'en',
    ...refusalFields(exchange, refusal),
  }
  return { status, fields, content }
}

function refusalFields(exchange: Exchange, refusal: AnyRestRefusal): Readonly<Record<string, string>> {
  switch (refusal.kind) {
    case 'unauthenticated':
      return {
        'www-authenticate': writeAuthChallenges(
          exchange.entry.request,
          exchange.face.context,
          exchange.face.api.service,
        ),
      }
    case 'not-allowed':
      return { allow: refusal.allow }
    case 'unsupported-media-type':
      return refusal.acceptFields
    case 'retired':
      return { link: linkToSuccessor(refusal.successor) }
    case 'range':
      return { 'content-range': writeContentRange(undefined, refusal.length) }
    case 'unavailable':
      return { 'retry-after': writeRetryAfter(refusal.after) }
    case 'in-flight':
      return { 'retry-after': '1' }
    case 'too-many':
      return rateFields(exchange, refusal)
    case 'moved':
      return { location: movedAddress(exchange, refusal) }
    case 'stale':
      return refusal.version === undefined ? {} : { etag: staleTag(exchange, refusal.version) }
    default:
      return {}
  }
}

/** The current tag, for a caller that may see it: the change can be retried with it. */
const staleTag = (exchange: Exchange, version: number): string =>
  exchange.shown?.of.version === version ? exchange.shown.etag : `"${version}-v"`

function rateFields(
  exchange: Exchange,
  refusal: Extract<AnyRestRefusal, { kind: 'too-many' }>,
): Record<string, string> {
  const { limit, window, after } = refusal
  const name = window === undefined ? 'queued' : (exchange.operation?.counted ?? 'address')
  const policy = window === undefined ? { unit: 'concurrent-requests' as const } : { window }
  return {
    'retry-after': writeRetryAfter(after),
    'ratelimit-policy': writeRateLimitPolicy([{ name, quota: limit, ...policy }]) ?? '',
    ratelimit: writeRateLimit([{ name, remaining: 0, reset: Math.ceil(after) }]) ?? '',
  }
}

/** The request's address with the new identifier of the item or of one of its parents. */
function movedAddress(
  { base, route, parents, id, entry }: Exchange,
  { to, of }: Extract<AnyRestRefusal, { kind: 'moved' }>,
): string {
  const template = route?.template ?? ''
  // `/orders/{order}/notes`: each identifier follows the name of its resource.
  const names = [...template.matchAll(/([^/]+)\/\{/g)].map(([, name]) => name)
  const at = of === undefined ? parents.length : names.indexOf(of)
  const path = base + fillTemplate(template, [...parents, id ?? ''].with(at, encodeURIComponent(to)))
  return entry.query === '' ? path : `${path}?${entry.query}`
}
