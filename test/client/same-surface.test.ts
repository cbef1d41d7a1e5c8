/** The same code with either client, over sockets: the caller changes one word. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { OutOfStock, PaymentDeclined, shop } from '../../examples/orders/contract.ts'
import {
  createRestClient,
  createSoapClient,
  FaultError,
  Invalid,
  type JobStatus,
  NotFound,
  VersionConflict,
} from '../../src/client/index.ts'
import { startHosted } from '../host/hosted-service.ts'

const { server } = await startHosted()
const credentials = { user: 'maria', password: 'maria-secret' }
const rest = createRestClient(shop, { address: `${server.url}/api`, credentials })
const soap = createSoapClient(shop, { address: `${server.url}/soap/v2`, credentials })
after(() => [rest, soap].map(each => each.close()))

async function fault(call: Promise<unknown>): Promise<FaultError> {
  const thrown = await call.then(
    () => assert.fail('it was answered'),
    why => why,
  )
  assert.ok(thrown instanceof FaultError, String(thrown?.stack ?? thrown))
  return thrown
}

const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR', note: 'two' } as const

for (const [name, api] of [
  ['REST', rest],
  ['SOAP', soap],
] as const)
  describe(name, () => {
    test('the life of an order', async () => {
      const placed = await api.orders.create(draft)
      assert.ok(placed.state === 'placed')
      const declined = await fault(api.orders.pay(placed, { method: 'card', amount: '1.00' }))
      assert.ok(declined.is(PaymentDeclined))
      assert.match(declined.detail.reason, /1\.00 was offered/)
      const payment = await api.orders.pay(placed, { method: 'card', amount: placed.total })
      assert.equal(payment.amount, '9.90')
      const paid = await api.orders.get(placed.id)
      assert.ok(paid.state === 'paid')
      const shipped = await api.orders.ship(paid, { carrier: 'dhl' })
      assert.equal((await api.orders.track(shipped)).position, 'on its way')
      assert.equal((await api.orders.deliver(shipped)).state, 'delivered')
    })
    test('a change carries the version that was read', async () => {
      const placed = await api.orders.create(draft)
      assert.ok(placed.state === 'placed')
      const changed = await api.orders.replace(placed, { ...placed, note: 'three' })
      assert.equal(changed.note, 'three')
      assert.ok((await fault(api.orders.replace(placed, { ...placed, note: 'four' }))).is(VersionConflict))
      assert.ok((await fault(api.orders.cancel(placed))).is(VersionConflict))
      const cancelled = await api.orders.cancel(placed, { reason: 'no tea' }, { anyVersion: true })
      assert.equal(await api.orders.remove(cancelled), undefined)
      assert.ok((await fault(api.orders.get(placed.id))).is(NotFound))
    })
    test('faults with their detail', async () => {
      const placed = await api.orders.create({ ...draft, lines: [{ product: 'p-2', quantity: 100_000 }] })
      assert.ok(placed.state === 'placed')
      await api.orders.pay(placed, { method: 'transfer', amount: placed.total })
      const paid = await api.orders.get(placed)
      assert.ok(paid.state === 'paid')
      const out = await fault(api.orders.ship(paid, { carrier: 'ups' }))
      assert.ok(out.is(OutOfStock))
      assert.equal(out.detail.product, 'p-2')
      const wrong = await fault(api.orders.create({ ...draft, customer: 'c-none' }))
      assert.ok(wrong.is(Invalid))
    })
    test('lists and searches', async () => {
      const found = await Array.fromAsync(api.orders.list({ where: { customer: 'c-3' }, sort: ['-total'], size: 10 }))
      assert.ok(found.length > 20 && found.every(each => each.customer === 'c-3'))
      assert.equal(new Set(found.map(each => each.id)).size, found.length)
      const page = await api.orders.list({ where: { state: 'shipped' }, size: 3 }).first()
      assert.deepEqual([page.items.length, page.total], [3, 20])
      const sought = await Array.fromAsync(api.orders.search('fragile', { state: 'shipped' }, { size: 2 }))
      assert.ok(sought.length > 0 && sought.every(each => each.state === 'shipped'))
    })
    test('octets of a file', async () => {
      const picture = Uint8Array.from({ length: 70_000 }, (_, at) => (at < 8 ? signature[at]! : (at * at) % 251))
      const product = await api.products.get('p-3')
      await api.products.picture.put(product, picture, { mediaType: 'image/png' })
      const file = await api.products.picture.get(product)
      assert.deepEqual([file.mediaType, file.length], ['image/png', picture.length])
      assert.deepEqual(new Uint8Array(Buffer.concat(await Array.fromAsync(file.stream))), picture)
    })
    test('a job, awaited with its progress', async () => {
      const seen: JobStatus[] = []
      const input = { from: '2026-01-01', to: '2026-12-31', kind: 'stock' } as const
      const report = await api.reports.run(input, { onProgress: status => seen.push(status) })
      assert.ok(report.rows.length > 10 && report.totals.every(({ amount }) => /^\d+\.\d\d$/.test(amount)))
      assert.deepEqual([seen[0]?.state === 'completed', seen.at(-1)?.state], [false, 'completed'])
    })
    test('the wait for a job ends with its signal', async () => {
      const job = await api.reports.start({ from: '2026-01-01', to: '2026-12-31', kind: 'stock' })
      await assert.rejects(job.result({ signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
    })
  })
const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

test('a job is stopped if the protocol can: its result is a JobError', async () => {
  const job = await rest.reports.start({ from: '2026-01-01', to: '2026-12-31', kind: 'sales' })
  assert.equal((await job.cancel()).state, 'cancelled')
  await assert.rejects(job.result(), { name: 'JobError', message: /the job is cancelled/ })
})

/** docs/client.md, "In a browser": what the client needs there, the engine of Node 24 does not have. */
const isAsBrowsers = Object.hasOwn(Uint8Array.prototype, 'toBase64')
test('in a realm that has nothing of Node, as in a browser', {
  skip: isAsBrowsers ? false : 'skipped: this engine has no Uint8Array.prototype.toBase64',
}, async () => {
  const script = join(import.meta.dirname, 'browser-realm.ts')
  const flags = ['--no-warnings', '--experimental-vm-modules']
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, `${server.url}/api`])
  assert.equal(stdout.trim(), 'undefined undefined 11 paid')
})
