/**
 * Content codings of responses (rule A4.18): each representation is compressed once and remembered
 * by its tag.
 */
import type { Exchange } from './exchange.ts'
import { refuseRequest } from './refusal.ts'

/** The octets are not valid in their declared content coding. */
export class Undecodable extends Error {
  override readonly name = 'Undecodable'
}

export const refuseUndecodable = ({ head }: Exchange): never =>
  refuseRequest({ kind: 'malformed', detail: `the content is not valid ${head.contentCoding}` })

export function encodeContent(
  exchange: Exchange,
  coding: string,
  content: string | Uint8Array,
  etag: string | undefined,
): Uint8Array {
  const { memory, options } = exchange.face
  const key = etag && `${exchange.entry.path}?${exchange.entry.query} ${etag}`
  const known = key === undefined ? undefined : memory.findCoded(key)
  if (known) return known
  const octets = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const coded = options.codings?.[coding]?.(octets) ?? octets
  if (key !== undefined) memory.keepCoded(key, coded)
  return coded
}
