/** GET on an endpoint: its descriptions, its page, the response pattern (SOAP 1.2 Part 2 §7.4). */
import { memoizeByText } from '../../base/memo.ts'
import type { Values } from '../../contract/implement.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { readSettledScalar } from '../../contract/lexical/settled-text.ts'
import { isScalar } from '../../contract/shape.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import type { Entry } from '../../front/entry.ts'
import { respondToRefusal } from '../../front/refusal.ts'
import { replyWithText } from '../../front/static-text.ts'
import { compileAddressTemplate } from '../../http/address-template.ts'
import { writeDate } from '../../http/date.ts'
import { sameVersion } from '../../http/entity-tag.ts'
import type { HttpFields, Response } from '../../http/message.ts'
import { negotiateType, parseAccept } from '../../http/negotiate.ts'
import { evaluatePreconditions, parsePreconditions } from '../../http/precondition.ts'
import type { Pairs } from '../../http/uri.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { performRetrieval } from '../face.ts'
import type { BoundOperation, CurrentState } from '../operations/bound-operation.ts'
import { refuseMessage } from '../refusal.ts'
import { soap12 } from '../version.ts'
import { addressesOf, requestFacts } from './request-facts.ts'
import { endExchange, writeResponse } from './write-response.ts'

/** @param rest the target after the path of the endpoint and a slash; '' for the endpoint itself */
export async function respondToGet(node: SoapNode, entry: Entry, rest: string, allow: string): Promise<Response> {
  const retrieval = findRetrievable(node, entry, rest)
  if (rest !== '') return retrieval ? retrieveOutcome(node, entry, retrieval) : refuseUnknownOperation()
  const [address] = addressesOf(node, entry)
  if (entry.query !== '') {
    // WHATWG URLSearchParams, and so Next, writes a name without a value as `wsdl=`.
    const description = await node.describe?.(entry.query.replace(/=$/, ''), address)
    if (description) return replyWithText(entry, description, node.codings ?? {})
    return retrieval ? retrieveOutcome(node, entry, retrieval) : endExchange(404, 'this description does not exist')
  }
  const page = acceptsHtml(entry.request.fields['accept']) ? await node.page?.(address) : undefined
  if (page === undefined)
    return retrieval ? retrieveOutcome(node, entry, retrieval) : respondToRefusal({ kind: 'not-allowed', allow })
  return { status: 200, fields: { 'content-type': 'text/html; charset=utf-8', vary: 'Accept' }, content: page }
}

const acceptsHtml = (accept: string | undefined): boolean =>
  accept !== undefined && parseAccept(accept).some(each => each.subtype === 'html' && each.quality > 0)

export const isRetrievable = (node: SoapNode, entry: Entry, rest: string): boolean =>
  findRetrievable(node, entry, rest) !== undefined
export const refuseUnknownOperation = (): never => endExchange(404, 'this operation does not exist')

interface RetrievedOperation {
  readonly exchange: BoundOperation
  readonly row: () => Values
}

/** Safe operations of endpoints where the transport alone proves the caller can be retrieved. */
function findRetrievable(node: SoapNode, entry: Entry, rest: string): RetrievedOperation | undefined {
  const { exchanges, endpoint, spoken } = node
  if (endpoint.secure || !spoken.includes(soap12)) return undefined
  const safe = exchanges.filter(each => each.safe)
  const exchange = safe.find(each => each.name === rest && isFitForUri(each))
  return exchange ? { exchange, row: () => readUri(exchange, entry.pairs) } : findByLocation(safe, entry, rest)
}
const isFitForUri = ({ request, retrieval }: BoundOperation): boolean =>
  retrieval ? retrieval() !== 'none' : Object.values(request).every(hasScalarShape)
const hasScalarShape = ({ shape }: BoundOperation['request'][string]): boolean => isScalar(shape)

/**
 * The operation by the template of its address; of several matches, the first one with these
 * parameters.
 */
