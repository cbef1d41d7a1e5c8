import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { library } from './library.ts'
import { readAnswer, request, startOrders } from './orders-over-rest.ts'

const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 8 }))
const octets = text.map(each => each.replace(/[^\x20-\x7e]/g, ''))

const segment = fc.oneof(
  fc.constantFrom(
    'orders',
    'books',
    'rules',
    'b-1',
    'tear',
    'products',
    'customers',
    'reports',
    'searches',
    'search',
    'jobs',
    'payment',
    'picture',
    'tracking',
    'o-1',
    'p-1',
    'c-1',
    'merger',
    'cancellation',
    '__proto__',
    'constructor',
    '..',
    '.',
    '',
    '%zz',
    '%00',
    '%2f',
  ),
  octets.map(encodeURIComponent),
)
const parameter = fc.tuple(
  fc.constantFrom(
    'page',
    'size',
    'cursor',
    'sort',
    'fields',
    'q',
    'state',
    'total[gte]',
    'total[in]',
    'note',
    '__proto__',
    'x[y]',
  ),
  fc.oneof(
    fc.constantFrom('1', '0', '-1', '999999999', '10.00', 'paid', '-placedAt', 'id,total', 'WyIiLDAsIiIsMF0'),
    octets,
  ),
)
const target = fc
  .tuple(
    fc.constantFrom('/api/v1', '/api/v2', '/api', ''),
    fc.array(segment, { maxLength: 4 }),
    fc.array(parameter, { maxLength: 4 }),
  )
  .map(([base, segments, query]) => {
    const path = `${base}/${segments.join('/')}`
    return query.length === 0
      ? path
      : `${path}?${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`
  })

const method = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'OPTIONS') },
  { weight: 1, arbitrary: octets },
)
const values: Readonly<Record<string, readonly string[]>> = {
  accept: [
    '*/*',
    'application/xml',
    'text/html',
    'text/csv',
    'image/png',
    'application/prs.hal-forms+json',
    'application/pdf',
    'a/b;q=2',
  ],
  'accept-encoding': ['gzip', 'br;q=0', '*;q=0', 'identity;q=0, gzip', 'none'],
  'accept-language': ['de', '*'],
  authorization: ['Bearer clara', 'Bearer maria', 'Bearer alice', 'Basic YWxpY2U6YWxpY2Utc2VjcmV0', 'Basic !', 'x'],
  'content-type': [
    'application/json',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'application/json-patch+json',
    'image/png',
    'application/json;charset=x',
    ';',
  ],
  'content-encoding': ['gzip', 'identity', 'x'],
  'if-match': ['*', '"1-v"', 'W/"1"', '"', ','],
  'if-none-match': ['*', '"1-v"', 'x'],
  'if-modified-since': ['Sat, 21 Nov 2026 12:00:00 GMT', 'never'],
  range: ['bytes=0-1', 'bytes=-5,0-0', 'bytes=9-1', 'x'],
  prefer: ['return=minimal', 'handling=lenient', 'respond-async, wait=1', ';;'],
  'idempotency-key': ['"k"', 'k', '""'],
  expect: ['100-continue', 'x'],
  origin: ['https://evil.test', 'null'],
  host: ['', 'a, b', '['],
}
const fields = fc.array(
  fc
    .constantFrom(...Object.keys(values))
    .chain(name => fc.tuple(fc.constant(name), fc.oneof(fc.constantFrom(...(values[name] ?? [])), octets))),
  { maxLength: 6 },
)
const content = fc.oneof(
  fc.constant(undefined),
  fc.json({ maxDepth: 3 }),
  fc.constantFrom(
    '{}',
    '[]',
    '[{"op":"add","path":"/__proto__/x","value":1}]',
    '{"q":"oak"}',
    '{"name":"x","price":"1.00","stock":1}',
    '<order xmlns="urn:diglot:orders:v1"><lines><line/></lines></order>',
    '<order/>',
    '<book isbn="1"><title>t</title><from><gift><giver>x</giver></gift></from><tags><tag/></tags></book>',
    'title=t&from[kind]=gift&from[giver]=x&tags[0]=1&__proto__[x]=1&lent=on',
    '{"isbn":"1","title":"t","blurb":null,"copies":1,"rating":"NaN","lent":true,"tags":[],"cover":"","from":{"kind":"shop","price":"1"}}',
    'lines[0][product]=p-1&lines[0][quantity]=2&currency=EUR&customer=c-1',
    '{"method":"card","amount":"4.95"}',
    'a[b]=1&a=2',
  ),
  text,
  fc.uint8Array({ maxLength: 50 }),
)

for (const [name, how] of [
  ['orders', {}],
  ['library', { app: library }],
] as const)
  describe(`any request to ${name}`, async () => {
    const shop = await startOrders(how)

    it('gets a response, and never a 500', async () => {
      await fc.assert(
        fc.asyncProperty(method, target, fields, content, async (method, target, fields, content) => {
          shop.clock.now += 1000
          const found = await readAnswer(await shop.face(request(method, target, Object.fromEntries(fields), content)))
          assert.deepEqual(shop.incidents, [])
          assert.ok(found.status >= 200 && found.status < 600 && found.status !== 500, `${found.status}`)
          assert.ok(found.fields['cache-control'] && found.fields['vary'])
          for (const value of Object.values(found.fields)) assert.match(value, /^[\t\x20-\x7e]*$/)
          if (method === 'HEAD' || found.status === 304 || found.status === 204) assert.equal(found.bytes.length, 0)
          if (found.fields['content-type']?.includes('json') && !found.fields['content-encoding'] && method !== 'HEAD')
            assert.doesNotThrow(() => found.json)
        }),
        { numRuns: Number(process.env['FUZZ'] ?? 3000) },
      )
    })
  })
