import { type PartSource, StreamedPart } from '../codecs/values.ts'
import { refuseMessage } from '../refusal.ts'
import { type PackagePart, readParts, refuse } from './multipart.ts'

// A message and its parts

/** The part that holds the Envelope, and its media type as it came. */
export interface Root {
  readonly type: string
  readonly bytes: Uint8Array
}

/** A package that has arrived. */
export interface Package {
  readonly root: Root
  /** The other parts by their Content-ID. */
  readonly parts: ReadonlyMap<string, Uint8Array>
}

export interface Sizes {
  /** Octets of the Envelope. */
  readonly root: number
  /** Octets of all other parts together. */
  readonly rest: number
}

/** Reads all of a package. Undefined when it exceeds a size. */
export async function readPackage(...given: Parameters<typeof openPackage>): Promise<Package | undefined> {
  const opened = await openPackage(...given)
  const all = await opened?.rest.all()
  return opened && all && { root: opened.root, parts: all }
}

/**
 * Reads a package up to the end of its root. `start` names the root by Content-ID (RFC 2387 §3.2);
 * without it the first part is the root. Parts before it are kept in memory. Undefined when it
 * exceeds a size.
 */
export async function openPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  sizes: Sizes,
): Promise<{ readonly root: Root; readonly rest: RemainingParts } | undefined> {
  const rest = new RemainingParts(readParts(chunks, boundary), start && idOf(start), sizes)
  const root = await rest.root()
  return root && { root, rest }
}

/**
 * All parts of a package but its root: those that have come, and those that are still on their way.
 */
export class RemainingParts implements PartSource {
  readonly #coming: AsyncGenerator<PackagePart, void, undefined>
  readonly #wanted: string | undefined
  readonly #sizes: Sizes
  readonly #found = new Map<string, Uint8Array>()
  readonly #ids = new Set<string>()
  readonly #taken = new Set<string>()
  #left: number
  #rooted = false
  #complete = false

  constructor(coming: AsyncGenerator<PackagePart, void, undefined>, wanted: string | undefined, sizes: Sizes) {
    this.#coming = coming
    this.#wanted = wanted
    this.#sizes = sizes
    this.#left = sizes.rest
  }

