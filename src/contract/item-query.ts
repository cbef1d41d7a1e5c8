/** The query of a list, as types: the fields that its items are compared with, and their order. */
import type { AnyField, Fields } from './field.ts'

/** Conditions on one field, all of which must hold. */
export interface Comparisons<T> {
  readonly eq?: T
  readonly ne?: T
  readonly gt?: T
  readonly gte?: T
  readonly lt?: T
  readonly lte?: T
  readonly in?: readonly T[]
}
/** Whether a field that may be absent or null has no value. */
export interface AbsentComparison {
  readonly absent?: boolean
}
/** A field, or a path to a reference within: `lines.product`. */
export type FilterName<Names extends string> = Names | `${Names}.${string}`
/** A nested reference equals a value, or one of several. */
type InnerComparisons = Pick<Comparisons<string>, 'eq' | 'in'>
/** The names that are a field, or lead into one. */
type KnownNames<F extends Fields, Names> = Names extends keyof F
  ? Names
  : Names extends `${infer K}.${string}`
    ? K extends keyof F
      ? Names
      : never
    : never
/** The type of the value to which a field is compared; in a list or another item, text. */
type FilterValue<F extends Fields, N> = N extends keyof F
  ? NonNullable<F[N]['type']> extends readonly unknown[]
    ? string
    : F[N]['type']
  : string
type FilterComparisons<F extends Fields, N> = N extends keyof F
  ? NonNullable<F[N]['type']> extends readonly unknown[]
    ? InnerComparisons
    : Comparisons<F[N]['type']> & AbsenceOf<F[N]>
  : InnerComparisons
type AbsenceOf<A extends AnyField> = A['flags'][0] extends true
  ? AbsentComparison
  : null extends A['type']
    ? AbsentComparison
    : unknown
/** Fields that must equal a value, or compare with some. */
export type FilterFields<F extends Fields, Names> = {
  readonly [K in KnownNames<F, Names> & PropertyKey]?: FilterValue<F, K> | FilterComparisons<F, K>
}
/** Fields that must equal a value. */
export type EqualFields<F extends Fields, Names> = {
  readonly [K in KnownNames<F, Names> & PropertyKey]?: FilterValue<F, K>
}
/** The child of a message that stands for a filter: `lines.product` is `linesProduct`. */
type MessageName<N> = N extends `${infer Step}.${infer Rest}` ? `${Step}${Capitalize<MessageName<Rest>>}` : N & string
/** The same as children of a message. */
export type EqualChildren<F extends Fields, Names> = {
  readonly [K in KnownNames<F, Names> & PropertyKey as MessageName<K>]?: FilterValue<F, K>
}
/** In an index: the order of a list that requests none, if its resource declares none. */
export type NewestFirst = '-_created'
/** A field to sort by; descending behind a hyphen. */
export type SortName<Names extends string> = Names | `-${Names}`
