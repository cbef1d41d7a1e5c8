/** Everything that a face gets: it has no other source of time, randomness, keys or identities. */
import type { Implementation } from '../contract/implement.ts'
import type { Calls } from './call.ts'
import type { Identities } from './identity-port.ts'
import type { LargeWork } from './large-work.ts'
import type { Turns } from './turns.ts'

export interface FaceContext {
  readonly app: Implementation
  readonly calls: Calls
  readonly identities: Identities
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** The time at which answers are said to be protected. Default: the clock's. */
  readonly protectedAt?: () => number
  /** A new identifier of a request or an incident: unguessable, URL-safe. */
  readonly id: () => string
  /** Reports a bug of ours; the face responds with 500 or Receiver, this incident and no detail. */
  readonly report: (incident: string, thrown: unknown, notes?: RequestNotes) => void
  readonly settings: Settings
  /** For long work, shared by all faces. Default: it is done at once. */
  readonly turns?: Turns
  /** For changes with large contents, shared by all faces. Default: they are made at once. */
  readonly largeWork?: LargeWork
}

/** What is learned about a request on its way, for the lines of the log. */
export interface RequestNotes {
  operation?: string | undefined
  subject?: string | undefined
  /** The cause of a 503. */
  cause?: unknown
}

/** How a proxy describes its client: X-Forwarded-For, -Proto and -Host, or Forwarded (RFC 7239). */
export type ProxyFields = 'x-forwarded' | 'forwarded'

export interface Settings {
  /** The address that clients use (`https://api.example.org`). Default: the Host of the request. */
  readonly publicUrl?: string
  /** The path where a host mounts the service, such as `/shop`. Default: that of `publicUrl`. */
  readonly prefix?: string
  /**
   * A proxy in front is trusted: fields of this kind are read, those of the other kind, which a
   * client may have sent, are ignored; the proxy does the content coding. True: `x-forwarded`.
   */
  readonly trustProxy: boolean | ProxyFields
  /**
   * A proxy in front passes connections on unread, and says by the PROXY protocol (version 1 or 2)
   * whose they are; one that does not begin so is closed. Default: false.
   */
  readonly proxyProtocol?: boolean
  /** Adds `Diglot-Trace` to responses: for development. */
  readonly trace: boolean
  /** Accepts passwords over cleartext from loopback addresses. Over TLS they always are. */
  readonly passwordsOnLoopback: boolean
  /** Origins that browsers may call from (CORS). Default: none. */
  readonly origins: readonly string[]
}
