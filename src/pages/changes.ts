/**
 * `/changes`: committed changes, page by page or as they happen (server-sent events; HTML Standard
 * §9.2). A complement (C6.1): the resources themselves tell the same. What it guards:
 *  (1) A caller sees changes of items that they may read, which is checked after each commit for
 *      all streams whose callers have the same rights; without credentials no operation is named.
 *  (2) A stream ends after a while, so that credentials are proven again; the number of streams is
 *      limited, and that of each caller.
 *  (3) A stream reads from the store no more than its client has room for, and nothing waits in
 *      memory.
 *  (4) A reader that comes after changes have expired learns it, and where to continue: by 410, or
 *      by the event `gone` of a stream.
 */
import { type Caller, isPublic } from '../contract/policy.ts'
import { authenticate } from '../front/authenticate.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import type { Response } from '../http/message.ts'
import { negotiateType } from '../http/negotiate.ts'
import { writeProblemJson } from '../http/problem.ts'
import { respond } from '../http/respond.ts'
import type { Pairs } from '../http/uri.ts'
import { type ChangesFor, changesFor, type KnownChange, toCloudEvent } from '../service/change-feed.ts'
import type { FaceContext } from '../service/face-context.ts'
import { readGrants } from '../service/item-checks.ts'
import type { Limiter } from '../service/limiter.ts'
import { refuse } from '../service/refusal.ts'
import { type Store, Unavailable } from '../service/store.ts'
import { ChangeNotifier } from './change-notifier.ts'
import { SharedLooks } from './shared-looks.ts'

const json = 'application/json'
const events = 'text/event-stream'
const batch = 'application/cloudevents-batch+json'
const offers = [json, events, batch] as const
const problem = 'application/problem+json'

/** Requests of one caller. */
const callerRate = { count: 600, seconds: 60 }
const streamsMax = 1000
/** Streams of one caller; anonymous callers are one for each address. */
const callerStreamsMax = 16
/** Changes on one page. */
const defaultLimit = 100
const limitMax = 1000
/** (2) */
const streamMs = 15 * 60_000
/** How often a silent stream sends a comment, so that no proxy closes it. */
const beatEveryMs = 5_000

export interface ChangesPage {
  readonly mount: Mount
  /** Call when a change has been committed in this process. */
  wake(): void
  readonly streams: () => number
  /** Ends all streams; their readers reconnect and continue where they were. */
  stop(): void
}

