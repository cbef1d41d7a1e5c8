import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  basicCredentials,
  bearerToken,
  parseChallenges,
  parseCredentials,
  writeBasic,
  writeChallenges,
} from '../../src/http/authorization.ts'
import { parseCookies, writeCookie } from '../../src/http/cookie.ts'
import { proveCredentials } from '../../src/http/credentials.ts'
import { isFieldValue } from '../../src/http/fields.ts'
import { parsePrefer, writePreferences } from '../../src/http/prefer.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const credentials: readonly [title: string, field: string, expected: unknown][] = [
  ['§11.4 a token68', 'Bearer abc.def-_~+/==', { scheme: 'bearer', token68: 'abc.def-_~+/==', parameters: {} }],
  ['§11.4 parameters', 'Digest user="a,b", qop=auth', { scheme: 'digest', parameters: { user: 'a,b', qop: 'auth' } }],
  ['§11.2 white space around =', 'X a = "b" , c=d', { scheme: 'x', parameters: { a: 'b', c: 'd' } }],
  ['§11.4 a scheme alone', 'Negotiate', { scheme: 'negotiate', parameters: {} }],
  ['§11.2 a name twice', 'X a=b, A=c', undefined],
  ['§11.2 two values', 'X a=b c', undefined],
  ['§11.2 no name', 'X =b', undefined],
  ['§11.2 no value', 'X a=b, c', undefined],
  ['§11.4 no scheme', '=', undefined],
  ['§11.4 a tab', 'Bearer\tabc', undefined],
  ['§11.4 two tokens', 'Bearer abc def', undefined],
  ['nothing', '', undefined],
]

for (const [title, field, expected] of credentials)
  test(`RFC 9110 ${title}: ${field}`, () => {
    const found = parseCredentials(field)
    assert.deepEqual(found && { ...found, parameters: { ...found.parameters } }, expected)
  })

const bearers: readonly [field: string, token: string | undefined][] = [
  ['Bearer mF_9.B5f-4.1JqM', 'mF_9.B5f-4.1JqM'],
  ['bearer  a==', 'a=='],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer a b', undefined],
  ['Bearer a,b', undefined],
  ['Bearer a=b', undefined],
  ['Bearer a\n', undefined],
  ['Basic a', undefined],
  ['Bearera', undefined],
  ['xBearer a', undefined],
]

for (const [field, token] of bearers)
  test(`RFC 6750 §2.1 (A5.1) ${JSON.stringify(field)}`, () => assert.equal(bearerToken(field), token))

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
const basics: readonly [title: string, field: string, expected: unknown][] = [
  ['§2 the RFC’s own', 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==', { user: 'Aladdin', password: 'open sesame' }],
  ['§2 without padding', 'basic YTpi', { user: 'a', password: 'b' }],
  ['§2 the first colon divides', basic('a:b:c'), { user: 'a', password: 'b:c' }],
  ['§2 both empty', basic(':'), { user: '', password: '' }],
  ['§2.1 UTF-8', basic('test:123£'), { user: 'test', password: '123£' }],
  ['§2 a byte order mark is of the user', basic('\ufeffa:b'), { user: '\ufeffa', password: 'b' }],
  ['§2 another scheme', 'xBasic YTpi', undefined],
  ['§2 no colon', basic('ab'), undefined],
  ['§2 a control character', basic('a:b\n'), undefined],
  ['§2 NUL', basic('a\0b:c'), undefined],
  ['§2.1 not UTF-8', 'Basic YTqj', undefined],
  ['§2 not base64', 'Basic a:b', undefined],
  ['§2 base64 of another alphabet', 'Basic YTp_', undefined],
  ['§2 an impossible length', 'Basic YTpiY', undefined],
]

for (const [title, field, expected] of basics)
  test(`RFC 7617 ${title} (A5.1)`, () => assert.deepEqual(basicCredentials(field), expected))

test('RFC 7617 §2 written and parsed', () => {
  const text = fc.string({ unit: 'grapheme' }).filter(text => !/[\0-\x1f\x7f:]/.test(text))
  fc.assert(
    fc.property(text, text, (user, password) => {
      assert.deepEqual(basicCredentials(writeBasic({ user, password })!), { user, password })
    }),
  )
  assert.equal(writeBasic({ user: 'a:b', password: '' }), undefined)
})

test('RFC 9110 §11.6.1 challenges written and parsed (A5.3)', () => {
  const challenges = [
    { scheme: 'Bearer', parameters: { realm: 'a "b", c', error: 'invalid_token' } },
    { scheme: 'Basic', parameters: { realm: 'x', charset: 'UTF-8' } },
  ]
  const field = writeChallenges(challenges)
  assert.equal(field, 'Bearer realm="a \\"b\\", c", error="invalid_token", Basic realm="x", charset="UTF-8"')
  assert.deepEqual(
    parseChallenges(field)?.map(({ scheme, parameters }) => ({ scheme, parameters: { ...parameters } })),
    challenges.map(({ scheme, parameters }) => ({ scheme: scheme.toLowerCase(), parameters })),
  )
})

const challenges: readonly [title: string, field: string, expected: unknown][] = [
  [
    'the RFC’s own',
    'Newauth realm="apps", type=1, title="Login to \\"apps\\"", Basic realm="simple"',
    [
      ['newauth', undefined, { realm: 'apps', type: '1', title: 'Login to "apps"' }],
      ['basic', undefined, { realm: 'simple' }],
    ],
  ],
  [
    'schemes alone, token68',
    'Negotiate, NTLM TlRM=, Basic realm = "x"',
    [
      ['negotiate', undefined, {}],
      ['ntlm', 'TlRM=', {}],
      ['basic', undefined, { realm: 'x' }],
    ],
  ],
  ['a parameter of nothing', 'realm="x"', undefined],
  ['a parameter after a token68', 'NTLM TlRM=, realm="x"', undefined],
  ['a name twice', 'Basic realm="x", realm="y"', undefined],
]

for (const [title, field, expected] of challenges)
  test(`RFC 9110 §11.6.1 ${title}`, () =>
    assert.deepEqual(
      parseChallenges(field)?.map(({ scheme, token68, parameters }) => [scheme, token68, { ...parameters }]),
      expected,
    ))

test('RFC 9110 §11.6.1 a challenge never splits a field', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii' }), realm =>
      assert.ok(isFieldValue(writeChallenges([{ scheme: 'Basic', parameters: { realm } }]))),
    ),
  )
})

