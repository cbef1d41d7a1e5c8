import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, mkdtemp, open as openFile, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '../../src/base/attempt.ts'
import { t as field } from '../../src/contract/field.ts'
import type { Values } from '../../src/contract/implement.ts'
import { findMissingIndex, listIndexesOf } from '../../src/contract/list-index.ts'
import { anyone } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { type Service, service } from '../../src/contract/service.ts'
import { ListedDeeds } from '../../src/host/operations/audit.ts'
import { backUpDatabase } from '../../src/host/operations/backup.ts'
import { Refused } from '../../src/service/refusal.ts'
import { isFormer, type Query, type Replaced, type Store, Unavailable } from '../../src/service/store.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { planMigration } from '../../src/store/migration.ts'
import { compileStoreSchema } from '../../src/store/sql-access.ts'
import { openSqliteStore, type SqliteOptions } from '../../src/store/sqlite.ts'
import { compileStatement } from '../../src/store/statement.ts'
import { absentLists, compilePages, cursorLists, desk, formOf, tickets } from './absent-lists.ts'
import { jobRow, type Place, storeCases } from './battery.ts'
import { everything } from './every-type.ts'

const isRefused = (thrown: unknown): boolean => thrown instanceof Refused

/** Memory that looks like a disk, if there is any: these tests are not about a disk's speed. */
const temporary = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = () => mkdtemp(join(temporary, 'store-'))

async function onFile(): Promise<Place> {
  const own = await folder()
  return {
    open: async (service, options) => openSqliteStore(service, join(own, 'data.sqlite'), options),
    direct: async text => direct(join(own, 'data.sqlite'), text),
    remove: () => rm(own, { recursive: true }),
  }
}
storeCases('sqlite, a file', onFile)

const forgets = 'it forgets when it is closed'
storeCases(
  'sqlite, in memory',
  async () => ({
    open: async (service, options) => openSqliteStore(service, ':memory:', options),
    remove: async () => {},
  }),
  {
    'everything stands after a restart': forgets,
    'the contract has': forgets,
    'a rolling change': forgets,
    'files that an older program': forgets,
    'a unique key whose index': forgets,
  },
)

async function opened(t: TestContext, options: SqliteOptions = {}, contract: Service = everything) {
  const own = await folder()
  const file = join(own, 'data.sqlite')
  const store = openSqliteStore(contract, file, options)
  t.after(async () => {
    await store.close()
    await rm(own, { recursive: true })
  })
  return { file, own, store }
}
const put = (store: Store, id: string, name = id) =>
  store.write(writer => writer.put('towns', id, { id, name }, {}, undefined, 1))
const all: Query = { filters: [], within: 'all', sort: [], size: 1_000_000, counted: true }
const towns = async (store: Store): Promise<string[]> =>
  (await store.read(reader => reader.list('towns', all))).items.map(each => each.id)
const direct = (file: string, text: string): void => {
  const other = new DatabaseSync(file)
  try {
    other.exec(text)
  } finally {
    other.close()
  }
}

test('a new table is made in one statement, including the columns for its words', () => {
  const schema = compileStoreSchema(everything, sqlite, () => {
    throw new Error('nothing is filled')
  })
  const steps = planMigration(schema)
  const texts: string[] = []
  for (let step = steps.next(); !step.done; step = steps.next([]))
    texts.push(compileStatement(sqlite, step.value.text).text)
  const searched = [...schema.tables.values()].filter(({ words }) => words.length > 0)
  assert.ok(searched.length > 0)
  for (const { name, words } of searched)
    for (const { column } of words)
      assert.ok(texts.some(text => text.startsWith(`create table "${name}" (`) && text.includes(`"${column}" text`)))
  assert.deepEqual(
    texts.filter(text => text.startsWith('alter table')),
    [],
  )
})

