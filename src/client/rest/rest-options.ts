/** Options of a REST client. */
import type { HttpFields } from '../../http/message.ts'
import type { HttpCredentials } from '../credentials.ts'
import type { Wait } from '../timer.ts'

/** The options of `createRestClient`. */
export interface RestClientOptions<V extends string = string> {
  /** Where the service begins, such as `https://shop.example/api`: all else is found by links. */
  readonly address: string
  /** The contract's; default the newest. */
  readonly version?: V
  readonly credentials?: HttpCredentials
  /** Fields of each request, such as a trace or a tenant. */
  readonly fields?: HttpFields
  /** Milliseconds for a call, all tries and waits included; default 30,000. */
  readonly timeLimit?: number
  /**
   * How often a request is sent again that has failed on its way, or that the service has asked to
   * repeat later; default 2. Only where a second one has no further effect.
   */
  readonly retries?: number
  /**
   * Whether changes carry an Idempotency-Key, so that they can be sent again: by default where
   * there are credentials, since a key belongs to a caller. Set it where a cookie names the caller.
   */
  readonly idempotencyKeys?: boolean
  /** Octets of a response, the content of a file excepted; default 16 MiB. */
  readonly longest?: number
  /** What is kept to be asked for by its validator alone; default 200 representations, 4 MiB. */
  readonly cache?: { readonly entries?: number; readonly characters?: number }
  /**
   * Waits before another try, and between two looks at a job; default: by a timer. For tests whose
   * clock is their own.
   */
  readonly wait?: Wait
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch
}
