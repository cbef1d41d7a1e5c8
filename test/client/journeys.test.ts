/** Journeys of the typed client through the whole service on loopback. */
import assert from 'node:assert/strict'
import { type AddressInfo, connect, createServer } from 'node:net'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { OutOfStock, shop as orders, PaymentDeclined } from '../../examples/orders/contract.ts'
import {
  ConnectionError,
  createSoapClient,
  FaultError,
  NotFound,
  type SoapClientOptions,
  StateConflict,
  VersionConflict,
} from '../../src/client/index.ts'
import { startHosted } from '../host/hosted-service.ts'
import { likePng } from '../support/png.ts'
import { issueCertificate } from './issued.ts'

const signer = issueCertificate('maria')
const { server } = await startHosted(signer ? { messageSecurity: { certificates: [signer.cert] } } : {})

const maria = { user: 'maria', password: 'maria-secret' }
function client(path = '/soap/v2', options: Partial<SoapClientOptions<'v2'>> = {}) {
  const made = createSoapClient(orders, { address: server.url + path, version: 'v2', credentials: maria, ...options })
  after(() => made.close())
  return made
}

/** The fault that a call ends with. */
async function fault(call: Promise<unknown>): Promise<FaultError> {
  const thrown = await call.then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof FaultError, String(thrown))
  return thrown
}

const draft = {
  customer: 'c-1',
  lines: [{ product: 'p-1', quantity: 2 }],
  currency: 'EUR',
  note: 'for <you> & me: 数',
} as const

const ways: readonly (readonly [string, Partial<SoapClientOptions<'v2'>>])[] = [
  ['/soap/v2', { soap: '1.1' }],
  ['/soap/v2', { soap: '1.2' }],
  ['/soap/v2', { soap: '1.2', addressing: { demanded: true }, mtom: true }],
  ['/soap/v2', { soap: '1.1', addressing: { of: '2004/08' }, mtom: true }],
  ['/soap/v2/rpc', { soap: '1.1', style: 'rpc' }],
  ['/soap/v2/rpc', { soap: '1.2', style: 'rpc', addressing: true, mtom: true }],
  ['/soap/v2/encoded', { soap: '1.1', style: 'encoded' }],
  ['/soap/v2/encoded', { soap: '1.2', style: 'encoded', addressing: true }],
  ['/soap/v2/secure', { credentials: { username: 'maria', password: 'maria-secret' }, addressing: true }],
  ['/soap/v2/secure', { credentials: { username: 'maria', password: 'maria-secret', digest: true }, soap: '1.1' }],
]
for (const [path, options] of ways)
  describe(`${path} ${JSON.stringify(options)}`, () => {
    const shop = client(path, options)
    test('the life of an order', async () => {
      const { order } = await shop.CreateOrder({ order: draft })
      assert.deepEqual([order.state, order.note, order.lines[0]?.price], ['placed', draft.note, '4.95'])
      const declined = await fault(shop.PayOrder({ id: order.id, method: 'card', amount: '1.00' }))
      assert.ok(declined.is(PaymentDeclined))
      assert.match(declined.detail.reason, /1\.00 was offered/)
      assert.deepEqual([declined.code, declined.status], ['Sender', 500])
      const { payment } = await shop.PayOrder({ id: order.id, method: 'card', amount: order.total })
      assert.equal(payment.amount, '9.90')
      const late = await fault(shop.ReplaceOrder({ id: order.id, version: order.version, order: { ...order } }))
      assert.ok(late.is(VersionConflict, StateConflict), late.message)
      assert.equal((await shop.ShipOrder({ id: order.id, carrier: 'dhl' })).order.carrier, 'dhl')
      assert.equal((await shop.TrackOrder({ id: order.id })).tracking.position, 'on its way')
      assert.equal(await shop.NotifyDelivery({ id: order.id }), undefined)
      const delivered = await shop.GetOrder({ id: order.id })
      assert.equal(delivered.order.state, 'delivered')
      const again = await fault(shop.CancelOrder({ id: order.id }))
      assert.ok(again.is(StateConflict))
      assert.equal(again.detail.state, 'delivered')
    })
    test('changes and a removal', async () => {
      const { order } = await shop.CreateOrder({ order: { ...draft, lines: [{ product: 'p-2', quantity: 100_000 }] } })
      const { id, version } = order
      const changed = await shop.ReplaceOrder({ id, version, order: { ...order, note: '' } })
      assert.equal(changed.order.note, '')
      await shop.PayOrder({ id, method: 'transfer', amount: order.total })
      const out = await fault(shop.ShipOrder({ id, carrier: 'ups' }))
      assert.ok(out.is(OutOfStock))
      assert.deepEqual([out.detail.product, typeof out.detail.stock], ['p-2', 'number'])
      assert.equal((await shop.CancelOrder({ id, reason: 'no tea' })).order.state, 'cancelled')
      assert.deepEqual({ ...(await shop.DeleteOrder({ id })) }, {})
      const gone = await fault(shop.GetOrder({ id }))
      assert.ok(gone.is(NotFound))
    })
    test('pages, searches, octets, jobs', async () => {
      const first = await shop.ListOrders({ state: 'placed', size: 3, sort: 'total' })
      assert.equal(first.orders.length, 3)
      assert.ok(first.next !== undefined && (first.total ?? 0) > 3)
      const second = await shop.ListOrders({ cursor: first.next, size: 3 })
      assert.ok(second.orders.every(each => first.orders.every(other => other.id !== each.id)))
      const found = await shop.SearchOrders({ q: 'gift', state: 'placed' })
      assert.ok(found.orders.every(each => each.state === 'placed'))
      const picture = likePng(Uint8Array.from({ length: 70_000 }, (_, at) => (at * at) % 251))
      const { version } = await shop.PutProductPicture({ id: 'p-3', picture, mediaType: 'image/png' })
      const got = await shop.GetProductPicture({ id: 'p-3' })
      assert.ok(Buffer.from(picture).equals(got.picture))
      assert.deepEqual([got.mediaType, got.version], ['image/png', version])
      const { job } = await shop.StartReport({ from: '2026-01-01', to: '2026-12-31', kind: 'stock' })
      for (let tries = 0; tries < 1200; tries++) {
        const { job: now, report } = await shop.GetReportJob({ id: job.id })
        if (now.state === 'completed') {
          assert.ok(report && report.rows.length > 10 && /^\d+\.\d\d$/.test(report.totals[0]?.amount ?? ''))
          return
        }
        await pause(50)
      }
      assert.fail('the report was never made')
    })
  })

