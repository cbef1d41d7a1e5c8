/** Bodies of several elements or none (WSDL 1.1 §3.5): served, described, and refused if wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Port } from '../../src/contract/exchange.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { x } from '../../src/contract/xml-type.ts'
import { bindExchanges } from '../../src/soap/operations/exchange-operation.ts'
import { importText } from '../import/folder-find.ts'
import { digestPort } from '../import/port-digest.ts'
import { createEchoNode, createPortContext } from '../soap/echo.ts'
import { startHosted } from './hosted-service.ts'

const shop = x.namespace('urn:shop')
const Item = shop.element('Item', x.string)
const Count = shop.element('Count', x.int).nillable()
const Gift = shop.element('Gift', x.boolean)
const Parcel = shop.type('Parcel', { weight: x.element(x.int), note: x.element(x.string).optional() })
const Shop = port('Shop', {
  namespace: 'urn:shop:wsdl',
  allow: [anyone],
  exchanges: {
    order: exchange({
      action: 'urn:order',
      input: x.body({ what: x.ref(Item), count: x.ref(Count), gift: x.ref(Gift) }),
      output: x.body({ count: x.ref(Count), item: x.ref(Item), again: x.ref(Item) }),
    }),
    count: exchange({
      action: 'urn:count',
      input: x.body({ what: x.ref(Item), count: x.ref(Count) }),
      output: Count,
    }),
    find: exchange({ action: 'urn:find', input: Item, output: Count }),
    weigh: exchange({ action: 'urn:weigh', input: x.body(Parcel), output: 'empty' }),
    keep: exchange({ action: 'urn:keep', input: x.body({ any: x.any() }), output: x.body({ any: x.any() }) }),
    add: exchange({
      ...{ style: 'rpc', action: '', input: x.call('urn:r', 'add', { a: x.element(x.int) }) },
      output: x.call('urn:r', 'addResponse', { sum: x.element(x.int) }),
    }),
    add2: exchange({
      ...{ style: 'rpc', action: '' },
      input: x.call('urn:r', 'add', { a: x.element(x.int), b: x.element(x.int) }),
      output: x.call('urn:r', 'addResponse', { sum: x.element(x.int) }),
    }),
  },
})
const contract = service('shop', { namespace: 'urn:shop:service', resources: [], ports: [Shop] })
const asked: unknown[] = []
const app = implement(contract, {
  Shop: {
    order: input => {
      asked.push(input)
      return { count: input.count, item: input.what, again: input.gift ? 'gift' : 'none' }
    },
    count: ({ count }) => (count === null ? 0 : count + 1),
    find: () => 7,
    weigh: parcel => {
      asked.push(parcel)
    },
    keep: ({ any }) => ({ any }),
    add: ({ a }) => ({ sum: a }),
    add2: ({ a, b }) => ({ sum: a + b }),
  },
})
const hosted = startHosted({}, app)
const send = async (body: string, action = '') =>
  (await hosted).ask(
    'POST',
    '/soap/Shop',
    { 'content-type': 'text/xml; charset=utf-8', soapaction: `"${action}"` },
    `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:s="urn:shop" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><e:Body>${body}</e:Body></e:Envelope>`,
  )
const [item, count, gift] = ['<s:Item>tea</s:Item>', '<s:Count>2</s:Count>', '<s:Gift>true</s:Gift>']
const bodyOf = (text: string): string => /<soap:Body>(.*)<\/soap:Body>/.exec(text)?.[1] ?? text

test('WSDL 1.1 §3.5 the parts of a message are the elements of its Body, in their order, both ways', async () => {
  const { text, status } = await send(item + count + gift, 'urn:order')
  assert.equal(status, 200, text)
  assert.deepEqual(asked.at(-1), { what: 'tea', count: 2, gift: true })
  const written = (name: string, value: string) => `<n1:${name} xmlns:n1="urn:shop">${value}</n1:${name}>`
  assert.equal(bodyOf(text), written('Count', '2') + written('Item', 'tea') + written('Item', 'gift'))
})
test('a nillable element of a part may be nil', async () => {
  const { text } = await send(`${item}<s:Count xsi:nil="true"/>${gift}`, 'urn:order')
  assert.match(text, /<n1:Count [^>]*xsi:nil="true"/)
})

for (const [what, body, detail] of [
  ['fewer', item + count, />Body must have the element Gift</],
  ['more', `${item + count + gift}<s:Extra/>`, /Extra\[1\].*is not expected here: expected no element/],
  ['reordered', count + item + gift, /the action urn:order does not match the Body/],
  ['swapped further on', item + gift + count, /Gift\[1\].*is out of order or repeated: expected Count/],
  ['repeated', item + item + count + gift, /Item\[2\] is not expected here: expected Count</],
  ['repeated at the end', item + count + gift + gift, /Gift\[2\].*is out of order or repeated: expected no element/],
  ['text between', `${item}tea${count}${gift}`, /text where elements are expected/],
  ['text behind', `${item + count + gift}tea`, /text where elements are expected/],
] as const)
  test(`WSDL 1.1 §3.5 a Body with its elements ${what} is a Client fault that says where`, async () => {
    const before = asked.length
    const { text, status } = await send(body, 'urn:order')
    assert.equal(status, 500, text)
    assert.match(text, /<faultcode>soap:Client</)
    assert.match(text, detail)
    assert.equal(asked.length, before)
  })

test('operations that begin with the same element are distinguished by their action', async () => {
  assert.equal(bodyOf((await send(item + count, 'urn:count')).text), '<n1:Count xmlns:n1="urn:shop">3</n1:Count>')
  assert.match((await send(item, 'urn:find')).text, />7</)
  assert.match((await send(item, 'urn:count')).text, /must have the element Count/)
})
test('WS-I Basic Profile 1.1 R1127 or, without an action, by the whole Body', async () => {
  assert.match((await send(item + count + gift)).text, />tea<.*>gift</)
  assert.match((await send(item + count)).text, />3</)
  assert.match((await send(item)).text, />7</)
})
test('operations of RPC that share their element are distinguished by their accessors', async () => {
  assert.match((await send('<r:add xmlns:r="urn:r"><a>1</a></r:add>')).text, /<sum>1</)
  assert.match((await send('<r:add xmlns:r="urn:r"><a>1</a><b>2</b></r:add>')).text, /<sum>3</)
  assert.match((await send('<r:add xmlns:r="urn:r"><c>1</c></r:add>')).text, /soap:Client/)
})
test('a message whose operation depends on its whole Body must be well-formed after it too', async () => {
  const { text } = await send(`${item}</e:Body></e:Envelope><!--`)
  assert.match(text, /soap:Client/)
  assert.match((await send(`${item}</e:Body><e:Body>`)).text, /content after the Body/)
})
test('the type of the only part is that of the Body', async () => {
  const { text, status } = await send('<s:weight>4</s:weight>', 'urn:weigh')
  assert.equal(status, 200, text)
  assert.deepEqual(asked.at(-1), { weight: 4 })
  assert.equal(bodyOf(text), '')
  assert.match((await send('<s:weight>4</s:weight><s:weight>4</s:weight>', 'urn:weigh')).text, /expected note</)
})
test('WSDL 2.0 Part 1 §2.5.1 any element is kept as it is, and exactly one', async () => {
  const { text } = await send('<a:x xmlns:a="urn:a" k="s:v"><b/></a:x>')
  assert.match(
    bodyOf(text),
    /^<a:x xmlns:a="urn:a"(?: xmlns:s="urn:shop")? k="s:v"(?: xmlns:s="urn:shop")?><b\/><\/a:x>$/,
  )
  assert.match((await send('<a xmlns="urn:a"/><b/>')).text, /is not expected here: expected no element/)
  // A declared element is that of its own operation, unless the action says otherwise.
  assert.match((await send(item)).text, />7</)
  assert.match(bodyOf((await send(item, 'urn:keep')).text), /<s:Item xmlns:s="urn:shop">tea</)
})

test('operations that declare the same content try a Body once, not once each', async () => {
  const Same = shop.element('Same', x.object({ item: x.ref(Item).many() }))
  const names = Array.from({ length: 50 }, (_, at) => `o${at}`)
  const exchanges = Object.fromEntries(
    names.map(name => [name, exchange({ action: `urn:${name}`, input: Same, output: Count, allow: [anyone] })]),
  )
  const Wide = port('Wide', { namespace: 'urn:wide', exchanges })
  let reads = 0
  const counted = bindExchanges(
    createPortContext(Wide, () => 1),
    Wide,
  ).map(each => ({
    ...each,
    read: (...all: Parameters<typeof each.read>) => {
      reads++
      return each.read(...all)
    },
  }))
  const { post } = createEchoNode(counted)
  const { fault } = await post({ body: '<s:Same xmlns:s="urn:shop"><s:Item/><s:Wrong/></s:Same>' })
  assert.match(fault?.reason ?? '', /Wrong/)
  assert.equal(reads, 1)
})

// By REST

interface Content {
  readonly content: Readonly<
    Record<string, { readonly schema: { readonly properties: object; readonly required: object } }>
  >
}

const post = async (operation: string, type: string, content: string) =>
  (await hosted).ask('POST', `/api/v1/Shop/${operation}`, { 'content-type': type, accept: type }, content)

test('in REST, such a Body is an object with a member for each element', async () => {
  const { text, status } = await post('order', 'application/json', '{"what":"tea","count":null,"gift":false}')
  assert.equal(status, 200, text)
  assert.deepEqual(JSON.parse(text), { count: null, item: 'tea', again: 'none' })
  const wrong = await post('order', 'application/json', '{"what":"tea","more":1}')
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /\/count.*is required/s)
  assert.match(wrong.text, /\/more.*is not a known member/s)
})
test('in REST, its XML is the element Body around the elements', async () => {
  const { text, status } = await post(
    'order',
    'application/xml',
    `<Body xmlns:s="urn:shop">${item + count + gift}</Body>`,
  )
  assert.equal(status, 200, text)
  assert.match(text, /<Body[^>]*><n1:Count>2<\/n1:Count><n1:Item>tea<\/n1:Item><n1:Item>gift<\/n1:Item><\/Body>/)
  assert.equal((await post('order', 'application/xml', '<Item xmlns="urn:shop">tea</Item>')).status, 422)
})
test('openapi.json has the members of such a Body', async () => {
  const { text } = await (await hosted).ask('GET', '/openapi.json')
  const [, path] =
    Object.entries<{ post: { requestBody: Content } }>(JSON.parse(text).paths).find(([each]) =>
      /Shop.*order/.test(each),
    ) ?? []
  const content = path?.post.requestBody.content['application/json']
  assert.ok(content)
  assert.deepEqual(Object.keys(content.schema.properties), ['what', 'count', 'gift'])
  assert.deepEqual(content.schema.required, ['what', 'count', 'gift'])
})

// Described

test('the WSDL that is served has a part for each element, and describes the same messages', async () => {
  const { text } = await (await hosted).ask('GET', '/soap/Shop?wsdl')
  for (const part of [
    '<wsdl:part name="what" element="ns1:Item"/>',
    '<wsdl:part name="gift" element="ns1:Gift"/>',
    '<wsdl:part name="again" element="ns1:Item"/>',
    '<wsdl:part name="parameters" type="ns1:Parcel"/>',
    '<wsdl:operation name="add">',
    '<wsdl:input name="add2Input" message="tns:add2Input"/>',
  ])
    assert.ok(text.includes(part), `${part} is not in ${text}`)
  const [again] = importText(text).ports
  assert.deepEqual(importText(text).losses, [])
  assert.equal(digestPort(again ?? assert.fail('no port')), digestPort(Shop as unknown as Port))
})

test('XML that is kept as text does not repeat a long namespace without bounds', async () => {
  const a = x.namespace('urn:a')
  const input = a.element('Many', x.object({ rest: x.any({ not: 'urn:a' }).many() }))
  const output = a.element('Length', x.int)
  const Keeper = port('Keeper', {
    ...{ namespace: 'urn:keeper', allow: [anyone] },
    exchanges: { keep: exchange({ action: 'urn:keep', input, output }) },
  })
  const keeper = implement(service('keeper', { namespace: 'urn:keeper', resources: [], ports: [Keeper] }), {
    Keeper: { keep: ({ rest }) => rest.join('').length },
  })
  const { ask } = await startHosted({}, keeper)
  const keep = async (elements: number, inner: number) => {
    const each = `<b xmlns="urn:b">${'<p:a/>'.repeat(inner)}</b>`
    const body = `<a:Many xmlns:a="urn:a">${each.repeat(elements)}</a:Many>`
    const text = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/" xmlns:p="urn:${'p'.repeat(60_000)}"><e:Body>${body}</e:Body></e:Envelope>`
    return (await ask('POST', '/soap/Keeper', { 'content-type': 'text/xml; charset=utf-8' }, text)).text
  }
  assert.match(await keep(10, 1), />600\d\d\d</)
  assert.match(await keep(1, 9000), />11\d\d\d\d</, 'a namespace is declared once')
  assert.match(await keep(5000, 1), /repeats namespaces that are declared around it/)
})
