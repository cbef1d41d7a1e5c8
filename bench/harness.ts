/**
 * CPU per request of two servers in alternating pairs: the figure that holds when a machine's speed drifts. Each server
 * is a process of its own on the first core, the load comes from this process on the second; both are asked over the same
 * number of connections, and each answer is held against what it must contain. CPU is what the kernel has counted for all
 * threads of the server and of its children.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Row {
  readonly what: string
  readonly against: string
  /** Where the goal is a least (≥), theirs as a multiple of ours; where it is a most (≤), ours of theirs. NaN: not taken. */
  readonly ratio: number
  /** `≥ 1.1` or `≤ 0.75`; absent: told for what it is. */
  readonly goal?: string
  /** What was measured, in its unit; or why it was not: `skipped: …`. */
  readonly note?: string
}

export interface Target {
  readonly name: string
  readonly process: ChildProcess
  readonly port: number
  /** What belongs to it, and is counted with it: who speaks HTTP for it. */
  readonly beside?: readonly ChildProcess[]
}

const pinned = spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0

/** The words of a command that runs on the server's core (0) or on the load's (1). */
export const on = (core: 0 | 1, words: readonly string[]): readonly string[] =>
  pinned ? ['taskset', '-c', String(core), ...words] : words

/** The load stays off the servers' core. */
export function stayOff(): void {
  if (pinned) spawnSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
}

/** A server program of `bench/servers`, on the first core, ready to answer. */
export async function start(name: string, file: string, words: readonly string[] = []): Promise<Target> {
  const node = [process.execPath, '--conditions=diglot-source', join(import.meta.dirname, 'servers', file), ...words]
  const [program = '', ...rest] = on(0, node)
  const child = spawn(program, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [ready] = (await Promise.race([once(child, 'message'), ended(name, child)])) as [{ port: number }]
  return { name, process: child, port: ready.port }
}

/** A server of another kind, on the first core, ready when it takes a connection at this port. */
export async function launch(
  name: string,
  port: number,
  words: readonly string[],
  { env = {}, cwd = process.cwd(), core = 0 as 0 | 1, beside = [] as readonly ChildProcess[] } = {},
): Promise<Target> {
  const [program = '', ...rest] = on(core, words)
  const stdio = ['ignore', 'ignore', 'inherit'] as const
  const child = spawn(program, rest, { stdio: [...stdio], cwd, env: { ...process.env, ...env } })
  const end = ended(name, child)
  while (!(await Promise.race([accepts(port), end]))) await new Promise(resolve => setTimeout(resolve, 20))
  return { name, process: child, port, beside }
}

async function ended(name: string, child: ChildProcess): Promise<never> {
  const [code, signal] = await once(child, 'exit')
  throw new Error(`${name} ended with ${code ?? signal} before it was ready`)
}

/** Whether somebody listens there. */
export const accepts = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy() !== undefined))
    socket.on('error', () => resolve(false))
  })

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

export function stop({ process: child, beside = [] }: Target): void {
  for (const each of [child, ...beside]) each.kill()
}

/** Ended, so that its files are its own no more. */
export async function stopped(target: Target): Promise<void> {
  const { process: child } = target
  const end = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  stop(target)
  await end
}

/** TMPFS_MAGIC of statfs(2). */
const inMemory = 0x01021994
/** Where files are: on a disk, for what is in memory has no flush to wait for. */
export const disk = statfsSync(tmpdir()).type === inMemory ? join(import.meta.dirname, '..', 'data') : tmpdir()

/** A folder for as long as `work` takes. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(disk, { recursive: true })
  const folder = mkdtempSync(join(disk, 'diglot-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Microseconds of CPU that the server has used, its threads and children included. */
export async function cpu({ process: child, beside = [] }: Target): Promise<number> {
  const all = [child, ...beside].flatMap(({ pid = 0 }) => family(pid))
  return all.reduce((sum, each) => sum + counted(each), 0) / 1000
}

/** A process and all that it has started. */
export function family(pid: number): readonly number[] {
  const children = tasks(pid).flatMap(task => read(`/proc/${pid}/task/${task}/children`).trim().split(' '))
  return [pid, ...children.filter(Boolean).flatMap(each => family(Number(each)))]
}

