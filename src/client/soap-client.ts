/**
 * A SOAP client of a contract: one typed method for each operation that the contract offers as a
 * message. A call goes in one direction: *check, write, send, read*. The codecs are those of the
 * service, used the other way round.
 */

import type { FieldProblem } from '../contract/field-json.ts'
import { fieldsOfHeaders, type HeaderValues, isOfRequest, isOfResponse } from '../contract/header.ts'
import type { Values } from '../contract/implement.ts'
import { type MembersOf, requireKnownMembers } from '../contract/known-members.ts'
import { type AnyService, namespaceOf, newestVersion, type Service } from '../contract/service.ts'
import { compileTypeNames, typeRootsOf } from '../contract/type-names.ts'
import { checkValue } from '../contract/typed-value.ts'
import { compileMessages, type Message, replyAction } from '../contract/xml-message.ts'
import type { HttpFields } from '../http/message.ts'
import type { Protected, Protection } from '../security/protect/protect.ts'
import { prepareProtection } from '../security/protect/protection-options.ts'
import { type MessageCodec, messageStyles } from '../soap/codecs/style.ts'
import { inlineWriting, type TypeSpace, typesIn } from '../soap/codecs/values.ts'
import { writeEnvelope } from '../soap/envelope.ts'
import { compileHeaders, type HeaderCodec } from '../soap/headers/contract-header.ts'
import { type Attached, writePackage } from '../soap/mime/write-package.ts'
import { type SoapVersion, soap11, soap12 } from '../soap/version.ts'
import { internName } from '../xml/index.ts'
import type { VersionOf } from './contract-types.ts'
import { type CredentialFields, writeCredentials } from './credentials.ts'
import { ConnectionError, InputError, TransportFailure } from './errors.ts'
import { compileFaultReaders, type Faults } from './fault-reader.ts'
import { toReplyFields } from './field-views.ts'
import { createHttpTransport } from './http-transport.ts'
import { compileOperationSecurity, findSecurityRule, type OperationSecurity } from './message-keys.ts'
import type { Operations } from './operation-types.ts'
import type { CallOptions, SoapClientOptions } from './options.ts'
import { type ExpectedReply, parserLimitsFor, type RepliedMessage, readReply } from './reply.ts'
import { type AddressingState, createAddressingState, requestBlocks } from './request-addressing.ts'
import { type CallMessage, createSurface } from './soap-surface.ts'
import type { ServiceSurface } from './surface-types.ts'
import { waitFor } from './timer.ts'
import type { ClientTransport, TransportRequest, TransportResponse } from './transport.ts'

/** Each operation by its own name, and by that of its resource or job as the REST client has it. */
export type SoapClient<S extends AnyService, V extends string = never> = Operations<S, V> &
  ServiceSurface<S, V, 'soap'> & {
    /** Closes the connections; calls under way fail. A process ends without it, too. */
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
  // An operation keeps its name where a resource or a job has the same.
  return Object.assign(surface, client) as unknown as SoapClient<S, V> // one method for each message: the type lists them by the same rules
}

const clientMembers: MembersOf<SoapClientOptions> = {
  address: true, version: true, soap: true, style: true, credentials: true, security: true, keys: true, addressing: true, mtom: true,
  blocks: true, headers: true, fields: true, timeLimit: true, retries: true, wait: true, transport: true, connections: true, waiting: true,
  idle: true, longest: true, tls: true,
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
  readonly credentials: CredentialFields
  /** Of each operation; undefined: its messages carry no proof. */
  readonly securityOf: (message: Message) => OperationSecurity | undefined
  readonly addressing: AddressingState | undefined
  readonly headers: readonly HeaderCodec[]
}

function createEndpoint(contract: Service, options: SoapClientOptions): ClientEndpoint {
  const version = options.version ?? newestVersion(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new TypeError(
      `unknown version ${version} of ${contract.service}: use ${Object.keys(contract.versions).join(', ')}`,
    )
  const credentials = writeCredentials(options.credentials)
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
    credentials,
    securityOf: securityOfContract(contract, version, options, credentials),
    addressing: createAddressingState(options.addressing, options.address),
    headers: compileHeaders(all),
  }
}

