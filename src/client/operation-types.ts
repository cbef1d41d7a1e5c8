/**
 * The operations of a contract as types: the twin of `contract/xml-message.ts`, which has the same
 * messages as values. A contract whose names are unknown (`Service` itself) gives a client of plain
 * values.
 */

import type { Busy, Fault, Forbidden, Invalid, NotFound, StateConflict, VersionConflict } from '../contract/fault.ts'
import type { Draft, Fields, ParentKeys, Value } from '../contract/field.ts'
import type { HeaderValues } from '../contract/header.ts'
import type { Values } from '../contract/implement.ts'
import type { EqualChildren } from '../contract/item-query.ts'
import type { Job } from '../contract/job.ts'
import type { AnyAction, AnyResource, Ruled, RuleFaults } from '../contract/resource.ts'
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
  MergeAll,
  OfferedWhen,
  ParentParameter,
  VersionFields,
  VersionRules,
  VisibleFields,
} from './contract-types.ts'
import type { CallOptions } from './options.ts'

/**
 * One operation: the children of the request's element as input, those of the reply's as output.
 * `Q` are the headers of its request, `P` those of its reply.
 */
export interface OperationCall<I, O, X extends Fault = Fault, Q = {}, P = {}> {
  (...given: Given<I, Q>): Promise<O>
  /** The same, with the header blocks of the reply. */
  callForHeaders(...given: Given<I, Q>): Promise<{ readonly output: O; readonly headers: P }>
  /** The faults that it declares; `fault.is(...client.PayOrder.faults)` discriminates them. */
  readonly faults: readonly X[]
}

type Given<I, Q> = {} extends I ? [input?: I, options?: CallOptions<Q>] : [input: I, options?: CallOptions<Q>]

/** The type of an operation, without the headers of its messages. */
interface OperationFacts<I, O, X extends Fault = Fault> {
  readonly input: I
  readonly output: O
  readonly faults: X
}

/** The operations that a version of a contract offers as messages. */
export type Operations<S extends AnyService, V extends string> = string extends S['resources'][number]['name']
  ? { readonly [operation: string]: OperationCall<Values, Values, Fault, Values, Values> }
  : WithHeaders<
      MergeAll<
        | {
            [R in S['resources'][number] as R['name']]: ResourceOperations<S, R, V>
          }[string & S['resources'][number]['name']]
        | JobOperations<CallableJob<S['jobs'][number]>>
      >,
      S['headers']
    >

type WithHeaders<All, H> = {
  readonly [N in keyof All]: All[N] extends OperationFacts<infer I, infer O, infer X>
    ? OperationCall<I, O, X, HeaderValues<H, 'request', N & string>, HeaderValues<H, 'response', N & string>>
    : never
}

/** A name that is still free: itself, or followed by a digit. */
type FreeName<N extends string, Taken> = N extends Taken ? FreeName<`${N}2`, Taken> : N

/** The identifier of a job or an item; a single resource has one that no request names. */
type IdParameter = { readonly id: string }
type TargetOf<R extends AnyResource> = HasLists<R> extends true ? IdParameter : {}
type VersionParameter = { readonly version?: string }
type PagingParameters = { readonly page?: number; readonly size?: number; readonly cursor?: string }
type OneMember<N extends string, T> = { readonly [K in N]: T }

/**
 * Content next to the common members of such requests; in an element of its own if both have a name
 * in common.
 */
type FlatBesides<Common, Content, Apart extends string> = Flat<
  [Extract<keyof Content, keyof Common>] extends [never]
    ? Common & Content
    : Common & ({} extends Content ? { readonly [K in Apart]?: Content } : OneMember<Apart, Content>)
>

type ResourceOperations<S extends AnyService, R extends AnyResource, V extends string> = KnownOperations<
  R,
  VersionRules<S['versions'], V, R>,
  R['types']['rules']['one'],
  VersionFields<S['versions'], V, R>
>

