/**
 * Bytes to plain records and back, within limits, on one address: HTTP/1.1 and HTTP/2, with or
 * without TLS. Each file says what it guards: connections here, requests and responses `http1/` and
 * `http2.ts`, content `incoming-content.ts`, fields `response-framing.ts`. This code makes no
 * decision about the meaning of a message.
 *  (1) A connection beyond `limits.connections` gets 503, one beyond an address's
 *      `limits.connectionsPerAddress` 429; far more get no response at all.
 *  (2) Every wait on a peer is bounded by `limits`, whatever the peer does or omits.
 *  (3) `close` admits no client, responds one last time on open connections, lets current exchanges
 *      continue until its limit, and leaves nothing open.
 */
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
import { peerAddress } from './peer.ts'
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
  readonly limits?: Partial<ServerLimits> | undefined
  /**
   * Receives what `serve` or a stream of content threw, and responses that cannot be sent. The
   * client got a bare 500, or its connection was cut.
   */
  readonly onError?: ((error: unknown, request?: Request) => void) | undefined
  /** Called for each connection that is refused, with the reason and the address of its peer. */
  readonly onRefusal?: ((reason: string, from: string) => void) | undefined
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
  const listener = new SocketListener(context, options.tls)
  await listener.open(options)
  return listener
}

/** Refused connections from one address that may linger; further ones get no response. */
const refusedPerAddress = 16

class SocketListener implements HttpListener {
  url = ''
  port = 0
  readonly #context: ServerContext
  readonly #server: Server | tls.Server
  readonly #secure: boolean
  /** All sockets, including those in their handshake. */
  readonly #sockets = new Set<Socket>()
  readonly #connections = new Set<Http1Connection>()
  readonly #sessions = new Set<Http2Session>()
  readonly #addresses = new AddressCount()
  /** Connections admitted so far. */
  #admitted = 0
  #watch: NodeJS.Timeout | undefined

  constructor(context: ServerContext, tls: Tls | undefined) {
    this.#context = context
    this.#secure = tls !== undefined
    this.#server = createNodeServer(context, tls)
    this.#server.on('connection', socket => this.#admit(socket))
    if (!tls) return
    this.#server.on('secureConnection', (socket: Socket) => this.#openSecure(socket))
    this.#server.on('tlsClientError', (_error, socket: Socket) => socket.destroy())
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
    this.url = `${this.#secure ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  }

  connections(): number {
    return this.#sockets.size
  }

  secure(tls: Tls): void {
    if (!('setSecureContext' in this.#server))
      throw new StartFailure('key', 'this address was started without TLS', {
        cure: 'start it with a key and a certificate',
      })
    this.#server.setSecureContext(createSecureContext(tls))
  }

  /** (1) */
  #admit(socket: Socket): void {
    const { limits } = this.#context
    this.#admitted++
    const address = peerAddress(socket)
    const ofAddress = this.#addresses.add(address)
    this.#sockets.add(socket)
    socket
      .on('error', () => {})
      .once('close', () => {
        this.#sockets.delete(socket)
        this.#addresses.remove(address)
      })
    if (ofAddress > limits.connectionsPerAddress) this.#refuseAddress(socket, address, ofAddress)
    else if (this.#sockets.size > limits.connections) this.#refuse(socket, address, refusals.connections)
    else if (!this.#secure) this.#openHttp1(socket, octets => this.#openHttp2(socket, octets))
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
    if (this.#secure) return void socket.destroy()
    socket.write(writeFinalResponse(respond(status, { detail, fields: { 'retry-after': '5' } })))
    closeGracefully(socket, this.#context)
  }

  /** RFC 7301: the handshake has chosen the protocol. */
  #openSecure(socket: Socket): void {
    if ('alpnProtocol' in socket && socket.alpnProtocol === 'h2') this.#openHttp2(socket)
    else this.#openHttp1(socket)
  }

  #openHttp1(socket: Socket, preface?: (octets: Buffer) => void): void {
    const remove = () => this.#connections.delete(connection)
    const connection = new Http1Connection(
      this.#context,
      socket,
      preface &&
        (octets => {
          remove()
          preface(octets)
        }),
    )
    this.#connections.add(connection)
    socket.once('close', remove)
    connection.open()
  }

  #openHttp2(socket: Socket, first?: Buffer): void {
    if (first) socket.unshift(first)
    const session = openHttp2Session(process.getBuiltinModule('node:http2'), this.#context, socket)
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
    for (let before = -1; before !== this.#admitted && !timer.isOver; ) {
      before = this.#admitted
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

function createNodeServer(context: ServerContext, tls: Tls | undefined): Server | tls.Server {
  const { limits } = context
  // A client may close its side after its request (RFC 9112 §9.6 knows half-closed connections): it
  // still gets its response.
  const options = { allowHalfOpen: true, noDelay: true }
  const server = tls
    ? process.getBuiltinModule('node:tls').createServer({
        ...options,
        ...createSecureContext(tls),
        ALPNProtocols: ['h2', 'http/1.1'],
        handshakeTimeout: limits.head,
        requestCert: tls.authorities !== undefined,
        rejectUnauthorized: false, // a client without a certificate, or with a foreign one, is anonymous: the face refuses it
      })
    : createServer(options)
  server.maxConnections = limits.connections + 1000 // (1)
  return server
}
