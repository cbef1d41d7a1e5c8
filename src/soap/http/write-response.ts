/** HTTP responses: a message with its status, or a status without a message. */
import { fillMarks } from '../../base/marked-octets.ts'
import { writeAuthChallenges } from '../../front/authenticate.ts'
import type { Entry } from '../../front/entry.ts'
import { writeRetryAfter } from '../../http/fields.ts'
import type { HttpFields, Response } from '../../http/message.ts'
import { respond } from '../../http/respond.ts'
import type { SentMessage, SoapNode } from '../endpoint.ts'
import { writePackage } from '../mime/write-package.ts'
import { type AnySoapRefusal, transportStatusOf } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'

/** Thrown to end the exchange with a status and no message. */
class EndOfExchange {
  readonly response: Response
  constructor(response: Response) {
    this.response = response
  }
}
export function endExchange(status: number, detail: string, fields: HttpFields = {}): never {
  throw new EndOfExchange(respond(status, { detail, fields }))
}

export function responseOfEnd(thrown: unknown): Response {
  if (thrown instanceof EndOfExchange) return thrown.response
  throw thrown
}

export const refuseLength = (limit: number): never =>
  endExchange(413, `the message is longer than the limit of ${limit} octets`)

export function writeResponse(node: SoapNode, entry: Entry, message: SentMessage): Response {
  const { version, envelope: text, packed: packing, fault, filling } = message
  if (fault?.refusal.kind === 'too-long') refuseLength(fault.refusal.limit)
  if (fault?.refusal.kind === 'unavailable') entry.notes.cause = fault.refusal.cause
  if (text === undefined) return writeAcceptance(node, entry, message)
  const envelope = filling ? fillMarks(text, filling) : text
  const packed = packing && writePackage(version.mediaType, envelope, packing, `diglot-${node.serving.id()}`)
  const fields: Record<string, string> = {
    'content-type': packed?.type ?? `${version.mediaType}; charset=utf-8`,
    'cache-control': 'no-store',
  }
  if (fault) Object.assign(fields, fieldsOfFault(node, entry, fault.refusal))
  return { status: fault ? statusOfFault(node, version, fault) : 200, fields, content: packed?.content ?? envelope }
}

/** For a message without a reply, or with a fault that its sender does not want (rule B4.10). */
function writeAcceptance(node: SoapNode, entry: Entry, { fault }: SentMessage): Response {
  const status = fault && transportStatusOf(fault.refusal)
  if (!fault || status === undefined) return { status: 202, fields: {} } // 204 breaks half of the peers
  return { status, fields: { 'cache-control': 'no-store', ...fieldsOfFault(node, entry, fault.refusal) } }
}

/** Rule B4.5: 500 for every other fault. */
function statusOfFault(
  node: SoapNode,
  version: SoapVersion,
  { code, refusal }: NonNullable<SentMessage['fault']>,
): number {
  return transportStatusOf(refusal) ?? (node.faultStatus === 'w3c' && code === 'Sender' ? version.senderStatus : 500)
}

function fieldsOfFault({ serving, realm }: SoapNode, { request }: Entry, refusal: AnySoapRefusal): HttpFields {
  if (refusal.kind === 'unauthenticated') return { 'www-authenticate': writeAuthChallenges(request, serving, realm) }
  if (refusal.kind === 'too-many' || refusal.kind === 'unavailable')
    return { 'retry-after': writeRetryAfter(refusal.after) }
  return {}
}
