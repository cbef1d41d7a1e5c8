/** Contents that are read before their change begins: an error in them is reported in its row. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { createHandler } from '../../src/host/handler.ts'
import { largeContentOctets } from '../../src/service/large-work.ts'

describe('a large content', () => {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const caller = () => ({ subject: 'clara', roles: ['manager'] })
  let shop: Awaited<ReturnType<typeof createHandler>>
  before(async () => {
    shop = await createHandler(app, { logger, caller, data: ':memory:' })
  })
  after(() => shop.close())

  const lines = Array.from({ length: 1000 }, () => ({ product: 'p-1', quantity: 1 }))
  const draft = { customer: 'c-1', lines, currency: 'EUR' }
  const send = async (method: string, path: string, value: unknown, fields: Readonly<Record<string, string>> = {}) => {
    const body = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    assert.ok(body.length >= largeContentOctets)
    const request = new Request(`http://localhost/api/v2${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...fields },
      body,
    })
    const response = await shop.fetch(request)
    return { status: response.status, etag: response.headers.get('etag') ?? '', text: await response.text() }
  }

  test('is created, replaced and created again by the same key like a small one', async () => {
    const made = await send('POST', '/orders', draft, { 'idempotency-key': '"large-1"' })
    assert.equal(made.status, 201)
    const { id, lines: kept } = JSON.parse(made.text)
    assert.equal(kept.length, 1000)
    const again = await send('POST', '/orders', draft, { 'idempotency-key': '"large-1"' })
    assert.deepEqual([again.status, JSON.parse(again.text).id], [201, id])
    const other = await send('POST', '/orders', { ...draft, note: 'x' }, { 'idempotency-key': '"large-1"' })
    assert.equal(other.status, 422)
    const replaced = await send('PUT', `/orders/${id}`, { ...draft, note: 'x' }, { 'if-match': made.etag })
    assert.equal(replaced.status, 200)
  })

  for (const [title, value, status] of [
    ['rows 24 before 27: a stale validator before what is wrong in it', { ...draft, currency: 'XXX' }, 412],
    ['rows 24 before 26: a stale validator before text that is no JSON', `{"a":${' '.repeat(40_000)}`, 412],
  ] as const)
    test(title, async () => {
      assert.equal((await send('PUT', '/orders/o-1', value, { 'if-match': '"stale"' })).status, status)
    })

  for (const [title, value, status, place] of [
    ['row 26: text that is no JSON', `{"a":${' '.repeat(40_000)}`, 400, ''],
    ['row 27: a wrong value in its last line', { ...draft, lines: [...lines, { product: 'p-1' }] }, 422, '/lines/1000'],
    ['row 28: a reference that leads nowhere', { ...draft, customer: 'c-99' }, 422, '/customer'],
  ] as const)
    test(title, async () => {
      const answer = await send('POST', '/orders', value)
      assert.equal(answer.status, status, answer.text)
      assert.ok(answer.text.includes(place), answer.text)
    })
})
