/**
 * Content that is still on its way. What always holds:
 *  (1) It is read once, and 100 (Continue) is asked for by the first read alone.
 *  (2) No more than the reader's limit is kept, and the sender is held back while nobody reads.
 *  (3) A read ends with all the content or throws `Aborted`; content cut short is never taken for whole.
 *  (4) While a read waits for the sender it is a member of `waiting`, where the watch finds those that stall.
 */
import type { IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import type { Content } from '../http/message.ts'
import type { House } from './limits.ts'

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

/** Something that waits for its peer to send or to take octets. */
export interface Waiting {
  /** Octets that have moved so far; undefined while it is not the peer who is waited for. */
  readonly moved: number | undefined
  /** When all of them must have moved, on the clock of `performance.now()`. */
  readonly deadline: number
  /** Too few of them moved for too long. */
  stalled(): void
}

export class Arriving implements Content, Waiting {
  readonly length: number | undefined
  /** Octets that have arrived and were taken. */
  received = 0
  readonly deadline: number
  readonly #exchange: Exchange
  readonly #source: Source
  readonly #waiting: Set<Waiting>
  #read = false
  #fail: ((why: Aborted) => void) | undefined

  constructor(source: Source, length: number | undefined, exchange: Exchange, house: House) {
    this.#source = source
    this.length = length
    this.#exchange = exchange
    this.#waiting = house.waiting
    this.deadline = performance.now() + house.limits.request
  }

  get moved(): number {
    return this.received
  }

  stalled(): void {
    this.#exchange.refuse(408)
  }

  /** Ends a read that is under way. */
  abort(why: Aborted): void {
    this.#fail?.(why)
  }

  async bytes(limit: number): Promise<Uint8Array | undefined> {
    this.#begin()
    if (this.length !== undefined && this.length > limit) return undefined
    this.#exchange.proceed()
    const source = this.#source
    const pieces: Buffer[] = []
    return new Promise((resolve, reject) => {
      const take = (piece: Buffer) => {
        pieces.push(piece)
        this.received += piece.length
        if (this.received > limit) leave(() => resolve(undefined))
      }
      const end = () => leave(() => (this.#whole() ? resolve(joined(pieces)) : reject(new Aborted())))
      const fail = (why: Error) => leave(() => reject(why instanceof Aborted ? why : new Aborted()))
      const leave = (settle: () => void) => {
        source.off('data', take).off('end', end).off('error', fail).off('close', end).pause()
        this.#end()
        settle()
      }
      if (source.destroyed) return fail(new Aborted())
      this.#wait(fail)
      source.on('data', take).on('end', end).on('error', fail).on('close', end)
    })
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    this.#begin()
    this.#exchange.proceed()
    // The message outlives a reader that stops early: its connection still has to carry the response.
    const pieces: AsyncIterator<Buffer> = this.#source.iterator({ destroyOnReturn: false })
    try {
      for (;;) {
        const next = await this.#next(pieces)
        if (next.done) break
        this.received += next.value.length
        yield next.value
      }
    } finally {
      this.#end()
      // A return waits behind a read that never ends, so nobody waits for it.
      void pieces.return?.().catch(() => {})
    }
    if (!this.#whole()) throw new Aborted()
  }

  async #next(pieces: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
    try {
      return await new Promise<IteratorResult<Buffer>>((resolve, reject) => {
        this.#wait(reject)
        pieces.next().then(resolve, reject)
      })
    } catch (why) {
      throw why instanceof Aborted ? why : new Aborted()
    } finally {
      this.#end()
    }
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

  #begin(): void {
    if (this.#read) throw new Error('content can be read once')
    this.#read = true
  }

  #wait(fail: (why: Aborted) => void): void {
    this.#fail = fail
    this.#waiting.add(this)
  }

  #end(): void {
    this.#fail = undefined
    this.#waiting.delete(this)
  }
}

function joined(pieces: readonly Buffer[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}
