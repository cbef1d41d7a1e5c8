/** Fields of every response of this face: caching, Vary, rates, versions, the trace. */

import { memoizeByObject } from '../base/memo.ts'
import { isPaged, type Operation } from '../contract/operation.ts'
import { hasAmbientCredentials } from '../front/authenticate.ts'
import { addVersionFields } from '../front/version-end.ts'
import { writeVary } from '../http/cache.ts'
import { writeDate } from '../http/date.ts'
import { writeDecimal } from '../http/fields.ts'
import type { Response } from '../http/message.ts'
import { writePreferences } from '../http/prefer.ts'
import { writeRateLimitPolicy } from '../http/rate-limit.ts'
import type { Admitted } from '../service/call.ts'
import { isReadPublic } from './api-version.ts'
import type { Exchange } from './exchange.ts'
import { addHeaderFields } from './header-fields.ts'
import { successorPath } from './moment-rows.ts'
import { rowOfRefusal } from './plan.ts'
import type { AnyRestRefusal } from './refusal.ts'

export function addRestFields(exchange: Exchange, response: Response, refusal?: AnyRestRefusal): Response {
  const ownVary = response.fields['vary']
  const hasPreferences = !exchange.isSafe || exchange.applied !== undefined || isCountedAsPreferred(exchange)
  const { isSafe, headerFields } = exchange
  const shared = hasPreferences ? `${exchange.face.api.vary}, Prefer` : exchange.face.api.vary
  const vary = isSafe && headerFields.length > 0 ? writeVary(shared, ...headerFields) : shared
  const fields: Record<string, string | readonly string[]> = {
    ...response.fields,
    vary: ownVary === undefined ? vary : writeVary(String(ownVary), hasPreferences ? 'Prefer' : undefined),
  }
  if (exchange.headers && !refusal) addHeaderFields(exchange.headers, exchange.edition, fields)
  if (fields['cache-control'] === undefined) addCaching(exchange, response, fields)
  if (exchange.admitted && refusal?.kind !== 'too-many') addRate(exchange.admitted, fields)
  if (exchange.edition.isEnding && (exchange.operation || exchange.page === 'entry'))
    addVersionFields(fields, exchange.edition.rule, successorPath(exchange))
  if (exchange.applied) fields['preference-applied'] = writePreferences(exchange.applied)
  if (exchange.face.context.settings.trace) fields['diglot-trace'] = writeTrace(exchange, response.status, refusal)
  return { ...response, fields }
}

/** RFC 7240 §2: Vary names Prefer, sent or not, if it can affect the content. */
const isCountedAsPreferred = ({ operation }: Exchange): boolean => operation !== undefined && isPaged(operation)

/**
 * Rule A1.3. What the contract makes public is shared for as long as it says, but only as an
 * anonymous caller sees it, since a caller with credentials may see other links. Anything else is
 * private to the caller and revalidated each time.
 */
function addCaching(
  exchange: Exchange,
  { status }: Response,
  fields: Record<string, string | readonly string[]>,
): void {
  const resource = exchange.operation && 'resource' in exchange.operation ? exchange.operation.resource : undefined
  const age = resource?.given.cache?.maxAge
  if (!exchange.isSafe || exchange.entry.request.method === 'OPTIONS') fields['cache-control'] = 'no-store'
  else if (exchange.head.offer?.write === 'page' && exchange.caller.subject !== undefined)
    fields['cache-control'] = 'private, no-cache' // the page names its reader
  else if (exchange.page === 'entry') fields['cache-control'] = 'public, no-cache'
  else if (
    resource &&
    age !== undefined &&
    status < 400 &&
    isReadPublic(resource, exchange.edition.service.resources)
  ) {
    const shared =
      exchange.caller.subject === undefined && hasAmbientCredentials(exchange.entry.request) ? 'public' : 'private'
    fields['cache-control'] = `${shared}, max-age=${age}`
    fields['expires'] = writeDate(exchange.entry.now + age * 1000)
  } else fields['cache-control'] = 'private, no-cache'
}

function addRate({ operation, quota }: Admitted, fields: Record<string, string | readonly string[]>): void {
  const { policy, name } = ratePolicyOf(operation)
  fields['ratelimit-policy'] = policy
  fields['ratelimit'] = `${name};r=${writeDecimal(quota.remaining)};t=${quota.reset}`
}

/** The policy, and its name in the RateLimit fields. */
const ratePolicyOf = memoizeByObject(({ counted, limit }: Operation) => {
  const policy = writeRateLimitPolicy([{ name: counted, quota: limit.count, window: limit.seconds }]) ?? ''
  return { policy, name: policy.slice(0, policy.indexOf(';')) }
})

/** The rows passed, of which the last ended the exchange, and how: `1-23; no=stale; status=412`. */
function writeTrace(exchange: Exchange, status: number, refusal: AnyRestRefusal | undefined): string {
  const row = refusal ? rowOfRefusal(refusal.kind, exchange.row) : exchange.row
  return `1-${row}${refusal ? `; no=${refusal.kind}` : ''}; status=${status}`
}
