/**
 * Packages: multipart/related (RFC 2387) with XOP (MTOM, XOP 1.0) or with attachments (SOAP Messages with Attachments).
 * Guards: (1) a package is read once, in time and memory in proportion to what it may hold, whatever its pieces are; (2) a
 * message refers to parts of its own package alone, by `cid:`, to each at most once; (3) names and paths that parts bring
 * along mean nothing here; (4) what has no end that its boundary says is refused; (5) what stands behind the Envelope is read
 * once somebody is known to be allowed to send it.
 */

import { free } from '../service/octets.ts'
import { Coming, type Parts } from './body.ts'
import { no } from './refusal.ts'

export interface Part {
  /** By lower-case name. No prototype. */
  readonly fields: Readonly<Record<string, string>>
  /** The octets, as they arrive; what is not taken is passed over. */
  readonly content: AsyncGenerator<Uint8Array, void, boolean | undefined>
}

export interface PackageLimits {
  readonly parts: number
  /** Fields of one part, and octets of all of them. */
  readonly fields: number
  readonly fieldOctets: number
}
export const packageLimits: PackageLimits = {
  parts: 64, // a message refers to few (attack: 10,000)
  fields: 32, // four are usual (attack: 10,000)
  fieldOctets: 8 * 1024,
}

/** RFC 2046 §5.1.1 boundary. */
const boundaryForm = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/
const refuse = (detail: string): never => no({ kind: 'package', detail })

/** The parts of a multipart body, one after the other: the next is found once the one before has been read or left. */
export async function* parts(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: PackageLimits = packageLimits,
): AsyncGenerator<Part, void, undefined> {
  if (!boundaryForm.test(boundary)) refuse('the boundary is none')
  const window = new Window(chunks, Buffer.from(`\r\n--${boundary}`, 'latin1'))
  for await (const _preamble of window.content());
  for (let count = 0; !(await window.closed()); count++) {
    if (count >= limits.parts) refuse(`more than ${limits.parts} parts`)
    const fields = await window.fields(limits)
    yield { fields, content: window.content() }
    for await (const _left of window.content());
  }
  await window.end()
}

/** What has arrived and is not read yet. The first line is read as if it followed another, so every delimiter begins alike. */
class Window {
  private readonly source: AsyncIterator<Uint8Array, unknown, boolean | undefined>
  private readonly delimiter: Buffer
  private buffer: Buffer = Buffer.from('\r\n')
  /** Whether what comes next is content, up to a delimiter. */
  private inside = true

  constructor(chunks: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.source = chunks[Symbol.asyncIterator]()
    this.delimiter = delimiter
  }

  /** Takes the next piece in, as a copy: the one before is done with. False at the end. */
  private async more(): Promise<boolean> {
    const next = await this.source.next(true)
    if (next.done) return false
    this.buffer = Buffer.concat([this.buffer, next.value])
    return true
  }

  /** All up to the next delimiter, which is read too. Nothing when it has been read. */
  async *content(): AsyncGenerator<Uint8Array, void, boolean | undefined> {
    while (this.inside) {
      const at = this.buffer.indexOf(this.delimiter)
      const safe = at >= 0 ? at : this.buffer.length - this.delimiter.length + 1
      if (at >= 0) this.inside = false
      const all = this.buffer
      if (at >= 0) this.buffer = all.subarray(at + this.delimiter.length)
      else if (safe > 0) this.buffer = Buffer.from(all.subarray(safe)) // a copy, so that the rest can go
      if (safe > 0 && (yield all.subarray(0, safe)) && at < 0) free(all)
      if (at < 0 && !(await this.more())) refuse('the package ends before its last boundary')
    }
  }

  /** After a delimiter: whether it was the last. Otherwise its line is read to the end. */
  async closed(): Promise<boolean> {
    const line = await this.upTo('\r\n', 128)
    if (line.startsWith('--')) {
      this.buffer = Buffer.concat([Buffer.from(`${line.slice(2)}\r\n`, 'latin1'), this.buffer])
      return true
    }
    if (/[^ \t]/.test(line)) refuse('a line begins like the boundary and is none')
    return false
  }

