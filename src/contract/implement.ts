/**
 * The application's handlers, typed from the contract. They run inside the transaction of the call;
 * `ctx.fail` undoes it. While a handler runs, no other change is made on SQLite: the log names one
 * that takes more than a second, and one of ten seconds is undone. Slow work, such as a call of
 * another service, belongs in a job.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Context, GivenDetail, JobHandlerContext } from './context.ts'
import type { DetailOf, Fault } from './fault.ts'
import type {
  Completed,
  ComputedKeys,
  Fields,
  FieldsToSet,
  Flatten,
  Loose,
  ParentKeys,
  Received,
  StoredValue,
  Value,
} from './field.ts'
import type { Job } from './job.ts'
import type { LaterCalls } from './later-call.ts'
import { isPlainRecord, isRecordOf, requireKnownMembers } from './member-kinds.ts'
import type { Caller } from './policy.ts'
import type { ExchangeContext, PortHandlers } from './port-handlers.ts'
import { resourceHandlers } from './reserved-names.ts'
import { type Action, type AnyResource, type IsSingle, type Resource, type RuleFaults, singleId } from './resource.ts'
import type { AnyService, Service } from './service.ts'

type FieldsOf<R extends AnyResource> = R['types']['fields']
type ActionsOf<R extends AnyResource> = R['types']['actions']
type DeclaredFaults<R extends AnyResource, D extends string> = RuleFaults<R['types']['rules'], D>

/**
 * Required fields that a client cannot send, or cannot send completely: the application must
 * compute them.
 */
type ServerKeys<F extends Fields> = {
  [K in keyof F]: F[K]['flags'] extends readonly [true | 'default', boolean]
    ? never
    : K extends 'id' | 'state'
      ? never
      : F[K]['flags'][1] extends true
        ? K
        : Completed<F[K]['draft'], F[K]['type']> extends F[K]['type']
          ? never
          : K
}[keyof F]
/**
 * The result of `derive`: every field that clients cannot send, and any other that it sets, except
 * the identifier, the state (which follows the machine), the parent, and computed fields.
 */
export type Derived<F extends Fields> = Pick<Value<F>, ServerKeys<F> & keyof Value<F>> &
  FieldsToSet<F, Exclude<keyof F, 'id' | 'state' | ComputedKeys<F> | ParentKeys<F>>>

type InState<F extends Fields, From extends string> = Flatten<{
  readonly [K in keyof Value<F>]: K extends 'state' ? From : Value<F>[K]
}>

/** Fields to change; the state follows the machine, and the item stays in its parent. */
type SetByAction<F extends Fields> = FieldsToSet<F, Exclude<keyof F, 'id' | 'state' | ComputedKeys<F> | ParentKeys<F>>>
type ActionEffect<F extends Fields, O> = [O] extends [Fields]
  ? Flatten<{ readonly output: Loose<Value<O>>; readonly set?: SetByAction<F> }>
  : Flatten<{ readonly set?: SetByAction<F>; readonly output?: undefined }>

type ActionHandler<S extends AnyService, F extends Fields, A, V> =
  A extends Action<infer From, infer _To, infer I, infer O, infer X, infer E>
    ? (
        ctx: Context<S, X[number], V>,
        item: InState<F, From>,
        input: Received<I>,
      ) => Maybe<
        E extends 'read'
          ? [O] extends [Fields]
            ? Loose<Value<O>>
            : never
          : E extends 'move'
            ? { readonly to: string }
            : [O] extends [Fields]
              ? ActionEffect<F, O>
              : ActionEffect<F, O> | undefined | void
      >
    : never

/** Writes a value in one of the application's own media types. */
export type RepresentationWriter<T> = (value: T) => Maybe<Uint8Array | string>

/**
 * An item of a provider. `version` grows with each change; `modified` is in milliseconds since
 * 1970, and left out if it is not known: responses then have no Last-Modified.
 */
