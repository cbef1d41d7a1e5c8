import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * The peer's address; IPv4 is written as IPv4 also where the socket speaks both. Empty on a Unix
 * socket.
 */
export function peerAddress(socket: Socket): string {
  const address = socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** DER of the peer's certificate, only where the handshake proved it against our authorities. */
export function peerCertificate(socket: Socket): Uint8Array | undefined {
  if (!isTls(socket) || !socket.authorized) return undefined
  return socket.getPeerX509Certificate()?.raw
}

function isTls(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true
}
