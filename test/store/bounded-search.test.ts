/** The rows that one request reads for a frequent word are bounded, and the page says so (B8). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { resource, role, service, t } from '../../src/index.ts'
import type { ItemPage, Query } from '../../src/service/store.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { compileListing, compileProbe } from '../../src/store/listing.ts'
import { compileRecords } from '../../src/store/records.ts'
import { type Sql, sql } from '../../src/store/sql.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { compileStatement, type Statement } from '../../src/store/statement.ts'
import { compileTables } from '../../src/store/table.ts'

const papers = resource('papers', {
  fields: { id: t.id('p'), kind: t.enum('book', 'film'), number: t.int(), note: t.string({ max: 100 }) },
}).rules({
  filter: ['kind'],
  sort: ['number'],
  order: ['-number'],
  search: ['note'],
  allow: { read: [role('reader')] },
})
const library = service('library', { namespace: 'urn:x', resources: [papers], versions: { v1: {} } })
const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
after(() => rmSync(folder, { recursive: true }))

describe('a word in 55,000 of 70,000 items, none of the last 15,000 by number', async () => {
  const file = join(folder, 'papers.sqlite')
  openSqliteStore(library, file).close()
  const database = new DatabaseSync(file)
  // One in 1,000 is a film.
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 70000)
    insert into papers ("id", "_version", "_modified", "_created", "_kept", "kind", "number", "note", "note#words")
    select printf('p-%05d', i), i, i, 70001 - i, '{}', iif(i % 1000, 'book', 'film'), i, iif(i <= 55000, 'often', 'else'),
      iif(i <= 55000, ' often ', ' else ') from n`)
  database.close()
  const store = openSqliteStore(library, file)
  after(() => store.close())
  const list = async (query: Partial<Query>): Promise<ItemPage> =>
    store.read(reader =>
      reader.list('papers', {
        filters: [],
        within: 'all',
        sort: [],
        size: 20,
        counted: true,
        words: ['often'],
        ...query,
      }),
    )
  const newest = [{ field: 'number', descending: true }]
  const idsOf = (page: ItemPage) => page.items.map(each => each.id)

  test('a page ends after 10,000 items, without a total, and says how many were looked at', async () => {
    const page = await list({ sort: newest })
    assert.deepEqual([idsOf(page), page.total, page.looked, page.more.after], [[], undefined, 10_000, true])
    assert.deepEqual(page.edges?.last, { keys: [60_001], id: 'p-60001' })
  })

  test('next leads to the matches, and none is omitted or doubled', async () => {
    const { edges } = await list({ sort: newest })
    assert.ok(edges)
    const second = await list({ sort: newest, from: { ...edges.last, backwards: false } })
    assert.deepEqual(idsOf(second).slice(0, 2), ['p-55000', 'p-54999'])
    assert.deepEqual([second.items.length, second.looked, second.more.after], [20, undefined, true])
  })

  test('backwards, too', async () => {
    const place = { keys: [1], id: 'p-00001' }
    const page = await list({ sort: [{ field: 'number', descending: true }], from: { ...place, backwards: true } })
    assert.deepEqual(idsOf(page).slice(-1), ['p-00002'])
    const ascending = [{ field: 'number', descending: false }]
    const none = await list({ sort: ascending, from: { keys: [70_000], id: 'p-70000', backwards: true } })
    assert.deepEqual([idsOf(none), none.more.before, none.edges?.first.id], [[], true, 'p-60000'])
  })

  test('a filter with few items is applied first, in any order', async () => {
    const films = { filters: [{ field: 'kind', is: 'eq', value: 'film' }] } as const
    const page = await list({ ...films, sort: newest })
    assert.deepEqual([idsOf(page)[0], page.items.length, page.total, page.looked], ['p-55000', 20, 55, undefined])
  })

  test("without a sort the order is the contract's, which has an index, not that of creation", async () => {
    const page = await list({ words: [], filters: [{ field: 'kind', is: 'eq', value: 'book' }], counted: false })
    assert.deepEqual([idsOf(page)[0], page.edges?.first.keys], ['p-69999', [69_999]])
  })

  test('an exact count counts all', async () => {
    assert.equal((await list({ sort: newest, counted: 'exact' })).total, 55_000)
  })
})

describe('B5: if the statistics show a third of a million books by one author', () => {
  const authors = resource('authors', { fields: { id: t.id('a'), name: t.string({ max: 100 }) } }).rules({
    search: ['name'],
    allow: { read: [role('reader')] },
  })
  const books = resource('books', {
    fields: {
      id: t.id('b'),
      author: t.ref('authors'),
      lines: t.list(t.object({ editor: t.ref('authors') }, 'Line'), { max: 9 }),
      note: t.string({ max: 100 }),
    },
  }).rules({
    filter: ['author'],
    search: ['note', 'author.name', 'lines.editor.name'],
    allow: { read: [role('reader')] },
  })
  const shelf = service('shelf', { namespace: 'urn:x', resources: [authors, books], versions: { v1: {} } })
  const file = join(folder, 'shelf.sqlite')
  openSqliteStore(shelf, file).close()
  const writing = new DatabaseSync(file)
  writing.exec(`insert into authors ("id", "_version", "_modified", "_created", "_kept", "name", "name#words")
    values ('a-1', 1, 1, 1, '{}', 'ann', ' ann ');
    insert into books ("id", "_version", "_modified", "_created", "_kept", "author", "lines", "note", "note#words")
    values ('b-1', 1, 1, 1, '{}', 'a-1', '[]', 'x', ' x ');
    delete from "authors##waiting";
    delete from "books##waiting";
    analyze;
    update sqlite_stat1 set "stat" = '1000000 ' || iif("idx" like '%author%', '333333', '1') where "tbl" = 'books';
    update sqlite_stat1 set "stat" = '100000 1' where "tbl" = 'authors'`)
  writing.close()
  const database = new DatabaseSync(file)
  after(() => database.close())
  const tables = compileTables(shelf, sqlite)
  const table = tables.get('books')
  assert.ok(table)
  const lead = { tokens: ['ann'] }
  const query: Query = { filters: [], within: 'all', sort: [], size: 20, counted: true, words: ['ann'] }
  const stepsOf = (text: Sql): readonly string[] =>
    database
      .prepare(`explain query plan ${compileStatement(sqlite, text).text}`)
      .all()
      .map(row => String(row['detail']))
  /** What has few rows: those with a word, those that wait for the index, an item's own lines, what was found. */
  const isSmall = (step: string): boolean =>
    /^SCAN (words VIRTUAL|\S+##waiting|item 0 0 VIRTUAL|candidates$|matches$)/.test(step)

  const { page: pages, count } = compileListing(table, tables, query, sqlite, sql`"id"`, lead).texts()
  const [page] = pages
  assert.ok(page)
  const cases = { probe: compileProbe(table, tables, query, lead, sqlite, 5000).text(), page, count }
  for (const [name, text] of Object.entries(cases))
    test(`no step of a search by words reads a whole table or index: ${name}`, () => {
      const steps = stepsOf(text)
      assert.ok(steps.some(step => step.startsWith('SCAN words VIRTUAL')))
      assert.deepEqual(
        steps.filter(step => step.startsWith('SCAN') && !isSmall(step)),
        [],
      )
    })

  test('SQLite makes no new plan for another number of requested rows', () => {
    const listed = [query, { ...query, offset: 40 }].flatMap(each => {
      const { near, ...own } = compileListing(table, tables, each, sqlite, sql`"id"`, lead).texts()
      return [...Object.values(own).flat(), ...Object.values(near ?? {})].map(
        text => compileStatement(sqlite, text).text,
      )
    })
    const kept = Object.values(compileRecords(sqlite))
      .map(each => (typeof each === 'function' ? each(2) : each))
      .flatMap(each => (isStatement(each) ? each.text : Object.values(each).map(of => of.text)))
    const asked = [...listed, ...kept].filter(text => text.includes('limit ?'))
    assert.ok(asked.length > 6, `${asked.length} have such a number`)
    for (const text of asked) assert.doesNotMatch(text, /limit \?(?! \+ 0)/)
  })
})

