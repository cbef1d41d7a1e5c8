/**
 * HTTP/1.1 over node:http. What always holds:
 *  (1) Responses leave in the order of their requests, and a pipelined request is served when the one before is answered
 *      (RFC 9112 §9.3.2), so an unsafe request never overtakes or is overtaken.
 *  (2) After a request whose end is not certain the connection ends: no octet of it is ever read as another request.
 *  (3) A connection that ends after a response is first closed for writing and drained for a while, so that a reset does
 *      not take the response away from a client that is still sending (RFC 9112 §9.6).
 *  (4) Whatever the parser refuses is answered here, after the responses that are due, and then the connection ends.
 * Deliberately absent: routes, media types, caches; CONNECT, Upgrade and unknown expectations go to `serve` as they are.
 */
import type * as http from 'node:http'
import type { Socket } from 'node:net'
import type { Content, Fields, Request, Response } from '../http/message.ts'
import { nothing } from '../http/message.ts'
import type { Connection } from './connection.ts'
import { Aborted, Arriving, type Exchange } from './content.ts'
import { fieldsOf, lengthOf, sizeOf } from './fields.ts'
import { type Framed, lastWords, problem, sendable } from './framing.ts'
import { announce, writeHead } from './head.ts'
import type { House, Waiting } from './house.ts'
import { abandon, pour } from './pour.ts'

/** Node asks for `headers` on every request: it gets our fields, so that they are made once. */
export type Message = http.IncomingMessage & { fields?: Fields }

export function messageClass(node: typeof http): typeof http.IncomingMessage {
  class Arrived extends node.IncomingMessage {
    fields?: Fields
  }
  Object.defineProperty(Arrived.prototype, 'headers', {
    get(this: Message) {
      return (this.fields ??= fieldsOf(this.rawHeaders))
    },
  })
  return Arrived
}

export class Exchange1 implements Exchange, Waiting {
  readonly house: House
  readonly connection: Connection<Exchange1>
  readonly message: Message
  readonly reply: http.ServerResponse
  content: Arriving | undefined
  request: Request | undefined
  /** The client waits for 100 (Continue) before it sends its content. */
  expecting = false
  /** A response was chosen; another one comes too late. */
  answered = false
  /** What went wrong before its turn came. */
  spoilt: number | undefined
  /** Octets of streamed content that were handed to the socket. */
  written = 0
  readonly deadline = Number.POSITIVE_INFINITY

  constructor(house: House, connection: Connection<Exchange1>, message: Message, reply: http.ServerResponse) {
    this.house = house
    this.connection = connection
    this.message = message
    this.reply = reply
  }

  proceed(): void {
    if (!this.expecting || this.answered) return
    this.expecting = false
    this.reply.writeContinue()
  }

  /**
   * Who closes his side may still be listening, or gone: it shows when something is written. A stream that has nothing to
   * write for long is given up.
   */
  get moved(): number | undefined {
    return this.connection.socket.readableEnded ? this.written : undefined
  }

  stalled(): void {
    this.connection.socket.destroy()
  }

  refuse(status: number): void {
    const { connection, reply, request } = this
    this.content?.abort(status === 408 ? 'the content stalled' : 'the content is malformed')
    if (request === undefined) this.spoilt = status
    else if (!this.answered) answer(this, problem(status), true)
    else if (reply.writableEnded) {
      connection.ending = true
      linger(connection.socket, this.house)
    } else connection.socket.destroy()
  }
}

/** Takes what the parser made of a request's head. */
export function arrive(
  house: House,
  connection: Connection<Exchange1>,
  message: Message,
  reply: http.ServerResponse,
): void {
  const exchange = new Exchange1(house, connection, message, reply)
  connection.open++
  connection.last = exchange
  if (connection.busy) connection.queue.push(exchange)
  else begin(exchange)
}

function begin(exchange: Exchange1): void {
  const { house, connection, message } = exchange
  if (connection.socket.destroyed) return
  connection.busy = true
  const fields = (message.fields ??= fieldsOf(message.rawHeaders))
  const status = exchange.spoilt ?? refusal(message, fields, house)
  if (status !== undefined) answer(exchange, problem(status), true)
  else ask(exchange, requestOf(exchange, fields))
}

function ask(exchange: Exchange1, request: Request): void {
  exchange.request = request
  try {
    const response = exchange.house.serve(request)
    if (response instanceof Promise) {
      response.then(
        it => answer(exchange, it, false),
        error => broken(exchange, error),
      )
    } else answer(exchange, response, false)
  } catch (error) {
    broken(exchange, error)
  }
}

