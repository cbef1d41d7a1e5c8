/** `diglot copy`: a copy has everything that its database has, in a database of either kind. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import fc from 'fast-check'
import type { Implementation } from '../../src/contract/implement.ts'
import type { Service } from '../../src/contract/service.ts'
import { copyDatabase, databasePlaceOf } from '../../src/host/store/copy-database.ts'
import { resource, service, t } from '../../src/index.ts'
import { collectOctets, inMemoryFile, pieceOctets, stageContent } from '../../src/service/file-content.ts'
import type { JobRow, Query, Store, StoreReader } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { openSqliteRows } from '../../src/store/sqlite-rows.ts'
import { every, everything, members } from './every-type.ts'
import { server } from './postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-copy-'))
const running = await server()
after(async () => {
  await running.stop()
  rmSync(folder, { recursive: true })
})

const appOf = (contract: Service): Implementation => ({ contract, handlers: {} }) as unknown as Implementation
const app = appOf(everything)
const fileAt = (name: string): string => join(folder, `${name}.sqlite`)
const quiet = { copied: () => {}, filling: () => {}, leftBehind: () => {} }
const plain: Query = { filters: [], within: 'all', sort: [], size: 100, counted: false }
const octets = new Uint8Array(3 * pieceOctets + 7).map((_, at) => at % 251)
const job: JobRow = {
  ...{ id: 'j-1', job: 'digests', state: 'queued', progress: 0.25, owner: 'ann', caller: '{"subject":"ann"}' },
  ...{ input: '{}', output: undefined, failure: undefined, tries: 1, version: 0, created: 5, modified: 6, leased: 0 },
  ...{ due: 7, party: 'ann', turn: 3 },
} as const

/** Items of every type, files, jobs, records, deeds, changes, and what was removed or moved. */
async function fillStore(store: Store): Promise<void> {
  const values = fc.sample(members(every), { numRuns: 40, seed: 7 })
  const content = { store, clock: () => Date.now(), id: (prefix: string) => `${prefix}-file` }
  const staged = await stageContent(
    content,
    (async function* () {
      yield octets
    })(),
    octets.length,
  )
  await store.write(async writer => {
    const now = Date.now()
    for (const [at, value] of values.entries())
      await writer.put(
        'things',
        `x-${at}`,
        { ...value, id: `x-${at}` },
        { weigh: { grams: 2n ** 62n, proof: octets.subarray(0, 9) } },
        undefined,
        now,
      )
    for (const id of ['m-1', 'm-2', 'm-3'])
      await writer.put('makers', id, { id, name: `Érard ${id}` }, {}, undefined, now)
    await writer.putFile(
      'things',
      'x-1',
      'picture',
      { mediaType: 'image/png', octets: inMemoryFile(octets.subarray(0, 300)) },
      now,
    )
    await writer.putFile(
      'things',
      'x-2',
      'picture',
      { mediaType: 'image/png', octets: staged ?? assert.fail('too long') },
      now,
    )
    await writer.putJob(job)
    await writer.remember('seed', 'everything', { value: '{}', expires: 2 ** 52 }, now)
    await writer.remember(
      'instance',
      'here',
      { value: '{"instance":"here, process 1","names":[]}', expires: now - 1 },
      0,
    )
    for (const id of ['x-1', 'x-2', 'x-3']) {
      await writer.record({
        at: now,
        subject: 'ann',
        operation: 'CreateThing',
        resource: 'things',
        id,
        version: 1,
        face: 'rest',
        request: 'r',
      })
      await writer.changed({
        at: now - 1000,
        resource: 'things',
        id,
        version: 1,
        what: 'created',
        operation: 'CreateThing',
      })
    }
  })
  await store.write(async writer => {
    const [one, two] = await Promise.all(['m-2', 'm-3'].map(id => writer.get('makers', id)))
    await writer.remove('makers', 'm-2', one?.version ?? 0, Date.now())
    await writer.move('makers', 'm-3', 'm-1', two?.version ?? 0, Date.now())
  })
}

