/** Signing in at a certified OpenID provider (npm oidc-provider), as a browser does: redirects, forms, cookies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
// @ts-expect-error it comes without types
import Provider from 'oidc-provider'
import { startHosted } from '../host/hosted-service.ts'
import { openBrowser, skipBrowser } from './browser.ts'

/** The cookies that a browser keeps, by origin, and where it is. */
class Browser {
  readonly #cookies = new Map<string, Map<string, string>>()
  at = ''

  async open(address: string, form?: Readonly<Record<string, string>>): Promise<Response> {
    let [next, sent] = [address, form]
    for (let hops = 0; hops < 20; hops++) {
      this.at = next
      const kept = this.#cookies.get(new URL(next).origin) ?? new Map<string, string>()
      const cookie = [...kept].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(next, {
        redirect: 'manual',
        headers: { cookie, accept: 'text/html' },
        ...(sent && { method: 'POST', body: new URLSearchParams(sent) }),
      })
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) kept.delete(name)
        else kept.set(name, value)
      }
      this.#cookies.set(new URL(next).origin, kept)
      const to = response.headers.get('location') ?? response.headers.get('refresh')?.replace(/^0;url=/, '')
      if (to === undefined) return response
      await response.body?.cancel()
      ;[next, sent] = [new URL(to, next).href, undefined]
    }
    throw new Error(`${address} leads on without an end`)
  }

  cookies(origin: string): string {
    return [...(this.#cookies.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** Sends the form of a page, with what it has and what is typed. */
  async submit(page: string, typed: Readonly<Record<string, string>>): Promise<Response> {
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1] ?? this.at
    const fields: Record<string, string> = {}
    for (const [, name = '', value = ''] of page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g))
      fields[name] = value
    return this.open(new URL(action, this.at).href, { ...fields, ...typed })
  }
}

async function startProvider(service: () => string) {
  const holder: { answer?: RequestListener } = {}
  /** Logouts that the service did not take. */
  const refused: string[] = []
  const server = createServer((request, response) => holder.answer?.(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const begin = () => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: 'orders',
          client_secret: 'a secret',
          redirect_uris: [`${service()}/login/openid/return`],
          post_logout_redirect_uris: [`${service()}/logout/openid/return`],
          backchannel_logout_uri: `${service()}/logout/openid/back-channel`,
          backchannel_logout_session_required: true,
        },
      ],
      features: { backchannelLogout: { enabled: true } },
      // Without its guard, which refuses loopback.
      fetch: (url: URL, { dispatcher: _, ...request }: RequestInit & { dispatcher?: unknown }) => fetch(url, request),
      claims: { openid: ['sub'], profile: ['roles'] },
      conformIdTokenClaims: false,
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, roles: id === 'clara' ? ['clerk'] : [] }),
      }),
    })
    provider.on('backchannel.error', (_: unknown, error: Error) => refused.push(error.message))
    holder.answer = provider.callback()
  }
  return { issuer, begin, refused }
}

async function startBoth() {
  const address = { of: '' }
  const provider = await startProvider(() => address.of)
  const hosted = await startHosted({
    openid: { issuer: provider.issuer, client: 'orders', secret: 'a secret' },
  })
  address.of = hosted.server.url
  provider.begin()
  return { ...hosted, provider }
}

test('OpenID Connect Core 1.0 §3.1: log-in, consent and return at oidc-provider', async () => {
  const { server, lines, provider } = await startBoth()
  for (const [name, status] of [
    ['clara', 200],
    ['nobody', 403],
  ] as const) {
    const browser = new Browser()
    let response = await browser.open(`${server.url}/login/openid?to=/api/v1/orders`)
    for (let pages = 0; pages < 4 && browser.at.startsWith(provider.issuer); pages++)
      response = await browser.submit(await response.text(), { login: name, password: 'any' })
    assert.equal(browser.at, `${server.url}/api/v1/orders`, lines.at(-1)?.message ?? '')
    assert.equal(response.status, status, `${name} at the orders`)
  }
})

test('RP-Initiated and Back-Channel Logout 1.0: signing out ends the sessions of both, at oidc-provider', async () => {
  const { server, ask, provider } = await startBoth()
  const signIn = async (browser: Browser): Promise<string> => {
    let response = await browser.open(`${server.url}/login/openid?to=/api/v1/orders`)
    let asked = 0
    for (; asked < 4 && browser.at.startsWith(provider.issuer); asked++)
      response = await browser.submit(await response.text(), { login: 'clara', password: 'any' })
    assert.equal(response.status, 200)
    return `${asked} pages`
  }
  const statusOf = async (cookie: string): Promise<number> => (await ask('GET', '/api/v1/orders', { cookie })).status
  const [browser, elsewhere] = [new Browser(), new Browser()]
  assert.equal(await signIn(browser), '2 pages', 'log-in and consent')
  await signIn(elsewhere)
  const [kept, other] = [browser.cookies(server.url), elsewhere.cookies(server.url)]
  assert.equal(await signIn(browser), '0 pages', 'the provider knows the browser')
  const again = browser.cookies(server.url)

  const page = await browser.open(`${server.url}/logout`, { to: '/api/v1/products' })
  assert.ok(browser.at.startsWith(provider.issuer), 'the provider asks')
  const end = await browser.submit(await page.text(), { logout: 'yes' })
  assert.deepEqual([browser.at, end.status], [`${server.url}/api/v1/products`, 200])
  assert.equal(browser.cookies(server.url).includes('orders'), false)
  assert.deepEqual(provider.refused, [])
  assert.deepEqual(await Promise.all([kept, again, other].map(statusOf)), [401, 401, 200], 'copies of its cookies')
  assert.notEqual(await signIn(browser), '0 pages', 'the provider asks who it is')
})

test('in Chromium, whose forms lead to no other site (CSP form-action), signing out goes on there, too', {
  skip: skipBrowser,
}, async () => {
  const { server, provider } = await startBoth()
  const browser = await openBrowser(server.url, { javaScriptEnabled: false })
  const page = await browser.newPage()
  await page.goto('/login/openid?to=/api/v1/orders')
  await page.fill('input[name=login]', 'clara')
  await page.fill('input[name=password]', 'any')
  for (const name of ['Sign-in', 'Continue']) await page.getByRole('button', { name }).click()
  await page.waitForURL('/api/v1/orders')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(({ origin }) => origin === provider.issuer)
  await page.getByRole('button', { name: 'Yes, sign me out' }).click()
  await page.waitForURL('/api/v1/orders')
  assert.deepEqual(provider.refused, [])
  const names = (await browser.cookies(server.url)).map(({ name }) => name)
  assert.deepEqual(
    names.filter(name => name.startsWith('orders')),
    [],
  )
})