/** What makes the message one that cannot be understood at all. */
function refusal(message: Message, fields: Fields, house: House): number | undefined {
  if (message.httpVersionMajor !== 1) return 505 // RFC 9110 §15.6.6
  const coding = fields['transfer-encoding']
  if (coding !== undefined) {
    if (message.httpVersionMinor === 0) return 400 // RFC 9112 §6.1: faulty framing
    if (coding.toLowerCase() !== 'chunked') return 501 // RFC 9112 §6.1: a coding that is not understood
  }
  return sizeOf(message.rawHeaders) > house.limits.fields ? 431 : undefined
}

function requestOf(exchange: Exchange1, fields: Fields): Request {
  const { connection, message } = exchange
  const request = {
    method: message.method ?? '',
    target: message.url ?? '',
    fields,
    content: contentOf(exchange, fields),
    scheme: connection.scheme,
    version: message.httpVersionMinor === 0 ? ('1.0' as const) : ('1.1' as const),
    from: connection.from,
  }
  return connection.certificate ? { ...request, certificate: connection.certificate } : request
}

function contentOf(exchange: Exchange1, fields: Fields): Content {
  const length = lengthOf(fields)
  if (length === 0) return nothing
  const expect = fields['expect']
  exchange.expecting = expect !== undefined && /^100-continue$/i.test(expect) && exchange.message.httpVersionMinor !== 0
  return (exchange.content = new Arriving(exchange.message, length, exchange, exchange.house))
}

function broken(exchange: Exchange1, error: unknown): void {
  // Who is told that content was cut short may say so by throwing it on; the client's doing is no error of ours.
  if (!(error instanceof Aborted)) exchange.house.onError(error, exchange.request)
  answer(exchange, problem(500), false)
}

function answer(exchange: Exchange1, response: Response, last: boolean): void {
  const { house, message, reply, request } = exchange
  if (exchange.answered || reply.destroyed) {
    abandon(response)
    return
  }
  exchange.answered = true
  const out = sendable(response, message.method ?? '', error => house.onError(error, request))
  const stays = !last && !out.close && !house.draining && keepable(exchange)
  if (!stays) end(exchange)
  const { content } = out
  if (content === undefined) abandon(response)
  if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) {
    head(exchange, out, stays)
    // As many octets as characters: it is ASCII, which is written as it is.
    if (typeof content === 'string' && content.length === out.length) reply.end(content, 'latin1')
    else reply.end(content)
    settle(exchange, stays)
  } else {
    const before = (octets: number, first: boolean) => {
      if (first) head(exchange, out, stays)
      exchange.written += octets
    }
    house.waiting.add(exchange)
    pour(content, reply, out.length, before)
      .finally(() => house.waiting.delete(exchange))
      .then(
        () => settle(exchange, stays),
        error => torn(exchange, error),
      )
  }
}

function head(exchange: Exchange1, out: Framed, stays: boolean): void {
  const { lines, length } = out
  if (length !== undefined) lines.push('content-length', String(length))
  // node:http's own way for what it knows more of: chunks, HTTP/1.0, and connections that end with an unmet expectation.
  const request = exchange.request
  const counted = length !== undefined || out.content === undefined
  const plain = counted && request?.version === '1.1' && request.fields['expect'] === undefined
  const idle = stays ? Math.floor(exchange.house.limits.idle / 1000) : undefined
  if (plain && idle !== undefined) writeHead(exchange.reply, out.status, lines, idle)
  else announce(exchange.reply, out.status, lines, stays)
}

/** A stream of content that failed: 500 while nothing was sent, else cut, so that nobody takes it for whole. */
function torn(exchange: Exchange1, error: unknown): void {
  exchange.house.onError(error, exchange.request)
  if (exchange.reply.headersSent) return void exchange.connection.socket.destroy()
  exchange.answered = false
  answer(exchange, problem(500), true)
}

/**
 * RFC 9112 §9.3: the connection can carry another request when the rest of this one's content is read. A little is read
 * and dropped. A client that still waits for 100 (Continue) may send its content or may not: its connection ends.
 */
function keepable(exchange: Exchange1): boolean {
  const { content, message, reply, request } = exchange
  // Node's parser loses what follows an Upgrade that is not taken up, to the end of the packet.
  if (request?.fields['upgrade'] !== undefined) return false
  if (content === undefined || message.complete) return true
  if (exchange.expecting || !reply.shouldKeepAlive) return false
  return content.length === undefined || content.length - content.received <= exchange.house.limits.dump
}

/** The response under way is the connection's last. */
function end({ connection, house }: Exchange1): void {
  connection.ending = true
  connection.queue.length = 0
  const { socket } = connection
  // Node calls this when the last response was handed over.
  socket.destroySoon = () => linger(socket, house)
}

