/** Octets as base64 (RFC 4648 §4) while they pass. */
import { encodeBase64 } from './base64.ts'
import { consumePieces, type Pieces, releaseBuffer } from './octets.ts'

/** Base64 of one write. */
const chunkCharacters = 48 * 1024

/** Three octets are four characters, across the borders of pieces. Each piece is freed. */
export async function* encodePieces(octets: AsyncIterable<Uint8Array>): Pieces {
  let rest = new Uint8Array(0)
  for await (const part of consumePieces(octets)) {
    const piece = Buffer.concat([rest, part])
    const whole = piece.length - (piece.length % 3)
    for (let at = 0; at < whole; at += chunkCharacters) {
      const text = Buffer.from(encodeBase64(piece.subarray(at, Math.min(at + chunkCharacters, whole))), 'latin1')
      if (yield text) releaseBuffer(text)
    }
    rest = new Uint8Array(piece.subarray(whole))
    releaseBuffer(piece)
  }
  if (rest.length > 0) yield Buffer.from(encodeBase64(rest), 'latin1')
}
