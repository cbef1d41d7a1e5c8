import { writeChallengesFor } from '../../http/credentials.ts'
import { writeRetryAfter } from '../../http/fields.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'
import type { SentMessage, SoapNode } from '../endpoint.ts'
import { streamEnvelope } from '../mime/streamed-base64.ts'
import { writePackage } from '../mime/write-package.ts'
import type { AnySoapRefusal } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'

/** Ends the exchange with a status and no message. */
class Ended {
  readonly response: Response
  constructor(status: number, text: string, fields: HttpFields = {}) {
    this.response = { status, fields: { 'content-type': 'text/plain; charset=utf-8', ...fields }, content: `${text}\n` }
  }
}
export function end(status: number, text: string, fields: HttpFields = {}): never {
  throw new Ended(status, text, fields)
}

export function endedBy(thrown: unknown): Response {
  if (thrown instanceof Ended) return thrown.response
  throw thrown
}

// Answers

export function written(node: SoapNode, { id }: Request, sent: SentMessage): Response {
  const { version, envelope: text, attached, fault, filling } = sent
  if (fault?.refusal.kind === 'too-long') tooLong(fault.refusal.limit)
  if (text === undefined) return { status: 202, fields: {} } // B4.10; 204 breaks half the peers
  const envelope = filling ? streamEnvelope(text, filling) : text
  const packed = attached && writePackage(version.mediaType, envelope, attached, `diglot-${node.serving.id()}`)
  const fields: Record<string, HttpFields[string]> = {
    'content-type': packed?.type ?? `${version.mediaType}; charset=utf-8`,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  }
  // Where it has a name already; `front/access-log.ts` names all other answers, at the price of a copy.
  if (id !== undefined) fields['request-id'] = id
  if (fault) Object.assign(fields, fieldsOf(node, fault.refusal))
  return { status: fault ? statusOf(node, version, fault) : 200, fields, content: packed?.content ?? envelope }
}

/** B4.5, B7.1: 500 for every fault but those that HTTP itself has to act on. */
function statusOf(node: SoapNode, version: SoapVersion, { code, refusal }: NonNullable<SentMessage['fault']>): number {
  if (refusal.kind === 'unauthenticated') return 401
  if (refusal.kind === 'too-many') return 429
  if (refusal.kind === 'unavailable') return 503
  return node.faultStatus === 'w3c' && code === 'Sender' ? version.senderStatus : 500
}

export function fieldsOf({ serving: { identities } }: SoapNode, refusal: AnySoapRefusal): HttpFields {
  if (refusal.kind === 'unauthenticated') {
    const keys = identities.takesKeys?.() ?? false
    return { 'www-authenticate': writeChallengesFor({ realm: 'diglot', passwords: true, keys, failed: false }) }
  }
  if (refusal.kind === 'too-many' || refusal.kind === 'unavailable')
    return { 'retry-after': writeRetryAfter(refusal.after) }
  return {}
}

export const tooLong = (limit: number): never => end(413, `messages have at most ${limit} octets`)