describe('sqlite: behaviour that only a file shows', () => {
  test('a store that is opened has statistics of its present rows', async t => {
    const { store, file } = await opened(t)
    await store.write(async writer => {
      for (let i = 0; i < 3000; i++)
        await writer.put('towns', `t-${i}`, { id: `t-${i}`, name: `${i}` }, {}, undefined, 1)
    })
    const next = openSqliteStore(everything, file)
    t.after(() => next.close())
    const reading = new DatabaseSync(file, { readOnly: true })
    t.after(() => reading.close())
    const rows = reading.prepare(`select "stat" from "sqlite_stat1" where "tbl" = 'towns'`).all()
    assert.ok(rows.length > 0)
    for (const { stat } of rows) assert.match(String(stat), /^3000 /)
  })

  test('statistics come from a sample: a million rows delay nobody for long', async t => {
    const { store, file } = await opened(t)
    await store.write(async writer => {
      for (let i = 0; i < 6000; i++) await writer.put('towns', `t-${i}`, { id: `t-${i}`, name: 'x' }, {}, undefined, 1)
    })
    const next = openSqliteStore(everything, file)
    t.after(() => next.close())
    using reading = new DatabaseSync(file, { readOnly: true })
    const rows = reading.prepare(`select "stat" from "sqlite_stat1" where "tbl" = 'towns'`).all()
    const perValue = rows.map(({ stat }) => Number(String(stat).split(' ')[1]))
    assert.ok(perValue.some(each => each > 1) && perValue.every(each => each < 3000), perValue.join())
  })

  test('a store that stays open refreshes them each minute', async t => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { store, file } = await opened(t)
    const countOf = () => {
      using reading = new DatabaseSync(file, { readOnly: true })
      const [row] = reading.prepare(`select "stat" from "sqlite_stat1" where "tbl" = 'towns'`).all()
      return Number.parseInt(String(row?.['stat'] ?? '0'), 10)
    }
    await store.write(async writer => {
      for (let i = 0; i < 3000; i++)
        await writer.put('towns', `t-${i}`, { id: `t-${i}`, name: `${i}` }, {}, undefined, 1)
    })
    t.mock.timers.tick(59_999)
    assert.equal(countOf(), 0)
    t.mock.timers.tick(1)
    assert.equal(countOf(), 3000)
  })

  test('a sweep of many rows lets a write in after each batch', async t => {
    const { store } = await opened(t)
    await store.write(async writer => {
      for (let i = 0; i < 3000; i++) await writer.remember('many', String(i), { value: '', expires: 1 }, 0)
    })
    const sweeping = store.sweep(2)
    let isDone = false
    sweeping.finally(() => (isDone = true))
    let writes = 0
    for (; !isDone; writes++) await put(store, `t-${writes}`)
    assert.equal(await sweeping, 3000)
    assert.ok(writes >= 6, `${writes} writes during 6 batches`)
  })

  test('(2) killed at any moment, it has lost no confirmed write, and holds no half of one', async t => {
    const own = await folder()
    t.after(() => rm(own, { recursive: true }))
    const file = join(own, 'data.sqlite')
    const answered = new Set<string>()
    for (const name of ['a', 'b', 'c']) {
      const child = spawn(process.execPath, [
        '--conditions=diglot-source',
        join(import.meta.dirname, 'writer.ts'),
        file,
        name,
      ])
      child.stdout.on('data', chunk => {
        // A truncated line names nothing.
        for (const line of String(chunk).split('\n').slice(0, -1)) answered.add(line)
      })
      await once(child.stdout, 'data')
      await sleep(20 + Math.random() * 60)
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    const store = openSqliteStore(everything, file)
    const stand = new Set(await towns(store))
    const told = await store.read(reader => reader.changes(0, 1_000_000))
    await store.close()
    assert.ok(answered.size > 10)
    assert.deepEqual(
      [...answered].filter(id => !stand.has(id)),
      [],
    )
    assert.deepEqual(told.map(each => each.id).toSorted(), [...stand].toSorted())
  })

  test('(4) a read waits for no writer, here or in another process, and sees what is committed', async t => {
    const { file, store } = await opened(t)
    await put(store, 't-1')
    const other = new DatabaseSync(file)
    other.exec(`begin immediate; update towns set name = 'elsewhere'`)
    assert.deepEqual(await towns(store), ['t-1'])
    other.exec('commit')
    other.close()
    await new Promise(setImmediate)
    const found = await store.read(reader => reader.get('towns', 't-1'))
    assert.deepEqual(found && 'value' in found && found.value, { id: 't-1', name: 'elsewhere' })
    let during: string[] | undefined
    await store.write(async writer => {
      await writer.put('towns', 't-2', { id: 't-2', name: '' }, {}, undefined, 1)
      during = await towns(store)
    })
    assert.deepEqual(during, ['t-1'])
    assert.deepEqual((await towns(store)).toSorted(), ['t-1', 't-2'], 'whoever was answered sees it, at once')
  })

  test('(4) a total belongs to the state that is read, also after another process has written', async t => {
    const { file, store } = await opened(t)
    const totalOf = async (): Promise<unknown> =>
      (await store.read(reader => reader.list('towns', { ...all, size: 1 }))).total
    await put(store, 't-1')
    await put(store, 't-2')
    assert.deepEqual([await totalOf(), await totalOf()], [2, 2])
    direct(file, `update towns set id = 't-3' where id = 't-2'; delete from towns where id = 't-1'`)
    await new Promise(setImmediate)
    assert.equal(await totalOf(), 1)
    let during: unknown
    await store.read(async reader => {
      await put(store, 't-4')
      during = (await reader.list('towns', { ...all, size: 0 })).total
    })
    assert.deepEqual([during, await totalOf()], [1, 2], 'a snapshot keeps its own')
  })

  test('(6) a write waits for another process that writes, and no longer than configured', async t => {
    const { file, store } = await opened(t, { patience: 150 })
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    await assert.rejects(put(store, 't-1'), thrown => thrown instanceof Unavailable && thrown.after === 1)
    const waiting = put(store, 't-2')
    await sleep(50)
    other.exec('rollback')
    other.close()
    assert.equal((await waiting).id, 't-2')
    assert.deepEqual(await towns(store), ['t-2'])
  })

  test('(6) if no more can be written it is unavailable, nothing of the write stays, and confirmed writes do', async t => {
    const own = await folder()
    t.after(() => rm(own, { recursive: true }))
    const file = join(own, 'data.sqlite')
    const script = [join(import.meta.dirname, 'fill-table.ts'), file]
    const limited = [
      '-c',
      `trap '' XFSZ; ulimit -f 2000; exec "$0" --conditions=diglot-source "$@"`,
      process.execPath,
      ...script,
    ]
    const { stdout, stderr } = spawnSync('sh', limited, { encoding: 'utf8' })
    assert.equal(stderr, '')
    const { ready, answered, refused, seen } = JSON.parse(stdout)
    assert.ok(answered.length > 0)
    assert.equal(refused, 'Unavailable')
    assert.deepEqual(ready, [true, false, true], 'a full disk shows in the readiness')
    assert.deepEqual(seen.toSorted(), answered.toSorted())
    const store = openSqliteStore(everything, file)
    assert.deepEqual((await towns(store)).toSorted(), answered.toSorted())
    await put(store, 't-more')
    await store.close()
  })

  for (const [what, end, move] of [
    ['removed', '', (path: string) => rename(path, `${path}.away`)],
    ['removed', '-wal', (path: string) => rename(path, `${path}.away`)],
    [
      'replaced',
      '',
      async (path: string) => {
        await copyFile(path, `${path}.copy`)
        await rename(path, `${path}.away`)
        await rename(`${path}.copy`, path)
      },
    ],
  ] as const)
    test(`(7) no write is confirmed once the file${end} is ${what}, until it is put back`, async t => {
      const { file, store } = await opened(t)
      await put(store, 't-1')
      await move(`${file}${end}`)
      await assert.rejects(put(store, 't-2'), thrown => {
        assert.ok(thrown instanceof Unavailable)
        assert.match(String(thrown.cause), /data\.sqlite(-wal)? was removed or replaced .*: put back the file/)
        return true
      })
      assert.equal(await store.ready(), false)
      const unserved: Query = { ...all, sort: [{ field: 'name', descending: true }] }
      await assert.rejects(async () => store.read(reader => reader.list('towns', unserved)), Unavailable)
      await rename(`${file}${end}.away`, `${file}${end}`)
      await put(store, 't-3')
      assert.equal(await store.ready(), true)
      assert.deepEqual((await towns(store)).toSorted(), ['t-1', 't-3'])
    })

  test('a file whose pages are damaged while it is open is not ready once one of them was read', async t => {
    const { file, store } = await opened(t)
    await put(store, 't-1')
    await store.close()
    const damaged = openSqliteStore(everything, file)
    t.after(() => damaged.close())
    const own = new DatabaseSync(file)
    const root = own.prepare(`select "rootpage" from "sqlite_schema" where "name" = 'towns'`).get()?.['rootpage']
    own.close()
    const open = await openFile(file, 'r+')
    await open.write(Buffer.alloc(4096, 7), 0, 4096, (Number(root) - 1) * 4096)
    await open.close()
    assert.equal(await damaged.ready(), true)
    await assert.rejects(async () => damaged.read(reader => reader.get('towns', 't-1')), /malformed/)
    assert.equal(await damaged.ready(), false)
  })

  test('a closed store releases its file: nothing is left beside it', async t => {
    const { own, store } = await opened(t)
    await put(store, 't-1')
    await towns(store)
    assert.ok((await readdir(own)).length > 1, 'what was written is in the log')
    await store.close()
    assert.deepEqual(await readdir(own), ['data.sqlite'])
  })

  test('a file that cannot be written or made fails the start, with an error for operators', async t => {
    const { own, store, file } = await opened(t)
    assert.throws(() => openSqliteStore(everything, join(own, 'none', 'data.sqlite')), /unable to open/)
    await store.close()
    await chmod(file, 0o400)
    if (process.getuid?.() !== 0) assert.throws(() => openSqliteStore(everything, file), /readonly/)
  })

  test('(6) a file that is not a database, or is truncated, is an error of its own at start, never unavailable', async t => {
    const own = await folder()
    t.after(() => rm(own, { recursive: true }))
    const file = join(own, 'data.sqlite')
    writeFileSync(file, 'not a database, and long enough to be looked at '.repeat(100))
    assert.throws(() => openSqliteStore(everything, file), /not a database/)
    const cut = join(own, 'cut.sqlite')
    const store = openSqliteStore(everything, cut)
    for (let i = 0; i < 200; i++) await put(store, `t-${i}`, 'x'.repeat(1000))
    await store.close()
    truncateSync(cut, 60_000)
    assert.throws(() => openSqliteStore(everything, cut), /malformed|corrupt/)
  })

  test('backup copies one state while writes go on, and the copy is a store', async t => {
    const { own, store } = await opened(t)
    await Promise.all(Array.from({ length: 200 }, (_, i) => put(store, `t-${i}`)))
    const copy = join(own, 'copy.sqlite')
    const copied = store.backup(copy)
    const more = Promise.all(Array.from({ length: 50 }, (_, i) => put(store, `u-${i}`)))
    await Promise.all([copied, more])
    const again = openSqliteStore(everything, copy)
    const stand = await towns(again)
    await again.close()
    assert.equal(stand.filter(id => id.startsWith('t-')).length, 200)
    const memory = openSqliteStore(everything, ':memory:')
    await put(memory, 't-1')
    await memory.backup(join(own, 'memory.sqlite'))
    await memory.close()
    const kept = openSqliteStore(everything, join(own, 'memory.sqlite'))
    assert.deepEqual(await towns(kept), ['t-1'])
    await kept.close()
  })

  test('the log of a file is not applied to the copy that replaces it, and to the file itself it is', async t => {
    const { own, store } = await opened(t)
    const data = join(own, 'data.sqlite')
    await put(store, 't-1')
    const copies = [join(own, 'one.sqlite'), join(own, 'other.sqlite')]
    await store.backup(copies[0] ?? '')
    await backUpDatabase(data, copies[1] ?? '')
    await put(store, 't-2')
    for (const copy of copies) await copyFile(`${data}-wal`, `${copy}-wal`)
    const killed = join(own, 'killed.sqlite')
    for (const end of ['', '-wal']) await copyFile(`${data}${end}`, `${killed}${end}`)
    for (const copy of copies) {
      assert.throws(() => openSqliteStore(everything, copy), /-wal belongs to the file that it replaced: remove .*-wal/)
      await rm(`${copy}-wal`)
    }
    for (const [file, ids] of [
      [copies[0] ?? '', ['t-1']],
      [copies[1] ?? '', ['t-1']],
      [killed, ['t-1', 't-2']],
    ] as const) {
      const opened = openSqliteStore(everything, file)
      assert.deepEqual((await towns(opened)).toSorted(), ids)
      await opened.close()
    }
  })

  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)
  test('SECURITY.md promise 3: the file, its -wal, its -shm and a copy are for their owner only', async t => {
    const { store, own } = await opened(t)
    await store.write(writer => writer.remember('a', 'b', { value: '', expires: 1e15 }, 0))
    for (const end of ['', '-wal', '-shm']) assert.equal(modeOf(`${join(own, 'data.sqlite')}${end}`), '600', end)
    await store.backup(join(own, 'copy.sqlite'))
    assert.equal(modeOf(join(own, 'copy.sqlite')), '600')
  })
  test('a file that everyone can read is closed to others; the choice of an operator stays', async t => {
    const own = await folder()
    t.after(() => rm(own, { recursive: true }))
    const file = join(own, 'data.sqlite')
    for (const [before, after] of [
      [0o644, '600'],
      [0o640, '640'],
      [0o600, '600'],
    ] as const) {
      await openSqliteStore(everything, file).close()
      await chmod(file, before)
      const store = openSqliteStore(everything, file)
      assert.equal(modeOf(file), after)
      await store.close()
    }
  })

  test('(1) after a restore no version returns for other content, at the same time of the clock either', async t => {
    const { own, store } = await opened(t)
    const now = Date.UTC(2026, 10, 22)
    const ids = Array.from({ length: 20 }, (_, i) => `t-${i}`)
    const change = (of: Store, id: string, name: string) =>
      of.write(async writer => {
        const stands = await writer.get('towns', id)
        const replaced = stands && !isFormer(stands) ? stands : undefined
        return (await writer.put('towns', id, { id, name }, {}, replaced, now)).version
      })
    for (const id of ids) await change(store, id, 'first')
    const copy = join(own, 'copy.sqlite')
    await store.backup(copy)
    const versions = async (of: Store, name: string): Promise<number[]> => {
      const all: number[] = []
      for (const id of [...ids, ...ids.map(each => `new-${each}`)]) all.push(await change(of, id, name))
      return all
    }
    const lost = await versions(store, 'lost')
    const restored = openSqliteStore(everything, copy)
    const given = await versions(restored, 'given')
    await restored.close()
    assert.ok(lost.every((version, at) => version !== given[at]))
  })

  test('(1) versions of earlier formats, which count from 1, are older than all others', async t => {
    const { file, store } = await opened(t)
    await put(store, 't-1')
    direct(file, 'update towns set "_version" = 7')
    const next = await store.write(writer =>
      writer.put('towns', 't-1', { id: 't-1', name: 'x' }, {}, { version: 7 }, Date.now()),
    )
    assert.ok(next.version > 2 ** 40)
  })

  test('a change writes only the columns that change, or all of them if the former values are unknown', async t => {
    const { file, store } = await opened(t)
    const value = { id: 'i-1', maker: 'm-1', note: 'b', rank: 1 }
    const written = (): unknown[] => {
      const other = new DatabaseSync(file)
      try {
        return other
          .prepare('delete from written returning what')
          .all()
          .map(each => each['what'])
      } finally {
        other.close()
      }
    }
    const made = await store.write(writer => writer.put('items', 'i-1', value, {}, undefined, 1))
    direct(
      file,
      `create table written (what text); ${['maker', 'note', 'note#words', 'rank']
        .map(
          each =>
            `create trigger "t ${each}" after update of "${each}" on items begin insert into written values ('${each}'); end`,
        )
        .join(';')}`,
    )
    const change = (next: Values, replaced: Replaced) =>
      store.write(writer => writer.put('items', 'i-1', next, {}, replaced, 2))
    const ranked = await change({ ...value, rank: 2 }, made)
    assert.deepEqual(written(), ['rank'])
    const noted = await change({ ...value, rank: 2, note: 'c' }, ranked)
    assert.deepEqual(written().sort(), ['note', 'note#words'])
    const same = await change(noted.value, noted)
    assert.deepEqual(written(), [])
    const emptied = await change({ id: 'i-1', maker: 'm-1', rank: 2 }, same)
    assert.deepEqual(written().sort(), ['note', 'note#words'])
    await change(emptied.value, { version: emptied.version })
    assert.deepEqual(written().sort(), ['maker', 'note', 'note#words', 'rank'])
    const stands = await store.read(reader => reader.get('items', 'i-1'))
    assert.deepEqual(stands && !isFormer(stands) && stands.value, emptied.value)
  })

  test('an item that a write has read is not read again until that write changes something', async t => {
    const { store } = await opened(t)
    const value = { id: 'i-1', maker: 'm-1', note: 'b', rank: 1 }
    const made = await store.write(writer => writer.put('items', 'i-1', value, {}, undefined, 1))
    const asked = t.mock.method(StatementSync.prototype, 'get')
    const countOf = () => asked.mock.calls.length
    await store.write(async writer => {
      const first = await writer.get('items', 'i-1')
      const before = countOf()
      assert.equal(await writer.get('items', 'i-1'), first)
      assert.equal(countOf(), before)
      const changed = await writer.put('items', 'i-1', { ...value, rank: 2 }, {}, made, 2)
      const found = await writer.get('items', 'i-1')
      assert.deepEqual(found && !isFormer(found) && found.value, changed.value)
      await writer.remove('items', 'i-1', changed.version, 3)
      assert.ok(isFormer((await writer.get('items', 'i-1')) ?? assert.fail('nothing is left of it')))
    })
    const before = countOf()
    await store.write(writer => writer.get('items', 'i-1'))
    assert.ok(countOf() > before, 'the next write asks for itself')
  })

  test('taking a job, queueing one, counting and listing those of a state, and checking references read only indexes, and sort a hundred due jobs at most', async t => {
    const { file, store } = await opened(t)
    await store.write(async writer => {
      for (let i = 0; i < 500; i++) {
        await writer.putJob(jobRow(`j-${i}`, { job: 'sums', party: `p-${i % 7}`, turn: i, due: i }))
        await writer.put('items', `i-${i}`, { id: `i-${i}`, maker: `m-${i % 3}` }, {}, undefined, i)
      }
    })
    direct(file, 'analyze')
    const asked = new Set<string>()
    for (const name of ['get', 'all', 'run'] as const) {
      const real = StatementSync.prototype[name] as (...given: unknown[]) => unknown
      t.mock.method(StatementSync.prototype, name, function (this: StatementSync, ...given: unknown[]) {
        asked.add(this.sourceSQL)
        return real.apply(this, given)
      } as never)
    }
    await store.write(async writer => {
      assert.ok(await writer.hasDueJob(['sums', 'reports'], 1000))
      assert.ok(await writer.lease(['sums', 'reports'], 1000, 2000))
      assert.ok((await writer.nextTurn(['sums', 'reports'], 'p-1')).waiting > 0)
      assert.ok(await writer.has('items', [{ field: 'maker', is: 'eq', value: 'm-1' }]))
      for (const state of ['queued', 'running', 'failed'] as const) await writer.countJobs(state, 1000)
      await writer.jobs('failed', 1000)
    })
    t.mock.restoreAll()
    const other = new DatabaseSync(file)
    t.after(() => other.close())
    const reading = [...asked].filter(text => /"_job"|"items"/.test(text))
    assert.equal(reading.length, 8, reading.join('\n'))
    for (const text of reading) {
      const steps = other
        .prepare(`explain query plan ${text}`)
        .all()
        .map(each => String(each['detail']))
      const slow = steps.filter(step =>
        /^SCAN (?!.*USING (?:COVERING )?INDEX)(?!CONSTANT|some$|due$)|TEMP B-TREE FOR ORDER/.test(step),
      )
      assert.deepEqual(slow, /limit 101\b/.test(text) ? ['USE TEMP B-TREE FOR ORDER BY'] : [], text)
    }
  })

  test('a snapshot that a failing disk does not end is dropped with its connection', async t => {
    const { store } = await opened(t)
    await put(store, 't-1')
    let fails = 0
    const get = StatementSync.prototype.get
    const mocked = t.mock.method(
      StatementSync.prototype,
      'get',
      function (this: StatementSync, ...given: Parameters<typeof get>) {
        if (this.sourceSQL !== 'commit') return get.apply(this, given)
        fails++
        throw Object.assign(new Error('database disk image is malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 })
      },
    )
    for (let i = 0; i < 3; i++) {
      assert.deepEqual(await towns(store), ['t-1'])
      await new Promise(resolve => setImmediate(resolve)) // the snapshot ends in the next turn
      await new Promise(resolve => setImmediate(resolve))
    }
    assert.equal(fails, 3)
    mocked.mock.restore()
    await put(store, 't-2')
    assert.deepEqual((await towns(store)).sort(), ['t-1', 't-2'])
  })

  test('a write whose unique key is taken leaves nothing of its row, even if its work continues', async t => {
    const members = resource('members', {
      fields: { id: field.id('m'), code: field.string({ max: 9 }), note: field.string().optional() },
    }).rules({ unique: [['code']], search: ['note'], allow: { read: [anyone] } })
    const contract = service('club', { namespace: 'urn:club', resources: [members] }) as unknown as Service
    const { file, store } = await opened(t, {}, contract)
    const value = (id: string, code: string) => ({ id, code, note: `note of ${id}` })
    await store.write(writer => writer.put('members', 'm-1', value('m-1', 'a'), {}, undefined, 1))
    await store.write(async writer => {
      const put = (id: string, code: string, replaced?: Replaced) =>
        attempt(() => Promise.resolve(writer.put('members', id, value(id, code), {}, replaced, 1)), isRefused)
      const second = await put('m-2', 'b')
      assert.equal(await put('m-3', 'a'), undefined, 'a new row')
      assert.equal(await put('m-2', 'a', second), undefined, 'a row that changes')
      await put('m-4', 'd')
    })
    using looking = new DatabaseSync(file, { readOnly: true })
    const column = (text: string) =>
      looking
        .prepare(text)
        .all()
        .map(row => Object.values(row)[0])
    assert.deepEqual(column('select code from members order by id'), ['a', 'b', 'd'])
    assert.deepEqual(column('select id from "members##waiting" order by id'), ['m-1', 'm-2', 'm-4'])
    assert.deepEqual(column('pragma integrity_check'), ['ok'])
  })

  test('listed records of the audit are removed a thousand at a time, over gaps, and unlisted ones stay', async t => {
    const { store } = await opened(t)
    const deed = { at: 1, subject: 'ada', operation: 'x', resource: 'towns', id: 't-1', version: 1, face: 'rest' }
    await store.write(async writer => {
      for (let i = 1; i <= 2600; i++) await writer.record({ ...deed, request: `r-${i}` })
    })
    const listed = new ListedDeeds()
    for (let sequence = 1; sequence <= 2600; sequence++) if (sequence % 100 !== 0) listed.add(sequence)
    const removals: number[] = []
    const write: Store['write'] = async work => {
      const removed = await store.write(work)
      removals.push(Number(removed))
      return removed
    }
    assert.equal(await listed.remove({ ...store, write }), 2574)
    assert.deepEqual(removals, [1000, 1000, 574])
    const left = await store.read(reader => reader.deeds(0, 9, 100))
    assert.deepEqual(
      left.map(each => each.sequence),
      Array.from({ length: 26 }, (_, i) => 100 * (i + 1)),
    )
  })

  test('records of the audit are only added', async t => {
    const { file, store } = await opened(t)
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
    assert.throws(() => direct(file, `update _deed set subject = 'eve'`), /only added/)
    assert.throws(() => direct(file, 'delete from _deed'), /only added/)
  })

  test('money is kept in units, which SQL compares and sums; times by their instant', async t => {
    const { file, store } = await opened(t)
    for (const [id, price, at] of [
      ['i-1', '9.50', '2026-11-21T01:00:00+02:00'],
      ['i-2', '10.25', '2026-11-20T23:30:00Z'],
    ] as const)
      await store.write(writer => writer.put('items', id, { id, price, at }, {}, undefined, 1))
    const other = new DatabaseSync(file)
    t.after(() => other.close())
    assert.deepEqual(
      { ...other.prepare('select sum(price) as sum, max(price) as max from items').get() },
      { sum: 1975, max: 1025 },
    )
    assert.deepEqual({ ...other.prepare('select id from items order by "at#order" limit 1').get() }, { id: 'i-1' })
  })

  test('lists by declared filters and orders are read from an index, the first page and the later ones', async t => {
    const { file, store } = await opened(t)
    await put(store, 't-1')
    const other = new DatabaseSync(file)
    t.after(() => other.close())
    const plan = (text: string): string =>
      other
        .prepare(`explain query plan ${text}`)
        .all()
        .map(each => String(each['detail']))
        .join('; ')
    const rows: readonly (readonly [string, string])[] = [
      ['select id from items order by _created desc, id limit 20', 'items#newest'],
      [
        `select id from items where (_created <= 5 and (_created < 5 or (_created = 5 and id > 'a'))) order by _created desc, id`,
        'items#newest',
      ],
      [`select id from items where maker = 'm-1' order by _created desc, id`, 'items#maker'],
      [`select id from items where rank > 5 order by rank, id`, 'items#rank'],
    ]
    for (const [text, index] of rows) {
      assert.match(plan(text), new RegExp(index), text)
      assert.doesNotMatch(plan(text), /TEMP B-TREE/, text)
    }
  })
})

const planOf = (database: DatabaseSync, { text, values }: ReturnType<typeof compilePages>[number]): string =>
  database
    .prepare(`explain query plan ${text}`)
    .all(...(values as SQLInputValue[]))
    .map(each => String(each['detail']))
    .join('; ')
/** Where keys are sorted before rows are read: of the keys. */
const keysPlanOf = (plan: string): string =>
  plan.replace(/^SEARCH tickets USING INDEX \S+ \(id=\?\); LIST SUBQUERY 1; (.*); USE TEMP B-TREE FOR ORDER BY$/, '$1')

test('rows that no index has in their order are first sorted by their keys, from an index only, and then read', async t => {
  const { file } = await opened(t, {}, desk)
  const database = new DatabaseSync(file)
  t.after(() => database.close())
  const plansOf = (descending: boolean) =>
    compilePages({ sort: [{ field: 'closed', descending }] }, sqlite).map(each => planOf(database, each))
  assert.deepEqual(plansOf(true).map(keysPlanOf), [
    'SCAN tickets USING COVERING INDEX tickets#closed; USE TEMP B-TREE FOR LAST TERM OF ORDER BY',
  ])
  assert.deepEqual(plansOf(false), ['SCAN tickets USING INDEX tickets#closed'])
})

test('an order of many keys is queried in few ranges, however many a caller names', () => {
  const sort = ['agent', 'closed', 'kind', 'due'].map(field => ({ field, descending: true }))
  const keys = ['ann', '2026-01-01T12:00:00Z', 'question', '2026-01-01']
  const pages = compilePages({ sort, from: { keys, id: 't-5', backwards: false } }, sqlite)
  const rangesOfAgent = ['"agent" = ?', '"agent" = ?', '"agent" = ?', '"agent" = ?', '"agent" < ?', '"agent" is null']
  assert.equal(pages.length, rangesOfAgent.length)
  for (const [i, { text }] of pages.entries()) assert.ok(text.includes(rangesOfAgent[i] ?? ''), text)
})

for (const [name, list, ranges] of cursorLists)
  test(`A2.3 behind a cursor no row before it is looked at: ${name}`, async t => {
    const { file } = await opened(t, {}, desk)
    const database = new DatabaseSync(file)
    t.after(() => database.close())
    const plans = compilePages(list, sqlite).map(each => keysPlanOf(planOf(database, each)))
    const terms = /^SEARCH tickets USING (?:COVERING )?INDEX \S+ \(([^)]*)\)(; USE TEMP B-TREE FOR LAST TERM.*)?$/
    assert.deepEqual(
      plans.map(plan => terms.exec(plan)?.[1]),
      ranges,
      plans.join('\n'),
    )
  })

