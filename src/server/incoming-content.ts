/**
 * Content that is still arriving. What always holds:
 *  (1) It is read once, and only the first read sends 100 (Continue).
 *  (2) Only as much as the reader's limit is kept, and the sender is held back while the content
 *      has no reader.
 *  (3) A read ends with the complete content or throws `Aborted`; content cut short never passes
 *      for complete.
 *  (4) While a read waits for the sender it is in `waiting`, where the watch finds stalled ones.
 *  (5) Its held octets count towards the total of all contents that are still arriving
 *      (`held-octets.ts`).
 *  (6) Content in very many tiny pieces is refused: a tiny piece costs as much as kilobytes in a
 *      large one.
 */
import { type Pieces, releaseBuffer } from '../base/octets.ts'
import type { Content, Octets } from '../http/message.ts'
import type { HeldContent } from './held-octets.ts'
import { limitRefusals, refusals, type ServerRefusal } from './refusals.ts'
import type { IdleCheck, ServerContext } from './server-context.ts'

/** The sender went away, stalled or broke the framing before the content was complete. */
export class Aborted extends Error {
  override readonly name = 'Aborted'
  constructor(reason = 'the content ended before it was complete') {
    super(reason)
  }
}

/**
 * The source of a content. It calls `receive` with octets as they arrive, and `end` once, when no
 * more will come.
 */
export interface ContentSource {
  /** Starts the flow: the reader wants pieces. */
  flow(): void
  /** Pauses the flow: the reader has enough for now. */
  hold(): void
  /** Nothing more will come. */
  readonly ended: boolean
  /** All of the content has arrived and been handed on; a source that ends without this was cut. */
  readonly complete: boolean
}

/** What content needs from its exchange. */
export interface ContentOwner {
  /** The address of the sender (`peerAddress`). */
  readonly from: string
  /** Sends 100 (Continue) if the client waits for it. */
  proceed(): void
  /** Ends the exchange with this refusal, if it has no response yet. */
  refuse(refusal: ServerRefusal): void
}

/** Content that arrived with the head, so its reader does not wait. */
export class BufferedContent implements Content {
  readonly length: number
  readonly #octets: Buffer
  #read = false

  constructor(octets: Buffer) {
    this.length = octets.length
    this.#octets = octets
  }

