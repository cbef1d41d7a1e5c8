/** What carries messages: plain records in and out, so that a client needs no socket to be tested, and can be given another. */
import type { HttpFields } from '../http/message.ts'

/** A response with all of its content. */
export interface TransportResponse {
  readonly status: number
  /** By lower-case name, lines of one name combined. */
  readonly fields: HttpFields
  readonly content: Uint8Array
}

/** One POST. */
export interface TransportRequest {
  /** Text goes as UTF-8. */
  readonly content: string | readonly Uint8Array[]
  /** Beside those that were prepared. */
  readonly fields: HttpFields | undefined
  /** Milliseconds. */
  readonly timeLimit: number
  readonly signal: AbortSignal | undefined
}

export interface ClientTransport {
  /** For POSTs that have these fields in common. The promise rejects with an `Unanswered`, or the signal's reason. */
  prepare(fields: HttpFields): (sending: TransportRequest) => Promise<TransportResponse>
  /** Takes no more; what is under way ends `Unanswered`. */
  close(): void
}
