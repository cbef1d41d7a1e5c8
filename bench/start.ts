/** A process as a whole: how soon it answers, what it keeps in memory, how late it is under load, how it grows. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type BusySpell, type Lateness, sendLoad, timeBusySpells } from './busy-spell.ts'
import {
  type Ask,
  accepts,
  compare,
  cpu,
  type Found,
  freePort,
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
import { compile } from './native.ts'
import { orderAsk } from './rest.ts'

const root = join(import.meta.dirname, '..')
const program = (file: string): string => join(import.meta.dirname, 'servers', file)
const hello = (id = 'greetings'): Ask => ({
  request: `GET /api/${id}/g-1 HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n\r\n`,
  contains: '"id":"g-1"',
  status: 200,
})

/** Words to run one of them: the package as it is published, not its sources. */
export type Words = (port: number) => readonly string[]
const diglot =
  (folder: string, count = 1): Words =>
  port => [process.execPath, program('hello.js'), String(port), join(folder, `hello-${count}.sqlite`), String(count)]
const fastify: Words = port => [process.execPath, program('hello-fastify.js'), String(port)]

export async function startBench(): Promise<Row[]> {
  peersInstalled()
  stayOff()
  buildPackage()
  return [
    ...(await inFolder(starting)),
    ...(await inFolder(keeping)),
    ...(await inFolder(growing)),
    ...(await inFolder(waiting)),
    ...(await inFolder(together)),
  ]
}

