/**
 * Tokens that only their owner can use: RFC 8705 §3 (client certificates) and RFC 9449 §4.3, §7
 * (proofs), each check as a row, over the whole service and real sockets.
 */
import assert from 'node:assert/strict'
import { createHash, randomUUID, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as askTls } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  calculateJwkThumbprint,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
} from 'jose'
import type { ServeOptions } from '../../src/host/serve.ts'
import { createTokenProof } from '../../src/identity/token-proof.ts'
import type { Store } from '../../src/service/store.ts'
import { type Answer, bearer, startHosted } from '../host/hosted-service.ts'
import { makeCertificates } from '../support/certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'diglot-bound-'))
after(() => rmSync(folder, { recursive: true }))
const pathOf = (name: string) => join(folder, name)
const hasCertificates = makeCertificates(folder, [
  ['bank', '/CN=bank'],
  ['thief', '/CN=thief'],
])

const now = Date.UTC(2026, 10, 21)
const seconds = now / 1000
const issuer = await generateKeyPair('ES256')
writeFileSync(pathOf('jwks.json'), JSON.stringify({ keys: [{ ...(await exportJWK(issuer.publicKey)), kid: 'k' }] }))
const tokens = { jwks: pathOf('jwks.json'), issuer: 'https://id.example' }
const start = (options: ServeOptions = {}) => startHosted({ clock: () => now, tokens, ...options })

const issueToken = (claims: JWTPayload = {}) =>
  new SignJWT({ roles: ['clerk'], ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k', typ: 'at+jwt' })
    .setIssuer(tokens.issuer)
    .setAudience('orders')
    .setSubject('erin')
    .setExpirationTime(seconds + 3600)
    .sign(issuer.privateKey)

const order = '/api/v1/orders/o-1'
const getOrder =
  '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><GetOrder xmlns="urn:diglot:orders:v1"><id>o-1</id></GetOrder></e:Body></e:Envelope>'
const soap = { 'content-type': 'application/soap+xml' }

describe('RFC 8705 §3 a token that is bound to a client certificate', {
  skip: hasCertificates ? false : 'skipped: no openssl here',
}, async () => {
  const tls = { key: pathOf('server.key'), certificate: pathOf('server.pem'), authorities: pathOf('ca.pem') }
  const thumbprint = (name: string) =>
    createHash('sha256')
      .update(new X509Certificate(readFileSync(pathOf(`${name}.pem`))).raw)
      .digest('base64url')
  const { server } = await start({ tls })
  const statusOf = (token: string, owner?: string, method = 'GET') =>
    new Promise<number>((resolve, reject) => {
      const own = owner && { key: readFileSync(pathOf(`${owner}.key`)), cert: readFileSync(pathOf(`${owner}.pem`)) }
      const asking = askTls(
        {
          ...{ port: server.port, host: '127.0.0.1', method, path: method === 'GET' ? order : '/soap/v1' },
          ...{ headers: { ...bearer(token), ...soap }, rejectUnauthorized: false, agent: false },
          ...own,
        },
        reply => resolve(reply.resume().statusCode ?? 0),
      )
      asking.on('error', reject).end(method === 'GET' ? undefined : getOrder)
    })

  const bound = await issueToken({ cnf: { 'x5t#S256': thumbprint('bank') } })
  const rows: readonly [string, string, string | undefined, number][] = [
    ['its certificate', bound, 'bank', 200],
    ['none', bound, undefined, 401],
    ["another's", bound, 'thief', 401],
    ['its certificate, after the others', bound, 'bank', 200],
    ['an unknown member besides', await issueToken({ cnf: { 'x5t#S256': thumbprint('bank'), osc: {} } }), 'bank', 200],
    ['no binding', await issueToken(), undefined, 200],
  ]
  for (const [title, token, owner, status] of rows)
    test(`${title}: ${status} on both faces`, async () => {
      assert.equal(await statusOf(token, owner), status)
      assert.equal(await statusOf(token, owner, 'POST'), status)
    })

  for (const cnf of [{}, null, 'x', [], { jwk: {} }, { 'x5t#S256': 7 }, { 'x5t#S256': thumbprint('bank'), jkt: {} }])
    test(`RFC 7800 §3.1 a confirmation that nobody can meet: ${JSON.stringify(cnf)}`, async () => {
      assert.equal(await statusOf(await issueToken({ cnf } as JWTPayload), 'bank'), 401)
    })

  test('bound to a certificate and a key, it needs both', async () => {
    const { key, thumbprint: jkt } = await createSender()
    const token = await issueToken({ cnf: { 'x5t#S256': thumbprint('bank'), jkt } })
    assert.equal(await statusOf(token, 'bank'), 401, 'no proof')
    const prove = await proofs(key, token, `https://127.0.0.1:${server.port}`)
    const ask = async (owner: string | undefined) =>
      new Promise<number>((resolve, reject) => {
        void prove({}).then(dpop => {
          const own = owner && { key: readFileSync(pathOf(`${owner}.key`)), cert: readFileSync(pathOf(`${owner}.pem`)) }
          const headers = { authorization: `DPoP ${token}`, dpop }
          const options = { port: server.port, host: '127.0.0.1', path: order, rejectUnauthorized: false, agent: false }
          askTls({ ...options, headers, ...own }, reply => resolve(reply.resume().statusCode ?? 0))
            .on('error', reject)
            .end()
        }, reject)
      })
    assert.equal(await ask('bank'), 200)
    assert.equal(await ask('thief'), 401)
    assert.equal(await ask(undefined), 401)
  })
})

interface Sender {
  readonly key: GenerateKeyPairResult
  readonly thumbprint: string
}
async function createSender(alg = 'ES256'): Promise<Sender> {
  const key = await generateKeyPair(alg, { extractable: true })
  return { key, thumbprint: await calculateJwkThumbprint(await exportJWK(key.publicKey), 'sha256') }
}

interface ProofChange {
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  readonly signer?: CryptoKey | Uint8Array
}
/** Writes proofs for GET of an order with this token. */
const proofs = async (key: GenerateKeyPairResult, token: string, origin: string) => {
  const jwk = await exportJWK(key.publicKey)
  const ath = createHash('sha256').update(token).digest('base64url')
  return ({ header, claims, signer = key.privateKey }: ProofChange): Promise<string> =>
    new SignJWT({ jti: randomUUID(), htm: 'GET', htu: origin + order, iat: seconds, ath, ...claims } as JWTPayload)
      .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header } as never)
      .sign(signer)
}

