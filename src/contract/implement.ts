/**
 * The application's handlers, typed from the contract. They run inside the transaction of the call;
 * `ctx.fail` undoes it. While a handler runs, no other change is made on SQLite: the log names one
 * that takes more than a second, and one of ten seconds is undone. Slow work, such as a call of
 * another service, belongs in a job.
 */
import type { Maybe } from '../base/maybe.ts'
import type { DetailOf, Fault } from './fault.ts'
import type { Draft, Fields, Value } from './field.ts'
import type { HeaderValue, HeaderValues } from './header.ts'
import type { Job } from './job.ts'
import type { Caller } from './policy.ts'
import type { Action, AnyAction, AnyResource } from './resource.ts'
import type { Service } from './service.ts'

type ResourcesByName<S extends Service<readonly AnyResource[], readonly Job[]>> = {
  [R in S['resources'][number] as R['name']]: R
}
type FieldsOf<R extends AnyResource> = R['types']['fields']
type ActionsOf<R extends AnyResource> = R['types']['actions']
type ItemsOf<S extends Service<readonly AnyResource[], readonly Job[]>, N extends keyof ResourcesByName<S>> = Value<
  FieldsOf<ResourcesByName<S>[N]>
>
/** Items that are read while they are iterated: all of them, the newest first. */
export interface ItemList<T> extends AsyncIterable<T> {
  /** The newest items, at most `limit`, and whether there are more. */
  first(limit: number): Promise<{ readonly items: readonly T[]; readonly more: boolean }>
}
/** Reads stored items besides the one that a call is about, as part of its transaction. */
export interface ItemReader<S extends Service<readonly AnyResource[], readonly Job[]>> {
  get<N extends keyof ResourcesByName<S> & string>(resource: N, id: string): Promise<ItemsOf<S, N> | undefined>
  /** The items whose fields equal these: `for await (const order of ctx.items.list('orders'))`. */
  list<N extends keyof ResourcesByName<S> & string>(
    resource: N,
    where?: Partial<ItemsOf<S, N>>,
  ): ItemList<ItemsOf<S, N>>
}
/**
 * Reads what the caller may read; in a job, the caller that started it. Other items are not there;
 * a resource that the caller may never read is a mistake, and throws. Writes are the service's own.
 */
export interface Items<S extends Service<readonly AnyResource[], readonly Job[]>> extends ItemReader<S> {
  change<N extends keyof ResourcesByName<S> & string>(
    resource: N,
    id: string,
    set: Partial<ItemsOf<S, N>>,
  ): Promise<void>
  /** Reads every item, whatever the caller may read. */
  readonly all: ItemReader<S>
}

export interface Context<
  S extends Service<readonly AnyResource[], readonly Job[]> = Service<readonly AnyResource[], readonly Job[]>,
  X extends Fault = Fault,
> {
  readonly caller: Caller
  /** The time of the call: ISO 8601 in UTC. */
  readonly now: string
  /** A new identifier, `prefix-…`. */
  id(prefix: string): string
  readonly items: Items<S>
  /** Header blocks of the request, or the HTTP fields that the contract names for them. */
  readonly headers: HeaderValues<S['headers'], 'request'>
  /**
   * Sets a header block of the answer, or its HTTP field. A fault does not have it, nor the answer
   * to a message that is repeated, nor that of an operation or version without this header.
   */
  setHeader<K extends keyof HeaderValues<S['headers'], 'response'> & string>(
    name: K,
    value: HeaderValue<S['headers'][K]>,
  ): void
  /** Ends the call with a declared fault; nothing that it changed is kept. */
  fail<Y extends X>(fault: Y, detail?: DetailOf<Y>): never
  /**
   * Ends the call because the content breaks a domain rule: 422, fault `Invalid`. `path` starts at
   * the content's root.
   */
  invalid(path: readonly (string | number)[], detail: string): never
  /** Ends the call because other items do not allow it now: 409, fault `StateConflict`. */
  conflict(detail: string): never
  /** Ends the call because the caller may not do this: 403, fault `Forbidden`. */
  forbid(): never
}

