/** A process as a whole: how soon it answers, what it keeps in memory, how late it is under load, how it grows. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  type Ask,
  accepts,
  compare,
  cpu,
  freePort,
  has,
  inFolder,
  Line,
  launch,
  median,
  on,
  paired,
  peersInstalled,
  quick,
  type Row,
  row,
  skipped,
  start,
  stayOff,
  stopped,
  type Target,
} from './harness.ts'
import { resident } from './large.ts'
import { percentiles } from './open-loop.ts'
import { orderAsk } from './rest.ts'

const root = join(import.meta.dirname, '..')
const program = (file: string): string => join(import.meta.dirname, 'servers', file)
const hello = (id = 'greetings'): Ask => ({
  request: `GET /api/${id}/g-1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`,
  contains: '"id":"g-1"',
  status: 200,
})

/** Words to run one of them: the package as it is published, not its sources. */
type Words = (port: number) => readonly string[]
const diglot =
  (folder: string, count = 1): Words =>
  port => [process.execPath, program('hello.js'), String(port), join(folder, `hello-${count}.sqlite`), String(count)]
const fastify: Words = port => [process.execPath, program('hello-fastify.js'), String(port)]

export async function startBench(): Promise<Row[]> {
  peersInstalled()
  stayOff()
  published()
  return [
    ...(await inFolder(starting)),
    ...(await inFolder(keeping)),
    ...(await inFolder(growing)),
    ...(await inFolder(waiting)),
    ...(await inFolder(together)),
  ]
}

/** dist/ as it would be published now; what the checker says of types is the checker's. */
function published(): void {
  spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json'], {
    cwd: root,
  })
  if (!existsSync(join(root, 'dist', 'index.js'))) throw new Error('dist/ is not there: npm run prepare')
}

// Start

async function starting(folder: string): Promise<Row[]> {
  const ours = () => first(diglot(folder), hello())
  await ours() // the file and its key stand from here on
  const found = await paired(quick ? 3 : 11, ours, () => first(fastify, hello()))
  return [row('start to first answer (time)', 'Fastify hello', '≤ 1', found, 'ms')]
}

