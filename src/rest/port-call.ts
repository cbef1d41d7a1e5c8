/**
 * An exchange of a port over HTTP: its elements as JSON (`contract/xml-json.ts`) or XML, and the
 * same handler as over SOAP. What always holds:
 *  (1) The handler is called once the content is read to its end and fits the declared type.
 *  (2) A declared fault is a problem with the status that the contract gives it.
 *  (3) A header block is the field `Soap-` plus its name, with its content in JSON; one that is too
 *      long for a field ends the call.
 */

import { type MarkedValue, markPassing } from '../base/marked-octets.ts'
import type { Maybe } from '../base/maybe.ts'
import { memoizeByObject } from '../base/memo.ts'
import { failUnanswered, failUndeclared, type PortExchange } from '../contract/exchange.ts'
import type { FieldProblem } from '../contract/given-fields.ts'
import { laterJobName, StartedCall } from '../contract/later-call.ts'
import type { OperationOf } from '../contract/operation.ts'
import type { ExchangeContext, KeyedRequest } from '../contract/port-handlers.ts'
import { createXmlJsonCodec, readEmptyContent, type XmlJsonCodec } from '../contract/xml-json.ts'
import type { AnyRootElement } from '../contract/xml-type.ts'
import { parseJson, writeJson } from '../http/json.ts'
import type { FieldDraft, Response } from '../http/message.ts'
import { evaluatePreconditions } from '../http/precondition.ts'
import { UnsendableBlock } from '../service/exchange-context.ts'
import { refuse } from '../service/refusal.ts'
import { packTyped } from '../service/typed-json.ts'
import { readRootName } from '../xml/index.ts'
import type { ElementTexts } from './compiled-face.ts'
import { callsOf, type Exchange } from './exchange.ts'
import { readFormMessage } from './form-message.ts'
import type { RepresentationDocument } from './formats/document.ts'
import { replyWithPassing } from './passing-content.ts'
import { onceFor, performOperation, readOctets, readPreconditions } from './perform.ts'
import { waitForJob } from './prefer-wait.ts'
import { refuseRequest } from './refusal.ts'
import { computedReply, replyToChange, replyWith } from './reply.ts'
import { shortDigest } from './representation.ts'
import { multipartType, parseContent, xmlTypes } from './request-content.ts'

type PortOperation = OperationOf<'exchange'>

const jsonCodecOf = memoizeByObject((root: AnyRootElement): XmlJsonCodec => createXmlJsonCodec(root, readRootName))

/** Rows 23 to 30 for an exchange. */
export async function answerPortCall(exchange: Exchange, operation: PortOperation): Promise<Response> {
  const { port, exchangeName, exchange: declared } = operation
  const { app } = exchange.face.context
  const handler = app.ports?.[port.port]?.[exchangeName]
  if (!handler) throw new Error(`the port ${port.port} has no handler for ${exchangeName}: give implement(…) one`)
  refuseConditions(exchange, declared)
  const fields: FieldDraft = {}
  const context = createPortContext(exchange, operation, fields)
  const input = declared.input === 'empty' ? undefined : await readAskedInput(exchange, declared.input)
  exchange.row = 28
  const once = readRequestKey(exchange, input)
  const answer = await handler(input, once ? Object.assign(context, { once }) : context)
  exchange.row = 30
  if (answer instanceof StartedCall) return replyStarted(exchange, operation, answer)
  if (typeof declared.output !== 'object') return { status: 204, fields }
  const marked = markPassing(answer)
  if (marked) return replyPassing(exchange, declared.output, marked, fields)
  const document = await documentAnswer(exchange, operation, declared.output, answer)
  return exchange.isSafe
    ? computedReply(exchange, document, { fields })
    : replyToChange(exchange, 200, document, fields)
}

async function documentAnswer(
  exchange: Exchange,
  { port, exchangeName: name }: Omit<PortOperation, 'kind'>,
  root: AnyRootElement,
  answer: unknown,
): Promise<RepresentationDocument> {
  if (answer === undefined) failUnanswered(`${port.port}.${name}`)
  return { name, title: name, fields: {}, value: { text: await writePortOutput(exchange, root, answer) }, links: [] }
}

