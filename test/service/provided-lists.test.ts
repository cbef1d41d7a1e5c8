/**
 * A provider serves as much of a list as it can, and chooses the id of a new item: callers of
 * both faces notice none of it.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { describe, test } from 'node:test'
import {
  type Item,
  implement,
  type Provider,
  type ProviderFilter,
  type ProviderQuery,
  resource,
  role,
  service,
  t,
} from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const clerk = role('clerk')
const parts = resource('parts', {
  fields: {
    id: t.id('p'),
    name: t.string({ min: 1, max: 40 }),
    weight: t.int({ min: 0 }).optional(),
    shelf: t.string(),
    label: t.string().readOnly().optional(),
  },
}).rules({
  filter: ['weight', 'shelf'],
  sort: ['weight', 'name'],
  search: ['name'],
  unserved: 'refuse',
  allow: {
    read: [clerk, role('keeper').owning({ shelf: 'shelf' })],
    create: [clerk],
    change: [clerk],
    remove: [clerk],
    bulk: [clerk],
  },
  bulk: true,
})
const store = service('store', { namespace: 'urn:store', resources: [parts] })
type Part = Item<typeof parts>
type Row = { id: number; name: string; weight: number | null; shelf: string; revision: number }

const provided = ({ id, name, weight, shelf, revision }: Row) => ({
  value: { id: `${id}`, name, ...(weight !== null && { weight }), shelf, label: `${shelf}/${id}` },
  version: revision,
  modified: revision,
})
const signs = { eq: 'is', ne: 'is not', gt: '>', gte: '>=', lt: '<', lte: '<=' } as const

/** What a provider leaves to the engine: nothing, its conditions, or all but the rows. */
type Serves = 'all' | 'order' | 'rows'

/** A table that was there before the service: its keys are numbers that the database makes. */
function openTable(serves: Serves, pageMax = 1000) {
  const database = new DatabaseSync(':memory:')
  database.exec(
    'create table part (id integer primary key, name text, weight integer, shelf text, revision integer not null)',
  )
  const queries: ProviderQuery<Part>[] = []
  const column = (field: string): string => (field === 'id' ? 'cast(id as text)' : field)
  const conditionOf = (filter: ProviderFilter<Part>): [string, (string | number | null)[]] => {
    if (filter.is === 'absent') return [`${column(filter.field)} ${filter.value ? 'is' : 'is not'} null`, []]
    return filter.is === 'in'
      ? [`${column(filter.field)} in (${filter.value.map(() => '?')})`, filter.value.map(each => each ?? null)]
      : [`${column(filter.field)} ${signs[filter.is]} ?`, [filter.value ?? null]]
  }
  const pageOf = (query: ProviderQuery<Part>) => {
    const groups = query.within === 'all' ? [] : query.within
    const within = groups.length > 0 ? [`(${groups.map(() => 'shelf = ?').join(' or ')})`] : []
    const own = serves === 'all' ? query.filters.map(conditionOf) : []
    const where = serves === 'all' ? [...own.map(([text]) => text), ...within] : []
    const values = serves === 'all' ? [...own.flatMap(([, of]) => of), ...groups.map(each => each.shelf ?? '')] : []
    const keys = [...query.sort, { field: 'id', descending: false } as const]
    const place = query.after ?? query.before
    // The rows beyond which the first differing key lies; SQLite sorts null first.
    const beyond = keys.map(({ field, descending }, i) => {
      const sign = descending === (query.before === undefined) ? '<' : '>'
      const same = keys.slice(0, i).map(key => `${column(key.field)} is ?`)
      const at = place?.[field] ?? null
      const next =
        at === null
          ? sign === '>'
            ? `${column(field)} is not null`
            : 'false'
          : `(${column(field)} ${sign} ?${sign === '<' ? ` or ${column(field)} is null` : ''})`
      const given = keys.slice(0, i).map(key => place?.[key.field] ?? null)
      return { text: [...same, next].join(' and '), given: at === null ? given : [...given, at] }
    })
    if (place) where.push(`(${beyond.map(({ text }) => `(${text})`).join(' or ')})`)
    if (place) values.push(...(beyond.flatMap(({ given }) => given) as string[]))
    const order = keys.map(
      key => `${column(key.field)} ${key.descending === (query.before === undefined) ? 'desc' : 'asc'}`,
    )
    const limit = Math.min(query.limit, pageMax)
    const text = `select * from part where ${where.join(' and ') || 'true'} order by ${order} limit ${limit + 1}`
    const rows = database.prepare(text).all(...values) as Row[]
    const items = rows.slice(0, limit).map(provided)
    return { items: query.before ? items.reverse() : items, more: rows.length > limit }
  }
  const keep: Provider<Part> = {
    load: id => {
      const row = database.prepare('select * from part where id = ?').get(id) as Row | undefined
      return row && provided(row)
    },
    list: query => {
      queries.push(query)
      return serves === 'rows' ? (database.prepare('select * from part').all() as Row[]).map(provided) : pageOf(query)
    },
    save: (id, { name, weight = null, shelf }, expected) => {
      const row =
        expected === undefined
          ? database.prepare('insert into part values (null, ?, ?, ?, 1) returning *').get(name, weight, shelf)
          : database
              .prepare(
                'update part set name = ?, weight = ?, shelf = ?, revision = revision + 1 where id = ? and revision = ? returning *',
              )
              .get(name, weight, shelf, id, expected)
      return row ? provided(row as Row) : 'stale'
    },
    remove: (id, expected) =>
      database.prepare('delete from part where id = ? and revision = ?').run(id, expected).changes === 1,
  }
  const insert = database.prepare('insert into part values (?, ?, ?, ?, 1)')
  for (let id = 1; id <= 30; id++)
    insert.run(
      id,
      id % 10 === 0 ? 'long bolt' : `nut ${id}`,
      id % 7 === 0 ? null : id % 5,
      id % 3 === 0 ? 'east' : 'west',
    )
  return { keep, queries }
}

