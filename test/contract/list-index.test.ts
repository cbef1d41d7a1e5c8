/** Which lists an index serves (src/contract/list-index.ts), judged by the plans of SQLite itself. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { findMissingIndex, findUnservedLists, listIndexesOf, toOrderKey } from '../../src/contract/list-index.ts'
import { listOperations } from '../../src/contract/operation.ts'
import type { Resource } from '../../src/contract/resource.ts'
import { findContractMistakes } from '../../src/contract/review.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import { Refused } from '../../src/service/refusal.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const fields = {
  id: t.id('p'),
  kind: t.enum('book', 'film'),
  shelf: t.enum('a', 'b'),
  name: t.string({ max: 100 }),
  price: t.decimal(9, 2),
}
const rules = {
  filter: ['kind', 'shelf', 'name', 'price'],
  sort: ['kind', 'name', 'price'],
  order: ['-price'],
  allow: { read: [anyone] },
} as const
const plain = resource('papers', { fields }).rules(rules)
const more = resource('papers', { fields }).rules({
  ...rules,
  indexes: [['kind', 'name'], ['kind'], ['kind', 'shelf', '-price']],
  unserved: 'refuse',
})
const libraryOf = (of: Resource) => service('library', { namespace: 'urn:x', resources: [of], versions: { v1: {} } })

const cases: readonly (readonly [list: string, sort: string, plain: string, more: string])[] = [
  ['', '', 'served', 'served'],
  ['kind=', '', 'served', 'served'],
  ['name=', '', 'served', 'served'],
  ['name= kind=', '-price', 'served', 'served'],
  ['', 'price', 'served', 'served'],
  ['', '-name', 'served', 'served'],
  ['', 'kind', 'kind: kind', 'served'],
  ['', '-kind', 'kind: -kind', 'kind: -kind'],
  ['kind=', '-price', 'served', 'served'],
  ['kind=', 'name', 'kind: kind,name', 'served'],
  ['kind=', '-name', 'kind: kind,-name', 'served'],
  ['kind= shelf=', '', 'kind: kind,shelf,-price', 'served'],
  ['price>', '-price', 'served', 'served'],
  ['price>', 'name', 'price: ', 'price: '],
  ['name!', '', 'name: ', 'name: '],
]
const isOf: Readonly<Record<string, string>> = { '=': 'eq', '>': 'gte', '!': 'ne' }
const formOf = (list: string, sort: string) => ({
  filters: list
    .split(' ')
    .flatMap(each => (each === '' ? [] : [{ field: each.slice(0, -1), is: isOf[each.slice(-1)]! }])),
  sort: sort === '' ? [] : [toOrderKey(sort)],
})
for (const [list, sort, ...expected] of cases)
  for (const [at, of] of [plain, more].entries())
    test(`B8 ${list || 'no filter'}, sorted by ${sort || 'default'}, ${at ? 'with' : 'without'} declared indexes: ${expected[at]}`, () => {
      const found = findMissingIndex(of, listIndexesOf(of, libraryOf(of)), formOf(list, sort))
      assert.equal(found ? `${found.field}: ${found.keys}` : 'served', expected[at])
      if (found && found.keys.length > 0) {
        const cured = resource('papers', { fields }).rules({ ...rules, indexes: [found.keys as ['name']] })
        assert.equal(findMissingIndex(cured, listIndexesOf(cured, libraryOf(cured)), formOf(list, sort)), undefined)
      }
    })

test('B8 declared indexes are created, and SQLite reads the lists that they serve without sorting', async () => {
  const folder = (await import('node:fs')).mkdtempSync(
    (await import('node:path')).join((await import('node:os')).tmpdir(), 'diglot-'),
  )
  const file = `${folder}/x.sqlite`
  const store = openSqliteStore(libraryOf(more), file)
  const database = new DatabaseSync(file)
  const planOf = (where: string, order: string): string =>
    database
      .prepare(`explain query plan select * from papers where ${where} order by ${order}, id limit 20`)
      .all()
      .map(row => String(row['detail']))
      .join('; ')
  assert.match(planOf("kind = 'book'", 'name'), /USING INDEX papers#\(kind,name\)[^;]*$/)
  assert.match(planOf('true', 'kind'), /USING (COVERING )?INDEX papers#\(kind\)$/)
  assert.match(planOf("kind = 'book' and shelf = 'a'", 'price desc'), /papers#\(kind,shelf,-price\)[^;]*$/)
  database.close()
  await store.close()
})

test('B8 review names each list that no index serves, with the index that would serve it', () => {
  assert.deepEqual(
    findUnservedLists(plain, libraryOf(plain)).map(line => line.replace(/ for the lists that .*/, '')),
    [
      "a list of papers in some orders examines every item that it finds: declare indexes: [['kind']]",
      "papers filtered by kind in other orders examines every item that it finds: declare indexes: [['kind', 'name']]",
      "papers filtered by shelf in other orders examines every item that it finds: declare indexes: [['shelf', 'kind'], ['shelf', 'name']]",
    ],
  )
  assert.deepEqual(findUnservedLists(more, libraryOf(more)), [])
})