/** The job as which the call continues (rule A3.1). */
async function replyStarted(
  exchange: Exchange,
  { port, exchangeName }: PortOperation,
  { id }: StartedCall,
): Promise<Response> {
  const template = `/${laterJobName(port.port, exchangeName)}/jobs/{id}`
  const operation = exchange.edition.routes.all.find(each => each.template === template)?.methods.get('GET')
  if (!operation || !exchange.admitted) throw new Error(`the answers of ${exchangeName} come at once`)
  const admitted = { ...exchange.admitted, operation }
  const outcome = await callsOf(exchange).perform({ admitted, id, face: 'rest', request: exchange.entry.id })
  if (outcome.kind !== 'job') throw new Error(`the job ${id} was not found`)
  return await replyWith(exchange, await waitForJob(exchange, { ...outcome, created: true }))
}

/** The later answer of a call, sent like one that arrives at once. */
export async function answerKeptCall(exchange: Exchange, operation: OperationOf<'getAnswer'>): Promise<Response> {
  const { exchange: declared, exchangeName, job } = operation
  const { later } = exchange.face.context.app
  const outcome = await performOperation(exchange)
  if (outcome.kind !== 'answer' || !later) throw new Error(`the answers of ${exchangeName} come at once`)
  exchange.row = 30
  const fields: FieldDraft = {}
  const answer = later.answer(job.job, outcome.answer, createEnds(operation, fields))
  if (typeof declared.output !== 'object') return { status: 204, fields }
  const document = await documentAnswer(exchange, operation, declared.output, answer)
  const { version, modified } = outcome.job
  return await computedReply(exchange, document, { fields, version, modified })
}

async function replyPassing(
  exchange: Exchange,
  root: AnyRootElement,
  marked: MarkedValue,
  fields: FieldDraft,
): Promise<Response> {
  try {
    return replyWithPassing(exchange, await writePortOutput(exchange, root, marked.value), marked, fields)
  } catch (thrown) {
    marked.drop()
    throw thrown
  }
}

/**
 * Only calls whose answers come later are stored, so no other can be answered again; the target has
 * no version.
 */
function refuseConditions(exchange: Exchange, { later }: PortExchange): void {
  const { method, fields } = exchange.entry.request
  const isKept = later !== undefined && exchange.head.mediaType !== multipartType
  if (!exchange.isSafe && !isKept && fields['idempotency-key'] !== undefined)
    refuseRequest({
      kind: 'bad-request',
      detail: `Idempotency-Key is not supported here: ${later ? 'a form is read while it is sent on' : 'the answers of this operation are not kept'}`,
    })
  exchange.row = 23
  if (!exchange.isSafe && evaluatePreconditions(readPreconditions(exchange), method, {}) !== 'proceed')
    refuseRequest({ kind: 'stale' })
}

/** Row 25. */
function readRequestKey(exchange: Exchange, input: unknown): KeyedRequest | undefined {
  const field = exchange.isSafe ? undefined : exchange.entry.request.fields['idempotency-key']
  if (field === undefined) return undefined
  exchange.row = 25
  const { key, fingerprint } = onceFor(exchange, field)
  return { key, fingerprint: `${fingerprint} ${shortDigest(packTyped(input ?? null))}` }
}

// Content

/** A GET has no content: it calls the operation with its empty input. */
function readAskedInput(exchange: Exchange, root: AnyRootElement): Maybe<unknown> {
  if (!['GET', 'HEAD'].includes(exchange.entry.request.method)) return readPortInput(exchange, root)
  const empty = readEmptyContent(root)
  return empty === 'none' ? refuseRequest({ kind: 'not-found' }) : empty.value
}

async function readPortInput(exchange: Exchange, root: AnyRootElement): Promise<unknown> {
  exchange.row = 26
  if (exchange.head.mediaType === multipartType) return readFormMessage(exchange, jsonCodecOf(root))
  const octets = await readOctets(exchange)
  if (!xmlTypes.includes(exchange.head.mediaType)) return readChecked(root, octets)
  const result = (await loadElements(exchange)).read(root, octets, exchange.head.charset)
  if ('malformed' in result) return refuse({ kind: 'malformed', detail: result.malformed })
  return 'problems' in result ? refuse({ kind: 'invalid', problems: result.problems }) : result.value
}