  /**
   * The first, or the one that is named. Undefined when it, or what stands before it, is more than
   * may be.
   */
  async root(): Promise<Root | undefined> {
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.isRoot) {
        const bytes = await collectPart(part, this.#sizes.root)
        return bytes && { type: part.fields['content-type'] ?? '', bytes }
      }
      if (!(await this.#keep(part))) return undefined
    }
    return refuse('the package has no root')
  }

  /** The next one. The root comes once, and so does each Content-ID. */
  async #next(): Promise<(PackagePart & { readonly id: string; readonly isRoot: boolean }) | undefined> {
    const next = await this.#coming.next()
    if (next.done) {
      this.#complete = true
      return undefined
    }
    const id = idOf(next.value.fields['content-id'] ?? '')
    const isRoot = this.#wanted === undefined ? !this.#rooted : id === this.#wanted
    if (isRoot && this.#rooted) refuse('the root of the package is there twice')
    if (isRoot) this.#rooted = true
    else if (this.#ids.has(id)) refuse('two parts have the same Content-ID')
    else if (id !== '') this.#ids.add(id)
    return { ...next.value, id, isRoot }
  }

  async #keep(part: PackagePart & { readonly id: string }): Promise<boolean> {
    const bytes = await collectPart(part, this.#left)
    if (!bytes) return false
    this.#left -= bytes.length
    if (part.id !== '') this.#found.set(part.id, bytes)
    return true
  }

  /** All of them, in memory. Undefined when there are more octets than may be. */
  async all(): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    if (!this.#complete)
      for (let part = await this.#next(); part; part = await this.#next())
        if (!(await this.#keep(part))) return undefined
    return this.#found
  }

  /** The same, where more than may be ends the message. At once where all have come. */
  collect(): Promise<void> | undefined {
    return this.#complete ? undefined : this.all().then(found => (found ? undefined : this.#tooLong()))
  }

  #tooLong(): never {
    return refuseMessage({ kind: 'too-long', limit: this.#sizes.root + this.#sizes.rest })
  }

  /**
   * The octets of one that had not come, as they come; the others are passed over. It ends when the
   * package has, so that nothing is taken for whole that is not.
   */
  async *octets({ id }: StreamedPart): AsyncGenerator<Uint8Array, void, boolean | undefined> {
    let found = false
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.id !== id) {
        for await (const piece of part.content) this.#count(piece.length)
        continue
      }
      found = true
      const content = decodePart(part)
      let done: boolean | undefined
      for (let next = await content.next(); !next.done; next = await content.next(done)) {
        this.#count(next.value.length)
        done = yield next.value
      }
    }
    if (!found) refuseMissingPart()
  }

  #count(length: number): void {
    this.#left -= length
    if (this.#left < 0) this.#tooLong()
  }

  /** Reads on to the end, where nothing of what comes is wanted. */
  passed(): Promise<void> | undefined {
    return this.#complete ? undefined : this.#pass()
  }
  async #pass(): Promise<void> {
    for (let part = await this.#next(); part; part = await this.#next())
      for await (const piece of part.content) this.#count(piece.length)
  }

  get uris(): readonly string[] {
    return urisOf(this.#found)
  }
  look(href: string): Uint8Array | undefined {
    return this.#found.get(contentIdOf(href) ?? '')
  }
  take(href: string): Uint8Array | StreamedPart {
    const id = takenOnce(href, this.#taken)
    return this.#found.get(id) ?? (this.#complete ? refuseMissingPart() : new StreamedPart(id))
  }
}

const refuseMissingPart = (): never => refuse('a part that is referred to is missing')
const urisOf = (of: ReadonlyMap<string, unknown>): readonly string[] =>
  [...of.keys()].map(id => `cid:${encodeURIComponent(id)}`)

/** XOP §2.1 has one Include for each part. */
function takenOnce(href: string, taken: Set<string>): string {
  const id = contentIdOf(href) ?? refuse('a message refers to parts of its own package alone, by cid:')
  if (taken.has(id)) refuse('a part is referred to twice')
  taken.add(id)
  return id
}

const idOf = (field: string): string => field.trim().replace(/^<(.*)>$/s, '$1')

/** The octets of a part, decoded; undefined when there are more than `limit`. */
async function collectPart(part: PackagePart, limit: number): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of decodePart(part)) {
    length += piece.length
    if (length > limit) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

/** The octets of a part as they come, its transfer encoding undone. */
function decodePart({ fields, content }: PackagePart): AsyncGenerator<Uint8Array, void, boolean | undefined> {
  const coding = (fields['content-transfer-encoding'] ?? 'binary').toLowerCase()
  if (!['binary', '8bit', '7bit', 'base64'].includes(coding)) refuse(`the transfer encoding ${coding} is not read here`)
  return coding === 'base64' ? decodeBase64Part(content) : content
}

/** Quads of characters as they come (RFC 2045 §6.8); what is padded is the last. */
async function* decodeBase64Part(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let rest = ''
  let ended = false
  for await (const piece of content) {
    const text =
      rest +
      Buffer.from(piece.buffer, piece.byteOffset, piece.length)
        .toString('latin1')
        .replace(/[ \t\r\n]/g, '')
    const whole = text.length - (text.length % 4)
    if (ended && text !== '') noBase64()
    if (whole > 0) yield fromBase64(text.slice(0, whole))
    ended = text.slice(0, whole).endsWith('=')
    rest = text.slice(whole)
  }
  if (rest !== '') yield fromBase64(rest)
}
const noBase64 = (): never => refuse('a part is not the base64 that it says it is')

function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text)
  } catch {
    return noBase64()
  }
}

/** The parts that a message may refer to: each once. */
export function collectParts(of: Package['parts']): PartSource {
  const taken = new Set<string>()
  return { take: href => of.get(takenOnce(href, taken)) ?? refuseMissingPart() }
}

/** RFC 2392: the Content-ID that a cid: URI means. */
function contentIdOf(href: string): string | undefined {
  const [, id] = /^cid:([^\s]+)$/i.exec(href) ?? []
  if (id === undefined) return undefined
  try {
    return decodeURIComponent(id)
  } catch {
    return undefined
  }
}
