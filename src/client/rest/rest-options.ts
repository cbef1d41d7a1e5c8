/** Options of a REST client. */
import type { HttpFields } from '../../http/message.ts'
import type { HttpCredentials } from '../credentials.ts'
import type { Wait } from '../timer.ts'

/** The options of `createRestClient`. */
export interface RestClientOptions<V extends string = string> {
  /**
   * Where the service begins, such as `https://shop.example/api`: everything else is found by
   * links.
   */
  readonly address: string
  /** The contract's; default the newest. */
  readonly version?: V
  readonly credentials?: HttpCredentials
  /** Fields of each request, such as a trace or a tenant. */
  readonly fields?: HttpFields
  /** Milliseconds for a call, all attempts and waits included; default 30,000. */
  readonly timeLimit?: number
  /**
   * How often a request is sent again that failed on its way, or that the service asked to repeat
   * later; default 2. Only if a second one has no further effect.
   */
  readonly retries?: number
  /**
   * Whether changes carry an Idempotency-Key, so that they can be sent again: by default, if there
   * are credentials, since a key belongs to a caller. Set it if a cookie identifies the caller.
   */
  readonly idempotencyKeys?: boolean
  /** The most octets of a response, except the content of a file; default 16 MiB. */
  readonly longest?: number
  /** The representations that are kept to be revalidated; default 200, and 4 MiB. */
  readonly cache?: { readonly entries?: number; readonly characters?: number }
  /**
   * Waits before another attempt, and between two requests for the status of a job; by default,
   * uses a timer. For tests with their own clock.
   */
  readonly wait?: Wait
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}
