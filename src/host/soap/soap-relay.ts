/**
 * A SOAP intermediary over HTTP: it processes the blocks for this node (`soap/relay.ts`), forwards
 * the message to the next node, and returns the reply the same way. What it guards:
 *  (1) A message with a mandatory block that cannot be processed is not forwarded, in either
 *      direction.
 *  (2) Only the fields for media type and action are forwarded. All others belong to one
 *      connection, and so do credentials; from a response, Retry-After and WWW-Authenticate are
 *      returned.
 *  (3) If the next node is out of reach or late, or its reply is too long or not SOAP, the sender
 *      gets a Receiver fault.
 *  (4) Only the root of a package (MTOM, attachments) is in memory; its other parts pass octet by
 *      octet, at the speed of the slower side, however long they are.
 * Deliberately absent: retries.
 */

import { randomUUID } from 'node:crypto'
import { takeBounded } from '../../base/octets.ts'
import type { Entry } from '../../front/entry.ts'
import { createFront } from '../../front/front.ts'
import { writeAllow } from '../../front/front-rows.ts'
import { respondToRefusal } from '../../front/refusal.ts'
import { type MediaType, parseMediaType, parsePackageType, writeMediaType } from '../../http/media-type.ts'
import type { Request, Response } from '../../http/message.ts'
import { respond } from '../../http/respond.ts'
import { proxiedLimits } from '../../server/limits.ts'
import { type HttpListener, type ListenOptions, startListener } from '../../server/listener.ts'
import type { ProxyFields } from '../../service/face-context.ts'
import { Refused } from '../../service/refusal.ts'
import { writeFaultEnvelope } from '../../soap/envelope.ts'
import { faultReason } from '../../soap/fault.ts'
import type { Block } from '../../soap/headers/block.ts'
import { type SplitPackage, splitPackage } from '../../soap/mime/split-package.ts'
import { type Intermediary, type Relayed, relayFault, relayMessage } from '../../soap/relay.ts'
import { type SoapVersion, soap12, versions } from '../../soap/version.ts'
import { gunzipWithin } from '../zlib-codings.ts'
import { mayHaveRun, type NextNode, NextNodeFailure, type NextNodeReply, postToNext } from './next-node.ts'

export interface RelayOptions extends Omit<ListenOptions, 'onError'> {
  /** The next node, to which messages to any path are POSTed. */
  readonly to: string
  /** The URI of this node in faults. Default: the address it listens on. */
  readonly uri?: string | undefined
  /** URIs of roles that it plays in addition to `next`. */
  readonly roles?: readonly string[]
  /** Header blocks that it understands. */
  readonly blocks?: readonly Block[]
  /**
   * Octets that a message, or the root of a package, may have in either direction. Default: 16 MiB.
   */
  readonly octetsMax?: number
  /** Milliseconds for the next node's response, and for octets of a package. Default: 30,000. */
  readonly timeLimitMs?: number
  /**
   * The only kind of fields in which a proxy in front is trusted; it bounds the connections of each
   * address. Default: no proxy is in front.
   */
  readonly trustProxy?: ProxyFields | undefined
  /** Receives exceptions of block handlers, and failures of the next node. */
  readonly onError?: (thrown: unknown) => void
}

/** Relays until closed. Rejects with `StartFailure`, or with an error that says what to change. */
export async function startSoapRelay(options: RelayOptions): Promise<HttpListener> {
  const to = URL.parse(options.to)
  if (!to || !/^https?:$/.test(to.protocol))
    throw new Error(`cannot relay to ${options.to}: not an http or https address`)
  const { roles = [], blocks = [], onError = () => {}, octetsMax = 16 * 1024 * 1024, timeLimitMs = 30_000 } = options
  const { trustProxy = false } = options
  let uri = options.uri ?? ''
  const context: RelayContext = { to, node: () => ({ uri, roles, blocks }), octetsMax, timeLimitMs, onError }
  const front = createFront(
    {
      clock: Date.now,
      id: randomUUID,
      report: (_, thrown) => onError(thrown),
      settings: { ...relaySettings, trustProxy },
    },
    [
      {
        name: 'soap',
        segments: [],
        serve: entry => relayEntry(context, entry),
        refuse: (_, refusal) => respondToRefusal(refusal),
      },
    ],
  )
  const listener = await startListener(front, {
    ...options,
    limits: proxiedLimits(trustProxy !== false, options.limits),
    onError,
  })
  uri ||= listener.url
  return listener
}

/** A relay has no credentials and no pages. */
const relaySettings = { trace: false, passwordsOnLoopback: false, origins: [] }

interface RelayContext extends NextNode {
  readonly node: () => Intermediary
  readonly octetsMax: number
  readonly onError: (thrown: unknown) => void
}

