/**
 * Files: octets in and out, unchanged. A large file passes piece by piece, at the speed of its
 * sender or reader: no whole file is ever held in memory.
 */

import { chain, type Maybe } from '../base/maybe.ts'
import { joinOctets, type Pieces, watchPieces } from '../base/octets.ts'
import { writeDate } from '../http/date.ts'
import type { FieldDraft, Response } from '../http/message.ts'
import { negotiateType } from '../http/negotiate.ts'
import { type ByteRange, isRangeApplicable, parseRange, writeByteRangeParts, writeContentRange } from '../http/range.ts'
import { inMemoryFile, pieceOctets, type ReceivedFile } from '../service/file-content.ts'
import type { Outcome } from '../service/outcome.ts'
import type { FileVersion, StoredOctets } from '../service/store.ts'
import { encodeContent, refuseUndecodable, Undecodable } from './content-coding.ts'
import type { Exchange } from './exchange.ts'
import { contentLimitOf } from './limits.ts'
import { acceptForContent } from './media-types.ts'
import { refuseRequest } from './refusal.ts'
import { fileTag, shortDigest } from './representation.ts'

type FileOutcome = Extract<Outcome, { kind: 'file' }>

// In

/** Row 26 for a file, after all checks: one piece is read at once, more is stored as it arrives. */
export async function receiveFile(exchange: Exchange): Promise<ReceivedFile> {
  const { content } = exchange.entry.request
  const limit = contentLimitOf(exchange.operation)
  const isPlain = exchange.head.contentCoding === 'identity' || content.length === 0
  if (isPlain && content.length !== undefined && content.length <= pieceOctets)
    return inMemoryFile((await content.bytes(limit)) ?? refuseRequest({ kind: 'too-large', limit }))
  const octets = isPlain ? content.chunks() : decodeContent(exchange, limit)
  try {
    const received = exchange.admitted && (await exchange.face.context.calls.keep(exchange.admitted, octets, limit))
    return received ?? refuseRequest({ kind: 'too-large', limit })
  } catch (thrown) {
    if (thrown instanceof Undecodable) return refuseUndecodable(exchange)
    throw thrown
  }
}

/**
 * The limit also applies to the octets as they arrive; decoded octets are counted where they are
 * stored. Empty content is valid in any coding.
 */
export async function* decodeContent(exchange: Exchange, limit: number): AsyncGenerator<Uint8Array> {
  const arriving = limitOctets(exchange.entry.request.content.chunks(), limit)
  const first = await arriving.next()
  if (first.done) return
  const decode = exchange.face.options.streams?.decode[exchange.head.contentCoding]
  if (!decode) throw new Undecodable()
  async function* all() {
    yield first.value as Uint8Array // the generator is not done
    yield* arriving
  }
  yield* decode(all())
}

/** Refuses content beyond the limit. */
export function limitOctets(content: AsyncIterable<Uint8Array>, limit: number): Pieces {
  let length = 0
  return watchPieces(content, octets => {
    length += octets.length
    if (length > limit) refuseRequest({ kind: 'too-large', limit })
  })
}

/**
 * RFC 9110 §9.3.4: the response carries the tag of the octets if they were stored as they came; a
 * coding is undone first.
 */
export function replyToPut(exchange: Exchange, { file, created }: FileOutcome, path: string): Response {
  const dated = writeDate(file.modified, exchange.face.context.clock())
  const isAsSent = exchange.head.contentCoding === 'identity'
  const fields = isAsSent ? { etag: fileTag(exchange, file.version), 'last-modified': dated } : {}
  return created ? { status: 201, fields: { ...fields, location: path } } : { status: 204, fields }
}

// Out

/** The whole file or ranges of it (RFC 9110 §14). */
export function replyWithFile(exchange: Exchange, file: FileVersion, octets: StoredOctets): Maybe<Response> {
  const type = negotiateType(acceptForContent(exchange.entry.request.fields['accept']), [file.mediaType])
  if (type === undefined) return refuseRequest({ kind: 'not-acceptable', offers: [file.mediaType] })
  const etag = fileTag(exchange, file.version)
  const fields: FieldDraft = {
    'content-type': file.mediaType,
    etag,
    'last-modified': writeDate(file.modified, exchange.entry.now),
    'accept-ranges': 'bytes',
    'content-security-policy': "default-src 'none'; sandbox", // an uploaded file is never a page of ours
  }
  if (!exchange.head.acceptsIdentity)
    return codedReply(exchange, octets, { ...fields, 'content-encoding': exchange.head.coding }, etag)
  const { range, 'if-range': ifRange } = exchange.entry.request.fields
  const isRange =
    exchange.entry.request.method === 'GET' &&
    isRangeApplicable(ifRange, { etag, lastModified: file.modified }, exchange.entry.now)
  const { length } = octets
  const ranges = isRange ? parseRange(range, length) : 'whole'
  if (ranges === 'unsatisfiable') return refuseRequest({ kind: 'range', length })
  if (ranges === 'whole') return replyWithParts(200, fields, octets, [{ first: 0, last: length - 1 }])
  const [first, second] = ranges
  if (first && !second)
    return replyWithParts(206, { ...fields, 'content-range': writeContentRange(first, length) }, octets, [first])
  const boundary = `part-${shortDigest(exchange.entry.id)}` // RFC 2046 §5.1.1: a proxy's name for a request may have characters that a boundary may not
  const multipart = { ...fields, 'content-type': `multipart/byteranges; boundary=${boundary}` }
  return replyWithParts(206, multipart, octets, writeByteRangeParts(ranges, length, file.mediaType, boundary))
}

/** For a client that accepts nothing else: one piece is remembered like any representation. */
function codedReply(exchange: Exchange, octets: StoredOctets, fields: FieldDraft, etag: string): Maybe<Response> {
  if (octets.inMemory)
    return chain(encodeContent(exchange, exchange.head.coding, octets.inMemory, etag), content => ({
      status: 200,
      fields,
      content,
    }))
  const encode = exchange.face.options.streams?.encode[exchange.head.coding]
  if (!encode) return refuseRequest({ kind: 'not-acceptable', offers: ['identity'] })
  return { status: 200, fields, content: encode(octets.read(0, octets.length)) }
}

/** Texts and ranges of the octets, one after the other. */
type RangeParts = readonly (string | ByteRange)[]

const utf8 = new TextEncoder()
const partLength = (part: RangeParts[number]): number =>
  typeof part === 'string' ? utf8.encode(part).length : part.last + 1 - part.first

/** Octets in memory go as they are; others are read while they are sent. */
function replyWithParts(status: number, fields: FieldDraft, octets: StoredOctets, parts: RangeParts): Response {
  const { inMemory: all } = octets
  if (all) {
    const pieces = parts.map(part =>
      typeof part === 'string' ? utf8.encode(part) : all.subarray(part.first, part.last + 1),
    )
    return { status, fields, content: joinOctets(pieces) }
  }
  const length = parts.reduce((sum, part) => sum + partLength(part), 0)
  return { status, fields: { ...fields, 'content-length': String(length) }, content: streamParts(octets, parts) }
}

async function* streamParts(octets: StoredOctets, parts: RangeParts): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    if (typeof part === 'string') yield utf8.encode(part)
    else yield* octets.read(part.first, part.last + 1)
  }
}
