/**
 * The content of one HTTP/1.1 request on its way from the socket to its reader (RFC 9112 §6, §7.1).
 */
import { type ContentOwner, type ContentSource, StreamedContent } from '../incoming-content.ts'
import { refusals } from '../refusals.ts'
import { Chunked } from './chunked.ts'
import type { Turn } from './turn.ts'

export class Inflow implements ContentSource {
  readonly content: StreamedContent
  readonly #turn: Turn
  /** Octets still missing, or the decoder of chunks. */
  #missing: number | Chunked
  #isWanted = false
  #isDropping = false
  /** Octets that may still be read and dropped. */
  #mayDrop = 0
  #isCut = false

  constructor(turn: Turn, exchange: ContentOwner, length: number | undefined) {
    this.#turn = turn
    this.#missing = length ?? new Chunked()
    this.content = new StreamedContent(this, length, exchange, turn.context)
  }

  get complete(): boolean {
    return typeof this.#missing === 'number' ? this.#missing === 0 : this.#missing.isDone
  }
  get ended(): boolean {
    return this.#isCut || this.complete
  }

  flow(): void {
    this.#isWanted = true
    this.#turn.read()
  }
  hold(): void {
    this.#isWanted = false
  }
  drop(): void {
    this.#isDropping = this.#isWanted = true
    this.#mayDrop = this.#turn.context.limits.dump
  }

  /** Hands on the content that the connection has received. */
  read(): void {
    if (!this.#isWanted || this.ended) return
    if (this.#turn.received.octets.length > 0) this.#readReceived()
    if (this.complete) this.content.end()
    else if (this.#turn.isClosed) this.cut()
  }
  #readReceived(): void {
    const { received } = this.#turn
    if (typeof this.#missing === 'number') {
      const piece = received.takeOwned(Math.min(this.#missing, received.octets.length))
      this.#missing -= piece.length
      this.#handOn(piece)
      this.content.releaseLater(piece)
    } else this.#readChunks(this.#missing)
  }

  #readChunks(chunked: Chunked): void {
    const { received } = this.#turn
    const octets = received.takeOwned(received.octets.length)
    const count = chunked.read(octets, piece => this.#handOn(piece))
    if (this.#isCut) return
    if (count === undefined) this.#refuseMalformed()
    else if (count < octets.length) received.add(octets.subarray(count))
    else this.content.releaseLater(octets)
  }

  /** The end of the content is unknown, so none of its octets are read as a request. */
  #refuseMalformed(): void {
    const { exchange } = this.#turn
    this.#isCut = true
    if (exchange) exchange.refuse(refusals.chunks)
    else this.#turn.linger()
  }

  #handOn(piece: Buffer): void {
    if (this.#isCut) return
    if (!this.#isDropping) {
      this.content.receive(piece)
      return
    }
    this.#mayDrop -= piece.length + 512 // the cost of a piece, however small
    if (this.#mayDrop >= 0) return
    // More remains than is worth dropping for another request: the client is still sending, and a
    // reset would destroy its response.
    this.#isCut = true
    this.#turn.linger()
  }

  /** The sender has left. */
  cut(): void {
    if (this.ended) return
    this.#isCut = true
    this.content.end()
  }
}
