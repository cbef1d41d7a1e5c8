/**
 * The bridge beside one that is written by hand with Fastify and npm soap: the same WSDL, the same backend, which is
 * not counted, and messages that differ. CPU per call in alternating pairs; memory before and after 100,000 calls; how much
 * later an answer comes than without it, under load.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shop } from '../examples/orders/contract.ts'
import type { Service } from '../src/contract/service.ts'
import { writeWsdl11 } from '../src/describe/wsdl11.ts'
import { type BusySpell, type Lateness, type SentLoad, sendLoad, timeBusySpells } from './busy-spell.ts'
import {
  type Ask,
  compare,
  freePort,
  inFolder,
  Line,
  launch,
  median,
  peersInstalled,
  quick,
  type Row,
  row,
  skipped,
  start,
  stopped,
  type Target,
} from './harness.ts'
import { compile } from './native.ts'

const what = 'bridge, GetOrder by JSON, another order each time'
const post = (path: string, host: number, content: string, fields = ''): string =>
  `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${host}\r\nContent-Type: application/json\r\n${fields}Content-Length: ${content.length}\r\n\r\n${content}`

/** Identifiers do not repeat within a measurement. */
function askOf(path: string, { port }: Target): Ask {
  const of = (turn: number) => {
    const id = `o-${turn + 1}`
    return { request: post(path, port, JSON.stringify({ id })), contains: `"id":"${id}"` }
  }
  return { status: 200, ...of(0), vary: of }
}

/** The bridge, the backend, and the files of both, for as long as `work` takes. */
const withBridge = (work: (bridge: Bridge) => Promise<Row>): Promise<Row[]> =>
  inFolder(async folder => {
    const file = join(folder, 'orders.wsdl')
    const port = await freePort()
    const address = `http://127.0.0.1:${port}/soap/v2`
    writeFileSync(file, writeWsdl11(shop as unknown as Service, 'v2', { address, soap: '1.1' }))
    const behind = await launch('the backend', port, behindWords(port), { core: 1 })
    const target = await start('diglot', 'bridge.ts', [address, file])
    try {
      const path = `/api/v1/${portNameOf(file)}/GetOrder`
      return [await work({ target, path, ask: askOf(path, target), behind, folder, words: [address, file] })]
    } finally {
      await stopped(target)
      await stopped(behind)
    }
  })

interface Bridge {
  readonly target: Target
  readonly path: string
  readonly ask: Ask
  readonly behind: Target
  readonly folder: string
  /** Of a bridge's own program: the address behind, and its WSDL. */
  readonly words: readonly string[]
}

const behindWords = (port: number): readonly string[] => [
  process.execPath,
  join(import.meta.dirname, 'servers', 'behind.js'),
  String(port),
]
const portNameOf = (file: string): string => /<wsdl:port name="([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1] ?? ''

/** Seconds until both run as they will run: a call passes much code, and the first thousands cost twice as much. */
const warm = 15
export const bridgeBeside = (): Promise<Row[]> => withBridge(besideHand)
async function besideHand({ target, ask, words }: Bridge): Promise<Row> {
  peersInstalled()
  const theirs = await start('by hand', 'bridge-fastify.js', words)
  try {
    const found = await compare({ target, ask, warm }, { target: theirs, ask: askOf('/GetOrder', theirs), warm })
    return row(what, 'Fastify 5 and npm soap 1.13 by hand, answers not validated', '≥ 3', found)
  } finally {
    await stopped(theirs)
  }
}

const calls = quick ? 10_000 : 100_000
/** Megabytes of a process that stand in memory. */
const residentOf = ({ process: { pid } }: Target): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]) / 1024