type KnownOperations<R extends AnyResource, U extends Ruled, N extends string, F extends Fields> = OfferedWhen<
  And<IsGranted<U, 'read'>, IsOffered<U, 'get'>>,
  `Get${Capitalize<N>}`,
  OperationFacts<TargetOf<R>, ItemReply<N, F>, CommonFaults<typeof NotFound>>
> &
  OfferedWhen<
    And<HasLists<R>, And<IsGranted<U, 'read'>, IsOffered<U, 'list'>>>,
    `List${Capitalize<R['name']>}`,
    OperationFacts<
      FlatBesides<
        PagingParameters & ParentParameter<F> & { readonly sort?: string },
        EqualChildren<F, U['filter']>,
        'where'
      >,
      PageReply<R['name'], F>,
      CommonFaults<ParentFault<F>>
    >
  > &
  OfferedWhen<
    And<IsGranted<U, 'create'>, IsOffered<U, 'create'>>,
    `Create${Capitalize<N>}`,
    OperationFacts<
      CreationOf<F, N, DraftIn<F, U>>,
      ItemReply<N, F>,
      | CommonFaults<typeof Invalid | ParentFault<F> | (HasLists<R> extends true ? never : typeof VersionConflict)>
      | RuleFaults<U, 'create'>
    >
  > &
  OfferedWhen<
    And<IsGranted<U, 'change'>, IsOffered<U, 'replace'>>,
    `Replace${Capitalize<N>}`,
    OperationFacts<
      ReplacementOf<R, U, N, F>,
      ItemReply<N, F>,
      ChangeFaults | RuleFaults<U, MayCreateByPut<R, U> extends true ? 'change' | 'create' : 'change'>
    >
  > &
  OfferedWhen<
    And<IsGranted<U, 'remove'>, IsOffered<U, 'delete'>>,
    `Delete${Capitalize<N>}`,
    OperationFacts<Flat<TargetOf<R> & VersionParameter>, {}, ChangeFaults | RuleFaults<U, 'remove'>>
  > &
  OfferedWhen<
    And<IsGranted<U, 'read'>, And<[U['search']] extends [never] ? false : true, IsOffered<U, 'search'>>>,
    `Search${Capitalize<R['name']>}`,
    OperationFacts<
      FlatBesides<
        { readonly q: string } & ParentParameter<F> & PagingParameters,
        EqualChildren<F, U['searchBy']>,
        'where'
      >,
      PageReply<R['name'], F>,
      CommonFaults<ParentFault<F>> | RuleFaults<U, 'search'>
    >
  > &
  MergeAll<
    {
      [K in keyof R['types']['actions'] & string]: ActionOperations<R['types']['actions'][K], K, U, N, F, TargetOf<R>>
    }[keyof R['types']['actions'] & string]
  > &
  MergeAll<{ [P in FileNames<R>]: FileOperations<P, U, N, TargetOf<R>> }[FileNames<R>]>

type ParentFault<F extends Fields> = IsNested<F> extends true ? typeof NotFound : never
type CreationOf<F extends Fields, N extends string, D> =
  IsNested<F> extends true ? Flat<ParentParameter<F> & OneMember<FreeName<N, ParentKeys<F>>, D>> : OneMember<N, D>
/** It may create the item, in the parent that it names. */
type ReplacementOf<R extends AnyResource, U extends Ruled, N extends string, F extends Fields> =
  And<IsNested<F>, MayCreateByPut<R, U>> extends true
    ? Flat<
        ParentParameter<F> &
          TargetOf<R> &
          VersionParameter &
          OneMember<FreeName<N, 'id' | 'version' | ParentKeys<F>>, DraftIn<F, U>>
      >
    : Flat<TargetOf<R> & VersionParameter & OneMember<FreeName<N, 'id' | 'version'>, DraftIn<F, U>>>

/** A PUT of a single resource creates it, too. */
type MayCreateByPut<R extends AnyResource, U extends Ruled> =
  HasLists<R> extends true ? U['putCreates'] : IsGranted<U, 'create'>

