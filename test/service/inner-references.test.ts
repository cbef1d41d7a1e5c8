/** Lists filtered by references inside an item, for each caller: `lines.product` of the orders. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shop } from '../../examples/orders/contract.ts'
import orders from '../../examples/orders/service.ts'
import { FaultError, StateConflict } from '../../src/client/index.ts'
import { anyone, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'

const product = 'p-3'

test('A4.23 B4.4 both clients list the orders with a line of a product, and so do old versions', async () => {
  await using running = await startTestService(shop, orders)
  const clara = running.rest('clara')
  const expected: string[] = []
  for await (const { id, lines } of clara.orders.list())
    if (lines.some(line => line.product === product)) expected.push(id)
  assert.ok(expected.length > 2 && expected.length < 100)
  const found: Record<string, string[]> = { eq: [], in: [], soap: [], old: [], soapOld: [] }
  for await (const { id } of clara.orders.list({ where: { 'lines.product': product } })) found['eq']?.push(id)
  for await (const { id } of clara.orders.list({ where: { 'lines.product': { in: [product, 'p-none'] } } }))
    found['in']?.push(id)
  for await (const { id } of running.soap('clara').orders.list({ where: { 'lines.product': product } }))
    found['soap']?.push(id)
  for await (const { id } of running
    .rest('clara', { version: 'v1' })
    .orders.list({ where: { 'lines.product': product } }))
    found['old']?.push(id)
  const { orders: page } = await running
    .soap('clara', { version: 'v1' })
    .ListOrders({ linesProduct: product, size: 100 })
  found['soapOld']?.push(...page.map(each => each.id))
  for (const [how, ids] of Object.entries(found)) assert.deepEqual(ids, expected, how)
  assert.deepEqual(running.incidents, [])
})

test('A9.3 B9.3 a version that calls the list by another name filters by its own path', async () => {
  const rooms = resource('rooms', { fields: { id: t.id('r') } }).rules({ allow: { read: [anyone], create: [anyone] } })
  const plans = resource('plans', {
    fields: { id: t.id('p'), stays: t.list(t.object({ room: t.ref('rooms') })), nights: t.list(t.ref('rooms')) },
  }).rules({ filter: ['stays.room', 'nights'], allow: { read: [anyone], create: [anyone] } })
  const renames = { plans: { rows: 'stays', beds: 'nights' } }
  const contract = service('plans', {
    ...{ namespace: 'urn:plans', resources: [rooms, plans] },
    versions: { v1: { renames }, v2: {} },
  })
  await using running = await startTestService(contract, implement(contract, {}))
  const ask = running.fetchAs()
  const post = (path: string, value: object) =>
    ask(`${running.address}${path}`, {
      ...{ method: 'POST', body: JSON.stringify(value), headers: { 'content-type': 'application/json' } },
    })
  const made = (await (await post('/api/v2/rooms', {})).json()) as { id: string }
  for (const nights of [[made.id], []])
    assert.equal((await post('/api/v1/plans', { rows: [{ room: made.id }], beds: nights })).status, 201)
  const count = async (path: string) => {
    const response = await ask(`${running.address}${path}`)
    return response.ok ? ((await response.json()) as { items: object[] }).items.length : response.status
  }
  const found = [
    `v1/plans?rows.room=${made.id}`,
    `v1/plans?beds=${made.id}`,
    'v1/plans?rows.room=r-0',
    'v1/plans?stays.room=r-0',
    `v2/plans?stays.room=${made.id}`,
  ]
  assert.deepEqual(await Promise.all(found.map(each => count(`/api/${each}`))), [2, 1, 0, 400, 2])
  const soap = async (version: string, name: string) =>
    (
      await ask(`${running.address}/soap/${version}`, {
        method: 'POST',
        headers: { 'content-type': 'application/soap+xml' },
        body: `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><ListPlans xmlns="urn:plans:${version}"><${name}>${made.id}</${name}></ListPlans></e:Body></e:Envelope>`,
      })
    ).text()
  assert.equal((await soap('v1', 'rowsRoom')).match(/<room>/g)?.length, 2)
  assert.equal((await soap('v2', 'staysRoom')).match(/<room>/g)?.length, 2)
  assert.match(await soap('v1', 'staysRoom'), /Fault/)
  assert.deepEqual(running.incidents, [])
})

test('A1.2 a caller finds only their own orders', async () => {
  await using running = await startTestService(shop, orders)
  for await (const { customer } of running.rest('alice').orders.list({ where: { 'lines.product': product } }))
    assert.equal(customer, 'c-1')
})

test('A4.23 there are no parameters for other comparisons of an inner reference', async () => {
  await using running = await startTestService(shop, orders)
  const ask = running.fetchAs('clara')
  for (const name of [
    'lines.product[ne]',
    'lines.product[gt]',
    'lines',
    'lines.quantity',
    'lines.product.name',
    'lines.',
  ])
    assert.equal((await ask(`${running.address}/api/v2/orders?${encodeURIComponent(name)}=p-1`)).status, 400, name)
})

test('A4.23 B2.3 each description has the filter, and the page has a control for it', async () => {
  await using running = await startTestService(shop, orders)
  const text = async (path: string, accept = '*/*') =>
    (await running.fetchAs('clara')(`${running.address}${path}`, { headers: { accept } })).text()
  const { components } = JSON.parse(await text('/openapi.json')) as {
    components: { parameters: Record<string, { name: string }> }
  }
  const names = new Set(Object.values(components.parameters).map(each => each.name))
  assert.deepEqual([...names].filter(each => each.startsWith('lines')).sort(), ['lines.product', 'lines.product[in]'])
  assert.match(await text('/soap/v2?wsdl'), /<xs:element name="linesProduct" type="[^"]*Identifier" minOccurs="0"/)
  assert.match(await text('/api/v2/orders?lines.product=p-3', 'text/html'), /name="lines\.product"[^>]*value="p-3"/)
})

