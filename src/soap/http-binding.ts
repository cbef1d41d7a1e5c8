/**
 * SOAP over HTTP (rules B4.1–B4.7; SOAP 1.1 §6, SOAP 1.2 Part 2 §7): the only file here that knows HTTP. Guards: what is not
 * an HTTP request of a SOAP message gets its status before a message exists; nothing of the request is echoed in a field.
 */

import type { Row } from '../contract/implement.ts'
import { xmlName } from '../contract/message.ts'
import { anonymous, type Caller } from '../contract/policy.ts'
import { Flaw, isScalar, read } from '../contract/scalar.ts'
import { challengesOf, proofOf } from '../http/credentials.ts'
import { writeDate } from '../http/date.ts'
import { sameVersion } from '../http/entity-tag.ts'
import { type MediaType, parseMediaType } from '../http/media-type.ts'
import { memo } from '../http/memo.ts'
import type { Request, Response } from '../http/message.ts'
import { negotiate, parseAccept } from '../http/negotiate.ts'
import { evaluate, parsePreconditions } from '../http/precondition.ts'
import { writeRetryAfter } from '../http/retry.ts'
import { parseHost } from '../http/uri.ts'
import { pieceSize } from '../service/octets.ts'
import { Refused, refuse } from '../service/refusal.ts'
import { type Maybe, settled, then, Unavailable } from '../service/store.ts'
import { openPackage, writePackage } from './attachment.ts'
import type { Received, Sent, SoapNode, TurnedAway } from './conversation.ts'
import type { Asked, Exchange, Standing } from './exchange.ts'
import { filled } from './filling.ts'
import type { AnyRefusal } from './refusal.ts'
import { no } from './refusal.ts'
import { soap11, soap12, type Version, versions } from './version.ts'

export type { Request, Response }

type Fields = Readonly<Record<string, string>>

/** What carries the messages out: the processing model of `face.ts`. */
export interface Carrying {
  readonly converse: (node: SoapNode, message: Received) => Maybe<Sent>
  readonly retrieve: (
    node: SoapNode,
    message: Received,
    exchange: Exchange,
    row: () => Row,
    expects: NonNullable<Asked['expects']>,
  ) => Maybe<Sent>
  readonly early: (node: SoapNode, version: Version, address: string, refusal: AnyRefusal) => Maybe<Sent>
}

/** Ends the exchange with a status and no message. */
class Ended {
  readonly response: Response
  constructor(status: number, text: string, fields: Fields = {}) {
    this.response = { status, fields: { 'content-type': 'text/plain; charset=utf-8', ...fields }, content: `${text}\n` }
  }
}
function end(status: number, text: string, fields: Fields = {}): never {
  throw new Ended(status, text, fields)
}

export function httpBinding(node: SoapNode, carrying: Carrying): (request: Request) => Maybe<Response> {
  return request =>
    settled(
      () => answered(node, carrying, request),
      thrown => refusedBy(node, carrying, request, thrown),
    )
}

function answered(node: SoapNode, carrying: Carrying, request: Request): Maybe<Response> {
  addressed(request)
  const asked = targetOf(node, request)
  const away = node.gate?.(request.from)
  if (away) return turnedAway(node, carrying, request, asked, away)
  if (request.method === 'GET') return got(node, carrying, request, asked)
  if (request.method === 'HEAD') return then(got(node, carrying, request, asked), head)
  if (request.method !== 'POST' || asked.operation !== '') return notAllowed(node, asked) // B4.1
  return posted(node, carrying, request)
}

function endedBy(thrown: unknown): Response {
  if (thrown instanceof Ended) return thrown.response
  throw thrown
}

function refusedBy(node: SoapNode, carrying: Carrying, request: Request, thrown: unknown): Maybe<Response> {
  if (!(thrown instanceof Refused)) return endedBy(thrown)
  const type = parseMediaType(request.fields['content-type'] ?? '')
  if (request.method !== 'POST' || !type) throw thrown
  // Before the XML is looked at only its packaging and its action can be refused: in the version of the media type.
  const [address] = about(node, request).addresses
  const refusal = thrown.refusal as AnyRefusal // the two unions are all that is thrown as Refused
  const early = () => carrying.early(node, announced(request) ?? soap12, address, refusal)
  return settled(() => then(early(), sent => written(node, request, sent)), endedBy)
}

