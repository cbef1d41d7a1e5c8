import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import app from '../../examples/orders/service.ts'
import type { Request } from '../../src/http/message.ts'
import { decisionRows } from '../../src/rest/plan.ts'
import { Refused, Unimplemented } from '../../src/service/refusal.ts'
import { floodedGate, overloadedGate } from '../support/gates.ts'
import { likePng } from '../support/png.ts'
import { type Answer, json, type OrdersOptions, type OrdersOverRest, order, startOrders } from './orders-over-rest.ts'

/** The edges of the plan that a case has taken: `23 stale`, `30 201`. */
const walked = new Set<string>()

function edgeOf(answer: Answer): string {
  const [, row, kind, status] =
    /^1-(\d+)(?:; no=([a-z-]+))?; status=(\d+)$/.exec(answer.fields['diglot-trace'] ?? '') ?? []
  const edge = `${row} ${kind ?? status}`
  walked.add(edge)
  return edge
}

type Case = readonly [
  edge: string,
  status: number,
  title: string,
  ask: (shop: OrdersOverRest) => Promise<Answer>,
  fields?: Readonly<Record<string, RegExp>>,
]

const chunked = (text: string): Partial<Request> => {
  const bytes = new TextEncoder().encode(text)
  return {
    content: {
      length: undefined,
      bytes: async limit => (bytes.length > limit ? undefined : bytes),
      async *chunks() {
        yield bytes
      },
    },
  }
}

