/**
 * The types of both clients that follow from a contract: the fields that a version shows, what a
 * client sends, and what is granted.
 */
import type { AnyField, Draft, Field, Fields, ParentKeys } from '../contract/field.ts'
import type { Job } from '../contract/job.ts'
import type { Grant, GrantOf } from '../contract/policy.ts'
import type { Reshape } from '../contract/reshape.ts'
import type { AnyAction, AnyResource, IsSingle, Ruled } from '../contract/resource.ts'
import type { Retype } from '../contract/retype.ts'
import type { AnyService, Versions } from '../contract/service.ts'

export type VersionOf<S extends AnyService> = keyof S['versions'] & string

/** The same members in one type: what methods of clients take and return. */
export type Flat<T> = { readonly [K in keyof T]: T[K] }
export type MergeAll<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** The rules of a version for a resource; nothing where it has none. */
type RuleOf<All extends Versions, V extends string, P extends string, N> = [V] extends [never] // the newest
  ? {}
  : V extends keyof All
    ? P extends keyof All[V]
      ? N extends keyof All[V][P]
        ? All[V][P][N]
        : {}
      : {}
    : {}
type HiddenFields<W> = W extends readonly (infer H)[] ? H : never
type ReshapesOf<All extends Versions, V extends string, R extends AnyResource> = RuleOf<All, V, 'reshapes', R['name']>
/** Fields of the newest version that a version replaces by others. */
type GroupedNames<G> = G extends readonly Reshape[] ? G[number]['newest'][number] : never
/** The name in a version of a field of the newest one. */
type NameIn<K, M> = [KeyOfName<M, K>] extends [never] ? K : KeyOfName<M, K>
type KeyOfName<M, K> = { [P in keyof M]: M[P] extends K ? P : never }[keyof M]

/** The fields of a resource that clients of a version see, as the version has them. */
export type VersionFields<All extends Versions, V extends string, R extends AnyResource> =
  OtherFields<
    VisibleFields<
      Omit<
        R['types']['fields'],
        (HiddenFields<RuleOf<All, V, 'without', R['name']>> | GroupedNames<ReshapesOf<All, V, R>>) & PropertyKey
      >
    >,
    RuleOf<All, V, 'renames', R['name']>,
    RuleOf<All, V, 'retypes', R['name']>
  > extends infer F extends Fields
    ? WithGroups<F, ReshapesOf<All, V, R>>
    : never
type WithGroups<F extends Fields, G> = G extends readonly Reshape[] ? Flat<F & MergeAll<G[number]['former']>> : F
type OtherFields<F extends Fields, M, T> = [keyof M | keyof T] extends [never]
  ? F
  : { readonly [K in keyof F as NameIn<K, M> & PropertyKey]: OtherField<F[K], NameIn<K, M>, T> }
type OtherField<A extends AnyField, N, T> = N extends keyof T
  ? T[N] extends Retype<Field<infer P, false, false, infer D>>
    ? Field<OrNull<P, A>, A['flags'][0], A['flags'][1], OrNull<D, A>>
    : A
  : A
type OrNull<P, A extends AnyField> = null extends A['type'] ? P | null : P

/** The rules of a resource, by the names that a version has for its fields. */
export type VersionRules<All extends Versions, V extends string, R extends AnyResource> = OtherRules<
  R['types']['rules'],
  RuleOf<All, V, 'renames', R['name']>,
  RuleOf<All, V, 'retypes', R['name']>,
  GroupedNames<ReshapesOf<All, V, R>>
>
type OtherRules<U extends Ruled, M, T, G> = [keyof M | keyof T | G] extends [never]
  ? U
  : {
      readonly one: U['one']
      readonly filter: ComparableName<Exclude<U['filter'], G>, M, T>
      readonly sort: ComparableName<Exclude<U['sort'], G>, M, T>
      readonly search: U['search']
      readonly searchBy: ComparableName<Exclude<U['searchBy'], G>, M, T>
      readonly edit: U['edit']
      readonly remove: U['remove']
      readonly relations: U['relations']
      readonly bulk: U['bulk']
      readonly putCreates: U['putCreates']
      readonly messages: U['messages']
      readonly allow: { readonly [D in keyof U['allow']]: OtherGrants<NonNullable<U['allow'][D]>, M> }
      readonly faults: U['faults']
    }
/** Comparisons of lists apply to a field of another type if it has the same values. */
type ComparableName<K, M, T> = K extends string
  ? NameIn<K, M> extends infer N extends string
    ? N extends keyof T
      ? T[N] extends Retype<AnyField, true>
        ? N
        : never
      : N
    : never
  : never
type OtherGrants<G extends readonly Grant[], M> = G extends readonly []
  ? readonly []
  : readonly (G[number] extends infer O
      ? O extends GrantOf<infer B>
        ? GrantOf<NameIn<B, M> & string>
        : Grant
      : never)[]

/** The operation if the condition holds, otherwise none. */
export type OfferedWhen<Is extends boolean, N extends string, T> = Is extends true ? { readonly [K in N]: T } : {}
export type IsGranted<U extends Ruled, Doing extends string> = Doing extends keyof U['allow']
  ? U['allow'][Doing] extends readonly []
    ? false
    : true
  : false
/** The jobs that clients may start: handlers alone start the others. */
export type CallableJob<J extends Job> = J extends { readonly allow: readonly [] } ? never : J
export type IsOffered<U extends Ruled, Message extends string> = Message extends U['messages'] ? true : false
export type And<A extends boolean, B extends boolean> = A extends true ? B : false
/** Without internal fields, which no draft has. */
export type VisibleFields<F extends Fields> = {
  readonly [K in keyof F as [F[K]['draft']] extends [never] ? never : K]: F[K]
}
/** Whether a resource has more than one item. */
export type HasLists<R extends AnyResource> = IsSingle<R['types']['single']> extends true ? false : true
/** Whether its items belong to those of another resource. */
export type IsNested<F extends Fields> = [ParentKeys<F>] extends [never] ? false : true
/** The parent, in a message that lists or creates items in it. */
export type ParentParameter<F extends Fields> = { readonly [K in ParentKeys<F>]: string }
export type FileNames<R extends AnyResource> = keyof R['files'] & string

/**
 * A field that a grant binds to a claim of the caller may be left out: it gets the caller's value.
 */
export type DraftIn<F extends Fields, U extends Ruled> = WithOptional<Draft<F>, BoundFields<U, 'create' | 'change'>>
type WithOptional<D, K> = Flat<
  { readonly [N in keyof D as N extends K ? never : N]: D[N] } & {
    readonly [N in keyof D as N extends K ? N : never]?: D[N]
  }
>
type BoundFields<U extends Ruled, Doing extends string> = {
  [K in Extract<keyof U['allow'], Doing>]: NonNullable<U['allow'][K]>[number] extends infer G
    ? G extends GrantOf<infer B>
      ? B
      : never
    : never
}[Extract<keyof U['allow'], Doing>]
export type IsReadAction<A extends AnyAction, U extends Ruled> = A['effect'] extends 'read'
  ? IsGranted<U, 'read'>
  : false
