/**
 * What is answered in one turn of the event loop leaves together at its end. Each write wakes the
 * reader at the other end, which costs as much as a small request does; readers that are awake cost
 * nothing. What always holds:
 *  (1) Nothing waits longer than for what else has arrived already, and for so many answers at
 *      most.
 *  (2) A socket that ends, or is destroyed by `destroyAfterFlush`, sends before what it was given
 *      before.
 */
import type { Socket } from 'node:net'

const socketsMax = 16
/** Octets of content up to which it is copied behind its head rather than sent apart from it. */
const joinedOctetsMax = 16 * 1024

export class WriteBatch {
  #turn = 0
  #isScheduled = false
  #sockets: Socket[] = []

  /**
   * The number of this turn of the event loop: another one once whatever else has arrived had its
   * chance.
   */
  begin(): number {
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(this.#end)
    }
    return this.#turn
  }

  /** A whole response: head and content in one piece where that costs less than two. */
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

/** What the socket was given leaves now, as far as its peer takes it. */
export function flushWrites(socket: Socket): void {
  while (socket.writableCorked > 0) socket.uncork()
}

/**
 * Destroys the socket, as far as it goes after what it was given: octets that its peer does not
 * take are lost.
 */
export function destroyAfterFlush(socket: Socket): void {
  flushWrites(socket)
  socket.destroy()
}