test('the removal of a product is a conflict while a placed or paid order has a line of it', async () => {
  await using running = await startTestService(shop, orders)
  const maria = running.rest('maria')
  const used = await maria.products.get('p-1')
  await assert.rejects(maria.products.remove(used), (thrown: unknown) => {
    assert.ok(thrown instanceof FaultError && thrown.is(StateConflict))
    assert.match(thrown.message, /order o-\d+ names this product and is (placed|paid)/)
    return true
  })
  const made = await maria.products.create({ name: 'New', price: '1.00', stock: 1 })
  await maria.products.remove(made)
})

test('a handler that compares an inner reference in another way gets an error', async () => {
  const rooms = resource('rooms', { fields: { id: t.id('r') } }).rules({ allow: { read: [anyone] } })
  const tours = resource('tours', {
    fields: { id: t.id('t'), rooms: t.list(t.ref('rooms')), note: t.string() },
  }).rules({ filter: ['rooms'], allow: { read: [anyone], create: [anyone] }, precondition: false })
  const house = service('house', { namespace: 'urn:house', resources: [rooms, tours], versions: { v1: {} } })
  const wrong: unknown = { rooms: { ne: 'r-1' } }
  const app = implement(
    house,
    {
      tours: {
        derive: async (ctx, draft) => {
          const same = await ctx.items.list('tours', { rooms: draft.rooms[0] ?? '' }).count()
          if (draft.note === 'wrong') await ctx.items.list('tours', wrong as { rooms: string }).count()
          return { note: `${same} before` }
        },
      },
    },
    { seed: () => ({ items: { rooms: [{ id: 'r-1' }, { id: 'r-2' }] } }) },
  )
  await using running = await startTestService(house, app)
  const client = running.rest()
  const draft = { rooms: ['r-1', 'r-2'], note: '' }
  assert.equal((await client.tours.create(draft)).note, '0 before')
  assert.equal((await client.tours.create(draft)).note, '1 before')
  await assert.rejects(client.tours.create({ ...draft, note: 'wrong' }))
  assert.match(String(running.incidents[0]), /rooms\.ne is not a comparison: use eq, in/)
})