async function openStore(serves: Serves, pageMax?: number) {
  const table = openTable(serves, pageMax)
  const open = await startTestService(store, implement(store, { parts: { keep: table.keep } }))
  const ask = open.fetchAs({ subject: 'carl', roles: ['clerk'] })
  const askAsKeeper = open.fetchAs({ subject: 'kim', roles: ['keeper'], claims: { shelf: 'east' } })
  const get = async (path: string, as = ask) => {
    const response = await as(new URL(path, `${open.address}/api/v1/`))
    const document = JSON.parse(await response.text())
    return { status: response.status, document, ids: (document.items ?? []).map((each: Part) => Number(each.id)) }
  }
  /** The ids of all pages, forwards and then back again. */
  const walk = async (path: string, as = ask) => {
    const pages: number[][] = []
    let page = await get(path, as)
    for (; page.document._links.next; page = await get(page.document._links.next.href, as)) pages.push(page.ids)
    pages.push(page.ids)
    const back: number[][] = [page.ids]
    for (; page.document._links.previous; page = await get(page.document._links.previous.href, as))
      if (back.length > 99) break
      else back.unshift((await get(page.document._links.previous.href, as)).ids)
    return { pages, back }
  }
  return { ...table, open, ask, askAsKeeper, get, walk, [Symbol.asyncDispose]: () => open[Symbol.asyncDispose]() }
}

const queries: readonly [string, (part: { id: number; weight: number | null; east: boolean }) => boolean][] = [
  ['parts?size=7', () => true],
  ['parts?size=7&sort=weight', () => true],
  ['parts?size=4&sort=-weight&shelf=east', ({ east }) => east],
  ['parts?size=3&weight[gte]=3', ({ weight }) => weight !== null && weight >= 3],
  ['parts?size=3&weight[in]=1,4&sort=name', ({ weight }) => weight === 1 || weight === 4],
  ['parts?size=3&weight[absent]=true&sort=name', ({ weight }) => weight === null],
  ['parts?size=4&weight[absent]=false&sort=-weight', ({ weight }) => weight !== null],
  ['parts?size=50', () => true],
]
const rows = Array.from({ length: 30 }, (_, i) => i + 1).map(id => ({
  id,
  weight: id % 7 === 0 ? null : id % 5,
  east: id % 3 === 0,
}))

