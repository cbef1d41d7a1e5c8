/** OpenID Connect Core 1.0 with PKCE (RFC 7636): signing in with a browser at a provider of the test. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { ServeOptions } from '../../src/host/serve.ts'
import { type Answer, type Hosted, startHosted } from './hosted-service.ts'

const [right, wrong] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
const client = 'orders'

/** What the provider does otherwise than it should. */
interface Mischief {
  /** Changes the claims of the ID token. */
  readonly claims?: (claims: Record<string, unknown>) => Record<string, unknown>
  readonly key?: CryptoKey
  /** Answers the code in place of the tokens. */
  readonly answer?: readonly [status: number, content: string]
}

/** A provider that signs in whoever comes, as its standard says. */
async function startProvider() {
  const codes = new Map<string, { readonly challenge: string; readonly nonce: string; readonly address: string }>()
  let mischief: Mischief = {}
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '', issuer())
    asked.push(url.pathname)
    const send = (status: number, content: unknown, fields = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...fields })
        .end(typeof content === 'string' ? content : JSON.stringify(content))
    if (url.pathname === '/.well-known/openid-configuration')
      return send(200, {
        issuer: issuer(),
        authorization_endpoint: `${issuer()}/authorize`,
        token_endpoint: `${issuer()}/token`,
        jwks_uri: `${issuer()}/keys`,
        id_token_signing_alg_values_supported: ['ES256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
      })
    if (url.pathname === '/keys') return send(200, { keys: [{ ...(await exportJWK(right.publicKey)), alg: 'ES256' }] })
    if (url.pathname === '/authorize') {
      const ask = url.searchParams
      assert.deepEqual([ask.get('response_type'), ask.get('code_challenge_method')], ['code', 'S256'])
      const back = new URL(ask.get('redirect_uri') ?? '')
      const code = `code-${codes.size}`
      codes.set(code, { challenge: ask.get('code_challenge') ?? '', nonce: ask.get('nonce') ?? '', address: back.href })
      back.search = new URLSearchParams({ code, state: ask.get('state') ?? '' }).toString()
      return send(303, '', { location: back.href })
    }
    const given = new URLSearchParams(await text(request))
    if (mischief.answer) return send(...mischief.answer)
    const kept = codes.get(given.get('code') ?? '')
    codes.delete(given.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url')
    if (!kept || kept.challenge !== challenge || kept.address !== given.get('redirect_uri'))
      return send(400, { error: 'invalid_grant' })
    const claims = { sub: 'clara', nonce: kept.nonce, realm: { roles: ['clerk'] }, branch: 'north' }
    const id_token = await new SignJWT(mischief.claims?.(claims) ?? claims)
      .setProtectedHeader({ alg: 'ES256' })
      .setIssuer(issuer())
      .setAudience(client)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(mischief.key ?? right.privateKey)
    return send(200, { access_token: 'a', token_type: 'Bearer', id_token })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { issuer: issuer(), asked, misbehave: (next: Mischief) => (mischief = next), stop: () => server.close() }
}

const provider = await startProvider()
const options = {
  openid: { issuer: provider.issuer, client, secret: 'a secret', title: 'Example', roles: 'realm.roles' },
} satisfies ServeOptions

const cookieOf = (answer: Answer): string =>
  (answer.fields['set-cookie'] as string[] | undefined)?.map(each => each.split(';')[0]).join('; ') ?? ''
const follow = async (address: unknown): Promise<string> => {
  const answer = await fetch(String(address), { redirect: 'manual' })
  return answer.headers.get('location') ?? ''
}
const pathOf = (address: string): string => address.replace(/^https?:\/\/[^/]+/, '')

/** There and back; gives the answer to the return, and what the browser has kept. */
async function signIn(open: Hosted, to = '') {
  const left = await open.ask('GET', `/login/openid${to}`)
  assert.equal(left.status, 303)
  const returned = pathOf(await follow(left.fields['location']))
  const kept = cookieOf(left)
  return { returned, kept, answer: await open.ask('GET', returned, { cookie: kept }) }
}

describe('OpenID Connect Core 1.0 §3.1: signing in with a browser', async () => {
  const open = await startHosted(options)
  test('the log-in page leads there, with the path to come back to', async () => {
    const { text } = await open.ask('GET', '/login?to=/api/v1/orders')
    assert.match(text, /href="login\/openid\?to=%2Fapi%2Fv1%2Forders"[^>]*>Sign in with Example</)
    assert.doesNotMatch((await open.ask('GET', '/login?to=//evil.example')).text, /evil/)
  })

  test('who comes back proven has a session with the roles of the ID token', async () => {
    const { answer } = await signIn(open, '?to=/api/v1/orders')
    assert.deepEqual([answer.status, answer.fields['location']], [303, '/api/v1/orders'])
    const [session, removed] = answer.fields['set-cookie'] as string[]
    assert.match(session ?? '', /^orders=~.*; HttpOnly; SameSite=Lax$/)
    assert.match(removed ?? '', /^orders-[\w-]{8}=; Max-Age=0;/)
    const orders = await open.ask('GET', '/api/v1/orders', { cookie: session?.split(';')[0] ?? '' })
    assert.equal(orders.status, 200, 'a clerk reads orders')
  })

  test('a session of less rights has less rights, and a changed one none', async () => {
    provider.misbehave({ claims: claims => ({ ...claims, realm: { roles: [] } }) })
    const [session = ''] = (await signIn(open)).answer.fields['set-cookie'] as string[]
    provider.misbehave({})
    const cookie = session.split(';')[0] ?? ''
    assert.equal((await open.ask('GET', '/api/v1/orders', { cookie })).status, 403)
    const forged = Buffer.from('{"subject":"clara","roles":["clerk"],"claims":{}}').toString('base64url')
    const changed = cookie.replace(/~[^.]+/, `~${forged}`)
    assert.equal((await open.ask('GET', '/api/v1/orders', { cookie: changed })).status, 401)
  })

  test('several sign-ins of one browser end in any order', async () => {
    const [one, other] = [await open.ask('GET', '/login/openid'), await open.ask('GET', '/login/openid')]
    const cookie = `${cookieOf(one)}; ${cookieOf(other)}`
    for (const left of [other, one]) {
      const returned = pathOf(await follow(left.fields['location']))
      assert.equal((await open.ask('GET', returned, { cookie })).status, 303)
    }
  })

  const afterwards: readonly [string, string][] = [
    ['//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/api/v1/products', '/api/v1/products'],
  ]
  for (const [to, path] of afterwards)
    test(`open redirects: afterwards to ${to}`, async () => {
      const { answer } = await signIn(open, `?to=${encodeURIComponent(to)}`)
      assert.equal(answer.fields['location'], path)
    })
})

describe('RFC 6749 §10.12, RFC 7636, RFC 9700 §4: what a forger sends', async () => {
  const open = await startHosted(options)
  test('a return that this browser did not begin', async () => {
    const { returned, kept } = await signIn(open)
    for (const cookie of ['', 'orders-aaaaaaaa=x', kept.replace(/\.[^.]*$/, '.forged')])
      assert.equal((await open.ask('GET', returned, { cookie })).status, 400)
  })
  test('a code that was used before', async () => {
    const { returned, kept, answer } = await signIn(open)
    assert.equal(answer.status, 303)
    const again = await open.ask('GET', returned, { cookie: kept })
    assert.equal(again.status, 400)
    assert.doesNotMatch(cookieOf(again), /orders=/)
  })
  test('a code of another browser, with a state of one’s own', async () => {
    const victim = await open.ask('GET', '/login/openid')
    const stolen = new URL(await follow(victim.fields['location'])).searchParams.get('code') ?? ''
    const own = await open.ask('GET', '/login/openid')
    const returned = new URL(await follow(own.fields['location']))
    returned.searchParams.set('code', stolen)
    const answer = await open.ask('GET', pathOf(returned.href), { cookie: cookieOf(own) })
    assert.equal(answer.status, 400)
  })
  test('the person declines', async () => {
    const left = await open.ask('GET', '/login/openid')
    const state = new URL(String(left.fields['location'])).searchParams.get('state')
    const returned = `/login/openid/return?error=access_denied&state=${state}`
    const answer = await open.ask('GET', returned, { cookie: cookieOf(left) })
    assert.equal(answer.status, 403)
    assert.match(answer.text, /declined/)
  })
  const lies: readonly [string, Mischief][] = [
    ['of another key', { key: wrong.privateKey }],
    ['of another nonce', { claims: claims => ({ ...claims, nonce: 'another' }) }],
    ['without a nonce', { claims: ({ nonce: _, ...claims }) => claims }],
    ['without a subject', { claims: ({ sub: _, ...claims }) => claims }],
    ['no JSON', { answer: [200, '<html>'] }],
    ['no ID token', { answer: [200, JSON.stringify({ access_token: 'a', token_type: 'Bearer' })] }],
    ['unsigned', { answer: [200, JSON.stringify({ access_token: 'a', token_type: 'Bearer', id_token: 'e30.e30.' })] }],
  ]
  for (const [what, mischief] of lies)
    test(`§3.1.3.7 an ID token ${what} begins no session`, async () => {
      provider.misbehave(mischief)
      const { answer } = await signIn(open)
      provider.misbehave({})
      assert.equal(answer.status, 400)
      assert.doesNotMatch(cookieOf(answer), /orders=/)
      assert.equal(open.lines.at(-1)?.level, 'error', 'the operator is told why')
    })
})

describe('a provider that cannot answer', async () => {
  const open = await startHosted(options)
  test('5xx at the end is 503 with Retry-After, and no session', async () => {
    provider.misbehave({ answer: [503, '{}'] })
    const { answer } = await signIn(open)
    provider.misbehave({})
    assert.deepEqual([answer.status, answer.fields['retry-after']], [503, '5'])
  })
  test('a provider that is down is 503 at the beginning, and is asked again', async () => {
    const other = await startProvider()
    const away = await startHosted({ openid: { ...options.openid, issuer: 'http://127.0.0.1:9' } })
    assert.equal((await away.ask('GET', '/login/openid')).status, 503)
    assert.equal((await away.ask('GET', '/login')).status, 200)
    other.stop()
  })
})

describe('the people of the service have the rights', async () => {
  const open = await startHosted({ openid: { ...options.openid, rights: 'people' } })
  test('a name that they have begins a session of that person', async () => {
    const { answer } = await signIn(open)
    assert.match(cookieOf(answer), /^orders=[^~]/)
  })
  test('another name is told so', async () => {
    provider.misbehave({ claims: claims => ({ ...claims, sub: 'stranger' }) })
    const { answer } = await signIn(open)
    provider.misbehave({})
    assert.equal(answer.status, 403)
    assert.match(answer.text, /knows you as stranger/)
  })
  test('rights that fill no cookie are told so', async () => {
    const full = await startHosted(options)
    provider.misbehave({ claims: claims => ({ ...claims, realm: { roles: Array(900).fill('clerk') } }) })
    const { answer } = await signIn(full)
    provider.misbehave({})
    assert.equal(answer.status, 403)
    assert.match(answer.text, /more roles and claims/)
  })
})

const mistakes: readonly [string, ServeOptions, RegExp][] = [
  ['an issuer in cleartext', { openid: { issuer: 'http://login.example.org', client } }, /is not an https address/],
  ['no client', { openid: { issuer: 'https://login.example.org', client: '' } }, /--openid-client/],
  [
    'no public address, where others reach it',
    { host: '0.0.0.0', openid: { issuer: 'https://login.example.org', client } },
    /--public-url/,
  ],
  ['an unknown member', { openid: { ...options.openid, clientId: 'x' } as never }, /clientId/],
]
for (const [what, given, message] of mistakes)
  test(`a start is refused: ${what}`, async () => {
    await assert.rejects(() => startHosted({ ...given, port: 0 }), message)
  })
