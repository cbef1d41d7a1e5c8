/** A process as a whole that serves 10⁵ orders: how late it is at random rows, how soon it starts, what workers carry. */
import { join } from 'node:path'
import { type Ask, median, quick, type Row, skipped, start, stopped } from './harness.ts'
import { compile } from './native.ts'
import {
  asked,
  buildPackage,
  compareWorkers,
  describeWorkers,
  type Late,
  lateOf,
  timeToFirst,
  type Words,
  withWorkers,
} from './start.ts'

/** An order drawn at random by `native/load.c`, of nine in ten; its numbers have `digits` digits. */
function randomOrder(digits: number, clerk: string): Ask {
  const id = `o-g${'~'.repeat(digits)}`
  const request = `GET /api/orders/${id} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n${clerk}\r\n\r\n`
  return { request, contains: `"id":"${id}"`, status: 200 }
}

export interface FilledOrders {
  /** The file. */
  readonly data: string
  readonly count: number
  /** A field line with a token. */
  readonly clerk: string
}

export async function variedProcess(folder: string, orders: FilledOrders): Promise<Row[]> {
  const digits = String(orders.count).length - 1
  const ask = randomOrder(digits, orders.clerk)
  return [await late(folder, orders, ask), await soon(orders), await shared(folder, orders, ask)]
}

/** Each server at 70 % of what it carries itself. */
async function late(folder: string, { data }: FilledOrders, ask: Ask): Promise<Row> {
  const [what, against] = ['p99 of item GET at 70 % load, random rows', 'bare Fastify 5, same SELECT'] as const
  const missing = compile(folder, 'load')
  if (missing) return skipped(what, against, missing)
  const all: Late[] = []
  for (const program of ['diglot.ts', 'fastify.js']) {
    const target = await start(program, program, [data])
    all.push(await lateOf(folder, target, ask).finally(() => stopped(target)))
  }
  const [ours, theirs] = all as [Late, Late]
  const shown = ({ p50, p99, rate }: Late): string => `${p99.toFixed(2)} ms (p50 ${p50.toFixed(2)}) at ${rate}/s`
  return { what, against, ratio: ours.p99 / theirs.p99, goal: '≤ 1.5', note: `${shown(ours)}, ${shown(theirs)}` }
}

/** From the start of `diglot serve` on that file to its first answer, which is an order; it has started before. */
async function soon({ data, clerk, count }: FilledOrders): Promise<Row> {
  buildPackage()
  const id = `o-g${count >> 1}`
  const request = `GET /api/orders/${id} HTTP/1.1\r\nHost: 127.0.0.1\r\n${clerk}\r\n\r\n`
  const example = join(import.meta.dirname, '..', 'examples', 'orders', 'service.ts')
  const cli = join(import.meta.dirname, '..', 'dist', 'cli.js')
  const words: Words = port => [process.execPath, cli, 'serve', example, '--port', String(port), '--data', data]
  const first = { request, contains: id, status: 200 }
  await timeToFirst(words, first, 'SIGTERM') // what V8 has compiled is written when a process ends
  const took: number[] = []
  for (let i = 0; i < (quick ? 1 : 9); i++) took.push(await timeToFirst(words, first))
  const what = `start to first answer with ${count.toLocaleString('en')} orders`
  return { what, against: '250 ms', ratio: 250 / median(took), goal: '≥ 1', note: `${median(took).toFixed(0)} ms` }
}

/** The plain rate: the load has a part of the two cores. */
async function shared(folder: string, { data }: FilledOrders, ask: Ask): Promise<Row> {
  const [what, against] = ['two workers on two cores, random rows, requests/s', 'one worker on two'] as const
  const missing = compile(folder, 'load')
  if (missing) return skipped(what, against, missing)
  const looks = await withWorkers(data, (one, two) =>
    compareWorkers(one, two, (target, seconds) => asked(folder, target, ask, seconds)),
  )
  const ratio = median(looks.map(({ one, two }) => two.rate / one.rate))
  return { what, against, ratio, goal: '≥ 1.6', note: describeWorkers(looks) }
}
