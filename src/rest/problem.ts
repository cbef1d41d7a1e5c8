/**
 * A refusal in words (RFC 9457, rule A2.5): nothing of the inside, and for each kind a page that
 * explains it.
 */

import { escapeMarkup } from '../base/markup.ts'
import type { Json } from '../base/objects.ts'
import type { Fault } from '../contract/fault.ts'
import type { Fields } from '../contract/field.ts'
import { membersWriter, writeJsonPointer } from '../contract/field-json.ts'
import { parseJson } from '../http/json.ts'
import { negotiateType } from '../http/negotiate.ts'
import { type Problem, writeProblemJson, writeProblemXml } from '../http/problem.ts'
import type { Exchange } from './exchange.ts'
import { writeHtmlPage } from './formats/html.ts'
import { type AnyRestRefusal, type RefusalKind, statusOfRefusal } from './refusal.ts'

/**
 * Kind → title and what a client can do about it. Total: a kind without a page does not compile.
 */
const explained: Readonly<Record<RefusalKind, readonly [title: string, advice: string]>> = {
  'bad-request': [
    'Bad request',
    'The message or its target is not of HTTP’s syntax. Send it as RFC 9110 and RFC 3986 have it.',
  ],
  'bad-parameter': [
    'Bad query parameter',
    'A query parameter is unknown here, or its value is not of its type. The detail names it.',
  ],
  malformed: ['Malformed content', 'The content is not of the syntax of its media type.'],
  unauthenticated: ['Authentication required', 'Send credentials of a scheme that WWW-Authenticate names.'],
  forbidden: ['Forbidden', 'This caller may not do this. Other credentials may.'],
  'not-found': ['Not found', 'There is nothing here, or nothing that this caller may know of.'],
  'not-allowed': ['Method not allowed', 'The target does not have this method. Allow lists those it has.'],
  'not-acceptable': [
    'Not acceptable',
    'None of the media types, or content codings, that would be accepted is offered. `offers` lists what there is.',
  ],
  conflict: [
    'Conflict',
    'What stands does not allow this now. `possible` lists the transitions that its state offers.',
  ],
  'in-flight': ['Still under way', 'A request under the same idempotency key has not ended. Ask again in a moment.'],
  gone: ['Gone', 'It was here and has been removed.'],
  retired: [
    'Version retired',
    'This version is no longer served. The link `successor-version` leads to the one that is.',
  ],
  stale: ['Precondition failed', 'It has changed since it was read. Get it again, and decide again.'],
  'too-large': ['Content too large', 'The content is larger than the limit.'],
  'target-too-long': ['URI too long', 'The request-target is longer than 8 KiB. Searches can be sent as content.'],
  'unsupported-media-type': [
    'Unsupported media type',
    'Content of this type or coding is not taken here. The Accept fields of the answer list what is.',
  ],
  range: [
    'Range not satisfiable',
    'No range that was asked for lies within the content. Content-Range has its length.',
  ],
  'expectation-failed': ['Expectation failed', 'No expectation but 100-continue can be met.'],
  invalid: [
    'Unprocessable content',
    'The content is well-formed and breaks a rule. `errors` lists each with a JSON Pointer.',
  ],
  'key-reused': ['Idempotency key reused', 'The idempotency key belongs to another request. Make a new one.'],
  declared: ['Declared fault', 'A fault that the contract declares.'],
  'precondition-required': [
    'Precondition required',
    'Send If-Match with the entity tag that was read, so that nobody’s change is lost.',
  ],
  'too-many': ['Too many requests', 'The limit is reached. Wait for as long as Retry-After says.'],
  misdirected: ['Misdirected request', 'An https target needs a secured connection. Connect by TLS.'],
  'fields-too-large': ['Request header fields too large', 'The fields take more than 32 KiB together.'],
  failed: [
    'Internal server error',
    'Something is wrong with the service. Its operators can find the incident by its number.',
  ],
  'unknown-method': ['Not implemented', 'The method is not known to this server.'],
  unavailable: ['Service unavailable', 'Try again after as long as Retry-After says.'],
  moved: ['Moved', 'It has another address now.'],
}

/** The last segment of the address of its page. */
const slugOf = (refusal: AnyRestRefusal): string => (refusal.kind === 'declared' ? refusal.fault.fault : refusal.kind)

