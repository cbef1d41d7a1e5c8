/** Indexes that a new contract declares over a large table, on PostgreSQL. */
import assert from 'node:assert/strict'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { anyone, resource, service, t } from '../../src/index.ts'
import type { FillProgress, Store } from '../../src/service/store.ts'
import type { Steps } from '../../src/store/database-shape.ts'
import type { MigrationWish } from '../../src/store/migration.ts'
import { IndexBuilds, measureBuild } from '../../src/store/postgres-builds.ts'
import { Sessions } from '../../src/store/postgres-sessions.ts'
import { openRateWindows } from '../../src/store/rate-windows.ts'
import { sql } from '../../src/store/sql.ts'
import { server } from './postgres.ts'

const running = await server()
after(() => running.stop())
const { url } = running
const only = { skip: url === undefined && 'PGlite has one connection, so nothing goes on meanwhile' }

const notebook = (filter: readonly 'color'[]) => {
  const notes = resource('notes', {
    fields: { id: t.id('n'), color: t.string({ max: 9 }), size: t.int().optional() },
  }).rules({ filter, allow: { read: [anyone] } })
  return service('notebook', { namespace: 'urn:notebook', resources: [notes], versions: { v1: {} } })
}
const [before, now] = [notebook([]), notebook(['color'])]
const rowsTotal = 10_001

/**
 * A table of the older contract with so many rows that a start leaves its indexes for later. What
 * is opened on it is closed with it, the last first.
 */
async function fillPlace(t: TestContext) {
  const opened = new AsyncDisposableStack()
  t.after(() => opened.disposeAsync())
  const place = opened.adopt(await running.place(), each => each.remove())
  await (await place.open(before)).close()
  await place.direct?.(
    `insert into "notes" ("id", "_version", "_created", "_modified", "color")
      select 'n-' || i, 1, i, i, 'red' from generate_series(1, ${rowsTotal}) as i`,
  )
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: place.url ?? '' })
    await client.connect()
    return opened.adopt(client, each => each.end())
  }
  const open = async (migration?: MigrationWish): Promise<Store> =>
    opened.adopt(await place.open(now, { ...(migration && { migration }) }), each => each.close())
  return { place, open, writer: await connect(), watcher: await connect() }
}
/** The index as the server has it: its identity, and whether it is valid. */
async function look(on: pg.Client): Promise<readonly [number, boolean] | undefined> {
  const { rows } = await on.query(
    `select indexrelid::int8::float8 as id, indisvalid as valid from pg_index
      where indexrelid = to_regclass('"notes#color"')`,
  )
  return rows[0] && [rows[0].id, rows[0].valid]
}
/** A transaction that has written to the table: until it ends no index is complete. */
async function holdTable(on: pg.Client): Promise<void> {
  await on.query('begin')
  await on.query(`update "notes" set "color" = 'blue' where "id" = 'n-1'`)
}
const isWaiting = async (on: pg.Client): Promise<boolean> =>
  (await on.query(`select 1 from pg_stat_progress_create_index where phase like 'waiting for writers%'`)).rows.length >
  0
async function waitFor(is: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await is()); tries++) {
    assert.ok(tries < 400, 'it does not come')
    await sleep(25)
  }
}

test(
  '(2) an index of a large table is made while others write; neither they nor the start wait for it',
  only,
  async t => {
    const { open, writer, watcher } = await fillPlace(t)
    await holdTable(writer)
    const store = await open()
    assert.equal(await look(watcher), undefined)
    const told: FillProgress[] = []
    const filling = store.fill?.(progress => told.push(progress))
    await waitFor(() => isWaiting(watcher))
    const begun = performance.now()
    await store.write(to => to.put('notes', 'new', { id: 'new', color: 'green' }, {}, undefined, 1))
    assert.ok(performance.now() - begun < 10_000, 'a write waits')
    await waitFor(async () => told.some(each => each.phase === 'waiting for writers before build'))
    await writer.query('commit')
    assert.equal(await filling, true)
    assert.deepEqual((await look(watcher))?.[1], true)
    const what = 'index notes#color'
    assert.deepEqual(
      [told[0], told.at(-1)],
      [
        { what, rowsDone: 0, rowsTotal, isOver: false },
        { what, rowsDone: rowsTotal, rowsTotal, isOver: true },
      ],
    )
    const { rows } = await watcher.query(`select count(*)::int as n from "notes" where "color" = 'green'`)
    assert.equal(rows[0].n, 1)
  },
)

test('(3) a store that is closed ends its build, and its unfinished index is made again', only, async t => {
  const { place, open, writer, watcher } = await fillPlace(t)
  await holdTable(writer)
  const first = await place.open(now)
  const filling = first.fill?.()
  const ended = assert.rejects(filling ?? Promise.resolve(), { cause: 'the store is closed while an index is built' })
  await waitFor(() => isWaiting(watcher))
  const begun = performance.now()
  await first.close()
  assert.ok(performance.now() - begun < 10_000, 'the end of a store waits for its build')
  await ended
  await waitFor(async () => !(await isWaiting(watcher)))
  const left = await look(watcher)
  assert.equal(left?.[1], false, 'an invalid index is left')
  await writer.query('commit')
  const store = await open()
  assert.equal(await store.fill?.(), true)
  const made = await look(watcher)
  assert.equal(made?.[1], true)
  assert.notEqual(made?.[0], left?.[0])
})

