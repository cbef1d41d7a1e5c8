/**
 * A response with octets that pass: a text that contains their base64 (`base/marked-octets.ts`),
 * written while they are read. What always holds:
 *  (1) If the octets do not arrive completely, the response is cut off: its end shows that it is
 *      incomplete.
 *  (2) Octets that the response does not send are dropped.
 * It has no validator, since its tag would only be known at its end.
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
  if (head.acceptsIdentity) return { status: 200, fields: typed, content }
  const encode =
    face.options.streams?.encode[head.coding] ?? refuseRequest({ kind: 'not-acceptable', offers: ['identity'] })
  return { status: 200, fields: { ...typed, 'content-encoding': head.coding }, content: encode(content) }
}