export interface Provided<V> {
  readonly value: V
  readonly version: number
  readonly modified?: number
}
/** A condition of a list: a field, a comparison and its operand. */
export type ProviderFilter<V> = {
  readonly [K in keyof V & string]-?:
    | {
        readonly field: K
        readonly is: 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'
        readonly value: V[K]
      }
    | { readonly field: K; readonly is: 'in'; readonly value: readonly V[K][] }
    /** Whether it has no value: it is absent or null. */
    | { readonly field: K; readonly is: 'absent'; readonly value: boolean }
}[keyof V & string]
/** A place in an order: the values there of the fields that the list is sorted by, and the id. */
export type ProviderPlace<V> = { readonly id: string } & { readonly [K in keyof V]?: V[K] }
/**
 * The query of a list. A provider may apply all of it, a part or nothing: its result is filtered
 * again, so extra rows do no harm, but no matching row may be missing.
 */
export interface ProviderQuery<V> {
  /** All of them must hold. */
  readonly filters: readonly ProviderFilter<V>[]
  /**
   * The items that the caller may see: all, or those that equal one of these records field by
   * field.
   */
  readonly within: 'all' | readonly { readonly [K in keyof V]?: string }[]
  /** All of them must occur, whole and in any case, in the search paths of the contract. */
  readonly words?: readonly string[]
  /** The id, ascending, is always the last key. An absent value comes before all others. */
  readonly sort: readonly { readonly field: keyof V & string; readonly descending: boolean }[]
  /** The number of rows that are needed. */
  readonly limit: number
  /** Return the rows right after this place. */
  readonly after?: ProviderPlace<V>
  /** Return the rows right before this place, still in the order of `sort`. */
  readonly before?: ProviderPlace<V>
  /** Whether a `total` is needed. */
  readonly counted: boolean
}
/** A part of a list: rows in the order of the query, from its place on, without a gap. */
export interface ProviderPage<V> {
  readonly items: readonly Provided<V>[]
  /** Whether there are rows beyond these: after the last, or before the first with `before`. */
  readonly more: boolean
  /** How many items the whole query selects, if the provider applied all its conditions. */
  readonly total?: number
}
/**
 * The caller that a provider serves, and the ways to end the call, as in handlers. The provider
 * itself must undo its own changes.
 */
export interface ProviderContext {
  readonly caller: Caller
  /**
   * The key by which callers are counted: the subject, or without one, `@` and the address of the
   * request. In a job: of the request that started it.
   */
  readonly party: string
  /**
   * Ends the call with a fault that its operation declares, in `faults` of the rules of its
   * resource. Any other fault is a bug: 500, Receiver.
   */
  fail<Y extends Fault>(fault: Y, ...detail: GivenDetail<DetailOf<Y>>): never
  /**
   * Ends the call because the content breaks a rule of its storage: 422, fault `Invalid`. `path`
   * starts at the content's root.
   */
  invalid(path: readonly (string | number)[], detail: string): never
  /** Ends the call because the stored state does not allow it now: 409, fault `StateConflict`. */
  conflict(detail: string): never
  /**
   * Ends the call because the storage does not allow the caller to do this: 403, fault `Forbidden`.
   */
  forbid(): never
}
/**
 * Keeps a resource outside the built-in store: in another service, a directory or another database.
 * The caller's rights are checked before and after it is called: the context is for credentials,
 * turns and logs of your own.
 */
export interface Provider<V> {
  /**
   * Reached over a network, and possibly slow. A call that changes an item then waits for other
   * changes of that item in this process, and begins its transaction after this provider has
   * responded. Two instances that receive the same idempotency key at the same time may both call
   * it. Default false: each change runs within the transaction, which may last 10 seconds.
   */
  readonly isRemote?: boolean
  load(id: string, ctx: ProviderContext): Maybe<Provided<V> | undefined>
  /**
   * Returns either an array with everything that the query selects, in any order, and possibly
   * more: it is filtered, sorted and cut for each response; or a page, which is only filtered: if
   * too few of its rows are left, the next ones are requested, some 10,000 for one response.
   */
  list(query: ProviderQuery<V>, ctx: ProviderContext): Maybe<readonly Provided<V>[] | ProviderPage<V>>
  /**
   * `expected`: the version that was read; undefined if the item must not exist yet. Resolves to
   * its new version; or to the item as stored, if the database filled fields or chose the id of a
   * new one, for which `id` is a proposal.
   */
  save(id: string, value: V, expected: number | undefined, ctx: ProviderContext): Maybe<number | Provided<V> | 'stale'>
  /** False if the version is not `expected`. */
  remove(id: string, expected: number, ctx: ProviderContext): Maybe<boolean>
}