  bytes(limit: number): Octets | Promise<Octets> {
    if (this.#read) return Promise.reject(createReadOnceError())
    this.#read = true
    return this.length > limit ? undefined : this.#octets
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    if (this.#read) throw createReadOnceError()
    this.#read = true
    yield this.#octets
  }
}
const createReadOnceError = (): Error =>
  new Error('the content of this request has already been read: it can be read only once')

/** Octets held for a reader that is busy; beyond this the sender is held back. */
const readAheadOctets = 64 * 1024

interface PendingRead {
  readonly resolve: (octets: Buffer | undefined) => void
  readonly reject: (reason: Aborted) => void
}

export class StreamedContent implements Content, IdleCheck, HeldContent {
  readonly length: number | undefined
  /** Octets that have arrived. */
  received = 0
  readonly deadline: number
  readonly windowMs: number
  readonly #exchange: ContentOwner
  readonly #source: ContentSource
  readonly #context: ServerContext
  #read = false
  #ended = false
  readonly #blocks: Buffer[] = []
  #held: Buffer[] = []
  #heldOctets = 0
  /**
   * Buffers whose pieces have all been handed on, and those among them whose last piece the reader
   * has.
   */
  #consumed: Buffer[] = []
  #lastPieces: Buffer[] = []
  #pieces = 0
  /** The limit for `bytes`; undefined for `chunks`. */
  #limit: number | undefined
  #reader: PendingRead | undefined

  constructor(source: ContentSource, length: number | undefined, exchange: ContentOwner, context: ServerContext) {
    this.#source = source
    this.length = length
    this.#exchange = exchange
    this.#context = context
    this.deadline = performance.now() + context.limits.request
    this.windowMs = context.limits.stall
  }

  get moved(): number {
    return this.received
  }
  get from(): string {
    return this.#exchange.from
  }

  stalled(): void {
    this.#exchange.refuse(limitRefusals.contentTime(this.#context.limits))
  }

  /** Called when the total is exceeded and this sender has the largest share of it. */
  crowdOut(): void {
    this.#exchange.refuse(limitRefusals.held(this.#context.limits))
    this.#stop()
  }

  readonly keep = (octets: number): void => {
    if (!this.#ended) this.#context.held.add(this, octets)
  }

  /** Ends the current read, if there is one. */
  abort(reason: string): void {
    if (!this.#read) return
    this.#stop()
    this.#held = []
    this.#blocks.length = 0
    this.#reader?.reject(new Aborted(reason))
    this.#reader = undefined
  }

  bytes(limit: number): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      this.#claimRead()
      if (this.length !== undefined && this.length > limit) return resolve(undefined)
      this.#limit = limit
      this.#exchange.proceed()
      this.#await({ resolve, reject })
    })
  }

  async *chunks(): Pieces {
    this.#claimRead()
    this.#exchange.proceed()
    try {
      for (;;) {
        const piece = await this.#next()
        if (piece === undefined) return
        if (yield piece) for (const buffer of this.#lastPieces) releaseBuffer(buffer)
        this.#lastPieces = []
      }
    } finally {
      this.#stop()
    }
  }

  /**
   * The octets that have arrived since the last read, as one piece, or else the next ones to
   * arrive; undefined after the last.
   */
  #next(): Promise<Buffer | undefined> {
    return new Promise((resolve, reject) => this.#await({ resolve, reject }))
  }

  #await(reader: PendingRead): void {
    if (this.#ended || this.#source.ended || (this.#limit === undefined && this.#held.length > 0)) {
      this.#ended ||= this.#source.ended
      this.#settleNow(reader)
      return
    }
    this.#reader = reader
    this.#context.waiting.add(this)
    this.#source.flow()
  }

  #takeHeld(): Buffer {
    const piece = joinPieces(this.#blocks.length === 0 ? this.#held : [...this.#blocks, ...this.#held])
    if (this.#limit === undefined) {
      this.#lastPieces = this.#held.length > 1 && ownsItsMemory(piece) ? [...this.#consumed, piece] : this.#consumed
      this.#consumed = []
    }
    this.#held = []
    this.#heldOctets = 0
    return piece
  }

  #claimRead(): void {
    if (this.#read) throw createReadOnceError()
    this.#read = true
  }

  /** The reader wants no more. */
  #stop(): void {
    if (this.#ended) return
    this.#ended = true
    this.#context.held.remove(this)
    this.#context.waiting.delete(this)
    this.#source.hold()
  }

  /** Called by the source. */
  receive(piece: Buffer): void {
    if (this.#ended) return
    this.received += piece.length
    this.#held.push(piece)
    this.#heldOctets += piece.length
    // (6)
    if (++this.#pieces > this.#context.limits.pieces + this.received / 16) this.#exchange.refuse(refusals.pieces)
    else if (this.#limit !== undefined) this.#collect(this.#limit, piece.length)
    else if (this.#reader) this.#settle(this.#reader)
    else if (this.#heldOctets >= readAheadOctets) this.#source.hold()
  }

  /** Called by the source: it has handed on all of its own buffer. */
  releaseLater(buffer: Buffer): void {
    if (this.#limit === undefined && !this.#ended && ownsItsMemory(buffer)) this.#consumed.push(buffer)
  }

  /** Called by the source. */
  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#context.held.remove(this)
    if (this.#reader) this.#settle(this.#reader)
  }

  #collect(limit: number, octets: number): void {
    this.keep(octets)
    if (this.#ended) return
    if (this.received > limit) {
      this.#stop()
      this.#reader?.resolve(undefined)
      this.#reader = undefined
    } else if (this.#held.length === 1024) {
      // A tiny piece takes far more memory than its octets.
      this.#blocks.push(joinPieces(this.#held))
      this.#held = []
    }
  }

  #settle(reader: PendingRead): void {
    this.#reader = undefined
    this.#context.waiting.delete(this)
    this.#settleNow(reader)
  }

  /** `bytes` settles at the end, a piece as soon as there is one. */
  #settleNow(reader: PendingRead): void {
    const isComplete = this.#ended && this.#isComplete()
    if (this.#limit !== undefined) {
      if (isComplete) reader.resolve(this.#takeHeld())
      else reader.reject(new Aborted())
    } else if (this.#held.length > 0) reader.resolve(this.#takeHeld())
    else if (isComplete) reader.resolve(undefined)
    else reader.reject(new Aborted())
  }

  /** Whether it is complete, and as long as announced. */
  #isComplete(): boolean {
    return this.#source.complete && (this.length === undefined || this.length === this.received)
  }
}

/** Whether it is not a slice of memory shared with others. */
const ownsItsMemory = ({ byteLength, buffer }: Buffer): boolean => byteLength > 0 && byteLength === buffer.byteLength

function joinPieces(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
