/**
 * HTTP/1.1 over a plain or TLS socket, one message at a time, for a checker: nothing is repaired,
 * repeated, decoded or hidden. HTTP/2 is Node's, only over TLS. What always holds:
 *  (1) A request ends: with a response, or with `Unreachable` within its time limit.
 *  (2) No more than some `replyOctetsMax` octets of a response, or of a conversation, are kept.
 *  (3) A connection is reused only after a complete response that did not close it.
 *  (4) If the peer closes such a connection without a response, an idempotent request is sent once
 *      more, on a new one (RFC 9112 §9.3.1).
 *  (5) Announced content is never sent: a peer has `announcedLimitMs` to respond without it, and
 *      `invitedLimitMs` once it has asked for it with 100 (Continue).
 */
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { GatheredOctets } from '../base/octets.ts'
import {
  type Conversation,
  type ConversationLimits,
  type OctetPiece,
  type ProbeFields,
  type ProbeReply,
  type ProbeRequest,
  type ProbeTransport,
  type ProbeVersion,
  Unreachable,
} from './probe-message.ts'
import { openProbeTunnel } from './proxy-socket.ts'
import { InvalidHead, ReplyReader, replyOctetsMax } from './reply-reader.ts'

/** How the checker connects to a service. */
export interface SocketOptions {
  /** Accepts a certificate that no known authority signed. Default: false. */
  readonly insecure?: boolean
}

/** The way to a service through separate sockets. Rejects an address other than http or https. */
export async function openSocketTransport(address: string, options: SocketOptions = {}): Promise<ProbeTransport> {
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError(`${address} is not an http or https address: give one such as https://shop.example`)
  const carrier = new SocketCarrier(url, options)
  return { ...carrier.port(), versions: await carrier.findVersions() }
}

class SocketCarrier {
  readonly #url: URL
  readonly #options: SocketOptions
  #kept: Socket | undefined = undefined
  #http2: ClientHttp2Session | undefined = undefined

  constructor(url: URL, options: SocketOptions) {
    this.#url = url
    this.#options = options
  }

  port(): Omit<ProbeTransport, 'versions'> {
    return {
      origin: this.#url.origin,
      send: (request, limitMs) =>
        request.version === '2' ? this.#sendHttp2(request, limitMs) : this.#sendHttp1(request, limitMs),
      sendOctets: (octets, limitMs) => this.#exchangeAnew(octets, 'GET', limitMs, true),
      converse: (pieces, limits) => this.#converse(pieces, limits),
      close: () => {
        this.#kept?.destroy()
        this.#http2?.destroy()
      },
    }
  }