for (const [name, list, isServed] of absentLists)
  test(`B8 ${name}: ${isServed ? 'from an index' : 'no index has it'}`, async t => {
    assert.equal(findMissingIndex(tickets, listIndexesOf(tickets, desk), formOf(list)) === undefined, isServed)
    const { file } = await opened(t, {}, desk)
    const database = new DatabaseSync(file)
    t.after(() => database.close())
    const plan = compilePages(list, sqlite)
      .map(each => keysPlanOf(planOf(database, each)))
      .join('; ')
    // Few items have the same date; they are sorted by id.
    assert.equal(/SEARCH tickets USING/.test(plan) && !/TEMP B-TREE FOR ORDER BY/.test(plan), isServed, plan)
  })

test('a search by index outlives VACUUM, and takes in older rows while others write', async t => {
  const { file, own, store } = await opened(t)
  const put = (on: Store, id: string, note: string) =>
    on.write(writer => writer.put('items', id, { id, note }, {}, undefined, 1))
  await put(store, 'i-0', 'needle')
  await store.close()
  const rows = 12_000
  direct(
    file,
    `insert into items (id, _version, _created, _modified, note, "note#words")
      select 'r-' || value, 1, value, value, 'hay', case when value % 6000 = 0 then ' hay straw ' else ' hay ' end
      from json_each((with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows}) select json_group_array(i) from n));
    delete from items where id = 'i-0'; vacuum;
    drop table "items##search"; drop table "items##documents"; drop table "items##waiting";
    drop trigger "items##insert"; drop trigger "items##update"; drop trigger "items##delete";
    delete from _shape where name = 'items##search 2'`,
  )
  const again = openSqliteStore(everything, file)
  const find = async (words: string[], filters: Query['filters'] = []) => {
    const page = await again.read(reader => reader.list('items', { ...all, filters, words, size: 3 }))
    return [page.items.map(each => each.id), page.total]
  }
  const looks: readonly [() => Promise<unknown>, unknown][] = [
    [() => find(['straw']), [['r-12000', 'r-6000'], 2]],
    [() => find(['hay']), [['r-12000', 'r-11999', 'r-11998'], undefined]],
    [() => find(['hay', 'straw']), [['r-12000', 'r-6000'], 2]],
    [() => find(['hay'], [{ field: 'id', is: 'in', value: ['r-7', 'r-8'] }]), [['r-8', 'r-7'], 2]],
    [() => find(['later']), [['i-later'], 1]],
    [() => find(['needle']), [[], 0]],
  ]
  const isFilled = `select count(*) as n from _shape where name = 'items##search 2' and "is" like '%"filled":true%'`
  const askFilled = (): unknown => {
    using other = new DatabaseSync(file)
    return other.prepare(isFilled).get()?.['n']
  }
  assert.equal(askFilled(), 0, 'the index is not full at once')
  await put(again, 'i-later', 'later')
  for (const [look, expected] of looks) assert.deepEqual(await look(), expected, 'while it is filled')
  assert.equal(await again.fill?.(), true)
  assert.equal(askFilled(), 1)
  direct(file, 'vacuum')
  for (const [look, expected] of looks) assert.deepEqual(await look(), expected, 'by index')
  await again.close()
  assert.ok(own)
})

