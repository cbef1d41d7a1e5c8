/**
 * Octets of a socket as they come. All sockets read into one buffer where that can be, as sockets
 * that a client opens with `onread` do: otherwise each read makes a buffer of its own, which costs
 * a seventh of a small request and a third of each collection. What always holds:
 *  (1) Octets that are `lent` are good until `taken` returns; who keeps some of them copies them.
 *  (2) A socket is what it was to all others: it pauses, resumes, ends and closes as any does.
 */
import { Socket } from 'node:net'

export type OnData = (octets: Buffer, lent: boolean) => void

/** Hands on what `socket` reads, until the function that is answered is called. */
export function readSocket(socket: Socket, taken: OnData): () => void {
  const stop = lending && useSharedBuffer(socket, lending, taken)
  if (stop) return stop
  const given = (octets: Buffer): void => taken(octets, false)
  socket.on('data', given)
  return () => socket.off('data', given)
}

/**
 * Node reads into it and calls back before anything else is read: but on Windows, where reads are
 * under way at once.
 */
const room = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(64 * 1024)

/** Where a net.Socket keeps what `onread` gave it. */
interface Lending {
  readonly room: Buffer
  readonly buffer: symbol
  readonly callback: symbol
}
const lending = room && lendingOf(room)

/** Undefined where Node is not as it is known to be: then each read has a buffer of its own. */
function lendingOf(room: Buffer): Lending | undefined {
  const names = Object.getOwnPropertySymbols(new Socket({ onread: { buffer: room, callback: () => true } }))
  const [buffer, callback] = ['kBuffer', 'kBufferCb'].map(name => names.find(each => each.description === name))
  return buffer && callback && { room, buffer, callback }
}

interface Open {
  readonly _handle?: { readonly useUserBuffer?: (room: Uint8Array) => void } | null
  [name: symbol]: unknown
}

function useSharedBuffer(socket: Socket, { room, buffer, callback }: Lending, taken: OnData): (() => void) | undefined {
  const open = socket as unknown as Open // what net.Socket is beside its types
  if ('encrypted' in socket || open[buffer] !== null || !open._handle?.useUserBuffer) return undefined
  open._handle.useUserBuffer(room)
  open[buffer] = room
  open[callback] = (count: number): void => taken(room.subarray(0, count), true)
  socket.resume()
  return () => {
    open[buffer] = open[callback] = null
  }
}
