/** The peer of a socket: its address, and the certificate that it has proved to own. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/**
 * The peer's address; IPv4 is written as IPv4 also where the socket is of both versions. Empty on a
 * Unix socket.
 */
export function peerAddress(socket: Socket): string {
  const address = socket.remoteAddress ?? ''
  return address.startsWith('::ffff:') ? address.slice(7) : address
}

/** DER of the peer's certificate, where the handshake has verified it against our authorities. */
export function peerCertificate(socket: Socket): Uint8Array | undefined {
  if (!isTlsSocket(socket) || !socket.authorized) return undefined
  return socket.getPeerX509Certificate()?.raw
}

function isTlsSocket(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true
}
