/**
 * A SOAP client of a contract: one typed method for each operation that the contract offers as a
 * message. A call goes in one direction: *check, write, send, read*. The codecs are those of the
 * service, used the other way round.
 */

import { ownMember } from '../base/objects.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { fieldsOfHeaders, type HeaderValues, isOfRequest, isOfResponse } from '../contract/header.ts'
import type { Values } from '../contract/implement.ts'
import { type MembersOf, requireKnownMembers } from '../contract/member-kinds.ts'
import { type AnyService, namespaceOf, newestVersion, type Service } from '../contract/service.ts'
import { compileTypeNames, typeRootsOf } from '../contract/type-names.ts'
import { checkValue } from '../contract/typed-value.ts'
import { compileMessages, type Message, replyAction } from '../contract/xml-message.ts'
import { type MessageCodec, messageStyles } from '../soap/codecs/style.ts'
import { type TypeSpace, typesIn } from '../soap/codecs/values.ts'
import { compileHeaders, type HeaderCodec } from '../soap/headers/contract-header.ts'
import { type SoapVersion, soap11, soap12 } from '../soap/version.ts'
import { internName } from '../xml/index.ts'
import type { VersionOf } from './contract-types.ts'
import {
  createMessageDress,
  type MessageDress,
  MessageSender,
  type SignedExchange,
  type WrittenMessage,
} from './dressed-message.ts'
import { ConnectionError, InputError, TransportFailure } from './errors.ts'
import { compileFaultReaders, type Faults } from './fault-reader.ts'
import { toReplyFields } from './field-views.ts'
import { createHttpTransport } from './http-transport.ts'
import { findSecurityRule } from './message-keys.ts'
import type { Operations } from './operation-types.ts'
import type { CallOptions, SoapClientOptions } from './options.ts'
import { isRepeatable, postWithRetries, timingOf } from './repeated-post.ts'
import { type ExpectedReply, findsBlock, parserLimitsFor, type RepliedMessage, readReply } from './reply.ts'
import { type CallMessage, createSurface } from './soap-surface.ts'
import type { ServiceSurface } from './surface-types.ts'
import { waitFor } from './timer.ts'
import { type ClientTransport, longestDefault } from './transport.ts'

/** Each operation by its own name, and by that of its resource or job as in the REST client. */
export type SoapClient<S extends AnyService, V extends string = never> = Operations<S, V> &
  ServiceSurface<S, V, 'soap'> & {
    /** Closes the connections; calls in progress fail. A process can also end without it. */
    close(): void
    [Symbol.dispose](): void
  }

/** @throws TypeError for an invalid option */
export function createSoapClient<const S extends AnyService, const V extends VersionOf<S> = never>(
  contract: S,
  options: SoapClientOptions<V, HeaderValues<S['headers'], 'request'>>,
): SoapClient<S, V> {
  requireKnownMembers('the options of the client', options, clientMembers)
  const endpoint = createEndpoint(contract as unknown as Service, options) // the same contract, its types erased
  const close = () => endpoint.transport.close()
  const client: Record<PropertyKey, unknown> = { close, [Symbol.dispose]: close }
  const methods = new Map(endpoint.messages.map(message => [message, createMethod(endpoint, message)]))
  const call: CallMessage = async (message, input, given) => (await methods.get(message)?.(input, given)) ?? {}
  const surface = createSurface(endpoint.messages, call, options.wait ?? waitFor)
  for (const [message, method] of methods) client[message.operation.name] = method
  // An operation keeps its name if a resource or a job has the same.
  return Object.assign(surface, client) as unknown as SoapClient<S, V> // one method for each message: the type lists them by the same rules
}

const clientMembers: MembersOf<SoapClientOptions> = {
  address: true, version: true, endpoint: true, soap: true, style: true, credentials: true, security: true, keys: true, addressing: true, mtom: true,
  blocks: true, headers: true, fields: true, timeLimit: true, retries: true, wait: true, transport: true, connections: true, waiting: true,
  idle: true, longest: true, tls: true, proxy: true,
} // biome-ignore format: a list of names reads best in few lines

/** What all calls of a client have in common. */
interface ClientEndpoint {
  readonly namespace: string
  readonly messages: readonly Message[]
  readonly types: TypeSpace
  readonly faults: Faults
  readonly version: SoapVersion
  readonly options: SoapClientOptions
  readonly transport: ClientTransport
  readonly dress: MessageDress
  readonly headers: readonly HeaderCodec[]
}

