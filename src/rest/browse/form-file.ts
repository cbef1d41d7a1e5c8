/**
 * A file that a form sends (RFC 7578): the octets of the first part of multipart/form-data, as they
 * arrive. Later parts are read and dropped. If a part does not end, octets are missing, and the
 * request is refused.
 */

import { type PartLimits, readMultipart } from '../../base/multipart-reader.ts'
import { joinOctets } from '../../base/octets.ts'
import type { Content } from '../../http/message.ts'
import { refuseRequest } from '../refusal.ts'

const formLimits: PartLimits = { parts: 64, fields: 32, fieldOctets: 8 * 1024 }

export function readFormFile(content: Content, boundary: string): Content {
  const chunks = () => readFirstPart(content.chunks(), boundary)
  return { length: undefined, chunks, bytes: limit => collectFileOctets(chunks(), limit) }
}

async function collectFileOctets(octets: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of octets) {
    length += piece.length
    if (length > limit) return undefined
    pieces.push(piece.slice())
  }
  return joinOctets(pieces)
}

async function* readFirstPart(chunks: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Uint8Array> {
  const parts = readMultipart(chunks, boundary, formLimits, refuseBrokenForm)
  const { value: first } = await parts.next()
  if (!first) return refuseBrokenForm('it has no part')
  yield* first.content
  for await (const _other of parts);
}

const refuseBrokenForm = (flaw: string): never =>
  refuseRequest({ kind: 'malformed', detail: `the form is not valid: ${flaw}` })
