/**
 * The orders service with a hundred large orders, in a process of its own. In reply to a message it
 * gives the longest turn of its event loop since then, in milliseconds of its thread's CPU.
 */
import orders from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'

const linesEach = 1000
/** Park and Miller: the same orders each time, no two of them alike. */
let state = 20261122
const below = (limit: number): number => (state = (state * 48_271) % 2_147_483_647) % limit

const seed: typeof orders.seed = () => {
  const { items = {}, ...rest } = orders.seed()
  const large = Array.from({ length: 100 }, (_, i) => ({
    id: `o-large${i}`,
    customer: `c-${1 + below(3)}`,
    lines: Array.from({ length: linesEach - below(200) }, () => ({
      product: `p-${1 + below(20)}`,
      quantity: 1 + below(1000),
      price: `${below(1000)}.${String(below(100)).padStart(2, '0')}`,
    })),
    currency: ['EUR', 'USD', 'GBP'][below(3)],
    total: `${below(1_000_000)}.00`,
    note: String.fromCharCode(...Array.from({ length: below(400) }, () => 32 + below(1000))),
    placedAt: `2027-01-01T00:00:${String(i % 60).padStart(2, '0')}Z`,
    state: 'placed',
  }))
  return { ...rest, items: { ...items, orders: [...(items['orders'] ?? []), ...large] } }
}

const logger = { info: () => {}, warn: () => {}, error: console.error }
const server = await startService({ ...orders, seed }, { port: 0, data: ':memory:', logger })
process.send?.({ port: server.port, token: await server.token('clara', ['clerk']) })

let longestTurnMs = 0
let before = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(before)
  longestTurnMs = Math.max(longestTurnMs, (user + system) / 1000)
  before = process.threadCpuUsage()
}, 1)
process.on('message', () => {
  process.send?.({ longestTurnMs })
  longestTurnMs = 0
})
