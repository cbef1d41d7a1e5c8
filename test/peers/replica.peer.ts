/**
 * `--replica` with a standby that follows by streaming (docs/scale.md, Reads 3): what only reads is answered by it, as old as it
 * may be; what it has not yet is found in the primary; changes and what they compare never see it; it may go and come; and
 * when the primary is lost it can take its place, without a start anew.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type AddressInfo, connect, createServer } from 'node:net'
import { before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ServerFinder } from '../../src/store/server-finder.ts'
import { parseServerList, type ServerRole } from '../../src/store/server-list.ts'
import { proxy, type Way } from '../proxy.ts'
import { type Answer, ask, type Question } from './curl-request.ts'
import { type Database, database, noDatabase, standbyOf } from './database.ts'
import { atEnd, cli, orders, type Running, root, service } from './peer.ts'
import { freePort } from './proxies.ts'

const json = { 'content-type': 'application/json' }
const merge = { 'content-type': 'application/merge-patch+json' }
const bodyOf = ({ content }: Answer) => JSON.parse(content.toString('utf8'))
const held = 'select pg_wal_replay_pause()'
const resumed = 'select pg_wal_replay_resume()'

/** A port that leads to another, each octet of which arrives late. */
async function delayed(port: number): Promise<number> {
  const server = createServer(near => {
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) socket.on('error', () => {})
    near.pipe(far).on('close', () => near.destroy())
    far.on('data', piece => setTimeout(() => near.write(piece), 100)).on('close', () => near.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => server.close())
  return (server.address() as AddressInfo).port // it listens on TCP
}

async function until(holds: () => Promise<boolean>, what: string, seconds = 30): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await holds())) {
    assert.ok(performance.now() < end, what)
    await pause(50)
  }
}

