/**
 * HTTP/1.1 on a socket (RFC 9112). What always holds:
 *  (1) One request is read at a time: the next when the response before it is answered and its content read (§9.3.2). So
 *      responses leave in the order of their requests, and an unsafe request never overtakes or is overtaken.
 *  (2) After a request whose end is not certain the connection ends: no octet of it is ever read as another request.
 *  (3) A connection that ends after a response is first closed for writing and drained for a while, so that a reset does
 *      not take the response away from a client that is still sending (§9.6).
 *  (4) Octets that nobody reads yet are held within a bound; beyond it their sender is held back.
 * Deliberately absent: routes, media types, caches; CONNECT, Upgrade and unknown expectations go to `serve` as they are.
 */
import type { Socket } from 'node:net'
import type { Content, Request, Response } from '../../http/message.ts'
import { noContent } from '../../http/message.ts'
import { respond } from '../../http/respond.ts'
import {
  Aborted,
  BufferedContent,
  type ContentOwner,
  type ContentSource,
  StreamedContent,
} from '../incoming-content.ts'
import { parserLimit } from '../limits.ts'
import { peerAddress, peerCertificate } from '../peer-address.ts'
import { discardContent, type PipeSink, pipeContent } from '../pipe.ts'
import { type FramedResponse, fieldLine, frameOrFail, writeFinalResponse } from '../response-framing.ts'
import type { IdleCheck, ServerContext } from '../server-context.ts'
import { Chunked } from './chunked.ts'
import { ReceiveBuffer } from './receive-buffer.ts'
import { type Head, type Lines, readRequestHead } from './request-head.ts'
import { closeLine, continueResponse, writeResponseHead } from './response-head.ts'
import { type OnData, readSocket } from './socket-reader.ts'
import { batchWrite, destroyAfterFlush, flushWrites } from './write-batch.ts'

/** (4) Octets held while an exchange is under way. */
const ahead = 64 * 1024
/** Requests of one client that are served in one turn of the event loop: then the others have theirs. */
const inOneTurn = 64
/** Octets in which a head is looked for first. */
const usualHead = 2048
const emptyLine = '\r\n\r\n'
/** Content that is copied behind its head rather than sent apart from it. */
const small = 16 * 1024

export class Http1Connection {
  readonly house: ServerContext
  readonly socket: Socket
  readonly from: string
  readonly scheme: 'http' | 'https'
  readonly certificate: Uint8Array | undefined
  /** The one whose response has not left yet. */
  exchange: Exchange1 | undefined
  /** Since when a watch has seen nothing change, and what it saw then. */
  #seen = { turns: -1, since: 0 }
  /** Goes up with every request begun and every one done: what a watch sees unchanged stands still. */
  #turns = 0
  /** The last response was sent, or is being sent: no further request is looked at. */
  #ending = false
  readonly held = new ReceiveBuffer()
  /** Octets of `held` in which the end of a head was looked for. */
  #searched = 0
  /** What the last request's fields were. */
  #lines: Lines | undefined
  /** The content that the connection carries now. */
  #inflow: Http1Inflow | undefined
  /** `read` is at work further up in the stack. */
  #reading = false
  /** The client has closed its side. */
  #closed = false
  #drained = 0
  /** Ends what `open` began. */
  #stop: (() => void) | undefined
  /** Takes the socket over from here when its first octets say that it speaks HTTP/2 (RFC 9113 §3.4). */
  #preface: ((octets: Buffer) => void) | undefined

  constructor(house: ServerContext, socket: Socket, preface?: (octets: Buffer) => void) {
    this.#preface = preface
    this.house = house
    this.socket = socket
    this.from = peerAddress(socket)
    this.scheme = 'encrypted' in socket ? 'https' : 'http'
    this.certificate = peerCertificate(socket)
  }

