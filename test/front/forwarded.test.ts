import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyForwarded } from '../../src/front/forwarded.ts'
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
  ['§6  IPv6 with its port', { forwarded: 'for="[2001:db8::1]:4711"' }, ['2001:db8::1', 'http', host]],
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
  ['X-Forwarded-For has IPv6 bare', { 'x-forwarded-for': '2001:db8::1' }, ['2001:db8::1', 'http', host]],
  ['X-Forwarded-For with a port', { 'x-forwarded-for': '192.0.2.1:99' }, ['192.0.2.1', 'http', host]],
  ['X-Forwarded-For empty', { 'x-forwarded-for': '' }, unchanged],
  ['an unknown scheme', { 'x-forwarded-proto': 'gopher' }, unchanged],
  ['a host that is none', { 'x-forwarded-host': 'a b' }, unchanged],
  [
    '(2) both, of one mind',
    { forwarded: 'for=192.0.2.1;proto=https', 'x-forwarded-for': '192.0.2.1' },
    ['192.0.2.1', 'https', host],
  ],
  [
    '(2) both, of two minds',
    { forwarded: 'for=127.0.0.1;proto=https', 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'http' },
    unchanged,
  ],
]

for (const [title, fields, expected] of rows) {
  test(`RFC 7239 ${title}`, () => {
    const request = applyForwarded({ ...proxy, fields: { host, ...fields } })
    assert.deepEqual([request.from, request.scheme, request.fields['host']], expected)
  })
}

test('the proxy’s certificate proves nothing of the client; without a proxy it is the client’s', () => {
  const certificate = new Uint8Array(1)
  const asked: Request = { ...proxy, certificate, fields: { host } }
  assert.equal(applyForwarded(asked).certificate, certificate)
  assert.equal(applyForwarded({ ...asked, fields: { host, forwarded: 'for=192.0.2.1' } }).certificate, undefined)
})