/** Nanoseconds on a CPU, of the threads that are there: a server keeps its own while it is measured. */
const counted = (pid: number): number =>
  tasks(pid).reduce((sum, task) => sum + Number(read(`/proc/${pid}/task/${task}/schedstat`).split(' ')[0]), 0)

function tasks(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}
function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return '0' // it has ended since it was listed
  }
}

/** Clock ticks in which the kernel counts processes that have ended: sysconf(_SC_CLK_TCK). */
const tickMicroseconds = 10_000

/**
 * Microseconds of CPU of all processes that the parent of this one has started, those that have ended included: of a database
 * server, by the process of one connection.
 */
export function childrenCpu(sibling: number): () => number {
  const fieldsOf = (pid: number): readonly string[] => read(`/proc/${pid}/stat`).replace(/.*\) /, '').split(' ')
  const parent = Number(fieldsOf(sibling)[1])
  return () => {
    const [userTicks = 0, systemTicks = 0] = fieldsOf(parent).slice(13, 15).map(Number)
    const children = readdirSync('/proc').filter(
      name => /^\d+$/.test(name) && Number(fieldsOf(Number(name))[1]) === parent,
    )
    const running = children.reduce((sum, pid) => sum + counted(Number(pid)), 0)
    return running / 1000 + (userTicks + systemTicks) * tickMicroseconds
  }
}

export interface Ask {
  readonly request: string | Uint8Array
  /** What every answer must contain. */
  readonly contains: string
  readonly status: number
  /** Another message each time; `request` and `contains` are those of the first. */
  readonly vary?: (turn: number) => Pick<Ask, 'request' | 'contains'>
}

/** Keep-alive connections to one server. */
export class Line {
  readonly #sockets: readonly Socket[]
  private constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets
  }

  static async open(port: number, connections: number): Promise<Line> {
    const one = async (): Promise<Socket> => {
      const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1')
      await once(socket, 'connect')
      return socket
    }
    return new Line(await Promise.all(Array.from({ length: connections }, one)))
  }

  /** Asks `count` times, or until the time is over; answers how often. Rejects when an answer is not what it must be. */
  async ask(ask: Ask, count: number, until = Number.POSITIVE_INFINITY): Promise<number> {
    let asked = 0
    const one = (socket: Socket): Promise<void> =>
      new Promise((resolve, reject) => {
        let { contains } = ask
        const next = (): void => {
          if (asked < count && performance.now() < until) {
            const { request, contains: expected } = ask.vary?.(asked) ?? ask
            asked++
            contains = expected
            socket.write(request)
          } else resolve()
        }
        const wrong = (why: string) => reject(new Error(`not the answer: ${why}`))
        socket.removeAllListeners('data').removeAllListeners('close').removeAllListeners('error')
        socket.on('error', reject).on('close', () => wrong('the connection was closed'))
        answers(socket, text => {
          if (text.startsWith(`HTTP/1.1 ${ask.status} `) && text.includes(contains)) next()
          else wrong(text)
        })
        next()
      })
    await Promise.all(this.#sockets.map(one))
    return asked
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy()
  }
}

/** Asks `count` times over `connections` keep-alive connections; rejects when an answer is not what it must be. */
export async function load(port: number, ask: Ask, count: number, connections = 16): Promise<void> {
  const line = await Line.open(port, connections)
  try {
    await line.ask(ask, count)
  } finally {
    line.close()
  }
}

/** Whole answers by Content-Length, or by the last chunk. */
function answers(socket: Socket, each: (text: string) => void): void {
  let held = ''
  let usual = 0
  socket.on('data', (part: string) => {
    if (held === '' && part.length === usual) return each(part) // as long as the one before, which was whole
    held += part
    for (;;) {
      const head = held.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /\r\ncontent-length: *([0-9]+)/i.exec(held.slice(0, head + 2))?.[1]
      const end = length === undefined ? held.indexOf('\r\n0\r\n\r\n', head - 2) + 7 : head + 4 + Number(length)
      const bare = length === undefined && / 304 | 204 | 202 | 100 /.test(held.slice(0, 16))
      const whole = bare ? head + 4 : end
      if ((length === undefined && !bare && end < 7) || held.length < whole) return
      const text = held.slice(0, whole)
      held = held.slice(whole)
      usual = whole
      each(text)
    }
  })
}

