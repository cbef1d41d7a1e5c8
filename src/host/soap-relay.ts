/**
 * A SOAP intermediary over HTTP: a message in, processed as far as it is for this node
 * (`soap/relay.ts`), on to the next node, and its answer back the same way. What it guards:
 *  (1) What a mandatory block keeps from being processed is not forwarded, in either direction.
 *  (2) Only what is of the message travels: its media type and its action. Fields are between two
 *      neighbours, and so are credentials; what an answer says of waiting (Retry-After) and of
 *      proof (WWW-Authenticate) does go back.
 *  (3) A next node that is out of reach, late, too long-winded, or answers with something else than
 *      SOAP: a Receiver fault.
 * Deliberately absent: packages (MTOM, attachments) are refused with 415, and nothing is tried
 * twice.
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
  /** The next node: what comes here, whatever its path, is POSTed there. */
  readonly to: string
  /** The URI of this node in faults; default the address it listens on. */
  readonly uri?: string | undefined
  /** Roles that it plays beside `next`. */
  readonly roles?: readonly string[]
  /** Header blocks that it understands. */
  readonly blocks?: readonly Block[]
  /** Octets that a message may have, either way; default 16 MiB. */
  readonly longest?: number
  /** Milliseconds for the next node to answer; default 30,000. */
  readonly patience?: number
  /** What handlers of blocks threw, and why the next node could not be asked. */
  readonly onError?: (thrown: unknown) => void
}

/** Relays until closed. Rejects with `StartFailure`, or an error that names the cure. */
export async function startSoapRelay(options: RelayOptions): Promise<HttpListener> {
  const to = URL.parse(options.to)
  if (!to || !/^https?:$/.test(to.protocol)) throw new Error(`${options.to} is no http or https address to relay to`)
  const { roles = [], blocks = [], onError = () => {}, longest = 16 * 1024 * 1024, patience = 30_000 } = options
  let uri = options.uri ?? ''
  const station: RelayContext = { to, node: () => ({ uri, roles, blocks }), longest, patience, onError }
  const front = createFront(
    { clock: Date.now, id: randomUUID, report: (_, thrown) => onError(thrown), settings: relaySettings },
    [
      {
        name: 'soap',
        segments: [],
        serve: entry => answer(station, entry),
        refuse: (_, refusal) => respondToRefusal(refusal),
      },
    ],
  )
  const listener = await startListener(front, { ...options, onError })
  uri ||= listener.url
  return listener
}

/** A relay reads no credentials and knows no page. */
const relaySettings = { trustProxy: false, trace: false, passwordsOnLoopback: false, origins: [] }

interface RelayContext {
  readonly to: URL
  readonly node: () => Intermediary
  readonly longest: number
  readonly patience: number
  readonly onError: (thrown: unknown) => void
}

const allow = writeAllow(['POST'])

async function answer(station: RelayContext, { request }: Entry): Promise<Response> {
  const { fields, method } = request
  if (method === 'OPTIONS') return { status: 204, fields: { allow } }
  if (method !== 'POST') return respondToRefusal({ kind: 'not-allowed', allow })
  const type = parseMediaType(fields['content-type'] ?? '')
  const media = type && mediaOf(type)
  if (!type || !media) return refuseType()
  const bytes = await readContent(request, station.longest)
  if (!(bytes instanceof Uint8Array)) return bytes
  try {
    const relayed = await relayMessage(bytes, media, station.node(), type.parameters['charset'])
    if (relayed.kind === 'fault') return replyWithFault(relayed.version, relayed.envelope) // (1)
    const answer = await postToNext(station, relayed.bytes, fieldsFor(media, type, fields['soapaction']))
    return await relayReply(station, relayed.version, answer)
  } catch (thrown) {
    station.onError(thrown)
    return replyWithFailure(station, media, thrown instanceof NextNodeFailure ? thrown.message : 'this node failed')
  }
}

const mediaOf = ({ essence }: MediaType): SoapVersion | undefined => versions.find(each => each.mediaType === essence)

function refuseType(): Response {
  const accept = versions.map(each => each.mediaType).join(', ')
  return respond(415, {
    detail: `content of this type is not relayed: send ${accept}`,
    fields: { accept },
  })
}

async function readContent({ fields, content }: Request, longest: number): Promise<Uint8Array | Response> {
  const coding = (fields['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding !== 'identity' && coding !== 'gzip')
    return respond(415, {
      detail: 'this content coding is not supported: send gzip, or none',
      fields: { 'accept-encoding': 'gzip' },
    })
  const came = await content.bytes(longest)
  const bytes = came && coding === 'gzip' ? await gunzipWithin(came, longest) : came
  return bytes ?? respond(413, { detail: `the message is longer than ${longest} octets, or is not gzip` })
}

/** (2) What is forwarded is UTF-8, whatever it came in. */
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
  { to, longest, patience }: RelayContext,
  bytes: Uint8Array,
  fields: Readonly<Record<string, string>>,
): Promise<NextNodeReply> {
  const { request } = to.protocol === 'https:' ? https : http
  const headers = { ...fields, 'content-length': bytes.length, accept: `${soap12.mediaType}, ${soap11.mediaType}` }
  const signal = AbortSignal.timeout(patience)
  return new Promise((resolve, reject) => {
    const lost = (): void =>
      reject(new NextNodeFailure(signal.aborted ? 'the next node is too slow' : 'the next node is out of reach'))
    const asking = request(to, { method: 'POST', headers, agent: false, signal }, answer => {
      const pieces: Uint8Array[] = []
      let length = 0
      answer.on('data', (piece: Uint8Array) => {
        pieces.push(piece)
        length += piece.length
        if (length <= longest) return
        answer.destroy()
        reject(new NextNodeFailure('the next node says too much'))
      })
      answer.on('error', lost)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, fields: answer.headers, bytes: Buffer.concat(pieces) }),
      )
    })
    asking.on('error', lost).end(bytes)
  })
}

/** The answer is a message on its way too, and has blocks for this node as any other. */
async function relayReply(
  station: RelayContext,
  version: SoapVersion,
  { status, fields, bytes }: NextNodeReply,
): Promise<Response> {
  const keep = Object.fromEntries(
    (['retry-after', 'www-authenticate'] as const).flatMap(name => (fields[name] ? [[name, fields[name]]] : [])),
  )
  if (status >= 200 && status < 300 && bytes.length === 0) return { status: 202, fields: {} }
  const type = parseMediaType(fields['content-type'] ?? '')
  const media = type && mediaOf(type)
  if (!type || !media)
    return replyWithFailure(station, version, `the next node answered with ${status} and no message`, keep)
  const relayed = await relayMessage(bytes, media, station.node(), type.parameters['charset'])
  if (relayed.kind === 'fault') return replyWithFault(relayed.version, relayed.envelope)
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
  return replyWithFault(version, writeFaultEnvelope(version, fault, []), fields)
}

const replyWithFault = ({ mediaType }: SoapVersion, content: string, fields: Response['fields'] = {}): Response => ({
  status: 500,
  fields: { ...fields, 'content-type': `${mediaType}; charset=utf-8`, 'cache-control': 'no-store' },
  content,
})
