/**
 * HTTP/2 (RFC 9113) over node:http2, on sockets accepted elsewhere. What always holds:
 *  (1) A stream reset before its turn is never served; a stream reset later occupies one of its
 *      client's `streams` until the application is done with it, so rapid resets gain nothing. A
 *      client that resets more than `resets` allows gets ENHANCE_YOUR_CALM, and loses its
 *      connection. (nghttp2 counts too, but in older versions of Node it then falls silent and
 *      keeps the connection.)
 *  (2) Connection-specific fields do not exist here: the framing layer refuses a request that has
 *      them.
 *  (3) SETTINGS and PING cost a frame in reply, so their number in ten seconds is limited.
 *  (4) After the response a little of the request's content is still read and dropped, for clients
 *      that are still sending it; then the rest is declined (RFC 9113 §8.1).
 * Known gap: a field whose name or value has octets that no field may have (§8.2.1) is dropped by
 * nghttp2 before our code sees it, and Node has no option to prevent that; white space at the ends
 * of a value is refused here.
 */
import type * as http2 from 'node:http2'
import type { Socket } from 'node:net'
import { errorCodeOf } from '../base/attempt.ts'
import { type Content, type HttpFields, noContent, type Request, type Response } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { joinFieldLines, measureFieldLines } from './field-lines.ts'
import { Aborted, type ContentOwner, type ContentSource, StreamedContent } from './incoming-content.ts'
import { parserHeadOctetsMax } from './limits.ts'
import { GoneSignal, type Peer } from './peer.ts'
import { discardContent, pipeContent } from './pipe.ts'
import { limitRefusals, refusals, type ServerRefusal, writeRefusal } from './refusals.ts'
import { type FramedResponse, frameOrFail } from './response-framing.ts'
import type { IdleCheck, ServerContext } from './server-context.ts'

// RFC 9113 §7
const noError = 0
const internalError = 2
const enhanceYourCalm = 11
const cancel = 8
const controlWindowMs = 10_000
/**
 * Octets of content given to a stream at once: a reader that takes this many within `unread` counts
 * as moving.
 */
const pieceOctets = 256 * 1024

export class Http2Session {
  readonly context: ServerContext
  readonly wire: http2.ServerHttp2Session
  readonly socket: Socket
  readonly from: string
  readonly certificate: Uint8Array | undefined
  readonly scheme: 'http' | 'https'
  readonly exchanges = new Set<Http2Exchange>()
  #controls = 0
  #controlsSince = 0
  /** Streams that the client has reset, minus those that have been forgiven over time. */
  #resets = 0
  #resetSince = 0

