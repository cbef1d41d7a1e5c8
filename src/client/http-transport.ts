/**
 * Requests over kept HTTP/1.1 connections. What always holds, by number:
 *  (1) A connection carries one message at a time. It is used again only if its response was
 *      complete, nothing followed it, all of the message was sent, and neither side announced the
 *      end of the connection. Before that, it rests for a turn of the event loop, in which stray
 *      octets would arrive.
 *  (2) The connections and the calls that wait for one are limited; waiting calls keep their order.
 *  (3) A call settles once; its time limit starts when it is made, and includes waiting and
 *      connecting. A call whose content passes settles with the head of its response, and the
 *      content ends once.
 *  (4) No text of a caller can end a line of the head or begin another.
 * It is our own and not http.Agent, which takes three times the CPU for a POST: 125 µs instead of
 * 37, and 54 instead of 15 with 32 at once. No message is retried here.
 */
import type * as net from 'node:net'
import type * as tls from 'node:tls'
import type { HttpFields } from '../http/message.ts'
import type { ProxyRoute } from '../http/proxy-route.ts'
import { ArrivingContent } from './arriving-content.ts'
import { TransportFailure } from './errors.ts'
import { chooseProxy, type OpeningTunnel, openTunnel } from './proxy-tunnel.ts'
import { type ContentSink, type ResponseLimits, Responses, Unreadable } from './response-reader.ts'
import { type ClientTransport, longestDefault, type TransportRequest, type TransportResponse } from './transport.ts'

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

/** The same limits for fields as in `server/limits.ts`, and for the chunks of content. */
const responseLimits: ResponseLimits = { head: 32 * 1024, content: longestDefault, chunks: 16_384 }

/** Sends POSTs to one address. */
export function createHttpTransport(address: string, options: HttpOptions = {}): ClientTransport {
  const url = parseHttpAddress(address)
  const pool = new Pool(url, options)
  return {
    prepare: fields => {
      const start = pool.writeStart('POST', `${url.pathname}${url.search}`, fields)
      return sending => pool.send(start, sending)
    },
    close: () => pool.close(),
  }
}

/** One request of any method. */
export interface PooledRequest extends Omit<TransportRequest, 'content' | 'fields'> {
  readonly method: string
  /** The path and the query (RFC 9112 §3.2.1). */
  readonly target: string
  readonly fields: HttpFields
  /** Undefined: it has none. */
  readonly content: TransportRequest['content'] | undefined
}
export interface HttpPool {
  /** @throws TransportFailure, the reason of the signal, or the error of flowing content */
  send(request: PooledRequest): Promise<TransportResponse>
  /** Accepts no more requests; those in progress end with a `TransportFailure`. */
  close(): void
}
/** Requests of any method to the host of one address. */
export function createHttpPool(address: string, options: HttpOptions = {}): HttpPool {
  const url = parseHttpAddress(address)
  const pool = new Pool(url, options)
  return {
    send: async request => {
      const { method, target, fields, ...sending } = request
      if (!/^[A-Za-z]+$/.test(method) || !/^\/[!-~]*$/.test(target))
        throw new TypeError(
          `${method} ${target} is an invalid request line: give a method, and a path in visible ASCII`,
        )
      return await pool.send(pool.writeStart(method, target, fields), {
        ...sending,
        fields: undefined,
        hasNoContent: method === 'HEAD',
      })
    },
    close: () => pool.close(),
  }
}

function parseHttpAddress(address: string): URL {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`${address} is not an http or https address: give one such as https://shop.example/soap`)
  if (url.username !== '' || url.password !== '')
    throw new TypeError('the address contains credentials: give them as `credentials`')
  return url
}

/**
 *  (4) RFC 9110 §5.5; framing and connection fields belong to this file.
 */
function writeLines(fields: HttpFields): string {
  let lines = ''
  for (const [name, value] of Object.entries(fields)) {
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || /[^\t\x20-\x7e]/.test(value))
      throw new TypeError(`the field ${name} has a character that fields cannot have: use visible ASCII`)
    if (/^(host|connection|content-length|transfer-encoding|expect|upgrade|te|trailer)$/i.test(name))
      throw new TypeError(`the field ${name} is the connection's own: leave it out`)
    lines += `${name}: ${value}\r\n`
  }
  return lines
}

interface Settlement {
  readonly resolve: (response: TransportResponse) => void
  readonly reject: (reason: unknown) => void
}

/** The message of one call: a request may have no content, and a response to HEAD has none. */
interface SentCall extends Omit<TransportRequest, 'content'> {
  readonly content: TransportRequest['content'] | undefined
  readonly hasNoContent?: boolean
}

