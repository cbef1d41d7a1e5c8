/**
 * HTTP/1.1 on a socket (RFC 9112). What always holds:
 *  (1) One request is read at a time: the next when the response before it has left and its content
 *      is read (§9.3.2). So responses leave in the order of their requests, and an unsafe request
 *      never overtakes another or is overtaken.
 *  (2) After a request whose end is not certain the connection ends: no octet of it is ever read as
 *      another request.
 *  (3) A connection that ends after a response is first closed for writing and drained for a while,
 *      so that a reset does not take the response away from a client that is still sending (§9.6).
 *  (4) Octets that have no reader yet are held within a bound; beyond it their sender is held back.
 *  (5) While others ask, an address that sends more requests ahead than a turn has takes a fifth of
 *      the time with them at most (`base/time-shares.ts`).
 * Deliberately absent: routes, media types, caches; CONNECT, Upgrade and unknown expectations go to
 * `serve` as they are.
 */
import type { Socket } from 'node:net'
import { turnMs } from '../../base/time-shares.ts'
import { type Content, noContent } from '../../http/message.ts'
import { BufferedContent } from '../incoming-content.ts'
import { parserLimit } from '../limits.ts'
import { countAcceptedOctets, Pace } from '../pace.ts'
import { GoneSignal, peerAddress, peerCertificate } from '../peer.ts'
import { limitRefusals, refusals, type ServerRefusal, writeRefusal } from '../refusals.ts'
import { writeFinalResponse } from '../response-framing.ts'
import type { ServerContext } from '../server-context.ts'
import { Http1Exchange } from './exchange.ts'
import { Inflow } from './inflow.ts'
import { ReceiveBuffer } from './receive-buffer.ts'
import { type Head, type Lines, readRequestHead } from './request-head.ts'
import { type OnData, readSocket } from './socket-reader.ts'
import type { Turn } from './turn.ts'

/** (4) Octets held while an exchange is under way. */
const heldOctets = 64 * 1024
/**
 * Requests that one connection begins in one turn of the event loop, and for how long: then the
 * others have theirs.
 */
const requestsPerTurn = 64
/** Octets in which a head is looked for first. */
const usualHeadOctets = 2048
const emptyLine = '\r\n\r\n'
/** RFC 9113 §3.4 */
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

export class Http1Connection implements Turn {
  readonly context: ServerContext
  readonly socket: Socket
  readonly from: string
  readonly scheme: 'http' | 'https'
  readonly certificate: Uint8Array | undefined
  readonly received = new ReceiveBuffer()
  exchange: Http1Exchange | undefined
  /** The client has closed its side. */
  isClosed = false
  /** Of a client that is to read a response. */
  #pace: Pace | undefined
  /** The steps that a watch has seen, and since when it has seen no other number. */
  #seen = { steps: -1, since: 0 }
  /** Goes up with every request that begins and every one that ends. */
  #steps = 0
  /** The last response was sent, or is being sent: no further request is read. */
  #isEnding = false
  /** Octets of `received` that were searched for the end of a head. */
  #searched = 0
  /** The last request's field lines. */
  #lines: Lines | undefined
  /** The content that the connection carries now. */
  #inflow: Inflow | undefined
  /** `read` runs further up in the stack. */
  #isReading = false
  /**
   * The turn of the event loop in which a request was begun last, how many were, and when the
   * second was.
   */
  #turn = -1
  #begun = 0
  #turnBegan = 0
  #turnSeen = 0
  #drained = 0
  /** Ends what `open` began. */
  #stopReading: (() => void) | undefined
  /**
   * Gets the socket when its first octets are the preface of HTTP/2 (RFC 9113 §3.4).
   */
  #openHttp2: ((octets: Buffer) => void) | undefined