/** The content of one answer. */
export async function answerTo(port: number, { request }: Pick<Ask, 'request'>): Promise<string> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1')
  const answer = new Promise<string>((resolve, reject) => {
    socket.on('error', reject)
    answers(socket, resolve)
  })
  socket.write(request)
  const text = await answer
  socket.destroy()
  return text
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

export interface Side {
  readonly target: Target
  readonly ask: Ask
  /** Seconds of load before anything is counted. */
  readonly warm?: number
}
export interface Found {
  /** Theirs as a multiple of ours, the median over the pairs. */
  readonly ratio: number
  /** Microseconds of CPU a request. */
  readonly ours: number
  readonly theirs: number
}

/** `--quick`: fewer pairs, shorter warm-ups. To see that it runs; the figures are worth less. */
export const quick = process.argv.includes('--quick')

/** Microseconds of CPU that one measurement of a side takes, about. */
const enough = 300_000

/** Median over pairs of (theirs / ours), CPU a request; both in microseconds. */
export async function compare(
  ours: Side,
  theirs: Side,
  { pairs = quick ? 3 : 9, count = 20_000, connections = 16 } = {},
): Promise<Found> {
  const sides = [await warmed(ours, connections), await warmed(theirs, connections)] as const
  const measure = ({ target, ask }: Side, cost: number) =>
    costOf(target, ask, Math.max(50, Math.min(count, Math.round(enough / cost))), connections)
  return paired(
    pairs,
    () => measure(ours, sides[0]),
    () => measure(theirs, sides[1]),
  )
}

/** Asked until it runs as it will run; answers about what a request costs. */
async function warmed({ target, ask, warm = 2 }: Side, connections: number): Promise<number> {
  const line = await Line.open(target.port, connections)
  await line.ask(ask, Number.POSITIVE_INFINITY, performance.now() + (quick ? warm / 10 : warm) * 1000)
  line.close()
  return costOf(target, ask, 10 * connections, connections)
}

/** Microseconds of CPU a request. Connections stand before and after what is counted. */
export async function costOf(target: Target, ask: Ask, count: number, connections = 16): Promise<number> {
  const line = await Line.open(target.port, connections)
  try {
    await line.ask(ask, connections)
    const before = await cpu(target)
    await line.ask(ask, count)
    return ((await cpu(target)) - before) / count
  } finally {
    line.close()
  }
}

/** Two measurements in turn: what the machine does to one it does to the other. */
export async function paired(
  pairs: number,
  ours: () => number | Promise<number>,
  theirs: () => number | Promise<number>,
): Promise<Found> {
  const found: [number, number][] = []
  for (let i = 0; i < pairs; i++) found.push([await ours(), await theirs()])
  return {
    ratio: median(found.map(([a, b]) => b / a)),
    ours: median(found.map(([a]) => a)),
    theirs: median(found.map(([, b]) => b)),
  }
}

/** Microseconds of CPU that this process takes for one call, over so many. */
export async function cpuOf(calls: number, work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

const shown = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0))

/** The record of a comparison; `≤` turns it round: ours as a multiple of theirs. */
export function row(what: string, against: string, goal: string | undefined, found: Found, unit = 'µs'): Row {
  const ratio = goal?.startsWith('≤') ? 1 / found.ratio : found.ratio
  const note = `${shown(found.ours)} ${unit}, ${shown(found.theirs)} ${unit}`
  return { what, against, ratio, ...(goal !== undefined && { goal }), note }
}

/** What cannot be taken here, and why. */
export const skipped = (what: string, against: string, why: string): Row => ({
  what,
  against,
  ratio: Number.NaN,
  note: `skipped: ${why}`,
})

/** Whether a program answers to this. */
export const has = (program: string, words: readonly string[] = ['--version']): boolean =>
  spawnSync(program, [...words], { stdio: 'ignore' }).status === 0

/** Servers that others wrote live in a folder of their own and are installed when first asked for. */
export function peersInstalled(): void {
  const folder = join(import.meta.dirname, 'peers')
  if (existsSync(join(folder, 'node_modules'))) return
  const done = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' })
  if (done.status !== 0) throw new Error('bench/peers could not be installed: run npm ci there')
}
