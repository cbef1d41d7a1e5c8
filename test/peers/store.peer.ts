/** The battery of the PostgreSQL store against a server of its own, with every case that the embedded one has to skip. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { database, noDatabase } from './database.ts'
import { root } from './peer.ts'

it('the store keeps what it promises on a real server', { skip: noDatabase() }, async t => {
  const { url } = await database()
  const { NODE_TEST_CONTEXT: _, ...env } = process.env // the tests are run as a process of their own
  const words = [
    '--conditions=diglot-source',
    '--test',
    '--test-reporter=tap',
    join(root, 'test', 'store', 'postgres.test.ts'),
  ]
  const said = await new Promise<string>(resolve => {
    const options = { env: { ...env, DATABASE_URL: url }, timeout: 180_000, maxBuffer: 64e6 }
    execFile(process.execPath, words, options, (_error, out) => resolve(out))
  })
  const count = (what: string) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(said)?.[1])
  const failed = said.split('\n').filter(line => /^\s*not ok /.test(line))
  assert.deepEqual([failed, count('fail'), count('skipped')], [[], 0, 0])
  assert.ok(count('pass') > 80, said.slice(-2000))
  t.diagnostic(`${count('pass')} cases`)
})
