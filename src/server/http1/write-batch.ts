/**
 * What is answered in one turn of the event loop leaves together at its end. Each write wakes whoever reads the other end, which
 * costs as much as a small request does; readers who are awake cost nothing. What always holds:
 *  (1) Nothing waits longer than for what else has arrived already, and for so many answers at most.
 *  (2) A socket that ends, or is severed, sends before what it was given before.
 */
import type { Socket } from 'node:net'

const most = 16
let waiting: Socket[] = []

/** What is written to the socket from now on waits for the end of the turn. */
export function batchWrite(socket: Socket): void {
  socket.cork()
  if (waiting.push(socket) === 1) setImmediate(leave)
  else if (waiting.length === most) leave()
}

function leave(): void {
  const sockets = waiting
  waiting = []
  for (const socket of sockets) socket.uncork()
}

/** What the socket was given leaves now, as far as its peer takes it. */
export function flushWrites(socket: Socket): void {
  while (socket.writableCorked > 0) socket.uncork()
}

/** Destroys the socket, as far as it goes after what it was given: octets that its peer does not take are lost. */
export function destroyAfterFlush(socket: Socket): void {
  flushWrites(socket)
  socket.destroy()
}
