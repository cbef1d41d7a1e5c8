import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  normalizePath,
  parseForm,
  parseHost,
  parsePath,
  parseQuery,
  parseTarget,
  percentDecode,
  percentEncode,
  writeQuery,
} from '../../src/http/uri.ts'
import { expandTemplate, type TemplateValues, templateVariables } from '../../src/http/uri-template.ts'
import { suites } from '../suites.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const host = { name: 'a.example' }
const targets: readonly [title: string, method: string, target: string, form: unknown][] = [
  ['§3.2.1 origin form', 'GET', '/orders/7?a=1&b', { form: 'origin', path: '/orders/7', query: 'a=1&b' }],
  ['§3.2.1 no query', 'GET', '/', { form: 'origin', path: '/' }],
  ['§3.2.1 an empty query', 'GET', '/?', { form: 'origin', path: '/', query: '' }],
  ['§3.2.1 a second question mark', 'GET', '/?a=?', { form: 'origin', path: '/', query: 'a=?' }],
  [
    '§3.2.1 // is a path, never an authority (H1)',
    'GET',
    '//evil.example/x',
    { form: 'origin', path: '//evil.example/x' },
  ],
  ['brackets in a query', 'GET', '/o?total[gte]=10', { form: 'origin', path: '/o', query: 'total[gte]=10' }],
  [
    '§3.2.2 absolute form',
    'GET',
    'http://A.example:80/x?y',
    { form: 'absolute', scheme: 'http', host: { ...host, port: 80 }, path: '/x', query: 'y' },
  ],
  ['§3.2.2 without a path', 'GET', 'https://a.example', { form: 'absolute', scheme: 'https', host, path: '/' }],
  [
    '§3.2.2 without a path, with a query',
    'GET',
    'HTTP://a.example?x',
    { form: 'absolute', scheme: 'http', host, path: '/', query: 'x' },
  ],
  ['§3.2.2 http://[ (H1)', 'GET', 'http://[', undefined],
  ['§3.2.2 without a host', 'GET', 'http:///x', undefined],
  ['§3.2.2 user information', 'GET', 'http://user@a.example/', undefined],
  ['§3.2.2 another scheme', 'GET', 'ftp://a.example/', undefined],
  ['§3.2.3 authority form', 'CONNECT', 'a.example:443', { form: 'authority', host: { ...host, port: 443 } }],
  ['§3.2.3 without a port', 'CONNECT', 'a.example', undefined],
  ['§3.2.3 for CONNECT only', 'GET', 'a.example:443', undefined],
  ['§3.2.3 CONNECT allows no other form', 'CONNECT', '/', undefined],
  ['§3.2.4 asterisk form', 'OPTIONS', '*', { form: 'asterisk' }],
  ['§3.2.4 for OPTIONS only (H1)', 'GET', '*', undefined],
  ['§3.2 a fragment', 'GET', '/a#b', undefined],
  ['§3.2 a fragment in a query', 'GET', '/a?b#c', undefined],
  ['§3.2 white space', 'GET', '/a b', undefined],
  ['§3.2 white space before a slash', 'GET', '/a b/c', undefined],
  ['§3.2 something before the scheme', 'GET', 'xhttp://a.example/', undefined],
  ['§3.2 a caret in a query', 'GET', '/?^', { form: 'origin', path: '/', query: '^' }],
  ['§3.2 a line break', 'GET', '/a\r\nX: y', undefined],
  ['§3.2 a line break at the end', 'GET', '/a\n', undefined],
  ['§3.2 beyond ASCII', 'GET', '/é', undefined],
  ['§3.2 a backslash in a path', 'GET', '/a\\b', undefined],
  ['§3.2 %zz (a 500 elsewhere)', 'GET', '/%zz', undefined],
  ['§3.2 a cut escape', 'GET', '/a%2', undefined],
  ['§3.2 a cut escape in a query', 'GET', '/a?b=%', undefined],
  ['§3.2 relative', 'GET', 'orders', undefined],
  ['§3.2 nothing', 'GET', '', undefined],
]

for (const [title, method, target, form] of targets)
  test(`RFC 9112 ${title}`, () => assert.deepEqual(parseTarget(method, target), form))