  /** Text up to an ending, which is read too. After a close delimiter the end of the input is one as well. */
  private async upTo(ending: string, limit: number): Promise<string> {
    for (;;) {
      const at = this.buffer.indexOf(ending)
      if (at >= 0 && at <= limit) {
        const text = this.buffer.toString('latin1', 0, at)
        this.buffer = this.buffer.subarray(at + ending.length)
        return text
      }
      if (this.buffer.length > limit + ending.length) refuse('the fields of a part are too long')
      if (!(await this.more())) {
        if (this.buffer.toString('latin1', 0, 2) !== '--') refuse('the package ends before its last boundary')
        const text = this.buffer.toString('latin1')
        this.buffer = Buffer.alloc(0)
        return text
      }
    }
  }

  /** MIME fields of a part (RFC 2045 §3), folded lines unfolded. */
  async fields(limits: PackageLimits): Promise<Readonly<Record<string, string>>> {
    this.inside = true
    const fields: Record<string, string> = Object.create(null)
    const lines: string[] = []
    for (let left = limits.fieldOctets; ; ) {
      const line = await this.upTo('\r\n', left)
      if (line === '') break
      left -= line.length
      if (/^[ \t]/.test(line) && lines.length > 0) lines.push(`${lines.pop()} ${line.trim()}`)
      else lines.push(line)
      if (lines.length > limits.fields) refuse(`a part has more than ${limits.fields} fields`)
    }
    for (const line of lines) {
      const [, field, value] = /^([!#-'*+\-.0-9A-Z^-z|~]+)[ \t]*:(.*)$/s.exec(line) ?? []
      if (field === undefined || value === undefined) return refuse('a part has a malformed field')
      if (fields[field.toLowerCase()] !== undefined) refuse(`a part has two ${field} fields`)
      fields[field.toLowerCase()] = value.trim()
    }
    return fields
  }

  /** After the close delimiter nothing but white space follows. */
  async end(): Promise<void> {
    do {
      if (/[^ \t\r\n]/.test(this.buffer.toString('latin1'))) refuse('something follows the last boundary')
      this.buffer = Buffer.alloc(0)
    } while (await this.more())
  }
}

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
 * Reads a package up to the end of its root. `start` names the root by Content-ID (RFC 2387 §3.2); without it the first part is
 * the root. Parts before it are kept in memory. Undefined when it exceeds a size.
 */
export async function openPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  sizes: Sizes,
): Promise<{ readonly root: Root; readonly rest: Rest } | undefined> {
  const rest = new Rest(parts(chunks, boundary), start && idOf(start), sizes)
  const root = await rest.root()
  return root && { root, rest }
}

/** All parts of a package but its root: those that have come, and those that are still on their way. */
export class Rest implements Parts {
  readonly #coming: AsyncGenerator<Part, void, undefined>
  readonly #wanted: string | undefined
  readonly #sizes: Sizes
  readonly #found = new Map<string, Uint8Array>()
  readonly #ids = new Set<string>()
  readonly #taken = new Set<string>()
  #left: number
  #rooted = false
  #complete = false

  constructor(coming: AsyncGenerator<Part, void, undefined>, wanted: string | undefined, sizes: Sizes) {
    this.#coming = coming
    this.#wanted = wanted
    this.#sizes = sizes
    this.#left = sizes.rest
  }

