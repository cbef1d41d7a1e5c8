/**
 * One call of another party's port: *write, send, open, read*. The one home of such calls, for the
 * port client and the bridge. A call ends with a reply that is valid by the contract, or throws the
 * reason why it has none.
 */

import type { ReadingOrder } from '../base/passing-octets.ts'
import { isHeaderFault, type Port, type PortExchange, statusOfPortFault } from '../contract/exchange.ts'
import { fault } from '../contract/fault.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { mayLeaveOctets } from '../contract/octet-types.ts'
import { createActionNamer } from '../contract/port-names.ts'
import { type Forgiven, type Leniency, MessageMending, mendElement } from '../soap/codecs/mended-element.ts'
import { createPortMessageCodecs, type PortMessageCodec } from '../soap/codecs/port-message-codec.ts'
import { createElementCodecs, type ElementCodec } from '../soap/codecs/schema-codec.ts'
import { createEncodedCodecs } from '../soap/codecs/schema-encoded.ts'
import { declaresAttribute, isTypeNamed } from '../soap/codecs/schema-plan.ts'
import { UnfitValue } from '../soap/codecs/schema-write.ts'
import { type LiteralReading, type LiteralWriting, loneWriting } from '../soap/codecs/values.ts'
import type { Envelope } from '../soap/envelope.ts'
import { markMandatory, stripForeignAttributes } from '../soap/headers/block.ts'
import { type SoapVersion, soap11, soap12 } from '../soap/version.ts'
import { type Cursor, clarkNotation, Element, type Name, readElement, walkTree } from '../xml/index.ts'
import {
  isFlowing,
  type MessageContent,
  type MessageDress,
  MessageSender,
  type RenderedMessage,
  type SignedExchange,
  type WrittenMessage,
} from './dressed-message.ts'
import { AnswerError, ConnectionError, FaultError, InputError, TransportFailure } from './errors.ts'
import { type Faults, type ReadEntry, readEntryBy, readFault } from './fault-reader.ts'
import { isTiedAnswer } from './message-keys.ts'
import {
  type AnswerExpectation,
  closeAnswer,
  explainUnfit,
  type OpenedAnswer,
  openAnswer,
  refuseAnswer,
  refuseFlaws,
  type SentRequest,
} from './opened-answer.ts'
import { holdSmallContent, passAnswerParts, passPackages } from './passing-answer.ts'
import { type CallTiming, postWithRetries } from './repeated-post.ts'
import { parserLimitsFor } from './reply.ts'
import { type ClientTransport, longestDefault, type TransportResponse } from './transport.ts'

/** What all exchanges of a port have in common. */
export interface PortEndpoint {
  readonly version: SoapVersion
  readonly transport: ClientTransport
  readonly dress: MessageDress
  /** Fields of each request, by any case of their names. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** The most octets of an answer; default 16 MiB. */
  readonly longest?: number | undefined
  /** The flaws that an answer may have. */
  readonly lenient: ReadonlySet<Leniency>
  /** Whether a message may be sent again, judged by how the last attempt failed. */
  readonly mayRepeat: (exchange: string, failure: TransportFailure) => boolean
}

/** Options of one call. */
export interface PortCallOptions extends CallTiming {
  /** Declared header blocks of the request by their names. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined
  /** Other header blocks, as `compileBlockWriter` writes them. */
  readonly blocks?: readonly string[] | undefined
  /** With addressing: the message's id, otherwise a random one. */
  readonly messageId?: string | undefined
  /**
   * The most octets of a package that passes: the parts of a large one are `PassingOctets` in the
   * reply, if nothing has to be known of them first. Undefined: every answer is held.
   */
  readonly passingMax?: number | undefined
  /** With addressing: the answer may come later, and `accepted` is all that is known until then. */
  readonly later?: LaterReply | undefined
  /** How passing octets are read; by default, in the order in which they are written. */
  readonly reading?: ReadingOrder | undefined
}

/** The address of a later answer, which comes as a message of its own. */
export interface LaterReply {
  readonly replyTo: string
  /** Receives what that answer must relate to; nothing is sent before it has resolved. */
  readonly keep: (request: SentRequest) => Promise<void>
}

