/**
 * What a list may be filtered by: scalar fields of a resource, and references within its lists and
 * objects. `lines.product` selects the items of which some line refers to a product.
 */
import { type AnyField, Field, type Fields, type Scalar } from './field.ts'
import { capitalize } from './lexical/text.ts'
import type { Resource } from './resource.ts'
import { innermostShape, isScalar, objectFields } from './shape.ts'

export interface FilterField {
  /** Of one value, with its texts. */
  readonly field: AnyField
  readonly shape: Scalar
  /**
   * The names on the way to a reference within, each with its field; undefined for a field of the
   * resource itself. An item may have many such references: they have no order, and are equal where
   * one of them is.
   */
  readonly path: readonly (readonly [name: string, field: AnyField])[] | undefined
}

/** @returns undefined where lists cannot be filtered by what has this name */
export function findFilterField({ fields }: Pick<Resource, 'fields'>, name: string): FilterField | undefined {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (own && isScalar(own.shape)) return { field: own, shape: own.shape, path: undefined }
  const path = followPath(fields, name.split('.'))
  const last = path?.at(-1)?.[1]
  const shape = last && innermostShape(last.shape)
  return shape?.kind === 'ref' ? { field: new Field(shape, last), shape, path } : undefined
}

function followPath(fields: Fields, [name = '', ...rest]: readonly string[]): FilterField['path'] {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (!field) return undefined
  if (rest.length === 0) return [[name, field]]
  const further = followPath(objectFields(innermostShape(field.shape)), rest)
  return further && [[name, field], ...further]
}

/**
 * The child of a message that stands for a filter: `lines.product` is `linesProduct`. A name with a
 * dot is one of XML, but no name of a parameter in the languages that partners generate clients in
 * (`svcutil` of Mono writes it as it is, and the class does not compile).
 */
export const messageNameOf = (filter: string): string =>
  filter
    .split('.')
    .map((step, i) => (i === 0 ? step : capitalize(step)))
    .join('')

/** The filter that a child of a message stands for. */
export const filterNamed = ({ fields, given }: Pick<Resource, 'fields' | 'given'>, child: string): string =>
  Object.hasOwn(fields, child) ? child : (given.filter?.find(each => messageNameOf(each) === child) ?? child)

/** How a field is compared with a value; `in`: with several. `absent`: whether it has none. */
export const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'absent'] as const
export type Comparison = (typeof comparisons)[number]
const innerComparisons: ReadonlySet<Comparison> = new Set(['eq', 'in'])

/**
 * A reference within is equal or not. What is always there is never absent; and a database keeps a
 * double that is NaN as it keeps one that is absent.
 */
export const allowsComparison = ({ path, field, shape }: FilterField, comparison: Comparison): boolean =>
  path
    ? innerComparisons.has(comparison)
    : comparison !== 'absent' || ((field.isOptional || field.isNullable) && shape.kind !== 'double')

/** The values at the end of a path, through lists and objects. */
export function listValuesAt(value: unknown, [next, ...rest]: NonNullable<FilterField['path']>): readonly unknown[] {
  const found = [value].flat(Number.POSITIVE_INFINITY)
  if (!next) return found.filter(each => each !== undefined && each !== null)
  return found.flatMap(each =>
    typeof each === 'object' && each !== null
      ? listValuesAt((each as Readonly<Record<string, unknown>>)[next[0]], rest)
      : [],
  )
}