test('words of rows enter the index once a sweep, however many are written meanwhile', {
  timeout: 60_000,
}, async () => {
  const file = join(folder, 'busy.sqlite')
  const store = openSqliteStore(library, file)
  let written = 0
  const put = () =>
    store.write(writer => {
      written++
      return writer.put(
        'papers',
        `p-${written}`,
        { kind: 'book', number: written, note: 'often' },
        {},
        undefined,
        written,
      )
    })
  await put()
  const sweep = store.sweep(1)
  let isOver = false
  sweep.finally(() => (isOver = true))
  for (; !isOver && written < 1000; await setTimeout(1)) await put()
  assert.ok(isOver, 'it ends while rows are written')
  assert.equal(await sweep, 0)
  await store.sweep(1)
  const reading = new DatabaseSync(file, { readOnly: true })
  assert.deepEqual({ ...reading.prepare('select count(*) as "left" from "papers##waiting"').get() }, { left: 0 })
  reading.close()
  const found = await store.read(reader =>
    reader.list('papers', { filters: [], within: 'all', sort: [], size: 1, counted: true, words: ['often'] }),
  )
  assert.equal(found.total, written)
  await store.close()
})

const isStatement = (each: Statement | Readonly<Record<string, Statement>>): each is Statement =>
  'text' in each && typeof each.text === 'string'
