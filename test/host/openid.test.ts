/** OpenID Connect Core 1.0 with PKCE (RFC 7636): signing in with a browser at a provider of the test. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import type { ServeOptions } from '../../src/host/serve.ts'
import { type Answer, form, type Hosted, startHosted } from './hosted-service.ts'

const [right, wrong] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
const client = 'orders'

/** How the provider deviates from the standard. */
interface Mischief {
  /** Changes the claims of the ID token. */
  readonly claims?: (claims: Record<string, unknown>) => Record<string, unknown>
  readonly key?: CryptoKey
  /** Answers the code instead of the tokens. */
  readonly answer?: readonly [status: number, content: string]
  /** Octets of white space after the tokens, in gzip. */
  readonly padding?: number
}

/** Members of the provider's metadata besides those that all need. */
type Metadata = Readonly<Record<string, string>>

/** A provider that signs in whoever comes, as its standard says. */
async function startProvider(metadata: (issuer: string) => Metadata = () => ({})) {
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
        ...metadata(issuer()),
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
    const tokens = { access_token: 'a', token_type: 'Bearer', id_token }
    if (mischief.padding === undefined) return send(200, tokens)
    const padded = gzipSync(JSON.stringify(tokens) + ' '.repeat(mischief.padding))
    return response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(padded)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => server.close())
  const issuer = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  /** A logout token of its own, with these changes. */
  const signLogout = (
    payload: Record<string, unknown>,
    { key = right.privateKey, typ = 'logout+jwt' as string | undefined, from = issuer(), to = client } = {},
  ): Promise<string> =>
    new SignJWT({ jti: randomUUID(), events: { [logoutEvent]: {} }, ...payload })
      .setProtectedHeader({ alg: 'ES256', ...(typ !== undefined && { typ }) })
      .setIssuer(from)
      .setAudience(to)
      .sign(key)
  return {
    issuer: issuer(),
    asked,
    signLogout,
    misbehave: (next: Mischief) => (mischief = next),
    stop: () => server.close(),
  }
}

const logoutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const nowSeconds = (): number => Math.floor(Date.now() / 1000)

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

/** There and back; gives the response to the return, and what the browser has kept. */
async function signIn(open: Hosted, to = '') {
  const left = await open.ask('GET', `/login/openid${to}`)
  assert.equal(left.status, 303)
  const returned = pathOf(await follow(left.fields['location']))
  const kept = cookieOf(left)
  return { returned, kept, answer: await open.ask('GET', returned, { cookie: kept }) }
}

const unusable = 'another party or a file of settings cannot be used'

