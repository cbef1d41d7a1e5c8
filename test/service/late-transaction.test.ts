/** Calls for a remote provider: their transaction begins with the first use of the store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOperations } from '../../src/contract/operation.ts'
import { implement, type Provider, resource, role, service, t } from '../../src/index.ts'
import type { Call } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import { Refused } from '../../src/service/refusal.ts'
import { type Store, Unavailable } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

interface Part {
  readonly id: string
  readonly name: string
}
const anyRole = role('desk')
const allow = { read: [anyRole], create: [anyRole], change: [anyRole], remove: [anyRole] }
const parts = resource('parts', { fields: { id: t.id('p'), name: t.string() } }).rules({ allow })
const notes = resource('notes', { fields: { id: t.id('n'), text: t.string() } }).rules({ allow })
const shop = service('shop', { namespace: 'urn:shop', resources: [parts, notes] })

interface Gate {
  readonly open: () => void
  readonly passed: Promise<void>
}
const createGate = (): Gate => {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { open: resolve, passed: promise }
}

/** @param storeOf what stands around the store */
function startShop({ isRemote = true, storeOf = (store: Store) => store } = {}) {
  const rows = new Map<string, { value: Part; version: number; modified: number }>([
    ['p-1', { value: { id: 'p-1', name: 'bolt' }, version: 1, modified: 1 }],
  ])
  const saves: string[] = []
  let gate: Gate | undefined
  const keep: Provider<Part> = {
    isRemote,
    load: id => rows.get(id),
    list: () => [...rows.values()],
    save: async (id, value, expected) => {
      saves.push(`${id} ${value.name}`)
      await gate?.passed
      if (value.name === 'bad') throw new Error('refused elsewhere')
      if (rows.get(id)?.version !== expected) return 'stale'
      const version = (expected ?? 0) + 1
      rows.set(id, { value, version, modified: version })
      return version
    },
    remove: id => rows.delete(id),
  }
  const app = implement(shop, { parts: { keep } })
  const store = storeOf(openSqliteStore(app.contract, ':memory:'))
  let count = 1
  const calls = createServiceCalls(app, {
    store,
    limiter: createMemoryLimiter(),
    clock: () => 1000,
    id: prefix => `${prefix}-${++count}`,
  })
  const ask = async (name: string, more: Partial<Call> = {}) => {
    const operation = listOperations(app.contract).find(each => each.name === name)
    assert.ok(operation, name)
    const admitted = await calls.admit(operation, { subject: 'ann', roles: ['desk'], claims: {} }, '', 'rest')
    return calls.perform({ admitted, face: 'soap', request: '', ...more })
  }
  return { ask, store, rows, saves, close: () => (gate = createGate()) }
}
const named = (name: string): Partial<Call> => ({ input: () => ({ value: { name }, server: [] }) })
const note: Partial<Call> = { input: () => ({ value: { text: 'x' }, server: [] }) }
const withKey = (name: string): Partial<Call> => ({
  ...named(name),
  once: { key: 'k', fingerprint: name, space: 'idempotency' },
})
const recordsOf = async (store: Store) => {
  const changes = await store.read(reader => reader.changes(0, 100))
  const deeds = await store.read(reader => reader.deeds(0, 10_000, 100))
  return [changes.map(({ what, id }) => `${what} ${id}`), deeds.map(({ operation }) => operation)]
}

for (const isRemote of [true, false])
  test(`while a ${isRemote ? 'remote' : 'near'} provider is slow, other writers ${isRemote ? 'go on' : 'wait'}`, async () => {
    const { ask, close, store } = startShop({ isRemote })
    const gate = close()
    const slow = ask('ReplacePart', { id: 'p-1', ...named('nut') })
    const others = Promise.all(['a', 'b', 'c'].map(() => ask('CreateNote', note)))
    let areDone = false
    const done = others.then(() => (areDone = true))
    if (isRemote) await done
    else await new Promise(resolve => setTimeout(resolve, 300))
    assert.equal(areDone, isRemote)
    gate.open()
    await Promise.all([slow, others])
    const [changes] = await recordsOf(store)
    assert.equal(changes?.includes('changed p-1'), true)
    assert.equal(changes?.indexOf('changed p-1'), isRemote ? 3 : 0)
  })