const allow = writeAllow(['POST'])

async function relayEntry(context: RelayContext, { request }: Entry): Promise<Response> {
  const { fields, method } = request
  if (method === 'OPTIONS') return { status: 204, fields: { allow } }
  if (method !== 'POST') return respondToRefusal({ kind: 'not-allowed', allow })
  const type = parsePackageType(fields['content-type'] ?? '')
  if (type?.essence === 'multipart/related') return relayPackage(context, request, type)
  const media = type && versionNamedBy(type)
  if (!type || !media) return refuseUnknownType()
  const bytes = await receiveContent(request, context.octetsMax)
  if (!(bytes instanceof Uint8Array)) return bytes
  try {
    const relayed = await relayMessage(bytes, media, context.node(), type.parameters['charset'])
    if (relayed.kind === 'fault') return respondWithFault(relayed.version, relayed.envelope) // (1)
    const answer = await postToNext(
      context,
      relayed.bytes,
      fieldsFor(media, type, fields['soapaction']),
      request.gone?.(),
    )
    return await relayReply(context, relayed.version, answer)
  } catch (thrown) {
    context.onError(thrown)
    return replyWithFailure(context, media, thrown instanceof NextNodeFailure ? thrown.message : 'this node failed')
  }
}

const versionNamedBy = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

function refuseUnknownType(): Response {
  const accept = [...versions.map(each => each.mediaType), 'multipart/related'].join(', ')
  return respond(415, {
    detail: `this media type is not supported: send ${accept}`,
    fields: { accept },
  })
}

