/**
 * Signs people in with a browser: a form, and a cookie for a proven password (rule A5.1). What it
 * guards:
 *  (1) A password is accepted where Basic is: over TLS, or on loopback if the settings allow it.
 *  (2) No page of a foreign origin can sign a person in or out.
 *  (3) Afterwards the browser is redirected only to one of our own paths (`login-answers.ts`).
 *  (4) An unknown name and a wrong password get the same response, in the same time.
 */

import { isConfidential, sessionCookieName } from '../front/authenticate.ts'
import { isCrossOrigin } from '../front/cross-origin.ts'
import type { Entry, Mount } from '../front/entry.ts'
import { createPages } from '../front/page.ts'
import { buildElement, writeNotice } from '../html/element.ts'
import { parseCookies } from '../http/cookie.ts'
import type { Request, Response } from '../http/message.ts'
import type { People } from '../identity/identities.ts'
import type { OpenIdSignIn } from '../identity/openid.ts'
import { sessionSeconds } from '../identity/session-cookie.ts'
import type { FaceContext } from '../service/face-context.ts'
import { Unavailable } from '../service/store.ts'
import {
  addCookies,
  pageFields,
  readForm,
  redirectWithCookie,
  respondWithPage,
  safeLocalPath,
} from './login-answers.ts'
import { createOpenIdPages, removeHintCookie, signOutThere, writeOpenIdLink } from './openid-login.ts'

/** Octets of a form. */
const formOctets = 8 * 1024

/** `/login` and `/logout`, and below them the way to an OpenID provider, if there is one. */
export function createLoginPage(context: FaceContext, people: People, openid?: OpenIdSignIn): Mount {
  return createPages(
    context,
    {
      '/login': {
        GET: ({ pairs, request }) => {
          const to = new Map(pairs).get('to') ?? ''
          const [there, out] = [
            openid ? writeOpenIdLink(openid, to) : '',
            hasSession(context, request) ? signOutForm : '',
          ]
          return respondWithPage(context, 200, 'Sign in', there + writeSignIn(to) + out)
        },
        POST: async entry => {
          const response = await signIn(context, people, entry)
          return openid && response.status === 303 ? addCookies(response, removeHintCookie(context, entry)) : response
        },
      },
      '/logout': { POST: entry => signOut(context, entry, openid) },
      ...(openid && createOpenIdPages(context, people, openid)),
    },
    { name: 'rest' },
  )
}

async function signIn(context: FaceContext, people: People, entry: Entry): Promise<Response> {
  const { request } = entry
  if (isCrossOrigin(entry, context.settings)) return refuseForeignForm(context) // (2)
  if (!isConfidential(request, context.settings))
    // (1)
    return respondWithPage(
      context,
      403,
      'Secured connection required',
      writeNotice('Passwords are accepted over TLS only. Open this page with https.'),
    )
  const form = await readForm(request, formOctets)
  if (typeof form === 'number') return respondWithPage(context, form, 'Sign in', writeSignIn(''))
  return proveAndRedirect(context, people, entry, form)
}

const refuseForeignForm = (context: FaceContext): Response =>
  respondWithPage(
    context,
    403,
    'Request from another site',
    writeNotice('Another site sent this form. Open the page on this site.'),
  )

async function proveAndRedirect(
  context: FaceContext,
  people: People,
  { request, notes }: Entry,
  form: URLSearchParams,
): Promise<Response> {
  const name = form.get('name') ?? ''
  const to = form.get('to') ?? ''
  try {
    const caller = await people.password(name, form.get('password') ?? '', request.from)
    const session = caller && (await people.session(name))
    if (!session)
      return {
        ...respondWithPage(
          context,
          401,
          'Sign in',
          writeNotice('The name or the password is wrong.') + writeSignIn(to, name),
        ),
        fields: challengeFields(context),
      } // (4)
    return redirectWithCookie(context, request, to, session.value, sessionSeconds)
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    notes.cause = thrown.cause
    const busy = respondWithPage(
      context,
      503,
      'Service unavailable',
      writeNotice('Signing in is not possible now. Try again in a moment.') + writeSignIn(to, name),
    )
    return { ...busy, fields: { ...busy.fields, 'retry-after': String(thrown.after) } }
  }
}

async function signOut(context: FaceContext, entry: Entry, openid: OpenIdSignIn | undefined): Promise<Response> {
  if (isCrossOrigin(entry, context.settings)) return refuseForeignForm(context) // (2)
  const form = await readForm(entry.request, formOctets)
  const to = typeof form === 'number' ? '' : (form.get('to') ?? '')
  const response = redirectWithCookie(context, entry.request, to, '', 0)
  return openid ? signOutThere(context, openid, entry, to, response) : response
}

/**
 * RFC 9110 §15.5.2: a 401 has a challenge. With Basic, browsers would ask for a password
 * themselves.
 */
const challengeFields = ({ app }: FaceContext) => ({
  ...pageFields,
  'www-authenticate': `Bearer realm="${app.contract.service}"`,
})

const writeSignIn = (to: string, name = ''): string =>
  buildElement(
    'form',
    { method: 'post', action: 'login', 'aria-label': 'Sign in' },
    writeSignInField('Name', { name: 'name', autocomplete: 'username', value: name, autocapitalize: 'off' }),
    writeSignInField('Password', { name: 'password', type: 'password', autocomplete: 'current-password' }),
    buildElement('input', { name: 'to', type: 'hidden', value: safeLocalPath(to) ?? '' }),
    buildElement('button', {}, 'Sign in'),
  )

const signOutForm = buildElement(
  'form',
  { class: 'bare', method: 'post', action: 'logout' },
  buildElement('button', { class: 'minor' }, 'Sign out'),
)

/** Whether the browser has a session cookie, which may have expired. */
const hasSession = ({ app }: FaceContext, { fields, scheme }: Request): boolean =>
  parseCookies(fields['cookie'] ?? '').has(sessionCookieName(app.contract.service, scheme))

const writeSignInField = (label: string, attributes: Readonly<Record<string, string>>): string => {
  const id = `sign-in-${attributes['name']}`
  return buildElement(
    'div',
    { class: 'field' },
    buildElement('label', { for: id }, label),
    buildElement('input', { id, required: true, ...attributes }),
  )
}
