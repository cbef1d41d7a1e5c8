/**
 * RFC 9112 §4–§7: reads the octets of one response as they arrive, each of them a few times,
 * however small the pieces are. Interim responses (1xx) are skipped; content longer than
 * `replyOctetsMax` is cut there and marked incomplete.
 */
import type { ProbeReply } from './probe-message.ts'

/** The octets are not an HTTP/1.1 response. */
export class InvalidHead extends Error {}

const headOctetsMax = 256 * 1024
/** A size, and extensions, which mean nothing here (RFC 9112 §7.1.1). */
const chunkLineMax = 16 * 1024
/** More octets of one response are not kept. */
export const replyOctetsMax = 32 * 1024 * 1024

type Framing = 'none' | 'chunked' | 'until close' | number

export class ReplyReader {
  isDone = false
  /** Whether 100 (Continue) has arrived: the peer asks for the content. */
  isInvited = false
  readonly #method: string
  readonly #arrived = new ReplyOctets()
  /** Where the head begins, then the content, then the next chunk. */
  #at = 0
  #searched = 0
  /** Where the content of the chunks ends, which moves together as it arrives. */
  #joined = 0
  /** Where the content begins. */
  #from = 0
  #status = 0
  #isOld = false
  #lines: (readonly [string, string])[] = []
  #framing: Framing | undefined = undefined
  #content: Uint8Array = new Uint8Array(0)
  #isWhole = false

  constructor(method: string) {
    this.#method = method
  }

