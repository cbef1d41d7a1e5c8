/**
 * The bridge beside one that is written by hand with Fastify and npm soap: the same WSDL, the same service behind, which is
 * not counted, and messages that differ. CPU per call in alternating pairs; memory before and after 100,000 calls; how much
 * later an answer comes than without the bridge.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shop } from '../examples/orders/contract.ts'
import type { Service } from '../src/contract/service.ts'
import { writeWsdl11 } from '../src/describe/wsdl11.ts'
import {
  type Ask,
  compare,
  freePort,
  inFolder,
  Line,
  launch,
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
import { lateOf, spell } from './start.ts'

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

/** The bridge, the service behind it, and the files of both, for as long as `work` takes. */
const withBridge = (work: (bridge: Bridge) => Promise<Row>): Promise<Row[]> =>
  inFolder(async folder => {
    const file = join(folder, 'orders.wsdl')
    const port = await freePort()
    const address = `http://127.0.0.1:${port}/soap/v2`
    writeFileSync(file, writeWsdl11(shop as unknown as Service, 'v2', { address, soap: '1.1' }))
    const behind = await launch('the service behind', port, behindWords(port), { core: 1 })
    const target = await start('diglot', 'bridge.ts', [address, file])
    try {
      const ask = askOf(`/api/v1/${portNameOf(file)}/GetOrder`, target)
      return [await work({ target, ask, behind, folder, words: [address, file] })]
    } finally {
      await stopped(target)
      await stopped(behind)
    }
  })

interface Bridge {
  readonly target: Target
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

export const bridgeBeside = (): Promise<Row[]> => withBridge(besideHand)
async function besideHand({ target, ask, words }: Bridge): Promise<Row> {
  peersInstalled()
  const theirs = await start('by hand', 'bridge-fastify.js', words)
  try {
    const found = await compare({ target, ask }, { target: theirs, ask: askOf('/GetOrder', theirs) })
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
/** The same rate with and without the bridge; it does not remember answers, so one message is as good as many. */
async function lateness({ folder, target, ask, behind }: Bridge): Promise<Row> {
  const [title, against] = ['bridge, p99 added at 70 % load', 'the service behind, asked without it']
  const missing = compile(folder, 'load')
  if (missing) return skipped(title, against, missing)
  writeFileSync(join(folder, 'request'), ask.request)
  const late = await lateOf(folder, target, ask)
  const soap = `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetOrder xmlns="urn:diglot:orders:v2"><id>o-1</id></GetOrder></e:Body></e:Envelope>`
  writeFileSync(join(folder, 'request'), post('/soap/v2', behind.port, soap))
  const direct: (readonly [number, number])[] = []
  for (let i = 0; i < 5; i++) direct.push(await spell(folder, behind, { ...ask, contains: '<id>o-1</id>' }, late.rate))
  const [, p99 = Number.NaN] = direct.sort(([, a], [, b]) => a - b)[2] ?? []
  const added = late.p99 - p99
  const note = `${late.p99.toFixed(2)} ms, ${p99.toFixed(2)} ms at ${late.rate}/s`
  return { what: title, against, ratio: 2 / added, goal: '≥ 1', note: `+ ${added.toFixed(2)} ms of 2: ${note}` }
}
