/** The peer of a socket: its address, and the certificate that it has proved to own. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { addressBlock } from '../base/address.ts'

/**
 * The peer's address, as `addressBlock` writes it: an IPv6 peer is its /64. Empty on a Unix socket.
 */
export const peerAddress = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>): string =>
  addressBlock(remoteAddress)

/** DER of the peer's certificate, where the handshake has verified it against our authorities. */
export function peerCertificate(socket: Socket): Uint8Array | undefined {
  if (!isTlsSocket(socket) || !socket.authorized) return undefined
  return socket.getPeerX509Certificate()?.raw
}

function isTlsSocket(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true
}
