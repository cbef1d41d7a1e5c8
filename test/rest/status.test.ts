import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Refused } from '../../src/service/refusal.ts'
import { type Answer, json, type OrdersOverRest, order, startOrders } from './orders-over-rest.ts'

const report = { from: '2026-01-01', to: '2026-02-01', kind: 'stock' }

/** Rule → status → the simplest request that gets it. */
const rows: readonly [rule: string, status: number, ask: (shop: OrdersOverRest) => Promise<Answer>][] = [
  ['A7.1', 200, shop => shop.as.clara('GET', '/api/v1/orders/o-1')],
  ['A7.2', 201, shop => shop.as.clara('POST', '/api/v1/orders', json, order)],
  ['A7.3', 202, shop => shop.as.clara('POST', '/api/v1/reports', json, report)],
  ['A7.4', 204, shop => shop.as.maria('DELETE', '/api/v1/orders/o-5', { 'if-match': '*' })],
  [
    'A7.5',
    301,
    async shop => {
      await shop.as.maria('POST', '/api/v1/customers/c-3/merger', json, { into: 'c-2' })
      return shop.as.clara('GET', '/api/v1/customers/c-3')
    },
  ],
  ['A7.6', 304, shop => shop.as.clara('GET', '/api/v1/orders/o-1', { 'if-none-match': '*' })],
  ['A7.7 A7.17', 400, shop => shop.as.clara('POST', '/api/v1/orders', json, '{"customer":')],
  ['A7.8', 401, shop => shop.as.anyone('GET', '/api/v1/orders/o-1')],
  ['A7.9', 403, shop => shop.as.alice('POST', '/api/v1/products', json, { name: 'x', price: '1.00', stock: 1 })],
  ['A7.10 A7.18', 404, shop => shop.as.clara('GET', '/api/v1/orders/o-none')],
  ['A7.11 A7.17', 409, shop => shop.as.clara('POST', '/api/v1/orders/o-1/delivery')],
  ['A7.12', 412, shop => shop.as.clara('PUT', '/api/v1/orders/o-1', { ...json, 'if-match': '"0-x"' }, order)],
  ['A7.13 A7.17', 422, shop => shop.as.clara('POST', '/api/v1/orders', json, { ...order, lines: [] })],
  [
    'A7.13 A7.17 a domain rule:',
    422,
    shop => shop.as.clara('POST', '/api/v1/orders', json, { ...order, lines: [{ product: 'p-none', quantity: 1 }] }),
  ],
  [
    'A7.14',
    429,
    async shop => {
      for (let i = 0; i < 30; i++) await shop.as.clara('POST', '/api/v1/searches', json, { q: 'x' })
      return shop.as.clara('POST', '/api/v1/searches', json, { q: 'x' })
    },
  ],
  ['A7.15 A7.18', 500, shop => answerToThrown(shop, new TypeError('undefined is not a function'))],
  ['A7.16', 503, shop => answerToThrown(shop, new Refused({ kind: 'unavailable', after: 1 }))],
]

async function answerToThrown(shop: OrdersOverRest, thrown: unknown): Promise<Answer> {
  const other = await startOrders()
  Object.assign(other.serving, { calls: { ...shop.serving.calls, perform: () => Promise.reject(thrown) } })
  return other.as.clara('GET', '/api/v1/orders/o-1')
}

describe('A7 each status is used for its purpose', async () => {
  const shop = await startOrders()
  for (const [rule, status, ask] of rows)
    it(`${rule} ${status}`, async () => {
      const answer = await ask(shop)
      assert.equal(answer.status, status, answer.text)
      if (status === 201 || status === 202 || status === 301) assert.ok(answer.fields['location'])
      if (status === 204 || status === 304) assert.equal(answer.bytes.length, 0)
      if (status === 429 || status === 503) assert.match(answer.fields['retry-after'] ?? '', /^\d+$/)
      if (status >= 400) assert.deepEqual([answer.json.status, typeof answer.json.title], [status, 'string'])
    })

  it('A1.1 A4.25 a response depends on neither the version of HTTP nor the connection', async () => {
    const ask = (version: '1.0' | '1.1' | '2', from: string) =>
      shop.as.clara('GET', '/api/v1/orders?size=3', {}, undefined, { version, from })
    const [one, two, three] = [await ask('1.1', '127.0.0.1'), await ask('2', '10.0.0.9'), await ask('1.0', '::1')]
    assert.deepEqual([two.text, two.fields['etag']], [one.text, one.fields['etag']])
    assert.deepEqual([three.text, three.fields['etag']], [one.text, one.fields['etag']])
  })
})
