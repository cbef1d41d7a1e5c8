/** What carries one request to a REST service, and its response. */
import type { PassingOctets } from '../base/passing-octets.ts'
import type { HttpFields } from '../http/message.ts'
import type { PortAnswer } from './port-caller.ts'

/** Content that its sender brings while it is sent. */
export class FlowingContent {
  readonly pieces: AsyncIterable<Uint8Array>
  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces
  }
}

export interface RestAsk {
  readonly method: string
  readonly address: string
  readonly fields: Readonly<Record<string, string>>
  /** Of several parts: its media type is theirs. */
  readonly content: string | Uint8Array | FormData | FlowingContent | undefined
}

/** The head of a response: fields by lower-case name, lines of one name combined. */
export interface RestHead {
  readonly status: number
  readonly fields: HttpFields
}
export interface RestResponse extends RestHead {
  readonly kind: 'response'
  readonly content: Uint8Array
  /** The content, in place of `content`, where it passes. */
  readonly passing?: PassingBody | undefined
}
export type RestAnswer = RestResponse | Extract<PortAnswer, { readonly kind: 'silence' | 'garbage' }>

/** Octets of a response that pass. */
export interface PassingBody {
  readonly octets: PassingOctets
  readonly over: Promise<void>
  readonly failure: Promise<PortAnswer | undefined>
}

export interface RestBounds {
  /** Milliseconds, connecting and reading included. */
  readonly timeLimit: number
  /** Octets of an answer; default 16 MiB. */
  readonly longest?: number
  /** Octets of one that passes; undefined: none does. */
  readonly longestPassing?: number
}

export interface RestReception {
  readonly signal?: AbortSignal | undefined
  /** By its head: whether a response passes. A transport that holds each leaves it alone. */
  readonly mayPass?: (head: RestHead) => boolean
}

/** @throws what ended `signal`, or the reading of content that flows */
export type RestTransport = (ask: RestAsk, bounds: RestBounds, reception: RestReception) => Promise<RestAnswer>
