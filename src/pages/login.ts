/**
 * Signing in with a browser: a form, and a cookie for a proven password (rule A5.1). What it
 * guards:
 *  (1) A password is accepted where Basic is: over TLS, or on loopback if the settings allow it.
 *  (2) No page of a foreign origin can sign a person in or out.
 *  (3) Afterwards the browser is redirected to a path of ours alone.
 *  (4) An unknown name and a wrong password get the same response, in the same time.
 */

import { escapeMarkup } from '../base/markup.ts'
import { sessionCookieName } from '../front/authenticate.ts'
import { isConfidential } from '../front/confidential.ts'
import { isCrossOrigin } from '../front/cross-origin.ts'
import { type Entry, type Mount, prefixOf } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import { writeCookie } from '../http/cookie.ts'
import { parseMediaType } from '../http/media-type.ts'
import type { Request, Response } from '../http/message.ts'
import type { People } from '../identity/identities.ts'
import { sessionSeconds } from '../identity/session-cookie.ts'
import { writeHtmlPage } from '../rest/formats/html.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Unavailable } from '../service/store.ts'

/** Octets of a form. */
const formOctets = 8 * 1024
const pageFields = { 'cache-control': 'no-store', 'content-type': 'text/html;charset=utf-8' }

/** `/login` and `/logout`. */
export function createLoginPage(context: FaceContext, people: People): Mount {
  return createPages(
    context,
    {
      '/login': {
        GET: ({ pairs }) => writePage(200, 'Sign in', writeForm(new Map(pairs).get('to') ?? '')),
        POST: entry => signIn(context, people, entry),
      },
      '/logout': { POST: entry => signOut(context, entry) },
    },
    { name: 'rest' },
  )
}

async function signIn(context: FaceContext, people: People, entry: Entry): Promise<Response> {
  const { request } = entry
  if (isCrossOrigin(entry, context.settings)) return refuseForeignForm() // (2)
  if (!isConfidential(request, context.settings))
    // (1)
    return writePage(
      403,
      'Secured connection required',
      '<p>Passwords are accepted over TLS only. Open this page with https.</p>',
    )
  const given = await readForm(request)
  if (typeof given === 'number') return writePage(given, 'Sign in', writeForm(''))
  return proveAndRedirect(context, people, entry, given)
}

const refuseForeignForm = (): Response =>
  writePage(403, 'Request from another site', '<p>Another site sent this form. Open the page on this site.</p>')

async function proveAndRedirect(
  context: FaceContext,
  people: People,
  { request, notes }: Entry,
  given: URLSearchParams,
): Promise<Response> {
  const name = given.get('name') ?? ''
  const to = given.get('to') ?? ''
  try {
    const caller = await people.password(name, given.get('password') ?? '', request.from)
    const session = caller && (await people.session(name))
    if (!session)
      return {
        ...writePage(401, 'Sign in', `<p>The name or the password is wrong.</p>${writeForm(to)}`),
        fields: challengeFields(context),
      } // (4)
    return redirectWithCookie(context, request, to, session.value, sessionSeconds)
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    notes.cause = thrown.cause
    const busy = writePage(
      503,
      'Service unavailable',
      `<p>Signing in is not possible now. Try again in a moment.</p>${writeForm(to)}`,
    )
    return { ...busy, fields: { ...busy.fields, 'retry-after': String(thrown.after) } }
  }
}

function signOut(context: FaceContext, entry: Entry): Response {
  if (isCrossOrigin(entry, context.settings)) return refuseForeignForm() // (2)
  return redirectWithCookie(context, entry.request, '', '', 0)
}

/**
 * RFC 9110 §15.5.2: a 401 has a challenge. Basic would make browsers ask for a password themselves.
 */
const challengeFields = ({ app }: FaceContext) => ({
  ...pageFields,
  'www-authenticate': `Bearer realm="${app.contract.service}"`,
})

function redirectWithCookie(
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
  const home = `${prefixOf(settings)}/`
  const location = safeLocalPath(to) ?? home
  return { status: 303, fields: { 'cache-control': 'no-store', location, 'set-cookie': cookie ?? '' } }
}

/**
 * (3) Browsers read `//host` and `/\host`, and a path with a line break or a tab, as another host.
 */
export const safeLocalPath = (to: string): string | undefined =>
  /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : undefined

/** The fields of the form, or the status of a refusal. */
async function readForm({ fields, content }: Request): Promise<URLSearchParams | number> {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'application/x-www-form-urlencoded' || fields['content-encoding'] !== undefined) return 415
  const octets = await content.bytes(formOctets)
  return octets ? new URLSearchParams(Buffer.from(octets).toString('utf8')) : 413
}

const writePage = (status: number, title: string, body: string): Response => ({
  status,
  fields: pageFields,
  content: writeHtmlPage(title, body),
})

const writeForm = (to: string): string => `<form method="post" action="login">
<label>Name <input name="name" autocomplete="username" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<input name="to" type="hidden" value="${escapeMarkup(safeLocalPath(to) ?? '')}"><button>Sign in</button></form>
<form method="post" action="logout"><button>Sign out</button></form>`
