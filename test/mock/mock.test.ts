/** The mock: examples that the published descriptions accept, states by the machine, and every misbehaviour as octets. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { XmlDocument, XmlElement } from 'libxml2-wasm'
import { shop } from '../../examples/orders/contract.ts'
import { writePatternText } from '../../src/base/pattern-text.ts'
import { createRestClient } from '../../src/client/rest/rest-client.ts'
import { createSoapClient } from '../../src/client/soap-client.ts'
import type { Service } from '../../src/contract/service.ts'
import { checkValue } from '../../src/contract/typed-value.ts'
import type { AnyXmlType } from '../../src/contract/xml-type.ts'
import { makeSimple } from '../../src/describe/example-message.ts'
import { writeXsd } from '../../src/describe/index.ts'
import { anyone, exchange, port, resource, service, t, x } from '../../src/index.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { makeFile } from '../../src/mock/example-file.ts'
import { parseMisbehaviours } from '../../src/mock/misbehaviour.ts'
import { type MockServer, startMock } from '../../src/mock/start-mock.ts'
import { startTestService } from '../../src/testing/index.ts'
import { apart, judge, schemaOf } from '../describe/oracle.ts'

const basic = (name: string): string => `Basic ${btoa(`${name}:${name}`)}`

/** All octets that a connection gives until the server ends it. */
const exchangeOctets = (port: number, head: readonly string[], content = ''): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    let text = ''
    const all = [
      ...head,
      'Host: 127.0.0.1',
      ...(content ? [`Content-Length: ${Buffer.byteLength(content)}`] : []),
      '',
      '',
    ]
    socket
      .on('data', piece => (text += piece.toString('latin1')))
      .on('error', reject)
      .on('close', () => resolve(text))
    socket.write(all.join('\r\n') + content)
  })
const ask = (behavior: string, ...more: string[]): Promise<string> =>
  exchangeOctets(mock.port, [
    'GET /api/v2/products/p-1 HTTP/1.1',
    ...(behavior ? [`Mock-Behavior: ${behavior}`] : []),
    'Accept: application/json',
    ...more,
  ])
const split = (octets: string): { head: string; content: string; length: number } => {
  const end = octets.indexOf('\r\n\r\n')
  const head = octets.slice(0, end)
  return { head, content: octets.slice(end + 4), length: Number(/content-length: ([0-9]+)/i.exec(head)?.[1]) }
}

/** What the Body has, as a document of its own. */
function childOfBody(text: string): string {
  using document = XmlDocument.fromString(text)
  const child = document.get('//*[local-name()="Body"]/*')
  assert.ok(child instanceof XmlElement, text)
  return apart(child)
}

let mock: MockServer
before(async () => {
  mock = await startMock(shop)
})
after(() => mock.close())

test('each file of an item has an example, by REST and in a package', async () => {
  const answer = await fetch(`${mock.url}/api/v2/products/p-1/picture`)
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'image/png'])
  const octets = new Uint8Array(await answer.arrayBuffer())
  assert.equal(Buffer.from(octets.subarray(1, 4)).toString(), 'PNG')
  const client = createSoapClient(shop, { address: `${mock.url}/soap/v2` })
  const got = await client.products.picture.get(await client.products.get('p-1'))
  assert.deepEqual(await got.bytes(), octets)
})
test('an example of a file has its media type, and fits its limit', () => {
  const made = (mediaTypes: readonly string[], max: number) => {
    const file = makeFile('note', { mediaTypes, max } as never)
    return file && [file.mediaType, Buffer.from(file.bytes).toString('latin1').slice(0, 20)]
  }
  assert.deepEqual(made(['text/plain'], 2), ['text/plain', 'no'])
  assert.deepEqual(made(['application/ld+json'], 100), ['application/ld+json', '{"example":"note"}'])
  assert.deepEqual(made(['application/json', 'text/csv'], 5), ['text/csv', 'note'])
  assert.deepEqual(made(['image/svg+xml'], 100), ['image/svg+xml', '<note/>'])
  assert.equal(made(['application/pdf'], 10), undefined)
  for (const [type, begins] of [
    ['application/pdf', '%PDF-1.4'],
    ['image/gif', 'GIF89a'],
    ['image/jpeg', '\xff\xd8\xff'],
  ] as const)
    assert.ok(made([type], 1000)?.[1]?.startsWith(begins), type)
})

