/** Carries one request to a REST service, and its response. */
import type { PassingOctets } from '../base/passing-octets.ts'
import type { HttpFields } from '../http/message.ts'
import type { PortAnswer } from './port-caller.ts'

/** Content that arrives while it is being sent. */
export class FlowingContent {
  readonly pieces: AsyncIterable<Uint8Array>
  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.pieces = pieces
  }
}

export interface BackendRequest {
  readonly method: string
  readonly address: string
  readonly fields: Readonly<Record<string, string>>
  /** Content of several parts determines its own media type. */
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
  /** The content, instead of `content`, where it passes. */
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
  /** Milliseconds, including connecting and reading. */
  readonly timeLimit: number
  /** Octets of a response; default 16 MiB. */
  readonly longest?: number
  /** Octets of a response that passes; undefined: none passes. */
  readonly longestPassing?: number
}

export interface RestReception {
  readonly signal?: AbortSignal | undefined
  /**
   * Decides by its head whether a response passes; ignored by a transport that holds everything.
   */
  readonly mayPass?: (head: RestHead) => boolean
}

/** @throws the reason of `signal`, or the error of flowing content */
export type RestTransport = (ask: BackendRequest, bounds: RestBounds, reception: RestReception) => Promise<RestAnswer>
