/**
 * What somebody without rights may learn: an order of another customer is answered as one that does not exist, to the
 * octet, by every method of every address that an order has, under every field that asks about it, and by SOAP.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, basic, startHosted } from '../host/hosted-service.ts'

let now = Date.now()
/** Time passes with each request, so that no limit ends them. */
const { ask } = await startHosted({ clock: () => now })
const send = (...request: Parameters<typeof ask>) => {
  now += 150
  return ask(...request)
}
const alice = basic('alice', 'alice-secret')
const maria = basic('maria', 'maria-secret')

interface Order {
  readonly id: string
  readonly state: string
}
const readOrders = async (who: typeof alice) =>
  (JSON.parse((await send('GET', '/api/v2/orders?size=100', who)).text) as { items: readonly Order[] }).items
const own = new Set((await readOrders(alice)).map(each => each.id))
/** One order in each state that alice may not read. */
const secret = new Map((await readOrders(maria)).filter(each => !own.has(each.id)).map(each => [each.state, each.id]))
/** As long as it, so that lengths are equal, too. */
const absentLike = (id: string): string => id.replace(/[^-]/g, (character, at) => (at < 2 ? character : 'z'))

function describeAnswer({ status, fields, text }: Answer, id: string): unknown {
  const { date: _date, 'request-id': request = '', ...kept } = fields
  const known = Object.entries(kept).filter(([name]) => !name.startsWith('ratelimit'))
  return JSON.parse(JSON.stringify([status, known, text]).replaceAll(id, 'ID').replaceAll(String(request), 'REQUEST'))
}

const parts = ['', '/payment', '/cancellation', '/shipment', '/tracking', '/delivery']
const contents: Readonly<Record<string, readonly (readonly [type: string, content: string])[]>> = {
  GET: [],
  HEAD: [],
  OPTIONS: [],
  DELETE: [],
  QUERY: [['application/json', '{}']],
  PUT: [['application/json', '{}']],
  POST: [
    ['application/json', '{"method":"card","amount":"4.95"}'],
    ['application/json', '{'],
    ['text/plain', 'x'],
  ],
  PATCH: [
    ['application/merge-patch+json', '{"note":"x"}'],
    ['application/json-patch+json', '[{"op":"test","path":"/state","value":"paid"}]'],
  ],
}
const fields: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'if-match': '*' },
  { 'if-match': '"x"' },
  { 'if-none-match': '*' },
  { 'if-none-match': '"x"' },
  { 'if-modified-since': 'Thu, 01 Jan 2026 00:00:00 GMT' },
  { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' },
  { range: 'bytes=0-1' },
  { accept: 'image/png' },
  { accept: 'text/html' },
  { prefer: 'return=minimal' },
  { 'idempotency-key': '"k"' },
  { 'accept-encoding': 'identity;q=0' },
]

test('another customer has orders in each state', () =>
  assert.deepEqual([...secret.keys()].sort(), ['cancelled', 'delivered', 'paid', 'placed', 'shipped']))

for (const [state, id] of secret)
  describe(`another customer’s order that is ${state}`, () => {
    const absent = absentLike(id)
    for (const [method, sent] of Object.entries(contents))
      test(`${method}: the same response as for a missing order`, async () => {
        for (const part of parts)
          for (const [type, content] of sent.length > 0 ? sent : [[]])
            for (const more of fields) {
              const asked = { ...alice, ...more, ...(type !== undefined && { 'content-type': type }) }
              const [there, not] = [id, absent].map(async each =>
                describeAnswer(await send(method, `/api/v2/orders/${each}${part}`, asked, content), each),
              )
              assert.deepEqual(await there, await not, `${part} ${JSON.stringify(more)} ${content}`)
            }
      })
    test('SOAP: the same response as for a missing order', async () => {
      for (const operation of ['GetOrder', 'CancelOrder', 'PayOrder', 'ShipOrder', 'TrackOrder', 'DeleteOrder']) {
        const [there, not] = [id, absent].map(async each => {
          const more = operation === 'PayOrder' ? '<method>card</method><amount>4.95</amount>' : ''
          const message = `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><${operation} xmlns="urn:diglot:orders:v2"><id>${each}</id>${more}</${operation}></e:Body></e:Envelope>`
          const asked = { ...alice, 'content-type': 'application/soap+xml' }
          return describeAnswer(await send('POST', '/soap/v2', asked, message), each)
        })
        assert.deepEqual(await there, await not, operation)
      }
    })
  })

describe("another caller's job and search", async () => {
  const json = { 'content-type': 'application/json' }
  const make = async (path: string, content: object) => {
    const { status, fields: found } = await send('POST', path, { ...maria, ...json }, JSON.stringify(content))
    assert.ok(status === 201 || status === 202, `${path}: ${status}`)
    return String(found['location'] ?? '')
  }
  const range = { from: '2026-01-01', to: '2026-02-01', kind: 'sales' }
  const job = await make('/api/v2/reports', range)
  const found = await make('/api/v2/searches', { q: 'gift' })
  while (JSON.parse((await ask('GET', job, maria)).text).state !== 'completed') await sleep(50)
  const result = job.replace('/jobs/', '/')
  for (const path of [job, `${job}/cancellation`, result, found])
    test(path.replace(/[^/]+-[^/]+/, '{id}'), async () => {
      const [id = ''] = /[^/]+-[^/]+/.exec(path) ?? []
      for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'PUT', 'POST'])
        for (const more of fields) {
          const absent = absentLike(id)
          const [there, not] = [id, absent].map(async each =>
            describeAnswer(await send(method, path.replace(id, each), { ...alice, ...more }), each),
          )
          assert.deepEqual(await there, await not, `${method} ${JSON.stringify(more)}`)
        }
    })
  test('they still exist', async () => {
    for (const path of [job, result, found]) assert.equal((await send('GET', path, maria)).status, 200, path)
  })
})

test('filters, sums and pages reveal nothing about them', async () => {
  for (const id of secret.values()) {
    for (const query of [`id=${id}`, `customer=c-2`, `customer[ne]=c-1`, `id[in]=${id}`]) {
      const { status, text } = await send('GET', `/api/v2/orders?${query}`, alice)
      if (status === 200) assert.deepEqual(JSON.parse(text).items, [], query)
      assert.doesNotMatch(text, new RegExp(`"${id}"`))
    }
  }
})