function readChecked(root: AnyRootElement, octets: Uint8Array): unknown {
  const problems: FieldProblem[] = []
  const value = jsonCodecOf(root).read(parseContent(octets), problems)
  return problems.length > 0 ? refuse({ kind: 'invalid', problems }) : value
}

const writePortOutput = async (exchange: Exchange, root: AnyRootElement, value: unknown): Promise<string> =>
  exchange.head.offer && xmlTypes.includes(exchange.head.offer.type)
    ? (await loadElements(exchange)).write(root, value)
    : writeJson(jsonCodecOf(root).write(value))

async function loadElements({ face }: Exchange): Promise<ElementTexts> {
  const { elements } = face.options
  if (!elements) throw new Error('this face has no codec for the XML of ports: give it the option elements')
  return await elements()
}

// The context of a handler

function createPortContext(exchange: Exchange, operation: PortOperation, into: FieldDraft): ExchangeContext {
  const { port, exchangeName, exchange: declared } = operation
  const { caller, admitted, entry } = exchange
  const basis = callsOf(exchange).serveExchange({
    port: port.port,
    exchange: exchangeName,
    isSafe: declared.isSafe,
    caller,
    party: admitted?.party ?? '',
    face: 'rest',
    request: entry.id,
    gone: entry.request.gone,
  })
  // Added to the basis itself, so that values which it has computed are kept.
  return Object.assign(basis, {
    passing: 'as written' as const,
    mayStart: true,
    headers: readBlockFields(exchange, declared.requestHeaders),
    ...createEnds(operation, into),
  })
}

/** How a call ends, and what is sent with its answer. */
function createEnds(
  { port, exchangeName, exchange: declared, faults }: Omit<PortOperation, 'kind'>,
  into: FieldDraft,
): Pick<ExchangeContext, 'setHeader' | 'fail'> {
  return {
    setHeader: (name: string, value: unknown) => {
      const root = declared.replyHeaders[name]
      if (!root) return failUndeclared(`${port.port}.${exchangeName}`, 'replyHeaders', name)
      into[blockField(name)] = writeBlockField(name, writeJson(jsonCodecOf(root).write(value)))
    },
    fail: (name: string, detail: unknown, reason = name, status?: number) => {
      const fault = faults.find(each => each.fault === name)
      const root = declared.faults[name]
      if (!fault || !root) return failUndeclared(`${port.port}.${exchangeName}`, 'faults', name)
      const element = { reason, json: jsonCodecOf(root).write(detail) }
      return refuse({ kind: 'declared', fault: { ...fault, ...(status && { status }) }, detail: {}, element })
    },
  }
}

const blockField = (name: string): string => `soap-${name.toLowerCase()}`
/**
 * Octets in one field: what clients and proxies accept (nginx and Node allow 8 and 16 KB in all).
 */
const fieldOctetsMax = 4096

function writeBlockField(name: string, json: string): string {
  const text = escapeToAscii(json)
  if (text.length <= fieldOctetsMax) return text
  throw new UnsendableBlock(
    `the header ${name} has ${text.length} octets as a field, and at most ${fieldOctetsMax} are possible: call the operation over SOAP`,
  )
}
/** A field holds visible ASCII (RFC 9110 §5.5); JSON can escape any other character. */
const escapeToAscii = (json: string): string =>
  json.replace(/[^ -~]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

function readBlockFields(
  exchange: Exchange,
  declared: Readonly<Record<string, AnyRootElement>>,
): ExchangeContext['headers'] {
  exchange.headerFields = Object.keys(declared).map(name => `Soap-${name}`)
  const blocks = Object.entries(declared).flatMap(([name, root]) => {
    const field = exchange.entry.request.fields[blockField(name)]
    return field === undefined ? [] : [[name, readBlockField(name, root, field)] as const]
  })
  return Object.fromEntries(blocks)
}

function readBlockField(name: string, root: AnyRootElement, field: string): unknown {
  const refuseField = (detail: string): never =>
    refuseRequest({ kind: 'bad-request', detail: `Soap-${name}: ${detail}` })
  const { value, failure } = parseJson(field)
  if (failure) return refuseField(`must be JSON: ${failure.reason}, at ${failure.at}`)
  const problems: FieldProblem[] = []
  const block = jsonCodecOf(root).read(value, problems)
  const [first] = problems
  return first ? refuseField(`${[name, ...first.path].join('.')} ${first.detail}`) : block
}
