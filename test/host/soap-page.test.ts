/** A SOAP endpoint in a browser: its operations, and a form that sends a message of either version. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { form, startHosted } from './hosted-service.ts'

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const write = (fields: Readonly<Record<string, string>>): string => new URLSearchParams(fields).toString()

describe('B2.10 an endpoint in a browser', async () => {
  const { ask, signIn, server } = await startHosted()
  const cookie = await signIn('clara', 'clara-secret')
  const origin = `http://127.0.0.1:${server.port}`
  const own = { ...form, ...html, cookie, origin, host: `127.0.0.1:${server.port}` }
  const tryIt = (operation: string, fields: Readonly<Record<string, string>>, more = own, path = '/soap/v2') =>
    ask('POST', `${path}?operation=${operation}`, more, write({ _next: 'send', ...fields }))

  test('every operation has a page; the descriptions and the other endpoints are linked', async () => {
    const { text } = await ask('GET', '/soap/v2', html)
    const operations = [...text.matchAll(/href="(\/soap\/v2\?operation=\w+)"/g)].map(([, href = '']) => href)
    assert.ok(operations.length > 15, String(operations.length))
    for (const href of operations) {
      const page = await ask('GET', href, html)
      assert.equal(page.status, 200, href)
      assert.match(page.text, /<form id="try"/)
    }
    for (const query of ['wsdl', 'wsdl2', 'xsd']) assert.ok(text.includes(`href="/soap/v2?${query}"`), query)
    for (const end of ['rpc', 'encoded', 'secure'])
      assert.equal((await ask('GET', `/soap/v2/${end}`, html)).status, 200)
  })

  test('B4.1 the message is sent in the chosen version, through the endpoint, as the person', async () => {
    for (const [version, type] of [
      ['1.1', 'text/xml'],
      ['1.2', 'application/soap+xml'],
    ] as const) {
      const { status, text } = await tryIt('GetOrder', { id: 'o-1', _version: version, _addressing: '1' })
      assert.equal(status, 200)
      assert.ok(text.includes(`content-type: ${type}`), text)
      assert.match(text, /&lt;id&gt;o-1&lt;\/id&gt;/)
      assert.match(text, /urn:diglot:orders:v2\/GetOrderResponse/, 'its addressing is answered')
    }
    const { text } = await tryIt('GetOrder', { id: 'o-nowhere' })
    assert.match(text, /A fault came back[\s\S]*NotFound/)
  })

  test('a problem is shown at its field before anything is sent', async () => {
    const { status, text } = await tryIt('PayOrder', { id: 'o-1', method: 'cash', amount: 'much' })
    assert.equal(status, 422)
    assert.match(text, /name="amount"[^>]*aria-invalid="true"[^>]*value="much"/)
    assert.doesNotMatch(text, /id="answer"/)
  })

  test('a message written by hand is sent as it is, and gets its fault', async () => {
    const { text } = await tryIt('GetOrder', { _message: '<nothing/>', _version: '1.1' })
    assert.match(text, /HTTP\/1\.1 500/)
  })

  test('B4.2 a form that names no operation is a message of the wrong type, not a page: `curl -d` sends it so', async () => {
    const { status, fields, text } = await ask('POST', '/soap/v2', form, '<e:Envelope/>')
    assert.equal(status, 415)
    assert.match(text, /application\/soap\+xml/)
    assert.doesNotMatch(String(fields['content-type']), /html/)
  })

  test('A5.2 no page of another origin sends a message for a person, and no cookie counts for a message itself', async () => {
    const foreign = { ...own, origin: 'https://evil.example' }
    const { status, text } = await tryIt('CancelOrder', { id: 'o-1' }, foreign)
    assert.equal(status, 403)
    assert.doesNotMatch(text, /id="answer"/)
    const envelope =
      '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder></e:Body></e:Envelope>'
    const bare = await ask('POST', '/soap/v2', { cookie, 'content-type': 'text/xml' }, envelope)
    assert.equal(bare.status, 401)
    const anonymous = await tryIt('GetOrder', { id: 'o-1' }, { ...own, cookie: '' })
    assert.match(anonymous.text, /HTTP\/1\.1 401/)
  })

  test('B5.2 if WS-Security is required the page sends nothing', async () => {
    const { text } = await tryIt('GetOrder', { id: 'o-1' }, own, '/soap/v2/secure')
    assert.doesNotMatch(text, /GetOrderResponse<|id="answer"/)
  })
})
