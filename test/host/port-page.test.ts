/** A port of others in a browser: its operations, and an example of each message that can be sent. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { form, startHosted } from './hosted-service.ts'

const shop = x.namespace('urn:shop')
const Line = shop.type('Line', { item: x.element(x.string).in(''), count: x.attribute(x.int) })
const PlaceOrder = shop.element('PlaceOrder', x.object({ line: x.element(Line).many(1) }))
const Placed = shop.element('Placed', x.object({ count: x.element(x.int) }))
const Refusal = shop.element('Refusal', x.object({ reason: x.element(x.string) }))
const Session = shop.element('Session', x.string)
const Item = shop.element('Item', x.string)
const Scan = shop.element('Scan', x.object({ page: x.element(x.swaRef) }))
const add = x.call('urn:calc', 'add', { a: x.element(x.int), b: x.element(x.int) })
const addEncoded = x.call('urn:calc', 'addEncoded', { a: x.element(x.int), b: x.element(x.int) })
const addResponse = x.call('urn:calc', 'addResponse', { sum: x.element(x.int) })

const exchanges = {
  PlaceOrder: exchange({
    action: 'urn:PlaceOrder',
    input: PlaceOrder,
    output: Placed,
    faults: { Refusal },
    requestHeaders: { Session },
    description: 'Orders <some> goods.',
  }),
  Notify: exchange({ action: 'urn:Notify', input: Item }),
  GetHours: exchange({ action: '', input: 'empty', output: Item, safe: true }),
  SendScan: exchange({ action: 'urn:SendScan', input: Scan, output: Placed }),
  Close: exchange({ action: 'urn:Close', input: Session, output: Placed, allow: [role('clerk')] }),
}
const Shop = port('Shop', { namespace: 'urn:shop:wsdl', allow: [anyone], description: 'For partners.', exchanges })
const Calc = port('Calc', {
  namespace: 'urn:calc:wsdl',
  soap: '1.1',
  allow: [anyone],
  exchanges: {
    add: exchange({ style: 'rpc', action: 'urn:add', input: add, output: addResponse }),
    addEncoded: exchange({ style: 'encoded', action: 'urn:addEncoded', input: addEncoded, output: addResponse }),
  },
})
const placed = () => ({ count: 1 })
const app = implement(
  service('shop', { namespace: 'urn:shop', resources: [], ports: [Shop, Calc] }),
  {
    Shop: { PlaceOrder: placed, Notify: () => {}, GetHours: () => 'nine', SendScan: placed, Close: placed },
    Calc: { add: ({ a, b }) => ({ sum: a + b }), addEncoded: ({ a, b }) => ({ sum: a + b }) },
  },
  {
    seed: () => ({ people: [{ subject: 'clara', password: 'clara-secret', roles: ['clerk'] }] }),
  },
)

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const readMarkup = (text: string): string =>
  text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
const exampleOf = (text: string): string | undefined => {
  const found = /<textarea[^>]*>\n([\s\S]*?)<\/textarea>/.exec(text)?.[1]
  return found === undefined ? undefined : readMarkup(found)
}

describe('B2.10 a port in a browser', async () => {
  const { ask, signIn, server } = await startHosted({}, app)
  const cookie = await signIn('clara', 'clara-secret')
  const host = `127.0.0.1:${server.port}`
  const own = { ...form, ...html, cookie, origin: `http://${host}`, host }
  const send = (path: string, operation: string, message: string, version: string, fields: typeof own = own) =>
    ask(
      'POST',
      `${path}?operation=${operation}`,
      fields,
      new URLSearchParams({ _message: message, _version: version, _next: 'send' }).toString(),
    )

  test('its page has its operations, who may call them, its WSDL and the other endpoints', async () => {
    const { status, text } = await ask('GET', '/soap/Shop', html)
    assert.equal(status, 200)
    for (const name of Object.keys(exchanges)) assert.ok(text.includes(`href="/soap/Shop?operation=${name}"`), name)
    for (const said of ['For partners.', 'one way', 'Refusal', 'clerk', 'href="/soap/Shop?wsdl"', 'href="/soap/Calc"'])
      assert.ok(text.includes(said), said)
    const entry = await ask('GET', '/', html)
    assert.match(entry.text, /href="\/soap\/Shop"/)
  })

  for (const [path, operation, versions] of [
    ['/soap/Shop', 'PlaceOrder', ['1.2', '1.1']],
    ['/soap/Shop', 'Notify', ['1.2', '1.1']],
    ['/soap/Shop', 'GetHours', ['1.2', '1.1']],
    ['/soap/Shop', 'Close', ['1.2', '1.1']],
    ['/soap/Calc', 'add', ['1.1']],
    ['/soap/Calc', 'addEncoded', ['1.1']],
  ] as const)
    for (const version of versions)
      test(`${operation}: its example in SOAP ${version} is accepted as the message of the person`, async () => {
        const page = await ask('GET', `${path}?operation=${operation}&version=${version}`, html)
        assert.equal(page.status, 200)
        const message = exampleOf(page.text)
        assert.match(message ?? '', /^<\?xml/)
        const { status, text } = await send(path, operation, message ?? '', version)
        assert.equal(status, 200)
        assert.match(text, operation === 'Notify' ? /HTTP\/1\.1 202/ : /HTTP\/1\.1 200 OK/)
        assert.doesNotMatch(text, /A fault came back/)
      })

  test('its own text is escaped, and a message by hand gets its fault', async () => {
    const { text } = await ask('GET', '/soap/Shop?operation=PlaceOrder', html)
    assert.match(text, /Orders &lt;some&gt; goods\./)
    assert.match((await send('/soap/Shop', 'PlaceOrder', '<nothing/>', '1.1')).text, /HTTP\/1\.1 500/)
  })

  test('a message that a page cannot send is named as such', async () => {
    const { text } = await ask('GET', '/soap/Shop?operation=SendScan', html)
    assert.match(text, /Parts travel with its message/)
    assert.equal(exampleOf(text), undefined)
    assert.equal((await ask('GET', '/soap/Shop?operation=toString', html)).status, 404)
  })

  test('A5.2 no page of another origin sends a message, and an anonymous person calls what anyone may', async () => {
    const message = exampleOf((await ask('GET', '/soap/Shop?operation=Close', html)).text) ?? ''
    const foreign = await send('/soap/Shop', 'Close', message, '1.2', { ...own, origin: 'https://evil.example' })
    assert.equal(foreign.status, 403)
    assert.match((await send('/soap/Shop', 'Close', message, '1.2', { ...own, cookie: '' })).text, /HTTP\/1\.1 401/)
  })

  test('RFC 9110 §15.5.2 its page for wrong credentials is 401, not an incident', async () => {
    for (const authorization of ['Bearer stale', `Basic ${btoa('clara:wrong')}`])
      for (const [method, path] of [
        ['GET', '/soap/Shop'],
        ['GET', '/soap/Calc?operation=add'],
        ['POST', '/soap/Shop?operation=GetHours'],
      ] as const) {
        const { status, fields } = await ask(method, path, { ...own, cookie: '', authorization }, '')
        assert.equal(status, 401, `${method} ${path}`)
        assert.match(String(fields['www-authenticate']), /Basic realm="shop"/)
      }
  })

  test('programs reach the endpoint as before', async () => {
    assert.equal((await ask('GET', '/soap/Shop')).status, 405)
    assert.match(String((await ask('GET', '/soap/Shop?wsdl', html)).fields['content-type']), /xml/)
  })
})
