/** What all connections of one listener have in common. */
import { RecentCallers, TimeShares } from '../base/time-shares.ts'
import type { Request, Response } from '../http/message.ts'
import { HeldOctets } from './held-octets.ts'
import { ResponseHeadWriter } from './http1/response-head.ts'
import { WriteBatch } from './http1/write-batch.ts'
import { defaultLimits, type ServerLimits } from './limits.ts'
import type { ServerRefusal } from './refusals.ts'

/** A service as seen by the code that brings requests. */
export type Serve = (request: Request) => Response | Promise<Response>

/** Something that waits for its peer to send or read octets. */
export interface IdleCheck {
  /** Octets moved so far; undefined while it is not waiting for the peer. */
  readonly moved: number | undefined
  /** The time over which the pace is measured. */
  readonly windowMs: number
  /** When all of them must have moved, on the clock of `performance.now()`. */
  readonly deadline: number
  /** Called when too few octets have moved for too long. */
  stalled(): void
}

export interface ServerContext {
  readonly serve: Serve
  readonly limits: ServerLimits
  /** The last resort: receives errors that nothing else caught. */
  readonly onError: (error: unknown, request?: Request) => void
  /** Called for each connection that is refused, with the reason and the address of its peer. */
  readonly onRefusal: (reason: string, from: string) => void
  /** Called for each request that is refused before, or while, `serve` has it. */
  readonly onBadRequest: (refusal: ServerRefusal, from: string) => void
  /** Octets of contents that are still arriving. */
  readonly held: HeldOctets
  /** Everything that waits for a peer. */
  readonly waiting: Set<IdleCheck>
  /** Writes the heads of HTTP/1.1. */
  readonly heads: ResponseHeadWriter
  /** HTTP/1.1 responses to be sent at the end of this turn of the event loop. */
  readonly writes: WriteBatch
  /** The addresses that are currently sending requests. */
  readonly peers: RecentCallers
  /** The time shares of addresses that send more requests ahead than fit in one turn. */
  readonly shares: TimeShares
  /** The listener is closing: connections end after their response. */
  draining: boolean
}

export interface ServerContextOptions {
  readonly limits?: Partial<ServerLimits> | undefined
  readonly onError?: ServerContext['onError'] | undefined
  readonly onRefusal?: ServerContext['onRefusal'] | undefined
  readonly onBadRequest?: ServerContext['onBadRequest'] | undefined
}

export function createServerContext(serve: Serve, options: ServerContextOptions): ServerContext {
  const limits = { ...defaultLimits, ...options.limits }
  const peers = new RecentCallers()
  return {
    serve,
    limits,
    onError: options.onError ?? (() => {}),
    onRefusal: options.onRefusal ?? (() => {}),
    onBadRequest: options.onBadRequest ?? (() => {}),
    held: new HeldOctets(limits.held),
    waiting: new Set(),
    heads: new ResponseHeadWriter(Math.floor(limits.idle / 1000)),
    writes: new WriteBatch(),
    peers,
    shares: new TimeShares(peers),
    draining: false,
  }
}
