/**
 * The context of a handler, typed from the contract: the caller, the items of the service, and the
 * ways to end the call. Everything that it changes belongs to the transaction of the call.
 */
import type { Maybe } from '../base/maybe.ts'
import type { DetailOf, Fault } from './fault.ts'
import type {
  ComputedKeys,
  Draft,
  Fields,
  FieldsToSet,
  Flatten,
  Loose,
  ParentKeys,
  StoredValue,
  Value,
} from './field.ts'
import type { HeaderValue, HeaderValues } from './header.ts'
import type { FilterFields, SortName } from './item-query.ts'
import type { Job } from './job.ts'
import type { Caller } from './policy.ts'
import type { Action, AnyResource, IsSingle, Ruled } from './resource.ts'
import type { AnyService } from './service.ts'

type ResourcesByName<S extends AnyService> = { [R in S['resources'][number] as R['name']]: R }
type JobsByName<S extends AnyService> = { [J in S['jobs'][number] as J['job']]: J }
type ResourceNamed<S extends AnyService, N extends keyof ResourcesByName<S> & string> = Extract<
  ResourcesByName<S>[N],
  AnyResource
>
type JobInput<S extends AnyService, N extends keyof JobsByName<S> & string> = Extract<JobsByName<S>[N], Job>['input']
type FieldsNamed<S extends AnyService, N extends keyof ResourcesByName<S> & string> = ResourceNamed<
  S,
  N
>['types']['fields']
type RulesNamed<S extends AnyService, N extends keyof ResourcesByName<S> & string> = ResourceNamed<
  S,
  N
>['types']['rules']
/** The resources that have lists. */
type CollectionNames<S extends AnyService> = {
  [R in S['resources'][number] as IsSingle<R['types']['single']> extends true ? never : R['name']]: R
}
type SingleNames<S extends AnyService> = Exclude<keyof ResourcesByName<S>, keyof CollectionNames<S>>
/** A single resource has one item, which needs no identifier. */
type IdOf<S extends AnyService, N extends keyof ResourcesByName<S> & string> =
  IsSingle<ResourceNamed<S, N>['types']['single']> extends true ? [] : [id: string]
type ItemNamed<S extends AnyService, N extends keyof ResourcesByName<S> & string> = Value<FieldsNamed<S, N>>

/** Items that are read while they are iterated: all of them, in the order of the list. */
export interface ItemList<T> extends AsyncIterable<T> {
  /** The first items, at most `limit` (above 0), and whether there are more. */
  first(limit: number): Promise<{ readonly items: readonly T[]; readonly more: boolean }>
  /** All items in lists of at most `size` (above 0), which are in memory one at a time. */
  pages(size: number): AsyncIterable<readonly T[]>
  /** The exact number of items, however large. */
  count(): Promise<number>
}
export interface ListOptions<U extends Ruled> {
  /** Fields to sort by, each descending behind a hyphen; then the id. Default: the contract's. */
  readonly order?: readonly SortName<U['sort']>[]
}

/** Reads stored items besides the one that a call is about, as part of its transaction. */
export interface ItemReader<S extends AnyService> {
  get<N extends keyof ResourcesByName<S> & string>(resource: N, ...id: IdOf<S, N>): Promise<ItemNamed<S, N> | undefined>
  /**
   * The items whose fields equal or compare with these, which the contract names in `filter`:
   * `for await (const order of ctx.items.list('orders', { total: { gte: '100.00' } }))`.
   */
  list<N extends keyof CollectionNames<S> & keyof ResourcesByName<S> & string>(
    resource: N,
    where?: Flatten<FilterFields<FieldsNamed<S, N>, RulesNamed<S, N>['filter'] | ParentKeys<FieldsNamed<S, N>>>>,
    options?: ListOptions<RulesNamed<S, N>>,
  ): ItemList<ItemNamed<S, N>>
  /** A file of an item, undefined if it or its item is missing. */
  file<N extends FiledNames<S>>(
    resource: N,
    ...of: [...id: IdOf<S, N>, part: FileNamed<S, N>]
  ): Promise<ItemFile | undefined>
}

/** The resources that have files. */
type FiledNames<S extends AnyService> = {
  [N in keyof ResourcesByName<S> & string]: [FileNamed<S, N>] extends [never] ? never : N
}[keyof ResourcesByName<S> & string]
type FileNamed<S extends AnyService, N extends keyof ResourcesByName<S> & string> = keyof ResourceNamed<S, N>['files'] &
  string

