import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyForwarded, proxyFieldsOf } from '../../src/front/forwarded.ts'
import { noContent, type Request } from '../../src/http/message.ts'

const proxy = {
  method: 'GET',
  target: '/',
  content: noContent,
  scheme: 'http',
  version: '1.1',
  from: '10.0.0.1',
} as const
const host = 'inside:8080'
const unchanged = ['10.0.0.1', 'http', host]

const rows: readonly [title: string, fields: Readonly<Record<string, string>>, is: readonly string[]][] = [
  ['nothing is said', {}, unchanged],
  [
    '§4  for, proto, host',
    { forwarded: 'for=192.0.2.1;proto=https;host=shop.example' },
    ['192.0.2.1', 'https', 'shop.example'],
  ],
  ['§4  names are case-insensitive', { forwarded: 'For=192.0.2.1; Proto=HTTPS' }, ['192.0.2.1', 'https', host]],
  ['§4  for alone', { forwarded: 'for=192.0.2.1' }, ['192.0.2.1', 'http', host]],
  ['§4  host alone', { forwarded: 'host=shop.example' }, ['10.0.0.1', 'http', 'shop.example']],
  ['§6  IPv6 with its port', { forwarded: 'for="[2001:db8::1]:4711"' }, ['2001:db8:0:0::/64', 'http', host]],
  ['§6  IPv4 with its port', { forwarded: 'for="192.0.2.1:4711"' }, ['192.0.2.1', 'http', host]],
  ['§6.3 an obfuscated node', { forwarded: 'for=_hidden' }, ['_hidden', 'http', host]],
  [
    '(1) the last element is the proxy’s',
    { forwarded: 'for=127.0.0.1;proto=https, for=192.0.2.1' },
    ['192.0.2.1', 'http', host],
  ],
  ['(1) a quote left open swallows it: nobody is believed', { forwarded: 'for="a, for=192.0.2.1' }, unchanged],
  ['§4  a parameter twice is malformed', { forwarded: 'for=127.0.0.1;for=192.0.2.1' }, unchanged],
  [
    'X-Forwarded-*',
    { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'shop.example' },
    ['192.0.2.1', 'https', 'shop.example'],
  ],
  ['(1) the last of X-Forwarded-For', { 'x-forwarded-for': '127.0.0.1, 192.0.2.1' }, ['192.0.2.1', 'http', host]],
  [
    '(1) X-Forwarded-For has no quotes: one left open swallows nothing',
    { 'x-forwarded-for': '"a, 192.0.2.1', 'x-forwarded-proto': '"a, https' },
    ['192.0.2.1', 'https', host],
  ],
  ['X-Forwarded-For has IPv6 bare', { 'x-forwarded-for': '2001:db8::1' }, ['2001:db8:0:0::/64', 'http', host]],
  ['X-Forwarded-For with a port', { 'x-forwarded-for': '192.0.2.1:99' }, ['192.0.2.1', 'http', host]],
  ['X-Forwarded-For empty', { 'x-forwarded-for': '' }, unchanged],
  ['an unknown scheme', { 'x-forwarded-proto': 'gopher' }, unchanged],
  ['a host that is none', { 'x-forwarded-host': 'a b' }, unchanged],
  [
    'X-Forwarded-For has IPv6: a client is its /64',
    { 'x-forwarded-for': '2001:db8:1:2:3::4' },
    ['2001:db8:1:2::/64', 'http', host],
  ],
  ['X-Forwarded-For has IPv4 in IPv6', { 'x-forwarded-for': '::ffff:192.0.2.1' }, ['192.0.2.1', 'http', host]],
]

const said = ({ from, scheme, fields }: Request) => [from, scheme, fields['host']]
const kindOf = (fields: Readonly<Record<string, string>>) => ('forwarded' in fields ? 'forwarded' : 'x-forwarded')

for (const [title, fields, expected] of rows) {
  test(`RFC 7239 ${title}`, () => {
    const request: Request = { ...proxy, fields: { host, ...fields } }
    assert.deepEqual(said(applyForwarded(request, kindOf(fields))), expected)
  })
}

/** The other kind, which a client may have sent through the proxy. */
const lies = {
  'x-forwarded': { forwarded: 'for=127.0.0.1;proto=https;host=evil.example' },
  forwarded: { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' },
} as const
for (const [title, fields, expected] of rows) {
  test(`RFC 7239 §8.1 the other kind of fields changes nothing: ${title}`, () => {
    const kind = kindOf(fields)
    const request: Request = { ...proxy, fields: { host, ...fields, ...lies[kind] } }
    assert.deepEqual(said(applyForwarded(request, kind)), expected)
  })
}

test('the setting names the kind: true is X-Forwarded-*', () => {
  const table = [
    [false, undefined],
    [true, 'x-forwarded'],
    ['x-forwarded', 'x-forwarded'],
    ['forwarded', 'forwarded'],
  ] as const
  for (const [trustProxy, kind] of table) assert.equal(proxyFieldsOf({ trustProxy }), kind)
})

test('the proxy’s certificate proves nothing about the client; without a proxy it is the client’s', () => {
  const certificate = new Uint8Array(1)
  const asked: Request = { ...proxy, certificate, fields: { host } }
  assert.equal(applyForwarded(asked, 'forwarded').certificate, certificate)
  const named: Request = { ...asked, fields: { host, forwarded: 'for=192.0.2.1' } }
  assert.equal(applyForwarded(named, 'forwarded').certificate, undefined)
})

test('RFC 9110 §7.4 the scheme that HTTP/2 states behind a trusted proxy is that of the proxy', () => {
  const targetOf = (more: Partial<Request>) =>
    applyForwarded({ ...proxy, fields: { host }, ...more }, 'x-forwarded').target
  assert.equal(targetOf({ version: '2', target: 'https://a/b?c=https://d/' }), '/b?c=https://d/')
  assert.equal(targetOf({ version: '2', target: '*' }), '*')
  assert.equal(targetOf({ target: 'https://a/b' }), 'https://a/b')
})
