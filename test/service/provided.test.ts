/**
 * A resource that the application keeps itself has the same policies, preconditions, paging and
 * refusals as one in the store.
 */
import assert from 'node:assert/strict'
import { after, describe, it, test } from 'node:test'
import { listOperations } from '../../src/contract/operation.ts'
import {
  fault,
  implement,
  job,
  type Provider,
  type ProviderContext,
  resource,
  role,
  service,
  t,
} from '../../src/index.ts'
import type { Call } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { createExternalStores } from '../../src/service/external-resource.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import { type Refusal, Refused } from '../../src/service/refusal.ts'
import type { Query } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { startTestService } from '../../src/testing/index.ts'

interface Book {
  readonly id: string
  readonly title: string
  readonly price: string
  readonly shelf: string
  readonly state: 'in' | 'out'
}
const read = role('reader')
const books = resource('books', {
  fields: { id: t.id('b'), title: t.string({ min: 1 }), price: t.decimal(6, 2), shelf: t.ref('shelves') },
  states: ['in', 'out'],
  actions: on => ({ lend: on('in').to('out', { rel: 'loan' }) }),
}).rules({
  filter: ['price', 'title', 'state'],
  sort: ['price'],
  search: ['title', 'shelf.name'],
  allow: {
    read: [read, role('owner').owning({ shelf: 'shelf' })],
    create: [read],
    change: [read],
    remove: [read],
    lend: [read],
  },
})
const shelves = resource('shelves', { fields: { id: t.id('s'), name: t.string() } }).rules({
  one: 'shelf',
  allow: { read: [read], create: [read] },
})
const library = service('library', { namespace: 'urn:library', resources: [books, shelves] })

function createProvider(): Provider<Book> & {
  readonly rows: Map<string, { value: Book; version: number; modified: number }>
} {
  const rows = new Map<string, { value: Book; version: number; modified: number }>()
  return {
    rows,
    load: async id => rows.get(id),
    list: () => [...rows.values()],
    save: (id, value, expected) => {
      if (rows.get(id)?.version !== expected) return 'stale'
      const version = (expected ?? 0) + 1
      rows.set(id, { value, version, modified: version })
      return version
    },
    remove: (id, expected) => rows.get(id)?.version === expected && rows.delete(id),
  }
}

function startLibrary() {
  const keep = createProvider()
  const app = implement(library, { books: { keep, lend: () => {} } })
  let count = 0
  const store = openSqliteStore(app.contract, ':memory:')
  const calls = createServiceCalls(app, {
    store,
    limiter: createMemoryLimiter(),
    clock: () => 1000,
    id: prefix => `${prefix}-${++count}`,
  })
  const ask = async (
    name: string,
    more: Partial<Call> = {},
    caller = { subject: 'r', roles: ['reader'], claims: {} },
  ) => {
    const operation = listOperations(app.contract).find(each => each.name === name)
    if (!operation) throw new Error(name)
    try {
      const admitted = await calls.admit(operation, caller, '', 'rest')
      return await calls.perform({ admitted, face: 'soap', request: '', ...more })
    } catch (thrown) {
      if (thrown instanceof Refused) return thrown.refusal as Refusal // the service throws no other
      throw thrown
    }
  }
  return { keep, ask, store, app }
}
const content = (value: Record<string, unknown>): Partial<Call> => ({ input: () => ({ value, server: [] }) })
const query = (more: Partial<Query> = {}): Partial<Call> => ({
  query: { filters: [], sort: [], size: 2, counted: true, ...more },
})
const titlesOf = (answer: Awaited<ReturnType<ReturnType<typeof startLibrary>['ask']>>): unknown[] =>
  answer.kind === 'page' ? answer.page.items.map(item => item.value['title']) : [answer.kind]

test('each method of a provider learns whose call it serves', async () => {
  const { keep, ask } = startLibrary()
  const told: string[] = []
  for (const name of ['load', 'list', 'save', 'remove'] as const) {
    const plain = keep[name] as (...given: unknown[]) => unknown
    keep[name] = ((...given: unknown[]) => {
      const { caller, party } = given.at(-1) as ProviderContext
      told.push(`${name} ${caller.subject} ${caller.roles.join()} ${party}`)
      return plain(...given)
    }) as never // the same method
  }
  const callers = {
    ann: { subject: 'ann', roles: ['reader'], claims: {} },
    bob: { subject: 'bob', roles: ['reader'], claims: {} },
  }
  await ask('CreateShelf', content({ name: 'Poetry' }), callers.ann)
  const made = await ask('CreateBook', content({ title: 'Odes', price: '9.50', shelf: 's-1' }), callers.ann)
  assert.ok(made.kind === 'item')
  assert.equal(told.splice(0).at(-1), 'save ann reader ann')
  await Promise.all([ask('GetBook', { id: made.item.id }, callers.bob), ask('ListBooks', query(), callers.ann)])
  assert.deepEqual(told.splice(0).sort(), ['list ann reader ann', 'load bob reader bob'])
  await ask('DeleteBook', { id: made.item.id }, callers.bob)
  assert.deepEqual(new Set(told), new Set(['load bob reader bob', 'remove bob reader bob']))
})

