/**
 * A SOAP client of a contract: one typed method for each operation that the contract offers as a message. A call is read in
 * one direction: *check, write, send, read*. The bodies are those of the service's side, the other way round.
 */
import type { Values } from '../contract/implement.ts'
import { namespaceOf, newestVersion, type Service } from '../contract/service.ts'
import { checkValue } from '../contract/typed-value.ts'
import { compileMessages, type Message, replyAction } from '../contract/xml-message.ts'
import type { HttpFields } from '../http/message.ts'
import type { Protection } from '../security/protect/protect.ts'
import { type MessageCodec, messageStyles } from '../soap/codecs/style.ts'
import { inlineWriting } from '../soap/codecs/values.ts'
import { writeEnvelope } from '../soap/envelope.ts'
import { type Attached, writePackage } from '../soap/mime/write-package.ts'
import { type SoapVersion, soap11, soap12 } from '../soap/version.ts'
import { internName } from '../xml/index.ts'
import { type CredentialFields, writeCredentials } from './credentials.ts'
import { ConnectionError, InputError, TransportFailure } from './errors.ts'
import { compileFaultReaders, type Faults } from './fault-reader.ts'
import { createHttpTransport } from './http-transport.ts'
import type { AnyService, Operations, VersionOf } from './operation-types.ts'
import type { CallOptions, SoapClientOptions } from './options.ts'
import { type Expected, parserLimitsFor, readReply, toReplyFields } from './reply.ts'
import { type AddressingState, createAddressingState, requestBlocks } from './request-addressing.ts'
import type { ClientTransport, TransportRequest, TransportResponse } from './transport.ts'

export type SoapClient<S extends AnyService, V extends string = never> = Operations<S, V> & {
  /** Ends the connections; calls under way fail. Not needed for a process to end. */
  close(): void
  [Symbol.dispose](): void
}

/** @throws TypeError where an option can't be */
export function createSoapClient<const S extends AnyService, const V extends VersionOf<S> = never>(
  contract: S,
  options: SoapClientOptions<V>,
): SoapClient<S, V> {
  const station = stationOf(contract as unknown as Service, options) // the same contract, its types erased
  const close = () => station.transport.close()
  const client: Record<PropertyKey, unknown> = { close, [Symbol.dispose]: close }
  for (const message of station.messages) client[message.operation.name] = method(station, message)
  return client as SoapClient<S, V> // one for each message of the contract: what the type lists by the same rules
}

/** All that the calls of a client have in common. */
interface ClientEndpoint {
  readonly namespace: string
  readonly messages: readonly Message[]
  readonly faults: Faults
  readonly version: SoapVersion
  readonly options: SoapClientOptions
  readonly transport: ClientTransport
  readonly shown: CredentialFields
  readonly addressing: AddressingState | undefined
}

function stationOf(contract: Service, options: SoapClientOptions): ClientEndpoint {
  const version = options.version ?? newestVersion(contract)
  if (!Object.hasOwn(contract.versions, version))
    throw new TypeError(
      `${contract.service} has no version ${version}, but ${Object.keys(contract.versions).join(', ')}`,
    )
  const namespace = namespaceOf(contract, version)
  const all = compileMessages(contract, version)
  return {
    namespace,
    messages: all,
    faults: compileFaultReaders(all, namespace),
    version: options.soap === '1.1' ? soap11 : soap12,
    options,
    transport: options.transport ?? createHttpTransport(options.address, options),
    shown: writeCredentials(options.credentials),
    addressing: createAddressingState(options.addressing, options.address),
  }
}

/** Made ready when it is first called: a contract may have hundreds, and a client calls a few. */
function method(station: ClientEndpoint, message: Message) {
  let operation: ClientOperation | undefined
  const call = (input: Values = {}, options: CallOptions = {}) =>
    perform((operation ??= operationOf(station, message)), input, options)
  return Object.assign(call, { faults: message.faults })
}

/** One operation, ready to be called. */
interface ClientOperation extends ClientEndpoint, Expected {
  readonly message: Message
  readonly faults: Faults
  readonly version: SoapVersion
  readonly addressing: AddressingState | undefined
  readonly write: MessageCodec['write']
  readonly post: (sending: TransportRequest) => Promise<TransportResponse>
  /** With a media type for each: a package has a boundary of its own. */
  readonly postPackage: (sending: TransportRequest) => Promise<TransportResponse>
}

function operationOf(station: ClientEndpoint, message: Message): ClientOperation {
  const { namespace, version, options, transport } = station
  const { request, response } = message
  const answer = { name: '', main: undefined, ...response, fields: toReplyFields(response?.fields ?? {}) }
  const longest = options.longest ?? usual.longest
  const fields = fieldsOf(station, message)
  return {
    ...station,
    ...messageStyles[options.style ?? 'document'](namespace, answer, request),
    message,
    operation: message.operation.name,
    element: response && internName(namespace, response.name),
    action: response && replyAction(message),
    blocks: options.blocks ?? [],
    limits: parserLimitsFor(longest),
    longest,
    post: transport.prepare({ ...fields, 'content-type': mediaType(version, message) }),
    postPackage: transport.prepare(fields),
  }
}

