/** Resources that a bridge finds among the operations of a SOAP service (docs/bridge.md). */
import assert from 'node:assert/strict'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { completeLimits, transportOptionsOf } from '../../src/bridge/bridge-limits.ts'
import { createBridge, describeBridge, openPort } from '../../src/bridge/bridged-service.ts'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import { createPortCaller } from '../../src/bridge/port-caller.ts'
import { createHttpTransport } from '../../src/client/http-transport.ts'
import { exchange, type Port, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { type AnyMember, type AnyXmlType, x } from '../../src/contract/xml-type.ts'
import type { ServeOptions } from '../../src/host/serve.ts'
import { startHosted } from '../host/hosted-service.ts'

const shop = x.namespace('urn:shop')
const Part = shop.type('Part', {
  partNo: x.element(x.int),
  name: x.element(x.string),
  weight: x.element(x.decimal),
  state: x.element(x.string).optional(),
  links: x.element(x.string).optional(),
  xmlLang: x.attribute(x.language).optional(),
  shelf: x.element(x.simple(x.string, { values: ['east', 'west'] })).optional(),
  seen: x.element(x.anySimpleType).optional(),
  tags: x.element(x.string).many(),
  maker: x.element(x.object({ name: x.element(x.string), since: x.attribute(x.long).optional() })).optional(),
})
const NoSuchPart = shop.element('NoSuchPart', x.object({ partNo: x.element(x.int) }))
const GetPart = shop.element('GetPart', x.object({ partNo: x.element(x.int) }))
const GetPartResponse = shop.element('GetPartResponse', x.object({ part: x.element(Part).optional() }))
const Parts = shop.type('Parts', { part: x.element(Part).many() })
const ListParts = shop.element('ListParts', x.object({ shelf: x.element(x.string).optional() }))
const ListPartsResponse = shop.element('ListPartsResponse', x.object({ parts: x.element(Parts) }))
const shopPort = port('Shop', {
  namespace: 'urn:shop:wsdl',
  allow: [anyone],
  exchanges: {
    GetPart: exchange({ action: 'a', input: GetPart, output: GetPartResponse, faults: { NoSuchPart } }),
    ListParts: exchange({ action: 'b', input: ListParts, output: ListPartsResponse }),
  },
})
type PartValue = (typeof Part)['value']

async function startShop() {
  const parts = new Map<number, PartValue>([
    [
      7,
      {
        partNo: 7,
        name: 'bolt',
        weight: '1.50',
        state: 'new',
        links: 'a',
        shelf: 'east',
        seen: '2024',
        tags: ['steel', 'm8'],
      },
    ],
    [12, { partNo: 12, name: 'nut', weight: '0.5', tags: [], maker: { name: 'Acme', since: 1n } }],
  ])
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [shopPort] }), {
    Shop: {
      GetPart: ({ partNo }, ctx) => {
        if (partNo === 99) return {}
        return { part: parts.get(partNo) ?? ctx.fail('NoSuchPart', { partNo }, 'no such part') }
      },
      ListParts: () => ({ parts: { part: [...parts.values()] } }),
    },
  })
  const { server } = await startHosted({}, behind)
  return { parts, server }
}

async function startBridge(to: string, port: Port = shopPort, options: ServeOptions = {}) {
  const transport = createHttpTransport(to, transportOptionsOf(completeLimits()))
  after(() => transport.close())
  const opened = openPort(port, [anyone])
  const resources = guessResources([opened])
  const contract = describeBridge(
    'shop',
    'urn:shop',
    [opened],
    resources.map(each => each.resource),
  )
  const callerOf = (each: Port) => createPortCaller(each, transport, { timeLimit: 20_000 })
  const { ask } = await startHosted(options, createBridge(contract, { callerOf, note: () => {} }, resources))
  return (target: string, fields = {}, method = 'GET') => ask(method, target, fields)
}

