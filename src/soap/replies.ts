/** Replies and faults as messages, and where they go. */

import { encodeBase64 } from '../base/base64.ts'
import { fillMarks, type MarkedOctets } from '../base/marked-octets.ts'
import { chain, type Maybe, settle } from '../base/maybe.ts'
import type { PassingOctets } from '../base/passing-octets.ts'
import type { ExchangeFacts, MessageFacts, SentMessage, SoapNode } from './endpoint.ts'
import { writeEnvelope, writeFaultEnvelope } from './envelope.ts'
import {
  type AgreedAddressing,
  type Destination,
  duplicateRefusal,
  earlyFaultDestination,
  faultActionOf,
  replyBlocks,
} from './headers/addressing.ts'
import { writePartId } from './mime/parts.ts'
import { type Attached, attachReferred, isHeldPart } from './mime/write-package.ts'
import type { BoundOperation, OperationResponse } from './operations/bound-operation.ts'
import { type AnySoapRefusal, createFault, transportStatusOf, writeNotUnderstood, writeUpgrade } from './refusal.ts'
import type { ProtectAnswer } from './security-port.ts'
import { type SoapVersion, soap11 } from './version.ts'

export function replyWithAnswer(
  node: SoapNode,
  facts: MessageFacts,
  exchange: BoundOperation,
  answer: OperationResponse,
): Maybe<SentMessage> {
  const { version, addressing, message } = facts
  if (exchange.replyAction === undefined) return { version, envelope: undefined }
  const destination = facts.agreed?.reply ?? back
  const attached: Attached[] = []
  const packed = message.takesPackage && destination.to === 'back' && !facts.protect
  const large = answer.large && markOctets(node, answer.large)
  const { passing } = answer
  if (passing) message.gone?.().addEventListener('abort', passing.drop, { once: true })
  const attach = (bytes: Uint8Array | PassingOctets) => {
    const octets = bytes === large?.bytes ? large.read() : findPassing(passing, bytes)
    return attachReferred(attached, octets, answer.mediaType)
  }
  const refer = (bytes: Uint8Array) => attachReferred(attached, bytes)
  const attachPart = (part: string, mediaType: string, bytes: Uint8Array) => {
    attached.push({ id: writePartId(part, node.serving.id()), mediaType, bytes })
  }
  const complete = large ? { ...answer, row: { ...answer.row, ...large.row } } : answer
  const writing = { attach: packed ? attach : undefined, refer, attachPart }
  const body = passing
    ? writeOrDrop(passing, () => exchange.write(complete.row, writing, version))
    : exchange.write(complete.row, writing, version)
  const action = exchange.replyAction
  const blocks = addressing
    ? replyBlocks(addressing, { action, id: node.serving.id(), isFault: false, destination })
    : []
  const text = writeEnvelope(version, body, [...blocks, ...facts.blocks])
  const inside = attached.length === 0 ? (large?.octetsOf ?? passing?.octetsOf) : undefined
  const reply = {
    version,
    envelope: text,
    standing: answer.standing,
    ...((packed || attached.length > 0) && { packed: { attached, isXop: packed } }),
    ...(inside && { filling: inside }),
  }
  return deliver(node, facts, destination, action, reply)
}

/** A placeholder for large octets: attached, or replaced in the envelope as it is sent. */
function markOctets({ serving }: SoapNode, { field, octets }: NonNullable<OperationResponse['large']>) {
  const bytes = new TextEncoder().encode(serving.id().padEnd(36, '-'))
  const read = () => octets.read(0, octets.length)
  const octetsOf: MarkedOctets = new Map([[encodeBase64(bytes), { read }]])
  return { bytes, read, row: { [field]: bytes }, octetsOf }
}

/** The octets for which these are a placeholder, if they are one. */
const findPassing = (passing: OperationResponse['passing'], bytes: Uint8Array | PassingOctets) =>
  (passing && bytes instanceof Uint8Array && passing.octetsOf.get(encodeBase64(bytes))) || bytes
function writeOrDrop<T>(passing: NonNullable<OperationResponse['passing']>, write: () => T): T {
  try {
    return write()
  } catch (thrown) {
    passing.drop()
    throw thrown
  }
}

