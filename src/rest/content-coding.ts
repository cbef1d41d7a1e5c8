/**
 * Content codings of responses (rule A4.18): each representation is compressed once and kept under
 * its tag.
 */
import { chain, type Maybe } from '../base/maybe.ts'
import { joinOctets } from '../base/octets.ts'
import type { RestOptions } from './compiled-face.ts'
import type { Exchange } from './exchange.ts'
import { restLimits } from './limits.ts'
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
): Maybe<Uint8Array> {
  const { memory } = exchange.face
  const key = etag && `${exchange.entry.path}?${exchange.entry.query} ${etag}`
  const remembered = key === undefined ? undefined : memory.findCoded(key)
  if (remembered) return remembered
  const octets = typeof content === 'string' ? new TextEncoder().encode(content) : content
  return chain(compressOctets(exchange.face.options, coding, octets), coded => {
    if (key !== undefined) memory.keepCoded(key, coded)
    return coded
  })
}

/** Long content passes through a stream, which works outside the event loop. */
function compressOctets({ codings, streams }: RestOptions, coding: string, octets: Uint8Array): Maybe<Uint8Array> {
  const stream = octets.length > restLimits.codedAtOnceOctets ? streams?.encode[coding] : undefined
  if (!stream) return codings?.[coding]?.(octets) ?? octets
  return Array.fromAsync(stream(splitOctets(octets))).then(joinOctets)
}

async function* splitOctets(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  const { codedAtOnceOctets: size } = restLimits
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size)
}
