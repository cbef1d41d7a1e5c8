/**
 * A mock at an address: a contract with examples, a recorded service, or one being recorded; each
 * response may misbehave. What always holds:
 *  (1) Every response says that it comes from a mock, by the field Mock-Service.
 *  (2) Other machines reach the mock only if an option explicitly allows it.
 *  (3) Only `record` stores anything: the database is in memory, and nothing is delivered.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Maybe } from '../base/maybe.ts'
import { omitUndefined } from '../base/objects.ts'
import type { Person } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { requireSoundContract } from '../contract/review.ts'
import type { AnyService } from '../contract/service.ts'
import { openService } from '../host/open-service.ts'
import { quietLogger } from '../host/operations/log.ts'
import { openAllOrNothing, type ServiceOptions } from '../host/options.ts'
import { findExposure } from '../host/safety.ts'
import type { Request, Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { reasonPhrases } from '../http/status.ts'
import { proxiedLimits } from '../server/limits.ts'
import { startNodeListener } from '../server/node-listener.ts'
import { frameResponse } from '../server/response-framing.ts'
import type { Serve } from '../server/server-context.ts'
import type { Tls } from '../server/tls.ts'
import type { ProxyFields } from '../service/face-context.ts'
import { writeFaultEnvelope } from '../soap/envelope.ts'
import { faultReason } from '../soap/fault.ts'
import { soap11, versions } from '../soap/version.ts'
import { createMock, type MockOptions } from './create-mock.ts'
import { demandProtectionTime, type FaultDemand, performDemanding, performExpired } from './demanded.ts'
import {
  breakContent,
  changeNamespace,
  findKind,
  hasTimestamp,
  isOfConnection,
  type Misbehaviour,
  parseMisbehaviours,
  writeWire,
} from './misbehaviour.ts'

/** The options of `startMock`. */
export interface MockServerOptions extends MockOptions, Pick<ServiceOptions, 'messageSecurity' | 'clock'> {
  /** Default: 127.0.0.1. An address that other machines can reach needs `exposed`. */
  readonly host?: string
  /** Default: 0, any free port. */
  readonly port?: number
  /**
   * Whether other machines may reach it, although its passwords are publicly known. Default: false.
   */
  readonly exposed?: boolean
  /** How every response misbehaves if the request has no Mock-Behavior field. Default: not. */
  readonly behavior?: string
  /** HTTPS. Default: none. */
  readonly tls?: Tls
  /** The address that clients use, for links and descriptions. Default: the one in each request. */
  readonly publicUrl?: string
  /** The only kind of fields in which a proxy in front is trusted. Default: no proxy. */
  readonly trustProxy?: ProxyFields
  /** The role of the person to whom requests without credentials are attributed. Default: none. */
  readonly as?: string
}