describe('OpenID Connect Core 1.0 §3.1: signing in with a browser', async () => {
  const open = await startHosted(options)
  test('the log-in page leads there, with the path to come back to', async () => {
    const { text } = await open.ask('GET', '/login?to=/api/v1/orders')
    assert.match(text, /href="login\/openid\?to=%2Fapi%2Fv1%2Forders"[^>]*>Sign in with Example</)
    assert.doesNotMatch((await open.ask('GET', '/login?to=//evil.example')).text, /evil/)
  })

  test('a person who returns with proof has a session with the roles of the ID token', async () => {
    const { answer } = await signIn(open, '?to=/api/v1/orders')
    assert.deepEqual([answer.status, answer.fields['location']], [303, '/api/v1/orders'])
    const [session, removed] = answer.fields['set-cookie'] as string[]
    assert.match(session ?? '', /^orders=~.*; HttpOnly; SameSite=Lax$/)
    assert.match(removed ?? '', /^orders-[\w-]{8}=; Max-Age=0;/)
    const orders = await open.ask('GET', '/api/v1/orders', { cookie: session?.split(';')[0] ?? '' })
    assert.equal(orders.status, 200, 'a clerk reads orders')
  })

  test('a session with fewer rights has fewer rights, and an altered one none', async () => {
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

describe('RFC 6749 §10.12, RFC 7636, RFC 9700 §4: requests of a forger', async () => {
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
    ['of an answer that decodes to more than 1 MiB', { padding: 2 ** 20 }],
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
      assert.equal(open.lines.at(-1)?.message, unusable, 'the operator is told why')
      assert.ok(!open.lines.some(({ message }) => message === 'internal error'), 'a stranger causes no alert')
    })
})

describe('a provider that cannot respond', async () => {
  const open = await startHosted(options)
  test('5xx at the end is 503 with Retry-After, and no session', async () => {
    provider.misbehave({ answer: [503, '{}'] })
    const { answer } = await signIn(open)
    provider.misbehave({})
    assert.deepEqual([answer.status, answer.fields['retry-after']], [503, '5'])
  })
  test('a provider that is down gives 503 at the beginning, and is tried again', async () => {
    const other = await startProvider()
    const away = await startHosted({ openid: { ...options.openid, issuer: 'http://127.0.0.1:9' } })
    assert.equal((await away.ask('GET', '/login/openid')).status, 503)
    assert.equal((await away.ask('GET', '/login')).status, 200)
    other.stop()
  })
})

describe("the service's own people have rights", async () => {
  const open = await startHosted({ openid: { ...options.openid, rights: 'people' } })
  test('a name among them begins a session of that person', async () => {
    const { answer } = await signIn(open)
    assert.match(cookieOf(answer), /^orders=[^~]/)
  })
  test('any other name is refused, and the person learns why', async () => {
    provider.misbehave({ claims: claims => ({ ...claims, sub: 'stranger' }) })
    const { answer } = await signIn(open)
    provider.misbehave({})
    assert.equal(answer.status, 403)
    assert.match(answer.text, /knows you as stranger/)
  })
  test('rights that exceed a cookie are refused, and the person learns why', async () => {
    const full = await startHosted(options)
    provider.misbehave({ claims: claims => ({ ...claims, realm: { roles: Array(900).fill('clerk') } }) })
    const { answer } = await signIn(full)
    provider.misbehave({})
    assert.equal(answer.status, 403)
    assert.match(answer.text, /more roles and claims/)
  })
})

describe('RP-Initiated Logout 1.0: signing out continues at the provider', async () => {
  const ending = await startProvider(issuer => ({ end_session_endpoint: `${issuer}/end` }))
  const own = { openid: { ...options.openid, issuer: ending.issuer } }
  const open = await startHosted(own)
  const signedIn = async (at: Hosted) => {
    const left = await at.ask('GET', '/login/openid')
    const returned = pathOf(await follow(left.fields['location']))
    return at.ask('GET', returned, { cookie: cookieOf(left) })
  }
  const signOut = (at: Hosted, cookie: string, to = '/api/v1/products') =>
    at.ask('POST', '/logout', { ...form, cookie }, new URLSearchParams({ to }).toString())

  test('§2: by a page that leads there with the ID token, a return address and a state', async () => {
    const answer = await signedIn(open)
    const hint = (answer.fields['set-cookie'] as string[]).find(each => each.startsWith('orders-provider=')) ?? ''
    assert.match(hint, /^orders-provider=ey[\w.-]+; Max-Age=28800; Path=\/logout; HttpOnly; SameSite=Lax$/)
    const out = await signOut(open, cookieOf(answer))
    assert.equal(out.status, 200)
    const [, address = ''] = /^0;url=(.*)$/.exec(String(out.fields['refresh'])) ?? []
    const { origin, pathname, searchParams: sent } = new URL(address)
    assert.equal(`${origin}${pathname}`, `${ending.issuer}/end`)
    assert.equal(sent.get('id_token_hint'), /=([^;]*)/.exec(hint)?.[1])
    assert.equal(sent.get('client_id'), client)
    assert.equal(sent.get('post_logout_redirect_uri'), `${open.server.url}/logout/openid/return`)
    assert.ok(out.text.includes(`href="${address.replaceAll('&', '&amp;')}"`), 'a link for browsers that wait')
    const removed = out.fields['set-cookie'] as string[]
    assert.match(removed[0] ?? '', /^orders=; Max-Age=0;/)
    assert.match(removed[1] ?? '', /^orders-provider=; Max-Age=0; Path=\/logout;/)
    const back = await open.ask('GET', `/logout/openid/return?state=${sent.get('state')}`)
    assert.deepEqual([back.status, back.fields['location']], [303, '/api/v1/products'])
  })
  test('§3: a return with another state leads to the entry', async () => {
    const out = await signOut(open, cookieOf(await signedIn(open)), '//evil.example')
    const state = new URL(String(out.fields['refresh']).slice(6)).searchParams.get('state')
    for (const query of [`?state=${state}`, '?state=e30.forged', '?state=', ''])
      assert.equal((await open.ask('GET', `/logout/openid/return${query}`)).fields['location'], '/')
  })
  test('a session that the provider did not begin ends here', async () => {
    const cookie = await open.signIn('clara', 'clara-secret')
    assert.deepEqual([(await signOut(open, cookie)).status], [303])
    const { fields } = await open.ask('POST', '/login', form, 'name=clara&password=clara-secret')
    assert.match(String((fields['set-cookie'] as string[])[1]), /^orders-provider=; Max-Age=0;/)
  })
  test('an ID token that exceeds a cookie is left out', async () => {
    ending.misbehave({ claims: claims => ({ ...claims, padding: 'x'.repeat(4000) }) })
    const cookie = cookieOf(await signedIn(open))
    ending.misbehave({})
    const out = await signOut(open, cookie)
    const sent = new URL(String(out.fields['refresh']).slice(6)).searchParams
    assert.deepEqual([sent.has('id_token_hint'), sent.get('client_id')], [false, client])
  })
  test('a provider without such an address, an unreachable one, and the option `here`: it ends here', async () => {
    const without = await startHosted(options)
    const cookie = cookieOf(await signedIn(without))
    assert.doesNotMatch(cookie, /orders-provider/)
    assert.equal((await signOut(without, cookie)).status, 303)
    const away = await startHosted({ openid: { ...options.openid, issuer: 'http://127.0.0.1:9' } })
    const out = await signOut(away, 'orders=x; orders-provider=ey.J.x')
    assert.deepEqual([out.status, out.fields['location']], [303, '/api/v1/products'])
    const here = await startHosted({ openid: { ...own.openid, signOut: 'here' } })
    assert.equal((await signOut(here, cookieOf(await signedIn(here)))).status, 303)
  })
})

describe('Back-Channel Logout 1.0: the provider ends sessions', async () => {
  let aheadMs = 0
  const clock = () => Date.now() + aheadMs
  const folder = await mkdtemp(join(tmpdir(), 'diglot-openid-'))
  after(() => rm(folder, { recursive: true }))
  const shared = { ...options, clock, data: join(folder, 'shared.sqlite') }
  const [open, other] = [await startHosted(shared), await startHosted(shared)]
  const people = await startHosted({ ...shared, openid: { ...options.openid, rights: 'people' } })
  const begin = async (sid: string | undefined, at = open): Promise<string> => {
    provider.misbehave({ claims: claims => ({ ...claims, ...(sid !== undefined && { sid }) }) })
    const { answer } = await signIn(at)
    provider.misbehave({})
    return (answer.fields['set-cookie'] as string[])[0]?.split(';')[0] ?? ''
  }
  const isSignedIn = async (cookie: string, at = open): Promise<boolean> =>
    (await at.ask('GET', '/api/v1/orders', { cookie })).status === 200
  const times = () => ({ iat: nowSeconds(), exp: nowSeconds() + 120 })
  const send = (token: string, fields = form, at = open) =>
    at.ask('POST', '/logout/openid/back-channel', fields, new URLSearchParams({ logout_token: token }).toString())

  test('§2.7: a token with a sid ends this session, and no other of the person', async () => {
    const [one, two] = [await begin('s-1'), await begin('s-2')]
    assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [true, true])
    const answer = await send(await provider.signLogout({ ...times(), sub: 'clara', sid: 's-1' }))
    assert.deepEqual([answer.status, answer.fields['cache-control']], [200, 'no-store'])
    assert.deepEqual([await isSignedIn(one), await isSignedIn(two)], [false, true])
  })
  test('§2.7: a token with only a subject ends all sessions that began before', async () => {
    const sessions = [await begin('s-3'), await begin(undefined), await begin('s-3', people)]
    assert.deepEqual(await Promise.all(sessions.map(each => isSignedIn(each))), [true, true, true])
    assert.equal((await send(await provider.signLogout({ ...times(), sub: 'clara' }))).status, 200)
    assert.deepEqual(await Promise.all(sessions.map(each => isSignedIn(each))), [false, false, false])
    aheadMs += 1000
    assert.equal(await isSignedIn(await begin('s-4')), true, 'a later one')
    assert.equal(await isSignedIn(await open.signIn('clara', 'clara-secret')), true, 'one by password')
  })
  test('another instance knows within ten seconds', async () => {
    const cookie = await begin('s-5')
    assert.equal(await isSignedIn(cookie, other), true)
    await send(await provider.signLogout({ ...times(), sid: 's-5' }, { typ: undefined }))
    aheadMs += 10_001
    assert.equal(await isSignedIn(cookie, other), false)
  })
  test('a cookie without its mark is invalid', async () => {
    const cookie = await begin('s-6', people)
    assert.match(cookie, /^orders=[\w-]+\.[0-9a-z]+~[\w-]{43}\.[\w-]{43}$/)
    assert.equal(await isSignedIn(cookie.replace(/~[^.]*/, ''), people), false)
    assert.equal(await isSignedIn(cookie.replace(/~[^.]*/, '~'), people), false)
  })

  const about = { sub: 'clara', sid: 's-7' }
  const lies: readonly [string, () => Promise<string> | string, RegExp][] = [
    ['of another key', () => provider.signLogout({ ...times(), ...about }, { key: wrong.privateKey }), /signature/],
    ['of another issuer', () => provider.signLogout({ ...times(), ...about }, { from: 'https://evil.example' }), /iss/],
    ['for another client', () => provider.signLogout({ ...times(), ...about }, { to: 'another' }), /aud/],
    ['that has expired', () => provider.signLogout({ iat: 1, exp: nowSeconds() - 3600, ...about }), /exp|old/],
    ['of the future', () => provider.signLogout({ iat: nowSeconds() + 3600, exp: nowSeconds() + 7200, ...about }), /iat/],
    ['without iat', () => provider.signLogout({ exp: nowSeconds() + 60, ...about }), /iat/],
    ['without exp', () => provider.signLogout({ iat: nowSeconds(), ...about }), /exp/],
    ['without jti', () => provider.signLogout({ ...times(), ...about, jti: undefined }), /jti/],
    ['without the event', () => provider.signLogout({ ...times(), ...about, events: { other: {} } }), /events/],
    ['with an event that is no object', () => provider.signLogout({ ...times(), ...about, events: { [logoutEvent]: 1 } }), /events/],
    ['with a nonce', () => provider.signLogout({ ...times(), ...about, nonce: 'n' }), /nonce/],
    ['about no one', () => provider.signLogout(times()), /sub or sid is required/],
    ['with a number for a sid', () => provider.signLogout({ ...times(), sub: 'clara', sid: 7 }), /sid/],
    ['of another type', () => provider.signLogout({ ...times(), ...about }, { typ: 'at+jwt' }), /typ/],
    ['without a signature', () => `e30.${Buffer.from(JSON.stringify(about)).toString('base64url')}.`, /./],
    ['that is none', () => 'x', /./],
  ] // biome-ignore format: rows
  for (const [what, token, why] of lies)
    test(`§2.6: a token ${what} is refused with 400, and ends nothing`, async () => {
      const cookie = await begin('s-7')
      const answer = await send(await token())
      assert.deepEqual([answer.status, answer.fields['cache-control']], [400, 'no-store'])
      assert.match(JSON.parse(answer.text).error_description, why)
      assert.equal(await isSignedIn(cookie), true)
    })
  test('§2.6: a token counts once, at any instance', async () => {
    const token = await provider.signLogout({ ...times(), sid: 's-8' })
    assert.deepEqual([(await send(token)).status, (await send(token, form, other)).status], [200, 400])
  })
  test('§2.5: other content is refused', async () => {
    assert.equal((await send('x', { 'content-type': 'application/json' })).status, 415)
    assert.equal(
      (await open.ask('POST', '/logout/openid/back-channel', form, `logout_token=${'x'.repeat(40_000)}`)).status,
      413,
    )
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
  ['an unknown way to sign out', { openid: { ...options.openid, signOut: 'nowhere' as never } }, /provider or here/],
  ['an unknown member', { openid: { ...options.openid, clientId: 'x' } as never }, /clientId/],
]
for (const [what, given, message] of mistakes)
  test(`a start is refused: ${what}`, async () => {
    await assert.rejects(() => startHosted({ ...given, port: 0 }), message)
  })
