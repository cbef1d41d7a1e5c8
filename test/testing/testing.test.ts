/** `diglot/testing`: what a test of an application relies on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contract as freight } from '../../examples/freight/contract.ts'
import freightApp from '../../examples/freight/service.ts'
import { PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import orders from '../../examples/orders/service.ts'
import { FaultError, NotFound, ProblemError } from '../../src/client/index.ts'
import { anyone, implement, type JobHandlerContext, job, resource, role, service, t } from '../../src/index.ts'
import { startTestService, TestClock } from '../../src/testing/index.ts'
import { assertCpuMsBelow } from '../support/cost.ts'

const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' } as const

test('both clients, of people of the seed and of any caller, share one service', async () => {
  await using service = await startTestService(shop, orders)
  const placed = await service.rest('alice').orders.create(draft)
  assert.ok(placed.state === 'placed')
  const zoe = service.soap({ subject: 'zoe', roles: ['clerk'] })
  await assert.rejects(zoe.PayOrder({ id: placed.id, method: 'card', amount: '1.00' }), (thrown: unknown) => {
    assert.ok(thrown instanceof FaultError && thrown.is(PaymentDeclined))
    return true
  })
  await zoe.PayOrder({ id: placed.id, method: 'card', amount: placed.total })
  assert.equal((await service.rest('alice').orders.get(placed.id)).state, 'paid')
  const bob = service.rest({ subject: 'bob', roles: ['customer'], claims: { customer: 'c-2' } })
  await assert.rejects(
    bob.orders.get(placed.id),
    (thrown: unknown) => thrown instanceof FaultError && thrown.is(NotFound),
  )
  await assert.rejects(service.rest().orders.get(placed.id), ProblemError)
  assert.equal((await service.rest('clara', { version: 'v1' }).orders.get('o-1')).id, 'o-1')
  assert.equal((await service.soap('clara', { version: 'v1' }).GetOrder({ id: 'o-1' })).order.id, 'o-1')
  const page = await service.fetchAs('clara')(`${service.address}/`, { headers: { accept: 'text/html' } })
  assert.match(await page.text(), /<!DOCTYPE html>/i)
  assert.deepEqual(service.incidents, [])
})

test('B7.4 content that breaks a rule is refused with the same words by both faces', async () => {
  await using service = await startTestService(shop, orders)
  const reasons: string[] = []
  for (const [path, type, content] of [
    ['/api/v2/orders', 'application/json', JSON.stringify({ ...draft, lines: [{ product: 'p-999', quantity: 2 }] })],
    [
      '/soap/v2',
      'application/soap+xml',
      `<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><CreateOrder xmlns="urn:diglot:orders:v2"><order><customer>c-1</customer><lines><line><product>p-999</product><quantity>2</quantity></line></lines><currency>EUR</currency></order></CreateOrder></e:Body></e:Envelope>`,
    ],
  ] as const) {
    const headers = { 'content-type': type, 'idempotency-key': '"one"' }
    const response = await service.fetchAs('alice')(`${service.address}${path}`, {
      method: 'POST',
      headers,
      body: content,
    })
    const text = await response.text()
    reasons.push(/"detail":"([^"]*)"|<soap:Text[^>]*>([^<]*)/.exec(text)?.slice(1).find(Boolean) ?? text)
  }
  assert.match(reasons[0] ?? '', /lines\.0\.product/)
  assert.equal(reasons[1], reasons[0])
})

test('each test has a service of its own, unaffected by other tests', async () => {
  await using one = await startTestService(shop, orders)
  await using other = await startTestService(shop, orders)
  const item = await one.rest('maria').products.get('p-1')
  await one.rest('maria').products.patch(item, { stock: 1 })
  assert.notEqual((await other.rest('maria').products.get('p-1')).stock, 1)
})

test('the clock stands until the test moves it, for handlers, limits and schedules', async () => {
  const runs: number[] = []
  const daily = {
    name: 'daily',
    job: 'reports',
    at: '0 3 * * *',
    as: { subject: 'maria', roles: ['manager'], claims: {} },
    input: (instant: number) => {
      runs.push(instant)
      return { from: '2026-01-01', to: '2026-01-31', kind: 'stock' }
    },
  }
  await using service = await startTestService(shop, orders, { now: '2026-03-01T02:00:00Z', schedules: [daily] })
  const alice = service.rest('alice')
  assert.equal((await alice.orders.create(draft)).placedAt, '2026-03-01T02:00:00.000Z')
  assert.equal(await service.work(), 0)
  service.clock.advance({ hours: 1, minutes: 30 })
  assert.equal(await service.work(), 1)
  const [start, due] = [Date.parse('2026-03-01T02:00:00Z'), Date.parse('2026-03-01T03:00:00Z')]
  assert.deepEqual(runs, [start, due], 'the start asks for the input, to find what the job does not take')
  assert.equal(await service.work(), 0)
  assert.equal((await alice.orders.create(draft)).placedAt, '2026-03-01T03:30:00.000Z')
})

test('a job runs when the test says so, and its result is available at once', async () => {
  await using service = await startTestService(shop, orders)
  const clara = service.rest('clara')
  const job = await clara.reports.start({ from: '2020-01-01', to: '2030-01-01', kind: 'stock' })
  assert.equal(await service.work(), 1)
  assert.equal((await job.result()).kind, 'stock')
})

test('a client that waits for a job lets the service work, and lets time pass if nothing is due', async () => {
  for (const face of ['rest', 'soap'] as const) {
    let runs = 0
    const counts = job('counts', { input: {}, output: { runs: t.int() }, allow: [role('clerk')], tries: 3 })
    const contract = service('counting', { namespace: 'urn:example:counting', resources: [], jobs: [counts] })
    const run = async () => {
      if (++runs < 3) throw new Error('not yet')
      return { runs }
    }
    await using counting = await startTestService(contract, implement(contract, { counts: { run } }))
    const clerk = counting[face]({ subject: 'zoe', roles: ['clerk'] })
    assert.deepEqual(await clerk.counts.run({}), { runs: 3 }, face)
    assert.ok(counting.clock.now > Date.parse('2026-01-01T00:00:00Z'), 'a job that has failed is tried again later')
    const late = clerk.counts.run({}, { signal: AbortSignal.abort(new Error('enough')) })
    await assert.rejects(late, /enough/)
  }
})

test('a collection and its items have methods even if singular and plural are equal: fish, census', async () => {
  const allow = { read: [anyone], create: [anyone] }
  const fish = resource('fish', { fields: { id: t.id('f'), name: t.string() } }).rules({ allow })
  const census = job('census', { input: {}, output: { count: t.int() }, allow: [anyone] })
  const zoo = service('zoo', { namespace: 'urn:example:zoo', resources: [fish], jobs: [census] })
  const run = async (ctx: JobHandlerContext) => ({ count: await ctx.items.all.list('fish').count() })
  await using zoos = await startTestService(zoo, implement(zoo, { census: { run } }))
  for (const [face, count] of [
    ['rest', 1],
    ['soap', 2],
  ] as const) {
    const client = zoos[face]()
    const { id } = await client.fish.create({ name: face })
    assert.equal((await client.fish.get(id)).name, face)
    assert.equal((await Array.fromAsync(client.fish.list())).length, count)
    assert.deepEqual(await client.census.run({}), { count })
  }
})

test('a test sees what was sent: events of each commit, and the sinks of the test', async () => {
  const delivered: string[] = []
  const sink = {
    name: 'mail',
    resources: ['orders'],
    deliver: async ({ type, subject }: { type: string; subject: string }) => void delivered.push(`${type} ${subject}`),
  }
  await using service = await startTestService(shop, orders, { sinks: [sink] })
  const before = (await service.events()).length
  await service.work()
  delivered.length = 0
  const placed = await service.rest('alice').orders.create(draft)
  assert.deepEqual(delivered, [])
  await service.work()
  assert.deepEqual(delivered, [`orders.orders.created orders/${placed.id}`])
  const events = (await service.events()).slice(before)
  assert.deepEqual(
    events.map(each => each.data.operation),
    ['CreateOrder'],
  )
  await service.work()
  assert.equal(delivered.length, 1)
})

test('mistakes in a test are errors with the cure', async () => {
  await using service = await startTestService(shop, orders)
  const misspelt = { seed: () => ({}) } as object
  await assert.rejects(
    startTestService(shop, orders, misspelt),
    /^TypeError: the options of startTestService: unknown member "seed": use now, settings/,
  )
  assert.throws(() => service.rest('bert'), /the seed has no person "bert": give one of \[alice, /)
  assert.throws(() => service.clock.set('soon'), /soon is not a time: give one such as/)
  await assert.rejects(startTestService({ ...shop }, orders), /the implementation is not of this contract/)
  assert.equal(new TestClock(5).now, 5)
})

test('the error of a handler is in `incidents`', async () => {
  const handlers = { ...orders.handlers['orders'], derive: () => assert.fail('a bug') }
  const app = { ...orders, handlers: { ...orders.handlers, orders: handlers } } as typeof orders
  await using service = await startTestService(shop, app)
  await assert.rejects(service.rest('alice').orders.create(draft), ProblemError)
  assert.match(String(service.incidents[0]), /a bug/)
})

test('a service and both clients are created for a test within milliseconds', async () => {
  const one = async () => {
    await using service = await startTestService(shop, orders)
    const { id } = await service.rest('clara').orders.get('o-1')
    assert.equal((await service.soap('clara').GetOrder({ id })).order.id, id)
  }
  for (let warm = 0; warm < 5; warm++) await one()
  await assertCpuMsBelow(100 * 30, async () => {
    for (let done = 0; done < 30; done++) await one()
  })
})

test('a port of another party has a client with its types, for any caller', async () => {
  await using service = await startTestService(freight, freightApp)
  const port = service.port('FreightPort', { subject: 'tea-shop', roles: ['shop'] })
  const booked = await port.BookShipment({
    reference: '17',
    parcel: [{ weight: '1.5', fragile: true }],
    doorOrLocker: { locker: 4n },
  })
  assert.deepEqual(booked, { number: 'L-17', total: '1.5' })
  const anonymous = service.port('FreightPort')
  await assert.rejects(anonymous.TrackShipment('D-0'), thrown => {
    assert.ok(anonymous.TrackShipment.isFault(thrown, 'UnknownShipment'))
    assert.equal(thrown.detail.number, 'D-0')
    return true
  })
  assert.throws(() => service.port('Nothing' as never), /unknown port Nothing: use FreightPort/)
})
