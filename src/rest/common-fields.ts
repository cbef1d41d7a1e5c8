/** What every answer says beside its own: how it may be cached, what it varies with, rates, versions, the trace. */

import { hasAmbientCredentials } from '../front/authenticate.ts'
import { pageFields } from '../front/security-fields.ts'
import { writeVary } from '../http/cache.ts'
import { writeDate } from '../http/date.ts'
import { writeDecimal, writeDeprecation } from '../http/fields.ts'
import type { Response } from '../http/message.ts'
import { writePreferences } from '../http/prefer.ts'
import { writeRateLimitPolicy } from '../http/rate-limit.ts'
import { isReadPublic } from './api-version.ts'
import { writeCorsFields } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { rowOfRefusal, successorPath } from './plan.ts'
import type { AnyRestRefusal } from './refusal.ts'

export function addCommonFields(x: Exchange, response: Response, refusal?: AnyRestRefusal): Response {
  const fields: Record<string, string | readonly string[]> = {
    ...response.fields,
    vary: varyOf(x, response),
    'x-content-type-options': 'nosniff',
    // Where it has a name already; `front/access-log.ts` names all other answers, at the price of a copy.
    ...(x.request.id !== undefined && { 'request-id': x.request.id }),
  }
  if (fields['cache-control'] === undefined) caching(x, response, fields)
  if (x.admitted && refusal?.kind !== 'too-many') rates(x, fields)
  if (x.operation || x.page === 'entry') version(x, fields)
  if (x.request.fields['origin'] !== undefined) Object.assign(fields, writeCorsFields(x.request, x.serving))
  if (isApplied(x)) fields['preference-applied'] = writePreferences(x.applied)
  if (isPage(fields)) Object.assign(fields, pageFields)
  if (x.serving.settings.trace) fields['diglot-trace'] = trace(x, response.status, refusal)
  const whole = { ...response, fields }
  return x.request.method === 'HEAD' ? headed(whole) : whole
}

/** Of our own: HTML that was uploaded has a stricter policy already. */
const isPage = (fields: Response['fields']): boolean =>
  String(fields['content-type'] ?? '').startsWith('text/html') && fields['content-security-policy'] === undefined

function isApplied({ applied }: Exchange): boolean {
  for (const _ in applied) return true
  return false
}

/** RFC 9110 §9.3.2: GET's answer without its content; the length is that of the content. */
function headed({ status, fields, content }: Response): Response {
  if (content === undefined) return { status, fields }
  const length = typeof content === 'string' ? new TextEncoder().encode(content).length : lengthOf(content)
  return { status, fields: { ...fields, ...(length !== undefined && { 'content-length': String(length) }) } }
}
const lengthOf = (content: Exclude<Response['content'], string | undefined>): number | undefined =>
  content instanceof Uint8Array ? content.length : undefined

/** Every field that could have changed the outcome (RFC 9110 §12.5.5), on identity answers and errors too. */
function varyOf(x: Exchange, { fields }: Response): string {
  const own = fields['vary']
  let text = own === undefined ? negotiatedBy(x) : String(own)
  if (!x.safe || isApplied(x)) text += ', Prefer'
  if (x.serving.settings.origins.length > 0) text += ', Origin'
  return own === undefined ? text : writeVary(text)
}

const negotiatedBy = (x: Exchange): string =>
  `Accept${x.site.codings.length > 0 ? ', Accept-Encoding' : ''}${proving(x)}`

/** Fields that may have said who is asking. */
const proving = ({ serving: { identities } }: Exchange): string =>
  `, Authorization${identities.cookie ? ', Cookie' : ''}${identities.takesKeys?.() ? ', Api-Key' : ''}`

/**
 * Rule A1.3. What the contract makes public is shared as long as it says, but only as anybody sees it: who has shown
 * credentials may see other links. Anything else is the caller's own and asked for again each time.
 */
function caching(x: Exchange, { status }: Response, fields: Record<string, string | readonly string[]>): void {
  const resource = x.operation && 'resource' in x.operation ? x.operation.resource : undefined
  const age = resource?.given.cache?.maxAge
  if (!x.safe || x.request.method === 'OPTIONS') fields['cache-control'] = 'no-store'
  else if (x.page === 'entry') fields['cache-control'] = 'public, no-cache'
  else if (resource && age !== undefined && status < 400 && isReadPublic(resource)) {
    const shared = x.caller.subject === undefined && hasAmbientCredentials(x.request) ? 'public' : 'private'
    fields['cache-control'] = `${shared}, max-age=${age}`
    fields['expires'] = writeDate(x.now + age * 1000)
  } else fields['cache-control'] = 'private, no-cache'
}

const policies = new Map<string, string>()
function rates({ admitted }: Exchange, fields: Record<string, string | readonly string[]>): void {
  if (!admitted) return
  const { counted } = admitted.operation
  const { limit, window, remaining, reset } = admitted.quota
  const key = `${counted} ${limit} ${window}`
  const policy = policies.get(key) ?? writeRateLimitPolicy([{ name: counted, quota: limit, window }]) ?? ''
  policies.set(key, policy)
  fields['ratelimit-policy'] = policy
  fields['ratelimit'] = `${policy.slice(0, policy.indexOf(';'))};r=${writeDecimal(remaining)};t=${reset}` // the name, as it was written
}

/** RFC 9745, RFC 8594: what will not be served for ever says so on each answer. */
function version(x: Exchange, fields: Record<string, string | readonly string[]>): void {
  const { deprecated, sunset } = x.edition.rule
  if (deprecated !== undefined) fields['deprecation'] = writeDeprecation(Date.parse(deprecated)) ?? ''
  if (sunset !== undefined) fields['sunset'] = writeDate(Date.parse(sunset))
  if (deprecated === undefined && sunset === undefined) return
  const link = `<${successorPath(x)}>; rel="successor-version"`
  fields['link'] = fields['link'] === undefined ? link : `${String(fields['link'])}, ${link}`
}

/** The rows that were passed, the one that ended it, and how: `1-23; no=stale; status=412`. */
function trace(x: Exchange, status: number, refusal: AnyRestRefusal | undefined): string {
  const row = refusal ? rowOfRefusal(refusal.kind, x.row) : x.row
  return `1-${row}${refusal ? `; no=${refusal.kind}` : ''}; status=${status}`
}
