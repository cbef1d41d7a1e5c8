/**
 * REST and SOAP as they are asked in use: another item each time, drawn uniformly or by Zipf(1.0) from 10⁵ orders, by a
 * thousand callers whose heads differ; and one hot item for comparison. Beside Diglot stand a bare Fastify, Go's net/http
 * with the same SELECT, npm soap, and the floor: a bare socket with the same SELECT and JSON (`servers/floor.js`).
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { signToken } from '../src/identity/bearer-token.ts'
import { openLocalKey } from '../src/identity/local-key.ts'
import { drawBelow, fillOrders, states } from './growth-data.ts'
import {
  type Ask,
  answerTo,
  compare,
  cpu,
  type Found,
  freePort,
  has,
  inFolder,
  Line,
  launch,
  peersInstalled,
  quick,
  type Row,
  row,
  type Side,
  skipped,
  start,
  stayOff,
  stop,
  type Target,
} from './harness.ts'
import { resident } from './large.ts'
import { variedProcess } from './varied-process.ts'
import { variedSoap } from './varied-soap.ts'
import { variedWrites } from './varied-writes.ts'

const orders = quick ? 2000 : 100_000
const callers = quick ? 50 : 1000

/** Draws one of so many; what it has drawn never comes back in the same order. */
type Draw = () => number
function createDraw(seed: string, size = orders): Draw {
  let drawn = 0
  return () => drawBelow(size, seed, drawn++)
}