test('(1) of two instances that start at once one makes an index, and the other leaves it alone', only, async t => {
  const { open, writer, watcher } = await fillPlace(t)
  await holdTable(writer)
  const [one, other] = [await open(), await open()]
  const filling = one.fill?.()
  await waitFor(() => isWaiting(watcher))
  assert.equal(await other.fill?.(), false)
  await writer.query('commit')
  assert.equal(await filling, true)
  const made = await look(watcher)
  assert.equal(await other.fill?.(), true)
  assert.equal(await (await open()).fill?.(), true)
  assert.deepEqual(await look(watcher), made, 'it is not made again')
})

test(
  "an index takes longer than the role's limit for a statement, which holds for calls again afterwards",
  only,
  async t => {
    const { place, writer, watcher } = await fillPlace(t)
    const limited = `${place.url}%20-c%20statement_timeout%3D300ms%20-c%20lock_timeout%3D700ms`
    const pool = new pg.Pool({ connectionString: limited, max: 2 })
    t.after(() => pool.end())
    const sessions = new Sessions(pool, 20_000)
    const builds = new IndexBuilds({ writes: sessions, probe: sessions })
    const build = {
      what: 'index notes#color',
      table: { name: 'notes' } as never,
      *isDue(): Steps<boolean> {
        yield { text: sql`select 1` }
        return true
      },
      texts: [sql`create index concurrently "notes#color" on "notes" ("color")`],
      *complete(): Steps<void> {
        yield { text: sql`select 1` }
      },
    }
    await holdTable(writer)
    const making = builds.make(build, () => {})
    await waitFor(() => isWaiting(watcher))
    await sleep(800)
    await writer.query('commit')
    assert.equal(await making, true)
    assert.equal((await look(watcher))?.[1], true)
    for (const { rows } of await Promise.all(
      [0, 1].map(() =>
        pool.query('select pg_sleep(0.1), name, setting from pg_settings where name ~ $1 order by name', [
          '^(lock|statement)_timeout$',
        ]),
      ),
    ))
      assert.deepEqual(
        rows.map(each => each.setting),
        ['700', '300'],
      )
  },
)

test('an instance starts while another makes an index, even one of its limits', only, async t => {
  const { place, open, writer, watcher } = await fillPlace(t)
  await holdTable(writer)
  const filling = (await open()).fill?.()
  await waitFor(() => isWaiting(watcher))
  await open()
  const windows = await openRateWindows(place.url ?? '')
  await windows.close()
  await writer.query('commit')
  assert.equal(await filling, true)
})

test('(1) an index that another completed before its turn is not made again', only, async t => {
  const pool = new pg.Pool({ connectionString: url ?? '', max: 2 })
  t.after(() => pool.end())
  const sessions = new Sessions(pool, 5000)
  const builds = new IndexBuilds({ writes: sessions, probe: sessions })
  const build = {
    what: 'index notes#color',
    table: { name: 'notes' } as never,
    *isDue(): Steps<boolean> {
      const [row] = yield { text: sql`select 0` }
      return row?.[0] === 1
    },
    texts: [sql`select 1 / 0`],
    complete: () => assert.fail('it is complete'),
  }
  assert.equal(await builds.make(build, () => assert.fail('nothing is filled')), true)
})

test('a plan reports an index that would be made while the service runs, and makes none', only, async t => {
  const { place, open, watcher } = await fillPlace(t)
  const told: string[] = []
  const wish = { drop: [], now: 0, tell: (says: string, text: string) => void told.push(`${says}: ${text}`) }
  await (await place.open(now, { migration: { ...wish, isPlan: true } })).close()
  const expected =
    'create the index notes#color, while the service runs: create index concurrently "notes#color" on "notes" ("color" asc nulls first, "id" asc nulls first)'
  assert.deepEqual(told, [expected])
  assert.equal(await look(watcher), undefined)
  const store = await open({ ...wish, isPlan: false })
  assert.deepEqual(told, [expected, expected])
  await store.fill?.()
  await (await place.open(now, { migration: { ...wish, isPlan: true } })).close()
  assert.equal(told.length, 2, 'nothing is left to do')
})

test('the completed share of a build only grows, through all phases that PostgreSQL reports', () => {
  const phases = [
    'initializing',
    'waiting for writers before build',
    'building index: scanning table',
    'building index: sorting live tuples',
    'building index: loading tuples in tree',
    'waiting for writers before validation',
    'index validation: scanning index',
    'index validation: sorting tuples',
    'index validation: scanning table',
    'waiting for old snapshots',
  ]
  const shares = phases.flatMap(phase =>
    (phase.endsWith('scanning table') ? [0, 0.5, 1] : [0]).map(share => measureBuild(phase, share)),
  )
  assert.deepEqual(shares, shares.toSorted())
  assert.deepEqual([shares[0], shares.at(-1)], [0, 1])
  assert.equal(measureBuild('building index', 0.5), 0.25, 'as an index of words tells it')
})

test('(4) an index of a large table that somebody removed is built again, once', only, async t => {
  const { open, watcher } = await fillPlace(t)
  assert.equal(await (await open()).fill?.(), true)
  const built = await look(watcher)
  const again = await open()
  assert.equal(await again.fill?.(), true)
  assert.deepEqual(await look(watcher), built)
  await watcher.query('drop index "notes#color"')
  const told: string[] = []
  await open({ isPlan: true, drop: [], now: 0, tell: says => told.push(says) })
  assert.deepEqual(told, ['create the index notes#color, while the service runs'])
  const later = await open()
  assert.equal(await look(watcher), undefined)
  assert.equal(await later.fill?.(), true)
  assert.deepEqual((await look(watcher))?.[1], true)
})
