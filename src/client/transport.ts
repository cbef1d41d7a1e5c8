/**
 * Carries messages as plain records, so that a test needs no socket, and a client may have another
 * transport.
 */
import type { HttpFields } from '../http/message.ts'

/** The default limit of a response, in octets. */
export const longestDefault = 16 * 1024 * 1024

/** A response with all of its content. */
export interface TransportResponse {
  readonly status: number
  /** By lower-case name, lines of one name combined. */
  readonly fields: HttpFields
  readonly content: Uint8Array
  /**
   * The content passes here in place of there: it has not all come (`TransportRequest.passing`).
   */
  readonly arriving?: ArrivingOctets
}

/** Content as it arrives, read once; a reader that wants no more drops the rest. */
export interface ArrivingOctets extends AsyncIterable<Uint8Array> {
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, void, boolean | undefined>
  /** Settles when no more arrives, for whatever reason. */
  readonly over: Promise<void>
  drop(): void
}

/** Which responses need not be held. */
export interface PassingResponses {
  /** By the head of a response, whose content has come in part at most. */
  readonly mayPass: (status: number, fields: HttpFields) => boolean
  /** Of the content of one. */
  readonly octetsMax: number
}

/** One POST. */
export interface TransportRequest {
  /** Text is sent as UTF-8. */
  readonly content: string | readonly Uint8Array[]
  /**
   * The content, in place of `content`, where its sender gave octets that come while it is sent.
   */
  readonly flowing?: AsyncIterable<Uint8Array> | undefined
  /** In addition to those that were prepared. */
  readonly fields: HttpFields | undefined
  /** Milliseconds. */
  readonly timeLimit: number
  readonly signal: AbortSignal | undefined
  /** A transport that holds each response in any case leaves it alone. */
  readonly passing?: PassingResponses | undefined
}

/** Carries the messages of a SOAP client. */
export interface ClientTransport {
  /**
   * For POSTs with these fields in common. The promise rejects with a `TransportFailure`, or the
   * signal's reason.
   */
  prepare(fields: HttpFields): (sending: TransportRequest) => Promise<TransportResponse>
  /** Accepts no more; what is under way ends with a `TransportFailure`. */
  close(): void
}