async function receiveContent({ fields, content }: Request, octetsMax: number): Promise<Uint8Array | Response> {
  const coding = (fields['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding !== 'identity' && coding !== 'gzip')
    return respond(415, {
      detail: 'this content coding is not supported: send gzip or none',
      fields: { 'accept-encoding': 'gzip' },
    })
  const tooLong = () => respond(413, { detail: `the message is longer than the limit of ${octetsMax} octets` })
  const octets = await content.bytes(octetsMax)
  if (!octets || coding === 'identity') return octets ?? tooLong()
  const decoded = gunzipWithin(octets, octetsMax)
  if (decoded === 'too-large') return tooLong()
  return decoded ?? respond(400, { detail: 'the content is not valid gzip' })
}

/** (2) A forwarded message is UTF-8, whatever its original encoding. */
function fieldsFor({ mediaType }: SoapVersion, type: MediaType, soapAction: string | undefined) {
  const { action } = type.parameters
  const parameters = { charset: 'utf-8', ...(action !== undefined && { action }) }
  const forward = { 'content-type': writeMediaType({ essence: mediaType, parameters }) }
  return soapAction === undefined ? forward : { ...forward, soapaction: soapAction }
}

/** (4) */
async function relayPackage(context: RelayContext, request: Request, type: MediaType): Promise<Response> {
  const { fields } = request
  if (fields['content-encoding'] !== undefined)
    return respond(415, {
      detail: 'a package must not have a content coding',
      fields: { 'accept-encoding': 'identity' },
    })
  let media: SoapVersion = soap12
  try {
    const field = fields['content-type'] ?? ''
    const found = await splitAtRoot(context, request.content.chunks(), type, field, request.content.keep)
    if (!found) return refuseUnknownType()
    media = found.media
    const relayed = await relayMessage(found.split.root, media, context.node())
    if (relayed.kind === 'fault') return respondWithFault(relayed.version, relayed.envelope) // (1)
    const soapAction = fields['soapaction'] === undefined ? {} : { soapaction: fields['soapaction'] }
    const forward = { 'content-type': field, ...soapAction }
    const answer = await postToNext(context, joinPackage(found.split, relayed.bytes), forward, request.gone?.())
    return await relayReply(context, relayed.version, answer)
  } catch (thrown) {
    if (thrown instanceof Refused) {
      const { uri } = context.node()
      return respondWithFault(media, relayFault(thrown, media, uri, media.next).envelope)
    }
    context.onError(thrown)
    return replyWithFailure(context, media, thrown instanceof NextNodeFailure ? thrown.message : 'this node failed')
  }
}

/** RFC 2231, and escapes: some readers find another boundary or start in them than we do. */
const isReadDifferently = /;\s*(?:boundary|start)(?:\*|="[^"\\]*\\)/i

/** XOP §4.1: the root of an XOP package names the type of its content in a parameter. */
async function splitAtRoot(
  { octetsMax }: RelayContext,
  chunks: AsyncIterable<Uint8Array>,
  { parameters }: MediaType,
  field: string,
  keep?: (octets: number) => void,
): Promise<{ readonly split: SplitPackage; readonly media: SoapVersion } | undefined> {
  const { boundary, start } = parameters
  if (boundary === undefined || isReadDifferently.test(field)) return undefined
  const split = await splitPackage(chunks, boundary, start, octetsMax, keep)
  const root = parsePackageType(split.type)
  const named =
    root?.essence === 'application/xop+xml' ? (root.parameters['type'] ?? parameters['start-info']) : split.type
  const inner = parseMediaType(named ?? '')
  const media = inner && versionNamedBy(inner)
  const charset = root?.parameters['charset'] ?? 'utf-8'
  return media && /^utf-8$/i.test(charset) ? { split, media } : undefined
}

async function* joinPackage(
  { before, rest }: SplitPackage,
  root: Uint8Array,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield before
  yield root
  yield* rest
}

async function collectReply({ content }: NextNodeReply, octetsMax: number): Promise<Uint8Array> {
  const octets = await takeBounded(content, octetsMax)
  if (!octets) throw new NextNodeFailure(longReply)
  return octets
}
const longReply = 'the reply of the next node is too long'

const isVisible = /^[\t\x20-\x7e]+$/

/** The reply is a message, too, and may have blocks for this node. */
async function relayReply(context: RelayContext, version: SoapVersion, answer: NextNodeReply): Promise<Response> {
  const { status, fields } = answer
  const keep = Object.fromEntries(
    (['retry-after', 'www-authenticate'] as const).flatMap(name => {
      const { [name]: value = '' } = fields
      return isVisible.test(value) ? [[name, value]] : []
    }),
  )
  if (status < 200 || status > 599) throw new NextNodeFailure(`the next node answered with the status ${status}`)
  const type = parsePackageType(fields['content-type'] ?? '')
  if (type?.essence === 'multipart/related') return relayPackagedReply(context, version, answer, type, keep)
  const bytes = await collectReply(answer, context.octetsMax)
  if (status >= 200 && status < 300 && bytes.length === 0) return { status: 202, fields: {} }
  const media = type && versionNamedBy(type)
  if (!type || !media)
    return replyWithFailure(context, version, `the next node answered with ${status} and without a SOAP message`, keep)
  const relayed = await relayMessage(bytes, media, context.node(), type.parameters['charset'])
  if (relayed.kind === 'fault') return answerInvalidReply(context, version, relayed, keep)
  const content = { 'content-type': `${media.mediaType}; charset=utf-8`, 'cache-control': 'no-store' }
  return { status, fields: { ...keep, ...content }, content: relayed.bytes }
}

/** (4), on the way back. */
async function relayPackagedReply(
  context: RelayContext,
  version: SoapVersion,
  { status, fields, content, release }: NextNodeReply,
  type: MediaType,
  keep: Response['fields'],
): Promise<Response> {
  const field = fields['content-type'] ?? ''
  const found = await splitReply(() => splitAtRoot(context, content, type, field))
  if (!found) return replyWithFailure(context, version, 'the package of the next node has no root of SOAP', keep)
  release()
  const relayed = await relayMessage(found.split.root, found.media, context.node())
  if (relayed.kind === 'fault') return answerInvalidReply(context, version, relayed, keep)
  return {
    status,
    fields: { ...keep, 'content-type': field, 'cache-control': 'no-store' },
    content: joinPackage(found.split, relayed.bytes),
  }
}

/** A flaw in a reply is not the client's fault. */
async function splitReply<T>(split: () => Promise<T>): Promise<T> {
  try {
    return await split()
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown
    throw new NextNodeFailure(thrown.refusal.kind === 'too-long' ? longReply : malformedReply)
  }
}

/** The code Sender (SOAP 1.2 Part 1 §5.4.6) would blame the client for another node's reply. */
const answerInvalidReply = (
  context: RelayContext,
  version: SoapVersion,
  refused: Extract<Relayed, { readonly kind: 'fault' }>,
  keep: Response['fields'],
): Response =>
  refused.code === 'Sender'
    ? replyWithFailure(context, version, malformedReply, keep)
    : respondWithFault(refused.version, refused.envelope)
const malformedReply = `the reply of the next node is not a valid SOAP message: ${mayHaveRun}`

function replyWithFailure(
  { node }: RelayContext,
  version: SoapVersion,
  reason: string,
  fields: Response['fields'] = {},
): Response {
  const fault = { code: 'Receiver', reasons: faultReason(reason), node: node().uri, role: version.next } as const
  return respondWithFault(version, writeFaultEnvelope(version, fault, []), fields)
}

const respondWithFault = ({ mediaType }: SoapVersion, content: string, fields: Response['fields'] = {}): Response => ({
  status: 500,
  fields: { ...fields, 'content-type': `${mediaType}; charset=utf-8`, 'cache-control': 'no-store' },
  content,
})
