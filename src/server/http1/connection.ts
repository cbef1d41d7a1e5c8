/**
 * HTTP/1.1 on a socket (RFC 9112). What always holds:
 *  (1) One request is read at a time: the next one when the response before it has been sent and
 *      its own content read (§9.3.2). So responses are sent in the order of their requests, and an
 *      unsafe request never overtakes another or is overtaken.
 *  (2) After a request whose end is not certain the connection ends: no octet of it is ever read as
 *      another request.
 *  (3) A connection that ends after a response is first closed for writing and drained for a while,
 *      so that a reset does not take the response away from a client that is still sending (§9.6).
 *  (4) Octets without a reader are held within a bound; beyond it their sender is held back.
 *  (5) While other addresses send requests, an address that sends more requests ahead than fit in a
 *      turn gets at most a fifth of the time for them (`base/time-shares.ts`).
 * Deliberately absent: routes, media types, caches; CONNECT, Upgrade and unknown expectations go to
 * `serve` unchanged.
 */
import type { Socket } from 'node:net'
import { turnMs } from '../../base/time-shares.ts'
import { type Content, noContent } from '../../http/message.ts'
import { BufferedContent } from '../incoming-content.ts'
import { parserHeadOctetsMax } from '../limits.ts'
import { countAcceptedOctets, Pace } from '../pace.ts'
import { GoneSignal, type Peer } from '../peer.ts'
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
 * Requests that one connection may begin in one turn of the event loop, within `turnMs`; then other
 * connections have their turn.
 */
const requestsPerTurn = 64
/** Octets in which the end of a head is first looked for. */
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
  /** The pace of a client that should read a response. */
  #pace: Pace | undefined
  /** The value of `#steps` at the last watch, and the time since which it has not changed. */
  #seen = { steps: -1, since: 0 }
  /** Increases with every request that begins and every one that ends. */
  #steps = 0
  /** The last response has been sent, or is being sent: no further request is read. */
  #isEnding = false
  /** Octets of `received` already searched for the end of a head. */
  #searched = 0
  /** The last request's field lines. */
  #lines: Lines | undefined
  /** The content that the connection is currently receiving. */
  #inflow: Inflow | undefined
  /** `read` is running further up the stack. */
  #isReading = false
  /**
   * The turn of the event loop in which the last request began, how many began in it, and when the
   * second one did.
   */
  #turn = -1
  #begun = 0
  #turnBegan = 0
  #turnSeen = 0
  #drained = 0
  /** Ends the reading that `open` began. */
  #stopReading: (() => void) | undefined
  /** Receives the socket if its first octets are the preface of HTTP/2 (RFC 9113 §3.4). */
  #openHttp2: ((octets: Buffer) => void) | undefined

  /** One function for all requests of the connection. */
  readonly gone = (): AbortSignal => (this.#gone ??= new GoneSignal()).get(this.socket.destroyed)
  /** For the request under way. */
  #gone: GoneSignal | undefined

  constructor(context: ServerContext, socket: Socket, peer: Peer, openHttp2?: (octets: Buffer) => void) {
    this.#openHttp2 = openHttp2
    this.context = context
    this.socket = socket
    this.from = peer.address
    this.scheme = peer.scheme
    this.certificate = peer.certificate
  }

  /** @param first octets that have already been read from the socket */
  open(first?: Buffer): void {
    this.socket.on('end', this.#onEnd).on('close', this.#onClose)
    this.#stopReading = readSocket(this.socket, this.#onData)
    if (first) this.#onData(first, false)
  }

  readonly #onData: OnData = (octets, isLent) => {
    if (this.#isEnding) {
      // (3) lasts for this many octets, plus a fixed cost for each packet. After that the socket is
      //     no longer read; closing it at once would destroy the response as well (RFC 9112 §9.6).
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
    let hasUsedShare = false
    do {
      this.#inflow?.read()
      if (this.#inflow?.ended) this.#inflow = undefined
    } while (
      this.#isFree() &&
      this.received.octets.length > 0 &&
      !(hasUsedShare = !this.#mayBegin()) &&
      this.#readNext()
    )
    this.#isReading = false
    const isFree = this.#isFree()
    if (hasUsedShare) this.#readNextTurn()
    else if (isFree && this.isClosed) this.linger()
    else if (!isFree && this.received.octets.length >= heldOctets)
      this.socket.pause() // (4)
    else if (this.socket.isPaused()) this.socket.resume()
  }
  /** Ready for another request. */
  #isFree(): boolean {
    return !this.exchange && !this.#inflow && !this.#isEnding
  }

  /**
   * Whether this connection has not used its share of this turn of the event loop. Promises that
   * resolve at once lead from request to request without leaving the turn, so requests are counted
   * across them.
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
   * Reads nothing until the next turn, so this client waits like the others; an address that has
   * used its share waits longer (5), since requests sent ahead are short but numerous.
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

  /** Begins the next request if its head is complete. */
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
   * The head up to the CRLF of its last field line, once it is complete. Text is searched faster
   * than octets, and most heads are short.
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

  /** Refuses octets that cannot become a head, whatever follows. */
  #checkIncomplete(): void {
    const { octets } = this.received
    if (this.#searched === 0) this.#steps++
    const arrived = octets.toString('latin1', Math.max(0, this.#searched - 1))
    this.#searched = octets.length
    const [first = 0] = octets
    if (octets.length > parserHeadOctetsMax) this.#refuse(limitRefusals.head(parserHeadOctetsMax))
    // Neither a method nor half of a CRLF begins like this, but a TLS handshake does, for example.
    else if ((first < 0x21 || first > 0x7e) && (first !== 0x0d || octets.length > 1)) this.#refuse(refusals.notHttp)
    // Only half of a CRLF: whatever follows, it is not a head.
    else if (/\r[^\n]|[^\r]\n/.test(arrived)) this.#refuse(refusals.lineEnd)
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

  /** Responds to octets that are not a request, and ends the connection. */
  #refuse(refusal: ServerRefusal): void {
    const { socket } = this
    if (this.#isEnding || !socket.writable) return void socket.destroy()
    this.#isEnding = true
    this.context.onBadRequest(refusal, this.from)
    socket.write(writeFinalResponse(writeRefusal(refusal)))
    this.linger()
  }

  /** A request is under way. */
  get #isBusy(): boolean {
    return this.exchange !== undefined || this.#searched > 0
  }

  /**
   * The listener is closing: a client without a request is dismissed, but still receives its last
   * response.
   */
  closeWhenIdle(): void {
    if (this.#isBusy || this.#isEnding) return
    if (this.#steps === 0) this.socket.destroy()
    else this.linger()
  }

  /**
   * Called periodically: dismisses a client that reads too slowly, leaves a head incomplete, or
   * sends no request for long.
   */
  watch(now: number): void {
    if (this.#isReadTooSlowly(now)) {
      this.socket.destroy()
      return
    }
    // Until something is written, a client that has left looks like one that has only closed its
    // own side.
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
   * Octets wait for the client; or the client has closed its side, so that only a write shows
   * whether it still reads: a stream that writes nothing for long is then abandoned.
   */
  #isReaderAwaited(): boolean {
    return this.socket.writableLength > 0 || (this.isClosed && this.exchange?.isStreaming === true)
  }
  #allowedMs(): number {
    const { head, idle } = this.context.limits
    return this.#searched > 0 || this.#steps === 0 ? head : idle
  }
  /** A client that has begun a request gets a response. */
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
 * (3): our side is closed, and theirs is drained until they close it or `linger` ends. That time
 * begins when everything has been sent; until then the reader has to keep the pace.
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