/** A single resource has no list to provide, and its identifier is always the same. */
type ProviderOf<R extends AnyResource, V> =
  IsSingle<R['types']['single']> extends true ? Omit<Provider<V>, 'list'> : Provider<V>

/** A file that has arrived but is not yet stored. */
export interface ArrivedFile<P extends string = string> {
  readonly part: P
  readonly mediaType: string
  /** Octets. */
  readonly length: number
  /** The first octets, at most 32, which identify a format. */
  readonly start: Uint8Array
}

type ResourceHandlers<S extends AnyService, R extends AnyResource, F extends Fields, V> = Flatten<
  {
    readonly [K in keyof ActionsOf<R>]: ActionHandler<S, F, ActionsOf<R>[K], V>
  } & {
    /** Media type → writer of one item. */
    readonly formats?: Readonly<Record<string, RepresentationWriter<Value<F>>>>
    readonly keep?: ProviderOf<R, Value<F>>
    /** Called before an item is removed; it may fail the call. */
    readonly removing?: (ctx: Context<S, DeclaredFaults<R, 'remove' | 'bulk'>, V>, item: Value<F>) => Maybe<void>
    /** Called before a file of an item is kept; it may fail the call. */
    readonly receiving?: (
      ctx: Context<S, DeclaredFaults<R, keyof R['files'] & string>, V>,
      item: Value<F>,
      file: ArrivedFile<keyof R['files'] & string>,
    ) => Maybe<void>
    /** Called before a search, with its words; it may fail the call, and changes nothing. */
    readonly searching?: (ctx: Context<S, DeclaredFaults<R, 'search'>, V>, words: readonly string[]) => Maybe<void>
  } & ([ComputedKeys<F>] extends [never]
      ? {}
      : {
          /**
           * Computes the computed fields from the others, in each read: synchronously for one item,
           * and always the same for the same item, since a tag includes neither clock nor caller.
           */
          readonly compute: (item: StoredValue<F>) => Flatten<Pick<Value<F>, ComputedKeys<F> & keyof Value<F>>>
        }) &
    ([ServerKeys<F>] extends [never]
      ? { readonly derive?: Derive<S, R, F, V> }
      : {
          /**
           * Computes read-only fields, on create and on every change of what clients send;
           * `current` is the stored item.
           */
          readonly derive: Derive<S, R, F, V>
        })
>
type Derive<S extends AnyService, R extends AnyResource, F extends Fields, V> = (
  ctx: Context<S, DeclaredFaults<R, 'create' | 'change'>, V>,
  draft: Received<F>,
  current?: Value<F>,
) => Maybe<Derived<F>>

/** Reports the progress of a running job. */
export interface Progress {
  /** A part of one. Throws when the job was cancelled or its lease is lost: do not catch it. */
  (part: number): Promise<void>
  readonly signal: AbortSignal
}
type JobHandlers<S extends AnyService, J, V> =
  J extends Job<string, infer I, infer O, string, infer X>
    ? {
        /** Called before the job is accepted, in the call's transaction; it may fail the call. */
        readonly starting?: (ctx: Context<S, X[number], V>, input: Value<I>) => Maybe<void>
        /**
         * Runs at least once, and again after a crash or a lost lease: what must happen once is a
         * step of `ctx.once`.
         */
        readonly run: (
          ctx: JobHandlerContext<S, X[number], V>,
          input: Value<I>,
          progress: Progress,
        ) => Promise<Loose<Value<O>>>
        readonly formats?: Readonly<Record<string, RepresentationWriter<Value<O>>>>
      }
    : never