type CommonFaults<X extends Fault = never> = X | typeof Forbidden
type ChangeFaults = CommonFaults<typeof NotFound | typeof VersionConflict | typeof Invalid | typeof StateConflict>

type VersionName<F extends Fields> = FreeName<'version', keyof F>
type ItemOf<F extends Fields> = Flat<Value<F> & OneMember<VersionName<F>, string>>
type ItemReply<N extends string, F extends Fields> = OneMember<N, ItemOf<F>>
type PageReply<N extends string, F extends Fields> = Flat<
  OneMember<FreeName<N, 'total' | 'next'>, readonly ItemOf<F>[]> & { readonly total?: number; readonly next?: string }
>

type ActionOperations<
  A extends AnyAction,
  Verb extends string,
  U extends Ruled,
  N extends string,
  F extends Fields,
  Target,
> = OfferedWhen<
  And<Verb extends keyof U['allow'] ? IsGranted<U, Verb> : IsReadAction<A, U>, IsOffered<U, Verb>>,
  `${Capitalize<Verb>}${Capitalize<N>}`,
  OperationFacts<ActionRequest<A, Target>, ActionReply<A, N, F>, ActionFault<A>>
> &
  OfferedWhen<
    And<IsGranted<U, Verb>, A['oneWay'] extends string ? true : false>,
    A['oneWay'] & string,
    OperationFacts<ActionRequest<A, Target>, void, never>
  >
type ActionRequest<A extends AnyAction, Target> = A['effect'] extends 'read'
  ? FlatBesides<Target, Draft<VisibleFields<A['input']>>, 'input'>
  : FlatBesides<Target & VersionParameter, Draft<VisibleFields<A['input']>>, 'input'>
type ActionReply<A extends AnyAction, N extends string, F extends Fields> = [A['output']] extends [Fields]
  ? OneMember<A['rel'], Value<VisibleFields<A['output']>>>
  : ItemReply<N, F>
type ActionFault<A extends AnyAction> =
  | A['faults'][number]
  | CommonFaults<typeof StateConflict | typeof NotFound | typeof VersionConflict | typeof Invalid>

type FileOperations<P extends string, U extends Ruled, N extends string, Target> = OfferedWhen<
  And<IsGranted<U, 'read'>, IsOffered<U, P>>,
  `Get${Capitalize<N>}${Capitalize<P>}`,
  OperationFacts<
    Target,
    Flat<
      OneMember<FreeName<P, 'mediaType' | 'version'>, Uint8Array> & {
        readonly mediaType: string
        readonly version: string
      }
    >,
    CommonFaults<typeof NotFound>
  >
> &
  OfferedWhen<
    And<IsGranted<U, 'change'>, IsOffered<U, P>>,
    `Put${Capitalize<N>}${Capitalize<P>}`,
    OperationFacts<
      Flat<
        Target &
          VersionParameter &
          OneMember<FreeName<P, 'id' | 'version' | 'mediaType'>, Uint8Array> & { readonly mediaType: string }
      >,
      { readonly version: string },
      ChangeFaults | RuleFaults<U, P>
    >
  >

type JobValue = Value<typeof jobFields>
type JobOperations<J extends Job> =
  J extends Job<string, infer I, infer O, infer N, infer X>
    ? {
        readonly [K in `Start${Capitalize<N>}`]: OperationFacts<
          Draft<VisibleFields<I>>,
          { readonly job: JobValue },
          CommonFaults<typeof Invalid> | X[number]
        >
      } & {
        readonly [K in `Get${Capitalize<N>}Job`]: OperationFacts<
          IdParameter,
          Flat<{ readonly job: JobValue } & { readonly [R in FreeName<N, 'job'>]?: Value<VisibleFields<O>> }>,
          CommonFaults<typeof NotFound>
        >
      }
    : never

/** Faults that any service may send in addition to those that an operation declares. */
export type BuiltInFault =
  | typeof Busy
  | typeof Forbidden
  | typeof Invalid
  | typeof NotFound
  | typeof StateConflict
  | typeof VersionConflict
