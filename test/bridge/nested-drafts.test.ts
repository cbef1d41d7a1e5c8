/** Messages that carry drafts inside an item: types with fewer members than the item shows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { openPort } from '../../src/bridge/bridged-service.ts'
import { guessResources } from '../../src/bridge/guess-resources.ts'
import { exchange, type Port, type PortExchange, port } from '../../src/contract/exchange.ts'
import { implement } from '../../src/contract/implement.ts'
import { anyone } from '../../src/contract/policy.ts'
import { service } from '../../src/contract/service.ts'
import { type AnyXmlType, x } from '../../src/contract/xml-type.ts'
import { readImportedContract } from '../../src/import/imported-contract.ts'
import { Malformed } from '../../src/xml/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { etagOf, startResourceBridge } from './resource-bridge.ts'

const sales = x.namespace('urn:sales')
type Members = Parameters<typeof x.object>[0]
const message = <M extends Members>(name: string, members: M) => sales.element(name, x.object(members))
const quantity = () => x.element(x.simple(x.int, { minInclusive: '1' }))
const Line = sales.type('Line', {
  product: x.element(x.string),
  quantity: quantity(),
  price: x.element(x.decimal),
  labels: x.element(x.string).many(),
})
const LineDraft = sales.type('LineDraft', { product: x.element(x.string), quantity: quantity() })
const Place = sales.type('Place', { town: x.element(x.string), zone: x.element(x.int) })
const Order = sales.type('Order', {
  orderId: x.element(x.long),
  lines: x.element(Line).many(),
  to: x.element(Place).optional(),
  note: x.element(x.string).optional(),
})
const byId = { orderId: x.element(x.long) }
const townAlone = x.object({ town: x.element(x.string) })
const OrderDraft = sales.type('OrderDraft', {
  lines: x.element(LineDraft).many(),
  to: x.element(townAlone).optional(),
  note: x.element(x.string).optional(),
})
const reads = {
  GetOrder: exchange({
    action: 'get',
    input: message('GetOrder', byId),
    output: message('GetOrderResponse', { order: x.element(Order).optional() }),
  }),
  ListOrders: exchange({
    action: 'list',
    input: 'empty',
    output: message('ListOrdersResponse', { order: x.element(Order).many() }),
  }),
}
const salesPort = port('Sales', {
  namespace: 'urn:sales:wsdl',
  allow: [anyone],
  exchanges: {
    ...reads,
    CreateOrder: exchange({
      action: 'create',
      input: message('CreateOrder', { order: x.element(OrderDraft) }),
      output: message('CreateOrderResponse', byId),
    }),
    UpdateOrder: exchange({
      action: 'update',
      input: message('UpdateOrder', { ...byId, order: x.element(OrderDraft) }),
      output: 'empty',
    }),
  },
})

type OrderValue = (typeof Order)['value']
type DraftValue = (typeof OrderDraft)['value']
/** Sets a price for each line, and a zone for each town. */
const completeDraft = (orderId: bigint, { lines, to, note }: DraftValue): OrderValue => ({
  orderId,
  lines: lines.map(each => ({ ...each, price: `${each.product.length}.50`, labels: ['new'] })),
  ...(to && { to: { ...to, zone: to.town.length } }),
  ...(note !== undefined && { note }),
})
async function startSales() {
  const orders = new Map<bigint, OrderValue>([[1n, completeDraft(1n, { lines: [{ product: 'tea', quantity: 2 }] })]])
  const seen: unknown[] = []
  const keep = (id: bigint, draft: DraftValue) => {
    seen.push(draft)
    orders.set(id, completeDraft(id, draft))
    return { orderId: id }
  }
  const behind = implement(service('behind', { namespace: 'urn:behind', resources: [], ports: [salesPort] }), {
    Sales: {
      GetOrder: ({ orderId }) => ({ order: orders.get(orderId) }),
      ListOrders: () => ({ order: [...orders.values()] }),
      CreateOrder: ({ order }) => keep(BigInt(orders.size + 1), order),
      UpdateOrder: ({ orderId, order }) => void keep(orderId, order),
    },
  })
  const { server } = await startHosted({}, behind)
  const { send } = await startResourceBridge(`http://127.0.0.1:${server.port}/soap/Sales`, salesPort)
  return { send, orders, seen }
}
const tea = { product: 'tea', quantity: 2 }
const cocoa = { product: 'cocoa', quantity: 1 }

