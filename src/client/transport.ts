/** What carries messages: plain records in and out, so that a client needs no socket to be tested, and can be given another. */
import type { Fields } from '../http/message.ts'

/** A response with all of its content. */
export interface Came {
  readonly status: number
  /** By lower-case name, lines of one name combined. */
  readonly fields: Fields
  readonly content: Uint8Array
}

/** One POST. */
export interface Sending {
  /** Text goes as UTF-8. */
  readonly content: string | readonly Uint8Array[]
  /** Beside those that were prepared. */
  readonly fields: Fields | undefined
  /** Milliseconds. */
  readonly timeLimit: number
  readonly signal: AbortSignal | undefined
}

export interface Transport {
  /** For POSTs that have these fields in common. The promise rejects with an `Unanswered`, or the signal's reason. */
  prepare(fields: Fields): (sending: Sending) => Promise<Came>
  /** Takes no more; what is under way ends `Unanswered`. */
  close(): void
}