  add(piece: Uint8Array): void {
    if (this.isDone && !this.#isWhole) return // more of what should not be there
    this.#arrived.append(piece)
    while (this.#framing === undefined && this.#readHead());
    if (this.#framing === undefined) {
      if (this.#arrived.length - this.#at > headOctetsMax)
        throw new InvalidHead('the head of the response does not end')
      return
    }
    this.#readContent(this.#framing)
    if (!this.isDone && this.#arrived.length > replyOctetsMax) this.#finish(this.#joinContent(), false)
  }

  /** Whether not one octet has arrived. */
  get isEmpty(): boolean {
    return this.#framing === undefined && this.#arrived.length === this.#at
  }

  /** The connection has ended. Returns whether there is a response. */
  end(): boolean {
    if (this.#framing === undefined) return false
    if (!this.isDone) this.#finish(this.#joinContent(), this.#framing === 'until close')
    return true
  }

  /** Whether the connection can carry another request. */
  get mayStay(): boolean {
    const says = this.#field('connection')?.toLowerCase() ?? ''
    // RFC 9112 §9.3: HTTP/1.0 closes unless it says otherwise.
    const stays = this.#isOld ? /\bkeep-alive\b/.test(says) : !/\bclose\b/.test(says)
    return this.#isWhole && this.#framing !== 'until close' && stays
  }

  reply(tookMs: number): ProbeReply {
    return { status: this.#status, lines: this.#lines, content: this.#content, isWhole: this.#isWhole, tookMs }
  }

  #field(name: string): string | undefined {
    return this.#lines.find(([each]) => each.toLowerCase() === name)?.[1]
  }

  /** Returns whether to read another head, because this one was interim (RFC 9110 §15.2). */
  #readHead(): boolean {
    const end = this.#arrived.find('\r\n\r\n', Math.max(this.#at, this.#searched - 3))
    this.#searched = this.#arrived.length
    if (end < 0) return false
    const [start = '', ...rest] = this.#arrived.part(this.#at, end).toString('latin1').split('\r\n')
    const [, minor, status] = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |$)/.exec(start) ?? []
    if (status === undefined) throw new InvalidHead(`"${start.slice(0, 60)}" is not a status line of HTTP/1.1`)
    this.#at = this.#searched = end + 4
    if (status === '100') this.isInvited = true
    if (status.startsWith('1') && status !== '101') {
      if (end > headOctetsMax) throw new InvalidHead('the interim responses do not end')
      return true
    }
    this.#status = Number(status)
    this.#isOld = minor === '0'
    this.#lines = rest.map(line => {
      const colon = line.indexOf(':')
      if (colon <= 0) throw new InvalidHead(`"${line.slice(0, 60)}" is not a field line`)
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
    })
    this.#framing = this.#findFraming()
    this.#from = this.#joined = this.#at
    return false
  }

  /** RFC 9112 §6.3. */
  #findFraming(): Framing {
    if (this.#method === 'HEAD' || this.#status === 204 || this.#status === 304) return 'none'
    if (/(?:^|,)\s*chunked\s*$/i.test(this.#field('transfer-encoding') ?? '')) return 'chunked'
    const lengths = this.#lines.filter(([name]) => name.toLowerCase() === 'content-length')
    const [length, other] = new Set(lengths.flatMap(([, value]) => value.split(/\s*,\s*/)))
    if (length === undefined) return 'until close'
    if (other !== undefined) throw new InvalidHead(`Content-Length is both ${length} and ${other}`)
    if (!/^[0-9]{1,15}$/.test(length)) throw new InvalidHead(`Content-Length "${length}" is not a number`)
    return Number(length)
  }

  #readContent(framing: Framing): void {
    const { length } = this.#arrived
    if (framing === 'none') this.#finish(this.#joinContent(), length === this.#at)
    else if (framing === 'chunked') while (!this.isDone && this.#readChunk());
    else if (typeof framing === 'number' && length - this.#at >= framing)
      this.#finish(this.#arrived.part(this.#at, this.#at + framing), length - this.#at === framing)
  }

  /** RFC 9112 §7.1. Returns whether to try the next one. */
  #readChunk(): boolean {
    const lineEnd = this.#arrived.find('\r\n', this.#at)
    const line = this.#arrived.part(this.#at, lineEnd < 0 ? this.#arrived.length : lineEnd)
    if (line.length > chunkLineMax) throw new InvalidHead('a chunk of the response has a size that does not end')
    if (lineEnd < 0) return false
    const size = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line.toString('latin1'))?.[1]
    if (size === undefined) throw new InvalidHead('a chunk of the response has an invalid size')
    const from = lineEnd + 2
    const to = from + Number.parseInt(size, 16)
    if (to === from) return this.#endTrailers(from)
    if (this.#arrived.length < to + 2) return false
    this.#joined = this.#arrived.move(from, to, this.#joined)
    this.#at = to + 2
    return true
  }
  /** §7.1.2; their fields mean nothing here. */
  #endTrailers(from: number): boolean {
    if (this.#arrived.find('\r\n', from) === from || this.#arrived.find('\r\n\r\n', from) >= 0)
      this.#finish(this.#joinContent(), true)
    else if (this.#arrived.length - from > headOctetsMax)
      throw new InvalidHead('the trailers of the response do not end')
    return false
  }

  /** All that has arrived of it. */
  #joinContent(): Uint8Array {
    return this.#framing === 'chunked'
      ? this.#arrived.part(this.#from, this.#joined)
      : this.#arrived.part(this.#at, this.#arrived.length)
  }

  #finish(content: Uint8Array, isWhole: boolean): void {
    this.#content = new Uint8Array(content)
    this.#isWhole = isWhole
    this.isDone = true
  }
}

/** A buffer that doubles, so that each octet is copied twice on average. */
class ReplyOctets {
  #octets = Buffer.allocUnsafe(4096)
  length = 0

  append(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.#octets.length) {
      const larger = Buffer.allocUnsafe(2 * length)
      larger.set(this.part(0, this.length))
      this.#octets = larger
    }
    this.#octets.set(piece, this.length)
    this.length = length
  }
  /** To an earlier place; returns where it ends there. */
  move(from: number, to: number, at: number): number {
    this.#octets.copyWithin(at, from, to)
    return at + to - from
  }
  part(from: number, to: number): Buffer {
    return this.#octets.subarray(from, to)
  }
  /** Its offset; -1 if it has not arrived. */
  find(text: string, from: number): number {
    return this.part(0, this.length).indexOf(text, from)
  }
}
