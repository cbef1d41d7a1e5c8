/**
 * `/changes`: what was committed, page by page, or as it happens (server-sent events; HTML Standard
 * §9.2). A complement (C6.1): all of it can be had by asking the resources themselves. What it
 * guards:
 *  (1) A caller hears of what they may read, and the question is asked for each event when it is
 *      told.
 *  (2) A stream ends after a while, so that its credentials are shown again; and there are only so
 *      many.
 *  (3) A stream takes from the store what its reader has room for, and nothing waits in memory.
 *  (4) Who comes too late for what was kept is told so, and where to go on: a page is 410, a stream
 *      has an event `gone`.
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
import { type ChangesFor, changesFor, toCloudEvent } from '../service/change-feed.ts'
import type { FaceContext } from '../service/face-context.ts'
import { readGrants } from '../service/item-checks.ts'
import type { Limiter } from '../service/limiter.ts'
import { refuse } from '../service/refusal.ts'
import { type ChangeRecord, type Store, Unavailable } from '../service/store.ts'
import { ChangeNotifier } from './change-notifier.ts'

const json = 'application/json'
const events = 'text/event-stream'
const batch = 'application/cloudevents-batch+json'
const offers = [json, events, batch] as const
const problem = 'application/problem+json'

/** Pages that one caller may ask for in a minute, and streams in all. */
const rate = { count: 600, seconds: 60 }
const mostStreams = 1000
/** Changes of one page: by default, and at most. */
const usual = 100
const most = 1000
/**
 * Milliseconds: (2), and how often a stream says something so that nobody between takes it for
 * dead.
 */
const longest = 15 * 60_000
const beat = 5_000

export interface ChangesPage {
  readonly mount: Mount
  /** A change was committed here. */
  kick(): void
  readonly streams: () => number
  /** Ends all streams; their readers come again, and go on where they were. */
  stop(): void
}

export function createChangesPage(serving: FaceContext, store: Store, limiter: Limiter): ChangesPage {
  const tail = new ChangeNotifier(store, beat)
  let streams = 0

  async function read({ request, pairs, now }: Entry): Promise<Response> {
    const caller = await authenticate(request, serving, serving.app.contract.service)
    if (caller.subject === undefined && !isAnythingPublic(serving)) refuse({ kind: 'unauthenticated' })
    const { exceeded, reset } = await limiter.take(`changes ${caller.subject ?? `@${request.from}`}`, rate, now)
    if (exceeded)
      return refuseReader(429, 'too many requests of this caller', { 'retry-after': String(Math.max(1, reset)) })
    const type = negotiateType(request.fields['accept'], offers)
    if (!type) return refuseReader(406, `available media types: ${offers.join(', ')}`)
    const asked = parsePosition(pairs, type === events ? request.fields['last-event-id'] : undefined)
    if (typeof asked === 'string') return refuseReader(400, asked)
    if (type === events) return stream(caller, asked.after, request.method === 'HEAD')
    const found = await changesFor(serving.app, store, caller, { ...asked, now })
    const link = `</changes?after=${found.next}&limit=${asked.limit}>; rel="next"`
    if (found.missed !== undefined)
      return { status: 410, fields: { ...ours, 'content-type': problem, link }, content: writeGone(found.missed) }
    return {
      status: 200,
      fields: { ...ours, 'content-type': type, link },
      content: type === batch ? writeBatch(found) : writePage(found),
    }
  }

  const writeBatch = ({ changes }: ChangesFor): string =>
    JSON.stringify(changes.map(each => toCloudEvent(serving.app, each)))
  const writePage = ({ changes, next, more }: ChangesFor): string =>
    JSON.stringify({ items: changes.map(itemOf), next, more })

  function stream(caller: Caller, after: number | undefined, isHead: boolean): Response {
    const fields = { ...ours, 'content-type': events, 'x-accel-buffering': 'no' }
    if (isHead) return { status: 200, fields }
    if (streams >= mostStreams)
      return refuseReader(503, 'too many readers of the stream: ask for pages, or again later', { 'retry-after': '10' })
    return { status: 200, fields, content: streamChanges(caller, after) }
  }

  /** (3) It counts from its first piece on: one whose reader went before never begins, nor ends. */
  async function* streamChanges(caller: Caller, from: number | undefined): AsyncGenerator<Uint8Array> {
    streams++
    const until = performance.now() + longest
    let after = from
    try {
      yield encodeText('retry: 1000\n\n')
      while (performance.now() < until && !tail.stopped) {
        const seen = tail.mark()
        const found = await changesFor(serving.app, store, caller, { after, limit: usual, now: serving.clock() })
        after = found.next
        if (found.missed !== undefined)
          yield encodeText(`id: ${after}\nevent: gone\ndata: ${writeGone(found.missed)}\n\n`)
        for (const change of found.changes)
          yield encodeText(`id: ${change.sequence}\ndata: ${JSON.stringify(toCloudEvent(serving.app, change))}\n\n`)
        if (found.more) continue
        await tail.after(seen, after)
        yield encodeText(`id: ${after}\n:\n\n`) // where to go on, though it was not told
      }
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown // else the reader comes again
    } finally {
      streams--
    }
  }

  return {
    mount: createPages(serving, { '/changes': { GET: read } }, { name: 'rest' }),
    kick: () => tail.kick(),
    streams: () => streams,
    stop: () => tail.stop(),
  }
}

const encoder = new TextEncoder()
const encodeText = (text: string): Uint8Array => encoder.encode(text)
const ours = {
  'cache-control': 'private, no-store',
  vary: 'Accept, Authorization, Cookie',
}

const itemOf = ({ at, ...change }: ChangeRecord) => ({ ...change, at: new Date(at).toISOString() })

/** (4) RFC 9110 §15.5.11; what a program needs of it is a member of its own. */
const writeGone = (missed: number): string =>
  writeProblemJson({ status: 410, title: 'these changes have expired: read the resources again', next: missed })

const isAnythingPublic = ({ app }: FaceContext): boolean =>
  app.contract.resources.some(each => isPublic(readGrants(each)))

/**
 * Where a reader goes on, or what is wrong with the question. Without a place it begins with the
 * oldest change that is kept.
 */
function parsePosition(
  pairs: Pairs,
  lastEventId: string | undefined,
): { readonly after: number | undefined; readonly limit: number } | string {
  const given = new Map(pairs)
  const unknown = pairs.find(
    ([name], at) => !['after', 'limit'].includes(name) || pairs.findIndex(each => each[0] === name) !== at,
  )
  if (unknown) return `${unknown[0]}: is not a known query parameter here, or comes twice; after and limit are`
  const place = lastEventId === '' ? undefined : (lastEventId ?? given.get('after'))
  const after = place === undefined ? undefined : wholeNumber(place)
  const limit = wholeNumber(given.get('limit') ?? String(usual))
  if (Number.isNaN(after)) return 'after: must be a whole number from 0'
  return limit >= 1 && limit <= most ? { after, limit } : `limit: must be a whole number from 1 to ${most}`
}
const wholeNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)

const refuseReader = (status: number, detail: string, fields: Record<string, string> = {}): Response =>
  respond(status, { detail, fields: { ...ours, ...fields } })
