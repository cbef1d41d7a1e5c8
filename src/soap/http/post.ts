/** A message by POST (rules B4.1–B4.3, B4.12): its packaging is undone, its reply is sent. */
import { chain, type Maybe } from '../../base/maybe.ts'
import { memoizeByText } from '../../base/memo.ts'
import { watchPieces } from '../../base/octets.ts'
import type { Entry } from '../../front/entry.ts'
import { type MediaType, parseMediaType, parsePackageType } from '../../http/media-type.ts'
import type { HttpFields, Request, Response } from '../../http/message.ts'
import { parseAccept } from '../../http/negotiate.ts'
import { pieceOctets } from '../../service/file-content.ts'
import { isReadEncoding } from '../../xml/encoding.ts'
import { defaultXmlLimits } from '../../xml/limits.ts'
import type { ReceivedMessage, SoapNode } from '../endpoint.ts'
import { processMessage } from '../face.ts'
import { openPackage } from '../mime/parts.ts'
import { refuseMessage } from '../refusal.ts'
import { type SoapVersion, soap11, soap12 } from '../version.ts'
import { requestFacts, versionOfMediaType } from './request-facts.ts'
import { endExchange, refuseLength, writeResponse } from './write-response.ts'

export function receivePost(node: SoapNode, entry: Entry): Maybe<Response> {
  const type = parsePackageType(entry.request.fields['content-type'] ?? '') ?? refuseMediaType() // B4.2
  return chain(readMessage(node, entry, type), message =>
    chain(processMessage(node, message), reply => writeResponse(node, entry, reply)),
  )
}

const acceptedTypes = `${soap12.mediaType}, ${soap11.mediaType}, multipart/related`
const refuseMediaType = (): never =>
  endExchange(415, `this media type is not supported: send ${acceptedTypes}`, { accept: acceptedTypes })

/** The octets of a message, its media type, and the parts of its package. */
interface UnpackedContent {
  readonly bytes: Uint8Array
  readonly type: MediaType
  readonly parts?: ReceivedMessage['parts']
}

function readMessage(node: SoapNode, entry: Entry, type: MediaType): Maybe<ReceivedMessage> {
  const { request } = entry
  if (type.essence === 'multipart/related')
    return openMultipart(node, request, type).then(content => toReceivedMessage(node, entry, type, content))
  if (!versionOfMediaType(type)) refuseMediaType()
  return chain(readMessageOctets(node, request, type), bytes => toReceivedMessage(node, entry, type, { bytes, type }))
}

function toReceivedMessage(node: SoapNode, entry: Entry, type: MediaType, content: UnpackedContent): ReceivedMessage {
  const { fields } = entry.request
  const root = requireRootType(content.type, type)
  const version = versionOfMediaType(root) ?? refuseMediaType()
  const { charset } = content.type.parameters
  if (charset !== undefined && !isReadEncoding(charset))
    endExchange(415, 'this charset is not supported: send UTF-8 or UTF-16', { accept: acceptedTypes })
  return {
    bytes: content.bytes,
    charset,
    media: version,
    action: actionOf(version, root, content.type, type, fields),
    parts: content.parts,
    takesPackage: content.type.essence === 'application/xop+xml' || acceptsPackage(fields['accept'] ?? ''),
    ...requestFacts(node, entry),
  }
}

/** Lower-case; `identity` stands for no coding (RFC 9110 §12.5.3). */
const statedCodingOf = ({ fields }: Request): string => (fields['content-encoding'] ?? 'identity').trim().toLowerCase()

/** All octets of the content, decoded, within the limit of the longest operation. */
function readMessageOctets(node: SoapNode, request: Request, type: MediaType): Maybe<Uint8Array> {
  const limit = octetLimit(node, request, type)
  const { length } = request.content
  const coding = statedCodingOf(request)
  if (coding !== 'identity' && !(node.inflate && (coding === 'gzip' || coding === 'x-gzip')))
    endExchange(415, 'this content coding is not supported: use one that Accept-Encoding lists', {
      'accept-encoding': node.inflate ? 'gzip' : 'identity',
    })
  if (length !== undefined && length > limit) refuseLength(limit)
  return chain(request.content.bytes(limit), bytes => {
    const octets = bytes ?? refuseLength(limit)
    if (coding === 'identity') return octets
    return chain(node.inflate?.(octets, limit), found =>
      found === 'too-large' ? refuseLength(limit) : (found ?? endExchange(400, 'the content is not valid gzip')),
    )
  })
}

