/**
 * RFC 9112 §4–§7: reads the octets of one response as they arrive. Interim responses (1xx) are
 * skipped; content longer than `replyOctetsMax` is cut there and marked incomplete.
 */
import type { ProbeReply } from './probe-message.ts'

/** The octets are not an HTTP/1.1 response. */
export class InvalidHead extends Error {}

const headOctetsMax = 256 * 1024
/** More octets of one response are not kept. */
export const replyOctetsMax = 32 * 1024 * 1024

type Framing = 'none' | 'chunked' | 'until close' | number

export class ReplyReader {
  isDone = false
  /** Whether 100 (Continue) has arrived: the peer asks for the content. */
  isInvited = false
  readonly #method: string
  #octets: Buffer = Buffer.alloc(0)
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
    this.#octets = Buffer.concat([this.#octets, piece])
    while (this.#framing === undefined && this.#readHead());
    if (this.#framing === undefined) {
      if (this.#octets.length > headOctetsMax) throw new InvalidHead('the head of the response does not end')
      return
    }
    if (this.#octets.length > replyOctetsMax) this.#finish(this.#octets, false)
    else this.#readContent(this.#framing)
  }

  /** Whether not one octet has arrived. */
  get isEmpty(): boolean {
    return this.#framing === undefined && this.#octets.length === 0
  }

  /** The connection has ended. Returns whether there is a response. */
  end(): boolean {
    if (this.#framing === undefined) return false
    if (!this.isDone) this.#finish(this.#octets, this.#framing === 'until close')
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
    const end = this.#octets.indexOf('\r\n\r\n')
    if (end < 0) return false
    const [start = '', ...rest] = this.#octets.subarray(0, end).toString('latin1').split('\r\n')
    const [, minor, status] = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: |$)/.exec(start) ?? []
    if (status === undefined) throw new InvalidHead(`"${start.slice(0, 60)}" is not a status line of HTTP/1.1`)
    this.#octets = this.#octets.subarray(end + 4)
    if (status === '100') this.isInvited = true
    if (status.startsWith('1') && status !== '101') return true
    this.#status = Number(status)
    this.#isOld = minor === '0'
    this.#lines = rest.map(line => {
      const colon = line.indexOf(':')
      if (colon <= 0) throw new InvalidHead(`"${line.slice(0, 60)}" is not a field line`)
      return [line.slice(0, colon), line.slice(colon + 1).trim()] as const
    })
    this.#framing = this.#findFraming()
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
    if (framing === 'none') this.#finish(this.#octets, this.#octets.length === 0)
    else if (framing === 'chunked') this.#readChunks()
    else if (typeof framing === 'number' && this.#octets.length >= framing)
      this.#finish(this.#octets.subarray(0, framing), this.#octets.length === framing)
  }

  /** RFC 9112 §7.1, read from the start each time, since responses to probes are small. */
  #readChunks(): void {
    const pieces: Uint8Array[] = []
    for (let at = 0; ; ) {
      const lineEnd = this.#octets.indexOf('\r\n', at)
      if (lineEnd < 0) return
      const size = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(this.#octets.subarray(at, lineEnd).toString('latin1'))?.[1]
      if (size === undefined) throw new InvalidHead('a chunk of the response has an invalid size')
      const from = lineEnd + 2
      const length = Number.parseInt(size, 16)
      if (length === 0) {
        if (this.#octets.indexOf('\r\n', from) === from || this.#octets.indexOf('\r\n\r\n', from) >= 0)
          this.#finish(Buffer.concat(pieces), true)
        return
      }
      if (this.#octets.length < from + length + 2) return
      pieces.push(this.#octets.subarray(from, from + length))
      at = from + length + 2
    }
  }

  #finish(content: Uint8Array, isWhole: boolean): void {
    this.#content = new Uint8Array(content)
    this.#isWhole = isWhole
    this.isDone = true
  }
}
