/**
 * What a list may be filtered by: scalar fields of a resource, and references within its lists and
 * objects. `lines.product` selects items with a line that refers to the product.
 */
import { type AnyField, Field, type Fields, type Scalar } from './field.ts'
import { capitalize } from './lexical/text.ts'
import type { Resource } from './resource.ts'
import { innermostShape, isScalar, objectFields } from './shape.ts'

export interface FilterField {
  /** The field of one value, with its texts. */
  readonly field: AnyField
  readonly shape: Scalar
  /**
   * The names on the way to a nested reference, each with its field; undefined for a field of the
   * resource itself. An item may have many such references: they have no order, and equal a value
   * if one of them does.
   */
  readonly path: readonly (readonly [name: string, field: AnyField])[] | undefined
}

/** @returns undefined if lists cannot be filtered by this name */
export function findFilterField({ fields }: Pick<Resource, 'fields'>, name: string): FilterField | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (field && isScalar(field.shape)) return { field, shape: field.shape, path: undefined }
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
 * dot is valid in XML, but not as a parameter in the languages that partners generate clients in
 * (Mono's `svcutil` writes it unchanged, and the class does not compile).
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
 * A nested reference is equal or not. A field that is always present is never absent; and a
 * database stores a NaN double in the same way as an absent one.
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
