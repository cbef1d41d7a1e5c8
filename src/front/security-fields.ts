/** Fields of every response: they guard its reader, and name the request. */
import type { Response } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'
import { corsFields } from './cross-origin.ts'
import type { Entry } from './entry.ts'

/** For every HTML page: what it loads is ours and has an address; nothing inside of it is run. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** With `no-referrer` our own forms would have `Origin: null` (Fetch §3.1), like foreign ones. */
const pageFields = { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'same-origin' } as const

/** RFC 6797: a year, for this host alone; the owner of the domain decides for subdomains. */
const transportSecurity = 'max-age=31536000'

export function addCommonFields(
  { id, request, row }: Entry,
  own: Response['fields'],
  status: number,
  settings: Settings,
): Response['fields'] {
  const fields: Record<string, string | readonly string[]> = {
    ...own,
    'x-content-type-options': 'nosniff',
    'request-id': id,
  }
  if (settings.origins.length > 0) Object.assign(fields, corsFields(request, own, settings))
  // Uploaded HTML has a stricter policy of its own.
  if (fields['content-security-policy'] === undefined && String(fields['content-type'] ?? '').startsWith('text/html'))
    Object.assign(fields, pageFields)
  if (request.scheme === 'https') fields['strict-transport-security'] = transportSecurity
  if (settings.trace) fields['diglot-trace'] ??= `1-${row}; status=${status}`
  return fields
}