describe('credentials', () => {
  test('none: 401, and a fault', async () => {
    const refused = await fault(createSoapClient(orders, { address: `${server.url}/soap/v2` }).GetOrder({ id: 'o-1' }))
    assert.deepEqual([refused.status, refused.code], [401, 'Sender'])
    assert.match(refused.fields['www-authenticate'] ?? '', /Bearer/)
  })
  test('a bearer token, handed out by a function', async () => {
    const bearer = () => server.token('clara', ['clerk'])
    assert.equal((await client('/soap/v2', { credentials: { bearer } }).GetOrder({ id: 'o-1' })).order.id, 'o-1')
  })
  test('a customer orders for himself', async () => {
    const alice = client('/soap/v2', { credentials: { user: 'alice', password: 'alice-secret' } })
    const { customer: _, ...mine } = draft
    assert.equal((await alice.CreateOrder({ order: mine })).order.customer, 'c-1')
  })
  test('a wrong password at the secure endpoint', async () => {
    const credentials = { username: 'maria', password: 'wrong' }
    const refused = await fault(client('/soap/v2/secure', { credentials }).GetOrder({ id: 'o-1' }))
    assert.equal(refused.codes.at(-1)?.local, 'FailedAuthentication')
  })
  test('a signature over Body and Timestamp', { skip: signer ? false : 'skipped: no openssl here' }, async () => {
    const { key, cert } = signer!
    const signature = { key, by: { certificate: cert } } as const
    const shop = createSoapClient(orders, {
      address: `${server.url}/soap/v2/secure`,
      addressing: true,
      security: { signature },
    })
    after(() => shop.close())
    assert.equal((await shop.GetOrder({ id: 'o-1' })).order.id, 'o-1')
  })
})

/** A hop that forwards messages and, for the first so many connections, lets no response back. */
async function deaf(times: number): Promise<string> {
  let left = times
  const hop = createServer(socket => {
    const on = connect(server.port, '127.0.0.1')
    const isDeaf = left-- > 0
    socket.pipe(on)
    on.on('data', piece => (isDeaf ? socket.destroy() : socket.write(piece)))
    for (const each of [socket, on])
      each.on('error', () => {}).on('close', () => [socket, on].map(one => one.destroy()))
  })
  await new Promise<void>(resolve => hop.listen(0, '127.0.0.1', resolve))
  after(() => hop.close())
  return `http://127.0.0.1:${(hop.address() as AddressInfo).port}/soap/v2` // it listens on a port
}

describe('a connection that is lost once the service has the message', () => {
  const counted = async () => (await client().ListOrders({ customer: 'c-2', size: 1 })).total ?? 0
  const order = { ...draft, customer: 'c-2' }
  const through = async (options: Partial<SoapClientOptions<'v2'>>) => {
    const address = await deaf(1)
    const made = createSoapClient(orders, { address, version: 'v2', credentials: maria, ...options })
    after(() => made.close())
    return made
  }
  test('an unsafe message is not sent again: the caller learns that it may have run', async () => {
    const before = await counted()
    const thrown = await (await through({})).CreateOrder({ order }).then(undefined, why => why)
    assert.ok(thrown instanceof ConnectionError)
    assert.deepEqual([thrown.why, thrown.mayHaveRun], ['lost', true])
    assert.equal(await counted(), before + 1)
  })
  test('a message with an id that the service honours is sent again, answered, and done once', async () => {
    const before = await counted()
    const careful = await through({ addressing: { once: true } })
    const { order: made } = await careful.CreateOrder({ order })
    assert.equal(await counted(), before + 1)
    assert.equal((await client().GetOrder({ id: made.id })).order.id, made.id)
  })
  test('a safe one is sent again', async () => {
    assert.equal((await (await through({})).GetOrder({ id: 'o-1' })).order.id, 'o-1')
  })
})

test('many simultaneous calls over few connections, each with its own response', async () => {
  const shop = client('/soap/v2', { connections: 4 })
  const ids = Array.from({ length: 300 }, (_, at) => `p-${(at % 20) + 1}`)
  const found = await Promise.all(ids.map(async id => (await shop.GetProduct({ id })).product.id))
  assert.deepEqual(found, ids)
})

test('an endpoint that does not exist', async () => {
  const thrown = await client('/soap/v9')
    .GetOrder({ id: 'o-1' })
    .then(undefined, why => why)
  assert.deepEqual([thrown.name, thrown.why, thrown.status], ['AnswerError', 'status', 404])
})