/** A running mock, until it is closed. */
export interface MockServer {
  /** Without a trailing slash. */
  readonly url: string
  readonly port: number
  /** The callers that it knows; each password is the name. */
  readonly people: readonly Person[]
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Serves a contract with examples until closed. Throws an error that says what to change. */
export async function startMock(contract: AnyService, options: MockServerOptions = {}): Promise<MockServer> {
  const app = createMock(contract, options)
  requireSoundContract(app)
  const people = app.seed().people ?? []
  const stranger = findStranger(people, options.as)
  const hosted = (carrier: object): Caller | undefined =>
    stranger && !hasCredentials((carrier as WireCarrier).incoming) ? stranger : undefined // made by `factsOf`
  const given: ServiceOptions = {
    data: ':memory:',
    logger: quietLogger,
    onError: (_, thrown) => void process.emitWarning(thrown instanceof Error ? thrown : String(thrown)),
    ...(options.clock && { clock: options.clock }),
    settings: omitUndefined({ publicUrl: options.publicUrl, trustProxy: options.trustProxy }),
    ...(options.messageSecurity && { messageSecurity: options.messageSecurity }),
  }
  const clock = options.clock ?? Date.now
  const surroundings = { hosted, seededPasswords: true, protectedAt: () => demandProtectionTime(clock()) }
  const open = await openAllOrNothing(opened => openService(app, given, opened, surroundings))
  const name = `"${app.contract.service}"; seed=${options.seed ?? 1}`
  const server = await startMisbehaving(open.answer, name, options).catch(async thrown => {
    await open.close(0)
    throw thrown
  })
  const close = async (): Promise<void> => {
    await open.close(0, limit => server.close(limit))
  }
  return { url: server.url, port: server.port, people, close, [Symbol.asyncDispose]: close }
}

/** The source of the responses of a mock without a contract. */
export type MockSource =
  /** The folder of a recording. */
  | { readonly replay: string }
  /** The folder to write, and the service to call meanwhile. */
  | { readonly record: string; readonly to: string }

/** Records a service, or responds from a recording, until closed. */
export async function startRecordedMock(source: MockSource, options: MockServerOptions = {}): Promise<MockServer> {
  const { createRecorder, createReplay } = await import('./recording.ts')
  const isReplay = 'replay' in source
  const answer = isReplay ? createReplay(source.replay) : createRecorder(source.to, source.record)
  const server = await startMisbehaving(answer, isReplay ? 'replay' : 'record', options)
  const close = async (): Promise<void> => {
    await server.close(0)
  }
  return { url: server.url, port: server.port, people: [], close, [Symbol.asyncDispose]: close }
}

/** The options of `startOpenApiMock`. */
export interface OpenApiMockServerOptions
  extends Omit<MockServerOptions, 'as' | 'messageSecurity' | 'clock' | 'publicUrl'> {
  /** Folders with documents to which this one refers by address. */
  readonly from?: readonly string[]
}

/** A running mock of an OpenAPI document. */
export interface OpenApiMockServer extends MockServer {
  /** `GET /v1/pets/{petId}`, as in the document. */
  readonly operations: readonly string[]
  /** Parts of the document that were not found, one line each. */
  readonly losses: readonly string[]
}

/**
 * Responds with the examples and schemas of an OpenAPI document, at its addresses, until closed.
 * @param file JSON or YAML, of version 3.0 to 3.2
 * @throws an error that says what to change
 */
export async function startOpenApiMock(
  file: string,
  options: OpenApiMockServerOptions = {},
): Promise<OpenApiMockServer> {
  const { readMockedOpenApi } = await import('./mocked-openapi.ts')
  const { createOpenApiMock } = await import('./openapi-mock.ts')
  const { name, document, operations, losses } = await readMockedOpenApi(file, options.from ?? [])
  const answer = createOpenApiMock(document, options)
  const server = await startMisbehaving(answer, `"${name}"; seed=${options.seed ?? 1}`, options)
  const close = async (): Promise<void> => {
    await server.close(0)
  }
  const { url, port } = server
  return { url, port, people: [], operations, losses, close, [Symbol.asyncDispose]: close }
}

function findStranger(people: readonly Person[], role: string | undefined): Caller | undefined {
  if (role === undefined) return undefined
  const found = people.find(each => each.subject === role)
  const known = people.map(each => each.subject).join(', ')
  if (!found)
    throw new Error(
      `no one has the role ${role}: ${known === '' ? 'the contract has no roles: leave it out' : `use ${known}`}`,
    )
  return { subject: found.subject, roles: found.roles, claims: omitUndefined(found.claims ?? {}) }
}
const hasCredentials = ({ headers }: IncomingMessage): boolean =>
  headers.authorization !== undefined || headers['api-key'] !== undefined || headers.cookie !== undefined

// Behaviour

/** A request with its connection, which only a mock knows. */
interface WireCarrier {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

/** (1) (2) Serves responses, and spoils them on demand. */
async function startMisbehaving(
  answer: Serve,
  name: string,
  { host = '127.0.0.1', port = 0, exposed = false, behavior = '', tls, publicUrl, trustProxy }: MockServerOptions,
) {
  const way = findExposure({ host, settings: omitUndefined({ publicUrl, trustProxy }) })
  if (way !== undefined && !exposed)
    throw new Error(
      `${way} can be reached from other machines, and a mock admits everyone: give --exposed to allow that`,
    )
  const always = parseMisbehaviours(behavior)
  if (typeof always === 'string') throw new Error(always)
  const serve = async (request: Request): Promise<Response> => {
    const response = await answerMisbehaving(answer, request, always)
    return { ...response, fields: { ...response.fields, 'mock-service': name } }
  }
  const spoil = async (request: Request): Promise<Response> => {
    const response = await serve(request)
    const behaviours = behavioursOf(request, always)
    if (typeof behaviours === 'string' || !isOfConnection(behaviours)) return response
    return writeToConnection(request, response, behaviours)
  }
  return startNodeListener(
    spoil,
    { host, port, tls, limits: proxiedLimits(trustProxy !== undefined, undefined) },
    (incoming, outgoing) => ({ carrier: { incoming, outgoing } }),
  )
}

const behavioursOf = ({ fields }: Request, always: readonly Misbehaviour[]): readonly Misbehaviour[] | string => {
  const behaviours = fields['mock-behavior']
  return behaviours === undefined ? always : parseMisbehaviours(behaviours)
}

async function answerMisbehaving(answer: Serve, request: Request, always: readonly Misbehaviour[]): Promise<Response> {
  const behaviours = behavioursOf(request, always)
  if (typeof behaviours === 'string') return respond(400, { detail: `Mock-Behavior: ${behaviours}` })
  if (behaviours.length === 0) return answer(request)
  const late = findKind(behaviours, 'delay')
  if (late) await wait(late.ms, undefined, { ref: false })
  const away = findKind(behaviours, 'unavailable')
  if (away) return respondUnavailable(request, away.seconds)
  const fault = findKind(behaviours, 'fault')
  const ask = () => (fault ? answerWithFault(answer, request, fault.name) : answer(request))
  const response = await (findKind(behaviours, 'expired') ? answerExpired(ask) : ask())
  return spoilContent(response, behaviours)
}

/** In the terms of the face that is called. */
function respondUnavailable({ fields }: Request, seconds: number): Response {
  const retry = { 'retry-after': String(seconds) }
  const detail = 'the mock is unavailable, as requested'
  const type = fields['content-type'] ?? ''
  if (!/xml|multipart\/related/i.test(type)) return respond(503, { detail, fields: retry })
  const version = versions.find(each => type.includes(each.mediaType)) ?? soap11
  const content = writeFaultEnvelope(version, { code: 'Receiver', reasons: faultReason(detail) }, [])
  return { status: 503, fields: { ...retry, 'content-type': `${version.mediaType}; charset=utf-8` }, content }
}

/** A request that no declared fault can end gets the list of faults that it may demand. */
async function answerWithFault(answer: Serve, request: Request, fault: string): Promise<Response> {
  const demand: FaultDemand = { fault, isMet: false, declared: [] }
  const response = await performDemanding(demand, () => answer(request))
  if (demand.isMet || response.status >= 400) return response
  const known =
    demand.declared.length === 0 ? 'it declares none' : `it declares ${[...new Set(demand.declared)].join(', ')}`
  return respond(400, { detail: `Mock-Behavior: this operation does not declare the fault ${fault}: ${known}` })
}

async function answerExpired(ask: () => Maybe<Response>): Promise<Response> {
  const response = await performExpired(ask)
  const content = await collectContent(response)
  if (hasTimestamp(content)) return { ...response, content }
  return respond(400, {
    detail:
      'Mock-Behavior: the answer has no Timestamp that could expire: answers are protected if the security of the contract or the WSDL says so, for requests that prove their sender',
  })
}

async function spoilContent(response: Response, behaviours: readonly Misbehaviour[]): Promise<Response> {
  const changes = [
    ...(findKind(behaviours, 'namespace') ? [changeNamespace] : []),
    ...(findKind(behaviours, 'malformed') ? [breakContent] : []),
  ]
  if (changes.length === 0 || response.content === undefined) return response
  let content: Uint8Array | undefined = await collectContent(response)
  for (const change of changes) content &&= change(content)
  if (!content)
    return respond(400, { detail: 'Mock-Behavior: the answer has no content, or no namespace, that could be wrong' })
  const { 'content-length': _, etag: _tag, ...fields } = response.fields
  return { ...response, fields, content }
}

async function collectContent({ content }: Response): Promise<Uint8Array> {
  if (content === undefined) return new Uint8Array(0)
  if (typeof content === 'string' || content instanceof Uint8Array) return Buffer.from(content)
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** Writes the octets itself, ends the connection, and leaves nothing to write. */
async function writeToConnection(request: Request, response: Response, behaviours: readonly Misbehaviour[]) {
  const { outgoing } = request.carrier as WireCarrier // made by `factsOf`
  const { socket } = outgoing
  const hasContent = request.method !== 'HEAD' && response.status !== 204 && response.status !== 304
  const content = hasContent ? await collectContent(response) : new Uint8Array(0)
  const { status, lines } = frameResponse({ ...response, content }, request.method)
  const head = (length: number): string =>
    [
      `HTTP/1.1 ${status} ${reasonPhrases[status] ?? ''}\r\n`,
      ...lines.map(each => each.text),
      `content-length: ${length}\r\n\r\n`,
    ].join('')
  if (socket && !socket.destroyed)
    await new Promise<void>(resolve => {
      socket.once('close', () => resolve())
      socket.end(writeWire(head, content, behaviours), () => resolve())
    })
  outgoing.destroy()
  return { status, fields: {} }
}