/** dist/ as it would be published now. */
export function buildPackage(): void {
  const { status, stderr } = spawnSync('npm', ['run', '--silent', 'prepare'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error(`dist/ cannot be made: ${stderr}`)
}

// Start

async function starting(folder: string): Promise<Row[]> {
  const found = await compareStarts(folder, quick ? 3 : 11)
  return [row('start to first answer (time)', 'Fastify hello', '≤ 1', found, 'ms')]
}

/** Milliseconds until a hello has answered, of ours and of Fastify's. */
export async function compareStarts(folder: string, pairs: number): Promise<Found> {
  const ours = () => timeToFirst(diglot(folder), hello())
  await ours() // the file and its key stand from here on
  return paired(pairs, ours, () => timeToFirst(fastify, hello()))
}

/** Milliseconds from the start of a process to its first answer. */
export async function timeToFirst(words: Words, ask: Ask, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<number> {
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
  await end(child, signal)
  return took
}

async function oneAnswer(port: number, ask: Ask): Promise<void> {
  const line = await Line.open(port, 1)
  await line.ask(ask, 1)
  line.close()
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  const over = once(child, 'exit')
  child.kill(signal)
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
    const took = await times(quick ? 1 : 5, i => timeToFirst(diglot(join(folder, `new-${i}-`), count), hello()))
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

/** Ours, a bare Fastify, a constant by node:http and one in C: what no server of this platform, or machine, is better than. */
async function waiting(folder: string): Promise<Row[]> {
  const [what, against] = ['p99 of item GET at 70 % load', 'own p50']
  const missing = compile(folder, 'load') ?? compile(folder, 'constant')
  if (missing) return [skipped(what, against, missing)]
  const data = join(folder, 'orders.sqlite')
  const targets = [
    await start('diglot', 'diglot.ts', [data]),
    await start('bare Fastify', 'fastify.js', [data]),
    await start('a constant by node:http', 'constant.js', ['"id":"o-1"']),
    await working(folder, '"id":"o-1"'),
  ]
  try {
    const { item } = await orderAsk(data)
    const all: Late[] = []
    for (const target of targets) all.push(await lateOf(folder, target, item))
    const shown = ({ p50, p99, rate }: Late): string => `${p99.toFixed(2)} ms, ${p50.toFixed(2)} ms at ${rate}/s`
    const times = ({ p50, p99 }: Late): number => p99 / p50
    const [mine, ...others] = all as [Late, ...Late[]]
    const beside = others.map((late, i) => `${targets[i + 1]?.name} ${times(late).toFixed(1)} ×: ${shown(late)}`)
    return [{ what, against, ratio: times(mine), goal: '≤ 8', note: [shown(mine), ...beside].join('; ') }]
  } finally {
    for (const target of targets) await stopped(target)
  }
}

/** A program that does nothing but work for as long as an item GET does. */
async function working(folder: string, text: string): Promise<Target> {
  const port = await freePort()
  return launch('one in C of 15 µs', port, [join(folder, 'constant'), String(port), '15', text])
}

export async function lateOf(folder: string, target: Target, ask: Ask): Promise<Late> {
  const load = sendLoad(folder, target, ask)
  await load.ask(quick ? 1 : 5)
  const most = await load.ask(3)
  const count = quick ? 2 : 10
  const spells = await timeBusySpells({ target, load, most, count, seconds: 2 })
  const middle = (of: (spell: BusySpell) => number): number => median(spells.map(of))
  return { rate: middle(each => each.rate), p50: middle(each => each.p50), p99: middle(each => each.p99) }
}
export type Late = Lateness & Pick<BusySpell, 'rate'>

// Workers

/**
 * What two workers carry on two cores: the load, for which the kernel does what it does for a server, takes its part of them here,
 * so what counts is what each core that it leaves carries. With one worker it has the other core to itself.
 */
async function together(folder: string): Promise<Row[]> {
  const of = (what: string) => [`two workers on two cores, ${what}, requests/s`, 'one worker on one'] as const
  const whats = [of('item GET'), of('list of 20')]
  const missing = compile(folder, 'load')
  if (missing) return whats.map(each => skipped(...each, missing))
  const data = join(folder, 'orders.sqlite')
  return await withWorkers(data, async (one, two) => {
    const { item, page } = await orderAsk(data)
    const rows: Row[] = []
    for (const [i, ask] of [item, page].entries()) {
      const looks = await compareWorkers(one, two, (target, seconds) => asked(folder, target, ask, seconds))
      rows.push(perCore(whats[i]!, looks))
    }
    return rows
  })
}

/** A service of one process and one of two workers, on the same file. */
export async function withWorkers<T>(data: string, work: (one: Target, two: Target) => Promise<T>): Promise<T> {
  const one = await served(data, 1)
  const two = await served(data, 2)
  try {
    return await work(one, two)
  } finally {
    for (const each of [one, two]) await stopped(each)
  }
}

export interface WorkersLook {
  readonly one: Asked
  readonly two: Asked
}
export async function compareWorkers(
  one: Target,
  two: Target,
  ask: (target: Target, seconds?: number) => Promise<Asked>,
): Promise<readonly WorkersLook[]> {
  for (const each of [one, two]) await ask(each, 3)
  const looks: WorkersLook[] = []
  for (let i = 0; i < (quick ? 1 : 5); i++) looks.push({ two: await ask(two), one: await ask(one) })
  return looks
}

function perCore([what, against]: readonly [string, string], looks: readonly WorkersLook[]): Row {
  const middle = (of: (look: WorkersLook) => number): number => median(looks.map(of))
  const left = ({ rate, load }: Asked): number => 2 - (rate * load) / 1e6
  const ratio = middle(each => (2 * each.two.rate) / left(each.two) / each.one.rate)
  return { what, against, ratio, goal: '≥ 1.7', note: describeWorkers(looks) }
}
export function describeWorkers(looks: readonly WorkersLook[]): string {
  const middle = (of: (look: WorkersLook) => number): number => median(looks.map(of))
  const rates = `${middle(each => each.two.rate).toFixed(0)}/s, ${middle(each => each.one.rate).toFixed(0)}/s`
  const costs = `${middle(each => each.two.cost).toFixed(0)} µs, ${middle(each => each.one.cost).toFixed(0)} µs of CPU`
  const load = `${middle(each => each.two.load).toFixed(0)} µs of the load's`
  const cores = `${middle(each => 2 - (each.two.rate * each.two.load) / 1e6).toFixed(2)} cores left of 2`
  return `${rates} with ${cores}; ${costs}, ${load}`
}

/** On both cores, as it would be. */
async function served(data: string, count: number): Promise<Target> {
  const port = await freePort()
  const words = [
    process.execPath,
    '--conditions=diglot-source',
    program('workers.ts'),
    data,
    String(port),
    String(count),
  ]
  const child = spawn('taskset', ['-c', '0,1', ...words], { stdio: ['ignore', 'ignore', 'inherit'] })
  while (!(await accepts(port))) await pause(50)
  await pause(1500) // the second listens too
  return { name: `${count} workers`, process: child, port }
}

export interface Asked {
  readonly rate: number
  /** Microseconds of CPU a request, all processes of the service. */
  readonly cost: number
  /** The same, of the load. */
  readonly load: number
}

export async function asked(folder: string, target: Target, ask: Ask, seconds = quick ? 2 : 4): Promise<Asked> {
  const request = join(folder, 'request')
  writeFileSync(request, ask.request)
  const words = [join(folder, 'load'), String(target.port), '0', String(seconds), request, ask.contains]
  const [before, began] = [await cpu(target), childrensCpu()]
  const { stdout } = await promisify(execFile)('taskset', ['-c', '0,1', ...words])
  const [used, load] = [(await cpu(target)) - before, childrensCpu() - began]
  const count = Number(stdout)
  return { rate: count / seconds, cost: used / count, load: load / count }
}

/** Microseconds that children of this process had used when they ended (proc(5): cutime and cstime, of 10 ms each). */
function childrensCpu(): number {
  const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[13]) + Number(fields[14])) * 10_000
}
