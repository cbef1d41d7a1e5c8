/**
 * SOAP over HTTP (rules B4.1–B4.7; SOAP 1.1 §6, SOAP 1.2 Part 2 §7): the only file here that knows HTTP. Guards: what is not
 * an HTTP request of a SOAP message gets its status before a message exists; nothing of the request is echoed in a field.
 */

import { chain, type Maybe, settle } from '../../base/maybe.ts'
import { parseMediaType } from '../../http/media-type.ts'
import type { Request, Response } from '../../http/message.ts'
import { parseHost } from '../../http/uri.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { Refused } from '../../service/refusal.ts'
import type { Endpoint, GateRefusal, SoapNode, SoapOptions } from '../endpoint.ts'
import { early } from '../face.ts'
import type { BoundOperation } from '../operations/bound-operation.ts'
import { bindOperations, faultWordingOf } from '../operations/contract-operation.ts'
import type { AnySoapRefusal } from '../refusal.ts'
import { soap12, versions } from '../version.ts'
import { posted } from './post.ts'
import { about, announced } from './request-facts.ts'
import { type EndpointTarget, got, head, notAllowed } from './retrieve.ts'
import { end, endedBy, fieldsOf, written } from './write-response.ts'

export type { Request, Response }

/** The face of a contract's version at one endpoint. */
export function createSoapFace(
  serving: FaceContext,
  endpoint: Endpoint,
  options: SoapOptions = {},
): (request: Request) => Maybe<Response> {
  const exchanges = bindOperations(serving, endpoint.version, endpoint.style)
  return createSoapNode(serving, endpoint, exchanges, options)
}

/** The same for any exchanges: a service whose messages are not a contract's. */
export function createSoapNode(
  serving: Omit<FaceContext, 'app' | 'calls'>,
  endpoint: Omit<Endpoint, 'version' | 'style'>,
  exchanges: readonly BoundOperation[],
  options: SoapOptions = {},
): (request: Request) => Maybe<Response> {
  if (endpoint.secure && !options.secure)
    throw new Error(`${endpoint.path} demands WS-Security, and nothing is given that could prove it`)
  const spoken = versions.filter(each => endpoint.versions === 'both' || each.number === endpoint.versions)
  const sizes = exchanges.map(each => each.longest)
  const node: SoapNode = {
    ...options,
    serving,
    endpoint,
    spoken,
    exchanges,
    byElement: new Map(exchanges.map(each => [each.element, each])),
    byAction: new Map(exchanges.map(each => [each.action, each])),
    sizes: { shortest: Math.min(...sizes), longest: Math.max(...sizes) },
    place: { roles: options.roles ?? [], ultimate: true },
    wording: exchanges[0]?.wording ?? faultWordingOf('', { request: { name: '', fields: {}, main: undefined } }),
  }
  return createHttpBinding(node)
}

export function createHttpBinding(node: SoapNode): (request: Request) => Maybe<Response> {
  return request =>
    settle(
      () => answered(node, request),
      thrown => refusedBy(node, request, thrown),
    )
}

function answered(node: SoapNode, request: Request): Maybe<Response> {
  addressed(request)
  const asked = targetOf(node, request)
  const away = node.gate?.(request.from)
  if (away) return turnedAway(node, request, asked, away)
  if (request.method === 'GET') return got(node, request, asked)
  if (request.method === 'HEAD') return chain(got(node, request, asked), head)
  if (request.method !== 'POST' || asked.operation !== '') return notAllowed(node, asked) // B4.1
  return posted(node, request)
}

function refusedBy(node: SoapNode, request: Request, thrown: unknown): Maybe<Response> {
  if (!(thrown instanceof Refused)) return endedBy(thrown)
  const type = parseMediaType(request.fields['content-type'] ?? '')
  if (request.method !== 'POST' || !type) throw thrown
  // Before the XML is looked at only its packaging and its action can be refused: in the version of the media type.
  const [address] = about(node, request).addresses
  const refusal = thrown.refusal as AnySoapRefusal // the two unions are all that is thrown as Refused
  const fault = () => early(node, announced(request) ?? soap12, address, refusal)
  return settle(() => chain(fault(), sent => written(node, request, sent)), endedBy)
}

/** RFC 9112 §3.2: exactly one Host, whatever else is asked (two lines of it are no host). */
function addressed({ fields, version }: Request): void {
  const { host } = fields
  if (host === undefined ? version !== '1.0' : !parseHost(host)) end(400, 'there must be exactly one Host')
}

const itself: EndpointTarget = { operation: '', query: '' }
function targetOf({ endpoint }: SoapNode, { target }: Request): EndpointTarget {
  if (target === endpoint.path) return itself
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#]*)\??(.*)$/s.exec(target) ?? []
  if (path === endpoint.path) return { operation: '', query }
  return path.startsWith(`${endpoint.path}/`)
    ? { operation: path.slice(endpoint.path.length + 1), query }
    : end(404, 'there is no endpoint here')
}

/** With a fault where the request says which version of SOAP is spoken, else with the status alone. */
async function turnedAway(
  node: SoapNode,
  request: Request,
  { operation }: EndpointTarget,
  refusal: GateRefusal,
): Promise<Response> {
  const version = request.method === 'POST' ? announced(request) : operation === '' ? undefined : soap12
  const status = refusal.kind === 'too-many' ? 429 : 503
  if (!version) return end(status, 'try again later', { ...fieldsOf(node, refusal), 'cache-control': 'no-store' })
  return written(node, request, await early(node, version, about(node, request).addresses[0], refusal))
}
