/**
 * RFC 8725, each practice as rows: a bearer token counts only from the configured signer, for our
 * audience, in its time.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { signToken, type TokenTrust, trustLocalKey, verifyToken } from '../../src/identity/bearer-token.ts'
import { openJwks } from '../../src/identity/jwks.ts'
import { openLocalKey } from '../../src/identity/local-key.ts'
import { Unavailable } from '../../src/service/store.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-token-'))
after(() => rmSync(folder, { recursive: true }))

const now = Date.UTC(2026, 10, 21)
const seconds = now / 1000
const rsa = await generateKeyPair('RS256', { extractable: true })
const ec = await generateKeyPair('ES256', { extractable: true })
const foreign = await generateKeyPair('RS256', { extractable: true })
const set = async (...keys: [string, CryptoKey, string][]) =>
  JSON.stringify({
    keys: await Promise.all(keys.map(async ([kid, key, alg]) => ({ ...(await exportJWK(key)), kid, alg }))),
  })
const file = join(folder, 'jwks.json')
writeFileSync(file, await set(['r', rsa.publicKey, 'RS256'], ['e', ec.publicKey, 'ES256']))

const failures: unknown[] = []
const watching = (clock = () => now) => ({ clock, failed: (thrown: unknown) => failures.push(thrown) })
const trust = (more: Partial<TokenTrust> = {}): TokenTrust => ({
  keys: openJwks(file, watching()),
  issuer: 'https://id.example',
  audience: 'orders',
  ...more,
})

const right: JWTPayload = {
  iss: 'https://id.example',
  aud: 'orders',
  sub: 'erin',
  exp: seconds + 60,
  roles: ['clerk'],
  claims: { customer: 'c-1' },
}
interface Made {
  readonly header?: Record<string, unknown>
  readonly key?: CryptoKey | Uint8Array
}
const made = (payload: JWTPayload, { header, key = rsa.privateKey }: Made = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'r', ...header }).sign(key)
const without = (name: string): JWTPayload =>
  Object.fromEntries(Object.entries(right).filter(([each]) => each !== name))
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('who a token says', () => {
  const rows: readonly [
    string,
    JWTPayload,
    Partial<TokenTrust>,
    roles: readonly string[],
    claims: Record<string, string>,
  ][] = [
    ['roles and claims where they are by default', right, {}, ['clerk'], { customer: 'c-1' }],
    ['an audience among several', { ...right, aud: ['x', 'orders'] }, {}, ['clerk'], { customer: 'c-1' }],
    [
      'roles within members',
      { ...right, realm_access: { roles: ['manager'] } },
      { roles: 'realm_access.roles' },
      ['manager'],
      { customer: 'c-1' },
    ],
    [
      'roles under a URI',
      { ...right, 'https://x.example/r': ['a'] },
      { roles: 'https://x.example/r' },
      ['a'],
      { customer: 'c-1' },
    ],
    [
      'scopes as roles',
      { ...right, scope: 'clerk manager' },
      { roles: 'scope' },
      ['clerk', 'manager'],
      { customer: 'c-1' },
    ],
    ['claims by mapping', { ...right, cid: 'c-2' }, { claims: { customer: 'cid' } }, ['clerk'], { customer: 'c-2' }],
    [
      'what is no text is no role and no claim',
      { ...right, roles: [1, 'clerk', null], claims: { a: 1, b: 'b' } },
      {},
      ['clerk'],
      { b: 'b' },
    ],
    ['roles of a prototype are none', right, { roles: '__proto__.toString' }, [], { customer: 'c-1' }],
    ['claims that are a list', { ...right, claims: ['c-1'] }, {}, ['clerk'], {}],
  ]
  for (const [title, payload, more, roles, claims] of rows)
    test(title, async () => {
      const found = await verifyToken(trust(more), await made(payload), now)
      assert.deepEqual(found, { caller: { subject: 'erin', roles, claims }, expires: (seconds + 60) * 1000 })
    })

  test('another algorithm of the set, and a local token by the local key', async () => {
    const token = await made(right, { header: { alg: 'ES256', kid: 'e' }, key: ec.privateKey })
    assert.equal((await verifyToken(trust(), token, now))?.caller.subject, 'erin')
    const key = openLocalKey(':memory:')
    const local = await signToken(key, 'orders', { subject: 'clara', roles: ['clerk'], expires: 60 }, now)
    assert.equal((await verifyToken(trustLocalKey(key, 'orders'), local, now))?.caller.subject, 'clara')
    assert.equal(await verifyToken(trustLocalKey(openLocalKey(':memory:'), 'orders'), local, now), undefined)
    assert.equal(await verifyToken(trust(), local, now), undefined)
  })
})

describe('tokens that prove nothing', async () => {
  const pem = new TextEncoder().encode(await exportSPKI(rsa.publicKey))
  const token = await made(right)
  const [head = '', body = '', tag = ''] = token.split('.')
  const rows: readonly [string, string, Partial<TokenTrust>?][] = [
    ['JWT alg none', `${part({ alg: 'none' })}.${part(right)}.`],
    ['JWT alg None, spelled otherwise', `${part({ alg: 'nOnE' })}.${part(right)}.`],
    ['JWT alg none with the signature of another', `${part({ alg: 'none', kid: 'r' })}.${body}.${tag}`],
    ['JWT key confusion: HS256 by the public key', await made(right, { header: { alg: 'HS256' }, key: pem })],
    ['JWT wrong key', await made(right, { key: foreign.privateKey })],
    [
      'JWT key brought along (jwk)',
      await made(right, { header: { jwk: await exportJWK(foreign.publicKey) }, key: foreign.privateKey }),
    ],
    ['JWT kid of nobody', await made(right, { header: { kid: 'nobody' } })],
    ['JWT kid traversal', await made(right, { header: { kid: '../../../../dev/null' } })],
    ['JWT kid injection', await made(right, { header: { kid: "r' OR '1'='1" } })],
    ['JWT kid of another algorithm', await made(right, { header: { kid: 'e' } })],
    [
      'JWT critical extension',
      await made(right, { header: { crit: ['x'], x: 1 } }).catch(
        () => `${part({ alg: 'RS256', crit: ['x'], x: 1 })}.${body}.${tag}`,
      ),
    ],
    ['JWT wrong issuer', await made({ ...right, iss: 'https://id.example.evil' })],
    ['JWT no issuer', await made(without('iss'))],
    ['JWT wrong audience', await made({ ...right, aud: 'orders2' })],
    ['JWT no audience', await made(without('aud'))],
    ['JWT expired', await made({ ...right, exp: seconds - 6 })],
    ['JWT no expiry', await made(without('exp'))],
    ['JWT not yet', await made({ ...right, nbf: seconds + 60 })],
    ['JWT expiry that is no number', await made({ ...right, exp: '9e9' as unknown as number })],
    ['JWT no subject', await made(without('sub'))],
    ['JWT empty subject', await made({ ...right, sub: '' })],
    ['JWT algorithm that is not listed', token, { algorithms: ['ES256'] }],
    ['JWT changed content', `${head}.${part({ ...right, sub: 'maria' })}.${tag}`],
    ['JWT without signature', `${head}.${body}.`],
    ['JWT of two parts', `${head}.${body}`],
    ['JWT encrypted', 'a.b.c.d.e'],
    ['JWT empty', ''],
    ['JWT of dots', '..'],
    ['JWT of 30 KB', 'a'.repeat(30_000)],
    ['JWT deep', `${part({ alg: 'RS256', x: '['.repeat(10_000) })}.${body}.${tag}`],
  ]
  for (const [title, token, more] of rows)
    test(title, async () => assert.equal(await verifyToken(trust(more), token, now), undefined))
})

describe('a JWKS in a file', () => {
  test('rotation: a new key counts and an old one does not, within a second', async () => {
    const rotating = join(folder, 'rotating.json')
    writeFileSync(rotating, await set(['r', rsa.publicKey, 'RS256']))
    let time = now
    const keys = openJwks(
      rotating,
      watching(() => time),
    )
    const [old, fresh] = [
      await made(right),
      await made(right, { header: { alg: 'ES256', kid: 'e' }, key: ec.privateKey }),
    ]
    const subjects = async () => [
      (await verifyToken(trust({ keys }), old, now))?.caller.subject,
      (await verifyToken(trust({ keys }), fresh, now))?.caller.subject,
    ]
    assert.deepEqual(await subjects(), ['erin', undefined])
    writeFileSync(rotating, await set(['e', ec.publicKey, 'ES256']))
    utimesSync(rotating, 1, 1)
    time += 1001
    assert.deepEqual(await subjects(), [undefined, 'erin'])
    writeFileSync(rotating, '{')
    utimesSync(rotating, 2, 2)
    time += 1001
    assert.deepEqual(await subjects(), [undefined, 'erin'], 'a broken file changes nothing')
    assert.equal(failures.length, 1)
  })
  test('one that cannot be used does not start', () => {
    assert.throws(() => openJwks(join(folder, 'none.json'), watching()), /none\.json cannot be used/)
    writeFileSync(join(folder, 'bad.json'), '{"keys":1}')
    assert.throws(() => openJwks(join(folder, 'bad.json'), watching()), /bad\.json cannot be used/)
  })
})

describe('a JWKS at an address', () => {
  const answering = async (answer: () => { status: number; text: string; location?: string }) => {
    let count = 0
    const server = createServer((_request, reply) => {
      count++
      const { status, text, location } = answer()
      reply.writeHead(status, location === undefined ? {} : { location }).end(text)
    }).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    after(() => server.close())
    return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`, asked: () => count } // TCP
  }

  test('is asked once, whatever unknown keys tokens name in the next half minute', async () => {
    const text = await set(['r', rsa.publicKey, 'RS256'])
    const { address, asked } = await answering(() => ({ status: 200, text }))
    const keys = openJwks(address, watching())
    assert.equal((await verifyToken(trust({ keys }), await made(right), now))?.caller.subject, 'erin')
    for (let i = 0; i < 5; i++) {
      const unknown = await made(right, { header: { kid: `k${i}` } })
      assert.equal(await verifyToken(trust({ keys }), unknown, now), undefined)
    }
    assert.equal(asked(), 1)
  })

  test('when it fails, the caller is told to come back, and it is left in peace for a while', async () => {
    const { address, asked } = await answering(() => ({ status: 500, text: '' }))
    let time = now
    const keys = openJwks(
      address,
      watching(() => time),
    )
    const token = await made(right)
    for (let i = 0; i < 3; i++) await assert.rejects(verifyToken(trust({ keys }), token, now), Unavailable)
    assert.equal(asked(), 1)
    time += 5001
    await assert.rejects(verifyToken(trust({ keys }), token, now), Unavailable)
    assert.equal(asked(), 2)
  })

  test('a redirect is not followed', async () => {
    const text = await set(['r', rsa.publicKey, 'RS256'])
    const other = await answering(() => ({ status: 200, text }))
    const { address } = await answering(() => ({ status: 302, text: '', location: other.address }))
    await assert.rejects(
      verifyToken(trust({ keys: openJwks(address, watching()) }), await made(right), now),
      Unavailable,
    )
    assert.equal(other.asked(), 0)
  })

  test('what a token says of where its key is (jku, x5u) is not asked', async () => {
    const text = await set(['r', foreign.publicKey, 'RS256'])
    const other = await answering(() => ({ status: 200, text }))
    for (const name of ['jku', 'x5u']) {
      const token = await made(right, { header: { [name]: other.address }, key: foreign.privateKey })
      assert.equal(await verifyToken(trust(), token, now), undefined)
    }
    assert.equal(other.asked(), 0)
  })
})
