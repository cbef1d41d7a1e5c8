/**
 * SOAP over HTTP (rules B4.1–B4.7; SOAP 1.1 §6, SOAP 1.2 Part 2 §7): the only room of `soap/` that
 * knows HTTP. Guards: a request without a SOAP message gets a plain HTTP status; no response field
 * echoes the request.
 */
import { chain, type Maybe, settle, settleFor } from '../../base/maybe.ts'
import { endpointsOf, mainEndpoint } from '../../contract/endpoint-rule.ts'
import type { Port } from '../../contract/exchange.ts'
import type { Caller } from '../../contract/policy.ts'
import { newestVersion, type Service } from '../../contract/service.ts'
import { answerPreflight, isPreflight } from '../../front/cross-origin.ts'
import { type Entry, type Mount, prefixOf } from '../../front/entry.ts'
import { createFront, type FrontOptions } from '../../front/front.ts'
import { writeAllow } from '../../front/front-rows.ts'
import { type FrontRefusal, respondToRefusal } from '../../front/refusal.ts'
import { addVersionFields, endOfVersion, isEnding, linkToSuccessor } from '../../front/version-end.ts'
import { parseMediaType } from '../../http/media-type.ts'
import type { Request, Response } from '../../http/message.ts'
import type { FaceContext } from '../../service/face-context.ts'
import { Refused } from '../../service/refusal.ts'
import type { Endpoint, SoapNode, SoapOptions } from '../endpoint.ts'
import { refuseEarly } from '../face.ts'
import type { BoundOperation } from '../operations/bound-operation.ts'
import { bindOperations, faultWordingOf } from '../operations/contract-operation.ts'
import { bindExchanges } from '../operations/exchange-operation.ts'
import { type AnySoapRefusal, refuseMessage } from '../refusal.ts'
import { soap12, versions } from '../version.ts'
import { receivePost } from './post.ts'
import { addressesOf, announcedVersion } from './request-facts.ts'
import { isRetrievable, refuseUnknownOperation, respondToGet } from './retrieve.ts'
import { endExchange, responseOfEnd, writeResponse } from './write-response.ts'

export type { Request, Response }

/** One endpoint behind the front door. */
export interface SoapEndpoint extends Pick<Mount, 'serve' | 'refuse'> {
  /** For one of our own pages, which has proven the sender of the message. */
  readonly serveFor: (entry: Entry, caller: Caller) => Maybe<Response>
}

/** The endpoint of one version of a contract. */
export function compileSoapEndpoint(serving: FaceContext, endpoint: Endpoint, options: SoapOptions = {}): SoapEndpoint {
  const { contract } = serving.app
  const exchanges = bindOperations(serving, endpoint.version, endpoint.style)
  const node = compileNode(serving, endpoint, exchanges, { realm: contract.service, ...options })
  const rule = contract.versions[endpoint.version] ?? {}
  if (!rule.retired && !isEnding(rule)) return bindNode(node)
  const successor = prefixOf(serving.settings) + successorOf(contract, endpoint.path, endpoint.version)
  return bindNode({ ...node, ending: { rule, at: endOfVersion(rule), successor } })
}

/** The same path in the newest version, or else the first endpoint of that version. */
function successorOf(contract: Service, path: string, version: string): string {
  const newest = newestVersion(contract)
  const same = path.replace(`/${version}`, `/${newest}`)
  const isServed = endpointsOf(contract).some(each => each.path === same)
  return isServed ? same : (mainEndpoint(contract, newest)?.path ?? same)
}

/** The endpoint of a port of the contract. */
export function compilePortEndpoint(
  serving: FaceContext,
  port: Port,
  path: string,
  options: SoapOptions = {},
): SoapEndpoint {
  const endpoint = { path, secure: port.security !== undefined, versions: port.soap }
  return bindNode(
    compileNode(serving, endpoint, bindExchanges(serving, port), { realm: serving.app.contract.service, ...options }),
  )
}

type SoapFace = (request: Request) => Maybe<Response>
type FaceOptions = SoapOptions & Pick<FrontOptions, 'gate'>

/** A SOAP endpoint by itself, behind a front door with one mount. */
export function createSoapFace(serving: FaceContext, endpoint: Endpoint, options: FaceOptions = {}): SoapFace {
  return createFaceAlone(serving, compileSoapEndpoint(serving, endpoint, options), options)
}

/** A face for custom operations: a service without a contract. */
export function createSoapNode(
  serving: Omit<FaceContext, 'app' | 'calls'>,
  endpoint: Omit<Endpoint, 'version' | 'style'>,
  exchanges: readonly BoundOperation[],
  options: FaceOptions = {},
): SoapFace {
  return createFaceAlone(serving, bindNode(compileNode(serving, endpoint, exchanges, options)), options)
}

const createFaceAlone = (
  serving: Omit<FaceContext, 'app' | 'calls'>,
  endpoint: SoapEndpoint,
  options: FaceOptions,
): SoapFace =>
  createFront(serving, [{ name: 'soap', segments: [], serve: endpoint.serve, refuse: endpoint.refuse }], options)

