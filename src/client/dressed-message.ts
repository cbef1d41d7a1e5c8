/**
 * What a message wears on its way to a service: the blocks of WS-Addressing, a Security block, the
 * credentials of the transport, and octets that travel outside the XML. This is the one home for
 * everything that is added to a request besides its Body; what an answer must satisfy is in
 * `opened-answer.ts`.
 * What always holds, by number:
 *  (1) Every declared demand is met, or nothing is sent.
 *  (2) Each attempt has a new proof of its caller: a nonce is accepted once.
 *  (3) Octets stay inside the XML if it is signed or encrypted. Those that are declared to travel
 *      next to it are covered there (SwA Profile 1.1).
 */
import type { PassingOctets } from '../base/passing-octets.ts'
import type { ExchangeSecurity, SecurityRule } from '../contract/endpoint-rule.ts'
import type { Caller } from '../contract/policy.ts'
import type { HttpFields } from '../http/message.ts'
import type { Protected, Protection } from '../security/protect/protect.ts'
import { type ProtectionOptions, prepareProtection } from '../security/protect/protection-options.ts'
import type { LiteralWriting } from '../soap/codecs/values.ts'
import { writeEnvelope } from '../soap/envelope.ts'
import { writePartId } from '../soap/mime/parts.ts'
import { type Attached, attachReferred, isHeldPart, type Packing, writePackage } from '../soap/mime/write-package.ts'
import type { WholeMessage } from '../soap/security-port.ts'
import type { SoapVersion } from '../soap/version.ts'
import { type ClientCredentials, type CredentialFields, writeCredentials } from './credentials.ts'
import { type ClientKeys, compileOperationSecurity, isCovering, type OperationSecurity } from './message-keys.ts'
import type { SentRequest } from './opened-answer.ts'
import {
  type AddressingOptions,
  type AddressingState,
  createAddressingState,
  requestBlocks,
} from './request-addressing.ts'
import type { ClientTransport, TransportRequest, TransportResponse } from './transport.ts'

/** What messages wear, as configured. */
export interface DressOptions {
  readonly credentials?: ClientCredentials
  /**
   * Keys for an endpoint whose security is declared: by the contract, or by the policy of a WSDL.
   */
  readonly keys?: ClientKeys
  /** A Security block in each message, if nothing is declared. */
  readonly security?: ProtectionOptions
  readonly addressing?: boolean | AddressingOptions
  readonly mtom?: boolean
}

/** What messages to one address wear. */
export interface MessageDress {
  readonly credentials: CredentialFields
  /** By the name of an operation in the rule; undefined: its messages carry no proof. */
  readonly securityOf: (operation: string) => OperationSecurity | undefined
  readonly addressing: AddressingState | undefined
  readonly mtom: boolean
}

/**
 * The declared security of an endpoint, or of each of its operations: others prove nothing then.
 */
export type DeclaredSecurity = SecurityRule | ReadonlyMap<string, ExchangeSecurity>

/** @throws TypeError if declared security cannot be fulfilled, or an option is wrong */
export function createMessageDress(
  rule: DeclaredSecurity | undefined,
  address: string,
  options: DressOptions,
): MessageDress {
  const credentials = writeCredentials(options.credentials)
  return {
    credentials,
    securityOf: compileSecurity(rule, options, credentials),
    addressing: createAddressingState(options.addressing, address),
    mtom: options.mtom === true,
  }
}

/** The declared security, or what the options add to each message. */
function compileSecurity(
  rule: DeclaredSecurity | undefined,
  { keys, security }: DressOptions,
  { protection: token }: ReturnType<typeof writeCredentials>,
): MessageDress['securityOf'] {
  if (rule && security)
    throw new TypeError('the contract declares the security of this endpoint: give keys in its place')
  if (rule) return compileDeclared(rule, keys, token?.username)
  if (keys) throw new TypeError('the contract declares no security for this endpoint: give security instead of keys')
  if (!security && !token) return () => undefined
  const protection = { ...(security && prepareProtection(security, 'security')), ...token }
  const shared: OperationSecurity = {
    protection: () => protection,
    isCovered: isCovering(protection),
    answers: undefined,
  }
  return () => shared
}

function compileDeclared(
  rule: DeclaredSecurity,
  ...given: [keys: ClientKeys | undefined, username: Protection['username']]
): MessageDress['securityOf'] {
  if (!(rule instanceof Map)) return compileOperationSecurity(rule as SecurityRule, ...given)
  const declared: ReadonlyMap<string, ExchangeSecurity> = rule
  const [first] = declared.values()
  const operations = Object.fromEntries(declared)
  const compile = first && compileOperationSecurity({ ...first, operations }, ...given)
  return name => (declared.has(name) ? compile?.(name) : undefined)
}

