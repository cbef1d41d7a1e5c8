/** Fields that are computed from the others in each read, and fields that a store keeps. */
import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Fields } from './field.ts'
import type { Resource } from './resource.ts'

const selectFields = (fields: Fields, isComputed: boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => field.isComputed === isComputed))

export const computedFieldsOf = memoizeByObject(({ fields }: Resource): Fields => selectFields(fields, true))
export const storedFieldsOf = memoizeByObject(({ fields }: Resource): Fields => selectFields(fields, false))
export const hasComputedFields = (resource: Resource): boolean => Object.keys(computedFieldsOf(resource)).length > 0

/** For a field that is not directly in a resource. */
export const misplacedComputed = (place: string, { isComputed }: AnyField): string[] =>
  isComputed ? [`${place} is computed, which only a field of a resource can be: compute the whole field there`] : []

/**
 * @param findPath the fields that a search path of the resource leads through
 */
export function findComputedMistakes(
  resource: Resource,
  findPath: (path: string) => readonly (AnyField | undefined)[],
): string[] {
  return [
    ...Object.entries(computedFieldsOf(resource)).flatMap(([name, field]) => markMistakes(resource, name, field)),
    ...selectionMistakes(resource, findPath),
  ]
}

function markMistakes(resource: Resource, name: string, field: AnyField): string[] {
  const place = `${resource.name}.${name}`
  const { kind } = field.shape
  return [
    ...(name === 'id' || name === 'state' || kind === 'ref' || kind === 'id'
      ? [`${place} is computed, and names an item or its state, which the store has to find: remove computed()`]
      : []),
    ...(field.defaultValue === undefined
      ? []
      : [`${place} is computed and has a default, which would never apply: remove one of them`]),
    ...(field.isInternal ? [`${place} is computed and internal, so that no caller sees it: remove one of them`] : []),
    ...(field.formerName === undefined
      ? []
      : [`${place} is computed and has a former name, though the database does not know it: remove was()`]),
  ]
}

/** The store selects and orders items, and it does not have these fields. */
function selectionMistakes(
  { name, given }: Resource,
  findPath: (path: string) => readonly (AnyField | undefined)[],
): string[] {
  const boundFields = Object.values(given.allow).flatMap(grants =>
    (grants ?? []).flatMap(({ where }) => Object.keys(where)),
  )
  const selecting = {
    filter: given.filter,
    sort: given.sort,
    order: given.order,
    search: given.search,
    searchBy: given.searchBy,
    indexes: given.indexes?.flat(),
    unique: given.unique?.flat(),
    allow: [...new Set(boundFields)],
  }
  return Object.entries(selecting).flatMap(([rule, paths]) =>
    (paths ?? [])
      .map(each => each.replace(/^-/, ''))
      .filter(path => findPath(path).some(field => field?.isComputed))
      .map(
        path =>
          `${name}: ${rule} names "${path}", which is computed and not stored: make it readOnly() and let \`derive\` store it`,
      ),
  )
}
