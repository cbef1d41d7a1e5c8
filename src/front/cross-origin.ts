/**
 * Which pages of other origins may call (Fetch §3.2), faces and pages alike. Guards people whose
 * browser knows their password:
 *  (1) No origin may unless the settings name it; none may send credentials of the browser's own.
 *  (2) A change that a browser sends for a page of another origin is refused, whatever its content.
 *  (3) What a cookie or a client's certificate proves is for our own pages alone, also where the
 *      settings name the origin.
 */
import { writeVary } from '../http/cache.ts'
import type { Request, Response } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'
import { hasAmbientCredentials } from './authenticate.ts'
import { type Entry, originOf } from './entry.ts'

const exposedFields =
  'ETag, Location, Link, Allow, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, Content-Location, Deprecation, Sunset, Request-Id'

export const isPreflight = ({ method, fields }: Pick<Request, 'method' | 'fields'>): boolean =>
  method === 'OPTIONS' && fields['origin'] !== undefined && fields['access-control-request-method'] !== undefined

/** Fetch §3.2.2: before any credentials. */
export function answerPreflight(
  { fields }: Pick<Request, 'fields'>,
  { origins }: Pick<Settings, 'origins'>,
  allow: string,
): Response {
  const origin = fields['origin'] ?? ''
  return {
    status: 204,
    fields: {
      vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
      ...(origins.includes(origin) && {
        'access-control-allow-methods': allow,
        'access-control-allow-headers': fieldNamesIn(fields['access-control-request-headers']),
        'access-control-max-age': '600',
      }),
    },
  }
}

/** The names that were asked for: a field name is all that can be among them. */
const fieldNamesIn = (names: string | undefined): string =>
  (names ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => /^[A-Za-z0-9-]{1,100}$/.test(name))
    .join(', ')

/** What every answer says of origins, where the settings name some. */
export function corsFields(
  { fields: { origin } }: Request,
  vary: Response['fields'][string] | undefined,
  { origins }: Pick<Settings, 'origins'>,
): Response['fields'] {
  const varying = { vary: writeVary(vary === undefined ? undefined : String(vary), 'Origin') }
  if (origin === undefined || !origins.includes(origin)) return varying
  return { ...varying, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposedFields }
}

/**
 * (2), (3). Origin and Sec-Fetch-Site (Fetch Metadata §2.4) are of the browser's making; a client
 * that is not a browser sends neither, or its own. A browser that sends neither with a change is
 * older than 2020.
 */
export function isCrossOrigin(entry: Entry, { origins, publicUrl }: Settings): boolean {
  const { request } = entry
  const { origin, 'sec-fetch-site': site } = request.fields
  if (origin === undefined) return site === 'cross-site' || site === 'same-site'
  const isAmbient =
    hasAmbientCredentials(request) && (request.fields['cookie'] !== undefined || request.certificate !== undefined)
  if (!isAmbient && origins.includes(origin)) return false
  if (!/^https?:/i.test(origin)) return true // not an origin that a page of ours has
  if (request.scheme === 'https' && origin.startsWith('http:')) return true // anyone on the way could have written it
  const from = authorityOf(origin)
  return from === undefined || (from !== authorityOf(originOf(entry)) && from !== authorityOf(publicUrl))
}

/** Host and port; the scheme is not compared further, since a proxy in front may have ended TLS. */
function authorityOf(uri: string | undefined): string | undefined {
  return uri !== undefined && URL.canParse(uri) ? new URL(uri).host : undefined
}