test('POST sends drafts of the inner objects of an item, and shows what the service made of them', async () => {
  const { send, seen } = await startSales()
  const made = await send('POST', '/api/v1/orders', { lines: [cocoa], to: { town: 'Rome' } })
  assert.equal(made.status, 201, made.text)
  const { lines, to } = JSON.parse(made.text)
  assert.deepEqual([lines, to], [[{ ...cocoa, price: '5.50', labels: ['new'] }], { town: 'Rome', zone: 4 }])
  assert.deepEqual(seen, [{ lines: [cocoa], to: { town: 'Rome' } }])
})

test('PUT and PATCH send drafts, beside the values that were read', async () => {
  const { send, seen } = await startSales()
  const got = await send('GET', '/api/v1/orders/1')
  const [line] = JSON.parse(got.text).lines
  assert.deepEqual(line, { ...tea, price: '3.50', labels: ['new'] })
  const put = await send('PUT', '/api/v1/orders/1', { lines: [line, cocoa], note: 'x' }, { 'if-match': etagOf(got) })
  assert.equal(put.status, 200, put.text)
  assert.equal(JSON.parse(put.text).lines[1].price, '5.50')
  const now = async () => ({ 'if-match': etagOf(await send('GET', '/api/v1/orders/1')) })
  const merge = { 'content-type': 'application/merge-patch+json', ...(await now()) }
  const patched = await send('PATCH', '/api/v1/orders/1', { to: { town: 'Oslo' }, note: null }, merge)
  assert.equal(patched.status, 200, patched.text)
  assert.deepEqual(JSON.parse(patched.text).to, { town: 'Oslo', zone: 4 })
  const patch = { 'content-type': 'application/json-patch+json', ...(await now()) }
  const step = [{ op: 'replace', path: '/lines/0/quantity', value: 7 }]
  assert.equal((await send('PATCH', '/api/v1/orders/1', step, patch)).status, 200)
  assert.deepEqual(seen, [
    { lines: [tea, cocoa], note: 'x' },
    { lines: [tea, cocoa], to: { town: 'Oslo' } },
    { lines: [{ ...tea, quantity: 7 }, cocoa], to: { town: 'Oslo' } },
  ])
})

test('members that only the item has are refused if they differ from it, and nothing is sent', async () => {
  const { send, seen } = await startSales()
  const etag = { 'if-match': etagOf(await send('GET', '/api/v1/orders/1')) }
  for (const [method, target, fields] of [
    ['POST', '/api/v1/orders', {}],
    ['PUT', '/api/v1/orders/1', etag],
  ] as const)
    for (const [value, place] of [
      [{ lines: [{ ...tea, price: '0.01' }] }, '/lines/0/price'],
      [{ lines: [{ ...tea, labels: ['mine'] }] }, '/lines/0/labels'],
      [{ lines: [tea], to: { town: 'Rome', zone: 1 } }, '/to/zone'],
      [{ lines: [{ ...tea, discount: 1 }] }, '/lines/0/discount'],
      [{ lines: [{ product: 'tea' }] }, '/lines/0/quantity'],
    ] as const) {
      const refused = await send(method, target, value, fields)
      assert.equal(refused.status, 422, refused.text)
      assert.deepEqual(
        JSON.parse(refused.text).errors.map((each: { pointer: string }) => each.pointer),
        [place],
        refused.text,
      )
    }
  assert.match((await send('POST', '/api/v1/orders', { lines: [{ ...tea, quantity: 0 }] })).text, /must be at least 1/)
  assert.deepEqual(seen, [])
})

test('OpenAPI says what may be sent inside an item', async () => {
  const { send } = await startSales()
  const document = JSON.parse((await send('GET', '/openapi.json')).text)
  assert.equal((await new Validator().validate(document)).valid, true)
  const at = (node: unknown): Record<string, never> => {
    const { $ref } = node as { $ref?: string }
    if ($ref === undefined) return node as Record<string, never>
    return at(
      $ref
        .slice(2)
        .split('/')
        .reduce((inner, name) => inner[name], document),
    )
  }
  const post = Object.entries<Record<string, never>>(document.paths).find(
    ([path, item]) => path.endsWith('/orders') && item['post'],
  )?.[1]['post'] as unknown as { requestBody: { content: Record<string, { schema: unknown }> } }
  const content = at(post.requestBody.content['application/json']?.schema)
  const { lines } = at(content['properties'])
  const line = at(at(lines)['items'])
  assert.deepEqual(line['required'], ['product', 'quantity'])
  const isSet = (name: string) => at(at(line['properties'])[name])['readOnly'] === true
  assert.deepEqual(['product', 'quantity', 'price', 'labels'].map(isSet), [false, false, true, true])
})

