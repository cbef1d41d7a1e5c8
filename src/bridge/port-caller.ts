/**
 * A SOAP client of a port of others, made from its contract at run time. A call ends in one of
 * three ways: an answer that is valid by the contract, a fault of the service, or a reason why
 * neither is known. Nothing that breaks the contract is passed on, or that has to be proven and is
 * not.
 */

import {
  createMessageDress,
  type MessageDress,
  MessageSender,
  type SignedExchange,
  type WrittenMessage,
} from '../client/dressed-message.ts'
import { TransportFailure } from '../client/errors.ts'
import { readFault } from '../client/fault-reader.ts'
import {
  type AnswerExpectation,
  closeAnswer,
  explainUnfit,
  type OpenedAnswer,
  openAnswer,
  refuseAnswer,
} from '../client/opened-answer.ts'
import type { ClientTransport } from '../client/transport.ts'
import type { ExchangeBody, Port, PortExchange } from '../contract/exchange.ts'
import { createActionNamer } from '../contract/port-names.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import { type BodyCodec, createBodyCodecs } from '../soap/codecs/body-codec.ts'
import { createElementCodecs, type ElementCodec } from '../soap/codecs/schema-codec.ts'
import { createEncodedCodecs, type EncodedCodec } from '../soap/codecs/schema-encoded.ts'
import type { LiteralReading } from '../soap/codecs/values.ts'
import { strictParsing } from '../soap/envelope.ts'
import type { Code } from '../soap/fault.ts'
import { isAddressingUri } from '../soap/headers/addressing.ts'
import { securityName } from '../soap/security-port.ts'
import { type SoapVersion, soap11, soap12 } from '../soap/version.ts'
import { type Cursor, type Element, walkTree } from '../xml/index.ts'

export type PortAnswer =
  | { readonly kind: 'answer'; readonly content: unknown; readonly blocks: Readonly<Record<string, unknown>> }
  /** `declared`: the fault of the contract whose element is in its detail. */
  | {
      readonly kind: 'fault'
      readonly code: Code | undefined
      readonly reason: string
      /** Of a service that speaks HTTP: what it answered. */
      readonly status?: number
      readonly declared: { readonly name: string; readonly detail: unknown } | undefined
      /** A code of WS-Security or WS-Addressing: what is refused is how the message was dressed. */
      readonly dress?: string
    }
  /** No answer, and whether the service may have done what was asked. */
  | { readonly kind: 'silence'; readonly why: TransportFailure['why']; readonly mayHaveRun: boolean }
  /** What came is not an answer to this call; the detail is for the operator. */
  | {
      readonly kind: 'garbage'
      readonly status: number
      readonly detail: string
      /** It has to be proven, or to relate to its request, and nothing shows that. */
      readonly isUnproven?: boolean
    }

export interface PortCall {
  readonly input: unknown
  /** Header blocks of the request by their names. */
  readonly blocks: Readonly<Record<string, unknown>>
}
/** Throws where the input does not fit its declared type: nothing is sent then. */
export type PortCaller = (exchange: string, call: PortCall) => Promise<PortAnswer>

export interface CallerOptions {
  /** Milliseconds for one answer, connecting included. */
  readonly timeLimit: number
  /** Fields of each request, such as Authorization. */
  readonly fields?: Readonly<Record<string, string>>
  /** What messages wear, and what answers have to prove; default nothing. */
  readonly dress?: MessageDress
}

export function createPortCaller(port: Port, transport: ClientTransport, options: CallerOptions): PortCaller {
  const version = port.soap === '1.2' ? soap12 : soap11
  const literal = createElementCodecs()
  const codecs = { literal, body: createBodyCodecs(literal), encoded: createEncodedCodecs() }
  const dress = options.dress ?? plainDress
  const nameActions = createActionNamer(port)
  const callers = new Map(
    Object.entries(port.exchanges).map(([name, exchange]) => {
      const operation = { name, action: exchange.action, addressedAs: nameActions(name).request, version }
      const sender = new MessageSender(operation, dress, transport, options.fields)
      const expected = expectAnswer(exchange, codecs, version, dress, sender)
      return [name, new PortExchangeCaller(exchange, codecs, sender, expected, options.timeLimit)]
    }),
  )
  return async (name, call) => {
    const caller = callers.get(name)
    if (!caller) throw new Error(`${name} is not an exchange of the port ${port.port}`)
    return await caller.ask(call)
  }
}
const plainDress: MessageDress = createMessageDress(undefined, '', {})