  /** RFC 9113 §3.2: TLS negotiates HTTP/2; plain http only has HTTP/1.1. */
  async findVersions(): Promise<readonly ProbeVersion[]> {
    if (this.#url.protocol !== 'https:') return ['1.1']
    const { connect } = await import('node:http2')
    const tunnel = openProbeTunnel(this.#url)
    const raw = tunnel && (await tunnel.catch(ignoreLateError))
    if (tunnel && !raw) return ['1.1'] // the first request tells why
    const session = connect(this.#url.origin, {
      rejectUnauthorized: !this.#options.insecure,
      ...(raw && { createConnection: () => this.#connectTls('h2', raw) }),
    })
    const { promise, resolve } = Promise.withResolvers<boolean>()
    session.once('connect', () => resolve(true)).once('error', () => resolve(false))
    session.setTimeout(connectLimitMs, () => resolve(false))
    if (!(await promise)) {
      session.destroy()
      return ['1.1']
    }
    session.on('error', ignoreLateError)
    this.#http2 = session
    return ['1.1', '2']
  }

  /** Without a proxy it connects at once, so that no event of the socket is missed. */
  #connect(raw?: Socket): Socket {
    if (this.#url.protocol === 'https:') return this.#connectTls('http/1.1', raw)
    const socket = raw ?? connectPlain({ ...placeOf(this.#url), noDelay: true })
    return socket.on('error', ignoreLateError)
  }

  #connectTls(protocol: string, raw?: Socket): TLSSocket {
    const { host, port } = placeOf(this.#url)
    const socket = connectTls({
      ...(raw ? { socket: raw } : { host, port }),
      ALPNProtocols: [protocol],
      rejectUnauthorized: !this.#options.insecure,
      ...(isIP(host) === 0 && { servername: host }),
    })
    return socket.setNoDelay(true).on('error', ignoreLateError)
  }

  async #exchangeAnew(octets: Uint8Array, method: string, limitMs: number, isLast: boolean): Promise<ProbeReply> {
    const tunnel = openProbeTunnel(this.#url)
    return this.#exchange(this.#connect(tunnel && (await tunnel)), octets, method, limitMs, isLast)
  }

  async #sendHttp1(request: ProbeRequest, limitMs: number): Promise<ProbeReply> {
    const isOwn = request.ownConnection === true || request.announcedOctets !== undefined
    const octets = writeRequest(request, this.#url.host, isOwn)
    const timeMs = request.announcedOctets === undefined ? limitMs : Math.min(limitMs, announcedLimitMs)
    const sendAnew = () => this.#exchangeAnew(octets, request.method, timeMs, isOwn)
    const idle = isOwn ? undefined : await this.#takeKept()
    if (!idle) return sendAnew()
    return this.#exchange(idle, octets, request.method, timeMs, isOwn).catch(thrown => {
      if (thrown instanceof ClosedSilently && idempotentMethods.includes(request.method)) return sendAnew()
      throw thrown
    })
  }

  /** One turn of the event loop later, so that a close that arrived meanwhile is seen. */
  async #takeKept(): Promise<Socket | undefined> {
    const idle = this.#kept
    this.#kept = undefined
    if (idle) await nextTurn()
    return idle?.destroyed || idle?.readableEnded ? undefined : idle
  }

  async #exchange(
    socket: Socket,
    octets: Uint8Array,
    method: string,
    limitMs: number,
    isLast: boolean,
  ): Promise<ProbeReply> {
    const startMs = performance.now()
    const reader = new ReplyReader(method)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => reject(new Unreachable(`no complete response within ${limitMs} ms`)), limitMs)
    let invited: NodeJS.Timeout | undefined
    let late: NodeJS.Timeout | undefined
    const read = (piece: Uint8Array): void => {
      try {
        reader.add(piece)
      } catch (thrown) {
        reject(thrown instanceof InvalidHead ? new Unreachable(thrown.message) : thrown)
        return
      }
      // Octets that should not follow the head of a response to HEAD may arrive after it.
      if (reader.isDone && method === 'HEAD') late ??= setTimeout(resolve, lateOctetsMs)
      else if (reader.isDone) resolve()
      else if (reader.isInvited) invited ??= setTimeout(() => reject(new Unreachable(invitedReason)), invitedLimitMs)
    }
    const failure = (says: string): Unreachable => new (reader.isEmpty ? ClosedSilently : Unreachable)(says)
    const end = (): void => (reader.end() ? resolve() : reject(failure('the connection closed without a response')))
    const fail = (thrown: Error): void => (reader.end() ? resolve() : reject(failure(thrown.message)))
    socket.on('data', read).once('end', end).once('close', end).once('error', fail)
    socket.write(octets)
    try {
      await promise
    } catch (thrown) {
      socket.destroy()
      throw thrown
    } finally {
      clearTimeout(timer)
      clearTimeout(invited)
      clearTimeout(late)
      socket.off('data', read).off('end', end).off('close', end).off('error', fail)
    }
    if (isLast || !reader.mayStay) socket.destroy()
    else this.#keep(socket)
    return reader.reply(performance.now() - startMs)
  }

  /** Never rejects: a connection that fails counts as closed by the peer. */
  async #converse(pieces: readonly OctetPiece[], { limitMs, quietMs }: ConversationLimits): Promise<Conversation> {
    const startMs = performance.now()
    const tunnel = openProbeTunnel(this.#url)
    const raw = tunnel && (await tunnel.catch(ignoreLateError))
    if (tunnel && !raw) return { reply: undefined, replies: 0, isClosed: true }
    const socket = this.#connect(raw)
    const received = new KeptOctets()
    let isClosed = false
    let quiet: NodeJS.Timeout | undefined
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, limitMs)
    const finish = (): void => {
      isClosed = true
      resolve()
    }
    socket.on('data', (piece: Uint8Array) => {
      if (!received.keep(piece)) resolve()
      clearTimeout(quiet)
      quiet = setTimeout(resolve, quietMs)
    })
    socket.once('end', finish).once('close', finish).once('error', finish)
    for (const { octets, afterMs = 0 } of pieces) {
      if (afterMs > 0) await Promise.race([promise, pause(afterMs)])
      if (isClosed) break
      socket.write(octets)
    }
    await promise
    clearTimeout(timer)
    clearTimeout(quiet)
    socket.destroy()
    return { ...readConversation(received.join(), performance.now() - startMs), isClosed }
  }

