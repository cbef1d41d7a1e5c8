/**
 * From what came to a row, or to why it is none: in the order of the processing model (SOAP 1.2 Part 1 §2.6). Guards: an
 * answer is one message of SOAP to its last byte, of the operation that was asked, valid against the contract, and holds
 * nothing mandatory that is passed over; whatever else comes is an error that carries it.
 */
import { type AnyField, Field, type Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { anonymous } from '../contract/policy.ts'
import { mapShape } from '../contract/shape.ts'
import { type MediaType, parseMediaType } from '../http/media-type.ts'
import { contentOf } from '../http/message.ts'
import type { MessageCodec } from '../soap/codecs/style.ts'
import type { LiteralReading, PartSource } from '../soap/codecs/values.ts'
import { closeEnvelope, type Envelope, openEnvelope, strictParsing } from '../soap/envelope.ts'
import { type Addressing, isAddressingBlock, readAddressing } from '../soap/headers/addressing.ts'
import { type Block, findBlock, readBlock } from '../soap/headers/block.ts'
import { type NodeRoles, requireUnderstood, targetedBlocks } from '../soap/headers/node.ts'
import { collectParts, readPackage } from '../soap/mime/parts.ts'
import { type AnySoapRefusal, createFault, Refused } from '../soap/refusal.ts'
import { type SoapVersion, versions } from '../soap/version.ts'
import {
  clark,
  type Element,
  Malformed,
  type Name,
  type ParseOptions,
  readElement,
  scanDocument,
} from '../xml/index.ts'
import { AnswerError, type FailureReason, FaultError } from './errors.ts'
import { type Faults, readFault } from './fault-reader.ts'
import { type AddressingState, type Correlation, findCorrelationError } from './request-addressing.ts'
import type { TransportResponse } from './transport.ts'

/** What an operation is answered by. */
export interface Expected {
  readonly operation: string
  /** The child of Body; undefined: nothing answers (rule B4.10). */
  readonly element: Name | undefined
  readonly action: string | undefined
  readonly read: MessageCodec['read']
  readonly version: SoapVersion
  readonly faults: Faults
  readonly addressing: AddressingState | undefined
  readonly blocks: readonly Block[]
  readonly limits: ParseOptions
  /** Octets of a package: of its message, and of all other parts. */
  readonly longest: number
}

/** Ends the reading with why what came is no answer. */
class Unfit {
  readonly why: FailureReason
  readonly detail: string
  readonly problems: AnswerError['problems']
  constructor(why: FailureReason, detail: string, problems: AnswerError['problems'] = []) {
    this.why = why
    this.detail = detail
    this.problems = problems
  }
}
function unfit(why: FailureReason, detail: string): never {
  throw new Unfit(why, detail)
}

/** @param id the MessageID that was sent @throws FaultError, AnswerError */
export function readReply(
  expected: Expected,
  came: TransportResponse,
  id: string,
): Values | undefined | Promise<Values> {
  try {
    if (expected.element === undefined && came.status < 300) return undefined // WS-I Basic Profile 1.1 R2750: whatever it holds
    const type = typeOf(came)
    const row =
      type.essence === 'multipart/related'
        ? unpacked(came, type, expected.longest).then(opened => message(expected, came, type, opened, id))
        : message(expected, came, type, { bytes: came.content, type, parts: undefined }, id)
    return row instanceof Promise ? row.catch(failed) : row
  } catch (thrown) {
    return failed(thrown)
  }
  function failed(thrown: unknown): never {
    throw errorOf(expected, came, thrown)
  }
}

function errorOf({ operation }: Expected, came: TransportResponse, thrown: unknown): unknown {
  if (thrown instanceof Unfit) return new AnswerError(operation, thrown.why, thrown.detail, came, thrown.problems)
  if (thrown instanceof Malformed)
    return new AnswerError(operation, 'malformed', `not well-formed: ${thrown.reason} (octet ${thrown.at})`, came)
  if (!(thrown instanceof Refused)) return thrown
  const refusal = thrown.refusal as AnySoapRefusal // the two unions are all that is thrown as Refused
  const [reason] = createFault(refusal, wording).reasons
  return new AnswerError(operation, whyOf(refusal), reason?.text ?? refusal.kind, came)
}

/** The readers of the service's side say it in their own words; no fault of a contract is among what they refuse. */
const wording = { element: () => '', nameOf: () => ({ uri: '', local: '' }), place: () => '' }

function whyOf({ kind }: AnySoapRefusal): FailureReason {
  if (kind === 'not-understood' || kind === 'package') return kind
  return kind === 'schema' || kind === 'encoded' || kind === 'encoding-unknown' ? 'invalid' : 'structure'
}

// HTTP and packaging

function typeOf({ status, fields, content }: TransportResponse): MediaType {
  if (status >= 300 && status < 400)
    unfit('redirect', `it was sent on to ${fields['location'] ?? 'nowhere'} (${status}), which is not followed`)
  const coding = fields['content-encoding']?.trim().toLowerCase()
  if (coding !== undefined && coding !== 'identity') unfit('coding', `the answer is coded as ${coding}`)
  const isSuccess = status < 300
  if (content.length === 0) unfit(isSuccess ? 'empty' : 'status', `nothing came but the status ${status}`)
  const field = fields['content-type'] ?? ''
  const type = parseMediaType(field)
  if (type && (type.essence === 'multipart/related' || mediaOf(type))) return type
  return unfit(isSuccess ? 'media-type' : 'status', `${status} with ${field || 'no media type'} is no message of SOAP`)
}

const mediaOf = ({ essence }: MediaType): SoapVersion | undefined => versions.find(each => each.mediaType === essence)

/** The message of a package, or all that came. */
interface Opened {
  readonly bytes: Uint8Array
  readonly type: MediaType
  readonly parts: PartSource | undefined
}

async function unpacked(came: TransportResponse, type: MediaType, longest: number): Promise<Opened> {
  const { boundary = unfit('package', 'a package without a boundary'), start } = type.parameters
  const sizes = { root: longest, rest: longest }
  const found = await readPackage(contentOf(came.content).chunks(), boundary, start, sizes)
  if (!found) return unfit('package', `a package of more than ${longest} octets`)
  const root = parseMediaType(found.root.type) ?? unfit('package', 'the root of the package has no media type')
  return { bytes: found.root.bytes, type: root, parts: collectParts(found.parts) }
}

/** XOP §4.1: the type of what is in an XOP document stands beside it. */
function rootType(root: MediaType, whole: MediaType): MediaType | undefined {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? whole.parameters['start-info'] ?? '')
}

