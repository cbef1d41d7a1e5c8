/** The service in a browser: every page leads on, and back. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { basic, form, json, startHosted } from './hosted-service.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const hrefsIn = (page: string): string[] =>
  [...page.matchAll(/<a [^>]*href="([^"]+)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'))

describe('A1.4 pages for people', async () => {
  const { ask, signIn } = await startHosted()
  const cookie = await signIn('clara', 'clara-secret')

  test('a page that asks for credentials leads to the log-in, and the log-in back to it', async () => {
    const target = '/api/v2/orders?state=paid&size=2'
    const refused = await ask('GET', target, html)
    assert.equal(refused.status, 401)
    const login = hrefsIn(refused.text).find(href => href.startsWith('/login')) ?? ''
    const page = await ask('GET', login, html)
    assert.equal(page.status, 200)
    const to = /name="to" type="hidden" value="([^"]+)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    assert.equal(to, target)
    assert.doesNotMatch(page.text, /Sign out/, 'there is no session')
    assert.match((await ask('GET', login, { ...html, cookie })).text, /<button class="minor">Sign out/)
    const given = new URLSearchParams({ name: 'clara', password: 'clara-secret', to }).toString()
    const back = await ask('POST', '/login', form, given)
    assert.deepEqual([back.status, back.fields['location']], [303, target])
    const missing = await ask('GET', '/api/v2/orders/none', { ...html, cookie })
    assert.ok(!missing.text.includes('/login'), 'only a 401 does')
  })

  test('a page that is the same for everyone names a person who has signed in, and is then only theirs', async () => {
    for (const path of ['/decisions', '/problems/stale']) {
      const open = await ask('GET', path, html)
      assert.deepEqual(
        [open.fields['cache-control'], open.fields['vary']],
        ['public, max-age=3600', 'Accept-Encoding, Authorization, Cookie, Api-Key'],
      )
      assert.ok(hrefsIn(open.text).includes(`/login?to=${encodeURIComponent(path)}`), 'signing in leads back to it')
      const own = await ask('GET', path, { ...html, cookie })
      assert.equal(own.fields['cache-control'], 'private, no-cache')
      assert.match(own.text, /<span class="name">clara<\/span>[\s\S]*Sign out/)
    }
  })

  test('every link of every page, from the entry on, is a page; each leads to the entry, the lists and SOAP', async () => {
    const seen = new Set(['/'])
    for (const at of seen) {
      if (seen.size > 150) break
      const { status, text, fields } = await ask('GET', at, { ...html, cookie })
      assert.equal(status, 200, at)
      if (!String(fields['content-type']).startsWith('text/html')) continue
      const hrefs = hrefsIn(text)
      const [, version] = /^\/api\/(v\d)/.exec(at) ?? []
      if (version !== undefined)
        for (const place of [`/api/${version}`, `/api/${version}/orders`, `/soap/${version}`])
          assert.ok(hrefs.includes(place), `${place} from ${at}`)
      for (const href of hrefs) if (href.startsWith('/')) seen.add(href)
    }
    for (const path of ['/login', '/changes', '/health/ready', '/openapi.json', '/soap/v2', '/soap/v2?wsdl', '/api/v1'])
      assert.ok(seen.has(path), path)
    assert.ok(
      [...seen].some(at => at.startsWith('/api/v2/customers/c-')),
      'references in tables are links',
    )
  })

  test('targets that accept only POST are forms on the entry, and no links', async () => {
    const { text } = await ask('GET', '/', { ...html, ...basic('clara', 'clara-secret') })
    assert.ok(!text.includes('>Sign in</a>\n<p>'), 'who has signed in is not asked to')
    for (const path of ['/api/v2/searches', '/api/v2/reports']) {
      assert.ok(text.includes(`method="post" action="${path}?_method=POST"`), path)
      assert.ok(!hrefsIn(text).includes(path), path)
    }
    const made = await ask('POST', '/api/v2/searches', { ...form, ...html, ...basic('clara', 'clara-secret') }, 'q=oak')
    assert.equal(made.status, 201)
  })

  test('A1.4 for programs the entry of each version links its own descriptions', async () => {
    for (const version of ['v1', 'v2']) {
      const { _links: links } = JSON.parse((await ask('GET', `/api/${version}`)).text)
      for (const [rel, href] of [
        ['soap', `/soap/${version}`],
        ['wsdl', `/soap/${version}?wsdl`],
        ['wsdl2', `/soap/${version}?wsdl2`],
        ['xsd', `/soap/${version}?xsd`],
        ['service-desc', '/openapi.json'],
        ['changes', '/changes'],
        ['health', '/health/ready'],
        ['login', '/login'],
      ] as const) {
        assert.equal(links[rel].href, href)
        const accept = links[rel].type ?? '*/*'
        assert.equal((await ask('GET', href, { accept })).status, 200, rel)
      }
    }
  })
})