/** What the contract declares, or else what the options add to each message. */
function securityOfContract(
  contract: Service,
  version: string,
  { address, keys, security }: SoapClientOptions,
  { protection: token }: CredentialFields,
): ClientEndpoint['securityOf'] {
  const rule = findSecurityRule(contract, version, address)
  if (rule && security)
    throw new TypeError('the contract declares the security of this endpoint: give keys in its place')
  if (rule) return compileOperationSecurity(rule, keys, token?.username)
  if (keys) throw new TypeError('the contract declares no security for this endpoint: give security in place of keys')
  if (!security && !token) return () => undefined
  const protection = { ...(security && prepareProtection(security, 'security')), ...token }
  const same: OperationSecurity = { protection: () => protection, answers: undefined }
  return () => same
}

/**
 * Prepared at the first call: a contract may have hundreds of operations, and a client calls a few.
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
  readonly security: OperationSecurity | undefined
  readonly faults: Faults
  readonly version: SoapVersion
  readonly addressing: AddressingState | undefined
  readonly write: MessageCodec['write']
  readonly post: (sending: TransportRequest) => Promise<TransportResponse>
  /** With a media type of its own, since each package has another boundary. */
  readonly postPackage: (sending: TransportRequest) => Promise<TransportResponse>
}

function prepareOperation(endpoint: ClientEndpoint, message: Message): ClientOperation {
  const { namespace, types, version, options, transport } = endpoint
  const { request, response } = message
  const answer = { name: '', main: undefined, ...response, fields: toReplyFields(response?.fields ?? {}) }
  const longest = options.longest ?? defaultOptions.longest
  const fields = requestFieldsOf(endpoint, message)
  const names = new Set(message.headers.map(({ name }) => name))
  const headers = endpoint.headers.filter(({ header }) => names.has(header.name))
  return {
    ...endpoint,
    ...messageStyles[options.style ?? 'document'](namespace, answer, request, { types }),
    message,
    security: endpoint.securityOf(message),
    answers: endpoint.securityOf(message)?.answers,
    operation: message.operation.name,
    element: response && internName(namespace, response.name),
    action: response && replyAction(message),
    blocks: options.blocks ?? [],
    headers,
    replied: headers.filter(({ header }) => isOfResponse(header)),
    limits: parserLimitsFor(longest),
    longest,
    post: transport.prepare({ ...fields, 'content-type': writeMediaTypeOf(version, message) }),
    postPackage: transport.prepare(fields),
  }
}

const defaultOptions = { longest: 16 * 1024 * 1024, timeLimit: 30_000, retries: 1 }

/** SOAP 1.1 §6.1; SOAP 1.2 Part 2 §7.1.4 (RFC 3902). */
const writeMediaTypeOf = (version: SoapVersion, message: Message): string =>
  `${version.mediaType}; charset=utf-8${actionParameter(version, message)}`
const actionParameter = (version: SoapVersion, { action }: Message): string =>
  version.actionIn === 'media type' ? `; action="${action}"` : ''