export const bridgeMemory = (): Promise<Row[]> => withBridge(memoryOf)
/** After as many calls as it takes to be warm, and after 100,000 more. */
async function memoryOf({ target, ask }: Bridge): Promise<Row> {
  const line = await Line.open(target.port, 16)
  await line.ask(ask, calls / 4)
  const before = residentOf(target)
  await line.ask(ask, calls)
  line.close()
  const after = residentOf(target)
  const ratio = after / before
  const note = `${after.toFixed(0)} MB, ${before.toFixed(0)} MB`
  return {
    what: `bridge, memory after ${calls.toLocaleString('en')} calls more`,
    against: 'before',
    ratio,
    goal: '≤ 1.1',
    note,
  }
}

export const bridgeLateness = (): Promise<Row[]> => withBridge(lateness)
/**
 * Requests at fixed times, so many that the bridge's core is busy for 70 % of the time, each for another order: through the
 * bridge, then to the backend, then to a program in C instead of the bridge. The load has its core in common with the
 * service, so it sleeps between two requests.
 */
async function lateness({ folder, target, path, behind }: Bridge): Promise<Row> {
  const [title, against] = ['bridge, ms added to the p99 at 70 % load', 'the backend, asked without it']
  const missing = compile(folder, 'load') ?? compile(folder, 'constant')
  if (missing) return skipped(title, against, missing)
  const id = `o-${'#'.repeat(9)}`
  const soap = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetOrder xmlns="urn:diglot:orders:v2"><id>${id}</id></GetOrder></e:Body></e:Envelope>`
  const toService = { request: post('/soap/v2', behind.port, soap), contains: `<id>${id}</id>` }
  const toBridge = { request: post(path, target.port, JSON.stringify({ id })), contains: `"id":"${id}"` }
  const direct = sendLoad(folder, behind, toService, true)
  const bridged = sendLoad(folder, target, toBridge, true)
  await direct.ask(quick ? 1 : 10)
  await bridged.ask(quick ? 1 : 10)
  const most = await bridged.ask(spellTakes)
  const spells = await timeBusySpells({ target, load: bridged, most, count, seconds: spellTakes })
  const middle = (of: (spell: BusySpell) => number): number => median(spells.map(of))
  const [rate, p50, p99] = [middle(each => each.rate), middle(each => each.p50), middle(each => each.p99)]
  const alone = await timeSpells(direct, rate)
  const constant = await timeConstant(
    folder,
    middle(each => each.cost),
    load => timeSpells(load, rate),
  )
  const shown = (both: readonly number[]): string => both.map(each => `${each.toFixed(2)} ms`).join(', ')
  const busy = `${(middle(each => each.share) * 100).toFixed(0)} % busy`
  const rates = `at ${rate.toFixed(0)}/s of ${most.toFixed(0)}, ${busy}`
  const least = `one in C that works as long for each ${constant.p99.toFixed(2)} ms`
  const note = `${shown([p99, alone.p99])} ${rates}; p50 ${shown([p50, alone.p50])}; ${least}`
  return { what: title, against, ratio: p99 - alone.p99, goal: '≤ 2', note }
}

const count = quick ? 2 : 9
const spellTakes = quick ? 1 : 3
/** The middle of as many spells as the bridge has. */
async function timeSpells(load: SentLoad, rate: number): Promise<Lateness> {
  const all: Lateness[] = []
  for (let i = 0; i < count; i++) all.push(await load.time(rate, spellTakes))
  return { p50: median(all.map(each => each.p50)), p99: median(all.map(each => each.p99)) }
}

/** Microseconds that the kernel takes for a request of the program in C. */
const kernelTakes = 25
/** Asked as often as the bridge, and on its core, which it keeps busy for as long. */
async function timeConstant(
  folder: string,
  cost: number,
  time: (load: SentLoad) => Promise<Lateness>,
): Promise<Lateness> {
  const [port, text] = [await freePort(), '"id":"o-1"']
  const work = String(Math.max(cost - kernelTakes, 1))
  const target = await launch('one in C', port, [join(folder, 'constant'), String(port), work, text])
  try {
    return await time(sendLoad(folder, target, { request: post('/', port, '{}'), contains: text }, true))
  } finally {
    await stopped(target)
  }
}