test('items of a provider come by their ids, next to those of the store', async () => {
  const { keep, ask, store, app } = startLibrary()
  await ask('CreateShelf', content({ name: 'Poetry' }))
  const made = await ask('CreateBook', content({ title: 'Odes', price: '9.50', shelf: 's-1' }))
  assert.ok(made.kind === 'item')
  const caller = { subject: 'ann', roles: ['reader'], claims: {} }
  const both = createExternalStores(app, store)?.({ caller, party: 'ann' } as unknown as ProviderContext)
  const find = (resource: string, ids: readonly string[]) => both?.read(reader => reader.getAll(resource, ids))
  assert.deepEqual([...((await find('books', [made.item.id, 'b-none'])) ?? []).keys()], [made.item.id])
  assert.deepEqual(
    [...((await find('shelves', ['s-1', 's-2'])) ?? [])].map(([id]) => id),
    ['s-1'],
  )
  assert.equal(keep.rows.size, 1)
})

test('an item of a provider is made, read, changed, moved through its states and removed', async () => {
  const { keep, ask } = startLibrary()
  await ask('CreateShelf', content({ name: 'Poetry' }))
  const made = await ask('CreateBook', content({ title: 'Odes', price: '9.50', shelf: 's-1' }))
  assert.ok(made.kind === 'item' && made.item.value['state'] === 'in')
  const { id } = made.item
  assert.equal(keep.rows.get(id)?.value.title, 'Odes')
  const bad = await ask('CreateBook', content({ title: 'Odes', price: '9.50', shelf: 's-9' }))
  assert.equal(bad.kind, 'invalid', 'references are looked up wherever they are kept')
  const lent = await ask('LendBook', { id })
  assert.ok(lent.kind === 'item' && lent.item.version === 2 && lent.item.value['state'] === 'out')
  assert.equal((await ask('LendBook', { id })).kind, 'conflict')
  assert.equal((await ask('DeleteBook', { id, expects: () => 'failed' })).kind, 'stale')
  assert.equal((await ask('DeleteBook', { id })).kind, 'removed')
  assert.equal((await ask('GetBook', { id })).kind, 'not-found')
})

test('of two changes of one version the provider accepts one', async () => {
  const { keep, ask } = startLibrary()
  await ask('CreateShelf', content({ name: 'Poetry' }))
  const made = await ask('CreateBook', content({ title: 'Odes', price: '9.50', shelf: 's-1' }))
  assert.ok(made.kind === 'item')
  const { id } = made.item
  const slow = keep.load
  keep.load = async (key, ctx) => {
    const found = await slow(key, ctx)
    if (found) keep.rows.set(key, { ...found, version: found.version + 1, modified: 0 }) // another caller was faster
    return found
  }
  assert.equal((await ask('LendBook', { id })).kind, 'stale')
})

test('a list of a provider is restricted, filtered, searched, ordered and paged', async () => {
  const { ask } = startLibrary()
  await ask('CreateShelf', content({ name: 'Poetry' }))
  await ask('CreateShelf', content({ name: 'Maps' }))
  for (const [title, price, shelf] of [
    ['A', '10.00', 's-1'],
    ['B', '9.50', 's-1'],
    ['C', '100.00', 's-2'],
    ['D', '9.50', 's-2'],
  ])
    await ask('CreateBook', content({ title, price, shelf }))
  const sort = [{ field: 'price', descending: true }]
  const first = await ask('ListBooks', query({ sort }))
  assert.deepEqual(titlesOf(first), ['C', 'A'])
  assert.ok(first.kind === 'page' && first.page.total === 4 && first.page.more.after && !first.page.more.before)
  assert.ok(first.page.edges)
  const from = { ...first.page.edges.last, backwards: false }
  const second = await ask('ListBooks', query({ sort, from }))
  assert.deepEqual(titlesOf(second), ['B', 'D'])
  assert.ok(second.kind === 'page' && !second.page.more.after && second.page.more.before)
  assert.ok(second.page.edges)
  const back = { ...second.page.edges.first, backwards: true }
  assert.deepEqual(titlesOf(await ask('ListBooks', query({ sort, from: back }))), ['C', 'A'])
  const filter = (comparison: 'gte' | 'ne' | 'in', value: unknown) =>
    query({ filters: [{ field: 'price', is: comparison, value }], size: 9 })
  assert.deepEqual(titlesOf(await ask('ListBooks', filter('gte', '10.00'))), ['A', 'C'])
  assert.deepEqual(titlesOf(await ask('ListBooks', filter('ne', '9.50'))), ['A', 'C'])
  assert.deepEqual(titlesOf(await ask('ListBooks', filter('in', ['9.50', '100.00']))), ['B', 'C', 'D'])
  assert.deepEqual(titlesOf(await ask('SearchBooks', query({ words: ['maps'], size: 9 }))), ['C', 'D'])
  const owner = { subject: 'o', roles: ['owner'], claims: { shelf: 's-2' } }
  assert.deepEqual(titlesOf(await ask('ListBooks', query({ size: 9 }), owner)), ['C', 'D'])
  assert.equal((await ask('GetBook', { id: 'b-3' }, owner)).kind, 'not-found')
})