/** A file of an item, whose octets are read on demand. */
export interface ItemFile {
  readonly mediaType: string
  /** Octets. */
  readonly length: number
  /** When it was stored: ISO 8601 in UTC. */
  readonly modified: string
  /** All of it, in memory. */
  octets(): Promise<Uint8Array>
  /** Piece by piece, each at most 256 KiB: for files that are larger than memory. */
  read(): AsyncIterable<Uint8Array>
}
/** A file that a handler stores. */
export interface GivenFile {
  /** A media type that the contract names. */
  readonly mediaType: string
  readonly octets: Uint8Array
}

type Act<S extends AnyService> = <
  N extends keyof CollectionNames<S> & keyof ResourcesByName<S> & string,
  K extends keyof ChangeActions<ResourceNamed<S, N>['types']['actions']> & string,
>(
  resource: N,
  id: string,
  action: K,
  ...input: GivenInput<InputOf<ResourceNamed<S, N>['types']['actions'][K]>>
) => Promise<ActResult<ResourceNamed<S, N>['types']['actions'][K], ItemNamed<S, N>>>
type SingleAct<S extends AnyService> = <
  N extends SingleNames<S> & keyof ResourcesByName<S> & string,
  K extends keyof ChangeActions<ResourceNamed<S, N>['types']['actions']> & string,
>(
  resource: N,
  action: K,
  ...input: GivenInput<InputOf<ResourceNamed<S, N>['types']['actions'][K]>>
) => Promise<ActResult<ResourceNamed<S, N>['types']['actions'][K], ItemNamed<S, N>>>

/** A new item: what a client would send, its parent, and any field that the server sets. */
export type NewItem<F extends Fields> = Flatten<
  Draft<F> & { readonly [K in ParentKeys<F>]: F[K]['type'] } & Partial<
      Omit<StoredValue<F>, 'state' | keyof Draft<F> | ParentKeys<F>>
    >
>
/** The actions that change an item. */
type ChangeActions<A> = { [K in keyof A as A[K] extends { readonly effect: 'read' } ? never : K]: A[K] }
type InputOf<A> = A extends Action<infer _F, infer _T, infer I> ? Draft<I> : never
type GivenInput<I> = {} extends I ? [input?: I] : [input: I]
type ActResult<A, Item> = A extends { readonly output: infer O extends Fields } ? Value<O> : Item

/**
 * Reads what the caller may read; in a job, the caller that started it. Items that it may not read
 * do not exist here; a resource that it may never read is a mistake, and throws. Writes have the
 * service's own rights: they skip the policy, and otherwise pass the same checks as a call: types,
 * references, `derive` and `removing`, the machine, the change feed and the audit. They belong to
 * the transaction of the call.
 */
export interface Items<S extends AnyService> extends ItemReader<S> {
  /**
   * A new item, in its first state; `derive` computes what the draft leaves out. Ends the call with
   * 409, fault `StateConflict`, if another item has its unique key; so do all changes.
   */
  create<N extends keyof ResourcesByName<S> & string>(
    resource: N,
    draft: Loose<NewItem<FieldsNamed<S, N>>>,
  ): Promise<ItemNamed<S, N>>
  /**
   * Sets fields of an item; undefined removes the value of an optional one. `derive` is called if a
   * client-sent field is among them; what is set here overrides its result. If all of them already
   * have these values, nothing changes and there is no new version. The state follows the machine:
   * use `act` for it.
   */
  change<N extends keyof ResourcesByName<S> & string>(
    resource: N,
    ...given: [
      ...id: IdOf<S, N>,
      set: FieldsToSet<
        FieldsNamed<S, N>,
        Exclude<keyof FieldsNamed<S, N>, 'id' | 'state' | ComputedKeys<FieldsNamed<S, N>>>
      >,
    ]
  ): Promise<ItemNamed<S, N>>
  /** Ends the call with 409, fault `StateConflict`, while other items refer to this one. */
  remove<N extends keyof ResourcesByName<S> & string>(resource: N, ...id: IdOf<S, N>): Promise<void>
  /**
   * Does what a client does by an action; resolves to its output, or to the item after it. Ends the
   * call with 409, fault `StateConflict`, if the state does not allow it.
   */
  readonly act: Act<S> & ([SingleNames<S>] extends [never] ? {} : SingleAct<S>)
  /**
   * Stores a file of an item, including the call's own, and replaces an existing one; `receiving`
   * is called. Nothing in the item changes.
   */
  putFile<N extends FiledNames<S>>(
    resource: N,
    ...given: [...id: IdOf<S, N>, part: FileNamed<S, N>, file: GivenFile]
  ): Promise<void>
  /** Reads every item, whatever the caller may read. */
  readonly all: ItemReader<S>
}

