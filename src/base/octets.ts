/**
 * Octets that pass piece by piece. The protocol of memory: who reads asks for the next piece by `next(true)` once it is
 * done with the one before, whose memory the source then frees at once; by `next()` or `next(false)` while that piece is
 * still in use. V8 counts memory outside its heap, and lets tens of megabytes of it gather before it looks.
 */

export type Pieces = AsyncGenerator<Uint8Array, void, boolean | undefined>

/** Frees memory that nothing else has a part of; a slice of something larger is left alone. */
export function releaseBuffer({ byteLength, buffer }: Uint8Array): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Passes pieces on as they are, after `look` has seen them; what the reader says of each reaches the source. */
export const watchPieces = (source: AsyncIterable<Uint8Array>, look: (piece: Uint8Array) => void): Pieces =>
  pump(source, look, told => told)

/** For a loop that is done with each piece when it asks for the next, or where `isDone` says so. */
export const consumePieces = (source: AsyncIterable<Uint8Array>, isDone = () => true): Pieces =>
  pump(source, () => {}, isDone)

async function* pump(
  source: AsyncIterable<Uint8Array>,
  look: (piece: Uint8Array) => void,
  isDone: (told: boolean | undefined) => boolean | undefined,
): Pieces {
  const pieces = source[Symbol.asyncIterator]()
  try {
    for (let next = await pieces.next(); !next.done; ) {
      look(next.value)
      const told = yield next.value
      next = await pieces.next(isDone(told))
    }
  } finally {
    await pieces.return?.()
  }
}