  constructor(context: ServerContext, wire: http2.ServerHttp2Session, socket: Socket, peer: Peer) {
    this.context = context
    this.wire = wire
    this.socket = socket
    this.from = peer.address
    this.certificate = peer.certificate
    this.scheme = peer.scheme
    wire.on('stream', (stream, _headers, _flags, lines) => this.#begin(stream, lines))
    wire.on('error', error => {
      // Not those of the socket: a client that is gone is no news.
      if (errorCodeOf(error).startsWith('ERR_HTTP2_')) context.onRefusal(`HTTP/2: ${error.message}`, this.from)
    })
    wire.on('remoteSettings', () => this.#countControl())
    wire.on('ping', () => this.#countControl())
    // A client that closes its side sends no more requests; half a request that it leaves behind
    // would keep the session waiting.
    socket.once('end', () => (this.exchanges.size === 0 ? wire.destroy() : wire.close()))
    wire.setTimeout(context.limits.idle)
    wire.on('timeout', () => {
      if (this.exchanges.size === 0) wire.destroy()
    })
  }

  #begin(stream: http2.ServerHttp2Stream, lines: readonly string[]): void {
    stream.on('error', () => {})
    if (stream.destroyed || stream.closed) {
      this.#countReset()
      return
    }
    if (this.exchanges.size >= this.context.limits.streams * 2) {
      this.#calmDown()
      return
    }
    const exchange = new Http2Exchange(this, stream)
    this.exchanges.add(exchange)
    stream.once('close', () => {
      if (exchange.isResetByPeer) this.#countReset()
      exchange.leave()
    })
    exchange.begin(lines)
  }

  /** (3) */
  #countControl(): void {
    const now = performance.now()
    if (now - this.#controlsSince > controlWindowMs) {
      this.#controlsSince = now
      this.#controls = 0
    }
    if (++this.#controls > this.context.limits.controls) this.#calmDown()
  }

  /**
   * (1), counted like nghttp2, which has no better code for it than INTERNAL_ERROR and allows twice
   * as many.
   */
  #countReset(): void {
    const { resets, resetRate } = this.context.limits
    const now = performance.now()
    const forgiven = ((now - this.#resetSince) / 1000) * resetRate
    this.#resets = Math.max(0, this.#resets - forgiven) + 1
    this.#resetSince = now
    if (this.#resets > resets) this.#calmDown()
  }

  /** With an error, because Node turns a code alone into NO_ERROR. */
  #calmDown(): void {
    if (this.wire.destroyed) return
    this.context.onRefusal('an HTTP/2 client sends too many resets, streams, SETTINGS or PING', this.from)
    this.wire.destroy(new Error('the client floods this connection'), enhanceYourCalm)
  }
}

export class Http2Exchange implements ContentOwner, IdleCheck {
  readonly deadline = Number.POSITIVE_INFINITY
  readonly windowMs: number
  readonly #session: Http2Session
  readonly #stream: http2.ServerHttp2Stream
  #request: Request | undefined
  #content: StreamedContent | undefined
  /** The client waits for 100 (Continue) before it sends its content. */
  #isExpecting = false
  #gone: GoneSignal | undefined
  #isAnswered = false
  /** The application has returned its response, or never will. */
  #isServed = false
  /** Octets of the response's content handed to the stream. */
  #written = 0
  /** Our side has reset the stream. */
  #isReset = false

  constructor(session: Http2Session, stream: http2.ServerHttp2Stream) {
    this.#session = session
    this.#stream = stream
    this.windowMs = session.context.limits.unread
  }

  /** Requests the response from the service. */
  begin(lines: readonly string[]): void {
    const { context } = this.#session
    const request = this.#readRequest(lines)
    this.#request = request
    // The target has its own limit, which the face checks.
    const size = measureFieldLines(lines) - request.target.length
    if (size > context.limits.fields) this.#serveRefusal(limitRefusals.fields(context.limits))
    else if (hasSpaceAtEnds(lines)) this.#serveRefusal(refusals.fieldEnds)
    else this.#ask(request)
  }

  #serveRefusal(refusal: ServerRefusal): void {
    this.#session.context.onBadRequest(refusal, this.from)
    this.#serve(writeRefusal(refusal))
  }

  #ask(request: Request): void {
    try {
      const response = this.#session.context.serve(request)
      if (response instanceof Promise) {
        response.then(
          response => this.#serve(response),
          error => this.#fail(error),
        )
      } else this.#serve(response)
    } catch (error) {
      this.#fail(error)
    }
  }

  get from(): string {
    return this.#session.from
  }

  #readRequest(lines: readonly string[]): Request {
    const { scheme, from, certificate } = this.#session
    const pseudo = readPseudoFields(lines)
    const authority = pseudo[':authority']
    const fields = joinFieldLines(lines)
    const host = fields['host']
    // RFC 9113 §8.3.1: the authority replaces Host. If the two differ, both are kept, and fail like
    // two Hosts.
    if (authority !== undefined && authority !== host)
      fields['host'] = host === undefined ? authority : `${authority}, ${host}`
    const path = pseudo[':path'] ?? authority ?? ''
    const stated = pseudo[':scheme']?.toLowerCase() ?? scheme
    return {
      method: pseudo[':method'] ?? '',
      // A scheme other than the connection's makes the form absolute, which is judged (RFC 9110 §7.4).
      target: stated === scheme || !path.startsWith('/') ? path : `${stated}://${authority ?? host ?? ''}${path}`,
      fields,
      content: this.#contentOf(fields),
      scheme,
      version: '2',
      from,
      gone: () => (this.#gone ??= new GoneSignal()).get(this.#stream.destroyed),
      certificate,
    }
  }

  #contentOf(fields: HttpFields): Content {
    if (this.#stream.endAfterHeaders) return noContent
    const length = fields['content-length']
    const expect = fields['expect']
    this.#isExpecting = expect !== undefined && /^100-continue$/i.test(expect)
    const octets = length === undefined ? undefined : Number(length)
    const source = new Http2Inflow(this.#stream)
    return (source.content = this.#content = new StreamedContent(source, octets, this, this.#session.context))
  }

  proceed(): void {
    if (!this.#isExpecting || this.#isAnswered || this.#stream.destroyed) return
    this.#isExpecting = false
    this.#stream.additionalHeaders({ ':status': 100 })
  }

  refuse(refusal: ServerRefusal): void {
    this.#content?.abort(refusal.detail)
    this.#session.context.onBadRequest(refusal, this.from)
    if (this.#isAnswered) this.#reset(cancel)
    else this.#answer(writeRefusal(refusal))
  }

  get moved(): number | undefined {
    const buffered = this.#stream.bufferSize
    return buffered === 0 ? undefined : this.#written - buffered
  }

  /** A client that does not read its response occupies memory. */
  stalled(): void {
    this.#reset(cancel)
  }

  #reset(code: number): void {
    this.#isReset = true
    this.#stream.close(code)
  }
  get isResetByPeer(): boolean {
    return !this.#isReset && this.#stream.rstCode !== noError
  }

  /** (1): the place becomes free only when the stream is closed and the application is done. */
  leave(): void {
    if (!this.#stream.closed) return
    this.#session.context.waiting.delete(this)
    this.#gone?.abort()
    if (this.#isServed) this.#session.exchanges.delete(this)
  }

  #fail(error: unknown): void {
    if (error instanceof Aborted) {
      this.#serve(respond(400, { detail: error.message }))
      return
    }
    this.#session.context.onError(error, this.#request)
    this.#serve(respond(500))
  }

  #serve(response: Response): void {
    this.#isServed = true
    this.#answer(response)
    this.leave()
  }

  #answer(response: Response): void {
    const stream = this.#stream
    const { context } = this.#session
    if (this.#isAnswered || stream.destroyed || stream.closed) {
      discardContent(response)
      return
    }
    const framed = frameOrFail(response, this.#request?.method ?? '', error => context.onError(error, this.#request))
    this.#isAnswered = true
    context.waiting.add(this)
    stream.once('finish', () => this.#declineContent())
    const { content } = framed
    if (content === undefined) {
      discardContent(response)
      writeHead(stream, framed, true)
      this.#declineContent()
    } else if (typeof content === 'string' || content instanceof Uint8Array) {
      writeHead(stream, framed, false)
      this.#writeWhole(content)
    } else this.#writeStream(framed, content)
  }

  /**
   * A stream reports octets only when all of a write have been sent, so long content is written in
   * pieces, two at once.
   */
  #writeWhole(content: string | Uint8Array): void {
    const stream = this.#stream
    const octets = typeof content === 'string' ? Buffer.from(content) : content
    let at = 0
    const writeNext = (): void => {
      if (stream.writableEnded || stream.destroyed) return
      const piece = octets.subarray(at, (at += pieceOctets))
      this.#written += piece.length
      if (at >= octets.length) stream.end(piece)
      else stream.write(piece, writeNext)
    }
    writeNext()
    writeNext()
  }

  #writeStream(framed: FramedResponse, content: AsyncIterable<Uint8Array>): void {
    const beforePiece = (octets: number, isFirst: boolean): void => {
      if (isFirst) writeHead(this.#stream, framed, false)
      this.#written += octets
    }
    pipeContent(content, this.#stream, framed.length, beforePiece).catch(error => this.#failStream(error))
  }

  /**
   * A stream that fails before its head is sent becomes a 500; after that it is reset, so that no
   * reader takes it for complete.
   */
  #failStream(error: unknown): void {
    this.#session.context.onError(error, this.#request)
    if (this.#stream.headersSent) this.#reset(internalError)
    else {
      this.#isAnswered = false
      this.#answer(respond(500))
    }
  }

  /** (4) */
  #declineContent(): void {
    const stream = this.#stream
    const { limits } = this.#session.context
    if (stream.readableEnded || stream.closed || stream.endAfterHeaders) return
    const decline = (): void => stream.close(noError)
    const timer = setTimeout(decline, limits.linger).unref()
    let remaining = limits.dump
    stream.once('close', () => clearTimeout(timer))
    stream.on('data', (piece: Buffer) => {
      remaining -= piece.length + 512 // the cost of a piece, however small
      if (remaining < 0) decline()
    })
    stream.resume()
  }
}

/**
 * Speaks HTTP/2 on a socket whose first, still unread octets are its preface, or whose handshake
 * chose it.
 */
export function openHttp2Session(node: typeof http2, context: ServerContext, socket: Socket, peer: Peer): Http2Session {
  const { limits } = context
  const wire = node.performServerHandshake(socket, {
    maxHeaderListPairs: 2000,
    maxOutstandingPings: 10,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    streamResetBurst: limits.resets * 2,
    streamResetRate: limits.resetRate,
    strictFieldWhitespaceValidation: false, // otherwise nghttp2 drops the field and the request is served without it
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: parserHeadOctetsMax, enablePush: false },
  })
  return new Http2Session(context, wire, socket, peer)
}

function readPseudoFields(lines: readonly string[]): Partial<Record<string, string>> {
  const pseudo: Record<string, string> = {}
  for (let at = 0; at + 1 < lines.length && lines[at]!.startsWith(':'); at += 2) pseudo[lines[at]!] = lines[at + 1]!
  return pseudo
}

/** RFC 9113 §8.2.1: a field value must not begin or end with SP or HTAB. */
function hasSpaceAtEnds(lines: readonly string[]): boolean {
  for (let at = 1; at < lines.length; at += 2) if (/^[\t ]|[\t ]$/.test(lines[at]!)) return true
  return false
}

/** The content of a stream, from its first read on. */
class Http2Inflow implements ContentSource {
  readonly #stream: http2.ServerHttp2Stream
  content: StreamedContent | undefined
  #isListening = false

  constructor(stream: http2.ServerHttp2Stream) {
    this.#stream = stream
  }

  get ended(): boolean {
    return this.#stream.destroyed
  }

  /**
   * Node ends a stream that its client resets like a complete one, and only then marks it as
   * aborted; the protocol's state knows at once whether END_STREAM was seen.
   */
  get complete(): boolean {
    const stream = this.#stream
    return stream.readableEnded && !stream.closed && stream.state.remoteClose === 1
  }

  flow(): void {
    const stream = this.#stream
    if (!this.#isListening) {
      this.#isListening = true
      stream.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onEnd)
    }
    if (stream.isPaused()) stream.resume()
  }
  hold(): void {
    this.#stream.pause()
  }

  readonly #onData = (piece: Buffer): void => this.content?.receive(piece)
  /**
   * Node may report END_STREAM while the protocol is still at that frame: its state follows before
   * the next turn.
   */
  readonly #onEnd = (): void => {
    const { closed, state } = this.#stream
    if (!closed && state.remoteClose === 0) setImmediate(() => this.content?.end())
    else this.content?.end()
  }
}

function writeHead(stream: http2.ServerHttp2Stream, framed: FramedResponse, endStream: boolean): void {
  const fields: Record<string, string | string[]> = { ':status': String(framed.status) }
  for (const { name: written, value } of framed.lines) {
    const name = written.toLowerCase()
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  if (framed.length !== undefined) fields['content-length'] = String(framed.length)
  stream.respond(fields, { endStream })
}
