/**
 * START HERE. Every request enters through this door: rows 1–9, then the mount that its path names;
 * every response leaves through it and gets the fields of all responses. What always holds, by
 * number:
 *  (1) No mount receives a request that has not passed rows 1–9.
 *  (2) A request has one id, in its response, in the audit, in the log; it is the incident of a
 *      500. A host that has mounted the service may set it, and so may a request behind a trusted
 *      proxy, but only in characters that no log or field can misread.
 *  (3) An exception of a mount is our bug: 500, the incident, and no internals.
 */
import { type Maybe, settleFor } from '../base/maybe.ts'
import { countUtf8 } from '../base/octets.ts'
import { type HttpFields, isAborted, type Request, type Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Refused } from '../service/refusal.ts'
import { type Coding, compressResponse } from './compression.ts'
import { addWantedDigests, withProvenContent } from './content-digest.ts'
import { createEntry, type Entry, type EntryDraft, firstSegmentOf, type Mount, type MountName } from './entry.ts'
import { applyForwarded, proxyFieldsOf } from './forwarded.ts'
import { frontRows, frontRowsOfMethod } from './front-rows.ts'
import { type Gate, openGate } from './gate.ts'
import type { FrontRefusal } from './refusal.ts'
import { addCommonFields } from './security-fields.ts'

export type FrontContext = Pick<FaceContext, 'clock' | 'id' | 'report' | 'settings'>

export interface FrontOptions {
  /** Rows 3 and 5. Default: accepts every request. */
  readonly gate?: Gate
  /** Content codings for responses without an entity tag, most preferred first. */
  readonly codings?: Readonly<Record<string, Coding>>
  /** Counts each response. */
  readonly figures?: ResponseFigures
  /** Called for each response, with the milliseconds until its head was known. */
  readonly log?: (entry: Entry, response: Response, tookMs: number) => void
  /**
   * Called for each 503, whose cause is in the entry's notes. For a page that is never refused
   * (health), it concerns the service, not a request.
   */
  readonly onUnavailable?: (entry: Entry) => void
  /** Handles a request that names a trace (`traceparent`) so that its handlers find it. */
  readonly inTrace?: (request: Request, answer: () => Maybe<Response>) => Maybe<Response>
}

export interface ResponseFigures {
  countResponse(mount: MountName, status: number): void
}

/** @param mounts the first one also serves paths that no mount names */
export function createFront(
  context: FrontContext,
  mounts: readonly [Mount, ...Mount[]],
  options: FrontOptions = {},
): (request: Request) => Maybe<Response> {
  const front = compileFront(context, mounts, options)
  const proxied = proxyFieldsOf(context.settings)
  return received => {
    const startMs = performance.now()
    const stated = proxied === undefined ? received : applyForwarded(received, proxied)
    const { 'content-digest': ofContent, 'repr-digest': ofRepresentation } = stated.fields
    const request = (ofContent ?? ofRepresentation) ? withProvenContent(stated, ofContent, ofRepresentation) : stated
    const mount = front.mounts.get(firstSegmentOf(request.target)) ?? mounts[0]
    const entry = createEntry(request, front.nameRequest(request), context.clock(), mount)
    front.gate.load.inFlight++
    const visit: Visit = { front, entry, startMs }
    return front.inTrace === undefined || request.fields['traceparent'] === undefined
      ? settleFor(visit, serveMount, finishResponse, finishThrown)
      : front.inTrace(request, () => settleFor(visit, serveMount, finishResponse, finishThrown))
  }
}

interface Front extends Pick<FrontOptions, 'figures' | 'log' | 'onUnavailable' | 'inTrace'> {
  readonly context: FrontContext
  readonly nameRequest: (request: Request) => string
  readonly mounts: ReadonlyMap<string, Mount>
  readonly gate: Gate
  readonly codings: Readonly<Record<string, Coding>>
}
/** One request on its way through the door. */
interface Visit {
  readonly front: Front
  readonly entry: EntryDraft
  readonly startMs: number
}