test('written rows enter the index soon, and are found before that', async t => {
  const { file, store } = await opened(t)
  const put = (id: string, note: string, seen?: number) =>
    store.write(writer =>
      writer.put('items', id, { id, note }, {}, seen === undefined ? undefined : { version: seen }, 1),
    )
  const find = async (word: string) =>
    (await store.read(reader => reader.list('items', { ...all, words: [word] }))).items.map(each => each.id)
  const count = (of: string): unknown => {
    using other = new DatabaseSync(file)
    return other.prepare(`select count(*) as n from "items##${of}"`).get()?.['n']
  }
  const looks = async (): Promise<void> => {
    assert.deepEqual(await find('needle'), ['i-1'])
    assert.deepEqual(await find('straw'), [])
  }
  await put('i-1', 'straw')
  const { version } = await put('i-2', 'needle')
  await store.sweep(0)
  assert.deepEqual([count('waiting'), count('documents')], [0, 2])
  const was = await store.read(reader => reader.get('items', 'i-1'))
  await put('i-1', 'needle', was?.version)
  await store.write(writer => writer.remove('items', 'i-2', version, 1))
  assert.equal(count('waiting'), 2)
  await looks()
  while (count('waiting') !== 0) await sleep(20)
  assert.equal(count('documents'), 1, 'a removed row leaves nothing')
  await looks()
})

test('the rows of one work enter the index at once, even if they are more than a batch', async t => {
  const { file, store } = await opened(t)
  await store.write(async writer => {
    for (let i = 0; i < 1100; i++) await writer.put('items', `i-${i}`, { id: `i-${i}`, note: 'hay' }, {}, undefined, 1)
  })
  await store.sweep(0)
  using other = new DatabaseSync(file)
  assert.equal(other.prepare('select count(*) as n from "items##waiting"').get()?.['n'], 0)
})