  /** (3) */
  #keep(socket: Socket): void {
    this.#kept?.destroy()
    this.#kept = socket
  }

  #sendHttp2(request: ProbeRequest, limitMs: number): Promise<ProbeReply> {
    const { promise, resolve, reject } = Promise.withResolvers<ProbeReply>()
    const startMs = performance.now()
    const stream = this.#http2?.request({
      ':method': request.method,
      ':path': request.target,
      ...request.fields,
    })
    if (!stream) throw new Unreachable('the peer does not speak HTTP/2')
    const pieces = new KeptOctets()
    let status = 0
    let lines: (readonly [string, string])[] = []
    let isLate = false
    let isWhole = true
    const timer = setTimeout(() => {
      isLate = true
      stream.close()
    }, limitMs)
    stream.on('response', head => {
      status = Number(head[':status'])
      lines = Object.entries(head).flatMap(([name, value]) =>
        name.startsWith(':') ? [] : [value].flat().map(each => [name, String(each)] as const),
      )
    })
    stream.on('data', (piece: Uint8Array) => {
      if (pieces.keep(piece)) return
      isWhole = false
      stream.close()
    })
    stream.once('error', thrown => reject(new Unreachable(thrown.message)))
    stream.once('close', () => {
      clearTimeout(timer)
      if (isLate || status === 0) reject(new Unreachable(`no complete response within ${limitMs} ms`))
      else resolve({ status, lines, content: pieces.join(), isWhole, tookMs: performance.now() - startMs })
    })
    stream.end(request.content)
    return promise
  }
}

/** What has arrived, up to the octets that are kept of a response. */
class KeptOctets {
  readonly #octets = new GatheredOctets()

  /** Whether more may follow. */
  keep(piece: Uint8Array): boolean {
    if (this.#octets.length <= replyOctetsMax) this.#octets.add(piece)
    return this.#octets.length <= replyOctetsMax
  }

  join(): Buffer {
    return Buffer.from(this.#octets.join())
  }
}

/** The first response among the octets, and how many there are. */
function readConversation(octets: Buffer, tookMs: number): Omit<Conversation, 'isClosed'> {
  const reader = new ReplyReader('GET')
  try {
    reader.add(octets)
  } catch (thrown) {
    if (!(thrown instanceof InvalidHead)) throw thrown
    return { reply: undefined, replies: 0 }
  }
  const replies = octets.toString('latin1').match(/HTTP\/1\.[01] [2-5]\d{2} /g)?.length ?? 0
  return { reply: reader.end() ? reader.reply(tookMs) : undefined, replies }
}

const placeOf = ({ protocol, hostname, port }: URL) => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port || (protocol === 'https:' ? 443 : 80)),
})

/** Each exchange has its own listener; between exchanges the close event that follows is enough. */
const ignoreLateError = (): undefined => undefined

const connectLimitMs = 5000
const announcedLimitMs = 3000
const lateOctetsMs = 50
const invitedLimitMs = 1000
const invitedReason = `content of that length: the service asks for it with 100 (Continue), and does not refuse it within ${invitedLimitMs} ms`

/** RFC 9110 §9.2.2. */
const idempotentMethods: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']

/** The peer closed the connection before the first octet of a response. */
class ClosedSilently extends Unreachable {}

/** RFC 9112 §3: the head as given; we set Host, the length and whether the connection stays. */
function writeRequest(request: ProbeRequest, host: string, isLast: boolean): Uint8Array {
  const { method, target, content, announcedOctets } = request
  const fields: ProbeFields = {
    host,
    ...request.fields,
    ...(content && { 'content-length': String(content.length) }),
    ...(announcedOctets !== undefined && { 'content-length': String(announcedOctets), expect: '100-continue' }),
    ...(isLast && { connection: 'close' }),
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return content ? Buffer.concat([head, content]) : head
}
