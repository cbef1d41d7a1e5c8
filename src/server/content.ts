/**
 * Content that is still on its way. What always holds:
 *  (1) It is read once, and 100 (Continue) is asked for by the first read alone.
 *  (2) No more than the reader's limit is kept, and the sender is held back while nobody reads.
 *  (3) A read ends with all the content or throws `Aborted`; content cut short is never taken for whole.
 *  (4) While a read waits for the sender it is a member of `waiting`, where the watch finds those that stall.
 *  (5) Content in very many tiny pieces is refused: each piece costs what kilobytes cost in a large one.
 */
import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Content } from '../http/message.ts'
import type { House, Waiting } from './house.ts'

/** The sender went away, stalled or broke the framing before the content was complete. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
  constructor(why = 'the content ended before it was complete') {
    super(why)
  }
}

export type Source = IncomingMessage | ServerHttp2Stream

/** What content needs of the exchange that it belongs to. */
export interface Exchange {
  /** Sends 100 (Continue) where it was asked for. */
  proceed(): void
  /** Ends the exchange with this status, where none was sent yet. */
  refuse(status: number): void
}

/** Octets that are kept for a reader who is busy; beyond, the sender is held back. */
const ahead = 64 * 1024

interface Reader {
  readonly resolve: (octets: Buffer | undefined) => void
  readonly reject: (why: Aborted) => void
}

export class Arriving implements Content, Waiting {
  readonly length: number | undefined
  /** Octets that have arrived and were taken. */
  received = 0
  readonly deadline: number
  readonly #exchange: Exchange
  readonly #source: Source
  readonly #house: House
  #read = false
  #ended = false
  readonly #blocks: Buffer[] = []
  #held: Buffer[] = []
  #heldOctets = 0
  #pieces = 0
  /** Of `bytes`; undefined for `chunks`. */
  #limit: number | undefined
  #reader: Reader | undefined

  constructor(source: Source, length: number | undefined, exchange: Exchange, house: House) {
    this.#source = source
    this.length = length
    this.#exchange = exchange
    this.#house = house
    this.deadline = performance.now() + house.limits.request
  }

  get moved(): number {
    return this.received
  }

  stalled(): void {
    this.#exchange.refuse(408)
  }

  /** Ends the read that is under way, if there is one. */
  abort(why: string): void {
    if (!this.#read) return
    this.#stop()
    this.#reader?.reject(new Aborted(why))
    this.#reader = undefined
  }

  bytes(limit: number): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#once()
      if (this.length !== undefined && this.length > limit) return resolve(undefined)
      this.#limit = limit
      this.#start()
      this.#wait({ resolve, reject })
    })
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    this.#once()
    this.#start()
    try {
      for (;;) {
        const piece = await this.#next()
        if (piece === undefined) return
        yield piece
      }
    } finally {
      this.#stop()
    }
  }

  /** What has arrived since, as one piece; undefined after the last; else what arrives next. */
  #next(): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => this.#wait({ resolve, reject }))
  }

  #wait(reader: Reader): void {
    if (this.#ended || this.#source.destroyed || (this.#limit === undefined && this.#held.length > 0)) {
      this.#ended ||= this.#source.destroyed
      this.#answer(reader)
      return
    }
    this.#reader = reader
    this.#house.waiting.add(this)
    if (this.#source.isPaused()) this.#source.resume()
  }

  #take(): Buffer {
    const piece = joined(this.#blocks.length === 0 ? this.#held : [...this.#blocks, ...this.#held])
    this.#held = []
    this.#heldOctets = 0
    return piece
  }

  #once(): void {
    if (this.#read) throw new Error('content can be read once')
    this.#read = true
  }

  #start(): void {
    this.#exchange.proceed()
    this.#source.on('data', this.#onPiece).on('end', this.#onEnd).on('close', this.#onEnd)
  }

  /** No more is wanted. */
  #stop(): void {
    if (this.#ended) return
    this.#ended = true
    this.#house.waiting.delete(this)
    this.#source.off('data', this.#onPiece).off('end', this.#onEnd).off('close', this.#onEnd).pause()
  }

  readonly #onPiece = (piece: Buffer): void => {
    this.received += piece.length
    this.#held.push(piece)
    this.#heldOctets += piece.length
    // (5)
    if (++this.#pieces > this.#house.limits.pieces + this.received / 16) this.#exchange.refuse(400)
    else if (this.#limit !== undefined) this.#collect(this.#limit)
    else if (this.#reader) this.#settle(this.#reader)
    else if (this.#heldOctets >= ahead) this.#source.pause()
  }

  readonly #onEnd = (): void => {
    if (unsettled(this.#source)) setImmediate(this.#over)
    else this.#over()
  }

  readonly #over = (): void => {
    this.#ended = true
    if (this.#reader) this.#settle(this.#reader)
  }

  #collect(limit: number): void {
    if (this.received > limit) {
      this.#stop()
      this.#reader?.resolve(undefined)
      this.#reader = undefined
    } else if (this.#held.length === 1024) {
      // A tiny piece takes far more than its octets.
      this.#blocks.push(joined(this.#held))
      this.#held = []
    }
  }

  #settle(reader: Reader): void {
    this.#reader = undefined
    this.#house.waiting.delete(this)
    this.#answer(reader)
  }

  /** `bytes` is answered at the end, a piece as soon as there is one. */
  #answer(reader: Reader): void {
    const whole = this.#ended && this.#whole()
    if (this.#limit !== undefined) {
      if (whole) reader.resolve(this.#take())
      else reader.reject(new Aborted())
    } else if (this.#held.length > 0) reader.resolve(this.#take())
    else if (whole) reader.resolve(undefined)
    else reader.reject(new Aborted())
  }

  /**
   * Parsed to its end, handed out to its end, and as long as it said. Node ends a stream of HTTP/2 that its client resets
   * just as a complete one and only then marks it as aborted; the protocol's state knows at once: was END_STREAM seen?
   */
  #whole(): boolean {
    const source = this.#source
    if (!source.readableEnded || (this.length !== undefined && this.length !== this.received)) return false
    return 'complete' in source ? source.complete : !source.closed && source.state.remoteClose === 1
  }
}

/** Node may tell of END_STREAM while the protocol is still at that frame: its state follows before the next turn. */
const unsettled = (source: Source): boolean =>
  !('complete' in source) && !source.closed && source.state.remoteClose === 0

function joined(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
