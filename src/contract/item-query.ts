/** What a list asks for: the fields that its items are compared with, and their order, as types. */
import type { Fields } from './field.ts'

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
/** Fields that must equal a value, or compare with some. */
export type FilterFields<F extends Fields, Names> = {
  readonly [K in keyof F as K extends Names ? K : never]?: F[K]['type'] | Comparisons<F[K]['type']>
}
/** A field to sort by; descending behind a hyphen. */
export type SortName<Names extends string> = Names | `-${Names}`
