/**
 * The kinds of shape, distinguished in one place: everything that depends on them is a table of
 * cases.
 * A kind added to `field.ts` compiles only once every table has a case for it.
 *  (1) No other file compares a shape's kind with list, object or union, or switches over kinds.
 *  (2) Readers, checks and writers that are compiled at start fold a shape once: their cases create
 *      functions, so no value pays for the choice.
 */
import type { AnyField, Fields, Scalar, Shape } from './field.ts'

/** The members of a union that may have this kind. */
type OfKind<S extends Shape, K> = S extends { readonly kind: infer J } ? (K extends J ? S : never) : never
export type ScalarOf<K extends Scalar['kind']> = OfKind<Scalar, K>
export type ListShape = OfKind<Shape, 'list'>
export type MapShape = OfKind<Shape, 'map'>
export type ObjectShape = OfKind<Shape, 'object'>
export type UnionShape = OfKind<Shape, 'union'>

/** A case for each kind of scalar; `A` are further arguments. */
export type ScalarCases<R, A extends readonly unknown[] = []> = {
  readonly [K in Scalar['kind']]: (shape: ScalarOf<K>, ...rest: A) => R
}
/** A case for each structure, and one for all scalars. */
export type ShapeCases<R, A extends readonly unknown[] = []> = {
  readonly scalar: (shape: Scalar, ...rest: A) => R
} & { readonly [K in Exclude<Shape['kind'], Scalar['kind']>]: (shape: OfKind<Shape, K>, ...rest: A) => R }

export function foldScalar<R, A extends readonly unknown[] = []>(
  shape: Scalar,
  cases: ScalarCases<R, A>,
  ...rest: A
): R {
  // The case of its kind accepts the shape.
  const choose = cases[shape.kind] as (shape: Scalar, ...rest: A) => R
  return choose(shape, ...rest)
}

export function foldShape<R, A extends readonly unknown[] = []>(shape: Shape, cases: ShapeCases<R, A>, ...rest: A): R {
  const kind = shape.kind as keyof ShapeCases<R, A> // or the case of scalars, if it has none of its own
  // The case of its kind accepts the shape.
  const choose = (cases[kind] ?? cases.scalar) as (shape: Shape, ...rest: A) => R
  return choose(shape, ...rest)
}

/** Each structure has a case of its own, as in any table. */
export const isScalar = (shape: Shape): shape is Scalar => !Object.hasOwn(innerChanges, shape.kind)

export const asList = (shape: Shape): ListShape | undefined => (shape.kind === 'list' ? shape : undefined)
export const asMap = (shape: Shape): MapShape | undefined => (shape.kind === 'map' ? shape : undefined)
/** The contents of an array or its element: the items of a list, the entries of a map. */
export const asRows = (shape: Shape): ListShape | undefined => (shape.kind === 'map' ? shape.entries : asList(shape))

/** The two fields of an entry. */
export const entryFields = ({ entries }: MapShape): { readonly key: AnyField; readonly value: AnyField } => {
  const { key, value } = objectFields(entries.item.shape)
  if (!key || !value) throw new TypeError('a map has entries of a key and a value: make it with t.map(value)')
  return { key, value }
}

/** The shape of a list's items, through lists of lists; for anything else the shape itself. */
export const innermostShape = (shape: Shape): Shape => foldShape(shape, innermostShapes)
const innermostShapes: ShapeCases<Shape> = {
  scalar: shape => shape,
  list: ({ item }) => innermostShape(item.shape),
  map: shape => shape,
  object: shape => shape,
  union: shape => shape,
}

/**
 * The fields one level down: of an object, of each case of a union, of the contents of a list or
 * map.
 */
export const innerFields = (shape: Shape): readonly Fields[] => foldShape(shape, innerCases)
const innerCases: ShapeCases<readonly Fields[]> = {
  scalar: () => [],
  list: ({ item }) => innerFields(item.shape),
  map: shape => innerFields(entryFields(shape).value.shape),
  object: ({ fields }) => [fields],
  union: ({ of }) => Object.values(of),
}

export const asObject = (shape: Shape): ObjectShape | undefined => (shape.kind === 'object' ? shape : undefined)
/** The fields of an object; empty for anything else. */
export const objectFields = (shape: Shape | undefined): Fields => (shape?.kind === 'object' ? shape.fields : {})

/** Changes of the fields inside a shape; each may return its argument. */
interface InnerChange {
  readonly item: (item: AnyField) => AnyField
  readonly fields: (fields: Fields) => Fields
  /** The name of an object whose fields have changed; by default it keeps its own. */
  readonly rename?: (name: string) => string
}
/** The shape with its inner fields changed; the shape itself if nothing changes. */
export const mapShape = (shape: Shape, change: InnerChange): Shape => foldShape(shape, innerChanges, change)
const innerChanges: ShapeCases<Shape, [change: InnerChange]> = {
  scalar: shape => shape,
  list: (shape, change) => {
    const item = change.item(shape.item)
    return item === shape.item ? shape : { ...shape, item }
  },
  map: (shape, change) => {
    const item = change.item(shape.entries.item)
    return item === shape.entries.item ? shape : { ...shape, entries: { ...shape.entries, item } }
  },
  object: (shape, change) => {
    const fields = change.fields(shape.fields)
    if (areSame(fields, shape.fields)) return shape
    return { ...shape, fields, ...(shape.name && change.rename && { name: change.rename(shape.name) }) }
  },
  union: (shape, change) => {
    const of = Object.fromEntries(Object.entries(shape.of).map(([name, fields]) => [name, change.fields(fields)]))
    return Object.entries(of).every(([name, fields]) => areSame(fields, shape.of[name] ?? {}))
      ? shape
      : { ...shape, of }
  },
}
const areSame = (left: Fields, right: Fields): boolean =>
  Object.keys(left).length === Object.keys(right).length &&
  Object.entries(left).every(([name, field]) => field === right[name])