test('RFC 6265 §4.2 cookies', () => {
  const found = parseCookies('a=1; b="x y" ;c=; =d; eee; a=2; __proto__=z; f=g=h')
  assert.deepEqual(
    [...found],
    [
      ['a', '1'],
      ['b', '"x y"'],
      ['c', ''],
      ['__proto__', 'z'],
      ['f', 'g=h'],
    ],
  )
})

const cookies: readonly [title: string, args: Parameters<typeof writeCookie>, field: string | undefined][] = [
  [
    '§4.1.1 all attributes',
    [
      'sid',
      'abc',
      {
        expires: 784_111_777_000,
        maxAge: 60,
        domain: 'a.example',
        path: '/',
        secure: true,
        httpOnly: true,
        sameSite: 'Lax',
      },
    ],
    'sid=abc; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Max-Age=60; Domain=a.example; Path=/; Secure; HttpOnly; SameSite=Lax',
  ],
  ['§4.1.1 an empty value', ['sid', '', { maxAge: 0 }], 'sid=; Max-Age=0'],
  ['§4.1.1 a semicolon in the value', ['sid', 'a; Domain=evil.example'], undefined],
  ['§4.1.1 a line break in the value', ['sid', 'a\r\nX: y'], undefined],
  ['§4.1.1 a semicolon in the path', ['sid', 'a', { path: '/; Domain=evil.example' }], undefined],
  ['§4.1.1 a line break in the domain', ['sid', 'a', { domain: 'a\r\nb' }], undefined],
  ['§4.1.1 no name', ['', 'a'], undefined],
  ['§4.1.1 = in the name', ['a=b', 'c'], undefined],
  ['6265bis §4.1.3.2 __Host-', ['__Host-sid', 'a', { secure: true, path: '/' }], '__Host-sid=a; Path=/; Secure'],
  [
    '6265bis §4.1.3.2 __Host- with a domain',
    ['__Host-sid', 'a', { secure: true, path: '/', domain: 'a.example' }],
    undefined,
  ],
  ['6265bis §4.1.3.2 __host- without the path', ['__host-sid', 'a', { secure: true }], undefined],
  ['6265bis §4.1.3.1 __Secure- that is not', ['__Secure-sid', 'a'], undefined],
  ['6265bis §5.6 SameSite=None', ['sid', 'a', { sameSite: 'None', secure: true }], 'sid=a; Secure; SameSite=None'],
  ['6265bis §4.1.3.1 __Secure-', ['__Secure-sid', 'a', { secure: true }], '__Secure-sid=a; Secure'],
  ['6265bis §5.6 SameSite=None that is not secure', ['sid', 'a', { sameSite: 'None' }], undefined],
]

for (const [title, args, field] of cookies) test(`RFC 6265 ${title}`, () => assert.equal(writeCookie(...args), field))

