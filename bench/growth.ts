/**
 * What each operation costs as its collection grows: CPU of the process for one request, threads included, over 10³ and 10⁵
 * orders (`--million`: 10⁶, too), on SQLite and, where `DIGLOT_POSTGRES` has an address of an empty database, on PostgreSQL,
 * whose server's own time is not in it. An entry above 1.5 times its value at 10³ is marked. Requests go to the service as
 * a host hands them over, without a socket; ids, filters and words differ each time.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import app from '../examples/orders/service.ts'
import { createHandler } from '../src/host/handler.ts'
import { openStore } from '../src/host/open-store.ts'
import type { Store } from '../src/service/store.ts'

const flagged = 1.5
const states = ['placed', 'paid', 'shipped', 'delivered', 'cancelled'] as const

/** Park and Miller: the same orders and requests each time. */
let state = 20261123
const below = (limit: number): number => (state = (state * 48_271) % 2_147_483_647) % limit

type Ask = (method: string, path: string, fields?: Record<string, string>, content?: string) => Promise<number>
interface Operation {
  readonly name: string
  readonly times: number
  readonly run: (ask: Ask, rows: number) => Promise<number>
}
const json = { 'content-type': 'application/json' }
const orderContent = (): string =>
  JSON.stringify({
    customer: `c-${1 + below(3)}`,
    lines: [{ product: `p-${1 + below(20)}`, quantity: 1 }],
    currency: 'EUR',
  })
const listing = (name: string, query: () => string, times = 60): Operation => ({
  name,
  times,
  run: ask => ask('GET', `/api/v2/orders?${query()}`),
})
const operations: readonly Operation[] = [
  { name: 'GET of an order', times: 400, run: (ask, rows) => ask('GET', `/api/v2/orders/o-g${below(rows)}`) },
  { name: 'POST of an order', times: 60, run: ask => ask('POST', '/api/v2/orders', json, orderContent()) },
  {
    name: 'PATCH of a note',
    times: 60,
    run: (ask, rows) => {
      const fields = { 'content-type': 'application/merge-patch+json', 'if-match': '*' }
      return ask('PATCH', `/api/v2/orders/o-g${5 * below(rows / 5)}`, fields, `{"note":"n${below(1e6)}"}`)
    },
  },
  listing('list, first page', () => `size=${20 + below(5)}`),
  listing('list by state', () => `state=${states[below(5)]}&size=${20 + below(5)}`),
  listing('list by state, sorted by total', () => `state=${states[below(5)]}&sort=-total&size=${20 + below(5)}`),
  listing('list by customer, sorted by total', () => `customer=c-${1 + below(3)}&sort=total&size=${20 + below(5)}`),
  listing('list by total', () => `total=${below(1000)}.00&size=${20 + below(5)}`),
  listing('list of totals above', () => `total[gte]=${below(1000)}.00&sort=total&size=${20 + below(5)}`),
  listing('page 50', () => `page=50&size=${20 + below(5)}`),
  {
    name: 'search, a word in one of 5,000',
    times: 20,
    run: ask => ask('GET', `/api/v2/search?q=rare${below(5000)}&size=${20 + below(5)}`),
  },
  {
    name: 'search, a word in one of ten',
    times: 20,
    run: ask => ask('GET', `/api/v2/search?q=tenth${below(10)}&size=${20 + below(5)}`),
  },
]

async function fill(store: Store, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += 1000)
    await store.write(async writer => {
      for (let i = from; i < from + 1000; i++) {
        const id = `o-g${i}`
        const value = {
          id,
          customer: `c-${1 + below(3)}`,
          lines: [{ product: `p-${1 + below(20)}`, quantity: 1 + below(9), price: '12.50' }],
          currency: 'EUR',
          total: `${below(1000)}.00`,
          note: `note rare${below(5000)} tenth${below(10)}`,
          placedAt: new Date(1.75e12 + i * 1000).toISOString(),
          state: states[i % 5],
        }
        await writer.put('orders', id, value, {}, undefined, 1.75e12 + i)
      }
    })
  await store.fill?.()
  await store.sweep(Date.now())
}

/** Microseconds of CPU for one request of each operation. */
async function measure(rows: number, database: string | undefined): Promise<readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'diglot-growth-'))
  const data = join(folder, 'orders.sqlite')
  const at = { data, ...(database !== undefined && { database }) }
  const limits = { reads: { count: 1e9, seconds: 1 }, changes: { count: 1e9, seconds: 1 } }
  const searches = app.contract.searches && { ...app.contract.searches, limit: limits.reads }
  const open = { ...app, contract: { ...app.contract, limits, ...(searches && { searches }) } } as typeof app
  const logger = { info: () => {}, warn: () => {}, error: console.error }
  await (await createHandler(open, { ...at, logger })).close() // seeds customers and products
  const store = await openStore(open, at)
  await fill(store, rows)
  await store.close()
  const clerk = { subject: 'clara', roles: ['manager'] }
  const shop = await createHandler(open, { ...at, logger, flood: 1e9, caller: () => clerk })
  const ask: Ask = async (method, path, fields = {}, content) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: fields,
      ...(content && { body: content }),
    })
    const response = await shop.fetch(request)
    await response.arrayBuffer()
    return response.status
  }
  const found: number[] = []
  for (const { name, times, run } of operations) {
    const periods: number[] = []
    for (let period = 0; period < 6; period++) {
      const before = process.cpuUsage()
      for (let i = 0; i < times; i++) {
        const status = await run(ask, rows)
        if (status >= 400) throw new Error(`${name}: ${status} at ${rows} rows`)
      }
      const { user, system } = process.cpuUsage(before)
      periods.push((user + system) / times)
    }
    found.push(periods.slice(1).sort((a, b) => a - b)[2] ?? 0)
  }
  await shop.close()
  rmSync(folder, { recursive: true, force: true })
  return found
}

/** Prints the table, and gives the entries that grow more than they may. */
export async function growth(isMillion: boolean): Promise<readonly string[]> {
  const sizes = [1e3, 1e5, ...(isMillion ? [1e6] : [])]
  const address = process.env['DIGLOT_POSTGRES']
  const grown: string[] = []
  for (const [database, url] of [['SQLite', undefined], ...(address ? [['PostgreSQL', address]] : [])] as const) {
    const figures: (readonly number[])[] = []
    for (const rows of sizes) figures.push(await measure(rows, url))
    console.log(`| µs of CPU on ${database} | ${sizes.map(rows => rows.toLocaleString('en')).join(' | ')} |`)
    console.log(`| --- |${' --- |'.repeat(sizes.length)}`)
    for (const [at, { name }] of operations.entries()) {
      const cells = figures.map(each => each[at] ?? 0)
      const [first = 0] = cells
      const marked = cells.map(
        cell => `${Math.round(cell)}${cell > flagged * first ? ` (${(cell / first).toFixed(1)} ×)` : ''}`,
      )
      if (marked.some(cell => cell.endsWith('×)'))) grown.push(`${name} on ${database}`)
      console.log(`| ${name} | ${marked.join(' | ')} |`)
    }
  }
  return grown
}
