/** A list filtered by inner references reads only the items that refer, not all (B5, B8). */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { resource, role, service, t } from '../../src/index.ts'
import type { Filter, ItemPage, Query } from '../../src/service/store.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { compileListing, compileProbe } from '../../src/store/listing.ts'
import { type Sql, sql } from '../../src/store/sql.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { compileStatement } from '../../src/store/statement.ts'
import { compileTables } from '../../src/store/table.ts'

const read = { read: [role('reader')] }
const parts = resource('parts', { fields: { id: t.id('p') } }).rules({ allow: read })
const Row = t.object({ part: t.ref('parts') }, 'Row')
const lists = resource('lists', {
  fields: { id: t.id('l'), kind: t.enum('open', 'over'), number: t.int(), rows: t.list(Row) },
}).rules({ filter: ['kind', 'rows.part'], sort: ['number'], order: ['-number'], allow: read })
const store = service('store', { namespace: 'urn:x', resources: [parts, lists], versions: { v1: {} } })

const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
after(() => rmSync(folder, { recursive: true }))

/** Every list has `p-all`; one in 1,000 has `p-some`, one has `p-one`; one in 100 is open. */
function fillLists(count: number): string {
  const file = join(folder, `${count}.sqlite`)
  openSqliteStore(store, file).close()
  const database = new DatabaseSync(file)
  database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})
    insert into lists ("id", "_version", "_modified", "_created", "_kept", "kind", "number", "rows")
    select printf('l-%06d', i), i, i, i, '{}', iif(i % 100, 'over', 'open'), i,
      json_array(json_object('part', 'p-all'), json_object('part', 'p-' || i),
        json_object('part', case when i = 77 then 'p-one' when i % 1000 = 0 then 'p-some' else 'p-none' end)) from n`)
  database.close()
  return file
}

describe('a filter by an inner reference, over 30,000 lists', async () => {
  const file = fillLists(30_000)
  const opened = openSqliteStore(store, file)
  after(() => opened.close())
  await opened.sweep(1)
  for (let isOver = false; !isOver; ) {
    await opened.sweep(1)
    const reading = new DatabaseSync(file, { readOnly: true })
    isOver = reading.prepare('select 1 from "lists##waiting" limit 1').get() === undefined
    reading.close()
  }
  const list = async (filters: readonly Filter[], more: Partial<Query> = {}): Promise<ItemPage> =>
    opened.read(reader => reader.list('lists', { filters, within: 'all', sort: [], size: 20, counted: true, ...more }))
  const within = (value: unknown): Filter => ({ field: 'rows.part', is: Array.isArray(value) ? 'in' : 'eq', value })
  const idsOf = (page: ItemPage) => page.items.map(({ id }) => Number(id.slice(2)))

  test('one of them, some of them, in the order of the list, with their number', async () => {
    assert.deepEqual(idsOf(await list([within('p-one')])), [77])
    const some = await list([within('p-some')])
    assert.deepEqual([idsOf(some).slice(0, 3), some.total], [[30_000, 29_000, 28_000], 30])
    assert.deepEqual(idsOf(await list([within(['p-one', 'p-5', 'nothing'])])), [77, 5])
    const second = await list([within('p-some')], {
      from: { keys: [11_000], id: 'l-011000', backwards: false },
      sort: [{ field: 'number', descending: true }],
    })
    assert.deepEqual(
      idsOf(second),
      [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(each => each * 1000),
    )
  })
  test('all of them: the next items of the list are looked at, and no total is given', async () => {
    const page = await list([within('p-all')])
    assert.deepEqual([idsOf(page)[0], page.items.length, page.total, page.more.after], [30_000, 20, undefined, true])
  })
  test('beside another filter, and the one with the fewest items is applied first', async () => {
    const open: Filter = { field: 'kind', is: 'eq', value: 'open' }
    assert.deepEqual((await list([within('p-all'), open])).total, 300)
    assert.deepEqual((await list([within('p-some'), open])).total, 30)
    assert.deepEqual((await list([within('p-one'), open])).total, 0)
  })

  const tables = compileTables(store, sqlite)
  const table = tables.get('lists')
  assert.ok(table)
  const database = new DatabaseSync(file, { readOnly: true })
  after(() => database.close())
  const stepsOf = (text: Sql): readonly string[] =>
    database
      .prepare(`explain query plan ${compileStatement(sqlite, text).text}`)
      .all()
      .map(row => String(row['detail']))
  /** The ids that are asked for, what waits for the index, an item's own rows, what was found. */
  const isSmall = (step: string): boolean =>
    /^SCAN (given VIRTUAL|words VIRTUAL|\S+##waiting|item of filter 0 0 (EXISTS )?VIRTUAL|candidates$|matches$)/.test(
      step,
    )
  for (const value of ['p-one', ['p-one', 'p-some']]) {
    const filter = within(value)
    const query: Query = { filters: [filter], within: 'all', sort: [], size: 20, counted: true }
    const { texts } = compileListing(table, tables, query, sqlite, sql`"id"`, { filter })
    const [page] = texts().page
    const { count } = texts()
    assert.ok(page)
    const probe = compileProbe(table, tables, query, { filter }, sqlite, 5000).text()
    for (const [name, text] of Object.entries({ probe, page, count }))
      test(`no step reads a whole table or index: ${filter.is}, ${name}`, () => {
        const steps = stepsOf(text)
        assert.ok(steps.some(step => step.startsWith('SCAN words VIRTUAL')))
        assert.deepEqual(
          steps.filter(step => step.startsWith('SCAN') && !isSmall(step)),
          [],
        )
      })
  }
})
