/**
 * The surface that both clients have, as types: `client.orders.pay(order, …)`. An action accepts an
 * item in a state that its machine allows, and returns it in the next state; changes and removals
 * likewise. SOAP has the operations that the contract offers as messages, REST has all of them.
 */
import type { Draft, Fields, Value } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import type { EqualFields, FilterFields, SortName } from '../contract/item-query.ts'
import type { Job } from '../contract/job.ts'
import type { AnyAction, AnyResource, IsSingle, Ruled } from '../contract/resource.ts'
import type { AnyService } from '../contract/service.ts'
import type { jobFields } from '../contract/xml-message.ts'
import type {
  And,
  CallableJob,
  DraftIn,
  FileNames,
  Flat,
  HasLists,
  IsGranted,
  IsNested,
  IsOffered,
  IsReadAction,
  OfferedWhen,
  VersionFields,
  VersionRules,
  VisibleFields,
} from './contract-types.ts'
import type { DownloadedFile, Results } from './results.ts'

export type Protocol = 'rest' | 'soap'

/** Of one request. */
export interface RequestOptions {
  /** Ends the request with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Milliseconds, all attempts included. */
  readonly timeLimit?: number | undefined
}

/** The place of an item whose resource is nested in others. */
export interface NestedOptions extends RequestOptions {
  /** The item that it is in, as this client has read it. */
  readonly within?: Values | undefined
}

/** The parent of items, as this client has read it. */
interface InParent {
  readonly within: { readonly id: string }
}
/** An identifier finds an item only in its parent; an item that was read finds itself. */
interface NestedGet<Item> {
  (item: Item, options?: RequestOptions): Promise<Item>
  (id: string, options: RequestOptions & InParent): Promise<Item>
}

/** How a change is sent. */
export interface ChangeOptions extends RequestOptions {
  /** Changes the item whatever has happened to it since it was read. */
  readonly anyVersion?: boolean
}

/** One member for each resource, and one for each job. */
export type ServiceSurface<
  S extends AnyService,
  V extends string,
  P extends Protocol,
> = string extends S['resources'][number]['name']
  ? {}
  : {
      readonly [R in S['resources'][number] as R['name']]: ResourceSurface<S, R, V, P>
    } & { readonly [J in CallableJob<S['jobs'][number]> as J['job']]: JobSurface<J, P> }

type ResourceSurface<S extends AnyService, R extends AnyResource, V extends string, P extends Protocol> = KnownSurface<
  S,
  R,
  VersionRules<S['versions'], V, R>,
  VersionFields<S['versions'], V, R>,
  R['types']['states'],
  V,
  P
>

/** An item in one of some states: one member of a union for each. */
export type ItemInState<F extends Fields, States extends string> = [States] extends [never]
  ? Value<F>
  : States extends string
    ? Flat<{ readonly [K in keyof Value<F>]: K extends 'state' ? States : Value<F>[K] }>
    : never

/** Whether a protocol offers an operation: REST offers all that is granted, SOAP only messages. */
type IsServed<U extends Ruled, Doing extends string, Message extends string, P extends Protocol> = And<
  IsGranted<U, Doing>,
  P extends 'rest' ? true : IsOffered<U, Message>
>
type OnlyRest<P extends Protocol> = P extends 'rest' ? true : false
type IsSearchable<U extends Ruled> = [U['search']] extends [never] ? false : true

type KnownSurface<
  S extends AnyService,
  R extends AnyResource,
  U extends Ruled,
  F extends Fields,
  States extends string,
  V extends string,
  P extends Protocol,
> = OfferedWhen<
  IsServed<U, 'read', 'get', P>,
  'get',
  IsSingle<R['types']['single']> extends true
    ? (options?: RequestOptions) => Promise<ItemInState<F, States>>
    : IsNested<F> extends true
      ? NestedGet<ItemInState<F, States>>
      : (item: string | ItemInState<F, States>, options?: RequestOptions) => Promise<ItemInState<F, States>>