/**
 * The limit before the operation is known: that of the operation that the action names, or else the
 * largest. A document is never read beyond its own limit, so nothing longer is received or
 * unpacked.
 */
function octetLimit(node: SoapNode, { fields }: Request, type: MediaType): number {
  const hint = type.parameters['action'] ?? unquote(fields['soapaction'] ?? '')
  const operation = hint ? node.byAction.get(hint) : undefined
  return Math.min(operation?.longest ?? node.sizes.longest, defaultXmlLimits.bytes)
}

const unquote = memoizeByText((field: string) => field.replace(/"/g, ''))

async function openMultipart(node: SoapNode, request: Request, type: MediaType) {
  const { boundary, start } = type.parameters
  if (boundary === undefined)
    return endExchange(415, 'multipart/related has no boundary parameter', { accept: acceptedTypes })
  if (statedCodingOf(request) !== 'identity')
    endExchange(415, 'a package must not have a content coding', { 'accept-encoding': 'identity' })
  const sizes = { root: node.sizes.shortest, rest: node.sizes.longest, keep: request.content.keep }
  const limit = Math.max(sizes.root + sizes.rest, node.sizes.passing)
  const { length } = request.content
  if (length !== undefined && length > limit) refuseLength(limit)
  const chunks = request.content.chunks()
  const found = await openPackage(length === undefined ? countOctets(chunks, limit) : chunks, boundary, start, sizes)
  if (!found) return refuseLength(limit)
  // A short message has arrived already, and streaming it would cost more than it saves.
  if (length !== undefined && length <= pieceOctets) await found.rest.collect()
  const root = parsePackageType(found.root.type) ?? refuseMediaType()
  return { bytes: found.root.bytes, type: root, parts: found.rest }
}

/** Limits the octets of a package sent without a length. */
function countOctets(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncIterable<Uint8Array> {
  let length = 0
  return watchPieces(chunks, piece => {
    length += piece.length
    if (length > limit) refuseMessage({ kind: 'too-long', limit })
  })
}

/**
 * XOP §4.1: an XOP document names the type of its content in a parameter; any other root has its
 * own type.
 */
function requireRootType(root: MediaType, packaged: MediaType): MediaType {
  if (root.essence !== 'application/xop+xml') return root
  return parseMediaType(root.parameters['type'] ?? packaged.parameters['start-info'] ?? '') ?? refuseMediaType()
}

/**
 * Rule B4.3: a quoted URI in SOAPAction (SOAP 1.1 §6.1.1), or the action parameter (RFC 3902);
 * undefined if empty or absent. In a package it belongs to the type of the root (MTOM §4), which
 * toolkits write in any of four places.
 */
function actionOf(
  version: SoapVersion,
  root: MediaType,
  part: MediaType,
  type: MediaType,
  fields: HttpFields,
): string | undefined {
  if (version.actionIn === 'media type') {
    const { action, 'start-info': ofMessage } = type.parameters
    const stated = root.parameters['action'] ?? part.parameters['action'] ?? action
    return stated ?? (ofMessage === undefined ? undefined : parseMediaType(ofMessage)?.parameters['action'])
  }
  const field = fields['soapaction']?.trim()
  if (field === undefined || field === '') return undefined
  return quotedUri(field) ?? refuseMessage({ kind: 'structure', detail: 'SOAPAction must be one URI in quotes' })
}
const quotedUri = memoizeByText((field: string): string | undefined => /^"([^"\\]*)"$/.exec(field)?.[1])

/**
 * Whether the client accepts XOP: by its own type, or as the type of a package (XOP §4.1, §5).
 * `multipart/related` alone is not enough: clients that know only SOAP with Attachments send it,
 * too.
 */
const acceptsPackage = memoizeByText((field: string): boolean =>
  parseAccept(field).some(
    ({ type, subtype, parameters, quality }) =>
      quality > 0 &&
      ((type === 'application' && subtype === 'xop+xml') ||
        (type === 'multipart' && subtype === 'related' && parameters['type']?.toLowerCase() === 'application/xop+xml')),
  ),
)