/** One call in progress. */
class ClientCall {
  connection: ClientConnection | undefined = undefined
  isSettled = false
  /** All of it was handed to the connection. */
  isSent = true
  readonly #pool: Pool
  readonly #start: string
  readonly #sending: SentCall
  readonly #settlement: Settlement
  #timer: NodeJS.Timeout
  /** The content of its response, if it passes. */
  #arriving: ArrivingContent | undefined
  /** The slices of it in the last piece from the socket. */
  #slices: Buffer[] = []

  constructor(pool: Pool, start: string, sending: SentCall, settlement: Settlement) {
    this.#pool = pool
    this.#start = sending.fields ? start + writeLines(sending.fields) : start
    this.#sending = sending
    this.#settlement = settlement
    this.#timer = setTimeout(endLate, Math.min(sending.timeLimit, timerMaxMs), this)
    sending.signal?.addEventListener('abort', this.#abort)
    if (sending.signal?.aborted) this.#abort()
  }

  write(socket: net.Socket): void {
    const { content, flowing } = this.#sending
    if (flowing) {
      void this.#flow(socket, flowing)
      return
    }
    if (typeof content === 'string') {
      const length = Buffer.byteLength(content)
      const text = `${this.#start}content-length: ${length}\r\n\r\n${content}`
      socket.write(text, length === content.length ? 'latin1' : 'utf8') // one octet each: ASCII, the same in both
      return
    }
    if (content === undefined) {
      socket.write(`${this.#start}\r\n`, 'latin1')
      return
    }
    const length = content.reduce((sum, piece) => sum + piece.length, 0)
    socket.cork()
    socket.write(`${this.#start}content-length: ${length}\r\n\r\n`, 'latin1')
    for (const piece of content) socket.write(piece)
    socket.uncork()
  }

  get mayPass(): boolean {
    return this.#sending.passing !== undefined
  }
  /** Whatever its response announces (RFC 9112 §6.3). */
  get hasNoContent(): boolean {
    return this.#sending.hasNoContent === true
  }

  /**
   * RFC 9112 §7.1: content of unknown length in chunks, at the speed of the slower side. The time
   * limit is for the service: it is suspended while the sender of the content is awaited. If the
   * content fails, the connection ends, so that a part of it is not taken for the whole.
   */
  async #flow(socket: net.Socket, flowing: AsyncIterable<Uint8Array>): Promise<void> {
    this.isSent = false
    const pieces: AsyncIterator<Uint8Array, void, boolean> = flowing[Symbol.asyncIterator]()
    try {
      socket.write(`${this.#start}transfer-encoding: chunked\r\n\r\n`, 'latin1')
      clearTimeout(this.#timer)
      for (let next = await pieces.next(false); ; next = await pieces.next(socket.writableLength === 0)) {
        if (this.isSettled) break
        if (next.done) {
          socket.write('0\r\n\r\n', 'latin1')
          this.isSent = true
          this.#restartTimer()
          return
        }
        if (next.value.length === 0) continue
        socket.cork()
        socket.write(`${next.value.length.toString(16)}\r\n`, 'latin1')
        socket.write(next.value)
        const hasRoom = socket.write('\r\n', 'latin1')
        socket.uncork()
        if (!hasRoom) await this.#waitForRoom(socket)
        if (this.isSettled) break
      }
    } catch (thrown) {
      this.#giveUp(thrown)
    }
    void pieces.return?.().catch(() => {})
  }

  async #waitForRoom(socket: net.Socket): Promise<void> {
    this.#restartTimer()
    const { promise, resolve } = Promise.withResolvers<void>()
    socket.on('drain', resolve).on('close', resolve)
    await promise
    socket.off('drain', resolve).off('close', resolve)
    clearTimeout(this.#timer)
  }

  #restartTimer(): void {
    clearTimeout(this.#timer)
    if (!this.isSettled) this.#timer = setTimeout(endLate, Math.min(this.#sending.timeLimit, timerMaxMs), this)
  }

  /** The head of its response has arrived, with content that is not held. */
  sinkOf(status: number, fields: HttpFields, socket: net.Socket): ContentSink | undefined {
    const { passing, timeLimit } = this.#sending
    if (!passing?.mayPass(status, fields) || Number(fields['content-length']) > passing.octetsMax) return undefined
    const abandon = () => this.connection?.abandon(this)
    const control = { pause: () => socket.pause(), resume: () => socket.resume(), abandon }
    this.#arriving = new ArrivingContent(control, { timeLimit, octetsMax: passing.octetsMax })
    if (this.#settle())
      this.#settlement.resolve({ status, fields, content: new Uint8Array(0), arriving: this.#arriving })
    return octets => void this.#slices.push(octets)
  }

  /** A piece has been read completely; some of it was passing content. */
  passOn(piece: Buffer, isLent: boolean): void {
    if (this.#slices.length === 0) return
    const copy = isLent ? copySlices(this.#slices) : undefined
    this.#arriving?.add(copy ? [copy] : this.#slices, copy ?? piece)
    this.#slices = []
  }

  resolve(response: TransportResponse): void {
    this.#arriving?.end()
    if (this.#settle()) this.#settlement.resolve(response)
  }

  reject(reason: unknown): void {
    this.#arriving?.fail(reason)
    if (this.#settle()) this.#settlement.reject(reason)
  }

  /** The caller no longer waits for it. */
  readonly #abort = (): void => this.#giveUp(this.#sending.signal?.reason)

  #giveUp(reason: unknown): void {
    this.reject(reason)
    if (this.connection) this.connection.abandon(this)
    else this.#pool.stopWaiting(this)
  }

  endLate(): void {
    const { connection } = this
    const stage = !connection ? 'a connection was free' : connection.isOpen ? 'a response came' : 'it was connected'
    const detail = `the time limit of ${this.#sending.timeLimit} ms was over before ${stage}`
    this.#giveUp(
      new TransportFailure('late', detail, {
        mayHaveRun: connection?.isOpen ?? false,
        begun: connection?.hasBegun ?? false,
      }),
    )
  }

  /** (3) */
  #settle(): boolean {
    if (this.isSettled) return false
    this.isSettled = true
    clearTimeout(this.#timer)
    this.#sending.signal?.removeEventListener('abort', this.#abort)
    return true
  }
}
/** In a buffer that is theirs alone, so that its memory can be freed. */
function copySlices(slices: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(slices.reduce((sum, each) => sum + each.length, 0))
  let at = 0
  for (const each of slices) at += each.copy(copy, at)
  return copy
}
const endLate = (call: ClientCall): void => call.endLate()
/** A delay above the maximum of a timer would fire at once. */
const timerMaxMs = 2 ** 31 - 1

/** @param isLent the octets are valid until this returns: those that are kept are copied */
type TakePiece = (octets: Buffer, isLent: boolean) => void

class Pool {
  readonly limits: ResponseLimits
  readonly #url: URL
  readonly #options: HttpOptions
  readonly #proxy: ProxyRoute | undefined
  readonly #connectionsMax: number
  readonly #waitingMax: number
  readonly #idleMs: number
  /**
   * All connections read into it, one after the other: a buffer for each read would be a third of
   * the collector's work. Not on Windows, where several reads are in progress at once.
   */
  readonly #room = process.platform === 'win32' ? undefined : Buffer.allocUnsafeSlow(64 * 1024)
  readonly #open = new Set<ClientConnection>()
  /** The most recently used connection comes first. */
  readonly #free: ClientConnection[] = []
  /** Connections whose response was completed in this turn of the event loop (1). */
  #turning: ClientConnection[] = []
  #turn: NodeJS.Immediate | undefined
  readonly #waiting = new Set<ClientCall>()
  #sweeper: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(url: URL, options: HttpOptions) {
    this.#url = url
    this.#options = options
    this.#proxy = chooseProxy(url, options.proxy)
    this.#connectionsMax = options.connections ?? 32
    this.#waitingMax = options.waiting ?? 10_000
    this.#idleMs = options.idle ?? 4000
    this.limits = { ...responseLimits, content: options.longest ?? responseLimits.content }
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
    const options = this.#url.protocol === 'https:' ? this.#options.tls : undefined
    const socket = process.getBuiltinModule('node:tls').connect({ host, ...named, ...options, ...own })
    return socket.setNoDelay(true).on('data', takeOwned(onData))
  }

  #lend(count: number, onData: TakePiece): boolean {
    if (this.#room) onData(this.#room.subarray(0, count), true)
    return true
  }

  /** A connection that can carry another. */
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

  /** A connection that has ended. */
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
const sweep = (pool: Pool): void => pool.sweep()
const endTurn = (pool: Pool): void => pool.endTurn()

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

interface ConnectionListener {
  begin(socket: net.Socket): void
  /** No connection can be opened. */
  fail(error: Error): void
}

class ClientConnection {
  isOpen = false
  /** Milliseconds for which the server keeps the connection. */
  keptForMs = Number.POSITIVE_INFINITY
  readonly #pool: Pool
  /** Undefined until a proxy has opened it. */
  #socket: net.Socket | undefined
  readonly #opening: OpeningTunnel
  readonly #responses: Responses
  #call: ClientCall | undefined
  /** The time until which it may be idle; 0 while it is in use. */
  #until = 0
  #error: unknown
  #unopened = 'no connection could be opened'
  #isGone = false

  constructor(pool: Pool) {
    this.#pool = pool
    this.#responses = new Responses(pool.limits)
    this.#opening = pool.connect(this.#onData, this)
  }

  begin(socket: net.Socket): void {
    this.#socket = socket
    if (this.#isGone) socket.destroy()
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => {
      this.isOpen = true
      this.#call?.write(socket)
    })
    socket.on('end', this.#onEnd)
    socket.on('error', error => {
      this.#error = error
    })
    socket.on('close', () => this.#remove())
  }

  fail(error: Error): void {
    this.#error = error
    this.#unopened = error.message
    this.#remove()
  }

  /** Called once it is open. */
  get #connected(): net.Socket {
    return this.#socket as net.Socket
  }

  /** An octet of a response has arrived. */
  get hasBegun(): boolean {
    return this.#responses.hasBegun
  }

  isFit(now: number): boolean {
    return now < this.#until && !this.#isGone && this.#connected.writable
  }

  carry(call: ClientCall): void {
    this.#call = call
    call.connection = this
    if (this.#until > 0) this.#connected.ref()
    this.#until = 0
    this.#responses.sinkOf = call.mayPass ? (status, fields) => call.sinkOf(status, fields, this.#connected) : undefined
    this.#responses.hasNoContent = call.hasNoContent
    if (this.isOpen) call.write(this.#connected)
  }

  /** Without a call, it keeps no process alive. */
  rest(until: number): void {
    this.#until = until
    this.#connected.unref()
  }

  readonly #onData: TakePiece = (piece, isLent) => {
    const call = this.#call
    try {
      const response = call && this.#responses.take(piece, isLent)
      call?.passOn(piece, isLent)
      if (response) this.#finish(call, response)
      else if (!call) this.destroy() // (1) there is no request
    } catch (thrown) {
      this.#refuse(thrown)
    }
  }

  #finish(call: ClientCall, response: TransportResponse): void {
    this.#call = undefined
    const socket = this.#connected
    const isFit = call.isSent && this.#responses.mayKeep && socket.writableLength === 0 && socket.writable
    call.resolve(response)
    const keepAlive = response.fields['keep-alive']
    if (keepAlive !== undefined) this.keptForMs = readKeepAlive(keepAlive)
    if (isFit) this.#pool.release(this)
    else this.destroy()
  }

  /** The server has ended its side. */
  readonly #onEnd = (): void => {
    const call = this.#call
    try {
      const response = call && this.#responses.close()
      if (response) this.#finish(call, response)
    } catch (thrown) {
      if (!(thrown instanceof Unreadable)) throw thrown // incomplete: `#remove` reports it
    }
    this.destroy()
  }

  #refuse(thrown: unknown): void {
    if (!(thrown instanceof Unreadable)) throw thrown
    const why = thrown.isTooLong ? 'too-long' : 'no-http'
    this.#call?.reject(new TransportFailure(why, thrown.detail, { mayHaveRun: true, begun: true }))
    this.destroy()
  }

  /** The caller no longer wants what is on its way; another call may have the connection now. */
  abandon(call: ClientCall): void {
    if (this.#call === call) this.destroy()
  }

  destroy(): void {
    this.#opening.destroy()
    this.#socket?.destroy()
    this.#remove()
  }

  close(): void {
    this.#call?.reject(new TransportFailure('closed', 'the client was closed', { mayHaveRun: this.isOpen }))
    this.destroy()
  }

  #remove(): void {
    if (this.#isGone) return
    this.#isGone = true
    const { isOpen, hasBegun } = this
    const call = this.#call
    this.#call = undefined
    const detail = !isOpen
      ? this.#unopened
      : hasBegun
        ? 'the connection ended before the response was complete'
        : 'the connection ended before a response came'
    const facts = { mayHaveRun: isOpen, begun: hasBegun, cause: this.#error }
    call?.reject(new TransportFailure(isOpen ? 'lost' : 'unreachable', detail, facts))
    this.#pool.remove(this)
  }
}

/** `timeout=5`: one second less, for octets in transit. */
function readKeepAlive(field: string): number {
  const [, seconds] = /(?:^|[\s,])timeout=([0-9]{1,6})(?:$|[\s,])/i.exec(field) ?? []
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(seconds) * 1000 - 1000, 0)
}
