/**
 * The octets of files. A small file is one value, here and in the store; a larger one consists of
 * pieces, stored as they arrive and read as they are sent, so that a file of any size takes the
 * memory of a few pieces. What always holds:
 *  (1) Pieces never change, and their name is used for only one content: a reader of a file that is
 *      being replaced gets the rest of the old one, or an incomplete response.
 *  (2) Pieces belong to no file until the call's own transaction claims them; if the call ends
 *      before that, they are discarded.
 *  (3) No more than the limit is received, and the sender is held back while the store writes.
 */

import { createHash, hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import { consumePieces, joinOctets, releaseBuffer } from '../base/octets.ts'
import type { FileOctets, Store, StoredOctets } from './store.ts'

/**
 * Octets of every piece but the last, and the maximum for a file that is one value: four reads of a
 * socket, sixty-four pages of SQLite.
 */
export const pieceOctets = 256 * 1024
/** How many octets of a file a handler sees: no format needs more to be recognized. */
const startOctetsMax = 32
/** This gives one disk flush per megabyte. */
const piecesPerTransaction = 4

/** Octets that were received with a call. */
export interface ReceivedFile extends FileOctets {
  /** The first octets, 32 at most. */
  readonly start: Uint8Array
  /** SHA-256, in hexadecimal. */
  digest(): string
}

export const inMemoryFile = (octets: Uint8Array): ReceivedFile => ({
  length: octets.length,
  inMemory: octets,
  name: undefined,
  start: octets.subarray(0, startOctetsMax),
  digest: () => hash('sha256', octets, 'hex'),
})

/** Stored octets that are a single value. */
export const asStored = (octets: Uint8Array): StoredOctets => ({
  length: octets.length,
  inMemory: octets,
  name: undefined,
  async *read(from, to) {
    yield octets.subarray(from, to)
  },
})

/** The pieces of a file were removed during a read: it was replaced or removed long ago (1). */
export class RemovedFileError extends Error {
  override readonly name = 'Swept'
  constructor() {
    super('the file was replaced or removed while it was read, and its pieces are gone')
  }
}

/**
 * Octets that the store has in pieces; `next` gives one or more octets from `from`, before `to`.
 */
export const splitIntoPieces = (
  name: string,
  length: number,
  next: (from: number, to: number) => Maybe<Uint8Array | undefined>,
): StoredOctets => ({
  length,
  inMemory: undefined,
  name,
  async *read(from, to) {
    for (let at = from; at < to; ) {
      const part = await next(at, to)
      if (!part || part.length === 0) throw new RemovedFileError()
      at += part.length
      if (yield part) releaseBuffer(part)
    }
  },
})

/** All octets as one value, for a reader that cannot stream. */
export async function collectOctets(octets: StoredOctets): Promise<Uint8Array> {
  if (octets.inMemory) return octets.inMemory
  const all = new Uint8Array(octets.length)
  let at = 0
  for await (const part of octets.read(0, octets.length)) {
    all.set(part, at)
    at += part.length
  }
  return all
}

export interface StagingContext {
  readonly store: Store
  readonly clock: () => number
  readonly id: (prefix: string) => string
}

/**
 * Stores content as it arrives; undefined beyond `limit` octets; throws what the content throws.
 */
export async function stageContent(
  staging: StagingContext,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<ReceivedFile | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  let buffer: StagingBuffer | undefined
  try {
    // The buffer copies, so the received octets may be released.
    for await (const piece of consumePieces(content, () => buffer !== undefined)) {
      length += piece.length
      if (length > limit) break
      pieces.push(piece)
      if (!buffer && length > pieceOctets) buffer = new StagingBuffer(staging)
      if (buffer) for (const each of pieces.splice(0)) await buffer.add(each)
    }
    if (length <= limit) return buffer ? await buffer.done(length) : inMemoryFile(joinOctets(pieces))
  } catch (thrown) {
    await discardStaged(staging.store, buffer?.name)
    throw thrown
  }
  await discardStaged(staging.store, buffer?.name)
  return undefined
}

/** (2) Discards at once if the store can be reached; otherwise a sweep removes old pieces. */
export async function discardStaged(store: Store, name: string | undefined): Promise<void> {
  if (name !== undefined) await store.write(writer => writer.discard(name)).catch(() => {})
}

/**
 * Cuts octets into pieces, which reuse one block of memory: a store copies before it acknowledges.
 */
class StagingBuffer {
  readonly name: string
  readonly #keeping: StagingContext
  readonly #block = new Uint8Array(piecesPerTransaction * pieceOctets)
  readonly #hash = createHash('sha256')
  #start = new Uint8Array()
  #filled = 0
  /** The number of pieces in the store. */
  #kept = 0

  constructor(staging: StagingContext) {
    this.#keeping = staging
    this.name = staging.id('file')
  }

  async add(octets: Uint8Array): Promise<void> {
    this.#hash.update(octets)
    if (this.#start.length < startOctetsMax) this.#start = joinOctets([this.#start, octets]).slice(0, startOctetsMax)
    for (let at = 0; at < octets.length; ) {
      const part = octets.subarray(at, at + this.#block.length - this.#filled)
      this.#block.set(part, this.#filled)
      this.#filled += part.length
      at += part.length
      if (this.#filled === this.#block.length) await this.#flush()
    }
  }

  async #flush(): Promise<void> {
    const pieces: Uint8Array[] = []
    for (let at = 0; at < this.#filled; at += pieceOctets)
      pieces.push(this.#block.subarray(at, Math.min(at + pieceOctets, this.#filled)))
    const { store, clock } = this.#keeping
    await store.write(writer => writer.stage(this.name, this.#kept, pieces, clock()))
    this.#kept += pieces.length
    this.#filled = 0
  }

  async done(length: number): Promise<ReceivedFile> {
    if (this.#filled > 0) await this.#flush()
    const digest = this.#hash.digest('hex')
    return { length, inMemory: undefined, name: this.name, start: this.#start, digest: () => digest }
  }
}