export function createProblem(exchange: Exchange, refusal: AnyRestRefusal): Problem {
  const title = refusal.kind === 'declared' ? refusal.fault.title : explained[refusal.kind][0]
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
    case 'unsupported-media-type':
      return { detail: refusal.detail }
    case 'invalid':
      return {
        detail: refusal.problems.map(({ path, detail }) => `${path.join('.') || 'the content'} ${detail}`).join('; '),
        errors: refusal.problems.map(({ path, code, detail }) => ({ pointer: writeJsonPointer(path), code, detail })),
      }
    case 'conflict':
      return conflictMembers(exchange, refusal)
    case 'declared':
      return { detail: refusal.fault.title, ...detailOf(refusal.fault, refusal.detail) }
    case 'not-acceptable':
      return { detail: `there is ${refusal.offers.join(', ')}`, offers: [...refusal.offers] }
    case 'not-allowed':
      return { detail: `the target has ${refusal.allow}` }
    case 'too-large':
      return { detail: `the limit is ${refusal.limit} octets` }
    case 'stale':
      return { detail: explained.stale[1] }
    case 'failed':
      return { detail: `incident ${refusal.incident}`, incident: refusal.incident }
    default:
      return { detail: explained[refusal.kind][1] }
  }
}

/** What its state does offer, with the links to it (A3.4). */
function conflictMembers(
  exchange: Exchange,
  { state, possible, detail }: Extract<AnyRestRefusal, { kind: 'conflict' }>,
): { readonly [name: string]: Json } {
  const { operation, base, id } = exchange
  const actions = operation && 'resource' in operation ? operation.resource.actions : {}
  const name = operation && 'resource' in operation ? operation.resource.name : ''
  const links = (possible ?? []).flatMap(verb => {
    const action = Object.hasOwn(actions, verb) ? actions[verb] : undefined
    return action ? [[action.link, { href: `${base}/${name}/${id}/${action.rel}` }] as const] : []
  })
  return {
    detail: detail ?? (state === undefined ? explained.conflict[1] : `it is ${state}`),
    ...(state !== undefined && { state }),
    ...(possible && { possible: [...possible], _links: Object.fromEntries(links) }),
  }
}

/** Members of a declared fault's detail, by its fields; those of RFC 9457 keep their meaning. */
function detailOf(fault: Fault, detail: Readonly<Record<string, unknown>>): { readonly [name: string]: Json } {
  const { value } = parseJson(`{${membersWriter(fault.detail as Fields)(detail)}}`)
  const members = Object.entries(Object(value) as { readonly [name: string]: Json }).filter(
    ([name]) => !['type', 'title', 'status'].includes(name),
  )
  return Object.fromEntries(members)
}

/** Errors choose their media type for themselves, and never fail twice (row 21). */
export function writeProblem(
  exchange: Exchange,
  problem: Problem,
): { readonly type: string; readonly content: string } {
  const accept = exchange.entry.request.fields['accept']
  switch (chooseProblemType(accept)) {
    case 'xml':
      return { type: 'application/problem+xml', content: writeProblemXml(problem) }
    case 'html':
      return { type: 'text/html;charset=utf-8', content: problemHtml(problem) }
    default:
      return { type: 'application/problem+json', content: writeProblemJson(problem) }
  }
}

const types = [
  'application/problem+json',
  'application/json',
  'application/hal+json',
  'application/problem+xml',
  'application/xml',
  'text/xml',
  'text/html',
] as const

/**
 * Who takes JSON gets JSON's problem, who takes XML XML's, whether or not they name the problem's
 * own type.
 */
function chooseProblemType(accept: string | undefined): 'json' | 'xml' | 'html' {
  const best = negotiateType(accept, types) ?? types[0]
  if (best === 'text/html') return 'html'
  return best.endsWith('xml') ? 'xml' : 'json'
}

function problemHtml(problem: Problem): string {
  const { type = '', title = '', detail = '' } = problem
  const errors = Array.isArray(problem['errors']) ? problem['errors'] : []
  const list = errors.map(each => `<li>${escapeMarkup(JSON.stringify(each))}</li>`).join('')
  return writeHtmlPage(
    title,
    `<p>${escapeMarkup(detail)}</p>${list && `<ul>${list}</ul>`}<p><a href="${escapeMarkup(type)}">About this problem</a></p>`,
  )
}

/** The page that a problem's type leads to; undefined where there is no such problem. */
export function writeProblemPage(slug: string, faults: readonly Fault[]): string | undefined {
  const fault = faults.find(each => each.fault === slug)
  if (fault)
    return writeHtmlPage(fault.title, `<p>${fault.fault}: a fault of the contract. Its status is ${fault.status}.</p>`)
  if (!Object.hasOwn(explained, slug)) return undefined
  const [title, advice] = explained[slug as RefusalKind] // hasOwn: it is a kind
  return writeHtmlPage(title, `<p>${escapeMarkup(advice)}</p>`)
}
