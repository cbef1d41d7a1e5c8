/** Journeys of the REST client through the front door of the orders service, without a socket. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OutOfStock, PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import {
  Busy,
  createRestClient,
  FaultError,
  Forbidden,
  InputError,
  Invalid,
  NotFound,
  NotOfferedError,
  ProblemError,
  type RestClientOptions,
  StateConflict,
  VersionConflict,
} from '../../src/client/index.ts'
import { createMemoryFetch } from '../../src/testing/index.ts'
import { startOrders } from '../rest/orders-over-rest.ts'

const orders = await startOrders()
const address = 'http://shop.test/api'

interface Sent {
  readonly method: string
  readonly target: string
  readonly fields: Readonly<Record<string, string>>
  readonly status: number
}
const fetchNoting = (sent: Sent[]): typeof fetch =>
  createMemoryFetch(orders.face, {
    onResponse: ({ method, url, headers }, { status }) => {
      const { pathname, search } = new URL(url)
      sent.push({ method, target: pathname + search, fields: Object.fromEntries(headers), status })
    },
  })

function client(name?: string, options: Partial<RestClientOptions> = {}) {
  const sent: Sent[] = []
  const credentials = name === undefined ? {} : { credentials: { bearer: name } }
  const api = createRestClient(shop, {
    address,
    fetch: fetchNoting(sent),
    ...credentials,
    ...(options as {}),
  })
  return { api, sent }
}

/** How a call ends. */
async function failure<E>(call: Promise<unknown>, type: abstract new (...given: never[]) => E): Promise<E> {
  const thrown = await call.then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof type, String(thrown?.stack ?? thrown))
  return thrown
}

const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR', note: 'a “quote”' } as const

test('the life of an order: each action gives the state that the next one takes', async () => {
  const { api, sent } = client('maria')
  const placed = await api.orders.create(draft)
  assert.ok(placed.state === 'placed')
  assert.deepEqual([placed.total, placed.lines[0]?.price, placed.note], ['9.90', '4.95', draft.note])
  const declined = await failure(api.orders.pay(placed, { method: 'card', amount: '1.00' }), FaultError)
  assert.ok(declined.is(PaymentDeclined))
  assert.equal(declined.detail.reason, '1.00 was offered for 9.90')
  assert.deepEqual([declined.status, declined.operation], [422, 'orders.pay'])
  const payment = await api.orders.pay(placed, { method: 'card', amount: placed.total })
  assert.equal(payment.receipt, `${placed.id} paid by card`)
  const paid = await api.orders.get(placed)
  assert.ok(paid.state === 'paid')
  const shipped = await api.orders.ship(paid, { carrier: 'dhl' })
  assert.equal((await api.orders.track(shipped)).position, 'on its way')
  const delivered = await api.orders.deliver(shipped)
  assert.deepEqual([delivered.state, delivered.carrier], ['delivered', 'dhl'])
  const changes = sent.filter(each => each.method === 'POST')
  assert.ok(changes.slice(1).every(each => /^"\d+-\w+"$/.test(each.fields['if-match'] ?? '')))
})

test('addresses come from links: the entry is the only one that the client knows', async () => {
  const moved = createMemoryFetch(orders.face)
  const elsewhere: typeof fetch = async (input, init) => {
    const to = String(input).replace('/elsewhere/', '/api/')
    const response = await moved(to, init)
    const text = await response.text()
    return new Response(response.status === 304 ? null : text.replaceAll('"/api/', '"/elsewhere/'), response)
  }
  const api = createRestClient(shop, { address, fetch: elsewhere, credentials: { bearer: 'maria' } })
  const order = await api.orders.get('o-1')
  assert.ok(order.state === 'placed')
  assert.equal((await api.orders.patch(order, { note: 'x' })).note, 'x')
})

test('an action that the item does not offer this caller is not sent', async () => {
  const { api, sent } = client('alice')
  const paid = await api.orders.get('o-7')
  assert.ok(paid.state === 'paid')
  const before = sent.length
  const thrown = await failure(api.orders.ship(paid, { carrier: 'ups' }), NotOfferedError)
  assert.match(
    thrown.message,
    /^orders\.ship: the link shipment is missing, the item has the links self, collection, customer, cancel:/,
  )
  assert.equal(sent.length, before)
  assert.deepEqual(api.orders.offers(paid), ['cancel'])
})

