/**
 * PgBouncer between a service and PostgreSQL (docs/operations.md, Sizing): in session mode, in transaction mode, and in
 * transaction mode without prepared statements, which is all that PgBouncer before 1.21 has.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { ask } from './curl-request.ts'
import { type Database, database, noDatabase } from './database.ts'
import { cli, folder, missing, orders, root, service } from './peer.ts'
import { freePort, started } from './proxies.ts'

const ignored = 'ignore_startup_parameters = lock_timeout,idle_in_transaction_session_timeout'

/** The address of the database through it. */
async function pooled(to: Database, settings: readonly string[]): Promise<string> {
  const port = await freePort()
  const at = folder()
  const lines = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${to.port} dbname=postgres user=tests`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'auth_type = any',
    'unix_socket_dir =',
    'default_pool_size = 10',
    ...settings,
  ]
  writeFileSync(join(at, 'pgbouncer.ini'), lines.join('\n'))
  const isRoot = process.getuid?.() === 0 // by whom it refuses to be run
  const nobody = Number(spawnSync('id', ['-u', 'nobody'], { encoding: 'utf8' }).stdout)
  if (isRoot) for (const each of [at, join(at, 'pgbouncer.ini')]) chownSync(each, nobody, nobody)
  await started('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), join(at, 'pgbouncer.ini')], port)
  return `postgres://tests@127.0.0.1:${port}/postgres`
}

describe('PgBouncer', { skip: noDatabase() || missing('PgBouncer', 'pgbouncer') }, () => {
  let shared: Database
  before(async () => {
    shared = await database()
  })

  for (const [mode, settings] of [
    ['session mode', ['pool_mode = session']],
    ['transaction mode', ['pool_mode = transaction']],
    ['transaction mode without prepared statements', ['pool_mode = transaction', 'max_prepared_statements = 0']],
  ] as const)
    it(`${mode}: two instances make many changes at once, and every call is answered`, async () => {
      const hasPrepared = spawnSync('pgbouncer', ['--version'], { encoding: 'utf8' }).stdout.match(/1\.(\d+)/)
      const known = settings.filter(each => !each.startsWith('max_prepared') || Number(hasPrepared?.[1]) >= 21)
      const size = mode === 'session mode' ? ['default_pool_size = 40'] : []
      const url = await pooled(shared, [...known, ignored, ...size])
      const data = join(folder(), 'keys')
      const instances = [await service(['--database', url], data), await service(['--database', url], data)]
      const counts = new Map<number, number>()
      const makeSome = async (client: number): Promise<void> => {
        const running = instances[client % 2]
        assert.ok(running)
        const fields = {
          authorization: `Bearer ${running.token(`manager-${client}`, 'manager')}`,
          'content-type': 'application/json',
        }
        for (let i = 0; i < 15; i++) {
          const content = JSON.stringify({ name: `${mode} ${client} ${i}`, price: '1.00', stock: 0 })
          const made = await ask(`${running.url}/api/products`, { method: 'POST', fields, content })
          const read = await ask(`${running.url}${made.fields['location'] ?? '/'}`, { fields })
          for (const { status } of [made, read]) counts.set(status, (counts.get(status) ?? 0) + 1)
        }
      }
      await Promise.all(Array.from({ length: 6 }, (_, i) => makeSome(i)))
      assert.deepEqual(Object.fromEntries(counts), { 200: 90, 201: 90 })
      await Promise.all(instances.map(each => each.stop()))
    })

  it('a start that PgBouncer refuses names the setting', async () => {
    const url = await pooled(shared, ['pool_mode = session'])
    const words = ['--conditions=diglot-source', ...cli, 'serve', orders, '--database', url]
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8', timeout: 30_000 })
    assert.equal(status, 1)
    assert.match(
      stderr,
      /unsupported startup parameter: lock_timeout: .*ignore_startup_parameters = lock_timeout,idle_/,
    )
  })
})