// What is guessed

const writeOf = (members: Members, output: PortExchange['output'] = 'empty'): PortExchange =>
  exchange({ action: 'w', input: message('W', members), output: output as never }) as unknown as PortExchange
const draftOf = (line: AnyXmlType, more: Members = {}) =>
  x.element(x.object({ lines: x.element(line).many(), ...more }) as AnyXmlType)
const create = (line: AnyXmlType) => writeOf({ order: draftOf(line) }, message('Made', byId))
const update = (line: AnyXmlType) => writeOf({ ...byId, order: draftOf(line) })
const product = x.element(x.string)
const price = x.element(x.decimal)

describe('of a message with another type inside', () => {
  for (const [title, exchanges, expected] of [
    ['fewer members', { CreateOrder: create(LineDraft), UpdateOrder: update(LineDraft) }, 'create change'],
    [
      'a type of its own with the same values',
      { CreateOrder: create(x.object({ product, quantity: quantity() })) },
      'create',
    ],
    ['a member that the item does not have', { CreateOrder: create(x.object({ product, shelf: x.element(x.string).optional() })) }, ''], // biome-ignore format: one row
    ['a member of another type', { CreateOrder: create(x.object({ product: x.element(x.int) })) }, ''],
    ['a member of other bounds', { CreateOrder: create(x.object({ product, quantity: x.element(x.int) })) }, ''],
    ['one in place of many', { CreateOrder: create(x.object({ product, labels: x.element(x.string) })) }, ''],
    ['no member', { CreateOrder: create(x.object({})) }, ''],
    ['a text', { CreateOrder: create(x.string) }, ''],
    [
      'a change that lacks what a new item needs there',
      { CreateOrder: create(x.object({ product, price })), UpdateOrder: update(x.object({ product })) },
      'create',
    ],
    [
      'a change that lacks what is needed of the whole type',
      { CreateOrder: create(Line), UpdateOrder: update(LineDraft) },
      'create',
    ],
    [
      'a change that can say more',
      { CreateOrder: create(x.object({ product })), UpdateOrder: update(x.object({ product, price })) },
      'create change',
    ],
  ] as const)
    test(`${title}: ${expected || 'nothing is written'}`, () => {
      const guessed = port('Sales', { namespace: 'urn:sales:wsdl', exchanges: { ...reads, ...exchanges } })
      const [found] = guessResources([openPort(guessed as Port, [anyone])])
      const { create: made, change } = found?.writes ?? {}
      assert.equal([made && 'create', change && 'change'].filter(Boolean).join(' '), expected)
    })
})

test('orders of ours are made and replaced through a bridge, by their WSDL, which has drafts of lines', async () => {
  const { server } = await startHosted({})
  const to = `${server.url}/soap/v2`
  const wsdl = await (await fetch(`${to}?wsdl`)).text()
  const contract = readImportedContract(Buffer.from(wsdl), to, () => undefined)
  assert.ok(!(contract instanceof Malformed))
  const [bridged] = contract.ports
  assert.ok(bridged)
  const worn = { credentials: { bearer: await server.token('maria', ['manager']) } }
  const { send } = await startResourceBridge(to, bridged, { worn })
  const { customer, lines } = JSON.parse((await send('GET', '/api/v1/orders/o-1')).text)
  const [{ product: sold }] = lines.line
  const content = { customer, currency: 'EUR', lines: { line: [{ product: sold, quantity: 3 }] } }
  const made = await send('POST', '/api/v1/orders', content)
  assert.equal(made.status, 201, made.text)
  const { id, total } = JSON.parse(made.text)
  const target = `/api/v1/orders/${id}`
  const more = { ...content, lines: { line: [{ product: sold, quantity: 6 }] } }
  const put = await send('PUT', target, more, { 'if-match': etagOf(await send('GET', target)) })
  assert.equal(put.status, 200, put.text)
  assert.equal(Number(JSON.parse(put.text).total), 2 * Number(total))
  const now = etagOf(await send('GET', target))
  const unwanted = await send('DELETE', target, undefined, { 'if-match': now })
  assert.equal(unwanted.status, 409, 'the backend has rules of its own')
})