/** Everything that the port reports of it. */
const readAll = (store: Store): Promise<object> =>
  Promise.resolve(
    store.read(async (reader: StoreReader) => ({
      things: (await reader.list('things', plain)).items,
      makers: await Promise.all(['m-1', 'm-2', 'm-3'].map(id => reader.get('makers', id))),
      found: (await reader.list('makers', { ...plain, words: ['érard'] })).items.map(({ id }) => id),
      job: await reader.job('j-1'),
      seeds: [...(await reader.recallAll('seed')).entries()],
      deeds: await reader.deeds(0, 2 ** 52, 100),
      changes: await reader.changes(0, 100),
      swept: await reader.swept(),
      files: await Promise.all(
        ['x-1', 'x-2'].map(async id => {
          const found = (await reader.file('things', id, 'picture')) ?? assert.fail(id)
          return { ...found, octets: await collectOctets(found.octets) }
        }),
      ),
    })),
  )

const filled = fileAt('filled')
const before = await (async () => {
  const store = openSqliteStore(everything, filled, { changesKept: 0 })
  await fillStore(store)
  await store.sweep(Date.now() - 500) // all of the feed: its numbers go on all the same
  await store.write(writer =>
    writer.changed({
      at: Date.now(),
      resource: 'things',
      id: 'x-4',
      version: 2,
      what: 'changed',
      operation: 'PatchThing',
    }),
  )
  const all = await readAll(store)
  await store.close()
  return all
})()

async function assertWhole(store: Store): Promise<void> {
  try {
    assert.deepEqual(await readAll(store), before)
    await store.write(async writer => {
      await writer.changed({
        at: 1,
        resource: 'things',
        id: 'x-1',
        version: 3,
        what: 'changed',
        operation: 'PatchThing',
      })
      await writer.record({
        at: 1,
        subject: 'bob',
        operation: 'PatchThing',
        resource: 'things',
        id: 'x-1',
        version: 3,
        face: 'soap',
        request: 'r',
      })
    })
    const [numbers, deeds] = await store.read(
      async reader => [await reader.changes(0, 9), await reader.deeds(0, 2 ** 52, 9)] as const,
    )
    assert.deepEqual(
      numbers.map(({ sequence }) => sequence),
      [4, 5],
    )
    assert.deepEqual(
      deeds.map(({ sequence }) => sequence),
      [1, 2, 3, 4],
    )
  } finally {
    await store.close()
  }
}

test('a copy has all that the database has, and continues counting', async () => {
  const to = fileAt('again')
  const tables = new Map<string, number>()
  await copyDatabase(app, { data: filled }, databasePlaceOf(to), {
    ...quiet,
    copied: (table, rows) => void tables.set(table, rows),
  })
  assert.deepEqual([tables.get('things'), tables.get('_piece'), tables.get('_memo')], [40, 4, 1])
  await assertWhole(openSqliteStore(everything, to))
})

test('a file becomes a PostgreSQL and a file again', {
  skip: running.url === undefined && 'PGlite has no address',
}, async () => {
  const place = await running.place()
  const to = place.url ?? assert.fail('no address')
  await copyDatabase(app, { data: filled }, databasePlaceOf(to), quiet)
  const back = fileAt('back')
  await copyDatabase(app, databasePlaceOf(to), { data: back }, quiet)
  await assertWhole(await place.open(everything))
  await assertWhole(openSqliteStore(everything, back))
  await assert.rejects(
    copyDatabase(app, { data: filled }, databasePlaceOf(to), quiet),
    /already has rows.*give an empty one/,
  )
})

