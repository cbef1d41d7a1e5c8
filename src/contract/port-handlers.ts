/** Handlers of the exchanges of a port, typed by its messages and by the service around it. */

import type { Maybe } from '../base/maybe.ts'
import type { ReadingOrder } from '../base/passing-octets.ts'
import type { Context, ItemReader } from './context.ts'
import type { BodyValue, ExchangeFaults, HeaderBlocks, Port, PortExchange } from './exchange.ts'
import type { AnyService } from './service.ts'
import type { AnyRootElement } from './xml-type.ts'

type DetailKeys<F> = keyof F & string

/** The items that a transaction's work can read and change, as handlers of resources do. */
export type TransactionContext<S extends AnyService = AnyService> = Pick<
  Context<S, never>,
  'items' | 'after' | 'invalid' | 'conflict' | 'forbid'
>

/** Why a change was refused, in the terms of the contract's faults. */
export interface ChangeRefusal {
  /** `StateConflict`, `Invalid`, `Forbidden`, or a fault that the resource declares. */
  readonly fault: string
  readonly status: number
  readonly reason: string
  readonly detail: Readonly<Record<string, unknown>>
}

/**
 * The input and the abilities of the handler of an exchange, and the ways in which it ends the
 * call. `S`: the service of the port, `V`: the services that `implement` is given.
 */
export interface ExchangeContext<
  F extends ExchangeFaults = ExchangeFaults,
  H extends ExchangeFaults = ExchangeFaults,
  S extends AnyService = AnyService,
  V = unknown,
> extends Pick<Context<S, never, V>, 'caller' | 'now' | 'id' | 'services' | 'log' | 'signal' | 'trace'> {
  /**
   * The key by which callers are counted: the subject, or without one, `@` and the address of the
   * request.
   */
  readonly party: string
  /**
   * Reads what the caller may read of the service's resources, as `ctx.items` of their handlers
   * does; with `all`, everything. Each read sees what is committed at that time.
   */
  readonly items: ItemReader<S> & { readonly all: ItemReader<S> }
  /**
   * Reads and changes items in one transaction, with the checks, versions, events and audit of
   * calls from outside; an error that the work throws rolls it back. On SQLite other writers wait
   * for the work, and after a collision it runs again: so it must not change anything else or call
   * other services. Within it, read items through its argument. Not for a safe exchange.
   */
  transaction<T>(work: (tx: TransactionContext<S>) => Maybe<T>): Promise<T>
  /**
   * Why a transaction was refused, so that the handler can end with a fault of the exchange
   * instead; undefined for any other error: throw it again.
   */
  refusalOf(thrown: unknown): ChangeRefusal | undefined
  /** For the bridge: octets of the reply may be read while it is sent, in this order. */
  readonly passing?: ReadingOrder | undefined
  /** For the bridge: the call may continue as a job (`StartedCall`). */
  readonly mayStart?: boolean
  /** For such a call: the request for it may be repeated. */
  readonly once?: KeyedRequest | undefined
  /** The declared header blocks that the request has. */
  readonly headers: HeaderBlocks<H>
  /** Sets a declared header block of the reply. */
  setHeader(name: string, value: unknown): void
  /** Ends the call with a declared fault. */
  fail<K extends DetailKeys<F>>(fault: K, detail: BodyValue<F[K]>, reason?: string): never
  /** Ends the call because its handler has not been written yet: 501, Receiver. */
  unimplemented(): never
}

/** By an Idempotency-Key; the same request has the same fingerprint. */
export interface KeyedRequest {
  readonly key: string
  readonly fingerprint: string
}

/** The parts of a context that are the same in each face. */
export type ExchangeBasis = Omit<ExchangeContext, 'headers' | 'setHeader' | 'fail' | 'passing' | 'mayStart' | 'once'>

export type ExchangeHandler<E extends PortExchange, S extends AnyService = AnyService, V = unknown> =
  E extends PortExchange<infer I, infer O, infer F, infer H>
    ? (input: BodyValue<I>, ctx: ExchangeContext<F, H, S, V>) => Maybe<O extends AnyRootElement ? BodyValue<O> : void>
    : never
/** The handlers of a port: one for each exchange. */
export type PortHandlers<P, S extends AnyService = AnyService, V = unknown> =
  P extends Port<string, infer E> ? { readonly [K in keyof E]: ExchangeHandler<E[K], S, V> } : never
