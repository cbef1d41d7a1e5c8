/**
 * Transactions on connections that fail in every way that a network and a server can: the call ends
 * in time, and the pool is whole.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Unavailable } from '../../src/service/store.ts'
import { beginRead, beginWrite, type PostgresClient, Sessions } from '../../src/store/postgres-sessions.ts'
import { openRateWindows } from '../../src/store/rate-windows.ts'
import type { Statement } from '../../src/store/statement.ts'
import { collectGarbage } from '../support/held-memory.ts'
import { type Fate, wire } from './flaky-connection.ts'

const time = 300
const statement: Statement = { text: 'select 1', places: [], straight: true, recurs: true }

async function sessions(fate: (text: string, n: number) => Fate, connections = 1) {
  const server = await wire(fate)
  const max = connections
  const pool = new pg.Pool({ connectionString: server.url, max, pipeline: true, connectionTimeoutMillis: time - 50 })
  pool.on('error', () => {})
  const made = new Sessions(pool, time)
  const run = (begin: string) => made.run(begin, on => on.run(statement, []))
  after(async () => {
    await made.close()
    await pool.end()
  })
  return { server, pool, sessions: made, run }
}
const once =
  (at: string, fate: Fate) =>
  (text: string, n: number): Fate =>
    text === at && n === 1 ? fate : 'answered'
/** If it fails, it fails as unavailable, within its time. */
async function unavailable(work: Promise<unknown>): Promise<void> {
  const began = performance.now()
  await assert.rejects(work, Unavailable)
  const took = performance.now() - began
  assert.ok(took < time + 10_000, `it took ${took} ms`)
}
async function until(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 3000, what)
    await sleep(10)
  }
}

describe('one connection, and one failure of it', () => {
  const places = ['', beginRead, 'select 1', 'commit', beginWrite] as const
  for (const fate of ['silent', 'cut', 'stopped'] as const)
    for (const begin of [beginRead, beginWrite])
      for (const at of places.filter(each => each === '' || each === begin || !each.startsWith('begin')))
        test(`(1) ${fate} at "${at}" of a transaction that does "${begin}": the next has a connection`, async () => {
          const { server, run, pool } = await sessions(once(at, fate))
          const first = run(begin).then(
            () => 'done',
            thrown => thrown,
          )
          const began = performance.now()
          const came = await first
          assert.ok(performance.now() - began < time + 10_000, 'the call ends in time')
          assert.ok(came === 'done' || came instanceof Unavailable, String(came))
          const isLostCommit = at === 'commit' && begin === beginWrite && fate !== 'stopped'
          assert.equal(
            came instanceof Unavailable ? came.doubt : undefined,
            isLostCommit ? 'commit' : undefined,
            'a commit without a reply',
          )
          await run(begin).catch(thrown => assert.ok(thrown instanceof Unavailable))
          await run(begin)
          await until(() => server.open() <= 1, 'a broken connection is closed')
          assert.equal(pool.totalCount, 1)
        })
})

test('(1) all connections silent at once: each call ends in its time, and as many are available again', async () => {
  const fate = (text: string, n: number): Fate => (text === 'commit' && n <= 10 ? 'silent' : 'answered')
  const { run, sessions: made, server, pool } = await sessions(fate, 10)
  await Promise.all(Array.from({ length: 10 }, () => unavailable(run(beginWrite))))
  let begun = 0
  const together = Promise.withResolvers<void>()
  const wait = (): Promise<void> => {
    if (++begun === 10) together.resolve()
    return together.promise
  }
  await Promise.all(Array.from({ length: 10 }, () => made.run(beginWrite, wait, 60_000)))
  assert.equal(pool.totalCount, 10)
  await until(() => server.open() === 10, 'broken connections are closed')
})

test('(1) a work waits for a connection as long as its time, and a connection that comes later is not lost', async () => {
  const { run, sessions: made } = await sessions(always)
  const held = Promise.withResolvers<void>()
  const long = made.run(beginRead, () => held.promise, 60_000)
  await until(() => made.usage()?.connections?.busy === 1, 'it has a connection')
  const short = unavailable(made.run(beginRead, () => {}, 100))
  assert.deepEqual(made.usage(), { waiting: 1, connections: { busy: 1, idle: 0 } })
  await short
  held.resolve()
  await long
  await run(beginRead)
  await until(() => made.usage()?.connections?.idle === 1, 'it is at rest again')
  assert.deepEqual(made.usage(), { waiting: 0, connections: { busy: 0, idle: 1 } })
})
const always = (): Fate => 'answered'

test('(2) a server that stops just as it becomes ready ends no process', async () => {
  const { run } = await sessions((text, n) => (text === '' && n <= 3 ? 'stopped' : 'answered'))
  for (let i = 0; i < 3; i++) await run(beginWrite).catch(thrown => assert.ok(thrown instanceof Unavailable))
  await run(beginWrite)
})

