/**
 * The octets of files. Few are one value, here and in the store; more are pieces, kept as they
 * arrive and read as they are sent, so that a file of any size takes the memory of a few of them.
 * What always holds:
 *  (1) Pieces are never changed, and their name is used for one content alone: who reads on while
 *      the file is replaced gets what they began with, or is cut short.
 *  (2) Pieces are nobody's until the call's own transaction makes them a file; whatever ends the
 *      call before, they go.
 *  (3) No more is taken in than the limit, and the sender is held back while the store writes.
 */
import { createHash, hash } from 'node:crypto'
import type { Maybe } from '../base/maybe.ts'
import type { FileOctets, Store, StoredOctets } from './store.ts'

/**
 * Octets of every piece but the last, and of a file that is kept as one value: four reads of a
 * socket, sixty-four pages of SQLite.
 */
export const pieceOctets = 256 * 1024
/** Pieces in one transaction: a flush of the disk for each megabyte. */
const atOnce = 4

/** Octets that came with a call. */
export interface ReceivedFile extends FileOctets {
  /** SHA-256, in hexadecimal. */
  digest(): string
}

export const inMemoryFile = (octets: Uint8Array): ReceivedFile => ({
  length: octets.length,
  here: octets,
  name: undefined,
  digest: () => hash('sha256', octets, 'hex'),
})

/** Octets that are one value. */
export const asStored = (octets: Uint8Array): StoredOctets => ({
  length: octets.length,
  here: octets,
  name: undefined,
  async *read(from, to) {
    yield octets.subarray(from, to)
  },
})

/** The pieces of a file went while it was read: it was replaced or removed long ago (1). */
export class Swept extends Error {
  override readonly name = 'Swept'
  constructor() {
    super('the file was replaced or removed while it was read, and its pieces are gone')
  }
}

/**
 * Octets that the store has in pieces; `next` finds some of those from one place up to another, as
 * many as it likes.
 */
export const splitIntoPieces = (
  name: string,
  length: number,
  next: (from: number, to: number) => Maybe<Uint8Array | undefined>,
): StoredOctets => ({
  length,
  here: undefined,
  name,
  async *read(from, to) {
    for (let at = from; at < to; ) {
      const part = await next(at, to)
      if (!part || part.length === 0) throw new Swept()
      at += part.length
      if (yield part) free(part)
    }
  },
})

/**
 * Memory that nobody else has a part of, at once: what is beside the heap brings no collection
 * about before there are tens of megabytes of it. A slice of something larger is left alone.
 */
export function free({ byteLength, buffer }: Uint8Array): void {
  if (byteLength > 0 && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** All of them as one value: for who can't take them piece by piece. */
export async function collectOctets(octets: StoredOctets): Promise<Uint8Array> {
  if (octets.here) return octets.here
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
 * Takes content in as it arrives. Undefined as soon as there is more than `limit`; throws what the
 * content throws.
 */
export async function stageContent(
  keeping: StagingContext,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<ReceivedFile | undefined> {
  const held: Uint8Array[] = []
  let length = 0
  let bench: StagingBuffer | undefined
  const arriving = content[Symbol.asyncIterator]()
  try {
    // Benched octets are copies: what they came in may go.
    for (let next = await arriving.next(); !next.done; next = await arriving.next(bench !== undefined)) {
      length += next.value.length
      if (length > limit) break
      held.push(next.value)
      if (!bench && length > pieceOctets) bench = new StagingBuffer(keeping)
      if (bench) for (const each of held.splice(0)) await bench.add(each)
    }
    if (length <= limit) return bench ? await bench.done(length) : inMemoryFile(joinOctets(held))
  } catch (thrown) {
    await discardStaged(keeping.store, bench?.name)
    throw thrown
  } finally {
    await arriving.return?.()
  }
  await discardStaged(keeping.store, bench?.name)
  return undefined
}

/** (2) Said at once where the store can hear it; else its age tells. */
export async function discardStaged(store: Store, name: string | undefined): Promise<void> {
  if (name !== undefined) await store.write(writer => writer.discard(name)).catch(() => {})
}

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

/**
 * Where octets are cut into pieces. One block of memory serves for all of them: a store has taken
 * what it has answered for.
 */
class StagingBuffer {
  readonly name: string
  readonly #keeping: StagingContext
  readonly #block = new Uint8Array(atOnce * pieceOctets)
  readonly #hash = createHash('sha256')
  #filled = 0
  /** Pieces that are in the store. */
  #kept = 0

  constructor(keeping: StagingContext) {
    this.#keeping = keeping
    this.name = keeping.id('file')
  }

  async add(octets: Uint8Array): Promise<void> {
    this.#hash.update(octets)
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
    return { length, here: undefined, name: this.name, digest: () => digest }
  }
}
