/**
 * What the types of both clients say of a contract: the fields that a version shows, what a client
 * sends, and what is granted.
 */
import type { Draft, Fields } from '../contract/field.ts'
import type { Job } from '../contract/job.ts'
import type { GrantOf } from '../contract/policy.ts'
import type { AnyAction, AnyResource, Ruled } from '../contract/resource.ts'
import type { AnyService, Versions } from '../contract/service.ts'

export type VersionOf<S extends AnyService> = keyof S['versions'] & string

export type Flat<T> = { readonly [K in keyof T]: T[K] }
export type MergeAll<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer I) => void ? I : never

/** Fields that a version does not know. */
export type HiddenFields<All extends Versions, V extends string, N> = V extends keyof All
  ? All[V] extends { readonly without: infer W }
    ? N extends keyof W
      ? W[N] extends readonly (infer H)[]
        ? H
        : never
      : never
    : never
  : never

/** An operation where the condition holds, else no operation. */
export type OfferedWhen<Is extends boolean, N extends string, T> = Is extends true ? { readonly [K in N]: T } : {}
export type IsGranted<U extends Ruled, Doing extends string> = Doing extends keyof U['allow']
  ? U['allow'][Doing] extends readonly []
    ? false
    : true
  : false
/** The jobs that clients may start: the others are started by handlers alone. */
export type CallableJob<J extends Job> = J extends { readonly allow: readonly [] } ? never : J
export type IsOffered<U extends Ruled, Message extends string> = Message extends U['messages'] ? true : false
export type And<A extends boolean, B extends boolean> = A extends true ? B : false
/** Without what is internal, which no draft has. */
export type VisibleFields<F extends Fields> = {
  readonly [K in keyof F as [F[K]['draft']] extends [never] ? never : K]: F[K]
}
export type FileNames<R extends AnyResource> = keyof R['files'] & string

/**
 * A field that a grant binds to a claim of the caller may be left out: it has the caller's value.
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
