import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { ListedDeeds, listDeeds } from '../../src/host/operations/audit.ts'
import { anyone, job, resource, service, t as t_ } from '../../src/index.ts'
import { Refused } from '../../src/service/refusal.ts'
import { isFormer, type Store, type StoreReader, Unavailable } from '../../src/service/store.ts'
import { postgres } from '../../src/store/dialect.ts'
import { openPostgresReplica, openPostgresStore } from '../../src/store/postgres.ts'
import { noChangeSince } from '../../src/store/postgres-writer.ts'
import { compileExpiries } from '../../src/store/records.ts'
import { foldText } from '../../src/store/search-dialect.ts'
import { fillSearch } from '../../src/store/search-growth.ts'
import { compileStoreSchema } from '../../src/store/sql-access.ts'
import { boundParameters, compileStatement } from '../../src/store/statement.ts'
import { compileTables } from '../../src/store/table.ts'
import { proxy } from '../proxy.ts'
import { absentLists, compilePages, cursorLists, desk } from './absent-lists.ts'
import { type Place, storeCases } from './battery.ts'
import { everything } from './every-type.ts'
import { server } from './postgres.ts'

const running = await server()
after(() => running.stop())
storeCases(running.name, () => running.place())

const { url } = running
const only = { skip: url === undefined && 'PGlite has no connections to lose' }
const townTurn = { item: 'towns t-1', caller: 'ann' }
const searchedNotes = resource('notes', {
  fields: { id: t_.id('n'), text: t_.string({ max: 99 }) },
}).rules({ search: ['text'], allow: { read: [anyone] } })
const notebook = service('notebook', { namespace: 'urn:notebook', resources: [searchedNotes], versions: { v1: {} } })
const put = (store: Store, id: string, seen?: number, name = id) =>
  store.write(writer =>
    writer.put('towns', id, { id, name }, {}, seen === undefined ? undefined : { version: seen }, 1),
  )

async function ask(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url ?? '' })
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
const schemaOf = ({ url }: Place) => new URL(url ?? '').searchParams.get('options')?.split('=')[1]
/** Ends the connections that are busy with this text, as a restart of the server would. */
const cut = (part: string) =>
  ask('select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and query like $1', [
    `%${part}%`,
  ])

test('B5 a search reads a bounded number of rows besides its words: the list of new entries of GIN', only, async () => {
  const place = await running.place()
  const store = await place.open(everything)
  const options = await ask(
    `select c.reloptions from pg_class c join pg_am a on a.oid = c.relam where a.amname = 'gin'`,
  )
  assert.ok(options.length > 0)
  for (const { reloptions } of options) assert.deepEqual(reloptions, ['gin_pending_list_limit=64'])
  await store.close()
  await place.remove()
})