function findByLocation(
  exchanges: readonly BoundOperation[],
  { query }: Entry,
  rest: string,
): RetrievedOperation | undefined {
  const address = query === '' ? rest : `${rest}?${query}`
  for (const exchange of exchanges) {
    const content = exchange.retrieval?.()
    if (content === undefined || content === 'none' || content.location === undefined) continue
    const pairs = addressMatcherOf(content.location).match?.(address)
    const names = new Set(pairs?.map(([name]) => name))
    if (pairs && names.isSubsetOf(content.names) && content.required.isSubsetOf(names))
      return { exchange, row: () => content.read(pairs) }
  }
  return undefined
}
const addressMatcherOf = memoizeByText((location: string) => ({ match: compileAddressTemplate(location) }), 1024, 1024)

function readUri(exchange: BoundOperation, pairs: Pairs): Values {
  const content = exchange.retrieval?.()
  return content && content !== 'none' ? content.read(pairs) : readUriParameters(exchange, pairs)
}

async function retrieveOutcome(node: SoapNode, entry: Entry, { exchange, row }: RetrievedOperation): Promise<Response> {
  const { fields } = entry.request
  const media = `${soap12.mediaType}; charset=utf-8`
  negotiateType(fields['accept'], [media]) ?? endExchange(406, `available media type: ${media}`)
  const preconditions = parsePreconditions(fields, entry.now)
  const message: ReceivedMessage = {
    bytes: new Uint8Array(0),
    charset: undefined,
    media: soap12,
    action: undefined,
    parts: undefined,
    takesPackage: false,
    ...requestFacts(node, entry),
  }
  const reply = await performRetrieval(node, message, exchange, row, current => {
    const verdict = evaluatePreconditions(preconditions, 'GET', current && standingValidators(current), sameVersion)
    return verdict === 'not-modified' ? 'unchanged' : verdict
  })
  const caching = { 'cache-control': 'private, no-cache', vary: 'Accept, Authorization, Api-Key' }
  const refusal = reply.fault?.refusal
  if (refusal?.kind === 'unchanged')
    return { status: 304, fields: { ...caching, ...standingFields(refusal.current, entry.now) } }
  if (refusal?.kind === 'stale') endExchange(412, 'the precondition failed')
  const response = writeResponse(node, entry, reply)
  if (reply.fault) return response
  return {
    ...response,
    fields: { ...response.fields, ...caching, ...(reply.standing && standingFields(reply.standing, entry.now)) },
  }
}

const standingValidators = ({ version, modified }: CurrentState) => ({
  etag: `"${version}-soap"`,
  lastModified: modified,
})
function standingFields(standing: CurrentState, now: number): HttpFields {
  const { etag, lastModified } = standingValidators(standing)
  return { etag, ...(!Number.isNaN(lastModified) && { 'last-modified': writeDate(lastModified, now) }) }
}

/** The parameters of a URI, read as children of the request's element. */
function readUriParameters({ name, request }: BoundOperation, pairs: Pairs): Values {
  const pathOf = (key: string) => `/${name}/${toXmlName(key)}`
  const row: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(request)) {
    const [text, another] = pairs.filter(pair => pair[0] === key).map(pair => pair[1])
    if (text === undefined && field.isOptional) continue
    if (text === undefined || another !== undefined)
      return refuseMessage({ kind: 'schema', path: pathOf(key), detail: 'must be given exactly once' })
    const value = isScalar(field.shape) ? readSettledScalar(field.shape, text) : undefined
    if (value instanceof Flaw && value.isOfType)
      return refuseMessage({ kind: 'schema', path: pathOf(key), detail: value.detail })
    if (value instanceof Flaw)
      return refuseMessage({
        kind: 'bounds',
        problems: [{ path: pathOf(key), code: value.code, detail: value.detail }],
      })
    row[key] = value
  }
  for (const [key] of pairs)
    if (!Object.hasOwn(request, key))
      return refuseMessage({ kind: 'schema', path: `/${name}`, detail: `has the unknown parameter ${key}` })
  return row
}