/** Milliseconds from the start of a process to its first answer. */
async function first(words: Words, ask: Ask): Promise<number> {
  const port = await freePort()
  const [command = '', ...rest] = on(0, words(port))
  const began = performance.now()
  const child = spawn(command, rest, { stdio: ['ignore', 'ignore', 'inherit'] })
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${rest.join(' ')} ended with ${child.exitCode}`)
    await pause(1)
  }
  await oneAnswer(port, ask)
  const took = performance.now() - began
  await end(child)
  return took
}

async function oneAnswer(port: number, ask: Ask): Promise<void> {
  const line = await Line.open(port, 1)
  await line.ask(ask, 1)
  line.close()
}

async function end(child: ChildProcess): Promise<void> {
  const over = once(child, 'exit')
  child.kill('SIGKILL')
  await over
}

// Memory

const many = quick ? 10_000 : 100_000

async function keeping(folder: string): Promise<Row[]> {
  const looks: { idle: number; after: number }[][] = [[], []]
  for (let i = 0; i < (quick ? 1 : 3); i++)
    for (const [at, words] of [diglot(folder), fastify].entries()) looks[at]!.push(await kept(words))
  const of = (name: 'idle' | 'after') => {
    const [ours, theirs] = looks.map(each => median(each.map(look => look[name]))) as [number, number]
    return { ratio: theirs / ours, ours, theirs }
  }
  return [
    row('memory when idle', 'Fastify hello', '≤ 1.2', of('idle'), 'MB'),
    row(`memory after ${many.toLocaleString('en')} requests`, 'Fastify hello', '≤ 1.2', of('after'), 'MB'),
  ]
}

async function kept(words: Words): Promise<{ idle: number; after: number }> {
  const port = await freePort()
  const target = await launch('hello', port, words(port))
  try {
    await oneAnswer(port, hello())
    await pause(1000)
    const idle = resident(target)
    const line = await Line.open(port, 16)
    await line.ask(hello(), many)
    line.close()
    await pause(1000)
    return { idle, after: resident(target) }
  } finally {
    await stopped(target)
  }
}

// Resources

async function growing(folder: string): Promise<Row[]> {
  const count = 200
  const targets: Target[] = []
  for (const each of [count, 1]) targets.push(await launched(diglot(folder, each)))
  const [large, small] = targets as [Target, Target]
  try {
    const last = { target: large, ask: hello(`greetings${count - 1}`) }
    const found = await compare(last, { target: small, ask: hello() })
    const took = await times(quick ? 1 : 5, i => first(diglot(join(folder, `new-${i}-`), count), hello()))
    const start = { what: `start to first answer with ${count} resources, on no file`, against: '1 s', goal: '≥ 1' }
    return [
      row(`item GET of ${count} resources`, 'own cost of 1', '≤ 1.1', found),
      { ...start, ratio: 1000 / took, note: `${took.toFixed(0)} ms` },
    ]
  } finally {
    for (const target of targets) await stopped(target)
  }
}

async function launched(words: Words): Promise<Target> {
  const port = await freePort()
  return launch('hello', port, words(port))
}

async function times(count: number, work: (i: number) => Promise<number>): Promise<number> {
  const found: number[] = []
  for (let i = 0; i < count; i++) found.push(await work(i))
  return median(found)
}

// Under load

async function waiting(folder: string): Promise<Row[]> {
  const data = join(folder, 'orders.sqlite')
  const ours = await start('diglot', 'diglot.ts', [data])
  const theirs = await start('Fastify', 'fastify.js', [data])
  try {
    const { item } = await orderAsk(data)
    const rates = [await rateOf(ours, item), await rateOf(theirs, item)]
    const looks: Late[][] = [[], []]
    // The first of each is to warm up: the load too is compiled as it runs.
    for (let i = 0; i < (quick ? 2 : 11); i++)
      for (const [at, target] of [ours, theirs].entries()) looks[at]!.push(await late(target, item, rates[at]!))
    const [mine, other] = looks.map(each => middle(each.slice(1))) as [Late, Late]
    const shown = ({ p50, p99, rate }: Late): string => `${p99.toFixed(2)} ms, ${p50.toFixed(2)} ms at ${rate}/s`
    const note = `${shown(mine)}; bare Fastify ${(other.p99 / other.p50).toFixed(1)} ×: ${shown(other)}`
    return [{ what: 'p99 of item GET at 70 % load', against: 'own p50', ratio: mine.p99 / mine.p50, goal: '≤ 8', note }]
  } finally {
    for (const target of [ours, theirs]) await stopped(target)
  }
}

interface Late {
  readonly p50: number
  readonly p99: number
  /** Requests a second: 70 % of what it answers when nobody waits for a turn. */
  readonly rate: number
}

async function rateOf({ port }: Target, ask: Ask): Promise<number> {
  const line = await Line.open(port, 32)
  await line.ask(ask, quick ? 5000 : 30_000)
  const began = performance.now()
  const most = ((await line.ask(ask, Number.POSITIVE_INFINITY, began + 3000)) / (performance.now() - began)) * 1000
  line.close()
  return Math.round(most * 0.7)
}

const late = async ({ port }: Target, ask: Ask, rate: number): Promise<Late> => ({
  rate,
  ...(await percentiles(port, ask, rate, 2)),
})

const middle = (looks: readonly Late[]): Late => ({
  rate: looks[0]?.rate ?? 0,
  p50: median(looks.map(each => each.p50)),
  p99: median(looks.map(each => each.p99)),
})

// Workers

/**
 * Both cores are the servers' here, so the load has to be small: wrk asks, and takes a tenth of what a server takes. With one
 * worker it has the other core to itself; with two it shares them, which counts against two.
 */
async function together(folder: string): Promise<Row[]> {
  const [what, against] = ['two workers on two cores, item GET, requests/s', 'one worker']
  if (!has('sh', ['-c', 'command -v wrk'])) return [skipped(what, against, 'wrk is not installed')]
  const data = join(folder, 'orders.sqlite')
  const one = await served(data, 1)
  const two = await served(data, 2)
  try {
    const { token } = await orderAsk(data)
    for (const each of [one, two]) await asked(each, token, 3)
    const looks: { one: Asked; two: Asked }[] = []
    for (let i = 0; i < (quick ? 1 : 5); i++) looks.push({ two: await asked(two, token), one: await asked(one, token) })
    const middle = (of: (look: (typeof looks)[number]) => number): number => median(looks.map(of))
    const rates = `${middle(each => each.two.rate).toFixed(0)}/s, ${middle(each => each.one.rate).toFixed(0)}/s`
    const costs = `${middle(each => each.two.cost).toFixed(0)} µs, ${middle(each => each.one.cost).toFixed(0)} µs of CPU`
    const ratio = middle(each => each.two.rate / each.one.rate)
    return [{ what, against, ratio, goal: '≥ 1.7', note: `${rates}; ${costs}` }]
  } finally {
    for (const each of [one, two]) await stopped(each)
  }
}

/** On both cores, as it would be. */
async function served(data: string, count: number): Promise<Target> {
  const port = await freePort()
  const words = [process.execPath, '--conditions=source', program('workers.ts'), data, String(port), String(count)]
  const child = spawn('taskset', ['-c', '0,1', ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
  while (!(await accepts(port))) await pause(50)
  await pause(1500) // the second listens too
  return { name: `${count} workers`, process: child, port }
}

interface Asked {
  readonly rate: number
  /** Microseconds of CPU a request, all processes of the service. */
  readonly cost: number
}

async function asked(target: Target, token: string, seconds = quick ? 2 : 4): Promise<Asked> {
  const address = `http://127.0.0.1:${target.port}/api/orders/o-1`
  const fields = ['-H', `Authorization: Bearer ${token}`, '-H', 'Accept: application/json']
  const words = ['-c', '0,1', 'wrk', '-t1', '-c32', `-d${seconds}s`, ...fields, address]
  const before = await cpu(target)
  const { stdout } = await promisify(execFile)('taskset', words)
  const used = (await cpu(target)) - before
  if (/Non-2xx/.test(stdout)) throw new Error(stdout)
  const count = Number(/([0-9]+) requests in/.exec(stdout)?.[1])
  return { rate: Number(/Requests\/sec: +([0-9.]+)/.exec(stdout)?.[1]), cost: used / count }
}
