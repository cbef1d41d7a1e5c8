/** A refusal in words (RFC 9457, rule A2.5): no internals, and a page that explains each kind. */

import type { Json } from '../base/objects.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields } from '../contract/field.ts'
import { describeProblems, membersWriter, writeJsonPointer } from '../contract/field-json.ts'
import { hasAmbientCredentials, isConfidential } from '../front/authenticate.ts'
import { parseJson } from '../http/json.ts'
import type { Request } from '../http/message.ts'
import { negotiateType } from '../http/negotiate.ts'
import { type Problem, writeProblemJson, writeProblemXml } from '../http/problem.ts'
import type { Doubt } from '../service/refusal.ts'
import { writeCreationForm } from './browse/making-form.ts'
import { writeProblemView } from './browse/problem-page.ts'
import type { Exchange } from './exchange.ts'
import { type AnyRestRefusal, type RefusalKind, statusOfRefusal } from './refusal.ts'
import { itemPathOf } from './route.ts'

/**
 * Kind → title and what a client can do about it. Total: a kind without a page does not compile.
 */
const explanations: Readonly<Record<RefusalKind, readonly [title: string, advice: string]>> = {
  'bad-request': ['Bad request', 'The request is not valid HTTP (RFC 9110, RFC 3986).'],
  'bad-parameter': [
    'Bad query parameter',
    'A query parameter is unknown here or has an invalid value. The detail names it.',
  ],
  malformed: ['Malformed content', 'The content does not follow the syntax of its media type.'],
  unserved: [
    'List not served',
    'No index serves this filter with this order, so the service refuses the list. The detail names the field.',
  ],
  unauthenticated: ['Authentication required', 'Send credentials of a scheme that WWW-Authenticate names.'],
  forbidden: ['Forbidden', 'This caller may not do this. Other credentials may.'],
  'not-found': ['Not found', 'The resource does not exist, or the caller may not see it.'],
  'not-allowed': ['Method not allowed', 'The target does not support this method. Allow lists those it supports.'],
  'not-acceptable': [
    'Not acceptable',
    'No media type or content coding that the request accepts is available. `offers` lists those that are.',
  ],
  conflict: ['Conflict', 'The current state does not allow this. `possible` lists the transitions it allows.'],
  'in-flight': ['Request in progress', 'A request with the same idempotency key has not ended. Retry in a moment.'],
  gone: ['Gone', 'The resource existed and has been removed.'],
  retired: [
    'Retired version',
    'This version is no longer served. The link `successor-version` leads to the current one.',
  ],
  stale: ['Precondition failed', 'The resource has changed since it was read, or does not exist. Fetch it and retry.'],
  'too-large': ['Content too large', 'The content is larger than the limit.'],
  'target-too-long': ['URI too long', 'The request-target is longer than 8 KiB. Send a search as content.'],
  'unsupported-media-type': [
    'Unsupported media type',
    'This media type or content coding is not supported. The Accept fields of the response list those that are.',
  ],
  range: ['Range not satisfiable', 'No requested range lies within the content. Content-Range gives its length.'],
  'expectation-failed': ['Expectation failed', 'No expectation but 100-continue is supported.'],
  invalid: [
    'Unprocessable content',
    'The content is well-formed but breaks a rule. `errors` lists each with a JSON Pointer.',
  ],
  'key-reused': ['Idempotency key reused', 'The idempotency key belongs to another request. Use a new key.'],
  declared: ['Declared fault', 'The contract declares this fault.'],
  'precondition-required': [
    'Precondition required',
    'Send If-Match with the entity tag that was read, so that no other change is lost.',
  ],
  'too-many': ['Too many requests', 'The limit has been reached. Wait for as long as Retry-After says.'],
  misdirected: ['Misdirected request', 'An https target requires a secured connection. Connect with TLS.'],
  'fields-too-large': [
    'Request header fields too large',
    'The header fields are larger than 32 KiB together. Send fewer or shorter ones.',
  ],
  failed: ['Internal server error', 'The service has failed. Its operators can find the incident by its number.'],
  unimplemented: [
    'Not implemented yet',
    'The contract declares this operation, but the service does not implement it yet. Nothing was changed.',
  ],
  'unknown-method': ['Not implemented', 'This server does not support the method.'],
  unavailable: ['Service unavailable', 'The service cannot answer now. Retry after as long as Retry-After says.'],
  moved: ['Moved', 'The resource has another address. Location gives it.'],
}

