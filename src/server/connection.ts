import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** One HTTP/1.1 connection, and where its exchanges `E` stand. */
export class Connection<E> {
  readonly socket: Socket
  readonly from: string
  readonly scheme: 'http' | 'https'
  readonly certificate: Uint8Array | undefined
  /** Exchanges whose response has not left altogether. */
  open = 0
  /** Octets that had been read when the last response left: what came since belongs to the next request. */
  heard = 0
  /** The application is at work; exchanges that were pipelined wait. */
  busy = false
  readonly queue: E[] = []
  /** The exchange that came last: its content may still be arriving. */
  last: E | undefined
  /** The last response was sent, or is being sent: RFC 9112 §9.6, no further request is looked at. */
  ending = false
  /** The parser gave up: the status to answer once earlier responses have left. */
  failed: number | undefined

  constructor(socket: Socket) {
    this.socket = socket
    this.from = addressOf(socket)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.certificate = certificateOf(socket)
  }
}

/** The peer's address; IPv4 is written as IPv4 also where the socket speaks both. Empty on a Unix socket. */
export function addressOf(socket: Socket): string {
  const address = socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** DER of the peer's certificate, only where the handshake proved it against our authorities. */
export function certificateOf(socket: Socket): Uint8Array | undefined {
  if (!isTls(socket) || !socket.authorized) return undefined
  return socket.getPeerX509Certificate()?.raw
}

function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true
}
