import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { Unavailable } from '../../src/service/store.ts'
import { sqlite } from '../../src/store/dialect.ts'
import { sql } from '../../src/store/sql.ts'
import { GroupTransaction, RecordingRunner } from '../../src/store/sqlite-transaction.ts'
import { compileStatement, parameterAt } from '../../src/store/statement.ts'
import { defaultBounds, Queue } from '../../src/store/write-queue.ts'

const putStatement = compileStatement(
  sqlite,
  sql`insert into "held" ("key", "value") values (${parameterAt(0)}, ${parameterAt(1)})
    on conflict ("key") do update set "value" = excluded."value"`,
)
const all = compileStatement(sqlite, sql`select "key", "value" from "held" order by "key"`)

/** Records the texts that are executed as they are; `after` runs after one. */
class NotedDatabase extends DatabaseSync {
  readonly executed: string[] = []
  after: Readonly<Record<string, () => void>> = {}
  override exec(text: string): void {
    this.executed.push(text)
    super.exec(text)
    this.after[text]?.()
  }
}

function openQueue(t: TestContext | undefined, file = ':memory:') {
  const database = new NotedDatabase(file)
  t?.after(() => database.isOpen && database.close())
  database.exec(
    'pragma journal_mode = wal; create table if not exists "held" ("key" integer primary key, "value" integer)',
  )
  database.executed.length = 0
  const on = new RecordingRunner(database)
  const queue = new Queue(new GroupTransaction(database, on, 1000), { ...defaultBounds, open: 10_000 })
  const add = <T>(work: () => T | Promise<T>): Promise<T> => queue.add({ end: () => {} }, work)
  const held = (): Held => new Map(on.rows(all, []).map(([key, value]) => [Number(key), Number(value)]))
  return { database, on, add, held, put: (key: number, value: number) => on.run(putStatement, [key, value]) }
}
type Held = ReadonlyMap<number, number>

const outcomesOf = async (works: readonly Promise<unknown>[]): Promise<unknown[]> =>
  (await Promise.allSettled(works)).map(each => (each.status === 'fulfilled' ? each.value : each.reason.message))
const throwLate = (write: () => void) => () => {
  write()
  throw new Error('late')
}

interface PlannedWork {
  readonly writes: readonly (readonly [key: number, value: number])[]
  /** Undefined: it does not throw. */
  readonly throwsAfter: number | undefined
  readonly waits: boolean
}
const plannedWork: fc.Arbitrary<PlannedWork> = fc.record({
  writes: fc.array(fc.tuple(fc.nat(5), fc.nat(1000)), { maxLength: 4 }),
  throwsAfter: fc.option(fc.nat(4), { nil: undefined }),
  waits: fc.boolean(),
})

test('(1) whatever works of groups write and throw, those that throw leave no trace, and the others see that', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(plannedWork, { maxLength: 6 }), { maxLength: 4 }), async groups => {
      const { database, add, held, put } = openQueue(undefined)
      const model = new Map<number, number>()
      for (const group of groups) {
        const works = group.map(({ writes, throwsAfter, waits }) =>
          add(async () => {
            const seen = held()
            for (const [key, value] of writes.slice(0, throwsAfter)) put(key, value)
            if (waits) await null
            if (throwsAfter !== undefined) throw new Error('thrown')
            return seen
          }),
        )
        const outcomes = await outcomesOf(works)
        for (const [i, { writes, throwsAfter }] of group.entries()) {
          if (throwsAfter !== undefined) assert.equal(outcomes[i], 'thrown')
          else assert.deepEqual(outcomes[i], new Map([...model].sort(([a], [b]) => a - b)))
          if (throwsAfter === undefined) for (const [key, value] of writes) model.set(key, value)
        }
        assert.deepEqual(held(), new Map([...model].sort(([a], [b]) => a - b)))
      }
      database.close()
    }),
    { numRuns: 300 },
  )
})

test('(2) works have no savepoint, and one that throws before it writes undoes nothing', async t => {
  const { database, add, put, held } = openQueue(t)
  const early = (): never => {
    throw new Error('early')
  }
  assert.deepEqual(await outcomesOf([add(() => put(1, 1)), add(early), add(() => put(2, 2))]), [
    undefined,
    'early',
    undefined,
  ])
  assert.deepEqual(database.executed, [])
  assert.deepEqual(
    [...held()],
    [
      [1, 1],
      [2, 2],
    ],
  )
})

test('(3) a hundred works that throw late, all among others, cause one transaction to be written again', async t => {
  const { database, add, put, held } = openQueue(t)
  const works = Array.from({ length: 200 }, (_, i) => add(i % 2 ? throwLate(() => put(i, 0)) : () => put(i, 1)))
  await outcomesOf(works)
  assert.equal(held().size, 100)
  assert.equal(database.executed.filter(text => text === 'rollback').length, 1)
  database.executed.length = 0
  await outcomesOf([add(() => put(1, 1)), add(throwLate(() => put(2, 2)))])
  assert.deepEqual(database.executed, ['rollback to work; release work'], 'the next group has savepoints')
  await outcomesOf([add(() => put(1, 1))])
  database.executed.length = 0
  await outcomesOf([add(() => put(3, 3)), add(throwLate(() => put(2, 2)))])
  assert.deepEqual(database.executed, ['rollback'], 'it is trusted again after a group without a late throw')
  assert.equal(held().get(3), 3)
})