function settle(exchange: Exchange1, stays: boolean): void {
  const { content, message, connection } = exchange
  // Who has answered does not read on.
  content?.abort('the response was sent before the content was read')
  if (content !== undefined && !message.complete) dump(exchange, stays)
  finished(connection)
}

function dump({ message, connection, house }: Exchange1, stays: boolean): void {
  let left = stays ? house.limits.dump : house.limits.lingerOctets
  message.removeAllListeners('readable').removeAllListeners('data')
  message.on('data', (piece: Buffer) => {
    left -= piece.length + 512 // what a piece costs, however small
    if (left < 0) connection.socket.destroy()
  })
  message.resume()
}

function finished(connection: Connection<Exchange1>): void {
  const next = connection.queue.shift()
  // In a turn of its own, or a thousand pipelined requests would be a thousand calls deep.
  if (next) process.nextTick(begin, next)
  else connection.busy = false
}

/** (3): our side is closed, theirs is drained until they close it or patience ends. */
export function linger(socket: Socket, house: House): void {
  if (socket.destroyed) return
  const timer = setTimeout(() => socket.destroy(), house.limits.linger).unref()
  socket.once('close', () => clearTimeout(timer))
  socket.end()
  socket.resume()
}

/** RFC 9110 §9.3.6: nothing is tunnelled here, so CONNECT is a request like any other, and the connection's last. */
export function tunnel(
  house: House,
  connection: Connection<Exchange1>,
  message: Message,
  socket: Socket,
  reply: http.ServerResponse,
): void {
  // Node has let go of the socket. Who sends CONNECT behind a request that is still unanswered gets neither answered.
  if (connection.open > 0 || connection.ending) return void socket.destroy()
  socket.on('error', () => socket.destroy())
  reply.assignSocket(socket)
  reply.shouldKeepAlive = false
  reply.once('finish', () => {
    replied(connection, house)
    linger(socket, house)
  })
  connection.open++
  begin(new Exchange1(house, connection, message, reply))
}

/** A response left altogether, or its client did. */
export function replied(connection: Connection<Exchange1>, house: House): void {
  connection.open--
  if (connection.open > 0) return
  connection.heard = connection.socket.bytesRead
  if (connection.failed !== undefined) part(connection, connection.failed, house)
}

/** Nothing moved on this connection for a while. */
export function silent(house: House, connection: Connection<Exchange1>): void {
  const { socket, open, ending, heard } = connection
  if (open === 0 && !ending && socket.bytesRead > heard)
    failed(house, connection, timedOut) // half a head
  else if (open === 0 || socket.writableLength > 0) socket.destroy() // idle, or not reading its response
}

/** (4) The parser, or a clock that watches it, gave up on this connection. */
export function failed(house: House, connection: Connection<Exchange1>, error: ParserError): void {
  const { socket, last } = connection
  if (connection.failed !== undefined || connection.ending) {
    // (3) lasts for so many octets, whatever they are.
    if (socket.bytesRead - connection.heard > house.limits.lingerOctets) socket.destroy()
    return
  }
  if (!socket.writable || error.code === 'ECONNRESET' || error.code === 'EPIPE') return void socket.destroy()
  const status = statusOf(error)
  if (last && !last.message.complete && !last.reply.destroyed) last.refuse(status)
  else if (connection.open === 0) part(connection, status, house)
  else connection.failed = status
}

function part(connection: Connection<Exchange1>, status: number, house: House): void {
  const { socket } = connection
  connection.ending = true
  // Who connected and never said a word is owed none.
  if (status !== 408 || socket.bytesRead > connection.heard) socket.write(lastWords(status))
  linger(socket, house)
}

export interface ParserError extends Error {
  code?: string
  rawPacket?: Buffer
  bytesParsed?: number
}

const timedOut: ParserError = Object.assign(new Error('no complete head in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

function statusOf(error: ParserError): number {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case 'HPE_INVALID_VERSION':
      return 505
    case 'HPE_INVALID_METHOD':
      return isToken(error.rawPacket, error.bytesParsed ?? 0) ? 501 : 400
    default:
      return 400
  }
}

/** RFC 9110 §9.1: is the word at this octet a method, though one that the parser has never heard of? */
function isToken(packet: Buffer | undefined, at: number): boolean {
  if (packet === undefined) return false
  const text = packet.toString('latin1', Math.max(0, at - 64), at + 64)
  const line = text.slice(text.lastIndexOf('\n', Math.min(at, 64) - 1) + 1)
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+( |$)/.test(line)
}
