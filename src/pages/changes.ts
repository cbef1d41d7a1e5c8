/**
 * `/changes`: committed changes, page by page or as they happen (server-sent events; HTML Standard
 * §9.2). A complement (C6.1): the resources themselves provide the same. What it guards:
 *  (1) A caller sees only changes of items that they may read, checked after each commit for all
 *      streams whose callers have the same rights; without credentials no operation is named.
 *  (2) A stream ends after a while, so that credentials are proven again; the number of streams is
 *      limited, in total and for each caller.
 *  (3) A stream reads from the store no more than its client has room for, and nothing waits in
 *      memory.
 *  (4) A reader that comes after changes have expired, or whose place was lost by a restore of the
 *      database, learns of that, and where to continue: by 410, or by the event `gone` in a stream.
 *      A place that was lost is recognized even if another change has its number by now.
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
import {
  type ChangesFor,
  changesFor,
  type FeedPlace,
  type KnownChange,
  parseFeedPlace,
  toCloudEvent,
  toFeedPlace,
  writeFeedPlace,
} from '../service/change-feed.ts'
import type { FaceContext } from '../service/face-context.ts'
import { readGrants } from '../service/item-checks.ts'
import type { Limiter } from '../service/limiter.ts'
import { refuse } from '../service/refusal.ts'
import type { Store } from '../service/store.ts'
import { ChangeNotifier } from './change-notifier.ts'
import { ChangeStreams, type StreamLook, type StreamReader } from './change-streams.ts'
import { SharedLooks } from './shared-looks.ts'

const json = 'application/json'
const events = 'text/event-stream'
const batch = 'application/cloudevents-batch+json'
const offers = [json, events, batch] as const
const problem = 'application/problem+json'

/** Requests of one caller. */
const callerRate = { count: 600, seconds: 60 }
/** Changes on one page. */
const defaultLimit = 100
const limitMax = 1000
/** How often a silent stream sends a comment, so that no proxy closes it. */
const beatEveryMs = 5_000

export interface ChangesPage {
  readonly mount: Mount
  /** To be called when a change has been committed in this process. */
  wake(): void
  readonly streams: () => number
  /** Ends all streams; their readers reconnect and continue where they were. */
  stop(): void
}

export function createChangesPage(context: FaceContext, store: Store, limiter: Limiter): ChangesPage {
  const notifier = new ChangeNotifier(store, beatEveryMs)
  const looks = new SharedLooks((caller, after) => readNextEvents(context, store, caller, after))
  const feed: Feed = { context, store, limiter, streams: new ChangeStreams(notifier, looks) }
  return {
    mount: createPages(context, { '/changes': { GET: entry => readChanges(feed, entry) } }, { name: 'rest' }),
    wake: notifier.wake,
    streams: () => feed.streams.count,
    stop: () => notifier.stop(),
  }
}

interface Feed {
  readonly context: FaceContext
  readonly store: Store
  readonly limiter: Limiter
  readonly streams: ChangeStreams
}

async function readChanges(feed: Feed, { request, query, pairs, now }: Entry): Promise<Response> {
  const { context, limiter, streams } = feed
  const caller = await authenticate(request, context, context.app.contract.service)
  if (caller.subject === undefined && !isAnythingPublic(context)) refuse({ kind: 'unauthenticated' })
  const name = caller.subject ?? `@${request.from}`
  const { exceeded, reset } = await limiter.take(`changes ${name}`, callerRate, now)
  if (exceeded)
    return refuseReader(429, 'too many requests from this caller: wait as long as Retry-After says', {
      'retry-after': String(Math.max(1, reset)),
    })
  const type = negotiateType(request.fields['accept'], offers)
  if (!type) return refuseReader(406, `available media types: ${offers.join(', ')}`)
  const position = parsePosition(pairs, type === events ? request.fields['last-event-id'] : undefined)
  if (typeof position === 'string') return refuseReader(400, position)
  if (type === events) {
    const reader = { caller, name, gone: request.gone?.() }
    return replyWithStream(streams, reader, position.after, request.method === 'HEAD')
  }
  const found = await changesFor(context.app, feed.store, caller, { ...position, now })
  return replyWithPage(context, found, type, {
    self: query === '' ? '/changes' : `/changes?${query}`,
    next: `/changes?after=${writeFeedPlace(found.next)}&limit=${position.limit}`,
  })
}

/** For a page: its own address, and that of the next one. */
interface PageLinks {
  readonly self: string
  readonly next: string
}