test('each change, each line of the audit and each piece of a file comes back, however many there are', {
  skip: running.url === undefined && 'PGlite has no address',
}, async () => {
  const place = await running.place()
  await (await place.open(everything)).close()
  // As texts, the numbers from 1000 on come before those from 900 on.
  await place.direct?.(`
    insert into "_change" ("sequence", "at", "resource", "id", "version", "what", "operation") overriding system value
      select n, 1, 'things', 'x-1', n, 'changed', 'PatchThing' from generate_series(900, 1499) n;
    insert into "_deed" ("sequence", "at", "subject", "operation", "resource", "id", "version", "face", "request")
      overriding system value
      select n, 1, 'ann', 'PatchThing', 'things', 'x-1', n, 'rest', 'r' from generate_series(900, 1499) n;
    insert into "_piece" ("content", "number", "bytes") select 'c', n, '\\x00' from generate_series(0, 39) n`)
  const back = fileAt('all')
  await copyDatabase(app, databasePlaceOf(place.url ?? ''), { data: back }, quiet)
  const file = new DatabaseSync(back)
  const count = (table: string) => file.prepare(`select count(*) as n from ${table}`).get()?.['n']
  assert.deepEqual([count('_change'), count('_deed'), count('_piece')], [600, 600, 40])
  file.close()
  await place.remove()
})

test('no table or column is left behind', async () => {
  const database = new DatabaseSync(filled, { readOnly: true })
  const inside = (of: string): readonly string[] =>
    database
      .prepare(`select name from pragma_table_info('${of}')`)
      .all()
      .map(row => String(row['name']))
  const tables = database
    .prepare(`select name from sqlite_master where type = 'table'`)
    .all()
    .map(row => String(row['name']))
  const own = /^(sqlite_|_shape$)|##/
  const asked: string[] = []
  const rows = openSqliteRows(filled)
  const target = openSqliteRows(fileAt('again'))
  const { copyRows } = await import('../../src/store/copied-rows.ts')
  const { compileTables } = await import('../../src/store/table.ts')
  const { sqlite } = await import('../../src/store/dialect.ts')
  const watched = {
    run: () => {},
    first: () => undefined,
    rows: ({ text }: { text: string }) => {
      asked.push(text)
      return text.includes('count(*)') ? [['0']] : []
    },
  }
  await rows.run('read', from =>
    copyRows(
      { ...from, on: watched },
      { dialect: sqlite, on: { ...watched, rows: () => [['0']] } },
      compileTables(everything, sqlite),
      () => {},
    ),
  )
  await Promise.all([rows.close(), target.close()])
  for (const table of tables.filter(name => !own.test(name))) {
    const text = asked.find(each => each.includes(`from "${table}" where`)) ?? assert.fail(`${table} is not copied`)
    for (const column of inside(table)) assert.ok(text.includes(`"${column}"`), `${table}.${column} is not copied`)
  }
  database.close()
})

test('changes of a running instance would be missing, so nothing is copied while one runs', async () => {
  const busy = fileAt('busy')
  const store = openSqliteStore(everything, busy)
  await store.write(writer =>
    writer.remember(
      'instance',
      'a',
      { value: '{"instance":"desk, process 7","names":[]}', expires: Date.now() + 90_000 },
      0,
    ),
  )
  await store.close()
  const to = fileAt('from-busy')
  await assert.rejects(
    copyDatabase(app, { data: busy }, { data: to }, quiet),
    /^StoreFailure: desk, process 7 uses the database.*stop it \(.*90 s\)/,
  )
  assert.equal(existsSync(to), false)
})

test('no file is replaced, and an error names what the contract does not have', async () => {
  await assert.rejects(
    copyDatabase(app, { data: filled }, { data: filled }, quiet),
    /already exists: give another file/,
  )
  await assert.rejects(
    copyDatabase(app, { data: fileAt('none') }, { data: fileAt('other') }, quiet),
    /none.sqlite not found/,
  )
  const old = fileAt('old')
  const note = { id: t.id('n'), text: t.string(), kept: t.string().optional() }
  const { kept: _kept, ...fewer } = note
  const contractOf = (...resources: ReturnType<typeof resource>[]) =>
    service('old', { namespace: 'urn:old', resources }) as unknown as Service
  openSqliteStore(
    contractOf(resource('notes', { fields: note }) as never, resource('papers', { fields: note }) as never),
    old,
  ).close()
  const left: string[] = []
  await copyDatabase(
    appOf(contractOf(resource('notes', { fields: fewer }) as never)),
    { data: old },
    { data: fileAt('new') },
    { ...quiet, leftBehind: name => void left.push(name) },
  )
  assert.deepEqual(left, ['notes.kept', 'papers'])
})
