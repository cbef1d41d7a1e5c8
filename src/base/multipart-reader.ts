/**
 * The parts of multipart content (RFC 2046 §5.1), as packages of SOAP and forms have them. What it
 * guards:
 *  (1) Content is read once, in time and memory in proportion to its limits, whatever its pieces
 *      are.
 *  (2) Content that does not end with its boundary is refused.
 */

import { consumePieces, type Pieces, releaseBuffer } from './octets.ts'

/** One part. */
export interface MultipartPart {
  /** By lower-case name, without a prototype. */
  readonly fields: Readonly<Record<string, string>>
  /** The octets as they arrive; those that are not read are skipped. */
  readonly content: Pieces
}

/** Bounds for one multipart content; what is beyond them is refused. */
export interface PartLimits {
  readonly parts: number
  /** Fields of one part, and the octets of all of them. */
  readonly fields: number
  readonly fieldOctets: number
}

/** Throws an error that says what is wrong with the content, and in which part. */
export type RefuseParts = (detail: string) => never

/** RFC 2046 §5.1.1 boundary. */
const boundaryForm = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/

export function requireBoundary(boundary: string, refuse: RefuseParts): void {
  if (!boundaryForm.test(boundary)) refuse('the boundary is invalid')
}

/**
 * MIME fields of one part (RFC 2045 §3), by lower-case name. Each of them may occur once; of a
 * field that has no meaning here, the first one counts. A line break that only some readers would
 * recognize is not part of a value.
 */
export function parsePartFields(lines: readonly string[], refuse: RefuseParts): Readonly<Record<string, string>> {
  const fields: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const [, field, value] = /^([!#-'*+\-.0-9A-Z^-z|~]+)[ \t]*:([^\0\r\n]*)$/.exec(line) ?? []
    if (field === undefined || value === undefined) return refuse('a part has an invalid field')
    const name = field.toLowerCase()
    if (fields[name] !== undefined && name.startsWith('content-')) refuse(`a part has two ${field} fields`)
    fields[name] ??= value.trim()
  }
  return fields
}

/** RFC 822 §3.4.3: comments in parentheses, which may be nested, outside quotes. */
export function removeComments(value: string): string {
  let depth = 0
  const bare = value.replace(/"(?:[^"\\]|\\.?)*"?|\\.?|[()]|[^"\\()]+/gs, token => {
    if (token === '(') depth++
    else if (token === ')' && depth > 0) depth--
    else return depth === 0 ? token : ''
    return ''
  })
  return bare.trim()
}

/**
 * The parts of a multipart body in order: the next one follows once the content of the last has
 * been read or left.
 */
export async function* readMultipart(
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  limits: PartLimits,
  refuse: RefuseParts,
): AsyncGenerator<MultipartPart, void, undefined> {
  requireBoundary(boundary, refuse)
  const window = new Window(chunks, Buffer.from(`\r\n--${boundary}`, 'latin1'), refuse)
  for await (const _preamble of window.readContent());
  for (let count = 0; !(await window.isClosed()); count++) {
    if (count >= limits.parts) refuse(`the package has more than ${limits.parts} parts`)
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

  readonly #refuse: RefuseParts

  constructor(chunks: AsyncIterable<Uint8Array>, delimiter: Buffer, refuse: RefuseParts) {
    this.#refuse = refuse
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
      if (at < 0 && !(await this.#receiveMore())) this.#refuse('the package ends before its last boundary')
    }
  }

  /** After a delimiter: whether it was the last one. Otherwise the rest of its line is read. */
  async isClosed(): Promise<boolean> {
    const line = await this.#readUpTo('\r\n', 128)
    const isClosing = line.startsWith('--')
    if (/[^ \t]/.test(isClosing ? line.slice(2) : line)) this.#refuse('a line begins like the boundary but continues')
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
        this.#refuseLine(limit, 'the fields of a part are longer than the limit')
      if (!(await this.#receiveMore())) {
        if (this.#buffer.toString('latin1', 0, 2) !== '--')
          this.#refuseLine(limit, 'the package ends before its last boundary')
        const text = this.#buffer.toString('latin1')
        this.#buffer = Buffer.alloc(0)
        return text
      }
    }
  }

  /** RFC 2046 §4.1.1: bare line feeds are the cause of all that follows. */
  #refuseLine(limit: number, detail: string): never {
    const text = this.#buffer.toString('latin1', 0, limit)
    return this.#refuse(/(?<!\r)\n/.test(text) ? 'the lines of a package must end with CRLF, not just LF' : detail)
  }

  /** Folded lines are unfolded (RFC 5322 §2.2.3). */
  async readFields(limits: PartLimits): Promise<Readonly<Record<string, string>>> {
    this.#isContent = true
    const lines: string[] = []
    for (let remaining = limits.fieldOctets; ; ) {
      const line = await this.#readUpTo('\r\n', remaining)
      if (line === '') break
      remaining -= line.length
      if (/^[ \t]/.test(line) && lines.length > 0) lines.push(`${lines.pop()} ${line.trim()}`)
      else lines.push(line)
      if (lines.length > limits.fields) this.#refuse(`a part has more than ${limits.fields} fields`)
    }
    await this.#skipAbsentContent()
    return parsePartFields(lines, this.#refuse)
  }

  /**
   * RFC 2046 §5.1.1 body-part: where a part has fields alone, the empty line after them is the line
   * break of the next delimiter.
   */
  async #skipAbsentContent(): Promise<void> {
    const line = this.#delimiter.subarray(2)
    while (this.#buffer.length < line.length && line.indexOf(this.#buffer) === 0) {
      if (!(await this.#receiveMore())) return
    }
    if (!this.#buffer.subarray(0, line.length).equals(line)) return
    this.#isContent = false
    this.#buffer = this.#buffer.subarray(line.length)
  }

  /**
   * RFC 2046 §5.1.1: what follows the close delimiter is ignored; to its end, so that it arrived.
   */
  async skipEpilogue(): Promise<void> {
    do this.#buffer = Buffer.alloc(0)
    while (await this.#receiveMore())
  }
}