function requestFieldsOf({ version, options, credentials }: ClientEndpoint, { action }: Message): HttpFields {
  const own = Object.entries(options.fields ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return {
    ...Object.fromEntries(own),
    ...credentials.fields,
    accept: options.mtom ? `${xopPackage}, ${version.mediaType}` : version.mediaType,
    ...(version.actionIn === 'SOAPAction' && { soapaction: `"${action}"` }),
  }
}

/** XOP §4.1. */
const xopPackage = 'multipart/related; type="application/xop+xml"'

/** Loaded only for messages with addressing, and for packages. */
const createUniqueId = (): string => process.getBuiltinModule('node:crypto').randomUUID()

// A call

async function performCall(operation: ClientOperation, input: Values, options: CallOptions): Promise<RepliedMessage> {
  const problems = [...checkValue(operation.message.request.fields, input), ...checkHeaders(operation, options)]
  if (problems.length > 0) throw new InputError(operation.operation, problems)
  const id = operation.addressing ? (options.messageId ?? `urn:uuid:${createUniqueId()}`) : ''
  const { response, sent } = await sendWithRetries(operation, writeMessage(operation, input, options, id), options)
  return readReply(operation, response, { id, sent })
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
  const missing = requested.filter(({ isRequired, name }) => isRequired && values[name] === undefined)
  return [
    ...checkValue(fieldsOfHeaders(requested), values),
    ...missing.map(({ name }): FieldProblem => ({ path: [name], code: 'required', detail: 'is required' })),
  ]
}

/** A message, and the octets that travel next to it. */
interface WrittenMessage {
  readonly text: string
  readonly attached: readonly Attached[]
}

function writeMessage(operation: ClientOperation, input: Values, options: CallOptions, id: string): WrittenMessage {
  const { addressing, version, message } = operation
  const attached: Attached[] = []
  const attach = (bytes: Uint8Array) => {
    const id = `${attached.length + 1}@diglot`
    attached.push({ id, mediaType: 'application/octet-stream', bytes })
    return `cid:${id}`
  }
  const isSigned = operation.security?.protection().signature !== undefined // it covers no other part
  const body = operation.write(input, operation.options.mtom && !isSigned ? { attach } : inlineWriting, version)
  const addressed = addressing ? requestBlocks(addressing, version, { action: message.action, id }) : []
  const values = requestHeaders(operation, options)
  const declared = operation.headers.flatMap(({ header, write }) =>
    values[header.name] === undefined ? [] : [write(values[header.name], version)],
  )
  return { text: writeEnvelope(version, body, [...addressed, ...declared, ...(options.blocks ?? [])]), attached }
}

/** A response, and the values of the signatures in its request. */
interface SignedExchange {
  readonly response: TransportResponse
  readonly sent: readonly Buffer[]
}

/**
 * One POST, and another where the first cannot have had an effect, or a second has no further one.
 */
async function sendWithRetries(
  operation: ClientOperation,
  written: WrittenMessage,
  options: CallOptions,
): Promise<SignedExchange> {
  const { retries = defaultOptions.retries } = operation.options
  const until = Date.now() + (options.timeLimit ?? operation.options.timeLimit ?? defaultOptions.timeLimit)
  for (let tries = 0; ; tries++) {
    try {
      return await postMessage(operation, written, options.signal, until)
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      const wait = thrown.why === 'unreachable' ? 100 * 2 ** tries : 0
      if (tries >= retries || !isRepeatable(operation, thrown) || Date.now() + wait >= until)
        throw new ConnectionError(operation.operation, thrown)
      if (wait > 0) await (operation.options.wait ?? waitFor)(wait, options.signal)
    }
  }
}

/** Nothing was sent; or no octet came back, and a second message has no further effect. */
const isRepeatable = ({ message, addressing }: ClientOperation, { why, begun }: TransportFailure): boolean =>
  why === 'unreachable' || (why === 'lost' && !begun && (message.operation.safe || addressing?.once === true))

/** Each try has new proof of its caller: a nonce is accepted once. */
async function postMessage(
  operation: ClientOperation,
  written: WrittenMessage,
  signal: AbortSignal | undefined,
  until: number,
): Promise<SignedExchange> {
  const { credentials, security } = operation
  if (written.attached.length > 0 || credentials.changing || security)
    return postDressed(operation, written, signal, until)
  const asked = { content: written.text, fields: undefined, timeLimit: until - Date.now(), signal }
  return { response: await operation.post(asked), sent: [] }
}

async function postDressed(
  operation: ClientOperation,
  { text, attached }: WrittenMessage,
  signal: AbortSignal | undefined,
  until: number,
): Promise<SignedExchange> {
  const { credentials, security, version, message } = operation
  const { envelope, signatures: sent } = security
    ? await protectText(text, security.protection())
    : { envelope: text, signatures: [] }
  const fields = await credentials.changing?.()
  const within = { signal, timeLimit: until - Date.now() }
  if (attached.length === 0) return { response: await operation.post({ content: envelope, fields, ...within }), sent }
  const { type, content } = writePackage(version.mediaType, envelope, attached, `diglot-${createUniqueId()}`)
  const packaged = { ...fields, 'content-type': type + actionParameter(version, message) }
  const whole = await Array.fromAsync(content)
  return { response: await operation.postPackage({ content: whole, fields: packaged, ...within }), sent }
}

/** Loaded only for messages with a Security block. */
async function protectText(text: string, protection: Protection): Promise<Protected> {
  const { protectMessage: protect } = await import('../security/protect/protect.ts')
  return protect(text, protection, Date.now())
}
