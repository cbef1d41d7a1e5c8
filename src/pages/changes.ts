/**
 * `/changes`: what was committed, page by page, or as it happens (server-sent events; HTML Standard §9.2). A complement (C6.1):
 * all of it can be had by asking the resources themselves. What it guards:
 *  (1) A caller hears of what they may read, and the question is asked for each event when it is told.
 *  (2) A stream ends after a while, so that its credentials are shown again; and there are only so many.
 *  (3) A stream takes from the store what its reader has room for, and nothing waits in memory.
 *  (4) Who comes too late for what was kept is told so, and where to go on: a page is 410, a stream has an event `gone`.
 */
import { type Caller, isPublic } from '../contract/policy.ts'
import { authenticate, writeAuthChallenges } from '../front/authenticate.ts'
import type { Request, Response } from '../http/message.ts'
import { negotiateType } from '../http/negotiate.ts'
import { writeProblemJson } from '../http/problem.ts'
import { parseQuery } from '../http/uri.ts'
import { type ChangesFor, changesFor, toCloudEvent } from '../service/change-feed.ts'
import type { FaceContext } from '../service/face-context.ts'
import { readGrants } from '../service/item-checks.ts'
import type { Limiter } from '../service/limiter.ts'
import { Refused } from '../service/refusal.ts'
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
/** Milliseconds: (2), and how often a stream says something so that nobody between takes it for dead. */
const longest = 15 * 60_000
const beat = 5_000

export interface ChangesPage {
  readonly answer: (request: Request) => Promise<Response> | undefined
  /** A change was committed here. */
  kick(): void
  readonly streams: () => number
  /** Ends all streams; their readers come again, and go on where they were. */
  stop(): void
}

export function createChangesPage(serving: FaceContext, store: Store, limiter: Limiter): ChangesPage {
  const tail = new ChangeNotifier(store, beat)
  let streams = 0

  async function answered(request: Request, query: string): Promise<Response> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refusal(405, 'GET it', { allow: 'GET, HEAD' })
    const caller = await authenticate(request, serving)
    if (caller.subject === undefined && !somethingPublic(serving)) throw new Refused({ kind: 'unauthenticated' })
    const { exceeded, reset } = await limiter.take(
      `changes ${caller.subject ?? `@${request.from}`}`,
      rate,
      serving.clock(),
    )
    if (exceeded) return refusal(429, 'too many requests', { 'retry-after': String(Math.max(1, reset)) })
    const type = negotiateType(request.fields['accept'], offers)
    if (!type) return refusal(406, `it comes as ${offers.join(', ')}`)
    const asked = askedFor(query, type === events ? request.fields['last-event-id'] : undefined)
    if (!asked) return refusal(400, 'after and limit are whole numbers: after from 0, limit from 1 to 1000')
    if (type === events) return stream(caller, asked.after, request.method === 'HEAD')
    const told = await changesFor(serving.app, store, caller, { ...asked, now: serving.clock() })
    const link = `</changes?after=${told.next}&limit=${asked.limit}>; rel="next"`
    if (told.missed !== undefined)
      return { status: 410, fields: { ...ours, 'content-type': problem, link }, content: gone(told.missed) }
    return {
      status: 200,
      fields: { ...ours, 'content-type': type, link },
      content: type === batch ? batched(told) : paged(told),
    }
  }

  const batched = ({ changes }: ChangesFor): string =>
    JSON.stringify(changes.map(each => toCloudEvent(serving.app, each)))
  const paged = ({ changes, next, more }: ChangesFor): string =>
    JSON.stringify({ items: changes.map(itemOf), next, more })

  function stream(caller: Caller, after: number | undefined, head: boolean): Response {
    const fields = { ...ours, 'content-type': events, 'x-accel-buffering': 'no' }
    if (head) return { status: 200, fields }
    if (streams >= mostStreams) return refusal(503, 'too many streams', { 'retry-after': '10' })
    return { status: 200, fields, content: told(caller, after) }
  }

  /** (3) It counts from its first piece on: one whose reader went before never begins, nor ends. */
  async function* told(caller: Caller, from: number | undefined): AsyncGenerator<Uint8Array> {
    streams++
    const until = performance.now() + longest
    let after = from
    try {
      yield encoded('retry: 1000\n\n')
      while (performance.now() < until && !tail.stopped) {
        const seen = tail.mark()
        const found = await changesFor(serving.app, store, caller, { after, limit: usual, now: serving.clock() })
        after = found.next
        if (found.missed !== undefined) yield encoded(`id: ${after}\nevent: gone\ndata: ${gone(found.missed)}\n\n`)
        for (const change of found.changes)
          yield encoded(`id: ${change.sequence}\ndata: ${JSON.stringify(toCloudEvent(serving.app, change))}\n\n`)
        if (found.more) continue
        await tail.after(seen, after)
        yield encoded(`id: ${after}\n:\n\n`) // where to go on, though it was not told
      }
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) throw thrown // else the reader comes again
    } finally {
      streams--
    }
  }

  return {
    answer: request => {
      const [path, query = ''] = request.target.split('?', 2)
      if (path !== '/changes') return undefined
      return answered(request, query).catch(thrown => refused(request, serving, thrown))
    },
    kick: () => tail.kick(),
    streams: () => streams,
    stop: () => tail.stop(),
  }
}

const encoder = new TextEncoder()
const encoded = (text: string): Uint8Array => encoder.encode(text)
const ours = {
  'cache-control': 'private, no-store',
  vary: 'Accept, Authorization, Cookie',
  'x-content-type-options': 'nosniff',
}

const itemOf = ({ at, ...change }: ChangeRecord) => ({ ...change, at: new Date(at).toISOString() })

/** (4) RFC 9110 §15.5.11; what a program needs of it is a member of its own. */
const gone = (missed: number): string =>
  writeProblemJson({ status: 410, title: 'changes since then are not kept any more: read the resources', next: missed })

const somethingPublic = ({ app }: FaceContext): boolean =>
  app.contract.resources.some(each => isPublic(readGrants(each)))

/** A reader who says nothing of where they were begins with the oldest that is kept. */
function askedFor(query: string, last: string | undefined): { after: number | undefined; limit: number } | undefined {
  const given = new Map(parseQuery(query) ?? [['limit', '']])
  const whole = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : Number.NaN)
  const place = last === '' ? undefined : (last ?? given.get('after'))
  const after = place === undefined ? undefined : whole(place)
  const limit = whole(given.get('limit') ?? String(usual))
  return Number.isNaN(after) || !(limit >= 1 && limit <= most) ? undefined : { after, limit }
}

function refusal(status: number, detail: string, fields: Record<string, string> = {}): Response {
  return {
    status,
    fields: { ...ours, 'content-type': problem, ...fields },
    content: writeProblemJson({ status, title: detail }),
  }
}

function refused(request: Request, serving: FaceContext, thrown: unknown): Response {
  if (thrown instanceof Unavailable)
    return refusal(503, 'the store is out of reach', { 'retry-after': String(thrown.after) })
  if (thrown instanceof Refused && thrown.refusal.kind === 'unauthenticated')
    return refusal(401, 'say who you are', { 'www-authenticate': writeAuthChallenges(request, serving) })
  if (thrown instanceof Refused) return refusal(403, 'not allowed')
  const incident = request.id ?? serving.id()
  serving.report(incident, thrown)
  return refusal(500, `something went wrong (${incident})`)
}
