/**
 * Which pages of other origins may call (Fetch §3.2). Guards people whose browser knows their password:
 *  (1) No origin may unless the settings name it; none may send credentials of the browser's own.
 *  (2) A change that a browser sends for a page of another origin is refused, whatever its content.
 */
import type { Request, Response } from '../http/message.ts'
import type { Serving } from '../service/serving.ts'

const exposed =
  'ETag, Location, Link, Allow, Retry-After, RateLimit, RateLimit-Policy, Preference-Applied, Content-Location, Deprecation, Sunset'

export const isPreflight = ({ method, fields }: Request): boolean =>
  method === 'OPTIONS' && fields['origin'] !== undefined && fields['access-control-request-method'] !== undefined

export function preflight({ fields }: Request, { settings }: Serving, allow: string): Response {
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

export function corsFields({ fields }: Request, { settings }: Serving): Readonly<Record<string, string>> {
  const origin = fields['origin']
  return origin !== undefined && settings.origins.includes(origin)
    ? { 'access-control-allow-origin': origin, 'access-control-expose-headers': exposed }
    : {}
}

/** (2) Origin is of the browser's making; who is no browser sends none, or its own. */
export function isForeign({ fields, scheme }: Request, { settings }: Serving): boolean {
  const origin = fields['origin']
  if (origin === undefined || settings.origins.includes(origin)) return false
  const from = hostOf(origin)
  return from === undefined || (from !== hostOf(`${scheme}://${fields['host']}`) && from !== hostOf(settings.publicUrl))
}

/** Host and port; the scheme is not compared, since a proxy in front may have ended TLS. */
function hostOf(uri: string | undefined): string | undefined {
  return uri !== undefined && URL.canParse(uri) ? new URL(uri).host : undefined
}