/** An operation, as its messages name it. */
export interface SentOperation {
  /** The name that the rule of its security may use. */
  readonly name: string
  /** The HTTP action: `SOAPAction`, or the parameter of the media type; it may be empty. */
  readonly action: string
  /**
   * With addressing, the [action] of its messages, which HTTP states as well, or nothing
   * (WS-Addressing 1.0 SOAP Binding §4.2, §5.2); default the `action`.
   */
  readonly addressedAs?: string
  /** Whether parts of its answers travel next to the envelope. */
  readonly isAnsweredWithParts?: boolean
  readonly version: SoapVersion
}

/** What a message writer produces: children of the Body, and header blocks. */
export interface MessageContent {
  readonly body: string
  readonly blocks: readonly string[]
}

/** A message before its proof, and the octets that travel next to it. */
export interface WrittenMessage {
  /** Its MessageID; empty without addressing. */
  readonly id: string
  readonly text: string
  readonly packing: Packing
}

/** An answer, and what it must relate to. */
export interface SignedExchange {
  readonly response: TransportResponse
  readonly request: SentRequest
}

/** All of a POST except its address and framing. */
export interface RenderedMessage {
  /** The fields of the request, credentials included. */
  readonly fields: HttpFields
  /** The envelope; with parts outside it, the octets of the whole package. */
  readonly content: string | Uint8Array
}

/** A message with its proof, and the fields that it has beyond those of every message. */
interface SealedMessage {
  readonly content: string | readonly Uint8Array[]
  /** Instead of `content`, if octets of the message arrive while it is sent. */
  readonly flowing?: AsyncIterable<Uint8Array>
  readonly fields: HttpFields | undefined
  /** What an answer must confirm, and may be proven by. */
  readonly proof: Pick<SentRequest, 'sent' | 'exchangeKey'>
}

interface PostBounds extends Pick<TransportRequest, 'timeLimit' | 'signal' | 'passing'> {
  /** The caller, for credentials and assertions that are made for each one. */
  readonly onBehalfOf?: Caller | undefined
  /** Receives what a later answer must relate to; nothing is sent before it has resolved. */
  readonly keep?: ((request: SentRequest) => Promise<void>) | undefined
}

/** Writes and posts the messages of one operation. */
export class MessageSender {
  readonly security: OperationSecurity | undefined
  readonly #operation: SentOperation & { readonly addressedAs: string }
  readonly #dress: MessageDress
  readonly #fields: HttpFields
  readonly #post: (sending: TransportRequest) => Promise<TransportResponse>
  /** With a media type of its own, since each package has another boundary. */
  readonly #postPackage: (sending: TransportRequest) => Promise<TransportResponse>

