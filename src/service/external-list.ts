/**
 * Lists of items that an application keeps itself: its provider does what it can, and the rest is
 * done here. What always holds, by number:
 *  (1) Every condition is checked here on every item, whatever the provider did with it: if a
 *      provider forgets `within`, callers still do not see what they may not see.
 *  (2) An array counts as the complete list: it is ordered and cut here, too.
 *  (3) A page is in the order of the provider, which may compare texts by other rules: it continues
 *      from the provider's last row, and is never sorted.
 *  (4) If rows of pages do not match, one answer looks at a limited number of rows, and says so.
 */
import { ownMember } from '../base/objects.ts'
import type { AnyField } from '../contract/field.ts'
import { findFilterField, listValuesAt } from '../contract/filter-field.ts'
import type { Provided, Provider, ProviderContext, ProviderPage, ProviderQuery, Values } from '../contract/implement.ts'
import { parseScaledDecimal } from '../contract/lexical/decimal.ts'
import { parseInstant } from '../contract/lexical/temporal.ts'
import { type Resource, singleId } from '../contract/resource.ts'
import { innermostShape, objectFields } from '../contract/shape.ts'
import { searchWords } from './search.ts'
import type { Filter, ItemPage, PagePlace, Query, Snapshot, StoreReader } from './store.ts'
import { countedMax, isFormer, isWithin } from './store.ts'
import { packTyped } from './typed-json.ts'

/** A resource that its application keeps itself, and the call that it serves. */
export interface ExternalEntry {
  readonly resource: Resource
  readonly provider: Provider<Values>
  readonly context: ProviderContext
}

/** (4) */
export const providedExaminedMax = 10_000

/** NaN, since no time is before or after it: see `Snapshot`. */
const unknownTime = Number.NaN

/** The provider of a single resource returns no identifier. */
export function toSnapshot(
  { isSingle }: Pick<Resource, 'isSingle'>,
  { value: values, version, modified = unknownTime }: Provided<Values>,
): Snapshot {
  const value = isSingle ? { ...values, id: singleId } : values
  return { id: String(value['id']), version, modified, created: 0, value, kept: {} }
}

export async function listProvided(
  { resource, provider, context }: ExternalEntry,
  query: Query,
  reader: Pick<StoreReader, 'get'>,
): Promise<ItemPage> {
  const providerQuery = toProviderQuery(query)
  const match = (items: readonly Snapshot[]) => selectMatches(resource, query, items, reader)
  const reply = await provider.list(providerQuery, context)
  if (isPage(reply)) return collectPage({ resource, provider, context, query, providerQuery, match }, reply)
  const order = compileOrder(resource, query)
  return cutList((await match(reply.map(each => toSnapshot(resource, each)))).sort(order), query, order)
}

const isPage = (reply: readonly Provided<Values>[] | ProviderPage<Values>): reply is ProviderPage<Values> =>
  !Array.isArray(reply)

function toProviderQuery({ filters, within, words, sort, size, offset = 0, from, counted }: Query) {
  const place = from && toProviderPlace(from, sort)
  return {
    filters: filters as ProviderQuery<Values>['filters'], // their values were read by the contract
    within,
    ...(words && { words }),
    sort,
    limit: offset + size + 1,
    counted: counted !== false,
    ...(place && (from.backwards ? { before: place } : { after: place })),
  } satisfies ProviderQuery<Values>
}
const toProviderPlace = ({ id, keys }: PagePlace, sort: Query['sort']) => ({
  ...Object.fromEntries(sort.map(({ field }, i) => [field, keys[i]])),
  id,
})

interface PagedRead extends ExternalEntry {
  readonly query: Query
  readonly providerQuery: ProviderQuery<Values>
  readonly match: (items: readonly Snapshot[]) => Promise<Snapshot[]>
}
interface Batch {
  readonly matches: readonly Snapshot[]
  /** Rows of all batches so far; `last` is the last of them. */
  readonly looked: number
  readonly last: Snapshot | undefined
  readonly more: boolean
}

/** (4): reads the provider's pages until one of ours is full and the next one has a row. */
async function collectPage(look: PagedRead, first: ProviderPage<Values>): Promise<ItemPage> {
  const { query, providerQuery } = look
  const { size, offset = 0, from } = query
  const countsAll = query.counted === 'exact' && first.total === undefined
  const found: Snapshot[] = []
  let count = 0
  let at: Batch = { matches: [], looked: 0, last: undefined, more: false }
  for await (at of walkBatches(look, first)) {
    count += at.matches.length
    found.push(...at.matches.slice(0, providerQuery.limit - found.length))
    if (!countsAll && (found.length === providerQuery.limit || at.looked >= providedExaminedMax)) break
  }
  const isWhole = !from && !at.more
  return fitPage(found.slice(offset, offset + size), query, {
    total: first.total ?? (isWhole && isCounted(query, count) ? count : undefined),
    behind: from !== undefined || offset > 0,
    ahead: found.length === providerQuery.limit,
    ...(at.more && found.length < providerQuery.limit && at.last && { end: { row: at.last, looked: at.looked } }),
  })
}

