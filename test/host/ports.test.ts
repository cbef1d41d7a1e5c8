/** Ports of others, served: their messages in, their messages out, their WSDL (docs/import.md). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { endpointsOf } from '../../src/contract/endpoint-rule.ts'
import { exchange, port } from '../../src/contract/exchange.ts'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import { type RootElement, x } from '../../src/contract/xml-type.ts'
import { startHosted } from './hosted-service.ts'

const shop = x.namespace('urn:shop')
const Line = shop.type('Line', { item: x.element(x.string).in(''), count: x.attribute(x.int) })
const PlaceOrder = shop.element('PlaceOrder', x.object({ line: x.element(Line).many(1) }))
const Placed = shop.element('Placed', x.object({ count: x.element(x.int) }))
const Refusal = shop.element('Refusal', x.object({ reason: x.element(x.string) }))
const Session = shop.element('Session', x.string)
const Opening = shop.element('Opening', x.object({}))
const Item = shop.element('Item', x.string)
const Stamp = shop.element('Stamp', x.object({ count: x.attribute(x.int), text: x.text(x.string) }))
const Price = shop.element('Price', x.decimal)
const Hours = shop.element('Hours', x.list(x.string))
interface Nested {
  readonly nest: readonly Nested[]
}
const Nest: RootElement<Nested> = shop.element('Nest', x.object({ nest: x.ref(() => Nest).many() }))
const Shop = port('Shop', {
  namespace: 'urn:shop:wsdl',
  allow: [anyone],
  exchanges: {
    PlaceOrder: exchange({
      action: 'urn:PlaceOrder',
      input: PlaceOrder,
      output: Placed,
      faults: { Refusal },
      statuses: { Refusal: 409 },
      requestHeaders: { Session },
    }),
    Open: exchange({ action: 'urn:Open', input: Opening, output: Placed, replyHeaders: { Session } }),
    GetPrice: exchange({
      action: 'urn:GetPrice',
      input: Item,
      output: Price,
      requestHeaders: { Session },
      replyHeaders: { Session },
      safe: true,
    }),
    GetHours: exchange({ action: 'urn:GetHours', input: 'empty', output: Hours, safe: true }),
    Notify: exchange({ action: 'urn:Notify', input: Item }),
    Nest: exchange({ action: 'urn:Nest', input: Nest }),
    Break: exchange({ action: 'urn:Break', input: Item, output: Placed }),
    CheckOrder: exchange({
      action: 'urn:CheckOrder',
      input: PlaceOrder,
      output: Placed,
      requestHeaders: { Stamp },
    }),
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
    CheckOrder: (_, ctx) => ({ count: ctx.headers.Stamp?.count ?? -1 }),
    Open: (_, ctx) => {
      ctx.setHeader('Session', 'offen ✓')
      return { count: 0 }
    },
    GetPrice: (item, ctx) => {
      ctx.setHeader('Session', 's'.repeat(item.length))
      return '12.50'
    },
    GetHours: () => ['9-12', '13-18'],
    Nest: () => {},
    Notify: () => {},
    // What a handler in JavaScript may do.
    Break: (item, ctx) => {
      if (item === 'fault') return ctx.fail('Closed' as never, undefined as never)
      if (item === 'header') ctx.setHeader('Session', 'x')
      return (item === 'nothing' ? undefined : { count: item }) as never
    },
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
test('operations that share an element are distinguished by their actions', async () => {
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
test('SOAP 1.1 §4.2 a block has the attributes of its type, besides those of SOAP and of other specifications', async () => {
  const block = (more: string) =>
    `<s:Stamp xmlns:s="urn:shop" e:mustUnderstand="1" xmlns:u="urn:wsu" u:Id="x" ${more}>t</s:Stamp>`
  assert.match((await send(order, '"urn:CheckOrder"', block('count="7"'))).text, /<n1:count>7</)
  assert.match((await send(order, '"urn:CheckOrder"', block(''))).text, /must have the attribute count/)
  assert.match((await send(order, '"urn:CheckOrder"', block('count="7" other="1"'))).text, /the attribute other/)
})
test('RPC/literal: accessors without a namespace, in the element of the call', async () => {
  const answer = await send('<r:add xmlns:r="urn:rpc"><b>2</b><a>1</a></r:add>')
  assert.match(answer.text, /<n1:addResponse xmlns:n1="urn:rpc"><sum>3<\/sum><\/n1:addResponse>/)
})
test('a message that is invalid by the schema is a Client fault with its place', async () => {
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

// By HTTP (docs/import.md, "By REST")

const json = { 'content-type': 'application/json' }
const post = async (path: string, content: unknown, fields: Readonly<Record<string, string>> = {}) =>
  (await hosted).ask('POST', `/api/v1/Shop/${path}`, { ...json, ...fields }, JSON.stringify(content))

test('an exchange is called in JSON, and the same handler responds', async () => {
  const answer = await post('PlaceOrder', {
    line: [
      { item: 'tea', count: 2 },
      { item: '', count: 3 },
    ],
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.fields['content-type'], 'application/json')
  assert.equal(answer.text, '{"count":5}')
})
test('an exchange is called in XML with the element of its message, and responds in the same form', async () => {
  const fields = { 'content-type': 'application/xml', accept: 'application/xml' }
  const answer = await (await hosted).ask('POST', '/api/v1/Shop/PlaceOrder', fields, order)
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /<n1:Placed xmlns:n1="urn:shop"><n1:count>5<\/n1:count><\/n1:Placed>$/)
})
test('content that breaks the type is refused with each place, in JSON and in XML', async () => {
  const answer = await post('PlaceOrder', { line: [{ item: 1 }], more: true })
  assert.equal(answer.status, 422)
  assert.deepEqual(
    JSON.parse(answer.text).errors.map((each: { pointer: string }) => each.pointer),
    ['/more', '/line/0/item', '/line/0/count'],
  )
  const wrong = order.replace('count="2"', 'count="x"')
  const byXml = await (await hosted).ask('POST', '/api/v1/Shop/PlaceOrder', { 'content-type': 'text/xml' }, wrong)
  assert.equal(byXml.status, 422)
  assert.match(byXml.text, /"pointer":"\/PlaceOrder\[1\]\/line\[1\]"/)
  const other = await (await hosted).ask('POST', '/api/v1/Shop/PlaceOrder', { 'content-type': 'text/xml' }, '<Other/>')
  assert.equal(other.status, 422)
  assert.match(other.text, /must be the element PlaceOrder of the namespace urn:shop/)
})
test('a declared fault is a problem with its element, and a header block is a field', async () => {
  const answer = await post('PlaceOrder', { line: [{ item: '', count: 1 }] }, { 'soap-session': '"closed"' })
  assert.equal(answer.status, 409)
  const problem = JSON.parse(answer.text)
  assert.match(problem.type, /\/problems\/Refusal$/)
  assert.deepEqual(
    [problem.title, problem.detail, problem.fault],
    ['Refusal', 'Refusal', { reason: 'the shop is closed' }],
  )
  assert.equal((await (await hosted).ask('GET', '/problems/Refusal')).status, 200)
  const bad = await post('PlaceOrder', { line: [{ item: '', count: 1 }] }, { 'soap-session': '{}' })
  assert.equal(bad.status, 400)
  assert.match(bad.text, /Soap-Session: Session must be/)
})
test('a reply block is a field, in ASCII', async () => {
  const answer = await post('Open', {})
  assert.equal(answer.fields['soap-session'], '"offen \\u2713"')
})
test('A1.3 the response to a read varies by the header blocks that it reads; pages of named origins see those of the reply', async () => {
  const { ask } = await startHosted({ settings: { origins: ['https://shop.example'] } }, app)
  const fields = { 'content-type': 'application/json', origin: 'https://shop.example' }
  const answer = await ask('QUERY', '/api/v1/Shop/GetPrice', fields, '"tea"')
  assert.equal(answer.fields['soap-session'], '"sss"')
  assert.match(String(answer.fields['vary']), /(^|, )Soap-Session(,|$)/)
  assert.match(String(answer.fields['access-control-expose-headers']), /, soap-session$/)
  const change = await post('PlaceOrder', { line: [{ item: '', count: 1 }] })
  assert.doesNotMatch(String(change.fields['vary']), /Soap-Session/)
})
test('attack: a reply block longer than a field may be ends the call, instead of giving a field that proxies refuse', async () => {
  const { ask, lines } = await hosted
  const before = lines.length
  const answers = await Promise.all(
    [4094, 4095].map(length => ask('QUERY', '/api/v1/Shop/GetPrice', json, JSON.stringify('x'.repeat(length)))),
  )
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 500],
  )
  assert.match(
    inspect(lines.slice(before), { depth: 5 }),
    /the header Session has 4097 octets as a field, and at most 4096 are possible/,
  )
})
test('rows 13, 15, 19 and 21 apply to an exchange as to any operation', async () => {
  const { ask } = await hosted
  assert.equal((await ask('GET', '/api/v1/Shop/PlaceOrder')).status, 405)
  assert.equal((await ask('GET', '/api/v1/Shop/PlaceOrder')).fields['allow'], 'OPTIONS, POST')
  assert.equal((await post('Close', 'x')).status, 401)
  assert.equal((await ask('POST', '/api/v1/Shop/PlaceOrder', { 'content-type': 'text/csv' }, 'a')).status, 415)
  assert.equal((await post('PlaceOrder', {}, { accept: 'text/csv' })).status, 406)
  assert.equal((await post('PlaceOrder', {}, { 'idempotency-key': '"a"' })).status, 400)
  assert.equal((await ask('POST', '/api/v1/Shop/PlaceOrder', json, '{')).status, 400)
  assert.equal((await ask('POST', '/api/v1/Shop/PlaceOrder', json, '')).status, 400)
  assert.equal((await post('Nothing', {})).status, 404)
})
test('a safe exchange is called by QUERY, and by GET if it sends nothing, with a tag and 304', async () => {
  const { ask } = await hosted
  const queried = await ask('QUERY', '/api/v1/Shop/GetPrice', json, '"tea"')
  assert.equal(queried.text, '"12.50"', queried.text)
  const got = await ask('GET', '/api/v1/Shop/GetHours')
  assert.equal(got.text, '["9-12","13-18"]')
  const again = await ask('GET', '/api/v1/Shop/GetHours', { 'if-none-match': String(got.fields['etag']) })
  assert.equal(again.status, 304)
})
const Filter = shop.element('Filter', x.object({ tag: x.element(x.string).many() }))
const Away = shop.element('Away', x.object({ until: x.element(x.string) }))
const depot = port('Depot', {
  namespace: 'urn:depot',
  allow: [anyone],
  exchanges: {
    ListBoxes: exchange({ action: 'urn:list', input: Filter, output: Hours, safe: true }),
    Store: exchange({ action: 'urn:store', input: Item, faults: { Away, Refusal }, statuses: { Away: 503 } }),
  },
})
const depotContract = service('depot', { namespace: 'urn:depot:service', resources: [], ports: [depot] })
const depotHosted = startHosted(
  {},
  implement(depotContract, {
    Depot: {
      ListBoxes: ({ tag }) => ['small', ...tag],
      Store: (item, ctx) => {
        if (item === 'later') ctx.fail('Away', { until: 'Monday' })
        ctx.fail('Refusal', { reason: 'full' })
      },
    },
  }),
)
test('a safe exchange that requires nothing is also called by GET, as without any content', async () => {
  const { ask } = await depotHosted
  assert.equal((await ask('GET', '/api/v1/Depot/ListBoxes')).text, '["small"]')
  assert.equal((await ask('QUERY', '/api/v1/Depot/ListBoxes', json, '{"tag":["a"]}')).text, '["small","a"]')
  const { paths } = JSON.parse((await ask('GET', '/openapi.json')).text)
  const { get, post } = paths['/api/v1/Depot/ListBoxes']
  assert.deepEqual([get.requestBody, typeof post.requestBody], [undefined, 'object'])
})
test('SOAP 1.2 Part 1 §5.4.6 a fault whose status is 500 or above is that of the Receiver', async () => {
  const { ask } = await depotHosted
  const send = (item: string) =>
    ask(
      'POST',
      '/soap/Depot',
      { 'content-type': 'application/soap+xml; charset=utf-8' },
      `<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Body><Item xmlns="urn:shop">${item}</Item></s:Body></s:Envelope>`,
    )
  assert.match((await send('later')).text, /Value>\w+:Receiver<[\s\S]*until>Monday</)
  assert.match((await send('now')).text, /Value>\w+:Sender<[\s\S]*reason>full</)
})

test('an exchange without a reply ends with 204', async () => {
  assert.equal((await post('Notify', 'x')).status, 204)
})
test('a reply that breaks its type is an incident, and its value is not sent', async () => {
  const answer = await post('Break', 'secret')
  assert.equal(answer.status, 500)
  assert.ok(!answer.text.includes('secret'))
  const { lines } = await hosted
  assert.ok(
    lines.some(({ fields }) => JSON.stringify(fields).includes('Placed.count')),
    JSON.stringify(lines),
  )
})
for (const [item, says] of [
  ['fault', 'Shop.Break does not declare the fault Closed: add it to the `faults` of its exchange in the contract'],
  [
    'header',
    'Shop.Break does not declare the header Session: add it to the `replyHeaders` of its exchange in the contract',
  ],
  ['nothing', 'Shop.Break: the handler returned nothing: it must return the content of its reply'],
] as const)
  test(`a wrong ${item} of a handler is logged with its place and its cure, in each face; its callers learn neither`, async () => {
    const { lines } = await hosted
    const before = lines.length
    const answers = [await post('Break', item), await send(`<Item xmlns="urn:shop">${item}</Item>`, '"urn:Break"')]
    for (const { status, text } of answers) {
      assert.equal(status, 500)
      assert.doesNotMatch(text, /declare|returned/)
    }
    const told = lines.slice(before).filter(each => each.level === 'error')
    assert.deepEqual(
      told.map(({ fields }) => String(fields['error']).split('\n')[0]),
      [`Error: ${says}`, `Error: ${says}`],
    )
  })

test('§3.4.4 a type that contains itself by a reference has a schema with a name', async () => {
  const { paths, components } = JSON.parse((await (await hosted).ask('GET', '/openapi.json')).text)
  const { schema } = paths['/api/v1/Shop/Nest'].post.requestBody.content['application/json']
  const inner = schema.properties.nest.items
  assert.deepEqual(inner, { $ref: '#/components/schemas/v1.xml.Nest' })
  assert.deepEqual(components.schemas['v1.xml.Nest'].properties.nest.items, inner)
})
test('OpenAPI describes exchanges: content, responses, faults by status, header fields', async () => {
  const { paths, components } = JSON.parse((await (await hosted).ask('GET', '/openapi.json')).text)
  const { post: described } = paths['/api/v1/Shop/PlaceOrder']
  assert.equal(described.operationId, 'v1_Shop_PlaceOrder')
  const { schema } = described.requestBody.content['application/json']
  assert.deepEqual(schema.properties.line, {
    type: 'array',
    items: { $ref: '#/components/schemas/v1.xml.Line' },
    minItems: 1,
  })
  assert.deepEqual(components.schemas['v1.xml.Line'].required, ['item', 'count'])
  assert.deepEqual(described.parameters[0].name, 'Soap-Session')
  assert.doesNotMatch(JSON.stringify(described.parameters), /idempotencyKey/, 'it is refused: no answer is kept')
  assert.match(JSON.stringify(described.responses['409']), /"fault":\{"type":"object","properties":\{"reason"/)
  assert.ok(paths['/api/v1/Shop/GetHours'].get)
})

test('B2.12 a service with only ports has no endpoint without operations, and its entry leads to its ports', async () => {
  const { ask } = await hosted
  const envelope = '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body/></e:Envelope>'
  assert.equal((await ask('POST', '/soap/v1', { 'content-type': 'text/xml' }, envelope)).status, 404)
  const { _links: links } = JSON.parse((await ask('GET', '/')).text)
  assert.deepEqual(links['Shop'], { href: '/soap/Shop?wsdl', type: 'text/xml' })
  assert.deepEqual([links['soap'], links['wsdl']], [undefined, undefined])
  assert.equal((await ask('GET', links['Shop'].href)).status, 200)
})

for (const [title, rules, endpoints] of [
  ['with no messages has no endpoint', { messages: [] }, 0],
  ['whose only message is one has its endpoints', { messages: ['get'] }, 4],
] as const)
  test(`B2.12 a service ${title}`, () => {
    const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] }, ...rules })
    const given = { namespace: 'urn:notes', resources: [notes] }
    assert.equal(endpointsOf(service('notes', given)).length, endpoints)
    const one = endpointsOf(service('notes', { ...given, endpoints: { '/soap/own': {} } }))
    assert.equal(one.length, 1, 'a declared endpoint stays')
  })

test('B7.2 an endpoint without an operation knows none', async () => {
  const notes = resource('notes', { fields: { id: t.id('n') } }).rules({ allow: { read: [anyone] }, messages: [] })
  const contract = service('notes', { namespace: 'urn:notes', resources: [notes], endpoints: { '/soap/own': {} } })
  const { ask } = await startHosted({}, implement(contract, {}))
  const envelope = '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><a/></e:Body></e:Envelope>'
  const { status, text } = await ask('POST', '/soap/own', { 'content-type': 'text/xml' }, envelope)
  assert.equal(status, 500)
  assert.match(text, /a is not a known operation of this endpoint/)
})
