/**
 * Packages: multipart/related (RFC 2387) with XOP (MTOM, XOP 1.0) or with attachments (SOAP
 * Messages with Attachments). Guards: (1) a package is read once, in time and memory in proportion
 * to what it may hold, whatever its pieces are; (2) a message refers to parts of its own package
 * alone, by `cid:`, to each at most once; (3) names and paths that parts bring along mean nothing
 * here; (4) what has no end that its boundary says is refused; (5) what stands behind the Envelope
 * is read once somebody is known to be allowed to send it.
 */

import { releaseBuffer } from '../../service/file-content.ts'
import { refuseMessage } from '../refusal.ts'

export interface PackagePart {
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
export const refuse = (detail: string): never => refuseMessage({ kind: 'package', detail })

/**
 * The parts of a multipart body, one after the other: the next is found once the one before has
 * been read or left.
 */
export async function* readParts(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: PackageLimits = packageLimits,
): AsyncGenerator<PackagePart, void, undefined> {
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

/**
 * What has arrived and is not read yet. The first line is read as if it followed another, so every
 * delimiter begins alike.
 */
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
      if (safe > 0 && (yield all.subarray(0, safe)) && at < 0) releaseBuffer(all)
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

  /**
   * Text up to an ending, which is read too. After a close delimiter the end of the input is one as
   * well.
   */
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