/** Matching rows of the provider's pages, in the direction of the query. */
async function* walkBatches(look: PagedRead, first: ProviderPage<Values>): AsyncGenerator<Batch> {
  const { resource, provider, context, query, providerQuery, match } = look
  const visited = new Set(query.from ? [query.from.id] : [])
  const direction = query.from?.backwards ? 'before' : 'after'
  let page = first
  let last: Snapshot | undefined
  let looked = 0
  for (;;) {
    const rows = page.items.map(each => toSnapshot(resource, each))
    if (query.from?.backwards) rows.reverse()
    requireProgress(resource, rows, page.more, visited)
    const matches = await match(rows)
    if (first.total !== undefined && matches.length < rows.length)
      failByProvider(resource, 'returns a total, and items that the query does not select: leave out the total')
    looked += rows.length
    last = rows.at(-1) ?? last
    yield { matches, looked, last, more: page.more }
    if (!page.more || !last) return
    const place = toProviderPlace(placeOf(last, query), query.sort)
    const next = await provider.list({ ...providerQuery, counted: false, [direction]: place }, context)
    page = isPage(next) ? next : failByProvider(resource, 'returns an array after a page: return a page for each place')
  }
}

/** Each page must contain rows that no earlier page had, or reading would never end. */
function requireProgress(resource: Resource, rows: readonly Snapshot[], hasMore: boolean, visited: Set<string>): void {
  if (rows.length === 0 && hasMore) failByProvider(resource, 'returns no item, and says that there are more')
  for (const { id } of rows) {
    if (visited.has(id))
      failByProvider(
        resource,
        `returns ${id} again: continue after the place in "after", or before the one in "before"`,
      )
    visited.add(id)
  }
}

const failByProvider = ({ name }: Resource, problem: string): never => {
  throw new Error(`list of ${name}.keep ${problem}`)
}

/** (1) */
async function selectMatches(
  resource: Resource,
  query: Query,
  items: readonly Snapshot[],
  reader: Pick<StoreReader, 'get'>,
): Promise<Snapshot[]> {
  const found = items.filter(
    item => isWithin(item.value, query.within) && query.filters.every(filter => matchesFilter(resource, item, filter)),
  )
  if (!query.words) return found
  return matchesWords(found, query.words, query.paths ?? resource.given.search ?? [], resource, reader)
}

function matchesFilter(resource: Resource, { value }: Snapshot, { field, is, value: operand }: Filter): boolean {
  const path = findFilterField(resource, field)?.path
  if (path) return listValuesAt(value, path).some(each => [operand].flat().includes(each))
  const member = ownMember(value, field)
  const against = (other: unknown): number => compareValues(resource.fields[field], member, other)
  const isAbsent = member === undefined || member === null
  if (is === 'absent') return isAbsent === operand
  if (is === 'in') return Array.isArray(operand) && operand.some(each => against(each) === 0)
  if (is === 'eq') return against(operand) === 0
  if (is === 'ne') return against(operand) !== 0
  if (isAbsent) return false
  const order = against(operand)
  return is === 'gt' ? order > 0 : is === 'gte' ? order >= 0 : is === 'lt' ? order < 0 : order <= 0
}

/** Orders by value, as the stores do: absent or null members come first. */
function compareValues(field: AnyField | undefined, left: unknown, right: unknown): number {
  const [a, b] = [left ?? undefined, right ?? undefined]
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [x, y] = [toComparable(field, a), toComparable(field, b)]
  return x < y ? -1 : x > y ? 1 : 0
}

type Comparable = string | number | bigint
function toComparable(field: AnyField | undefined, value: unknown): Comparable {
  const shape = field?.shape
  if (shape?.kind === 'decimal') return parseScaledDecimal(String(value), shape.places) ?? 0n
  if (shape?.kind === 'dateTime') return parseInstant(String(value))
  return typeof value === 'number' || typeof value === 'bigint' ? value : String(value)
}