interface PortCodecs {
  readonly literal: (root: AnyRootElement) => ElementCodec
  readonly body: (body: ExchangeBody) => BodyCodec
  readonly encoded: (root: AnyRootElement) => EncodedCodec
}

/** What is asked of any answer of this port. */
function expectAnswer(
  { replyHeaders }: PortExchange,
  codecs: PortCodecs,
  version: SoapVersion,
  { addressing }: MessageDress,
  { security }: MessageSender,
): AnswerExpectation {
  const known = Object.values(replyHeaders).map(each => codecs.literal(each))
  return {
    version,
    addressing,
    action: undefined, // a WSDL may say another than the usual one
    answers: security?.answers,
    understands: block => known.some(each => each.plan.name === block.name),
    faults: new Map(),
    limits: strictParsing,
    longest: packageOctetsMax,
    isLenient: true,
  }
}
/** The transport has the same limit for all of an answer. */
const packageOctetsMax = 16 * 1024 * 1024

class PortExchangeCaller {
  readonly #exchange: PortExchange
  readonly #codecs: PortCodecs
  readonly #sender: MessageSender
  readonly #expected: AnswerExpectation
  readonly #timeLimit: number

  constructor(
    exchange: PortExchange,
    codecs: PortCodecs,
    sender: MessageSender,
    expected: AnswerExpectation,
    timeLimit: number,
  ) {
    this.#exchange = exchange
    this.#codecs = codecs
    this.#sender = sender
    this.#expected = expected
    this.#timeLimit = timeLimit
  }

  async ask({ input, blocks }: PortCall): Promise<PortAnswer> {
    const written = this.#write(input, blocks)
    try {
      return await this.#read(await this.#post(written))
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      return { kind: 'silence', why: thrown.why, mayHaveRun: thrown.mayHaveRun }
    }
  }

  #write(input: unknown, blocks: PortCall['blocks']): WrittenMessage {
    const { style, input: root, requestHeaders } = this.#exchange
    const { literal, body, encoded } = this.#codecs
    const { version } = this.#expected
    return this.#sender.write(writing => {
      const written = Object.entries(blocks).flatMap(([name, value]) => {
        const block = requestHeaders[name]
        return block ? [literal(block).write(value)] : []
      })
      const isEncoded = style === 'encoded' && root !== 'empty'
      const content = isEncoded ? encoded(root).write(input, version) : body(root).write(input, writing)
      return { body: content, blocks: written }
    })
  }

  /** The same message again, where its MessageID tells the service that it is. */
  async #post(written: WrittenMessage): Promise<SignedExchange> {
    const until = Date.now() + this.#timeLimit
    const within = () => ({ timeLimit: until - Date.now(), signal: undefined })
    try {
      return await this.#sender.post(written, within())
    } catch (thrown) {
      const isLost = thrown instanceof TransportFailure && thrown.why === 'lost' && !thrown.begun
      if (!isLost || !this.#expected.addressing?.once || Date.now() >= until) throw thrown
      return await this.#sender.post(written, within())
    }
  }

  async #read({ response, request }: SignedExchange): Promise<PortAnswer> {
    const { status, content } = response
    try {
      const hasOutput = typeof this.#exchange.output === 'object'
      if (content.length === 0 && status < 300 && !hasOutput) return { kind: 'answer', content: undefined, blocks: {} }
      return readPortAnswer(this.#exchange, this.#codecs, await openAnswer(this.#expected, response, request))
    } catch (thrown) {
      const unfit = explainUnfit(thrown)
      if (!unfit) throw thrown
      const isUnproven = unfit.why === 'unproven' || unfit.why === 'uncorrelated'
      const type = response.fields['content-type'] ?? 'no media type'
      return { ...describeGarbage(status, `${type}: ${unfit.detail}`), ...(isUnproven && { isUnproven }) }
    }
  }
}