/** The last segment of the address of the kind's page. */
const slugOf = (refusal: AnyRestRefusal): string => (refusal.kind === 'declared' ? refusal.fault.fault : refusal.kind)

export function createProblem(exchange: Exchange, refusal: AnyRestRefusal): Problem {
  const title = refusal.kind === 'declared' ? refusal.fault.title : explanations[refusal.kind][0]
  const origin =
    exchange.face.context.settings.publicUrl === undefined
      ? ''
      : new URL(exchange.face.context.settings.publicUrl).origin
  return {
    type: `${origin}${exchange.face.api.prefix}/problems/${slugOf(refusal)}`,
    title,
    status: statusOfRefusal(refusal, exchange.entry.request.method),
    ...problemMembers(exchange, refusal),
  }
}

function problemMembers(exchange: Exchange, refusal: AnyRestRefusal): { readonly [name: string]: Json } {
  switch (refusal.kind) {
    case 'bad-request':
      return { detail: refusal.detail }
    case 'malformed':
      return {
        detail: refusal.detail,
        ...(refusal.path && {
          errors: [{ pointer: writeJsonPointer(refusal.path), code: 'syntax', detail: refusal.detail }],
        }),
      }
    case 'bad-parameter':
      return refusal.name === ''
        ? { detail: refusal.detail }
        : { detail: `${refusal.name}: ${refusal.detail}`, parameter: refusal.name }
    case 'unserved':
      return { detail: `${refusal.field}: ${refusal.detail}`, parameter: refusal.field }
    case 'unsupported-media-type':
      return { detail: refusal.detail }
    case 'unavailable':
      return { detail: refusal.doubt ? doubtAdvice[refusal.doubt] : explanations.unavailable[1] }
    case 'invalid':
      return {
        detail: describeProblems(refusal.problems),
        errors: refusal.problems.map(({ path, code, detail }) => ({ pointer: writeJsonPointer(path), code, detail })),
      }
    case 'conflict':
      return conflictMembers(exchange, refusal)
    case 'declared':
      if (refusal.element) {
        const { reason, json } = refusal.element
        return { detail: reason, ...(json !== undefined && { fault: json }) }
      }
      return { detail: refusal.fault.title, ...faultMembers(refusal.fault, refusal.detail) }
    case 'not-acceptable':
      return { detail: `available ${nameOffers(refusal.offers)}`, offers: [...refusal.offers] }
    case 'not-allowed':
      return { detail: `allowed methods: ${refusal.allow}` }
    case 'too-large':
      return { detail: `the content is larger than the limit of ${refusal.limit} octets` }
    case 'unauthenticated':
      return { detail: explainUnproven(exchange) }
    case 'stale':
      return { detail: explainFailed(exchange.entry.request) }
    case 'unimplemented':
      return { detail: `${refusal.operation} is not implemented yet` }
    case 'failed':
      return { detail: `incident ${refusal.incident}`, incident: refusal.incident }
    default:
      return { detail: explanations[refusal.kind][1] }
  }
}

function explainUnproven({ entry: { request }, face }: Exchange): string {
  if (hasAmbientCredentials(request)) return explanations.unauthenticated[1]
  const isPassword = /^basic /i.test(request.fields['authorization'] ?? '')
  return isPassword && !isConfidential(request, face.context.settings) ? openPassword : badCredentials
}

const openPassword =
  'A password is accepted over https only, and this request came over http, or its proxy says so. Send it over https, or send a bearer token.'
const badCredentials =
  'The credentials are wrong or no longer valid, or of a scheme that WWW-Authenticate does not name. Send others.'

const outcomeUnknown = 'The service cannot tell whether the change was made. Check before you try again'
const doubtAdvice: Readonly<Record<Doubt, string>> = {
  commit: `${outcomeUnknown}; a request with an Idempotency-Key may be repeated.`,
  record: `${outcomeUnknown}.`,
}

const weakTags =
  'If-Match compares strongly (RFC 9110 §13.1.1), and a weak tag, W/"…", never matches: send the tag as this service wrote it. A proxy that compresses may have made it weak.'

