/** The address of a request, as a statement of its sender must name it (RFC 9449 §4.3). */
import type { Request } from '../http/message.ts'
import { normalizePath, parseTarget } from '../http/uri.ts'
import type { Settings } from '../service/face-context.ts'

/**
 * Whether this is the address that a request was sent to: the public one, or that of its target and
 * Host. Query and fragment do not count, and all spellings of one address are equal (RFC 3986
 * §6.2.2, §6.2.3).
 */
export function isAddressOf(
  { method, target, scheme, fields }: Request,
  { publicUrl, prefix = '' }: Pick<Settings, 'publicUrl' | 'prefix'>,
  address: string,
): boolean {
  const parsed = parseTarget(method, target)
  if (parsed?.form !== 'origin' && parsed?.form !== 'absolute') return false
  const [, authority = fields['host'] ?? ''] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? []
  const named = normalizeAddress(address)
  const requested = normalizeAddress(`${scheme}://${authority}${prefix}${parsed.path}`)
  if (named === undefined || named === requested) return named !== undefined
  return publicUrl !== undefined && named === normalizeAddress(`${publicUrl.replace(/\/+$/, '')}${parsed.path}`)
}

/** Without query and fragment; undefined if it is no address of HTTP. */
function normalizeAddress(text: string): string | undefined {
  const url = URL.parse(text)
  const path = url && /^https?:$/.test(url.protocol) ? normalizePath(url.pathname) : undefined
  return path === undefined ? undefined : `${url?.origin}${path}`
}
