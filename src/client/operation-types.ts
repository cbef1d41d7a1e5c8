/**
 * The operations of a contract as types: the twin of `contract/xml-message.ts`, which makes the same messages as values. A
 * contract whose names are not known (`Service` itself) gives a client of plain rows.
 */
import type { Busy, Fault, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
import type { Draft, Fields, Value } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import type { Job } from '../contract/job.ts'
import type { GrantOf } from '../contract/policy.ts'
import type { AnyAction, AnyResource, Ruled } from '../contract/resource.ts'
import type { Service, Versions } from '../contract/service.ts'
import type { jobFields } from '../contract/xml-message.ts'
import type { CallOptions } from './options.ts'

export type AnyService = Service<readonly AnyResource[], readonly Job[], Versions>
export type VersionOf<S extends AnyService> = keyof S['versions'] & string

/** One operation: its children of the request's element in, those of the answer's out. */
export interface OperationCall<I, O, X extends Fault = Fault> {
  (...given: {} extends I ? [input?: I, options?: CallOptions] : [input: I, options?: CallOptions]): Promise<O>
  /** What it declares that its callers should handle; `fault.is(...client.PayOrder.faults)` tells them apart. */
  readonly faults: readonly X[]
}

/** The operations that a version of a contract offers as messages. */
export type Operations<S extends AnyService, V extends string> = string extends S['resources'][number]['name']
  ? { readonly [operation: string]: OperationCall<Values, Values> }
  : Flat<
      Merged<
        | { [R in S['resources'][number] as R['name']]: OfResource<R, Hidden<S['versions'], V, R['name']>> }[string &
            S['resources'][number]['name']]
        | OfJobs<S['jobs'][number]>
      >
    >

type Flat<T> = { readonly [K in keyof T]: T[K] }
type Merged<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** Fields that a version does not know. */
type Hidden<All extends Versions, V extends string, N> = V extends keyof All
  ? All[V] extends { readonly without: infer W }
    ? N extends keyof W
      ? W[N] extends readonly (infer H)[]
        ? H
        : never
      : never
    : never
  : never

/** An operation that is there, or not. */
type When<Is extends boolean, N extends string, T> = Is extends true ? { readonly [K in N]: T } : {}
type Granted<U extends Ruled, Doing extends string> = Doing extends keyof U['allow']
  ? U['allow'][Doing] extends readonly []
    ? false
    : true
  : false
type OfferedTransitions<U extends Ruled, Message extends string> = Message extends U['messages'] ? true : false
type Both<A extends boolean, B extends boolean> = A extends true ? B : false

/** A name that is not taken: itself, or with underscores behind it. */
type Free<N extends string, Taken> = N extends Taken ? Free<`${N}_`, Taken> : N
/** Without what is internal, which no draft has. */
type VisibleFields<F extends Fields> = { readonly [K in keyof F as [F[K]['draft']] extends [never] ? never : K]: F[K] }

type Id = { readonly id: string }
type VersionParameter = { readonly version?: string }
type Paging = { readonly page?: number; readonly size?: number; readonly cursor?: string }
type One<N extends string, T> = { readonly [K in N]: T }

/** Content flat beside what every such request has; in an element of its own where a name is both. */
type FlatBesides<Common, Content, Apart extends string> = Flat<
  [Extract<keyof Content, keyof Common>] extends [never]
    ? Common & Content
    : Common & ({} extends Content ? { readonly [K in Apart]?: Content } : One<Apart, Content>)
>

type OfResource<R extends AnyResource, H> = KnownOperations<
  R,
  R['types']['rules'],
  R['types']['rules']['one'],
  VisibleFields<Omit<R['types']['fields'], H & PropertyKey>>
>

type KnownOperations<R extends AnyResource, U extends Ruled, N extends string, F extends Fields> = When<
  Both<Granted<U, 'read'>, OfferedTransitions<U, 'get'>>,
  `Get${Capitalize<N>}`,
  OperationCall<Id, ItemReply<N, F>, CommonFaults<typeof NotFound>>
> &
  When<
    Both<Granted<U, 'read'>, OfferedTransitions<U, 'list'>>,
    `List${Capitalize<R['name']>}`,
    OperationCall<
      FlatBesides<Paging & { readonly sort?: string }, Narrowed<F, U['filter']>, 'where'>,
      PageReply<R['name'], F>,
      CommonFaults
    >
  > &
  When<
    Both<Granted<U, 'create'>, OfferedTransitions<U, 'create'>>,
    `Create${Capitalize<N>}`,
    OperationCall<One<N, DraftIn<F, U>>, ItemReply<N, F>, CommonFaults<typeof Invalid>>
  > &
  When<
    Both<Granted<U, 'change'>, OfferedTransitions<U, 'replace'>>,
    `Replace${Capitalize<N>}`,
    OperationCall<
      Flat<Id & VersionParameter & One<Free<N, 'id' | 'version'>, DraftIn<F, U>>>,
      ItemReply<N, F>,
      ChangeFaults
    >
  > &
  When<
    Both<Granted<U, 'remove'>, OfferedTransitions<U, 'delete'>>,
    `Delete${Capitalize<N>}`,
    OperationCall<Flat<Id & VersionParameter>, {}, ChangeFaults>
  > &
  When<
    Both<Granted<U, 'read'>, Both<[U['search']] extends [never] ? false : true, OfferedTransitions<U, 'search'>>>,
    `Search${Capitalize<R['name']>}`,
    OperationCall<
      FlatBesides<{ readonly q: string } & Paging, Narrowed<F, U['searchBy']>, 'where'>,
      PageReply<R['name'], F>,
      CommonFaults
    >
  > &
  Merged<
    {
      [K in keyof R['types']['actions'] & string]: OfAction<R['types']['actions'][K], K, U, N, F>
    }[keyof R['types']['actions'] & string]
  > &
  Merged<{ [P in Files<R>]: OfFile<P, U, N> }[Files<R>]>

type CommonFaults<X extends Fault = never> = X | typeof Forbidden
type ChangeFaults = CommonFaults<typeof NotFound | typeof VersionConflict | typeof Invalid | typeof StateConflict>
type Files<R extends AnyResource> = keyof R['files'] & string

type VersionName<F extends Fields> = Free<'version', keyof F>
type ItemOf<F extends Fields> = Flat<Value<F> & One<VersionName<F>, string>>
type ItemReply<N extends string, F extends Fields> = One<N, ItemOf<F>>
type PageReply<N extends string, F extends Fields> = Flat<
  One<Free<N, 'total' | 'next'>, readonly ItemOf<F>[]> & { readonly total?: number; readonly next?: string }
>

/** Fields to be equal to. */
type Narrowed<F extends Fields, Names> = { readonly [K in keyof F as K extends Names ? K : never]?: F[K]['type'] }

/** What a grant binds to a claim of the caller may be left out: it is the caller's. */
type DraftIn<F extends Fields, U extends Ruled> = Loosened<Draft<F>, Bound<U, 'create' | 'change'>>
type Loosened<D, K> = Flat<
  { readonly [N in keyof D as N extends K ? never : N]: D[N] } & {
    readonly [N in keyof D as N extends K ? N : never]?: D[N]
  }
>
type Bound<U extends Ruled, Doing extends string> = {
  [K in Extract<keyof U['allow'], Doing>]: NonNullable<U['allow'][K]>[number] extends infer G
    ? G extends GrantOf<infer B>
      ? B
      : never
    : never
}[Extract<keyof U['allow'], Doing>]

type OfAction<A extends AnyAction, Verb extends string, U extends Ruled, N extends string, F extends Fields> = When<
  Both<Verb extends keyof U['allow'] ? Granted<U, Verb> : Reads<A, U>, OfferedTransitions<U, Verb>>,
  `${Capitalize<Verb>}${Capitalize<N>}`,
  OperationCall<ActionRequest<A>, ActionReply<A, N, F>, ActionFault<A>>
> &
  When<
    Both<Granted<U, Verb>, A['oneWay'] extends string ? true : false>,
    A['oneWay'] & string,
    OperationCall<ActionRequest<A>, void, never>
  >
type Reads<A extends AnyAction, U extends Ruled> = A['effect'] extends 'read' ? Granted<U, 'read'> : false
type ActionRequest<A extends AnyAction> = A['effect'] extends 'read'
  ? FlatBesides<Id, Draft<VisibleFields<A['input']>>, 'input'>
  : FlatBesides<Id & VersionParameter, Draft<VisibleFields<A['input']>>, 'input'>
type ActionReply<A extends AnyAction, N extends string, F extends Fields> = [A['output']] extends [Fields]
  ? One<A['rel'], Value<VisibleFields<A['output']>>>
  : ItemReply<N, F>
type ActionFault<A extends AnyAction> =
  | A['faults'][number]
  | CommonFaults<typeof StateConflict | typeof NotFound | typeof VersionConflict | typeof Invalid>

type OfFile<P extends string, U extends Ruled, N extends string> = When<
  Both<Granted<U, 'read'>, OfferedTransitions<U, P>>,
  `Get${Capitalize<N>}${Capitalize<P>}`,
  OperationCall<
    Id,
    Flat<One<Free<P, 'mediaType' | 'version'>, Uint8Array> & { readonly mediaType: string; readonly version: string }>,
    CommonFaults<typeof NotFound>
  >
> &
  When<
    Both<Granted<U, 'change'>, OfferedTransitions<U, P>>,
    `Put${Capitalize<N>}${Capitalize<P>}`,
    OperationCall<
      Flat<
        Id &
          VersionParameter &
          One<Free<P, 'id' | 'version' | 'mediaType'>, Uint8Array> & { readonly mediaType: string }
      >,
      { readonly version: string },
      ChangeFaults
    >
  >

type JobShown = Value<typeof jobFields>
type OfJobs<J extends Job> =
  J extends Job<string, infer I, infer O, infer N>
    ? {
        readonly [K in `Start${Capitalize<N>}`]: OperationCall<
          Draft<VisibleFields<I>>,
          { readonly job: JobShown },
          CommonFaults<typeof Invalid>
        >
      } & {
        readonly [K in `Get${Capitalize<N>}Job`]: OperationCall<
          Id,
          Flat<{ readonly job: JobShown } & { readonly [R in Free<N, 'job'>]?: Value<VisibleFields<O>> }>,
          CommonFaults<typeof NotFound>
        >
      }
    : never

/** Faults that any service may answer beside those that an operation declares. */
export type BuiltIn =
  | typeof Busy
  | typeof Forbidden
  | typeof Invalid
  | typeof NotFound
  | typeof StateConflict
  | typeof VersionConflict
