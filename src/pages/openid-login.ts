/**
 * Signs people in with a browser at an OpenID provider: there and back, and then a session cookie
 * as after a password. What it guards:
 *  (1) Only the browser that began a sign-in can finish it, once: the cookie that it keeps
 *      meanwhile is removed by its return.
 *  (2) The return address is that of the service (`publicUrl`), which the provider knows.
 *  (3) A person whom the provider authenticates may still have no access here: then the page says
 *      so, and no session begins.
 *  (4) Signing out continues at the provider by one of our pages that leads there, since browsers
 *      do not follow a form to another site (CSP `form-action`). The session here has ended by
 *      then, whatever happens there. Until then the browser keeps the ID token in a cookie for
 *      `/logout` only.
 *  (5) The provider ends a session by a token that proves its right to, never by a cookie.
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
import { addCookies, readForm, redirectWithCookie, respondWithPage, safeLocalPath } from './login-answers.ts'

const beginning = '/login/openid'
const returning = '/login/openid/return'
const goneReturning = '/logout/openid/return'
const backChannel = '/logout/openid/back-channel'

/** Octets of a form with a logout token. */
const logoutOctets = 32 * 1024

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
    [beginning]: { GET: entry => answerOutage(context, entry, () => startSignIn(context, openid, entry)) },
    [returning]: { GET: entry => answerOutage(context, entry, () => finishSignIn(context, people, openid, entry)) },
    [goneReturning]: { GET: entry => finishSignOut(context, openid, entry) },
    [backChannel]: { POST: entry => receiveLogout(people, openid, entry) },
  }
}

/** (2) */
function returnAddressOf(entry: Entry, { settings }: FaceContext, path = returning): string {
  const { publicUrl } = settings
  const origin = publicUrl === undefined ? originOf(entry) : new URL(publicUrl).origin
  return `${origin}${prefixOf(settings)}${path}`
}

async function startSignIn(context: FaceContext, openid: OpenIdSignIn, entry: Entry): Promise<Response> {
  const to = safeLocalPath(new Map(entry.pairs).get('to') ?? '') ?? ''
  const { address, state, sealed } = await openid.begin(returnAddressOf(entry, context), to)
  const cookie = writeStateCookie(context, entry, state, sealed, signInSeconds)
  return { status: 303, fields: { 'cache-control': 'no-store', location: address, 'set-cookie': cookie } }
}

async function finishSignIn(
  context: FaceContext,
  people: People,
  openid: OpenIdSignIn,
  entry: Entry,
): Promise<Response> {
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
  const removed = writeStateCookie(context, entry, state, '', 0) // (1)
  return addCookies(response, removed)
}

async function beginSession(
  context: FaceContext,
  people: People,
  { rights, title }: OpenIdSignIn,
  entry: Entry,
  { caller, to, mark, hint }: Extract<SignInEnd, { kind: 'proven' }>,
): Promise<Response> {
  const found: SessionCookie | undefined =
    rights === 'token' ? people.callerSession(caller, mark) : await people.session(caller.subject ?? '', mark)
  if (found) {
    const response = redirectWithCookie(context, entry.request, to, found.value, sessionSeconds)
    return hint === undefined ? response : addCookies(response, writeHintCookie(context, entry, hint))
  }
  const reason =
    rights === 'token'
      ? `${title} reports more roles and claims for you than a cookie can hold. The operator of this service can select fewer.`
      : `${title} knows you as ${caller.subject}, and this service has no person of that name.`
  return respondWithPage(context, 403, 'No access', writeNotice(reason)) // (3)
}

/**
 * (4) Continues at the provider if it began the session that `here` has ended; otherwise goes to
 *     `here`.
 */
export async function signOutThere(
  context: FaceContext,
  openid: OpenIdSignIn,
  entry: Entry,
  to: string,
  here: Response,
): Promise<Response> {
  const hint = parseCookies(entry.request.fields['cookie'] ?? '').get(hintCookieName(context, entry))
  if (hint === undefined) return here
  const forgotten = removeHintCookie(context, entry)
  const back = returnAddressOf(entry, context, goneReturning)
  const address = await openid.signOut(hint === noHint ? undefined : hint, back, safeLocalPath(to) ?? '')
  if (address === undefined) return addCookies(here, forgotten)
  const notice = writeNotice(`You are signed out here. Signing out at ${openid.title} follows.`)
  const link = buildElement('a', { class: 'button', href: address }, `Sign out at ${openid.title}`)
  const page = respondWithPage(context, 200, 'Signed out', notice + buildElement('p', {}, link))
  const cookies = { 'set-cookie': here.fields['set-cookie'] ?? [] }
  return addCookies({ ...page, fields: { ...page.fields, ...cookies, refresh: `0;url=${address}` } }, forgotten)
}

const finishSignOut = (context: FaceContext, openid: OpenIdSignIn, { pairs }: Entry): Response => {
  const to = openid.readReturn(new Map(pairs).get('state') ?? '')
  const location = safeLocalPath(to) ?? `${prefixOf(context.settings)}/`
  return { status: 303, fields: { 'cache-control': 'no-store', location } }
}

/** (5) Back-Channel Logout 1.0 §2.8: 200, or 400 with the reason. */
async function receiveLogout(people: People, openid: OpenIdSignIn, { request }: Entry): Promise<Response> {
  const form = await readForm(request, logoutOctets)
  if (typeof form === 'number') return respondToLogout(form, 'a form with a logout_token is needed')
  const end = await openid.readLogout(form.get('logout_token') ?? '')
  if (typeof end === 'string') return respondToLogout(400, end)
  return (await people.endSessions(end)) ? respondToLogout(200) : respondToLogout(400, 'the token was sent before')
}

const respondToLogout = (status: number, reason?: string): Response => ({
  status,
  fields: { 'cache-control': 'no-store', 'content-type': 'application/json' },
  content: JSON.stringify(reason === undefined ? {} : { error: 'invalid_request', error_description: reason }),
})

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
  return writeCookie(stateCookieName(context, entry, state), value, attributes) ?? '' // a cookie may have all its characters
}

/** Replaces an ID token that does not fit in a cookie. */
const noHint = '-'
const hintOctetsMax = 3_500

/** (4) Not `__Host-`, which applies to all paths. */
const hintCookieName = ({ app }: FaceContext, { request }: Entry): string =>
  `${request.scheme === 'https' ? '__Secure-' : ''}${app.contract.service}-provider`

const writeHintCookie = (context: FaceContext, entry: Entry, hint: string, maxAge = sessionSeconds): string => {
  const secure = entry.request.scheme === 'https'
  const path = `${prefixOf(context.settings)}/logout`
  const value = hint.length > hintOctetsMax ? noHint : hint
  const attributes = { maxAge, path, httpOnly: true, secure, sameSite: 'Lax' } as const
  return writeCookie(hintCookieName(context, entry), value, attributes) ?? '' // a token consists of base64url and dots
}

/** A session that the provider did not begin has no hint. */
export const removeHintCookie = (context: FaceContext, entry: Entry): string => writeHintCookie(context, entry, '', 0)