test('Get and List of one type are a resource: items, lists, filters, links, tags and 304', async () => {
  const { parts, server } = await startShop()
  const get = await startBridge(`http://127.0.0.1:${server.port}/soap/Shop`)

  const item = await get('/api/v1/parts/7')
  assert.equal(item.status, 200, item.text)
  const { id, partNo, weight, seen, tags, state, links } = JSON.parse(item.text)
  assert.deepEqual([id, partNo, weight, seen, tags], ['7', 7, '1.50', '2024', ['steel', 'm8']])
  assert.deepEqual([state, links], ['new', 'a'], 'names that mean something elsewhere')
  const etag = item.fields['etag'] ?? ''
  assert.equal((await get('/api/v1/parts/7', { 'if-none-match': etag })).status, 304)
  assert.equal((await get('/api/v1/parts/7', {}, 'HEAD')).fields['etag'], etag)

  const page = await get('/api/v1/parts/7', { accept: 'text/html' })
  assert.match(page.text, /bolt/)
  const list = await get('/api/v1/parts')
  assert.equal(list.status, 200, list.text)
  assert.match(list.text, /"bolt".*"nut"|"nut".*"bolt"/s)
  assert.match(list.text, /parts\/12/)
  const filtered = await get('/api/v1/parts?shelf=east')
  assert.match(filtered.text, /bolt/)
  assert.doesNotMatch(filtered.text, /nut/)
  const first = await get('/api/v1/parts?size=1')
  assert.match(first.text + (first.fields['link'] ?? ''), /next/)

  parts.set(7, { ...(parts.get(7) as PartValue), weight: '1.6' })
  const changed = await get('/api/v1/parts/7', { 'if-none-match': etag })
  assert.equal(changed.status, 200, 'a tag follows the content')
  assert.notEqual(changed.fields['etag'], etag)
  assert.equal((await get('/api/v1/parts/7', { 'if-modified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' })).status, 200)
})

test('404 for what is no item: a fault that says so, an empty response, another address, no identifier', async () => {
  const { server } = await startShop()
  const get = await startBridge(`http://127.0.0.1:${server.port}/soap/Shop`)
  for (const id of ['8', '99', '007', 'x', '99999999999'])
    assert.equal((await get(`/api/v1/parts/${id}`)).status, 404, id)
})

test('a resource of an unreachable backend is 503, and one that only reads accepts no change', async () => {
  const get = await startBridge('http://127.0.0.1:1/')
  assert.equal((await get('/api/v1/parts/7')).status, 503)
  assert.equal((await get('/api/v1/parts')).status, 503)
  for (const [method, target] of [
    ['DELETE', '/api/v1/parts/7'],
    ['POST', '/api/v1/parts'],
  ] as const)
    assert.equal((await get(target, {}, method)).status, 405, method)
})

test('reads of a resource run side by side, and each failure of the backend has its response', async () => {
  const waiting: (() => void)[] = []
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      waiting.push(() => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Oops</p>'))
      // None gets a response before all have arrived.
      if (waiting.length === 8) for (const answer of waiting) answer()
    })
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const get = await startBridge(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => get(`/api/v1/parts/${i}`)))
  for (const { status, text } of answers) {
    assert.equal(status, 502, text)
    assert.match(text, /BadGateway/)
    assert.doesNotMatch(text, /Oops/)
  }
})

test('one caller with as many slow reads as may wait, by item and by list, keeps no other from a response', async () => {
  const held: http.ServerResponse[] = []
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => void held.push(response))
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise(resolve => setTimeout(resolve, 2))
  }
  const get = await startBridge(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, shopPort, {
    settings: { trustProxy: true },
    insecure: true,
  })
  const ended: string[] = []
  const send = async (who: string, target: string) => {
    const { status } = await get(target, { 'x-forwarded-for': who })
    ended.push(`${who} ${status}`)
  }
  const crowd = Array.from({ length: 97 }, (_, i) => send('192.0.2.1', i % 2 ? '/api/v1/parts' : `/api/v1/parts/${i}`))
  await until(() => ended.length === 1 && held.length === 32)
  assert.deepEqual(ended, ['192.0.2.1 503'], '32 are under way, 64 wait')
  const other = send('192.0.2.2', '/api/v1/parts/7')
  const answer = (response: http.ServerResponse | undefined) =>
    void response?.writeHead(200, { 'content-type': 'text/html' }).end('<p>Oops</p>')
  const answerOne = () => answer(held.shift())
  await until(() => held.length === 33)
  answer(held.pop())
  await until(() => ended.length === 2)
  assert.equal(ended[1], '192.0.2.2 502', 'the other caller has a place of its own')
  for (let left = 98 - ended.length; left > 0; left--) {
    await until(() => held.length > 0)
    answerOne()
  }
  await Promise.all([other, ...crowd])
})