describe('a standby that serves reads', { skip: noDatabase() }, () => {
  let primary: Database
  let standby: Database
  let toPrimary: Way
  let toStandby: Way
  let running: Running
  let manager: Record<string, string>
  const to = (database: Database, way: Way) => database.url.replace(`:${database.port}`, `:${way.port}`)
  const asked = (path: string, question: Question = {}) =>
    ask(`${running.url}${path}`, { ...question, fields: { ...manager, ...question.fields } })
  const made = async (name: string): Promise<string> => {
    const content = JSON.stringify({ name, price: '1.00', stock: 0 })
    const answer = await asked('/api/products', { method: 'POST', fields: json, content })
    assert.equal(answer.status, 201)
    return answer.fields['location'] ?? ''
  }
  const set = (path: string, stock: number, fields: Record<string, string> = {}) =>
    asked(path, {
      method: 'PATCH',
      fields: { ...merge, 'if-match': '*', ...fields },
      content: JSON.stringify({ stock }),
    })
  const stock = async (path: string): Promise<number> => bodyOf(await asked(path)).stock
  /** The standby is as new as the primary. */
  const followed = () =>
    until(async () => {
      const [now] = await primary.ask('select pg_current_wal_lsn()::text as at')
      const [row] = await standby.ask('select pg_last_wal_replay_lsn() >= $1::pg_lsn as reached', [now?.['at']])
      return row?.['reached'] === true
    }, 'the standby follows')
  const heldBack = async (work: () => Promise<void>): Promise<void> => {
    await followed()
    await standby.ask(held)
    await work()
    await standby.ask(resumed)
    await followed()
  }
  /** Whether a read is answered by the standby: it does not know yet what was changed. */
  const answers = async (): Promise<boolean> => {
    const path = await made('Who answers')
    await followed()
    await standby.ask(held)
    await set(path, 1)
    const found = await stock(path)
    await standby.ask(resumed)
    return found === 0
  }

  before(async () => {
    primary = await database()
    standby = await standbyOf(primary)
    const way = async (database: Database) => {
      const between = await proxy({ host: '127.0.0.1', port: database.port })
      atEnd(() => between.close())
      return between
    }
    toPrimary = await way(primary)
    toStandby = await way(standby)
    running = await service(['--database', to(primary, toPrimary), '--replica', to(standby, toStandby)])
    manager = { authorization: `Bearer ${running.token('maria', 'manager')}` }
  })

  it('a read is as old as the standby’s delay, and new once it has caught up', async () => {
    const path = await made('Late')
    const gone = await made('Gone')
    await heldBack(async () => {
      const changed = await set(path, 5)
      assert.deepEqual([changed.status, bodyOf(changed).stock], [200, 5])
      const found = await asked(path)
      assert.deepEqual([found.status, bodyOf(found).stock], [200, 0])
      assert.notEqual(found.fields['etag'], changed.fields['etag'])
      assert.equal((await asked(gone, { method: 'DELETE', fields: { 'if-match': '*' } })).status, 204)
      assert.equal((await asked(gone)).status, 200)
    })
    assert.equal(await stock(path), 5)
    assert.equal((await asked(gone)).status, 410)
  })

  it('an item that was just created is found, whichever database responds', async () => {
    await heldBack(async () => {
      const path = await made('New')
      assert.equal(await stock(path), 0)
      const wish = JSON.stringify({ from: '2026-01-01', to: '2026-01-31', kind: 'stock' })
      const job = await asked('/api/reports', { method: 'POST', fields: json, content: wish })
      assert.equal(job.status, 202)
      const at = job.fields['location'] ?? ''
      await until(async () => bodyOf(await asked(at)).state === 'completed', 'the job comes to its end')
      assert.equal((await asked(at.replace('/jobs/', '/'))).status, 200)
    })
  })

  it('a change is compared with the primary: a late tag is refused, and no update is lost', async () => {
    const path = await made('Compared')
    await heldBack(async () => {
      const changed = await set(path, 1)
      const late = (await asked(path)).fields['etag'] ?? ''
      assert.equal((await set(path, 2, { 'if-match': late })).status, 412)
      assert.equal((await set(path, 3, { 'if-match': changed.fields['etag'] ?? '' })).status, 200)
    })
    assert.equal(await stock(path), 3)
  })

  it('the standby stops unnoticed, returns, and serves reads again', async () => {
    const path = await made('Steady')
    await followed()
    assert.equal(await answers(), true)
    await standby.stop('SIGQUIT')
    for (let i = 1; i <= 20; i++) {
      assert.equal((await set(path, i)).status, 200)
      assert.equal(await stock(path), i)
    }
    await standby.start()
    await until(answers, 'it answers again')
  })

  it('it is silent: one read waits for its answer, the others are answered; it speaks, and answers again', async () => {
    const path = await made('Patient')
    await followed()
    toStandby.silence()
    const began = performance.now()
    assert.equal((await asked(path)).status, 200)
    assert.ok(performance.now() - began < 4000, 'it waits no longer than a read of a standby may take')
    await pause(1100)
    const trying = asked(path)
    await pause(50)
    for (let i = 0; i < 10; i++) {
      const from = performance.now()
      assert.equal((await asked(path)).status, 200)
      assert.ok(performance.now() - from < 1000, 'nobody waits with the one who tries')
    }
    assert.equal((await trying).status, 200)
    toStandby.speak()
    await until(answers, 'it answers again')
  })

  it('its connections are among the metrics', async () => {
    const text = (await asked('/metrics')).content.toString('utf8')
    for (const store of ['primary', 'replica']) {
      assert.match(text, new RegExp(`^diglot_store_waiting\\{store="${store}"\\} 0$`, 'm'))
      for (const state of ['busy', 'idle'])
        assert.match(text, new RegExp(`^diglot_store_connections\\{store="${store}",state="${state}"\\} \\d+$`, 'm'))
    }
  })

  it('its lag is among the metrics, and grows while it does not follow', async () => {
    const lag = async (): Promise<number> => {
      const { content } = await asked('/metrics')
      return Number(/^diglot_replica_lag_seconds (\S+)$/m.exec(content.toString('utf8'))?.[1])
    }
    await made('Late')
    await followed()
    assert.ok((await lag()) < 2)
    await standby.ask(held)
    await made('Later')
    await until(async () => (await lag()) > 2, 'its lag grows')
    await standby.ask(resumed)
    await followed()
    assert.ok((await lag()) < 10)
  })

  it('the primary is lost: reads continue, changes are unavailable until a promotion, and none is lost', async () => {
    const path = await made('Outlives')
    const { etag = '' } = (await set(path, 7)).fields
    await followed()
    await primary.stop('SIGQUIT')
    toPrimary.lead({ host: '127.0.0.1', port: standby.port })
    for (let i = 0; i < 10; i++) {
      assert.equal(await stock(path), 7)
      const refused = await set(path, 8, { 'if-match': etag })
      assert.deepEqual([refused.status, refused.fields['retry-after']], [503, '1'])
    }
    await standby.ask('select pg_promote()')
    await until(async () => (await set(path, 8, { 'if-match': etag })).status === 200, 'changes are done again')
    assert.equal(await stock(path), 8)
    assert.equal((await asked('/health/ready')).status, 200)
    assert.equal(running.process.exitCode, null)
  })
})