test('every seeded item passes the checks of its contract, and the same seed gives the same octets', () => {
  const itemsOf = (seed: number) => createMock(shop, { seed }).seed().items ?? {}
  for (let seed = 1; seed <= 20; seed++)
    for (const each of (shop as unknown as Service).resources)
      for (const item of itemsOf(seed)[each.name] ?? []) assert.deepEqual(checkValue(each.fields, item), [])
  assert.deepEqual(itemsOf(7), itemsOf(7))
  assert.notDeepEqual(itemsOf(7), itemsOf(8))
})

test('a single resource has one example, in its first state, next to a resource with a unique key', async () => {
  const rates = resource('rates', {
    single: true,
    fields: { daily: t.int({ min: 1, max: 9 }) },
    states: ['draft', 'valid'],
    actions: on => ({ publish: on('draft').to('valid', { rel: 'publication' }) }),
  }).rules({ allow: { read: [anyone], publish: [anyone] } })
  const rooms = resource('rooms', { fields: { id: t.id('m'), number: t.string({ max: 9 }) } }).rules({
    unique: [['number']],
    allow: { read: [anyone] },
  })
  const inn = service('inn', { namespace: 'urn:inn', resources: [rates, rooms] })
  await using open = await startTestService(inn, createMock(inn))
  const made = await open.rest().rates.get()
  assert.ok(made.state === 'draft' && made.daily >= 1)
  await open.soap().rates.publish(
    await open
      .soap()
      .rates.get()
      .then(each => (each.state === 'draft' ? each : assert.fail())),
  )
  assert.equal((await open.rest().rates.get()).state, 'valid')
})

for (const pattern of [
  '[A-Z]{3}-\\d{4}', '[^@\\s]+@[^@\\s]+', '(?:\\+|00)[1-9][0-9]{5,14}', 'a|bc*', '[\\p{L} ]{2,5}', '\\w+(\\.\\w+)*',
]) // biome-ignore format: a list
  test(`a text for the pattern ${pattern} matches it`, () => {
    const expression = new RegExp(`^(?:${pattern})$`, 'u')
    assert.match(
      writePatternText(expression, () => 0, 1),
      expression,
    )
  })

test('a field without an example is named, with the cure', () => {
  const odd = service('odd', {
    namespace: 'urn:odd',
    resources: [
      resource('things', { fields: { id: t.id('t'), code: t.string({ pattern: '(?!.)x' }) } }).rules({
        allow: { read: [anyone] },
      }),
    ],
  })
  assert.throws(() => createMock(odd).seed(), /no example of things\.code .*--example things\.code=TEXT/)
  assert.throws(() => createMock(odd, { examples: { 'things.code': 'y' } }).seed(), /--example things\.code=y/)
})

test('responses of SOAP are valid by the XML Schema of the contract', async () => {
  await using memory = await startTestService(shop, createMock(shop))
  const send = memory.fetchAs('manager')
  const { flaw } = judge(writeXsd(shop as unknown as Service, 'v2'))
  for (const [name, id] of [
    ['GetOrder', 'o-1'],
    ['GetCustomer', 'c-1'],
    ['GetProduct', 'p-2'],
  ] as const) {
    const response = await send(`${memory.address}/soap/v2`, {
      method: 'POST',
      headers: { 'content-type': 'application/soap+xml' },
      body: `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><${name} xmlns="urn:diglot:orders:v2"><id>${id}</id></${name}></e:Body></e:Envelope>`,
    })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    assert.equal(flaw(childOfBody(text)), undefined, text)
  }
})

test('both clients see the states of the machine, and the refusals of the contract', async () => {
  const rest = createRestClient(shop, {
    address: `${mock.url}/api`,
    credentials: { user: 'manager', password: 'manager' },
  })
  const made = await rest.orders.create({ customer: 'c-1', currency: 'EUR', lines: [{ product: 'p-1', quantity: 2 }] })
  assert.equal(made.state, 'placed')
  const paid = await rest.orders.pay(made, { method: 'card', amount: '1.00' })
  assert.equal(paid.amount, '1.00')
  const soap = createSoapClient(shop, {
    address: `${mock.url}/soap/v2`,
    credentials: { user: 'manager', password: 'manager' },
  })
  const shown = await soap.orders.get(made.id)
  assert.equal(shown.state, 'paid')
  await assert.rejects(soap.orders.pay(made, { method: 'card', amount: '1.00' }), /state|StateConflict/i)
})

