/**
 * One HTTP/1.1 connection of a client, which carries one call at a time. It can be used again only
 * if its response was complete, nothing followed it, all of the message was sent, and neither side
 * announced the end of the connection.
 */
import type * as net from 'node:net'
import type { ClientCall } from './client-call.ts'
import { TransportFailure } from './errors.ts'
import type { OpeningTunnel } from './proxy-tunnel.ts'
import { type ResponseLimits, Responses, Unreadable } from './response-reader.ts'
import type { ConnectionListener, TakePiece } from './socket-opener.ts'
import type { TransportResponse } from './transport.ts'

/** The pool that a connection belongs to. */
interface ConnectionOwner {
  readonly limits: ResponseLimits
  /** @param listener gets the connection, at once or when a proxy has opened it */
  connect(onData: TakePiece, listener: ConnectionListener): OpeningTunnel
  /** A connection that can carry another call. */
  release(connection: ClientConnection): void
  /** A connection that has ended. */
  remove(connection: ClientConnection): void
}

export class ClientConnection {
  isOpen = false
  /** Milliseconds for which the server keeps the connection. */
  keptForMs = Number.POSITIVE_INFINITY
  readonly #owner: ConnectionOwner
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

  constructor(owner: ConnectionOwner) {
    this.#owner = owner
    this.#responses = new Responses(owner.limits)
    this.#opening = owner.connect(this.#onData, this)
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
      else if (!call) this.destroy() // there is no request
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
    if (isFit) this.#owner.release(this)
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
    this.#owner.remove(this)
  }
}

/** `timeout=5`: one second less, for octets in transit. */
function readKeepAlive(field: string): number {
  const [, seconds] = /(?:^|[\s,])timeout=([0-9]{1,6})(?:$|[\s,])/i.exec(field) ?? []
  return seconds === undefined ? Number.POSITIVE_INFINITY : Math.max(Number(seconds) * 1000 - 1000, 0)
}
