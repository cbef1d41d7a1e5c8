/**
 * RFC 9110 §6: a message as plain records, so that the faces are functions and a test needs no
 * socket. `server/` makes a Request from whatever carried it and writes the Response; nothing here
 * knows a stream or a socket.
 */

import type { LastingCredentials, LastingFields } from './lasting-fields.ts'

/**
 * Fields by lower-case name, without prototype. Lines of one name are combined in order with ", "
 * (RFC 9110 §5.3; Cookie with "; "), so a repeated singleton, such as Host, fails its own grammar
 * instead of being read by luck.
 */
export type HttpFields = Readonly<Record<string, string>>

/** The fields of a response while it is made. */
export type FieldDraft = Record<string, string>

/** A content coding, applied or undone, for octets that pass piece by piece. */
export type OctetTransform = (octets: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

/** Undefined: the content is longer than the limit. */
export type Octets = Uint8Array | undefined

/** Content that may not have arrived yet. It can be read once. */
export interface Content {
  /** Octets announced by Content-Length; 0 without content, undefined when it comes in chunks. */
  readonly length: number | undefined
  /**
   * All of it; undefined as soon as it exceeds `limit` octets. The first read sends 100 (Continue)
   * if the client expects it.
   */
  bytes(limit: number): Octets | Promise<Octets>
  /** Piece by piece as it arrives; `next(true)` frees the previous piece (base/octets.ts). */
  chunks(): AsyncIterable<Uint8Array>
  /** Tells that the reader of `chunks` keeps so many more octets until all have come. */
  readonly keep?: (octets: number) => void
}

/** A request as the server hands it over: its head is read, its content is read on demand. */
export interface Request {
  readonly method: string
  /** The request-target as received: origin, absolute or asterisk form. */
  readonly target: string
  readonly fields: HttpFields
  /**
   * The lasting ones of `fields`, where the request before on this connection had the same: one
   * object for as long as they stay the same, so what they say is worth remembering.
   */
  readonly lasting?: LastingFields | undefined
  /** The same of Authorization: one object for as long as one caller asks. */
  readonly credentials?: LastingCredentials | undefined
  /** Octets of the field lines, where the server has counted them. */
  readonly fieldOctets?: number
  readonly content: Content
  readonly scheme: 'http' | 'https'
  readonly version: '1.0' | '1.1' | '2'
  /** The address of the peer. */
  readonly from: string
  /** DER of the certificate that the peer proved to own in the TLS handshake. */
  readonly certificate?: Uint8Array | undefined
  /** Aborted when no client is left to answer. Absent where the carrier cannot tell. */
  readonly gone?: () => AbortSignal
  /**
   * The name of this request in the audit, in logs and in its response; a new one is made up where
   * it is absent.
   */
  readonly id?: string
  /** The request of the host that has mounted the service, for the host's own `caller` alone. */
  readonly carrier?: object
}

/** A response before it is sent. */
export interface Response {
  readonly status: number
  readonly fields: Readonly<Record<string, string | readonly string[]>>
  /**
   * Nothing, all at once, or a stream. The server counts Content-Length itself when it can. It asks
   * a stream for more by `next(true)` once the previous piece has left, and by `next(false)` while
   * that may still be on its way (base/octets.ts).
   */
  readonly content?: string | Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * Whether the sender of content went away or stalled: there is no client left to answer, and
 * nothing is wrong with the service.
 */
export const isAborted = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'Aborted'

/** No content. */
export const noContent: Content = {
  length: 0,
  bytes: () => new Uint8Array(0),
  async *chunks() {},
}

/** Content that is already here. */
export function contentOf(of: string | Uint8Array): Content {
  const bytes = typeof of === 'string' ? new TextEncoder().encode(of) : of
  return {
    length: bytes.length,
    bytes: limit => (bytes.length > limit ? undefined : bytes),
    async *chunks() {
      yield bytes
    },
  }
}