test('every response says that it comes from a mock', async () => {
  for (const path of ['/api/v2/products', '/nowhere', '/health/ready']) {
    const response = await fetch(mock.url + path)
    assert.equal(response.headers.get('mock-service'), '"orders"; seed=1', path)
    await response.arrayBuffer()
  }
  for (const behavior of ['cut', 'length=+5', 'malformed', 'unavailable', 'no'])
    assert.match(await ask(behavior, 'Connection: close'), /mock-service: "orders"; seed=1/i, behavior)
})

test('a mock refuses an address that other machines reach, unless it is asked for', async () => {
  await assert.rejects(startMock(shop, { host: '0.0.0.0' }), /0\.0\.0\.0 .*--exposed/)
})

test('an unknown behaviour is 400, with the known ones', async () => {
  const { head, content } = split(await ask('slow', 'Connection: close'))
  assert.match(head, / 400 /)
  assert.match(content, /delay=2s/)
  for (const wrong of ['delay=2h', 'delay', 'length=0', 'fault', 'cut=9', '__proto__'])
    assert.equal(typeof parseMisbehaviours(wrong), 'string', wrong)
})

test('delay: the response begins that much later', async () => {
  const from = performance.now()
  const { head } = split(await ask('delay=300ms', 'Connection: close'))
  assert.match(head, / 200 /)
  assert.ok(performance.now() - from >= 295)
})

test('cut: the connection ends in the middle of the announced content', async () => {
  const { content, length } = split(await ask('cut'))
  assert.ok(content.length > 0 && content.length < length, `${content.length} of ${length}`)
})

test('malformed: the length is right, and the content is not well-formed', async () => {
  const { content, length } = split(await ask('malformed', 'Connection: close'))
  assert.equal(content.length, length)
  assert.throws(() => JSON.parse(content), SyntaxError)
})

test('length: Content-Length is wrong by that many octets', async () => {
  for (const by of [7, -7]) {
    const { content, length } = split(await ask(`length=${by > 0 ? '+' : ''}${by}`))
    assert.equal(length - content.length, by)
    JSON.parse(content)
  }
})

test('unavailable: 503 with Retry-After, and nothing is performed', async () => {
  const { head } = split(await ask('unavailable=30', 'Connection: close'))
  assert.match(head, / 503 /)
  assert.match(head, /retry-after: 30/i)
  const soap = await fetch(`${mock.url}/soap/v2`, {
    method: 'POST',
    headers: { 'content-type': 'text/xml', 'mock-behavior': 'unavailable' },
    body: '<x/>',
  })
  assert.equal(soap.status, 503)
  assert.match(await soap.text(), /<[\w:]*Fault/)
})

test('duplicate: the response is sent twice', async () => {
  const octets = await ask('duplicate')
  assert.equal(octets.match(/HTTP\/1\.1 200 OK/g)?.length, 2)
})

test('namespace: XML in another namespace than the contract’s; JSON has none', async () => {
  const body =
    '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><GetProduct xmlns="urn:diglot:orders:v2"><id>p-1</id></GetProduct></e:Body></e:Envelope>'
  const octets = await exchangeOctets(
    mock.port,
    ['POST /soap/v2 HTTP/1.1', 'Mock-Behavior: namespace', 'Content-Type: application/soap+xml', 'Connection: close'],
    body,
  )
  assert.match(octets, /urn:diglot:mock:wrong-namespace/)
  assert.doesNotMatch(octets, /urn:diglot:orders:v2/)
  assert.match(await ask('namespace', 'Connection: close'), / 400 /)
})

