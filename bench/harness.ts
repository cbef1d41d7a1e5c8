/**
 * CPU per request of two servers in alternating pairs: the figure that holds when a machine's speed drifts. Each server
 * is a process on one core, the load comes from this process on the other; both are asked the same number of requests
 * over the same number of connections, and each answer is held against what it must contain.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'

export interface Row {
  readonly what: string
  readonly against: string
  /** Ours as a multiple of theirs: above 1 we need less CPU a request. */
  readonly ratio: number
  readonly goal?: string
  readonly note?: string
}

export interface Target {
  readonly name: string
  readonly process: ChildProcess
  readonly port: number
}

const pinned = spawnSync('taskset', ['-V'], { stdio: 'ignore' }).status === 0

/** A server program of `bench/servers`, on the first core, ready to answer. */
export async function start(name: string, file: string, words: readonly string[] = []): Promise<Target> {
  const node = [process.execPath, '--conditions=source', join(import.meta.dirname, 'servers', file), ...words]
  const [program = '', ...rest] = pinned ? ['taskset', '-c', '0', ...node] : node
  const child = spawn(program, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const [ready] = (await once(child, 'message')) as [{ port: number }]
  return { name, process: child, port: ready.port }
}

export const stop = (target: Target): void => void target.process.kill()

/** Microseconds of CPU that the server has used. */
export async function cpu(target: Target): Promise<number> {
  const answer = once(target.process, 'message')
  target.process.send('cpu')
  const [usage] = (await answer) as [NodeJS.CpuUsage]
  return usage.user + usage.system
}

export interface Ask {
  readonly request: string
  /** What every answer must contain. */
  readonly contains: string
  readonly status: number
}

/** Asks `count` times over `connections` keep-alive connections; rejects when an answer is not what it must be. */
export async function load(port: number, ask: Ask, count: number, connections = 16): Promise<void> {
  let left = count
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.setNoDelay(true)
      const next = (): void => {
        if (left-- > 0) socket.write(ask.request)
        else socket.end(resolve)
      }
      answers(socket, text => {
        if (!text.startsWith(`HTTP/1.1 ${ask.status} `) || !text.includes(ask.contains))
          return reject(new Error(`not the answer: ${text}`))
        next()
      })
      socket.on('error', reject)
      socket.on('connect', next)
    })
  await Promise.all(Array.from({ length: connections }, one))
}

/** Whole answers by Content-Length, or by the last chunk. */
function answers(socket: Socket, each: (text: string) => void): void {
  let held = ''
  socket.setEncoding('latin1')
  socket.on('data', part => {
    held += part
    for (;;) {
      const head = held.indexOf('\r\n\r\n')
      if (head < 0) return
      const length = /\r\ncontent-length: *([0-9]+)/i.exec(held.slice(0, head + 2))?.[1]
      const end = length === undefined ? held.indexOf('\r\n0\r\n\r\n', head - 2) + 7 : head + 4 + Number(length)
      const bare = length === undefined && / 304 | 204 | 202 /.test(held.slice(0, 16))
      const whole = bare ? head + 4 : end
      if ((length === undefined && !bare && end < 7) || held.length < whole) return
      const text = held.slice(0, whole)
      held = held.slice(whole)
      each(text)
    }
  })
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Median over pairs of (theirs / ours), CPU a request; and ours in microseconds. */
export async function compare(
  ours: { target: Target; ask: Ask },
  theirs: { target: Target; ask: Ask },
  { pairs = 9, count = 3000, connections = 16 } = {},
): Promise<{ ratio: number; ours: number; theirs: number }> {
  const measure = async ({ target, ask }: { target: Target; ask: Ask }): Promise<number> => {
    const before = await cpu(target)
    await load(target.port, ask, count, connections)
    return ((await cpu(target)) - before) / count
  }
  for (const each of [ours, theirs]) await load(each.target.port, each.ask, count * 2, connections)
  const ratios: number[] = []
  const costs: [number, number][] = []
  for (let i = 0; i < pairs; i++) {
    const a = await measure(ours)
    const b = await measure(theirs)
    ratios.push(b / a)
    costs.push([a, b])
  }
  return { ratio: median(ratios), ours: median(costs.map(([a]) => a)), theirs: median(costs.map(([, b]) => b)) }
}

/** Servers that others wrote live in a folder of their own and are installed when first asked for. */
export function peersInstalled(): void {
  const folder = join(import.meta.dirname, 'peers')
  if (existsSync(join(folder, 'node_modules'))) return
  const done = spawnSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' })
  if (done.status !== 0) throw new Error('bench/peers could not be installed: run npm ci there')
}

/** The load stays off the servers' core. */
export function stayOff(): void {
  if (pinned) spawnSync('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' })
}

export function table(rows: readonly Row[]): string {
  const head = ['what', 'against', 'ratio', 'goal', 'note']
  const cells = rows.map(row => [row.what, row.against, row.ratio.toFixed(2), row.goal ?? '', row.note ?? ''])
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map(cell => cell[i]?.length ?? 0)))
  return [head, widths.map(width => '-'.repeat(width)), ...cells]
    .map(line =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
