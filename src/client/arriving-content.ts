/**
 * Content of a response that passes as it arrives. What always holds, by number:
 *  (1) Unread octets are bounded: the connection is paused while more than `heldMax` wait, and
 *      resumes when the reader has taken them.
 *  (2) It ends normally only if the response was complete; otherwise its reader fails.
 *  (3) Waiting is bounded on both sides: for a server that is silent or trickles, and for a reader
 *      that stops reading.
 *  (4) The memory of a piece is freed once its reader is done with it (base/octets.ts).
 */
import { releaseBuffer } from '../base/octets.ts'
import { TransportFailure } from './errors.ts'

/** The connection on which the content arrives. */
export interface ArrivalControl {
  pause(): void
  resume(): void
  /** Ends the connection: the reader wants no more of the content. */
  abandon(): void
}

/** The unread octets above which the connection is paused. */
const heldMax = 256 * 1024
/** A reader that has requested nothing for this many milliseconds is considered gone. */
const unreadMs = 600_000

interface WaitingReader {
  readonly resolve: (next: IteratorResult<Uint8Array, void>) => void
  readonly reject: (reason: unknown) => void
}
interface ArrivedOctets {
  readonly octets: Uint8Array
  /** The buffer of the socket, of which they are a part. */
  readonly buffer: Uint8Array
}
const ended: IteratorResult<Uint8Array, void> = { done: true, value: undefined }

export class ArrivingContent implements AsyncIterable<Uint8Array> {
  /** Settles when no more arrives, for whatever reason. */
  readonly over: Promise<void>
  readonly #settleOver: () => void
  readonly #control: ArrivalControl
  readonly #timeLimit: number
  readonly #octetsMax: number
  readonly #queue: ArrivedOctets[] = []
  #held = 0
  #received = 0
  /**
   * The time spent waiting for the server since it sent as many octets as the time limit has
   * milliseconds.
   */
  #waitedMs = 0
  #windowOctets = 0
  /** The time, by Date.now, since when the server is awaited; 0: it is not. */
  #waitingSince = 0
  #reader: WaitingReader | undefined
  #timer: NodeJS.Timeout | undefined
  #isWhole = false
  #failure: { readonly reason: unknown } | undefined
  #isPaused = false
  /** The piece that the reader is working on. */
  #given: Uint8Array | undefined

  /**
   * @param timeLimit milliseconds within which a server that is awaited sends as many octets
   * @param octetsMax the most octets in total
   */
  constructor(control: ArrivalControl, { timeLimit, octetsMax }: { timeLimit: number; octetsMax: number }) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.over = promise
    this.#settleOver = resolve
    this.#control = control
    this.#timeLimit = timeLimit
    this.#octetsMax = octetsMax
    this.#waitForReader()
  }

  // Called by the connection

  /** @param slices content in the order in which it came, all of one buffer, which is its own */
  add(slices: readonly Uint8Array[], buffer: Uint8Array): void {
    if (this.#isOver) return
    const octets = closeGaps(slices)
    this.#queue.push({ octets, buffer })
    this.#held += octets.length
    this.#received += octets.length
    if (this.#received > this.#octetsMax) {
      this.#endBy(new TransportFailure('too-long', `it is longer than ${this.#octetsMax} octets`, begun))
      return
    }
    this.#serve()
    if (this.#held <= heldMax || this.#isPaused || this.#isOver) return
    this.#isPaused = true
    this.#control.pause()
  }

  /** The response was complete. */
  end(): void {
    this.#isWhole = true
    this.#resume() // it may carry another
    this.#settleOver()
    this.#serve()
  }

  /** The response was not complete. */
  fail(reason: unknown): void {
    if (this.#failure) return
    this.#failure = { reason }
    this.#queue.length = 0
    clearTimeout(this.#timer)
    this.#settleOver()
    this.#serve()
  }

  // Called by the reader

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void, boolean | undefined> {
    return { next: isDone => this.#next(isDone === true), return: async () => this.#return() }
  }

  /** The reader wants no more octets. */
  drop(): void {
    if (!this.#failure) this.#endBy(new TransportFailure('closed', 'its reader went away', begun))
  }

  #return(): IteratorResult<Uint8Array, void> {
    this.drop()
    return ended
  }

  #next(isDone: boolean): Promise<IteratorResult<Uint8Array, void>> {
    this.#release(isDone)
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
      this.#serve()
      if (this.#reader) this.#waitForServer()
    })
  }

  /** (4) */
  #release(isDone: boolean): void {
    if (isDone && this.#given) releaseBuffer(this.#given)
    this.#given = undefined
  }

  /** Gives the reader what it waits for, if that has arrived. */
  #serve(): void {
    const reader = this.#reader
    if (!reader) return
    const next = this.#queue.shift()
    if (!next && !this.#isOver) return
    this.#reader = undefined
    if (next) {
      this.#handOver(next)
      reader.resolve({ done: false, value: next.octets })
    } else if (this.#failure) reader.reject(this.#failure.reason)
    else {
      clearTimeout(this.#timer)
      reader.resolve(ended)
    }
  }

  #handOver({ octets, buffer }: ArrivedOctets): void {
    this.#held -= octets.length
    this.#given = buffer
    if (this.#waitingSince > 0) this.#waitedMs += Date.now() - this.#waitingSince
    this.#windowOctets += octets.length
    if (this.#windowOctets >= this.#timeLimit) this.#windowOctets = this.#waitedMs = 0
    this.#waitForReader()
    if (this.#held <= heldMax / 2) this.#resume()
  }
  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#control.resume()
  }

  get #isOver(): boolean {
    return this.#failure !== undefined || (this.#isWhole && this.#queue.length === 0)
  }

  #endBy(failure: TransportFailure): void {
    this.fail(failure)
    if (!this.#isWhole) this.#control.abandon()
  }

  // (3)

  #waitForServer(): void {
    this.#waitingSince = Date.now()
    const leftMs = Math.max(this.#timeLimit - this.#waitedMs, 0)
    this.#endIn(leftMs, `fewer than ${this.#timeLimit} octets came in ${this.#timeLimit} ms of waiting`)
  }
  #waitForReader(): void {
    this.#waitingSince = 0
    this.#endIn(unreadMs, `it was not read for ${unreadMs} ms`)
    this.#timer?.unref()
  }
  #endIn(ms: number, detail: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#endBy(new TransportFailure('late', detail, begun)), ms)
  }
}
/**
 * Content without the lines of its chunks: otherwise each chunk of a server that sends small ones
 * would be read by itself.
 */
function closeGaps(slices: readonly Uint8Array[]): Uint8Array {
  const [first = new Uint8Array(0), ...others] = slices
  if (others.length === 0) return first
  const length = slices.reduce((sum, each) => sum + each.length, 0)
  const all = new Uint8Array(first.buffer, first.byteOffset, length) // in front of where the last one ends
  let at = first.length
  for (const each of others) {
    all.set(each, at)
    at += each.length
  }
  return all
}

const begun = { mayHaveRun: true, begun: true }