/** A reply, and the flaws of it that were tolerated. */
export interface PortReply {
  /** Undefined: the exchange has no output, or an empty one. */
  readonly output: unknown
  /** The declared header blocks of the reply. */
  readonly headers: Readonly<Record<string, unknown>>
  readonly forgiven: readonly Forgiven[]
  readonly passing?: PassingReply
  /** The answer comes later, to the address that the request named. */
  readonly isAccepted?: true
}

/** Passing octets of a reply. */
export interface PassingReply {
  /** Settles when no more arrive, however they end. */
  readonly over: Promise<void>
  /** Why they did not arrive completely, as their reader was told; undefined: they did. */
  readonly failure: Promise<unknown>
}

/** Version 1.2 only for a port that is bound to no other. */
export const versionOfPort = ({ soap }: Pick<Port, 'soap'>, wanted?: SoapVersion['number']): SoapVersion =>
  (wanted ?? soap) === '1.2' ? soap12 : soap11

type PortPlans = ReturnType<typeof createPortPlans>
/** What the exchanges of one port share: the plans of their types, and the names of actions. */
export function createPortPlans(port: Port) {
  const literal = createElementCodecs([port])
  const encoded = createEncodedCodecs([port])
  return {
    literal,
    encoded,
    message: createPortMessageCodecs(literal, encoded),
    nameActions: createActionNamer(port),
  }
}

/** An exchange, ready to be called. */
export class CallableExchange {
  /** The name of its exchange. */
  readonly name: string
  readonly #exchange: PortExchange
  readonly #endpoint: PortEndpoint
  readonly #plans: PortPlans
  readonly #inputMessage: PortMessageCodec
  /** Undefined: nothing is read. */
  readonly #answered: PortMessageCodec | undefined
  readonly #sender: MessageSender
  readonly #expected: AnswerExpectation
  /** Octets of its answers may be left in place, since nothing about them has to be checked. */
  readonly #mayPass: boolean

