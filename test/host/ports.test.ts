/** Ports of others, served: their messages in, their messages out, their WSDL (docs/import.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { startHosted } from './hosted-service.ts'

const shop = x.namespace('urn:shop')
const Line = shop.type('Line', { item: x.element(x.string).in(''), count: x.attribute(x.int) })
const PlaceOrder = shop.element('PlaceOrder', x.object({ line: x.element(Line).many(1) }))
const Placed = shop.element('Placed', x.object({ count: x.element(x.int) }))
const Refusal = shop.element('Refusal', x.object({ reason: x.element(x.string) }))
const Session = shop.element('Session', x.string)
const Shop = port('Shop', {
  namespace: 'urn:shop:wsdl',
  allow: [anyone],
  exchanges: {
    PlaceOrder: exchange({
      action: 'urn:PlaceOrder',
      input: PlaceOrder,
      output: Placed,
      faults: { Refusal },
      requestHeaders: { Session },
    }),
    CheckOrder: exchange({ action: 'urn:CheckOrder', input: PlaceOrder, output: Placed }),
    Close: exchange({ action: 'urn:Close', input: Session, output: Placed, allow: [role('clerk')] }),
    add: exchange({
      style: 'rpc',
      action: '',
      input: x.call('urn:rpc', 'add', { a: x.element(x.int), b: x.element(x.int) }),
      output: x.call('urn:rpc', 'addResponse', { sum: x.element(x.int) }),
    }),
  },
})
const contract = service('shop', { namespace: 'urn:shop:service', resources: [], ports: [Shop] })
const app = implement(contract, {
  Shop: {
    PlaceOrder: ({ line }, ctx) => {
      if (ctx.headers.Session === 'closed') ctx.fail('Refusal', { reason: 'the shop is closed' })
      return { count: line.reduce((sum, each) => sum + each.count, 0) }
    },
    CheckOrder: () => ({ count: -1 }),
    Close: () => ({ count: 0 }),
    add: ({ a, b }) => ({ sum: a + b }),
  },
})
const hosted = startHosted({}, app)
const send = async (body: string, action = '""', header = '') =>
  (await hosted).ask(
    'POST',
    '/soap/Shop',
    { 'content-type': 'text/xml; charset=utf-8', soapaction: action },
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Header>${header}</e:Header><e:Body>${body}</e:Body></e:Envelope>`,
  )
const order =
  '<PlaceOrder xmlns="urn:shop"><line count="2"><item xmlns="">tea</item></line><line count="3"><item xmlns=""/></line></PlaceOrder>'

test('a message of a port reaches its handler, and the reply has the declared names', async () => {
  const answer = await send(order, '"urn:PlaceOrder"')
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /<n1:Placed xmlns:n1="urn:shop"><n1:count>5<\/n1:count><\/n1:Placed>/)
})
test('operations that share an element are told apart by their actions', async () => {
  assert.match((await send(order, '"urn:CheckOrder"')).text, /<n1:count>-1</)
})
test('a declared fault has its element as the detail, and a header block is read', async () => {
  const answer = await send(
    order,
    '"urn:PlaceOrder"',
    '<s:Session xmlns:s="urn:shop" e:mustUnderstand="1">closed</s:Session>',
  )
  assert.equal(answer.status, 500)
  assert.match(answer.text, /<detail><n1:Refusal xmlns:n1="urn:shop"><n1:reason>the shop is closed</)
})
test('RPC/literal: accessors without a namespace, in the element of the call', async () => {
  const answer = await send('<r:add xmlns:r="urn:rpc"><b>2</b><a>1</a></r:add>')
  assert.match(answer.text, /<n1:addResponse xmlns:n1="urn:rpc"><sum>3<\/sum><\/n1:addResponse>/)
})
test('what is not valid by the schema is a Client fault with its place', async () => {
  const answer = await send(order.replaceAll(' xmlns=""', ''), '"urn:PlaceOrder"')
  assert.match(answer.text, /soap:Client/)
  assert.match(answer.text, /PlaceOrder\[1\]\/line\[1\]\/item\[1\].*expected no namespace/)
})
test('no caller is admitted whom the port does not allow', async () => {
  assert.match((await send('<Session xmlns="urn:shop">x</Session>')).text, /credentials are missing/)
})
test('the WSDL of a port has its names, actions and forms', async () => {
  const { text, status } = await (await hosted).ask('GET', '/soap/Shop?wsdl')
  assert.equal(status, 200)
  for (const part of [
    'targetNamespace="urn:shop:wsdl"',
    'soapAction="urn:PlaceOrder"',
    '<xs:element name="item" form="unqualified" type="xs:string"/>',
    '<xs:element name="line" maxOccurs="unbounded" type="ns1:Line"/>',
    'namespace="urn:rpc"',
  ])
    assert.ok(text.includes(part), `${part} is not in ${text}`)
})