describe('a list of a provider is the same whatever part of it the provider serves', () => {
  for (const [path, selects] of queries)
    test(path, async () => {
      const expected = rows.filter(selects).map(({ id }) => id)
      const all: Record<string, unknown> = {}
      for (const [serves, pageMax] of [['rows'], ['order'], ['order', 2], ['all'], ['all', 2]] as const) {
        await using opened = await openStore(serves, pageMax)
        const { pages, back } = await opened.walk(path)
        assert.deepEqual(
          pages.flat().toSorted((a, b) => a - b),
          expected,
          `${serves} ${pageMax}`,
        )
        assert.deepEqual(back.flat(), pages.flat(), `${serves} ${pageMax}: backwards`)
        all[`${serves} ${pageMax}`] = pages
      }
      const [first, ...others] = Object.values(all)
      for (const each of others) assert.deepEqual(each, first)
    })
})

test('a provider receives the filters, the order, the position and the number of rows', async () => {
  await using opened = await openStore('all')
  const { document } = await opened.get('parts?size=2&shelf=east&weight[gte]=1&sort=-weight')
  await opened.get(document._links.next.href)
  const asked = {
    filters: [
      { field: 'shelf', is: 'eq', value: 'east' },
      { field: 'weight', is: 'gte', value: 1 },
    ],
    within: 'all',
    sort: [{ field: 'weight', descending: true }],
    limit: 3,
    counted: true,
  }
  assert.deepEqual(opened.queries, [asked, { ...asked, counted: false, after: { weight: 4, id: '9' } }])
})

test('items that a caller may not see are not listed, even if the provider ignores the condition', async () => {
  for (const serves of ['rows', 'order', 'all'] as const) {
    await using opened = await openStore(serves)
    const { pages } = await opened.walk('parts?size=4', opened.askAsKeeper)
    assert.deepEqual(
      pages.flat().toSorted((a, b) => a - b),
      [3, 6, 9, 12, 15, 18, 21, 24, 27, 30],
      serves,
    )
    assert.deepEqual(opened.queries[0]?.within, [{ shelf: 'east' }])
  }
})

test('words that the provider does not search for are looked for in its pages', async () => {
  for (const pageMax of [2, 1000]) {
    await using opened = await openStore('all', pageMax)
    const caller = { subject: 'carl', roles: ['clerk'] }
    for (const client of [opened.open.rest(caller), opened.open.soap(caller)]) {
      const ids: string[] = []
      for await (const { id } of client.parts.search('bolt')) ids.push(id)
      assert.deepEqual(ids, ['10', '20', '30'])
    }
  }
})

test("a total is the provider's, or is counted if all items were seen", async () => {
  await using opened = await openStore('order')
  assert.equal((await opened.get('parts?size=50&shelf=east')).document.total, 10)
  assert.equal((await opened.get('parts?size=3&shelf=east')).document.total, undefined)
  const { list } = opened.keep
  opened.keep.list = async (query, ctx) => ({ ...(await list(query, ctx)), total: 30 }) as never // a page
  assert.equal((await opened.get('parts?size=3')).document.total, 30)
  assert.equal((await opened.get('parts?size=3&shelf=east')).status, 500)
  assert.match(
    String(opened.open.incidents),
    /list of parts\.keep returns a total, and items that the query does not select/,
  )
})

