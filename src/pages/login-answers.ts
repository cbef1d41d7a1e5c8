/** The answers of the pages of signing in: a page, or a redirection with a session's cookie. */
import { sessionCookieName } from '../front/authenticate.ts'
import { prefixOf } from '../front/entry.ts'
import { writePage } from '../html/frame.ts'
import { writeCookie } from '../http/cookie.ts'
import type { Request, Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'

export const pageFields = { 'cache-control': 'no-store', 'content-type': 'text/html;charset=utf-8' }

export function respondWithPage({ app, settings }: FaceContext, status: number, title: string, body: string): Response {
  const prefix = prefixOf(settings)
  const frame = { title, service: app.contract.title, prefix, home: `${prefix}/` }
  return { status, fields: pageFields, content: writePage(frame, body) }
}

export function redirectWithCookie(
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
 * Browsers read `//host` and `/\host`, and a path with a line break or a tab, as another host.
 */
export const safeLocalPath = (to: string): string | undefined =>
  /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : undefined
