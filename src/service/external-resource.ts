/**
 * Resources that an application keeps outside the store, behind the same port: policies, paging,
 * preconditions and audit are the same for them. What always holds, by number:
 *  (1) A change goes to the provider with the version that was read; the answer 'stale' ends the
 *      call.
 *  (2) The provider is called within the call's transaction, after everything that could refuse; it
 *      commits by itself: if the store fails afterwards, only the audit and the change feed of that
 *      call are lost.
 *  (3) A list is filtered, ordered and cut here, from all that the provider lists: it suits
 *      resources that fit in memory.
 * Deliberately absent: the memory of removed items (404, not 410), and moves.
 */
import { chain } from '../base/maybe.ts'
import type { Field } from '../contract/field.ts'
import type { Implementation, Provider, Values } from '../contract/implement.ts'
import { parseScaledDecimal } from '../contract/lexical/decimal.ts'
import { parseInstant } from '../contract/lexical/temporal.ts'
import type { Resource } from '../contract/resource.ts'
import { innermostShape, objectFields } from '../contract/shape.ts'
import { refuse } from './refusal.ts'
import { searchWords } from './search.ts'
import type { Filter, ItemPage, PagePlace, Query, Snapshot, Store, StoreReader, StoreWriter } from './store.ts'
import { countedMax, isFormer, isWithin } from './store.ts'
import { packTyped } from './typed-json.ts'

interface ExternalEntry {
  readonly resource: Resource
  readonly provider: Provider<Values>
}

/** The store, with providers for some resources; the store itself if there are none. */
export function createExternalStore(app: Implementation, store: Store): Store {
  const kept = new Map<string, ExternalEntry>()
  for (const resource of app.contract.resources) {
    const provider = app.handlers[resource.name]?.keep
    if (provider) kept.set(resource.name, { resource, provider })
  }
  if (kept.size === 0) return store
  return extendObject(store, {
    read: work => store.read(reader => work(extendReader(kept, reader))),
    write: (work, turn) => store.write(writer => work(extendWriter(kept, writer)), turn),
  })
}

