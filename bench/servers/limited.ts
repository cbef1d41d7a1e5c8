/**
 * The orders service as it is by default, its limits too. Asked, it tells how long the event loop was held in one turn, in
 * milliseconds of its thread's CPU, by the longest turn and the 99th of a hundred since it was asked before.
 */
import app from '../../examples/orders/service.ts'
import { startService } from '../../src/host/serve.ts'

const logger = { info: () => {}, warn: () => {}, error: console.error }
const server = await startService(app, { port: 0, data: process.argv[2] ?? ':memory:', logger })
const turns: number[] = []
let last = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  turns.push((user + system) / 1000)
}, 1)
process.on('message', () => {
  const sorted = turns.splice(0).sort((a, b) => a - b)
  process.send?.({ longest: sorted.at(-1) ?? 0, most: sorted[Math.floor(sorted.length * 0.99)] ?? 0 })
})
process.on('disconnect', () => process.exit())
process.send?.({ port: server.port })