type Order = (a: Snapshot, b: Snapshot) => number
const byId: Order = (a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

function compileOrder(resource: Resource, { sort }: Query): Order {
  return (a, b) => {
    for (const { field, descending } of sort) {
      const order = compareValues(resource.fields[field], ownMember(a.value, field), ownMember(b.value, field))
      if (order !== 0) return descending ? -order : order
    }
    return byId(a, b)
  }
}

const placeOf = ({ id, value, created }: Snapshot, { sort }: Query): PagePlace => ({
  id,
  keys: sort.length === 0 ? [created] : sort.map(({ field }) => ownMember(value, field)),
})

/** Cuts a window out of a list that is complete here. */
function cutList(matches: readonly Snapshot[], query: Query, order: Order): ItemPage {
  const { size, offset = 0, from } = query
  const [start, end] = from ? windowOf(matches, query, order) : [offset, Math.min(offset + size, matches.length)]
  const window = matches.slice(start, end)
  const [before, after] = [start > 0, end < matches.length]
  return fitPage(from?.backwards ? window.toReversed() : window, query, {
    total: isCounted(query, matches.length) ? matches.length : undefined,
    ...(from?.backwards ? { behind: after, ahead: before } : { behind: before, ahead: after }),
  })
}

/** What lies beyond a window, in the direction of its query. */
interface WindowSides {
  readonly total: number | undefined
  readonly behind: boolean
  readonly ahead: boolean
  /** Where looking stopped. */
  readonly end?: { readonly row: Snapshot; readonly looked: number }
}

/** @param window in the direction of the query */
function fitPage(window: readonly Snapshot[], query: Query, { total, behind, ahead, end }: WindowSides): ItemPage {
  const { items, octets } = takeFitting(window, query)
  const isShort = items.length < window.length
  const [near, far] = [items[0] ?? end?.row, isShort ? items.at(-1) : (end?.row ?? items.at(-1))]
  const isBackwards = query.from?.backwards === true
  const beyond = ahead || isShort || end !== undefined
  const [first, last] = isBackwards ? [far, near] : [near, far]
  return {
    items: isBackwards ? items.toReversed() : items,
    total,
    more: isBackwards ? { before: beyond, after: behind } : { before: behind, after: beyond },
    edges: first && last && { first: placeOf(first, query), last: placeOf(last, query) },
    octets,
    isCut: isShort || end !== undefined,
    ...(end && !isShort && { looked: end.looked }),
  }
}

const isCounted = ({ counted }: Query, matches: number): boolean =>
  counted === 'exact' || (counted && matches <= countedMax)

/** The items that fit into the octets of a page, but at least one. */
function takeFitting(window: readonly Snapshot[], { octets: max = Infinity }: Query) {
  const items: Snapshot[] = []
  let octets = 0
  for (const item of window) {
    const { length } = packTyped(item.value)
    if (items.length > 0 && octets + length > max) break
    octets += length
    items.push(item)
  }
  return { items, octets }
}

/** The window next to the row of a cursor, even if that row was removed. */
function windowOf(matches: readonly Snapshot[], query: Query, order: Order): [number, number] {
  const { from, sort, size } = query
  if (!from) return [0, Math.min(size, matches.length)]
  const value = Object.fromEntries(sort.map(({ field }, i) => [field, from.keys[i]]))
  const row: Snapshot = { id: from.id, version: 0, modified: 0, created: 0, value, kept: {} }
  const before = matches.filter(item => order(item, row) < 0).length
  if (from.backwards) return [Math.max(0, before - size), before]
  const start = matches.findIndex(item => order(item, row) > 0)
  return start < 0 ? [matches.length, matches.length] : [start, Math.min(start + size, matches.length)]
}

async function matchesWords(
  items: readonly Snapshot[],
  searched: readonly string[],
  paths: readonly string[],
  resource: Resource,
  reader: Pick<StoreReader, 'get'>,
): Promise<Snapshot[]> {
  const found: Snapshot[] = []
  for (const item of items) {
    const texts: string[] = []
    for (const path of paths) texts.push(...(await searchTextsAt(resource.fields, item.value, path.split('.'), reader)))
    const words = new Set(texts.flatMap(searchWords))
    if (searched.every(word => words.has(word))) found.push(item)
  }
  return found
}

/** The texts at the end of a search path, through lists, objects and references. */
async function searchTextsAt(
  fields: Resource['fields'],
  value: Values,
  [name = '', ...rest]: readonly string[],
  reader: Pick<StoreReader, 'get'>,
): Promise<string[]> {
  const shape = fields[name] && innermostShape(fields[name].shape)
  const values = [ownMember(value, name)]
    .flat(Number.POSITIVE_INFINITY)
    .filter(each => each !== undefined && each !== null)
  if (rest.length === 0) return values.filter(each => typeof each === 'string')
  const texts: string[] = []
  for (const each of values) {
    if (shape && Object.hasOwn(objectFields(shape), rest[0] ?? ''))
      texts.push(...(await searchTextsAt(objectFields(shape), each as Values, rest, reader)))
    if (shape?.kind !== 'ref') continue
    const other = await reader.get(shape.resource, String(each))
    if (other && !isFormer(other)) texts.push(...(await searchTextsAt({}, other.value, rest, reader)))
  }
  return texts
}
