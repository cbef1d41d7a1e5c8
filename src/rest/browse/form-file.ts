/**
 * A file that a form sends (RFC 7578): the octets of the first part of multipart/form-data, as they
 * arrive. What follows that part is read and dropped. A part that does not end lacks something:
 * the request is refused.
 */

import { joinOctets } from '../../base/octets.ts'
import type { Content } from '../../http/message.ts'
import { refuseRequest } from '../refusal.ts'

/** Octets of the fields before the file. */
const partFieldsMax = 8 * 1024

export function readFormFile(content: Content, boundary: string): Content {
  const chunks = () => partOctets(content.chunks(), boundary)
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

const asciiOctets = (text: string): Uint8Array => new TextEncoder().encode(text)
const blankLine = asciiOctets('\r\n\r\n')

async function* partOctets(chunks: AsyncIterable<Uint8Array>, boundary: string): AsyncGenerator<Uint8Array> {
  const end = asciiOctets(`\r\n--${boundary}`)
  let kept: Uint8Array = new Uint8Array(0)
  let state: 'fields' | 'file' | 'rest' = 'fields'
  for await (const chunk of chunks) {
    if (state === 'rest') continue
    kept = joinOctets([kept, chunk])
    if (state === 'fields') {
      const at = findOctets(kept, blankLine)
      if (at < 0 && kept.length > partFieldsMax)
        refuseBrokenForm(`the fields before its file exceed ${partFieldsMax} octets`)
      if (at < 0) continue
      kept = kept.slice(at + blankLine.length)
      state = 'file'
    }
    const at = findOctets(kept, end)
    if (at >= 0) state = 'rest'
    // The boundary may be cut between two pieces.
    const sure = at >= 0 ? at : Math.max(0, kept.length - end.length + 1)
    if (sure > 0) yield kept.slice(0, sure)
    kept = kept.slice(sure)
  }
  if (state !== 'rest') refuseBrokenForm(`its file does not end with --${boundary}: send all of it`)
}
const refuseBrokenForm = (flaw: string): never =>
  refuseRequest({ kind: 'malformed', detail: `the form is not valid: ${flaw}` })

function findOctets(octets: Uint8Array, sought: Uint8Array): number {
  const [first = 0] = sought
  for (let at = octets.indexOf(first); at >= 0; at = octets.indexOf(first, at + 1)) {
    let same = 1
    while (same < sought.length && octets[at + same] === sought[same]) same++
    if (same === sought.length) return at
  }
  return -1
}
