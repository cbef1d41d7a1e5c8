/**
 * One call of an HTTP client, from its request to its response. What always holds, by number:
 *  (1) A call settles once; its time limit starts when it is made, and includes waiting and
 *      connecting. A call whose content passes settles with the head of its response, and the
 *      content ends once.
 *  (2) No text of a caller can end a line of the head or begin another.
 */
import type * as net from 'node:net'
import type { HttpFields } from '../http/message.ts'
import { ArrivingContent } from './arriving-content.ts'
import { TransportFailure } from './errors.ts'
import type { ContentSink } from './response-reader.ts'
import type { TransportRequest, TransportResponse } from './transport.ts'

/** (2) RFC 9110 §5.5; framing and connection fields belong to the connection. */
export function writeLines(fields: HttpFields): string {
  let lines = ''
  for (const [name, value] of Object.entries(fields)) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || /[^\t\x20-\x7e]/.test(value))
      throw new TypeError(`the field ${name} has a character that fields cannot have: use visible ASCII`)
    if (/^(host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer)$/i.test(name))
      throw new TypeError(`the field ${name} is the connection's own: leave it out`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

interface Settlement {
  readonly resolve: (response: TransportResponse) => void
  readonly reject: (reason: unknown) => void
}

/** The message of one call: a request may have no content, and a response to HEAD has none. */
export interface SentCall extends Omit<TransportRequest, 'content'> {
  readonly content: TransportRequest['content'] | undefined
  readonly hasNoContent?: boolean
}

/** The connection that carries a call. */
interface CarryingConnection {
  readonly isOpen: boolean
  /** An octet of a response has arrived. */
  readonly hasBegun: boolean
  abandon(call: ClientCall): void
}
/** Where calls wait for a connection. */
interface CallLine {
  stopWaiting(call: ClientCall): void
}

/** One call in progress. */
export class ClientCall {
  connection: CarryingConnection | undefined = undefined
  isSettled = false
  /** All of it was handed to the connection. */
  isSent = true
  readonly #line: CallLine
  readonly #start: string
  readonly #sending: SentCall
  readonly #settlement: Settlement
  #timer: NodeJS.Timeout
  /** The content of its response, if it passes. */
  #arriving: ArrivingContent | undefined
  /** The slices of it in the last piece from the socket. */
  #slices: Buffer[] = []

  constructor(line: CallLine, start: string, sending: SentCall, settlement: Settlement) {
    this.#line = line
    this.#start = sending.fields ? start + writeLines(sending.fields) : start
    this.#sending = sending
    this.#settlement = settlement
    this.#timer = setTimeout(endLate, Math.min(sending.timeLimit, timerMaxMs), this)
    sending.signal?.addEventListener('abort', this.#abort)
    if (sending.signal?.aborted) this.#abort()
  }

  write(socket: net.Socket): void {
    const { content, flowing } = this.#sending
    if (flowing) {
      void this.#flow(socket, flowing)
      return
    }
    if (typeof content === 'string') {
      const length = Buffer.byteLength(content)
      const text = `${this.#start}content-length: ${length}\r\n\r\n${content}`
      socket.write(text, length === content.length ? 'latin1' : 'utf8') // one octet each: ASCII, the same in both
      return
    }
    if (content === undefined) {
      socket.write(`${this.#start}\r\n`, 'latin1')
      return
    }
    const length = content.reduce((sum, piece) => sum + piece.length, 0)
    socket.cork()
    socket.write(`${this.#start}content-length: ${length}\r\n\r\n`, 'latin1')
    for (const piece of content) socket.write(piece)
    socket.uncork()
  }

  get mayPass(): boolean {
    return this.#sending.passing !== undefined
  }
  /** Whatever its response announces (RFC 9112 §6.3). */
  get hasNoContent(): boolean {
    return this.#sending.hasNoContent === true
  }

  /**
   * RFC 9112 §7.1: content of unknown length in chunks, at the speed of the slower side. The time
   * limit is for the service: it is suspended while the sender of the content is awaited. If the
   * content fails, the connection ends, so that a part of it is not taken for the whole.
   */
  async #flow(socket: net.Socket, flowing: AsyncIterable<Uint8Array>): Promise<void> {
    this.isSent = false
    const pieces: AsyncIterator<Uint8Array, void, boolean> = flowing[Symbol.asyncIterator]()
    try {
      socket.write(`${this.#start}transfer-encoding: chunked\r\n\r\n`, 'latin1')
      clearTimeout(this.#timer)
      for (let next = await pieces.next(false); ; next = await pieces.next(socket.writableLength === 0)) {
        if (this.isSettled) break
        if (next.done) {
          socket.write('0\r\n\r\n', 'latin1')
          this.isSent = true
          this.#restartTimer()
          return
        }
        if (next.value.length === 0) continue
        socket.cork()
        socket.write(`${next.value.length.toString(16)}\r\n`, 'latin1')
        socket.write(next.value)
        const hasRoom = socket.write('\r\n', 'latin1')
        socket.uncork()
        if (!hasRoom) await this.#waitForRoom(socket)
        if (this.isSettled) break
      }
    } catch (thrown) {
      this.#giveUp(thrown)
    }
    void pieces.return?.().catch(() => {})
  }

  async #waitForRoom(socket: net.Socket): Promise<void> {
    this.#restartTimer()
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.on('drain', resolve).on('close', resolve)
    await promise
    socket.off('drain', resolve).off('close', resolve)
    clearTimeout(this.#timer)
  }

  #restartTimer(): void {
    clearTimeout(this.#timer)
    if (!this.isSettled) this.#timer = setTimeout(endLate, Math.min(this.#sending.timeLimit, timerMaxMs), this)
  }

  /** The head of its response has arrived, with content that is not held. */
  sinkOf(status: number, fields: HttpFields, socket: net.Socket): ContentSink | undefined {
    const { passing, timeLimit } = this.#sending
    if (!passing?.mayPass(status, fields) || Number(fields['content-length']) > passing.octetsMax) return undefined
    const abandon = () => this.connection?.abandon(this)
    const control = { pause: () => socket.pause(), resume: () => socket.resume(), abandon }
    this.#arriving = new ArrivingContent(control, { timeLimit, octetsMax: passing.octetsMax })
    if (this.#settle())
      this.#settlement.resolve({ status, fields, content: new Uint8Array(0), arriving: this.#arriving })
    return octets => void this.#slices.push(octets)
  }

  /** A piece has been read completely; some of it was passing content. */
  passOn(piece: Buffer, isLent: boolean): void {
    if (this.#slices.length === 0) return
    const copy = isLent ? copySlices(this.#slices) : undefined
    this.#arriving?.add(copy ? [copy] : this.#slices, copy ?? piece)
    this.#slices = []
  }

  resolve(response: TransportResponse): void {
    this.#arriving?.end()
    if (this.#settle()) this.#settlement.resolve(response)
  }

  reject(reason: unknown): void {
    this.#arriving?.fail(reason)
    if (this.#settle()) this.#settlement.reject(reason)
  }

  /** The caller no longer waits for it. */
  readonly #abort = (): void => this.#giveUp(this.#sending.signal?.reason)

  #giveUp(reason: unknown): void {
    this.reject(reason)
    if (this.connection) this.connection.abandon(this)
    else this.#line.stopWaiting(this)
  }

  endLate(): void {
    const { connection } = this
    const stage = !connection ? 'a connection was free' : connection.isOpen ? 'a response came' : 'it was connected'
    const detail = `the time limit of ${this.#sending.timeLimit} ms was over before ${stage}`
    this.#giveUp(
      new TransportFailure('late', detail, {
        mayHaveRun: connection?.isOpen ?? false,
        begun: connection?.hasBegun ?? false,
      }),
    )
  }

  /** (1) */
  #settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    clearTimeout(this.#timer)
    this.#sending.signal?.removeEventListener('abort', this.#abort)
    return true
  }
}
/** In a buffer that is theirs alone, so that its memory can be freed. */
function copySlices(slices: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(slices.reduce((sum, each) => sum + each.length, 0))
  let at = 0
  for (const each of slices) at += each.copy(copy, at)
  return copy
}
const endLate = (call: ClientCall): void => call.endLate()
/** A delay above the maximum of a timer would fire at once. */
const timerMaxMs = 2 ** 31 - 1
