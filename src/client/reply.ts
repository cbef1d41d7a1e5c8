import type { Values } from '../contract/implement.ts'
import { anonymous } from '../contract/policy.ts'
import { type MediaType, parseMediaType } from '../http/media-type.ts'
import { contentOf } from '../http/message.ts'
import type { MessageCodec } from '../soap/codecs/style.ts'
import type { LiteralReading, PartSource } from '../soap/codecs/values.ts'
import { closeEnvelope, type Envelope, openEnvelope, openEnvelopeTree, strictParsing } from '../soap/envelope.ts'
import { type Addressing, isAddressingBlock, readAddressing } from '../soap/headers/addressing.ts'
import { type Block, findBlock, readBlock } from '../soap/headers/block.ts'
import type { HeaderCodec } from '../soap/headers/contract-header.ts'
import { type NodeRoles, requireUnderstood, targetedBlocks } from '../soap/headers/node.ts'
import { collectParts, readPackage } from '../soap/mime/parts.ts'
import { type AnySoapRefusal, createFault, Refused } from '../soap/refusal.ts'
import { securityName } from '../soap/security-port.ts'
import { type SoapVersion, versions } from '../soap/version.ts'
import {
  clarkNotation,
  type Element,
  Malformed,
  type Name,
  type ParseOptions,
  parseXml,
  readElement,
  scanDocument,
  walkTree,
} from '../xml/index.ts'
import { AnswerError, type FailureReason, FaultError } from './errors.ts'
import { type Faults, readFault } from './fault-reader.ts'
import type { AnswerDemand } from './message-keys.ts'
import { type AddressingState, type Correlation, findCorrelationError } from './request-addressing.ts'
import type { TransportResponse } from './transport.ts'

/** The reply that an operation expects. */
export interface ExpectedReply {
  readonly operation: string
  /** The child of Body; undefined for an operation without a reply (rule B4.10). */
  readonly element: Name | undefined
  readonly action: string | undefined
  readonly read: MessageCodec['read']
  readonly version: SoapVersion
  readonly faults: Faults
  readonly addressing: AddressingState | undefined
  readonly blocks: readonly Block[]
  /** Header blocks that the contract declares for the reply. */
  readonly replied: readonly HeaderCodec[]
  /** What the reply has to prove; undefined: nothing. */
  readonly answers: AnswerDemand | undefined
  readonly limits: ParseOptions
  /** Octets of a package: of its message, and of all other parts together. */
  readonly longest: number
}

/** What a reply says; an operation without a reply says nothing. */
export interface RepliedMessage {
  readonly output: Values | undefined
  readonly headers: Values
}
const noReply: RepliedMessage = { output: undefined, headers: {} }

/** Ends the reading with the reason why the response is not a reply. */
class UnfitReply {
  readonly why: FailureReason
  readonly detail: string
  readonly problems: AnswerError['problems']
  constructor(why: FailureReason, detail: string, problems: AnswerError['problems'] = []) {
    this.why = why
    this.detail = detail
    this.problems = problems
  }
}
function refuseReply(why: FailureReason, detail: string): never {
  throw new UnfitReply(why, detail)
}

/** The request that a reply answers. */
export interface SentRequest {
  /** Its MessageID. */
  readonly id: string
  /** The values of its signatures. */
  readonly sent: readonly Buffer[]
}

/** @throws FaultError, AnswerError */
export function readReply(
  expected: ExpectedReply,
  response: TransportResponse,
  request: SentRequest,
): RepliedMessage | Promise<RepliedMessage> {
  try {
    if (expected.element === undefined && response.status < 300) return noReply // WS-I Basic Profile 1.1 R2750: whatever its content
    const type = readReplyType(response)
    const row =
      type.essence === 'multipart/related'
        ? unpackReply(response, type, expected.longest).then(opened =>
            readMessage(expected, response, type, opened, request),
          )
        : readMessage(expected, response, type, { bytes: response.content, type, parts: undefined }, request)
    return row instanceof Promise ? row.catch(failed) : row
  } catch (thrown) {
    return failed(thrown)
  }
  function failed(thrown: unknown): never {
    throw toCallError(expected, response, thrown)
  }
}

function toCallError({ operation }: ExpectedReply, response: TransportResponse, thrown: unknown): unknown {
  if (thrown instanceof UnfitReply)
    return new AnswerError(operation, thrown.why, thrown.detail, response, thrown.problems)
  if (thrown instanceof Malformed)
    return new AnswerError(operation, 'malformed', `not well-formed: ${thrown.reason} (octet ${thrown.at})`, response)
  if (!(thrown instanceof Refused)) return thrown
  const refusal = thrown.refusal as AnySoapRefusal // the two unions are all that is thrown as Refused
  const [reason] = createFault(refusal, readerWords).reasons
  return new AnswerError(operation, failureReasonOf(refusal), reason?.text ?? refusal.kind, response)
}

/** For the words of the service's readers; none of their refusals is a fault of a contract. */
const readerWords = { element: () => '', nameOf: () => ({ uri: '', local: '' }), place: () => '' }