/** The context of a job. Each read and each change is a transaction of its own. */
export interface JobHandlerContext<
  S extends Service<readonly AnyResource[], readonly Job[]> = Service<readonly AnyResource[], readonly Job[]>,
> extends Context<S> {
  /**
   * Does the work once, however often the job runs: its changes and its result are kept in one
   * transaction, under the name of the step, for thirty days. Work reads and changes by the context
   * that it is given; it may run again if its transaction is rolled back.
   */
  once<T>(step: string, work: (ctx: Context<S>) => Maybe<T>): Promise<T>
}

/** Required fields that a client cannot send, or not all of: the application must compute them. */
type ServerKeys<F extends Fields> = {
  [K in keyof F]: F[K]['flags'] extends readonly [true, boolean]
    ? never
    : K extends 'id' | 'state'
      ? never
      : F[K]['flags'][1] extends true
        ? K
        : F[K]['draft'] extends F[K]['type']
          ? never
          : K
}[keyof F]
/** The result of `derive`: every field that clients cannot send, and any other that it sets. */
export type Derived<F extends Fields> = Pick<Value<F>, ServerKeys<F> & keyof Value<F>> & Partial<Value<F>>

type InState<F extends Fields, From extends string> = 'state' extends keyof F
  ? Omit<Value<F>, 'state'> & { readonly state: From }
  : Value<F>

type ActionEffect<F extends Fields, O> = {
  /** Fields to change; the state follows the machine. */
  readonly set?: Partial<Omit<Value<F>, 'id' | 'state'>>
} & ([O] extends [Fields] ? { readonly output: Value<O> } : { readonly output?: undefined })

type ActionHandler<S extends Service<readonly AnyResource[], readonly Job[]>, F extends Fields, A> =
  A extends Action<infer From, infer _To, infer I, infer O, infer X, infer E>
    ? (
        ctx: Context<S, X[number]>,
        item: InState<F, From>,
        input: Draft<I>,
      ) => Maybe<
        E extends 'read'
          ? [O] extends [Fields]
            ? Value<O>
            : never
          : E extends 'move'
            ? { readonly to: string }
            : [O] extends [Fields]
              ? ActionEffect<F, O>
              : ActionEffect<F, O> | undefined | void
      >
    : never

/** Writes a value in a media type of the application's own. */
export type RepresentationWriter<T> = (value: T) => Maybe<Uint8Array | string>

/**
 * An item of a provider. `version` grows with each change; `modified` is in milliseconds since
 * 1970.
 */
export interface Provided<V> {
  readonly value: V
  readonly version: number
  readonly modified: number
}
/**
 * Keeps a resource outside of the built-in store: in another service, a directory or another
 * database.
 */
export interface Provider<V> {
  load(id: string): Maybe<Provided<V> | undefined>
  list(): Maybe<readonly Provided<V>[]>
  /**
   * `expected`: the version that was read; undefined where the item must not exist yet. Resolves to
   * its new version.
   */
  save(id: string, value: V, expected: number | undefined): Maybe<number | 'stale'>
  /** False when the version is not `expected`. */
  remove(id: string, expected: number): Maybe<boolean>
}

type ResourceHandlers<
  S extends Service<readonly AnyResource[], readonly Job[]>,
  R extends AnyResource,
  F extends Fields,
> = {
  readonly [K in keyof ActionsOf<R>]: ActionHandler<S, F, ActionsOf<R>[K]>
} & {
  /** Media type → writer of one item. */
  readonly formats?: Readonly<Record<string, RepresentationWriter<Value<F>>>>
  readonly keep?: Provider<Value<F>>
  /** Called before an item is removed; it may fail the call. */
  readonly removing?: (ctx: Context<S>, item: Value<F>) => Maybe<void>
} & ([ServerKeys<F>] extends [never]
    ? { readonly derive?: Derive<S, F> }
    : {
        /**
         * Computes read-only fields, on create and on every change; `current` is the stored item.
         */
        readonly derive: Derive<S, F>
      })
type Derive<S extends Service<readonly AnyResource[], readonly Job[]>, F extends Fields> = (
  ctx: Context<S>,
  draft: Draft<F>,
  current?: Value<F>,
) => Maybe<Derived<F>>

