/**
 * A response that has octets which pass: a text with their base64 in it (`base/marked-octets.ts`),
 * written while they are read. What always holds:
 *  (1) A response whose octets do not come whole is cut: it ends as no whole one does.
 *  (2) Octets that the response does not send are dropped.
 * It has no validator, since what would be its tag is known at its end.
 */
import { fillMarks, type MarkedValue } from '../base/marked-octets.ts'
import type { FieldDraft, Response } from '../http/message.ts'
import { evaluatePreconditions } from '../http/precondition.ts'
import type { Exchange } from './exchange.ts'
import { readPreconditions } from './perform.ts'
import { refuseRequest } from './refusal.ts'
import { isMinimal } from './reply.ts'

/** @param text with the marks */
export function replyWithPassing(
  exchange: Exchange,
  text: string,
  { octetsOf, drop }: MarkedValue,
  fields: FieldDraft,
): Response {
  const { head, entry, face } = exchange
  const { method, gone } = entry.request
  gone?.().addEventListener('abort', drop, { once: true }) // (2)
  if (exchange.isSafe && evaluatePreconditions(readPreconditions(exchange), method, {}) !== 'proceed')
    refuseRequest({ kind: 'stale' })
  if (!exchange.isSafe && isMinimal(exchange)) {
    drop()
    return { status: 204, fields }
  }
  const typed = { ...fields, 'content-type': head.offer?.sent ?? 'application/octet-stream' }
  if (method === 'HEAD') {
    drop()
    return { status: 200, fields: typed }
  }
  const content = fillMarks(text, octetsOf)
  if (head.identityTaken) return { status: 200, fields: typed, content }
  const encode =
    face.options.streams?.encode[head.coding] ?? refuseRequest({ kind: 'not-acceptable', offers: ['identity'] })
  return { status: 200, fields: { ...typed, 'content-encoding': head.coding }, content: encode(content) }
}
