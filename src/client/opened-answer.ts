/**
 * A response up to the content of its Body: HTTP, packaging, the message, its proof, and that it
 * relates to the request. This is the one home of all demands on an answer except those on its
 * Body; those on the request are in `dressed-message.ts`. An answer that must be proven and is not
 * is not read.
 */
import { problemsMax } from '../contract/field-json.ts'
import { type MediaType, parseMediaType, parsePackageType } from '../http/media-type.ts'
import { contentOf } from '../http/message.ts'
import type { ExchangeKey } from '../security/crypto/derived-key.ts'
import { Insecure } from '../security/security-fault.ts'
import { defaultFreshness, isTimestampAlone, verifyTimestamp } from '../security/verify/timestamp.ts'
import type { PartSource } from '../soap/codecs/values.ts'
import { closeEnvelope, type Envelope, headerBlocks, openEnvelope, openEnvelopeTree } from '../soap/envelope.ts'
import {
  type Addressing,
  isAddressingBlock,
  isRevealedAddressing,
  readAddressing,
  unaddressedAction,
} from '../soap/headers/addressing.ts'
import { type NodeRoles, requireUnderstood, targetedBlocks } from '../soap/headers/node.ts'
import {
  collectParts,
  openPackage,
  type Package,
  type RemainingParts,
  type Root,
  readPackage,
} from '../soap/mime/parts.ts'
import { type AnySoapRefusal, createFault, Refused } from '../soap/refusal.ts'
import { securityName } from '../soap/security-port.ts'
import { type SoapVersion, versions } from '../soap/version.ts'
import { isReadEncoding } from '../xml/encoding.ts'
import {
  type Element,
  Malformed,
  type ParseOptions,
  parseXml,
  readElement,
  scanDocument,
  walkTree,
} from '../xml/index.ts'
import type { AnswerError, FailureReason } from './errors.ts'
import { type Faults, readFault } from './fault-reader.ts'
import { type AnswerDemand, isTiedAnswer } from './message-keys.ts'
import { type AddressingState, findCorrelationError } from './request-addressing.ts'
import type { TransportResponse } from './transport.ts'

/** The request that an answer belongs to. */
export interface SentRequest {
  /** Its MessageID. */
  readonly id: string
  /** The values of its signatures. */
  readonly sent: readonly Buffer[]
  /** When it was sent, in milliseconds since 1970; undefined: long ago. */
  readonly at?: number
  /** The key that signed and encrypted it, if it had one of its own. */
  readonly exchangeKey?: ExchangeKey | undefined
  /** The address that it named for answers: an immediate answer may be addressed to it, too. */
  readonly replyTo?: string | undefined
  /**
   * The end of the address to which its answer was sent later; undefined: it is in the response.
   */
  readonly cameTo?: string | undefined
}

/** What the answers to an operation must satisfy. */
export interface AnswerExpectation {
  readonly version: SoapVersion
  readonly addressing: AddressingState | undefined
  /** By WS-Addressing; undefined: any. */
  readonly action: string | undefined
  /** What the answer must prove; undefined: nothing. */
  readonly answers: AnswerDemand | undefined
  /** Whether a block is read, in addition to those of WS-Addressing and WS-Security. */
  readonly understands: (block: Element, version: SoapVersion) => boolean
  readonly faults: Faults
  readonly limits: ParseOptions
  /** The most octets of a package: of its message, and of all other parts together. */
  readonly longest: number
  /**
   * XML of any media type and of either version is accepted as a message: the service may be old.
   */
  readonly isLenient?: true
}

/** An answer with a fault, or at the content of its Body; `closeAnswer` reads to its last octet. */
export type OpenedAnswer =
  | {
      readonly kind: 'fault'
      readonly version: SoapVersion
      readonly fault: Element
      /** The header blocks for this node. */
      readonly blocks: readonly Element[]
    }
  | {
      readonly kind: 'message'
      /** Its cursor is at the first child of the Body, or at the Body's end. */
      readonly envelope: Envelope
      /** The header blocks for this node. */
      readonly blocks: readonly Element[]
      readonly parts: PartSource | undefined
      /** The parts, if they have not all arrived. */
      readonly remaining: RemainingParts | undefined
      /** Whether the message continues after the Body. */
      readonly isStreamed: boolean
    }