function createEndpoint(contract: Service, options: SoapClientOptions): ClientEndpoint {
  const version = options.version ?? newestVersion(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new TypeError(
      `unknown version ${version} of ${contract.service}: use ${Object.keys(contract.versions).join(', ')}`,
    )
  const namespace = namespaceOf(contract, version)
  const all = compileMessages(contract, version)
  const types = typesIn(namespace, compileTypeNames(typeRootsOf(all, options.style ?? 'document')))
  return {
    namespace,
    messages: all,
    types,
    faults: compileFaultReaders(all, namespace, types),
    version: options.soap === '1.1' ? soap11 : soap12,
    options,
    transport: options.transport ?? createHttpTransport(options.address, options),
    dress: createMessageDress(findSecurityRule(contract, version, options), options.address, options),
    headers: compileHeaders(all),
  }
}

/**
 * Prepared with the first call: a contract may have hundreds of operations, and a client calls few.
 */
function createMethod(endpoint: ClientEndpoint, message: Message) {
  let operation: ClientOperation | undefined
  const perform = (input: Values = {}, options: CallOptions = {}) =>
    performCall((operation ??= prepareOperation(endpoint, message)), input, options)
  const call = async (input?: Values, options?: CallOptions) => (await perform(input, options)).output
  return Object.assign(call, { faults: message.faults, callForHeaders: perform })
}

/** One operation, ready to be called. */
interface ClientOperation extends ClientEndpoint, ExpectedReply {
  readonly message: Message
  readonly faults: Faults
  readonly version: SoapVersion
  readonly write: MessageCodec['write']
  readonly sender: MessageSender
}

function prepareOperation(endpoint: ClientEndpoint, message: Message): ClientOperation {
  const { namespace, types, version, options, transport, dress } = endpoint
  const { request, response } = message
  const answer = { name: '', main: undefined, ...response, fields: toReplyFields(response?.fields ?? {}) }
  const longest = options.longest ?? longestDefault
  const sender = new MessageSender(
    { name: request.name, action: message.action, version },
    dress,
    transport,
    options.fields,
  )
  const names = new Set(message.headers.map(({ name }) => name))
  const headers = endpoint.headers.filter(({ header }) => names.has(header.name))
  const { blocks = [] } = options
  const replied = headers.filter(({ header }) => isOfResponse(header))
  return {
    ...endpoint,
    ...messageStyles[options.style ?? 'document'](namespace, answer, request, { types }),
    message,
    sender,
    addressing: dress.addressing,
    answers: sender.security?.answers,
    operation: message.operation.name,
    element: response && internName(namespace, response.name),
    action: response && replyAction(message),
    blocks,
    headers,
    replied,
    understands: findsBlock(blocks, replied),
    limits: parserLimitsFor(longest),
    longest,
  }
}

// A call

async function performCall(operation: ClientOperation, input: Values, options: CallOptions): Promise<RepliedMessage> {
  const problems = [...checkValue(operation.message.request.fields, input), ...checkHeaders(operation, options)]
  if (problems.length > 0) throw new InputError(operation.operation, problems)
  const { response, request } = await post(operation, writeMessage(operation, input, options), options)
  return readReply(operation, response, request)
}

async function post(operation: ClientOperation, written: WrittenMessage, given: CallOptions): Promise<SignedExchange> {
  const { message, addressing, options, sender } = operation
  const hasOneEffect = message.operation.safe || addressing?.once === true
  const within = {
    ...timingOf(options, given),
    mayRepeat: (failure: TransportFailure) => isRepeatable(failure, hasOneEffect),
  }
  try {
    return await postWithRetries(sender, written, within)
  } catch (thrown) {
    throw thrown instanceof TransportFailure ? new ConnectionError(operation.operation, thrown) : thrown
  }
}

/** The header blocks of a request: those of the call, and those of the client that it has. */
function requestHeaders({ headers, options: given }: ClientOperation, { headers: own }: CallOptions): Values {
  const requested = headers.filter(({ header }) => isOfRequest(header)).map(({ header }) => header.name)
  const shared = Object.entries(given.headers ?? {}).filter(([name]) => requested.includes(name))
  return { ...Object.fromEntries(shared), ...own }
}

function checkHeaders(operation: ClientOperation, options: CallOptions): readonly FieldProblem[] {
  const requested = operation.headers.map(({ header }) => header).filter(isOfRequest)
  if (requested.length === 0 && options.headers === undefined) return []
  const values = requestHeaders(operation, options)
  const missing = requested.filter(({ isRequired, name }) => isRequired && ownMember(values, name) === undefined)
  return [
    ...checkValue(fieldsOfHeaders(requested), values),
    ...missing.map(({ name }): FieldProblem => ({ path: [name], code: 'required', detail: 'is required' })),
  ]
}

function writeMessage(operation: ClientOperation, input: Values, options: CallOptions): WrittenMessage {
  const { sender, version } = operation
  const values = requestHeaders(operation, options)
  return sender.write(writing => {
    const declared = operation.headers.flatMap(({ header, write }) =>
      values[header.name] === undefined ? [] : [write(values[header.name], version)],
    )
    return { body: operation.write(input, writing, version), blocks: [...declared, ...(options.blocks ?? [])] }
  }, options.messageId)
}