test('(3) nothing that a work does after its time is sent, neither a statement nor its commit', async () => {
  const sent: string[] = []
  let given = 0
  // Its connection goes to the next work without being closed.
  const client: PostgresClient = {
    query: async ({ text }) => {
      sent.push(text)
      return { rows: [] }
    },
    release: () => given++,
    on: () => {},
    off: () => {},
  }
  const made = new Sessions({ connect: async () => client, end: async () => {} }, time)
  let late: Promise<unknown> = Promise.resolve()
  await unavailable(
    made.run(beginWrite, async on => {
      late = sleep(time + 100).then(() => on.run(statement, []))
      late.catch(() => {})
      await sleep(time + 100)
    }),
  )
  await assert.rejects(late, /had ended/)
  await sleep(20)
  assert.deepEqual([sent, given], [[beginWrite], 1])
})

describe('(4) a connection that the server refuses is unavailable, whatever its reason', () => {
  const reasons = [
    ['28P01', 'password authentication failed for user "shop"'],
    ['28000', 'no pg_hba.conf entry for host "10.0.0.9"'],
    ['3D000', 'database "shop" does not exist'],
    ['53300', 'sorry, too many clients already'],
    ['CERT_HAS_EXPIRED', 'certificate has expired'],
    ['', 'The server does not support SSL connections'],
  ] as const
  for (const [code, message] of reasons)
    test(`${code} ${message}`, async () => {
      const refusal = Object.assign(new Error(message), code === '' ? {} : { code })
      const made = new Sessions({ connect: () => Promise.reject(refusal), end: async () => {} }, time)
      for (const begin of [beginRead, beginWrite]) {
        const thrown = await made.run(begin, on => on.run(statement, [])).catch((thrown: unknown) => thrown)
        assert.ok(thrown instanceof Unavailable, String(thrown))
        assert.deepEqual([thrown.cause, made.failure(thrown)], [refusal, refusal])
      }
    })
})

describe('(1) a connection that no longer serves is unavailable, and is closed', () => {
  const reasons = [['25P04', 'terminating connection due to transaction timeout']] as const
  for (const [code, message] of reasons)
    test(`${code} ${message}`, async () => {
      const released: unknown[] = []
      const client: PostgresClient = {
        query: async ({ text }) => {
          if (text !== statement.text) return { rows: [] }
          throw Object.assign(new Error(message), { code })
        },
        release: broken => void released.push(broken),
        on: () => {},
        off: () => {},
      }
      const made = new Sessions({ connect: async () => client, end: async () => {} }, time)
      await unavailable(made.run(beginWrite, on => on.run(statement, [])))
      assert.deepEqual(released, [true])
    })
})

describe('program_limit_exceeded', () => {
  const reasons = [
    ['GetNewTransactionId', 'no numbers of transactions are left', true],
    ['GetNewMultiXactId', 'no numbers of shared locks are left', true],
    ['_bt_check_third_page', 'a value is too long for an index', false],
  ] as const
  for (const [routine, what, isUnavailable] of reasons)
    test(`${what}: ${isUnavailable ? 'unavailable' : 'the error of the work'}, on a good connection`, async () => {
      const released: unknown[] = []
      const refusal = Object.assign(new Error('in any language'), { code: '54000', routine })
      const client: PostgresClient = {
        query: async ({ text }) => {
          if (text !== statement.text) return { rows: [] }
          throw refusal
        },
        release: broken => void released.push(broken),
        on: () => {},
        off: () => {},
      }
      const made = new Sessions({ connect: async () => client, end: async () => {} }, time)
      const thrown = await made.run(beginWrite, on => on.run(statement, [])).catch((thrown: unknown) => thrown)
      assert.equal(thrown instanceof Unavailable ? thrown.cause : thrown, refusal)
      assert.equal(thrown instanceof Unavailable, isUnavailable)
      await made.close()
      assert.deepEqual(released, [false])
    })
})

describe('(5) a statement that another session has prepared, or has not, runs again unprepared', () => {
  const reasons = [
    ['26000', 'prepared statement "diglot 1" does not exist'],
    ['42P05', 'prepared statement "diglot 1" already exists'],
  ] as const
  for (const begin of [beginRead, beginWrite])
    for (const [code, message] of reasons)
      test(`${message}, in a transaction that does "${begin}"`, async () => {
        const sent: string[] = []
        const released: unknown[] = []
        const client: PostgresClient = {
          query: async ({ text, name }) => {
            sent.push(`${text}${name === undefined ? '' : ', prepared'}`)
            if (name !== undefined) throw Object.assign(new Error(message), { code })
            return { rows: [] }
          },
          release: broken => void released.push(broken),
          on: () => {},
          off: () => {},
        }
        let told = 0
        const made = new Sessions({ connect: async () => client, end: async () => {} }, time, () => told++)
        for (let i = 0; i < 2; i++) await made.run(begin, on => on.run(statement, []))
        const done = [begin, 'select 1', 'commit']
        assert.deepEqual(sent, [begin, 'select 1, prepared', 'rollback', ...done, ...done])
        assert.deepEqual([released, told], [[false, false, false], 1])
      })
})