/** Ends the reading with the reason why the response is not an answer. */
export class UnfitAnswer {
  readonly why: FailureReason
  readonly detail: string
  readonly problems: AnswerError['problems']
  constructor(why: FailureReason, detail: string, problems: AnswerError['problems'] = []) {
    this.why = why
    this.detail = detail
    this.problems = problems
  }
}
export function refuseAnswer(why: FailureReason, detail: string, problems?: AnswerError['problems']): never {
  throw new UnfitAnswer(why, detail, problems)
}

/** Only the first invalid values are listed; a hundred are collected, of what may be more. */
export function refuseFlaws(problems: AnswerError['problems']): never {
  const details = problems.slice(0, flawsListedMax).map(({ path, detail }) => `${path} ${detail}`)
  const others = problems.length - details.length
  const atLeast = problems.length < problemsMax ? '' : 'at least '
  const more = others > 0 ? [`and ${atLeast}${others} more`] : []
  return refuseAnswer('invalid', [...details, ...more].join('; '), problems)
}
const flawsListedMax = 10

/** Explains what was thrown while an answer was read, if it is about the answer. */
export function explainUnfit(thrown: unknown): UnfitAnswer | undefined {
  if (thrown instanceof UnfitAnswer) return thrown
  if (thrown instanceof Malformed)
    return new UnfitAnswer('malformed', `not well-formed: ${thrown.reason} (octet ${thrown.at})`)
  if (!(thrown instanceof Refused)) return undefined
  const refusal = thrown.refusal as AnySoapRefusal // the two unions are all that is thrown as Refused
  const [reason] = createFault(refusal, readerWords).reasons
  return new UnfitAnswer(failureReasonOf(refusal), reason?.text ?? refusal.kind)
}

/** Words for the service's readers; none of their refusals is a fault of a contract. */
const readerWords = { element: () => '', nameOf: () => ({ uri: '', local: '' }), place: () => '' }

function failureReasonOf({ kind }: AnySoapRefusal): FailureReason {
  if (kind === 'not-understood' || kind === 'package') return kind
  return kind === 'schema' || kind === 'encoded' || kind === 'encoding-unknown' ? 'invalid' : 'structure'
}

/**
 * A promise if the answer came in a package, or must be proven.
 *
 * @throws what `explainUnfit` explains
 */
export function openAnswer(
  expected: AnswerExpectation,
  response: TransportResponse,
  request: SentRequest,
): OpenedAnswer | Promise<OpenedAnswer> {
  const type = readAnswerType(expected, response)
  if (type.essence === 'multipart/related')
    return unpackAnswer(response, type, expected.longest).then(unpacked =>
      openAnswerMessage(expected, response, type, unpacked, request),
    )
  return openAnswerMessage(expected, response, type, heldMessage(response.content, type), request)
}

/** Reads the message to its last octet, once its Body has been read to its end. */
export function closeAnswer({ envelope, isStreamed }: Extract<OpenedAnswer, { kind: 'message' }>): void {
  if (isStreamed) closeEnvelope(envelope.body)
}

// HTTP and packaging

function readAnswerType({ isLenient }: AnswerExpectation, response: TransportResponse): MediaType {
  const { status, fields, content, arriving } = response
  if (status >= 300 && status < 400)
    refuseAnswer('redirect', `redirects are not followed: ${status} to ${fields['location'] ?? 'no location'}`)
  const coding = fields['content-encoding']?.trim().toLowerCase()
  if (coding !== undefined && coding !== 'identity')
    refuseAnswer('coding', `the content coding ${coding} is not supported`)
  const isSuccess = status < 300
  if (content.length === 0 && !arriving)
    refuseAnswer(isSuccess ? 'empty' : 'status', `the response has the status ${status} and no content`)
  const field = fields['content-type'] ?? ''
  const type = parsePackageType(field)
  if (type && (type.essence === 'multipart/related' || soapVersionOf(type) || isLenient)) return type
  if (isLenient) return untyped
  return refuseAnswer(
    isSuccess ? 'media-type' : 'status',
    `not a SOAP message: status ${status} with ${field || 'no media type'}`,
  )
}
const untyped: MediaType = { essence: '', parameters: {} } as MediaType // of a response without a media type

const soapVersionOf = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

