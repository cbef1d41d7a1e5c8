/** Signing in at a certified OpenID provider (npm oidc-provider), as a browser does: redirects, forms, cookies. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
// @ts-expect-error it comes without types
import Provider from 'oidc-provider'
import { startHosted } from '../host/hosted-service.ts'

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
      const to = response.headers.get('location')
      if (to === null) return response
      await response.body?.cancel()
      ;[next, sent] = [new URL(to, next).href, undefined]
    }
    throw new Error(`${address} leads on without an end`)
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

async function startProvider(returnAddress: () => string) {
  const holder: { answer?: RequestListener } = {}
  const server = createServer((request, response) => holder.answer?.(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  after(() => server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const begin = () => {
    const provider = new Provider(issuer, {
      clients: [{ client_id: 'orders', client_secret: 'a secret', redirect_uris: [returnAddress()] }],
      claims: { openid: ['sub'], profile: ['roles'] },
      conformIdTokenClaims: false,
      findAccount: (_context: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, roles: id === 'clara' ? ['clerk'] : [] }),
      }),
    })
    holder.answer = provider.callback()
  }
  return { issuer, begin }
}

test('OpenID Connect Core 1.0 §3.1: log-in, consent and return at oidc-provider', async () => {
  const address = { of: '' }
  const provider = await startProvider(() => `${address.of}/login/openid/return`)
  const { server, lines } = await startHosted({
    openid: { issuer: provider.issuer, client: 'orders', secret: 'a secret' },
  })
  address.of = server.url
  provider.begin()
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
