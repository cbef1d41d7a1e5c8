import { challengesOf } from '../../http/credentials.ts'
import { writeRetryAfter } from '../../http/fields.ts'
import type { Request, Response } from '../../http/message.ts'
import type { Sent, SoapNode } from '../endpoint.ts'
import { filled } from '../mime/streamed-base64.ts'
import { writePackage } from '../mime/write-package.ts'
import type { AnyRefusal } from '../refusal.ts'
import type { Version } from '../version.ts'

export type Fields = Readonly<Record<string, string>>

/** Ends the exchange with a status and no message. */
class Ended {
  readonly response: Response
  constructor(status: number, text: string, fields: Fields = {}) {
    this.response = { status, fields: { 'content-type': 'text/plain; charset=utf-8', ...fields }, content: `${text}\n` }
  }
}
export function end(status: number, text: string, fields: Fields = {}): never {
  throw new Ended(status, text, fields)
}

export function endedBy(thrown: unknown): Response {
  if (thrown instanceof Ended) return thrown.response
  throw thrown
}

// Answers

export function written(node: SoapNode, { id }: Request, sent: Sent): Response {
  const { version, envelope: text, attached, fault, filling } = sent
  if (fault?.refusal.kind === 'too-long') tooLong(fault.refusal.limit)
  if (text === undefined) return { status: 202, fields: {} } // B4.10; 204 breaks half the peers
  const envelope = filling ? filled(text, filling) : text
  const packed = attached && writePackage(version.mediaType, envelope, attached, `diglot-${node.serving.id()}`)
  const fields: Record<string, Fields[string]> = {
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
function statusOf(node: SoapNode, version: Version, { code, refusal }: NonNullable<Sent['fault']>): number {
  if (refusal.kind === 'unauthenticated') return 401
  if (refusal.kind === 'too-many') return 429
  if (refusal.kind === 'unavailable') return 503
  return node.faultStatus === 'w3c' && code === 'Sender' ? version.senderStatus : 500
}

export function fieldsOf({ serving: { identities } }: SoapNode, refusal: AnyRefusal): Fields {
  if (refusal.kind === 'unauthenticated') {
    const keys = identities.takesKeys?.() ?? false
    return { 'www-authenticate': challengesOf({ realm: 'diglot', passwords: true, keys, failed: false }) }
  }
  if (refusal.kind === 'too-many' || refusal.kind === 'unavailable')
    return { 'retry-after': writeRetryAfter(refusal.after) }
  return {}
}

export const tooLong = (limit: number): never => end(413, `messages have at most ${limit} octets`)