describe('an address that names a primary and its standby', { skip: noDatabase() }, () => {
  it('changes go to the primary, reads to the standby; after a failover both go to the one that is left', async () => {
    const primary = await database()
    const standby = await standbyOf(primary)
    const both = (...of: readonly Database[]) =>
      `postgres://tests@${of.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`
    const running = await service([
      '--database',
      both(standby, primary),
      '--replica',
      `${both(primary, standby)}?target_session_attrs=any`,
    ])
    const manager = { authorization: `Bearer ${running.token('maria', 'manager')}` }
    const asked = (path: string, question: Question = {}) =>
      ask(`${running.url}${path}`, { ...question, fields: { ...manager, ...question.fields } })
    const content = JSON.stringify({ name: 'Outlives', price: '1.00', stock: 0 })
    const made = await asked('/api/products', { method: 'POST', fields: json, content })
    assert.equal(made.status, 201)
    const path = made.fields['location'] ?? ''
    const setTo = (stock: number) =>
      asked(path, { method: 'PATCH', fields: { ...merge, 'if-match': '*' }, content: JSON.stringify({ stock }) })
    assert.equal((await setTo(1)).status, 200)
    await until(async () => {
      const [row] = await standby.ask('select count(*)::int as rows from products where stock = 1')
      return row?.['rows'] === 1
    }, 'the standby follows')
    await primary.stop('SIGQUIT')
    const { status, fields } = await setTo(2)
    assert.deepEqual([status, fields['retry-after']], [503, '1'])
    await standby.ask('select pg_promote()')
    await until(async () => (await setTo(3)).status === 200, 'changes are done again')
    assert.equal(bodyOf(await asked(path)).stock, 3)
    await until(async () => (await asked('/health/ready')).status === 200, 'it is ready')
    assert.equal(running.process.exitCode, null)
  })

  it('a former primary that comes back gets no connection, even if it answers first', async () => {
    const primary = await database()
    const standby = await standbyOf(primary)
    await standby.ask('select pg_promote()')
    const late = await delayed(standby.port)
    const list = parseServerList(`postgres://tests@127.0.0.1:${primary.port},127.0.0.1:${late}/postgres`)
    assert.ok(list)
    const told: string[] = []
    const find = async (role: ServerRole) => (await new ServerFinder(list, role, says => told.push(says)).find()).port
    assert.deepEqual([await find('primary'), await find('any')], [late, late])
    assert.match(told[0] ?? '', new RegExp(`^127\\.0\\.0\\.1:${primary.port} takes changes, but is a former primary`))
    await standby.stop('SIGQUIT')
    await assert.rejects(find('primary'), /no server is a primary .*its timeline is 1, and another server has 2/)
  })

  it('a start names the servers that it tried, and their roles', async () => {
    const port = await freePort()
    const address = `postgres://tests:secret@127.0.0.1:${port},localhost:${port}/postgres`
    const words = ['--conditions=diglot-source', ...cli, 'serve', orders, '--database', address]
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 30_000 })
    assert.equal(status, 1)
    assert.match(stderr, /no server is a primary that takes changes \(127\.0\.0\.1:\d+: connect ECONNREFUSED/)
    assert.doesNotMatch(stderr, /secret/)
  })
})
