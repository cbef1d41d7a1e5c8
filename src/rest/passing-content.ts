/**
 * A response that has octets which pass: a text with their base64 in it, written while they are
 * read. What always holds:
 *  (1) The text is written first, with marks in the places of the octets, which are unguessable:
 *      no other text in it can equal one.
 *  (2) A response whose octets do not come whole is cut: it ends as no whole one does.
 *  (3) Octets that the response does not send are dropped.
 * It has no validator, since what would be its tag is known at its end.
 */
import { randomBytes } from 'node:crypto'
import { encodeBase64 } from '../base/base64.ts'
import { encodePieces, type Pieces } from '../base/octets.ts'
import { dropPassing, listEach, PassingOctets, replaceEach, standInOctets } from '../base/passing-octets.ts'
import type { FieldDraft, Response } from '../http/message.ts'
import { evaluatePreconditions } from '../http/precondition.ts'
import type { Exchange } from './exchange.ts'
import { preferenceOf } from './head-rows.ts'
import { readPreconditions } from './perform.ts'
import { refuseRequest } from './refusal.ts'

/** A value without the octets that pass in it, and these by the base64 in their places. */
export interface MarkedValue {
  readonly value: unknown
  readonly octetsOf: ReadonlyMap<string, PassingOctets>
}

/** (1) Undefined: none pass. */
export function markPassing(value: unknown): MarkedValue | undefined {
  if (listEach(value, PassingOctets).length === 0) return undefined
  const octetsOf = new Map<string, PassingOctets>()
  const marked = replaceEach(value, PassingOctets, octets => {
    const mark = new Uint8Array(randomBytes(standInOctets))
    octetsOf.set(encodeBase64(mark), octets)
    return mark
  })
  return { value: marked, octetsOf }
}

/** @param text with the marks */
export function replyWithPassing(
  exchange: Exchange,
  text: string,
  { octetsOf }: MarkedValue,
  fields: FieldDraft,
): Response {
  const { head, entry, face } = exchange
  const { method, gone } = entry.request
  const drop = () => dropPassing([...octetsOf.values()])
  gone?.().addEventListener('abort', drop, { once: true }) // (3)
  if (exchange.isSafe && evaluatePreconditions(readPreconditions(exchange), method, {}) !== 'proceed')
    refuseRequest({ kind: 'stale' })
  if (!exchange.isSafe && preferenceOf(entry.request, 'return') === 'minimal') {
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

const utf8 = new TextEncoder()
async function* fillMarks(text: string, octetsOf: ReadonlyMap<string, PassingOctets>): Pieces {
  const places = [...octetsOf].map(([mark, octets]) => ({ mark, octets, at: text.indexOf(mark) }))
  let from = 0
  for (const { mark, octets, at } of places.sort((a, b) => a.at - b.at)) {
    yield utf8.encode(text.slice(from, at))
    yield* encodePieces(octets.read())
    from = at + mark.length
  }
  yield utf8.encode(text.slice(from))
}
