/**
 * Pages in addition to the two faces: tables of paths and methods. HEAD, OPTIONS, preflights, 405
 * and exceptions are handled the same way for all of them.
 */
import { type Maybe, settle } from '../base/maybe.ts'
import type { Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import type { FaceContext, RequestNotes } from '../service/face-context.ts'
import { type Refusal, Refused } from '../service/refusal.ts'
import { Unavailable, unavailableRefusal } from '../service/store.ts'
import { writeAuthChallenges } from './authenticate.ts'
import { answerPreflight, isPreflight } from './cross-origin.ts'
import type { Entry, Mount } from './entry.ts'
import { writeAllow } from './front-rows.ts'
import { type FrontRefusal, respondToRefusal } from './refusal.ts'

/** Method → handler. GET also handles HEAD; OPTIONS is handled for all. */
export type Page = Readonly<Partial<Record<'GET' | 'POST', (entry: Entry) => Maybe<Response>>>>

export type PageContext = Pick<FaceContext, 'app' | 'identities' | 'settings'>

/** @param pages by path; any other path with the same first segment is 404 */
export function createPages(
  context: PageContext,
  pages: Readonly<Record<string, Page>>,
  options: Pick<Mount, 'name' | 'exempt'> = { name: 'operations' },
): Mount {
  const byPath = new Map(Object.entries(pages))
  const segments = [...new Set([...byPath.keys()].map(path => path.split('/')[1] ?? ''))]
  const serve = (entry: Entry): Maybe<Response> => {
    const page = byPath.get(`/${entry.segments.join('/')}`)
    if (!page) return respond(404, { detail: 'this page does not exist' })
    return settle(
      () => respondFromPage(entry, page, context),
      thrown => refusePage(entry, thrown, context),
    )
  }
  return {
    ...options,
    segments,
    serve,
    refuse: ({ notes }, refusal) =>
      refusal.kind === 'unavailable' ? refuseUnavailable(notes, refusal) : respondToRefusal(refusal),
  }
}

function respondFromPage(entry: Entry, page: Page, { settings }: PageContext): Maybe<Response> {
  const { request } = entry
  const allow = writeAllow(Object.keys(page))
  if (isPreflight(request)) return answerPreflight(request, settings, allow)
  if (request.method === 'OPTIONS') return { status: 204, fields: { allow, 'cache-control': 'no-store' } }
  const work = request.method === 'HEAD' ? page.GET : page[request.method as keyof Page] // one of those, or undefined
  return work ? work(entry) : respondToRefusal({ kind: 'not-allowed', allow })
}

/** Writes a refusal that a page throws; anything else is a bug, and is thrown on. */
export function refusePage({ request, notes }: Entry, thrown: unknown, context: PageContext): Response {
  if (thrown instanceof Unavailable) return refuseUnavailable(notes, unavailableRefusal(thrown))
  if (!(thrown instanceof Refused)) throw thrown
  const { refusal } = thrown as Refused<FrontRefusal | PageRefusal>
  switch (refusal.kind) {
    case 'malformed':
      return respond(400, { detail: refusal.detail })
    case 'unauthenticated':
      return respond(401, {
        detail: 'credentials are missing or invalid: send those of a scheme in WWW-Authenticate',
        fields: { 'www-authenticate': writeAuthChallenges(request, context, context.app.contract.service) },
      })
    case 'forbidden':
      return respond(403, { detail: 'this caller may not do this' })
    case 'unavailable':
      return refuseUnavailable(notes, refusal)
    default:
      return respondToRefusal(refusal)
  }
}

type PageRefusal = Extract<Refusal, { readonly kind: 'unauthenticated' | 'forbidden' | 'malformed' }>

function refuseUnavailable(notes: RequestNotes, refusal: Extract<FrontRefusal, { kind: 'unavailable' }>): Response {
  notes.cause = refusal.cause
  return respondToRefusal(refusal)
}
