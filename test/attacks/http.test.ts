/**
 * The HTTP attacks, named, each against the whole service over a socket: it is refused with the right status, nothing was
 * done, nothing of the inside is told, it costs under 100 ms of CPU, and the next request is answered at once.
 * What another test holds already is in the table at the end, which says where.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { readScalar } from '../../src/contract/lexical/scalar.ts'
import { isScalar } from '../../src/contract/shape.ts'
import { parseJson } from '../../src/http/json.ts'
import { instantKey } from '../../src/store/sort-key.ts'
import { basic, bearer, type Hosted, json, startHosted } from '../host/hosted-service.ts'
import { exchangeOctets, statuses } from '../server/raw-connection.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const soap12 = { 'content-type': 'application/soap+xml' }
const soap11 = { 'content-type': 'text/xml' }
const ns = 'urn:diglot:orders:v1'
const envelope = (body: string, version = 'http://www.w3.org/2003/05/soap-envelope') =>
  `<e:Envelope xmlns:e="${version}"><e:Body>${body}</e:Body></e:Envelope>`
const cancel = `<CancelOrder xmlns="${ns}"><id>o-1</id></CancelOrder>`
const old = 'http://schemas.xmlsoap.org/soap/envelope/'
const order = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 1 }], currency: 'EUR' }
const merge = { 'content-type': 'application/merge-patch+json', 'if-match': '*' }
const patch = { 'content-type': 'application/json-patch+json', 'if-match': '*' }
const at = '/api/v1/orders/o-1'

/** What no answer says: a stack, a path, a file of ours, SQL. */
const inside = /\bat [\w.]+ \(|node:|node_modules|\.[jt]s:\d|\/work\/|SELECT |sqlite|SQLITE|constraint failed/

type Who = 'alice' | 'clara' | 'maria' | undefined
type Row = readonly [
  attack: string,
  who: Who,
  method: string,
  path: string,
  status: number,
  fields?: Record<string, string>,
  content?: string,
]
const rows: readonly Row[] = [
  ['H1 a target of two slashes', 'clara', 'GET', '//', 400],
  ['H1 another host behind two slashes', 'clara', 'GET', '//evil.example/api/v1/orders', 400],
  ['H1 http://[', 'clara', 'GET', 'http://[', 400],
  ['H1 an asterisk', 'clara', 'GET', '*', 400],
  ['H1 a target of 64 KB', 'clara', 'GET', `/${'a'.repeat(65_000)}`, 414],
  ['H1 dot segments', 'clara', 'GET', '/api/v1/../../etc/passwd', 400],
  ['H1 dot segments, escaped', 'clara', 'GET', '/api/v1/orders/%2e%2e%2f%2e%2e%2fetc%2fpasswd', 404],
  ['H1 an escaped NUL', 'clara', 'GET', '/api/v1/orders/o-1%00', 400],
  ['H3 PUT on a SOAP endpoint', 'clara', 'PUT', '/soap/v1', 405, soap12, envelope(cancel)],
  ['H3 DELETE on a SOAP endpoint', 'clara', 'DELETE', '/soap/v1', 405],
  ['H3 GET on a SOAP endpoint', 'clara', 'GET', '/soap/v1', 405],
  ['H3 GET of what changes', 'clara', 'GET', '/soap/v1/CancelOrder?id=o-1', 404],
  ['H3 a method in a field', 'clara', 'POST', at, 405, { ...json, 'x-http-method-override': 'DELETE' }, '{}'],
  ['H4 no media type', 'clara', 'POST', '/api/v1/orders', 415, {}, JSON.stringify(order)],
  ['H4 text', 'clara', 'POST', '/api/v1/orders', 415, { 'content-type': 'text/plain' }, JSON.stringify(order)],
  ['H4 text on a SOAP endpoint', 'clara', 'POST', '/soap/v1', 415, { 'content-type': 'text/plain' }, envelope(cancel)],
  [
    'H4 multipart without boundary',
    'clara',
    'POST',
    '/soap/v1',
    415,
    { 'content-type': 'multipart/related; type="text/xml"' },
    'x',
  ],
  [
    'H4 a charset that hides',
    'clara',
    'POST',
    '/api/v1/orders',
    415,
    { 'content-type': 'application/json; charset=utf-7' },
    '{}',
  ],
  [
    'H5 a media type is not echoed',
    'clara',
    'POST',
    '/api/v1/orders',
    415,
    { 'content-type': 'text/x-evil-marker' },
    'x',
  ],
  ['H5 nor on a SOAP endpoint', 'clara', 'POST', '/soap/v1', 415, { 'content-type': 'text/x-evil-marker' }, 'x'],
  [
    'H6 two SOAPAction fields',
    'clara',
    'POST',
    '/soap/v1',
    500,
    { ...soap11, soapaction: `"${ns}/CancelOrder", "${ns}/GetOrder"` },
    envelope(cancel, old),
  ],
  [
    'H6 SOAPAction without quotes',
    'clara',
    'POST',
    '/soap/v1',
    500,
    { ...soap11, soapaction: `${ns}/CancelOrder` },
    envelope(cancel, old),
  ],
  [
    'H7 the action names another operation',
    'clara',
    'POST',
    '/soap/v1',
    500,
    { ...soap11, soapaction: `"${ns}/GetOrder"` },
    envelope(cancel, old),
  ],
  [
    'H8 an unknown expectation',
    'clara',
    'POST',
    '/api/v1/orders',
    417,
    { ...json, expect: 'evil-marker' },
    JSON.stringify(order),
  ],
  ['H9 an id that is SQL', 'clara', 'GET', `/api/v1/orders/${encodeURIComponent("' OR 1=1 --")}`, 404],
  ['filter injection: a field', 'clara', 'GET', `/api/v1/orders?${encodeURIComponent("state' OR '1'='1")}=paid`, 400],
  ['filter injection: a comparison', 'clara', 'GET', '/api/v1/orders?total[gt)=0;--]=1', 400],
  ['filter injection: a value', 'clara', 'GET', `/api/v1/orders?state=${encodeURIComponent("paid' OR '1'='1")}`, 400],
  ['filter injection: a field that is not listed', 'clara', 'GET', '/api/v1/orders?lines=1', 400],
  ['filter injection: __proto__', 'clara', 'GET', '/api/v1/orders?__proto__[gt]=1', 400],
  ['filter injection: constructor', 'clara', 'GET', '/api/v1/orders?constructor=1', 400],
  ['sort injection', 'clara', 'GET', `/api/v1/orders?sort=${encodeURIComponent('total;DROP TABLE orders')}`, 400],
  [
    'sort injection: a CASE',
    'clara',
    'GET',
    `/api/v1/orders?sort=${encodeURIComponent('(CASE WHEN 1 THEN id END)')}`,
    400,
  ],
  ['sort injection: __proto__', 'clara', 'GET', '/api/v1/orders?sort=__proto__', 400],
  ['filter injection: fields=', 'clara', 'GET', '/api/v1/orders?fields=password', 400],
  ['filter injection: a forged cursor', 'clara', 'GET', '/api/v1/orders?cursor=WyInIE9SIDE9MSJd', 400],
  ['filter injection: a hundred thousand parameters', 'clara', 'GET', `/api/v1/orders?${'a&'.repeat(4000)}`, 400],
  [
    'mass assignment: the total',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, total: '0.01' }),
  ],
  [
    'mass assignment: the state',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, state: 'paid' }),
  ],
  [
    'mass assignment: the id of another',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, id: 'o-2' }),
  ],
  [
    'mass assignment: the price of a line',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, lines: [{ product: 'p-1', quantity: 1, price: '0.01' }] }),
  ],
  [
    'mass assignment: an unknown field',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, roles: ['manager'] }),
  ],
  [
    'mass assignment: of another customer',
    'alice',
    'POST',
    '/api/v1/orders',
    403,
    json,
    JSON.stringify({ ...order, customer: 'c-2' }),
  ],
  [
    'mass assignment: __proto__',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    `{"__proto__":{"customer":"c-1"},${JSON.stringify(order).slice(1)}`,
  ],
  ['other tenants: an order', 'alice', 'GET', '/api/v1/orders/o-2', 404],
  [
    'other tenants: paying for it',
    'alice',
    'POST',
    '/api/v1/orders/o-2/payment',
    404,
    json,
    '{"method":"card","amount":"1.00"}',
  ],
  ['other tenants: a customer', 'alice', 'GET', '/api/v1/customers/c-2', 404],
  ['other tenants: the orders of a customer', 'alice', 'GET', '/api/v1/customers/c-2/orders', 404],
  [
    'other tenants: an action that only a clerk may take',
    'alice',
    'PATCH',
    '/api/v1/orders/o-2',
    403,
    merge,
    '{"note":"x"}',
  ],
  ['other tenants: by SOAP', 'alice', 'POST', '/soap/v1', 500, soap12, envelope(cancel.replace('o-1', 'o-2'))],
  [
    'patch paths: into __proto__',
    'clara',
    'PATCH',
    at,
    409,
    patch,
    '[{"op":"add","path":"/__proto__/customer","value":"c-2"}]',
  ],
  [
    'patch paths: __proto__ as a member',
    'clara',
    'PATCH',
    at,
    422,
    patch,
    '[{"op":"add","path":"/__proto__","value":{"customer":"c-2"}}]',
  ],
  [
    'patch paths: into the constructor',
    'clara',
    'PATCH',
    at,
    409,
    patch,
    '[{"op":"add","path":"/constructor/prototype/x","value":1}]',
  ],
  [
    'patch paths: a server field',
    'clara',
    'PATCH',
    at,
    422,
    patch,
    '[{"op":"replace","path":"/total","value":"0.01"}]',
  ],
  ['patch paths: the state', 'clara', 'PATCH', at, 422, patch, '[{"op":"replace","path":"/state","value":"paid"}]'],
  ['patch paths: the id', 'clara', 'PATCH', at, 422, patch, '[{"op":"replace","path":"/id","value":"o-2"}]'],
  [
    'patch paths: copy to itself, again and again',
    'clara',
    'PATCH',
    at,
    400,
    patch,
    JSON.stringify(Array.from({ length: 64 }, () => ({ op: 'copy', from: '', path: '/x' }))),
  ],
  ['patch paths: merge into __proto__', 'clara', 'PATCH', at, 422, merge, '{"__proto__":{"customer":"c-2"}}'],
  ['patch paths: merge a server field', 'clara', 'PATCH', at, 422, merge, '{"total":"0.01"}'],
  ['JSON depth: 100,000 deep', 'clara', 'POST', '/api/v1/orders', 400, json, '['.repeat(100_000)],
  [
    'JSON depth: objects',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`,
  ],
  [
    'JSON duplicate names',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    `{"customer":"c-1","customer":"c-2",${JSON.stringify(order).slice(1)}`,
  ],
  [
    'JSON duplicate names, one escaped',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    '{"customer":"c-1","\\u0063ustomer":"c-2"}',
  ],
  [
    'JSON a number of 1 MB',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    `{"lines":[{"product":"p-1","quantity":${'9'.repeat(1_000_000)}}]}`,
  ],
  [
    'JSON a number of 10 MB',
    'clara',
    'POST',
    '/api/v1/orders',
    413,
    json,
    `{"lines":[{"quantity":${'9'.repeat(10_000_000)}}]}`,
  ],
  [
    'JSON an exponent beyond all numbers',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    JSON.stringify(order).replace('"quantity":1', '"quantity":1e999999999'),
  ],
  [
    'JSON 80,000 names',
    'clara',
    'POST',
    '/api/v1/orders',
    400,
    json,
    `{${Array.from({ length: 80_000 }, (_, i) => `"a${i}":1`).join()}}`,
  ],
  [
    'JSON 200,000 items',
    'clara',
    'POST',
    '/api/v1/orders',
    422,
    json,
    JSON.stringify({ ...order, lines: Array(200_000).fill(1) }),
  ],
  ['JSON a lone surrogate', 'clara', 'POST', '/api/v1/orders', 400, json, '{"note":"\\ud800"}'],
  ['JSON cut short', 'clara', 'POST', '/api/v1/orders', 400, json, JSON.stringify(order).slice(0, -1)],
  [
    'regular expressions: an address of 1 MB of @',
    'maria',
    'POST',
    '/api/v1/customers',
    422,
    json,
    JSON.stringify({ name: 'x', email: '@'.repeat(1_000_000), tier: 'basic' }),
  ],
  [
    'regular expressions: 1 MB of blanks in SOAP',
    'clara',
    'POST',
    '/soap/v1',
    500,
    soap12,
    envelope(
      `<PayOrder xmlns="${ns}"><id>o-1</id><method>card</method><amount>1${' '.repeat(1_000_000)}1</amount></PayOrder>`,
    ),
  ],
  [
    'regular expressions: 8 KB of zeros in a filter',
    'clara',
    'GET',
    `/api/v1/orders?placedAt[gt]=2026-01-01T00:00:00.${'0'.repeat(7900)}1Z`,
    400,
  ],
  [
    'regular expressions: 30 KB of blanks in credentials',
    undefined,
    'GET',
    at,
    401,
    { authorization: `Bearer ${' '.repeat(30_000)}!` },
  ],
  ['regular expressions: 30 KB in Accept', 'clara', 'GET', at, 200, { accept: `x/y;q="${'\\"'.repeat(15_000)}` }],
  [
    'a rate belongs to its caller, whatever a field says',
    undefined,
    'GET',
    at,
    401,
    { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1', forwarded: 'for=127.0.0.1' },
  ],
]

const people = {
  alice: basic('alice', 'alice-secret'),
  clara: basic('clara', 'clara-secret'),
  maria: basic('maria', 'maria-secret'),
}

describe('attacks by HTTP', async () => {
  const house = await startHosted()
  for (const who of Object.values(people)) assert.equal((await house.ask('GET', '/api/v1/products', who)).status, 200)

  for (const [attack, who, method, path, status, fields = {}, content] of rows)
    test(`${attack} → ${status}`, async () => {
      const asking = { ...(who && people[who]), ...fields }
      await assertCpuMsBelow(100, async () => {
        const answer = await house.ask(method, path, asking, content)
        assert.equal(answer.status, status, answer.text.slice(0, 300))
        const said = JSON.stringify(answer.fields) + answer.text
        assert.doesNotMatch(said, inside)
        assert.ok(!said.includes('evil-marker'), 'nothing of the request is echoed')
      })
      assert.deepEqual(house.lines, [], 'nothing was done, and nothing went wrong')
      await answersAtOnce(house)
    })

  const link = 'evil\r\nset-cookie: x=y'
  const split: readonly [string, string][] = [
    ['in the path', `GET /api/v1/orders/${encodeURIComponent(link)} HTTP/1.1`],
    ['in a parameter', `GET /api/v1/orders?state=${encodeURIComponent(link)} HTTP/1.1`],
    ['in the address to go to after signing in', `GET /login?to=${encodeURIComponent(`/${link}`)} HTTP/1.1`],
    ['in a search that is returned as a link', `GET /api/v1/search?q=${encodeURIComponent(link)} HTTP/1.1`],
  ]
  for (const [where, line] of split)
    test(`response splitting ${where}`, async () => {
      const { text } = await exchangeOctets(
        house.server.port,
        `${line}\r\nHost: a\r\nAuthorization: ${people.clara.authorization}\r\n\r\n`,
      )
      assert.equal(statuses(text).length, 1)
      assert.doesNotMatch(text, /^set-cookie:/im)
    })
  test('response splitting by Host: links have our own address, and an invalid Host is refused', async () => {
    const { text } = await exchangeOctets(
      house.server.port,
      'GET /soap/v1?wsdl HTTP/1.1\r\nHost: a"><evil-marker\r\n\r\n',
    )
    assert.ok(!text.includes('evil-marker'))
  })

  test('request smuggling: a request hidden behind a refused message is not served', async () => {
    const hidden = `GET /api/v1/orders/o-1 HTTP/1.1\r\nHost: a\r\nAuthorization: ${people.clara.authorization}\r\n\r\n`
    const { text } = await exchangeOctets(
      house.server.port,
      `POST /api/v1/orders HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
      'end',
    )
    assert.deepEqual(statuses(text), [400])
    const get = `GET /health/live HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`
    assert.deepEqual(
      statuses((await exchangeOctets(house.server.port, get)).text),
      [200],
      'content of a GET is no request',
    )
  })

  test('a script in data is shown in HTML as text, and the page may run no scripts', async () => {
    const script = '<script>alert(1)</script>"\'><img src=x onerror=alert(1)>'
    const made = await house.ask(
      'POST',
      '/api/v2/orders',
      { ...people.clara, ...json },
      JSON.stringify({ ...order, note: script }),
    )
    assert.equal(made.status, 201)
    house.lines.length = 0
    const { text, fields } = await house.ask('GET', String(made.fields['location']), {
      ...people.clara,
      accept: 'text/html',
    })
    assert.ok(text.includes('&lt;script&gt;') && !/<script(?! src="\/look\/)|<img|onerror=["'a]*[^&]*>/.test(text))
    assert.match(String(fields['content-security-policy']), /default-src 'none'/)
    const wrong = await house.ask('GET', `/api/v1/orders?state=${encodeURIComponent(script)}`, {
      ...people.clara,
      accept: 'text/html',
    })
    assert.equal(wrong.status, 400)
    assert.ok(!/<script(?! src="\/look\/)|<img/.test(wrong.text))
  })

  test('CORS with credentials: no origin is allowed, whatever its name', async () => {
    const { ask } = await startHosted({ settings: { origins: ['https://app.example'] } })
    for (const origin of [
      'https://evil.example',
      'null',
      'https://app.example.evil.example',
      'https://evil-app.example',
      'http://app.example',
      'https://app.example:8443',
    ]) {
      for (const [method, more] of [
        ['GET', {}],
        ['OPTIONS', { 'access-control-request-method': 'PUT' }],
      ] as const) {
        const { fields } = await ask(method, '/api/v1/products', { origin, ...more })
        assert.equal(fields['access-control-allow-origin'], undefined, origin)
      }
    }
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { fields } = await ask(method, '/api/v1/products', {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
      })
      assert.equal(fields['access-control-allow-origin'], 'https://app.example')
      assert.equal(fields['access-control-allow-credentials'], undefined)
      assert.match(String(fields['vary']), /Origin/)
    }
  })

  test('an idempotency key of another caller reveals nothing', async () => {
    const key = { 'idempotency-key': '"shared"' }
    const mine = await house.ask('POST', '/api/v1/orders', { ...people.clara, ...json, ...key }, JSON.stringify(order))
    const other = await house.ask('POST', '/api/v1/orders', { ...people.alice, ...json, ...key }, JSON.stringify(order))
    assert.deepEqual([mine.status, other.status], [201, 201])
    assert.notEqual(mine.fields['location'], other.fields['location'])
    house.lines.length = 0
  })

  test('10,000 idle connections do not prevent service, and are closed', async () => {
    const { server, ask } = await startHosted({ limits: { connections: 2000, idle: 500, head: 500 } })
    const sockets: Socket[] = []
    for (let i = 0; i < 10_000; i += 500) {
      const more = Array.from({ length: 500 }, () => connect(server.port, '127.0.0.1').on('error', () => {}))
      sockets.push(...more)
      await Promise.all(
        more.map(socket => new Promise(resolve => socket.once('connect', resolve).once('close', resolve))),
      )
    }
    for (let tries = 0, status = 0; status !== 200; tries++) {
      assert.ok(tries < 500, 'nobody is served')
      status = await ask('GET', '/health/live').then(
        answer => answer.status,
        () => 0,
      )
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    for (const socket of sockets) socket.destroy()
  })

  test('slow fields and slow content end in 408, and delay no one else', async () => {
    const slow = await startHosted({ limits: { head: 300, stall: 300, request: 1000 } })
    const head = [
      'POST /api/v1/orders HTTP/1.1',
      'Host: a',
      `Authorization: ${people.clara.authorization}`,
      'Content-Type: application/json',
    ]
    const drip = exchangeOctets(slow.server.port, ['GET / HTTP/1.1\r\nA: ', 200, 'b', 200, 'b', 200, 'b'], 'end')
    const body = exchangeOctets(
      slow.server.port,
      [`${head.join('\r\n')}\r\nContent-Length: 99999\r\n\r\n`, '{', 100, '"', 500, 'a'],
      'end',
    )
    await answersAtOnce(slow)
    assert.deepEqual(statuses((await drip).text), [408])
    assert.deepEqual(statuses((await body).text), [408])
  })
})

async function answersAtOnce({ ask, server }: Hosted): Promise<void> {
  const token = await server.token('clara', ['clerk'])
  const began = performance.now()
  assert.equal((await ask('GET', at, bearer(token))).status, 200)
  assert.ok(performance.now() - began < 10_000)
}

describe('regular expressions and loops on hostile text of 300 KB', () => {
  const much = 300_000
  const texts: readonly (readonly [string, string])[] = [
    ['blanks inside', `a${' '.repeat(much)}b`],
    ['zeros inside', `1.${'0'.repeat(much)}1`],
    ['digits', `${'9'.repeat(much)}x`],
    ['fractions of a second', `2026-01-01T00:00:00.${'0'.repeat(much)}1Z`],
    ['parts of a duration', `P${'1Y'.repeat(much / 2)}`],
    ['hexadecimal', `${'ab'.repeat(much / 2)}x`],
    ['base64 with blanks', 'ab cd'.repeat(much / 5)],
  ]
  const fields = {
    boolean: t.boolean(),
    int: t.int(),
    long: t.long(),
    decimal: t.decimal(12, 2),
    double: t.double(),
    bytes: t.bytes(),
    id: t.id('o'),
    date: t.date(),
    dateTime: t.dateTime(),
    duration: t.duration(),
    token: t.string({ xsd: 'token' }),
    uri: t.string({ xsd: 'anyURI' }),
  }
  const readers: readonly (readonly [string, (text: string) => unknown])[] = [
    ...Object.entries(fields).map(([kind, { shape }]) => {
      assert.ok(isScalar(shape))
      return [kind, (text: string) => readScalar(shape, text)] as const
    }),
    ['instant', instantKey],
    ['JSON', parseJson],
    ['JSON text', text => parseJson(JSON.stringify(text))],
  ]
  for (const [name, reader] of readers)
    test(name, async () => {
      for (const [what, text] of texts) await assertCpuMsBelow(100, () => reader(text), what)
    })
})

describe('attacks that another test holds', () => {
  const held: readonly [attack: string, file: string, title: string][] = [
    ['H2 contradicting lengths', 'server/request', 'RFC 9112 §6.3: two lengths that differ'],
    ['H2 a list of lengths', 'server/request', 'RFC 9112 §6.3: a list of lengths'],
    ['H6 CR LF in a field', 'server/request', 'RFC 9110 §5.5: a bare CR in a field value'],
    ['H7 the action in the media type', 'soap/http-binding', 'H7 1.2: an action of another operation'],
    ['H8 Expect and content', 'server/content', 'RFC 9110 §10.1.1: content arrives after 100'],
    ['H9 an error of ours', 'host/secrets', 'an internal error is a line with the incident'],
    ['request smuggling: CL.TE', 'server/request', 'RFC 9112 §6.1: length and coding (CL.TE)'],
    ['request smuggling: TE.CL', 'server/request', 'RFC 9112 §6.1: coding and length (TE.CL)'],
    ['request smuggling: TE.TE', 'server/request', 'RFC 9112 §6.3: a coding that hides chunked (TE.TE)'],
    ['slow fields', 'server/clock', 'slow fields → 408'],
    ['idle connections', 'server/clock', 'peers.md 15: 200 stalled connections of all kinds are closed soon'],
    ['HTTP/2 rapid reset', 'server/http2', 'rapid reset: the application is hardly called'],
    ['HTTP/2 settings flood', 'server/http2', 'SETTINGS'],
    ['HTTP/2 CONTINUATION flood', 'server/http2', 'CONTINUATION flood'],
    ['open redirects', 'identity/credentials', 'open redirects: after signing in to'],
    ['CSRF', 'identity/credentials', 'CSRF: a change by cookie from'],
    ['JWT none', 'identity/bearer-token', 'JWT alg none'],
    ['JWT key confusion', 'identity/bearer-token', 'JWT key confusion: HS256 by the public key'],
    ['JWT issuer', 'identity/bearer-token', 'JWT wrong issuer'],
    ['JWT audience', 'identity/bearer-token', 'JWT wrong audience'],
    ['JWT times', 'identity/bearer-token', 'JWT expired'],
    ['JWT kid traversal', 'identity/bearer-token', 'JWT kid traversal'],
    ['lockout', 'identity/credentials', 'lockout after ten failures'],
    ['names that are not known', 'identity/credentials', 'an unknown name takes as long as a wrong password'],
    ['handlers that make each other', 'service/handler-writes', 'handlers that make each other do not go on for ever'],
    ['handlers in a circle', 'service/handler-writes', 'a handler does not change the item whose handler it is'],
    ['a queue filled by handlers', 'host/handlers', 'a caller whose handlers fill the queue is told 429'],
    ['jobs of the service alone', 'host/handlers', 'a job without grants has no address'],
    ['credentials in lines of handlers', 'host/handlers', 'and no credential'],
    ['half of a connection', 'host/handlers', 'RFC 9112 §9.6 a client that has closed its own side alone'],
    ['S8 a circle of references', 'soap/encoding', 'S8 a circle of references'],
    ['S8 references that multiply', 'soap/encoded-arrays', '§5.4.2 sparse arrays that are referred to count each time'],
    ['S8 arrays of nothing', 'soap/encoded-arrays', 'sizes of nothing'],
    ['S8 an item far behind', 'soap/encoded-arrays', 'a far place'],
    ['M2 a flood of parts', 'soap/attachment', 'M2 10,000 parts'],
    ['M2 a flood of fields', 'soap/attachment', 'M2 10,000 fields'],
    ['M2 two parts of one name', 'soap/attachment', 'two parts have the same Content-ID'],
    ['M2, S8 in one run against the endpoints', 'check/mutants', 'in memory all pass, except those that need a socket'],
    ['M2 a part without end, behind a bridge', 'bridge/passing-answers', 'a part without end'],
    ['M2 a part that trickles, behind a bridge', 'bridge/passing-answers', 'octets that trickle'],
    ['a form that is cut before a bridge', 'bridge/passing-uploads', 'a client that leaves in the middle'],
    ['a form without end, before a bridge', 'bridge/passing-uploads', 'more octets than may pass'],
    ['a file that is cut behind a bridge', 'bridge/passing-answers', 'a connection that is lost in the middle'],
    ['races for one version', 'rest/races', 'A4.20 twenty PUTs with one tag'],
    ['races to make what there is one of', 'host/singles', 'of first PUTs at once one makes it'],
    ['a second one of what there is one of', 'host/singles', 'an identifier makes no second one'],
  ]
  for (const [attack, file, title] of held)
    test(`${attack}: ${file}`, () => {
      const source = readFileSync(join(import.meta.dirname, '..', `${file}.test.ts`), 'utf8')
      assert.ok(source.includes(title), `${file}.test.ts has no "${title}"`)
    })
})

test('the tests that SECURITY.md names exist', () => {
  const root = join(import.meta.dirname, '..', '..')
  const named = [...readFileSync(join(root, 'SECURITY.md'), 'utf8').matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)]
  assert.ok(named.length > 20)
  for (const [, file = ''] of named) assert.ok(existsSync(join(root, file)), file)
})
