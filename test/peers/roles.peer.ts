/** A service whose role in PostgreSQL owns nothing and may create nothing: its tables are made by their owner. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startService } from '../../src/host/serve.ts'
import { migrateDatabase } from '../../src/host/store/open-store.ts'
import { StoreFailure } from '../../src/host/store/store-failure.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { database, noDatabase } from './database.ts'

const notes = resource('notes', { fields: { id: t.id('n'), text: t.string({ max: 100 }) } }).rules({
  allow: { read: [anyone], create: [anyone], remove: [anyone] },
  search: ['text'],
})
const app = implement(service('notes', { namespace: 'urn:diglot:roles', resources: [notes] }), {})

test('a role that may only use tables serves what their owner has migrated', { skip: noDatabase() }, async () => {
  const made = await database()
  await made.ask('create role owner login')
  await made.ask('create role service login')
  await made.ask('create schema shop authorization owner')
  const urlOf = (role: string) =>
    made.url.replace('://tests@', `://${role}@`).concat('?options=-c%20search_path%3Dshop')
  const start = () => startService(app, { database: urlOf('service'), key: ':memory:', port: 0 })
  await made.ask('grant usage on schema shop to service')
  await assert.rejects(start, thrown => thrown instanceof StoreFailure && /diglot migrate --apply/.test(thrown.message))
  const wish = { isPlan: false, drop: [], now: Date.now(), tell: () => {} }
  await migrateDatabase(app, { database: urlOf('owner') }, wish)
  await made.ask('grant select, insert, update, delete on all tables in schema shop to service')
  const server = await start()
  try {
    const content = { method: 'POST', body: '{"text":"a note"}', headers: { 'content-type': 'application/json' } }
    const added = await fetch(`${server.url}/api/notes`, content)
    assert.equal(added.status, 201)
    const address = new URL(added.headers.get('location') ?? '', server.url)
    assert.equal((await fetch(`${server.url}/api/notes?q=note`)).status, 200)
    assert.equal((await fetch(address, { method: 'DELETE', headers: { 'if-match': '*' } })).status, 204)
    assert.equal((await fetch(`${server.url}/health/ready`)).status, 200)
  } finally {
    await server.close(0)
  }
})