function failureReasonOf({ kind }: AnySoapRefusal): FailureReason {
  if (kind === 'not-understood' || kind === 'package') return kind
  return kind === 'schema' || kind === 'encoded' || kind === 'encoding-unknown' ? 'invalid' : 'structure'
}

// HTTP and packaging

function readReplyType({ status, fields, content }: TransportResponse): MediaType {
  if (status >= 300 && status < 400)
    refuseReply('redirect', `redirects are not followed: ${status} to ${fields['location'] ?? 'no location'}`)
  const coding = fields['content-encoding']?.trim().toLowerCase()
  if (coding !== undefined && coding !== 'identity')
    refuseReply('coding', `the content coding ${coding} is not supported`)
  const isSuccess = status < 300
  if (content.length === 0)
    refuseReply(isSuccess ? 'empty' : 'status', `the response has the status ${status} and no content`)
  const field = fields['content-type'] ?? ''
  const type = parseMediaType(field)
  if (type && (type.essence === 'multipart/related' || soapVersionOf(type))) return type
  return refuseReply(
    isSuccess ? 'media-type' : 'status',
    `not a SOAP message: status ${status} with ${field || 'no media type'}`,
  )
}

const soapVersionOf = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

/** The message of a package, or all that came. */
interface UnpackedReply {
  readonly bytes: Uint8Array
  readonly type: MediaType
  readonly parts: PartSource | undefined
}

async function unpackReply(response: TransportResponse, type: MediaType, longest: number): Promise<UnpackedReply> {
  const { boundary = refuseReply('package', 'the media type of the package has no boundary'), start } = type.parameters
  const sizes = { root: longest, rest: longest }
  const found = await readPackage(contentOf(response.content).chunks(), boundary, start, sizes)
  if (!found) return refuseReply('package', `the package is longer than ${longest} octets`)
  const root = parseMediaType(found.root.type) ?? refuseReply('package', 'the root of the package has no media type')
  return { bytes: found.root.bytes, type: root, parts: collectParts(found.parts) }
}

/** XOP §4.1: the type of the message in an XOP document is a parameter. */
function typeOfRoot(root: MediaType, whole: MediaType): MediaType | undefined {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? whole.parameters['start-info'] ?? '')
}

// The message

const receiverRoles: NodeRoles = { roles: [], ultimate: true }

function readMessage(
  expected: ExpectedReply,
  response: TransportResponse,
  whole: MediaType,
  { bytes, type, parts }: UnpackedReply,
  request: SentRequest,
): RepliedMessage | Promise<RepliedMessage> {
  const root = typeOfRoot(type, whole)
  const media =
    (root && soapVersionOf(root)) ?? refuseReply('media-type', 'the root of the package is not a SOAP message')
  const { charset } = type.parameters
  if (charset !== undefined && !/^utf-(8|16(le|be)?)$/i.test(charset))
    refuseReply('media-type', `the charset ${charset} is not supported`)
  const limits = charset === undefined ? expected.limits : { ...expected.limits, charset }
  const read = (opened: OpenedReply) => readEnvelope(expected, response, opened, media, request)
  if (expected.answers) return openProven(expected, expected.answers, bytes, limits, request).then(read)
  const envelope = openEnvelope(scanDocument(bytes, limits), versions)
  return read({ envelope, parts, isStreamed: true })
}

/** A reply at its Body. */
interface OpenedReply {
  readonly envelope: Envelope
  readonly parts: PartSource | undefined
  /** The message goes on behind the Body. */
  readonly isStreamed: boolean
}

/** The reply whose Body was proven; a fault that proves nothing is told, and not taken for one. */
async function openProven(
  expected: ExpectedReply,
  demand: AnswerDemand,
  bytes: Uint8Array,
  limits: ParseOptions,
  { sent }: SentRequest,
): Promise<OpenedReply> {
  const { proveAnswer } = await import('./answer-proof.ts') // loaded for proven answers alone
  const document = parseXml(bytes, limits)
  if (document instanceof Malformed) throw document
  const { version, blocks: all, element } = openEnvelopeTree(document, versions)
  const blocks = targetedBlocks(all, version, receiverRoles)
  const addressing = expected.addressing && readAddressing(blocks)
  const processed = blocks.filter(
    each => each.name !== securityName && isUnderstood(expected, addressing, version, each),
  )
  const proven = await proveAnswer({ document, version, body: element, blocks, processed, sent }, demand)
  if (typeof proven === 'string')
    return refuseReply('unproven', `${describeUnproven(element, version, expected)}: ${proven}`)
  const body = walkTree(proven)
  body.next()
  return { envelope: { version, around: proven, blocks: all, body }, parts: undefined, isStreamed: false }
}

function describeUnproven(body: Element, version: SoapVersion, { faults }: ExpectedReply): string {
  const [fault] = body.elements(version.fault)
  if (!fault) return "nothing proves that the reply is the service's"
  const { codes, reasons } = readFault(fault, version, faults)
  return `nothing proves the fault ${codes.at(-1)?.local ?? 'without a code'} (${reasons[0]?.text ?? 'no reason'})`
}

