/**
 * Reads a socket's octets as they arrive. Where possible all sockets read into one buffer, like
 * client sockets opened with `onread`: otherwise each read allocates a buffer, which costs a
 * seventh of a small request and a third of each garbage collection. What always holds:
 *  (1) Lent octets are valid until `onData` returns; a reader that keeps some copies them.
 *  (2) For all other code the socket is unchanged: it pauses, resumes, ends and closes like any
 *      socket.
 */
import { Socket } from 'node:net'

export type OnData = (octets: Buffer, lent: boolean) => void

/** Hands on the octets that `socket` reads. @returns a function that stops reading */
export function readSocket(socket: Socket, onData: OnData): () => void {
  const stop = sharedReading && useSharedBuffer(socket, sharedReading, onData)
  if (stop) return stop
  const onOwned = (octets: Buffer): void => onData(octets, false)
  socket.on('data', onOwned)
  return () => socket.off('data', onOwned)
}

/**
 * Node reads into it and calls back before the next read; not on Windows, where several reads are
 * under way at once.
 */
const sharedMemory = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(64 * 1024)

/** The keys under which a net.Socket keeps its `onread` settings. */
interface SharedReading {
  readonly room: Buffer
  readonly buffer: symbol
  readonly callback: symbol
}
const sharedReading = sharedMemory && findSharedReading(sharedMemory)

/** Undefined for a Node that works in another way: then each read has its own buffer. */
function findSharedReading(room: Buffer): SharedReading | undefined {
  const names = Object.getOwnPropertySymbols(new Socket({ onread: { buffer: room, callback: () => true } }))
  const [buffer, callback] = ['kBuffer', 'kBufferCb'].map(name => names.find(each => each.description === name))
  return buffer && callback && { room, buffer, callback }
}

interface OpenSocket {
  readonly _handle?: { readonly useUserBuffer?: (room: Uint8Array) => void } | null
  [name: symbol]: unknown
}

function useSharedBuffer(
  socket: Socket,
  { room, buffer, callback }: SharedReading,
  onData: OnData,
): (() => void) | undefined {
  const open = socket as unknown as OpenSocket // a member that the types of net.Socket omit
  if ('encrypted' in socket || open[buffer] !== null || !open._handle?.useUserBuffer) return undefined
  open._handle.useUserBuffer(room)
  open[buffer] = room
  open[callback] = (count: number): void => onData(room.subarray(0, count), true)
  socket.resume()
  return () => {
    open[buffer] = open[callback] = null
  }
}