for (const [what, count, value] of [
  ['statements', 4001, 1],
  ['octets', 2, 'x'.repeat(4 << 20)],
] as const)
  test(`(4) after a work of more ${what} than are recorded, one that throws late undoes only itself`, async t => {
    const { database, on, add, put, held } = openQueue(t)
    const large = () => {
      for (let key = 0; key < count; key++) on.run(putStatement, [key, value])
    }
    await outcomesOf([add(large), add(throwLate(() => put(0, 7))), add(() => put(9999, 1))])
    assert.deepEqual(database.executed, ['rollback to work; release work'])
    assert.equal(held().size, count + 1)
    database.executed.length = 0
    await outcomesOf([add(() => put(9998, 1)), add(throwLate(large))])
    assert.equal(held().get(9998), 1)
  })

/** On a file that another process changes after each rollback. */
async function openDisturbed(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'group-'))
  t.after(() => rm(folder, { recursive: true }))
  const own = openQueue(t, join(folder, 'data.sqlite'))
  const other = new DatabaseSync(join(folder, 'data.sqlite'))
  t.after(() => other.close())
  own.database.after = { rollback: () => other.exec('insert into "held" values (50, 1)') }
  return own
}

test('(5) a write of another process between the rollback and the next beginning: nothing of the group has happened', async t => {
  const { database, add, put, held } = await openDisturbed(t)
  const outcomes = await Promise.allSettled([add(() => put(1, 1)), add(throwLate(() => put(2, 2)))])
  for (const each of outcomes) assert.ok(each.status === 'rejected' && each.reason instanceof Unavailable)
  assert.deepEqual([...held()], [[50, 1]])
  database.after = {}
  await add(() => put(3, 3))
  assert.equal(held().get(3), 3)
})

test('(5) the first of a group to write may throw late, whatever another process writes', async t => {
  const { add, put, held } = await openDisturbed(t)
  assert.deepEqual(await outcomesOf([add(throwLate(() => put(2, 2))), add(() => held().get(50))]), ['late', 1])
})

test('a work that continues after SQLite has ended the transaction writes nothing outside one', async t => {
  const { database, add, put, held } = openQueue(t)
  const works = [
    add(() => put(1, 1)),
    add(() => {
      database.exec('rollback') // as SQLite does when its disk is full
      put(2, 2)
    }),
  ]
  for (const each of await Promise.allSettled(works))
    assert.ok(each.status === 'rejected' && each.reason instanceof Unavailable)
  assert.equal(held().size, 0)
  await add(() => put(4, 4))
  assert.deepEqual([...held()], [[4, 4]])
})

test('a single work gets the error of a constraint deferred to the commit; a group may try again', async t => {
  const { database, on, add } = openQueue(t)
  database.exec(`create table "owned" ("key" integer primary key, "owner" integer references "held" ("key")
    deferrable initially deferred)`)
  const own = compileStatement(
    sqlite,
    sql`insert into "owned" ("key", "owner") values (${parameterAt(0)}, ${parameterAt(1)})`,
  )
  const orphan = () => add(() => on.run(own, [1, 404]))
  const [alone] = await Promise.allSettled([orphan()])
  assert.ok(alone?.status === 'rejected' && !(alone.reason instanceof Unavailable))
  assert.match(String(alone.reason), /FOREIGN KEY constraint failed/)
  for (const each of await Promise.allSettled([orphan(), add(() => on.run(putStatement, [1, 1]))]))
    assert.ok(each.status === 'rejected' && each.reason instanceof Unavailable)
  await add(() => on.run(putStatement, [1, 1]))
})

/** The primary codes of SQLite that a commit may end with, and whether a retry may succeed. */
const commitFailures = [
  ['SQLITE_BUSY', 5, true],
  ['SQLITE_IOERR_FSYNC', 10 | (4 << 8), true],
  ['SQLITE_CORRUPT', 11, false],
  ['SQLITE_CORRUPT_INDEX', 11 | (3 << 8), false],
  ['SQLITE_FULL', 13, true],
  ['SQLITE_NOTADB', 26, false],
] as const
for (const [name, errcode, isPassing] of commitFailures)
  test(`${name} at a commit is ${isPassing ? 'unavailable' : 'the error of a damaged file'}, for each of the group`, async t => {
    const database = new NotedDatabase(':memory:')
    t.after(() => database.close())
    const failure = Object.assign(new Error(name), { code: 'ERR_SQLITE_ERROR', errcode })
    const committing = () => {
      throw failure
    }
    const on = new RecordingRunner(database)
    const queue = new Queue(new GroupTransaction(database, on, 1000, { committing }))
    const works = [1, 2].map(each => queue.add({ end: () => {} }, () => each))
    for (const each of await Promise.allSettled(works)) {
      const reason: unknown = each.status === 'rejected' && each.reason
      if (isPassing) assert.ok(reason instanceof Unavailable && reason.cause === failure)
      else assert.equal(reason, failure)
    }
  })