/** The message of a package, or all that arrived. */
interface UnpackedAnswer {
  readonly bytes: Uint8Array
  readonly type: MediaType
  /** The parts, if all have arrived. */
  readonly parts: Package['parts']
  /** The parts, if they have not. */
  readonly remaining: RemainingParts | undefined
}
const heldMessage = (bytes: Uint8Array, type: MediaType, parts: Package['parts'] = new Map()): UnpackedAnswer => ({
  bytes,
  type,
  parts,
  remaining: undefined,
})

async function unpackAnswer(response: TransportResponse, type: MediaType, longest: number): Promise<UnpackedAnswer> {
  const { boundary = refuseAnswer('package', 'the media type of the package has no boundary'), start } = type.parameters
  const sizes = { root: longest, rest: longest }
  const tooLong = (): never => refuseAnswer('package', `the package is longer than ${longest} octets`)
  if (response.arriving) {
    const { root, rest } = (await openPackage(response.arriving, boundary, start, sizes)) ?? tooLong()
    return { bytes: root.bytes, type: readRootType(root), parts: new Map(), remaining: rest }
  }
  const parsed = (await readPackage(contentOf(response.content).chunks(), boundary, start, sizes)) ?? tooLong()
  return heldMessage(parsed.root.bytes, readRootType(parsed.root), parsed.parts)
}
const readRootType = ({ type }: Root): MediaType =>
  parsePackageType(type) ?? refuseAnswer('package', 'the root of the package has no media type')

/** XOP §4.1: the type of the message in an XOP document is a parameter. */
function typeOfRoot(root: MediaType, whole: MediaType): MediaType | undefined {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? whole.parameters['start-info'] ?? '')
}

// The message

const receiverRoles: NodeRoles = { roles: [], ultimate: true }

function openAnswerMessage(
  expected: AnswerExpectation,
  response: TransportResponse,
  whole: MediaType,
  { bytes, type, parts: readParts, remaining }: UnpackedAnswer,
  request: SentRequest,
): OpenedAnswer | Promise<OpenedAnswer> {
  const root = typeOfRoot(type, whole)
  const media = root && soapVersionOf(root)
  if (!media && !expected.isLenient) refuseAnswer('media-type', 'the root of the package is not a SOAP message')
  const { charset } = type.parameters
  if (charset !== undefined && !isReadEncoding(charset))
    refuseAnswer('media-type', `the charset ${charset} is not supported`)
  const limits = charset === undefined ? expected.limits : { ...expected.limits, charset }
  const open = (envelope: OpenedEnvelope): OpenedAnswer => openBody(expected, response, envelope, media, request)
  if (expected.answers) {
    const { answers } = expected
    const proving = async () =>
      openProven(expected, answers, bytes, (await remaining?.hold()) ?? readParts, limits, request)
    return proving().then(open)
  }
  const parts = remaining ?? (readParts.size > 0 ? collectParts(readParts) : undefined)
  return open({ envelope: openEnvelope(scanDocument(bytes, limits), versions), parts, remaining, isStreamed: true })
}

/** A message at its Body. */
interface OpenedEnvelope {
  readonly envelope: Envelope
  readonly parts: PartSource | undefined
  readonly remaining: RemainingParts | undefined
  readonly isStreamed: boolean
}

const isUnderstood = (
  { answers, understands }: AnswerExpectation,
  addressing: Addressing | undefined,
  version: SoapVersion,
  block: Element,
): boolean =>
  (addressing !== undefined && isAddressingBlock(addressing, block)) ||
  (block.name === securityName && (answers !== undefined || isTimestampAlone(block))) ||
  block.name === unaddressedAction ||
  understands(block, version)

/** The message with the Body that was proven; a fault without proof is not a fault. */
async function openProven(
  expected: AnswerExpectation,
  demand: AnswerDemand,
  bytes: Uint8Array,
  parts: Package['parts'],
  limits: ParseOptions,
  { sent, exchangeKey, at: sentAt }: SentRequest,
): Promise<OpenedEnvelope> {
  const { proveAnswer } = await import('./answer-proof.ts') // loaded only for proven answers
  const document = parseXml(bytes, limits)
  if (document instanceof Malformed) throw document
  const { version, blocks: all, element } = openEnvelopeTree(document, versions)
  const blocks = targetedBlocks(all, version, receiverRoles)
  const addressing = expected.addressing && readAddressing(blocks)
  const isProcessed = (block: Element) =>
    block.name !== securityName &&
    (isUnderstood(expected, addressing, version, block) || isRevealedAddressing(block, blocks))
  const isRelated = expected.addressing !== undefined
  const about = { sent, exchangeKey, sentAt, isRelated }
  const received = { document, version, body: element, blocks, isProcessed, parts, ...about }
  const proven = await proveAnswer(received, demand)
  if (typeof proven === 'string')
    return refuseAnswer('unproven', `${describeUnproven(element, version, expected)}: ${proven}`)
  const body = walkTree(proven.body)
  body.next()
  return {
    envelope: { version, around: proven.body, blocks: headerBlocks(document, version), body },
    parts: collectParts(proven.parts),
    remaining: undefined,
    isStreamed: false,
  }
}