function compileNode(
  serving: Omit<FaceContext, 'app' | 'calls'>,
  endpoint: Omit<Endpoint, 'version' | 'style'>,
  exchanges: readonly BoundOperation[],
  options: SoapOptions,
): SoapNode {
  if (endpoint.secure && !options.secure)
    throw new Error(`${endpoint.path} demands WS-Security but cannot verify it: pass \`secure\``)
  const spoken = versions.filter(each => endpoint.versions === 'both' || each.number === endpoint.versions)
  const sizes = exchanges.length > 0 ? exchanges.map(each => each.longest) : [octetsWithoutOperation]
  const blocks = [...(options.blocks ?? []), ...new Set(exchanges.flatMap(each => each.blocks ?? []))]
  const roles = [...(options.roles ?? []), ...blocks.flatMap(each => (each.operations && each.roles) ?? [])]
  return {
    realm: 'soap',
    ...options,
    blocks,
    serving,
    endpoint,
    spoken,
    exchanges,
    byFirst: groupByFirst(exchanges),
    open: exchanges.filter(({ mayBegin }) => mayBegin),
    byAction: new Map([...listTransportActions(exchanges), ...exchanges.map(each => [each.action, each] as const)]),
    sizes: {
      shortest: Math.min(...sizes),
      longest: Math.max(...sizes),
      passing: Math.max(0, ...exchanges.map(each => each.passingMax ?? 0)),
    },
    place: { roles, ultimate: true },
    wording: exchanges[0]?.wording ?? faultWordingOf('', { request: { name: '', fields: {}, main: undefined } }),
  }
}

/** For an endpoint that has none: whatever is sent is refused once it is read. */
const octetsWithoutOperation = 64 * 1024

function groupByFirst(exchanges: readonly BoundOperation[]): SoapNode['byFirst'] {
  const pairs = exchanges.flatMap(each => [...new Set(each.firsts)].map(first => ({ first, each })))
  const groups = Map.groupBy(pairs, ({ first }) => first)
  return new Map(Array.from(groups, ([first, found]) => [first, found.map(({ each }) => each)]))
}

const bindNode = (node: SoapNode): SoapEndpoint => ({
  serve: entry => serveNode(node, entry),
  serveFor: (entry, caller) => serveNode({ ...node, proven: caller }, entry),
  refuse: (entry, refusal) => settle(() => refuseAsFault(node, entry, refusal), responseOfEnd),
})

/** One request and the node that received it. */
interface EndpointRequest {
  readonly node: SoapNode
  readonly entry: Entry
}

const serveNode = (node: SoapNode, entry: Entry): Maybe<Response> =>
  settleFor({ node, entry }, respondToEntry, addEnding, respondToRefused)

/** Rule A9.1: each response of a version that will end says so, as in REST. */
function addEnding({ node: { ending } }: EndpointRequest, response: Response): Response {
  if (!ending || !isEnding(ending.rule)) return response
  const fields = { ...response.fields }
  addVersionFields(fields, ending.rule, ending.successor)
  return { ...response, fields }
}

/** A fault for a request that speaks SOAP, else 410. */
function requireServed({ at, successor }: NonNullable<SoapNode['ending']>, { request, now }: Entry): void {
  if (now < at) return
  if (request.method === 'POST' && announcedVersion(request)) refuseMessage({ kind: 'retired', successor })
  endExchange(410, `this version is no longer served: use ${successor}`, { link: linkToSuccessor(successor) })
}

/** The target of the request: '' for the endpoint itself, else the name of an operation. */
function operationAt({ endpoint }: SoapNode, { path }: Entry): string {
  if (path === endpoint.path) return ''
  return path.startsWith(`${endpoint.path}/`)
    ? path.slice(endpoint.path.length + 1)
    : endExchange(404, 'this endpoint does not exist')
}

const allowOfEndpoint = writeAllow(['GET', 'POST'])
const allowOfOperation = writeAllow(['GET'])

function respondToEntry({ node, entry }: EndpointRequest): Maybe<Response> {
  const { request } = entry
  const operation = operationAt(node, entry)
  if (node.ending) requireServed(node.ending, entry)
  if (request.method === 'POST' && operation === '') return receivePost(node, entry)
  if (operation !== '' && !isRetrievable(node, entry, operation)) refuseUnknownOperation()
  const allow = operation === '' && entry.query === '' ? allowOfEndpoint : allowOfOperation
  if (isPreflight(request)) return answerPreflight(request, node.serving.settings, allow)
  if (request.method === 'OPTIONS') return { status: 204, fields: { allow, 'cache-control': 'no-store' } }
  if (request.method === 'GET' || request.method === 'HEAD') return respondToGet(node, entry, operation, allow)
  return respondToRefusal({ kind: 'not-allowed', allow }) // B4.1
}

const respondToRefused = (visit: EndpointRequest, thrown: unknown): Maybe<Response> =>
  chain(answerThrown(visit, thrown), response => addEnding(visit, response))

function answerThrown({ node, entry }: EndpointRequest, thrown: unknown): Maybe<Response> {
  if (!(thrown instanceof Refused)) return responseOfEnd(thrown)
  const { request } = entry
  if (request.method !== 'POST' || !parseMediaType(request.fields['content-type'] ?? '')) throw thrown
  // Before the XML is read, only its packaging and its action can be refused, in the version of the
  // media type.
  const refusal = thrown.refusal as AnySoapRefusal // Refused has no other refusals
  const [address] = addressesOf(node, entry)
  const fault = () => refuseEarly(node, announcedVersion(request) ?? soap12, address, refusal)
  return settle(() => chain(fault(), reply => writeResponse(node, entry, reply)), responseOfEnd)
}

/** Responds with a fault if the request names a version of SOAP, else with the status alone. */
function refuseAsFault(node: SoapNode, entry: Entry, refusal: FrontRefusal): Maybe<Response> {
  const { request } = entry
  const isMessage = refusal.kind === 'unavailable' || refusal.kind === 'too-many'
  const version = isMessage && request.method === 'POST' ? announcedVersion(request) : undefined
  if (!version || !isMessage) return respondToRefusal(refusal)
  const fault = refuseEarly(node, version, addressesOf(node, entry)[0], refusal)
  return chain(fault, message => writeResponse(node, entry, message))
}

const listTransportActions = (exchanges: readonly BoundOperation[]) =>
  exchanges.flatMap(each => (each.transportAction === undefined ? [] : [[each.transportAction, each] as const]))