  /** One function for all requests of the connection. */
  readonly gone = (): AbortSignal => (this.#gone ??= new GoneSignal()).get(this.socket.destroyed)
  /** Of the request that is under way. */
  #gone: GoneSignal | undefined

  constructor(context: ServerContext, socket: Socket, openHttp2?: (octets: Buffer) => void) {
    this.#openHttp2 = openHttp2
    this.context = context
    this.socket = socket
    this.from = peerAddress(socket)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.certificate = peerCertificate(socket)
  }

  open(): void {
    this.socket.on('end', this.#onEnd).on('close', this.#onClose)
    this.#stopReading = readSocket(this.socket, this.#onData)
  }

  readonly #onData: OnData = (octets, isLent) => {
    if (this.#isEnding) {
      // (3) lasts for so many octets; what a packet costs, however small, counts too. After that
      // the socket is no longer read: closed at once, it would take the response with it (RFC 9112
      // §9.6).
      this.#drained += octets.length + 512
      if (this.#drained > this.context.limits.lingerOctets) this.socket.pause()
      return
    }
    this.received.add(octets, isLent)
    if (!this.#openHttp2 || !this.#isPreface(this.#openHttp2)) this.read()
    this.received.copyLent()
  }

  readonly #onEnd = (): void => {
    this.isClosed = true
    if (!this.#isEnding) this.read()
  }
  readonly #onClose = (): void => {
    this.#isEnding = true
    this.#inflow?.cut()
    this.#gone?.abort()
  }

  /** Whether this is, or may become, the preface of HTTP/2. */
  #isPreface(openHttp2: (octets: Buffer) => void): boolean {
    const begins = this.received.octets.toString('latin1', 0, preface.length)
    if (begins.length < preface.length && preface.startsWith(begins)) return true
    this.#openHttp2 = undefined
    if (begins !== preface) return false
    this.#stopReading?.()
    this.socket.off('end', this.#onEnd).pause()
    openHttp2(this.received.takeOwned(this.received.octets.length))
    return true
  }

  read(): void {
    if (this.#isReading) return
    this.#isReading = true
    let isOut = false
    do {
      this.#inflow?.read()
      if (this.#inflow?.ended) this.#inflow = undefined
    } while (this.#isFree() && this.received.octets.length > 0 && !(isOut = !this.#mayBegin()) && this.#readNext())
    this.#isReading = false
    const isFree = this.#isFree()
    if (isOut) this.#readNextTurn()
    else if (isFree && this.isClosed) this.linger()
    else if (!isFree && this.received.octets.length >= heldOctets)
      this.socket.pause() // (4)
    else if (this.socket.isPaused()) this.socket.resume()
  }
  /** For another request. */
  #isFree(): boolean {
    return !this.exchange && !this.#inflow && !this.#isEnding
  }

  /**
   * Whether this connection has not had its share of this turn of the event loop. Promises that are
   * kept at once pass from request to request without leaving the turn, so it is counted across
   * them.
   */
  #mayBegin(): boolean {
    const turn = this.context.writes.begin()
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#begun = 0
    }
    if (++this.#begun < 2) return true
    const now = performance.now()
    if (this.#begun === 2) {
      this.#turnBegan = now
      this.#turnSeen = this.context.peers.requests
    }
    return this.#begun <= requestsPerTurn && now - this.#turnBegan < turnMs
  }
  /**
   * Until then the socket is not read: this client waits as the others have. Requests that are sent
   * ahead are short work, of which there is much: (5).
   */
  #readNextTurn(): void {
    const { shares } = this.context
    const nowMs = performance.now()
    if (this.#turnBegan > 0) {
      // The first request of a turn is not timed.
      const [all, timed] = [this.#begun - 1, this.#begun - 2]
      shares.spend(this.from, ((nowMs - this.#turnBegan) * all) / Math.max(1, timed), nowMs, this.#turnSeen)
    }
    this.#turnBegan = 0
    const restMs = shares.restsUntilMs(this.from) - nowMs
    this.socket.pause()
    if (restMs > 0) setTimeout(this.#goOn, restMs)
    else setImmediate(this.#goOn)
  }
  readonly #goOn = (): void => this.read()

  /** Begins the next request if all of its head is here. */
  #readNext(): boolean {
    const { received, context } = this
    // §2.2: an empty line or two before a request.
    while (received.octets[0] === 0x0d && received.octets[1] === 0x0a) received.drop(2)
    if (received.octets.length === 0) return false
    const text = this.#findHead()
    if (text === undefined) {
      this.#checkIncomplete()
      return false
    }
    this.#searched = 0
    received.drop(text.length + 2)
    const head = readRequestHead(text, this.#lines, context.limits)
    if ('detail' in head) this.#refuse(head)
    else this.#begin(head)
    return true
  }

  /**
   * Up to the CRLF of the last field line. A text is searched faster than octets are, and most
   * heads are short.
   */
  #findHead(): string | undefined {
    const { octets } = this.received
    const text = this.#searched === 0 ? octets.toString('latin1', 0, usualHeadOctets) : ''
    const end = text.indexOf(emptyLine)
    if (end >= 0) return text.slice(0, end + 2)
    if (octets.length <= usualHeadOctets && this.#searched === 0) return undefined
    const far = octets.indexOf(emptyLine, Math.max(0, this.#searched - 3), 'latin1')
    return far < 0 ? undefined : octets.toString('latin1', 0, far + 2)
  }

  /** Refuses what cannot become a head, whatever follows. */
  #checkIncomplete(): void {
    const { octets } = this.received
    if (this.#searched === 0) this.#steps++
    const more = octets.toString('latin1', Math.max(0, this.#searched - 1))
    this.#searched = octets.length
    const [first = 0] = octets
    if (octets.length > parserLimit) this.#refuse(limitRefusals.head(parserLimit))
    // Neither a method nor half of a CRLF begins so: a handshake of TLS, say.
    else if ((first < 0x21 || first > 0x7e) && (first !== 0x0d || octets.length > 1)) this.#refuse(refusals.notHttp)
    // Half of a CRLF alone: whatever follows, it is not a head.
    else if (/\r[^\n]|[^\r]\n/.test(more)) this.#refuse(refusals.lineEnd)
    else if (this.isClosed) this.#refuse(refusals.headIncomplete)
  }

  #begin(head: Head): void {
    this.#steps++
    this.#lines = head.lines
    this.context.peers.note(this.from)
    const exchange = new Http1Exchange(this, head)
    this.exchange = exchange
    const isEmpty = head.lines.length === 0 || head.method === 'CONNECT'
    exchange.begin(isEmpty ? noContent : this.#openContent(exchange, head))
  }

  #openContent(exchange: Http1Exchange, { version, lines }: Head): Content {
    const { received } = this
    const { length } = lines
    if (length !== undefined && received.octets.length >= length) return new BufferedContent(received.takeOwned(length))
    exchange.isExpecting = lines.expects && version === '1.1' && received.octets.length === 0
    const inflow = new Inflow(this, exchange, length)
    this.#inflow = inflow
    return (exchange.content = inflow.content)
  }

  dropContent(): void {
    this.#inflow?.drop()
  }

  finish(stays: boolean): void {
    this.exchange = undefined
    this.#gone = undefined
    this.#steps++
    if (!stays || this.context.draining) {
      this.linger()
      return
    }
    this.read()
  }

  /** Answers what is not a request, and ends the connection. */
  #refuse(refusal: ServerRefusal): void {
    const { socket } = this
    if (this.#isEnding || !socket.writable) return void socket.destroy()
    this.#isEnding = true
    socket.write(writeFinalResponse(writeRefusal(refusal)))
    this.linger()
  }

  /** A request is under way. */
  get #isBusy(): boolean {
    return this.exchange !== undefined || this.#searched > 0
  }

  /**
   * The listener closes: a client without a request is let go, and its last response still arrives.
   */
  closeWhenIdle(): void {
    if (this.#isBusy || this.#isEnding) return
    if (this.#steps === 0) this.socket.destroy()
    else this.linger()
  }

  /**
   * Called now and again: lets go a client that reads too slowly, leaves a head incomplete, or
   * sends no request for long.
   */
  watch(now: number): void {
    if (this.#isReadTooSlowly(now)) {
      this.socket.destroy()
      return
    }
    // A client that is gone looks as one that has closed its side alone, until something is written.
    if (this.#gone && this.isClosed) this.exchange?.probe()
    const steps = this.#steps
    if (this.#seen.steps !== steps) this.#seen = { steps, since: now }
    else if (!this.exchange && !this.#isEnding && now - this.#seen.since > this.#allowedMs()) this.#endLate()
  }
  #isReadTooSlowly(now: number): boolean {
    if (!this.#isReaderAwaited()) {
      this.#pace = undefined
      return false
    }
    const { limits } = this.context
    const moved = countAcceptedOctets(this.socket)
    this.#pace ??= new Pace(moved, now)
    return this.#pace.isTooSlow(moved, now, limits.unread, limits)
  }
  /**
   * Octets wait for the client; or it has closed its side, so that only what is written shows
   * whether it still listens: a stream without anything to write for long is given up then.
   */
  #isReaderAwaited(): boolean {
    return this.socket.writableLength > 0 || (this.isClosed && this.exchange?.isStreaming === true)
  }
  #allowedMs(): number {
    const { head, idle } = this.context.limits
    return this.#searched > 0 || this.#steps === 0 ? head : idle
  }
  /** A client that has begun a request is told. */
  #endLate(): void {
    if (this.#searched > 0) this.#refuse(limitRefusals.headTime(this.context.limits))
    else this.socket.destroy()
  }

  linger(): void {
    this.#isEnding = true
    this.received.drop(this.received.octets.length)
    closeGracefully(this.socket, this.context)
  }
}

/**
 * (3): our side is closed, theirs is drained until they close it or `linger` ends. That time begins
 * when all has left; until then the reader keeps the pace.
 */
export function closeGracefully(socket: Socket, { limits }: ServerContext): void {
  if (socket.destroyed) return
  const destroyLater = () => {
    const timer = setTimeout(() => socket.destroy(), limits.linger).unref()
    socket.once('close', () => clearTimeout(timer))
  }
  socket.end(destroyLater)
  socket.resume()
}