  open(): void {
    this.socket
      .on('end', this.#end)
      .on('close', () => this.#gone())
      .on('timeout', this.#stalled)
    this.#stop = readSocket(this.socket, this.#arrived)
  }

  readonly #arrived: OnData = (octets, lent) => {
    if (this.#ending) {
      // (3) lasts for so many octets, whatever they are; what a packet costs, however small, counts too. From then on
      // nothing is read: closed at once, the connection would take the answer with it (RFC 9112 §9.6).
      this.#drained += octets.length + 512
      if (this.#drained > this.house.limits.lingerOctets) this.socket.pause()
      return
    }
    this.held.add(octets, lent)
    if (!this.#preface || !this.#isPreface(this.#preface)) this.read()
    this.held.keep()
  }

  /** Whether this is, or may become, "PRI": no method of HTTP/1.1 begins so. */
  #isPreface(preface: (octets: Buffer) => void): boolean {
    const begins = this.held.octets.toString('latin1', 0, 3)
    if (begins.length < 3 && 'PRI'.startsWith(begins)) return true
    this.#preface = undefined
    if (begins !== 'PRI') return false
    this.#stop?.()
    this.socket.off('end', this.#end).off('timeout', this.#stalled).pause()
    preface(this.held.own(this.held.octets.length))
    return true
  }

  /** Goes on with what is held: content for who reads it, else the next request. */
  read(): void {
    if (this.#reading) return
    this.#reading = true
    let count = 0
    do {
      this.#inflow?.read()
      if (this.#inflow?.ended) this.#inflow = undefined
    } while (this.#isFree() && count++ < inOneTurn && this.#next())
    this.#reading = false
    if (count > inOneTurn) setImmediate(() => this.read())
    else if (!this.#isFree()) this.#holdBack()
    else if (this.#closed) this.linger()
  }
  /** For another request. */
  #isFree(): boolean {
    return !this.exchange && !this.#inflow && !this.#ending
  }
  #holdBack(): void {
    if (this.held.octets.length >= ahead) this.socket.pause()
  }

  /** Begins the next request if all of its head is here. */
  #next(): boolean {
    const { held, house } = this
    // §2.2: an empty line or two before a request.
    while (held.octets[0] === 0x0d && held.octets[1] === 0x0a) held.take(2)
    if (held.octets.length === 0) return false
    const text = this.#headText()
    if (text === undefined) return this.#incomplete()
    this.#searched = 0
    held.take(text.length + 2)
    const head = readRequestHead(text, this.#lines, house.limits.fields)
    if (typeof head === 'number') this.refuse(head)
    else this.#begin(head)
    return true
  }

  /** Up to the CRLF of the last field line. A text is searched sooner than octets are, and most heads are short. */
  #headText(): string | undefined {
    const { octets } = this.held
    const text = this.#searched === 0 ? octets.toString('latin1', 0, usualHead) : ''
    const end = text.indexOf(emptyLine)
    if (end >= 0) return text.slice(0, end + 2)
    if (octets.length <= usualHead && this.#searched === 0) return undefined
    const far = octets.indexOf(emptyLine, Math.max(0, this.#searched - 3), 'latin1')
    return far < 0 ? undefined : octets.toString('latin1', 0, far + 2)
  }

  #incomplete(): false {
    const { octets } = this.held
    if (this.#searched === 0) this.#turns++
    const more = octets.toString('latin1', Math.max(0, this.#searched - 1))
    this.#searched = octets.length
    const [first = 0] = octets
    if (octets.length > parserLimit) this.refuse(431)
    // No method begins so, and no half of CRLF is longer than this: a handshake of TLS, say.
    else if ((first < 0x21 || first > 0x7e) && (first !== 0x0d || octets.length > 1)) this.refuse(400)
    // Half of a CRLF stands alone: nothing that follows makes a head of it.
    else if (/\r[^\n]|[^\r]\n/.test(more) || this.#closed) this.refuse(400)
    return false
  }

  #begin(head: Head): void {
    this.#turns++
    const { length } = (this.#lines = head.lines)
    const exchange = new Exchange1(this, head)
    this.exchange = exchange
    begin(exchange, head.method === 'CONNECT' ? noContent : this.#contentOf(exchange, length))
  }

  #contentOf(exchange: Exchange1, length: number | undefined): Content {
    if (length === 0) return noContent
    if (length !== undefined && this.held.octets.length >= length) return new BufferedContent(this.held.own(length))
    const { expects } = exchange.head.lines
    exchange.expecting = expects && exchange.head.version === '1.1' && this.held.octets.length === 0
    const inflow = new Http1Inflow(this, exchange, length)
    this.#inflow = inflow
    return (exchange.content = inflow.content)
  }

  /** What is left of the content that an answered request has: read and dropped. */
  drop(): void {
    this.#inflow?.drop()
  }

  /** The response left; the next request may begin, or the connection ends. */
  answered(stays: boolean): void {
    this.exchange = undefined
    this.#turns++
    if (!stays || this.house.draining) {
      this.linger()
      return
    }
    if (this.socket.isPaused()) this.socket.resume()
    this.read()
  }

  /** What cannot be understood as a request is answered with this status, and then the connection ends. */
  refuse(status: number): void {
    const { socket } = this
    if (this.#ending || !socket.writable) return void socket.destroy()
    this.#ending = true
    socket.write(writeFinalResponse(respond(status)))
    this.linger()
  }

  /** A request is under way. */
  get busy(): boolean {
    return this.exchange !== undefined || this.#searched > 0
  }

  /** The house closes: who asks nothing is let go, as soon as he has what he was answered. */
  dismiss(): void {
    if (this.busy) return
    flushWrites(this.socket)
    if (this.socket.writableLength > 0) this.linger()
    else this.socket.destroy()
  }

  /** Called now and again: who lets a head wait, or has asked nothing for long, is let go. */
  watch(now: number): void {
    const turns = this.#turns
    if (this.#seen.turns !== turns) this.#seen = { turns, since: now }
    else if (!this.exchange && !this.#ending && now - this.#seen.since > this.#patience()) this.#late()
  }
  #patience(): number {
    const { head, idle } = this.house.limits
    return this.#searched > 0 || this.#turns === 0 ? head : idle
  }
  /** Who has begun to ask is told. */
  #late(): void {
    if (this.#searched > 0) this.refuse(408)
    else this.socket.destroy()
  }

  /** (3): our side is closed, theirs is drained until they close it or patience ends. */
  linger(): void {
    this.#ending = true
    this.held.take(this.held.octets.length)
    closeGracefully(this.socket, this.house)
  }

  readonly #end = (): void => {
    this.#closed = true
    if (!this.#ending) this.read()
  }
  /** Nothing has moved for a while: who does not read a response that is there is given up. */
  readonly #stalled = (): void => {
    if (this.socket.writableLength > 0) this.socket.destroy()
  }
  get closed(): boolean {
    return this.#closed
  }
  #gone(): void {
    this.#ending = true
    this.#inflow?.cut()
  }
}

export function closeGracefully(socket: Socket, house: ServerContext): void {
  if (socket.destroyed) return
  const { linger, stall } = house.limits
  const end = () => {
    const timer = setTimeout(() => socket.destroy(), linger).unref()
    socket.once('close', () => clearTimeout(timer))
  }
  // Until all has left, patience is for a reader who stalls; from then on for one who does not close.
  if (socket.writableLength > 0) socket.setTimeout(stall)
  socket.end(end)
  socket.resume()
}

/** The content of one request, on its way. */
class Http1Inflow implements ContentSource {
  readonly content: StreamedContent
  readonly #connection: Http1Connection
  /** Octets that are missing, or the chunks they come in. */
  #missing: number | Chunked
  #wanted = false
  #dropping = false
  /** Octets that may still be read and dropped. */
  #spare = 0
  #cut = false

  constructor(connection: Http1Connection, exchange: Exchange1, length: number | undefined) {
    this.#connection = connection
    this.#missing = length ?? new Chunked()
    this.content = new StreamedContent(this, length, exchange, connection.house)
  }

  get complete(): boolean {
    return typeof this.#missing === 'number' ? this.#missing === 0 : this.#missing.done
  }
  get ended(): boolean {
    return this.#cut || this.complete
  }

  flow(): void {
    this.#wanted = true
    const { socket } = this.#connection
    if (socket.isPaused()) socket.resume()
    this.#connection.read()
  }
  hold(): void {
    this.#wanted = false
  }
  drop(): void {
    this.#dropping = this.#wanted = true
    this.#spare = this.#connection.house.limits.dump
  }

  /** Hands on what the connection holds of it. */
  read(): void {
    if (!this.#wanted || this.ended) return
    if (this.#connection.held.octets.length > 0) this.#hand()
    if (this.complete) this.content.over()
    else if (this.#connection.closed) this.cut()
  }
  #hand(): void {
    const { held } = this.#connection
    if (typeof this.#missing === 'number') {
      const piece = held.own(Math.min(this.#missing, held.octets.length))
      this.#missing -= piece.length
      this.#piece(piece)
      this.content.spent(piece)
    } else this.#chunks(this.#missing)
  }

  #chunks(chunked: Chunked): void {
    const { held } = this.#connection
    const octets = held.own(held.octets.length)
    const read = chunked.read(octets, piece => this.#piece(piece))
    if (read === undefined) this.#malformed()
    else if (read < octets.length) held.add(octets.subarray(read))
    else this.content.spent(octets)
  }

  /** (2) Where it ends is not known. */
  #malformed(): void {
    const { exchange } = this.#connection
    if (exchange) exchange.refuse(400)
    else this.#connection.linger()
  }

  #piece(piece: Buffer): void {
    if (!this.#dropping) {
      this.content.piece(piece)
      return
    }
    this.#spare -= piece.length + 512 // what a piece costs, however small
    if (this.#spare < 0) destroyAfterFlush(this.#connection.socket)
  }

  /** Its sender has gone. */
  cut(): void {
    if (this.ended) return
    this.#cut = true
    this.content.over()
  }
}

export class Exchange1 implements ContentOwner, IdleCheck {
  readonly connection: Http1Connection
  readonly head: Head
  content: StreamedContent | undefined
  request: Request | undefined
  /** The client waits for 100 (Continue) before it sends its content. */
  expecting = false
  /** A response was chosen; another one comes too late. */
  answered = false
  /** Octets of streamed content that were handed to the socket. */
  written = 0
  readonly deadline = Number.POSITIVE_INFINITY

  constructor(connection: Http1Connection, head: Head) {
    this.connection = connection
    this.head = head
  }

  proceed(): void {
    if (!this.expecting || this.answered) return
    this.expecting = false
    this.connection.socket.write(continueResponse, 'latin1')
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
    this.content?.abort(status === 408 ? 'the content stalled' : 'the content is malformed')
    if (this.answered) destroyAfterFlush(this.connection.socket)
    else answer(this, respond(status), true)
  }
}

function begin(exchange: Exchange1, content: Content): void {
  const { house } = exchange.connection
  const request = requestOf(exchange, content)
  exchange.request = request
  try {
    const response = house.serve(request)
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

function requestOf({ connection, head }: Exchange1, content: Content): Request {
  const { scheme, from, certificate } = connection
  const { method, target, version, lines } = head
  const request = { method, target, fields: lines.fields, content, scheme, version, from }
  return certificate ? { ...request, certificate } : request
}

function broken(exchange: Exchange1, error: unknown): void {
  // Who is told that content was cut short may say so by throwing it on; the client's doing is no error of ours (§8).
  if (error instanceof Aborted) {
    answer(exchange, respond(400), true)
    return
  }
  exchange.connection.house.onError(error, exchange.request)
  answer(exchange, respond(500), false)
}

function answer(exchange: Exchange1, response: Response, final: boolean): void {
  const { connection, head } = exchange
  const { house, socket } = connection
  if (exchange.answered || !socket.writable) {
    discardContent(response)
    return
  }
  exchange.answered = true
  const out = frameOrFail(response, head.method, error => house.onError(error, exchange.request))
  const stays = !final && !out.close && !house.draining && keepable(exchange)
  const { content } = out
  if (content === undefined) discardContent(response)
  if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) {
    batchWrite(socket)
    send(socket, headOf(exchange, out, stays), content, out.length)
    sent(exchange, stays)
  } else void stream(exchange, out, content, stays)
}

/**
 * §9.3: the connection can carry another request when the rest of this one's content is read. A little is read and dropped.
 * A client that still waits for 100 (Continue) may send its content or may not: its connection ends.
 */
function keepable({ connection, content, head, expecting }: Exchange1): boolean {
  const { method, version, lines } = head
  // RFC 9110 §9.3.6: what follows CONNECT was meant for the tunnel.
  if (method === 'CONNECT' || lines.connection === 'close') return false
  if (version === '1.0' && lines.connection !== 'keep-alive') return false
  if (content === undefined) return true
  if (expecting) return false
  return content.length === undefined || content.length - content.received <= connection.house.limits.dump
}

function headOf({ connection }: Exchange1, { status, lines, length }: FramedResponse, stays: boolean): string {
  if (length !== undefined) lines.push(fieldLine('content-length', String(length)))
  return writeResponseHead(status, lines, stays ? connection.house.kept : closeLine)
}

/** Head and content in one piece where that costs less than two. */
function send(socket: Socket, head: string, content: string | Uint8Array | undefined, length = 0): void {
  if (content === undefined) socket.write(head, 'latin1')
  else if (typeof content === 'string')
    // As many octets as characters: it is ASCII.
    socket.write(head + content, content.length === length ? 'latin1' : 'utf8')
  else if (content.length <= small) {
    const octets = Buffer.allocUnsafe(head.length + content.length)
    octets.write(head, 'latin1')
    octets.set(content, head.length)
    socket.write(octets)
  } else {
    socket.cork()
    socket.write(head, 'latin1')
    socket.write(content)
    socket.uncork()
  }
}

/** A stream of content, that of unknown length in chunks; HTTP/1.0 knows none: there the end of the connection is its end. */
async function stream(
  exchange: Exchange1,
  out: FramedResponse,
  content: AsyncIterable<Uint8Array>,
  stays: boolean,
): Promise<void> {
  const { connection, head } = exchange
  const { house, socket } = connection
  const chunked = out.length === undefined && head.version === '1.1'
  const keeps = stays && (chunked || out.length !== undefined)
  let begun = false
  const before = (octets: number, first: boolean) => {
    if (first) {
      begun = true
      if (chunked) out.lines.push(fieldLine('transfer-encoding', 'chunked'))
      socket.cork()
      socket.write(headOf(exchange, out, keeps), 'latin1')
      process.nextTick(() => socket.uncork())
    }
    exchange.written += octets
  }
  house.waiting.add(exchange)
  socket.setTimeout(house.limits.stall)
  try {
    await pipeContent(content, new Outflow(socket, chunked), out.length, before)
    socket.setTimeout(0)
    sent(exchange, keeps)
  } catch (error) {
    house.onError(error, exchange.request)
    // 500 while nothing was sent, else cut, so that nobody takes it for whole.
    if (begun) return destroyAfterFlush(socket)
    exchange.answered = false
    answer(exchange, respond(500), true)
  } finally {
    house.waiting.delete(exchange)
  }
}

class Outflow implements PipeSink {
  readonly #socket: Socket
  readonly #chunked: boolean
  constructor(socket: Socket, chunked: boolean) {
    this.#socket = socket
    this.#chunked = chunked
  }
  get destroyed(): boolean {
    return this.#socket.destroyed
  }
  get writableLength(): number {
    return this.#socket.writableLength
  }
  write(octets: Uint8Array): boolean {
    const socket = this.#socket
    if (!this.#chunked) return socket.write(octets)
    if (octets.length === 0) return true // it would be the last chunk
    socket.cork()
    socket.write(`${octets.length.toString(16)}\r\n`, 'latin1')
    socket.write(octets)
    const more = socket.write('\r\n', 'latin1')
    socket.uncork()
    return more
  }
  end(): void {
    if (this.#chunked) this.#socket.write('0\r\n\r\n', 'latin1')
  }
  on(event: 'drain' | 'close', listener: () => void): void {
    this.#socket.on(event, listener)
  }
  off(event: 'drain' | 'close', listener: () => void): void {
    this.#socket.off(event, listener)
  }
}

/** All of the response was handed to the socket. */
function sent(exchange: Exchange1, stays: boolean): void {
  const { connection, content } = exchange
  const { socket, house } = connection
  // Who has answered does not read on.
  content?.abort('the response was sent before the content was read')
  if (stays && content) connection.drop()
  if (!stays || !socket.writableNeedDrain) {
    connection.answered(stays)
    return
  }
  // Another response is not made for who has not read this one.
  socket.setTimeout(house.limits.stall)
  socket.once('drain', () => {
    socket.setTimeout(0)
    connection.answered(true)
  })
}