const usual = { longest: 16 * 1024 * 1024, timeLimit: 30_000, retries: 1 }

/** SOAP 1.1 §6.1; SOAP 1.2 Part 2 §7.1.4 (RFC 3902). */
const mediaType = (version: SoapVersion, message: Message): string =>
  `${version.mediaType}; charset=utf-8${actionIn(version, message)}`
const actionIn = (version: SoapVersion, { action }: Message): string =>
  version.actionIn === 'media type' ? `; action="${action}"` : ''

function fieldsOf({ version, options, shown }: ClientEndpoint, { action }: Message): HttpFields {
  const own = Object.entries(options.fields ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return {
    ...Object.fromEntries(own),
    ...shown.fields,
    accept: options.mtom ? `multipart/related, ${version.mediaType}` : version.mediaType,
    ...(version.actionIn === 'SOAPAction' && { soapaction: `"${action}"` }),
  }
}

/** Loaded by those that need it: messages with addressing, and packages. */
const unique = (): string => process.getBuiltinModule('node:crypto').randomUUID()

// A call

async function perform(operation: ClientOperation, input: Values, options: CallOptions): Promise<Values | undefined> {
  const problems = checkValue(operation.message.request.fields, input)
  if (problems.length > 0) throw new InputError(operation.operation, problems)
  const id = operation.addressing ? (options.messageId ?? `urn:uuid:${unique()}`) : ''
  const came = await sent(operation, write(operation, input, options, id), options)
  return readReply(operation, came, id)
}

/** A message, and the octets that travel beside it. */
interface Written {
  readonly text: string
  readonly attached: readonly Attached[]
}

function write(operation: ClientOperation, input: Values, options: CallOptions, id: string): Written {
  const { addressing, version, message } = operation
  const attached: Attached[] = []
  const attach = (bytes: Uint8Array) => {
    const id = `${attached.length + 1}@diglot`
    attached.push({ id, mediaType: 'application/octet-stream', bytes })
    return `cid:${id}`
  }
  const body = operation.write(input, operation.options.mtom ? { attach } : inlineWriting, version)
  const addressed = addressing ? requestBlocks(addressing, version, { action: message.action, id }) : []
  return { text: writeEnvelope(version, body, [...addressed, ...(options.blocks ?? [])]), attached }
}

/** One POST, or another where the first can have had no effect, or another has none beside it. */
async function sent(operation: ClientOperation, written: Written, options: CallOptions): Promise<TransportResponse> {
  const { retries = usual.retries } = operation.options
  const until = Date.now() + (options.timeLimit ?? operation.options.timeLimit ?? usual.timeLimit)
  for (let tries = 0; ; tries++) {
    try {
      return await post(operation, written, options.signal, until)
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      const wait = thrown.why === 'unreachable' ? 100 * 2 ** tries : 0
      if (tries >= retries || !isRepeatable(operation, thrown) || Date.now() + wait >= until)
        throw new ConnectionError(operation.operation, thrown)
      if (wait > 0) await pause(wait, options.signal)
    }
  }
}

/** Nothing was sent; or no octet came back, and a second time does nothing that the first has not. */
const isRepeatable = ({ message, addressing }: ClientOperation, { why, begun }: TransportFailure): boolean =>
  why === 'unreachable' || (why === 'lost' && !begun && (message.operation.safe || addressing?.once === true))

/** @throws the signal's reason */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout } = process.getBuiltinModule('node:timers/promises')
  await setTimeout(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted())
}

/** Each try proves anew who is asking: a nonce is taken once. */
function post(
  operation: ClientOperation,
  written: Written,
  signal: AbortSignal | undefined,
  until: number,
): Promise<TransportResponse> {
  const { shown, options } = operation
  if (written.attached.length > 0 || shown.changing || shown.protection || options.security)
    return dressed(operation, written, signal, until)
  return operation.post({ content: written.text, fields: undefined, timeLimit: until - Date.now(), signal })
}

async function dressed(
  operation: ClientOperation,
  { text, attached }: Written,
  signal: AbortSignal | undefined,
  until: number,
): Promise<TransportResponse> {
  const { shown, options, version, message } = operation
  const protection = options.security || shown.protection ? { ...options.security, ...shown.protection } : undefined
  const whole = protection ? await secured(text, protection) : text
  const fields = await shown.changing?.()
  const within = { signal, timeLimit: until - Date.now() }
  if (attached.length === 0) return operation.post({ content: whole, fields, ...within })
  const { type, content } = writePackage(version.mediaType, whole, attached, `diglot-${unique()}`)
  const packaged = { ...fields, 'content-type': type + actionIn(version, message) }
  return operation.postPackage({ content: await Array.fromAsync(content), fields: packaged, ...within })
}

/** Loaded by those that need it. */
async function secured(text: string, protection: Protection): Promise<string> {
  const { protectMessage: protect } = await import('../security/protect/protect.ts')
  return protect(text, protection, Date.now()).envelope
}