/** Whether a resource can do without handlers. */
type IsIdle<R extends AnyResource> = [
  keyof ActionsOf<R> | ServerKeys<FieldsOf<R>> | ComputedKeys<FieldsOf<R>>,
] extends [never]
  ? true
  : false
type HandledResource<S extends AnyService, R extends AnyResource, V> = ResourceHandlers<S, R, FieldsOf<R>, V>
type AllHandlers<S extends AnyService, V> = Flatten<
  {
    readonly [R in S['resources'][number] as IsIdle<R> extends true ? never : R['name']]: HandledResource<S, R, V>
  } & {
    readonly [R in S['resources'][number] as IsIdle<R> extends true ? R['name'] : never]?: HandledResource<S, R, V>
  } & { readonly [J in S['jobs'][number] as J['job']]: JobHandlers<S, J, V> } & {
    readonly [P in S['ports'][number] as P['port']]: PortHandlers<P, S, V>
  }
>

/**
 * The handlers of one resource or job, to keep them in a file of their own:
 * `export const orders: Handlers<typeof shop, 'orders'> = { … }`. `V`: the services of `implement`.
 */
export type Handlers<S extends AnyService, N extends keyof AllHandlers<S, V>, V = {}> = NonNullable<
  AllHandlers<S, V>[N]
>

/**
 * While the compiler still infers `H`, it is `A` itself: without the first condition, all of the
 * contract would be checked then, in time that grows with the square of its resources.
 */
type ImplementedHandlers<H, A> = [A] extends [H] ? H : H extends CheckedHandlers<H, A> ? H : CheckedHandlers<H, A>
/**
 * The result of a handler has no members besides the contract's. TypeScript itself reports an extra
 * one only in a literal that is the whole body of an arrow function, and never after `async` or
 * `return`. A handler with one gets a text instead of its type, which the compiler prints.
 */
type CheckedHandlers<H, A> = {
  readonly [R in keyof H]: R extends keyof A ? CheckedResource<H[R], NonNullable<A[R]>> : Unknown<R>
}
type CheckedResource<H, A> = {
  readonly [K in keyof H]: K extends keyof A ? CheckedHandler<H[K], UnknownResult<H[K], NonNullable<A[K]>>> : Unknown<K>
}
type Unknown<N> = `the contract has no ${N & string}`
type CheckedHandler<F, P extends string> = [P] extends [never]
  ? F
  : [string] extends [P]
    ? F
    : `this handler may not return ${P}`
type UnknownResult<F, G> = F extends (...given: never) => infer R
  ? G extends (...given: never) => infer E
    ? UnknownPath<Awaited<R>, Exclude<Awaited<E>, void>>
    : never
  : never
/** The path of each member that `E` lacks; an index signature and `any` may have each. */
type UnknownPath<R, E> =
  R extends Readonly<Record<string, unknown>>
    ? string extends keyof R | KeyOfEach<E>
      ? never
      : unknown extends E
        ? never
        : UnknownMember<R, E>
    : never
type UnknownMember<R, E> = {
  [K in keyof R & string]: K extends KeyOfEach<E> ? PathBelow<K, UnknownPath<R[K], MemberOfEach<E, K>>> : K
}[keyof R & string]
/** A member whose own type is a mistake has any text as its path: only that mistake is reported. */
type PathBelow<K extends string, P extends string> = [P] extends [never]
  ? never
  : [string] extends [P]
    ? never
    : `${K}.${P}`
type KeyOfEach<E> = E extends unknown ? keyof E : never
type MemberOfEach<E, K> = E extends unknown ? (K extends keyof E ? E[K] : never) : never

