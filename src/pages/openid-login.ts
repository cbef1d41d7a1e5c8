/**
 * Signing in with a browser at an OpenID provider: there and back, and then the cookie of a session
 * as after a password. What it guards:
 *  (1) Only the browser that began a sign-in can end it, once: what it keeps meanwhile is a cookie
 *      that is removed by its return.
 *  (2) The return address is that of the service (`publicUrl`), which the provider knows.
 *  (3) Whom the provider proves may still have nothing to do here: that is said, and no session
 *      begins.
 */
import { sessionCookieName } from '../front/authenticate.ts'
import { type Entry, originOf, prefixOf } from '../front/entry.ts'
import type { Page } from '../front/page.ts'
import { buildElement, writeNotice } from '../html/element.ts'
import { parseCookies, writeCookie } from '../http/cookie.ts'
import type { Response } from '../http/message.ts'
import type { People } from '../identity/identities.ts'
import { type OpenIdSignIn, type SignInEnd, signInSeconds } from '../identity/openid.ts'
import { type SessionCookie, sessionSeconds } from '../identity/session-cookie.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Unavailable } from '../service/store.ts'
import { redirectWithCookie, respondWithPage, safeLocalPath } from './login-answers.ts'

const beginning = '/login/openid'
const returning = '/login/openid/return'

export const writeOpenIdLink = ({ title }: OpenIdSignIn, to: string): string => {
  const path = safeLocalPath(to)
  const href = `login/openid${path === undefined ? '' : `?to=${encodeURIComponent(path)}`}`
  return buildElement('p', {}, buildElement('a', { class: 'button', href }, `Sign in with ${title}`))
}

export function createOpenIdPages(
  context: FaceContext,
  people: People,
  openid: OpenIdSignIn,
): Readonly<Record<string, Page>> {
  return {
    [beginning]: { GET: entry => answerOutage(context, entry, () => leave(context, openid, entry)) },
    [returning]: { GET: entry => answerOutage(context, entry, () => comeBack(context, people, openid, entry)) },
  }
}

/** (2) */
function returnAddressOf(entry: Entry, { settings }: FaceContext): string {
  const { publicUrl } = settings
  const origin = publicUrl === undefined ? originOf(entry) : new URL(publicUrl).origin
  return `${origin}${prefixOf(settings)}${returning}`
}

async function leave(context: FaceContext, openid: OpenIdSignIn, entry: Entry): Promise<Response> {
  const to = safeLocalPath(new Map(entry.pairs).get('to') ?? '') ?? ''
  const { address, state, sealed } = await openid.begin(returnAddressOf(entry, context), to)
  const cookie = writeStateCookie(context, entry, state, sealed, signInSeconds)
  return { status: 303, fields: { 'cache-control': 'no-store', location: address, 'set-cookie': cookie } }
}

async function comeBack(context: FaceContext, people: People, openid: OpenIdSignIn, entry: Entry): Promise<Response> {
  const { request, pairs } = entry
  const state = new Map(pairs).get('state') ?? ''
  const sealed = parseCookies(request.fields['cookie'] ?? '').get(stateCookieName(context, entry, state))
  if (sealed === undefined) return respondToEnd(context, { kind: 'invalid' })
  const returned = new URL(
    `${returnAddressOf(entry, context)}?${new URLSearchParams(pairs.map(([name, value]) => [name, value]))}`,
  )
  const end = await openid.finish(returned, sealed)
  const response =
    end.kind === 'proven' ? await beginSession(context, people, openid, entry, end) : respondToEnd(context, end)
  const begun = response.fields['set-cookie']
  const removed = writeStateCookie(context, entry, state, '', 0) // (1)
  const cookies = begun === undefined ? [removed] : [String(begun), removed]
  return { ...response, fields: { ...response.fields, 'set-cookie': cookies } }
}

async function beginSession(
  context: FaceContext,
  people: People,
  { rights, title }: OpenIdSignIn,
  { request }: Entry,
  { caller, to }: Extract<SignInEnd, { kind: 'proven' }>,
): Promise<Response> {
  const found: SessionCookie | undefined =
    rights === 'token' ? people.callerSession(caller) : await people.session(caller.subject ?? '')
  if (found) return redirectWithCookie(context, request, to, found.value, sessionSeconds)
  const why =
    rights === 'token'
      ? `${title} names more roles and claims of yours than a cookie holds. The operator of this service can choose fewer.`
      : `${title} knows you as ${caller.subject}, and this service has no person of that name.`
  return respondWithPage(context, 403, 'No access', writeNotice(why)) // (3)
}

const ends = {
  declined: [403, 'Not signed in', 'The sign-in was declined.'],
  invalid: [400, 'Not signed in', 'This sign-in was not begun in this browser, or too long ago. Begin again.'],
} as const

function respondToEnd(context: FaceContext, { kind }: Exclude<SignInEnd, { kind: 'proven' }>): Response {
  const [status, title, text] = ends[kind]
  const again = buildElement('p', {}, buildElement('a', { href: `${prefixOf(context.settings)}/login` }, 'Sign in'))
  return respondWithPage(context, status, title, writeNotice(text) + again)
}

async function answerOutage(context: FaceContext, { notes }: Entry, work: () => Promise<Response>): Promise<Response> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    notes.cause = thrown.cause
    const notice = writeNotice('Signing in there is not possible now. Try again in a moment.')
    const busy = respondWithPage(context, 503, 'Service unavailable', notice)
    return { ...busy, fields: { ...busy.fields, 'retry-after': String(thrown.after) } }
  }
}

/** One for each sign-in, so that several pages of a browser can be on their way. */
const stateCookieName = ({ app }: FaceContext, { request }: Entry, state: string): string =>
  `${sessionCookieName(app.contract.service, request.scheme)}-${state.slice(0, 8)}`

function writeStateCookie(context: FaceContext, entry: Entry, state: string, value: string, maxAge: number): string {
  const secure = entry.request.scheme === 'https'
  const attributes = { maxAge, path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const
  return writeCookie(stateCookieName(context, entry, state), value, attributes) ?? '' // all of its characters may be in one
}
