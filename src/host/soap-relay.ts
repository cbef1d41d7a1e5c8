/**
 * A SOAP intermediary over HTTP: it processes the blocks for this node (`soap/relay.ts`), forwards
 * the message to the next node, and returns the reply the same way. What it guards:
 *  (1) A message with a mandatory block that cannot be processed is not forwarded, in either
 *      direction.
 *  (2) Of the fields only media type and action are forwarded. All others belong to one connection,
 *      and so do credentials; of a response, Retry-After and WWW-Authenticate are returned.
 *  (3) A next node that is out of reach or late, or whose reply is too long or not SOAP, gives a
 *      Receiver fault.
 * Deliberately absent: packages (MTOM, attachments), which are refused with 415, and retries.
 */

import { randomUUID } from 'node:crypto'
import * as http from 'node:http'
import * as https from 'node:https'
import type { Entry } from '../front/entry.ts'
import { createFront } from '../front/front.ts'
import { writeAllow } from '../front/front-rows.ts'
import { respondToRefusal } from '../front/refusal.ts'
import { type MediaType, parseMediaType, writeMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { type HttpListener, type ListenOptions, startListener } from '../server/listener.ts'
import { writeFaultEnvelope } from '../soap/envelope.ts'
import { faultReason } from '../soap/fault.ts'
import type { Block } from '../soap/headers/block.ts'
import { type Intermediary, relayMessage } from '../soap/relay.ts'
import { type SoapVersion, soap11, soap12, versions } from '../soap/version.ts'
import { gunzipWithin } from './zlib-codings.ts'

export interface RelayOptions extends Omit<ListenOptions, 'onError'> {
  /** The next node, to which messages to any path are POSTed. */
  readonly to: string
  /** The URI of this node in faults. Default: the address it listens on. */
  readonly uri?: string | undefined
  /** URIs of roles that it plays besides `next`. */
  readonly roles?: readonly string[]
  /** Header blocks that it understands. */
  readonly blocks?: readonly Block[]
  /** Octets that a message may have, in either direction. Default: 16 MiB. */
  readonly octetsMax?: number
  /** Milliseconds for the next node to answer. Default: 30,000. */
  readonly timeLimitMs?: number
  /** Gets exceptions of block handlers, and failures of the next node. */
  readonly onError?: (thrown: unknown) => void
}

/** Relays until closed. Rejects with `StartFailure`, or an error that says what to change. */
export async function startSoapRelay(options: RelayOptions): Promise<HttpListener> {
  const to = URL.parse(options.to)
  if (!to || !/^https?:$/.test(to.protocol))
    throw new Error(`cannot relay to ${options.to}: not an http or https address`)
  const { roles = [], blocks = [], onError = () => {}, octetsMax = 16 * 1024 * 1024, timeLimitMs = 30_000 } = options
  let uri = options.uri ?? ''
  const context: RelayContext = { to, node: () => ({ uri, roles, blocks }), octetsMax, timeLimitMs, onError }
  const front = createFront(
    { clock: Date.now, id: randomUUID, report: (_, thrown) => onError(thrown), settings: relaySettings },
    [
      {
        name: 'soap',
        segments: [],
        serve: entry => relayEntry(context, entry),
        refuse: (_, refusal) => respondToRefusal(refusal),
      },
    ],
  )
  const listener = await startListener(front, { ...options, onError })
  uri ||= listener.url
  return listener
}

/** A relay has no credentials and no pages. */
const relaySettings = { trustProxy: false, trace: false, passwordsOnLoopback: false, origins: [] }

interface RelayContext {
  readonly to: URL
  readonly node: () => Intermediary
  readonly octetsMax: number
  readonly timeLimitMs: number
  readonly onError: (thrown: unknown) => void
}

const allow = writeAllow(['POST'])

async function relayEntry(context: RelayContext, { request }: Entry): Promise<Response> {
  const { fields, method } = request
  if (method === 'OPTIONS') return { status: 204, fields: { allow } }
  if (method !== 'POST') return respondToRefusal({ kind: 'not-allowed', allow })
  const type = parseMediaType(fields['content-type'] ?? '')
  const media = type && versionNamedBy(type)
  if (!type || !media) return refuseUnknownType()
  const bytes = await receiveContent(request, context.octetsMax)
  if (!(bytes instanceof Uint8Array)) return bytes
  try {
    const relayed = await relayMessage(bytes, media, context.node(), type.parameters['charset'])
    if (relayed.kind === 'fault') return respondWithFault(relayed.version, relayed.envelope) // (1)
    const answer = await postToNext(context, relayed.bytes, fieldsFor(media, type, fields['soapaction']))
    return await relayReply(context, relayed.version, answer)
  } catch (thrown) {
    context.onError(thrown)
    return replyWithFailure(context, media, thrown instanceof NextNodeFailure ? thrown.message : 'this node failed')
  }
}

const versionNamedBy = ({ essence }: MediaType): SoapVersion | undefined =>
  versions.find(each => each.mediaType === essence)

function refuseUnknownType(): Response {
  const accept = versions.map(each => each.mediaType).join(', ')
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

/** (2) A forwarded message is UTF-8, whatever its encoding was. */
function fieldsFor({ mediaType }: SoapVersion, type: MediaType, soapAction: string | undefined) {
  const { action } = type.parameters
  const parameters = { charset: 'utf-8', ...(action !== undefined && { action }) }
  const forward = { 'content-type': writeMediaType({ essence: mediaType, parameters }) }
  return soapAction === undefined ? forward : { ...forward, soapaction: soapAction }
}

interface NextNodeReply {
  readonly status: number
  readonly fields: http.IncomingHttpHeaders
  readonly bytes: Uint8Array
}

/** (3) */
class NextNodeFailure extends Error {}

function postToNext(
  { to, octetsMax, timeLimitMs }: RelayContext,
  bytes: Uint8Array,
  fields: Readonly<Record<string, string>>,
): Promise<NextNodeReply> {
  const { request } = to.protocol === 'https:' ? https : http
  const headers = { ...fields, 'content-length': bytes.length, accept: `${soap12.mediaType}, ${soap11.mediaType}` }
  const signal = AbortSignal.timeout(timeLimitMs)
  return new Promise((resolve, reject) => {
    const fail = (): void =>
      reject(
        new NextNodeFailure(signal.aborted ? 'the next node did not answer in time' : 'the next node is out of reach'),
      )
    const asking = request(to, { method: 'POST', headers, agent: false, signal }, answer => {
      const pieces: Uint8Array[] = []
      let length = 0
      answer.on('data', (piece: Uint8Array) => {
        pieces.push(piece)
        length += piece.length
        if (length <= octetsMax) return
        answer.destroy()
        reject(new NextNodeFailure('the reply of the next node is too long'))
      })
      answer.on('error', fail)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, fields: answer.headers, bytes: Buffer.concat(pieces) }),
      )
    })
    asking.on('error', fail).end(bytes)
  })
}