// Answers

type Garbage = Extract<PortAnswer, { kind: 'garbage' }>
export const describeGarbage = (status: number, detail: string): Garbage => ({ kind: 'garbage', status, detail })

function readPortAnswer(exchange: PortExchange, codecs: PortCodecs, opened: OpenedAnswer): PortAnswer {
  if (opened.kind === 'fault') return readPortFault(exchange, codecs, opened.fault, opened.version)
  const { output, replyHeaders } = exchange
  const { envelope, blocks: found } = opened
  const content = readAnswerBody(exchange, codecs, opened)
  while (envelope.body.event === 'start') passElement(envelope.body)
  closeAnswer(opened)
  if (typeof output !== 'object') return { kind: 'answer', content: undefined, blocks: {} }
  const blocks = Object.entries(replyHeaders).flatMap(([name, root]) => {
    const codec = codecs.literal(root)
    const block = found.find(each => each.name === codec.plan.name)
    return block ? [[name, readTree(codec, block)] as const] : []
  })
  return { kind: 'answer', content, blocks: Object.fromEntries(blocks) }
}
function passElement(cursor: Cursor): void {
  cursor.skip()
  cursor.child()
}

/** From the first child of the Body to what follows it. */
function readAnswerBody(
  { style, output }: PortExchange,
  codecs: PortCodecs,
  { envelope, parts }: Extract<OpenedAnswer, { kind: 'message' }>,
): unknown {
  if (typeof output !== 'object') return undefined
  const { body: cursor, version, around, blocks } = envelope
  const { firsts, mayBegin } = codecs.body(output)
  const first = cursor.event === 'start' ? cursor.name : undefined
  if (!firsts.includes(first) && !(first && mayBegin?.(first.uri))) {
    const expected = firsts.map(each => each?.local ?? 'nothing').join(' or ')
    refuseAnswer('unexpected', `the element ${first?.local ?? 'nothing'} in place of ${expected}`)
  }
  const reading: LiteralReading = { found: [], parts, around, blocks, isResponse: true }
  // Values that are referred to stand next to the answer (SOAP 1.1 §5.1).
  if (style === 'encoded') return requireValid(codecs.encoded(output).read(cursor, reading, version), reading)
  return requireValid(codecs.body(output).read(cursor, reading), reading)
}

/** Refuses a value outside of its bounds. */
function requireValid<T>(value: T, { found }: LiteralReading): T {
  if (found.length > 0) refuseAnswer('invalid', found.map(({ path, detail }) => `${path} ${detail}`).join('; '), found)
  return value
}

function readTree(codec: ElementCodec, element: Element): unknown {
  const cursor = walkTree(element)
  cursor.next()
  const reading: LiteralReading = { found: [], parts: undefined, around: element.parent, blocks: [] }
  return requireValid(codec.read(cursor, reading), reading)
}

function readPortFault(
  { faults }: PortExchange,
  codecs: PortCodecs,
  element: Element,
  version: SoapVersion,
): PortAnswer {
  const { code, codes, reasons, entries } = readFault(element, version, new Map())
  const reason = reasons[0]?.text ?? 'a fault without a reason'
  for (const [name, root] of Object.entries(faults)) {
    const codec = codecs.literal(root)
    const entry = entries.find(each => each.name === codec.plan.name)
    if (entry) return { kind: 'fault', code, reason, declared: { name, detail: readTree(codec, entry) } }
  }
  const dress = codes.find(({ uri }) => uri === securityName.uri || isAddressingUri(uri))?.local
  return { kind: 'fault', code, reason, declared: undefined, ...(dress !== undefined && { dress }) }
}
