/**
 * Packages: multipart/related (RFC 2387) with XOP (MTOM, XOP 1.0) or with attachments (SOAP
 * Messages with Attachments). What it guards:
 *  (1) A package is read once, in time and memory in proportion to its limits, whatever its pieces
 *      are.
 *  (2) A message refers to parts of its own package alone, by `cid:`, to each at most once.
 *  (3) File names and paths of parts are ignored.
 *  (4) A package that does not end with its boundary is refused.
 *  (5) Parts after the Envelope are read once the caller is known to be admitted.
 */

import { consumePieces, type Pieces, releaseBuffer } from '../../base/octets.ts'
import { refuseMessage } from '../refusal.ts'

/** A part of a package (RFC 2387), the root included. */
export interface PackagePart {
  /** By lower-case name, without a prototype. */
  readonly fields: Readonly<Record<string, string>>
  /** The octets as they arrive; those that are not read are skipped. */
  readonly content: Pieces
}

/** Bounds for one package of MTOM or SwA; a package beyond them is refused. */
export interface PackageLimits {
  readonly parts: number
  /** Fields of one part, and the octets of all of them. */
  readonly fields: number
  readonly fieldOctets: number
}
/**
 * The limits of packages that are sent to a service: 64 parts, 32 fields of 8 KiB together each.
 */
export const packageLimits: PackageLimits = {
  parts: 64, // messages refer to a few (attack: 10,000)
  fields: 32, // four are usual (attack: 10,000)
  fieldOctets: 8 * 1024,
}

/** RFC 2046 §5.1.1 boundary. */
const boundaryForm = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/
export const refusePackage = (detail: string): never => refuseMessage({ kind: 'package', detail })

/**
 * The parts of a multipart body in order: the next one follows once the content of the last has
 * been read or left.
 */
export async function* readParts(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: PackageLimits = packageLimits,
): AsyncGenerator<PackagePart, void, undefined> {
  if (!boundaryForm.test(boundary)) refusePackage('the boundary is invalid')
  const window = new Window(chunks, Buffer.from(`\r\n--${boundary}`, 'latin1'))
  for await (const _preamble of window.readContent());
  for (let count = 0; !(await window.isClosed()); count++) {
    if (count >= limits.parts) refusePackage(`the package has more than ${limits.parts} parts`)
    const fields = await window.readFields(limits)
    yield { fields, content: window.readContent() }
    for await (const _left of window.readContent());
  }
  await window.skipEpilogue()
}

/**
 * Octets that have arrived and are not read yet. The first line is read as if it followed another
 * one, so that all delimiters begin alike.
 */
class Window {
  readonly #source: Pieces
  readonly #delimiter: Buffer
  #buffer: Buffer = Buffer.from('\r\n')
  /** The next octets are content, up to a delimiter. */
  #isContent = true

  constructor(chunks: AsyncIterable<Uint8Array>, delimiter: Buffer) {
    this.#source = consumePieces(chunks)
    this.#delimiter = delimiter
  }

  /** Copies the next piece into the buffer, and releases the last one. False at the end. */
  async #receiveMore(): Promise<boolean> {
    const next = await this.#source.next()
    if (next.done) return false
    this.#buffer = Buffer.concat([this.#buffer, next.value])
    return true
  }

  /** All octets up to the next delimiter, which is read, too. Empty once it has been read. */
  async *readContent(): Pieces {
    while (this.#isContent) {
      const at = this.#buffer.indexOf(this.#delimiter)
      const safe = at >= 0 ? at : this.#buffer.length - this.#delimiter.length + 1
      if (at >= 0) this.#isContent = false
      const all = this.#buffer
      if (at >= 0) this.#buffer = all.subarray(at + this.#delimiter.length)
      else if (safe > 0) this.#buffer = Buffer.from(all.subarray(safe)) // a copy, so that the rest can be released
      if (safe > 0 && (yield all.subarray(0, safe)) && at < 0) releaseBuffer(all)
      if (at < 0 && !(await this.#receiveMore())) refusePackage('the package ends before its last boundary')
    }
  }

  /** After a delimiter: whether it was the last one. Otherwise the rest of its line is read. */
  async isClosed(): Promise<boolean> {
    const line = await this.#readUpTo('\r\n', 128)
    const isClosing = line.startsWith('--')
    if (/[^ \t]/.test(isClosing ? line.slice(2) : line)) refusePackage('a line begins like the boundary but continues')
    return isClosing
  }

  /**
   * Text up to an ending, which is read, too. After a close delimiter the input may end instead.
   */
  async #readUpTo(ending: string, limit: number): Promise<string> {
    for (;;) {
      const at = this.#buffer.indexOf(ending)
      if (at >= 0 && at <= limit) {
        const text = this.#buffer.toString('latin1', 0, at)
        this.#buffer = this.#buffer.subarray(at + ending.length)
        return text
      }
      if (this.#buffer.length > limit + ending.length)
        this.#refuse(limit, 'the fields of a part are longer than the limit')
      if (!(await this.#receiveMore())) {
        if (this.#buffer.toString('latin1', 0, 2) !== '--')
          this.#refuse(limit, 'the package ends before its last boundary')
        const text = this.#buffer.toString('latin1')
        this.#buffer = Buffer.alloc(0)
        return text
      }
    }
  }

  /** RFC 2046 §4.1.1: bare line feeds are the cause of all that follows. */
  #refuse(limit: number, detail: string): never {
    const text = this.#buffer.toString('latin1', 0, limit)
    return refusePackage(/(?<!\r)\n/.test(text) ? 'the lines of a package must end with CRLF, not LF alone' : detail)
  }

  /** MIME fields of a part (RFC 2045 §3), folded lines unfolded. */
  async readFields(limits: PackageLimits): Promise<Readonly<Record<string, string>>> {
    this.#isContent = true
    const fields: Record<string, string> = Object.create(null)
    const lines: string[] = []
    for (let left = limits.fieldOctets; ; ) {
      const line = await this.#readUpTo('\r\n', left)
      if (line === '') break
      left -= line.length
      if (/^[ \t]/.test(line) && lines.length > 0) lines.push(`${lines.pop()} ${line.trim()}`)
      else lines.push(line)
      if (lines.length > limits.fields) refusePackage(`a part has more than ${limits.fields} fields`)
    }
    for (const line of lines) {
      const [, field, value] = /^([!#-'*+\-.0-9A-Z^-z|~]+)[ \t]*:(.*)$/s.exec(line) ?? []
      if (field === undefined || value === undefined) return refusePackage('a part has an invalid field')
      if (fields[field.toLowerCase()] !== undefined) refusePackage(`a part has two ${field} fields`)
      fields[field.toLowerCase()] = value.trim()
    }
    return fields
  }

  /**
   * RFC 2046 §5.1.1: what follows the close delimiter is ignored; to its end, so that it arrived.
   */
  async skipEpilogue(): Promise<void> {
    do this.#buffer = Buffer.alloc(0)
    while (await this.#receiveMore())
  }
}
