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
   * The content, instead of in `content`, if it has not all arrived (`TransportRequest.passing`).
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
  /** Decides by the head of a response, when at most a part of its content has arrived. */
  readonly mayPass: (status: number, fields: HttpFields) => boolean
  /** The most octets of the content of one response. */
  readonly octetsMax: number
}

/** One POST. */
export interface TransportRequest {
  /** Text is sent as UTF-8. */
  readonly content: string | readonly Uint8Array[]
  /** The content, instead of `content`, if its octets arrive while it is sent. */
  readonly flowing?: AsyncIterable<Uint8Array> | undefined
  /** In addition to those that were prepared. */
  readonly fields: HttpFields | undefined
  /** Milliseconds. */
  readonly timeLimit: number
  readonly signal: AbortSignal | undefined
  /** Ignored by a transport that always holds whole responses. */
  readonly passing?: PassingResponses | undefined
}

/** Carries the messages of a SOAP client. */
export interface ClientTransport {
  /**
   * For POSTs with these fields in common. The promise rejects with a `TransportFailure`, or the
   * signal's reason.
   */
  prepare(fields: HttpFields): (sending: TransportRequest) => Promise<TransportResponse>
  /** Accepts no more requests; those in progress end with a `TransportFailure`. */
  close(): void
}