  constructor(name: string, exchange: PortExchange, endpoint: PortEndpoint, plans: PortPlans) {
    const { version, dress, transport, fields, longest = longestDefault, lenient } = endpoint
    this.name = name
    this.#exchange = exchange
    this.#endpoint = endpoint
    this.#plans = plans
    this.#inputMessage = plans.message(exchange.input, exchange.style)
    this.#answered = typeof exchange.output === 'object' ? plans.message(exchange.output, exchange.style) : undefined
    const isAnsweredWithParts = this.#answered?.hasParts === true
    this.#sender = new MessageSender(
      { name, action: exchange.action, addressedAs: plans.nameActions(name).request, isAnsweredWithParts, version },
      dress,
      transport,
      fields,
    )
    const about = Object.entries(exchange.faults).filter(([fault]) => isHeaderFault(exchange, fault))
    const elements = [...Object.values(exchange.replyHeaders), ...about.map(([, root]) => root)].map(plans.literal)
    this.#expected = {
      version,
      addressing: dress.addressing,
      action: undefined, // a WSDL may declare another than the default
      answers: this.#sender.security?.answers,
      understands: block => elements.some(each => each.plan.name === block.name),
      faults: compileFaults(exchange, plans, version, plans.nameActions(name).fault),
      limits: parserLimitsFor(longest),
      longest,
      ...(lenient.has('envelope') && { isLenient: true }),
    }
    const isHeld = isAnsweredWithParts || this.#expected.answers !== undefined || exchange.style === 'encoded'
    this.#mayPass = !isHeld && typeof exchange.output === 'object' && mayLeaveOctets(exchange.output)
  }

  /** @throws InputError, ConnectionError, FaultError, AnswerError, or the signal's reason */
  async call(input: unknown, options: PortCallOptions): Promise<PortReply> {
    const { response, request } = await this.#post(this.#write(input, options), options)
    if (options.later && isAcceptance(response)) return { ...emptyReply, isAccepted: true }
    try {
      const sentRequest = { ...request, replyTo: options.later?.replyTo }
      return await this.#open(await holdSmallContent(response), sentRequest, options.reading)
    } catch (thrown) {
      response.arriving?.drop()
      throw this.#explain(thrown, response)
    }
  }

  /**
   * Reads an answer that arrived as a message of its own at the address of `later`.
   *
   * @throws FaultError, AnswerError
   */
  async readLater(message: TransportResponse, request: SentRequest): Promise<PortReply> {
    try {
      return await this.#open(message, request)
    } catch (thrown) {
      throw this.#explain(thrown, message)
    }
  }

  async #open(
    response: TransportResponse,
    request: SentRequest,
    reading: ReadingOrder = 'as written',
  ): Promise<PortReply> {
    const { status, content, fields, arriving } = response
    const hasOutput = typeof this.#exchange.output === 'object'
    if (content.length === 0 && !arriving && status < 300 && !hasOutput) return emptyReply
    const opened = await openAnswer(this.#expected, response, request)
    if (opened.kind === 'fault') {
      const fault = readFault(opened.fault, opened.version, this.#expected.faults, opened.blocks)
      throw new FaultError(this.name, fault, response)
    }
    const reply = this.#read(opened, fields['content-type'] ?? '')
    if (!arriving || !opened.remaining) return reply
    const explain = (thrown: unknown) => this.#explain(thrown, response)
    const { value, failure } = await passAnswerParts(
      reply.output,
      opened.remaining,
      reading,
      () => arriving.drop(),
      explain,
    )
    return { ...reply, output: value, passing: { over: arriving.over, failure } }
  }

  #explain(thrown: unknown, response: TransportResponse): unknown {
    if (thrown instanceof TransportFailure) return new ConnectionError(this.name, thrown)
    const unfit = explainUnfit(thrown)
    return unfit ? new AnswerError(this.name, unfit.why, unfit.detail, response, unfit.problems) : thrown
  }

  /** What `call` would send now. @throws InputError */
  async render(input: unknown, options: Omit<PortCallOptions, keyof CallTiming>): Promise<RenderedMessage> {
    return await this.#sender.render(this.#write(input, options))
  }

  async #post(
    written: WrittenMessage,
    { passingMax, later, ...timing }: CallTiming & Pick<PortCallOptions, 'passingMax' | 'later'>,
  ): Promise<SignedExchange> {
    const passing = passingMax !== undefined && this.#mayPass ? passPackages(passingMax) : undefined
    // A later answer belongs to one attempt, and that of any attempt may arrive.
    const answers = this.#sender.security?.answers
    const confirmsOne = later !== undefined && answers !== undefined && isTiedAnswer(answers)
    const mayRepeat = (failure: TransportFailure) =>
      !isFlowing(written.packing) && !confirmsOne && this.#endpoint.mayRepeat(this.name, failure)
    try {
      return await postWithRetries(this.#sender, written, { ...timing, mayRepeat, passing, keep: later?.keep })
    } catch (thrown) {
      if (thrown instanceof UnfitValue) return this.#refuseInput(thrown.path.slice(1), thrown.detail)
      throw thrown instanceof TransportFailure ? new ConnectionError(this.name, thrown) : thrown
    }
  }

  // The request

  #write(
    input: unknown,
    { headers = {}, blocks = [], messageId, later }: Omit<PortCallOptions, keyof CallTiming>,
  ): WrittenMessage {
    return this.#sender.write(
      writing => {
        const declared = Object.entries(headers).flatMap(([name, value]) => this.#writeBlock(name, value))
        return { body: this.#writeBody(input, writing), blocks: [...declared, ...blocks] } satisfies MessageContent
      },
      messageId,
      later?.replyTo,
    )
  }

  #writeBlock(name: string, value: unknown): readonly string[] {
    const { requestHeaders, mandatoryHeaders } = this.#exchange
    if (value === undefined) return []
    const root = Object.hasOwn(requestHeaders, name) ? requestHeaders[name] : undefined
    if (!root) return this.#refuseInput(['headers', name], 'is not a header block of this request')
    const block = this.#checked(['headers', name], () => this.#plans.literal(root).write(value, loneWriting))
    return [mandatoryHeaders.request?.includes(name) ? markMandatory(block, this.#expected.version) : block]
  }

  #writeBody(input: unknown, writing: LiteralWriting): string {
    return this.#checked([], () => this.#inputMessage.write(input, writing, this.#expected.version))
  }

  #checked(place: readonly string[], write: () => string): string {
    try {
      return write()
    } catch (thrown) {
      if (!(thrown instanceof UnfitValue)) throw thrown
      return this.#refuseInput([...place, ...thrown.path.slice(1)], thrown.detail)
    }
  }
  #refuseInput(path: FieldProblem['path'], detail: string): never {
    throw new InputError(this.name, [{ path, code: 'type', detail }])
  }

  // The reply

  #read(opened: Extract<OpenedAnswer, { kind: 'message' }>, mediaType: string): PortReply {
    const mending = new MessageMending(this.#endpoint.lenient)
    this.#noteEnvelope(opened.envelope.version, mediaType, mending)
    const output = this.#readBody(opened, mending)
    while (opened.envelope.body.event === 'start') passElement(opened.envelope.body)
    closeAnswer(opened)
    const headers = this.#readHeaders(opened.blocks, mending)
    return { output, headers, forgiven: mending.forgiven }
  }

  #noteEnvelope(version: SoapVersion, mediaType: string, { forgive }: MessageMending): void {
    const essence = mediaType.replace(/;.*$/s, '').trim().toLowerCase()
    const expected = this.#expected.version
    if (version !== expected) forgive('envelope', '', `is SOAP ${version.number}, in answer to SOAP ${expected.number}`)
    if (essence !== version.mediaType && essence !== 'multipart/related')
      forgive(
        'envelope',
        '',
        `has ${essence ? `the media type ${essence}` : 'no media type'} instead of ${version.mediaType}`,
      )
  }

  /** From the first child of the Body to what follows it. */
  #readBody({ envelope, parts }: Extract<OpenedAnswer, { kind: 'message' }>, mending: MessageMending): unknown {
    const { style } = this.#exchange
    if (!this.#answered) return undefined
    const { version, around, blocks } = envelope
    const { firsts, mayBegin, mend, read } = this.#answered
    const isMended = style !== 'encoded' && [...this.#endpoint.lenient].some(each => each !== 'envelope')
    const whole =
      isMended || (style === 'rpc' && version.rpcResult)
        ? withoutResult(readAnswerTree(envelope), version.rpcResult)
        : undefined
    const cursor = whole ? walkChildren(isMended ? mend(whole, mending) : whole) : envelope.body
    const first = cursor.event === 'start' ? cursor.name : undefined
    // SOAP 1.1 §7.1: the name of the struct in the response of a method is not significant.
    const isNamed = firsts.includes(first) || (style === 'encoded' && first)
    if (!isNamed && !(first && mayBegin?.(first.uri))) refuseAnswer('unexpected', describeMeeting(first, firsts))
    const { forgive } = mending
    const { longest } = this.#expected
    const about: LiteralReading = { flaws: [], parts, around, blocks, isResponse: true, longest }
    const reading = { ...about, ...(isMended && { forgive }) }
    return requireValid(read(cursor, reading, version), reading)
  }

  #readHeaders(blocks: readonly Element[], mending: MessageMending): PortReply['headers'] {
    const headers = Object.entries(this.#exchange.replyHeaders).flatMap(([name, root]) => {
      const codec = this.#plans.literal(root)
      const block = blocks.find(each => each.name === codec.plan.name)
      return block ? [[name, readBlockBy(codec, block, mending)]] : []
    })
    return Object.fromEntries(headers)
  }
}

