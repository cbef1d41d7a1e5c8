/**
 * The indexes of a resource's lists, by its fields, and the lists that no index serves, which look
 * at many items to return a few. It assumes:
 *  (1) Any value of an enum, a boolean or a reference may belong to many items; a value of another
 *      field belongs to few.
 *  (2) The id comes last in every order, ascending.
 */
import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Shape } from './field.ts'
import { findFilterField } from './filter-field.ts'
import type { NewestFirst } from './item-query.ts'
import type { Resource } from './resource.ts'
import type { Service } from './service.ts'

/** A field of an index, or of an order. */
export interface OrderKey {
  readonly field: string
  readonly descending: boolean
}
/** Keys in their order; the id is the last, if it is not among them. */
export interface ListIndex {
  readonly name: string
  readonly keys: readonly OrderKey[]
  /** No two items may have the same keys; the id is not part of it, and no list uses its order. */
  readonly isUnique?: true
  /** Items without its first field are not in it. */
  readonly isSparse?: true
}
/** What a list requests; of the filters' values, only that of `absent` matters. */
export interface ListForm {
  readonly filters: readonly { readonly field: string; readonly is: string; readonly value?: unknown }[]
  readonly sort: readonly OrderKey[]
}

/**
 * The index that would serve a list, as rules declare it; empty if none can. `field` is the one to
 * leave out.
 */
export interface MissingIndex {
  readonly field: string
  readonly keys: readonly string[]
}

/** Used like a field: the time at which an item was created. */
export const creationField = '_created'
export const newestFirst: NewestFirst = `-${creationField}`

/** `-total`: the field, descending. */
export const toOrderKey = (text: string): OrderKey =>
  text.startsWith('-') ? { field: text.slice(1), descending: true } : { field: text, descending: false }
const orderText = ({ field, descending }: OrderKey): string => (descending ? `-${field}` : field)

/** Empty if the contract declares none: then the newest come first. */
export const declaredOrder = ({ given }: Resource): readonly OrderKey[] => (given.order ?? []).map(toOrderKey)
/** The order of a list that requests none. */
export const usualOrder = (resource: Resource): readonly OrderKey[] => {
  const declared = declaredOrder(resource)
  return declared.length > 0 ? declared : [{ field: creationField, descending: true }]
}

/**
 * The newest first, the contract's own order, one for each field that lists are filtered or sorted
 * by, and those that the contract declares. If a field has few values, or restricts a list to some,
 * the rows of each value are in the order of the list.
 */
export function listIndexesOf(resource: Resource, service: Service): readonly ListIndex[] {
  const { given } = resource
  const usual = usualOrder(resource)
  const grouping = groupingFields(resource, service)
  const own = (given.filter ?? []).filter(name => findFilterField(resource, name)?.path === undefined)
  const fields = new Set([...grouping, ...own, ...(given.sort ?? [])])
  fields.delete('id')
  return [
    { name: 'newest', keys: [{ field: creationField, descending: true }] },
    ...(given.order && given.order.length > 0 ? [{ name: 'order', keys: usual }] : []),
    ...[...fields].map(field => ({
      name: field,
      keys: [{ field, descending: false }, ...(grouping.has(field) ? usual.filter(key => key.field !== field) : [])],
      ...(mayHaveNoKey(resource.fields[field]) && !given.sort?.includes(field) && { isSparse: true as const }),
    })),
    ...(given.indexes ?? []).map(keys => ({ name: `(${keys.join(',')})`, keys: keys.map(toOrderKey) })),
    ...(given.unique ?? []).map(keys => ({
      name: `=(${keys.join(',')})`,
      keys: keys.map(toOrderKey),
      isUnique: true as const,
    })),
  ]
}

/** NaN has no key, like an absent value. */
const mayHaveNoKey = (field: AnyField | undefined): boolean =>
  field !== undefined && (field.isOptional || field.isNullable || field.shape.kind === 'double')

function groupingFields(resource: Resource, service: Service): Set<string> {
  const { given, name } = resource
  const granted = Object.values(given.allow).flatMap(grants =>
    (grants ?? []).flatMap(grant => Object.keys(grant.where)),
  )
  const related = relatingFields(service).get(name) ?? []
  const few = (given.filter ?? []).filter(field => hasFewValues(resource, field))
  const parent = resource.within === undefined ? [] : [resource.within]
  return new Set([...granted, ...related, ...few, ...parent])
}

