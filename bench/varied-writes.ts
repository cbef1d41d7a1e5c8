/**
 * Changes of orders that differ, 32 at once, each answered when it is durable: a POST, a PATCH and a payment.
 * Beside Diglot stand a Fastify that commits each by itself and the floor, which commits those together that are there; both
 * run the statements that Diglot runs for the same content (`servers/record-statements.ts`), but for the index of searches,
 * which Diglot alone fills after the answer: what is counted of a POST has it.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fillOrders, states, totalOf } from './growth-data.ts'
import { type Ask, cpu, disk, Line, median, quick, type Row, start, stopped, type Target } from './harness.ts'
import { drawOne, newCurrencies, newOrders } from './order-changes.ts'

const connections = 32
/** Of one measurement. */
const requests = quick ? 64 : 500
const rounds = quick ? 1 : 9
/** Requests before anything is counted: a change passes much code. */
const warm = quick ? 64 : 5000

interface ChangeRow {
  readonly what: string
  readonly goals: { readonly floor: string; readonly fastify?: string }
  readonly status: number
  readonly make: (turn: number, clerk: string) => Pick<Ask, 'request' | 'contains'>
}

function requestOf(method: string, target: string, fields: readonly string[], text: string): string {
  const lines = ['Host: 127.0.0.1', 'Accept: application/json', ...fields, `Content-Length: ${text.length}`]
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`
}
const json = 'Content-Type: application/json'
/** Orders that are placed, one after the other: a payment needs one that is neither paid nor changed. */
const placedAt = (turn: number): number => turn * states.length
/** Orders behind those that are paid are changed. */
const paidMax = warm + requests * rounds

const changeRows: readonly ChangeRow[] = [
  {
    what: 'POST of an order',
    goals: { floor: '≤ 1.3', fastify: '≥ 3' },
    status: 201,
    make: (turn, clerk) => {
      const content = drawOne(newOrders, turn, 'order')
      return { request: requestOf('POST', '/api/orders', [clerk, json], content), contains: '"currency":"EUR"' }
    },
  },
  {
    what: 'PATCH of a currency',
    goals: { floor: '≤ 1.15' },
    status: 200,
    make: (turn, clerk) => {
      const fields = [clerk, 'Content-Type: application/merge-patch+json', 'If-Match: *']
      const content = drawOne(newCurrencies, turn, 'currency')
      const id = `o-g${placedAt(paidMax + turn)}`
      return { request: requestOf('PATCH', `/api/orders/${id}`, fields, content), contains: `"id":"${id}"` }
    },
  },
  {
    what: 'payment',
    goals: { floor: '≤ 1.15' },
    status: 201,
    make: (turn, clerk) => {
      const content = JSON.stringify({ method: 'card', amount: totalOf(placedAt(turn)) })
      const id = `o-g${placedAt(turn)}`
      return {
        request: requestOf('POST', `/api/orders/${id}/payment`, [clerk, json], content),
        contains: id,
      }
    },
  },
]

export interface ChangedOrders {
  readonly count: number
  /** A field line with a token, by the key of a file. */
  readonly sign: (data: string) => Promise<string>
}

/** Each server has a file of its own with the same orders. */
export async function variedWrites(folder: string, { count, sign }: ChangedOrders): Promise<Row[]> {
  const [ours, theirs, least] = ['diglot', 'fastify', 'floor'].map(each => join(folder, `changed-${each}.sqlite`))
  if (!ours || !theirs || !least) throw new Error('a file is missing')
  await fillOrders({ data: ours }, count)
  const statements = join(folder, 'statements.json')
  const recorder = join(import.meta.dirname, 'servers', 'record-statements.ts')
  const recorded = [1, 2, 3, 4, 5].map(back => `o-g${count - back * states.length}`)
  const words = ['--conditions=diglot-source', recorder, ours, ...recorded]
  writeFileSync(statements, execFileSync(process.execPath, words))
  for (const each of [theirs, least]) copyFileSync(ours, each)
  const clerk = await sign(ours)
  const sides: Sides = {
    diglot: await start('diglot', 'diglot.ts', [ours]),
    fastify: await start('Fastify', 'replay.js', ['fastify', statements, theirs]),
    floor: await start('floor', 'replay.js', ['floor', statements, least]),
  }
  try {
    const rows: Row[] = []
    for (const each of changeRows) rows.push(...(await measureChange(each, clerk, sides)))
    return rows
  } finally {
    for (const each of Object.values(sides)) await stopped(each)
  }
}

interface Sides {
  readonly diglot: Target
  readonly fastify: Target
  readonly floor: Target
}
interface Measured {
  /** Microseconds of CPU for a request. */
  readonly cost: number
  /** Requests a second. */
  readonly rate: number
}
type Round = Readonly<Record<keyof Sides, Measured>>

async function measureChange({ what, goals, status, make }: ChangeRow, clerk: string, sides: Sides): Promise<Row[]> {
  const measures = Object.fromEntries(
    Object.entries(sides).map(([name, target]) => {
      let turn = 0
      const next = () => make(turn++, clerk)
      return [name, (count: number) => measure(target, { ...make(0, clerk), status, vary: next }, count)]
    }),
  ) as Readonly<Record<keyof Sides, (count: number) => Promise<Measured>>> // the same names
  const measureAll = async (count: number): Promise<Round> => ({
    diglot: await measures.diglot(count),
    fastify: await measures.fastify(count),
    floor: await measures.floor(count),
  })
  await measureAll(warm)
  const found: Round[] = []
  for (let i = 0; i < rounds; i++) found.push(await measureAll(requests))
  const middle = (of: (round: Round) => number): number => median(found.map(of))
  const costs = ([`diglot`, `floor`] as const).map(side => `${middle(each => each[side].cost).toFixed(0)} µs`)
  const rates = ([`diglot`, `fastify`] as const).map(side => `${middle(each => each[side].rate).toFixed(0)}/s`)
  return [
    {
      what: `${what}, durable, 32 at once, CPU`,
      against: 'a bare socket, the same statements, committed together',
      ratio: middle(each => each.diglot.cost / each.floor.cost),
      goal: goals.floor,
      note: costs.join(', '),
    },
    {
      what: `${what}, durable, 32 at once, requests/s`,
      against: 'bare Fastify 5, the same statements, each committed',
      ratio: middle(each => each.diglot.rate / each.fastify.rate),
      ...(goals.fastify !== undefined && { goal: goals.fastify }),
      note: `${rates.join(', ')}; files in ${disk}`,
    },
  ]
}

async function measure(target: Target, ask: Ask, count: number): Promise<Measured> {
  const line = await Line.open(target.port, connections)
  try {
    const [before, began] = [await cpu(target), performance.now()]
    await line.ask(ask, count)
    const took = performance.now() - began
    return { cost: ((await cpu(target)) - before) / count, rate: (count * 1000) / took }
  } finally {
    line.close()
  }
}
