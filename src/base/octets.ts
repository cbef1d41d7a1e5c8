/**
 * Octets that pass in pieces. The protocol of memory: a reader requests the next piece by
 * `next(true)` once it is done with the previous one, whose memory the source then frees at once;
 * by `next()` or `next(false)` while it still uses that piece. V8 ignores memory outside its heap
 * until tens of megabytes have accumulated.
 */
import { encodeBase64 } from './base64.ts'

/** The length of a text in UTF-8. */
export const countUtf8 = (text: string): number =>
  /[^\0-\x7f]/.test(text) ? new TextEncoder().encode(text).length : text.length

export type Pieces = AsyncGenerator<Uint8Array, void, boolean | undefined>

/**
 * Frees the memory of octets that have a buffer of their own; a slice of a larger buffer is left
 * alone.
 */
export function releaseBuffer({ byteLength, buffer }: Uint8Array): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/**
 * Passes pieces on after `look` has seen them. The reader's `next(true)`, which means that it is
 * done with a piece, reaches the source.
 */
export const watchPieces = (source: AsyncIterable<Uint8Array>, look: (piece: Uint8Array) => void): Pieces =>
  pump(source, look, isRead => isRead)

/**
 * For a loop that is done with each piece when it requests the next one, or only when `isDone`
 * returns true.
 */
export const consumePieces = (source: AsyncIterable<Uint8Array>, isDone = () => true): Pieces =>
  pump(source, () => {}, isDone)

async function* pump(
  source: AsyncIterable<Uint8Array>,
  look: (piece: Uint8Array) => void,
  isDone: (isRead: boolean | undefined) => boolean | undefined,
): Pieces {
  const pieces = source[Symbol.asyncIterator]()
  try {
    for (let next = await pieces.next(); !next.done; ) {
      look(next.value)
      const isRead = yield next.value
      next = await pieces.next(isDone(isRead))
    }
  } finally {
    await pieces.return?.()
  }
}

/**
 * Octets of which the first ones have arrived; throws any error that their source has until then.
 */
export async function beginReading(pieces: Pieces): Promise<Pieces> {
  const first = await pieces.next()
  async function* all(): Pieces {
    try {
      for (let next = first; !next.done; ) next = await pieces.next(yield next.value)
    } finally {
      await pieces.return()
    }
  }
  return all()
}

/**
 * Undoes a content coding: undefined for invalid octets, `too-large` for those that decode to more
 * than `limit` octets, which has a status of its own (RFC 9110 §15.5.14).
 */
export type OctetDecoder = (octets: Uint8Array, limit: number) => Uint8Array | 'too-large' | undefined

export function joinOctets(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first && parts.length === 1) return first
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}

/** After the first pieces, small ones are copied: one octet as a piece takes some 200 of memory. */
const firstPieces = 64
const smallPieceOctets = 2048
const blockOctets = 64 * 1024

/** Octets that are kept as they arrive; their memory is of their size, however small the pieces. */
export class GatheredOctets {
  length = 0
  readonly #parts: Uint8Array[] = []
  /** Where small pieces go until it is full. */
  #block: Uint8Array | undefined
  #used = 0

  add(piece: Uint8Array): void {
    this.length += piece.length
    if (piece.length >= smallPieceOctets || this.#parts.length < firstPieces) {
      this.#endBlock()
      this.#parts.push(piece)
      return
    }
    if (this.#block && this.#used + piece.length > this.#block.length) this.#endBlock()
    this.#block ??= new Uint8Array(blockOctets)
    this.#block.set(piece, this.#used)
    this.#used += piece.length
  }

  join(): Uint8Array {
    this.#endBlock()
    return joinOctets(this.#parts)
  }

  #endBlock(): void {
    if (this.#block) this.#parts.push(this.#block.slice(0, this.#used))
    this.#block = undefined
    this.#used = 0
  }
}

/** Octets of a stream; undefined if there are more than `max`, and the stream is then cancelled. */
export async function takeBounded(pieces: AsyncIterable<Uint8Array>, max: number): Promise<Uint8Array | undefined> {
  const found = new GatheredOctets()
  for await (const piece of pieces) {
    if (found.length + piece.length > max) return undefined
    found.add(piece)
  }
  return found.join()
}

/** The octets that are encoded in one write. */
const chunkCharacters = 48 * 1024

/**
 * Base64 of octets as they pass (RFC 4648 §4): three octets are four characters, across the borders
 * of pieces. Each piece is freed.
 */
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
