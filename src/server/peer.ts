/**
 * The peer of a connection: its address, the certificate that it has proved to own, and whether it
 * is gone.
 */
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

/**
 * Tells an application that no client is left to answer. A client of HTTP/1.1 that has closed its
 * own side alone still reads (RFC 9112 §9.6): only a connection that is closed in both directions,
 * or was reset, counts as gone. To be made when it is first asked for: few handlers ask.
 */
export class GoneSignal {
  readonly #controller = new AbortController()

  /** @param isGone whether the connection or stream has ended already */
  get(isGone: boolean): AbortSignal {
    if (isGone) this.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#controller.abort(new Error('the client has closed its connection'))
  }
}
