/** The reference service does what orders.md promises: prices, sums, reports, mergers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import type { Values } from '../../src/contract/implement.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'
import type { StartedService } from './service-of.ts'

const proceed: Partial<Call> = { expects: () => 'proceed' }
const year = { from: '2026-01-01', to: '2026-12-31' }

async function makeReport(shop: StartedService, caller: Caller, content: Values) {
  const started = await shop.ask(caller, 'StartReport', input(content))
  if (started.kind !== 'job') return started
  await shop.runJob()
  const done = await shop.ask(caller, 'GetReport', { id: started.job.id })
  assert.ok(done.kind === 'result', String(shop.thrown[0]))
  return done.output as { rows: Record<string, unknown>[]; totals: { currency: string; amount: string }[] }
}
const order = (id: string, more: object = {}) => ({
  id,
  customer: 'c-1',
  lines: [{ product: 'p-1', quantity: 1, price: '10.00' }],
  currency: 'EUR',
  total: '10.00',
  placedAt: '2030-05-01T00:00:00Z',
  state: 'paid',
  ...more,
})
const value = (answer: { kind: string }): Values => {
  assert.ok('item' in answer, JSON.stringify(answer))
  return (answer.item as { value: Values }).value
}

describe('a sales report', () => {
  const may = { from: '2030-05-01', to: '2030-05-31', kind: 'sales' }
  test('A5.2 counts only a customer’s own orders', async () => {
    const shop = await startOrdersService()
    await shop.put('orders', [order('o-a'), order('o-b', { customer: 'c-2' })])
    const amounts = async (caller: Caller) => {
      const report = await makeReport(shop, caller, may)
      return 'totals' in report && report.totals
    }
    assert.deepEqual(await amounts(alice), [{ currency: 'EUR', amount: '10.00' }])
    assert.deepEqual(await amounts(clara), [{ currency: 'EUR', amount: '20.00' }])
  })
  test('counts paid orders, does not add currencies together, and keeps to the days', async () => {
    const shop = await startOrdersService()
    await shop.put('orders', [
      order('o-1a'),
      order('o-2a', { state: 'shipped', currency: 'USD' }),
      order('o-3a', { state: 'delivered', placedAt: '2030-05-31T23:59:59Z' }),
      order('o-4a', { state: 'placed' }),
      order('o-5a', { state: 'cancelled' }),
      order('o-6a', { placedAt: '2030-06-01T00:00:00Z' }),
    ])
    const report = await makeReport(shop, clara, may)
    assert.ok('totals' in report)
    assert.deepEqual(
      new Map(report.totals.map(each => [each.currency, each.amount])),
      new Map([
        ['USD', '10.00'],
        ['EUR', '20.00'],
      ]),
    )
    const rows = report.rows.map(({ product, currency, quantity, amount }) => [product, currency, quantity, amount])
    assert.deepEqual(rows.sort(), [
      ['p-1', 'EUR', 2n, '20.00'],
      ['p-1', 'USD', 1n, '10.00'],
    ])
  })
  test('counts every order, of however many', async () => {
    const shop = await startOrdersService()
    const total = '9999999999.00'
    const many = Array.from({ length: 1234 }, (_, i) =>
      order(`o-m${i}`, { total, lines: [{ product: 'p-2', quantity: 1, price: total }] }),
    )
    await shop.put('orders', many)
    const report = await makeReport(shop, clara, may)
    assert.ok('totals' in report)
    assert.deepEqual(report.totals, [{ currency: 'EUR', amount: '12339999998766.00' }])
  })
  test('still counts products that were removed since', async () => {
    const shop = await startOrdersService()
    await shop.put('orders', [order('o-x', { lines: [{ product: 'p-gone', quantity: 3, price: '1.00' }] })])
    const report = await makeReport(shop, clara, may)
    assert.ok('rows' in report)
    assert.deepEqual(
      report.rows.map(row => [row['product'], row['quantity']]),
      [['p-gone', 3n]],
    )
  })
})

const refusals = [
  ['a customer’s stock report', alice, { ...year, kind: 'stock' }, 'forbidden'],
  ['a report from a day after its last', clara, { from: '2026-02-01', to: '2026-01-01', kind: 'sales' }, 'invalid'],
  ['a clerk’s stock report', clara, { ...year, kind: 'stock' }, 'job'],
  ['a customer’s sales report', alice, { ...year, kind: 'sales' }, 'job'],
] as const
for (const [title, caller, content, expected] of refusals)
  test(`A5.2 ${title} gives ${expected} before it is queued`, async () => {
    const { ask } = await startOrdersService()
    assert.equal((await ask(caller, 'StartReport', input(content))).kind, expected)
  })

test('a merger moves every order, of however many', async () => {
  const shop = await startOrdersService()
  await shop.put(
    'orders',
    Array.from({ length: 1500 }, (_, i) => order(`o-m${i}`, { customer: 'c-3' })),
  )
  const count = async (customer: string) => {
    const query = {
      filters: [{ field: 'customer', is: 'eq' as const, value: customer }],
      sort: [],
      size: 1,
      counted: 'exact' as const,
    }
    const found = await shop.ask(maria, 'ListOrders', { query })
    return found.kind === 'page' ? found.page.total : found
  }
  const before = [await count('c-2'), await count('c-3')]
  assert.equal((await shop.ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) })).kind, 'item')
  assert.deepEqual([await count('c-2'), await count('c-3')], [Number(before[0]) + Number(before[1]), 0])
})

test('A7.13 a total that its field cannot hold is invalid content, by create, replace and patch', async () => {
  const { ask } = await startOrdersService()
  const lines = Array.from({ length: 1000 }, () => ({ product: 'p-20', quantity: 1_000_000 }))
  const made = await ask(alice, 'CreateOrder', input({ customer: 'c-1', currency: 'EUR', lines }))
  assert.ok(made.kind === 'invalid')
  assert.deepEqual(made.problems[0]?.path, ['lines'])
  for (const name of ['ReplaceOrder', 'PatchOrder']) {
    const content = input({ customer: 'c-1', currency: 'EUR', lines })
    assert.equal((await ask(clara, name, { id: 'o-1', ...proceed, ...content })).kind, 'invalid', name)
  }
})

describe('a line', () => {
  const startPriced = async () => {
    const shop = await startOrdersService()
    await shop.put('products', [
      { id: 'p-x', name: 'x', price: '12.50', stock: 5 },
      { id: 'p-y', name: 'y', price: '3.00', stock: 5 },
    ])
    const lines = [{ product: 'p-x', quantity: 2 }]
    const made = value(await shop.ask(alice, 'CreateOrder', input({ customer: 'c-1', currency: 'EUR', lines })))
    const dearer = { name: 'x', price: '20.00', stock: 5 }
    value(await shop.ask(maria, 'ReplaceProduct', { id: 'p-x', ...proceed, ...input(dearer) }))
    const replace = async (of: object) => {
      const content = input({ customer: 'c-1', currency: 'EUR', ...of })
      return value(await shop.ask(clara, 'ReplaceOrder', { id: String(made['id']), ...proceed, ...content }))
    }
    return { shop, made, lines, replace }
  }
  test('keeps the price at which it was ordered, whatever else of the order changes', async () => {
    const { lines, replace } = await startPriced()
    assert.equal((await replace({ lines, note: 'only the note' }))['total'], '25.00')
    assert.equal((await replace({ lines: [{ product: 'p-x', quantity: 3 }] }))['total'], '37.50')
  })
  test('that is new, or of another product, takes the price of today', async () => {
    const { lines, replace } = await startPriced()
    assert.equal((await replace({ lines: [...lines, { product: 'p-x', quantity: 1 }] }))['total'], '45.00')
    assert.equal((await replace({ lines: [{ product: 'p-y', quantity: 2 }] }))['total'], '6.00')
    assert.equal((await replace({ lines }))['total'], '40.00')
  })
  test('keeps its own price among several of one product', async () => {
    const { replace } = await startPriced()
    const both = [
      { product: 'p-x', quantity: 2 },
      { product: 'p-x', quantity: 1 },
    ]
    await replace({ lines: both })
    assert.equal((await replace({ lines: both.toReversed() }))['total'], '45.00')
    assert.equal((await replace({ lines: [{ product: 'p-x', quantity: 1 }] }))['total'], '20.00')
  })
})

describe('A7.9 a product', () => {
  const remove = (shop: StartedService, id: string) => shop.ask(maria, 'DeleteProduct', { id, ...proceed })
  const naming = (state: string) => [order('o-n', { state, lines: [{ product: 'p-n', quantity: 1, price: '1.00' }] })]
  for (const [state, expected] of [
    ['placed', 'conflict'],
    ['paid', 'conflict'],
    ['shipped', 'removed'],
    ['delivered', 'removed'],
    ['cancelled', 'removed'],
  ] as const)
    test(`that a ${state} order names gives ${expected} when it is removed`, async () => {
      const shop = await startOrdersService()
      await shop.put('products', [{ id: 'p-n', name: 'n', price: '1.00', stock: 1 }])
      await shop.put('orders', naming(state))
      assert.equal((await remove(shop, 'p-n')).kind, expected)
    })
  test('that no longer exists does not stop changes of an order, but cannot be added', async () => {
    const shop = await startOrdersService()
    await shop.put('orders', naming('placed'))
    const change = (quantity: number, count: number) =>
      shop.ask(clara, 'ReplaceOrder', {
        id: 'o-n',
        ...proceed,
        ...input({
          customer: 'c-1',
          currency: 'EUR',
          lines: Array.from({ length: count }, () => ({ product: 'p-n', quantity })),
        }),
      })
    assert.equal(value(await change(4, 1))['total'], '4.00')
    assert.equal((await change(4, 2)).kind, 'invalid')
  })
})

test('A4.23 orders, customers and products filter by every scalar field, the identifier included', () => {
  const within: Readonly<Record<string, readonly string[]>> = { orders: ['lines.product'] }
  for (const { name, fields, given } of shop.resources) {
    const scalars = Object.entries(fields).filter(
      ([, { shape }]) => !['list', 'object', 'union', 'bytes'].includes(shape.kind),
    )
    const expected = [...scalars.map(([field]) => field), ...(within[name] ?? [])]
    assert.deepEqual([...(given.filter ?? [])].sort(), expected.sort(), name)
  }
})

test('G13 to find whether orders need a product, one of them is read: a hundred would cost much more', async () => {
  const shop = await startOrdersService()
  const sizes: number[] = []
  const write = shop.store.write.bind(shop.store)
  shop.store.write = (work, turn) =>
    write(writer => {
      const list: typeof writer.list = (resource, query) => {
        sizes.push(query.size)
        return writer.list(resource, query)
      }
      return work(new Proxy(writer, { get: (target, name) => (name === 'list' ? list : bindMember(target, name)) }))
    }, turn)
  const refused = await shop.ask(maria, 'DeleteProduct', { id: 'p-1', ...proceed })
  assert.ok(refused.kind === 'conflict' && /^order o-\S+ names this product/.test(refused.detail ?? ''))
  assert.deepEqual(sizes, [1])
})
const bindMember = (target: object, name: string | symbol): unknown => {
  const member: unknown = Reflect.get(target, name)
  return typeof member === 'function' ? member.bind(target) : member
}
