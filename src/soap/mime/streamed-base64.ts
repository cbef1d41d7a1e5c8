/**
 * Large octets in an envelope as base64: they are read while the envelope is sent. It is written
 * with a mark in their place, which is unguessable, so that no other text in it can equal the mark.
 */

import { encodeBase64 } from '../../base/base64.ts'
import { consumePieces } from '../../base/octets.ts'
import type { StoredOctets } from '../../service/store.ts'

export interface Base64Insert {
  /** A text of base64 that is in the envelope once. */
  readonly mark: string
  readonly octets: StoredOctets
}

/** The envelope with the octets in place of the mark. */
export async function* streamEnvelope(
  envelope: string,
  { mark, octets }: Base64Insert,
): AsyncGenerator<Uint8Array, void, unknown> {
  const at = envelope.indexOf(mark)
  yield Buffer.from(envelope.slice(0, at))
  yield* streamBase64(octets)
  yield Buffer.from(envelope.slice(at + mark.length))
}

/** Base64 of one write. */
const chunkCharacters = 48 * 1024

/** Three octets are four characters, across the borders of pieces. */
async function* streamBase64(octets: StoredOctets): AsyncGenerator<Uint8Array, void, unknown> {
  let rest = new Uint8Array(0)
  for await (const part of consumePieces(octets.read(0, octets.length))) {
    const piece = Buffer.concat([rest, part])
    const whole = piece.length - (piece.length % 3)
    for (let at = 0; at < whole; at += chunkCharacters)
      yield Buffer.from(encodeBase64(piece.subarray(at, Math.min(at + chunkCharacters, whole))))
    rest = new Uint8Array(piece.subarray(whole))
  }
  if (rest.length > 0) yield Buffer.from(encodeBase64(rest))
}
