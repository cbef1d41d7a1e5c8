/**
 * Which pages of other origins may call (Fetch §3.2). Guards people whose browser knows their password:
 *  (1) No origin may unless the settings name it; none may send credentials of the browser's own.
 *  (2) A change that a browser sends for a page of another origin is refused, whatever its content.
 *  (3) What a cookie or a client's certificate proves is for our own pages alone, also where settings name the origin.
 */

import { hasAmbientCredentials } from '../front/authenticate.ts'
import type { Request, Response } from '../http/message.ts'
import type { FaceContext } from '../service/face-context.ts'

const exposed =
  'ETag, Location, Link, Allow, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, Content-Location, Deprecation, Sunset, Request-Id'

export const isPreflight = ({ method, fields }: Request): boolean =>
  method === 'OPTIONS' && fields['origin'] !== undefined && fields['access-control-request-method'] !== undefined

export function answerPreflight({ fields }: Request, { settings }: FaceContext, allow: string): Response {
  const origin = fields['origin'] ?? ''
  const allowed = settings.origins.includes(origin)
  return {
    status: 204,
    fields: {
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      ...(allowed && {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': allow,
        'access-control-allow-headers': asked(fields['access-control-request-headers']),
        'access-control-max-age': '600',
      }),
    },
  }
}

/** The names that were asked for: a field name is all that can be among them. */
const asked = (names: string | undefined): string =>
  (names ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => /^[A-Za-z0-9-]{1,100}$/.test(name))
    .join(', ')

export function writeCorsFields({ fields }: Request, { settings }: FaceContext): Readonly<Record<string, string>> {
  const origin = fields['origin']
  return origin !== undefined && settings.origins.includes(origin)
    ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
    : {}
}

/**
 * (2), (3). Origin and Sec-Fetch-Site (Fetch Metadata §2.4) are of the browser's making; who is no browser sends neither,
 * or its own. A browser that sends neither with a change is older than 2020.
 */
export function isCrossOrigin(request: Request, { settings }: FaceContext): boolean {
  const { origin, 'sec-fetch-site': site, host } = request.fields
  if (origin === undefined) return site === 'cross-site' || site === 'same-site'
  const ambient =
    hasAmbientCredentials(request) && (request.fields['cookie'] !== undefined || request.certificate !== undefined)
  if (!ambient && settings.origins.includes(origin)) return false
  if (request.scheme === 'https' && origin.startsWith('http:')) return true // anybody on the way could have written it
  const from = hostOf(origin)
  return from === undefined || (from !== hostOf(`${request.scheme}://${host}`) && from !== hostOf(settings.publicUrl))
}

/** Host and port; the scheme is not compared further, since a proxy in front may have ended TLS. */
function hostOf(uri: string | undefined): string | undefined {
  return uri !== undefined && URL.canParse(uri) ? new URL(uri).host : undefined
}