const hosts: readonly [field: string, host: unknown][] = [
  ['A.Example', host],
  ['a.example:8080', { ...host, port: 8080 }],
  ['a.example:', host],
  ['a.example:65535', { ...host, port: 65_535 }],
  ['255.255.255.255', { name: '255.255.255.255' }],
  ['x256.1.1.1', { name: 'x256.1.1.1' }],
  ['256.1.1.1.example', { name: '256.1.1.1.example' }],
  ['127.0.0.1:80', { name: '127.0.0.1', port: 80 }],
  ['[::1]', { name: '[::1]' }],
  ['[2001:DB8::1]:443', { name: '[2001:db8::1]', port: 443 }],
  ['a_b', { name: 'a_b' }],
  ['a%20b', { name: 'a%20b' }],
  ['', undefined],
  [':80', undefined],
  ['a.example:65536', undefined],
  ['a.example:8o', undefined],
  ['a.example, b.example', undefined],
  ['a.example,b.example', undefined],
  ['user@a.example', undefined],
  ['a.example/x', undefined],
  ['a.example#', undefined],
  ['a b', undefined],
  ['[::1', undefined],
  ['[::1]x', undefined],
  ['::1', undefined],
  ['[]', undefined],
  ['256.1.1.1', undefined],
  ['01.1.1.1', { name: '01.1.1.1' }],
  ['[::01.1.1.1]', undefined],
  ['[::ffff:1.2.3.4]', { name: '[::ffff:1.2.3.4]' }],
  ['[v1.a:b]', { name: '[v1.a:b]' }],
  ['[:::]', undefined],
  ['[1::2::3]', undefined],
  ['[1:2:3:4:5:6:7]', undefined],
  ['[::1.2.3.4:5]', undefined],
  ['[fe80::1%25eth0]', undefined],
]

for (const [field, expected] of hosts)
  test(`RFC 9110 §7.2 Host ${JSON.stringify(field)}`, () => assert.deepEqual(parseHost(field), expected))

test('RFC 3986 §3.2.2 an IPv6 address is one as operating systems read it', () => {
  const piece = fc.constantFrom(':', '::', '1', '0db8', 'ff', '12345', '1.2.3.4', '1.2.3.256', '1.2.3.04', 'g', '.')
  const text = fc.oneof(
    fc.array(piece, { maxLength: 17 }).map(pieces => pieces.join('')),
    fc.array(fc.constantFrom('0', '1', 'ffff', ''), { minLength: 2, maxLength: 9 }).map(groups => groups.join(':')),
    fc.ipV6(),
  )
  const law = fc.property(text, each => assert.equal(parseHost(`[${each}]`) !== undefined, isIPv6(each), each))
  fc.assert(law, { numRuns: 2000 })
})

const paths: readonly [title: string, path: string, segments: readonly string[] | undefined, clean?: boolean][] = [
  ['§3.3 segments', '/orders/7', ['orders', '7'], true],
  ['§3.3 the root', '/', [''], true],
  ['§3.3 a slash at the end', '/orders/', ['orders', ''], true],
  ['§2.1 escapes are decoded', '/caf%C3%A9/a%20b', ['café', 'a b'], true],
  ['§2.1 and + is itself in a path', '/a+b', ['a+b'], true],
  ['§2.2 %2F is data', '/a%2Fb', ['a/b'], true],
  ['§2.2 %5c is data', '/a%5cb', ['a\\b'], true],
  ['§2.4 decoded once', '/%2541', ['%41'], true],
  ['§5.2.4 .', '/a/./b', ['a', 'b'], false],
  ['§5.2.4 ..', '/a/../b', ['b'], false],
  ['§5.2.4 .. above the root', '/../../etc', ['etc'], false],
  ['§5.2.4 .. at the end', '/a/b/..', ['a', ''], false],
  ['§6.2.2.2 %2e%2E', '/a/%2e%2E/b', ['b'], false],
  ['§6.2.2.2 .%2e', '/a/.%2e', [''], false],
  ['..%2f is a name', '/a/..%2fb', ['a', '../b'], true],
  ['three dots are a name', '/...', ['...'], true],
  ['//', '//a//b', ['a', 'b'], false],
  ['§5.2.4 .. removes an empty segment', '/a//../b', ['a', 'b'], false],
  ['§5.2.4 .. removes an empty segment at the end', '/a//..', ['a', ''], false],
  ['%00', '/a%00', undefined],
  ['%0d%0a', '/a%0d%0a', undefined],
  ['%7f', '/%7f', undefined],
  ['%c2%85', '/%c2%85', undefined],
  ['%ff is not UTF-8', '/%ff', undefined],
  ['%c0%af is overlong', '/%c0%af', undefined],
  ['%ed%a0%80 is a surrogate', '/%ed%a0%80', undefined],
  ['%zz', '/%zz', undefined],
  ['__proto__ is a name', '/__proto__', ['__proto__'], true],
]