const bothTags =
  'If-Match and If-None-Match both have to hold: the resource has changed since it was read, does not exist, or has a tag of If-None-Match. Fetch it and send one of the two.'

/** RFC 9110 §13.2.2: If-None-Match decides if neither of the fields before it is sent. */
function explainFailed({ method, fields }: Request): string {
  if (/^\s*W\/"[^"]*"(?:\s*,\s*W\/"[^"]*")*\s*$/.test(fields['if-match'] ?? '')) return weakTags
  if (fields['if-none-match'] === undefined) return explanations.stale[1]
  // A read with a tag in If-None-Match is answered with 304.
  if (fields['if-match'] !== undefined) return /^(?:GET|HEAD|QUERY)$/.test(method) ? explanations.stale[1] : bothTags
  return fields['if-none-match'].trim() === '*'
    ? 'If-None-Match: * requires that the resource does not exist, but it does.'
    : 'The resource has one of the entity tags of If-None-Match, or these are malformed.'
}

const nameOffers = (offers: readonly string[]): string =>
  `${offers.every(offer => offer.includes('/')) ? 'media types' : 'content codings'}: ${offers.join(', ')}`

/** The transitions that the state allows, with links (rule A3.4). */
function conflictMembers(
  exchange: Exchange,
  { state, possible, detail }: Extract<AnyRestRefusal, { kind: 'conflict' }>,
): { readonly [name: string]: Json } {
  const { operation, base, id } = exchange
  const resource = operation && 'resource' in operation ? operation.resource : undefined
  const actions = resource?.actions ?? {}
  const at = resource ? exchange.place + itemPathOf(resource, id ?? '') : base
  const links = (possible ?? []).flatMap(verb => {
    const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
    return action ? [[action.link, { href: `${at}/${action.rel}` }] as const] : []
  })
  return {
    detail: detail ?? (state === undefined ? explanations.conflict[1] : `the state is ${state}`),
    ...(state !== undefined && { state }),
    ...(possible && { possible: [...possible], _links: Object.fromEntries(links) }),
  }
}

/** RFC 9457 §3.2. None has a name from §3.1: `contract/review/` refuses it. */
const faultMembers = (fault: Fault, detail: Readonly<Record<string, unknown>>): { readonly [name: string]: Json } =>
  parseJson(`{${membersWriter(fault.detail as Fields)(detail)}}`).value as { readonly [name: string]: Json } // an object

/** Errors negotiate their own media type, and never fail twice (row 21). */
export function writeProblem(
  exchange: Exchange,
  problem: Problem,
): { readonly type: string; readonly content: string } {
  const accept = exchange.entry.request.fields['accept']
  switch (chooseProblemType(accept)) {
    case 'xml':
      return { type: 'application/problem+xml', content: writeProblemXml(problem) }
    case 'html': {
      const after = writeCreationForm(exchange, problem.status)
      return { type: 'text/html;charset=utf-8', content: writeProblemView(exchange, problem, { after }) }
    }
    default:
      return { type: 'application/problem+json', content: writeProblemJson(problem) }
  }
}

const problemTypes = [
  'application/problem+json',
  'application/json',
  'application/hal+json',
  'application/problem+xml',
  'application/xml',
  'text/xml',
  'text/html',
] as const

/**
 * A client that accepts JSON gets the JSON problem, one that accepts XML the XML problem, even if
 * it does not name the problem type.
 */
function chooseProblemType(accept: string | undefined): 'json' | 'xml' | 'html' {
  const best = negotiateType(accept, problemTypes) ?? problemTypes[0]
  if (best === 'text/html') return 'html'
  return best.endsWith('xml') ? 'xml' : 'json'
}

/** A problem type in words; undefined for an unknown problem. */
export function explainProblem(
  slug: string,
  faults: readonly Fault[],
): readonly [title: string, text: string] | undefined {
  const fault = faults.find(each => each.fault === slug)
  if (fault) return [fault.title, `${fault.fault}: a fault of the contract. Its status is ${fault.status}.`]
  return Object.hasOwn(explanations, slug) ? explanations[slug as RefusalKind] : undefined // hasOwn: it is a kind
}
