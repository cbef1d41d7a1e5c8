/**
 * The SOAP face: START HERE. `runSteps` is the processing model (SOAP 1.2 Part 1 §2.6; rule B4.8),
 * one line for each step. What always holds, by number:
 *  (1) The Envelope's namespace determines the version, the Body's first element the operation;
 *      media type and action must only agree. If operations share this element, the action decides,
 *      or the whole content of the Body.
 *  (2) Nothing is performed before the message has been read to its last octet and every mandatory
 *      block is understood.
 *  (3) The Body that was authenticated is the very Body that is read, by identity.
 *  (4) Every refusal becomes a fault in one place; any other exception becomes Receiver with an
 *      incident.
 */

import { createHash } from 'node:crypto'
import { chain, forEachInTurn, type Maybe, settle } from '../base/maybe.ts'
import type { ReadingOrder } from '../base/passing-octets.ts'
import type { Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { largeContentOctets } from '../service/large-work.ts'
import { Refused, Unimplemented } from '../service/refusal.ts'
import { Unavailable, unavailableRefusal } from '../service/store.ts'
import { packTyped } from '../service/typed-json.ts'
import { CanonicalBudget } from '../xml/canonical-budget.ts'
import {
  type Cursor,
  clarkNotation,
  type Document,
  Element,
  type Event,
  Malformed,
  type Name,
  parseOrUndefined,
  parseXml,
  readElement,
  scanDocument,
  walkTree,
} from '../xml/index.ts'
import type { PartSource } from './codecs/values.ts'
import type {
  Endpoint,
  ExchangeFacts,
  MessageFacts,
  ReceivedMessage,
  SentMessage,
  SoapNode,
  SoapOptions,
} from './endpoint.ts'
import {
  closeEnvelope,
  type Envelope,
  headerBlocks,
  openEnvelope,
  openEnvelopeTree,
  strictParsing,
} from './envelope.ts'
import {
  agreeOnAction,
  agreeOnReplies,
  isAddressingBlock,
  isRevealedAddressing,
  readAddressing,
  statedAction,
} from './headers/addressing.ts'
import { type Block, readBlock as blockContent, findBlock } from './headers/block.ts'
import { requireUnderstood, roleOf, targetedBlocks } from './headers/node.ts'
import type { BoundOperation, OperationRequest, OperationResponse } from './operations/bound-operation.ts'
import { type AnySoapRefusal, refuseMessage } from './refusal.ts'
import { anonymousReplies, replyWithAnswer, replyWithFault } from './replies.ts'
import { encryptedHeaderName, type ProtectAnswer, securityName, type VerifyMessage } from './security-port.ts'
import type { SoapVersion } from './version.ts'

export type { Endpoint, SoapOptions }

const createFacts = (message: ReceivedMessage): MessageFacts => ({
  address: message.addresses[0],
  version: message.media,
  message,
  blocks: [],
  values: [],
})

export const processMessage = (node: SoapNode, message: ReceivedMessage): Maybe<SentMessage> => {
  const facts = createFacts(message)
  return settle(
    () => runSteps(node, facts),
    thrown => replyWithRefusal(node, facts, findMalformed(facts, thrown) ?? toSoapRefusal(node, message, thrown)),
  )
}

/**
 * If a reply or a fault for another address cannot be stored until it is sent, the sender learns
 * this on its connection instead.
 */
function replyWithRefusal(node: SoapNode, facts: MessageFacts, refusal: AnySoapRefusal): Maybe<SentMessage> {
  const { agreed } = facts
  return settle(
    () => replyWithFault(node, facts, refusal),
    thrown => {
      if (facts.agreed === agreed) throw thrown
      return replyWithFault(node, facts, toSoapRefusal(node, facts.message, thrown))
    },
  )
}

/** The steps in order: first those that authenticate the sender, then those that rely on it. */
function runSteps(node: SoapNode, facts: MessageFacts): Maybe<SentMessage> {
  const envelope = openMessage(node, facts) // XML, its version, its Envelope
  const blocks = targetedBlocks(envelope.blocks, envelope.version, node.place) // blocks for this node
  facts.addressing = blocks.length === 0 ? undefined : readAddressing(blocks)
  requireUnderstood(blocks, envelope.version, each => isKnownBlock(node, facts, each) || isSealedBlock(node, each)) // every mandatory one
  return chain(proveSender(node, facts, envelope, blocks), proven => {
    facts.protect = proven.protect
    const opened = openSealedBlocks(node, facts, envelope.version, blocks, proven) // those that were encrypted
    const { exchange, content } = requireOperation(node, facts, proven) // the operation: by the Body's first element
    requireUnderstood(opened, envelope.version, each => isKnownBlock(node, facts, each)) // … by the operation, too
    requireAgreement(node, facts, exchange) // addressing and action agree with it
    // The parts of its package.
    const parts = exchange.awaits === 'nothing' ? undefined : facts.message.parts?.collect(exchange.longest)
    return chain(parts, () => processBody(node, facts, exchange, { ...proven, body: content }, opened))
  })
}

function processBody(
  node: SoapNode,
  facts: MessageFacts,
  exchange: BoundOperation,
  proven: Proven,
  blocks: readonly Element[],
): Maybe<SentMessage> {
  const content = readBody(facts, exchange, proven) // Body to its end, message to its last byte
  return chain(proven.caller ?? facts.message.caller(), caller => {
    facts.message.notes.subject = caller.subject
    const isAddressed = content.sound && blocks.length > 0
    return chain(isAddressed ? processBlocks(node, facts, blocks, caller) : undefined, () =>
      // blocks with handlers
      performExchange(node, facts, exchange, { content: content.row, caller }),
    )
  })
}

function performExchange(
  node: SoapNode,
  facts: MessageFacts,
  exchange: BoundOperation,
  request: Pick<OperationRequest, 'content' | 'caller'> & Partial<Pick<OperationRequest, 'expects' | 'passing'>>,
): Maybe<SentMessage> {
  const { largeWork } = node.serving
  const perform = () => exchange.perform({ ...operationFacts(facts, exchange), ...request })
  const reply = (answer: OperationResponse) => replyWithAnswer(node, facts, exchange, answer)
  const { agreed, message } = facts
  const room = agreed && node.elsewhere ? requireRoom(facts, agreed, node.elsewhere) : undefined
  const from = request.caller.subject ?? `@${message.from}`
  if (exchange.isLong) return chain(room, () => performList(node, from, perform, reply))
  const isLarge = message.bytes.length >= largeContentOctets
  const answer = chain(room, isLarge && largeWork ? () => largeWork.run(from, async () => perform()) : perform)
  return chain(answer, reply)
}

/** A list may be long work, so reading it is one step and writing it another. */
function performList(
  { serving: { turns } }: SoapNode,
  from: string,
  perform: () => Maybe<OperationResponse>,
  reply: (answer: OperationResponse) => Maybe<SentMessage>,
): Maybe<SentMessage> {
  const inTurn = <T>(step: () => Maybe<T>): Maybe<T> =>
    turns ? chain(turns.run(from, step), result => result) : step()
  return chain(inTurn(perform), answer => inTurn(() => reply(answer)))
}

/**
 * A reply is written while it is sent if it goes back in the response and no signature covers it.
 */
function passingOrderOf({ agreed, protect, message }: MessageFacts): ReadingOrder | undefined {
  if (protect || (agreed?.reply.to ?? 'back') !== 'back') return undefined
  return message.takesPackage ? 'as they come' : 'as written'
}

/**
 * If a reply cannot be queued for its address, the refusal goes back to the sender of the message.
 */
function requireRoom(
  facts: MessageFacts,
  agreed: NonNullable<MessageFacts['agreed']>,
  elsewhere: NonNullable<SoapNode['elsewhere']>,
): Maybe<void> {
  const addresses = [agreed.reply, agreed.fault].flatMap(each => (each.to === 'address' ? [each.address] : []))
  if (addresses.length === 0) return
  facts.agreed = anonymousReplies
  const room = forEachInTurn([...new Set(addresses)], address => elsewhere.requireRoom?.(address))
  return chain(room, () => {
    facts.agreed = agreed
  })
}

/**
 * A message that is not well-formed to its end is refused for this reason, whatever else is wrong.
 */
function findMalformed({ cursor }: MessageFacts, thrown: unknown): AnySoapRefusal | undefined {
  if (!(thrown instanceof Refused) || thrown.refusal.kind === 'too-long') return undefined
  const flaw = parseOrUndefined(() => cursor?.finish())
  return flaw instanceof Malformed ? { kind: 'not-well-formed', flaw } : undefined
}

/**
 * SOAP 1.2 Part 2 §7.4, the response pattern: the reply of a safe operation to a request without a
 * message.
 */
export function performRetrieval(
  node: SoapNode,
  message: ReceivedMessage,
  exchange: BoundOperation,
  row: () => Values,
  expects: NonNullable<OperationRequest['expects']>,
): Maybe<SentMessage> {
  const facts = { ...createFacts(message), exchange }
  return settle(
    () =>
      chain(message.caller(), caller => {
        Object.assign(message.notes, { operation: exchange.name, subject: caller.subject })
        return performExchange(node, facts, exchange, { content: row, caller, expects, passing: () => undefined })
      }),
    thrown => replyWithFault(node, facts, toSoapRefusal(node, message, thrown)),
  )
}

/** The fault of a binding that refuses a request before it has a message. */
export const refuseEarly = (
  node: SoapNode,
  version: SoapVersion,
  address: string,
  refusal: AnySoapRefusal,
): Maybe<SentMessage> => replyWithFault(node, { address, version, blocks: [], values: [] }, refusal)

// XML and Envelope

function openMessage(node: SoapNode, facts: MessageFacts): Envelope {
  const { bytes, charset, media } = facts.message
  facts.cursor = scanDocument(bytes, { ...strictParsing, ...(charset !== undefined && { charset }) })
  const envelope = openEnvelope(facts.cursor, node.spoken)
  facts.version = envelope.version
  if (envelope.version !== media)
    refuseMessage({
      kind: 'structure',
      detail: `a SOAP ${envelope.version.number} envelope must not be sent as ${media.mediaType}`,
    })
  return envelope
}

// Blocks

const isKnownBlock = (node: SoapNode, { version, addressing, exchange }: ExchangeFacts, block: Element): boolean =>
  (addressing !== undefined && isAddressingBlock(addressing, block)) ||
  (block.name === securityName && node.secure !== undefined) ||
  findBlock(block, version, node.blocks ?? [], exchange?.name) !== undefined

/** An EncryptedHeader is understood where it can be decrypted, which is known later (WSS §9.3). */
const isSealedBlock = (node: SoapNode, block: Element): boolean =>
  block.name === encryptedHeaderName && node.secure !== undefined

/**
 * The blocks for this node once the message is decrypted: one that arrived encrypted counts like
 * any other, and an EncryptedHeader that is left has not been understood.
 */
function openSealedBlocks(
  node: SoapNode,
  facts: MessageFacts,
  version: SoapVersion,
  blocks: readonly Element[],
  { document }: Proven,
): readonly Element[] {
  if (!(document && blocks.some(each => each.name === encryptedHeaderName))) return blocks
  const opened = targetedBlocks(headerBlocks(document, version), version, node.place)
  facts.addressing = readAddressing(opened)
  return opened
}

function processBlocks(node: SoapNode, facts: ExchangeFacts, blocks: readonly Element[], caller: Caller): Maybe<void> {
  const declared = blocks.flatMap(block => {
    const declaration = findBlock(block, facts.version, node.blocks ?? [], facts.exchange?.name)
    return declaration ? [{ block, declaration }] : []
  })
  return declared.length === 0 ? undefined : handleBlocks(facts, declared, caller)
}

async function handleBlocks(
  facts: ExchangeFacts,
  found: readonly { readonly block: Element; readonly declaration: Block }[],
  caller: Caller,
): Promise<void> {
  const { version } = facts
  const add = (written: string) => facts.blocks.push(written)
  for (const { block, declaration } of found) {
    facts.role = roleOf(block, version)
    const value = blockContent(block, declaration.read)
    facts.values.push({ declaration, value })
    await declaration.process(value, { block, version, caller, add })
  }
  facts.role = undefined
}

// Security

interface Proven {
  /** First at the Body's `start`, later in its content. */
  readonly body: Cursor
  /** The Body, or only its start tag. */
  readonly around: Element
  /** The cursor of the message continues after the Body to the end of the message. */
  readonly streamed: boolean
  /**
   * Header blocks that the Body may refer to, whatever their roles; none if a signature covers the
   * Body alone.
   */
  readonly blocks: readonly Element[]
  /** The message as it was decrypted. */
  readonly document?: Document
  readonly caller: Caller | undefined
  readonly protect?: ProtectAnswer | undefined
}

function proveSender(
  node: SoapNode,
  facts: MessageFacts,
  envelope: Envelope,
  blocks: readonly Element[],
): Maybe<Proven> {
  const needsSecurity = node.endpoint.secure || blocks.some(each => each.name === securityName)
  return node.secure && needsSecurity
    ? proveBySecurity(node, facts, node.secure)
    : { body: envelope.body, around: envelope.around, streamed: true, blocks: envelope.blocks, caller: undefined }
}

async function proveBySecurity(node: SoapNode, facts: MessageFacts, secure: VerifyMessage): Promise<Proven> {
  const { bytes, charset, ...message } = facts.message
  const document = parseXml(bytes, { ...strictParsing, ...(charset !== undefined && { charset }) })
  if (document instanceof Malformed) throw document
  const envelope = openEnvelopeTree(document, node.spoken)
  const targeted = targetedBlocks(envelope.blocks, envelope.version, node.place)
  const isProcessed = (block: Element) =>
    block.name !== securityName && (isKnownBlock(node, facts, block) || isRevealedAddressing(block, targeted))
  const proven = await secure({
    version: envelope.version,
    document,
    body: envelope.element,
    blocks: envelope.blocks,
    targeted,
    isProcessed,
    demanded: node.endpoint.secure,
    now: node.serving.clock(),
    address: message.addresses[0],
    from: message.from,
    confidential: message.isConfidential(),
    parts: (await message.parts?.hold()) ?? new Map(),
  })
  message.parts?.replace(proven.parts)
  const body = walkTree(proven.body)
  body.next()
  return {
    body,
    around: proven.body,
    streamed: false,
    blocks: [],
    document,
    caller: proven.caller,
    protect: proven.protect,
  }
}

// Body

interface ChosenOperation {
  readonly exchange: BoundOperation
  /** At the first child of the Body, or at its end. */
  readonly content: Cursor
}

function requireOperation(node: SoapNode, facts: MessageFacts, proven: Proven): ChosenOperation {
  const { body } = proven
  const event = body.child()
  if (event === 'text') refuseMessage({ kind: 'structure', detail: 'the Body contains text' })
  const first = event === 'start' ? body.name : undefined
  if (first === facts.version.fault) refuseMessage({ kind: 'structure', detail: 'a Fault is not a request' })
  const found = chooseOperation(node, facts, proven, first)
  if (!found) {
    const detail = first ? `${clarkNotation(first)} is not a known operation of this endpoint` : 'the Body is empty'
    return refuseMessage({ kind: 'no-operation', detail })
  }
  const { exchange } = found
  facts.exchange = exchange
  facts.message.notes.operation = exchange.name
  if (facts.message.bytes.length > exchange.longest) refuseMessage({ kind: 'too-long', limit: exchange.longest })
  return found
}

/**
 * If several operations have the first element, the action selects one; if it does not, the first
 * one whose declared content matches the Body is chosen.
 */
function chooseOperation(
  node: SoapNode,
  facts: MessageFacts,
  proven: Proven,
  first: Name | undefined,
): ChosenOperation | undefined {
  const declared = node.byFirst.get(first) ?? []
  const open = first ? node.open.filter(each => each.mayBegin?.(first.uri) && !declared.includes(each)) : []
  const all = open.length === 0 ? declared : [...declared, ...open]
  if (all.length < 2) return all[0] && { exchange: all[0], content: proven.body }
  const action = facts.message.action || (facts.addressing && statedAction(facts.addressing))
  const named = all.filter(each => each.action === action)
  const isHinted = (each: BoundOperation) => (action ? statesTransport(facts, each) : each.transportAction === '')
  const hinted = named.length > 0 ? named : all.filter(isHinted)
  const candidates = hinted.length > 0 ? hinted : declared.length > 0 ? declared : open
  return candidates.length > 1
    ? chooseByContent(candidates, facts, proven)
    : candidates[0] && { exchange: candidates[0], content: proven.body }
}

/** The Body is read as a tree, so that each operation can try all of it. */
function chooseByContent(
  candidates: readonly BoundOperation[],
  facts: MessageFacts,
  proven: Proven,
): ChosenOperation | undefined {
  const differing = listDiffering(candidates)
  if (differing.length < 2) return differing[0] && { exchange: differing[0], content: proven.body }
  const tree = proven.streamed ? readBodyTree(proven) : proven.around
  const walk = () => {
    const cursor = walkTree(tree)
    cursor.next()
    cursor.child()
    return cursor
  }
  const fits = ({ read }: BoundOperation): boolean => {
    const reading = { flaws: [], parts: noOctets, around: tree, blocks: proven.blocks }
    try {
      read(walk(), reading, facts.version)
      return reading.flaws.length === 0
    } catch (thrown) {
      if (thrown instanceof Refused) return false
      throw thrown
    }
  }
  const exchange = differing.find(fits) ?? differing[0]
  return exchange && { exchange, content: walk() }
}
/** One of each group that declares the same content: a Body is tried once for all of them. */
function listDiffering(candidates: readonly BoundOperation[]): readonly BoundOperation[] {
  const declarations = new Set<object>()
  return candidates.filter(each => {
    const { declared = each } = each
    return !declarations.has(declared) && declarations.add(declared)
  })
}
/** Octets next to the message do not help to find its operation. */
const noOctets: PartSource = {
  take: () => new Uint8Array(0),
  look: () => new Uint8Array(0),
  named: () => 'unknown',
}

/** From the first child of the Body to its end. */
function readBodyTree({ body, around: { parent, name, prefix, attributes, declarations } }: Proven): Element {
  const tree = new Element(parent, name, prefix, attributes, declarations)
  for (let event: Event = body.event; event === 'start'; event = body.child()) tree.addChild(readElement(body, tree))
  if (body.event === 'text') refuseMessage({ kind: 'structure', detail: 'the Body contains text' })
  return tree
}

/** The transport states only the action that the WSDL has for it. */
const statesTransport = ({ message }: MessageFacts, { transportAction }: BoundOperation): boolean =>
  Boolean(transportAction) && message.action === transportAction

function requireAgreement(node: SoapNode, facts: MessageFacts, exchange: BoundOperation): void {
  const { action, replyAction, repliesWithParts } = exchange
  const { addressing, message } = facts
  if (addressing) {
    const { addresses } = message
    facts.agreed = agreeOnReplies(addressing, {
      addresses,
      answered: replyAction !== undefined,
      elsewhere: repliesWithParts ? undefined : node.elsewhere, // a message to another address is a single text
    })
    agreeOnAction(addressing, action, statesTransport(facts, exchange) ? action : message.action)
  }
  if (message.action && message.action !== action && !statesTransport(facts, exchange))
    refuseMessage({ kind: 'action-disagrees', action: message.action, expected: action })
}

/** Refusals of the content wait until the sender is known to be admitted. */
function readBody(
  facts: MessageFacts,
  exchange: BoundOperation,
  { body, around, streamed, blocks }: Proven,
): { row: () => Values; sound: boolean } {
  const budget = new CanonicalBudget(facts.message.bytes.length)
  const reading = { flaws: [], parts: facts.message.parts, around, blocks, kept: budget }
  try {
    const row = exchange.read(body, reading, facts.version)
    if (streamed) closeEnvelope(facts.cursor ?? body)
    return reading.flaws.length === 0
      ? { row: () => row, sound: true }
      : { row: () => refuseMessage({ kind: 'bounds', problems: reading.flaws }), sound: false }
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown
    const message = streamed ? facts.cursor : body
    message?.finish() // it must be well-formed to its end
    return {
      row: () => {
        throw thrown
      },
      sound: false,
    }
  }
}

/** The parts of the message that a call needs besides its content. */
function operationFacts(facts: MessageFacts, exchange: BoundOperation): Omit<OperationRequest, 'content' | 'caller'> {
  const key = exchange.safe ? undefined : facts.addressing?.messageId
  return {
    from: facts.message.from,
    // A reply to an address of its own does not need the connection.
    gone: facts.agreed?.reply.to === 'address' ? undefined : facts.message.gone,
    version: facts.version,
    request: facts.message.request,
    blocks: <T>(declared: Block<T>) =>
      facts.values.filter(each => each.declaration === declared).map(each => each.value as T), // its `read` gives a T
    add: block => facts.blocks.push(block),
    beside: facts.message.parts,
    passing: () => passingOrderOf(facts),
    once: key === undefined ? undefined : row => ({ key, fingerprint: fingerprintOf(exchange, row) }),
  }
}

const fingerprintOf = (exchange: BoundOperation, row: Values): string =>
  createHash('sha256')
    .update(`${exchange.name} ${packTyped(row)}`)
    .digest('base64url')

/** The refusal for an exception; a bug of ours gets one without details. */
function toSoapRefusal(node: SoapNode, { request: incident, notes }: ReceivedMessage, thrown: unknown): AnySoapRefusal {
  if (thrown instanceof Malformed) return { kind: 'not-well-formed', flaw: thrown }
  if (thrown instanceof Error && thrown.name === 'Aborted') throw thrown // the sender has left: the transport handles it
  if (thrown instanceof Refused) return thrown.refusal as AnySoapRefusal // Refused has no other refusals
  if (thrown instanceof Unavailable) return unavailableRefusal(thrown)
  node.serving.report(incident, thrown, notes)
  return thrown instanceof Unimplemented
    ? { kind: 'unimplemented', operation: thrown.operation }
    : { kind: 'incident', incident }
}