function describeMeeting(first: Name | undefined, firsts: readonly (Name | undefined)[]): string {
  const twin = firsts.some(each => first && each?.local === first.local)
  const describe = (name: Name | undefined) => (name && twin ? clarkNotation(name) : (name?.local ?? 'nothing'))
  return `the element ${describe(first)} instead of ${firsts.map(describe).join(' or ')}`
}

/** WS-Addressing 1.0 SOAP Binding §5.1: an answer to another address is not in the response. */
const isAcceptance = ({ status, content, arriving }: TransportResponse): boolean =>
  status === 202 || (status < 300 && content.length === 0 && !arriving)

const emptyReply: PortReply = { output: undefined, headers: {}, forgiven: [] }

function passElement(cursor: Cursor): void {
  cursor.skip()
  cursor.child()
}

/** The Body as a tree, from its first child on; the cursor goes to its end. */
function readAnswerTree({ body: cursor, around }: Envelope): Element {
  const children: Element[] = []
  while (cursor.event === 'start') {
    children.push(readElement(cursor, around))
    cursor.child()
  }
  if (cursor.event !== 'end') refuseAnswer('structure', 'the Body has text')
  const whole = new Element(around.parent, around.name, around.prefix, around.attributes, around.declarations)
  whole.append(children)
  return whole
}
/** SOAP 1.2 Part 2 §4.2.2: `rpc:result` names the return value, which a WSDL does not mark. */
function withoutResult(body: Element, result: Name | undefined): Element {
  for (const response of body.elements()) {
    const at = response.children.findIndex(each => each.kind === 'element' && each.name === result)
    if (at >= 0) response.splice(at, 1, [])
  }
  return body
}
function walkChildren(body: Element): Cursor {
  const cursor = walkTree(body)
  cursor.next()
  cursor.child()
  return cursor
}