/** A person who can sign in, stored at the first start. */
export interface Person {
  readonly subject: string
  readonly password: string
  readonly roles: readonly string[]
  readonly claims?: Readonly<Record<string, string | undefined>>
}
/** The data that the first start puts into an empty store. */
export interface Seed<S extends AnyService> {
  readonly people?: readonly Person[]
  readonly items?: SeededItems<S>
  /** Files of these items, by their identifiers: `{ orders: { 'o-1': { scan: { … } } } }`. */
  readonly files?: SeededFiles<S>
}
/** A file of the seed. */
export interface SeededFile {
  /** A media type that the contract names for the file. */
  readonly mediaType: string
  /** A text is in UTF-8. */
  readonly bytes: Uint8Array | string
}
type SeededFiles<S extends AnyService> = {
  readonly [R in S['resources'][number] as R['name']]?: IsSingle<R['types']['single']> extends true
    ? FilesOfItem<R['files']>
    : { readonly [id: string]: FilesOfItem<R['files']> }
}
type FilesOfItem<P> = { readonly [K in keyof P]?: SeededFile }
/** Resource → identifier → part. */
export type SeededParts = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, SeededFile>>>>>>
type SeededItems<S extends AnyService> = Flatten<{
  readonly [R in S['resources'][number] as R['name']]?: IsSingle<R['types']['single']> extends true
    ? SeededItem<FieldsOf<R>>
    : readonly SeededItem<FieldsOf<R>>[]
}>
/** A stored item, with defaults for omitted fields. */
type SeededItem<F extends Fields> = [FilledKeys<F>] extends [never]
  ? StoredValue<F>
  : Flatten<Omit<StoredValue<F>, FilledKeys<F>> & Partial<Pick<StoredValue<F>, FilledKeys<F> & keyof StoredValue<F>>>>
type FilledKeys<F extends Fields> = { [K in keyof F]: F[K]['flags'][0] extends 'default' ? K : never }[keyof F]

/** A contract and its handlers with their types erased, as the service uses them. */
export interface Implementation {
  readonly contract: Service
  readonly handlers: Readonly<Record<string, ErasedHandlers>>
  readonly services?: unknown
  /** By port, then by the name of the exchange. */
  readonly ports?: Readonly<Record<string, Readonly<Record<string, ErasedExchangeHandler>>>>
  /** Faults of a backend: any call may end with one. Default: none. */
  readonly faultsBehind?: readonly Fault[]
  /** Figures of a backend, for `/metrics`. Default: none. */
  readonly figures?: readonly Figure[]
  /** Calls of exchanges whose answers come later. Default: none. */
  readonly later?: LaterCalls
  readonly seed: () => {
    readonly people?: readonly Person[]
    readonly items?: SeededLists
    readonly files?: SeededParts
  }
}
/** A figure that is read on demand. */
export interface Figure {
  /** The name in Prometheus: `diglot_behind_calls`. */
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** How the figures of several processes are combined. */
  readonly aggregator: 'sum' | 'max'
  readonly read: () => readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]
}
export type Values = Readonly<Record<string, unknown>>
export type ErasedExchangeHandler = (input: unknown, ctx: ExchangeContext) => Maybe<unknown>
export interface ErasedHandlers {
  readonly derive?: (ctx: Context, draft: Values, current?: Values) => Maybe<Values>
  readonly compute?: (item: Values) => Values
  readonly removing?: (ctx: Context, item: Values) => Maybe<void>
  readonly receiving?: (ctx: Context, item: Values, file: ArrivedFile) => Maybe<void>
  readonly searching?: (ctx: Context, words: readonly string[]) => Maybe<void>
  readonly formats?: Readonly<Record<string, RepresentationWriter<Values>>>
  readonly keep?: Provider<Values>
  readonly starting?: (ctx: Context, input: Values) => Maybe<void>
  readonly run?: (ctx: JobHandlerContext, input: Values, progress: Progress) => Promise<Values>
  readonly actions: Readonly<Record<string, (ctx: Context, item: Values, input: Values) => Maybe<ActionResult>>>
}
/** What the handler of an action resolves to: for one that reads, the output itself. */
export type ActionResult = ({ set?: Values; output?: Values; to?: string } & Values) | undefined | void

export interface ImplementOptions<S extends AnyService, V> {
  /** The services that handlers find as `ctx.services`: a mailer, a bank, a clock of your own. */
  readonly services?: V
  /** The data that the first start puts into an empty store. */
  readonly seed?: NoInfer<() => Seed<S>>
}

