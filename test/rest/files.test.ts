/**
 * Files of many pieces through the REST face (rules A4.10, A8.3): what is checked before they are
 * read, and what is sent of them.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import { anyone, implement, resource, role, service, t } from 'diglot'
import type { Content } from '../../src/http/message.ts'
import { pieceOctets } from '../../src/service/file-content.ts'
import { likePng } from '../support/png.ts'
import { type Answer, type OrdersOverRest, startOrders } from './orders-over-rest.ts'

const at = '/api/v1/products/p-4/picture'
const png = { 'content-type': 'image/png' }
const most = 5 * 1024 * 1024
const hour = 3_600_000

function octets(seed: number, length = 3 * pieceOctets + 100): Uint8Array {
  const made = new Uint32Array(Math.ceil(length / 4))
  for (let i = 0; i < made.length; i++) made[i] = Math.imul(i + 1, 2654435761) ^ seed
  return likePng(new Uint8Array(made.buffer, 0, length))
}

/** Chunked content, whose length is unknown. */
function chunked(all: Uint8Array, failing?: Error): Content & { readonly taken: () => number } {
  let taken = 0
  const chunks = async function* () {
    for (; taken < all.length; taken += 50_000) yield all.subarray(taken, taken + 50_000)
    if (failing) throw failing
  }
  const bytes = async (limit: number) => {
    const found = Buffer.concat(await Array.fromAsync(chunks()))
    return found.length > limit ? undefined : found
  }
  return { length: undefined, bytes, chunks, taken: () => taken }
}
const put = (shop: OrdersOverRest, content: Content, fields: Record<string, string> = {}): Promise<Answer> =>
  shop.as.maria('PUT', at, { ...png, ...fields }, undefined, { content })
const get = (shop: OrdersOverRest, fields: Record<string, string> = {}): Promise<Answer> =>
  shop.as.anyone('GET', at, fields)
const requireEqual = (found: Uint8Array, expected: Uint8Array) =>
  assert.ok(Buffer.from(expected).equals(found), 'other octets')
/** The number of rows that a sweep removes once all unclaimed pieces have expired. */
const sweepLater = (shop: OrdersOverRest): Promise<number> => shop.store.sweep(shop.clock.now + 20 * hour)
const rows = 5
/** How many of those were discarded; others are kept for an hour. */
const sweepNow = (shop: OrdersOverRest): Promise<number> => shop.store.sweep(shop.clock.now)

