/** Content codings on the way out (rule A4.18): compressed once for each representation and remembered by its tag. */
import type { Exchange } from './exchange.ts'

/** Octets that are not of the coding they are said to be of. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
}

const remembered = new Map<string, Uint8Array>()
let octets = 0
/** Octets of compressed content that are remembered at most; when there are more, all are forgotten. */
const most = 16 * 1024 * 1024

export function encodeContent(
  x: Exchange,
  coding: string,
  content: string | Uint8Array,
  etag: string | undefined,
): Uint8Array {
  const key = etag && `${x.request.target} ${etag}`
  const known = key === undefined ? undefined : remembered.get(key)
  if (known) return known
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const made = x.site.options.codings?.[coding]?.(bytes) ?? bytes
  if (key !== undefined) remember(key, made)
  return made
}

function remember(key: string, made: Uint8Array): void {
  if (octets + made.length > most) {
    remembered.clear()
    octets = 0
  }
  if (made.length > most / 16) return
  octets += made.length
  remembered.set(key, made)
}