test('(1) a call that a provider refuses leaves no record', async () => {
  const { ask, store } = startShop()
  await assert.rejects(ask('ReplacePart', { id: 'p-1', ...withKey('bad') }), /refused elsewhere/)
  assert.deepEqual(await recordsOf(store), [[], []])
  await ask('ReplacePart', { id: 'p-1', ...named('nut') })
  assert.deepEqual(await recordsOf(store), [['changed p-1'], ['ReplacePart']])
})

test('(1) if the store fails after the provider, the call fails and nothing is recorded', async () => {
  const failing = (store: Store): Store => ({
    ...store,
    read: store.read.bind(store),
    write: (work, turn) =>
      store.write(async writer => {
        await work(writer)
        throw new Unavailable(1, 'the disk is full')
      }, turn),
  })
  const { ask, store, rows } = startShop({ storeOf: failing })
  const doubtOf = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      thrown => thrown instanceof Unavailable && thrown.doubt,
    )
  assert.equal(await doubtOf(ask('ReplacePart', { id: 'p-1', ...named('nut') })), undefined, 'it may be asked again')
  assert.equal(await doubtOf(ask('CreatePart', withKey('nut'))), 'record', 'its key is lost, too')
  assert.equal(await doubtOf(ask('CreateNote', note)), undefined, 'of the store alone it is known')
  assert.equal(rows.get('p-2')?.value.name, 'nut')
  assert.equal(rows.get('p-1')?.value.name, 'nut', 'the provider commits by itself')
  assert.deepEqual(await recordsOf(store), [[], []])
})

test('(2) a repeated key gets its response without the provider', async () => {
  const { ask, saves, store } = startShop()
  const first = await ask('CreatePart', withKey('nut'))
  assert.deepEqual(await ask('CreatePart', withKey('nut')), first)
  assert.deepEqual(saves, ['p-2 nut'])
  await assert.rejects(ask('CreatePart', withKey('gear')), thrown => thrown instanceof Refused)
  const [changes] = await recordsOf(store)
  assert.deepEqual(changes, ['created p-2'])
})

test('(2) a key is refused while its first call is under way', async () => {
  const { ask, saves, close } = startShop()
  const gate = close()
  const first = ask('CreatePart', withKey('nut'))
  await assert.rejects(ask('CreatePart', withKey('nut')), thrown => thrown instanceof Refused)
  gate.open()
  await first
  assert.equal(saves.length, 1)
})

test('(3) a transaction that collides does not ask the provider again', async () => {
  const colliding = (store: Store): Store => ({
    ...store,
    read: store.read.bind(store),
    write: (work, turn) =>
      store
        .write(writer => work(writer), turn)
        .then(async result => {
          await store.write(writer => work(writer), turn) // as PostgreSQL does after a collision
          return result
        }),
  })
  const { ask, saves } = startShop({ storeOf: colliding })
  await assert.rejects(ask('ReplacePart', { id: 'p-1', ...named('nut') }), Unavailable)
  assert.deepEqual(saves, ['p-1 nut'])
})

test('changes of one item wait for each other, but not for those of another', async () => {
  const { ask, saves, close } = startShop()
  await ask('CreatePart', named('gear'))
  const gate = close()
  const calls = ['one', 'two'].map(name => ask('ReplacePart', { id: 'p-1', ...named(name) }))
  const other = ask('ReplacePart', { id: 'p-2', ...named('cog') })
  for (let turns = 0; turns < 1000 && saves.length < 3; turns++) await new Promise(resolve => setImmediate(resolve))
  assert.deepEqual(saves.slice(1).sort(), ['p-1 one', 'p-2 cog'], 'the second one of p-1 waits')
  gate.open()
  await Promise.all([...calls, other])
  assert.deepEqual(saves.at(-1), 'p-1 two', 'it has read what the first one left, and is not stale')
})