const cases: readonly Case[] = [
  ['1 unknown-method', 501, 'a method that is no token', s => s.as.anyone('GE(T', '/')],
  [
    '1 fields-too-large',
    431,
    'fields of more than 32 KiB',
    s => s.as.anyone('GET', '/', { 'x-much': 'x'.repeat(33_000) }),
  ],
  ['2 bad-request', 400, 'no Host', s => s.as.anyone('GET', '/', { host: '' })],
  ['2 bad-request', 400, 'two Hosts', s => s.as.anyone('GET', '/', { host: 'a, b' })],
  ['2 bad-request', 400, 'a fragment in the target', s => s.as.anyone('GET', '/api/v1/products#x')],
  ['2 bad-request', 400, '%zz in the target', s => s.as.anyone('GET', '/api/v1/products/%zz')],
  ['2 bad-request', 400, 'http://[', s => s.as.anyone('GET', 'http://[')],
  ['2 bad-request', 400, 'an asterisk for GET', s => s.as.anyone('GET', '*')],
  ['2 misdirected', 421, 'an https target over cleartext (C11)', s => s.as.anyone('GET', 'https://shop.test/')],
  ['4 target-too-long', 414, 'a target of 9 KB', s => s.as.anyone('GET', `/${'a'.repeat(9000)}`)],
  [
    '6 204',
    204,
    'OPTIONS *',
    s => s.as.anyone('OPTIONS', '*'),
    { allow: /GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE, QUERY/ },
  ],
  ['6 not-allowed', 405, 'CONNECT', s => s.as.anyone('CONNECT', 'shop.test:80'), { allow: /GET/ }],
  ['7 unknown-method', 501, 'BREW', s => s.as.anyone('BREW', '/api/v1/orders')],
  ['8 expectation-failed', 417, 'Expect: something', s => s.as.anyone('GET', '/', { expect: 'magic' })],
  ['9 bad-request', 400, 'an escape that is not UTF-8', s => s.as.anyone('GET', '/api/v1/products/%ff')],
  ['9 bad-request', 400, 'NUL in an escape', s => s.as.anyone('GET', '/api/v1/products/%00')],
  ['9 bad-request', 400, '// in the path', s => s.as.anyone('GET', '//api/v1/products')],
  ['9 bad-request', 400, 'dot segments', s => s.as.anyone('GET', '/api/v1/%2e%2e/v2/products')],
  ['9 bad-request', 400, 'a query that cannot be decoded', s => s.as.anyone('GET', '/api/v1/products?name=%ff')],
  ['10 not-found', 404, 'no such route', s => s.as.anyone('GET', '/api/v1/nothing')],
  ['10 not-found', 404, 'outside of /api', s => s.as.anyone('GET', '/elsewhere')],
  ['10 not-found', 404, 'a slash at the end names another resource', s => s.as.clara('GET', '/api/v1/orders/')],
  ['11 not-found', 404, 'no such version', s => s.as.anyone('GET', '/api/v9/products')],
  [
    '12 204',
    204,
    'a preflight',
    s =>
      s.as.anyone('OPTIONS', '/api/v1/orders', { origin: 'https://a.test', 'access-control-request-method': 'POST' }),
  ],
  [
    '13 not-allowed',
    405,
    'PATCH on a collection',
    s => s.as.clara('PATCH', '/api/v1/orders'),
    { allow: /^GET, HEAD, OPTIONS, POST, DELETE, QUERY$/ },
  ],
  [
    '13 not-allowed',
    405,
    'GET of a job collection',
    s => s.as.clara('GET', '/api/v1/reports'),
    { allow: /^OPTIONS, POST$/ },
  ],
  [
    '13 not-allowed',
    405,
    'TRACE of a job collection',
    s => s.as.anyone('TRACE', '/api/v1/reports'),
    { allow: /^OPTIONS, POST$/ },
  ],
  ['10 not-found', 404, 'TRACE of nothing', s => s.as.anyone('TRACE', '/api/v1/nothing')],
  ['13 not-allowed', 405, 'POST on the entry', s => s.as.clara('POST', '/api/v1'), { allow: /^GET, HEAD, OPTIONS$/ }],
  ['14 bad-parameter', 400, 'an unknown parameter', s => s.as.clara('GET', '/api/v1/orders?colour=red')],
  ['14 bad-parameter', 400, 'a page of 101', s => s.as.clara('GET', '/api/v1/orders?size=101')],
  ['14 bad-parameter', 400, 'a value of another type', s => s.as.clara('GET', '/api/v1/orders?total[gte]=much')],
  ['14 bad-parameter', 400, 'a cursor of our own making', s => s.as.clara('GET', '/api/v1/orders?cursor=abc')],
  ['14 bad-parameter', 400, 'a bulk removal without a filter', s => s.as.maria('DELETE', '/api/v1/orders')],
  [
    '14 bad-parameter',
    400,
    'lenient never widens a removal',
    s => s.as.maria('DELETE', '/api/v1/orders?colour=red', { prefer: 'handling=lenient' }),
  ],
  [
    '15 unauthenticated',
    401,
    'nobody',
    s => s.as.anyone('GET', '/api/v1/orders'),
    { 'www-authenticate': /^Bearer realm="orders", Basic realm="orders", charset="UTF-8"$/ },
  ],
  [
    '15 unauthenticated',
    401,
    'a wrong token on a public target',
    s => s.as.anyone('GET', '/api/v1/products', { authorization: 'Bearer mallory' }),
    { 'www-authenticate': /error="invalid_token"/ },
  ],
  [
    '15 unauthenticated',
    401,
    'a scheme that is not known',
    s => s.as.anyone('GET', '/api/v1/orders', { authorization: 'Digest x=y' }),
  ],
  [
    '16 forbidden',
    403,
    'a customer who ships',
    s => s.as.alice('POST', '/api/v1/orders/o-2/shipment', json, { carrier: 'dhl' }),
  ],
  [
    '16 forbidden',
    403,
    'a page of a foreign origin',
    s => s.as.clara('POST', '/api/v1/orders', { ...json, origin: 'https://evil.test' }, order),
  ],
  [
    '17 too-many',
    429,
    'the 31st search in a minute',
    async s => {
      for (let i = 0; i < 30; i++) await s.as.alice('POST', '/api/v1/searches', json, { q: 'oak' })
      return s.as.alice('POST', '/api/v1/searches', json, { q: 'oak' })
    },
    { 'retry-after': /^\d+$/, ratelimit: /^"searches";r=0;t=\d+$/, 'ratelimit-policy': /^"searches";q=30;w=60$/ },
  ],
  [
    '18 204',
    204,
    'OPTIONS, without credentials',
    s => s.as.anyone('OPTIONS', '/api/v1/orders/o-1'),
    {
      allow: /^GET, HEAD, OPTIONS, PUT, PATCH, DELETE$/,
      'accept-patch': /merge-patch\+json, application\/json-patch\+json/,
      link: /service-desc/,
    },
  ],
  [
    '19 bad-request',
    400,
    'a PUT of a part',
    s => s.as.clara('PUT', '/api/v1/orders/o-1', { ...json, 'content-range': 'bytes 0-9/20' }, order),
  ],
  [
    '19 too-large',
    413,
    'Content-Length over the limit',
    s => s.as.clara('POST', '/api/v1/orders', json, 'x'.repeat(1024 * 1024 + 1)),
  ],
  [
    '19 unsupported-media-type',
    415,
    'a coding that is not known',
    s => s.as.clara('POST', '/api/v1/orders', { ...json, 'content-encoding': 'compress' }, order),
    { 'accept-encoding': /^gzip, br, (?:zstd, )?identity$/ },
  ],
  [
    '20 unsupported-media-type',
    415,
    'text/plain as PATCH',
    s => s.as.clara('PATCH', '/api/v1/orders/o-1', { 'content-type': 'text/plain' }, 'x'),
    { 'accept-patch': /merge-patch/ },
  ],
  [
    '20 unsupported-media-type',
    415,
    'application/json as PATCH',
    s => s.as.clara('PATCH', '/api/v1/orders/o-1', json, {}),
    { 'accept-patch': /merge-patch/ },
  ],
  [
    '20 unsupported-media-type',
    415,
    'no Content-Type',
    s => s.as.clara('POST', '/api/v1/orders', {}, order),
    { 'accept-post': /application\/json/ },
  ],
  [
    '20 unsupported-media-type',
    415,
    'a charset that is not known',
    s => s.as.clara('POST', '/api/v1/orders', { 'content-type': 'application/json;charset=koi8-r' }, order),
  ],
  [
    '21 not-acceptable',
    406,
    'a type that is not offered',
    s => s.as.clara('GET', '/api/v1/orders/o-1', { accept: 'image/png' }),
  ],
  [
    '21 not-acceptable',
    406,
    'no coding is acceptable',
    s => s.as.clara('GET', '/api/v1/orders/o-1', { 'accept-encoding': 'identity;q=0, *;q=0' }),
  ],
  [
    '21 not-acceptable',
    406,
    'POST is refused before it has an effect',
    s => s.as.clara('POST', '/api/v1/orders', { ...json, accept: 'image/png' }, order),
  ],
  ['22 not-found', 404, 'no such item', s => s.as.clara('GET', '/api/v1/orders/o-999')],
  ['22 not-found', 404, 'another customer’s order', s => s.as.alice('GET', '/api/v1/orders/o-2')],
  [
    '22 not-found',
    404,
    'a PUT where PUT does not create',
    s => s.as.clara('PUT', '/api/v1/orders/o-999', { ...json, 'if-none-match': '*' }, order),
  ],
  ['22 not-found', 404, 'tracking before shipment', s => s.as.clara('GET', '/api/v1/orders/o-1/tracking')],
  ['22 not-found', 404, 'a payment that was not made', s => s.as.clara('GET', '/api/v1/orders/o-1/payment')],
  [
    '22 gone',
    410,
    'an order that was removed',
    async s => {
      await s.as.maria('DELETE', '/api/v1/orders/o-5', { 'if-match': '*' })
      return s.as.clara('GET', '/api/v1/orders/o-5')
    },
  ],
  [
    '22 moved',
    301,
    'a customer who was merged',
    async s => {
      await s.as.maria('POST', '/api/v1/customers/c-3/merger', json, { into: 'c-2' })
      return s.as.clara('GET', '/api/v1/customers/c-3')
    },
    { location: /^\/api\/v1\/customers\/c-2$/ },
  ],
  [
    '22 moved',
    308,
    'the same for another method',
    s => s.as.maria('DELETE', '/api/v1/customers/c-3', { 'if-match': '*' }),
    { location: /c-2$/ },
  ],
  [
    '22 forbidden',
    403,
    'a customer who orders for another',
    s => s.as.alice('POST', '/api/v1/orders', json, { ...order, customer: 'c-2' }),
  ],
  [
    '23 stale',
    412,
    'If-Match of another version',
    s => s.as.clara('PUT', '/api/v1/orders/o-1', { ...json, 'if-match': '"99-x"' }, order),
    { etag: /^"\d+-/ },
  ],
  [
    '23 stale',
    412,
    'If-None-Match: * on what is there',
    s =>
      s.as.maria(
        'PUT',
        '/api/v1/products/p-1',
        { ...json, 'if-none-match': '*' },
        { name: 'x', price: '1.00', stock: 1 },
      ),
  ],
  [
    '23 stale',
    412,
    'If-Match on what a PUT would create',
    s =>
      s.as.maria('PUT', '/api/v1/products/p-77', { ...json, 'if-match': '*' }, { name: 'x', price: '1.00', stock: 1 }),
  ],
  [
    '23 stale',
    412,
    'a tag on a collection that is posted to',
    s => s.as.clara('POST', '/api/v1/orders', { ...json, 'if-match': '"x"' }, order),
  ],
  [
    '23 304',
    304,
    'If-None-Match: *',
    s => s.as.clara('GET', '/api/v1/orders/o-1', { 'if-none-match': '*' }),
    { etag: /^"\d+-/, vary: /Accept, Accept-Encoding, Authorization/, 'cache-control': /no-cache/ },
  ],
  [
    '24 precondition-required',
    428,
    'a PUT without a precondition',
    s => s.as.clara('PUT', '/api/v1/orders/o-1', json, order),
  ],
  [
    '24 precondition-required',
    428,
    'a DELETE without a precondition',
    s => s.as.maria('DELETE', '/api/v1/orders/o-10'),
  ],
  [
    '24 precondition-required',
    428,
    'If-Modified-Since is no precondition of a change',
    s =>
      s.as.clara('PUT', '/api/v1/orders/o-1', { ...json, 'if-modified-since': 'Sun, 06 Nov 1994 08:49:37 GMT' }, order),
  ],
  [
    '25 key-reused',
    422,
    'other content under the same key',
    async s => {
      await s.as.clara('POST', '/api/v1/orders', { ...json, 'idempotency-key': '"k-1"' }, order)
      return s.as.clara(
        'POST',
        '/api/v1/orders',
        { ...json, 'idempotency-key': '"k-1"' },
        { ...order, currency: 'USD' },
      )
    },
  ],
  [
    '25 in-flight',
    409,
    'the same key at the same time',
    async s => {
      const one = () => s.as.clara('POST', '/api/v1/orders', { ...json, 'idempotency-key': '"k-2"' }, order)
      const [first, second] = await Promise.all([one(), one()])
      return first.status === 409 ? first : second
    },
    { 'retry-after': /^1$/ },
  ],
  [
    '26 too-large',
    413,
    'chunked content over the limit',
    s => s.as.clara('POST', '/api/v1/orders', json, undefined, chunked('x'.repeat(1024 * 1024 + 1))),
  ],
  ['26 malformed', 400, 'no JSON', s => s.as.clara('POST', '/api/v1/orders', json, '{')],
  [
    '26 malformed',
    400,
    'the same name twice',
    s => s.as.clara('POST', '/api/v1/orders', json, '{"customer":"c-1","customer":"c-2"}'),
  ],
  [
    '26 malformed',
    400,
    'half a surrogate pair',
    s => s.as.clara('POST', '/api/v1/orders', json, '{"customer":"\\ud800"}'),
  ],
  ['26 malformed', 400, 'nested deeper than 64', s => s.as.clara('POST', '/api/v1/orders', json, '['.repeat(100))],
  [
    '26 malformed',
    400,
    'a DOCTYPE',
    s => s.as.clara('POST', '/api/v1/orders', { 'content-type': 'application/xml' }, '<!DOCTYPE x><order/>'),
  ],
  [
    '26 malformed',
    400,
    'not of its coding',
    s => s.as.clara('POST', '/api/v1/orders', { ...json, 'content-encoding': 'gzip' }, order),
  ],
  [
    '26 malformed',
    400,
    'a patch document that is none',
    s =>
      s.as.clara('PATCH', '/api/v1/orders/o-1', { 'content-type': 'application/json-patch+json', 'if-match': '*' }, [
        { op: 'conjure' },
      ]),
  ],
  [
    '20 unsupported-media-type',
    415,
    'chunked content without a type, where none may be empty',
    s => s.as.clara('POST', '/api/v1/orders/o-3/delivery', {}, undefined, chunked('x')),
  ],
  [
    '27 invalid',
    422,
    'an unknown member',
    s => s.as.clara('POST', '/api/v1/orders', json, { ...order, colour: 'red' }),
  ],
  [
    '27 invalid',
    422,
    '__proto__ in content',
    s =>
      s.as.clara(
        'POST',
        '/api/v1/orders',
        json,
        '{"__proto__":{"state":"paid"},"customer":"c-1","lines":[{"product":"p-1","quantity":1}],"currency":"EUR"}',
      ),
  ],
  [
    '27 invalid',
    422,
    'a server field that differs',
    s => s.as.clara('POST', '/api/v1/orders', json, { ...order, state: 'paid' }),
  ],
  [
    '28 conflict',
    409,
    'a state that does not offer it',
    s => s.as.clara('POST', '/api/v1/orders/o-1/shipment', json, { carrier: 'dhl' }),
  ],
  [
    '28 conflict',
    409,
    'a failing test in a patch',
    s =>
      s.as.clara('PATCH', '/api/v1/orders/o-1', { 'content-type': 'application/json-patch+json', 'if-match': '*' }, [
        { op: 'test', path: '/currency', value: 'XXX' },
      ]),
  ],
  [
    '28 declared',
    422,
    'a declared fault',
    s => s.as.clara('POST', '/api/v1/orders/o-1/payment', json, { method: 'card', amount: '0.01' }),
  ],
  [
    '28 unserved',
    400,
    'a list of more than 10,000 that no index serves',
    async s => {
      await s.store.write(async writer => {
        for (let i = 0; i < 10_001; i++)
          await writer.put(
            'products',
            `p-m${i}`,
            { id: `p-m${i}`, name: 'x', price: '1.00', stock: 0 },
            {},
            undefined,
            0,
          )
      })
      return s.as.anyone('GET', '/api/v1/products?price[gte]=1&sort=name')
    },
  ],
  ['30 200', 200, 'a representation', s => s.as.clara('GET', '/api/v1/orders/o-1')],
  [
    '30 201',
    201,
    'made',
    s => s.as.clara('POST', '/api/v1/orders', json, order),
    { location: /^\/api\/v1\/orders\/o-/ },
  ],
  [
    '30 202',
    202,
    'accepted',
    s => s.as.clara('POST', '/api/v1/reports', json, { from: '2026-01-01', to: '2026-02-01', kind: 'sales' }),
    { location: /^\/api\/v1\/reports\/jobs\//, 'retry-after': /^1$/ },
  ],
  ['30 204', 204, 'removed', s => s.as.maria('DELETE', '/api/v1/orders/o-15', { 'if-match': '*' })],
]

const png = likePng(Uint8Array.from({ length: 3000 }, (_, i) => i & 255))
const withPicture: readonly Case[] = [
  [
    '30 206',
    206,
    'a range',
    async s => {
      await s.as.maria('PUT', '/api/v1/products/p-2/picture', { 'content-type': 'image/png' }, png)
      return s.as.anyone('GET', '/api/v1/products/p-2/picture', { range: 'bytes=0-9' })
    },
    { 'content-range': /^bytes 0-9\/3000$/ },
  ],
  [
    '23 range',
    416,
    'no such range',
    s => s.as.anyone('GET', '/api/v1/products/p-2/picture', { range: 'bytes=5000-' }),
    { 'content-range': /^bytes \*\/3000$/ },
  ],
]

const retired: OrdersOptions = {
  app: { ...app, contract: { ...app.contract, versions: { v1: { retired: true }, v2: {} } } },
}
const others: readonly (readonly [OrdersOptions, Case])[] = [
  [
    { options: { gate: overloadedGate(5) } },
    ['3 unavailable', 503, 'overloaded', s => s.as.anyone('GET', '/'), { 'retry-after': /^5$/ }],
  ],
  [
    { options: { gate: floodedGate(2, 1000) } },
    ['5 too-many', 429, 'a flood from one address', s => s.as.anyone('GET', '/'), { 'retry-after': /^2$/ }],
  ],
  [
    retired,
    [
      '11 retired',
      410,
      'a version that is no longer served',
      s => s.as.anyone('GET', '/api/v1/products'),
      { link: /^<\/api\/v2\/products>; rel="successor-version"$/ },
    ],
  ],
]

async function requireEdge(shop: OrdersOverRest, [edge, status, title, ask, fields = {}]: Case): Promise<void> {
  const answer = await ask(shop)
  assert.equal(`${edgeOf(answer)} ${answer.status}`, `${edge} ${status}`, `${title}\n${answer.text}`)
  for (const [name, value] of Object.entries(fields)) assert.match(answer.fields[name] ?? 'absent', value)
  if (edge !== '6 204') assert.ok(answer.fields['vary'], 'Vary is on every answer of the face')
  assert.ok(answer.fields['cache-control'], 'Cache-Control is on every answer')
  if (status === 304) assert.equal(answer.bytes.length, 0)
  if (status < 400) return
  assert.equal(answer.fields['content-type'], 'application/problem+json')
  assert.equal(answer.json.status, status)
  const about = await shop.as.anyone('GET', answer.json.type)
  if (!/overloaded|flood/.test(title)) assert.equal(about.status, 200, `A2.5: ${answer.json.type} resolves`)
}

for (const repeats of [false, true])
  describe(`the order of decisions${repeats ? ', asked again with the same fields' : ''}`, async () => {
    const shop = await startOrders({ repeats })
    for (const each of [...cases, ...withPicture])
      it(`row ${each[0]}: ${each[2]}`, async () => {
        shop.clock.now += 61_000
        await requireEdge(shop, each)
        assert.deepEqual(shop.incidents, [])
      })
    for (const [how, each] of others)
      it(`row ${each[0]}: ${each[2]}`, async () => requireEdge(await startOrders({ ...how, repeats }), each))

    it('row 29 unavailable: the store is busy', async () => {
      const { edge, answer } = await answerToThrown(new Refused({ kind: 'unavailable', after: 3 }))
      assert.deepEqual([edge, answer.status, answer.fields['retry-after']], ['29 unavailable', 503, '3'])
    })
    it('row 29 unimplemented: 501 with the operation; only the operator learns the handler', async () => {
      const { edge, answer, reported } = await answerToThrown(new Unimplemented('orders.pay'))
      assert.deepEqual([edge, answer.status, reported], ['29 unimplemented', 501, 1])
      assert.equal(answer.json['detail'], 'orders.pay is not implemented yet')
      assert.doesNotMatch(answer.text, /\.ts/)
    })
    it('row 29 failed: 500 with an incident and nothing else (H9)', async () => {
      const { edge, answer, reported } = await answerToThrown(new Error('SELECT * FROM secrets'))
      assert.deepEqual([edge, answer.status, reported], ['29 failed', 500, 1])
      assert.deepEqual(Object.keys(answer.json), ['type', 'title', 'status', 'detail', 'incident'])
      assert.doesNotMatch(answer.text, /secret|SELECT|\.ts/)
    })

    it('every edge of the table has a case', t => {
      const edges = decisionRows.flatMap(row => [...row.no, ...(row.answers ?? [])].map(end => `${row.number} ${end}`))
      assert.deepEqual(
        edges.filter(edge => !walked.has(edge)),
        [],
      )
      t.diagnostic(`${edges.length} edges, each walked`)
      assert.deepEqual(
        [...walked].filter(edge => !edges.includes(edge)),
        [],
      )
    })
  })

async function answerToThrown(what: unknown) {
  const shop = await startOrders()
  const broken = { ...shop.serving.calls, perform: () => Promise.reject(what) }
  Object.assign(shop.serving, { calls: broken })
  const answer = await shop.as.clara('GET', '/api/v1/orders/o-1')
  return { edge: edgeOf(answer), answer, reported: shop.incidents.length }
}
