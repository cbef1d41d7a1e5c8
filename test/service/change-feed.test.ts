/** Rule C6.1: who learns of which change, by what a GET would show them now. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { anonymous } from '../../src/contract/policy.ts'
import { changesFor, type FeedPlace } from '../../src/service/change-feed.ts'
import type { Store, StoreReader } from '../../src/service/store.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'

const all = { after: undefined, limit: 100 }
const everyOrder = { within: 'all', sort: [], size: 1000, counted: false } as const
const ownOrders = { field: 'customer', is: 'eq', value: 'c-1' } as const

test('C6.1 callers whose GET would show the item now learn of a change; callers who may read all learn of a removal', async () => {
  const { ask, store, clock } = await startOrdersService()
  const order = (customer: string) => input({ customer, lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' })
  const made = async (customer: string): Promise<string> => {
    const outcome = await ask(clara, 'CreateOrder', order(customer))
    return 'item' in outcome && outcome.item ? outcome.item.id : assert.fail(JSON.stringify(outcome))
  }
  const [own, other, gone] = [await made('c-1'), await made('c-2'), await made('c-1')]
  await ask(clara, 'CancelOrder', { id: gone, ...input({}) })
  await ask(maria, 'DeleteOrder', { id: gone, expects: () => 'proceed' })
  await ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) })
  await store.write(async writer => {
    const change = { at: clock.now, version: 1, what: 'changed', operation: 'x' } as const
    await writer.changed({ ...change, resource: 'products', id: 'p-1' })
    await writer.changed({ ...change, resource: 'products', id: 'p-none' })
    // For a contract that once had it.
    await writer.changed({ ...change, resource: 'parcels', id: 'x-1' })
  })
  const known = async (caller: typeof clara) =>
    (await changesFor(app, store, caller, { ...all, now: clock.now })).changes
  const idsOf = async (caller: typeof clara) =>
    [...new Set((await known(caller)).map(each => each.id))].filter(id => !/^o-\d/.test(id)).sort() // those of a merged customer are many
  const rows = [
    ['anyone: products alone, and that one is not there', anonymous, ['p-1', 'p-none']],
    ['a customer: what is theirs and is there', alice, [own, 'p-1', 'p-none']],
    ['a clerk: every order, also one that is gone', clara, [own, other, gone, 'c-3', 'p-1', 'p-none']],
    ['a manager', maria, [own, other, gone, 'c-3', 'p-1', 'p-none']],
  ] as const
  for (const [who, caller, expected] of rows) assert.deepEqual(await idsOf(caller), [...expected].sort(), who)
  assert.ok(
    (await known(anonymous)).every(each => !('operation' in each)),
    'that it was by a shipment is not public',
  )
  assert.ok((await known(alice)).every(each => each.operation !== undefined))
})

test('C6.1 a reader continues after the last change that was looked at, whether or not it was reported', async () => {
  const { store, clock } = await startOrdersService()
  const change = { at: clock.now, version: 1, what: 'changed', operation: 'x' } as const
  await store.write(async writer => {
    for (const id of ['o-1', 'o-2', 'o-3', 'o-4']) await writer.changed({ ...change, resource: 'orders', id })
  })
  const ask = (after: FeedPlace | undefined, limit: number) =>
    changesFor(app, store, anonymous, { after, limit, now: clock.now })
  const first = await ask(undefined, 3)
  assert.deepEqual([first.changes, first.more], [[], true])
  const second = await ask(first.next, 3)
  assert.deepEqual([second.changes, second.more, second.next.sequence > first.next.sequence], [[], false, true])
  assert.deepEqual(await ask(second.next, 3), { changes: [], next: second.next, more: false })
  assert.deepEqual((await ask(second.next, 0)).next, second.next)
})

test('C6.1 items are read in one query for each resource, and only if the policy depends on them', async () => {
  const { store, clock } = await startOrdersService()
  const about = { at: clock.now, version: 1, what: 'changed', operation: 'x' } as const
  const ids = Array.from({ length: 300 }, (_, i) => `o-${i % 150}`)
  await store.write(async writer => {
    for (const id of ids) await writer.changed({ ...about, resource: 'orders', id })
    for (const id of ['c-1', 'c-2', 'c-1']) await writer.changed({ ...about, resource: 'customers', id })
    await writer.changed({ ...about, resource: 'products', id: 'p-1' })
  })
  const countQuestions = async (caller: typeof clara) => {
    const asked: string[] = []
    const counting: Pick<Store, 'read'> = {
      read: work =>
        store.read(reader =>
          work(
            new Proxy(reader, {
              get: (on, name: keyof StoreReader) => {
                if (name === 'get' || name === 'getAll' || name === 'list') asked.push(name)
                return (on[name] as (...given: unknown[]) => unknown).bind(on)
              },
            }),
          ),
        ),
    }
    const { changes } = await changesFor(app, counting as Store, caller, {
      after: undefined,
      limit: 1000,
      now: clock.now,
    })
    return { asked, changes }
  }
  assert.deepEqual((await countQuestions(anonymous)).asked, [], 'orders and customers are never theirs')
  const clerk = await countQuestions(clara)
  assert.deepEqual([clerk.asked, clerk.changes.length], [[], 304], 'a clerk may know of every one')
  const customer = await countQuestions(alice)
  assert.deepEqual(customer.asked, ['getAll', 'getAll'])
  const own = await store.read(reader => reader.list('orders', { ...everyOrder, filters: [ownOrders] }))
  const mine = new Set(own.items.map(item => item.id))
  assert.deepEqual(
    customer.changes.map(({ resource, id }) => `${resource} ${id}`),
    [...ids.filter(id => mine.has(id)).map(id => `orders ${id}`), 'customers c-1', 'customers c-1', 'products p-1'],
  )
})
