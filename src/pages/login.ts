/**
 * Signing in for people with a browser: a form, and a cookie for who proves a password (rule A5.1). What it guards:
 *  (1) A password is taken where Basic is: over TLS, or on loopback where settings allow it.
 *  (2) No page of a foreign origin can sign anybody in or out.
 *  (3) Afterwards the browser is sent to a path of ours and nowhere else.
 *  (4) An unknown name and a wrong password get the same answer, in the same time.
 */

import { escapeMarkup } from '../base/markup.ts'
import { isConfidential, sessionCookieName } from '../front/authenticate.ts'
import { pageFields } from '../front/security-fields.ts'
import { writeCookie } from '../http/cookie.ts'
import { parseMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import type { People } from '../identity/identities.ts'
import { sessionSeconds } from '../identity/session-cookie.ts'
import { isCrossOrigin } from '../rest/cors.ts'
import { writeHtmlPage } from '../rest/formats/html.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Unavailable } from '../service/store.ts'

const most = 8 * 1024
const caching = { 'cache-control': 'no-store', 'content-type': 'text/html;charset=utf-8', ...pageFields }

/** Answers `/login` and `/logout`; undefined for any other target. */
export function createLoginPage(
  serving: FaceContext,
  people: People,
): (request: Request) => Promise<Response> | undefined {
  return request => {
    const [path = '', query = ''] = request.target.split('?')
    if (path === '/login') return atLogin(serving, people, request, query)
    return path === '/logout' ? atLogout(serving, request) : undefined
  }
}

async function atLogin(serving: FaceContext, people: People, request: Request, query: string): Promise<Response> {
  const { method } = request
  const to = new URLSearchParams(query).get('to') ?? ''
  if (method === 'GET' || method === 'HEAD') return said(200, 'Sign in', form(to))
  if (method !== 'POST') return notAllowed(method, 'GET, HEAD, OPTIONS, POST')
  if (isCrossOrigin(request, serving)) return said(403, 'Not from here', '<p>Another site has sent you here.</p>') // (2)
  if (!isConfidential(request, serving)) return said(403, 'Not in the clear', '<p>Passwords are taken over TLS.</p>') // (1)
  const given = await formOf(request)
  if (typeof given === 'number') return said(given, 'Sign in', form(''))
  return signedIn(serving, people, request, given)
}

async function signedIn(
  serving: FaceContext,
  people: People,
  request: Request,
  given: URLSearchParams,
): Promise<Response> {
  const name = given.get('name') ?? ''
  const to = given.get('to') ?? ''
  try {
    const who = await people.password(name, given.get('password') ?? '', request.from)
    const session = who && (await people.session(name))
    if (!session) return { ...said(401, 'Sign in', `<p>That is not right.</p>${form(to)}`), ...challenged(serving) } // (4)
    return sent(serving, request, to, session.value, sessionSeconds)
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    const busy = said(503, 'Try again', form(to))
    return { ...busy, fields: { ...busy.fields, 'retry-after': String(thrown.after) } }
  }
}

async function atLogout(serving: FaceContext, request: Request): Promise<Response> {
  if (request.method !== 'POST') return notAllowed(request.method, 'OPTIONS, POST')
  if (isCrossOrigin(request, serving)) return said(403, 'Not from here', '<p>Another site has sent you here.</p>') // (2)
  return sent(serving, request, '', '', 0)
}

/** RFC 9110 §15.5.2 wants a challenge with a 401. Basic, too, would make browsers ask by themselves. */
const challenged = ({ app }: FaceContext) => ({
  fields: { ...caching, 'www-authenticate': `Bearer realm="${app.contract.service}"` },
})

function sent(
  { app, settings }: FaceContext,
  { scheme }: Request,
  to: string,
  value: string,
  maxAge: number,
): Response {
  const cookie = writeCookie(sessionCookieName(app.contract.service, scheme), value, {
    maxAge,
    path: '/',
    httpOnly: true,
    secure: scheme === 'https',
    sameSite: 'Lax',
  })
  const home = settings.publicUrl === undefined ? '/' : `${new URL(settings.publicUrl).pathname.replace(/\/+$/, '')}/`
  const location = safeLocalPath(to) ?? home
  return { status: 303, fields: { 'cache-control': 'no-store', location, 'set-cookie': cookie ?? '' } }
}

/** (3) `//host` and `/\host` are other hosts to a browser, and so is a path with a line break or a tab in it. */
export const safeLocalPath = (to: string): string | undefined =>
  /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : undefined

/** A number is the status of what cannot be read. */
async function formOf({ fields, content }: Request): Promise<URLSearchParams | number> {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'application/x-www-form-urlencoded' || fields['content-encoding'] !== undefined) return 415
  const octets = await content.bytes(most)
  return octets ? new URLSearchParams(Buffer.from(octets).toString('utf8')) : 413
}

function notAllowed(method: string, allow: string): Response {
  return { status: method === 'OPTIONS' ? 204 : 405, fields: { allow, 'cache-control': 'no-store' } }
}

const said = (status: number, title: string, body: string): Response => ({
  status,
  fields: caching,
  content: writeHtmlPage(title, body),
})

const form = (to: string): string => `<form method="post" action="login">
<label>Name <input name="name" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<input name="to" type="hidden" value="${escapeMarkup(safeLocalPath(to) ?? '')}"><button>Sign in</button></form>
<form method="post" action="logout"><button>Sign out</button></form>`