test('if every member may be absent, as some tools write it, an item without an identifier has no address', async () => {
  const Order = shop.type('Order', { id: x.element(x.long).optional(), note: x.element(x.string).optional() })
  const lax = port('Lax', {
    namespace: 'urn:lax',
    allow: [anyone],
    exchanges: {
      getOrder: exchange({
        action: 'a',
        input: shop.element('getOrder', x.object({ id: x.element(x.long).optional() })),
        output: shop.element('getOrderResponse', x.object({ return: x.element(Order).optional() })),
      }),
      getOrders: exchange({
        action: 'b',
        input: shop.element('getOrders', x.object({})),
        output: shop.element('getOrdersResponse', x.object({ return: x.element(Order).many() })),
      }),
    },
  })
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [lax] }), {
    Lax: {
      getOrder: ({ id }) => ({ return: id === 6n ? { note: 'none' } : { id: id as bigint, note: 'one' } }),
      getOrders: () => ({ return: [{ id: 5n, note: 'one' }, { note: 'none' }] }),
    },
  })
  const { server } = await startHosted({}, behind)
  const get = await startBridge(`http://127.0.0.1:${server.port}/soap/Lax`, lax)
  const item = await get('/api/v1/orders/5')
  assert.equal(item.status, 200, item.text)
  const { id, note } = JSON.parse(item.text)
  assert.deepEqual([id, note], ['5', 'one'])
  assert.equal((await get('/api/v1/orders/6')).status, 404)
  const list = await get('/api/v1/orders')
  assert.match(list.text, /"one"/)
  assert.doesNotMatch(list.text, /"none"|undefined/)
})

test('a total and a sign of more may stand beside a list: a part that came alone is refused', async () => {
  const Page = shop.element(
    'Page',
    x.object({
      Total_Count: x.element(x.long).optional(),
      page: x.element(
        x.object({
          item: x.element(Part).many(),
          hasMore: x.element(x.boolean).optional(),
          nextToken: x.element(x.string).optional(),
        }),
      ),
    }),
  )
  const paged = port('Paged', {
    namespace: 'urn:paged',
    allow: [anyone],
    exchanges: {
      GetPart: exchange({ action: 'a', input: GetPart, output: GetPartResponse }),
      ListParts: exchange({ action: 'b', input: ListParts, output: Page }),
    },
  })
  const item = [{ partNo: 7, name: 'bolt', weight: '1.50', tags: [] }]
  let answer: (typeof Page)['value'] = { page: { item } }
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [paged] }), {
    Paged: { GetPart: () => ({ part: item[0] as PartValue }), ListParts: () => answer },
  })
  const { server } = await startHosted({}, behind)
  const get = await startBridge(`http://127.0.0.1:${server.port}/soap/Paged`, paged)
  const rows: readonly (readonly [more: typeof answer, status: number])[] = [
    [{ page: { item } }, 200],
    [{ Total_Count: 1n, page: { item, hasMore: false, nextToken: '' } }, 200],
    [{ Total_Count: 0n, page: { item: [] } }, 200],
    [{ Total_Count: 2n, page: { item } }, 502],
    [{ page: { item, hasMore: true } }, 502],
    [{ page: { item, nextToken: 'x7' } }, 502],
  ]
  for (const [given, status] of rows) {
    answer = given
    const list = await get('/api/v1/parts')
    assert.equal(list.status, status, list.text)
    assert.equal(list.text.includes('only a part of the list'), status === 502)
  }
  assert.equal((await get('/api/v1/parts/7')).status, 200)
})

test('the resource is in the OpenAPI document, by its fields', async () => {
  const get = await startBridge('http://127.0.0.1:1/')
  const { text } = await get('/openapi.json')
  const { paths } = JSON.parse(text)
  const listed = Object.keys(paths).filter(path => /parts/.test(path))
  assert.equal(listed.length, 2, listed.join())
  assert.match(text, /"weight"/)
})

