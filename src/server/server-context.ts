import type { Request, Response } from '../http/message.ts'
import type { ServerLimits } from './limits.ts'

export type Serve = (request: Request) => Response | Promise<Response>

/** Something that waits for its peer to send or to take octets. */
export interface IdleCheck {
  /** Octets that have moved so far; undefined while it is not the peer who is waited for. */
  readonly moved: number | undefined
  /** When all of them must have moved, on the clock of `performance.now()`. */
  readonly deadline: number
  /** Too few of them moved for too long. */
  stalled(): void
}

/** What all connections of one listener have in common. */
export interface ServerContext {
  readonly serve: Serve
  readonly limits: ServerLimits
  /** What HTTP/1.1 says of a connection that stays: `kept` of `head.ts`. */
  readonly kept: string
  /** The last resort: what nobody else caught. */
  readonly onError: (error: unknown, request?: Request) => void
  /** All that waits for a peer. */
  readonly waiting: Set<IdleCheck>
  draining: boolean
}