export function replyWithFault(node: SoapNode, facts: ExchangeFacts, refused: AnySoapRefusal): Maybe<SentMessage> {
  const { version, addressing, exchange } = facts
  const refusal = refused.kind === 'key-reused' && addressing ? duplicateRefusal(addressing) : refused
  const content = { ...createFault(refusal, (exchange ?? node).wording), node: facts.address }
  const answering = refusal.kind === 'version-mismatch' ? versionOfMismatch(node, version) : version
  const fault = { role: facts.role ?? answering.ultimateReceiver, ...content }
  const ownAction = refusal.kind === 'encoded' ? undefined : exchange?.faultAction // its subcodes belong to SOAP
  const action = addressing && faultActionOf(addressing, refusal.kind === 'addressing', ownAction, fault)
  const destination = destinationOfFault(facts, refusal)
  const blocks = [
    ...(addressing && action !== undefined
      ? replyBlocks(addressing, { action, id: node.serving.id(), isFault: true, destination })
      : []),
    ...facts.blocks,
    ...(refusal.kind === 'version-mismatch' ? [writeUpgrade(node.spoken)] : []),
    ...(refusal.kind === 'not-understood' && version.notUnderstood ? refusal.blocks.map(writeNotUnderstood) : []),
  ]
  return deliver(node, facts, destination, action ?? '', {
    version: answering,
    envelope: writeFaultEnvelope(answering, fault, blocks, addressing?.dialect.uri),
    fault: { code: fault.code, refusal },
  })
}

/**
 * WS-I Basic Profile 1.2 and 2.0 R1036: the fault for a mandatory block that is not understood goes
 * into the response, whatever FaultTo and ReplyTo say. So does a refusal of the request itself: an
 * unknown sender cannot direct faults elsewhere.
 */
function destinationOfFault({ agreed, addressing }: ExchangeFacts, refusal: AnySoapRefusal): Destination {
  if (refusal.kind === 'not-understood' || !addressing) return back
  const destination = agreed?.fault ?? earlyFaultDestination(addressing)
  return destination.to === 'address' && transportStatusOf(refusal) !== undefined ? back : destination
}

const back: Destination = { to: 'back' }
/** Whatever was agreed, everything goes to the sender on its connection. */
export const anonymousReplies: AgreedAddressing = { reply: back, fault: back }

/**
 * SOAP 1.2 Part 1 appendix A: a 1.1 message gets a 1.1 fault, and so does any message at a 1.1-only
 * node.
 */
const versionOfMismatch = (node: SoapNode, media: SoapVersion): SoapVersion =>
  node.spoken.includes(media) || media === soap11 ? media : soap11

function deliver(
  node: SoapNode,
  facts: ExchangeFacts,
  destination: Destination,
  action: string,
  message: SentMessage,
): Maybe<SentMessage> {
  const protectedMessage = facts.protect ? protectSent(node, facts.protect, message) : message
  if (destination.to === 'back') return protectedMessage
  return settle(
    () => chain(protectedMessage, each => sendTo(node, destination, action, each)),
    thrown => {
      facts.agreed = anonymousReplies // a message that cannot be kept for its address goes back to the sender
      throw thrown
    },
  )
}

/**
 * A signature needs the whole message at once, so octets that would arrive while it is sent are
 * included first, and so are files.
 */
function protectSent({ serving }: SoapNode, protect: ProtectAnswer, message: SentMessage): Maybe<SentMessage> {
  const { envelope, filling, packed, ...others } = message
  if (envelope === undefined) return message
  return chain(filling ? collectEnvelope(envelope, filling) : envelope, text => {
    const now = (serving.protectedAt ?? serving.clock)()
    const proven = protect({ envelope: text, attached: (packed?.attached ?? []).filter(isHeldPart) }, now)
    return { ...others, envelope: proven.envelope, ...(packed && { packed: { ...packed, attached: proven.attached } }) }
  })
}

function sendTo(node: SoapNode, destination: Destination, action: string, message: SentMessage): Maybe<SentMessage> {
  const { version, envelope: text, filling, fault } = message
  const accepted = { version, envelope: undefined }
  // Core §3.3: no message goes to [none], but a status is not a message (rule B7.1).
  if (destination.to === 'nowhere' && fault) return { ...accepted, fault }
  if (destination.to !== 'address' || text === undefined) return accepted
  const { mediaType } = version
  const { address } = destination
  // Room for a reply was checked before anything was carried out.
  const room = fault && node.elsewhere?.requireRoom?.(address)
  const complete = chain(room, () => (filling ? collectEnvelope(text, filling) : text))
  return chain(complete, content =>
    chain(node.elsewhere?.send(address, { mediaType, action, content }), () => accepted),
  )
}

/** A message to another address is a single text. */
async function collectEnvelope(envelope: string, filling: MarkedOctets): Promise<string> {
  return Buffer.concat(await Array.fromAsync(fillMarks(envelope, filling))).toString('utf8')
}
