/**
 * The connections to one host, and the calls that wait for one. What always holds, by number:
 *  (1) A connection that is free again rests for a turn of the event loop, in which stray octets
 *      would arrive.
 *  (2) The connections and the calls that wait for one are limited; waiting calls keep their order.
 */

import type * as tls from 'node:tls'
import type { HttpFields } from '../http/message.ts'
import type { ProxyRoute } from '../http/proxy-route.ts'
import { ClientCall, type SentCall, writeLines } from './client-call.ts'
import { ClientConnection } from './client-connection.ts'
import { TransportFailure } from './errors.ts'
import { chooseProxy, type OpeningTunnel } from './proxy-tunnel.ts'
import type { ResponseLimits } from './response-reader.ts'
import { type ConnectionListener, SocketOpener, type TakePiece } from './socket-opener.ts'
import type { TransportResponse } from './transport.ts'

/** How a SOAP client sends its requests. */
export interface HttpOptions {
  /** The most connections at once; default 32. */
  readonly connections?: number
  /** The most calls that wait for one; default 10,000. */
  readonly waiting?: number
  /**
   * Milliseconds that a connection may be idle; default 4,000, and less if the server says so
   * (Keep-Alive).
   */
  readonly idle?: number
  /** The most octets of a response; default 16 MiB. */
  readonly longest?: number
  /** For https: authorities, and a client certificate. */
  readonly tls?: tls.ConnectionOptions
  /**
   * The address of a proxy, `http://proxy.example:3128`; `false`: none. The default comes from
   * HTTP_PROXY, HTTPS_PROXY and NO_PROXY if NODE_USE_ENV_PROXY is 1, as for Node's own requests.
   */
  readonly proxy?: string | false
}

export class ConnectionPool {
  readonly limits: ResponseLimits
  readonly #url: URL
  readonly #proxy: ProxyRoute | undefined
  readonly #opener: SocketOpener
  readonly #connectionsMax: number
  readonly #waitingMax: number
  readonly #idleMs: number
  readonly #open = new Set<ClientConnection>()
  /** The most recently used connection comes first. */
  readonly #free: ClientConnection[] = []
  /** Connections whose response was completed in this turn of the event loop (1). */
  #turning: ClientConnection[] = []
  #turn: NodeJS.Immediate | undefined
  readonly #waiting = new Set<ClientCall>()
  #sweeper: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: URL, options: HttpOptions, limits: ResponseLimits) {
    this.#url = url
    this.#proxy = chooseProxy(url, options.proxy)
    this.#opener = new SocketOpener(url, this.#proxy, options.tls)
    this.#connectionsMax = options.connections ?? 32
    this.#waitingMax = options.waiting ?? 10_000
    this.#idleMs = options.idle ?? 4000
    this.limits = { ...limits, content: options.longest ?? limits.content }
  }

  send(start: string, sending: SentCall): Promise<TransportResponse> {
    return new Promise((resolve, reject) => this.#begin(new ClientCall(this, start, sending, { resolve, reject })))
  }

  #begin(call: ClientCall): void {
    if (call.isSettled) return
    const connection = this.#isClosed ? undefined : (this.#takeFree() ?? this.#openIfMissing())
    if (connection) connection.carry(call)
    else if (this.#isClosed) call.reject(new TransportFailure('closed', 'the client was closed'))
    else if (this.#waiting.size < this.#waitingMax + this.#turning.length) this.#waiting.add(call)
    else call.reject(new TransportFailure('busy', `${this.#waitingMax} calls are waiting for a connection already`))
  }

  #takeFree(): ClientConnection | undefined {
    for (let connection = this.#free.pop(); connection; connection = this.#free.pop()) {
      if (connection.isFit(Date.now())) return connection
      connection.destroy()
    }
    return undefined
  }

  /** Opens another connection, unless one that rests is free soon. */
  #openIfMissing(): ClientConnection | undefined {
    const isMissing = this.#open.size < this.#connectionsMax && this.#waiting.size >= this.#turning.length
    return isMissing ? this.#openAnother() : undefined
  }

  #openAnother(): ClientConnection {
    const connection = new ClientConnection(this)
    this.#open.add(connection)
    return connection
  }

  /** RFC 9112 §3.2.2: a proxy for http gets the absolute target, and its own credentials. */
  writeStart(method: string, target: string, fields: HttpFields): string {
    const { protocol, host } = this.#url
    const proxy = protocol === 'http:' ? this.#proxy : undefined
    const whole = proxy ? `http://${host}${target}` : target
    const names = proxy?.authorization === undefined ? '' : `proxy-authorization: ${proxy.authorization}\r\n`
    return `${method} ${whole} HTTP/1.1\r\nhost: ${host}\r\n${names}${writeLines(fields)}`
  }

  connect(onData: TakePiece, listener: ConnectionListener): OpeningTunnel {
    return this.#opener.connect(onData, listener)
  }

  release(connection: ClientConnection): void {
    connection.rest(Date.now() + Math.min(this.#idleMs, connection.keptForMs))
    this.#turning.push(connection)
    this.#turn ??= setImmediate(endTurn, this)
  }

  endTurn(): void {
    const rested = this.#turning
    this.#turning = []
    this.#turn = undefined
    const now = Date.now()
    for (const connection of rested) {
      const isFit = connection.isFit(now)
      const next = isFit ? this.#takeWaiting() : undefined
      if (!isFit) connection.destroy()
      else if (next) connection.carry(next)
      else this.#free.push(connection)
    }
    if (this.#free.length > 0) this.#sweeper ??= setTimeout(sweep, Math.max(this.#idleMs, 1), this).unref()
  }

  remove(connection: ClientConnection): void {
    this.#open.delete(connection)
    for (const unused of [this.#free, this.#turning]) {
      const at = unused.indexOf(connection)
      if (at >= 0) unused.splice(at, 1)
    }
    const next = this.#open.size < this.#connectionsMax ? this.#takeWaiting() : undefined
    if (next) this.#openAnother().carry(next)
  }

  #takeWaiting(): ClientCall | undefined {
    for (const call of this.#waiting) {
      this.#waiting.delete(call)
      return call
    }
    return undefined
  }

  stopWaiting(call: ClientCall): void {
    this.#waiting.delete(call)
  }

  sweep(): void {
    this.#sweeper = undefined
    const now = Date.now()
    for (const connection of [...this.#free]) if (!connection.isFit(now)) connection.destroy()
    if (this.#free.length > 0) this.#sweeper = setTimeout(sweep, Math.max(this.#idleMs, 1), this).unref()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#sweeper)
    clearImmediate(this.#turn)
    const closed = new TransportFailure('closed', 'the client was closed')
    for (const call of this.#waiting) call.reject(closed)
    this.#waiting.clear()
    for (const connection of [...this.#open]) connection.close()
  }
}
const sweep = (pool: ConnectionPool): void => pool.sweep()
const endTurn = (pool: ConnectionPool): void => pool.endTurn()
