/** What `diglot serve --workers N` runs of the orders service, with limits that the load never meets: `workers.ts FILE PORT N`. */
import { type ClusterPeers, connectToPrimary, forkWorkers, isWorker } from '../../src/host/operations/cluster.ts'

const [data = ':memory:', port, count] = process.argv.slice(2)
if (count === '1' || isWorker()) await one(isWorker() ? connectToPrimary() : undefined)
else {
  const running = forkWorkers(Number(count), console.error)
  process.once('SIGTERM', () => void running.close().then(() => process.exit(0)))
  await running.ready
}

async function one(brothers: ClusterPeers | undefined): Promise<void> {
  const [{ startService: serve }, { default: app }] = await Promise.all([
    import('../../src/host/serve.ts'),
    import('../../examples/orders/service.ts'),
  ])
  const plenty = { count: 1e9, seconds: 60 }
  const contract = { ...app.contract, limits: { reads: plenty, changes: plenty } }
  const server = await serve({ ...app, contract }, { port: Number(port), data, flood: 1e9, siblings: brothers })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void server.close().then(() => process.exit(0)))
  brothers?.ready([])
}
