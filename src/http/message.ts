/**
 * RFC 9110 §6: a message as plain records, so that the faces are functions and a test needs no
 * socket. `server/` makes a Request from whatever carried it and writes the Response; this file
 * knows no stream or socket.
 */

import type { LastingCredentials, LastingFields } from './lasting-fields.ts'

/**
 * Fields by lower-case name, in an object without a prototype. Lines with the same name are
 * combined in order with ", " (RFC 9110 §5.3; Cookie with "; "), so a repeated singleton, such as
 * Host, fails its own grammar instead of being read by luck.
 */
export type HttpFields = Readonly<Record<string, string>>

/** The fields of a response while it is being made. */
export type FieldDraft = Record<string, string>

/** Applies or undoes a content coding for octets that pass piece by piece. */
export type OctetTransform = (octets: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>

/** Undefined: the content is longer than the limit. */
export type Octets = Uint8Array | undefined

/** Content that may not have arrived yet. It can be read once. */
export interface Content {
  /** Octets announced by Content-Length; 0 without content, undefined for chunked content. */
  readonly length: number | undefined
  /**
   * All of it; undefined as soon as it exceeds `limit` octets. The first read sends 100 (Continue)
   * if the client expects it.
   */
  bytes(limit: number): Octets | Promise<Octets>
  /** Piece by piece as it arrives; `next(true)` frees the previous piece (base/octets.ts). */
  chunks(): AsyncIterable<Uint8Array>
  /** Reports that the reader of `chunks` keeps this many more octets until all have arrived. */
  readonly keep?: (octets: number) => void
}

/** A request as the server hands it over: its head has been read, its content is read on demand. */
export interface Request {
  readonly method: string
  /** The request-target as received: origin, absolute or asterisk form. */
  readonly target: string
  readonly fields: HttpFields
  /**
   * The lasting ones of `fields`, if the previous request on this connection had the same: one
   * object for as long as they stay the same, so their meaning is worth remembering.
   */
  readonly lasting?: LastingFields | undefined
  /** The same for Authorization: one object for as long as the caller stays the same. */
  readonly credentials?: LastingCredentials | undefined
  /** Octets of the field lines, if the server has counted them. */
  readonly fieldOctets?: number
  readonly content: Content
  readonly scheme: 'http' | 'https'
  readonly version: '1.0' | '1.1' | '2'
  /** The address of the peer. */
  readonly from: string
  /** DER of the certificate that the peer proved to own in the TLS handshake. */
  readonly certificate?: Uint8Array | undefined
  /** Aborted when there is no client left to respond to. Absent if the carrier cannot tell. */
  readonly gone?: () => AbortSignal
  /**
   * The id of this request in the audit, in logs and in its response; a new one is made if it is
   * absent.
   */
  readonly id?: string
  /** The request of the host that has mounted the service, only for the host's own `caller`. */
  readonly carrier?: object
}

/** A response before it is sent. */
export interface Response {
  readonly status: number
  readonly fields: Readonly<Record<string, string | readonly string[]>>
  /**
   * Nothing, all at once, or a stream. The server counts Content-Length itself if it can. It asks a
   * stream for more by `next(true)` once the previous piece has been sent, and by `next(false)`
   * while that may still be on its way (base/octets.ts).
   */
  readonly content?: string | Uint8Array | AsyncIterable<Uint8Array>
}

/**
 * Whether the sender of content left or stalled: then there is no client to respond to, and nothing
 * is wrong with the service.
 */
export const isAborted = (thrown: unknown): boolean => thrown instanceof Error && thrown.name === 'Aborted'

/** No content. */
export const noContent: Content = {
  length: 0,
  bytes: () => new Uint8Array(0),
  async *chunks() {},
}

/** Content that is already complete. */
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
