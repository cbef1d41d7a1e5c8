/** The commands for operators: work, jobs, backup. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import orders from '../../examples/orders/service.ts'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'
import { backUpDatabase } from '../../src/host/operations/backup.ts'
import { queuedJob } from '../../src/service/job-queue.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { bearer, type Hosted, json, startHosted } from './hosted-service.ts'

const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'diglot-commands-'))
after(() => rmSync(folder, { recursive: true }))
const file = join(root, 'examples', 'orders', 'service.ts')
const cli = ['--conditions=diglot-source', join(root, 'src', 'cli.ts')]
const diglot = (...words: string[]) =>
  spawnSync(process.execPath, [...cli, ...words], { encoding: 'utf8', timeout: 120_000 })
const merge = { 'content-type': 'application/merge-patch+json' }
const wish = { from: '2026-01-01', to: '2026-01-31', kind: 'stock' }

test('diglot work runs the jobs that an instance without workers has accepted, and ends at a signal', async () => {
  const data = join(folder, 'work.sqlite')
  const hosted = await startHosted({ data, work: false })
  const clerk = bearer(await hosted.server.token('clara', ['clerk']))
  const started = await hosted.ask('POST', '/api/v1/reports', { ...clerk, ...json }, JSON.stringify(wish))
  const job = String(started.fields['location'])
  const worker = spawn(process.execPath, [...cli, 'work', file, '--data', data], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  after(() => worker.kill('SIGKILL'))
  const said = new Promise<string>(resolve => worker.stdout.once('data', piece => resolve(String(piece))))
  const ended = new Promise(resolve => worker.once('exit', resolve))
  assert.equal(await said, 'working on reports\n')
  for (let tries = 0; ; tries++) {
    const { state } = JSON.parse((await hosted.ask('GET', job, clerk)).text)
    if (state === 'completed') break
    assert.ok(tries < 1200, state)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  worker.kill('SIGTERM')
  assert.equal(await ended, 0)
})

test('diglot jobs lists failed jobs and puts them back', async () => {
  const data = join(folder, 'jobs.sqlite')
  const store = openSqliteStore(orders.contract, data)
  const caller = { subject: 'clara', roles: ['clerk'], claims: {} }
  const failed = {
    ...queuedJob(createItemIdentifier('j'), 'reports', caller, wish, 1000),
    state: 'failed',
    failure: 'error',
    tries: 3,
  } as const
  await store.write(writer => writer.putJob(failed))
  const list = () => diglot('jobs', file, '--data', data)
  assert.deepEqual(JSON.parse(list().stdout), {
    id: failed.id,
    job: 'reports',
    owner: 'clara',
    failure: 'error',
    tries: 3,
    at: '1970-01-01T00:00:01.000Z',
  })
  const another = { ...failed, id: createItemIdentifier('j'), modified: 2000 }
  await store.write(writer => writer.putJob(another))
  const last = diglot('jobs', file, '--data', data, '--limit', '1')
  assert.equal(JSON.parse(last.stdout).id, another.id, 'the last that failed')
  assert.equal(last.stderr, 'diglot: only the last 1 failed jobs are listed: give a larger --limit for the rest\n')
  assert.equal(list().stderr, '', 'all of them')
  await store.write(writer => writer.putJob({ ...another, state: 'completed' }))
  const wrong = diglot('jobs', file, '--data', data, '--retry', 'j-none')
  assert.deepEqual(
    [wrong.status, wrong.stderr],
    [1, 'diglot: j-none is not a failed job: run the command without --retry to list them\n'],
  )
  assert.equal(diglot('jobs', file, '--data', data, '--retry', failed.id).status, 0)
  assert.equal(list().stdout, '')
  assert.equal((await store.read(reader => reader.job(failed.id)))?.state, 'queued')
  await store.close()
})

test('RFC 9110 §8.8.3 after a restore no entity tag given since the backup holds', async () => {
  const data = join(folder, 'lost.sqlite')
  const copy = join(folder, 'restored.sqlite')
  const lost = await startHosted({ data })
  await backUpDatabase(data, copy)
  const clerk = async ({ server }: Hosted) => bearer(await server.token('clara', ['clerk']))
  const change = async (on: Hosted, note: string, fields = {}) =>
    on.ask(
      'PATCH',
      '/api/v2/orders/o-1',
      { ...(await clerk(on)), 'if-match': '*', ...merge, ...fields },
      JSON.stringify({ note }),
    )
  const tag = String((await change(lost, 'lost')).fields['etag'])
  const restored = await startHosted({ data: copy })
  const given = await change(restored, 'kept')
  assert.equal(given.status, 200)
  assert.notEqual(given.fields['etag'], tag)
  const seen = await restored.ask('GET', '/api/v2/orders/o-1', { ...(await clerk(restored)), 'if-none-match': tag })
  assert.deepEqual([seen.status, JSON.parse(seen.text).note], [200, 'kept'])
  assert.equal((await change(restored, 'over it', { 'if-match': tag })).status, 412)
})

test('diglot backup copies a file in use, whole, and overwrites none', async () => {
  const data = join(folder, 'backup.sqlite')
  const hosted = await startHosted({ data })
  const copy = join(folder, 'copy.sqlite')
  assert.equal(diglot('backup', copy, '--data', data).status, 0)
  const again = diglot('backup', copy, '--data', data)
  assert.deepEqual([again.status, again.stderr], [1, `diglot: ${copy} already exists: give another file\n`])
  const none = diglot('backup', join(folder, 'other.sqlite'), '--data', join(folder, 'none.sqlite'))
  assert.match(none.stderr, /database file .*none\.sqlite not found: give its path with --data/)
  const restored = await startHosted({ data: copy })
  const [before, there] = [
    await hosted.ask('GET', '/api/v1/products/p-1'),
    await restored.ask('GET', '/api/v1/products/p-1'),
  ]
  assert.deepEqual([there.status, there.text], [200, before.text])
  const bad = join(folder, 'bad.sqlite')
  writeFileSync(bad, 'not a database, and long enough to have a header of its own, were it one'.repeat(20))
  assert.equal(diglot('backup', join(folder, 'third.sqlite'), '--data', bad).status, 1)
  assert.ok(!readdirSync(folder).some(name => name.startsWith('third') || name.endsWith('unfinished')))
})

test('diglot backup replaces a copy that was killed, and leaves nothing of it', async () => {
  const data = join(folder, 'killed.sqlite')
  await startHosted({ data })
  const copy = join(folder, 'after-kill.sqlite')
  for (const end of ['', '-wal', '-shm', '-journal'])
    writeFileSync(`${copy}.unfinished${end}`, 'half of a copy'.repeat(1000))
  await backUpDatabase(data, copy)
  const made = readdirSync(folder).filter(name => name.startsWith('after-kill'))
  assert.deepEqual(made, ['after-kill.sqlite'])
  const restored = await startHosted({ data: copy })
  assert.equal((await restored.ask('GET', '/api/v1/products/p-1')).status, 200)
})