/** The object with some of its methods replaced. */
function extendObject<T extends object>(base: T, own: Partial<T>): T {
  return new Proxy(base, {
    get: (target, name) => {
      const value: unknown = Reflect.get(own, name) ?? Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

type Loaded = NonNullable<Awaited<ReturnType<Provider<Values>['load']>>>
const snapshotOf = ({ value, version, modified }: Loaded): Snapshot => ({
  id: String(value['id']),
  version,
  modified,
  created: 0,
  value,
  kept: {},
})

async function loadSnapshot({ provider }: ExternalEntry, id: string): Promise<Snapshot | undefined> {
  const found = await provider.load(id)
  return found && snapshotOf(found)
}

const extendReader = (kept: ReadonlyMap<string, ExternalEntry>, reader: StoreReader): StoreReader =>
  extendObject(reader, externalReads(kept, reader))

function externalReads(
  kept: ReadonlyMap<string, ExternalEntry>,
  reader: StoreReader,
): Pick<StoreReader, 'get' | 'list' | 'has'> {
  const own: Pick<StoreReader, 'get' | 'list' | 'has'> = {
    get: (resource, id) => {
      const mine = kept.get(resource)
      return mine ? loadSnapshot(mine, id) : reader.get(resource, id)
    },
    list: (resource, query) => {
      const mine = kept.get(resource)
      return mine ? listPage(mine, query, own) : reader.list(resource, query)
    },
    has: (resource, filters) => {
      const mine = kept.get(resource)
      if (!mine) return reader.has(resource, filters)
      const query: Query = { filters, within: 'all', sort: [], size: 1, counted: false }
      return chain(listPage(mine, query, own), page => page.items.length > 0)
    },
  }
  return own
}

const extendWriter = (kept: ReadonlyMap<string, ExternalEntry>, writer: StoreWriter): StoreWriter =>
  extendObject(writer, {
    ...externalReads(kept, writer),
    getForChange: (resource, id) => {
      const mine = kept.get(resource)
      return mine ? loadSnapshot(mine, id) : writer.getForChange(resource, id)
    },
    put: (resource, id, value, outputs, seen, now) => {
      const mine = kept.get(resource)
      return mine ? saveValue(mine, id, value, seen, now) : writer.put(resource, id, value, outputs, seen, now)
    },
    remove: (resource, id, seen, now) => {
      const mine = kept.get(resource)
      return mine ? removeValue(mine, id, seen) : writer.remove(resource, id, seen, now)
    },
  })

async function saveValue(
  { provider }: ExternalEntry,
  id: string,
  value: Values,
  seen: number | undefined,
  now: number,
): Promise<Snapshot> {
  const version = await provider.save(id, value, seen)
  return version === 'stale' ? refuse({ kind: 'stale' }) : snapshotOf({ value, version, modified: now })
}

async function removeValue({ provider }: ExternalEntry, id: string, seen: number): Promise<void> {
  if (!(await provider.remove(id, seen))) refuse({ kind: 'stale' })
}

async function listPage(
  { resource, provider }: ExternalEntry,
  query: Query,
  reader: Pick<StoreReader, 'get'>,
): Promise<ItemPage> {
  const all = (await provider.list()).map(snapshotOf)
  const mine = all.filter(
    item => isWithin(item.value, query.within) && query.filters.every(filter => matchesFilter(resource, item, filter)),
  )
  const found = query.words
    ? await matchesWords(mine, query.words, query.paths ?? resource.given.search ?? [], resource, reader)
    : mine
  const order = compileOrder(resource, query)
  found.sort(order)
  return cutPage(found, query, order)
}

function matchesFilter(resource: Resource, { value }: Snapshot, { field, is, value: asked }: Filter): boolean {
  const against = (other: unknown): number => compareValues(resource.fields[field], value[field], other)
  if (is === 'in') return Array.isArray(asked) && asked.some(each => against(each) === 0)
  if (is === 'eq') return against(asked) === 0
  if (is === 'ne') return against(asked) !== 0
  if (value[field] === undefined) return false
  const order = against(asked)
  return is === 'gt' ? order > 0 : is === 'gte' ? order >= 0 : is === 'lt' ? order < 0 : order <= 0
}

/** Orders by value, as the stores do: absent members come first. */
function compareValues(field: Field<unknown, boolean, boolean, unknown> | undefined, a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const [x, y] = [toComparable(field, a), toComparable(field, b)]
  return x < y ? -1 : x > y ? 1 : 0
}

type Comparable = string | number | bigint
function toComparable(field: Field<unknown, boolean, boolean, unknown> | undefined, value: unknown): Comparable {
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
      const order = compareValues(resource.fields[field], a.value[field], b.value[field])
      if (order !== 0) return descending ? -order : order
    }
    return byId(a, b)
  }
}

const placeOf = ({ id, value, created }: Snapshot, { sort }: Query): PagePlace => ({
  id,
  keys: sort.length === 0 ? [created] : sort.map(({ field }) => value[field]),
})

function cutPage(found: Snapshot[], query: Query, order: Order): ItemPage {
  const { size, offset = 0, from } = query
  const [start, end] = from ? windowOf(found, query, order) : [offset, Math.min(offset + size, found.length)]
  const window = found.slice(start, end)
  const { items, octets } = takeFitting(from?.backwards ? window.toReversed() : window, query)
  if (from?.backwards) items.reverse()
  const [first, last] = [items[0], items.at(-1)]
  const isCut = items.length < window.length
  const more = { before: start > 0, after: end < found.length }
  return {
    items,
    total: isCounted(query, found.length) ? found.length : undefined,
    more: isCut ? { ...more, [from?.backwards ? 'before' : 'after']: true } : more,
    edges: first && last && { first: placeOf(first, query), last: placeOf(last, query) },
    octets,
    isCut,
  }
}

const isCounted = ({ counted }: Query, matches: number): boolean =>
  counted === 'exact' || (counted && matches <= countedMax)

/** The items that fit into the octets of a page, but one at least. */
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

/** The window next to the row of a cursor, which may have been removed. */
function windowOf(found: Snapshot[], query: Query, order: Order): [number, number] {
  const { from, sort, size } = query
  if (!from) return [0, Math.min(size, found.length)]
  const value = Object.fromEntries(sort.map(({ field }, i) => [field, from.keys[i]]))
  const row: Snapshot = { id: from.id, version: 0, modified: 0, created: 0, value, kept: {} }
  const before = found.filter(item => order(item, row) < 0).length
  if (from.backwards) return [Math.max(0, before - size), before]
  const start = found.findIndex(item => order(item, row) > 0)
  return start < 0 ? [found.length, found.length] : [start, Math.min(start + size, found.length)]
}

async function matchesWords(
  items: readonly Snapshot[],
  asked: readonly string[],
  paths: readonly string[],
  resource: Resource,
  reader: Pick<StoreReader, 'get'>,
): Promise<Snapshot[]> {
  const found: Snapshot[] = []
  for (const item of items) {
    const texts: string[] = []
    for (const path of paths) texts.push(...(await searchTextsAt(resource.fields, item.value, path.split('.'), reader)))
    const words = new Set(texts.flatMap(searchWords))
    if (asked.every(word => words.has(word))) found.push(item)
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
  const values = [value[name]].flat(Number.POSITIVE_INFINITY).filter(each => each !== undefined && each !== null)
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
