/**
 * A service with unsafe settings does not start, and says why in one line; it starts once they are
 * mended.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { allowsSeededPasswords, ensureSafe, type SafetyOptions, Unsafe } from '../../src/host/safety.ts'
import { type ServeOptions, startService, startWorkers } from '../../src/host/serve.ts'
import { basic, startHosted } from './hosted-service.ts'

const tokens = { jwks: 'https://id.example/jwks', issuer: 'https://id.example' }

describe('a service does not start with', () => {
  const rows: readonly [string, SafetyOptions, RegExp][] = [
    ['all addresses, no credentials', { host: '0.0.0.0' }, /no credentials are configured/],
    ['all addresses of IPv6', { host: '::' }, /no credentials are configured/],
    ['a name that is not this machine', { host: 'api.example' }, /no credentials are configured/],
    ['a name that only looks like loopback', { host: '127.0.0.1.evil.example' }, /no credentials are configured/],
    ['a proxy on this machine', { settings: { trustProxy: true } }, /--trust-proxy.*no credentials are configured/],
    [
      'a proxy that writes Forwarded',
      { settings: { trustProxy: 'forwarded' } },
      /--trust-proxy.*no credentials are configured/,
    ],
    [
      'a public address that is not loopback',
      { settings: { publicUrl: 'https://shop.example' } },
      /shop\.example can be reached from other machines/,
    ],
    [
      'a proxy of another kind',
      { key: 'k', settings: { trustProxy: 'x-real-ip' as 'forwarded' } },
      /x-real-ip are unknown: use x-forwarded or forwarded/,
    ],
    ['tokens of any issuer', { tokens: { ...tokens, issuer: '' } }, /give --issuer/],
    ['tokens for anybody', { tokens: { ...tokens, audience: '' } }, /give --audience/],
    ['no algorithm', { tokens: { ...tokens, algorithms: [] } }, /no token algorithm would be accepted/],
    [
      'none as an algorithm',
      { tokens: { ...tokens, algorithms: ['none'] } },
      /the token algorithm none is not supported/,
    ],
    [
      'a secret as a key',
      { tokens: { ...tokens, algorithms: ['RS256', 'HS256'] } },
      /the token algorithm HS256 is not supported/,
    ],
    ['keys in cleartext', { tokens: { ...tokens, jwks: 'http://id.example/jwks' } }, /could be forged on the way/],
    ['keys at no address', { tokens: { ...tokens, jwks: 'https://' } }, /is not a valid address of a JWKS/],
    ['every origin', { settings: { origins: ['*'] } }, /the origin \* is invalid/],
    ['an origin with a path', { settings: { origins: ['https://app.example/'] } }, /the origin .* is invalid/],
    ['the origin of a sandbox', { settings: { origins: ['null'] } }, /the origin null is invalid/],
    [
      'a PROXY protocol of a version',
      { key: 'k', settings: { proxyProtocol: 'v2' as never } },
      /proxyProtocol is v2: use true/,
    ],
    [
      'a PROXY protocol for node:http',
      { key: 'k', http: 'node', settings: { proxyProtocol: true } },
      /leave out --http node, or --proxy-protocol/,
    ],
    [
      'a proxy that passes connections on',
      { settings: { proxyProtocol: true } },
      /behind a proxy \(--proxy-protocol\) can be reached from other machines/,
    ],
    ['a public address that is none', { settings: { publicUrl: 'ftp://x' } }, /is not an http or https address/],
  ]
  for (const [title, options, says] of rows)
    test(title, () =>
      assert.throws(
        () => ensureSafe(options),
        (thrown: unknown) => thrown instanceof Unsafe && says.test(thrown.message) && !thrown.message.includes('\n'),
      ),
    )
  test('SECURITY.md "on loopback alone": behind a proxy the example’s people do not count, whatever it says', async () => {
    const { ask, signIn } = await startHosted({ key: ':memory:', settings: { trustProxy: true } })
    const via = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https' }
    const answer = await ask('GET', '/api/v1/orders/o-1', { ...via, ...basic('clara', 'clara-secret') })
    assert.equal(answer.status, 401)
    assert.equal(await signIn('clara', 'clara-secret'), '')
  })
  test('serve itself refuses, before anything is opened', async () => {
    await assert.rejects(startHosted({ host: '0.0.0.0' }), Unsafe)
  })
})

test('SECURITY.md promise 3: folders and files that the service makes are for their owner only', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-modes-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'a', 'b', 'orders.sqlite')
  await startHosted({ data })
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  assert.deepEqual([mode(join(folder, 'a')), mode(join(folder, 'a', 'b'))], ['700', '700'])
  for (const name of readdirSync(join(folder, 'a', 'b'))) assert.equal(mode(join(folder, 'a', 'b', name)), '600', name)
})

describe('a service starts with', () => {
  const rows: readonly [string, SafetyOptions, seeded: boolean][] = [
    ['loopback', {}, true],
    ['loopback by name', { host: 'localhost' }, true],
    ['loopback as IPv4 in IPv6', { host: '::ffff:127.0.0.1' }, true],
    ['a public address that is loopback', { settings: { publicUrl: 'http://[::1]:8080/shop' } }, true],
    ['a proxy with a key of one’s own', { key: 'k', settings: { trustProxy: true } }, false],
    [
      'a public address with a key of one’s own',
      { key: 'k', settings: { trustProxy: true, publicUrl: 'https://shop.example' } },
      false,
    ],
    ['the PROXY protocol with a key of one’s own', { key: 'k', settings: { proxyProtocol: true } }, false],
    ['a proxy, knowing what it means', { insecure: true, settings: { trustProxy: true } }, true],
    ['all addresses with a JWKS', { host: '0.0.0.0', tokens }, false],
    ['all addresses with a key of one’s own', { host: '0.0.0.0', key: '/run/secrets/key' }, false],
    ['all addresses, knowing what it means', { host: '0.0.0.0', insecure: true }, true],
    ['loopback behind a gateway, with a JWKS', { tokens }, false],
    ['a JWKS in cleartext on loopback', { tokens: { ...tokens, jwks: 'http://127.0.0.1:1/jwks' } }, false],
  ]
  for (const [title, options, seeded] of rows)
    test(`${title}: the example’s people are ${seeded ? 'accepted' : 'refused'}`, () => {
      ensureSafe(options)
      assert.equal(allowsSeededPasswords(options), seeded)
    })
  test('in production the example’s passwords are refused, at any mount', async () => {
    const { ask, signIn, server } = await startHosted({ tokens: { ...tokens, jwks: 'http://127.0.0.1:1/jwks' } })
    assert.equal((await ask('GET', '/api/v1/orders/o-1', basic('clara', 'clara-secret'))).status, 401)
    assert.equal(await signIn('clara', 'clara-secret'), '')
    const local = await server.token('clara', ['clerk'])
    const { status } = await ask('GET', '/api/v1/orders/o-1', { authorization: `Bearer ${local}` })
    assert.equal(status, 503, 'the signer is out of reach, and the local key is not believed')
  })
})

test('an unknown option, as JavaScript may give it, a wrong number and a mistaken sink end the start', async () => {
  const sink = (name: string, ...resources: string[]) => ({ name, resources, deliver: async () => {} })
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ prot: 1 }, /^the options of serve: unknown member "prot": use host, port, data/],
    [{ settings: { trustProxies: true } }, /^the option settings: unknown member "trustProxies": use publicUrl/],
    [{ limits: { conections: 1 } }, /^the option limits: unknown member "conections": use /],
    [
      { retention: { auditDays: 1 } },
      /^the option retention: unknown member "auditDays": use changesDays, formerDays$/,
    ],
    [{ work: Number.NaN }, /^the option work is NaN: give a whole number of 0 or more, or false$/],
    [{ work: 2.5, flood: -1 }, /^the option work is 2\.5: .*\nthe option flood is -1: give a number of 0 or more$/],
    [{ retention: { changesDays: 0 } }, /^the option retention: changesDays is 0: give a number of 0\.01 or more/],
    [{ retention: { formerDays: Number.NaN } }, /^the option retention: formerDays is NaN: give a number of 0 or more/],
    [{ overload: { late: '2' } }, /^the option overload: late is the text "2": give a number of 0 or more$/],
    [{ limits: { idle: -1 } }, /^the option limits: idle is -1: give a number of 0 or more$/],
    [{ sinks: [sink('a'), sink('b'), sink('a')] }, /^the option sinks: two are named "a": give each its own name$/],
    [
      { sinks: [sink('a', 'orders', 'order')] },
      /^the sink "a": orders has no resource "order": use orders, customers, /,
    ],
  ]
  for (const [given, says] of wrong)
    for (const start of [startService, startWorkers])
      await assert.rejects(start(app, { port: 0, data: ':memory:', ...(given as ServeOptions) }), (thrown: Error) =>
        says.test(thrown.message),
      )
})

test('a new key for a database that was used with another is reported, with the cure', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const data = join(folder, 'orders.sqlite')
  const reports = async (): Promise<readonly object[]> => {
    const said: object[] = []
    const warn = (fields: object, message: string) => void (/a new key is created/.test(message) && said.push(fields))
    const logger = { info: () => {}, warn, error: () => {} }
    await (await startService(app, { port: 0, data, logger })).close(0)
    return said
  }
  assert.deepEqual([await reports(), await reports()], [[], []])
  rmSync(`${data}.key`)
  assert.deepEqual([await reports(), await reports()], [[{ key: `${data}.key` }], []])
})
