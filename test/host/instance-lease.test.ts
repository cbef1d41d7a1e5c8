/** What an instance announces to other programs on its database, from its start to its end. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createHandler } from '../../src/host/handler.ts'
import { InstanceLease } from '../../src/host/operations/instance-lease.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const notes = resource('notes', {
  fields: { id: t.id('n'), title: t.string().was('text'), at: t.date().optional() },
}).rules({ allow: { read: [anyone] } })
const app = implement(service('notes', { namespace: 'urn:notes', resources: [notes] }), {})

test('a service announces what it needs by the names of the database, and takes that back when it ends', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'notes.sqlite')
  const logger = { info() {}, warn() {}, error: assert.ifError }
  const instances = [await createHandler(app, { data, logger }), await createHandler(app, { data, logger })]
  const store = openSqliteStore(app.contract, data)
  t.after(() => store.close())
  const recall = async () => [...(await store.read(reader => reader.recallAll('instance'))).values()]
  const needs = await recall()
  assert.equal(needs.length, 2)
  for (const { value } of needs)
    assert.deepEqual(JSON.parse(value).names, ['notes', 'notes.id', 'notes.text', 'notes.at'])
  for (const left of [1, 0]) {
    await instances[left]?.close()
    assert.equal((await recall()).length, left)
  }
})

test('a service warns of another one that runs on its database, as long as that runs', async context => {
  const folder = mkdtempSync(join(tmpdir(), 'lease-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'both.sqlite')
  const shop = resource('products', { fields: { id: t.id('p'), name: t.string() } }).rules({
    allow: { read: [anyone] },
  })
  const other = implement(service('shop', { namespace: 'urn:shop', resources: [shop] }), {})
  const open = async (of: typeof app | typeof other) => {
    const warned: object[] = []
    const logger = { info() {}, warn: (fields: object) => void warned.push(fields), error: assert.ifError }
    return { service: await createHandler(of, { data, logger }), warned }
  }
  const first = await open(app)
  const twin = await open(app)
  const stranger = await open(other)
  assert.deepEqual([first.warned, twin.warned], [[], []], 'instances of one service belong together')
  const names = stranger.warned.map(each => Object(each).service)
  assert.deepEqual(names, ['notes', 'notes'])
  for (const { service } of [first, twin, stranger]) await service.close()
  const last = await open(other)
  assert.deepEqual(last.warned, [])
  await last.service.close()
})

test('a store that does not respond delays the end of an instance by two seconds', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const never = new Promise<never>(() => {})
  const lease = new InstanceLease(
    { read: () => never, write: () => never },
    app.contract,
    { clock: () => 0, failed: assert.ifError },
    'i-1',
  )
  let isOver = false
  const ended = lease.end().then(() => (isOver = true))
  t.mock.timers.tick(1999)
  await Promise.resolve()
  assert.equal(isOver, false)
  t.mock.timers.tick(1)
  await ended
})