/** The fields by which relations of any resource lead to items: computed once for all resources. */
const relatingFields = memoizeByObject((service: Service): ReadonlyMap<string, readonly string[]> => {
  const found = service.resources.flatMap(({ name, given }) =>
    Object.values(given.relations ?? {}).map(relation => ({
      name: 'of' in relation ? relation.of : name,
      by: relation.by,
    })),
  )
  const byName = Map.groupBy(found, ({ name }) => name)
  return new Map([...byName].map(([name, all]) => [name, all.map(({ by }) => by)]))
})

const hasFewValues = ({ fields }: Resource, field: string): boolean =>
  ['ref', 'enum', 'boolean'].includes(fields[field]?.shape.kind ?? '')

/**
 * Undefined if an index serves the list. None serves a comparison in the order of another field.
 */
export function findMissingIndex(
  resource: Resource,
  indexes: readonly ListIndex[],
  { filters, sort }: ListForm,
): MissingIndex | undefined {
  const isSelective = filters.some(({ field, is }) => (is === 'eq' || is === 'in') && !hasFewValues(resource, field))
  const equal = new Set(filters.filter(({ is }) => is === 'eq').map(({ field }) => field))
  const isOne = resource.given.unique?.some(keys => keys.every(field => equal.has(field)))
  return isSelective || isOne ? undefined : findMissingOrder(resource, indexes, { filters, sort })
}

type FormFilter = ListForm['filters'][number]
const isAbsence = ({ is, value }: FormFilter): boolean => is === 'absent' && value === true
/** Whether the selected items are all equal in this field. */
const isEquality = (filter: FormFilter): boolean => filter.is === 'eq' || isAbsence(filter)
/** Long values are only found by their hash, and an absent one has none. */
const isServedEquality = ({ fields }: Resource, filter: FormFilter): boolean => {
  const shape = fields[filter.field]?.shape
  return filter.is === 'eq' || (isAbsence(filter) && shape !== undefined && keyOctets(shape) <= keyOctetsMax)
}

/** The same, assuming that any value may belong to many items. */
export function findMissingOrder(
  resource: Resource,
  indexes: readonly ListIndex[],
  { filters, sort }: ListForm,
): MissingIndex | undefined {
  const [equal, order] = splitForm(resource, { filters, sort })
  const ranged = filters.find(
    each => !isServedEquality(resource, each) && !(isRange(each.is) && each.field === order[0]?.field),
  )
  if (ranged) return { field: ranged.field, keys: [] }
  if (findServingIndex(resource, indexes, { filters, sort })) return undefined
  const keys = [...equal, ...order.map(orderText)]
  return { field: [...equal][0] ?? order[0]?.field ?? 'id', keys }
}

/** The fields in which all items of a list are equal, and its order among these. */
function splitForm(resource: Resource, { filters, sort }: ListForm): [ReadonlySet<string>, readonly OrderKey[]] {
  const equal = new Set(filters.filter(isEquality).map(({ field }) => field))
  return [equal, (sort.length > 0 ? sort : usualOrder(resource)).filter(({ field }) => !equal.has(field))]
}

/** The id comes last in any case. */
function withoutLastId(order: readonly OrderKey[]): readonly OrderKey[] {
  const last = order.at(-1)
  return last?.field === 'id' && !last.descending ? order.slice(0, -1) : order
}

/**
 * The keys of absent fields, which the index that serves a list has before those of its order, in
 * the direction in which the list follows it. All items of the list are equal in them, but
 * PostgreSQL does not know that about `is null`: with them in front, the order is that of the
 * index.
 */
export function findAbsentKeys(resource: Resource, indexes: readonly ListIndex[], form: ListForm): readonly OrderKey[] {
  const absent = new Set(form.filters.filter(isAbsence).map(({ field }) => field))
  if (absent.size === 0) return []
  const [equal, sorted] = splitForm(resource, form)
  const order = withoutLastId(sorted)
  const index = findServingIndex(resource, indexes, form)
  const isReversed = order.length > 0 && index?.keys[equal.size]?.descending !== order[0]?.descending
  return (index?.keys.slice(0, equal.size) ?? [])
    .filter(({ field }) => absent.has(field))
    .map(({ field, descending }) => ({ field, descending: descending !== isReversed }))
}

function findServingIndex(resource: Resource, indexes: readonly ListIndex[], form: ListForm): ListIndex | undefined {
  const [equal, sorted] = splitForm(resource, form)
  const order = withoutLastId(sorted)
  const absent = new Set(form.filters.filter(isAbsence).map(({ field }) => field))
  return indexes.find(
    index => servesOrder(resource, index, equal, order) && !(index.isSparse && absent.has(index.keys[0]?.field ?? '')),
  )
}

