/** A bridge before a service that breaks its own WSDL: what is forgiven, and what is told (docs/bridge.md). */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { type BridgeLeniency, bridgeLeniencies, createForgivenNotes } from '../../src/bridge/leniency.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import type { ClientTransport } from '../../src/client/transport.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { anyone } from '../../src/contract/policy.ts'
import { x } from '../../src/contract/xml-type.ts'
import { json, startHosted } from '../host/hosted-service.ts'
import { folder, importMap, runBridge } from './map-command.ts'

const shop = x.namespace('urn:shop')
const Ask = shop.element('Ask', x.object({ item: x.element(x.string) }))
const Price = shop.element(
  'Price',
  x.object({
    amount: x.element(x.decimal),
    currency: x.element(x.simple(x.string, { values: ['EUR', 'USD'] })),
    note: x.element(x.string).optional(),
  }),
)
const Shop = openPort(
  port('Shop', {
    namespace: 'urn:shop:wsdl',
    soap: '1.1',
    exchanges: { GetPrice: exchange({ action: 'urn:GetPrice', input: Ask, output: Price }) },
  }),
  [anyone],
)

const messageOf = (body: string): string =>
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body>${body}</e:Body></e:Envelope>`

/** A bridge whose backend always answers with this Body. */
async function bridgeTo(body: string, lenient: readonly BridgeLeniency[]) {
  const content = new TextEncoder().encode(messageOf(body))
  const transport: ClientTransport = {
    prepare: () => async () => ({ status: 200, fields: { 'content-type': 'text/xml' }, content }),
    close: () => {},
  }
  const notes: string[] = []
  const note = (line: string) => void notes.push(line)
  const forgave = createForgivenNotes(note)
  const app = createBridge(describeBridge('shop', 'urn:shop', [Shop]), {
    callerOf: each => createPortCaller(each, transport, { timeLimit: 20_000, lenient, forgave }),
    note,
  })
  const { ask } = await startHosted({}, app)
  const call = async () => {
    const { status, text } = await ask('POST', '/api/v1/Shop/GetPrice', json, '{"item":"tea"}')
    return [status, status === 200 ? JSON.parse(text) : text] as const
  }
  return { ask, call, notes }
}
const price = (content: string) => `<Price xmlns="urn:shop">${content}</Price>`
const whole = { amount: '12.50', currency: 'EUR' }

const nil = '<note xmlns:i="http://www.w3.org/2001/XMLSchema-instance" i:nil="true"/>'
const swapped = price('<currency>EUR</currency><amount>12.50</amount>')
const cases: readonly (readonly [kind: BridgeLeniency, body: string, flaw: string])[] = [
  ['order', swapped, '/Price[1] has currency before amount'],
  [
    'unknown',
    price('<amount>12.50</amount><currency>EUR</currency><rank>1</rank>'),
    '/Price[1]/rank[1] is not declared',
  ],
  ['nil', price(`<amount>12.50</amount><currency>EUR</currency>${nil}`), '/Price[1]/note[1] is nil'],
  [
    'namespace',
    price('<amount xmlns="">12.50</amount><currency>EUR</currency>'),
    '/Price[1]/amount[1] has amount in no namespace in place of the namespace urn:shop',
  ],
]
for (const [kind, body, flaw] of cases)
  test(`${kind}: 502 without it; with it the response is passed on, and reported once`, async () => {
    const strict = await bridgeTo(body, [])
    assert.equal((await strict.call())[0], 502)
    const lenient = await bridgeTo(body, [kind])
    assert.deepEqual(await lenient.call(), [200, whole])
    assert.deepEqual(await lenient.call(), [200, whole])
    assert.deepEqual(lenient.notes, [`Shop.GetPrice: forgiven (${kind}), reported once: ${flaw}`])
  })

test('flaws are reported at a thousand places, and then that there are more', () => {
  const notes: string[] = []
  const forgave = createForgivenNotes(line => void notes.push(line))
  for (let i = 0; i < 1100; i++)
    forgave('Shop.GetPrice', { kind: 'unknown', path: `/a${i}`, detail: 'is not declared' })
  assert.equal(notes.length, 1001)
  assert.equal(notes.at(-1), 'flaws at 1000 places were tolerated: further places are not reported')
})

test('what callers may rely on is never forgiven: a value that is missing, or out of its bounds', async () => {
  for (const content of ['<amount>12.50</amount>', '<amount>12.50</amount><currency>DM</currency>']) {
    const { call, notes } = await bridgeTo(price(content), bridgeLeniencies)
    assert.equal((await call())[0], 502)
    assert.match(notes.join(), /currency/)
  }
})

test('diglot bridge --lenient, or `behind` of its map, says what is forgiven', { timeout: 120_000 }, async () => {
  const partner = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/xml' }).end(messageOf(swapped)))
  })
  await new Promise<void>(resolve => void partner.listen(0, '127.0.0.1', resolve))
  after(() => {
    partner.closeAllConnections()
    partner.close()
  })
  const to = `http://127.0.0.1:${(partner.address() as AddressInfo).port}/`
  const wsdl = join(folder, 'partner.wsdl')
  writeFileSync(wsdl, (await (await bridgeTo(swapped, [])).ask('GET', '/soap/Shop?wsdl')).text)
  const write = (name: string, lenient: string) => {
    writeFileSync(join(folder, name), `${importMap(wsdl)}\nexport const behind = { lenient: ['${lenient}'] }\n`)
    return join(folder, name)
  }
  const statusOf = async (words: readonly string[]) => {
    const { url, said } = await runBridge([wsdl, '--to', to, ...words])
    assert.notEqual(url, '', said)
    const path = `${new URL(url).origin}/api/v1/Shop/GetPrice`
    return (await fetch(path, { method: 'POST', headers: json, body: '{"item":"tea"}' })).status
  }
  assert.equal(await statusOf(['--anyone']), 502)
  assert.equal(await statusOf(['--anyone', '--lenient', 'nil', '--lenient', 'order']), 200)
  assert.equal(await statusOf(['--map', write('order.ts', 'order')]), 200)
  const refused = await runBridge([wsdl, '--to', to, '--map', write('missing.ts', 'missing')])
  assert.match(refused.said, /missing\.ts: behind\.lenient names missing: use namespace, order, unknown, nil/)
})
