/**
 * Responses of one turn of the event loop are sent together at its end. Each write wakes the reader
 * at the other end, which costs as much as a small request; a reader that is already awake costs
 * nothing. What always holds:
 *  (1) A response waits only for the rest of what has already arrived, and for a limited number of
 *      responses.
 *  (2) A socket that ends, or is destroyed by `destroyAfterFlush`, first sends the octets that it
 *      was given before.
 */
import type { Socket } from 'node:net'

const socketsMax = 16
/** Up to this size, content is copied behind its head instead of sent separately. */
const joinedOctetsMax = 16 * 1024

export class WriteBatch {
  #turn = 0
  #isScheduled = false
  #sockets: Socket[] = []

  /**
   * The number of this turn of the event loop: it changes once everything else that has arrived had
   * its chance.
   */
  begin(): number {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(this.#end)
    }
    return this.#turn
  }

  /** A complete response: head and content in one piece where that costs less than two. */
  write(socket: Socket, head: string, content: string | Uint8Array | undefined, length: number | undefined): void {
    this.begin()
    socket.cork()
    if (content === undefined) socket.write(head, 'latin1')
    else if (typeof content === 'string')
      // As many octets as characters: it is ASCII.
      socket.write(head + content, content.length === length ? 'latin1' : 'utf8')
    else if (content.length <= joinedOctetsMax) {
      const octets = Buffer.allocUnsafe(head.length + content.length)
      octets.write(head, 'latin1')
      octets.set(content, head.length)
      socket.write(octets)
    } else {
      socket.write(head, 'latin1')
      socket.write(content)
    }
    if (this.#sockets.push(socket) === socketsMax) this.#leave()
  }

  readonly #end = (): void => {
    this.#isScheduled = false
    this.#turn++
    this.#leave()
  }
  #leave(): void {
    const sockets = this.#sockets
    this.#sockets = []
    for (const socket of sockets) socket.uncork()
  }
}

/** Sends the octets that the socket was given, as far as its peer accepts them. */
export function flushWrites(socket: Socket): void {
  while (socket.writableCorked > 0) socket.uncork()
}

/** Destroys the socket after sending its octets; those that its peer does not accept are lost. */
export function destroyAfterFlush(socket: Socket): void {
  flushWrites(socket)
  socket.destroy()
}