test("a job reads and lists the application's items, as any handler does", async () => {
  const keep = createProvider()
  const value = { id: 'b-1', title: 'One', price: '1.00', shelf: 's-1', state: 'in' } as const
  keep.rows.set('b-1', { value, version: 1, modified: 1 })
  const count = job('counts', { input: {}, output: { title: t.string(), count: t.int() }, allow: [read] })
  const counted = service('library', { namespace: 'urn:library', resources: [books, shelves], jobs: [count] })
  const seen: object[] = []
  const app = implement(counted, {
    books: { keep, lend: () => {} },
    counts: {
      run: async ctx => {
        const all = await ctx.items.all.list('books').first(10)
        const found = { title: (await ctx.items.get('books', 'b-1'))?.title ?? '', count: all.items.length }
        seen.push(found)
        return found
      },
    },
  })
  await using open = await startTestService(counted, app)
  const ask = open.fetchAs({ subject: 'ada', roles: ['reader'] })
  const headers = { 'content-type': 'application/json' }
  const started = await ask(`${open.address}/api/v1/counts`, { method: 'POST', headers, body: '{}' })
  assert.equal(started.status, 202)
  await open.work()
  assert.deepEqual(seen, [{ title: 'One', count: 1 }])
})

describe('a provider ends a call as a handler does, in both faces', async () => {
  const Lent = fault('Lent', { status: 409, title: 'Lent', detail: { until: t.date() } })
  const Burnt = fault('Burnt', { status: 410, title: 'Burnt' })
  const scrolls = resource('scrolls', { fields: { id: t.id('c'), name: t.string() } }).rules({
    allow: { read: [read], create: [read], change: [read], remove: [read] },
    precondition: false,
    faults: { create: [Lent], change: [Lent], remove: [Lent] },
  })
  const archive = service('archive', { namespace: 'urn:archive', resources: [scrolls] })
  interface Scroll {
    readonly id: string
    readonly name: string
  }
  const end = (name: string, ctx: ProviderContext): void => {
    if (name === 'lent') ctx.fail(Lent, { until: '2026-12-24' })
    if (name === 'full') ctx.conflict('the shelf is full')
    if (name === 'odd') ctx.invalid(['name'], 'is no name here')
    if (name === 'secret') ctx.forbid()
    if (name === 'burnt') ctx.fail(Burnt)
    if (name === 'broken') ctx.fail(Lent, { until: 'soon' })
  }
  const kept = (id: string) => ({ value: { id, name: id }, version: 1, modified: 0 })
  const keep: Provider<Scroll> = {
    load: id => kept(id),
    list: () => [],
    save: (_id, { name }, _expected, ctx) => {
      end(name, ctx)
      return 2
    },
    remove: (id, _expected, ctx) => {
      end(id, ctx)
      return true
    },
  }
  const open = await startTestService(archive, implement(archive, { scrolls: { keep } }))
  after(() => open.close())
  const ada = { subject: 'ada', roles: ['reader'] }
  const ask = open.fetchAs(ada)
  const soap = open.soap(ada)
  const cases: readonly (readonly [name: string, status: number, fault: string, detail: object])[] = [
    ['lent', 409, 'Lent', { until: '2026-12-24' }],
    ['full', 409, 'StateConflict', { detail: 'the shelf is full' }],
    ['odd', 422, 'Invalid', {}],
    ['secret', 403, 'Forbidden', {}],
    ['burnt', 500, 'FaultError', {}],
    ['broken', 500, 'FaultError', {}],
  ]
  for (const [name, status, named, detail] of cases)
    it(`${name}: ${status}, and ${named}`, async () => {
      const said = async (method: string, path: string, body?: string) => {
        const headers = { 'content-type': 'application/json' }
        const answer = await ask(`${open.address}/api/v1/scrolls${path}`, { method, headers, ...(body && { body }) })
        return { status: answer.status, problem: JSON.parse(await answer.text()) }
      }
      const found = await Promise.all([
        said('POST', '', JSON.stringify({ name })),
        said('PUT', '/c-1', JSON.stringify({ name })),
        ...(name === 'odd' ? [] : [said('DELETE', `/${name}`)]),
      ])
      for (const each of found) {
        assert.equal(each.status, status, JSON.stringify(each.problem))
        for (const [key, value] of Object.entries(detail)) assert.equal(each.problem[key], value)
      }
      await assert.rejects(soap.CreateScroll({ scroll: { name } }), (why: Error & { fault?: string }) => {
        assert.equal(why.fault ?? why.constructor.name, named)
        return true
      })
    })
})