export interface Progress {
  /** A part of one. Throws when the job was cancelled or its lease is lost: do not catch it. */
  (part: number): Promise<void>
  readonly signal: AbortSignal
}
type JobHandlers<S extends Service<readonly AnyResource[], readonly Job[]>, J> =
  J extends Job<string, infer I, infer O>
    ? {
        /** Called before the job is accepted, in the call's transaction; it may fail the call. */
        readonly starting?: (ctx: Context<S>, input: Value<I>) => Maybe<void>
        /**
         * Runs at least once, and again after a crash or a lost lease: what must happen once is a
         * step of `ctx.once`.
         */
        readonly run: (ctx: JobHandlerContext<S>, input: Value<I>, progress: Progress) => Promise<Value<O>>
        readonly formats?: Readonly<Record<string, RepresentationWriter<Value<O>>>>
      }
    : never

type RequiredHandlers<S extends Service<readonly AnyResource[], readonly Job[]>> = {
  [R in S['resources'][number] as [keyof ActionsOf<R> | ServerKeys<FieldsOf<R>>] extends [never]
    ? never
    : R['name']]: ResourceHandlers<S, R, FieldsOf<R>>
} & {
  [R in S['resources'][number] as [keyof ActionsOf<R> | ServerKeys<FieldsOf<R>>] extends [never]
    ? R['name']
    : never]?: ResourceHandlers<S, R, FieldsOf<R>>
} & { [J in S['jobs'][number] as J['job']]: JobHandlers<S, J> }

/** A person to sign in with, stored at the first start. */
export interface Person {
  readonly subject: string
  readonly password: string
  readonly roles: readonly string[]
  readonly claims?: Readonly<Record<string, string>>
}
/** What the first start puts into an empty store. */
export interface Seed<S extends Service<readonly AnyResource[], readonly Job[]>> {
  readonly people?: readonly Person[]
  readonly items?: {
    readonly [R in S['resources'][number] as R['name']]?: readonly Value<FieldsOf<R>>[]
  }
}

/** A contract and its handlers with their types erased, as the service uses them. */
export interface Implementation {
  readonly contract: Service
  readonly handlers: Readonly<Record<string, Handlers>>
  readonly seed: () => {
    readonly people?: readonly Person[]
    readonly items?: Readonly<Record<string, readonly Values[]>>
  }
}
export type Values = Readonly<Record<string, unknown>>
export interface Handlers {
  readonly derive?: (ctx: Context, draft: Values, current?: Values) => Maybe<Values>
  readonly removing?: (ctx: Context, item: Values) => Maybe<void>
  readonly formats?: Readonly<Record<string, RepresentationWriter<Values>>>
  readonly keep?: Provider<Values>
  readonly starting?: (ctx: Context, input: Values) => Maybe<void>
  readonly run?: (ctx: JobHandlerContext, input: Values, progress: Progress) => Promise<Values>
  readonly actions: Readonly<
    Record<
      string,
      (
        ctx: Context,
        item: Values,
        input: Values,
      ) => Maybe<({ set?: Values; output?: Values; to?: string } & Values) | undefined | void>
    >
  >
}

const generalHandlers = ['derive', 'removing', 'formats', 'keep', 'starting', 'run']

/** Puts a contract and its handlers together for `serve`. A missing handler does not compile. */
export function implement<S extends Service<readonly AnyResource[], readonly Job[]>>(
  contract: S,
  handlers: NoInfer<RequiredHandlers<S>>,
  seed: () => Seed<S> = () => ({}),
): Implementation {
  const erased = Object.entries(handlers as Record<string, Record<string, unknown>>).map(([name, of]) => {
    const actions = Object.fromEntries(Object.entries(of).filter(([key]) => !generalHandlers.includes(key)))
    return [name, { ...of, actions }]
  })
  // The generic signature has checked every handler; the contract's readers check what they are
  // called with.
  return {
    contract: contract as unknown as Service,
    handlers: Object.fromEntries(erased) as Record<string, Handlers>,
    seed: seed as unknown as Implementation['seed'],
  }
}

export type { AnyAction }