/** RFC 9112 §3.2: exactly one Host, whatever else is asked (two lines of it are no host). */
function addressed({ fields, version }: Request): void {
  const { host } = fields
  if (host === undefined ? version !== '1.0' : !parseHost(host)) end(400, 'there must be exactly one Host')
}

/** What of an endpoint is asked: itself, or one of its operations. */
interface Target {
  /** '' for the endpoint. */
  readonly operation: string
  readonly query: string
}

const itself: Target = { operation: '', query: '' }
function targetOf({ endpoint }: SoapNode, { target }: Request): Target {
  if (target === endpoint.path) return itself
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)\??(.*)$/s.exec(target) ?? []
  if (path === endpoint.path) return { operation: '', query }
  return path.startsWith(`${endpoint.path}/`)
    ? { operation: path.slice(endpoint.path.length + 1), query }
    : end(404, 'there is no endpoint here')
}

function notAllowed(node: SoapNode, { operation }: Target): never {
  if (operation === '') return end(405, 'POST a SOAP message', { allow: 'POST' })
  return retrievable(node, operation)
    ? end(405, 'GET it', { allow: 'GET, HEAD' })
    : end(404, 'there is no such operation')
}

/** With a fault where the request says which version of SOAP is spoken, else with the status alone. */
async function turnedAway(
  node: SoapNode,
  carrying: Carrying,
  request: Request,
  { operation }: Target,
  refusal: TurnedAway,
): Promise<Response> {
  const version = request.method === 'POST' ? announced(request) : operation === '' ? undefined : soap12
  const status = refusal.kind === 'too-many' ? 429 : 503
  if (!version) return end(status, 'try again later', { ...fieldsOf(node, refusal), 'cache-control': 'no-store' })
  return written(node, request, await carrying.early(node, version, about(node, request).addresses[0], refusal))
}

/** The version of SOAP that the media type of a message, or of the root of its package, speaks. */
function announced({ fields }: Request): Version | undefined {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'multipart/related') return type && mediaOf(type)
  const [root, inside] = [type.parameters['type'], type.parameters['start-info']]
  const said = parseMediaType((root === 'application/xop+xml' ? inside : root) ?? '')
  return said && mediaOf(said)
}

// POST: a message

function posted(node: SoapNode, carrying: Carrying, request: Request): Maybe<Response> {
  const type = parseMediaType(request.fields['content-type'] ?? '') ?? unsupported() // B4.2
  return then(received(node, request, type), message =>
    then(carrying.converse(node, message), sent => written(node, request, sent)),
  )
}

const accept = `${soap12.mediaType}, ${soap11.mediaType}, multipart/related`
const unsupported = (): never => end(415, `SOAP messages come as ${accept}`, { accept })

/** The version that a media type speaks; that of a package is its root's. */
const mediaOf = ({ essence }: MediaType): Version | undefined => versions.find(each => each.mediaType === essence)

/** Octets that may be a message, of this media type, and what came beside them. */
interface Unpacked {
  readonly bytes: Uint8Array
  readonly type: MediaType
  readonly parts?: Received['parts']
}

function received(node: SoapNode, request: Request, type: MediaType): Maybe<Received> {
  if (type.essence === 'multipart/related')
    return unpacked(node, request, type).then(content => messageOf(node, request, type, content))
  if (!mediaOf(type)) unsupported()
  return then(whole(node, request, type), bytes => messageOf(node, request, type, { bytes, type }))
}

