/** curl lives an order's life by REST; what one face did the other sees (rules A4.2, A4.11, A4.20, A3.4). */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { missing, run, service } from './peer.ts'

const skip = missing('curl', 'curl')

interface Answer {
  readonly status: number
  readonly fields: Readonly<Record<string, string>>
  readonly content: string
}
/** A request by curl; the answer's last head and its content. */
function curl(...words: string[]): Answer {
  const [head = '', ...content] = run('curl', ['-sS', '-i', '--max-time', '10', ...words]).split('\r\n\r\n')
  const [line = '', ...lines] = head.split('\r\n')
  const fields = lines
    .map(each => each.split(/:\s*(.*)/s))
    .map(([name = '', value = '']) => [name.toLowerCase(), value])
  return { status: Number(line.split(' ')[1]), fields: Object.fromEntries(fields), content: content.join('\r\n\r\n') }
}

it('A4.2 A4.11 A4.20 an order created by REST and paid by SOAP is paid in REST, and the old ETag gives 412', {
  skip,
}, async () => {
  const { url, token } = await service()
  const bearer = ['-H', `Authorization: Bearer ${token('alice', 'customer')}`]
  const clerk = ['-H', `Authorization: Bearer ${token('clara', 'clerk')}`]
  const json = ['-H', 'Content-Type: application/json']
  const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }
  const made = curl(...bearer, ...json, '-d', JSON.stringify(draft), `${url}/api/orders`)
  assert.equal(made.status, 201)
  const address = new URL(made.fields['location'] ?? '', url).href
  const order = JSON.parse(made.content)
  assert.equal(order.state, 'placed')
  const tag = made.fields['etag'] ?? ''
  const envelope = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><PayOrder xmlns="urn:diglot:orders:v2"><id>${order.id}</id><method>card</method><amount>${order.total}</amount></PayOrder></e:Body></e:Envelope>`
  const paid = curl(
    ...bearer,
    '-H',
    'Content-Type: text/xml; charset=utf-8',
    '-H',
    'SOAPAction: "urn:diglot:orders:v2/PayOrder"',
    '-d',
    envelope,
    `${url}/soap/v2`,
  )
  assert.equal(paid.status, 200, paid.content)
  const now = curl(...bearer, address)
  assert.equal(JSON.parse(now.content).state, 'paid')
  const stale = curl(...clerk, ...json, '-X', 'PUT', '-H', `If-Match: ${tag}`, '-d', JSON.stringify(draft), address)
  assert.equal(stale.status, 412)
  assert.match(stale.fields['content-type'] ?? '', /application\/problem\+json/)
  const matched = curl(...bearer, '-H', `If-None-Match: ${now.fields['etag']}`, address)
  assert.equal(matched.status, 304)
  assert.equal(matched.content, '')
  const declined = curl(...bearer, ...json, '-d', '{"method":"card","amount":"1.00"}', `${url}/api/orders/o-1/payment`)
  assert.equal(declined.status, 422)
  const get = JSON.parse(curl(...bearer, `${url}/api/orders/o-1`).content)
  const payment = curl(
    ...bearer,
    ...json,
    '-d',
    JSON.stringify({ method: 'card', amount: get.total }),
    `${url}/api/orders/o-1/payment`,
  )
  assert.equal(payment.status, 201)
  assert.equal(curl(...bearer, new URL(payment.fields['location'] ?? '', url).href).status, 200)
  const cancelled = curl(...bearer, ...json, '-d', '{}', new URL(get._links.cancel.href, url).href)
  assert.equal(cancelled.status, 200)
  assert.equal(JSON.parse(cancelled.content).state, 'cancelled')
  const again = curl(
    ...bearer,
    ...json,
    '-d',
    JSON.stringify({ method: 'card', amount: get.total }),
    `${url}/api/orders/o-1/payment`,
  )
  assert.equal(again.status, 409)
})
