/**
 * A SOAP client of a port of others, made from its contract at run time. A call ends in one of
 * three ways: an answer that is valid by the contract, a fault of the service, or a reason why
 * neither is known. Nothing that breaks the contract is passed on.
 */

import { TransportFailure } from '../client/errors.ts'
import { readFault } from '../client/fault-reader.ts'
import type { ClientTransport, TransportRequest, TransportResponse } from '../client/transport.ts'
import type { Port, PortExchange } from '../contract/exchange.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import { createElementCodecs, type ElementCodec } from '../soap/codecs/schema-codec.ts'
import { createEncodedCodecs, type EncodedCodec } from '../soap/codecs/schema-encoded.ts'
import { type Envelope, openEnvelopeTree, strictParsing, writeEnvelope } from '../soap/envelope.ts'
import type { Code } from '../soap/fault.ts'
import { Refused } from '../soap/refusal.ts'
import { type SoapVersion, soap11, soap12, versions } from '../soap/version.ts'
import { type Document, type Element, Malformed, parseXml, walkTree } from '../xml/index.ts'

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
    }
  /** No answer, and whether the service may have done what was asked. */
  | { readonly kind: 'silence'; readonly why: TransportFailure['why']; readonly mayHaveRun: boolean }
  /** What came is not an answer to this call; the detail is for the operator. */
  | { readonly kind: 'garbage'; readonly status: number; readonly detail: string }

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
}

export function createPortCaller(port: Port, transport: ClientTransport, options: CallerOptions): PortCaller {
  const version = port.soap === '1.2' ? soap12 : soap11
  const codecs = { literal: createElementCodecs(), encoded: createEncodedCodecs() }
  const senders = new Map(
    Object.entries(port.exchanges).map(([name, exchange]) => [
      name,
      createExchangeCaller(
        exchange,
        version,
        codecs,
        transport.prepare(requestFields(exchange, version, options)),
        options,
      ),
    ]),
  )
  return async (name, call) => {
    const send = senders.get(name)
    if (!send) throw new Error(`${name} is not an exchange of the port ${port.port}`)
    return await send(call)
  }
}

/** SOAP 1.1 §6.1.1: the action is a field; SOAP 1.2 Part 2 §7.1.4: a parameter of the type. */
function requestFields(
  { action }: PortExchange,
  { mediaType, actionIn }: SoapVersion,
  { fields }: CallerOptions,
): Readonly<Record<string, string>> {
  const quoted = `"${action.replace(/["\\]/g, each => `\\${each}`)}"`
  const isField = actionIn === 'SOAPAction'
  const parameter = isField || action === '' ? '' : `; action=${quoted}`
  return {
    'content-type': `${mediaType}; charset=utf-8${parameter}`,
    accept: mediaType,
    ...(isField && { soapaction: quoted }),
    ...fields,
  }
}

interface PortCodecs {
  readonly literal: (root: AnyRootElement) => ElementCodec
  readonly encoded: (root: AnyRootElement) => EncodedCodec
}

function createExchangeCaller(
  exchange: PortExchange,
  version: SoapVersion,
  codecs: PortCodecs,
  post: (sending: TransportRequest) => Promise<TransportResponse>,
  { timeLimit }: CallerOptions,
): (call: PortCall) => Promise<PortAnswer> {
  return async ({ input, blocks }) => {
    const content = writeRequest(exchange, version, codecs, input, blocks)
    try {
      const response = await post({ content, fields: undefined, timeLimit, signal: undefined })
      return readAnswer(exchange, codecs, response)
    } catch (thrown) {
      if (!(thrown instanceof TransportFailure)) throw thrown
      return { kind: 'silence', why: thrown.why, mayHaveRun: thrown.mayHaveRun }
    }
  }
}

function writeRequest(
  { style, input: root, requestHeaders }: PortExchange,
  version: SoapVersion,
  codecs: PortCodecs,
  input: unknown,
  blocks: PortCall['blocks'],
): string {
  const written = Object.entries(blocks).flatMap(([name, value]) => {
    const block = requestHeaders[name]
    return block ? [codecs.literal(block).write(value)] : []
  })
  if (root === 'empty') return writeEnvelope(version, '', written)
  const body = style === 'encoded' ? codecs.encoded(root).write(input, version) : codecs.literal(root).write(input)
  return writeEnvelope(version, body, written)
}

// Answers

export const describeGarbage = (status: number, detail: string): PortAnswer => ({ kind: 'garbage', status, detail })