  /** @param own fields of each request, by any case of their names */
  constructor(given: SentOperation, dress: MessageDress, transport: ClientTransport, own: HttpFields = {}) {
    const { version, addressedAs = given.action } = given
    const action = dress.addressing && given.action !== '' ? addressedAs : given.action
    this.security = dress.securityOf(given.name)
    this.#operation = { ...given, action, addressedAs }
    this.#dress = dress
    this.#fields = {
      ...Object.fromEntries(Object.entries(own).map(([name, value]) => [name.toLowerCase(), value])),
      ...dress.credentials.fields,
      accept: listAccepted(given, dress).join(', '),
      ...(version.actionIn === 'SOAPAction' && { soapaction: quoteAction(action) }),
    }
    this.#post = transport.prepare({ ...this.#fields, 'content-type': this.#mediaType })
    this.#postPackage = transport.prepare(this.#fields)
  }

  /** For a message that is not a package. */
  get #mediaType(): string {
    return `${this.#operation.version.mediaType}; charset=utf-8${actionParameter(this.#operation)}`
  }

  /** @param replyTo with addressing: where the answer goes; by default, into the response */
  write(write: (writing: LiteralWriting) => MessageContent, messageId?: string, replyTo?: string): WrittenMessage {
    const { addressedAs, version } = this.#operation
    const { addressing, mtom } = this.#dress
    const attached: Attached[] = []
    let isXop = false
    const attach = (octets: Uint8Array | PassingOctets) => {
      isXop = true
      return attachReferred(attached, octets)
    }
    const refer = (octets: Uint8Array) => attachReferred(attached, octets)
    const attachPart = (part: string, mediaType: string, bytes: Uint8Array) => {
      attached.push({ id: writePartId(part, createUniqueId()), mediaType, bytes })
    }
    const mayAttach = mtom && !this.security?.isCovered // (3)
    const { body, blocks } = write({ attach: mayAttach ? attach : undefined, refer, attachPart })
    const id = addressing ? (messageId ?? `urn:uuid:${createUniqueId()}`) : ''
    const addressed = addressing ? requestBlocks(addressing, version, { action: addressedAs, id, replyTo }) : []
    return { id, text: writeEnvelope(version, body, [...addressed, ...blocks]), packing: { attached, isXop } }
  }

  /** Sends it once. Rejects as the transport does. */
  post(written: WrittenMessage, within: PostBounds): Promise<SignedExchange> {
    const { id, text, packing } = written
    if (packing.attached.length > 0 || this.#dress.credentials.changing || this.security || within.keep)
      return this.#postDressed(written, within)
    const { onBehalfOf: _, keep: _keep, ...bounds } = within
    return this.#post({ content: text, fields: undefined, ...bounds }).then(response => ({
      response,
      request: { id, sent: [] },
    }))
  }

  async #postDressed(written: WrittenMessage, { onBehalfOf, keep, ...within }: PostBounds): Promise<SignedExchange> {
    const { content, flowing, fields, proof } = await this.#seal(written, onBehalfOf)
    const post = written.packing.attached.length > 0 ? this.#postPackage : this.#post
    const request: SentRequest = { id: written.id, at: Date.now(), ...proof }
    await keep?.(request)
    return { response: await post({ content, flowing, fields, ...within }), request }
  }

  /** What `post` would send now. */
  async render(written: WrittenMessage): Promise<RenderedMessage> {
    if (isFlowing(written.packing)) throw new TypeError('a message whose octets come while it is sent is not rendered')
    const { content, fields } = await this.#seal(written)
    return {
      fields: { ...this.#fields, 'content-type': this.#mediaType, ...fields },
      content: typeof content === 'string' ? content : Buffer.concat(content),
    }
  }

  /**
   *  (3): all parts of a covered message are in memory.
   */
  async #protect({ text, packing }: WrittenMessage, onBehalfOf?: Caller) {
    if (!this.security) return { envelope: text, signatures: [], exchangeKey: undefined, packing }
    const parts = this.security.isCovered ? packing.attached.filter(isHeldPart) : []
    const protection = await this.security.protection(onBehalfOf)
    const { attached, ...proof } = await protectWhole({ envelope: text, attached: parts }, protection)
    return { exchangeKey: undefined, ...proof, packing: parts.length > 0 ? { ...packing, attached } : packing }
  }

  /** (2) */
  async #seal(written: WrittenMessage, onBehalfOf?: Caller): Promise<SealedMessage> {
    const { mediaType } = this.#operation.version
    const { envelope, signatures, exchangeKey, packing } = await this.#protect(written, onBehalfOf)
    const proof = { sent: signatures, exchangeKey }
    const fields = await this.#dress.credentials.changing?.(onBehalfOf)
    if (packing.attached.length === 0) return { content: envelope, fields, proof }
    const { type, content } = writePackage(mediaType, envelope, packing, `diglot-${createUniqueId()}`)
    const packaged = { ...fields, 'content-type': type + actionParameter(this.#operation) }
    if (isFlowing(packing)) return { content: '', flowing: content, fields: packaged, proof }
    return { content: await Array.fromAsync(content), fields: packaged, proof }
  }
}

/** Octets arrive while the message is sent, so that it can be sent only once. */
export const isFlowing = ({ attached }: Packing): boolean => !attached.every(isHeldPart)

/** SOAP 1.1 §6.1.1: the action is a field; SOAP 1.2 Part 2 §7.1.4 (RFC 3902): a parameter. */
const actionParameter = ({ version, action }: SentOperation): string =>
  version.actionIn === 'media type' && action !== '' ? `; action=${quoteAction(action)}` : ''
/** RFC 9110 §5.6.4. */
const quoteAction = (text: string): string => `"${text.replace(/["\\]/g, each => `\\${each}`)}"`

function listAccepted({ version: { mediaType }, isAnsweredWithParts }: SentOperation, { mtom }: MessageDress) {
  const packages = [...(mtom ? ['application/xop+xml'] : []), ...(isAnsweredWithParts ? [mediaType] : [])] // XOP §4.1
  return [...packages.map(type => `multipart/related; type="${type}"`), mediaType]
}

/** Loaded only for messages with addressing, and for packages. */
const createUniqueId = (): string => process.getBuiltinModule('node:crypto').randomUUID()

/** Loaded only for messages with a Security block. */
async function protectWhole({ envelope, attached }: WholeMessage, protection: Protection): Promise<Protected> {
  const { protectMessage: protect } = await import('../security/protect/protect.ts')
  return protect(envelope, protection, Date.now(), attached)
}
