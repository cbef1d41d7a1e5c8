/**
 * Changes that arrive together on PostgreSQL: how many a second, how late the latest are, and how many transactions were
 * rolled back for each. By hand: `node --conditions=diglot-source bench/contention.ts`, or with a part of the
 * name of the row that is asked for.
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { cluster, hasPostgres } from '../test/peers/postgres.ts'
import { freePort, inFolder } from './harness.ts'

const connections = 32
const cli = join(import.meta.dirname, '..', 'src', 'cli.ts')
const orders = join(import.meta.dirname, '..', 'examples', 'orders', 'service.ts')

type Send = (method: string, path: string, content: unknown, more?: Record<string, string>) => Promise<Response>
type Work = (send: Send, i: number) => Promise<number>

const lines = (i: number) => [{ product: `p-${(i % 20) + 1}`, quantity: 1 }]
const order = (i: number) => ({ customer: `c-${(i % 3) + 1}`, lines: lines(i), currency: 'EUR' })

async function create(send: Send, i: number, more = {}): Promise<{ status: number; id: string; total: string }> {
  const answer = await send('POST', '/api/v2/orders', order(i), more)
  return { status: answer.status, ...((await answer.json()) as { id: string; total: string }) }
}

/** Before the clock starts, then each of the works. */
async function loads(send: Send, count: number): Promise<ReadonlyMap<string, Work>> {
  const made: { id: string; total: string }[] = []
  for (let i = 0; i < count; i += connections)
    made.push(...(await Promise.all(Array.from({ length: connections }, (_, k) => create(send, i + k)))))
  const pay = (id: string, total: string) =>
    send('POST', `/api/v2/orders/${id}/payment`, { method: 'card', amount: total })
  const spend = (answer: Response): Promise<number> => answer.arrayBuffer().then(() => answer.status)
  const note = async (send: Send, id: string, i: number): Promise<number> => {
    const found = await send('GET', `/api/v2/orders/${id}`, undefined)
    await found.arrayBuffer()
    const more = { 'content-type': 'application/merge-patch+json', 'if-match': found.headers.get('etag') ?? '' }
    return spend(await send('PATCH', `/api/v2/orders/${id}`, { note: `${i}` }, more))
  }
  const [hot] = await Promise.all([create(send, 1)])
  return new Map<string, Work>([
    ['creates', async (send, i) => (await create(send, i)).status],
    ['creates with keys', async (send, i) => (await create(send, i, { 'idempotency-key': `"k-${i}"` })).status],
    ['payments of different orders', async (_, i) => spend(await pay(made[i]?.id ?? '', made[i]?.total ?? ''))],
    [
      'shipments of them, 20 products',
      async (send, i) => spend(await send('POST', `/api/v2/orders/${made[i]?.id}/shipment`, { carrier: 'dhl' })),
    ],
    ['read and patch of one order', (send, i) => note(send, hot.id, i)],
    ['payments of one order', async () => spend(await pay(hot.id, hot.total))],
  ])
}

async function rolledBack(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await new Promise(resolve => setTimeout(resolve, 1200)) // each server process reports once a second
  const { rows } = await client.query('select xact_rollback from pg_stat_database where datname = current_database()')
  await client.end()
  return Number(rows[0]?.xact_rollback)
}

if (!hasPostgres()) throw new Error('PostgreSQL is not installed')
await inFolder(async place =>
  inFolder(async folder => {
    const database = await cluster(place, await freePort(), { durable: true })
    const data = join(folder, 'keys')
    const serving = spawn(
      process.execPath,
      ['--conditions=diglot-source', cli, 'serve', orders, '--port', '0', '--data', data, '--database', database.url],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    )
    const url = await new Promise<string>(resolve =>
      serving.stdout.on('data', part => {
        const found = /listening on (\S+)/.exec(String(part))?.[1]
        if (found) resolve(found)
      }),
    )
    const tokens = Array.from({ length: 24 }, (_, i) => `m-${i}`).map(subject =>
      spawnSync(
        process.execPath,
        ['--conditions=diglot-source', cli, 'token', '--subject', subject, '--role', 'manager', '--data', data],
        { encoding: 'utf8' },
      ).stdout.trim(),
    )
    let next = 0
    const send: Send = (method, path, content, more = {}) =>
      fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${tokens[next++ % tokens.length]}`,
          'content-type': 'application/json',
          ...more,
        },
        ...(content !== undefined && { body: JSON.stringify(content) }),
      })
    const count = 640
    for (const [name, work] of await loads(send, count)) {
      if (!name.includes(process.argv[2] ?? '')) continue
      const before = await rolledBack(database.url)
      const statuses = new Map<number, number>()
      const took: number[] = []
      let at = 0
      const began = performance.now()
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (at < count) {
            const from = performance.now()
            const status = await work(send, at++)
            took.push(performance.now() - from)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }),
      )
      const rate = (count * 1000) / (performance.now() - began)
      took.sort((a, b) => a - b)
      const rollbacks = ((await rolledBack(database.url)) - before) / count
      const late = took[Math.floor(took.length * 0.99)] ?? 0
      const said = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ')
      console.log(
        `${name}: ${rate.toFixed(0)}/s, 99 % ${late.toFixed(0)} ms, ${rollbacks.toFixed(2)} rolled back each; ${said}`,
      )
    }
    const ended = new Promise(resolve => serving.once('exit', resolve))
    serving.kill('SIGTERM')
    await ended
    await database.stop()
  }),
)