for (const [title, path, segments, clean] of paths)
  test(`RFC 3986 ${title}: ${path}`, () => assert.deepEqual(parsePath(path), segments && { segments, clean }))

test('RFC 3986 §6.2.2 normalizing twice is the same as once, and changes no segment', () => {
  const piece = fc.constantFrom('/', '/.', '/..', '/%2e', '/a', '/%61', '/%2F', '/%C3%A9', '/a:b@c', '/;x', '//')
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1 }), pieces => {
      const once = normalizePath(pieces.join(''))!
      assert.equal(normalizePath(once), once)
      assert.deepEqual(parsePath(once), { segments: parsePath(pieces.join(''))!.segments, clean: true })
    }),
  )
})

test('RFC 3986 §6.2.2 equivalent targets have one spelling', () => {
  assert.equal(normalizePath('/%7Ea/%c3%a9/%2f/./b:c'), '/~a/%C3%A9/%2F/b:c')
})

const queries: readonly [title: string, query: string, pairs: unknown][] = [
  [
    'pairs in order, names again',
    'b=1&a=2&b=3',
    [
      ['b', '1'],
      ['a', '2'],
      ['b', '3'],
    ],
  ],
  ['nothing', '', []],
  [
    'no value',
    'a&b=',
    [
      ['a', ''],
      ['b', ''],
    ],
  ],
  ['no name', '=1', [['', '1']]],
  ['empty pieces', '&&a=1&', [['a', '1']]],
  ['the first = divides', 'a=b=c', [['a', 'b=c']]],
  ['+ and %20', 'a+b=c%20d', [['a b', 'c d']]],
  ['%2B is +, %26 is data', 'a=%2B%26', [['a', '+&']]],
  [
    'brackets',
    'total[gte]=10&total%5Blt%5D=20',
    [
      ['total[gte]', '10'],
      ['total[lt]', '20'],
    ],
  ],
  ['UTF-8', 'q=caf%C3%A9', [['q', 'café']]],
  ['__proto__ is a name', '__proto__=1', [['__proto__', '1']]],
  ['a line break is data', 'note=a%0D%0Ab', [['note', 'a\r\nb']]],
  ['%zz', 'a=%zz', undefined],
  ['a cut escape', 'a=%4', undefined],
  ['not UTF-8', '%ff=1', undefined],
  ['NUL', 'a=%00', undefined],
]

for (const [title, query, pairs] of queries) test(`query: ${title}`, () => assert.deepEqual(parseQuery(query), pairs))

test('query: no more pairs than the limit', () => {
  assert.equal(parseQuery('a&'.repeat(3), 3)?.length, 3)
  assert.equal(parseQuery('a&'.repeat(4), 3), undefined)
  assert.equal(parseQuery('&'.repeat(4), 3)?.length, 0)
  assert.deepEqual(parseQuery(`${'&'.repeat(4)}a=1&&b=2`, 3), [
    ['a', '1'],
    ['b', '2'],
  ])
  assert.equal(parseQuery(`${'&'.repeat(4)}${'a&'.repeat(4)}`, 3), undefined)
})

test('form: the octets are UTF-8', () => {
  assert.deepEqual(parseForm(new TextEncoder().encode('a=é+%C3%A9')), [['a', 'é é']])
  assert.deepEqual(parseForm(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61)), [['\ufeffa', '']])
  assert.equal(parseForm(Uint8Array.of(0x61, 0x3d, 0xff)), undefined)
  assert.equal(parseForm(new TextEncoder().encode('a&b'), 1), undefined)
})

test('query: written and parsed is the same', () => {
  const text = fc.string({ unit: 'grapheme' })
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), pairs => {
      const given = pairs.filter(([name, value]) => name.isWellFormed() && value.isWellFormed())
      assert.deepEqual(parseQuery(writeQuery(given)), given)
    }),
  )
})

test('RFC 3986 §2.1 encoded and decoded is the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      fc.pre(!/[\0-\x1f\x7f-\x9f]/.test(text))
      assert.match(percentEncode(text), /^[A-Za-z0-9\-._~%]*$/)
      assert.equal(percentDecode(percentEncode(text)), text)
    }),
  )
  assert.equal(percentEncode('\ud800'), '%EF%BF%BD')
})

