/** Reads replies to the operations of a contract: an opened answer as typed values. */
import type { Values } from '../contract/implement.ts'
import { anonymous } from '../contract/policy.ts'
import { octetsOfElement } from '../soap/codecs/encoded-read.ts'
import type { MessageCodec } from '../soap/codecs/style.ts'
import type { LiteralReading } from '../soap/codecs/values.ts'
import { strictParsing } from '../soap/envelope.ts'
import { type Block, findBlock, readBlock } from '../soap/headers/block.ts'
import type { HeaderCodec } from '../soap/headers/contract-header.ts'
import type { SoapVersion } from '../soap/version.ts'
import { clarkNotation, defaultXmlLimits, type Element, type Name, type ParseOptions } from '../xml/index.ts'
import { AnswerError, FaultError } from './errors.ts'
import { readFault } from './fault-reader.ts'
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
import type { TransportResponse } from './transport.ts'

/** The reply that an operation expects. */
export interface ExpectedReply extends AnswerExpectation {
  readonly operation: string
  /** The child of Body; undefined for an operation without a reply (rule B4.10). */
  readonly element: Name | undefined
  readonly read: MessageCodec['read']
  readonly blocks: readonly Block[]
  /** Header blocks that the contract declares for the reply. */
  readonly replied: readonly HeaderCodec[]
}

/** The content of a reply; empty for an operation without a reply. */
export interface RepliedMessage {
  readonly output: Values | undefined
  readonly headers: Values
}
const noReply: RepliedMessage = { output: undefined, headers: {} }

/** @throws FaultError, AnswerError */
export function readReply(
  expected: ExpectedReply,
  response: TransportResponse,
  request: SentRequest,
): RepliedMessage | Promise<RepliedMessage> {
  try {
    if (expected.element === undefined && response.status < 300) return noReply // WS-I Basic Profile 1.1 R2750: its content is ignored
    const opened = openAnswer(expected, response, request)
    const read = (answer: OpenedAnswer) => readOpened(expected, response, answer)
    const reply = opened instanceof Promise ? opened.then(read) : read(opened)
    return reply instanceof Promise ? reply.catch(failed) : reply
  } catch (thrown) {
    return failed(thrown)
  }
  function failed(thrown: unknown): never {
    const unfit = explainUnfit(thrown)
    if (!unfit) throw thrown
    throw new AnswerError(expected.operation, unfit.why, unfit.detail, response, unfit.problems)
  }
}

/** A block that the client or the contract knows. */
export const findsBlock =
  (blocks: readonly Block[], replied: readonly HeaderCodec[]): AnswerExpectation['understands'] =>
  (block, version) =>
    findBlock(block, version, [...blocks, ...replied.map(each => each.block)]) !== undefined

function readOpened(
  expected: ExpectedReply,
  response: TransportResponse,
  opened: OpenedAnswer,
): RepliedMessage | Promise<RepliedMessage> {
  if (opened.kind === 'fault')
    throw new FaultError(expected.operation, readFault(opened.fault, opened.version, expected.faults), response)
  const { envelope, blocks } = opened
  const { body: cursor, version } = envelope
  if (cursor.event !== 'start') refuseAnswer('structure', 'the Body has no element')
  if (cursor.name !== expected.element)
    refuseAnswer('unexpected', `the Body has ${clarkNotation(cursor.name)}, not the reply of this operation`)
  const row = readContent(expected, opened)
  const reply = { output: row, headers: readHeaders(expected, version, blocks) }
  return expected.blocks.length === 0 ? reply : processBlocks(expected.blocks, version, blocks, reply)
}

function readHeaders({ replied }: ExpectedReply, version: SoapVersion, blocks: readonly Element[]): Values {
  if (replied.length === 0) return noHeaders
  const values: Record<string, unknown> = {}
  for (const block of blocks) {
    const codec = replied.find(each => findBlock(block, version, [each.block]))
    if (!codec) continue
    const { name } = codec.header
    if (Object.hasOwn(values, name)) refuseAnswer('structure', `the header block ${name} is repeated`)
    values[name] = readBlock(block, codec.block.read)
  }
  return values
}
const noHeaders: Values = {}

/** Reads the Body to its end and the message to its last byte. */
function readContent(expected: ExpectedReply, opened: Extract<OpenedAnswer, { kind: 'message' }>): Values {
  const { body, around, blocks, version } = opened.envelope
  const reading: LiteralReading = {
    flaws: [],
    parts: opened.parts,
    around,
    blocks,
    isResponse: true,
    longest: expected.longest,
  }
  const row = expected.read(body, reading, version)
  closeAnswer(opened)
  const { flaws } = reading
  if (flaws.length > 0) refuseFlaws(flaws)
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

/**
 * The limits of an answer grow with its length: a chosen partner may send a list of any size, a
 * single text, or a document as escaped text, within its octets.
 */
export function parserLimitsFor(longest: number): ParseOptions {
  const limits = { ...defaultXmlLimits, ...strictParsing.limits }
  const elements = Math.max(limits.elements, Math.ceil(longest / octetsOfElement))
  const references = Math.max(limits.references, Math.ceil(longest / octetsOfReference))
  return {
    ...strictParsing,
    limits: { ...limits, bytes: longest, text: longest, children: elements, elements, references },
  }
}
/** The densest markup as text, `&lt;a/&gt;`, has one reference for every 5 characters. */
const octetsOfReference = 5
