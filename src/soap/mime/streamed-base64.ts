/**
 * Large octets in an envelope as base64: they are read while the envelope is sent. It is written
 * with a mark in their place, which is unguessable, so that no other text in it can equal the mark.
 */

import { encodePieces, type Pieces } from '../../base/octets.ts'
import type { StoredOctets } from '../../service/store.ts'

export interface Base64Insert {
  /** A text of base64 that is in the envelope once. */
  readonly mark: string
  readonly octets: StoredOctets
}

/** The envelope with the octets in place of the mark. */
export async function* streamEnvelope(envelope: string, { mark, octets }: Base64Insert): Pieces {
  const at = envelope.indexOf(mark)
  yield Buffer.from(envelope.slice(0, at))
  yield* encodePieces(octets.read(0, octets.length))
  yield Buffer.from(envelope.slice(at + mark.length))
}
