/**
 * `npm run bench -- worst`: what other callers have while one does the worst that its limits allow. Eight clerks ask in turn
 * (GET of orders that differ, lists of a customer whose orders the abuse leaves alone, a PATCH), each with 10 ms between an
 * answer and the next request, for five seconds before each abuse and for five during it, on a server of its own.
 * `--keep FOLDER` is that of `bench growth`.
 */
import { once } from 'node:events'
import { copyFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { signToken } from '../src/identity/bearer-token.ts'
import { openLocalKey } from '../src/identity/local-key.ts'
import { type Abuse, type Attacker, abuses } from './abuses.ts'
import { drawBelow, fillOrders } from './growth-data.ts'
import { inFolder, start, stayOff, stopped, type Target } from './harness.ts'

const rows = 1e5
const callers = 8
const windowMs = 5000
/** Between an answer and the next request. */
const thinkMs = 10
/** Part of their rate that one may cost all others. */
const shareMax = 0.2

/** What the clerks had in a while. */
interface Share {
  readonly rate: number
  readonly p99: number
  readonly failed: number
}

/** A clerk, at an address of its own. */
class Clerk {
  readonly #agent: Agent
  readonly #port: number
  readonly #token: string
  readonly #number: number
  #asked = 0
  constructor(port: number, token: string, number: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.1.${number + 1}` })
    this.#port = port
    this.#token = token
    this.#number = number
  }

  #next(): readonly [method: string, path: string, content?: string] {
    const i = this.#asked++
    const id = `o-g${drawBelow(rows, this.#number, i)}`
    if (i % 20 === 0) return ['PATCH', `/api/v2/orders/o-g${5 * this.#number}`, `{"note":"n${i}"}`]
    return i % 20 < 4 ? ['GET', `/api/v2/orders?customer=c-2&size=${10 + (i % 7)}`] : ['GET', `/api/v2/orders/${id}`]
  }

  /** The status of one request, and its milliseconds. */
  ask(): Promise<{ readonly status: number; readonly ms: number }> {
    const [method, path, content] = this.#next()
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(content && { 'content-type': 'application/merge-patch+json', 'if-match': '*' }),
    }
    const began = performance.now()
    return new Promise((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers },
        answer =>
          answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, ms: performance.now() - began })),
      )
      asked.on('error', reject).end(content)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

async function measureShare(clerks: readonly Clerk[]): Promise<Share> {
  const until = performance.now() + windowMs
  const times: number[] = []
  let failed = 0
  const work = async (clerk: Clerk): Promise<void> => {
    while (performance.now() < until) {
      const { status, ms } = await clerk.ask()
      times.push(ms)
      // An order that was removed on the way is gone, as it should be.
      if (status >= 400 && status !== 410) failed++
      await pause(thinkMs)
    }
  }
  await Promise.all(clerks.map(work))
  times.sort((a, b) => a - b)
  return { rate: (times.length * 1000) / windowMs, p99: times[Math.floor(times.length * 0.99)] ?? 0, failed }
}

/** How long the event loop was held in one turn since it was asked before, in milliseconds of CPU. */
async function readTurns({ process: child }: Target): Promise<{ readonly longest: number; readonly most: number }> {
  child.send('turns')
  const [turns] = await once(child, 'message')
  return turns
}

async function measureAbuse(target: Target, abuse: Abuse, token: string, clerks: readonly Clerk[]) {
  const ending = new AbortController()
  const statuses = new Map<number, number>()
  const by: Attacker = { port: target.port, address: '127.0.2.1', token, signal: ending.signal, statuses }
  await abuse.prepare?.(by)
  statuses.clear()
  const before = await measureShare(clerks)
  const running = abuse.run(by)
  await pause(300)
  await readTurns(target)
  const during = await measureShare(clerks)
  const turns = await readTurns(target)
  ending.abort()
  await running
  return { before, during, statuses, turns }
}

const writeShare = ({ rate, p99, failed }: Share): string =>
  `${rate.toFixed(0)}/s, ${p99.toFixed(1)} ms${failed > 0 ? `, ${failed} failed` : ''}`
const writeTurns = ({ longest, most }: Awaited<ReturnType<typeof readTurns>>): string =>
  `${most.toFixed(0)}, ${longest.toFixed(0)} ms`
const writeStatuses = (statuses: ReadonlyMap<number, number>): string =>
  [...statuses]
    .filter(([status]) => status > 0)
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')

/** One abuse, on a server and a copy of the database of its own: what one leaves behind is not another's. */
async function tryAbuse(data: string, abuse: Abuse): ReturnType<typeof measureAbuse> {
  const target = await start('orders', 'limited.ts', [data])
  const key = openLocalKey(`${data}.key`)
  const sign = (subject: string): Promise<string> =>
    signToken(key, 'orders', { subject, roles: ['manager'], expires: 3600 }, Date.now())
  const clerks: Clerk[] = []
  for (let i = 0; i < callers; i++) clerks.push(new Clerk(target.port, await sign(`clerk ${i}`), i))
  try {
    await measureShare(clerks) // the compiler's time
    return await measureAbuse(target, abuse, await sign('abuser'), clerks)
  } finally {
    for (const clerk of clerks) clerk.close()
    target.process.kill('SIGKILL')
    await stopped(target)
  }
}

/**
 * Prints the table, and gives the abuses that cost others more than they may.
 * @param only parts of names of abuses; without any, all
 */
export function worst(keep: string | undefined, only: readonly string[]): Promise<readonly string[]> {
  return inFolder(async folder => {
    stayOff()
    const filled = keep ? join(keep, `growth-${rows}.sqlite`) : join(folder, 'filled.sqlite')
    await fillOrders({ data: filled }, rows)
    console.log(
      '| one caller | its answers | others before | others during | rate kept | turns |\n| --- | --- | --- | --- | --- | --- |',
    )
    const costly: string[] = []
    for (const [i, abuse] of abuses.entries()) {
      if (only.length > 0 && !only.some(part => abuse.name.includes(part))) continue
      const data = join(folder, `orders-${i}.sqlite`)
      copyFileSync(filled, data)
      const { before, during, statuses, turns } = await tryAbuse(data, abuse)
      rmSync(data)
      const part = during.rate / before.rate
      if (part < 1 - shareMax || during.failed > 0) costly.push(abuse.name)
      const cells = [
        abuse.name,
        writeStatuses(statuses),
        writeShare(before),
        writeShare(during),
        part.toFixed(2),
        writeTurns(turns),
      ]
      console.log(`| ${cells.join(' | ')} |`)
    }
    return costly
  })
}