> &
  OfferedWhen<And<HasLists<R>, IsServed<U, 'read', 'list', P>>, 'list', ListMethod<F, U, States, P>> &
  OfferedWhen<
    And<IsServed<U, 'read', 'search', P>, IsSearchable<U>>,
    'search',
    IsNested<F> extends true
      ? (
          words: string,
          where: EqualFields<F, U['searchBy']> | undefined,
          options: SearchOptions<P> & InParent,
        ) => Results<ItemInState<F, States>>
      : (
          words: string,
          where?: EqualFields<F, U['searchBy']>,
          options?: SearchOptions<P>,
        ) => Results<ItemInState<F, States>>
  > &
  OfferedWhen<
    IsServed<U, 'create', 'create', P>,
    'create',
    IsNested<F> extends true
      ? (draft: DraftIn<F, U>, options: CreateOptions<U, P> & InParent) => Promise<ItemInState<F, States>>
      : (draft: DraftIn<F, U>, options?: CreateOptions<U, P>) => Promise<ItemInState<F, States>>
  > &
  OfferedWhen<
    IsServed<U, 'change', 'replace', P>,
    'replace',
    (
      item: ItemInState<F, U['edit']>,
      draft: DraftIn<F, U>,
      options?: ChangeOptions,
    ) => Promise<ItemInState<F, U['edit']>>
  > &
  OfferedWhen<
    And<IsGranted<U, 'change'>, OnlyRest<P>>,
    'patch',
    (
      item: ItemInState<F, U['edit']>,
      changes: ChangesOf<Draft<F>>,
      options?: ChangeOptions,
    ) => Promise<ItemInState<F, U['edit']>>
  > &
  OfferedWhen<
    IsServed<U, 'remove', 'delete', P>,
    'remove',
    (item: ItemInState<F, U['remove']>, options?: ChangeOptions) => Promise<void>
  > &
  OfferedWhen<
    And<IsGranted<U, 'bulk'>, And<U['bulk'], OnlyRest<P>>>,
    'removeAll',
    IsNested<F> extends true
      ? (where: FilterFields<F, U['filter']>, options: RequestOptions & InParent) => Promise<BulkRemoval>
      : (where: FilterFields<F, U['filter']>, options?: RequestOptions) => Promise<BulkRemoval>
  > &
  OfferedWhen<
    OnlyRest<P>,
    'offers',
    (item: ItemInState<F, States>) => readonly (keyof R['types']['actions'] | 'edit' | 'delete')[]
  > &
  ActionMethods<R['types']['actions'], U, F, P> &
  FileMembers<R, U, ItemInState<F, States>, P> &
  (P extends 'rest' ? RelatedLists<S, U, ItemInState<F, States>, V> : {})

// Lists

interface ListOrder<F extends Fields, U extends Ruled> {
  /** Fields to sort by, each descending behind a hyphen. */
  readonly sort?: readonly SortName<Extract<U['sort'], keyof F>>[]
  /** The size of a page. */
  readonly size?: number
}
/** `only`: the fields of the items, instead of all. */
type ListMethod<F extends Fields, U extends Ruled, States extends string, P extends Protocol> =
  IsNested<F> extends true ? NestedListMethod<F, U, States, P> : OwnListMethod<F, U, States, P>
type NestedListMethod<F extends Fields, U extends Ruled, States extends string, P extends Protocol> = P extends 'rest'
  ? <const K extends keyof F & string = never>(
      query: InParent &
        ListOrder<F, U> & { readonly where?: FilterFields<F, U['filter']>; readonly only?: readonly K[] },
      options?: RequestOptions,
    ) => Results<[K] extends [never] ? ItemInState<F, States> : Flat<Pick<Value<F>, K & keyof Value<F>>>>
  : (
      query: InParent & ListOrder<F, U> & { readonly where?: EqualFields<F, U['filter']> },
      options?: RequestOptions,
    ) => Results<ItemInState<F, States>>
type OwnListMethod<F extends Fields, U extends Ruled, States extends string, P extends Protocol> = P extends 'rest'
  ? <const K extends keyof F & string = never>(
      query?: ListOrder<F, U> & { readonly where?: FilterFields<F, U['filter']>; readonly only?: readonly K[] },
      options?: RequestOptions,
    ) => Results<[K] extends [never] ? ItemInState<F, States> : Flat<Pick<Value<F>, K & keyof Value<F>>>>
  : (
      query?: ListOrder<F, U> & { readonly where?: EqualFields<F, U['filter']> },
      options?: RequestOptions,
    ) => Results<ItemInState<F, States>>

/** `stored`: the service keeps the search, so that its pages have addresses. */
type SearchOptions<P extends Protocol> = RequestOptions &
  (P extends 'rest' ? { readonly stored?: boolean; readonly size?: number } : { readonly size?: number })

/** To-many relations: `client.customers.orders(customer)`. */
type RelatedLists<S extends AnyService, U extends Ruled, Item, V extends string> = {
  readonly [N in keyof U['relations'] as U['relations'][N] extends { readonly of: string } ? N : never]: (
    item: Item,
    ...query: Parameters<RelatedMethod<S, U['relations'][N], V>>
  ) => ReturnType<RelatedMethod<S, U['relations'][N], V>>
}
type RelatedMethod<S extends AnyService, Relation, V extends string> = Relation extends { readonly of: infer N }
  ? Extract<S['resources'][number], { readonly name: N }> extends infer R extends AnyResource
    ? (
        query?: ListOrder<VersionFields<S['versions'], V, R>, VersionRules<S['versions'], V, R>> & {
          readonly where?: FilterFields<VersionFields<S['versions'], V, R>, VersionRules<S['versions'], V, R>['filter']>
        },
        options?: RequestOptions,
      ) => Results<ItemInState<VersionFields<S['versions'], V, R>, R['types']['states']>>
    : never
  : never

