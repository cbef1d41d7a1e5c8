/** A replica serves reads; those that it would refuse or cannot serve go to the original. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { lagMaxMs, withReplica } from '../../src/service/read-replica.ts'
import { refuse } from '../../src/service/refusal.ts'
import { type Store, type StoreReader, Unavailable } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

const createProduct = (id: string, name: string) => ({ id, name, price: '1.00', stock: 1 })
const readName = async (reader: StoreReader, id: string): Promise<unknown> => {
  const found = await reader.get('products', id)
  return found && 'value' in found ? found.value['name'] : refuse({ kind: 'not-found' })
}
async function openBoth() {
  const store = openSqliteStore(app.contract, ':memory:')
  const copy = openSqliteStore(app.contract, ':memory:')
  await store.write(writer => writer.put('products', 'p-1', createProduct('p-1', 'new'), {}, undefined, 1))
  await store.write(writer => writer.put('products', 'p-2', createProduct('p-2', 'just made'), {}, undefined, 1))
  await copy.write(writer => writer.put('products', 'p-1', createProduct('p-1', 'old'), {}, undefined, 1))
  return { store, copy }
}

test('the replica serves what it has; what it lacks so far is found in the original; changes never see it', async () => {
  const { store, copy } = await openBoth()
  const both = withReplica(store, copy, () => 0)
  assert.equal(await both.read(reader => readName(reader, 'p-1')), 'old')
  assert.equal(await both.read(reader => readName(reader, 'p-2')), 'just made')
  assert.equal(await both.write(writer => readName(writer, 'p-1')), 'new')
  await assert.rejects(async () => both.read(reader => readName(reader, 'p-3')))
})

test('an unreachable replica is left alone for a second', async () => {
  const { store } = await openBoth()
  let now = 10_000
  let asked = 0
  const lost = {
    read: () => {
      asked++
      throw new Unavailable()
    },
  }
  const both = withReplica(store, lost, () => now)
  for (let i = 0; i < 3; i++) assert.equal(await both.read(reader => readName(reader, 'p-1')), 'new')
  assert.equal(asked, 1)
  now += 1000
  assert.equal(await both.read(reader => readName(reader, 'p-1')), 'new')
  assert.equal(asked, 2)
})

test('a replica that does not respond delays one read a second; when it is back it serves all', async () => {
  const { store, copy } = await openBoth()
  let now = 10_000
  let gone = true
  let asked = 0
  const outages: PromiseWithResolvers<never>[] = []
  const slow = {
    read: async <T>(work: (reader: StoreReader) => T | Promise<T>): Promise<T> => {
      asked++
      if (gone) {
        const outage = Promise.withResolvers<never>()
        outages.push(outage)
        await outage.promise
      }
      return copy.read(work)
    },
  }
  const both = withReplica(store, slow, () => now)
  const read = () => both.read(reader => readName(reader, 'p-1'))
  const fail = (): void => outages.pop()?.reject(new Unavailable())
  const held = read()
  fail()
  assert.equal(await held, 'new')
  now += 1000
  const first = read()
  assert.deepEqual(await Promise.all([read(), read()]), ['new', 'new']) // nobody waits with the first
  fail()
  assert.equal(await first, 'new')
  assert.equal(asked, 2)
  gone = false
  now += 1000
  assert.deepEqual([await read(), await read()], ['old', 'old'])
})

test('a replica that has not followed for minutes is read only while the original cannot be', async () => {
  const { store, copy } = await openBoth()
  let now = 10_000
  let lag = 1000
  let isGone = false
  const told: unknown[] = []
  const original: Store = {
    ...openSqliteStore(app.contract, ':memory:'),
    read: async work => {
      if (isGone) throw new Unavailable()
      return store.read(work)
    },
  }
  const following = { read: copy.read.bind(copy), lagMs: async () => lag }
  const both = withReplica(
    original,
    following,
    () => now,
    unused => told.push(unused),
  )
  const readLater = async (): Promise<unknown> => {
    now += 5000
    await both.read(reader => readName(reader, 'p-1')) // looks at the lag beside it
    return both.read(reader => readName(reader, 'p-1'))
  }
  assert.equal(await readLater(), 'old')
  lag = lagMaxMs + 1
  assert.equal(await readLater(), 'new')
  isGone = true
  assert.equal(await readLater(), 'old')
  isGone = false
  lag = 0
  assert.equal(await readLater(), 'old')
  assert.deepEqual(told, ['late', undefined])
})

test('that a replica is unreachable, or read again, is told once', async () => {
  const { store, copy } = await openBoth()
  let now = 10_000
  let isGone = true
  const told: unknown[] = []
  const lost = {
    read: async <T>(work: (reader: StoreReader) => T | Promise<T>): Promise<T> => {
      if (isGone) throw new Unavailable()
      return copy.read(work)
    },
  }
  const both = withReplica(
    store,
    lost,
    () => now,
    unused => told.push(unused),
  )
  for (const gone of [true, true, false, false]) {
    isGone = gone
    now += 1000
    await both.read(reader => readName(reader, 'p-1'))
  }
  assert.deepEqual(told, ['unreachable', undefined])
})