function replyWithPage(
  { app }: FaceContext,
  found: ChangesFor,
  type: typeof json | typeof batch,
  links: PageLinks,
): Response {
  const link = `<${links.next}>; rel="next"`
  if (found.missed !== undefined)
    return {
      status: 410,
      fields: { ...feedFields, 'content-type': problem, link },
      content: writeGone(found.missed, found.next.sequence),
    }
  const content =
    type === batch
      ? JSON.stringify(found.changes.map(each => toCloudEvent(app, each)))
      : JSON.stringify(toFeedPage(found, links))
  return { status: 200, fields: { ...feedFields, 'content-type': type, link }, content }
}

/** Rule A2.3: items, and links to this page and the next. */
const toFeedPage = ({ changes, next, more }: ChangesFor, links: PageLinks) => ({
  items: changes.map(toFeedItem),
  next: next.sequence,
  more,
  _links: { self: { href: links.self }, next: { href: links.next } },
})

/** (2) */
function replyWithStream(
  streams: ChangeStreams,
  reader: StreamReader,
  after: FeedPlace | undefined,
  isHead: boolean,
): Response {
  const fields = { ...feedFields, 'content-type': events, 'x-accel-buffering': 'no' }
  if (isHead) return { status: 200, fields }
  if (!streams.hasRoomFor(reader))
    return refuseReader(429, 'too many streams of this caller: end one, or read pages', { 'retry-after': '10' })
  if (streams.isFull)
    return refuseReader(503, 'too many readers of the stream: read pages, or retry later', { 'retry-after': '10' })
  return { status: 200, fields, content: streams.open(reader, after) }
}

/** What a stream sends next: the changes that the caller may see, as events. */
async function readNextEvents(
  context: FaceContext,
  store: Store,
  caller: Caller,
  after: FeedPlace | undefined,
): Promise<StreamLook> {
  const found = await changesFor(context.app, store, caller, { after, limit: defaultLimit, now: context.clock() })
  const gone =
    found.missed === undefined
      ? ''
      : `id: ${writeFeedPlace(found.next)}\nevent: gone\ndata: ${writeGone(found.missed, found.next.sequence)}\n\n`
  const events = found.changes.map(change => {
    const place = writeFeedPlace(toFeedPlace(change))
    return `id: ${place}\ndata: ${JSON.stringify(toCloudEvent(context.app, change))}\n\n`
  })
  return { next: found.next, more: found.more, octets: new TextEncoder().encode(gone + events.join('')) }
}

const feedFields = {
  'cache-control': 'private, no-store',
  vary: 'Accept, Authorization, Cookie',
}

const toFeedItem = ({ at, ...change }: KnownChange) => ({ ...change, at: new Date(at).toISOString() })

/** (4) RFC 9110 §15.5.11; `next` is where to continue. */
const writeGone = (missed: NonNullable<ChangesFor['missed']>, next: number): string =>
  writeProblemJson({ status: 410, title: goneTitles[missed], next })
const goneTitles = {
  expired: 'these changes have expired: read the resources again',
  undone: 'no change is as late as this: the database was restored to an earlier state, so read the resources again',
}

const isAnythingPublic = ({ app }: FaceContext): boolean =>
  app.contract.resources.some(each => isPublic(readGrants(each)))

/** The position of a reader, or an error text. Default: the oldest change still stored. */
function parsePosition(
  pairs: Pairs,
  lastEventId: string | undefined,
): { readonly after: FeedPlace | undefined; readonly limit: number } | string {
  const parameters = new Map(pairs)
  const unknown = pairs.find(
    ([name], at) => !['after', 'limit'].includes(name) || pairs.findIndex(each => each[0] === name) !== at,
  )
  if (unknown) return `${unknown[0]}: is unknown here or given twice: use after and limit, each once`
  const place = lastEventId === '' ? undefined : (lastEventId ?? parameters.get('after'))
  const after = place === undefined ? undefined : parseFeedPlace(place)
  const limit = wholeNumber(parameters.get('limit') ?? String(defaultLimit))
  if (after === undefined && place !== undefined) return 'after: must be a whole number from 0, or the id of an event'
  return limit >= 1 && limit <= limitMax ? { after, limit } : `limit: must be a whole number from 1 to ${limitMax}`
}
const wholeNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)

const refuseReader = (status: number, detail: string, fields: Record<string, string> = {}): Response =>
  respond(status, { detail, fields: { ...feedFields, ...fields } })
