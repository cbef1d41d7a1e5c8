/** Lists that may take long are read off the event loop, in turns, within a time (B2; store/read-thread.ts). */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import type { Maybe } from '../../src/base/maybe.ts'
import { resource, role, service, t } from '../../src/index.ts'
import { type ItemPage, type Query, type Store, Unavailable } from '../../src/service/store.ts'
import { LogPause, longLogOctets } from '../../src/store/log-pause.ts'
import { ReadThreads, requireThreadProgram } from '../../src/store/read-thread.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const papers = resource('papers', {
  fields: { id: t.id('p'), kind: t.enum('book', 'film'), number: t.int(), note: t.string({ max: 100 }) },
}).rules({ filter: ['kind', 'note'], sort: ['number'], order: ['-number'], allow: { read: [role('reader')] } })
const library = service('library', { namespace: 'urn:x', resources: [papers], versions: { v1: {} } })

const list = (store: Store, query: Partial<Query>): Maybe<ItemPage> =>
  store.read(reader =>
    reader.list('papers', { filters: [], within: 'all', sort: [], size: 20, counted: false, ...query }),
  )
/** No index serves it, and nothing matches: it looks at every row. */
const long = {
  filters: [
    { field: 'note', is: 'ne', value: 'x' },
    { field: 'number', is: 'lt', value: 0 },
  ],
} as const
const asUnavailable = (thrown: unknown): Unavailable => {
  assert.ok(thrown instanceof Unavailable, String(thrown))
  return thrown
}

describe('long reads of a file of 50,000 rows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  const file = join(folder, 'papers.sqlite')
  let store: Store
  before(async () => {
    await openSqliteStore(library, file).close()
    using database = new DatabaseSync(file)
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)
      insert into papers ("id", "_version", "_modified", "_created", "_kept", "kind", "number", "note")
      select printf('p-%05d', i), i, i, i, '{}', 'book', i, 'note ' || i from n`)
    store = openSqliteStore(library, file)
  })
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })

  test('run beside the event loop; short ones run at once', async () => {
    const read = list(store, long)
    assert.ok(read instanceof Promise)
    const item = store.read(reader => reader.get('papers', 'p-00007'))
    assert.ok(item && !(item instanceof Promise) && item.id === 'p-00007')
    assert.ok(!(list(store, { filters: [{ field: 'kind', is: 'eq', value: 'book' }] }) instanceof Promise))
    assert.deepEqual((await read).items, [])
  })

  const isLinux = process.platform === 'linux'
  test('yield a core if the event loop wants it', {
    skip: !isLinux && 'threads have priorities on Linux alone',
  }, async () => {
    await list(store, long)
    const niceOf = (thread: string): number => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) // the 19th field of proc_pid_stat(5)
    }
    const own = niceOf(String(process.pid))
    const threads = readdirSync('/proc/self/task').map(niceOf)
    assert.equal(threads.filter(nice => nice === Math.min(19, own + 7)).length, 1, threads.join())
    assert.equal(getPriority(), own, 'the event loop keeps its own')
  })

  test('see what was committed before them', async () => {
    for (let i = 0; i < 20; i++) {
      const id = `p-new${i}`
      await store.write(writer =>
        writer.put('papers', id, { id, kind: 'film', number: i, note: `new ${i}` }, {}, undefined, 1),
      )
      const films = { field: 'kind', is: 'eq', value: 'film' } as const
      const page = await list(store, { filters: [films, { field: 'note', is: 'ne', value: 'x' }], size: 100 })
      assert.ok(
        page.items.some(each => each.id === id),
        id,
      )
    }
  })

  test('give the same page as a read in the event loop', async () => {
    const query = { filters: [{ field: 'note', is: 'ne', value: 'note 3' }], counted: 'exact', size: 5 } as const
    const beside = await list(store, query)
    const within = await store.write(writer => writer.list('papers', { within: 'all', sort: [], ...query }))
    assert.deepEqual(beside, within)
  })

  test('a reader continues after a long read, and after short ones', async () => {
    const seen = await store.read(async reader => {
      const page = await reader.list('papers', { within: 'all', sort: [], size: 1, counted: false, ...long })
      const item = await reader.get('papers', 'p-00001')
      return [page.items.length, item?.id]
    })
    assert.deepEqual(seen, [0, 'p-00001'])
  })

  test('callers take turns, and beyond a number of waiting reads a caller is refused at once', async () => {
    await Promise.all(['one', 'two'].map(party => list(store, { ...long, party }))) // both threads have begun
    const order: string[] = []
    const ask = (party: string) => Promise.resolve(list(store, { ...long, party })).then(() => order.push(party))
    const greedy = Array.from({ length: 17 }, () => ask('greedy'))
    const refused = await ask('greedy').then(() => undefined, asUnavailable)
    assert.match(String(refused?.cause), /too many long reads are waiting/)
    await ask('other')
    assert.ok(order.length < 17, `${order.length} were done before another caller's`)
    await Promise.all(greedy)
  })

  test('a read that takes longer than its time ends with a cause that names it; the next one runs', async () => {
    const hasty = openSqliteStore(library, file, { longRead: 3 })
    const ended = await Promise.resolve(list(hasty, long)).then(() => undefined, asUnavailable)
    assert.match(String(ended?.cause), /^a list of papers \(note\[ne\], number\[lt\]\) took longer than 3 ms: /)
    const patient = openSqliteStore(library, file)
    assert.deepEqual((await list(patient, long)).items, [])
    await Promise.all([hasty.close(), patient.close()])
  })

  test('the end of the store ends reads under way', async () => {
    const closing = openSqliteStore(library, file)
    const ended = Promise.resolve(list(closing, long)).then(() => undefined, asUnavailable)
    await closing.close()
    assert.ok((await ended) === undefined || (await ended) instanceof Unavailable)
    await assert.rejects(async () => list(closing, long), Unavailable)
  })
})