function compileFront(context: FrontContext, all: readonly Mount[], options: FrontOptions): Front {
  const mounts = new Map(all.flatMap(mount => mount.segments.map(segment => [segment, mount] as const)))
  const { gate = openGate(), codings = {} } = options
  // A trusted proxy in front does its own compression.
  const { settings, id } = context
  const nameRequest = (request: Request): string =>
    (request.id === undefined ? undefined : hostedNameOf(request.id)) ??
    (settings.trustProxy ? traceNameOf(request.fields) : undefined) ??
    id()
  return { ...options, context, nameRequest, mounts, gate, codings: settings.trustProxy ? {} : codings }
}

function serveMount({ front, entry }: Visit): Maybe<Response> {
  const early = askRows(front.gate, entry)
  if (early instanceof Refused) return entry.mount.refuse(entry, early.refusal)
  return early ?? entry.mount.serve(entry)
}

/** A response or a refusal ends the request here. */
function askRows(gate: Gate, entry: EntryDraft): Response | Refused<FrontRefusal> | undefined {
  try {
    for (const { number, ask } of frontRowsOfMethod.get(entry.request.method) ?? frontRows) {
      entry.row = number
      const answer = ask(entry, gate)
      if (answer) return answer
    }
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown // rows throw FrontRefusal alone: `refuseAtFront`
    throw thrown
  }
  return undefined
}

function finishResponse({ front, entry, startMs }: Visit, response: Response): Response {
  const { context, codings, gate, figures, log, onUnavailable } = front
  const coded = response.content === undefined ? response : compressResponse(entry, response, codings)
  const { 'want-content-digest': ofContent, 'want-repr-digest': ofRepresentation } = entry.request.fields
  const own = (ofContent ?? ofRepresentation) ? addWantedDigests(coded, ofContent, ofRepresentation) : coded.fields
  const fields = addCommonFields(entry, own, coded.status, context.settings)
  const complete: Response = { ...coded, fields }
  const answer = entry.request.method === 'HEAD' ? withoutContent(complete) : complete
  gate.load.inFlight--
  figures?.countResponse(entry.mount.name, answer.status)
  log?.(entry, answer, performance.now() - startMs)
  if (answer.status === 503 && entry.mount.exempt !== 'all') onUnavailable?.(entry)
  return answer
}

/** RFC 9110 §9.3.2: the response to HEAD is that to GET without content, but with its length. */
function withoutContent(response: Response): Response {
  const { status, fields, content } = response
  if (content === undefined) return response
  const length = typeof content === 'string' ? countUtf8(content) : octetLength(content)
  return { status, fields: length === undefined ? fields : { ...fields, 'content-length': String(length) } }
}
const octetLength = (content: Exclude<Response['content'], string | undefined>): number | undefined =>
  content instanceof Uint8Array ? content.length : undefined

/** (3) The server itself handles a sender that has disconnected. */
function finishThrown(visit: Visit, thrown: unknown): Response {
  const { context, gate } = visit.front
  const { id, notes } = visit.entry
  if (isAborted(thrown)) {
    gate.load.inFlight--
    throw thrown
  }
  context.report(id, thrown, notes)
  const detail = `incident ${id}: the operators of the service can find it by this number`
  return finishResponse(visit, respond(500, { detail }))
}

/** (2) From the host that has mounted the service. */
const hostedNameOf = (id: string): string | undefined => (/^[\w.:+=@-]{1,128}$/.test(id) ? id : undefined)

/** (2) W3C Trace Context §3.2: the trace's identifier is the second part of traceparent. */
function traceNameOf(fields: HttpFields): string | undefined {
  const requestId = fields['x-request-id'] ?? fields['request-id']
  if (requestId !== undefined && /^[\w.:+=@-]{8,128}$/.test(requestId)) return requestId
  return /^00-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(fields['traceparent'] ?? '')?.[1]
}
