/**
 * What the pages for signing in share: their forms, and their responses: a page, or a redirect with
 * a session cookie.
 */
import { sessionCookieName } from '../front/authenticate.ts'
import { prefixOf } from '../front/entry.ts'
import { writePage } from '../html/frame.ts'
import { writeCookie } from '../http/cookie.ts'
import { parseMediaType } from '../http/media-type.ts'
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

/** Browsers read `//host`, `/\host`, and a path with a line break or a tab, as another host. */
export const safeLocalPath = (to: string): string | undefined =>
  /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(to) ? to : undefined

/** Adds these cookies after the response's own. */
export function addCookies(response: Response, ...cookies: readonly string[]): Response {
  const ownCookies = response.fields['set-cookie'] ?? []
  return { ...response, fields: { ...response.fields, 'set-cookie': [ownCookies, cookies].flat() } }
}

/** The fields of the form, or the status of a refusal. */
export async function readForm({ fields, content }: Request, octetsMax: number): Promise<URLSearchParams | number> {
  const type = parseMediaType(fields['content-type'] ?? '')
  if (type?.essence !== 'application/x-www-form-urlencoded' || fields['content-encoding'] !== undefined) return 415
  const octets = await content.bytes(octetsMax)
  return octets ? new URLSearchParams(Buffer.from(octets).toString('utf8')) : 413
}
