/** What a change says with its validators, and what counts as no change. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { likePng } from '../support/png.ts'
import { json, order, startOrders } from './orders-over-rest.ts'

const merge = { 'content-type': 'application/merge-patch+json' }
const patch = { 'content-type': 'application/json-patch+json' }
const shop = await startOrders()

async function createOrder(): Promise<string> {
  const { fields } = await shop.as.clara('POST', '/api/v2/orders', json, order)
  return fields['location'] ?? ''
}
const tagAt = async (at: string, accept = 'application/json') =>
  (await shop.as.maria('GET', at, { accept })).fields['etag'] ?? ''

test('RFC 9110 §13.1.2 If-None-Match fails a change if any of its tags names the current version', async () => {
  const at = await createOrder()
  await shop.as.clara('POST', `${at}/cancellation`)
  const [tag, other] = [await tagAt(at), await tagAt(at, 'application/xml')]
  assert.notEqual(tag, other)
  for (const none of [tag, other, `W/${tag}`, `"1-x", ${tag}`, '*']) {
    const fields = { 'if-match': tag, 'if-none-match': none }
    assert.equal((await shop.as.maria('DELETE', at, fields)).status, 412, `DELETE, ${none}`)
    assert.equal((await shop.as.clara('PUT', at, { ...json, ...fields }, order)).status, 412, `PUT, ${none}`)
    assert.equal((await shop.as.clara('PATCH', at, { ...merge, ...fields }, {})).status, 412, `PATCH, ${none}`)
    assert.equal(
      (await shop.as.clara('POST', `${at}/shipment`, { ...json, ...fields }, { carrier: 'ups' })).status,
      412,
    )
  }
  assert.equal((await shop.as.maria('DELETE', at, { 'if-none-match': tag })).status, 412, 'without If-Match, too')
  assert.equal((await shop.as.maria('GET', at)).status, 200)
  assert.equal((await shop.as.maria('DELETE', at, { 'if-match': tag, 'if-none-match': '"1-x"' })).status, 204)
})

test('RFC 9110 §9.3.4 the response to PUT has validators only if the content was kept octet for octet', async () => {
  const at = await createOrder()
  const before = await shop.as.clara('GET', at)
  const put = (content: string | object, accept = 'application/json', type = 'application/json') =>
    shop.as.clara('PUT', at, { accept, 'content-type': type, 'if-match': '*' }, content)
  const completed = await put({ ...order, currency: 'USD' })
  assert.equal(completed.status, 200)
  assert.deepEqual([completed.fields['etag'], completed.fields['last-modified']], [undefined, undefined])
  const edited = before.text.replace('"EUR"', '"GBP"')
  const kept = await put(edited)
  assert.equal(kept.text, edited)
  assert.equal(kept.fields['etag'], await tagAt(at))
  assert.ok(kept.fields['last-modified'])
  assert.equal((await put(`${edited} `)).fields['etag'], undefined, 'one octet more')
  assert.equal((await put(edited, 'application/xml')).fields['etag'], undefined, 'in another type')
  const created = await shop.as.maria('PUT', '/api/v2/products/p-new', json, { name: 'New', price: '1.00', stock: 1 })
  assert.deepEqual([created.status, created.fields['etag']], [201, undefined], '§15.3.2')
  const patched = await shop.as.clara(
    'PATCH',
    at,
    { ...merge, accept: 'application/json', 'if-match': '*' },
    { currency: 'EUR' },
  )
  assert.equal(patched.fields['etag'], await tagAt(at), 'RFC 5789 §2.1: a tag after PATCH means no such thing')
})

test('a change that changes nothing makes no version, and is not in the feed', async () => {
  const at = await createOrder()
  const tag = await tagAt(at)
  const before = await shop.store.read(reader => reader.changes(0, 1000))
  const same = (await shop.as.clara('GET', at)).text
  const rows: readonly (readonly [string, Record<string, string>, string])[] = [
    ['PATCH', merge, '{}'],
    ['PATCH', patch, '[]'],
    ['PATCH', merge, JSON.stringify({ currency: order.currency, lines: [{ product: 'p-1', quantity: 2 }] })],
    ['PATCH', patch, JSON.stringify([{ op: 'test', path: '/currency', value: 'EUR' }])],
    ['PUT', json, same],
    ['PUT', json, JSON.stringify(order)],
  ]
  for (const [method, fields, content] of rows) {
    const answer = await shop.as.clara(method, at, { ...fields, 'if-match': tag }, content)
    assert.equal(answer.status, 200, `${method} ${content}: ${answer.text}`)
    assert.equal(await tagAt(at), tag, `${method} ${content}`)
  }
  assert.deepEqual(await shop.store.read(reader => reader.changes(0, 1000)), before)
  await shop.as.clara('PATCH', at, { ...merge, 'if-match': tag }, { note: 'x' })
  const noted = await tagAt(at)
  assert.notEqual(noted, tag)
  await shop.as.clara('PATCH', at, { ...merge, 'if-match': noted }, { note: null })
  assert.notEqual(await tagAt(at), noted, 'a member that goes is a change')
})

test('A2.5 content with more mistakes than are reported says that there may be more', async () => {
  const post = (count: number) => {
    const lines = Array.from({ length: count }, () => ({ product: 'p-1', quantity: 0 }))
    return shop.as.clara('POST', '/api/v2/orders', json, { ...order, lines })
  }
  const [few, many] = [await post(99), await post(1000)]
  assert.deepEqual([few.status, few.json.errors.length], [422, 99])
  assert.doesNotMatch(few.json.detail, /there may be more/)
  assert.deepEqual([many.status, many.json.errors.length], [422, 100])
  assert.match(many.json.detail, /lines\.99\.quantity [^;]+; reading ended here, there may be more$/)
})

test('RFC 9110 §8.8.2.1 after the clock was set back no Last-Modified lies in the future, and an unchanged item is 304', async () => {
  const shop = await startOrders()
  const png = { 'content-type': 'image/png' }
  const paths = ['/api/v2/products/p-1', '/api/v2/products/p-1/picture']
  const get = (at: string, since?: string) =>
    shop.as.maria('GET', at, { accept: '*/*', ...(since !== undefined && { 'if-modified-since': since }) })
  const change = async (stock: number) => [
    await shop.as.maria('PATCH', paths[0] ?? '', { ...merge, 'if-match': '*' }, { stock }),
    await shop.as.maria('PUT', paths[1] ?? '', png, likePng(new Uint8Array(8 + stock))),
  ]
  await change(1)
  const seen = await Promise.all(paths.map(at => get(at)))
  shop.clock.now -= 3_600_000
  const isToCome = (field = '') => Date.parse(field) > shop.clock.now
  for (const { status, fields } of await change(2)) {
    assert.ok(status < 300)
    assert.ok(!isToCome(fields['last-modified']))
  }
  for (const [i, at] of paths.entries()) {
    const again = await get(at, seen[i]?.fields['last-modified'])
    assert.equal(again.status, 200, at)
    assert.ok(!isToCome(again.fields['last-modified']), `${at}: ${again.fields['last-modified']}`)
    const same = await shop.as.maria('GET', at, { accept: '*/*', 'if-none-match': again.fields['etag'] ?? '' })
    assert.deepEqual([same.status, isToCome(same.fields['last-modified'])], [304, false], at)
  }
})