test('B8 review refuses indexes of unknown fields, of no field, and declared twice', () => {
  const bad = resource('papers', { fields }).rules({ ...rules, indexes: [['nam' as 'name'], [], ['kind'], ['kind']] })
  const mistakes = findContractMistakes(implement(libraryOf(bad), { papers: {} } as never))
  assert.match(mistakes.join('\n'), /indexes names "nam"/)
  assert.match(mistakes.join('\n'), /indexes has an empty list/)
  assert.match(mistakes.join('\n'), /indexes has \['kind'\] twice/)
})

test("B8 unserved: 'refuse' refuses a list that no index serves, and names the field and the index", async () => {
  const library = libraryOf(more)
  const store = openSqliteStore(library, ':memory:')
  const app = implement(library, { papers: {} } as never)
  const calls = createServiceCalls(app, { store, limiter: createMemoryLimiter(), clock: () => 0, id: () => 'x' })
  const operation = listOperations(library).find(each => each.kind === 'list')!
  const caller = { subject: undefined, roles: [], claims: {} }
  const list = async (query: object) => {
    const admitted = await calls.admit(operation, caller as never, 'here', 'rest')
    try {
      const outcome = await calls.perform({
        admitted,
        face: 'rest',
        request: 'r',
        query: { filters: [], sort: [], size: 20, counted: true, ...query },
      } as never)
      return outcome.kind
    } catch (thrown) {
      return thrown instanceof Refused ? thrown.refusal : thrown
    }
  }
  const put = (from: number, to: number) =>
    store.write(async writer => {
      const paper = { kind: 'book', shelf: 'a', name: 'x', price: '1.00' }
      for (let i = from; i < to; i++) await writer.put('papers', `p-${i}`, { id: `p-${i}`, ...paper }, {}, undefined, 0)
    })
  const isBook = { field: 'kind', is: 'eq', value: 'book' }
  assert.equal(await list({ filters: [isBook] }), 'page')
  assert.equal(await list({ filters: [isBook], sort: [toOrderKey('name')] }), 'page')
  const reversed = { sort: [toOrderKey('-kind')] }
  await put(0, 10_000)
  assert.equal(await list(reversed), 'page', 'of 10,000 items')
  await put(10_000, 10_001)
  assert.deepEqual(await list(reversed), {
    kind: 'unserved',
    field: 'kind',
    keys: ['-kind'],
    detail:
      "more than 10000 items are not listed by this filter in this order, which no index serves: leave the filter or the sort out; the index that would serve it is ['-kind']",
  })
  assert.equal(await list({ ...reversed, words: ['x'] }), 'page', 'a search')
  assert.match(
    JSON.stringify(await list({ filters: [{ field: 'name', is: 'ne', value: 'x' }] })),
    /compare it by equality/,
  )
  await store.close()
})