/** Refuses a value outside its bounds. */
function requireValid<T>(value: T, { flaws }: LiteralReading): T {
  if (flaws.length > 0) refuseFlaws(flaws)
  return value
}

function readBlockBy(codec: ElementCodec, block: Element, mending: MessageMending): unknown {
  const { forgive } = mending
  const reading: LiteralReading = { flaws: [], parts: undefined, around: block.parent, blocks: [], forgive }
  return requireValid(
    readEntryBy(codec.read)(mendElement(codec.plan, withoutSoapAttributes(codec, block), mending), reading),
    reading,
  )
}
/** SOAP's own attributes of a block, and those of other specifications, are no part of its type. */
const withoutSoapAttributes = ({ plan }: ElementCodec, block: Element): Element =>
  stripForeignAttributes(block, name => declaresAttribute(plan.type(), name))

/** By the elements of their details; faults with the same element share a reader. */
function compileFaults(
  exchange: PortExchange,
  { literal, encoded }: PortPlans,
  version: SoapVersion,
  actionOf: (fault: string) => string,
): Faults {
  const declared = Object.entries(exchange.faults).map(([name, root]) => ({
    ...{ root, mayBeBlock: isHeaderFault(exchange, name), action: actionOf(name) },
    fault: fault(name, { status: statusOfPortFault(exchange, name), title: name }),
  }))
  const entries = [...Map.groupBy(declared, each => each.root)].flatMap(([root, alike]) => {
    // The part of an encoded message is encoded; an element of a schema is not (WSDL 1.1 §3.6).
    const isEncoded = exchange.style === 'encoded' && root.isPart
    const codec = literal(root)
    const read = readEntryBy(codec.read)
    return [...Map.groupBy(alike, each => each.mayBeBlock)].map(([mayBeBlock, faults]) => {
      const readEntry: ReadEntry = (entry, reading) => {
        if (mayBeBlock) return read(withoutSoapAttributes(codec, entry), reading)
        return isEncoded ? encoded(root).read(walkTo(entry), reading, version) : read(entry, reading)
      }
      const isOfType = (name: Name): boolean => isTypeNamed(codec.plan.type(), name)
      return { name: codec.plan.name, faults, read: readEntry, isOfType, mayBeBlock }
    })
  })
  return Map.groupBy(entries, ({ name }) => name)
}
/** For a cursor at the entry; the entries of a Detail may refer to each other. */
function walkTo(entry: Element): Cursor {
  const cursor = walkTree(entry.parent ?? entry)
  cursor.next()
  for (const each of entry.parent?.elements() ?? []) {
    cursor.child()
    if (each === entry) break
    cursor.skip()
  }
  return cursor
}
