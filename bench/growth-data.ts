/** The orders, jobs and changes that `growth.ts` measures among: the same at every run. */
import { createHash } from 'node:crypto'
import app from '../examples/orders/service.ts'
import { createHandler } from '../src/host/handler.ts'
import type { ServeOptions } from '../src/host/options.ts'
import { openStore } from '../src/host/store/open-store.ts'
import { queuedJob } from '../src/service/job-queue.ts'
import type { Store } from '../src/service/store.ts'

export const states = ['placed', 'paid', 'shipped', 'delivered', 'cancelled'] as const
/** Finished jobs, and entries in the change feed, for so many orders. */
const ordersForJob = 10
const batch = 1000

/** A number below a limit, by what it is for. */
export function drawBelow(limit: number, ...of: readonly (string | number)[]): number {
  return createHash('md5').update(of.join(' ')).digest().readUInt32BE(0) % limit
}

/** Also the price of the only line: a change of the order derives the same total again. */
export const totalOf = (i: number): string => `${drawBelow(1000, i, 'total')}.00`

const orderValue = (i: number) => ({
  id: `o-g${i}`,
  customer: `c-${1 + drawBelow(3, i, 'customer')}`,
  lines: [{ product: `p-${1 + drawBelow(20, i, 'product')}`, quantity: 1, price: totalOf(i) }],
  currency: 'EUR',
  total: totalOf(i),
  note: `note rare${drawBelow(5000, i, 'rare')} tenth${drawBelow(10, i, 'tenth')}`,
  placedAt: new Date(1.75e12 + i * 1000).toISOString(),
  state: states[i % states.length],
})

/** Adds what is missing: a database may be kept from run to run. */
export async function fillOrders(at: Pick<ServeOptions, 'data' | 'database'>, rows: number): Promise<void> {
  const logger = { info: () => {}, warn: () => {}, error: console.error }
  await (await createHandler(app, { ...at, logger })).close() // seeds customers and products
  const store = await openStore(app, at)
  try {
    for (let from = await store.read(reader => firstMissing(reader, rows)); from < rows; from += batch)
      await addOrders(store, from, Math.min(rows, from + batch))
    for (let from = 0; from < rows / ordersForJob; from += batch)
      await addJobs(store, from, Math.min(rows / ordersForJob, from + batch))
    await store.fill?.()
    await store.sweep(Date.now())
  } finally {
    await store.close()
  }
}

/** Batches are whole, so the last of one tells. */
async function firstMissing(reader: Parameters<Parameters<Store['read']>[0]>[0], rows: number): Promise<number> {
  let from = 0
  while (from < rows && (await reader.get('orders', `o-g${Math.min(rows, from + batch) - 1}`))) from += batch
  return from
}

const addOrders = (store: Store, from: number, to: number): Promise<void> =>
  store.write(async writer => {
    for (let i = from; i < to; i++) {
      const value = orderValue(i)
      await writer.put('orders', value.id, value, {}, undefined, 1.75e12 + i)
    }
  })

const addJobs = (store: Store, from: number, to: number): Promise<void> =>
  store.write(async writer => {
    if (await writer.job(`j-g${to - 1}`)) return
    const caller = { subject: 'clara', roles: ['manager'], claims: {} }
    const input = { from: '2026-01-01', to: '2026-01-31', kind: 'stock' }
    const now = Date.now()
    for (let i = from; i < to; i++) {
      await writer.putJob({ ...queuedJob(`j-g${i}`, 'reports', caller, input, now), state: 'failed', failure: 'error' })
      const change = {
        at: now,
        resource: 'orders',
        id: `o-g${i}`,
        version: i,
        what: 'changed',
        operation: 'x',
      } as const
      await writer.changed(change)
    }
  })
