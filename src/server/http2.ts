/**
 * HTTP/2 (RFC 9113) over node:http2, on sockets that were accepted elsewhere. What always holds:
 *  (1) A stream that was reset before its turn is never served; one that is reset later costs its client a place among
 *      `streams` until the application is done with it, so that resetting fast gains nothing.
 *  (2) Fields of the connection do not exist here; what a request says of them the framing layer refuses.
 *  (3) SETTINGS and PING cost an answer each, so only so many are taken in ten seconds.
 *  (4) After the response a little of the request's content is still read and dropped, for clients that are sending it;
 *      then the rest is declined (RFC 9113 §8.1).
 */
import type * as http2 from 'node:http2'
import type { Socket } from 'node:net'
import type { Content, HttpFields, Request, Response } from '../http/message.ts'
import { noContent } from '../http/message.ts'
import { respond } from '../http/respond.ts'
import { joinFieldLines, measureField } from './field-lines.ts'
import { Aborted, type ContentOwner, type ContentSource, StreamedContent } from './incoming-content.ts'
import { parserLimit } from './limits.ts'
import { peerAddress, peerCertificate } from './peer-address.ts'
import { discardContent, pipeContent } from './pipe.ts'
import { type FramedResponse, frameOrFail } from './response-framing.ts'
import type { IdleCheck, ServerContext } from './server-context.ts'

// RFC 9113 §7
const noError = 0
const internalError = 2
const enhanceYourCalm = 11
const cancel = 8
const controlWindow = 10_000
/** A reader that takes as much in `unread` is seen to move. */
const pieceOctets = 256 * 1024

export class Http2Session {
  readonly house: ServerContext
  readonly wire: http2.ServerHttp2Session
  readonly socket: Socket
  readonly from: string
  readonly certificate: Uint8Array | undefined
  readonly scheme: 'http' | 'https'
  readonly exchanges = new Set<Exchange2>()
  #controls = 0
  #since = 0

