/** The query of a list in a message, and the position of its next page. */

import { attempt, decodeUtf8, isSyntaxError } from '../../base/attempt.ts'
import { decodeBase64Url, encodeBase64Url } from '../../base/base64.ts'
import { ownMember } from '../../base/objects.ts'
import { filterNamed } from '../../contract/filter-field.ts'
import type { Values } from '../../contract/implement.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { checkScalar } from '../../contract/lexical/scalar.ts'
import { isIdentifier } from '../../contract/lexical/text.ts'
import type { Resource } from '../../contract/resource.ts'
import { isScalar } from '../../contract/shape.ts'
import { refuse } from '../../service/refusal.ts'
import { searchWords } from '../../service/search.ts'
import { type Filter, type ItemPage, numberedItemsMax, type Query, type Sort } from '../../service/store.ts'
import { packTyped, unpackTyped } from '../../service/typed-json.ts'

/** Items of a page. */
const defaultSize = 20
/**
 * A page ends once its items have this many octets as stored; `next` continues. Fewer than in REST:
 * a message is written in one step.
 */
const pageOctets = 512 * 1024

/**
 * @param row `page`, `size`, `cursor`, `sort` and `q`, as far as the operation has them
 * @param by the filters, and the values that they must equal
 */
export function readQuery(resource: Resource, row: Values, by: Values): Omit<Query, 'within'> {
  const cursor = row['cursor'] as string | undefined // types of the vocabulary: `paging`, `sorting`
  const sort = row['sort'] as string | undefined
  const q = row['q'] as string | undefined
  const size = (row['size'] as number | undefined) ?? defaultSize
  const page = (row['page'] as number | undefined) ?? 1
  if (page * size > numberedItemsMax)
    refuseChild('page', `must not go beyond item ${numberedItemsMax}: use the \`next\` of a page as cursor`)
  const from = cursor === undefined ? undefined : readPosition(resource, cursor)
  const order = from?.sort ?? (sort === undefined ? defaultOrder(resource) : sort.split(','))
  return {
    filters: Object.entries(by).map(
      ([child, value]): Filter => ({ field: filterNamed(resource, child), is: 'eq', value }),
    ),
    sort: requireDistinctFields(order.map(each => requireSort(resource, each.trim()))),
    size,
    counted: from === undefined && page === 1,
    octets: pageOctets,
    ...(q !== undefined && { words: searchWords(q) }),
    ...(from ? { from: { keys: from.keys, id: from.id, backwards: false } } : { offset: (page - 1) * size }),
  }
}

const fieldNameOf = (text: string): string => text.replace(/^-/, '')

/** The contract's own order, limited to the fields that this version knows. */
const defaultOrder = ({ given, fields }: Resource): readonly string[] =>
  (given.order ?? []).filter(each => fields[fieldNameOf(each)])

function requireSort(resource: Resource, text: string): Sort {
  const field = fieldNameOf(text)
  const descending = field !== text
  const sortable = (resource.given.sort ?? []).filter(each => resource.fields[each])
  const may = [...sortable, ...defaultOrder(resource).map(fieldNameOf)]
  if (may.includes(field)) return { field, descending }
  return refuseChild('sort', `"${text}" is not a known sort field: use ${may.join(', ')}`)
}

function requireDistinctFields(sort: readonly Sort[]): readonly Sort[] {
  for (const [i, { field }] of sort.entries())
    if (sort.findIndex(each => each.field === field) !== i) refuseChild('sort', `${field} is given twice`)
  return sort
}

const refuseChild = (child: string, detail: string): never =>
  refuse({ kind: 'invalid', problems: [{ path: [child], code: 'value', detail }] })

/**
 * A position in an order, as it travels: it means the same to every instance, and after a restart,
 * too.
 */
interface SortPosition {
  readonly sort: readonly string[]
  readonly keys: readonly unknown[]
  readonly id: string
}

/** The position of the next page, as text; undefined for the last page. */
export function writeNext(query: Omit<Query, 'within'>, page: ItemPage): string | undefined {
  if (!page.more.after || !page.edges) return undefined
  const sort = query.sort.map(({ field, descending }) => (descending ? `-${field}` : field))
  const place: SortPosition = { sort, ...page.edges.last }
  return encodeBase64Url(new TextEncoder().encode(packTyped(place)))
}

/** The text may be forged, so every key is checked against its field. */
function readPosition(resource: Resource, text: string): SortPosition {
  const place = decodePosition(text)
  if (!isPosition(place)) return refuseChild('cursor', 'is not a cursor of this service: use the `next` of a page')
  const fields = place.sort.map(each => ownMember(resource.fields, fieldNameOf(each)))
  const fits = place.keys.every((key, index) => {
    if (place.sort.length === 0) return typeof key === 'number' && Number.isSafeInteger(key)
    const field = fields[index]
    if (!field || !isScalar(field.shape)) return false
    return key === null ? field.isOptional || field.isNullable : !(checkScalar(field.shape, key) instanceof Flaw)
  })
  const full = place.keys.length === Math.max(place.sort.length, 1)
  return fits && full ? place : refuseChild('cursor', 'is not a cursor of this service: use the `next` of a page')
}

function decodePosition(text: string): unknown {
  const octets = decodeBase64Url(text)
  const json = octets && decodeUtf8(octets)
  return json && attempt(() => unpackTyped(json), isUnreadable)
}
/** Also true for text nested deeper than the stack. */
const isUnreadable = (thrown: unknown): boolean => isSyntaxError(thrown) || thrown instanceof RangeError

function isPosition(place: unknown): place is SortPosition {
  if (typeof place !== 'object' || place === null) return false
  const { sort, keys, id } = place as Partial<SortPosition>
  return (
    Array.isArray(sort) &&
    sort.every(each => typeof each === 'string') &&
    Array.isArray(keys) &&
    typeof id === 'string' &&
    isIdentifier(id)
  )
}
