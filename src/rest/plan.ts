/**
 * The order of decisions for one request, as data: the steps below are followed row by row, and the development trace, the
 * documentation page and the coverage of edges are printed from them. It follows RFC 9110 §13.2.1: whatever can be said
 * before the content is read is said before 412 and 304; whatever needs the content comes after.
 * A row without `ask` is asked by the service, inside the transaction of the call.
 */

import type { Maybe } from '../base/maybe.ts'
import { newestVersion } from '../contract/service.ts'
import { authenticate } from '../front/authenticate.ts'
import { isToken, splitElements } from '../http/grammar.ts'
import { parseMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import { acceptableEncodings, acceptableTypes } from '../http/negotiate.ts'
import { parseHost, parsePath, parseQuery, parseTarget } from '../http/uri.ts'
import type { ApiVersion } from './api-version.ts'
import { answerPreflight, isCrossOrigin, isPreflight } from './cors.ts'
import type { Exchange } from './exchange.ts'
import { restLimits } from './limits.ts'
import { vendorVersion } from './media-types.ts'
import { parseParameters } from './query-parameters.ts'
import { type RefusalKind, refuseRequest } from './refusal.ts'
import { acceptedTypes, acceptFields } from './request-content.ts'
import { matchRoute, writeAllow } from './route.ts'

export interface DecisionRow {
  readonly number: number
  readonly question: string
  /** What a "no" is. */
  readonly no: readonly RefusalKind[]
  /** Statuses with which the row itself answers. */
  readonly answers?: readonly number[]
  readonly source: string
  /** Asked of this moment: the same request may be answered otherwise the next time. All others are asked of its head alone. */
  readonly moment?: true
  readonly ask?: (exchange: Exchange) => Maybe<Response | void>
}

export const methods: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY']

export const rows: readonly DecisionRow[] = [
  {
    number: 1,
    question: 'Did it parse: a method that is a token, fields within their limit?',
    no: ['unknown-method', 'fields-too-large'],
    source: 'RFC 9112 §3, RFC 6585 §5',
    ask: parsed,
  },
  {
    number: 2,
    question: 'Is there exactly one Host, and a target in a form that the method takes?',
    no: ['bad-request'],
    source: 'RFC 9112 §3.2',
    ask: addressed,
  },
  {
    number: 3,
    moment: true,
    question: 'Is the service in service: neither draining nor overloaded?',
    no: ['unavailable'],
    source: 'RFC 9110 §15.6.4',
    ask: ({ site }) => {
      if (site.options.draining?.()) refuseRequest({ kind: 'unavailable', after: 5 })
    },
  },
  {
    number: 4,
    question: `Is the target within ${restLimits.target} octets?`,
    no: ['target-too-long'],
    source: 'RFC 9110 §15.5.15',
    ask: ({ request }) => {
      if (request.target.length > restLimits.target) refuseRequest({ kind: 'target-too-long' })
    },
  },
  {
    number: 5,
    moment: true,
    question: 'Is the peer’s address within its rate?',
    no: ['too-many'],
    source: 'RFC 6585 §4',
    ask: ({ site, request }) => {
      const after = site.options.flood?.(request)
      if (after !== undefined) refuseRequest({ kind: 'too-many', after, limit: restLimits.flood, window: 1 })
    },
  },
  {
    number: 6,
    question: 'Is it about a resource? (OPTIONS * is about the server; TRACE and CONNECT are never echoed)',
    no: ['not-allowed'],
    answers: [204],
    source: 'RFC 9110 §9.3.6–§9.3.8',
    ask: aboutResource,
  },
  {
    number: 7,
    question: 'Is the method known to the server?',
    no: ['unknown-method'],
    source: 'RFC 9110 §15.6.2',
    ask: ({ request }) => {
      if (!methods.includes(request.method)) refuseRequest({ kind: 'unknown-method' })
    },
  },
  {
    number: 8,
    question: 'Is Expect 100-continue, or absent?',
    no: ['expectation-failed'],
    source: 'RFC 9110 §10.1.1',
    ask: ({ request }) => {
      const expect = request.fields['expect']
      if (expect !== undefined && expect.toLowerCase() !== '100-continue') refuseRequest({ kind: 'expectation-failed' })
    },
  },
  {
    number: 9,
    question: 'Can path and query be decoded, and is the path in its one spelling?',
    no: ['bad-request'],
    source: 'RFC 3986 §2.1, §6.2.2',
    ask: decoded,
  },
  { number: 10, question: 'Does a route match?', no: ['not-found'], source: 'RFC 9110 §15.5.5', ask: routed },
  {
    number: 11,
    moment: true,
    question: 'Is the version served?',
    no: ['not-found', 'retired'],
    source: 'RFC 8594, RFC 9745; rule A9.1',
    ask: served,
  },
  {
    number: 12,
    question: 'Is it more than a preflight of a browser?',
    no: [],
    answers: [204],
    source: 'Fetch §3.2.2',
    ask: ({ request, serving, allow }) => (isPreflight(request) ? answerPreflight(request, serving, allow) : undefined),
  },
  {
    number: 13,
    question: 'Is the method allowed on this target, by the contract alone?',
    no: ['not-allowed'],
    source: 'RFC 9110 §15.5.6',
    ask: allowed,
  },
  {
    number: 14,
    question: 'Are all query parameters known and well-formed?',
    no: ['bad-parameter'],
    source: 'rules A4.23, A4.24; RFC 7240 §4.4',
    ask: parameters,
  },
  {
    number: 15,
    moment: true,
    question: 'Do the credentials prove somebody, where anybody must?',
    no: ['unauthenticated'],
    source: 'RFC 9110 §15.5.2; rule A5.3',
    ask: proven,
  },
  {
    number: 16,
    moment: true,
    question: 'May this caller ever do this, and does it not come from a page of a foreign origin?',
    no: ['forbidden'],
    source: 'RFC 9110 §15.5.4; rule A5.2',
    ask: admitted,
  },
  {
    number: 17,
    question: 'Is the caller within the rate of this operation?',
    no: ['too-many'],
    source: 'RFC 6585 §4; rule A8.1',
  },
  {
    number: 18,
    question: 'Is it more than OPTIONS?',
    no: [],
    answers: [204],
    source: 'RFC 9110 §9.3.7; rule A4.9',
    ask: options,
  },
  {
    number: 19,
    question: 'Is the content whole, its announced length within the limit, and its coding known?',
    no: ['bad-request', 'too-large', 'unsupported-media-type'],
    source: 'RFC 9110 §14.5, §15.5.14, §8.4; rule A8.3',
    ask: sized,
  },
  {
    number: 20,
    question: 'Is there a Content-Type that this method takes here, in a known charset?',
    no: ['unsupported-media-type'],
    source: 'RFC 9110 §15.5.16; rule A4.17',
    ask: typed,
  },
  {
    number: 21,
    question: 'Can Accept and Accept-Encoding be met?',
    no: ['not-acceptable'],
    source: 'RFC 9110 §12.5; rules A1.6, A4.17, A4.18',
    ask: negotiated,
  },
  {
    number: 22,
    question: 'Does the target exist, where this caller may see it and do this, here and now?',
    no: ['not-found', 'gone', 'moved', 'forbidden'],
    source: 'RFC 9110 §15.5.5, §15.5.11, §15.4.2',
  },
  {
    number: 23,
    question: 'Do the preconditions hold on the selected representation, and is the range in it?',
    no: ['stale', 'range'],
    answers: [304],
    source: 'RFC 9110 §13.2.2, §14.2; rules A4.3, A4.20',
  },
  {
    number: 24,
    question: 'Does a change to an item carry a precondition, where the contract demands one?',
    no: ['precondition-required'],
    source: 'RFC 6585 §3',
  },
  {
    number: 25,
    question: 'Is its idempotency key new, or the request under it the same and done?',
    no: ['in-flight', 'key-reused'],
    source: 'draft-ietf-httpapi-idempotency-key-header §2.6, §2.7',
  },
  {
    number: 26,
    question: 'Is the content within the limit, and does it decode and parse?',
    no: ['too-large', 'malformed'],
    source: 'RFC 9110 §15.5.1; rule A7.17',
  },
  {
    number: 27,
    question: 'Does the content fit the declared shape?',
    no: ['invalid'],
    source: 'RFC 9110 §15.5.21; rule A7.17',
  },
  {
    number: 28,
    question: 'Does the state offer it, and does the domain allow it?',
    no: ['conflict', 'declared'],
    source: 'RFC 9110 §15.5.10; rule A3.4',
  },
  {
    number: 29,
    question: 'Was it done, in one transaction, on the version that was compared?',
    no: ['unavailable', 'failed'],
    source: 'RFC 9110 §15.6.1, §15.6.4',
  },
  {
    number: 30,
    question: 'What has come of it?',
    no: [],
    answers: [200, 201, 202, 204, 206],
    source: 'RFC 9110 §15.3',
  },
]

/** The row that a refusal of the service belongs to: it asks several at once. */
const rowOf = new Map<RefusalKind, number>(
  rows.flatMap(row => (row.number < 15 ? [] : row.no.map(kind => [kind, row.number]))),
)
const earlier = new Map<RefusalKind, number>([
  ['unauthenticated', 15],
  ['forbidden', 16],
  ['too-many', 17],
])
/** @param reached the row that was being asked */
export function rowOfRefusal(kind: RefusalKind, reached: number): number {
  if (reached === 16) return earlier.get(kind) ?? reached
  return reached > 21 ? (rowOf.get(kind) ?? reached) : reached
}

/** What can be asked of a request before the service is: rows 1 to 21. */
const asking = rows.filter((row): row is DecisionRow & Required<Pick<DecisionRow, 'ask'>> => row.ask !== undefined)
const ofMoment = asking.filter(row => row.moment)

/** Rows 1 to 21; an answer ends the exchange here. What throws `Refused` was a "no". */
export const decide = (exchange: Exchange): Maybe<Response | undefined> => follow(exchange, asking)

/** The same where all that the head says is known. */
export const decideAgain = (exchange: Exchange): Maybe<Response | undefined> => follow(exchange, ofMoment)

function follow(exchange: Exchange, asked: typeof asking, from = 0): Maybe<Response | undefined> {
  for (let at = from; at < asked.length; at++) {
    const { ask, number } = asked[at]! // at is within
    exchange.row = number
    const answer = ask(exchange)
    if (answer instanceof Promise) return answer.then(response => response ?? follow(exchange, asked, at + 1))
    if (answer) return answer
  }
  exchange.row = 22
  return undefined
}

function parsed({ request }: Exchange): void {
  if (!isToken(request.method)) refuseRequest({ kind: 'unknown-method' })
  let octets = 0
  for (const name in request.fields) octets += name.length + (request.fields[name]?.length ?? 0) + 4
  if (octets > restLimits.fields) refuseRequest({ kind: 'fields-too-large' })
}

/** RFC 9112 §3.2: HTTP/1.1 has one Host, HTTP/1.0 may have none. What is not sent to us is not looked at further. */
function addressed(x: Exchange): void {
  const { method, target, fields, version } = x.request
  const host = fields['host']
  if (host === undefined ? version !== '1.0' : !parseHost(host))
    refuseRequest({ kind: 'bad-request', detail: 'there must be exactly one Host' })
  const found =
    parseTarget(method, target) ?? refuseRequest({ kind: 'bad-request', detail: 'the request-target is malformed' })
  if (!('path' in found)) return
  x.said.path = found.path
  x.said.query = found.query ?? ''
}

const everyMethod = writeAllow(methods)
function aboutResource({ request }: Exchange): Response | undefined {
  const { method, target } = request
  if (method === 'TRACE' || method === 'CONNECT') refuseRequest({ kind: 'not-allowed', allow: everyMethod })
  return target === '*' ? { status: 204, fields: { allow: everyMethod } } : undefined
}

function decoded(x: Exchange): void {
  const path = parsePath(x.said.path)
  const pairs = x.said.query === '' ? x.pairs : parseQuery(x.said.query)
  if (!path || !pairs) refuseRequest({ kind: 'bad-request', detail: 'the target cannot be decoded' })
  if (!path.clean) refuseRequest({ kind: 'bad-request', detail: 'the path has dot segments or empty ones' })
  x.said.segments = path.segments
  x.said.pairs = pairs
}

const pageMethods = writeAllow(['GET'])
const isVersion = (segment: string | undefined): segment is string => /^v\d{1,9}$/.test(segment ?? '')

function routed(x: Exchange): void {
  const { segments, site } = x
  const [first, second] = segments
  x.said.allow = pageMethods
  if (first === '' && segments.length === 1) return void (x.said.page = 'entry')
  if (first === 'problems' && segments.length === 2) return void (x.said.page = 'problem')
  if (first === 'decisions' && segments.length === 1) return void (x.said.page = 'decisions')
  if (first !== 'api') refuseRequest({ kind: 'not-found' })
  const versioned = isVersion(second)
  x.said.edition = (versioned ? site.editions.get(second) : named(x)) ?? site.newest
  x.said.base = `${site.prefix}/api${versioned ? `/${second}` : ''}`
  if (segments.length === (versioned ? 2 : 1)) return void (x.said.page = 'entry')
  const found = matchRoute(x.edition.routes, segments, versioned ? 2 : 1) ?? refuseRequest({ kind: 'not-found' })
  x.said.route = found.route
  x.said.target = found.id
  x.said.allow = found.route.allow
}

/**
 * Rule A9.2: without a version in the address a media type names one: that of the answer, where it is what the client
 * prefers to all that the newest version offers, else that of the content.
 */
function named({ request, site }: Exchange): ApiVersion | undefined {
  const accept = request.fields['accept']
  const vendors = [...site.editions.values()].map(edition => edition.vendor)
  const [best] = accept?.includes('vnd.')
    ? acceptableTypes(accept, [...site.newest.offers(undefined).types, ...vendors])
    : []
  const sent = parseMediaType(request.fields['content-type'] ?? '')?.essence
  for (const type of [best, sent]) {
    const version = vendorVersion(site.newest.service.service, type ?? '')
    const edition = version === undefined ? undefined : site.editions.get(version)
    if (edition) return edition
  }
  return undefined
}

function served(x: Exchange): void {
  const [first, second] = x.segments
  if (first !== 'api') return
  if (isVersion(second) && !x.site.editions.has(second)) refuseRequest({ kind: 'not-found' })
  const { retired, sunset } = x.edition.rule
  if (retired || (sunset !== undefined && Date.parse(sunset) <= x.now))
    refuseRequest({ kind: 'retired', successor: successorPath(x) })
}

/** The address of the same in the newest version. */
export const successorPath = ({ site, segments }: Exchange): string =>
  `${site.prefix}/api/${newestVersion(site.serving.app.contract)}${segments
    .slice(isVersion(segments[1]) ? 2 : 1)
    .map(segment => `/${encodeURIComponent(segment)}`)
    .join('')}`

function allowed(x: Exchange): void {
  const { method } = x.request
  if (method === 'OPTIONS') return
  const asks = method === 'HEAD' ? 'GET' : method
  x.said.operation = x.route?.methods.get(asks)
  if (!x.operation && !(x.page && asks === 'GET')) refuseRequest({ kind: 'not-allowed', allow: x.allow })
}

function parameters(x: Exchange): void {
  const lenient = x.prefer['handling']?.value === 'lenient' && x.request.method !== 'DELETE'
  if (lenient && x.pairs.length > 0) {
    x.said.lenient = true
    x.applied['handling'] = 'lenient'
  }
  if (x.operation && x.route) x.said.asked = parseParameters(x.operation, x.route, x.target, x.pairs, lenient)
  else if (x.page && x.pairs.length > 0 && !lenient)
    refuseRequest({ kind: 'bad-parameter', name: x.pairs[0]?.[0] ?? '', detail: 'is not a parameter of this' })
}

function proven(x: Exchange): Maybe<void> {
  const found = authenticate(x.request, x.serving)
  return found instanceof Promise ? found.then(caller => void (x.caller = caller)) : void (x.caller = found)
}

/** Rows 15 to 17 where an operation asks for them: the service alone says who may. */
function admitted(x: Exchange): Maybe<void> {
  if (!x.operation) return
  if (!x.operation.safe && isCrossOrigin(x.request, x.serving)) refuseRequest({ kind: 'forbidden' })
  const found = x.serving.calls.admit(x.operation, x.caller, x.request.from)
  return found instanceof Promise ? found.then(admitted => void (x.admitted = admitted)) : void (x.admitted = found)
}

function options(x: Exchange): Response | undefined {
  if (x.request.method !== 'OPTIONS') return undefined
  return {
    status: 204,
    fields: {
      allow: x.allow,
      ...acceptFields(x),
      link: `<${x.site.prefix}/openapi.json>; rel="service-desc"; type="application/vnd.oai.openapi+json"`,
    },
  }
}

function sized(x: Exchange): void {
  const { content, fields } = x.request
  const limit = contentLimit(x)
  // RFC 9110 §14.5: a PUT of a part, taken for the whole, would destroy the rest.
  if (fields['content-range'] !== undefined && !x.safe)
    refuseRequest({ kind: 'bad-request', detail: 'content is taken as a whole' })
  if ((content.length ?? 0) > limit) refuseRequest({ kind: 'too-large', limit })
  const coding = (fields['content-encoding'] ?? 'identity').toLowerCase()
  x.said.contentCoding = coding === 'x-gzip' ? 'gzip' : coding
  const known = Object.keys(x.site.options.decodings ?? {})
  if (x.contentCoding !== 'identity' && !known.includes(x.contentCoding) && content.length !== 0)
    refuseRequest({
      kind: 'unsupported-media-type',
      take: { 'accept-encoding': [...known, 'identity'].join(', ') },
      detail: `the content coding ${JSON.stringify(coding)} is not known here`,
    })
}

export const contentLimit = ({ operation }: Exchange): number =>
  operation?.kind === 'putFile' ? operation.file.max : restLimits.content

/** Without any content there is no type to name: what may be empty is taken so, anything else is asked for its type. */
function typed(x: Exchange): void {
  const types = acceptedTypes(x)
  if (types.length === 0) return
  const field = x.request.fields['content-type']
  const refuse: (detail: string) => never = detail =>
    refuseRequest({ kind: 'unsupported-media-type', take: acceptFields(x), detail })
  if (field === undefined) {
    if (!emptyTaken(x)) refuse('there is no Content-Type')
    return
  }
  const type = parseMediaType(field)
  if (!type || !types.includes(type.essence)) refuse('content of this type is not taken here')
  const charset = type.parameters['charset']?.toLowerCase()
  const xml = type.suffix === 'xml' || type.subtype === 'xml'
  if (charset !== undefined && charset !== 'utf-8' && !(xml && charset.startsWith('utf-16')))
    refuse('the charset is not known here')
  x.said.mediaType = type.essence
}

/** Chunked content is known to be empty only once it is read (row 26). */
function emptyTaken({ operation, request }: Exchange): boolean {
  if (request.content.length !== 0 && request.content.length !== undefined) return false
  if (operation?.kind === 'cancelJob') return true
  return operation?.kind === 'act' && Object.values(operation.action.input).every(field => field.isOptional)
}

function negotiated(x: Exchange): void {
  const { operation, edition, page } = x
  const stored = operation?.kind === 'getFile' ? operation.file.mediaTypes : undefined
  const types = stored ?? (page && page !== 'entry' ? [] : edition.offers(operation).types)
  if (types.length === 0) return
  // Which type stored bytes have is known once they are found; that none could serve is known now.
  const { all, sent } = edition.offers(operation)
  const [type] = acceptableTypes(acceptForContent(x.request), stored ?? sent)
  if (type === undefined) refuseRequest({ kind: 'not-acceptable', offers: types })
  x.said.offer = stored ? undefined : all.find(offer => offer.sent === type)
  negotiateCoding(x)
}

/** The types that errors are in choose between errors, and ask for nothing else. */
export function acceptForContent({ fields }: Request): string | undefined {
  const accept = fields['accept']
  if (!accept?.includes('problem+')) return accept
  const others = splitElements(accept).filter(each => !/^application\/problem\+(json|xml)/i.test(each))
  return others.join(', ') // an Accept without elements takes anything
}

function negotiateCoding(x: Exchange): void {
  const { codings } = x.site
  const taken = acceptableEncodings(x.request.fields['accept-encoding'], [...codings, 'identity'])
  const [best] = taken
  if (best === undefined) refuseRequest({ kind: 'not-acceptable', offers: [...codings, 'identity'] })
  x.said.coding = best
  x.said.identityTaken = taken.includes('identity')
}
