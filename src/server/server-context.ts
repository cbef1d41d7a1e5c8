/** What all connections of one listener have in common. */
import { RecentCallers, TimeShares } from '../base/time-shares.ts'
import type { Request, Response } from '../http/message.ts'
import { HeldOctets } from './held-octets.ts'
import { ResponseHeadWriter } from './http1/response-head.ts'
import { WriteBatch } from './http1/write-batch.ts'
import { defaultLimits, type ServerLimits } from './limits.ts'

/** A service, as all that brings requests knows it. */
export type Serve = (request: Request) => Response | Promise<Response>

/** Something that waits for its peer to send or to read octets. */
export interface IdleCheck {
  /** Octets that have moved so far; undefined while it is not the peer that is waited for. */
  readonly moved: number | undefined
  /** Over which the pace is seen. */
  readonly windowMs: number
  /** When all of them must have moved, on the clock of `performance.now()`. */
  readonly deadline: number
  /** Too few of them moved for too long. */
  stalled(): void
}

export interface ServerContext {
  readonly serve: Serve
  readonly limits: ServerLimits
  /** The last resort: what no other place caught. */
  readonly onError: (error: unknown, request?: Request) => void
  /** Told of each connection that is not let in: why, and the address of its peer. */
  readonly onRefusal: (why: string, from: string) => void
  /** Of contents that are still arriving. */
  readonly held: HeldOctets
  /** All that waits for a peer. */
  readonly waiting: Set<IdleCheck>
  /** Heads of HTTP/1.1. */
  readonly heads: ResponseHeadWriter
  /** Responses of HTTP/1.1 that leave at the end of this turn of the event loop. */
  readonly writes: WriteBatch
  /** The addresses whose requests come at the moment. */
  readonly peers: RecentCallers
  /** The time of addresses that send more requests ahead than one turn of the event loop has. */
  readonly shares: TimeShares
  /** The listener is closing: connections end after their response. */
  draining: boolean
}

export interface ServerContextOptions {
  readonly limits?: Partial<ServerLimits> | undefined
  readonly onError?: ServerContext['onError'] | undefined
  readonly onRefusal?: ServerContext['onRefusal'] | undefined
}

export function createServerContext(serve: Serve, options: ServerContextOptions): ServerContext {
  const limits = { ...defaultLimits, ...options.limits }
  const peers = new RecentCallers()
  return {
    serve,
    limits,
    onError: options.onError ?? (() => {}),
    onRefusal: options.onRefusal ?? (() => {}),
    held: new HeldOctets(limits.held),
    waiting: new Set(),
    heads: new ResponseHeadWriter(Math.floor(limits.idle / 1000)),
    writes: new WriteBatch(),
    peers,
    shares: new TimeShares(peers),
    draining: false,
  }
}
