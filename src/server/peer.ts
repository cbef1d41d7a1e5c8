/**
 * The peer of a connection: its address, the certificate that it proved to own, and whether it has
 * left.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { addressBlock } from '../base/address.ts'
import type { ProxiedClient } from './proxy-protocol.ts'

/** Of a connection: what holds for each of its requests. */
export interface Peer {
  /** As `addressBlock` writes it: an IPv6 peer is its /64. Empty on a Unix socket. */
  readonly address: string
  readonly scheme: 'http' | 'https'
  /** DER of its certificate, if the handshake has verified it against our authorities. */
  readonly certificate: Uint8Array | undefined
}

/** @param client what a proxy that passes connections on says of its client */
export const identifyPeer = (socket: Socket, client?: ProxiedClient): Peer => ({
  address: peerAddress(socket, client),
  scheme: client?.isSecure || isTlsSocket(socket) ? 'https' : 'http',
  certificate: findPeerCertificate(socket),
})

/** The address alone, also before a handshake. */
export const peerAddress = ({ remoteAddress = '' }: Pick<Socket, 'remoteAddress'>, client?: ProxiedClient): string =>
  addressBlock(client?.address ?? remoteAddress)

function findPeerCertificate(socket: Socket): Uint8Array | undefined {
  if (!isTlsSocket(socket) || !socket.authorized) return undefined
  return socket.getPeerX509Certificate()?.raw
}

function isTlsSocket(socket: Socket): socket is TLSSocket {
  return 'encrypted' in socket && socket.encrypted === true
}

/**
 * Signals to an application that no client is left to respond to. An HTTP/1.1 client that has only
 * closed its own side still reads (RFC 9112 §9.6): only a connection closed in both directions, or
 * reset, counts as gone. Created on first use, since few handlers ask.
 */
export class GoneSignal {
  readonly #controller = new AbortController()

  /** @param isGone whether the connection or stream has already ended */
  get(isGone: boolean): AbortSignal {
    if (isGone) this.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#controller.abort(new Error('the client has closed its connection'))
  }
}