// The message

const node: NodeRoles = { roles: [], ultimate: true }

function message(
  expected: Expected,
  came: TransportResponse,
  whole: MediaType,
  { bytes, type, parts }: Opened,
  id: string,
): Values | Promise<Values> {
  const root = rootType(type, whole)
  const media = (root && mediaOf(root)) ?? unfit('media-type', 'the package holds no message of SOAP')
  const { charset } = type.parameters
  if (charset !== undefined && !/^utf-(8|16(le|be)?)$/i.test(charset)) unfit('media-type', `messages in ${charset}`)
  const cursor = scanDocument(bytes, charset === undefined ? expected.limits : { ...expected.limits, charset })
  const envelope = openEnvelope(cursor, versions)
  if (envelope.version !== media)
    unfit('structure', `an Envelope of SOAP ${envelope.version.number} does not come as ${media.mediaType}`)
  const blocks = targetedBlocks(envelope.blocks, envelope.version, node)
  const addressing = expected.addressing && readAddressing(blocks)
  requireUnderstood(blocks, envelope.version, each => isKnown(expected, addressing, envelope.version, each))
  if (cursor.child() === 'start' && cursor.name === envelope.version.fault)
    fault(expected, came, envelope, addressing, id)
  if (came.status >= 300) unfit('status', `a message with the status ${came.status} that is no fault`)
  if (envelope.version !== expected.version) unfit('structure', `an answer in SOAP ${envelope.version.number}`)
  if (cursor.event !== 'start') unfit('structure', 'the Body has no element')
  if (cursor.name !== expected.element) unfit('unexpected', `${clark(cursor.name)} is no answer to it`)
  correlate(expected, addressing, { id, action: expected.action })
  const row = contentIn(expected, envelope, parts)
  return expected.blocks.length === 0 ? row : heard(expected.blocks, envelope.version, blocks, row)
}

const isKnown = (
  expected: Expected,
  addressing: Addressing | undefined,
  version: SoapVersion,
  block: Element,
): boolean =>
  (addressing !== undefined && isAddressingBlock(addressing, block)) ||
  findBlock(block, version, expected.blocks) !== undefined

function correlate(
  { addressing: asked }: Expected,
  addressing: Addressing | undefined,
  correlation: Correlation,
): void {
  if (!asked) return
  if (!addressing && asked.demanded && correlation.action !== undefined)
    unfit('uncorrelated', 'it does not say which message it answers')
  const flaw = addressing && findCorrelationError(addressing, correlation)
  if (flaw !== undefined) unfit('uncorrelated', flaw)
}

/** At the Fault's `start`. */
function fault(
  expected: Expected,
  came: TransportResponse,
  { body, around, version }: Envelope,
  addressing: Addressing | undefined,
  id: string,
): never {
  const found = readElement(body, around)
  if (body.child() !== 'end') unfit('structure', 'something follows the Fault')
  closeEnvelope(body)
  correlate(expected, addressing, { id, action: undefined })
  throw new FaultError(expected.operation, readFault(found, version, expected.faults), came)
}

/** Body to its end, message to its last byte. */
function contentIn(
  expected: Expected,
  { body, around, blocks, version }: Envelope,
  parts: PartSource | undefined,
): Values {
  const reading: LiteralReading = { found: [], parts, around, blocks }
  const row = expected.read(body, reading, version)
  closeEnvelope(body)
  const { found } = reading
  if (found.length > 0)
    throw new Unfit('invalid', found.map(({ path, detail }) => `${path} ${detail}`).join('; '), found)
  return row
}

/** Blocks that are understood here are processed once all has been read. */
async function heard(
  known: readonly Block[],
  version: SoapVersion,
  blocks: readonly Element[],
  row: Values,
): Promise<Values> {
  for (const block of blocks) {
    const declaration = findBlock(block, version, known)
    if (!declaration) continue
    const value = readBlock(block, declaration.read)
    await declaration.process(value, { block, version, caller: anonymous, add: () => {} })
  }
  return row
}

export const parserLimitsFor = (longest: number): ParseOptions => ({
  ...strictParsing,
  limits: { ...strictParsing.limits, bytes: longest },
})

/** Fields as they are in an answer: what is the server's alone is read there like the rest. */
export const toReplyFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldAnswered(field)]))

const fieldAnswered = (field: AnyField): AnyField =>
  new Field(mapShape(field.shape, { item: fieldAnswered, fields: toReplyFields }), { ...field, isReadOnly: false })