test('fault: a declared fault with its detail in both faces; an undeclared one is 400', async () => {
  const pay = (name: string) =>
    fetch(`${mock.url}/api/v2/orders/o-1/payment`, {
      method: 'POST',
      headers: {
        authorization: basic('manager'),
        'content-type': 'application/json',
        'mock-behavior': `fault=${name}`,
      },
      body: '{"method":"card","amount":"1.00"}',
    })
  const declared = await pay('PaymentDeclined')
  assert.equal(declared.status, 422)
  const problem = (await declared.json()) as { type: string; reason: string }
  assert.match(problem.type, /payment-?declined/i)
  assert.equal(typeof problem.reason, 'string')
  const soap = await fetch(`${mock.url}/soap/v2`, {
    method: 'POST',
    headers: {
      ...{ authorization: basic('manager'), 'content-type': 'application/soap+xml' },
      'mock-behavior': 'fault=PaymentDeclined',
    },
    body: '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><PayOrder xmlns="urn:diglot:orders:v2"><id>o-1</id><method>card</method><amount>1.00</amount></PayOrder></e:Body></e:Envelope>',
  })
  assert.match(await soap.text(), /PaymentDeclined/)
  const other = await pay('OutOfStock')
  assert.equal(other.status, 400)
  assert.match(await other.text(), /declares PaymentDeclined/)
})

test('as: a request without credentials comes from a person of the contract', async () => {
  await using open = await startMock(shop, { as: 'clerk' })
  const response = await fetch(`${open.url}/api/v2/orders`)
  assert.equal(response.status, 200)
  const named = await fetch(`${open.url}/api/v2/orders`, { headers: { authorization: 'Basic eDp5' } })
  assert.equal(named.status, 401)
  await assert.rejects(startMock(shop, { as: 'nobody' }), /use .*clerk/)
})

for (const [type, pattern] of [
  [x.duration, '[-P0-9D]{1,20}'],
  [x.duration, 'P\\d+Y'],
  [x.duration, '[PT0-9S]*'],
  [x.dateTime, '[^Z+]*'],
  [x.dateTime, '.*\\.\\d{3}Z'],
  [x.time, '[0-9:]*'],
  [x.date, '.*Z'],
] as const)
  test(`XML Schema Part 2 §4.3.4 an example of ${type.definition.kind === 'builtIn' && type.definition.name} that fits ${pattern}`, () => {
    const place = { seed: 1, name: 'a', item: 1, idOf: () => undefined, given: {} }
    assert.match(String(makeSimple(x.simple(type, { patterns: [pattern] }), place)), new RegExp(`^(?:${pattern})$`))
  })

test('a port responds to each exchange with a valid message, also of recursive, abstract and chosen types', async () => {
  const ns = x.namespace('urn:tree')
  const Code = ns.simple('Code', x.string, { patterns: ['[A-Z]{2}\\d{3}'] })
  const Base = ns.type('Base', { code: x.attribute(Code) }, { abstract: true })
  const Leaf = ns.type(
    'Leaf',
    { weight: x.element(x.simple(x.decimal, { minExclusive: '0', fractionDigits: 2 })) },
    { extends: Base },
  )
  const Node: AnyXmlType = ns.type('Node', {
    value: x.choice({ number: x.element(x.int), text: x.element(x.token) }),
    leaf: x.element(x.derivable(Base, () => [Leaf])),
    left: x.element((): AnyXmlType => Node).optional(),
    any: x.any({ not: 'urn:tree' }),
  })
  const Ask = ns.element('Ask', x.object({}))
  const Tree = ns.element('Tree', Node)
  const trees = service('trees', {
    namespace: 'urn:trees',
    resources: [],
    ports: [
      port('Trees', {
        namespace: 'urn:tree',
        allow: [anyone],
        exchanges: {
          Ask: exchange({
            action: 'urn:ask',
            input: Ask,
            output: Tree,
            faults: { Broken: ns.element('Broken', x.object({ why: x.element(x.string) })) },
          }),
        },
      }),
    ],
  })
  await using served = await startMock(trees)
  const wsdl = await fetch(`${served.url}/soap/Trees?wsdl`)
  assert.equal(wsdl.status, 200)
  const { flaw } = judge(schemaOf(await wsdl.text(), 'document'))
  const send = (behavior: string) =>
    fetch(`${served.url}/soap/Trees`, {
      method: 'POST',
      headers: { 'content-type': 'text/xml', soapaction: '"urn:ask"', 'mock-behavior': behavior },
      body: '<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><Ask xmlns="urn:tree"/></e:Body></e:Envelope>',
    })
  const text = await (await send('')).text()
  assert.match(text, /code="[A-Z]{2}\d{3}"/)
  assert.equal(flaw(childOfBody(text)), undefined, text)
  assert.match(await (await send('fault=Broken')).text(), /<[^>]*Broken[\s\S]*why/)
})