/** The name that the compiler shows if an operation declares no fault. */
type NoFault = Fault<'none: add it to the faults of this operation in the contract'>
export type GivenDetail<D> = {} extends D ? [detail?: Loose<D>] : [detail: Loose<D>]

/** Lines of the service's log, with the request, the operation and the caller. */
export interface HandlerLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface AfterOptions {
  /** Seconds before it may start. Default: 0. */
  readonly delay?: number
}

/** `X`: the faults that may end the call. `V`: the services that `implement` is given. */
export interface Context<S extends AnyService = AnyService, X extends Fault = Fault, V = unknown> {
  readonly caller: Caller
  /** The time of the call: ISO 8601 in UTC. */
  readonly now: string
  /** A new identifier, `prefix-…`. */
  id(prefix: string): string
  readonly items: Items<S>
  /** The application's own services, as passed to `implement`. */
  readonly services: V
  /** Header blocks of the request, or the HTTP fields that the contract names for them. */
  readonly headers: HeaderValues<S['headers'], 'request'>
  /**
   * Sets a header block of the response, or its HTTP field. It is not in faults, in responses to
   * repeated messages, or in operations or versions without this header.
   */
  setHeader<K extends keyof HeaderValues<S['headers'], 'response'> & string>(
    name: K,
    value: Loose<HeaderValue<S['headers'][K]>>,
  ): void
  /** Kept even if the call is rolled back; a transaction that runs again writes its lines again. */
  readonly log: HandlerLog
  /**
   * Aborted when the client is gone; in a job, when it was cancelled, its time is over or its lease
   * is lost. Pass it to everything that a handler waits for: `fetch(url, { signal: ctx.signal })`.
   */
  readonly signal: AbortSignal
  /**
   * Fields that make requests to other services part of the trace of this call (W3C Trace Context):
   * `fetch(url, { headers: ctx.trace })`. Empty in a job, and if no trace is known.
   */
  readonly trace: Readonly<Record<string, string>>
  /**
   * Starts a job once the call has been committed, and never if it is rolled back: for effects
   * outside the store, such as a mail. The job belongs to the caller. Resolves to its identifier.
   */
  after<N extends keyof JobsByName<S> & string>(
    job: N,
    input: Loose<Draft<JobInput<S, N>>>,
    options?: AfterOptions,
  ): Promise<string>
  /**
   * Ends the call with a fault that its operation declares, and rolls back its changes. Any other
   * fault is a bug: 500, Receiver.
   */
  fail<Y extends [X] extends [never] ? NoFault : X>(fault: Y, ...detail: GivenDetail<DetailOf<Y>>): never
  /**
   * Ends the call because the content breaks a domain rule: 422, fault `Invalid`. `path` starts at
   * the content's root. Write `return ctx.invalid(…)`, so that TypeScript knows that the code after
   * it is not reached.
   */
  invalid(path: readonly (string | number)[], detail: string): never
  /** Ends the call because other items do not allow it now: 409, fault `StateConflict`. */
  conflict(detail: string): never
  /** Ends the call because the caller may not do this: 403, fault `Forbidden`. */
  forbid(): never
  /**
   * Ends the call because its handler has not been written yet: 501, Receiver. The log has the
   * place of this line. A job fails.
   */
  unimplemented(): never
}

/** The context of a job. Each read and each change is a transaction of its own. */
export interface JobHandlerContext<S extends AnyService = AnyService, X extends Fault = Fault, V = unknown>
  extends Context<S, X, V> {
  /**
   * Does the work once, however often the job runs: its changes and its result are committed in one
   * transaction, under the name of the step, and kept for thirty days. The work reads and changes
   * items through its argument; it may run again if its transaction is rolled back.
   */
  once<T>(step: string, work: (ctx: Context<S, X, V>) => Maybe<T>): Promise<T>
}