test('a database in memory is read in the event loop', async () => {
  const store = openSqliteStore(library, ':memory:')
  assert.ok(!(list(store, long) instanceof Promise))
  await store.close()
})

test('(4) while the log is long, a read begins only after a commit has restarted the log', async t => {
  let octets = longLogOctets + 1
  const asked = Promise.withResolvers<void>()
  const logOctets = (): number => {
    asked.resolve()
    return octets
  }
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'log.sqlite')
  new DatabaseSync(file).close()
  const threads = new ReadThreads({ file, timeMs: 60_000, lockWaitMs: 20, logOctets, toStoreError: thrown => thrown })
  const begun: string[] = []
  const read = (name: string) =>
    threads.read(
      name,
      () => name,
      async () => void begun.push(name),
    )
  const reads = [read('a'), read('b')]
  await asked.promise
  assert.deepEqual(begun, [])
  octets = longLogOctets
  await Promise.all(reads)
  assert.deepEqual(begun.sort(), ['a', 'b'])
  await threads.close()
})

test('(4) a log that another program keeps: reads continue, and wait again once it has grown as much again', async () => {
  let octets = 0
  let looks = 0
  const look = (): number => {
    looks++
    return octets
  }
  const pause = new LogPause({ octets: look, timeMs: 10 })
  const hasWaited = async (now: number): Promise<boolean> => {
    octets = now
    looks = 0
    await pause.wait()
    return looks > 1
  }
  const steps: readonly (readonly [octets: number, hasWaited: boolean])[] = [
    [longLogOctets, false],
    [longLogOctets + 1, true],
    [longLogOctets + 2, false],
    [2 * longLogOctets + 1, false],
    [2 * longLogOctets + 2, true],
    [2 * longLogOctets + 3, false],
    [longLogOctets, false],
    [longLogOctets + 1, true],
  ]
  for (const [now, expected] of steps) assert.equal(await hasWaited(now), expected, String(now))
})

test('a start without the file of the threads names the file and the cure', () => {
  requireThreadProgram()
  const missing = new URL('./none.js', import.meta.url)
  assert.throws(
    () => requireThreadProgram(missing),
    /none\.js, which runs long reads, is missing: .*external: \['diglot'\]/,
  )
})