describe('an error of the work itself is unchanged, and is thrown once, whatever it looks like', () => {
  const errors = [
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:25'],
    ['57P01', 'a database of its own was stopped'],
    ['40001', 'a database of its own found a collision'],
    ['23505', 'a database of its own has the key'],
    ['', 'timeout of the mail server'],
    ['', 'the account is closed'],
  ] as const
  for (const begin of [beginRead, beginWrite])
    for (const [code, message] of errors)
      test(`"${message}" in a transaction that does "${begin}"`, async () => {
        const { sessions: made, run, pool } = await sessions(always)
        const own = Object.assign(new Error(message), code === '' ? {} : { code })
        let runs = 0
        const work = made.run(begin, async on => {
          runs++
          await on.run(statement, [])
          throw own
        })
        await assert.rejects(work, thrown => thrown === own)
        assert.equal(runs, 1)
        await run(begin)
        assert.equal(pool.totalCount, 1)
      })
})

test('after a begin that failed nothing of a write is sent: it would commit by itself', async () => {
  const sent: string[] = []
  const client: PostgresClient = {
    query: async ({ text }) => {
      sent.push(text)
      if (text === beginWrite) throw new Error('no transaction')
      return { rows: [] }
    },
    release: () => {},
    on: () => {},
    off: () => {},
  }
  const made = new Sessions({ connect: async () => client, end: async () => {} }, time)
  await assert.rejects(made.run(beginWrite, on => on.run(statement, [])))
  assert.deepEqual(
    sent.filter(text => text !== 'rollback'),
    [beginWrite],
  )
})

test('the result of a transaction that has ended is not kept', async () => {
  const { sessions: made } = await sessions(always)
  const found = new WeakRef((await made.run(beginRead, () => ({ large: true }))) as object)
  await until(() => {
    collectGarbage()
    return found.deref() === undefined
  }, 'it is still there')
})

test('statements of one turn leave together, and later ones are not held back', async () => {
  const done: string[] = []
  const client: PostgresClient = {
    query: async ({ text }) => {
      done.push(text)
      return { rows: [] }
    },
    release: () => {},
    on: () => {},
    off: () => {},
    connection: {
      stream: { destroy: () => {}, cork: () => void done.push('hold'), uncork: () => void done.push('send') },
    },
  }
  const made = new Sessions({ connect: async () => client, end: async () => {} }, time)
  await made.run(beginWrite, async on => {
    await on.run(statement, [])
    await sleep(1)
    void on.run({ ...statement, text: 'insert 1' }, [])
    void on.run({ ...statement, text: 'insert 2' }, [])
  })
  await sleep(1)
  assert.deepEqual(done.slice(-5), ['hold', 'insert 1', 'insert 2', 'commit', 'send'])
  await made.close()
})

test('a store that is closed while connections are silent is closed in time', async () => {
  const server = await wire(text => (text === beginWrite ? 'silent' : 'answered'))
  const pool = new pg.Pool({ connectionString: server.url, max: 2, pipeline: true })
  const made = new Sessions(pool, time)
  const under = unavailable(made.run(beginWrite, on => on.run(statement, [])))
  await sleep(20)
  const began = performance.now()
  await made.close()
  await pool.end()
  await under
  assert.ok(performance.now() - began < time + 10_000)
})

describe('limits', () => {
  const key = { key: 'k', span: 1000, by: 1 }
  const counting = (text: string) => text.includes('insert into "_limit"')
  for (const fate of ['silent', 'cut', 'stopped'] as const)
    test(`a connection that is ${fate}: the count fails in time, and the next count has another`, async () => {
      let befallen = false
      const server = await wire(text => {
        if (befallen || !counting(text)) return 'answered'
        befallen = true
        return fate
      })
      const windows = await openRateWindows(server.url)
      const began = performance.now()
      await windows.count([key]).catch(() => {})
      assert.ok(performance.now() - began < 10_000)
      assert.deepEqual(await windows.count([key]), [{ count: 1, leftMs: 0 }])
      await windows.close()
    })

  test('a connection that is cut while nothing is counted ends no process; the next count has another', async () => {
    const server = await wire(() => 'answered')
    const windows = await openRateWindows(server.url)
    for (let round = 0; round < 2; round++) {
      assert.deepEqual(await windows.count([key]), [{ count: 1, leftMs: 0 }])
      server.cutAll()
      while (server.open() > 0) await sleep(1)
      await sleep(20) // for the client to hear of it
    }
    assert.deepEqual(await windows.count([key]), [{ count: 1, leftMs: 0 }])
    await windows.close()
  })

  test('a server that stops just as it becomes ready ends no process', async () => {
    const server = await wire((text, n) => {
      if (text === '') return n === 2 || n === 3 ? 'stopped' : 'answered'
      return n === 1 && counting(text) ? 'cut' : 'answered'
    })
    const windows = await openRateWindows(server.url)
    for (let i = 0; i < 3; i++) await windows.count([key]).catch(() => {})
    assert.deepEqual(await windows.count([key]), [{ count: 1, leftMs: 0 }])
    await windows.close()
  })
})
