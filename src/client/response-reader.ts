/**
 * HTTP/1.1 responses from octets (RFC 9112). What always holds, by number:
 *  (1) The end of a response is certain, or it is refused: one length, or chunks to the last one,
 *      or the end of the connection. A response with both, or with an unknown framing, is refused
 *      (§6.3).
 *  (2) No octet after its end is read; a connection that delivered one carries nothing more.
 *  (3) It holds no more than its limits, and no octets that go to a sink. Its work is in proportion
 *      to the octets, however they are cut.
 * Deliberately absent: sockets, time, and the meaning of a response.
 */
import { trimSpace } from '../http/grammar.ts'
import type { HttpFields } from '../http/message.ts'
import type { TransportResponse } from './transport.ts'

/** A receiver of content that is not held: slices of the pieces, in their order. */
export type ContentSink = (octets: Buffer) => void

export interface ResponseLimits {
  /** The most octets of the status line and all fields; of a chunk's line; of the trailers. */
  readonly head: number
  /** The most octets of content. */
  readonly content: number
  /** The most chunks of content, in addition to one for every 16 octets. */
  readonly chunks: number
}

/** Why octets are not an acceptable response. */
export class Unreadable {
  readonly detail: string
  readonly isTooLong: boolean
  constructor(detail: string, isTooLong = false) {
    this.detail = detail
    this.isTooLong = isTooLong
  }
}
function refuse(detail: string): never {
  throw new Unreadable(detail)
}

