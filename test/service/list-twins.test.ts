/**
 * One query, two ways to its page: SQL in the store, or lists of a provider, whole or in pages.
 * Each filter, order, window and position gives the same items in the same order.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import {
  implement,
  type Provided,
  type Provider,
  type ProviderContext,
  type Values,
} from '../../src/contract/implement.ts'
import { anonymous, anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { createExternalStores } from '../../src/service/external-resource.ts'
import type { Filter, ItemPage, Query, Sort, Store } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const shelves = resource('shelves', { fields: { id: t.id('s'), name: t.string() } }).rules({
  allow: { read: [anyone] },
})
const things = resource('things', {
  fields: {
    id: t.id('t'),
    name: t.string(),
    count: t.int().optional(),
    weight: t.double().optional(),
    big: t.long({ min: 0n }).optional(),
    price: t.decimal(8, 2).optional(),
    at: t.dateTime().optional(),
    day: t.date().optional(),
    good: t.boolean().optional(),
    on: t.ref('shelves').optional(),
    labels: t.list(t.object({ text: t.string() })).optional(),
    stood: t.list(t.object({ on: t.list(t.ref('shelves')) })).optional(),
  },
}).rules({
  filter: ['name', 'count', 'weight', 'big', 'price', 'at', 'day', 'good', 'on', 'stood.on'],
  sort: ['name', 'count', 'weight', 'big', 'price', 'at', 'day'],
  search: ['name', 'on.name', 'labels.text'],
  allow: { read: [anyone] },
})
const contract = service('store', { namespace: 'urn:store', resources: [things, shelves], versions: { v1: {} } })

/** Values around each edge of their type, some absent, some the same in several items. */
const values: readonly Values[] = Array.from({ length: 24 }, (_, i) => ({
  id: `t-${String.fromCharCode(97 + ((i * 7) % 24))}`,
  name: ['Bolt m8', 'bolt', 'Nut', 'äther', ''][i % 5],
  ...(i % 4 > 0 && { count: [-2, 0, 10, 9][i % 4] }),
  ...(i % 3 > 0 && { weight: [0, -1.5, 1.25][i % 3] }),
  ...(i % 6 > 1 && { big: BigInt(10 ** (i % 7)) }),
  ...(i % 5 > 0 && { price: ['0.00', '-1.00', '9.50', '10.00', '10.01'][i % 5] }),
  ...(i % 7 > 1 && {
    at: ['2026-11-21T12:00:00Z', '2026-11-21T13:00:00+02:00', '2026-11-21T12:00:00.5Z', '1969-12-31T23:59:59Z'][i % 4],
  }),
  ...(i % 2 > 0 && { day: `2026-0${1 + (i % 9)}-15` }),
  ...(i % 3 !== 1 && { good: i % 2 === 0 }),
  ...(i % 4 !== 2 && { on: ['s-1', 's-2'][i % 2] }),
  ...(i % 5 > 1 && { stood: [{ on: [] }, { on: ['s-1', 's-2', 's-3'].slice(i % 3) }] }),
  ...(i % 6 === 5 && { labels: [{ text: 'old red' }, { text: `n${i}` }] }),
}))

const byId = (a: Provided<Values>, b: Provided<Values>): number =>
  String(a.value['id']) < String(b.value['id']) ? -1 : 1
const rows: readonly Provided<Values>[] = values.map(value => ({ value, version: 1, modified: 0 }))

/** A provider that gives all of it and leaves the rest to the service. */
const whole: Provider<Values> = {
  list: () => rows,
  load: id => rows.find(row => row.value['id'] === id),
  save: () => 1,
  remove: () => true,
}
/** A provider that pages by identifier and leaves the conditions to the service. */
const paged = (pageMax: number): Provider<Values> => ({
  ...whole,
  list: asked => {
    const { limit, after, before } = asked
    const beyond = [...rows].sort(byId).filter(({ value: { id } }) => {
      if (after) return String(id) > String(after.id)
      return before ? String(id) < String(before.id) : true
    })
    const size = Math.min(limit, pageMax)
    const items = before ? beyond.slice(-size) : beyond.slice(0, size)
    return { items, more: items.length < beyond.length }
  },
})

const store = openSqliteStore(contract, ':memory:')
await store.write(async writer => {
  for (const [id, name] of [
    ['s-1', 'East bolt'],
    ['s-2', 'West'],
  ] as const)
    await writer.put('shelves', id, { id, name }, {}, undefined, 0)
  for (const value of values) await writer.put('things', String(value['id']), value, {}, undefined, 0)
})
const provide = (keep: Provider<Values>) => {
  const app = implement(contract, { things: { keep: keep as never } })
  const external = createExternalStores(app, store) ?? assert.fail('there is a provider')
  return external({ caller: anonymous, party: 'p' } as unknown as ProviderContext)
}
const kept = provide(whole)
const pages = [1, 3, 50].map(pageMax => provide(paged(pageMax)))