test('each operation of a bridge that asks its backend may end by it: 502 and 504, and 503 with Retry-After', async () => {
  const get = await startBridge('http://127.0.0.1:1/')
  const { text } = await get('/openapi.json')
  const document = JSON.parse(text)
  assert.equal((await new Validator().validate(document)).valid, true)
  const operations = Object.entries<Record<string, { responses?: Record<string, { description?: string }> }>>(
    document.paths,
  )
    .flatMap(([path, methods]) => Object.entries(methods).map(([method, each]) => [`${method} ${path}`, each] as const))
    .filter(([name, each]) => each.responses && name !== 'get /changes') // that page is the bridge's own
  assert.ok(operations.length > 2)
  assert.equal((await get('/changes')).status, 200)
  // 503 is that of every service: no schema is there for nothing.
  assert.deepEqual(
    ['BadGateway', 'GatewayDown', 'GatewayTimeout'].filter(name => new RegExp(`"[^"]*${name}[^"]*":`).test(text)),
    ['BadGateway', 'GatewayTimeout'],
  )
  for (const [name, { responses = {} }] of operations) {
    const { 502: failed, 503: away, 504: late } = responses
    assert.deepEqual(
      [failed?.description, late?.description],
      ['The backend failed', 'The backend did not respond in time'],
      name,
    )
    assert.deepEqual(away, { $ref: '#/components/responses/Unavailable' }, name)
  }
})

const portWith = (getName: string, listName: string, members: Readonly<Record<string, AnyMember>>, headers = {}) => {
  const Item = shop.type('Item', members)
  const Items = shop.element('Items', x.object({ item: x.element(Item).many() }))
  const One = shop.element('One', x.object({ item: x.element(Item) }))
  const Ask = shop.element('Ask', x.object({ id: x.element(x.string) }))
  return port('Guess', {
    namespace: 'urn:guess',
    exchanges: {
      [getName]: exchange({ action: 'a', input: Ask, output: One, requestHeaders: headers }),
      [listName]: exchange({ action: 'b', input: 'empty', output: Items }),
    },
  })
}
const Session = shop.element('Session', x.string)
const plain = { id: x.element(x.string), name: x.element(x.string) }
for (const [title, guessed, expected] of [
  ['words', portWith('getOrderLineById', 'getAllOrderLines', plain), ['order-lines']],
  ['a list by its suffix', portWith('Get_Category', 'Get_Category_List', plain), ['categories']],
  [
    'the noun in the identifier',
    portWith('FindPart', 'SearchParts', { partId: x.element(x.string), n: x.element(x.int) }),
    ['parts'],
  ],
  ['another noun', portWith('GetOrder', 'ListParts', plain), []],
  ['a verb that does not read', portWith('CloseOrder', 'ListOrders', plain), []],
  ['an item without the identifier', portWith('GetOrder', 'ListOrders', { name: x.element(x.string) }), []],
  [
    'an identifier that may be absent',
    portWith('GetOrder', 'ListOrders', { id: x.element(x.string).optional() }),
    ['orders'],
  ],
  ['what only XML can say', portWith('GetOrder', 'ListOrders', { ...plain, more: x.any() }), []],
  ['header blocks of callers', portWith('GetOrder', 'ListOrders', plain, { Session }), []],
  ['a reserved name', portWith('GetMetric', 'ListMetrics', plain), []],
] as const)
  test(`a guess by ${title}: ${expected.join() || 'none'}`, () => {
    assert.deepEqual(
      guessResources([openPort(guessed, [anyone])]).map(each => each.resource.name),
      expected,
    )
  })

test('a type that doubles with each level, and one that leads back to itself, are not guessed', () => {
  let wide: AnyXmlType = x.string
  for (let level = 0; level < 40; level++) wide = x.object({ a: x.element(wide), b: x.element(wide) })
  const endless: AnyXmlType = shop.type('Endless', { next: x.element((): AnyXmlType => endless).optional() })
  for (const type of [wide, endless]) {
    const guessed = portWith('GetOrder', 'ListOrders', { ...plain, more: x.element(type) })
    assert.deepEqual(guessResources([openPort(guessed, [anyone])]), [])
  }
})
