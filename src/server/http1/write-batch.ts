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

  /** What is written to the socket from now on waits for the end of the turn. */
  add(socket: Socket): void {
    this.begin()
    socket.cork()
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
