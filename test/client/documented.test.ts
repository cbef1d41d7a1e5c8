/** docs/client.md: each of its snippets stands in this file, compiles, and runs against the whole service. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import {
  createRestClient,
  createSoapClient,
  FaultError,
  ProblemError,
  StateConflict,
  VersionConflict,
} from 'diglot/client'
import { PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import { startHosted } from '../host/hosted-service.ts'

const { server } = await startHosted()
const lines: unknown[][] = []
const note = (...line: unknown[]) => lines.push(line)
const console = { log: note, error: note }

/** Without blanks, the commas of the formatter, and the port. */
const flatten = (text: string): string =>
  text
    .replaceAll(/`\$\{server\.url\}([^`]*)`/g, "'http://127.0.0.1:8080$1'")
    .replaceAll(/\s+/g, '')
    .replaceAll(/,(?=[})])/g, '')

/** They are one line in the page, and the first lines here. */
const imports = /^import .* from 'diglot\/client'$/m

for (const [page, count] of [
  ['docs/client.md', 13],
  ['README.md', 1],
] as const)
  test(`each snippet of ${page} that has a client is in this file`, () => {
    const here = flatten(readFileSync(import.meta.filename, 'utf8'))
    const text = readFileSync(join(import.meta.dirname, '..', '..', page), 'utf8')
    const all = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)
    const snippets = all.filter(code => page !== 'README.md' || code.includes('client'))
    assert.equal(snippets.length, count)
    for (const snippet of snippets) assert.ok(here.includes(flatten(snippet.replace(imports, ''))), snippet)
  })

describe('they run', async () => {
  const api = createRestClient(shop, {
    address: `${server.url}/api`,
    credentials: { user: 'maria', password: 'maria-secret' },
  })
  after(() => api.close())

  test('items and their states', async () => {
    const order = await api.orders.get('o-1')
    if (order.state === 'placed') {
      const payment = await api.orders.pay(order, { method: 'card', amount: order.total })
      console.log(payment.receipt)
    }
    const paid = await api.orders.get(order)
    if (paid.state === 'paid') {
      const shipped = await api.orders.ship(paid, { carrier: 'dhl' })
      await api.orders.deliver(shipped)
    }
    assert.deepEqual(lines.pop(), ['o-1 paid by card'])
    assert.equal((await api.orders.get('o-1')).state, 'delivered')
  })

  test('what an item offers', async () => {
    const placed = await api.orders.get('o-6')
    console.log(api.orders.offers(placed)) // ['pay', 'cancel', 'edit']
    assert.deepEqual(lines.pop(), [['pay', 'cancel', 'edit']])
  })

  test('changes', async () => {
    const made = await api.orders.create({ customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' })
    if (made.state === 'placed') {
      const changed = await api.orders.patch(made, { note: 'leave at the door' })
      const replaced = await api.orders.replace(changed, { ...changed, note: 'call before delivery' })
      const cancelled = await api.orders.cancel(replaced, { reason: 'no longer needed' })
      await api.orders.remove(cancelled)
    }
    await assert.rejects(api.orders.get(made.id), { fault: 'NotFound' })
    const { removed, refused } = await api.orders.removeAll({ state: 'cancelled' })
    assert.deepEqual([removed, refused], [20, 0])
  })

  test('lists', async () => {
    const query = {
      where: { state: { in: ['paid', 'shipped'] }, total: { gte: '100.00' } },
      sort: ['-placedAt'],
    } as const
    for await (const each of api.orders.list(query)) console.log(each.id, each.total)
    assert.ok(lines.length > 5 && lines.splice(0).every(([, total]) => Number(total) >= 100))
    const { items, total } = await api.orders.list({ where: { customer: 'c-2' }, size: 5 }).first()
    const customer = await api.customers.get('c-1')
    for await (const page of api.customers.orders(customer, { size: 50 }).pages()) console.log(page.items.length)
    assert.deepEqual([items.length, (total ?? 0) > 20, lines.pop()], [5, true, [27]])
  })

  test('searches', async () => {
    const found = await Array.fromAsync(api.orders.search('gift', { state: 'placed' }))
    const kept = api.orders.search('gift', {}, { stored: true })
    assert.ok(found.length > 0 && (await Array.fromAsync(kept)).length >= found.length)
  })

  test('jobs', async () => {
    const report = await api.reports.run(
      { from: '2026-01-01', to: '2026-12-31', kind: 'sales' },
      { onProgress: ({ state, progress }) => console.log(state, progress), signal: AbortSignal.timeout(60_000) },
    )
    console.log(report.rows.length)
    const job = await api.reports.start({ from: '2026-01-01', to: '2026-12-31', kind: 'stock' })
    await job.cancel()
    assert.ok(Number(lines.pop()?.[0]) > 0)
    assert.deepEqual(lines.splice(0).at(-1), ['completed', 1])
    assert.equal(job.status.state, 'cancelled')
  })

  test('files', async () => {
    const octets = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
    const product = await api.products.get('p-1')
    await api.products.picture.put(product, octets, { mediaType: 'image/png' })
    const picture = await api.products.picture.get(product)
    console.log(picture.mediaType, (await picture.bytes()).length) // or picture.stream
    assert.deepEqual(lines.pop(), ['image/png', 8])
  })

  test('errors', async () => {
    const placed = await api.orders.get('o-6')
    assert.ok(placed.state === 'placed')
    try {
      if (placed.state === 'placed') await api.orders.pay(placed, { method: 'card', amount: '0.01' })
    } catch (thrown) {
      if (thrown instanceof FaultError && thrown.is(PaymentDeclined)) console.log(thrown.detail.reason)
      else if (thrown instanceof FaultError && thrown.is(VersionConflict, StateConflict)) console.log('read it again')
      else if (thrown instanceof ProblemError) console.log(thrown.status, thrown.type, thrown.detail)
      else throw thrown
    }
    assert.match(String(lines.pop()), /^0\.01 was offered for/)
  })

  test('README.md', async () => {
    const client = createRestClient(shop, {
      address: `${server.url}/api`,
      credentials: { user: 'alice', password: 'alice-secret' },
    })
    const order = await client.orders.get('o-16')
    try {
      if (order.state === 'placed') await client.orders.pay(order, { method: 'card', amount: order.total })
    } catch (thrown) {
      if (thrown instanceof FaultError && thrown.is(PaymentDeclined)) console.error(thrown.detail.reason)
      else throw thrown
    }
    for await (const each of client.orders.list({ where: { total: { gte: '50.00' } }, sort: ['-placedAt'] }))
      console.log(each.id)
    assert.equal((await client.orders.get(order)).state, 'paid')
    assert.ok(lines.splice(0).length > 5)
  })

  test('SOAP', async () => {
    const soap = createSoapClient(shop, {
      address: `${server.url}/soap/v2`,
      credentials: { user: 'maria', password: 'maria-secret' },
    })
    const same = await soap.orders.get('o-11')
    if (same.state === 'placed') await soap.orders.pay(same, { method: 'card', amount: same.total })
    const { order: seen } = await soap.GetOrder({ id: 'o-11' })
    soap.close()
    assert.equal(seen.state, 'paid')
  })
})