test('hostile targets are read in linear time', async () => {
  for (const target of [
    `/${'%2e%2e/'.repeat(10_000)}`,
    '/'.repeat(64_000),
    `/?${'&'.repeat(64_000)}`,
    `http://${'a'.repeat(64_000)}`,
    `/${'%41'.repeat(20_000)}`,
  ]) {
    const parseAll = () => {
      const found = parseTarget('GET', target)
      if (found?.form === 'origin') normalizePath(found.path)
      if (found?.form === 'origin') parseQuery(found.query ?? '')
    }
    await assertCpuMsBelow(2000, parseAll, target.slice(0, 10))
  }
})

type Group = {
  readonly variables: TemplateValues
  readonly testcases: readonly [template: string, result: string | readonly string[] | false][]
}

const folder = suites('uri-template')
for (const file of folder === undefined ? [] : readdirSync(folder).filter(each => each.endsWith('.json')))
  for (const [name, { variables, testcases }] of Object.entries(
    JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Readonly<Record<string, Group>>,
  ))
    for (const [template, result] of testcases)
      test(`RFC 6570 ${name}: ${template}`, () => {
        const text = expandTemplate(template, variables)
        if (result === false) assert.equal(text, undefined)
        else assert.ok([result].flat().includes(text!), `${text}`)
      })

const given: TemplateValues = {
  text: 'a b/%41%',
  none: null,
  empty: [],
  hole: ['a', null, 'b'],
  number: 7,
  yes: true,
  grin: '😀é',
  coded: '%E2%82%ac%f0%9F%98%80%C3%28%2F😀%%4',
  blank: '',
  names: { a: 1, b: undefined, 'c d': 'e/f' },
}
const templates: readonly [title: string, template: string, text: string | undefined][] = [
  ['§3.2.2 escapes are encoded again', '{text}', 'a%20b%2F%2541%25'],
  ['§3.2.3 reserved keeps escapes', '{+text}', 'a%20b/%41%25'],
  ['§3.2.1 undefined, null and empty lists are left out', 'x{?none,absent,empty,number}', 'x?number=7'],
  ['§3.2.1 nothing defined: not even the operator', 'x{?none}{/none}{#none}', 'x'],
  ['§3.2.1 undefined members are left out', '{hole}{?hole*}{&names*}', 'a,b?hole=a&hole=b&a=1&c%20d=e%2Ff'],
  ['§2.4.1 a prefix counts characters', '{grin:1}', '%F0%9F%98%80'],
  ['§2.4.1 Appendix A a kept escape is not split', '{+coded:1}{#coded:2}', '%E2%82%ac#%E2%82%ac%f0%9F%98%80'],
  ['§2.4.1 Appendix A escapes that are no UTF-8', '{+coded:4}', '%E2%82%ac%f0%9F%98%80%C3%28'],
  ['§2.4.1 Appendix A beside others', '{+coded:7}', '%E2%82%ac%f0%9F%98%80%C3%28%2F%F0%9F%98%80%25'],
  ['§2.4.1 an escape that is none is characters', '{coded:3}', '%25E2'],
  ['§3.2.7 an empty value: ; without, ? with =', '{;blank}{?blank}', ';blank?blank='],
  ['numbers and booleans', '{number}{.yes}', '7.true'],
  ['§2.1 literals beyond ASCII', '/é/{number}', '/%C3%A9/7'],
  ['inherited names are not values', '{constructor}{toString}', ''],
  ['§3 a lone percent sign', '100%', undefined],
  ['§3 a space', 'a b', undefined],
  ['§3 a caret', 'a^b', undefined],
  ['§3 no name', '{}', undefined],
  ['§3 a prefix of more than four digits', '{number:10000}', undefined],
  ['§3 a prefix of a list', '{hole:1}', undefined],
]

for (const [title, template, text] of templates)
  test(`RFC 6570 ${title}`, () => assert.equal(expandTemplate(template, given), text))

test('RFC 6570 the variables of a template (A2.4)', () => {
  assert.deepEqual(templateVariables('/search{?q,page*}{&q,sort:3}'), ['q', 'page', 'sort'])
  assert.equal(templateVariables('/search{?q'), undefined)
})

test('hostile templates are read in linear time', async () => {
  for (const template of [
    '{'.repeat(100_000),
    `{${'a'.repeat(100_000)}`,
    `{${'a.'.repeat(50_000)}`,
    `{${'a,'.repeat(50_000)}`,
    '{a}'.repeat(30_000),
  ]) {
    await assertCpuMsBelow(2000, () => expandTemplate(template, given), template.slice(0, 5))
  }
})
