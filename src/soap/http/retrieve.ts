import type { Values } from '../../contract/implement.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { isScalar, readScalar } from '../../contract/lexical/scalar.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { writeDate } from '../../http/date.ts'
import { sameVersion } from '../../http/entity-tag.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'
import { negotiateType, parseAccept } from '../../http/negotiate.ts'
import { evaluatePreconditions, parsePreconditions } from '../../http/precondition.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { retrieve } from '../face.ts'
import type { BoundOperation, Standing } from '../operations/bound-operation.ts'
import { refuseMessage } from '../refusal.ts'
import { soap12 } from '../version.ts'
import { about } from './request-facts.ts'
import { end, written } from './write-response.ts'

/** What of an endpoint is asked: itself, or one of its operations. */
export interface EndpointTarget {
  /** '' for the endpoint. */
  readonly operation: string
  readonly query: string
}

export function notAllowed(node: SoapNode, { operation }: EndpointTarget): never {
  if (operation === '') return end(405, 'POST a SOAP message', { allow: 'POST' })
  return retrievable(node, operation)
    ? end(405, 'GET it', { allow: 'GET, HEAD' })
    : end(404, 'there is no such operation')
}
// GET: descriptions, the page, and SOAP 1.2's response pattern

export async function got(node: SoapNode, request: Request, asked: EndpointTarget): Promise<Response> {
  const [address] = about(node, request).addresses
  if (asked.operation !== '') return gotAnswer(node, request, asked)
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

export function head(response: Response): Response {
  const { content, ...rest } = response
  if (typeof content !== 'string') return rest
  return { ...rest, fields: { ...rest.fields, 'content-length': String(Buffer.byteLength(content)) } }
}

/** Safe operations, where nothing but the transport has to prove who is asking. */
const retrievable = ({ exchanges, endpoint, spoken }: SoapNode, operation: string): BoundOperation | undefined =>
  endpoint.secure || !spoken.includes(soap12)
    ? undefined
    : exchanges.find(each => each.safe && each.name === operation && Object.values(each.request).every(scalar))
const scalar = ({ shape }: BoundOperation['request'][string]): boolean => isScalar(shape)

async function gotAnswer(node: SoapNode, request: Request, { operation, query }: EndpointTarget): Promise<Response> {
  const exchange = retrievable(node, operation) ?? end(404, 'there is no such operation')
  const media = `${soap12.mediaType}; charset=utf-8`
  negotiateType(request.fields['accept'], [media]) ?? end(406, media)
  const given = parsePreconditions(request.fields, node.serving.clock())
  const message: ReceivedMessage = {
    bytes: new Uint8Array(0),
    charset: undefined,
    media: soap12,
    action: undefined,
    parts: undefined,
    takesPackage: false,
    ...about(node, request),
  }
  const sent = await retrieve(
    node,
    message,
    exchange,
    () => rowOf(exchange, query),
    current => {
      const verdict = evaluatePreconditions(given, 'GET', current && validators(current), sameVersion)
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
function written304(standing: Standing): HttpFields {
  const { etag, lastModified } = validators(standing)
  return { etag, 'last-modified': writeDate(lastModified) }
}

/** The parameters of a URI as the children of the request's element. */
function rowOf({ name, request }: BoundOperation, query: string): Values {
  const given = new URLSearchParams(query)
  const place = (key: string) => `/${name}/${toXmlName(key)}`
  const row: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(request)) {
    const [text, another] = given.getAll(key)
    if (text === undefined && field.isOptional) continue
    if (text === undefined || another !== undefined)
      return refuseMessage({ kind: 'schema', path: place(key), detail: 'is asked for once' })
    const value = isScalar(field.shape) ? readScalar(field.shape, text) : undefined
    if (value instanceof Flaw) return refuseMessage({ kind: 'bounds', problems: [{ path: place(key), ...value }] })
    row[key] = value
  }
  for (const key of given.keys())
    if (!Object.hasOwn(request, key))
      return refuseMessage({ kind: 'schema', path: `/${name}`, detail: 'has a parameter that is not expected' })
  return row
}