/** Interim responses before the final one. */
const interimMax = 16
const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/
/** RFC 9112 §5: no white space before the colon, no folded lines. */
const fieldLine = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n/y
const chunkLine = /^([0-9A-Fa-f]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?$/
const headEnd = Buffer.from('\r\n\r\n')
const lineFeed = 10

type ResponseState = 'head' | 'counted' | 'to the end' | 'size' | 'chunk' | 'after a chunk' | 'trailers'

/** Reads one response after the other, in whatever pieces they arrive. */
export class Responses {
  readonly #limits: ResponseLimits
  #state: ResponseState = 'head'
  /** The beginning of a head or a line whose end has not arrived. */
  #held = ''
  #interim = 0
  #status = 0
  #fields: HttpFields = noFields
  #content: Buffer = noOctets
  #length = 0
  /** Octets of content that were not held. */
  #passed = 0
  /** Octets of content or of a chunk that have not arrived. */
  #missing = 0
  #chunks = 0
  /** The sink of the current response; undefined: its content is held. */
  #sink: ContentSink | undefined
  /** Whether the content of a response is held, by its head. */
  sinkOf: ((status: number, fields: HttpFields) => ContentSink | undefined) | undefined
  /** Whether the current response is one to HEAD. */
  hasNoContent = false
  /** An octet of a response has arrived, but not its end. */
  hasBegun = false
  /** Whether the last response leaves its connection fit for another. */
  mayKeep = false

  constructor(limits: ResponseLimits) {
    this.#limits = limits
  }

  /**
   * The response, once all of it is there.
   *
   * @param isLent the memory of the piece is used again; otherwise parts of it are kept
   * @throws Unreadable
   */
  take(piece: Buffer, isLent = false): TransportResponse | undefined {
    this.hasBegun = true
    let at = 0
    while (this.#state === 'head') {
      const next = this.#readHead(piece, at)
      if (next === undefined) return undefined
      at = next
    }
    if (this.#state === 'counted') return this.#readCounted(piece, at, isLent)
    if (this.#state !== 'to the end') return this.#readChunks(piece, at)
    this.#add(piece, at, piece.length)
    return undefined
  }

  /**
   * The response that ends with the connection, if there is one. @throws Unreadable if it is cut
   * short
   */
  close(): TransportResponse | undefined {
    if (this.#state === 'to the end') return this.#finish(true)
    return this.hasBegun ? refuse('the response is cut short') : undefined
  }

  // §2.1: status-line, *( field-line ), an empty line

  /**
   * Where its content begins, or the next head after an interim response; undefined when the end
   * has not come.
   */
  #readHead(piece: Buffer, at: number): number | undefined {
    const { head } = this.#limits
    const before = this.#held.length
    const from = before === 0 ? piece.indexOf(headEnd, at) : at
    if (before > 0 || from < 0) this.#held += piece.toString('latin1', at, Math.min(piece.length, at + head + 4))
    const to = before === 0 ? from - at : this.#held.indexOf('\r\n\r\n', Math.max(before - 3, 0))
    if ((to < 0 ? this.#held.length : to) > head) refuse(`the fields are longer than ${head} octets`)
    if (to < 0) return undefined
    const text = before === 0 ? piece.toString('latin1', at, from + 2) : this.#held.slice(0, to + 2)
    this.#held = ''
    this.#begin(text)
    return at + to + 4 - before
  }

  #begin(text: string): void {
    const [line, minor, status] = statusLine.exec(text) ?? refuse('not a response of HTTP/1.1')
    this.#status = Number(status)
    if (this.#status === 101) refuse('the server switched to another protocol, which was not requested')
    if (this.#status >= 200) this.#frame(readFields(text, line.length), minor === '1')
    else if (++this.#interim > interimMax) refuse(`more than ${interimMax} interim responses`)
  }

  /** §6.3, in its order: a status without content decides before any field. */
  #frame(fields: HttpFields, persists: boolean): void {
    this.#fields = fields
    const { 'content-length': length, 'transfer-encoding': coding, connection } = fields
    this.mayKeep = persists && (connection === undefined || !/(^|[\s,])close($|[\s,])/i.test(connection))
    this.#missing = 0
    if (this.#status === 204 || this.#status === 304 || this.hasNoContent) {
      // A server that announces content for them may be about to send it: what follows could be
      // that.
      if (coding !== undefined || (this.#status === 204 && length !== undefined && length !== '0')) this.mayKeep = false
      this.#state = 'counted'
      return
    }
    if (coding !== undefined) {
      if (!persists || coding.toLowerCase() !== 'chunked') refuse(`the transfer coding ${coding} is not supported`)
      if (length !== undefined) refuse('it has a Content-Length and a Transfer-Encoding')
      this.#chunks = 0
      this.#state = 'size'
    } else if (length !== undefined) {
      this.#missing = readLength(length)
      this.#state = 'counted'
    } else {
      this.mayKeep = false
      this.#state = 'to the end'
    }
    this.#sink = this.sinkOf?.(this.#status, fields)
    if (!this.#sink) this.#requireWithin(this.#missing)
  }

  #requireWithin(octets: number): number {
    const { content } = this.#limits
    if (octets > content) throw new Unreadable(`it is longer than ${content} octets`, true)
    return octets
  }

  // Content

  #readCounted(piece: Buffer, at: number, isLent: boolean): TransportResponse | undefined {
    const length = this.#missing
    if (this.#sink) return this.#passCounted(this.#sink, piece, at)
    if (this.#length === 0 && piece.length - at >= length) {
      const content = piece.subarray(at, at + length)
      this.#content = isLent ? Buffer.from(content) : content
      this.#length = length
      return this.#finish(at + length === piece.length)
    }
    if (this.#length === 0) this.#content = Buffer.allocUnsafeSlow(length) // pages that are not touched cost nothing
    const count = Math.min(length - this.#length, piece.length - at)
    this.#content.set(piece.subarray(at, at + count), this.#length)
    this.#length += count
    return this.#length === length ? this.#finish(at + count === piece.length) : undefined
  }

  #passCounted(sink: ContentSink, piece: Buffer, at: number): TransportResponse | undefined {
    const count = Math.min(this.#missing, piece.length - at)
    this.#missing -= count
    if (count > 0) sink(piece.subarray(at, at + count))
    return this.#missing === 0 ? this.#finish(at + count === piece.length) : undefined
  }

  #add(piece: Buffer, from: number, to: number): void {
    if (this.#sink) {
      if (to > from) this.#sink(piece.subarray(from, to))
      this.#passed += to - from
      return
    }
    const length = this.#requireWithin(this.#length + to - from)
    if (length > this.#content.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(Math.max(length, 2 * this.#content.length, 4096), this.#limits.content),
      )
      grown.set(this.#content.subarray(0, this.#length))
      this.#content = grown
    }
    this.#content.set(piece.subarray(from, to), this.#length)
    this.#length = length
  }

  /** §7.1 */
  #readChunks(piece: Buffer, from: number): TransportResponse | undefined {
    let at = from
    while (at < piece.length) {
      if (this.#state === 'chunk') {
        const to = Math.min(piece.length, at + this.#missing)
        this.#add(piece, at, to)
        this.#missing -= to - at
        at = to
        if (this.#missing === 0) this.#state = 'after a chunk'
        continue
      }
      const stop = piece.indexOf(lineFeed, at)
      this.#held += piece.toString('latin1', at, stop < 0 ? piece.length : stop + 1)
      if (this.#held.length > this.#limits.head) refuse('the line of a chunk is too long')
      if (stop < 0) return undefined
      at = stop + 1
      if (this.#readLine()) return this.#finish(at === piece.length)
    }
    return undefined
  }

  /** A whole line of the chunked coding is held. @returns whether it was the last */
  #readLine(): boolean {
    if (this.#state === 'trailers') {
      if (!this.#held.endsWith('\r\n\r\n') && this.#held !== '\r\n') return false
      readFields(this.#held.slice(0, -2), 0)
      return true
    }
    const line = this.#held
    if (!line.endsWith('\r\n')) refuse('a line of the chunked coding does not end with CRLF')
    this.#held = ''
    if (this.#state === 'after a chunk') {
      if (line !== '\r\n') refuse('a chunk is longer than its size')
      this.#state = 'size'
    } else this.#readSize(line.slice(0, -2))
    return false
  }

  #readSize(line: string): void {
    const [, size = refuse('the line of a chunk does not begin with its size')] = chunkLine.exec(line) ?? []
    if (++this.#chunks > this.#limits.chunks + (this.#length + this.#passed) / 16 + 1)
      refuse('the content has too many small chunks')
    this.#missing = Number.parseInt(size, 16)
    this.#state = this.#missing === 0 ? 'trailers' : 'chunk'
  }

  #finish(isEnd: boolean): TransportResponse {
    const response = { status: this.#status, fields: this.#fields, content: this.#content.subarray(0, this.#length) }
    if (!isEnd) this.mayKeep = false // (2)
    this.#state = 'head'
    this.#held = ''
    this.#interim = this.#length = this.#passed = 0
    this.#sink = undefined
    this.#fields = noFields
    this.#content = noOctets
    this.hasBegun = false
    return response
  }
}

const noOctets = Buffer.alloc(0)
const noFields: HttpFields = Object.create(null)

function readFields(head: string, from: number): HttpFields {
  const fields: Record<string, string> = Object.create(null)
  let at = from
  while (at < head.length) {
    fieldLine.lastIndex = at
    if (!fieldLine.test(head)) refuse('a field is malformed')
    const colon = head.indexOf(':', at)
    const key = head.slice(at, colon).toLowerCase()
    at = fieldLine.lastIndex
    const text = trimSpace(head.slice(colon + 1, at - 2))
    const before = fields[key]
    fields[key] = before === undefined ? text : `${before}, ${text}`
  }
  return fields
}

/** RFC 9110 §8.6: one length, however often it is repeated. */
function readLength(field: string): number {
  const [first = '', ...others] = field.split(',')
  const text = trimSpace(first)
  if (!/^[0-9]{1,15}$/.test(text) || others.some(each => trimSpace(each) !== text))
    refuse('the Content-Length is invalid')
  return Number(text)
}
