/**
 * RFC 8725, each practice as rows: a bearer token counts only from the configured signer, for our
 * audience, in its time.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
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
const writeKeySet = async (...keys: [string, CryptoKey, string][]) =>
  JSON.stringify({
    keys: await Promise.all(keys.map(async ([kid, key, alg]) => ({ ...(await exportJWK(key)), kid, alg }))),
  })
const file = join(folder, 'jwks.json')
writeFileSync(file, await writeKeySet(['r', rsa.publicKey, 'RS256'], ['e', ec.publicKey, 'ES256']))

const failures: unknown[] = []
const watchingFor = (clock = () => now) => ({ clock, failed: (thrown: unknown) => failures.push(thrown) })
const trustWith = (more: Partial<TokenTrust> = {}): TokenTrust => ({
  keys: openJwks(file, watchingFor()),
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
const signPayload = (payload: JWTPayload, { header, key = rsa.privateKey }: Made = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'r', ...header }).sign(key)
const omitClaim = (name: string): JWTPayload =>
  Object.fromEntries(Object.entries(right).filter(([each]) => each !== name))
const encodePart = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

describe('the caller of a token', () => {
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
      const found = await verifyToken(trustWith(more), await signPayload(payload), now)
      assert.deepEqual(found, {
        caller: { subject: 'erin', roles, claims },
        expires: (seconds + 60) * 1000,
        binding: {},
      })
    })

  for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/at+jwt'])
    test(`RFC 8725 §3.11: an access token of typ ${typ}, issued by a clock that is a little ahead`, async () => {
      const token = await signPayload({ ...right, iat: seconds + 59 }, { header: { typ } })
      assert.equal((await verifyToken(trustWith(), token, now))?.caller.subject, 'erin')
    })

  test('another algorithm of the set, and a local token by the local key', async () => {
    const token = await signPayload(right, { header: { alg: 'ES256', kid: 'e' }, key: ec.privateKey })
    assert.equal((await verifyToken(trustWith(), token, now))?.caller.subject, 'erin')
    const key = openLocalKey(':memory:')
    const local = await signToken(key, 'orders', { subject: 'clara', roles: ['clerk'], expires: 60 }, now)
    assert.equal((await verifyToken(trustLocalKey(key, 'orders'), local, now))?.caller.subject, 'clara')
    assert.equal(await verifyToken(trustLocalKey(openLocalKey(':memory:'), 'orders'), local, now), undefined)
    assert.equal(await verifyToken(trustWith(), local, now), undefined)
  })
})

describe('tokens that prove nothing', async () => {
  const pem = new TextEncoder().encode(await exportSPKI(rsa.publicKey))
  const token = await signPayload(right)
  const [head = '', body = '', tag = ''] = token.split('.')
  const rows: readonly [string, string, Partial<TokenTrust>?][] = [
    ['JWT alg none', `${encodePart({ alg: 'none' })}.${encodePart(right)}.`],
    ['JWT alg None, spelled otherwise', `${encodePart({ alg: 'nOnE' })}.${encodePart(right)}.`],
    ['JWT alg none with the signature of another', `${encodePart({ alg: 'none', kid: 'r' })}.${body}.${tag}`],
    ['JWT key confusion: HS256 by the public key', await signPayload(right, { header: { alg: 'HS256' }, key: pem })],
    ['JWT wrong key', await signPayload(right, { key: foreign.privateKey })],
    [
      'JWT key brought along (jwk)',
      await signPayload(right, { header: { jwk: await exportJWK(foreign.publicKey) }, key: foreign.privateKey }),
    ],
    ['JWT kid of nobody', await signPayload(right, { header: { kid: 'nobody' } })],
    ['JWT kid traversal', await signPayload(right, { header: { kid: '../../../../dev/null' } })],
    ['JWT kid injection', await signPayload(right, { header: { kid: "r' OR '1'='1" } })],
    ['JWT kid of another algorithm', await signPayload(right, { header: { kid: 'e' } })],
    [
      'JWT critical extension',
      await signPayload(right, { header: { crit: ['x'], x: 1 } }).catch(
        () => `${encodePart({ alg: 'RS256', crit: ['x'], x: 1 })}.${body}.${tag}`,
      ),
    ],
    ['JWT wrong issuer', await signPayload({ ...right, iss: 'https://id.example.evil' })],
    ['JWT no issuer', await signPayload(omitClaim('iss'))],
    ['JWT wrong audience', await signPayload({ ...right, aud: 'orders2' })],
    ['JWT no audience', await signPayload(omitClaim('aud'))],
    ['JWT expired', await signPayload({ ...right, exp: seconds - 6 })],
    ['JWT no expiry', await signPayload(omitClaim('exp'))],
    ['JWT not yet', await signPayload({ ...right, nbf: seconds + 60 })],
    ['JWT expiry that is no number', await signPayload({ ...right, exp: '9e9' as unknown as number })],
    ['JWT no subject', await signPayload(omitClaim('sub'))],
    ['JWT empty subject', await signPayload({ ...right, sub: '' })],
    ...(await Promise.all(
      [7, true, ['erin'], { name: 'erin' }, null].map(
        async (sub): Promise<[string, string]> => [
          `RFC 7519 §4.1.2: JWT subject ${JSON.stringify(sub)}`,
          await signPayload({ ...right, sub } as never),
        ],
      ),
    )),
    ...(await Promise.all(
      ['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'application/logout+jwt', 'JOSE', ''].map(
        async (typ): Promise<[string, string]> => [
          `RFC 8725 §3.11: JWT typ ${typ}`,
          await signPayload(right, { header: { typ } }),
        ],
      ),
    )),
    ['RFC 8725 §3.12: an ID token with at_hash', await signPayload({ ...right, at_hash: 'x' })],
    ['RFC 8725 §3.12: a logout token without typ', await signPayload({ ...right, events: {} })],
    [
      'RFC 7519 §4.1.6: JWT issued in an hour',
      await signPayload({ ...right, iat: seconds + 3600, exp: seconds + 7200 }),
    ],
    ['RFC 7519 §4.1.6: JWT issued at a text', await signPayload({ ...right, iat: '1' } as never)],
    ['JWT algorithm that is not listed', token, { algorithms: ['ES256'] }],
    ['JWT changed content', `${head}.${encodePart({ ...right, sub: 'maria' })}.${tag}`],
    ['JWT without signature', `${head}.${body}.`],
    ['JWT of two parts', `${head}.${body}`],
    ['JWT encrypted', 'a.b.c.d.e'],
    ['JWT empty', ''],
    ['JWT of dots', '..'],
    ['JWT of 30 KB', 'a'.repeat(30_000)],
    ['JWT deep', `${encodePart({ alg: 'RS256', x: '['.repeat(10_000) })}.${body}.${tag}`],
  ]
  for (const [title, token, more] of rows)
    test(title, async () => assert.equal(await verifyToken(trustWith(more), token, now), undefined))
})

describe('a JWKS in a file', () => {
  test('rotation: a new key counts and an old one does not, within a second', async () => {
    const rotating = join(folder, 'rotating.json')
    writeFileSync(rotating, await writeKeySet(['r', rsa.publicKey, 'RS256']))
    let time = now
    const keys = openJwks(
      rotating,
      watchingFor(() => time),
    )
    const [old, fresh] = [
      await signPayload(right),
      await signPayload(right, { header: { alg: 'ES256', kid: 'e' }, key: ec.privateKey }),
    ]
    const subjects = async () => [
      (await verifyToken(trustWith({ keys }), old, now))?.caller.subject,
      (await verifyToken(trustWith({ keys }), fresh, now))?.caller.subject,
    ]
    assert.deepEqual(await subjects(), ['erin', undefined])
    writeFileSync(rotating, await writeKeySet(['e', ec.publicKey, 'ES256']))
    utimesSync(rotating, 1, 1)
    time += 1001
    assert.deepEqual(await subjects(), [undefined, 'erin'])
    writeFileSync(rotating, '{')
    utimesSync(rotating, 2, 2)
    time += 1001
    assert.deepEqual(await subjects(), [undefined, 'erin'], 'a broken file changes nothing')
    assert.equal(failures.length, 1)
  })
  test('RFC 7515 Appendix D each of eight keys is tried that fits a token without an identifier', async () => {
    const pairs = await Promise.all(Array.from({ length: 9 }, () => generateKeyPair('ES256')))
    const several = join(folder, 'several.json')
    const keySet = async (kid: (at: number) => string) =>
      writeFileSync(
        several,
        await writeKeySet(
          ...pairs.map((pair, at) => [kid(at), pair.publicKey, 'ES256'] as [string, CryptoKey, string]),
        ),
      )
    const subjectOf = async (at: number, header: Record<string, unknown>) => {
      const token = await signPayload(right, {
        header: { alg: 'ES256', ...header },
        key: pairs[at]?.privateKey as CryptoKey,
      })
      return (await verifyToken(trustWith({ keys: openJwks(several, watchingFor()) }), token, now))?.caller.subject
    }
    await keySet(at => `k${at}`)
    assert.equal(await subjectOf(0, { kid: undefined }), 'erin')
    assert.equal(await subjectOf(7, { kid: undefined }), 'erin')
    assert.equal(await subjectOf(8, { kid: undefined }), undefined, 'the ninth key is not tried')
    assert.equal(await subjectOf(8, { kid: 'k8' }), 'erin')
    assert.equal(await subjectOf(1, { kid: 'k0' }), undefined, 'a key that the token does not name is not tried')
    await keySet(() => 'same')
    assert.equal(await subjectOf(3, { kid: 'same' }), 'erin')
    const stranger = await signPayload(right, { header: { alg: 'ES256', kid: undefined }, key: ec.privateKey })
    assert.equal(await verifyToken(trustWith({ keys: openJwks(several, watchingFor()) }), stranger, now), undefined)
    const late = await signPayload(
      { ...right, exp: seconds - 60 },
      { header: { alg: 'ES256', kid: undefined }, key: pairs[2]?.privateKey as CryptoKey },
    )
    assert.equal(await verifyToken(trustWith({ keys: openJwks(several, watchingFor()) }), late, now), undefined)
  })
  test('an unusable file does not start', () => {
    assert.throws(() => openJwks(join(folder, 'none.json'), watchingFor()), /none\.json cannot be used/)
    writeFileSync(join(folder, 'bad.json'), '{"keys":1}')
    assert.throws(() => openJwks(join(folder, 'bad.json'), watchingFor()), /bad\.json cannot be used/)
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

  test('is requested once for all unknown keys that tokens name in the next half minute', async () => {
    const text = await writeKeySet(['r', rsa.publicKey, 'RS256'])
    const { address, asked } = await answering(() => ({ status: 200, text }))
    const keys = openJwks(address, watchingFor())
    assert.equal((await verifyToken(trustWith({ keys }), await signPayload(right), now))?.caller.subject, 'erin')
    for (let i = 0; i < 5; i++) {
      const unknown = await signPayload(right, { header: { kid: `k${i}` } })
      assert.equal(await verifyToken(trustWith({ keys }), unknown, now), undefined)
    }
    assert.equal(asked(), 1)
  })

  test('when it fails, the caller is told to retry, and no request is made for a while', async () => {
    const { address, asked } = await answering(() => ({ status: 500, text: '' }))
    let time = now
    const keys = openJwks(
      address,
      watchingFor(() => time),
    )
    const token = await signPayload(right)
    for (let i = 0; i < 3; i++) await assert.rejects(verifyToken(trustWith({ keys }), token, now), Unavailable)
    assert.equal(asked(), 1)
    time += 5001
    await assert.rejects(verifyToken(trustWith({ keys }), token, now), Unavailable)
    assert.equal(asked(), 2)
    time -= 5 * 3_600_000
    await assert.rejects(verifyToken(trustWith({ keys }), token, now), Unavailable)
    assert.equal(asked(), 3, 'a clock that is put back prolongs nothing')
  })

  test('known keys count for an hour while the address fails; an unknown one waits', async () => {
    const text = await writeKeySet(['r', rsa.publicKey, 'RS256'])
    let status = 200
    const { address, asked } = await answering(() => ({ status, text }))
    let time = now
    const keys = openJwks(
      address,
      watchingFor(() => time),
    )
    const subjectOf = async (payload: JWTPayload, kid = 'r') => {
      const long = { ...payload, exp: seconds + 100_000 }
      const token = await signPayload(long, { header: { kid } })
      return (await verifyToken(trustWith({ keys }), token, time))?.caller.subject
    }
    assert.equal(await subjectOf(right), 'erin')
    status = 500
    for (let i = 0; i < 20; i++) {
      time += 31_000
      await assert.rejects(subjectOf(right, `forged-${i}`), Unavailable)
      assert.equal(await subjectOf(right), 'erin', `after ${i + 1} forged tokens`)
    }
    assert.equal(asked(), 21)
    time = now + 3_600_000 - 1
    assert.equal(await subjectOf(right), 'erin', 'within the hour')
    time += 10_001
    await assert.rejects(subjectOf(right), Unavailable, 'nothing is known of a key of an hour ago')
    status = 200
    time += 5001
    assert.equal(await subjectOf(right), 'erin')
  })

  test('a key that the issuer has removed counts for ten minutes', async () => {
    let text = await writeKeySet(['r', rsa.publicKey, 'RS256'])
    const { address } = await answering(() => ({ status: 200, text }))
    let time = now
    const keys = openJwks(
      address,
      watchingFor(() => time),
    )
    const token = await signPayload({ ...right, exp: seconds + 3600 })
    const subject = async () => (await verifyToken(trustWith({ keys }), token, time))?.caller.subject
    assert.equal(await subject(), 'erin')
    text = await writeKeySet(['e', ec.publicKey, 'ES256'])
    time += 599_999
    assert.equal(await subject(), 'erin')
    time += 1
    assert.equal(await subject(), undefined)
  })

  test('attack: a response that never ends, or a small one that decodes to a large one, is read up to 1 MiB', async () => {
    const padded = `${await writeKeySet(['r', rsa.publicKey, 'RS256'])}${' '.repeat(2 ** 20)}`
    const bomb = gzipSync(padded)
    let taken = 0
    const server = createServer((request, reply) => {
      if (request.url === '/bomb') {
        reply.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
        return
      }
      const piece = Buffer.alloc(64 * 1024, ' ')
      const pour = (): void => {
        for (let room = true; room && !reply.destroyed; taken += piece.length) room = reply.write(piece)
      }
      reply.on('drain', pour)
      pour()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    after(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo // TCP
    for (const path of ['bomb', 'endless']) {
      const keys = openJwks(`http://127.0.0.1:${port}/${path}`, watchingFor())
      await assert.rejects(verifyToken(trustWith({ keys }), await signPayload(right), now), Unavailable)
      assert.match(String(failures.at(-1)), /are longer than 1048576 octets/)
    }
    assert.ok(taken < 32e6, `${taken} octets were taken`)
  })

  test('a redirect is not followed', async () => {
    const text = await writeKeySet(['r', rsa.publicKey, 'RS256'])
    const other = await answering(() => ({ status: 200, text }))
    const { address } = await answering(() => ({ status: 302, text: '', location: other.address }))
    await assert.rejects(
      verifyToken(trustWith({ keys: openJwks(address, watchingFor()) }), await signPayload(right), now),
      Unavailable,
    )
    assert.equal(other.asked(), 0)
  })

  test('the key address that a token names (jku, x5u) is never requested', async () => {
    const text = await writeKeySet(['r', foreign.publicKey, 'RS256'])
    const other = await answering(() => ({ status: 200, text }))
    for (const name of ['jku', 'x5u']) {
      const token = await signPayload(right, { header: { [name]: other.address }, key: foreign.privateKey })
      assert.equal(await verifyToken(trustWith(), token, now), undefined)
    }
    assert.equal(other.asked(), 0)
  })
})

test('RFC 8725 3.1 a malformed key of the issuer verifies nothing, and is reported once', async () => {
  const bent = join(folder, 'bent.json')
  const point = { ...(await exportJWK(ec.publicKey)), x: encodePart('no point'), kid: 'e' }
  writeFileSync(bent, JSON.stringify({ keys: [point, { ...(await exportJWK(rsa.publicKey)), kid: 'r' }] }))
  const reported: unknown[] = []
  const keys = openJwks(bent, { clock: () => now, failed: thrown => void reported.push(thrown) })
  for (const key of [ec.privateKey, (await generateKeyPair('ES256')).privateKey]) {
    const token = await signPayload(right, { key, header: { alg: 'ES256', kid: 'e' } })
    assert.equal(await verifyToken(trustWith({ keys }), token, now), undefined)
  }
  assert.match(String(reported), /^[^,]*a key of .*bent\.json cannot be used: [^,]*$/)
  assert.ok(await verifyToken(trustWith({ keys }), await signPayload(right), now), 'the other keys count')
})