function describeUnproven(body: Element, version: SoapVersion, { faults }: AnswerExpectation): string {
  const [fault] = body.elements(version.fault)
  if (!fault) return "nothing proves that the reply is the service's"
  const { codes, reasons } = readFault(fault, version, faults)
  return `nothing proves the fault ${codes.at(-1)?.local ?? 'without a code'} (${reasons[0]?.text ?? 'no reason'})`
}

/**
 * Both ways of opening leave the cursor at the `start` of the Body. A fault is one whatever the
 * status is.
 */
function openBody(
  expected: AnswerExpectation,
  { status }: TransportResponse,
  { envelope, parts, remaining, isStreamed }: OpenedEnvelope,
  media: SoapVersion | undefined,
  request: SentRequest,
): OpenedAnswer {
  const { body: cursor, version } = envelope
  if (media && version !== media && !expected.isLenient)
    refuseAnswer('structure', `a SOAP ${version.number} envelope must not be sent as ${media.mediaType}`)
  const blocks = targetedBlocks(envelope.blocks, version, receiverRoles)
  const isFault = cursor.child() === 'start' && cursor.name === version.fault
  // A service that demands WS-Addressing writes its blocks in the fault that says so.
  const addressing = expected.addressing || isFault ? readAddressing(blocks) : undefined
  requireUnderstood(blocks, version, each => isUnderstood(expected, addressing, version, each))
  if (!expected.answers) blocks.filter(({ name }) => name === securityName).forEach(requireReplyCurrent)
  if (isFault) {
    const fault = readFaultElement(envelope, isStreamed)
    requireCorrelated(expected, addressing, request, true)
    return { kind: 'fault', version, fault, blocks }
  }
  if (status >= 300) refuseAnswer('status', `the status is ${status}, and the message is not a fault`)
  if (version !== expected.version && !expected.isLenient)
    refuseAnswer('structure', `the reply is in SOAP ${version.number}, the request in SOAP ${expected.version.number}`)
  requireCorrelated(expected, addressing, request, false)
  return { kind: 'message', envelope, blocks, parts, remaining, isStreamed }
}

/** WSS §10: an expired message is not used. */
function requireReplyCurrent(block: Element): void {
  try {
    if (isTimestampAlone(block)) verifyTimestamp(block, Date.now(), defaultFreshness)
  } catch (thrown) {
    if (!(thrown instanceof Insecure)) throw thrown
    refuseAnswer('unproven', `the reply is not valid now: ${thrown.why}`)
  }
}

/** The cursor is at the Fault's `start`. */
function readFaultElement({ body, around }: Envelope, isStreamed: boolean): Element {
  const fault = readElement(body, around)
  if (body.child() !== 'end') refuseAnswer('structure', 'the Body has another element after the Fault')
  if (isStreamed) closeEnvelope(body)
  return fault
}

function requireCorrelated(
  { addressing: addressingOptions, action, answers }: AnswerExpectation,
  addressing: Addressing | undefined,
  { id, cameTo, replyTo }: SentRequest,
  isFault: boolean,
): void {
  if (!addressingOptions) return
  const mustRelate = cameTo !== undefined || (answers !== undefined && !isTiedAnswer(answers))
  if (!addressing && (mustRelate || (addressingOptions.demanded && !isFault)))
    refuseAnswer('uncorrelated', 'the reply does not name the message it relates to')
  const flaw = addressing && findCorrelationError(addressing, { id, action, isFault, mustRelate, cameTo, replyTo })
  if (flaw !== undefined) refuseAnswer('uncorrelated', flaw)
}
