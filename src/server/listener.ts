/**
 * Bytes to plain records and back, within limits, on one address: HTTP/1.1 and HTTP/2, with or
 * without TLS. Each file says what it guards: connections here, requests and responses `http1/` and
 * `http2.ts`, content `incoming-content.ts`, fields `response-framing.ts`. This code makes no
 * decision about the meaning of a message.
 *  (1) A connection beyond `limits.connections` gets 503, one beyond an address's
 *      `limits.connectionsPerAddress` 429; far more get no response at all.
 *      Behind a proxy that passes connections on, the client's address counts
 *      (`proxy-protocol.ts`).
 *  (2) Every wait on a peer is bounded by `limits`, whatever the peer does or omits.
 *  (3) `close` admits no client, responds one last time on open connections, lets current exchanges
 *      continue until its limit, and leaves nothing open.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type * as tls from 'node:tls'
import type { Request } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { AddressCount } from './address-count.ts'
import { closeGracefully, Http1Connection } from './http1/connection.ts'
import { destroyAfterFlush } from './http1/write-batch.ts'
import { type Http2Session, openHttp2Session } from './http2.ts'
import type { ServerLimits } from './limits.ts'
import { createWaitingWatch } from './pace.ts'
import { identifyPeer, peerAddress } from './peer.ts'
import { type ProxiedClient, receiveProxyHeader } from './proxy-protocol.ts'
import { limitRefusals, refusals, type ServerRefusal } from './refusals.ts'
import { writeFinalResponse } from './response-framing.ts'
import { createServerContext, type Serve, type ServerContext } from './server-context.ts'
import { explainStartFailure, StartFailure } from './start-failure.ts'
import { createSecureContext, type Tls } from './tls.ts'

export { Aborted } from './incoming-content.ts'
export { Unsendable } from './response-framing.ts'
export { type Serve, type ServerLimits, StartFailure, type Tls }

export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** Default 0: any free port. */
  readonly port?: number | undefined
  /** A Unix socket instead of host and port. */
  readonly path?: string | undefined
  /**
   * HTTPS, with HTTP/2 for clients that ask for it (ALPN). Without it HTTP/2 is accepted by prior
   * knowledge (RFC 9113 §3.3).
   */
  readonly tls?: Tls | undefined
  /**
   * Each connection begins with the header of a proxy that passes it on (PROXY protocol, version 1
   * or 2), and one without it is closed. Only the proxy may reach this address.
   */
  readonly proxyProtocol?: boolean | undefined
  readonly limits?: Partial<ServerLimits> | undefined
  /**
   * Receives what `serve` or a stream of content threw, and responses that cannot be sent. The
   * client got a bare 500, or its connection was cut.
   */
  readonly onError?: ((error: unknown, request?: Request) => void) | undefined
  /** Called for each connection that is refused, with the reason and the address of its peer. */
  readonly onRefusal?: ((reason: string, from: string) => void) | undefined
  /**
   * Called for each request that is refused by its octets: `serve` does not see it, or loses its
   * content.
   */
  readonly onBadRequest?: ((refusal: ServerRefusal, from: string) => void) | undefined
}

export interface HttpListener {
  /** Without a path and without a trailing slash: `http://127.0.0.1:8080`; `unix:/run/x.sock`. */
  readonly url: string
  /** 0 on a Unix socket. */
  readonly port: number
  /** How many connections are open. */
  connections(): number
  /**
   * Uses this key and certificate for later handshakes. If they are invalid, throws `StartFailure`
   * and keeps the old ones.
   */
  secure(tls: Tls): void
  /**
   * Stops. Current exchanges have `limit` milliseconds; resolves to the number of exchanges that
   * were cut.
   */
  close(limit: number): Promise<number>
}

/** Serves until closed. Rejects with `StartFailure`. */
export async function startListener(serve: Serve, options: ListenOptions = {}): Promise<HttpListener> {
  const context = createServerContext(serve, options)
  const listener = new SocketListener(context, options)
  await listener.open(options)
  return listener
}

/** Refused connections from one address that may linger; further ones get no response. */
const refusedPerAddress = 16

class SocketListener implements HttpListener {
  url = ''
  port = 0
  readonly #context: ServerContext
  readonly #server: Server
  /** Shakes hands on the connections of `#server`, which it also is where no header precedes them. */
  readonly #handshakes: tls.Server | undefined
  /** In the events of a handshake: the client of its connection. */
  readonly #clientOfHandshake = new AsyncLocalStorage<ProxiedClient>()
  /** All sockets, including those in their handshake. */
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Set<Http1Connection>()
  readonly #sessions = new Set<Http2Session>()
  readonly #addresses = new AddressCount()
  /** Those whose proxy has not said yet who its client is. */
  readonly #unnamed = new Set<Socket>()
  /** Connections accepted so far. */
  #accepted = 0
  #watch: NodeJS.Timeout | undefined

