import { chain, type Maybe } from '../../base/maybe.ts'
import { memoizeByText } from '../../base/memo.ts'
import { type MediaType, parseMediaType } from '../../http/media-type.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'
import { parseAccept } from '../../http/negotiate.ts'
import { pieceOctets } from '../../service/file-content.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { converse } from '../face.ts'
import { openPackage } from '../mime/parts.ts'
import { refuseMessage } from '../refusal.ts'
import { type SoapVersion, soap11, soap12 } from '../version.ts'
import { about, mediaOf } from './request-facts.ts'
import { end, tooLong, written } from './write-response.ts'

// POST: a message

export function posted(node: SoapNode, request: Request): Maybe<Response> {
  const type = parseMediaType(request.fields['content-type'] ?? '') ?? unsupported() // B4.2
  return chain(received(node, request, type), message =>
    chain(converse(node, message), sent => written(node, request, sent)),
  )
}

export const accept = `${soap12.mediaType}, ${soap11.mediaType}, multipart/related`
const unsupported = (): never => end(415, `SOAP messages come as ${accept}`, { accept })

/** Octets that may be a message, of this media type, and what came beside them. */
interface Unpacked {
  readonly bytes: Uint8Array
  readonly type: MediaType
  readonly parts?: ReceivedMessage['parts']
}

function received(node: SoapNode, request: Request, type: MediaType): Maybe<ReceivedMessage> {
  if (type.essence === 'multipart/related')
    return unpacked(node, request, type).then(content => messageOf(node, request, type, content))
  if (!mediaOf(type)) unsupported()
  return chain(whole(node, request, type), bytes => messageOf(node, request, type, { bytes, type }))
}

function messageOf(node: SoapNode, request: Request, type: MediaType, content: Unpacked): ReceivedMessage {
  const { fields } = request
  const root = rootType(content.type, type)
  const version = mediaOf(root) ?? unsupported()
  const { charset } = content.type.parameters
  if (charset !== undefined && !/^utf-(8|16(le|be)?)$/i.test(charset))
    end(415, 'messages are in UTF-8 or UTF-16', { accept })
  return {
    bytes: content.bytes,
    charset,
    media: version,
    action: actionOf(version, root, type, fields),
    parts: content.parts,
    takesPackage: content.parts !== undefined || takesPackage(fields['accept']),
    ...about(node, request),
  }
}

/** All octets of the content, within what the longest operation takes. */
function whole(node: SoapNode, request: Request, type: MediaType): Maybe<Uint8Array> {
  const limit = hinted(node, request, type)
  const { length } = request.content
  const coding = (request.fields['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding !== 'identity' && !(node.inflate && (coding === 'gzip' || coding === 'x-gzip')))
    end(415, 'content is gzip or not coded', { 'accept-encoding': node.inflate ? 'gzip' : 'identity' })
  if (length !== undefined && length > limit) tooLong(limit)
  return chain(request.content.bytes(limit), bytes => {
    const octets = bytes ?? tooLong(limit)
    if (coding === 'identity') return octets
    return chain(
      node.inflate?.(octets, limit),
      found => found ?? end(413, 'not gzip, not gzip to its end, or longer than it may be'),
    )
  })
}

/** What may be read before the operation is known: as much as the one that the action names takes, or as any takes. */
function hinted(node: SoapNode, { fields }: Request, type: MediaType): number {
  const hint = type.parameters['action'] ?? unquoted(fields['soapaction'] ?? '')
  const named = hint ? node.byAction.get(hint) : undefined
  return named?.longest ?? node.sizes.longest
}

const unquoted = memoizeByText((field: string) => field.replace(/"/g, ''))

async function unpacked(node: SoapNode, request: Request, type: MediaType) {
  const { boundary, start } = type.parameters
  if (boundary === undefined) return end(415, 'a package has a boundary', { accept })
  if (request.fields['content-encoding'] !== undefined)
    end(415, 'packages are not coded', { 'accept-encoding': 'identity' })
  const sizes = { root: node.sizes.shortest, rest: node.sizes.longest }
  const limit = sizes.root + sizes.rest
  const { length } = request.content
  if (length !== undefined && length > limit) tooLong(limit)
  const chunks = request.content.chunks()
  const found = await openPackage(length === undefined ? counted(chunks, limit) : chunks, boundary, start, sizes)
  if (!found) return tooLong(limit)
  // What is little has come: to wait for who sent it would cost more than it.
  if (length !== undefined && length <= pieceOctets) await found.rest.collect()
  const root = parseMediaType(found.root.type) ?? unsupported()
  return { bytes: found.root.bytes, type: root, parts: found.rest }
}

/** All of a package of which nobody has said how long it is, whatever its parts are. */
async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array, void, boolean | undefined> {
  const arriving = chunks[Symbol.asyncIterator]()
  let [length, done]: [number, boolean | undefined] = [0, false]
  for (let next = await arriving.next(); !next.done; next = await arriving.next(done)) {
    length += next.value.length
    if (length > limit) refuseMessage({ kind: 'too-long', limit })
    done = yield next.value
  }
}

/** XOP §4.1: the type of what is in an XOP document stands beside it; else the root is what it says it is. */
function rootType(root: MediaType, packaged: MediaType): MediaType {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? packaged.parameters['start-info'] ?? '') ?? unsupported()
}

/** B4.3: a quoted URI in SOAPAction (SOAP 1.1 §6.1.1), or the action parameter (RFC 3902). Empty or absent says nothing. */
function actionOf(version: SoapVersion, root: MediaType, type: MediaType, fields: HttpFields): string | undefined {
  if (version.actionIn === 'media type') return root.parameters['action'] ?? type.parameters['action']
  const field = fields['soapaction']?.trim()
  if (field === undefined || field === '') return undefined
  return uriIn(field) ?? refuseMessage({ kind: 'structure', detail: 'SOAPAction is one URI in quotes' })
}
const uriIn = memoizeByText((field: string): string | undefined => /^"([^"\\]*)"$/.exec(field)?.[1])

export const takesPackage = (field: string | undefined): boolean =>
  field !== undefined &&
  parseAccept(field).some(each => each.type === 'multipart' && each.subtype === 'related' && each.quality > 0)