test('an origin that the settings name may fetch pages and SOAP too', async () => {
  const origin = 'https://app.example'
  const { ask } = await startHosted({ settings: { origins: [origin] } })
  const preflight = {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  }
  for (const at of ['/openapi.json', '/soap/v2', '/soap/v2?wsdl', '/changes', '/health/live', '/api/v2/products']) {
    const allowed = await ask('OPTIONS', at, preflight)
    assert.deepEqual([allowed.status, allowed.fields['access-control-allow-origin']], [204, origin], at)
    assert.match(String(allowed.fields['access-control-allow-methods']), /GET/)
    assert.equal((await ask('GET', at, { origin })).fields['access-control-allow-origin'], origin, at)
    assert.equal(
      (await ask('GET', at, { origin: 'https://evil.example' })).fields['access-control-allow-origin'],
      undefined,
    )
  }
})

test('/openapi.json is OpenAPI 3.1, 3.2 on request, and no other release', async () => {
  const { ask } = await startHosted()
  for (const [query, release] of [
    ['', '3.1'],
    ['?openapi=3.1', '3.1'],
    ['?openapi=3.2', '3.2'],
  ]) {
    const { status, fields, text } = await ask('GET', `/openapi.json${query}`)
    assert.deepEqual([status, fields['content-type']], [200, `application/vnd.oai.openapi+json;version=${release}`])
    assert.equal(JSON.parse(text).openapi, `${release}.0`)
  }
  const other = await ask('GET', '/openapi.json?openapi=2.0')
  assert.equal(other.status, 400)
  assert.match(other.text, /openapi=2\.0 is not supported: use 3\.1 or 3\.2/)
})

test('row 8 an unknown expectation is refused in either face before anything runs', async () => {
  const { ask, server } = await startHosted()
  const clerk = { authorization: `Bearer ${await server.token('clara', ['clerk'])}` }
  const before = (await ask('GET', '/api/v1/orders/o-1', clerk)).text
  const pay = JSON.stringify({ method: 'card', amount: JSON.parse(before).total })
  const message = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><PayOrder xmlns="urn:diglot:orders:v1"><id>o-1</id><method>card</method><amount>${JSON.parse(before).total}</amount></PayOrder></e:Body></e:Envelope>`
  const rest = await ask('POST', '/api/v1/orders/o-1/payment', { ...clerk, ...json, expect: 'payment' }, pay)
  const soap = await ask('POST', '/soap/v1', { ...clerk, 'content-type': 'text/xml', expect: 'payment' }, message)
  assert.deepEqual([rest.status, soap.status], [417, 417])
  assert.equal((await ask('GET', '/api/v1/orders/o-1', clerk)).text, before)
})

test('RFC 9110 §7.4 an https target on a cleartext connection is misdirected, whatever its path', async () => {
  const { ask } = await startHosted()
  for (const path of ['/', '/api/v2/products', '/soap/v2?wsdl', '/openapi.json', '/health/live', '/login'])
    assert.equal((await ask('GET', `https://127.0.0.1${path}`)).status, 421, path)
})

test('A2.5 a refusal outside the faces is a whole problem', async () => {
  const { ask } = await startHosted()
  for (const [method, at] of [
    ['DELETE', '/openapi.json'],
    ['DELETE', '/health/live'],
    ['PUT', '/metrics'],
    ['POST', '/changes'],
    ['BREW', '/changes'],
  ] as const) {
    const { status, fields, text } = await ask(method, at)
    assert.equal(fields['content-type'], 'application/problem+json', `${method} ${at}`)
    const problem = JSON.parse(text)
    assert.equal(problem.status, status)
    for (const member of ['title', 'detail'])
      assert.ok(String(problem[member]).length > 5, `${member} of ${at}: ${text}`)
  }
})
