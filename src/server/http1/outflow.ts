/** A response on its way to an HTTP/1.1 socket: its head, followed by a stream of content. */
import type { Socket } from 'node:net'
import type { PipeSink } from '../pipe.ts'

/** In chunks if the length is unknown (RFC 9112 §7.1). */
export class Outflow implements PipeSink {
  /** The head has been sent. */
  hasBegun = false
  readonly #socket: Socket
  readonly #isChunked: boolean
  readonly #writeHead: () => string

  constructor(socket: Socket, isChunked: boolean, writeHead: () => string) {
    this.#socket = socket
    this.#isChunked = isChunked
    this.#writeHead = writeHead
  }

  /**
   * The head waits for the first piece and is sent with it, so that a source that fails at once
   * still becomes a 500.
   */
  begin(): void {
    const socket = this.#socket
    this.hasBegun = true
    socket.cork()
    socket.write(this.#writeHead(), 'latin1')
    process.nextTick(() => socket.uncork())
  }

  get destroyed(): boolean {
    return this.#socket.destroyed
  }
  get writableLength(): number {
    return this.#socket.writableLength
  }
  write(octets: Uint8Array): boolean {
    const socket = this.#socket
    if (!this.#isChunked) return socket.write(octets)
    if (octets.length === 0) return true // an empty chunk would end the content
    socket.cork()
    socket.write(`${octets.length.toString(16)}\r\n`, 'latin1')
    socket.write(octets)
    const hasRoom = socket.write('\r\n', 'latin1')
    socket.uncork()
    return hasRoom
  }
  end(): void {
    if (this.#isChunked) this.#socket.write('0\r\n\r\n', 'latin1')
  }
  on(event: 'drain' | 'close', listener: () => void): void {
    this.#socket.on(event, listener)
  }
  off(event: 'drain' | 'close', listener: () => void): void {
    this.#socket.off(event, listener)
  }
}