/** Whether an index has the items of a list in its order, including the ids of equal items. */
export function isStoredInOrder(resource: Resource, indexes: readonly ListIndex[], form: ListForm): boolean {
  const [equal, sorted] = splitForm(resource, form)
  const order = withoutLastId(sorted)
  if (equal.size + order.length === 0) return true // by the ids themselves
  const isNext = (keys: readonly OrderKey[]) => (key: OrderKey, at: number) => {
    const own = keys[equal.size + at]
    return own?.field === key.field && own.descending === key.descending
  }
  return indexes.some(
    ({ keys, isUnique }) =>
      !isUnique && isBegunBy(keys, equal) && keys.length === equal.size + order.length && order.every(isNext(keys)),
  )
}

/** Whether the first keys are these fields, in any order. */
function isBegunBy(keys: readonly OrderKey[], fields: ReadonlySet<string>): boolean {
  const first = new Set(keys.slice(0, fields.size).map(({ field }) => field))
  return first.size === fields.size && [...fields].every(field => first.has(field))
}

const isRange = (is: string): boolean => ['gt', 'gte', 'lt', 'lte'].includes(is)

/** The equal fields first, all of them and in any order, then the order or its reverse. */
function servesOrder(
  resource: Resource,
  { keys, isUnique }: ListIndex,
  equal: ReadonlySet<string>,
  order: readonly OrderKey[],
): boolean {
  if (isUnique || !isBegunBy(keys, equal)) return false
  const rest = keys.slice(equal.size)
  const isReversed = order.length > 0 && order[0]?.descending !== rest[0]?.descending
  const fits = order.every(
    (key, at) => rest[at]?.field === key.field && (rest[at]?.descending !== key.descending) === isReversed,
  )
  const last = order.at(-1)
  // Items that are equal so far are sorted by id, which costs nothing if they are few.
  return (
    fits &&
    ((rest.length === order.length && !isReversed) || (last !== undefined && !hasFewValues(resource, last.field)))
  )
}

/**
 * A filter whose values are assumed to have few items each, and the index to declare if they do
 * not.
 */
export interface AssumedFilter {
  readonly field: string
  readonly keys: readonly string[]
}

/** Filters by single values whose items no index has in the usual order. */
export function listAssumedFilters(resource: Resource, indexes: readonly ListIndex[]): readonly AssumedFilter[] {
  if (resource.given.unserved === 'accept') return []
  return (resource.given.filter ?? []).flatMap(field => {
    if (field === 'id' || findFilterField(resource, field)?.path !== undefined || hasFewValues(resource, field))
      return []
    const missing = findMissingOrder(resource, indexes, { filters: [{ field, is: 'eq' }], sort: [] })
    return missing ? [{ field, keys: missing.keys }] : []
  })
}

/** For a person: which lists of a resource no index serves, one line per filter. */
export function findUnservedLists(resource: Resource, service: Service): readonly string[] {
  const { given, name } = resource
  if (given.unserved !== undefined && given.unserved !== 'warn') return []
  const indexes = listIndexesOf(resource, service)
  const filters = (given.filter ?? []).filter(field => hasFewValues(resource, field))
  const missing = (filter: string | undefined): readonly string[] =>
    (given.sort ?? [])
      .filter(field => field !== filter)
      .flatMap(field => {
        const form = {
          filters: filter === undefined ? [] : [{ field: filter, is: 'eq' }],
          sort: [{ field, descending: false }],
        }
        const found = findMissingIndex(resource, indexes, form)
        return found ? [writeIndex(found.keys)] : []
      })
  return [undefined, ...filters].flatMap(filter => {
    const found = missing(filter)
    if (found.length === 0) return []
    const lists =
      filter === undefined ? `a list of ${name} in some orders` : `${name} filtered by ${filter} in other orders`
    return [
      `${lists} examines every item that it finds: declare indexes: [${found.join(', ')}] for the lists that callers need; unserved: 'refuse' responds to the others with 400, unserved: 'accept' silences this warning`,
    ]
  })
}

export const writeIndex = (keys: readonly string[]): string => `[${keys.map(key => `'${key}'`).join(', ')}]`

/** Octets of the longest keys that both databases keep in an index. */
export const keyOctetsMax = 2400
/** Octets that a value of this shape may need in an index: a character has at most four. */
export function keyOctets(shape: Shape): number {
  if (shape.kind === 'string') return (shape.max ?? Number.POSITIVE_INFINITY) * 4
  return shape.kind === 'bytes' ? (shape.max ?? Number.POSITIVE_INFINITY) : 0
}