/**
 * Puts a contract and its handlers together for `serve`. A missing handler does not compile, nor
 * does a result with a member that the contract lacks. A handler of a change runs inside its
 * transaction: on SQLite other writers wait for it, so put calls to other services into a job or
 * `ctx.after`. A handler that takes more than a second is named in the log.
 */
export function implement<S extends AnyService, V = {}, H extends AllHandlers<S, V> = AllHandlers<S, V>>(
  contract: S,
  handlers: ImplementedHandlers<H, AllHandlers<S, V>>,
  options: ImplementOptions<S, V> = {},
): Implementation {
  if (!isRecordOf(isPlainRecord, handlers))
    throw new TypeError(`implement() of ${contract.service}: give handlers by name, { orders: { … } }, or {} for none`)
  const all = Object.entries(handlers as Record<string, Record<string, unknown>>)
  const isPort = (name: string): boolean => contract.ports.some(each => each.port === name)
  const erased = all
    .filter(([name]) => !isPort(name))
    .map(([name, of]) => {
      const others = contract.jobs.some(({ job }) => job === name) ? jobHandlers : resourceHandlers
      const actions = Object.fromEntries(Object.entries(of ?? {}).filter(([key]) => !others.includes(key)))
      return [name, { ...of, actions }]
    })
  if (typeof options === 'function')
    throw new TypeError(`implement() of ${contract.service} has a function for its options: write { seed: … }`)
  requireKnownMembers(`the options of implement() of ${contract.service}`, options, { services: true, seed: true })
  const { services = {}, seed = () => ({}) } = options
  if (typeof seed !== 'function')
    throw new TypeError(
      `implement() of ${contract.service}: seed must be a function: write it as () => ({ people: […], items: {…} })`,
    )
  const resources = contract.resources as readonly Resource[]
  // The generic signature has checked every handler; the contract's readers check their arguments.
  return {
    contract: contract as unknown as Service,
    handlers: Object.fromEntries(erased) as Record<string, ErasedHandlers>,
    services,
    ports: Object.fromEntries(all.filter(([name]) => isPort(name))) as NonNullable<Implementation['ports']>,
    seed: () => {
      const made = seed() as ReturnType<Implementation['seed']>
      if (made instanceof Promise)
        throw new TypeError(`the seed of ${contract.service} is async: wait before implement()`)
      const { people, items, files } = made
      return {
        ...(people && { people }),
        ...(items && { items: toSeededLists(resources, items) }),
        ...(files && { files: toSeededParts(resources, files) }),
      }
    },
  }
}

/** The members of `implement()` for a job. */
const jobHandlers = ['starting', 'run', 'formats']

type SeededValue = Readonly<Record<string, unknown>>

/** Resource → its items; a single resource has one, with its fixed identifier. */
export type SeededLists = Readonly<Record<string, readonly SeededValue[]>>

/** @param seeds resource → its items, or the only one of a single resource */
export function toSeededLists(
  resources: readonly Resource[],
  seeds: Readonly<Record<string, readonly SeededValue[] | SeededValue>>,
): SeededLists {
  const singles = new Set(resources.filter(each => each.isSingle).map(each => each.name))
  const isOne = (name: string, items: readonly SeededValue[] | SeededValue): items is SeededValue =>
    singles.has(name) && !Array.isArray(items)
  return Object.fromEntries(
    Object.entries(seeds).map(([name, items]) => [
      name,
      isOne(name, items) ? [{ ...items, id: singleId }] : (items as readonly SeededValue[]), // typed by `implement`
    ]),
  )
}

/** @param parts resource → identifier → files, or the files of a single resource */
const toSeededParts = (resources: readonly Resource[], parts: SeededParts): SeededParts =>
  Object.fromEntries(
    Object.entries(parts).map(([name, items]) => {
      const isSingle = resources.some(each => each.name === name && each.isSingle)
      return [name, isSingle ? { [singleId]: items as unknown as SeededParts[string][string] } : items] // typed by `implement`
    }),
  )
