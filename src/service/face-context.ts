/**
 * All that a face is given. Time, randomness, keys and people come in here and from nowhere else.
 */
import type { Implementation } from '../contract/implement.ts'
import type { Calls } from './call.ts'
import type { Identities } from './identity-port.ts'

export interface FaceContext {
  readonly app: Implementation
  readonly calls: Calls
  readonly identities: Identities
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** A new identifier of a request or an incident: unguessable, URL-safe. */
  readonly id: () => string
  /**
   * Something was thrown that is our bug; the face answers 500 or Receiver with this incident id
   * and no detail.
   */
  readonly report: (incident: string, thrown: unknown) => void
  readonly settings: Settings
}

export interface Settings {
  /**
   * The address clients know (`https://api.example.org`); without it the Host that was asked is
   * used.
   */
  readonly publicUrl?: string
  /**
   * A proxy in front is trusted: its Forwarded fields are read and content coding is left to it.
   */
  readonly trustProxy: boolean
  /** `Diglot-Trace` on answers: development alone. */
  readonly trace: boolean
  /** Password schemes over cleartext from loopback addresses. TLS always takes them. */
  readonly passwordsOnLoopback: boolean
  /** Origins that browsers may call from (CORS); none by default. */
  readonly origins: readonly string[]
}