test('(3) to check whether lists that were read have changed costs no more with many changes', only, async t => {
  const place = await running.place()
  t.after(() => place.remove())
  await (await place.open(desk)).close()
  const client = new pg.Client({ connectionString: place.url ?? '' })
  await client.connect()
  t.after(() => client.end())
  await client.query(`insert into "_change" ("at", "resource", "id", "version", "what", "operation")
    select 1, 'tickets', 't-' || n, n, 'changed', 'x' from generate_series(1, 20000) as n`)
  await client.query('analyze "_change"; set plan_cache_mode = force_generic_plan')
  await client.query(`prepare unchanged as ${noChangeSince.text}`)
  const { rows } = await client.query(`explain (costs off) execute unchanged (19990, '["tickets"]')`)
  const plan = rows.map(row => row['QUERY PLAN']).join('\n')
  assert.doesNotMatch(plan, /Seq Scan on _change/)
  assert.match(plan, /Index Cond: \(\(sequence > /)
})

/** Of a page of tickets, as PostgreSQL would read it from large tables. */
async function planOfPage(t: TestContext, list: Parameters<typeof compilePages>[0]): Promise<string> {
  const place = await running.place()
  t.after(() => place.remove())
  await (await place.open(desk)).close()
  const [page, ...others] = compilePages(list, postgres)
  assert.ok(page)
  assert.deepEqual(others, [], 'one way to the server')
  const client = new pg.Client({ connectionString: place.url ?? '' })
  await client.connect()
  t.after(() => client.end())
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off; set enable_sort = off')
  const { rows } = await client.query(`explain (costs off) ${page.text}`, [...page.values])
  return rows.map(row => row['QUERY PLAN']).join('\n')
}

test('jobs of a short life are found by their kind, past all that are kept for longer', only, async t => {
  const place = await running.place()
  t.after(() => place.remove())
  await (await place.open(desk)).close()
  const jobs = [job('digests', { keep: 3600, input: {}, output: {}, allow: [] })]
  const contract = service('desk', { namespace: 'urn:desk', resources: [], jobs })
  const [sweep] = compileExpiries(contract, postgres, {}).filter(({ statement }) => /"job" = /.test(statement.text))
  assert.ok(sweep)
  const client = new pg.Client({ connectionString: place.url ?? '' })
  await client.connect()
  t.after(() => client.end())
  await client.query('set enable_seqscan = off; set enable_bitmapscan = off')
  const { rows } = await client.query(`explain (costs off) ${sweep.statement.text}`, [...sweep.values(0)])
  const plan = rows.map(row => row['QUERY PLAN']).join('\n')
  assert.match(plan, /using "_job#ended"[^\n]*\n\s*Index Cond: \(\(job = [^\n]*modified <= /)
})

for (const [name, list, isServed] of absentLists)
  test(`B8 ${name}: ${isServed ? 'from an index, not sorted' : 'no index has it'}`, only, async t => {
    const plan = await planOfPage(t, list)
    // Few items have the same date; they are sorted by id; so are those of a page.
    assert.equal(
      !/^[\s>-]*Sort\n.*Sort Key.*\n(?![\s>-]*(Limit|Append))/m.test(plan) && /Index Cond: \(.*IS NULL/.test(plan),
      isServed,
      plan,
    )
  })

for (const [name, list, ranges] of cursorLists)
  test(`A2.3 behind a cursor no row before it is looked at: ${name}`, only, async t => {
    const plan = await planOfPage(t, list)
    assert.equal(plan.match(/Index Cond: /g)?.length, ranges.length, plan)
    assert.doesNotMatch(plan, /Filter: /)
  })

test('(1) a search over a large table gets its index after the start, and again if making it failed', only, async t => {
  const place = await running.place()
  t.after(() => place.remove())
  await (await place.open(notebook)).close()
  const indexes = (): Promise<Record<string, unknown>[]> =>
    ask(
      `select indexname as name, indexdef as text from pg_indexes
        where schemaname = $1 and tablename = 'notes' and indexdef like '%USING gin%'`,
      [schemaOf(place)],
    )
  const [made] = await indexes()
  assert.ok(made)
  const lose = (more: string) =>
    place.direct?.(
      `drop index "${made['name']}"; ${more}
        update "_shape" set "is" = replace("is", ',"filled":true', '') where "of" = 'index'`,
    )
  const store = await place.open(notebook)
  t.after(() => store.close())
  for (const left of ['', `create index "${made['name']}" on "notes" ("id");`]) {
    await lose(left)
    assert.deepEqual(await indexes(), [])
    assert.equal(await store.fill?.(), true)
    assert.deepEqual(await indexes(), [made])
  }
})

test('(3) words are made of the current values, even if another field is changed meanwhile', only, async t => {
  const notes = resource('notes', {
    fields: { id: t_.id('n'), text: t_.string({ max: 99 }), rank: t_.int() },
  }).rules({ search: ['text'], allow: { read: [anyone] } })
  const contract = service('notebook', { namespace: 'urn:notebook', resources: [notes], versions: { v1: {} } })
  const place = await running.place()
  t.after(() => place.remove())
  const store = await place.open(contract)
  t.after(() => store.close())
  const value = { id: 'n-1', text: 'needle', rank: 1 }
  const made = await store.write(writer => writer.put('notes', 'n-1', value, {}, undefined, 1))
  // As after a start that still has words to make.
  await place.direct?.(
    `update "notes" set "text#words" = '';
    update "_shape" set "is" = replace("is", ',"filled":true', ',"folding":["text#words"]') where "of" = 'index'`,
  )
  const schema = compileStoreSchema(contract as never, postgres, {
    rows: () => [],
    first: () => undefined,
    run: () => {},
  } as never)
  const table = schema.tables.get('notes')
  assert.ok(table)
  const filling = new pg.Client({ connectionString: place.url ?? '' })
  await filling.connect()
  t.after(() => filling.end())
  await filling.query('begin')
  const steps = fillSearch(schema, table)
  let change: Promise<unknown> | undefined
  for (let step = steps.next(); !step.done; ) {
    const statement = compileStatement(postgres, step.value.text, false)
    const values = boundParameters(statement, step.value.values ?? [])
    const { rows } = await filling.query({ text: statement.text, values: [...values], rowMode: 'array' })
    if (rows.length === 1 && rows[0]?.includes('needle')) {
      change = store.write(writer => writer.put('notes', 'n-1', { ...value, rank: 2 }, {}, made, 2))
      await Promise.race([change, sleep(300)])
    }
    step = steps.next(rows)
  }
  await filling.query('commit')
  assert.ok(change)
  await change
  const [row] = await ask(`select "rank"::text, "text#words" as words from "${schemaOf(place)}"."notes"`)
  assert.deepEqual(row, { rank: '2', words: foldText('needle') })
})

test(
  '(6) a connection lost at rest, while a work waits, or within a statement is unavailable at most once',
  only,
  async () => {
    const place = await running.place()
    const store = await place.open(everything)
    await put(store, 't-1')
    await cut('')
    await sleep(20)
    await put(store, 't-2').catch(thrown => assert.ok(thrown instanceof Unavailable))
    const waiting = store.write(async writer => {
      await writer.put('towns', 't-3', { id: 't-3', name: '' }, {}, undefined, 1)
      await cut('insert into "towns"')
      await sleep(20)
      await writer.put('towns', 't-4', { id: 't-4', name: '' }, {}, undefined, 1)
    })
    await assert.rejects(waiting, Unavailable)
    await put(store, 't-5')
    await store.read(async reader => {
      assert.equal(await reader.get('towns', 't-3'), undefined)
      assert.ok(await reader.get('towns', 't-5'))
    })
    await store.close()
    await place.remove()
  },
)

test(
  '(4) a replica reads what its original has written, writes nothing, and is unavailable if it is unreachable',
  only,
  async () => {
    const place = await running.place()
    const store = await place.open(everything)
    const replica = await openPostgresReplica(everything, place.url ?? '')
    await put(store, 't-1', undefined, 'here')
    const found = await replica.read(reader => reader.get('towns', 't-1'))
    assert.ok(found && !isFormer(found) && found.value['name'] === 'here')
    await replica.close()
    const away = await openPostgresReplica(everything, 'postgres://127.0.0.1:1/none')
    await assert.rejects(async () => away.read(reader => reader.get('towns', 't-1')), Unavailable)
    await away.close()
    await store.close()
    await place.remove()
  },
)

test('a deed that was under way while the audit was listed stays when the listed ones are removed', only, async () => {
  const place = await running.place()
  const store = await place.open(everything)
  const deed = { subject: 'ada', operation: 'x', resource: 'towns', id: 't-1', version: undefined, face: 'rest', at: 1 }
  const requests = async () => (await store.read(reader => reader.deeds(0, 9, 10))).map(each => each.request)
  const holding = new pg.Client({ connectionString: place.url ?? '' })
  await holding.connect()
  await holding.query('select pg_advisory_lock(7306359, hashtext(current_schema()))') // that of numbering
  const late = store.write(async writer => {
    await writer.put('towns', 't-1', { id: 't-1', name: '' }, {}, undefined, 1)
    await writer.record({ ...deed, request: 'late' })
    await writer.record({ ...deed, request: 'last' }) // numbered behind the lock
    await writer.changed({ ...deed, version: 1, what: 'created' })
  })
  const waits = `select 1 from pg_locks where locktype = 'advisory' and classid = 7306359 and not granted`
  while ((await holding.query(waits)).rows.length === 0) await sleep(5)
  await store.write(writer => writer.record({ ...deed, request: 'early' }))
  const listed = new ListedDeeds()
  const seen: string[] = []
  for await (const { sequence, request } of listDeeds(store, 9)) {
    listed.add(sequence)
    seen.push(request)
  }
  await holding.end()
  await late
  assert.deepEqual([seen, await requests()], [['early'], ['late', 'early', 'last']])
  assert.equal(await listed.remove(store), 1)
  assert.deepEqual(await requests(), ['late', 'last'])
  await store.close()
  await place.remove()
})

test('an absent server fails the start, with an error for operators', only, async () => {
  await assert.rejects(openPostgresStore(everything, 'postgres://nobody@127.0.0.1:1/none'), /ECONNREFUSED/)
})

test('(6) if every connection is in use a call waits, and is unavailable when its time is up', only, async () => {
  const place = await running.place()
  const store = await place.open(everything, { work: 200 })
  const slow = Array.from({ length: 10 }, () => store.write(() => sleep(500)))
  await sleep(100)
  const all = await Promise.allSettled([...slow, store.write(() => 10), store.write(() => 11)])
  assert.deepEqual(
    all.map(each => (each.status === 'rejected' ? each.reason instanceof Unavailable : each.value)),
    [...Array.from({ length: 10 }, () => true), 10, 11],
  )
  await put(store, 't-1')
  await store.close()
  await place.remove()
})

/** Where a URL leads to: a host, or a folder with a socket. */
function addressOf({ hostname, port, searchParams }: URL) {
  const folder = searchParams.get('host')
  return folder ? { path: `${folder}/.s.PGSQL.5432` } : { host: hostname, port: Number(port || 5432) }
}

test('(6) a client that vanishes holds its locks no longer than a work may last', only, async () => {
  const place = await running.place()
  const direct = new URL(place.url ?? '')
  const between = await proxy(addressOf(direct))
  after(() => between.close())
  const way = new URL(direct)
  way.searchParams.delete('host')
  way.host = `127.0.0.1:${between.port}`
  const [far, near] = [await openPostgresStore(everything, way.href, { work: 500 }), await place.open(everything)]
  const { version } = await put(near, 't-1')
  const gone = far.write(async writer => {
    await writer.put('towns', 't-1', { id: 't-1', name: 'far' }, {}, { version }, 1)
    between.silence()
    await writer.put('towns', 't-2', { id: 't-2', name: 'far' }, {}, undefined, 1)
  })
  await assert.rejects(gone, Unavailable)
  between.speak()
  const began = performance.now()
  await put(near, 't-1', version, 'near')
  assert.ok(performance.now() - began < 10_000, 'the lock is given up')
  await put(far, 't-3')
  assert.equal(await far.ready(), true)
  await Promise.all([far.close(), near.close()])
  await place.remove()
})

test('a server that accepts no changes is not ready: it is read-only, or its disk is full', only, async t => {
  const place = await running.place()
  const role = `keeper_${process.pid}`
  await ask(`create role ${role} superuser login password 'kept'`)
  const own = new URL(place.url ?? '')
  Object.assign(own, { username: role, password: 'kept' })
  const store = await openPostgresStore(everything, own.href)
  t.after(async () => {
    await store.close()
    await place.remove()
    await ask(`drop role ${role}`)
  })
  const setRole = async (setting: string): Promise<void> => {
    await ask(`alter role ${role} ${setting}`)
    await ask('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role])
  }
  const becomes = async (ready: boolean): Promise<void> => {
    while ((await store.ready()) !== ready) await sleep(10)
  }
  await becomes(true)
  await setRole('set default_transaction_read_only = on')
  await becomes(false)
  await assert.rejects(put(store, 't-1'), Unavailable)
  await setRole('reset default_transaction_read_only')
  await becomes(true)
  await place.direct?.(`create function fill() returns trigger language plpgsql as
    $$ begin raise 'no space left on device' using errcode = '53100'; end $$;
    create trigger filled before insert on towns execute function fill()`)
  await assert.rejects(put(store, 't-1'), Unavailable)
  assert.equal(await store.ready(), false)
})

const boxes = (fields: Parameters<typeof resource>[1]['fields']) =>
  service('boxes', {
    namespace: 'urn:boxes',
    resources: [resource('boxes', { fields: { id: t_.id('b'), ...fields } }).rules({ allow: { read: [anyone] } })],
    versions: { v1: {} },
  })

test('a database that cannot hold all characters is refused before it has tables, with the cure', only, async t => {
  const name = `latin_${process.pid}`
  await ask(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
  t.after(() => ask(`drop database ${name}`))
  const latin = Object.assign(new URL(url ?? ''), { pathname: `/${name}` }).href
  await assert.rejects(openPostgresStore(everything, latin), /the encoding LATIN1, .*: create one with encoding 'UTF8'/)
})

test('values are the same whatever a database sets for its other programs', only, async t => {
  const place = await running.place()
  const settings = ['bytea_output=escape', 'extra_float_digits=0', 'standard_conforming_strings=off']
  const odd = `${place.url}${settings.map(each => `%20-c%20${encodeURIComponent(each)}`).join('')}`
  const store = await openPostgresStore(boxes({ octets: t_.bytes(), ratio: t_.double(), path: t_.string() }), odd)
  t.after(async () => {
    await store.close()
    await place.remove()
  })
  const values = { id: 'b-1', octets: Uint8Array.of(0, 92, 255), ratio: 0.1 + 0.2, path: String.raw`C:\new\\'x'` }
  await store.write(writer => writer.put('boxes', 'b-1', values, {}, undefined, 1))
  const found = await store.read(reader => reader.get('boxes', 'b-1'))
  assert.deepEqual(found && !isFormer(found) && found.value, values)
})

test('a search finds every match, however few a database lets its other programs find', only, async t => {
  const place = await running.place()
  const store = await openPostgresStore(notebook, `${place.url}%20-c%20gin_fuzzy_search_limit%3D3`)
  t.after(async () => {
    await store.close()
    await place.remove()
  })
  // More than are looked up in the index, as 'hay' is in each.
  await place.direct?.(
    `insert into "notes" ("id", "_version", "_created", "_modified", "text", "text#words") select 'n-' || i, 1, i, i, 'hay', 'hay' from generate_series(1, 10500) as of(i)`,
  )
  assert.equal(await store.fill?.(), true)
  const query = { filters: [], within: 'all', sort: [], size: 3, counted: true, words: ['hay'] } as const
  assert.equal((await store.read(reader => reader.list('notes', query))).total, undefined)
})

test("a start may fill a table for longer than the role's limit for a statement", only, async t => {
  const place = await running.place()
  t.after(() => place.remove())
  const size = t_.int()
  const store = await place.open(boxes({ size: size.optional() }))
  await store.write(writer => writer.put('boxes', 'b-1', { id: 'b-1' }, {}, undefined, 1))
  await store.close()
  await place.direct?.(`create function linger() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.5); return new; end $$;
    create trigger slow before update on boxes for each row execute function linger()`)
  const limited = `${place.url}%20-c%20statement_timeout%3D300ms`
  const filled = await openPostgresStore(boxes({ size: size.default(7) }), limited)
  const found = await filled.read(reader => reader.get('boxes', 'b-1'))
  assert.equal(found && !isFormer(found) && found.value['size'], 7)
  await filled.close()
})

test('(6) a plan that is older than its table is unavailable once', only, async () => {
  const place = await running.place()
  const store = await openPostgresStore(everything, place.url ?? '', { connections: 1 })
  await put(store, 't-1')
  const look = async () => store.read(reader => reader.get('towns', 't-1'))
  const before = await look()
  const other = new pg.Client({ connectionString: place.url ?? '' })
  await other.connect()
  await other.query('alter table "towns" alter column "name" type varchar(200)')
  await other.end()
  await assert.rejects(look, Unavailable)
  assert.deepEqual(await look(), before)
  await store.close()
  await place.remove()
})

test('a start waits for its turn to migrate, and continues when the holder of the turn is gone', only, async () => {
  const place = await running.place()
  const other = new pg.Client({ connectionString: place.url ?? '' })
  await other.connect()
  await other.query('begin; select pg_advisory_xact_lock(7306358, hashtext(current_schema()))')
  let open = false
  const opening = place.open(everything).then(store => {
    open = true
    return store
  })
  await sleep(400)
  assert.equal(open, false)
  await other.end()
  const store = await opening
  await put(store, 't-1')
  await store.close()
  await place.remove()
})

test('a start that another session delays leaves the tables to others, and continues after it', only, async () => {
  const towns = (of: Parameters<typeof resource>[1]['fields']) =>
    service('towns', {
      namespace: 'urn:towns',
      resources: [resource('towns', { fields: of }).rules({ allow: { read: [anyone] } })],
      versions: { v1: {} },
    })
  const fields = { id: t_.id('t'), name: t_.string({ max: 9 }) }
  const place = await running.place()
  const older = await place.open(towns(fields))
  const dump = new pg.Client({ connectionString: place.url ?? '' })
  await dump.connect()
  await dump.query('begin; select * from "towns"')
  const told: string[] = []
  const tell = (says: string): void => void told.push(says)
  const { promise: isUndone, resolve } = Promise.withResolvers<string>()
  const undone = (why: string): void => {
    told.length = 0
    resolve(why)
  }
  const opening = openPostgresStore(towns({ ...fields, size: t_.int().optional() }), place.url ?? '', {
    undone,
    migration: { drop: [], now: 0, isPlan: false, tell },
  })
  let tries = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; tries++) await put(older, `t-${tries}`)
  })()
  assert.match(await isUndone, /another session holds a table .* pg_stat_activity/)
  isOver = true
  await others
  assert.ok(tries > 1)
  await dump.end()
  await (await opening).close()
  assert.deepEqual(told, ['add towns.size'], 'what was undone is not told')
  await older.close()
  await place.remove()
})

test('(4) a start raises the counters that a logical replication has left behind the rows', async t => {
  const place = await running.place()
  t.after(() => place.remove())
  const told: string[] = []
  const wish = { drop: [], now: 0, tell: (says: string) => void told.push(says) }
  const migrate = async (isPlan: boolean) => (await place.open(everything, { migration: { ...wish, isPlan } })).close()
  const of = { at: 5, operation: 'PutTown', resource: 'towns', id: 't-1', version: 1 }
  const change = async () => {
    const store = await place.open(everything)
    await store.write(async writer => {
      await writer.record({ ...of, subject: 'ann', face: 'rest', request: 'r' })
      await writer.changed({ ...of, what: 'changed' })
    })
    const last = (await store.read(reader => reader.changes(0, 100))).at(-1)?.sequence
    await store.close()
    return last
  }
  assert.deepEqual([await change(), await change()], [1, 2])
  await migrate(false)
  assert.deepEqual(told, [], 'healthy counters stay')
  const restart = ['_deed', '_change'].map(name => `alter table "${name}" alter column "sequence" restart`).join('; ')
  await place.direct?.(restart)
  await migrate(true)
  await migrate(true)
  const says = ['_deed', '_change'].map(
    name => `continue the numbers of ${name} after 2, which its counter has not reached`,
  )
  assert.deepEqual(told, [...says, ...says], 'a plan changes nothing')
  assert.equal(await change(), 3)
  // All changes have expired: a number up to the last of them would reach no reader.
  await place.direct?.(`${restart}; delete from "_change"; insert into "_shape" values ('store', 'swept', '90')`)
  assert.equal(await change(), 91)
})

test('a start in a schema that does not exist ends, with its cure', only, async () => {
  const place = await running.place()
  await place.remove()
  await assert.rejects(place.open(everything), /search_path .* names no schema that exists .*: create one/)
})

test('(3) two processes: a version is overwritten once, and each reads what the other wrote', only, async () => {
  const place = await running.place()
  const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
  const { version } = await put(one, 't-1')
  const all = await Promise.allSettled([one, two, one, two].map((store, i) => put(store, 't-1', version, `by ${i}`)))
  assert.equal(all.filter(each => each.status === 'fulfilled').length, 1)
  const [first, second] = await Promise.all([one, two].map(store => store.read(reader => reader.get('towns', 't-1'))))
  assert.ok(first && !isFormer(first))
  assert.deepEqual(first, second)
  assert.ok(first.version > version)
  await Promise.all([one.close(), two.close()])
  await place.remove()
})

const change = (id: string) =>
  ({ at: 1, resource: 'towns', id, version: 1, what: 'changed', operation: 'ChangeTown' }) as const
const count = async (reader: StoreReader): Promise<number> =>
  (await reader.list('towns', { filters: [], within: 'all', sort: [], size: 10, counted: false })).items.length
const isNowhere = async (reader: StoreReader): Promise<number> =>
  Number(await reader.has('towns', [{ field: 'name', is: 'eq', value: 'made' }]))
const isAbsent = async (reader: StoreReader): Promise<number> =>
  Number((await reader.get('towns', 't-1')) !== undefined)

for (const [what, look] of Object.entries({
  'a list': count,
  'what has no match': isNowhere,
  'an absent item': isAbsent,
}))
  test(`(3) ${what} that a work has read still holds when it commits, or the work runs again`, only, async () => {
    const place = await running.place()
    const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
    const seen: number[] = []
    await one.write(async writer => {
      seen.push(await look(writer))
      if (seen.length === 1)
        await two.write(async other => {
          await other.put('towns', 't-1', { id: 't-1', name: 'made' }, {}, undefined, 1)
          await other.changed(change('t-1'))
        })
      await writer.put('towns', 't-2', { id: 't-2', name: '' }, {}, undefined, 1)
      await writer.changed(change('t-2'))
    })
    assert.deepEqual(seen, [0, 1])
    await Promise.all([one.close(), two.close()])
    await place.remove()
  })

test('independent works run once, however many there are', only, async () => {
  const place = await running.place()
  const store = await place.open(everything)
  await put(store, 't-0')
  let tries = 0
  await Promise.all(
    Array.from({ length: 64 }, (_, i) =>
      store.write(async writer => {
        tries++
        assert.equal(await writer.recall('once', `k-${i}`), undefined)
        await writer.get('towns', 't-0')
        await writer.put('towns', `n-${i}`, { id: `n-${i}`, name: '' }, {}, undefined, 1)
        await writer.changed(change(`n-${i}`))
        await writer.remember('once', `k-${i}`, { value: '', expires: 10 }, 1)
      }),
    ),
  )
  assert.equal(tries, 64)
  await store.close()
  await place.remove()
})

test('works that count in one item wait for each other instead of running again', only, async () => {
  const place = await running.place()
  const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
  await put(one, 't-1', undefined, '0')
  let tries = 0
  const add = (store: Store) =>
    store.write(async writer => {
      tries++
      const found = await writer.getForChange('towns', 't-1')
      assert.ok(found && !isFormer(found))
      const name = String(Number(found.value['name']) + 1)
      await writer.put('towns', 't-1', { id: 't-1', name }, {}, found, 1)
    }, townTurn)
  await Promise.all(Array.from({ length: 40 }, (_, i) => add(i % 2 ? one : two)))
  const found = await one.read(reader => reader.get('towns', 't-1'))
  assert.ok(found && !isFormer(found))
  assert.deepEqual([found.value['name'], tries], ['40', 40])
  await Promise.all([one.close(), two.close()])
  await place.remove()
})

test('(4) of two that make a key at once one makes it; the other runs again and finds it', only, async () => {
  const place = await running.place()
  const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
  let done = 0
  const once = (store: Store) =>
    store.write(async writer => {
      if (await writer.recall('once', 'k')) return 'found'
      await sleep(30)
      await writer.put('towns', `t-${++done}`, { id: `t-${done}`, name: '' }, {}, undefined, 1)
      await writer.remember('once', 'k', { value: '', expires: 10 }, 1)
      return 'made'
    })
  assert.deepEqual((await Promise.all([once(one), once(two)])).sort(), ['found', 'made'])
  assert.equal(await one.read(count), 1)
  await Promise.all([one.close(), two.close()])
  await place.remove()
})

test(
  '(6) a work that refuses because of another work under the same key runs again, and finds the key',
  only,
  async () => {
    const place = await running.place()
    const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
    const { version } = await put(one, 't-1', undefined, 'placed')
    const pay = (store: Store, between: () => Promise<unknown>) =>
      store.write(async writer => {
        if (await writer.recall('once', 'k')) return 'replayed'
        await between()
        const found = await writer.getForChange('towns', 't-1')
        assert.ok(found && !isFormer(found))
        if (found.value['name'] === 'paid') throw new Refused({ kind: 'conflict' })
        await writer.put('towns', 't-1', { id: 't-1', name: 'paid' }, {}, { version }, 1)
        await writer.remember('once', 'k', { value: '', expires: 10 }, 1)
        return 'paid'
      })
    assert.equal(await pay(one, () => pay(two, async () => {})), 'replayed')
    const refusing = one.write(async writer => {
      await writer.recall('once', 'other')
      await writer.get('towns', 't-1')
      throw new Refused({ kind: 'conflict' })
    })
    await assert.rejects(refusing, Refused)
    await Promise.all([one.close(), two.close()])
    await place.remove()
  },
)

test('an item that another session has locked delays only those who change it', only, async () => {
  const place = await running.place()
  const store = await place.open(everything, { work: 4000 })
  const { version } = await put(store, 't-1')
  const other = new pg.Client({ connectionString: place.url ?? '' })
  await other.connect()
  await other.query(`begin; select 1 from "towns" where "id" = 't-1' for update`)
  const held = Array.from({ length: 12 }, (_, i) =>
    store.write(async writer => {
      await writer.getForChange('towns', 't-1')
      await writer.put('towns', 't-1', { id: 't-1', name: `${i}` }, {}, { version }, 1)
    }, townTurn),
  )
  let isOver = false
  const ended = Promise.allSettled(held).finally(() => (isOver = true))
  await sleep(50)
  assert.equal(await store.ready(), true)
  assert.ok(await store.read(reader => reader.get('towns', 't-1')))
  await put(store, 't-2')
  assert.equal(isOver, false, 'others are served meanwhile')
  for (const each of await ended) assert.ok(each.status === 'rejected' && each.reason instanceof Unavailable)
  await other.query('rollback')
  await put(store, 't-1', version)
  await other.end()
  await store.close()
  await place.remove()
})

test('(1) a key that others remove and make again at the same time continues from its last version', only, async () => {
  const place = await running.place()
  const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
  const seen = [(await put(one, 't-1')).version]
  await Promise.all(
    [one, two, one, two].map(async store => {
      for (let i = 0; i < 10; i++)
        await store
          .write(async writer => {
            const stands = await writer.get('towns', 't-1')
            if (!stands || isFormer(stands))
              return writer.put('towns', 't-1', { id: 't-1', name: '' }, {}, undefined, 1)
            await writer.remove('towns', 't-1', stands.version, 1)
            return undefined
          })
          .then(made => made && seen.push(made.version))
    }),
  )
  assert.equal(new Set(seen).size, seen.length)
  assert.ok(seen.length > 10)
  await Promise.all([one.close(), two.close()])
  await place.remove()
})

test('(1) a key that another has made and removed meanwhile continues from that version', only, async () => {
  const place = await running.place()
  const [one, two] = await Promise.all([place.open(everything), place.open(everything)])
  const began = Promise.withResolvers<void>()
  const waiting = `select 1 from pg_stat_activity join pg_locks using (pid)
    where wait_event_type = 'Lock' and relation = to_regclass($1)`
  const former = two.write(async writer => {
    const { version } = await writer.put('towns', 't-1', { id: 't-1', name: '' }, {}, undefined, 1)
    await writer.remove('towns', 't-1', version, 1)
    began.resolve()
    while ((await ask(waiting, [`${schemaOf(place)}.towns`])).length === 0) await sleep(5)
    return version
  })
  await began.promise
  let tries = 0
  const { version } = await one.write(writer => {
    tries++
    return writer.put('towns', 't-1', { id: 't-1', name: '' }, {}, undefined, 1)
  })
  assert.ok(version > (await former))
  assert.equal(tries, 2, 'the first try could not see that version')
  await Promise.all([one.close(), two.close()])
  await place.remove()
})

test('a work that caught the failure of a statement is not reported as written', only, async () => {
  const place = await running.place()
  const store = await place.open(everything)
  await assert.rejects(
    store.write(async writer => {
      await writer.put('towns', 't-1', { id: 't-1', name: '' }, {}, undefined, 1)
      await assert.rejects(
        async () => await writer.put('towns', 't-2', { id: 't-2', name: 'a \u0000' }, {}, undefined, 1),
      )
    }),
  )
  assert.equal(await store.read(reader => reader.get('towns', 't-1')), undefined)
  await store.close()
  await place.remove()
})

test('records of the audit are only added', only, async () => {
  const place = await running.place()
  const store = await place.open(everything)
  const deed = {
    at: 1,
    subject: 'ada',
    operation: 'GetTown',
    resource: 'towns',
    id: 't-1',
    version: 1,
    face: 'rest',
    request: 'r',
  }
  await store.write(writer => writer.record(deed))
  const [found] = await ask(
    `select schemaname from pg_tables where tablename = '_deed' order by schemaname desc limit 1`,
  )
  const table = `"${found?.['schemaname']}"."_deed"`
  await assert.rejects(ask(`update ${table} set subject = 'eve' where true`), /only added|no rows/)
  await store.close()
  await place.remove()
})

test('a filter on a string of any length has an index: equal values are found by a digest', async t => {
  const parcels = resource('parcels', {
    fields: { id: t_.id('p'), code: t_.string({ max: 100_000 }).optional() },
  }).rules({ filter: ['code'], allow: { read: [anyone] } })
  const contract = service('post', { namespace: 'urn:post', resources: [parcels], versions: { v1: {} } })
  const [index] = (compileTables(contract, postgres).get('parcels')?.indexes ?? []).filter(each => each.isHash)
  assert.equal(index?.name, 'parcels#code')
  const place = await running.place()
  t.after(() => place.remove())
  const store = await place.open(contract)
  t.after(() => store.close())
  const long = 'x'.repeat(50_000)
  await store.write(async writer => {
    for (const [id, code] of [
      ['p-1', long],
      ['p-2', `${long}y`],
      ['p-3', undefined],
    ] as const)
      await writer.put('parcels', id, { id, ...(code !== undefined && { code }) }, {}, undefined, 1)
  })
  const query = { within: 'all', sort: [], size: 10, counted: true } as const
  const ids = async (value: string | undefined) =>
    (
      await store.read(reader => reader.list('parcels', { ...query, filters: [{ field: 'code', is: 'eq', value }] }))
    ).items.map(each => each.id)
  assert.deepEqual([await ids(long), await ids(undefined)], [['p-1'], ['p-3']])
})