function messageOf(node: SoapNode, request: Request, type: MediaType, content: Unpacked): Received {
  const { fields } = request
  const root = rootType(content.type, type)
  const version = mediaOf(root) ?? unsupported()
  const { charset } = content.type.parameters
  if (charset !== undefined && !/^utf-(8|16(le|be)?)$/i.test(charset))
    end(415, 'messages are in UTF-8 or UTF-16', { accept })
  return {
    bytes: content.bytes,
    charset,
    media: version,
    action: actionOf(version, root, type, fields),
    parts: content.parts,
    takesPackage: content.parts !== undefined || takesPackage(fields['accept']),
    ...about(node, request),
  }
}

/** All octets of the content, within what the longest operation takes. */
function whole(node: SoapNode, request: Request, type: MediaType): Maybe<Uint8Array> {
  const limit = hinted(node, request, type)
  const { length } = request.content
  const coding = (request.fields['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding !== 'identity' && !(node.inflate && (coding === 'gzip' || coding === 'x-gzip')))
    end(415, 'content is gzip or not coded', { 'accept-encoding': node.inflate ? 'gzip' : 'identity' })
  if (length !== undefined && length > limit) tooLong(limit)
  return then(request.content.bytes(limit), bytes => {
    const octets = bytes ?? tooLong(limit)
    if (coding === 'identity') return octets
    return then(
      node.inflate?.(octets, limit),
      found => found ?? end(413, 'not gzip, not gzip to its end, or longer than it may be'),
    )
  })
}
const tooLong = (limit: number): never => end(413, `messages have at most ${limit} octets`)

/** What may be read before the operation is known: as much as the one that the action names takes, or as any takes. */
function hinted(node: SoapNode, { fields }: Request, type: MediaType): number {
  const hint = type.parameters['action'] ?? unquoted(fields['soapaction'] ?? '')
  const named = hint ? node.byAction.get(hint) : undefined
  return named?.longest ?? node.sizes.longest
}

const unquoted = memo((field: string) => field.replace(/"/g, ''))

async function unpacked(node: SoapNode, request: Request, type: MediaType) {
  const { boundary, start } = type.parameters
  if (boundary === undefined) return end(415, 'a package has a boundary', { accept })
  if (request.fields['content-encoding'] !== undefined)
    end(415, 'packages are not coded', { 'accept-encoding': 'identity' })
  const sizes = { root: node.sizes.shortest, rest: node.sizes.longest }
  const limit = sizes.root + sizes.rest
  const { length } = request.content
  if (length !== undefined && length > limit) tooLong(limit)
  const chunks = request.content.chunks()
  const found = await openPackage(length === undefined ? counted(chunks, limit) : chunks, boundary, start, sizes)
  if (!found) return tooLong(limit)
  // What is little has come: to wait for who sent it would cost more than it.
  if (length !== undefined && length <= pieceSize) await found.rest.collect()
  const root = parseMediaType(found.root.type) ?? unsupported()
  return { bytes: found.root.bytes, type: root, parts: found.rest }
}

/** All of a package of which nobody has said how long it is, whatever its parts are. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array, void, boolean | undefined> {
  const arriving = chunks[Symbol.asyncIterator]()
  let [length, done]: [number, boolean | undefined] = [0, false]
  for (let next = await arriving.next(); !next.done; next = await arriving.next(done)) {
    length += next.value.length
    if (length > limit) no({ kind: 'too-long', limit })
    done = yield next.value
  }
}

/** XOP §4.1: the type of what is in an XOP document stands beside it; else the root is what it says it is. */
function rootType(root: MediaType, packaged: MediaType): MediaType {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? packaged.parameters['start-info'] ?? '') ?? unsupported()
}

/** B4.3: a quoted URI in SOAPAction (SOAP 1.1 §6.1.1), or the action parameter (RFC 3902). Empty or absent says nothing. */
function actionOf(version: Version, root: MediaType, type: MediaType, fields: Fields): string | undefined {
  if (version.actionIn === 'media type') return root.parameters['action'] ?? type.parameters['action']
  const field = fields['soapaction']?.trim()
  if (field === undefined || field === '') return undefined
  return uriIn(field) ?? no({ kind: 'structure', detail: 'SOAPAction is one URI in quotes' })
}
const uriIn = memo((field: string): string | undefined => /^"([^"\\]*)"$/.exec(field)?.[1])

const takesPackage = (field: string | undefined): boolean =>
  field !== undefined &&
  parseAccept(field).some(each => each.type === 'multipart' && each.subtype === 'related' && each.quality > 0)

// Who is asking

function about(node: SoapNode, request: Request) {
  const { settings } = node.serving
  const own = `${request.scheme}://${hostIn(request.fields['host'] ?? '')}${node.endpoint.path}`
  const known = settings.publicUrl?.replace(/\/$/, '')
  const addresses: [string, ...string[]] = known === undefined ? [own] : [`${known}${node.endpoint.path}`, own]
  const confidential = request.scheme === 'https' || (settings.passwordsOnLoopback && isLoopback(request.from))
  return {
    addresses,
    from: request.from,
    request: request.id ?? node.serving.id(),
    confidential,
    caller: () => callerOf(node, request, confidential),
  }
}

/** For addresses that we write: nothing that could end one. */
const hostIn = memo((field: string) => (/^[-\w.:[\]%]{1,255}$/.test(field) ? field : 'localhost'))
const isLoopback = memo((address: string): boolean => /^(127\.|::1$|::ffff:127\.)/.test(address))

const callerOf = (node: SoapNode, request: Request, passwords: boolean): Maybe<Caller> =>
  settled(
    () => then(provenBy(node, request, passwords), found => found ?? refuse({ kind: 'unauthenticated' })),
    thrown => {
      if (thrown instanceof Unavailable) return refuse({ kind: 'unavailable', after: thrown.after })
      throw thrown
    },
  )

function provenBy(
  { serving: { identities } }: SoapNode,
  request: Request,
  passwords: boolean,
): Maybe<Caller | undefined> {
  const found = proofOf(request, identities, { passwords })
  if (found === 'untaken') return undefined
  if (found !== undefined) return found
  return then(request.certificate && identities.certificate(request.certificate), caller => caller ?? anonymous)
}

// Answers

function written(node: SoapNode, { id }: Request, sent: Sent): Response {
  const { version, envelope: text, attached, fault, filling } = sent
  if (fault?.refusal.kind === 'too-long') tooLong(fault.refusal.limit)
  if (text === undefined) return { status: 202, fields: {} } // B4.10; 204 breaks half the peers
  const envelope = filling ? filled(text, filling) : text
  const packed = attached && writePackage(version.mediaType, envelope, attached, `diglot-${node.serving.id()}`)
  const fields: Record<string, Fields[string]> = {
    'content-type': packed?.type ?? `${version.mediaType}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  // Where it has a name already; `host/reception.ts` names all other answers, at the price of a copy.
  if (id !== undefined) fields['request-id'] = id
  if (fault) Object.assign(fields, fieldsOf(node, fault.refusal))
  return { status: fault ? statusOf(node, version, fault) : 200, fields, content: packed?.content ?? envelope }
}

/** B4.5, B7.1: 500 for every fault but those that HTTP itself has to act on. */
function statusOf(node: SoapNode, version: Version, { code, refusal }: NonNullable<Sent['fault']>): number {
  if (refusal.kind === 'unauthenticated') return 401
  if (refusal.kind === 'too-many') return 429
  if (refusal.kind === 'unavailable') return 503
  return node.faultStatus === 'w3c' && code === 'Sender' ? version.senderStatus : 500
}

function fieldsOf({ serving: { identities } }: SoapNode, refusal: AnyRefusal): Fields {
  if (refusal.kind === 'unauthenticated') {
    const keys = identities.takesKeys?.() ?? false
    return { 'www-authenticate': challengesOf({ realm: 'diglot', passwords: true, keys, failed: false }) }
  }
  if (refusal.kind === 'too-many' || refusal.kind === 'unavailable')
    return { 'retry-after': writeRetryAfter(refusal.after) }
  return {}
}
// GET: descriptions, the page, and SOAP 1.2's response pattern

async function got(node: SoapNode, carrying: Carrying, request: Request, asked: Target): Promise<Response> {
  const [address] = about(node, request).addresses
  if (asked.operation !== '') return gotAnswer(node, carrying, request, asked)
  if (asked.query !== '') {
    const found = (await node.describe?.(asked.query, address)) ?? end(404, 'there is no such description')
    return { status: 200, fields: { 'content-type': found.mediaType, ...found.fields }, content: found.content }
  }
  const page = readsHtml(request.fields['accept']) ? await node.page?.(address) : undefined
  if (page === undefined) return notAllowed(node, asked)
  return { status: 200, fields: { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' }, content: page }
}

const readsHtml = (accept: string | undefined): boolean =>
  accept !== undefined && parseAccept(accept).some(each => each.subtype === 'html' && each.quality > 0)

function head(response: Response): Response {
  const { content, ...rest } = response
  if (typeof content !== 'string') return rest
  return { ...rest, fields: { ...rest.fields, 'content-length': String(Buffer.byteLength(content)) } }
}

/** Safe operations, where nothing but the transport has to prove who is asking. */
const retrievable = ({ exchanges, endpoint, spoken }: SoapNode, operation: string): Exchange | undefined =>
  endpoint.secure || !spoken.includes(soap12)
    ? undefined
    : exchanges.find(each => each.safe && each.name === operation && Object.values(each.request).every(scalar))
const scalar = ({ shape }: Exchange['request'][string]): boolean => isScalar(shape)

async function gotAnswer(
  node: SoapNode,
  carrying: Carrying,
  request: Request,
  { operation, query }: Target,
): Promise<Response> {
  const exchange = retrievable(node, operation) ?? end(404, 'there is no such operation')
  const media = `${soap12.mediaType}; charset=utf-8`
  negotiate(request.fields['accept'], [media]) ?? end(406, media)
  const given = parsePreconditions(request.fields, node.serving.clock())
  const message: Received = {
    bytes: new Uint8Array(0),
    charset: undefined,
    media: soap12,
    action: undefined,
    parts: undefined,
    takesPackage: false,
    ...about(node, request),
  }
  const sent = await carrying.retrieve(
    node,
    message,
    exchange,
    () => rowOf(exchange, query),
    current => {
      const verdict = evaluate(given, 'GET', current && validators(current), sameVersion)
      return verdict === 'not-modified' ? 'unchanged' : verdict
    },
  )
  const caching = { 'cache-control': 'private, no-cache', vary: 'Accept, Authorization' }
  const refusal = sent.fault?.refusal
  if (refusal?.kind === 'unchanged') return { status: 304, fields: { ...caching, ...written304(refusal.current) } }
  if (refusal?.kind === 'stale') end(412, 'the precondition does not hold')
  const response = written(node, request, sent)
  if (sent.fault) return response
  return { ...response, fields: { ...response.fields, ...caching, ...(sent.standing && written304(sent.standing)) } }
}

const validators = ({ version, modified }: Standing) => ({ etag: `"${version}-soap"`, lastModified: modified })
function written304(standing: Standing): Fields {
  const { etag, lastModified } = validators(standing)
  return { etag, 'last-modified': writeDate(lastModified) }
}

/** The parameters of a URI as the children of the request's element. */
function rowOf({ name, request }: Exchange, query: string): Row {
  const given = new URLSearchParams(query)
  const place = (key: string) => `/${name}/${xmlName(key)}`
  const row: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(request)) {
    const [text, another] = given.getAll(key)
    if (text === undefined && field.isOptional) continue
    if (text === undefined || another !== undefined)
      return no({ kind: 'schema', path: place(key), detail: 'is asked for once' })
    const value = isScalar(field.shape) ? read(field.shape, text) : undefined
    if (value instanceof Flaw) return no({ kind: 'bounds', problems: [{ path: place(key), ...value }] })
    row[key] = value
  }
  for (const key of given.keys())
    if (!Object.hasOwn(request, key))
      return no({ kind: 'schema', path: `/${name}`, detail: 'has a parameter that is not expected' })
  return row
}
