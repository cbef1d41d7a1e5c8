/**
 * The first process of workers that loop endlessly when they are told to: one while it serves, and
 * then one that is asked to end. It prints what happens.
 */
import cluster from 'node:cluster'
import { setTimeout as pause } from 'node:timers/promises'
import { connectToPrimary, forkWorkers, isWorker } from '../../src/host/operations/cluster.ts'

const silenceMs = 900

async function loopInTurn(): Promise<void> {
  const running = forkWorkers(2, console.log, silenceMs)
  await running.ready
  const first = Object.values(cluster.workers ?? {})[0]
  first?.send({ kind: 'loop' })
  while (first?.isDead() === false || Object.keys(cluster.workers ?? {}).length < 2) await pause(20)
  console.log('replaced')
  await pause(2 * silenceMs) // the others respond meanwhile
  for (const worker of Object.values(cluster.workers ?? {})) worker?.send({ kind: 'loop' })
  await running.close()
  console.log('closed')
}

if (isWorker()) {
  process.on('message', ({ kind }: { readonly kind: string }) => {
    if (kind === 'loop') for (;;);
  })
  process.on('SIGTERM', () => {}) // as in a service, where only an event loop that turns can end
  connectToPrimary().ready(['listening'])
} else await loopInTurn()