describe('A4.10 a picture of many pieces', () => {
  it('201, 204, its octets, length, type and tag; HEAD reads none of it', async () => {
    const shop = await startOrders()
    const made = await put(shop, chunked(octets(1)))
    assert.deepEqual([made.status, made.fields['location']], [201, at])
    const got = await get(shop)
    assert.deepEqual(
      [got.status, got.fields['content-type'], got.fields['content-length'], got.fields['etag']],
      [200, 'image/png', String(octets(1).length), made.fields['etag']],
    )
    requireEqual(got.bytes, octets(1))
    const again = await put(shop, chunked(octets(2)), { 'if-match': made.fields['etag'] ?? '' })
    assert.equal(again.status, 204)
    requireEqual((await get(shop)).bytes, octets(2))
    const head = await shop.as.anyone('HEAD', at)
    assert.deepEqual(
      [head.status, head.fields['content-length'], head.bytes.length],
      [200, got.fields['content-length'], 0],
    )
    assert.equal((await get(shop, { 'if-none-match': again.fields['etag'] ?? '' })).status, 304)
    assert.equal(await sweepLater(shop), rows, 'those of the first alone')
  })

  it('RFC 9110 §14 ranges across pieces: one, several, none', async () => {
    const shop = await startOrders()
    const all = octets(1)
    await put(shop, chunked(all))
    const edge = pieceOctets - 2
    const part = await get(shop, { range: `bytes=${edge}-${edge + 3}` })
    assert.deepEqual(
      [part.status, part.fields['content-range'], part.fields['content-length']],
      [206, `bytes ${edge}-${edge + 3}/${all.length}`, '4'],
    )
    requireEqual(part.bytes, all.subarray(edge, edge + 4))
    const ranges: [number, number][] = [
      [0, 0],
      [edge, 2 * pieceOctets + 1],
      [all.length - 5, all.length - 1],
    ]
    const range = `bytes=${ranges.map(range => range.join('-')).join(', ')}`
    // A request's name may not be a boundary: no token (RFC 9110 §8.3.1), over 70 characters
    // (RFC 2046 §5.1.1).
    const several = await shop.as.anyone('GET', at, { range }, undefined, { id: `Root=1:${'a'.repeat(99)}` })
    const [, boundary = ''] =
      /^multipart\/byteranges; boundary=([\w-]{1,70})$/.exec(several.fields['content-type'] ?? '') ?? []
    const expected = ranges.flatMap(([first, last]) => [
      Buffer.from(
        `\r\n--${boundary}\r\nContent-Type: image/png\r\nContent-Range: bytes ${first}-${last}/${all.length}\r\n\r\n`,
      ),
      all.subarray(first, last + 1),
    ])
    requireEqual(several.bytes, Buffer.concat([...expected, Buffer.from(`\r\n--${boundary}--\r\n`)]))
    assert.equal(several.fields['content-length'], String(several.bytes.length))
    assert.equal((await get(shop, { range: `bytes=${all.length}-` })).status, 416)
  })

  it('a reader of a file that is being replaced gets the old octets', async () => {
    const shop = await startOrders()
    await put(shop, chunked(octets(1)))
    const { content } = await shop.face({ ...(await createRequest()), method: 'GET' })
    assert.ok(typeof content === 'object' && !(content instanceof Uint8Array))
    const reading = content[Symbol.asyncIterator]()
    const parts = [(await reading.next()).value as Uint8Array]
    assert.equal((await put(shop, chunked(octets(2)))).status, 204)
    assert.equal((await shop.as.maria('DELETE', '/api/v1/products/p-4', { 'if-match': '*' })).status, 204)
    for (let next = await reading.next(); !next.done; next = await reading.next()) parts.push(next.value)
    requireEqual(Buffer.concat(parts), octets(1))
  })

  it('RFC 9110 §12.5.3 for a client that refuses identity it is coded while it is sent', async () => {
    const shop = await startOrders()
    const all = octets(1)
    await put(shop, chunked(all))
    for (const [coding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      const coded = await get(shop, { 'accept-encoding': `${coding}, identity;q=0` })
      assert.equal(coded.fields['content-encoding'], coding)
      requireEqual(decode(coded.bytes), all)
    }
  })
})

const createRequest = async () => ({
  target: at,
  fields: { host: 'shop.test' },
  content: { length: 0, bytes: () => new Uint8Array(), async *chunks() {} },
  scheme: 'http' as const,
  version: '1.1' as const,
  from: '127.0.0.1',
})

describe('A8.3 media type and size of a picture, and its sender, are checked early enough', () => {
  it('413 as soon as the content is too long, announced or not, and nothing of it stays', async () => {
    const shop = await startOrders()
    await put(shop, chunked(octets(1)))
    const content = chunked(octets(2, 3 * most))
    assert.equal((await put(shop, content)).status, 413)
    assert.ok(content.taken() <= most + 50_000, 'no more was read')
    assert.equal(await sweepNow(shop), 4 * 4 + 1)
    const announced = chunked(octets(2, 3 * most))
    assert.equal((await put(shop, { ...announced, length: 3 * most })).status, 413)
    assert.equal(announced.taken(), 0)
    requireEqual((await get(shop)).bytes, octets(1))
  })

  it('401, 403, 404, 415: nothing is read; after 412 the old one stays and nothing of the new one', async () => {
    const shop = await startOrders()
    await put(shop, chunked(octets(1)))
    const content = chunked(octets(2))
    const refused = [
      await shop.as.anyone('PUT', at, png, undefined, { content }),
      await shop.as.clara('PUT', at, png, undefined, { content }),
      await shop.as.maria('PUT', at.replace('p-4', 'p-0'), png, undefined, { content }),
      await shop.as.maria('PUT', at, { 'content-type': 'image/gif' }, undefined, { content }),
    ]
    assert.deepEqual(
      refused.map(each => each.status),
      [401, 403, 404, 415],
    )
    assert.equal(content.taken(), 0)
    assert.equal((await put(shop, content, { 'if-match': '"other"' })).status, 412)
    requireEqual((await get(shop)).bytes, octets(1))
    assert.equal(await sweepNow(shop), rows)
  })

  it('400 for an incomplete file: the old one stays, and nothing of the new one is kept', async () => {
    const shop = await startOrders()
    await put(shop, chunked(octets(1)))
    const aborted = Object.assign(new Error('the content ended before it was complete'), { name: 'Aborted' })
    assert.equal((await put(shop, chunked(octets(2, 6 * pieceOctets), aborted))).status, 400)
    assert.deepEqual(shop.incidents, [])
    requireEqual((await get(shop)).bytes, octets(1))
    assert.equal(await sweepNow(shop), 4 + 1)
  })

  it('A4.17 gzip: the decoded octets are kept and counted; invalid or trailing octets are 400, too many 413 (RFC 9110 §15.5.14)', async () => {
    const shop = await startOrders()
    const coded = (octets: Uint8Array) => put(shop, chunked(octets), { 'content-encoding': 'gzip' })
    const made = await coded(gzipSync(octets(1)))
    assert.deepEqual([made.status, made.fields['etag'], made.fields['last-modified']], [201, undefined, undefined])
    requireEqual((await get(shop)).bytes, octets(1))
    const bomb = gzipSync(new Uint8Array(most + 1))
    const rows: readonly [number, Uint8Array][] = [
      [413, bomb],
      [400, octets(2)],
      [400, gzipSync(octets(2)).subarray(0, 500_000)],
      [400, Buffer.concat([gzipSync(octets(2)), Buffer.from('more')])],
      [413, gzipSync(octets(2, most + 500_000), { level: 0 })],
    ]
    for (const [status, sent] of rows) assert.equal((await coded(sent)).status, status, `${sent.length}`)
    assert.equal(bomb.length < 50_000, true)
    requireEqual((await get(shop)).bytes, octets(1))
    assert.deepEqual(shop.incidents, [])
    const empty = await coded(new Uint8Array())
    assert.deepEqual([empty.status, empty.json.errors[0].pointer], [422, ''], 'nothing is nothing in any coding')
  })

  it('a picture that does not begin as its type requires is 422, in one piece or many, and nothing of it stays', async () => {
    const shop = await startOrders()
    await put(shop, chunked(octets(1)))
    const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0)
    const html = new TextEncoder().encode('<!doctype html><script>alert(1)</script>')
    const wrong = [new Uint8Array(), jpeg, html, octets(1).subarray(0, 7), octets(1).subarray(1)]
    for (const sent of wrong) {
      const { status, json } = await put(shop, chunked(sent))
      assert.deepEqual([status, json.errors[0].pointer], [422, ''], `${sent.length} octets`)
      assert.match(json.detail, /does not begin as image\/png does/)
    }
    requireEqual((await get(shop)).bytes, octets(1))
    assert.equal(await sweepNow(shop), rows, 'those of the long one')
    const other = await put(shop, chunked(jpeg), { 'content-type': 'image/jpeg' })
    assert.equal(other.status, 204)
    const slow = octets(3)
    const chunks = async function* () {
      for (let at = 0; at < 40; at++) yield slow.slice(at, at + 1)
      yield slow.slice(40)
    }
    assert.equal((await put(shop, { ...chunked(slow), chunks })).status, 204, 'octets that come one by one')
  })

  it('the same key is the same upload: the response is repeated, the octets are kept once; other octets are 422', async () => {
    const shop = await startOrders()
    const key = { 'idempotency-key': '"upload-1"' }
    const first = await put(shop, chunked(octets(1)), key)
    const again = await put(shop, chunked(octets(1)), key)
    assert.deepEqual([again.status, again.fields['etag']], [first.status, first.fields['etag']])
    assert.equal((await put(shop, chunked(octets(2)), key)).status, 422)
    requireEqual((await get(shop)).bytes, octets(1))
    const memo = 1
    assert.equal(await sweepNow(shop), 2 * rows)
    assert.equal(await shop.store.sweep(shop.clock.now + 30 * hour), memo)
  })
})

it('CSP Level 3 §6.6: uploaded HTML is in a sandbox, and never a page of ours', async () => {
  const notes = resource('notes', {
    fields: { id: t.id('n') },
    files: { page: { mediaTypes: ['text/html'], max: 1000 } },
  }).rules({ precondition: false, allow: { read: [anyone], create: [role('clerk')], change: [role('clerk')] } })
  const shop = await startOrders({
    app: implement(service('notes', { namespace: 'urn:notes', resources: [notes] }), { notes: {} }),
  })
  const made = await shop.as.clara('POST', '/api/v1/notes', { 'content-type': 'application/json' }, {})
  const page = `${made.fields['location']}/page`
  await shop.as.clara(
    'PUT',
    page,
    { 'content-type': 'text/html' },
    '<form method="post" action="/api/v1/notes"></form>',
  )
  assert.match((await shop.as.anyone('GET', page)).fields['content-security-policy'] ?? '', /; sandbox$/)
})