function readAnswer(
  exchange: PortExchange,
  codecs: PortCodecs,
  { status, fields, content }: TransportResponse,
): PortAnswer {
  const type = fields['content-type'] ?? 'no media type'
  const hasOutput = typeof exchange.output === 'object'
  if (content.length === 0 && status < 300 && !hasOutput) return { kind: 'answer', content: undefined, blocks: {} }
  const foreign = describeForeign(status, fields)
  if (foreign) return describeGarbage(status, foreign)
  if (content.length === 0) return describeGarbage(status, `no content, with the status ${status}`)
  const document = parseXml(content, strictParsing)
  if (document instanceof Malformed)
    return describeGarbage(status, `${type}, not well-formed: ${document.reason} (octet ${document.at})`)
  try {
    return readEnvelopeOf(exchange, codecs, document, status)
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown
    return describeGarbage(
      status,
      `${type}: ${JSON.stringify(thrown.refusal, (_, each) => (typeof each === 'bigint' ? String(each) : each))}`,
    )
  }
}

/**
 * What is no message, before its content is looked at: a redirection is not followed, since our
 * credentials are for the address that was given, and a coding was not asked for.
 */
function describeForeign(status: number, fields: TransportResponse['fields']): string | undefined {
  const { location, 'content-encoding': coding = 'identity' } = fields
  if (status >= 300 && status < 400)
    return `a redirection (${status}) to ${location ?? 'no address'}, which is not followed: give the address to ask`
  return /^identity$/i.test(coding) ? undefined : `content coded as ${coding}, which was not asked for`
}

/** A fault is one whatever the status says of it (SOAP 1.1 §4.4). */
function readEnvelopeOf(exchange: PortExchange, codecs: PortCodecs, document: Document, status: number): PortAnswer {
  const envelope = openEnvelopeTree(document, versions)
  const [first] = envelope.element.elements()
  if (first?.name === envelope.version.fault) return readPortFault(exchange, codecs, first, envelope.version)
  if (status >= 300) return describeGarbage(status, `a message with the status ${status}`)
  const { output } = exchange
  if (typeof output !== 'object') return { kind: 'answer', content: undefined, blocks: {} }
  const codec = codecs.literal(output)
  if (first?.name !== codec.plan.name)
    return describeGarbage(status, `the element ${first?.name.local ?? 'nothing'} in place of ${codec.plan.name.local}`)
  const content = readBody(exchange, output, codecs, envelope, first)
  const blocks = Object.entries(exchange.replyHeaders).flatMap(([name, root]) => {
    const codec = codecs.literal(root)
    const block = envelope.blocks.find(each => each.name === codec.plan.name)
    return block ? [[name, readTree(codec, block)] as const] : []
  })
  return { kind: 'answer', content, blocks: Object.fromEntries(blocks) }
}

function readBody(
  { style }: PortExchange,
  output: AnyRootElement,
  codecs: PortCodecs,
  { version, element: body }: Envelope & { readonly element: Element },
  content: Element,
): unknown {
  if (style !== 'encoded') return readTree(codecs.literal(output), content)
  // Values that are referred to stand next to the answer (SOAP 1.1 §5.1).
  const cursor = walkTree(body)
  cursor.next()
  cursor.child()
  return codecs
    .encoded(output)
    .read(cursor, { found: [], parts: undefined, around: body, blocks: [], isResponse: true }, version)
}

/** Throws `Refused` for a value outside of its bounds too. */
function readTree(codec: ElementCodec, element: Element): unknown {
  const cursor = walkTree(element)
  cursor.next()
  const reading = { found: [], parts: undefined, around: element.parent, blocks: [] }
  const value = codec.read(cursor, reading)
  if (reading.found.length > 0) throw new Refused({ kind: 'bounds', problems: reading.found })
  return value
}

function readPortFault(
  { faults }: PortExchange,
  codecs: PortCodecs,
  element: Element,
  version: SoapVersion,
): PortAnswer {
  const { code, reasons, entries } = readFault(element, version, new Map())
  const reason = reasons[0]?.text ?? 'a fault without a reason'
  for (const [name, root] of Object.entries(faults)) {
    const codec = codecs.literal(root)
    const entry = entries.find(each => each.name === codec.plan.name)
    if (entry) return { kind: 'fault', code, reason, declared: { name, detail: readTree(codec, entry) } }
  }
  return { kind: 'fault', code, reason, declared: undefined }
}