/** The reply is a message, too, and may have blocks for this node. */
async function relayReply(
  context: RelayContext,
  version: SoapVersion,
  { status, fields, bytes }: NextNodeReply,
): Promise<Response> {
  const keep = Object.fromEntries(
    (['retry-after', 'www-authenticate'] as const).flatMap(name => (fields[name] ? [[name, fields[name]]] : [])),
  )
  if (status >= 200 && status < 300 && bytes.length === 0) return { status: 202, fields: {} }
  const type = parseMediaType(fields['content-type'] ?? '')
  const media = type && versionNamedBy(type)
  if (!type || !media)
    return replyWithFailure(context, version, `the next node answered with ${status} and without a SOAP message`, keep)
  const relayed = await relayMessage(bytes, media, context.node(), type.parameters['charset'])
  if (relayed.kind === 'fault') return respondWithFault(relayed.version, relayed.envelope)
  const content = { 'content-type': `${media.mediaType}; charset=utf-8`, 'cache-control': 'no-store' }
  return { status, fields: { ...keep, ...content }, content: relayed.bytes }
}

function replyWithFailure(
  { node }: RelayContext,
  version: SoapVersion,
  why: string,
  fields: Response['fields'] = {},
): Response {
  const fault = { code: 'Receiver', reasons: faultReason(why), node: node().uri, role: version.next } as const
  return respondWithFault(version, writeFaultEnvelope(version, fault, []), fields)
}

const respondWithFault = ({ mediaType }: SoapVersion, content: string, fields: Response['fields'] = {}): Response => ({
  status: 500,
  fields: { ...fields, 'content-type': `${mediaType}; charset=utf-8`, 'cache-control': 'no-store' },
  content,
})
