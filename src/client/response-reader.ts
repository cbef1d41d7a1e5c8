/**
 * Responses of HTTP/1.1 from octets (RFC 9112). What always holds, by number:
 *  (1) Where a response ends is certain, or it is refused: one length, or chunks to the last, or the end of the connection;
 *      a response that says both, or in a way that is not understood, is none (§6.3).
 *  (2) No octet behind its end is read; the connection that brought one carries nothing more.
 *  (3) It holds no more than its limits, and works in proportion to the octets, however they are cut.
 * Deliberately absent: sockets, time, and what a response means.
 */
import type { HttpFields } from '../http/message.ts'
import type { TransportResponse } from './transport.ts'

export interface ResponseLimits {
  /** Octets of the status line and all fields; of a chunk's line; of the trailers. */
  readonly head: number
  /** Octets of content. */
  readonly content: number
}

/** Why what came is no response, or none that is taken. */
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
const mostInterim = 16
const statusLine = /^HTTP\/1\.([01]) ([1-5][0-9][0-9])(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/
/** RFC 9112 §5: no white space before the colon, no line that goes on in the next. */
const fieldLine = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y
const chunkLine = /^([0-9A-Fa-f]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?$/
const end = Buffer.from('\r\n\r\n')

type ResponseState = 'head' | 'counted' | 'to the end' | 'size' | 'chunk' | 'behind a chunk' | 'trailers'

/** Reads one response after the other, each in whatever pieces it comes. */
export class Responses {
  private readonly limits: ResponseLimits
  private state: ResponseState = 'head'
  /** The beginning of a head or of a line whose end has not come. */
  private held = ''
  private interim = 0
  private status = 0
  private fields: HttpFields = none
  private content: Buffer = nothing
  private length = 0
  private left = 0
  /** An octet of a response has come, and its end has not. */
  begun = false
  /** Whether the last response leaves its connection fit for another. */
  keeps = false

  constructor(limits: ResponseLimits) {
    this.limits = limits
  }

  /** The response, once all of it is there. The piece is kept. @throws Unreadable */
  take(piece: Buffer): TransportResponse | undefined {
    this.begun = true
    let at = 0
    while (this.state === 'head') {
      const next = this.head(piece, at)
      if (next === undefined) return undefined
      at = next
    }
    if (this.state === 'counted') return this.counted(piece, at)
    return this.state === 'to the end' ? this.more(piece, at) : this.chunked(piece, at)
  }

  /** What the end of the connection makes of it. @throws Unreadable where it is cut short */
  close(): TransportResponse | undefined {
    if (this.state === 'to the end') return this.whole(true)
    return this.begun ? refuse('the response is cut short') : undefined
  }

  // §2.1: status-line, *( field-line ), an empty line

  /** Where its content begins, or the next head after an interim response; undefined when the end has not come. */
  private head(piece: Buffer, at: number): number | undefined {
    const before = this.held.length
    const from = before === 0 ? piece.indexOf(end, at) : at
    if (before > 0 || from < 0)
      this.held += piece.toString('latin1', at, Math.min(piece.length, at + this.limits.head + 4))
    const to = before === 0 ? from - at : this.held.indexOf('\r\n\r\n', Math.max(before - 3, 0))
    if ((to < 0 ? this.held.length : to) > this.limits.head) refuse('the fields are too long')
    if (to < 0) return undefined
    const text = before === 0 ? piece.toString('latin1', at, from + 2) : this.held.slice(0, to + 2)
    this.held = ''
    this.begins(text)
    return at + to + 4 - before
  }

  private begins(text: string): void {
    const [line, minor, status] = statusLine.exec(text) ?? refuse('no response of HTTP/1.1 begins here')
    this.status = Number(status)
    if (this.status === 101) refuse('it goes over to another protocol')
    if (this.status >= 200) this.frame(fieldsIn(text, line.length), minor === '1')
    else if (++this.interim > mostInterim) refuse('too many interim responses')
  }

  /** §6.3 */
  private frame(fields: HttpFields, persists: boolean): void {
    this.fields = fields
    const { 'content-length': length, 'transfer-encoding': coding, connection } = fields
    this.keeps = persists && (connection === undefined || !/(^|[\s,])close($|[\s,])/i.test(connection))
    this.left = 0
    if (coding !== undefined) {
      if (!persists || coding.toLowerCase() !== 'chunked') refuse(`the transfer coding ${coding} is not understood`)
      if (length !== undefined) refuse('it has a length, and comes in chunks')
      this.state = 'size'
    } else if (this.status === 204 || this.status === 304) {
      this.state = 'counted'
    } else if (length !== undefined) {
      this.left = this.within(lengthIn(length))
      this.state = 'counted'
    } else {
      this.keeps = false
      this.state = 'to the end'
    }
  }

  private within(octets: number): number {
    const { content } = this.limits
    if (octets > content) throw new Unreadable(`it is longer than ${content} octets`, true)
    return octets
  }

  // Content

  private counted(piece: Buffer, at: number): TransportResponse | undefined {
    const { left } = this
    if (this.length === 0 && piece.length - at >= left) {
      this.content = piece.subarray(at, at + left)
      this.length = left
      return this.whole(at + left === piece.length)
    }
    if (this.length === 0) this.content = Buffer.allocUnsafeSlow(left) // pages that are not touched cost nothing
    const taken = Math.min(left - this.length, piece.length - at)
    this.content.set(piece.subarray(at, at + taken), this.length)
    this.length += taken
    return this.length === left ? this.whole(at + taken === piece.length) : undefined
  }

  private more(piece: Buffer, at: number): undefined {
    this.add(piece, at, piece.length)
  }

  private add(piece: Buffer, from: number, to: number): void {
    const length = this.within(this.length + to - from)
    if (length > this.content.length) {
      const grown = Buffer.allocUnsafeSlow(
        Math.min(Math.max(length, 2 * this.content.length, 4096), this.limits.content),
      )
      grown.set(this.content.subarray(0, this.length))
      this.content = grown
    }
    this.content.set(piece.subarray(from, to), this.length)
    this.length = length
  }

  /** §7.1 */
  private chunked(piece: Buffer, from: number): TransportResponse | undefined {
    let at = from
    while (at < piece.length) {
      if (this.state === 'chunk') {
        const to = Math.min(piece.length, at + this.left)
        this.add(piece, at, to)
        this.left -= to - at
        at = to
        if (this.left === 0) this.state = 'behind a chunk'
        continue
      }
      const stop = piece.indexOf(10, at)
      this.held += piece.toString('latin1', at, stop < 0 ? piece.length : stop + 1)
      if (this.held.length > this.limits.head) refuse('the line of a chunk is too long')
      if (stop < 0) return undefined
      at = stop + 1
      if (!this.line()) continue
      return this.whole(at === piece.length)
    }
    return undefined
  }

  /** A whole line of the chunked coding is held. @returns whether it was the last */
  private line(): boolean {
    if (this.state === 'trailers') {
      if (!this.held.endsWith('\r\n\r\n') && this.held !== '\r\n') return false
      fieldsIn(this.held.slice(0, -2), 0)
      return true
    }
    const { held } = this
    if (!held.endsWith('\r\n')) refuse('a line of the chunked coding does not end as one')
    this.held = ''
    if (this.state === 'behind a chunk') {
      if (held !== '\r\n') refuse('a chunk is longer than it says')
      this.state = 'size'
      return false
    }
    const [, size = refuse('the line of a chunk is none')] = chunkLine.exec(held.slice(0, -2)) ?? []
    this.left = Number.parseInt(size, 16)
    this.state = this.left === 0 ? 'trailers' : 'chunk'
    return false
  }

  private whole(isEnd: boolean): TransportResponse {
    const came = { status: this.status, fields: this.fields, content: this.content.subarray(0, this.length) }
    if (!isEnd) this.keeps = false // (2)
    this.state = 'head'
    this.held = ''
    this.interim = this.length = 0
    this.fields = none
    this.content = nothing
    this.begun = false
    return came
  }
}

const nothing = Buffer.alloc(0)
const none: HttpFields = Object.create(null)

function fieldsIn(text: string, from: number): HttpFields {
  const fields: Record<string, string> = Object.create(null)
  let at = from
  while (at < text.length) {
    fieldLine.lastIndex = at
    const [line, name = '', value = ''] = fieldLine.exec(text) ?? refuse('a field is malformed')
    at += line.length
    const key = name.toLowerCase()
    const standing = fields[key]
    fields[key] = standing === undefined ? value.trim() : `${standing}, ${value.trim()}`
  }
  return fields
}

/** RFC 9110 §8.6: one length, however often it is said. */
function lengthIn(field: string): number {
  const [first = '', ...others] = field.split(',')
  const text = first.trim()
  if (!/^[0-9]{1,15}$/.test(text) || others.some(each => each.trim() !== text)) refuse('its length is no number')
  return Number(text)
}
