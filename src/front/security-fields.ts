/** Fields of every response: they protect its reader, and identify the request. */
import type { Response } from '../http/message.ts'
import type { Settings } from '../service/face-context.ts'
import { corsFields } from './cross-origin.ts'
import type { Entry } from './entry.ts'

/** For every HTML page: it loads only our own files, by address; nothing inline is run. */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** With `no-referrer` our own forms would send `Origin: null` (Fetch §3.1), like foreign ones. */
const pageFields = { 'content-security-policy': contentSecurityPolicy, 'referrer-policy': 'same-origin' } as const

/** RFC 6797: a year, for this host only; subdomains are the decision of the domain's owner. */
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
  // Uploaded HTML already has a stricter policy.
  if (fields['content-security-policy'] === undefined && String(fields['content-type'] ?? '').startsWith('text/html'))
    Object.assign(fields, pageFields)
  if (request.scheme === 'https') fields['strict-transport-security'] = transportSecurity
  if (settings.trace) fields['diglot-trace'] ??= `1-${row}; status=${status}`
  return fields
}