/** Either opening has the cursor at the Body's `start`. */
function readEnvelope(
  expected: ExpectedReply,
  response: TransportResponse,
  { envelope, parts, isStreamed }: OpenedReply,
  media: SoapVersion,
  { id }: SentRequest,
): RepliedMessage | Promise<RepliedMessage> {
  const { body: cursor } = envelope
  if (envelope.version !== media)
    refuseReply('structure', `a SOAP ${envelope.version.number} envelope must not be sent as ${media.mediaType}`)
  const blocks = targetedBlocks(envelope.blocks, envelope.version, receiverRoles)
  const addressing = expected.addressing && readAddressing(blocks)
  requireUnderstood(blocks, envelope.version, each => isUnderstood(expected, addressing, envelope.version, each))
  if (cursor.child() === 'start' && cursor.name === envelope.version.fault)
    throwFault(expected, response, envelope, addressing, { id, isStreamed })
  if (response.status >= 300) refuseReply('status', `the status is ${response.status}, and the message is not a fault`)
  if (envelope.version !== expected.version)
    refuseReply(
      'structure',
      `the reply is in SOAP ${envelope.version.number}, the request in SOAP ${expected.version.number}`,
    )
  if (cursor.event !== 'start') refuseReply('structure', 'the Body has no element')
  if (cursor.name !== expected.element)
    refuseReply('unexpected', `the Body has ${clarkNotation(cursor.name)}, not the reply of this operation`)
  requireCorrelated(expected, addressing, { id, action: expected.action })
  const row = readContent(expected, envelope, parts, isStreamed)
  const reply = { output: row, headers: readHeaders(expected, envelope.version, blocks) }
  return expected.blocks.length === 0 ? reply : processBlocks(expected.blocks, envelope.version, blocks, reply)
}

const isUnderstood = (
  expected: ExpectedReply,
  addressing: Addressing | undefined,
  version: SoapVersion,
  block: Element,
): boolean =>
  (addressing !== undefined && isAddressingBlock(addressing, block)) ||
  (expected.answers !== undefined && block.name === securityName) ||
  findBlock(block, version, [...expected.blocks, ...expected.replied.map(each => each.block)]) !== undefined

function readHeaders({ replied }: ExpectedReply, version: SoapVersion, blocks: readonly Element[]): Values {
  if (replied.length === 0) return noHeaders
  const values: Record<string, unknown> = {}
  for (const block of blocks) {
    const codec = replied.find(each => findBlock(block, version, [each.block]))
    if (!codec) continue
    const { name } = codec.header
    if (Object.hasOwn(values, name)) refuseReply('structure', `the header block ${name} is repeated`)
    values[name] = readBlock(block, codec.block.read)
  }
  return values
}
const noHeaders: Values = {}

function requireCorrelated(
  { addressing: asked }: ExpectedReply,
  addressing: Addressing | undefined,
  correlation: Correlation,
): void {
  if (!asked) return
  if (!addressing && asked.demanded && correlation.action !== undefined)
    refuseReply('uncorrelated', 'the reply does not name the message it relates to')
  const flaw = addressing && findCorrelationError(addressing, correlation)
  if (flaw !== undefined) refuseReply('uncorrelated', flaw)
}

/** The cursor is at the Fault's `start`. */
function throwFault(
  expected: ExpectedReply,
  response: TransportResponse,
  { body, around, version }: Envelope,
  addressing: Addressing | undefined,
  { id, isStreamed }: { readonly id: string; readonly isStreamed: boolean },
): never {
  const found = readElement(body, around)
  if (body.child() !== 'end') refuseReply('structure', 'the Body has another element behind the Fault')
  if (isStreamed) closeEnvelope(body)
  requireCorrelated(expected, addressing, { id, action: undefined })
  throw new FaultError(expected.operation, readFault(found, version, expected.faults), response)
}

/** Reads the Body to its end and the message to its last byte. */
function readContent(
  expected: ExpectedReply,
  { body, around, blocks, version }: Envelope,
  parts: PartSource | undefined,
  isStreamed: boolean,
): Values {
  const reading: LiteralReading = { found: [], parts, around, blocks, isResponse: true }
  const row = expected.read(body, reading, version)
  if (isStreamed) closeEnvelope(body)
  const { found } = reading
  if (found.length > 0)
    throw new UnfitReply('invalid', found.map(({ path, detail }) => `${path} ${detail}`).join('; '), found)
  return row
}

/** Blocks that are understood here are processed once the whole message has been read. */
async function processBlocks(
  known: readonly Block[],
  version: SoapVersion,
  blocks: readonly Element[],
  reply: RepliedMessage,
): Promise<RepliedMessage> {
  for (const block of blocks) {
    const declaration = findBlock(block, version, known)
    if (!declaration) continue
    const value = readBlock(block, declaration.read)
    await declaration.process(value, { block, version, caller: anonymous, add: () => {} })
  }
  return reply
}

export const parserLimitsFor = (longest: number): ParseOptions => ({
  ...strictParsing,
  limits: { ...strictParsing.limits, bytes: longest },
})