  constructor(house: ServerContext, wire: http2.ServerHttp2Session, socket: Socket) {
    this.house = house
    this.wire = wire
    this.socket = socket
    this.from = peerAddress(socket)
    this.certificate = peerCertificate(socket)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    wire.on('stream', (stream, _headers, _flags, lines) => this.#arrive(stream, lines))
    wire.on('error', () => {})
    wire.on('remoteSettings', () => this.#control())
    wire.on('ping', () => this.#control())
    // Who closes his side asks no more; half a request that he leaves behind would keep the session waiting.
    socket.once('end', () => (this.exchanges.size === 0 ? wire.destroy() : wire.close()))
    wire.setTimeout(house.limits.idle)
    wire.on('timeout', () => {
      if (this.exchanges.size === 0) wire.destroy()
    })
  }

  #arrive(stream: http2.ServerHttp2Stream, lines: readonly string[]): void {
    stream.on('error', () => {})
    if (stream.destroyed || stream.closed) return
    if (this.exchanges.size >= this.house.limits.streams * 2) {
      this.wire.destroy(undefined, enhanceYourCalm)
      return
    }
    const exchange = new Exchange2(this, stream)
    this.exchanges.add(exchange)
    stream.once('close', () => exchange.leave())
    begin(exchange, lines)
  }

  /** (3) */
  #control(): void {
    const now = performance.now()
    if (now - this.#since > controlWindow) {
      this.#since = now
      this.#controls = 0
    }
    if (++this.#controls > this.house.limits.controls) this.wire.destroy(undefined, enhanceYourCalm)
  }
}

export class Exchange2 implements ContentOwner, IdleCheck {
  readonly session: Http2Session
  readonly stream: http2.ServerHttp2Stream
  request: Request | undefined
  content: StreamedContent | undefined
  expecting = false
  answered = false
  /** The application has given its response, or never will. */
  served = false
  /** Octets of the response's content that were handed to the stream. */
  written = 0
  /** A long response may take its time, as long as it moves. */
  readonly deadline = Number.POSITIVE_INFINITY
  readonly windowMs: number

  constructor(session: Http2Session, stream: http2.ServerHttp2Stream) {
    this.session = session
    this.stream = stream
    this.windowMs = session.house.limits.unread
  }

  proceed(): void {
    if (!this.expecting || this.answered || this.stream.destroyed) return
    this.expecting = false
    this.stream.additionalHeaders({ ':status': 100 })
  }

  refuse(status: number): void {
    this.content?.abort(status === 408 ? 'the content stalled' : 'the content is malformed')
    if (this.answered) this.stream.close(cancel)
    else answer(this, respond(status))
  }

  get moved(): number | undefined {
    const left = this.stream.bufferSize
    return left === 0 ? undefined : this.written - left
  }

  /** A client that does not take its response holds memory. */
  stalled(): void {
    this.stream.close(cancel)
  }

  /** (1): only when the stream is closed and the application is done does the place become free. */
  leave(): void {
    if (!this.stream.closed) return
    this.session.house.waiting.delete(this)
    if (this.served) this.session.exchanges.delete(this)
  }
}

/** Speaks HTTP/2 on a socket whose first octets, still unread, are its preface, or whose handshake chose it. */
export function openHttp2Session(node: typeof http2, house: ServerContext, socket: Socket): Http2Session {
  const { limits } = house
  const wire = node.performServerHandshake(socket, {
    maxHeaderListPairs: 2000,
    maxOutstandingPings: 10,
    maxSettings: 32,
    maxSessionInvalidFrames: 100,
    maxSessionRejectedStreams: 100,
    streamResetBurst: limits.resets,
    streamResetRate: limits.resetRate,
    settings: { maxConcurrentStreams: limits.streams, maxHeaderListSize: parserLimit, enablePush: false },
  })
  return new Http2Session(house, wire, socket)
}

function begin(exchange: Exchange2, lines: readonly string[]): void {
  const { session } = exchange
  const request = requestOf(exchange, lines)
  exchange.request = request
  // The target has a limit of its own, and it is the face's.
  const size = measureField(lines) - request.target.length
  if (size > session.house.limits.fields) served(exchange, respond(431))
  else ask(exchange, request)
}

function ask(exchange: Exchange2, request: Request): void {
  try {
    const response = exchange.session.house.serve(request)
    if (response instanceof Promise) {
      response.then(
        it => served(exchange, it),
        error => broken(exchange, error),
      )
    } else served(exchange, response)
  } catch (error) {
    broken(exchange, error)
  }
}

function requestOf(exchange: Exchange2, lines: readonly string[]): Request {
  const { session } = exchange
  const pseudo = pseudoOf(lines)
  const authority = pseudo[':authority']
  const fields = joinFieldLines(lines)
  const host = fields['host']
  // RFC 9113 §8.3.1: the authority stands for Host. Two that differ are both shown, and fail as two Hosts do.
  if (authority !== undefined && authority !== host)
    fields['host'] = host === undefined ? authority : `${authority}, ${host}`
  const request = {
    method: pseudo[':method'] ?? '',
    target: pseudo[':path'] ?? authority ?? '',
    fields,
    content: contentOf(exchange, fields),
    scheme: session.scheme,
    version: '2' as const,
    from: session.from,
  }
  return session.certificate ? { ...request, certificate: session.certificate } : request
}

function pseudoOf(lines: readonly string[]): Partial<Record<string, string>> {
  const pseudo: Record<string, string> = {}
  for (let at = 0; at + 1 < lines.length && lines[at]!.startsWith(':'); at += 2) pseudo[lines[at]!] = lines[at + 1]!
  return pseudo
}

function contentOf(exchange: Exchange2, fields: HttpFields): Content {
  const { stream, session } = exchange
  if (stream.endAfterHeaders) return noContent
  const length = fields['content-length']
  const expect = fields['expect']
  exchange.expecting = expect !== undefined && /^100-continue$/i.test(expect)
  const octets = length === undefined ? undefined : Number(length)
  const source = new Http2Inflow(stream)
  return (source.content = exchange.content = new StreamedContent(source, octets, exchange, session.house))
}

/** The content of a stream, from when it is asked for. */
class Http2Inflow implements ContentSource {
  readonly #stream: http2.ServerHttp2Stream
  content: StreamedContent | undefined
  #listening = false

  constructor(stream: http2.ServerHttp2Stream) {
    this.#stream = stream
  }

  get ended(): boolean {
    return this.#stream.destroyed
  }

  /**
   * Node ends a stream that its client resets just as a complete one and only then marks it as aborted; the protocol's state
   * knows at once: was END_STREAM seen?
   */
  get complete(): boolean {
    const stream = this.#stream
    return stream.readableEnded && !stream.closed && stream.state.remoteClose === 1
  }

  flow(): void {
    const stream = this.#stream
    if (!this.#listening) {
      this.#listening = true
      stream.on('data', this.#piece).on('end', this.#end).on('close', this.#end)
    }
    if (stream.isPaused()) stream.resume()
  }
  hold(): void {
    this.#stream.pause()
  }

  readonly #piece = (piece: Buffer): void => this.content?.receive(piece)
  /** Node may tell of END_STREAM while the protocol is still at that frame: its state follows before the next turn. */
  readonly #end = (): void => {
    const { closed, state } = this.#stream
    if (!closed && state.remoteClose === 0) setImmediate(() => this.content?.end())
    else this.content?.end()
  }
}

function broken(exchange: Exchange2, error: unknown): void {
  const isTheirs = error instanceof Aborted
  if (!isTheirs) exchange.session.house.onError(error, exchange.request)
  served(exchange, respond(isTheirs ? 400 : 500))
}

function served(exchange: Exchange2, response: Response): void {
  exchange.served = true
  answer(exchange, response)
  exchange.leave()
}

function answer(exchange: Exchange2, response: Response): void {
  const { stream, request, session } = exchange
  if (exchange.answered || stream.destroyed || stream.closed) {
    discardContent(response)
    return
  }
  const out = frameOrFail(response, request?.method ?? '', error => session.house.onError(error, request))
  exchange.answered = true
  session.house.waiting.add(exchange)
  stream.once('finish', () => decline(exchange))
  const { content } = out
  if (content === undefined) {
    discardContent(response)
    writeHead(stream, out, true)
    decline(exchange)
  } else if (typeof content === 'string' || content instanceof Uint8Array) {
    writeHead(stream, out, false)
    writeWhole(exchange, typeof content === 'string' ? Buffer.from(content) : content)
  } else {
    const before = (octets: number, first: boolean) => {
      if (first) writeHead(stream, out, false)
      exchange.written += octets
    }
    pipeContent(content, stream, out.length, before).catch(error => torn(exchange, error))
  }
}

/** A stream tells of octets that it was given when all of them have left, so long content is given in pieces, two at once. */
function writeWhole(exchange: Exchange2, content: Uint8Array): void {
  const { stream } = exchange
  let at = 0
  const writeNext = (): void => {
    if (stream.writableEnded || stream.destroyed) return
    const piece = content.subarray(at, (at += pieceOctets))
    exchange.written += piece.length
    if (at >= content.length) stream.end(piece)
    else stream.write(piece, writeNext)
  }
  writeNext()
  writeNext()
}

function writeHead(stream: http2.ServerHttp2Stream, out: FramedResponse, endStream: boolean): void {
  const fields: Record<string, string | string[]> = { ':status': String(out.status) }
  for (const line of out.lines) {
    const name = line.name.toLowerCase()
    const { value } = line
    const before = fields[name]
    fields[name] = before === undefined ? value : [before, value].flat()
  }
  if (out.length !== undefined) fields['content-length'] = String(out.length)
  stream.respond(fields, { endStream })
}

/** (4) */
function decline({ stream, session }: Exchange2): void {
  if (stream.readableEnded || stream.closed || stream.endAfterHeaders) return
  const { limits } = session.house
  const enough = () => stream.close(noError)
  const timer = setTimeout(enough, limits.linger).unref()
  let left = limits.dump
  stream.once('close', () => clearTimeout(timer))
  stream.on('data', (piece: Buffer) => {
    left -= piece.length + 512 // what a piece costs, however small
    if (left < 0) enough()
  })
  stream.resume()
}

function torn(exchange: Exchange2, error: unknown): void {
  const { stream, session, request } = exchange
  session.house.onError(error, request)
  if (stream.headersSent) stream.close(internalError)
  else {
    exchange.answered = false
    answer(exchange, respond(500))
  }
}
