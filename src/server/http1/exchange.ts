/**
 * One request over HTTP/1.1 and its one response, from the head that was read to the last octet
 * handed to the socket. It ends by `finish` of its turn, exactly once.
 */
import type { Content, Request, Response } from '../../http/message.ts'
import { respond } from '../../http/respond.ts'
import { Aborted, type ContentOwner, type StreamedContent } from '../incoming-content.ts'
import { discardContent, pipeContent } from '../pipe.ts'
import { type ServerRefusal, writeRefusal } from '../refusals.ts'
import { type FramedResponse, fieldLine, frameOrFail } from '../response-framing.ts'
import { Outflow } from './outflow.ts'
import type { Head } from './request-head.ts'
import { continueResponse } from './response-head.ts'
import type { Turn } from './turn.ts'
import { destroyAfterFlush } from './write-batch.ts'

export class Http1Exchange implements ContentOwner {
  /** Content that is still arriving. */
  content: StreamedContent | undefined
  /** The client waits for 100 (Continue) before it sends its content. */
  isExpecting = false
  readonly #turn: Turn
  readonly #head: Head
  #request: Request | undefined
  /** A response has been chosen; later ones are ignored. */
  #isAnswered = false
  /** The connection ends after the response, whatever the response's head says. */
  #isLast = false
  #outflow: Outflow | undefined

  constructor(turn: Turn, head: Head) {
    this.#turn = turn
    this.#head = head
  }

  get from(): string {
    return this.#turn.from
  }

  /** Requests the response from the service. */
  begin(content: Content): void {
    const { context, scheme, from, certificate, gone } = this.#turn
    const { method, target, version, lines, lasting, credentials } = this.#head
    const { fields } = lines
    const fieldOctets = lines.text.length
    const request: Request = {
      method,
      target,
      fields,
      lasting,
      credentials,
      fieldOctets,
      content,
      scheme,
      version,
      from,
      certificate,
      gone,
    }
    this.#request = request
    try {
      const response = context.serve(request)
      if (response instanceof Promise) {
        response.then(
          response => this.#answer(response, false),
          error => this.#fail(error),
        )
      } else this.#answer(response, false)
    } catch (error) {
      this.#fail(error)
    }
  }

  proceed(): void {
    if (!this.isExpecting || this.#isAnswered) return
    this.isExpecting = false
    this.#turn.socket.write(continueResponse, 'latin1')
  }

  /**
   * Writes an interim response, which a client that still reads will skip (RFC 9110 §15.2.1); a
   * connection whose client has left is reset.
   */
  probe(): void {
    if (this.#isAnswered || this.#head.version === '1.0') return
    this.#turn.socket.write(continueResponse, 'latin1')
  }

  /** A response with streamed content is being sent. */
  get isStreaming(): boolean {
    return this.#outflow !== undefined
  }

  /** A response that is being sent cannot be withdrawn, so its connection ends after it. */
  refuse(refusal: ServerRefusal): void {
    this.content?.abort(refusal.detail)
    this.#isLast = true
    this.#turn.context.onBadRequest(refusal, this.#turn.from)
    if (!this.#isAnswered) this.#answer(writeRefusal(refusal), true)
  }

  #fail(error: unknown): void {
    // An application that learns that content was cut short may throw that error on; what the
    // client did is not our error (RFC 9112 §8).
    if (error instanceof Aborted) {
      this.#answer(respond(400, { detail: error.message }), true)
      return
    }
    this.#turn.context.onError(error, this.#request)
    this.#answer(respond(500), false)
  }

  #answer(response: Response, isLast: boolean): void {
    const { context, socket } = this.#turn
    if (this.#isAnswered || !socket.writable) {
      discardContent(response)
      return
    }
    this.#isAnswered = true
    const framed = frameOrFail(response, this.#head.method, error => context.onError(error, this.#request))
    const stays = !isLast && !framed.close && !context.draining && this.#mayStay()
    const { content } = framed
    if (content === undefined && response.content !== undefined) discardContent(response)
    if (content === undefined || typeof content === 'string' || content instanceof Uint8Array) {
      context.writes.write(socket, context.heads.write(framed, stays), content, framed.length)
      this.#finish(stays)
    } else void this.#stream(framed, content, stays)
  }

  /**
   * RFC 9112 §9.3: the connection can carry another request when the rest of this one's content is
   * read. A little is read and dropped. A client that still waits for 100 (Continue) may or may not
   * send its content, so its connection ends.
   */
  #mayStay(): boolean {
    const { method, version, lines } = this.#head
    // RFC 9110 §9.3.6: the octets after CONNECT were meant for the tunnel.
    if (method === 'CONNECT' || lines.connection === 'close') return false
    if (version === '1.0' && lines.connection !== 'keep-alive') return false
    const { content } = this
    if (content === undefined) return true
    if (this.isExpecting) return false
    return content.length === undefined || content.length - content.received <= this.#turn.context.limits.dump
  }

  /**
   * Sends a stream of content, in chunks if its length is unknown. HTTP/1.0 has no chunks: there
   * the end of the connection ends the content. A stream that fails before its head is sent becomes
   * a 500; after that the connection is cut, so that no reader takes the content for complete.
   */
  async #stream(framed: FramedResponse, content: AsyncIterable<Uint8Array>, stays: boolean): Promise<void> {
    const { context, socket } = this.#turn
    const isChunked = framed.length === undefined && this.#head.version === '1.1'
    const keeps = stays && (isChunked || framed.length !== undefined)
    if (isChunked) framed.lines.push(fieldLine('transfer-encoding', 'chunked'))
    const outflow = new Outflow(socket, isChunked, () => context.heads.write(framed, keeps))
    this.#outflow = outflow
    try {
      await pipeContent(content, outflow, framed.length, (_octets, isFirst) => {
        if (isFirst) outflow.begin()
      })
      this.#finish(keeps)
    } catch (error) {
      context.onError(error, this.#request)
      if (outflow.hasBegun) return destroyAfterFlush(socket)
      this.#isAnswered = false
      this.#answer(respond(500), true)
    }
  }

  /** The complete response has been handed to the socket. */
  #finish(mayStay: boolean): void {
    const stays = mayStay && !this.#isLast
    const turn = this.#turn
    const { socket } = turn
    this.content?.abort('the response was sent before the content was read')
    if (stays && this.content) turn.dropContent()
    if (!stays || !socket.writableNeedDrain) {
      turn.finish(stays)
      return
    }
    // The next response starts only after the client has read this one.
    socket.once('drain', () => turn.finish(!this.#isLast))
  }
}