const usual: Query = { filters: [], within: 'all', sort: [], size: 30, counted: true }
const listOf = (from: Store, query: Query): Promise<ItemPage> =>
  Promise.resolve(from.read(reader => reader.list('things', query)))
const described = ({ items, total, more, isCut, edges }: ItemPage) => ({
  items: items.map(({ value }) => value),
  total,
  more,
  isCut,
  edges: edges && { first: edges.first.id, last: edges.last.id },
})

/** Queries the store and the provider, and returns the page of the store. */
async function compare(query: Partial<Query>, isById = false): Promise<ItemPage> {
  const sort: readonly Sort[] = query.sort ?? []
  const asked: Query = { ...usual, ...query, sort }
  const page = await listOf(store, asked)
  const text = JSON.stringify(query, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  assert.deepEqual(described(await listOf(kept, asked)), described(page), `whole: ${text}`)
  if (isById)
    for (const [i, each] of pages.entries()) {
      const { total, ...found } = described(await listOf(each, asked))
      const { total: _, ...expected } = described(page)
      assert.deepEqual(found, expected, `paged ${i}: ${text}`)
    }
  return page
}

const compared: Readonly<Record<string, readonly unknown[]>> = {
  name: ['bolt', 'Bolt m8', '', 'zzz'],
  count: [0, 9, 10, -3],
  weight: [1.25, -1.5, 0],
  big: [100n, 10n ** 6n, 0n],
  price: ['9.50', '10.00', '-1.00', '0.00'],
  at: ['2026-11-21T12:00:00Z', '2026-11-21T11:00:00Z', '2026-11-21T12:00:00.500Z', '1970-01-01T00:00:00Z'],
  day: ['2026-02-15', '2026-09-15'],
  good: [true, false],
  on: ['s-1', 's-9'],
}

describe('a filter selects the same items', () => {
  for (const [field, all] of Object.entries(compared))
    test(`by ${field}, with each comparison`, async () => {
      const seen = new Set<number>()
      for (const value of all)
        for (const is of ['eq', 'ne', 'gt', 'gte', 'lt', 'lte'] as const) {
          if ((field === 'good' || field === 'on') && is !== 'eq' && is !== 'ne') continue
          seen.add(
            (await compare({ filters: [{ field, is, value }], sort: [{ field: 'name', descending: false }] })).items
              .length,
          )
        }
      const among: Filter = { field, is: 'in', value: all }
      seen.add((await compare({ filters: [among], sort: [{ field: 'name', descending: false }] })).items.length)
      assert.ok(seen.size > 1, 'the comparisons differ')
    })
  for (const field of Object.keys(compared))
    for (const value of [true, false])
      test(`by whether ${field} is absent: ${value}`, async () => {
        const filters: Filter[] = [{ field, is: 'absent', value }]
        const page = await compare({ filters, sort: [{ field: 'name', descending: true }] })
        for (const each of page.items) assert.equal(each.value[field] === undefined, value)
      })
  test('by references within', async () => {
    const sort = [{ field: 'name', descending: false }]
    const lengths = new Set<number>()
    for (const [is, value] of [
      ['eq', 's-1'],
      ['eq', 's-3'],
      ['eq', 's-9'],
      ['in', ['s-1', 's-2']],
      ['in', []],
    ] as const)
      lengths.add((await compare({ filters: [{ field: 'stood.on', is, value }], sort })).items.length)
    assert.equal(lengths.size, 4, [...lengths].join())
  })
  test('together: all of them hold', async () => {
    const page = await compare({
      filters: [
        { field: 'count', is: 'gte', value: 0 },
        { field: 'price', is: 'lt', value: '10.00' },
      ],
      sort: [{ field: 'count', descending: true }],
    })
    assert.ok(page.items.length > 1 && page.items.length < 20)
  })
})

describe('an order is the same', () => {
  for (const field of ['name', 'count', 'weight', 'big', 'price', 'at', 'day'])
    for (const descending of [false, true])
      test(`by ${field}, ${descending ? 'descending' : 'ascending'}, then by another`, async () => {
        await compare({ sort: [{ field, descending }] })
        await compare({
          sort: [
            { field, descending },
            { field: field === 'count' ? 'price' : 'count', descending: !descending },
          ],
        })
      })
})

describe('a window is the same', () => {
  const sort = [{ field: 'count', descending: false }]
  for (const size of [1, 5, 23, 24, 25])
    for (const offset of [0, 1, 19, 23, 24, 30])
      test(`${size} from the ${offset}th`, async () => void (await compare({ sort, size, offset })))
  test('of each size from each item, forwards and backwards', async () => {
    for (const order of [sort, [{ field: 'price', descending: true }]]) {
      const { items } = await listOf(store, { ...usual, sort: order })
      for (const item of items)
        for (const backwards of [false, true])
          for (const size of [1, 4, 30]) {
            const keys = order.map(({ field }) => item.value[field])
            await compare({ sort: order, size, from: { id: item.id, keys, backwards } })
          }
    }
  })
  test('next to an item that has been removed', async () => {
    for (const backwards of [false, true]) await compare({ sort, size: 4, from: { id: 't-cc', keys: [9], backwards } })
  })
  test('of those that match, in pages of a provider of any length, forwards and backwards', async () => {
    // The provider pages by identifier, which is the order of only one kind.
    const filters: readonly Filter[] = [{ field: 'good', is: 'eq', value: true }]
    const byIdentifier = { filters: [{ ...filters[0]!, is: 'in', value: [true] }], sort: [] } as const
    const whole = await listOf(kept, { ...usual, ...byIdentifier })
    const ids = whole.items.map(({ id }) => id)
    assert.deepEqual(ids, [...ids].sort())
    for (const provided of pages)
      for (const size of [1, 3, 30]) {
        const forwards: string[] = []
        let from: Query['from']
        for (;;) {
          const page: ItemPage = await listOf(provided, { ...usual, ...byIdentifier, size, ...(from && { from }) })
          forwards.push(...page.items.map(({ id }) => id))
          assert.ok(page.items.length <= size)
          if (!page.more.after || !page.edges) break
          from = { ...page.edges.last, backwards: false }
        }
        assert.deepEqual(forwards, ids, `pages of ${size}`)
        const back: string[] = []
        from = { id: 't-zz', keys: [], backwards: true }
        for (;;) {
          const page: ItemPage = await listOf(provided, { ...usual, ...byIdentifier, size, from })
          back.unshift(...page.items.map(({ id }) => id))
          if (!page.more.before || !page.edges) break
          from = { ...page.edges.first, backwards: true }
        }
        assert.deepEqual(back, ids, `backwards, pages of ${size}`)
      }
  })
})

test('the existence of a match is the same', async () => {
  for (const filters of [
    [{ field: 'on', is: 'eq', value: 's-1' }],
    [{ field: 'on', is: 'eq', value: 's-9' }],
    [{ field: 'count', is: 'gt', value: 10 }],
    [{ field: 'count', is: 'gte', value: 10 }],
  ] as const) {
    const found = await store.read(reader => reader.has('things', filters))
    for (const provided of [kept, ...pages])
      assert.equal(await provided.read(reader => reader.has('things', filters)), found, JSON.stringify(filters))
    assert.equal(await kept.write(writer => writer.has('things', filters)), found)
  }
})

describe('the items that a caller may see are the same', () => {
  const sort = [{ field: 'name', descending: false }]
  for (const within of [
    [],
    [{ on: 's-1' }],
    [{ on: 's-1', name: 'bolt' }],
    [{ on: 's-1', name: 'bolt' }, { name: 'Nut' }],
  ] as const)
    test(JSON.stringify(within), async () => void (await compare({ within, sort })))
})

describe('a search finds the same', () => {
  const sort = [{ field: 'name', descending: false }]
  for (const [words, count] of [
    [['bolt'], undefined],
    [['bolt', 'm8'], undefined],
    [['bol'], 0],
    [['east'], undefined],
    [['red'], 4],
    [['old', 'n5'], 1],
    [['äther'], undefined],
    [['none'], 0],
  ] as const)
    test(`for ${words.join(' and ')}`, async () => {
      const paths = ['name', 'on.name', 'labels.text']
      const { items } = await compare({ words, paths, sort })
      if (count === undefined) assert.ok(items.length > 0 && items.length < values.length)
      else assert.equal(items.length, count)
    })
  test('only in the paths that are named', async () => {
    assert.equal((await compare({ words: ['east'], paths: ['name'], sort })).items.length, 0)
    assert.ok((await compare({ words: ['bolt'], paths: ['name'], sort })).items.length > 0)
  })
})

describe('a page of a provider ends', () => {
  test('before its items exceed the requested octets, but has at least one', async () => {
    const all = await listOf(kept, usual)
    const octets = all.items.map(
      ({ value }) => JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? 0 : each)).length,
    )
    for (const limit of [1, 300, 600, 1200]) {
      const page = await listOf(kept, { ...usual, octets: limit })
      assert.ok(page.items.length >= 1)
      assert.ok(page.items.length === 1 || page.octets <= limit, `${page.octets} of ${limit}`)
      assert.ok(page.items.length < octets.length && page.isCut && page.more.after)
      const one = await listOf(kept, { ...usual, octets: page.octets })
      assert.equal(one.items.length, page.items.length, 'just fitting')
      const next = await listOf(kept, { ...usual, size: page.items.length + 1 })
      assert.ok(page.items.length === 1 || next.octets > limit, 'one more would not fit')
    }
    assert.equal((await listOf(kept, { ...usual, octets: 1e9 })).isCut, false)
  })
  test('with a total if it is requested', async () => {
    assert.equal((await listOf(kept, usual)).total, values.length)
    assert.equal((await listOf(kept, { ...usual, counted: 'exact', size: 2 })).total, values.length)
    assert.equal((await listOf(kept, { ...usual, counted: false })).total, undefined)
  })
})
