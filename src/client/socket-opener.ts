/** Opens connections to one host: in cleartext or by TLS, directly or through a proxy. */
import type * as net from 'node:net'
import type * as tls from 'node:tls'
import type { ProxyRoute } from '../http/proxy-route.ts'
import { type OpeningTunnel, openTunnel } from './proxy-tunnel.ts'

/** @param isLent the octets are valid until this returns: those that are kept are copied */
export type TakePiece = (octets: Buffer, isLent: boolean) => void

export interface ConnectionListener {
  begin(socket: net.Socket): void
  /** No connection can be opened. */
  fail(error: Error): void
}

export class SocketOpener {
  readonly #url: URL
  readonly #proxy: ProxyRoute | undefined
  readonly #tls: tls.ConnectionOptions | undefined
  /**
   * All connections read into it, one after the other: a buffer for each read would be a third of
   * the collector's work. Not on Windows, where several reads are in progress at once.
   */
  readonly #room = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(64 * 1024)

  constructor(url: URL, proxy: ProxyRoute | undefined, tls: tls.ConnectionOptions | undefined) {
    this.#url = url
    this.#proxy = proxy
    this.#tls = tls
  }

  /** @param listener gets the connection, at once or when a proxy has opened it */
  connect(onData: TakePiece, listener: ConnectionListener): OpeningTunnel {
    const { protocol, hostname, port } = this.#url
    const target = { protocol, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPorts[protocol]) }
    const proxy = this.#proxy
    if (proxy && protocol === 'https:') {
      const secure = (raw: net.Socket) => listener.begin(this.#connectTls(target, onData, raw))
      return openTunnel(proxy, target, secure, error => listener.fail(error))
    }
    const { protocol: spoken, ...place } = proxy ?? target
    const to = { host: place.host, port: place.port }
    const socket = spoken === 'https:' ? this.#connectTls(to, onData) : this.#connectPlain(to, onData)
    listener.begin(socket)
    return socket
  }

  #connectPlain(to: HostAndPort, onData: TakePiece): net.Socket {
    const plain = { ...to, noDelay: true }
    const onread = this.#room && { buffer: this.#room, callback: (count: number) => this.#lend(count, onData) }
    const socket = process.getBuiltinModule('node:net').connect({ ...plain, ...(onread && { onread }) })
    return onread ? socket.resume() : socket.on('data', takeOwned(onData))
  }

  #connectTls({ host, port }: HostAndPort, onData: TakePiece, raw?: net.Socket): net.Socket {
    const named = process.getBuiltinModule('node:net').isIP(host) === 0 ? { servername: host } : {}
    const own = { ...(raw ? { socket: raw } : { host, port }), ALPNProtocols: ['http/1.1'] }
    // The authorities and the client certificate are for the target, not for a proxy.
    const options = this.#url.protocol === 'https:' ? this.#tls : undefined
    const socket = process.getBuiltinModule('node:tls').connect({ host, ...named, ...options, ...own })
    return socket.setNoDelay(true).on('data', takeOwned(onData))
  }

  #lend(count: number, onData: TakePiece): boolean {
    if (this.#room) onData(this.#room.subarray(0, count), true)
    return true
  }
}

interface HostAndPort {
  readonly host: string
  readonly port: number
}
const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }
/** No encoding was set, so a reader gets octets. */
const takeOwned =
  (onData: TakePiece) =>
  (piece: Buffer | string): void =>
    onData(piece as Buffer, false)