export function createChangesPage(context: FaceContext, store: Store, limiter: Limiter): ChangesPage {
  const notifier = new ChangeNotifier(store, beatEveryMs)
  const looks = new SharedLooks(look)
  const streamsOf = new Map<string, number>()
  let streams = 0

  async function read({ request, query, pairs, now }: Entry): Promise<Response> {
    const caller = await authenticate(request, context, context.app.contract.service)
    if (caller.subject === undefined && !isAnythingPublic(context)) refuse({ kind: 'unauthenticated' })
    const name = caller.subject ?? `@${request.from}`
    const { exceeded, reset } = await limiter.take(`changes ${name}`, callerRate, now)
    if (exceeded)
      return refuseReader(429, 'too many requests from this caller: wait for as long as Retry-After says', {
        'retry-after': String(Math.max(1, reset)),
      })
    const type = negotiateType(request.fields['accept'], offers)
    if (!type) return refuseReader(406, `available media types: ${offers.join(', ')}`)
    const asked = parsePosition(pairs, type === events ? request.fields['last-event-id'] : undefined)
    if (typeof asked === 'string') return refuseReader(400, asked)
    if (type === events) return stream({ caller, name }, asked.after, request.method === 'HEAD')
    const found = await changesFor(context.app, store, caller, { ...asked, now })
    const next = `/changes?after=${found.next}&limit=${asked.limit}`
    const link = `<${next}>; rel="next"`
    if (found.missed !== undefined)
      return { status: 410, fields: { ...feedFields, 'content-type': problem, link }, content: writeGone(found.missed) }
    return {
      status: 200,
      fields: { ...feedFields, 'content-type': type, link },
      content:
        type === batch
          ? writeBatch(found)
          : writePage(found, { self: query === '' ? '/changes' : `/changes?${query}`, next }),
    }
  }

  const writeBatch = ({ changes }: ChangesFor): string =>
    JSON.stringify(changes.map(each => toCloudEvent(context.app, each)))
  /** Rule A2.3: items, and links to this page and the next. */
  const writePage = ({ changes, next, more }: ChangesFor, links: { readonly self: string; readonly next: string }) =>
    JSON.stringify({
      items: changes.map(toFeedItem),
      next,
      more,
      _links: { self: { href: links.self }, next: { href: links.next } },
    })

  function stream(reader: StreamReader, after: number | undefined, isHead: boolean): Response {
    const fields = { ...feedFields, 'content-type': events, 'x-accel-buffering': 'no' }
    if (isHead) return { status: 200, fields }
    if (!hasRoom(reader))
      return refuseReader(429, 'too many streams of this caller: end one, or read pages', { 'retry-after': '10' })
    if (streams >= streamsMax)
      return refuseReader(503, 'too many readers of the stream: read pages, or retry later', { 'retry-after': '10' })
    return { status: 200, fields, content: streamChanges(reader, after) }
  }
  const hasRoom = ({ name }: StreamReader): boolean => (streamsOf.get(name) ?? 0) < callerStreamsMax
  function countStream({ name }: StreamReader, by: 1 | -1): void {
    streams += by
    const left = (streamsOf.get(name) ?? 0) + by
    if (left > 0) streamsOf.set(name, left)
    else streamsOf.delete(name)
  }

  /** (3) Counted from its first piece on: a stream whose reader left before never begins. */
  async function* streamChanges(reader: StreamReader, from: number | undefined): AsyncGenerator<Uint8Array> {
    if (!hasRoom(reader)) return // others of this caller have begun meanwhile
    countStream(reader, 1)
    const until = performance.now() + streamMs
    let after = from
    try {
      yield encodeText('retry: 1000\n\n')
      while (performance.now() < until && !notifier.isStopped) {
        const seen = notifier.mark()
        const found = await looks.find(seen, reader.caller, after)
        after = found.next
        if (found.octets.length > 0) yield found.octets
        if (found.more) continue
        await notifier.waitForChange(seen, after)
        yield encodeText(`id: ${after}\n:\n\n`) // where to continue after changes that were not reported
      }
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown // the reader reconnects
    } finally {
      countStream(reader, -1)
    }
  }

  async function look(caller: Caller, after: number | undefined) {
    const found = await changesFor(context.app, store, caller, { after, limit: defaultLimit, now: context.clock() })
    const gone =
      found.missed === undefined ? '' : `id: ${found.next}\nevent: gone\ndata: ${writeGone(found.missed)}\n\n`
    const told = found.changes.map(
      change => `id: ${change.sequence}\ndata: ${JSON.stringify(toCloudEvent(context.app, change))}\n\n`,
    )
    return { next: found.next, more: found.more, octets: encodeText(gone + told.join('')) }
  }

  return {
    mount: createPages(context, { '/changes': { GET: read } }, { name: 'rest' }),
    wake: () => notifier.wake(),
    streams: () => streams,
    stop: () => notifier.stop(),
  }
}

interface StreamReader {
  readonly caller: Caller
  /** The subject, or the address of an anonymous caller. */
  readonly name: string
}

const encoder = new TextEncoder()
const encodeText = (text: string): Uint8Array => encoder.encode(text)
const feedFields = {
  'cache-control': 'private, no-store',
  vary: 'Accept, Authorization, Cookie',
}

const toFeedItem = ({ at, ...change }: KnownChange) => ({ ...change, at: new Date(at).toISOString() })

/** (4) RFC 9110 §15.5.11; `next` is where to continue. */
const writeGone = (missed: number): string =>
  writeProblemJson({ status: 410, title: 'these changes have expired: read the resources again', next: missed })

const isAnythingPublic = ({ app }: FaceContext): boolean =>
  app.contract.resources.some(each => isPublic(readGrants(each)))

/** The position of a reader, or an error text. Default: the oldest change that is kept. */
function parsePosition(
  pairs: Pairs,
  lastEventId: string | undefined,
): { readonly after: number | undefined; readonly limit: number } | string {
  const given = new Map(pairs)
  const unknown = pairs.find(
    ([name], at) => !['after', 'limit'].includes(name) || pairs.findIndex(each => each[0] === name) !== at,
  )
  if (unknown) return `${unknown[0]}: is unknown here or given twice: use after and limit, each once`
  const place = lastEventId === '' ? undefined : (lastEventId ?? given.get('after'))
  const after = place === undefined ? undefined : wholeNumber(place)
  const limit = wholeNumber(given.get('limit') ?? String(defaultLimit))
  if (Number.isNaN(after)) return 'after: must be a whole number from 0'
  return limit >= 1 && limit <= limitMax ? { after, limit } : `limit: must be a whole number from 1 to ${limitMax}`
}
const wholeNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)

const refuseReader = (status: number, detail: string, fields: Record<string, string> = {}): Response =>
  respond(status, { detail, fields: { ...feedFields, ...fields } })