  constructor(context: ServerContext, { tls, proxyProtocol = false }: ListenOptions) {
    this.#context = context
    this.#handshakes = tls && createHandshakes(context, tls)
    this.#server = (!proxyProtocol && this.#handshakes) || createServer(socketOptions)
    this.#server.maxConnections = context.limits.connections + 1000 // (1)
    this.#server.on('connection', socket => {
      this.#accept(socket)
      if (proxyProtocol) this.#awaitHeader(socket)
      else this.#admit(socket)
    })
    this.#handshakes
      ?.on('secureConnection', socket => this.#openSecure(socket, this.#clientOfHandshake.getStore()))
      .on('tlsClientError', (_error, socket) => socket.destroy())
  }

  open({ host = '127.0.0.1', port = 0, path }: ListenOptions): Promise<void> {
    const server = this.#server
    return new Promise((resolve, reject) => {
      const where = path ?? `${host.includes(':') ? `[${host}]` : host}:${port}`
      const fail = (error: Error) => reject(explainStartFailure(error, where, path !== undefined))
      server.once('error', fail)
      const ready = () => {
        server.off('error', fail).on('error', error => this.#context.onError(error))
        const watch = this.#createWatch()
        // Octets that arrived while the loop was busy are read before their sender is judged.
        const watchNext = (): void => void setImmediate(watch)
        this.#watch = setInterval(watchNext, Math.min(1000, this.#context.limits.stall)).unref()
        const address = server.address()
        if (typeof address === 'object' && address !== null) this.#setUrl(address, host)
        else this.url = `unix:${path}`
        resolve()
      }
      // The clients that may be connecting at once: as many as Linux allows by default.
      if (path === undefined) server.listen({ host, port, backlog: 4096 }, ready)
      else server.listen({ path, backlog: 4096 }, ready)
    })
  }

  #setUrl({ port }: AddressInfo, host: string): void {
    this.port = port
    this.url = `${this.#handshakes ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  }

  connections(): number {
    return this.#sockets.size
  }

  secure(tls: Tls): void {
    if (!this.#handshakes)
      throw new StartFailure('key', 'this address was started without TLS', {
        cure: 'start it with a key and a certificate',
      })
    this.#handshakes.setSecureContext(createSecureContext(tls))
  }

  #accept(socket: Socket): void {
    this.#accepted++
    this.#sockets.add(socket)
    socket.on('error', () => {}).once('close', () => this.#sockets.delete(socket))
  }

  /** Until its header has arrived, a connection only counts among all of them. */
  #awaitHeader(socket: Socket): void {
    const { limits, onRefusal } = this.#context
    this.#unnamed.add(socket.once('close', () => this.#unnamed.delete(socket)))
    receiveProxyHeader(
      socket,
      limits.head,
      (client, first) => {
        this.#unnamed.delete(socket)
        this.#admit(socket, client, first)
      },
      reason => {
        if (reason !== undefined) onRefusal(reason, peerAddress(socket))
        socket.destroy()
      },
    )
  }

  /**
   * (1)
   * @param first the octets that came with the header of a proxy
   */
  #admit(socket: Socket, client?: ProxiedClient, first?: Buffer): void {
    const { limits } = this.#context
    const address = peerAddress(socket, client)
    const ofAddress = this.#addresses.add(address)
    socket.once('close', () => this.#addresses.remove(address))
    if (ofAddress > limits.connectionsPerAddress) this.#refuseAddress(socket, address, ofAddress)
    else if (this.#sockets.size > limits.connections) this.#refuse(socket, address, refusals.connections)
    else if (!this.#handshakes) this.#openHttp1(socket, client, { first, mayBeHttp2: true })
    else if (client) this.#shakeHands(this.#handshakes, socket, client, first)
  }

  #shakeHands(handshakes: tls.Server, socket: Socket, client: ProxiedClient, first?: Buffer): void {
    if (first && first.length > 0) socket.unshift(first)
    this.#clientOfHandshake.run(client, () => handshakes.emit('connection', socket))
  }

  /**
   * A client that keeps connecting gets no more responses: a refused connection keeps its place for
   * as long as it lingers.
   */
  #refuseAddress(socket: Socket, address: string, ofAddress: number): void {
    const { limits, onRefusal } = this.#context
    const refusal = limitRefusals.ofAddress(limits)
    if (ofAddress > limits.connectionsPerAddress + refusedPerAddress) {
      onRefusal(refusal.detail, address)
      socket.destroy()
    } else this.#refuse(socket, address, refusal)
  }

  #refuse(socket: Socket, address: string, { status, detail }: ServerRefusal): void {
    this.#context.onRefusal(detail, address)
    if (this.#handshakes) return void socket.destroy()
    socket.write(writeFinalResponse(respond(status, { detail, fields: { 'retry-after': '5' } })))
    closeGracefully(socket, this.#context)
  }

  /** RFC 7301: the handshake has chosen the protocol. */
  #openSecure(socket: tls.TLSSocket, client: ProxiedClient | undefined): void {
    if (socket.alpnProtocol === 'h2') this.#openHttp2(socket, client)
    else this.#openHttp1(socket, client)
  }

  #openHttp1(
    socket: Socket,
    client: ProxiedClient | undefined,
    { first, mayBeHttp2 = false }: { readonly first?: Buffer | undefined; readonly mayBeHttp2?: boolean } = {},
  ): void {
    const remove = () => this.#connections.delete(connection)
    const openHttp2 = (octets: Buffer): void => {
      remove()
      this.#openHttp2(socket, client, octets)
    }
    const peer = identifyPeer(socket, client)
    const connection = new Http1Connection(this.#context, socket, peer, mayBeHttp2 ? openHttp2 : undefined)
    this.#connections.add(connection)
    socket.once('close', remove)
    connection.open(first)
  }

  #openHttp2(socket: Socket, client: ProxiedClient | undefined, first?: Buffer): void {
    if (first) socket.unshift(first)
    const peer = identifyPeer(socket, client)
    const session = openHttp2Session(process.getBuiltinModule('node:http2'), this.#context, socket, peer)
    this.#sessions.add(session)
    session.wire.once('close', () => this.#sessions.delete(session))
    if (this.#context.draining) session.wire.close()
  }

  #createWatch(): () => void {
    const watchWaiting = createWaitingWatch(this.#context)
    return () => {
      const now = performance.now()
      watchWaiting(now)
      for (const connection of this.#connections) connection.watch(now)
    }
  }

  /** (3) */
  async close(limit: number): Promise<number> {
    const context = this.#context
    context.draining = true
    const late = new CloseTimer(limit)
    const lastRequests = new CloseTimer(Math.min(context.limits.drain, limit / 2))
    await this.#admitKnown(lastRequests)
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    for (const session of this.#sessions) session.wire.close()
    await Promise.race([closed, lastRequests.over])
    for (const socket of this.#unnamed) socket.destroy()
    await passTurn()
    for (const connection of this.#connections) connection.closeWhenIdle()
    await Promise.race([closed, late.over])
    for (const timer of [late, lastRequests]) timer.clear()
    clearInterval(this.#watch)
    const cut = this.#inProgress()
    for (const session of this.#sessions) session.wire.destroy()
    for (const socket of this.#sockets) destroyAfterFlush(socket)
    await closed
    this.#sockets.clear()
    return cut
  }

  /**
   * Clients that the system has already accepted wait for their turn of the loop; closing now would
   * reset them.
   */
  async #admitKnown(timer: CloseTimer): Promise<void> {
    for (let before = -1; before !== this.#accepted && !timer.isOver; ) {
      before = this.#accepted
      await passTurn()
    }
  }

  #inProgress(): number {
    let sum = 0
    for (const connection of this.#connections) if (connection.exchange) sum++
    for (const session of this.#sessions) sum += session.exchanges.size
    return sum
  }
}

/** Lets the event loop handle connections and octets that arrived while it was busy. */
const passTurn = async (): Promise<void> => {
  for (let phase = 0; phase < 2; phase++) await new Promise(resolve => setImmediate(resolve))
}

class CloseTimer {
  isOver = false
  readonly over: Promise<void>
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    this.over = new Promise(resolve => {
      this.#timer = setTimeout(() => {
        this.isOver = true
        resolve()
      }, milliseconds)
    })
  }

  clear(): void {
    clearTimeout(this.#timer)
  }
}

/**
 * A client may close its side after its request (RFC 9112 §9.6 knows half-closed connections): it
 * still gets its response.
 */
const socketOptions = { allowHalfOpen: true, noDelay: true }

const createHandshakes = ({ limits }: ServerContext, tls: Tls): tls.Server =>
  process.getBuiltinModule('node:tls').createServer({
    ...socketOptions,
    ...createSecureContext(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: limits.head,
    requestCert: tls.authorities !== undefined,
    rejectUnauthorized: false, // a client without a certificate, or with a foreign one, is anonymous: the face refuses it
  })