/** Of the items in a mixed order the first is asked for twice as often as the second, three times as often as the third. */
function createZipfDraw(seed: string): Draw {
  const sums = new Float64Array(orders)
  for (let rank = 0, sum = 0; rank < orders; rank++) sums[rank] = sum += 1 / (rank + 1)
  const whole = sums[orders - 1] ?? 1
  const at = createDraw(seed, 2 ** 32)
  return () => {
    const wanted = (at() / 2 ** 32) * whole
    let [low, high] = [0, orders - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return (low * 7919) % orders // 7919 is prime, so each rank has an item of its own
  }
}

const requestOf = (target: string, fields: readonly string[]): string =>
  `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n${fields.map(each => `${each}\r\n`).join('')}\r\n`

/** A request for another target each time. */
function asking(make: () => Pick<Ask, 'request' | 'contains'>, status = 200): Ask {
  return { ...make(), status, vary: make }
}

interface Heads {
  readonly clerk: string
  readonly draw: () => readonly string[]
}

/** The field line of a clerk. */
async function signHead(data: string, subject: string): Promise<string> {
  const claims = { subject, roles: ['clerk'], expires: 36_000 }
  return `Authorization: Bearer ${await signToken(openLocalKey(`${data}.key`), 'orders', claims, Date.now())}`
}
async function signHeads(data: string): Promise<Heads> {
  const all = await Promise.all(Array.from({ length: callers }, (_, i) => signHead(data, `clerk ${i}`)))
  let at = 0
  return {
    clerk: await signHead(data, 'clara'),
    draw: () => {
      at++
      return [all[at % all.length] ?? '', `User-Agent: client/${at % 97}.${at}`, `X-Request: ${at}`]
    },
  }
}

export const varied = (): Promise<Row[]> =>
  inFolder(async folder => {
    peersInstalled()
    const data = join(folder, 'orders.sqlite')
    await fillOrders({ data }, orders)
    stayOff()
    const diglot = await start('diglot', 'diglot.ts', [data])
    const fastify = await start('fastify', 'fastify.js', [data])
    const floor = await start('floor', 'floor.js', [data])
    const go = await startGo(folder, data)
    try {
      const heads = await signHeads(data)
      const peers = { diglot, fastify, floor, go }
      return [
        ...(await items(peers, heads)),
        ...(await lists(peers, heads, data)),
        ...(await variedSoap(folder, { data, diglot, clerk: heads.clerk, draw: createDraw('soap') })),
        ...(await million(data, heads)),
        ...(await variedWrites(folder, { count: orders, sign: file => signHead(file, 'clara') })),
        ...(await variedProcess(folder, { data, count: orders, clerk: heads.clerk })),
      ]
    } finally {
      for (const each of [diglot, fastify, floor, ...(typeof go === 'string' ? [] : [go])]) stop(each)
    }
  })

/** @returns why it is not there, where it is not */
async function startGo(folder: string, data: string): Promise<Target | string> {
  if (!has('go', ['version'])) return 'Go is not installed'
  const program = join(folder, 'orders')
  const build = spawnSync('go', ['build', '-o', program, '.'], {
    cwd: join(import.meta.dirname, 'servers', 'go'),
    encoding: 'utf8',
  })
  if (build.status !== 0) return `Go could not build the server: ${build.stderr.trim().split('\n').at(-1)}`
  const port = await freePort()
  return launch("Go's net/http", port, [program, String(port), data])
}

interface Peers {
  readonly diglot: Target
  readonly fastify: Target
  readonly floor: Target
  readonly go: Target | string
}

const floorName = 'a bare socket, the same SELECT and JSON'
const fastifyName = 'bare Fastify 5, same SELECT'
const goName = "Go's net/http, same SELECT"

// Items

interface ItemRow {
  readonly what: string
  readonly draw: () => Draw
  readonly fields: (heads: Heads) => () => readonly string[]
  readonly goals: { readonly floor: string; readonly fastify?: string; readonly go?: string }
  readonly connections?: number
}
const oneHead = (heads: Heads) => () => [heads.clerk]
const itemRows: readonly ItemRow[] = [
  {
    what: 'GET item, uniform',
    draw: () => createDraw('uniform'),
    fields: oneHead,
    goals: { floor: '≤ 1.35', fastify: '≥ 1.15', go: '≥ 1.2' },
  },
  {
    what: 'GET item, Zipf(1.0)',
    draw: () => createZipfDraw('zipf'),
    fields: oneHead,
    goals: { floor: '≤ 1.35', fastify: '≥ 1.15', go: '≥ 1.2' },
  },
  {
    what: `GET item, uniform, ${callers.toLocaleString('en')} callers, heads that differ`,
    draw: () => createDraw('heads'),
    fields: heads => heads.draw,
    goals: { floor: '≤ 1.5', fastify: '≥ 1' },
  },
  {
    what: 'GET item, uniform, one connection',
    draw: () => createDraw('alone'),
    fields: oneHead,
    goals: { floor: '≤ 1.3' },
    connections: 1,
  },
  { what: 'GET of one hot item', draw: () => () => 7, fields: oneHead, goals: { floor: '≤ 1', fastify: '≥ 1.1' } },
]

async function items(peers: Peers, heads: Heads): Promise<Row[]> {
  const rows: Row[] = []
  for (const { what, draw: begin, fields: fieldsOf, goals, connections = 16 } of itemRows) {
    const side = (target: Target): Side => {
      const [draw, fields] = [begin(), fieldsOf(heads)]
      const make = () => {
        const id = `o-g${draw()}`
        return { request: requestOf(`/api/orders/${id}`, fields()), contains: `"id":"${id}"` }
      }
      return { target, ask: asking(make) }
    }
    const beside = (target: Target) => compare(side(peers.diglot), side(target), { connections })
    rows.push(row(what, floorName, goals.floor, await beside(peers.floor)))
    if (goals.fastify) rows.push(row(what, fastifyName, goals.fastify, await beside(peers.fastify)))
    if (goals.go && typeof peers.go === 'string') rows.push(skipped(what, goName, peers.go))
    else if (goals.go && typeof peers.go !== 'string') rows.push(row(what, goName, goals.go, await beside(peers.go)))
  }
  rows.push(row('304 by a tag, uniform', 'own 200', '≤ 0.75', await unchanged(peers.diglot, heads)))
  return rows
}

async function unchanged(diglot: Target, { clerk }: Heads): Promise<Found> {
  const tags: string[] = []
  for (let i = 0; i < orders; i += 25) {
    const batch = Array.from({ length: Math.min(25, orders - i) }, (_, k) =>
      answerTo(diglot.port, { request: requestOf(`/api/orders/o-g${i + k}`, [clerk]) }),
    )
    for (const text of await Promise.all(batch)) tags.push(/\r\netag: *(.*)\r\n/i.exec(text)?.[1] ?? '')
  }
  const side = (isConditional: boolean): Side => {
    const draw = createDraw('tags')
    const make = () => {
      const i = draw()
      const fields = isConditional ? [clerk, `If-None-Match: ${tags[i]}`] : [clerk]
      return { request: requestOf(`/api/orders/o-g${i}`, fields), contains: isConditional ? 'etag' : `"id":"o-g${i}"` }
    }
    return { target: diglot, ask: asking(make, isConditional ? 304 : 200) }
  }
  return compare(side(true), side(false))
}

// Lists

async function lists(peers: Peers, { clerk }: Heads, data: string): Promise<Row[]> {
  const first = requestOf('/api/orders', [clerk])
  const page: Ask = { request: first, contains: '"id":"o-100"', status: 200 }
  const rows = [
    row(
      'list, first page',
      fastifyName,
      '≥ 1',
      await compare({ target: peers.diglot, ask: page }, { target: peers.fastify, ask: page }),
    ),
  ]
  const positions = await readPositions(peers.diglot, clerk, data)
  const [ours, theirs] = [createDraw('lists', 1e6), createDraw('lists', 1e6)]
  const sides = [
    { target: peers.diglot, ask: asking(() => pageOf(ours(), positions, clerk).diglot) },
    { target: peers.floor, ask: asking(() => pageOf(theirs(), positions, clerk).floor) },
  ] as const
  const what = 'lists of 20 by a filter, an order or a cursor that differ'
  return [...rows, row(what, floorName, '≤ 1.3', await compare(...sides, { count: 2000 }))]
}

interface Position {
  readonly cursor: string
  readonly id: string
  /** The column that the list is ordered by. */
  readonly order: string
}

/** Cursors that lead on from every 25th of the newest items. */
async function readPositions(diglot: Target, clerk: string, data: string): Promise<readonly Position[]> {
  using database = new DatabaseSync(data, { readOnly: true })
  const orderOf = database.prepare('select "placedAt#order" as "order" from "orders" where "id" = ?')
  const found: Position[] = []
  let target = '/api/orders?size=25'
  while (found.length < Math.min(400, orders / 50)) {
    const [, content = ''] = (await answerTo(diglot.port, { request: requestOf(target, [clerk]) })).split('\r\n\r\n')
    const page = JSON.parse(content) as {
      readonly items: readonly { readonly id: string }[]
      readonly _links: { readonly next: { readonly href: string } }
    }
    target = page._links.next.href
    const [last, cursor] = [page.items.at(-1), new URLSearchParams(target.split('?')[1]).get('cursor')]
    if (!last || !cursor) throw new Error(`no cursor in ${target}`)
    found.push({ cursor, id: last.id, order: String(orderOf.get(last.id)?.['order']) })
  }
  return found
}

const customers = ['c-1', 'c-2', 'c-3']
function pageOf(drawn: number, positions: readonly Position[], clerk: string) {
  const of = <T>(all: readonly T[]): T => all[Math.floor(drawn / 3) % all.length] as T
  const ask = (ours: string, theirs: string) => ({
    diglot: { request: requestOf(`/api/orders?${ours}`, [clerk]), contains: '"items":[{' },
    floor: { request: requestOf(`/api/orders?${theirs}`, []), contains: '"items":[{' },
  })
  if (drawn % 3 === 0) return ask(`state=${of(states)}`, `state&${of(states)}`)
  if (drawn % 3 === 1) return ask(`customer=${of(customers)}&sort=-total`, `customer&${of(customers)}`)
  const { cursor, order, id } = of(positions)
  return ask(`cursor=${cursor}`, `after&${order}&${order}&${id}`)
}

// A million requests

const itemAsk = (draw: Draw, head: string): Ask =>
  asking(() => {
    const id = `o-g${draw()}`
    return { request: requestOf(`/api/orders/${id}`, [head]), contains: `"id":"${id}"` }
  })

/** What a million random GETs leave in memory, and what the collector takes of the time: of a server that did no more. */
async function million(data: string, { clerk }: Heads): Promise<Row[]> {
  const diglot = await start('diglot', 'diglot.ts', [data])
  return countMillion(diglot, clerk).finally(() => stop(diglot))
}

async function countMillion(diglot: Target, clerk: string): Promise<Row[]> {
  const ask = itemAsk(createDraw('million'), clerk)
  const line = await Line.open(diglot.port, 16)
  const tenth = quick ? 500 : 100_000
  const megabytes: number[] = []
  await line.ask(ask, tenth)
  const [spent, collected] = [await cpu(diglot), (await askCollector(diglot)).collector]
  for (let i = 0; i < 9; i++) {
    await line.ask(ask, tenth)
    megabytes.push(resident(diglot))
  }
  const share = ((await askCollector(diglot)).collector - collected) / ((await cpu(diglot)) - spent)
  line.close()
  const most = Math.max(...megabytes)
  const what = `${(tenth * 10).toLocaleString('en')} GETs, uniform`
  return [
    {
      what: `memory during ${what}`,
      against: '130 MB',
      ratio: 130 / most,
      goal: '≥ 1',
      note: `${megabytes.map(each => each.toFixed(0)).join(', ')} MB`,
    },
    {
      what: `collector during ${what}`,
      against: '2 % of CPU',
      ratio: 0.02 / share,
      goal: '≥ 1',
      note: `${(share * 100).toFixed(1)} %`,
    },
  ]
}

interface Collected {
  /** Microseconds that the collector has had. */
  readonly collector: number
  /** Octets of the old generation. */
  readonly old: number
}
function askCollector({ process: child }: Target): Promise<Collected> {
  return new Promise(resolve => {
    child.once('message', said => resolve(said as Collected))
    child.send('collector')
  })
}

/** Octets that a random GET adds to the old generation: a collection of all generations must free them again. */
export async function measurePromoted(data: string, count: number): Promise<number> {
  const diglot = await start('diglot', 'diglot.ts', [data])
  try {
    const line = await Line.open(diglot.port, 16)
    const ask = itemAsk(createDraw('promoted', count), await signHead(data, 'clara'))
    await line.ask(ask, 30_000)
    let promoted = 0
    let { old } = await askCollector(diglot)
    for (let i = 0; i < 10; i++) {
      await line.ask(ask, 2000)
      const before = old
      old = (await askCollector(diglot)).old
      promoted += Math.max(0, old - before)
    }
    line.close()
    return promoted / 20_000
  } finally {
    stop(diglot)
  }
}