test('an item that this client did not read has no links: the error says what to do', async () => {
  const { api } = client('clara')
  const order = await api.orders.get('o-1')
  assert.ok(order.state === 'placed')
  await assert.rejects(api.orders.cancel({ ...order }), /not read by this client: get it first/)
})

describe('changes carry the tag of the item that was read', () => {
  test('replace and patch: the second of two writers learns of the first', async () => {
    const { api } = client('clara')
    const mine = await api.orders.get('o-16')
    const theirs = await api.orders.get('o-16')
    assert.ok(mine.state === 'placed' && theirs.state === 'placed')
    assert.equal((await api.orders.replace(mine, { ...mine, note: 'first' })).note, 'first')
    const late = await failure(api.orders.patch(theirs, { note: 'second' }), FaultError)
    assert.ok(late.is(VersionConflict))
    assert.equal(late.status, 412)
    const forced = await api.orders.patch(theirs, { note: null }, { anyVersion: true })
    assert.equal(forced.note, undefined)
  })
  test('an item of a page is compared with the current one, and takes its tag while they are equal', async () => {
    const { api, sent } = client('maria')
    const [first] = (await api.orders.list({ where: { id: 'o-36' } }).first()).items
    assert.ok(first?.state === 'placed')
    const changed = await api.orders.patch(first, { note: 'from a page' })
    assert.match(sent.at(-1)?.fields['if-match'] ?? '', /^"\d+-/)
    const stale = await failure(api.orders.patch(first, { note: 'again' }), FaultError)
    assert.ok(stale.is(VersionConflict))
    assert.equal(sent.at(-1)?.method, 'GET')
    assert.equal((await api.orders.get(changed)).note, 'from a page')
  })
  test('removal, and a removed item', async () => {
    const { api } = client('maria')
    const order = await api.orders.get('o-5')
    assert.ok(order.state === 'cancelled')
    assert.equal(await api.orders.remove(order), undefined)
    const gone = await failure(api.orders.get('o-5'), FaultError)
    assert.ok(gone.is(NotFound))
    assert.equal(gone.status, 410)
  })
  test('a client may choose the identifier if the contract allows it', async () => {
    const { api } = client('maria')
    const tea = { name: 'Tea', price: '3.20', stock: 5 }
    assert.equal((await api.products.create(tea, { id: 'p-tea' })).id, 'p-tea')
    const again = await failure(api.products.create(tea, { id: 'p-tea' }), FaultError)
    assert.ok(again.is(VersionConflict))
  })
})

describe('faults and problems', () => {
  test('out of stock, with its typed detail', async () => {
    const { api } = client('maria')
    const placed = await api.orders.create({ ...draft, lines: [{ product: 'p-2', quantity: 100_000 }] })
    assert.ok(placed.state === 'placed')
    await api.orders.pay(placed, { method: 'transfer', amount: placed.total })
    const paid = await api.orders.get(placed.id)
    assert.ok(paid.state === 'paid')
    const out = await failure(api.orders.ship(paid, { carrier: 'dhl' }), FaultError)
    assert.ok(out.is(OutOfStock))
    assert.deepEqual([out.detail.product, typeof out.detail.stock], ['p-2', 'number'])
  })
  test('a state that has changed since: StateConflict, with what is possible', async () => {
    const { api } = client('maria')
    const placed = await api.orders.create(draft)
    assert.ok(placed.state === 'placed')
    await api.orders.cancel(placed, {})
    const late = await failure(api.orders.cancel(placed, {}, { anyVersion: true }), FaultError)
    assert.ok(late.is(StateConflict))
    assert.deepEqual([late.detail.state, late.detail.possible], ['cancelled', []])
  })
  test('Invalid, with the place of each problem', async () => {
    const { api } = client('maria')
    const wrong = await failure(
      api.orders.create({ ...draft, lines: [{ product: 'p-none', quantity: 1 }] }),
      FaultError,
    )
    assert.ok(wrong.is(Invalid))
    assert.equal(wrong.detail.problems?.[0]?.path, 'lines.0.product')
  })
  test('Forbidden', async () => {
    const { api } = client('alice')
    const refused = await failure(api.products.create({ name: 'Tea', price: '1.00', stock: 1 }), FaultError)
    assert.ok(refused.is(Forbidden))
  })
  test('input that breaks the contract is not sent', async () => {
    const { api, sent } = client('maria')
    const order = await api.orders.get('o-1')
    assert.ok(order.state === 'placed')
    const before = sent.length
    const wrong = await failure(api.orders.pay(order, { method: 'card', amount: '1","x":"' }), InputError)
    assert.deepEqual(wrong.problems[0]?.path, ['amount'])
    assert.equal(sent.length, before)
  })
  test('any other problem: status, type, detail', async () => {
    const { api } = client()
    const refused = await failure(api.orders.get('o-1'), ProblemError)
    assert.deepEqual(
      [refused.status, refused.type, refused.title],
      [401, '/problems/unauthenticated', 'Authentication required'],
    )
    assert.match(refused.detail ?? '', /WWW-Authenticate/)
  })
  test('a flood of searches: Busy, once the waits that the service requests are too long', async () => {
    const { api } = client('alice', { timeLimit: 500 })
    const ask = async () => {
      for (let count = 0; count < 40; count++) await api.orders.search('gift', {}, { stored: true }).first()
    }
    const busy = await failure(ask(), FaultError)
    assert.ok(busy.is(Busy))
    assert.ok((busy.detail.retryAfter ?? 0) > 0)
  })
})

describe('collections', () => {
  test('a list is iterated over its pages, each item once, in the requested order', async () => {
    const { api, sent } = client('maria')
    const seen: string[] = []
    let last = ''
    for await (const order of api.orders.list({ where: { customer: 'c-2' }, sort: ['placedAt', 'total'], size: 7 })) {
      assert.ok(order.placedAt >= last)
      last = order.placedAt
      seen.push(order.id)
    }
    assert.equal(new Set(seen).size, seen.length)
    assert.equal(sent.filter(each => each.target.includes('/orders?')).length, Math.ceil(seen.length / 7))
  })
  test('comparisons, lists of values and only some fields', async () => {
    const { api } = client('maria')
    const where = { state: { in: ['placed', 'paid'] as const }, total: { gte: '30.00', lt: '90.00' } }
    const found = await Array.fromAsync(api.orders.list({ where, only: ['id', 'total'] }))
    assert.ok(found.length > 3 && found.every(each => Number(each.total) >= 30 && Number(each.total) < 90))
    assert.deepEqual(Object.keys(found[0] ?? {}), ['id', 'total'])
  })
  test('absent and present values', async () => {
    const { api } = client('maria')
    const listed = async (absent: boolean) => await Array.fromAsync(api.orders.list({ where: { note: { absent } } }))
    const [without, noted] = [await listed(true), await listed(false)]
    assert.ok(without.length > 0 && without.every(each => each.note === undefined))
    assert.ok(noted.length > 0 && noted.every(each => each.note !== undefined))
  })
  test('pages, and the total', async () => {
    const { api } = client('maria')
    const sizes: number[] = []
    for await (const page of api.customers.list({ size: 2 }).pages()) sizes.push(page.items.length)
    assert.deepEqual(sizes, [2, 1])
    assert.equal((await api.customers.list({ size: 1 }).first()).total, 3)
  })
  test('nothing is requested before it is needed', async () => {
    const { api, sent } = client('maria')
    const list = api.orders.list({ size: 5 })
    assert.equal(sent.length, 0)
    for await (const _ of list) break
    assert.equal(sent.filter(each => each.target.includes('orders')).length, 1)
  })
  test('a relation is a list', async () => {
    const { api } = client('clara')
    const customer = await api.customers.get('c-3')
    const found = await Array.fromAsync(api.customers.orders(customer, { where: { state: 'shipped' } }))
    assert.ok(found.length > 2 && found.every(each => each.customer === 'c-3' && each.state === 'shipped'))
  })
  test('a search by the template of the entry, a stored one, and a QUERY', async () => {
    const { api, sent } = client('clara')
    const found = await Array.fromAsync(api.orders.search('door', { customer: 'c-3' }, { size: 1 }))
    assert.ok(found.length > 1 && found.every(each => each.customer === 'c-3'))
    const stored = await Array.fromAsync(api.orders.search('door', { customer: 'c-3' }, { size: 1, stored: true }))
    assert.deepEqual(new Set(stored.map(each => each.id)), new Set(found.map(each => each.id)))
    const lamps = await Array.fromAsync(api.products.search('lamp', {}, { size: 1 }))
    assert.deepEqual(lamps.map(each => each.name).sort(), ['Brass lamp', 'Oak lamp'])
    assert.ok(sent.some(each => each.method === 'QUERY'))
  })
  test('all matching items are removed, and those that must stay are counted', async () => {
    const { api } = client('maria')
    const result = await api.orders.removeAll({ state: 'cancelled', customer: 'c-2' })
    assert.ok(result.removed > 2)
    assert.equal(result.refused, 0)
  })
})

describe('representations are kept, and requested by their tag', () => {
  test('304 serves the kept one; a change is seen at once', async () => {
    const { api, sent } = client('clara')
    const first = await api.orders.get('o-21')
    assert.ok(first.state === 'placed')
    const second = await api.orders.get('o-21')
    assert.deepEqual(second, first)
    assert.notEqual(second, first)
    assert.deepEqual([sent.at(-1)?.status, sent.at(-1)?.fields['if-none-match'] !== undefined], [304, true])
    await api.orders.patch(first, { note: 'changed' })
    assert.equal((await api.orders.get('o-21')).note, 'changed')
    assert.equal(sent.at(-1)?.status, 200)
  })
  test('no more is kept than the bound', async () => {
    const { api, sent } = client('clara', { cache: { entries: 2 } })
    for (const id of ['o-1', 'o-2', 'o-3', 'o-1']) await api.orders.get(id)
    assert.equal(sent.at(-1)?.status, 200)
    await api.orders.get('o-1')
    assert.equal(sent.at(-1)?.status, 304)
  })
})

describe('files', () => {
  const picture = Uint8Array.from([
    0x89,
    0x50,
    0x4e,
    0x47,
    0x0d,
    0x0a,
    0x1a,
    0x0a,
    ...Array.from({ length: 60_000 }, (_, at) => (at * at) % 251),
  ])
  test('octets go up and come down unchanged, whole or as streams', async () => {
    const { api, sent } = client('maria')
    const product = await api.products.get('p-3')
    await api.products.picture.put(product, picture, { mediaType: 'image/png' })
    const whole = await api.products.picture.get(product)
    assert.deepEqual([whole.mediaType, whole.length], ['image/png', picture.length])
    assert.deepEqual(await whole.bytes(), picture)
    await api.products.picture.put(product, new Blob([picture]).stream(), { mediaType: 'image/png' })
    assert.equal(sent.at(-1)?.fields['idempotency-key'], undefined, 'a stream cannot be sent again')
    const pieces = await Array.fromAsync((await api.products.picture.get(product)).stream)
    assert.deepEqual(new Uint8Array(Buffer.concat(pieces)), picture)
  })
})

test('versions: a client of v1 does not know what v1 does not have', async () => {
  const { sent } = client()
  const api = createRestClient(shop, {
    address,
    version: 'v1',
    fetch: fetchNoting(sent),
    credentials: { bearer: 'clara' },
  })
  const order = await api.orders.get('o-25')
  assert.equal('note' in order, false)
  assert.equal(sent.at(-1)?.target, '/api/v1/orders/o-25')
  assert.ok(order.state === 'cancelled')
})

test('a merged customer: the address leads to the other', async () => {
  const { api } = client('maria')
  const [one, two] = await Promise.all([
    api.customers.create({ name: 'One', email: 'one@example.org', tier: 'basic' }),
    api.customers.create({ name: 'Two', email: 'two@example.org', tier: 'gold' }),
  ])
  const stays = await api.customers.merge(one, { into: two.id })
  assert.equal(stays.id, two.id)
  assert.equal((await api.customers.get(one.id)).id, two.id)
})