test('A7.13 an order has one to 1,000 lines', async () => {
  for (const [count, status] of [
    [0, 422],
    [1, 201],
    [1000, 201],
    [1001, 422],
  ] as const) {
    const lines = Array.from({ length: count }, () => order.lines[0])
    const answer = await shop.as.clara('POST', '/api/v2/orders', json, { ...order, lines })
    assert.equal(answer.status, status, `${count} lines`)
    if (status === 422) assert.equal(answer.json.errors[0].pointer, '/lines')
  }
})

test('RFC 9110 §6.4 empty content is no content, whatever Content-Type says, if nothing is mandatory', async () => {
  const rows = [{}, json, { 'content-type': 'application/xml' }, { 'content-type': 'text/plain' }]
  for (const fields of rows) {
    const at = await createOrder()
    assert.equal((await shop.as.clara('POST', `${at}/cancellation`, fields)).status, 200, JSON.stringify(fields))
  }
  const at = await createOrder()
  const unannounced = {
    content: { length: undefined, bytes: () => new Uint8Array(), chunks: () => assert.fail('not streamed') },
  }
  assert.equal((await shop.as.clara('POST', `${at}/cancellation`, json, undefined, unannounced)).status, 200)
  assert.equal((await shop.as.clara('POST', `${await createOrder()}/payment`, json)).status, 400, 'mandatory input')
  assert.equal((await shop.as.clara('POST', `${await createOrder()}/payment`)).status, 415)
})

test('A8.1 POST /searches counts as a search; GET /search, QUERY and GET /searches/{id} as reads', async () => {
  const counted = (answer: { fields: Readonly<Record<string, string>> }) => answer.fields['ratelimit-policy'] ?? ''
  const made = await shop.as.alice('POST', '/api/v2/searches', json, { q: 'oak' })
  assert.match(counted(made), /^"searches";q=30;/)
  const reads = [
    await shop.as.alice('GET', '/api/v2/search?q=oak'),
    await shop.as.alice('QUERY', '/api/v2/orders', json, { q: 'oak' }),
    await shop.as.alice('GET', made.fields['location'] ?? ''),
  ]
  for (const read of reads) assert.deepEqual([read.status, counted(read).slice(0, 15)], [200, '"reads";q=6000;'])
})

test('row 16 a page of a foreign origin may read what anyone may, and change nothing', async () => {
  const foreign = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]
  for (const fields of foreign) {
    for (const method of ['GET', 'HEAD', 'OPTIONS'])
      assert.ok((await shop.as.anyone(method, '/api/v2/products/p-1', fields)).status < 300, method)
    assert.equal((await shop.as.clara('QUERY', '/api/v2/orders', { ...json, ...fields }, { q: 'oak' })).status, 200)
    assert.equal((await shop.as.clara('POST', '/api/v2/orders', { ...json, ...fields }, order)).status, 403)
  }
})

test('row 25 the same octets in another media type are another request under the same key', async () => {
  const once = { 'idempotency-key': '"one"' }
  const post = (type: string) => shop.as.clara('POST', '/api/v2/orders', { ...once, 'content-type': type }, order)
  const first = await post('application/json')
  assert.equal(first.status, 201)
  assert.equal((await post('application/hal+json')).status, 422)
  const again = await post('application/json;charset=utf-8')
  assert.deepEqual([again.status, again.fields['location']], [201, first.fields['location']])
})
