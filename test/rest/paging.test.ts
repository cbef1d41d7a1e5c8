/** What a page says of its collection, and how far pages by number go (rules A2.3, A4.1). */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseLinks } from '../../src/http/link.ts'
import { startOrders } from './orders-over-rest.ts'

describe('a collection of 1,001 and more items', async () => {
  const shop = await startOrders()
  const seeded = (await shop.as.clara('GET', '/api/v1/products?size=1')).json.total as number
  const add = (from: number, to: number) =>
    shop.store.write(async writer => {
      for (let i = from; i < to; i++)
        await writer.put('products', `p-t${i}`, { id: `p-t${i}`, name: 'x', price: '1.00', stock: 0 }, {}, undefined, 0)
    })
  const total = async (target: string, fields: Record<string, string> = {}) =>
    (await shop.as.clara('GET', target, fields)).json.total

  it('total counts all matches up to 1,000, and is absent beyond', async () => {
    await add(seeded, 1000)
    assert.equal(await total('/api/v1/products?size=1'), 1000)
    await add(1000, 1001)
    assert.equal(await total('/api/v1/products?size=1'), undefined)
    assert.equal(await total('/api/v1/products?size=1&name=nothing'), 0)
  })

  it('Prefer: count=exact counts all matches, and says that it did', async () => {
    const page = await shop.as.clara('GET', '/api/v1/products?size=1', { prefer: 'count=exact' })
    assert.deepEqual([page.json.total, page.fields['preference-applied']], [1001, 'count=exact'])
    const plain = await shop.as.clara('GET', '/api/v1/products?size=1')
    assert.notEqual(plain.fields['etag'], page.fields['etag'])
    // RFC 7240 §2: whether or not the request had the field.
    for (const { fields } of [plain, page]) assert.match(fields['vary'] ?? '', /(^|, )Prefer$/)
  })

  it('a page by cursor counts nothing, even if an exact count is preferred', async () => {
    const { next } = (await shop.as.clara('GET', '/api/v1/products?size=1')).json._links
    const page = await shop.as.clara('GET', next.href, { prefer: 'count=exact' })
    assert.deepEqual([page.json.total, page.fields['preference-applied']], [undefined, undefined])
  })

  it('page reaches item 10,000; beyond it, the 400 names the cursor', async () => {
    assert.equal((await shop.as.clara('GET', '/api/v1/products?size=100&page=100')).status, 200)
    const beyond = await shop.as.clara('GET', '/api/v1/products?size=100&page=101')
    assert.equal(beyond.status, 400)
    assert.match(beyond.json.detail, /page.*10000.*cursor/)
  })
})

it('RFC 8288 §3 the Link field has the links with registered relations, one after the other', async () => {
  const orders = await startOrders()
  const linksOf = async (at: string) =>
    parseLinks((await orders.as.clara('GET', at)).fields['link'] ?? '').map(({ rel, target }) => `${rel} ${target}`)
  assert.deepEqual(await linksOf('/api/v2/orders?size=2&page=2'), [
    'next /api/v2/orders?size=2&page=3',
    'prev /api/v2/orders?size=2&page=1',
  ])
  assert.deepEqual(await linksOf('/api/v2/orders?size=2&page=1'), ['next /api/v2/orders?size=2&page=2'])
  assert.deepEqual(await linksOf('/api/v2/orders/o-1'), [
    'collection /api/v2/orders',
    'edit /api/v2/orders/o-1',
    'payment /api/v2/orders/o-1/payment',
  ])
})