// Changes

/** `id`: the identifier of the new item, if the contract lets clients choose it. */
type CreateOptions<U extends Ruled, P extends Protocol> = RequestOptions &
  (And<U['putCreates'], OnlyRest<P>> extends true ? { readonly id?: string } : {})

/** Null removes an optional field. */
type ChangesOf<D> = { readonly [K in keyof D]?: D[K] | (undefined extends D[K] ? null : never) }

/** How many items were removed, and how many of those that match must not be. */
export interface BulkRemoval {
  readonly removed: number
  readonly refused: number
  /** Some items are left: the service removes only so many at once. */
  readonly more?: boolean
}

/** Names of actions that would hide a method of every resource. */
type OwnMethod = 'get' | 'list' | 'search' | 'create' | 'replace' | 'patch' | 'remove' | 'removeAll' | 'offers'
type ActionMethods<A, U extends Ruled, F extends Fields, P extends Protocol> = {
  readonly [K in Exclude<keyof A & string, OwnMethod> as IsActionServed<A[K], U, K, P> extends true
    ? K
    : never]: A[K] extends AnyAction ? ActionMethod<A[K], F> : never
}
type IsActionServed<A, U extends Ruled, Verb extends string, P extends Protocol> = A extends AnyAction
  ? And<
      Verb extends keyof U['allow'] ? IsGranted<U, Verb> : IsReadAction<A, U>,
      P extends 'rest' ? true : IsOffered<U, Verb>
    >
  : false
type ActionMethod<A extends AnyAction, F extends Fields> = (
  item: ItemInState<F, A['from'][number]>,
  ...given: A['effect'] extends 'read' ? [options?: RequestOptions] : ActionInput<Draft<VisibleFields<A['input']>>>
) => Promise<ResultOfAction<A, F>>
type ActionInput<I> = {} extends I ? [input?: I, options?: ChangeOptions] : [input: I, options?: ChangeOptions]
type ResultOfAction<A extends AnyAction, F extends Fields> = [A['output']] extends [Fields]
  ? Value<VisibleFields<A['output']>>
  : ItemInState<F, A['to'] extends string ? A['to'] : A['from'][number]>

// Files

/** A stream is sent as it arrives, and only once. */
export type SentOctets = Uint8Array | Blob | ReadableStream<Uint8Array>

type FileMembers<R extends AnyResource, U extends Ruled, Item, P extends Protocol> = {
  readonly [N in FileNames<R>]: OfferedWhen<
    IsServed<U, 'read', N, P>,
    'get',
    (item: Item, options?: RequestOptions) => Promise<DownloadedFile>
  > &
    OfferedWhen<
      IsServed<U, 'change', N, P>,
      'put',
      (item: Item, octets: SentOctets, options: RequestOptions & { readonly mediaType: string }) => Promise<void>
    >
}

// Jobs

/** A job as the service last reported it. */
export type JobStatus = Value<typeof jobFields>

/** How the result of a job is awaited. */
export interface AwaitOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with each status of the service, the last one included. */
  readonly onProgress?: (status: JobStatus) => void
}

/** A job that the service has accepted. */
export interface StartedJob<O> {
  /** The status that the service last reported. */
  readonly status: JobStatus
  /** Each new status until the job has ended. */
  statuses(options?: RequestOptions): AsyncIterable<JobStatus>
  /** Waits for the end. @throws JobError if the job failed or was cancelled */
  result(options?: AwaitOptions): Promise<O>
}
/** SOAP cannot stop a job. */
export interface StoppableJob<O> extends StartedJob<O> {
  cancel(options?: RequestOptions): Promise<JobStatus>
}

type JobSurface<J extends Job, P extends Protocol> =
  J extends Job<string, infer I, infer O>
    ? {
        start(
          input: Draft<VisibleFields<I>>,
          options?: RequestOptions,
        ): Promise<P extends 'rest' ? StoppableJob<Value<VisibleFields<O>>> : StartedJob<Value<VisibleFields<O>>>>
        /** Starts it and waits for its result. */
        run(input: Draft<VisibleFields<I>>, options?: AwaitOptions): Promise<Value<VisibleFields<O>>>
      }
    : never