describe('RFC 9449 a token that is bound to a key', async () => {
  const { server, ask } = await start()
  const origin = `http://127.0.0.1:${server.port}`
  const { key, thumbprint } = await createSender()
  const other = await createSender()
  const token = await issueToken({ cnf: { jkt: thumbprint } })
  const prove = await proofs(key, token, origin)
  const get = (dpop: string, of = token): Promise<Answer> =>
    ask('GET', order, { authorization: `DPoP ${of}`, ...(dpop !== '' && { dpop }) })
  const { d } = await exportJWK(key.privateKey)
  const publicJwk = await exportJWK(key.publicKey)
  const secret = new TextEncoder().encode('a secret of more than 32 octets, as HS256 demands')

  const accepted: readonly [string, ProofChange][] = [
    ['as it is', {}],
    ['§4.3 query and fragment do not count', { claims: { htu: `${origin}${order}?a=b#c` } }],
    [
      'RFC 3986 §6.2.2 other spellings of the address',
      { claims: { htu: `HTTP://127.0.0.1:${server.port}/api/./v1/%6Frders/o-1` } },
    ],
    ['§11.1 made five minutes ago', { claims: { iat: seconds - 300 } }],
    ['§11.1 a clock that is a minute ahead', { claims: { iat: seconds + 60 } }],
    ['typ with application/', { header: { typ: 'application/dpop+jwt' } }],
  ]
  for (const [title, change] of accepted)
    test(`§4.3 accepted: ${title}`, async () => assert.equal((await get(await prove(change))).status, 200))

  const refused: readonly [string, ProofChange][] = [
    ['another method', { claims: { htm: 'POST' } }],
    ['a method in lower case', { claims: { htm: 'get' } }],
    ['another path', { claims: { htu: `${origin}/api/v1/orders/o-2` } }],
    ['another host', { claims: { htu: `http://evil.example${order}` } }],
    ['another scheme', { claims: { htu: `https://127.0.0.1:${server.port}${order}` } }],
    ['no address', { claims: { htu: undefined } }],
    ['an address that is none', { claims: { htu: order } }],
    ['the hash of another token', { claims: { ath: createHash('sha256').update('x').digest('base64url') } }],
    ['no hash of the token', { claims: { ath: undefined } }],
    ['an old one', { claims: { iat: seconds - 301 } }],
    ['one of the future', { claims: { iat: seconds + 61 } }],
    ['no time', { claims: { iat: undefined } }],
    ['no jti', { claims: { jti: undefined } }],
    ['an empty jti', { claims: { jti: '' } }],
    ['a jti that is a number', { claims: { jti: 7 } }],
    ['expired by its own word', { claims: { exp: seconds - 10 } }],
    ['typ of an access token', { header: { typ: 'JWT' } }],
    ['no typ', { header: { typ: undefined } }],
    ['no key', { header: { jwk: undefined } }],
    ['a private key', { header: { jwk: { ...publicJwk, d } } }],
    [
      'a shared key',
      { header: { alg: 'HS256', jwk: { kty: 'oct', k: Buffer.from(secret).toString('base64url') } }, signer: secret },
    ],
    ['signed by another key', { signer: other.key.privateKey }],
    ['the key of another', { header: { jwk: await exportJWK(other.key.publicKey) }, signer: other.key.privateKey }],
  ]
  for (const [title, change] of refused)
    test(`§4.3 refused: ${title}`, async () => {
      const { status, fields } = await get(await prove(change))
      assert.equal(status, 401)
      assert.match(
        String(fields['www-authenticate']),
        /DPoP realm="orders", algs="[^"]*ES256[^"]*", error="invalid_token"/,
      )
    })

  test('§4.3 refused: alg none, no JWT, no field, two fields', async () => {
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const [, claims = ''] = (await prove({})).split('.')
    const none = `${encode({ alg: 'none', typ: 'dpop+jwt', jwk: publicJwk })}.${claims}.`
    for (const dpop of [none, 'x', '', `${await prove({})}, ${await prove({})}`])
      assert.equal((await get(dpop)).status, 401, dpop)
  })

  test('§11.1 a proof counts once, whichever request comes first', async () => {
    const dpop = await prove({})
    const answers = await Promise.all([get(dpop), get(dpop), get(dpop)])
    assert.deepEqual(answers.map(each => each.status).sort(), [200, 401, 401])
    assert.equal((await get(dpop)).status, 401)
  })

  test('§7.2 a bound token without its proof is refused, also when it is remembered', async () => {
    assert.equal((await get(await prove({}))).status, 200)
    for (const fields of [bearer(token), { ...bearer(token), dpop: await prove({}) }])
      assert.equal((await ask('GET', order, fields)).status, 401)
  })

  test('§7.1 a token that is bound to no key is none of this scheme, and neither is one of another key', async () => {
    for (const foreign of [await issueToken(), await issueToken({ cnf: { jkt: other.thumbprint } })]) {
      const ath = createHash('sha256').update(foreign).digest('base64url')
      assert.equal((await get(await prove({ claims: { ath } }), foreign)).status, 401)
    }
  })

  test('SOAP takes the same proofs, for POST to its endpoint', async () => {
    const fields = (dpop: string) => ({ ...soap, authorization: `DPoP ${token}`, dpop })
    const right = await prove({ claims: { htm: 'POST', htu: `${origin}/soap/v1` } })
    assert.equal((await ask('POST', '/soap/v1', fields(right), getOrder)).status, 200)
    const refusal = await ask('POST', '/soap/v1', fields(await prove({})), getOrder)
    assert.equal(refusal.status, 401)
    assert.match(String(refusal.fields['www-authenticate']), /DPoP .*error="invalid_token"/)
  })

  test('§4.3 behind a proxy, the public address counts', async () => {
    const { ask } = await start({ settings: { publicUrl: 'https://shop.example/base', trustProxy: true } })
    const at = async (htu: string) =>
      (await ask('GET', order, { authorization: `DPoP ${token}`, dpop: await prove({ claims: { htu } }) })).status
    assert.equal(await at(`https://shop.example/base${order}`), 200)
    assert.equal(await at(`https://shop.example${order}`), 401)
  })

  test('§7.1 the scheme is announced, and accepted, where an issuer is configured', async () => {
    assert.match(
      String((await ask('GET', order)).fields['www-authenticate']),
      /^Bearer [^,]*, DPoP realm="orders", algs=/,
    )
    const own = await startHosted()
    const refusal = await own.ask('GET', order, { authorization: `DPoP ${await own.server.token('clara', ['clerk'])}` })
    assert.equal(refusal.status, 401)
    assert.doesNotMatch(String(refusal.fields['www-authenticate']), /DPoP/)
  })

  test('§11.1 a proof is recorded in the turn of its caller, so that a flood of them delays no other', async () => {
    const turns: unknown[] = []
    const store = {
      write: async (work: (writer: object) => unknown, turn: unknown) => {
        turns.push(turn)
        return await work({ remember: () => true })
      },
    } as unknown as Store
    const found = {
      caller: { subject: 'erin', roles: [], claims: {} },
      binding: { key: thumbprint },
      since: 0,
      until: now,
    }
    const { dpop } = createTokenProof({
      ...{ store, clock: () => now, memory: { find: () => found, rememberBound: () => found } },
      ...{ trust: { keys: async () => issuer.publicKey, issuer: '', audience: '' }, person: async () => undefined },
    })
    const proof = { jwt: await prove({}), method: 'GET', isAddress: () => true }
    assert.equal((await dpop?.(token, proof))?.subject, 'erin')
    assert.deepEqual(turns, [{ caller: 'erin' }])
  })

  test('`bound`: a token that anybody could use is refused', async () => {
    const { ask, server } = await start({ tokens: { ...tokens, bound: true } })
    assert.equal((await ask('GET', order, bearer(await issueToken()))).status, 401)
    const dpop = await prove({ claims: { htu: `http://127.0.0.1:${server.port}${order}` } })
    assert.equal((await ask('GET', order, { authorization: `DPoP ${token}`, dpop })).status, 200)
  })
})