const preferences: readonly [
  title: string,
  field: string,
  found: Record<string, [value: string, parameters?: object]>,
][] = [
  ['§4.1 respond-async', 'respond-async', { 'respond-async': [''] }],
  ['§4.2 return', 'return=minimal', { return: ['minimal'] }],
  [
    '§2 several',
    'handling=lenient, wait=100, respond-async',
    { handling: ['lenient'], wait: ['100'], 'respond-async': [''] },
  ],
  ['§2 with a parameter', 'foo; bar; baz="a, b"', { foo: ['', { bar: '', baz: 'a, b' }] }],
  ['§2 white space around =', 'return = "minimal"', { return: ['minimal'] }],
  ['§2 an empty value is no value', 'foo, bar=, baz=""', { foo: [''], bar: [''], baz: [''] }],
  ['§2 empty parameters', 'foo=; ;bar ; baz = 1;', { foo: ['', { bar: '', baz: '1' }] }],
  ['§2 case-insensitive names', 'Return=Minimal', { return: ['Minimal'] }],
  ['§2 of two the first', 'return=minimal, return=representation', { return: ['minimal'] }],
  ['malformed ones are left out', '=x, a b, return="x, wait=1', {}],
  ['__proto__ is a name', '__proto__=x', { ['__proto__']: ['x'] }],
]

for (const [title, field, found] of preferences)
  test(`RFC 7240 ${title}`, () => {
    const read = Object.entries(parsePrefer(field)).map(([name, { value, parameters }]) => [
      name,
      value,
      Object.entries(parameters),
    ])
    assert.deepEqual(
      read,
      Object.entries(found).map(([name, [value, given = {}]]) => [name, value, Object.entries(given)]),
    )
  })

test('RFC 7240 §3 Preference-Applied', () => {
  assert.equal(
    writePreferences({ return: 'minimal', 'respond-async': '', wait: 'a b' }),
    'return=minimal, respond-async, wait="a b"',
  )
})

test('hostile credentials, cookies and preferences are read in linear time', async () => {
  for (const field of [
    `Bearer ${'a'.repeat(100_000)}!`,
    `Bearer ${' '.repeat(100_000)}`,
    `a${' '.repeat(100_000)}=`,
    `X ${'a=b,'.repeat(25_000)}`,
    `X a="${'\\"'.repeat(50_000)}`,
    ';'.repeat(100_000),
    `a${' ;'.repeat(50_000)}`,
    `Basic ${'a'.repeat(100_000)}`,
  ]) {
    const parseAll = () => {
      parseCredentials(field)
      bearerToken(field)
      basicCredentials(field)
      parseChallenges(field)
      parseCookies(field)
      parsePrefer(field)
    }
    await assertCpuMsBelow(2000, parseAll, field.slice(0, 10))
  }
})

const basicOfAda = 'Basic YWRhOmw=' // ada:l
const proofs: readonly (readonly [title: string, fields: Record<string, string>, proof: string | undefined])[] = [
  ['none', {}, undefined],
  ['a token (RFC 6750 §2.1)', { authorization: 'Bearer t' }, 'token t'],
  ['a password (RFC 7617 §2)', { authorization: basicOfAda }, 'password ada l'],
  ['a key in a field of its own', { 'api-key': 'k' }, 'key k'],
  ['a key as a scheme', { authorization: 'ApiKey k' }, 'key k'],
  ['a key as a scheme, without the key', { authorization: 'ApiKey' }, 'unusable'],
  ['a key as a scheme, with parameters', { authorization: 'ApiKey k=v' }, 'unusable'],
  ['an unknown scheme with a token68', { authorization: 'Negotiate k' }, 'unusable'],
  ['malformed', { authorization: '=' }, 'unusable'],
  ['two at once', { authorization: 'Bearer t', 'api-key': 'k' }, 'unusable'],
]
for (const [title, fields, proof] of proofs)
  test(`RFC 9110 §11.6.2 credentials of a request: ${title}`, () => {
    assert.equal(prove(fields, true), proof)
  })

test('RFC 7617 §4 a password is not read where it may not travel', () => {
  assert.equal(prove({ authorization: basicOfAda }, false), 'unusable')
})

function prove(fields: Record<string, string>, mayTravel: boolean): string | undefined {
  const request = { fields, from: '192.0.2.1' } as unknown as Parameters<typeof proveCredentials>[0]
  const prover = {
    bearer: (token: string) => `token ${token}`,
    password: (name: string, password: string) => `password ${name} ${password}`,
    key: (key: string) => `key ${key}`,
  }
  return proveCredentials(request, prover, { takesPassword: () => mayTravel, proofOf: () => undefined })
}
