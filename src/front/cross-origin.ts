/**
 * Which pages of other origins may call (Fetch §3.2), for all mounts. It guards people whose
 * browser knows their password:
 *  (1) No origin may call unless the settings name it; none may use credentials that the browser
 *      adds.
 *  (2) A change that a browser sends for a page of another origin is refused, whatever its content.
 *  (3) Cookies and client certificates count only for our own pages, even if the settings name the
 *      origin.
 */
import { writeVary } from '../http/cache.ts'
import type { Request, Response } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'
import { hasAmbientCredentials } from './authenticate.ts'
import { type Entry, originOf } from './entry.ts'

const exposedFields =
  'ETag, Location, Link, Allow, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, Content-Location, Deprecation, Sunset, Request-Id'

/** Fields that are exposed or safelisted (Fetch §2.2.2), and those that are useless to a script. */
const knownFields: ReadonlySet<string> = new Set(
  `${exposedFields}, Accept-Patch, Accept-Query, Accept-Ranges, Cache-Control, Clear-Site-Data, Content-Disposition,
  Content-Encoding, Content-Language, Content-Length, Content-Location, Content-Range, Content-Security-Policy,
  Content-Type, Diglot-Trace, Expires, Last-Modified, Pragma, Referrer-Policy, Set-Cookie, Vary, WWW-Authenticate,
  X-Content-Type-Options`
    .toLowerCase()
    .split(/,\s*/),
)

export const isPreflight = ({ method, fields }: Pick<Request, 'method' | 'fields'>): boolean =>
  method === 'OPTIONS' && fields['origin'] !== undefined && fields['access-control-request-method'] !== undefined

/** Fetch §3.2.2: a preflight comes before any credentials. */
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

/** The requested names, as far as they are field names. */
const fieldNamesIn = (names: string | undefined): string =>
  (names ?? '')
    .split(',')
    .map(name => name.trim())
    .filter(name => /^[A-Za-z0-9-]{1,100}$/.test(name))
    .join(', ')

/** Fields of every response if the settings name origins. */
export function corsFields(
  { fields: { origin } }: Request,
  fields: Response['fields'],
  { origins }: Pick<Settings, 'origins'>,
): Response['fields'] {
  const varying = { vary: writeVary(fields['vary'] === undefined ? undefined : String(fields['vary']), 'Origin') }
  if (origin === undefined || !origins.includes(origin)) return varying
  const exposed = [exposedFields, ...Object.keys(fields).filter(isOfContract)].join(', ')
  return { ...varying, 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
}
/** Whether it is a header of the contract, which HTTP does not know. */
const isOfContract = (name: string): boolean => !knownFields.has(name.toLowerCase())

/**
 * (2), (3). Browsers set Origin and Sec-Fetch-Site (Fetch Metadata §2.4) themselves; other clients
 * send neither, or values of their choice. A browser that sends neither with a change is older than
 * 2020.
 */
export function isCrossOrigin(entry: Entry, { origins, publicUrl }: Settings): boolean {
  const { request } = entry
  const { origin, 'sec-fetch-site': site } = request.fields
  if (origin === undefined) return site === 'cross-site' || site === 'same-site'
  const isAmbient =
    hasAmbientCredentials(request) && (request.fields['cookie'] !== undefined || request.certificate !== undefined)
  if (!isAmbient && origins.includes(origin)) return false
  if (!/^https?:/i.test(origin)) return true // not the origin of one of our pages
  if (request.scheme === 'https' && origin.startsWith('http:')) return true // a cleartext page may be forged in transit
  const from = authorityOf(origin)
  return from === undefined || (from !== authorityOf(originOf(entry)) && from !== authorityOf(publicUrl))
}

/** Host and port, without the scheme: a proxy in front may have terminated TLS. */
function authorityOf(uri: string | undefined): string | undefined {
  return uri !== undefined && URL.canParse(uri) ? new URL(uri).host : undefined
}