  /** The first, or the one that is named. Undefined when it, or what stands before it, is more than may be. */
  async root(): Promise<Root | undefined> {
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.isRoot) {
        const bytes = await collected(part, this.#sizes.root)
        return bytes && { type: part.fields['content-type'] ?? '', bytes }
      }
      if (!(await this.#keep(part))) return undefined
    }
    return refuse('the package has no root')
  }

  /** The next one. The root comes once, and so does each Content-ID. */
  async #next(): Promise<(Part & { readonly id: string; readonly isRoot: boolean }) | undefined> {
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

  async #keep(part: Part & { readonly id: string }): Promise<boolean> {
    const bytes = await collected(part, this.#left)
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
    return no({ kind: 'too-long', limit: this.#sizes.root + this.#sizes.rest })
  }

  /**
   * The octets of one that had not come, as they come; the others are passed over. It ends when the package has, so that nothing
   * is taken for whole that is not.
   */
  async *octets({ id }: Coming): AsyncGenerator<Uint8Array, void, boolean | undefined> {
    let found = false
    for (let part = await this.#next(); part; part = await this.#next()) {
      if (part.id !== id) {
        for await (const piece of part.content) this.#count(piece.length)
        continue
      }
      found = true
      const content = decoded(part)
      let done: boolean | undefined
      for (let next = await content.next(); !next.done; next = await content.next(done)) {
        this.#count(next.value.length)
        done = yield next.value
      }
    }
    if (!found) missing()
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
    return this.#found.get(cid(href) ?? '')
  }
  take(href: string): Uint8Array | Coming {
    const id = takenOnce(href, this.#taken)
    return this.#found.get(id) ?? (this.#complete ? missing() : new Coming(id))
  }
}

const missing = (): never => refuse('a part that is referred to is missing')
const urisOf = (of: ReadonlyMap<string, unknown>): readonly string[] =>
  [...of.keys()].map(id => `cid:${encodeURIComponent(id)}`)

/** XOP §2.1 has one Include for each part. */
function takenOnce(href: string, taken: Set<string>): string {
  const id = cid(href) ?? refuse('a message refers to parts of its own package alone, by cid:')
  if (taken.has(id)) refuse('a part is referred to twice')
  taken.add(id)
  return id
}

const idOf = (field: string): string => field.trim().replace(/^<(.*)>$/s, '$1')

/** The octets of a part, decoded; undefined when there are more than `limit`. */
async function collected(part: Part, limit: number): Promise<Uint8Array | undefined> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of decoded(part)) {
    length += piece.length
    if (length > limit) return undefined
    pieces.push(piece)
  }
  return Buffer.concat(pieces, length)
}

/** The octets of a part as they come, its transfer encoding undone. */
function decoded({ fields, content }: Part): AsyncGenerator<Uint8Array, void, boolean | undefined> {
  const coding = (fields['content-transfer-encoding'] ?? 'binary').toLowerCase()
  if (!['binary', '8bit', '7bit', 'base64'].includes(coding)) refuse(`the transfer encoding ${coding} is not read here`)
  return coding === 'base64' ? unfolded(content) : content
}

/** Quads of characters as they come (RFC 2045 §6.8); what is padded is the last. */
async function* unfolded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
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
export function partsOf(of: Package['parts']): Parts {
  const taken = new Set<string>()
  return { take: href => of.get(takenOnce(href, taken)) ?? missing() }
}

/** RFC 2392: the Content-ID that a cid: URI means. */
function cid(href: string): string | undefined {
  const [, id] = /^cid:([^\s]+)$/i.exec(href) ?? []
  if (id === undefined) return undefined
  try {
    return decodeURIComponent(id)
  } catch {
    return undefined
  }
}

/** Octets to send outside the XML. */
export interface Attached {
  readonly id: string
  readonly mediaType: string
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
}

/** MTOM §3: the package of an envelope and what it refers to. `boundary` is unguessable, so that nothing in it can be it. */
export function writePackage(
  mediaType: string,
  envelope: string | AsyncIterable<Uint8Array>,
  attached: readonly Attached[],
  boundary: string,
): { readonly type: string; readonly content: AsyncIterable<Uint8Array> } {
  const type = `multipart/related; type="application/xop+xml"; start="<root@diglot>"; start-info="${mediaType}"; boundary="${boundary}"`
  const head = (of: string, id: string) =>
    `--${boundary}\r\nContent-Type: ${of}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`
  async function* content() {
    const around = head(`application/xop+xml; charset=utf-8; type="${mediaType}"`, 'root@diglot')
    if (typeof envelope === 'string') yield Buffer.from(`${around}${envelope}\r\n`)
    else {
      yield Buffer.from(around)
      yield* envelope
      yield Buffer.from('\r\n')
    }
    for (const { id, mediaType, bytes } of attached) {
      yield Buffer.from(head(mediaType, id))
      if (bytes instanceof Uint8Array) yield bytes
      else yield* bytes
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(`--${boundary}--\r\n`)
  }
  return { type, content: content() }
}