const mistakes: readonly [string, (page: object, query: ProviderQuery<Part>) => object, RegExp][] = [
  ['goes on from the beginning', page => ({ ...page, more: true }), /returns 1 again: continue after the place/],
  [
    'promises more and gives none',
    page => ({ ...page, items: [], more: true }),
    /returns no item, and says that there are more/,
  ],
  [
    'gives an array in the end',
    (page, { after }) => (after ? [] : { ...page, more: true }),
    /returns an array after a page/,
  ],
]
for (const [what, change, says] of mistakes)
  test(`a provider that ${what} ends the call, and the log says where`, async () => {
    await using opened = await openStore('order')
    const { list } = opened.keep
    opened.keep.list = async (query, ctx) =>
      change(await list({ ...query, ...{ after: undefined } } as never, ctx), query) as never
    assert.equal((await opened.get('parts?size=40')).status, 500)
    assert.match(String(opened.open.incidents), says)
  })

test('one response looks at some ten thousand rows of a provider, and the next continues', async () => {
  await using opened = await openStore('all')
  const from = (id: number) => ({
    value: { id: `${id}`.padStart(6, '0'), name: 'x', shelf: id === 12_345 ? 'east' : 'west' },
    version: 1,
    modified: 1,
  })
  opened.keep.list = ({ after }) => {
    const start = Number(after?.id ?? 0) + 1
    return { items: Array.from({ length: 500 }, (_, i) => from(start + i)), more: start < 20_000 }
  }
  const first = await opened.get('parts?size=5&shelf=east')
  assert.deepEqual([first.ids, first.document.looked], [[], 10_000])
  assert.deepEqual((await opened.get(first.document._links.next.href)).ids, [12_345])
})

describe('a provider chooses the id of a new item, and fills its fields', () => {
  test('by REST', async () => {
    await using opened = await openStore('all')
    const made = await opened.ask(`${opened.open.address}/api/v1/parts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', prefer: 'return=representation' },
      body: '{"name":"cog","shelf":"north"}',
    })
    assert.equal(made.status, 201)
    assert.match(made.headers.get('location') ?? '', /\/parts\/31$/)
    const { document } = await opened.get('parts/31')
    assert.deepEqual([document.id, document.label], ['31', 'north/31'])
    const [event] = await opened.open.events()
    assert.match(JSON.stringify(event), /parts\/31"/)
  })

  test('by SOAP, and is changed with the tag', async () => {
    await using opened = await openStore('all')
    const client = opened.open.soap({ subject: 'carl', roles: ['clerk'] })
    const made = await client.parts.create({ name: 'cog', shelf: 'north' })
    assert.deepEqual([made.id, made.label], ['31', 'north/31'])
    const changed = await client.parts.replace(made, { name: 'cog', shelf: 'south' })
    assert.deepEqual([changed.id, changed.label], ['31', 'south/31'])
    await assert.rejects(client.parts.replace(made, { name: 'cog', shelf: 'east' }), /has changed since it was read/)
    const names: string[] = []
    for await (const { name } of client.parts.list({ where: { shelf: 'south' } })) names.push(name)
    assert.deepEqual(names, ['cog'])
  })

  test('a changed item keeps its id, and a saved value is one of the contract', async () => {
    for (const [value, says] of [
      [{ id: 'p-9', name: 'x', shelf: 'y' }, /save of parts\.keep returns for 1: id is p-9/],
      [{ id: '1', name: '', shelf: 'y' }, /save of parts\.keep returns for 1: name must not be empty/],
    ] as const) {
      await using opened = await openStore('all')
      opened.keep.save = () => ({ value, version: 2, modified: 2 })
      const response = await opened.ask(`${opened.open.address}/api/v1/parts/1`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json', 'if-match': '*' },
        body: '{"shelf":"y"}',
      })
      assert.equal(response.status, 500)
      assert.match(String(opened.open.incidents), says)
    }
  })
})

test('a bulk removal counts and removes what a provider keeps, in pages', async () => {
  await using opened = await openStore('order', 4)
  const removed = await opened.ask(`${opened.open.address}/api/v1/parts?shelf=east`, { method: 'DELETE' })
  assert.deepEqual([removed.status, JSON.parse(await removed.text()).removed], [200, 10])
  assert.equal((await opened.get('parts?size=50')).ids.length, 20)
})
