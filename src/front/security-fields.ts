/** Fields that guard whoever reads an answer, on every answer whatever gave it. */
import type { Request, Response } from '../http/message.ts'

/** Goes with every page (2). */
export const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
/** With `no-referrer` a form of our own would be sent with `Origin: null` (Fetch §3.1), like one of a foreign page. */
export const pageFields = {
  'content-security-policy': contentSecurityPolicy,
  'referrer-policy': 'same-origin',
} as const

/** RFC 6797: a year, for this host alone; whoever owns the domain speaks for the others. */
const transport = 'max-age=31536000'

export function addSecurityFields({ scheme }: Request, response: Response): Response {
  const { fields } = response
  const page = fields['content-security-policy'] === undefined && String(fields['content-type']).startsWith('text/html')
  const typed = fields['x-content-type-options'] !== undefined
  if (typed && !page && scheme !== 'https') return response
  return {
    ...response,
    fields: {
      ...fields,
      'x-content-type-options': 'nosniff',
      ...(page && pageFields),
      ...(scheme === 'https' && { 'strict-transport-security': transport }),
    },
  }
}
