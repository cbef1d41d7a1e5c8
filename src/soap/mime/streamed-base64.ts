/**
 * Octets that stand in an envelope as base64, and are many: they are read as the envelope is sent.
 * It is written with a mark in their place, which is unguessable, so that nothing else in it can be
 * one.
 */
import type { StoredOctets } from '../../service/store.ts'

export interface Base64Insert {
  /** Base64, once in the envelope. */
  readonly mark: string
  readonly octets: StoredOctets
}

/** The envelope with its octets in it. */
export async function* streamEnvelope(
  envelope: string,
  { mark, octets }: Base64Insert,
): AsyncGenerator<Uint8Array, void, unknown> {
  const at = envelope.indexOf(mark)
  yield Buffer.from(envelope.slice(0, at))
  yield* encodeBase64(octets)
  yield Buffer.from(envelope.slice(at + mark.length))
}

/** Characters that are written at once. */
const window = 48 * 1024

/** Three octets are four characters, wherever a piece ends. */
async function* encodeBase64(octets: StoredOctets): AsyncGenerator<Uint8Array, void, unknown> {
  let rest = new Uint8Array(0)
  const reading = octets.read(0, octets.length)
  for (let next = await reading.next(); !next.done; next = await reading.next(true)) {
    const piece = Buffer.concat([rest, next.value])
    const whole = piece.length - (piece.length % 3)
    for (let at = 0; at < whole; at += window)
      yield Buffer.from(piece.toString('base64', at, Math.min(at + window, whole)))
    rest = new Uint8Array(piece.subarray(whole))
  }
  if (rest.length > 0) yield Buffer.from(rest.toBase64())
}
