/**
 * Several processes that are one service, on one machine: Node's cluster gives them one address.
 * The first process serves nothing itself; it keeps what all must share (windows of limits,
 * figures) and starts again what dies. What always holds:
 *  (1) `ready` resolves once all workers listen; when one cannot start, none is left.
 *  (2) A worker that dies is replaced at once; one that cannot even start, more slowly each time.
 *  (3) `close` ends each worker as a signal to it would: what is under way is answered.
 */
import cluster, { type Worker } from 'node:cluster'
import { type Count, type Counted, createMemoryWindows } from '../../service/limiter.ts'
import type { Family } from './metrics.ts'

/** What a worker asks of the first process. */
export interface ClusterPeers {
  count(counts: readonly Count[]): Promise<readonly Counted[]>
  /** The figures of each worker; `own` says those of this one when it is asked. */
  figures(): Promise<readonly (readonly Family[])[]>
  answer(own: () => Promise<readonly Family[]>): void
  /** Says that this one listens; the first process prints the lines of one of them. */
  ready(lines: readonly string[]): void
}

type WorkerRequest =
  | { readonly kind: 'count'; readonly id: number; readonly counts: readonly Count[] }
  | { readonly kind: 'figures'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly families: readonly Family[] }
  | { readonly kind: 'ready'; readonly lines: readonly string[] }
type PrimaryReply =
  | { readonly kind: 'counted'; readonly id: number; readonly counted: readonly Counted[] }
  | { readonly kind: 'collect'; readonly id: number }
  | { readonly kind: 'all'; readonly id: number; readonly figures: readonly (readonly Family[])[] }

export const isWorker = (): boolean => cluster.isWorker

/** Of a worker of `forkWorkers`. */
export function connectToPrimary(): ClusterPeers {
  const pending = new Map<number, (told: PrimaryReply) => void>()
  let last = 0
  let own: () => Promise<readonly Family[]> = async () => []
  const say = (asked: WorkerRequest): void => void process.send?.(asked)
  const ask = (asked: (id: number) => WorkerRequest): Promise<PrimaryReply> =>
    new Promise(resolve => {
      const id = ++last
      pending.set(id, resolve)
      say(asked(id))
    })
  cluster.worker?.once('error', () => process.exit(1)) // the first process is gone
  process.on('message', (told: PrimaryReply) => {
    // What the first process asks has numbers of its own.
    if (told.kind === 'collect') return void own().then(families => say({ kind: 'collected', id: told.id, families }))
    pending.get(told.id)?.(told)
    pending.delete(told.id)
  })
  return {
    count: async counts => {
      const told = await ask(id => ({ kind: 'count', id, counts }))
      return told.kind === 'counted' ? told.counted : []
    },
    figures: async () => {
      const told = await ask(id => ({ kind: 'figures', id }))
      return told.kind === 'all' ? told.figures : []
    },
    answer: figures => {
      own = figures
    },
    ready: lines => say({ kind: 'ready', lines }),
  }
}

export interface ClusterWorkers {
  /** (1): what a worker said when it listened. Rejects with the status of one that could not. */
  readonly ready: Promise<readonly string[]>
  /** Passes a signal on to all. */
  signal(signal: NodeJS.Signals): void
  /** (3) */
  close(): Promise<void>
}

/**
 * Milliseconds until another is started: at first, and where one after the other ends before it
 * listens.
 */
const leastWait = 100
const longestWait = 10_000
/** Milliseconds that the figures of a worker are waited for. */
const patience = 2000

/** A worker ended before it listened. */
export class WorkerFailed extends Error {
  readonly status: number
  constructor(status: number) {
    super('a worker could not start')
    this.status = status
  }
}

/**
 * Starts `count` processes of the same program with the same words. `failed` hears of each that
 * dies.
 */
export function forkWorkers(count: number, failed: (why: string) => void): ClusterWorkers {
  const counting = createMemoryWindows()
  const living = new Set<Worker>()
  const listening = new Set<Worker>()
  const collecting = new Map<string, (families: readonly Family[]) => void>()
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
  let said: readonly string[] | undefined
  let closing = false
  let wait = leastWait
  let last = 0

  const tell = (worker: Worker, told: PrimaryReply): void => {
    if (worker.isConnected()) worker.send(told)
  }
  const collect = (worker: Worker): Promise<readonly Family[]> =>
    new Promise(done => {
      const id = ++last
      const over = (families: readonly Family[]): void => {
        collecting.delete(`${worker.id} ${id}`)
        clearTimeout(timer)
        done(families)
      }
      const timer = setTimeout(over, patience, [])
      collecting.set(`${worker.id} ${id}`, over)
      tell(worker, { kind: 'collect', id })
    })
  const heard = (worker: Worker, asked: WorkerRequest): void => {
    switch (asked.kind) {
      case 'count':
        tell(worker, { kind: 'counted', id: asked.id, counted: counting(asked.counts, Date.now()) })
        break
      case 'figures':
        void Promise.all([...listening].map(collect)).then(figures =>
          tell(worker, { kind: 'all', id: asked.id, figures }),
        )
        break
      case 'collected':
        collecting.get(`${worker.id} ${asked.id}`)?.(asked.families)
        break
      case 'ready':
        listening.add(worker)
        // The first makes what is there once: the file, the key, the seed.
        if (!said) for (let others = count - 1; others > 0; others--) start()
        said ??= asked.lines
        if (listening.size === count) resolve(said)
    }
  }
  const died = (worker: Worker, how: string, status: number): void => {
    living.delete(worker)
    const listened = listening.delete(worker)
    if (closing) return
    failed(`a worker ended (${how})`)
    if (!said) {
      reject(new WorkerFailed(status))
      return
    }
    wait = listened ? leastWait : Math.min(longestWait, wait * 2)
    setTimeout(() => closing || start(), wait)
  }
  const start = (): void => {
    const worker = cluster.fork()
    living.add(worker)
    worker.on('message', (asked: WorkerRequest) => heard(worker, asked))
    worker.once('exit', (code, signal) => died(worker, signal ?? `status ${code}`, code ?? 1))
  }
  start()
  const signal = (name: NodeJS.Signals): void => {
    for (const worker of living) worker.process.kill(name)
  }
  return {
    ready: promise,
    signal,
    close: async () => {
      closing = true
      const ended = [...living].map(worker => new Promise(over => worker.once('exit', over)))
      signal('SIGTERM')
      await Promise.all(ended)
    },
  }
}
