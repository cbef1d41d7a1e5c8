/**
 * Packages: multipart/related (RFC 2387) with XOP (MTOM, XOP 1.0) or with attachments (SOAP Messages with Attachments).
 * Guards: (1) a package is read once, in time and memory in proportion to what it may hold, whatever its pieces are; (2) a
 * message refers to parts of its own package alone, by `cid:`, to each at most once; (3) names and paths that parts bring
 * along mean nothing here; (4) what has no end that its boundary says is refused.
 */

import type { Parts } from './body.ts'
import { no } from './refusal.ts'

export interface Part {
  /** By lower-case name. No prototype. */
  readonly fields: Readonly<Record<string, string>>
  /** The octets, as they arrive; what is not taken is passed over. */
  readonly content: AsyncIterable<Uint8Array>
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
  private readonly source: AsyncIterator<Uint8Array>
  private readonly delimiter: Buffer
  private buffer: Buffer = Buffer.from('\r\n')
  /** Whether what comes next is content, up to a delimiter. */
  private inside = true

  constructor(chunks: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.source = chunks[Symbol.asyncIterator]()
    this.delimiter = delimiter
  }

  /** Takes the next piece in; false at the end. */
  private async more(): Promise<boolean> {
    const { value, done } = await this.source.next()
    if (done) return false
    const piece = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    this.buffer = this.buffer.length === 0 ? piece : Buffer.concat([this.buffer, piece])
    return true
  }

  /** All up to the next delimiter, which is read too. Nothing when it has been read. */
  async *content(): AsyncGenerator<Uint8Array, void, undefined> {
    while (this.inside) {
      const at = this.buffer.indexOf(this.delimiter)
      const safe = at >= 0 ? at : this.buffer.length - this.delimiter.length + 1
      if (at >= 0) this.inside = false
      const piece = this.buffer.subarray(0, Math.max(safe, 0))
      if (safe > 0) this.buffer = this.buffer.subarray(safe)
      if (at >= 0) this.buffer = this.buffer.subarray(this.delimiter.length)
      if (piece.length > 0) yield piece
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

/** A package that has arrived. */
export interface Package {
  /** The part that holds the Envelope, and its media type as it came. */
  readonly root: { readonly type: string; readonly bytes: Uint8Array }
  /** The other parts by their Content-ID. */
  readonly parts: ReadonlyMap<string, Uint8Array>
}

export interface Sizes {
  /** Octets of the Envelope. */
  readonly root: number
  /** Octets of all other parts together. */
  readonly rest: number
}

/**
 * Reads all of a package. `start` names its root by Content-ID (RFC 2387 §3.2); without it the first part is the root.
 * Undefined when it exceeds a size.
 */
export async function readPackage(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  start: string | undefined,
  sizes: Sizes,
): Promise<Package | undefined> {
  const wanted = start && idOf(start)
  const found = new Map<string, Uint8Array>()
  let root: Package['root'] | undefined
  let left = sizes.rest
  let first = true
  for await (const part of parts(chunks, boundary)) {
    const id = idOf(part.fields['content-id'] ?? '')
    const isRoot = wanted === undefined ? first : id === wanted
    first = false
    const bytes = await collected(part, isRoot ? sizes.root : left)
    if (!bytes) return undefined
    if (isRoot) {
      if (root) refuse('the root of the package is there twice')
      root = { type: part.fields['content-type'] ?? '', bytes }
    } else {
      left -= bytes.length
      if (found.has(id)) refuse('two parts have the same Content-ID')
      if (id !== '') found.set(id, bytes)
    }
  }
  return root ? { root, parts: found } : refuse('the package has no root')
}

const idOf = (field: string): string => field.trim().replace(/^<(.*)>$/s, '$1')

/** The octets of a part, decoded; undefined when there are more than `limit`. */
async function collected({ fields, content }: Part, limit: number): Promise<Uint8Array | undefined> {
  const coding = (fields['content-transfer-encoding'] ?? 'binary').toLowerCase()
  if (!['binary', '8bit', '7bit', 'base64'].includes(coding)) refuse(`the transfer encoding ${coding} is not read here`)
  const most = coding === 'base64' ? Math.ceil((limit * 7) / 5) : limit
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of content) {
    length += piece.length
    if (length > most) return undefined
    pieces.push(piece)
  }
  const bytes = Buffer.concat(pieces, length)
  return coding === 'base64' ? unfolded(bytes) : bytes
}

function unfolded(bytes: Buffer): Uint8Array {
  try {
    return Uint8Array.fromBase64(bytes.toString('latin1'))
  } catch {
    return refuse('a part is not the base64 that it says it is')
  }
}

/** The parts that a message may refer to: each once (XOP §2.1 has one Include for each). */
export function partsOf(
  of: Package['parts'],
): Parts & { readonly uris: readonly string[]; readonly look: (href: string) => Uint8Array | undefined } {
  const taken = new Set<string>()
  return {
    uris: [...of.keys()].map(id => `cid:${encodeURIComponent(id)}`),
    look: href => of.get(cid(href) ?? ''),
    take: href => {
      const id = cid(href)
      if (id === undefined) return refuse('a message refers to parts of its own package alone, by cid:')
      const bytes = of.get(id)
      if (!bytes) return refuse('a part that is referred to is missing')
      if (taken.has(id)) refuse('a part is referred to twice')
      taken.add(id)
      return bytes
    },
  }
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
  readonly bytes: Uint8Array
}

/** MTOM §3: the package of an envelope and what it refers to. `boundary` is unguessable, so that nothing in it can be it. */
export function writePackage(
  mediaType: string,
  envelope: string,
  attached: readonly Attached[],
  boundary: string,
): { readonly type: string; readonly content: AsyncIterable<Uint8Array> } {
  const type = `multipart/related; type="application/xop+xml"; start="<root@diglot>"; start-info="${mediaType}"; boundary="${boundary}"`
  const head = (of: string, id: string) =>
    `--${boundary}\r\nContent-Type: ${of}\r\nContent-Transfer-Encoding: binary\r\nContent-ID: <${id}>\r\n\r\n`
  async function* content() {
    yield Buffer.from(
      `${head(`application/xop+xml; charset=utf-8; type="${mediaType}"`, 'root@diglot')}${envelope}\r\n`,
    )
    for (const { id, mediaType, bytes } of attached) {
      yield Buffer.from(head(mediaType, id))
      yield bytes
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(`--${boundary}--\r\n`)
  }
  return { type, content: content() }
}
