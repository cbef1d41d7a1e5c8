import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Answer, json, type OrdersOverRest, order, request, startOrders } from './orders-over-rest.ts'

const at = '/api/v1/orders/o-1'
const then = 'Sat, 21 Nov 2026 12:00:00 GMT'
const tagOf = async (shop: OrdersOverRest, fields = {}) => (await shop.as.clara('GET', at, fields)).fields['etag'] ?? ''
const item = (shop: OrdersOverRest, fields: Record<string, string>) => shop.as.clara('GET', at, fields)

/** Mistakes of well-known frameworks, by name; each row is a request and its correct status. */
const rows: readonly [mistake: string, status: number, ask: (shop: OrdersOverRest) => Promise<Answer>][] = [
  [
    'Webmachine, Liberator, Spring Data REST: If-Modified-Since is asked after If-None-Match has failed',
    200,
    shop => item(shop, { 'if-none-match': '"x"', 'if-modified-since': then }),
  ],
  [
    '304 to a DELETE',
    412,
    async shop => shop.as.maria('DELETE', '/api/v1/orders/o-10', { 'if-none-match': '*', 'if-match': '*' }),
  ],
  [
    'Spring: a list of tags is one tag',
    304,
    async shop => item(shop, { 'if-none-match': `"a", ${await tagOf(shop)} , "b"` }),
  ],
  ['Spring: * is a tag', 304, shop => item(shop, { 'if-none-match': '*' })],
  ['a comma inside a tag divides it', 200, shop => item(shop, { 'if-none-match': '"a,1-b"' })],
  ['cowboy, Django REST: q=0 is taken for yes', 406, shop => item(shop, { accept: 'application/json;q=0' })],
  ['the wrong method is not found', 405, shop => shop.as.clara('PATCH', '/api/v1/orders')],
  [
    'a text/plain PATCH succeeds',
    415,
    shop => shop.as.clara('PATCH', at, { 'content-type': 'text/plain', 'if-match': '*' }, '{}'),
  ],
  ['%zz is a crash', 400, shop => shop.as.clara('GET', '/api/v1/orders/%zz')],
  ['a long target is 431', 414, shop => shop.as.clara('GET', `/api/v1/orders?note=${'x'.repeat(9000)}`)],
  [
    '__proto__ in content is a member of every object',
    422,
    shop => shop.as.clara('POST', '/api/v1/orders', json, '{"__proto__":{"customer":"c-1"}}'),
  ],
  ['a stale PUT is let through', 412, shop => shop.as.clara('PUT', at, { ...json, 'if-match': '"0-x"' }, order)],
  [
    'a weak tag changes',
    412,
    async shop => shop.as.clara('PUT', at, { ...json, 'if-match': `W/${await tagOf(shop)}` }, order),
  ],
  [
    'If-Match that cannot be read is no condition',
    412,
    async shop => shop.as.clara('PUT', at, { ...json, 'if-match': 'unquoted' }, order),
  ],
  [
    'a 412 is told to whom a 404 is due',
    404,
    shop => shop.as.alice('POST', '/api/v1/orders/o-2/payment', { ...json, 'if-match': '"x"' }, {}),
  ],
]

describe('mistakes of well-known frameworks', async () => {
  const shop = await startOrders()
  for (const [mistake, status, ask] of rows)
    it(mistake, async () => {
      const answer = await ask(shop)
      assert.equal(answer.status, status, answer.text)
      assert.equal(({} as Record<string, unknown>)['customer'], undefined)
    })

  it('304 without Vary', async () => {
    const same = await item(shop, { 'if-none-match': '*' })
    assert.equal(same.fields['vary'], (await item(shop, {})).fields['vary'])
  })

  it('one strong tag for gzip and identity', async () => {
    const plain = await shop.as.clara('GET', '/api/v1/orders')
    const coded = await shop.as.clara('GET', '/api/v1/orders', { 'accept-encoding': 'gzip' })
    assert.notEqual(plain.fields['etag'], coded.fields['etag'])
  })

  it('HEAD is unlike GET', async () => {
    const head = await shop.as.clara('HEAD', at)
    assert.deepEqual([head.status, head.fields['etag'], head.bytes.length], [200, await tagOf(shop), 0])
  })

  it('RFC 9112 §3.2: HTTP/1.1 may lack a Host after HTTP/1.0 did, on one connection', async () => {
    const fields = { authorization: 'Bearer clara' } // one object, as for repeated field lines
    const ask = async (version: '1.0' | '1.1') => (await shop.face({ ...request('GET', at), fields, version })).status
    assert.deepEqual([await ask('1.0'), await ask('1.1')], [200, 400])
  })

  it('a 412 leaks what a 403 hides', async () => {
    const refused = await shop.as.alice('PUT', '/api/v1/customers/c-1', { ...json, 'if-match': '"x"' }, {})
    assert.deepEqual([refused.status, refused.fields['etag']], [403, undefined])
  })
})
