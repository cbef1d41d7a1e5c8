/**
 * Several processes as one service, on one machine: Node's cluster gives them one address. The
 * first process serves nothing itself; it keeps the shared state (windows of limits, metrics) and
 * replaces workers that die. What always holds:
 *  (1) `ready` resolves once all workers listen; if one cannot start, none is left.
 *  (2) A worker that dies is replaced at once; one that cannot start, after growing delays.
 *  (3) `close` ends each worker as a signal would: current requests are answered.
 *  (4) A worker that has listened and responds to nothing for `silenceMs` is killed: a handler in
 *      an endless loop would keep the write lock of the database, and no health check would notice,
 *      since another worker answers it.
 */
import cluster, { type Worker } from 'node:cluster'
import { type Count, type Counted, createMemoryWindows } from '../../service/limiter.ts'
import type { Family } from './metrics.ts'

/** The first process, as a worker sees it. */
export interface ClusterPeers {
  count(counts: readonly Count[]): Promise<readonly Counted[]>
  /** The metrics of each worker. `answer` sets this worker's own. */
  figures(): Promise<readonly (readonly Family[])[]>
  answer(own: () => Promise<readonly Family[]>): void
  /** Reports that this worker listens; the first process prints the lines of only one worker. */
  ready(lines: readonly string[]): void
}

type WorkerRequest =
  | { readonly kind: 'count'; readonly id: number; readonly counts: readonly Count[] }
  | { readonly kind: 'figures'; readonly id: number }
  | { readonly kind: 'collected'; readonly id: number; readonly families: readonly Family[] }
  | { readonly kind: 'ready'; readonly lines: readonly string[] }
  | { readonly kind: 'here' }
type PrimaryReply =
  | { readonly kind: 'counted'; readonly id: number; readonly counted: readonly Counted[] }
  | { readonly kind: 'collect'; readonly id: number }
  | { readonly kind: 'all'; readonly id: number; readonly figures: readonly (readonly Family[])[] }
  | { readonly kind: 'ping' }

export const isWorker = (): boolean => cluster.isWorker

/** A worker's connection to the process that called `forkWorkers`. */
export function connectToPrimary(): ClusterPeers {
  const pending = new Map<number, (reply: PrimaryReply) => void>()
  let last = 0
  let own: () => Promise<readonly Family[]> = async () => []
  const send = (request: WorkerRequest): void => void process.send?.(request)
  const ask = (request: (id: number) => WorkerRequest): Promise<PrimaryReply> =>
    new Promise(resolve => {
      const id = ++last
      pending.set(id, resolve)
      send(request(id))
    })
  cluster.worker?.once('error', () => process.exit(1)) // the first process has ended
  process.on('message', (reply: PrimaryReply) => {
    if (reply.kind === 'ping') return send({ kind: 'here' }) // (4)
    // The first process numbers its requests independently.
    if (reply.kind === 'collect')
      return void own().then(families => send({ kind: 'collected', id: reply.id, families }))
    pending.get(reply.id)?.(reply)
    pending.delete(reply.id)
  })
  return {
    count: async counts => {
      const reply = await ask(id => ({ kind: 'count', id, counts }))
      return reply.kind === 'counted' ? reply.counted : []
    },
    figures: async () => {
      const reply = await ask(id => ({ kind: 'figures', id }))
      return reply.kind === 'all' ? reply.figures : []
    },
    answer: figures => {
      own = figures
    },
    ready: lines => send({ kind: 'ready', lines }),
  }
}

export interface ClusterWorkers {
  /** (1) The lines of the first worker that listened. Rejects with `WorkerFailed`. */
  readonly ready: Promise<readonly string[]>
  /** Sends a signal to all workers. */
  signal(signal: NodeJS.Signals): void
  /** (3) */
  close(): Promise<void>
}

/** The delay before a worker is replaced: at first, and the greatest after failures to start. */
const restartMinMs = 100
const restartMaxMs = 10_000
/** The time limit for the metrics of a worker. */
const collectMs = 2000

/** (4) Longer than any flush of a disk that still serves. */
const silenceMs = 30_000
/** Pings are counted rather than time, in which the whole machine may have been suspended. */
const pingsMax = 5

/** A worker ended before it was listening. */
export class WorkerFailed extends Error {
  readonly status: number
  constructor(status: number) {
    super('a worker could not start')
    this.status = status
  }
}

/**
 * Starts `count` processes of this program with its arguments; calls `failed` for each that dies.
 *
 * @param silence milliseconds after which a worker that does not respond is killed
 */
export function forkWorkers(count: number, failed: (why: string) => void, silence: number = silenceMs): ClusterWorkers {
  const counting = createMemoryWindows()
  const watched = watchWorkers(silence, failed)
  const living = new Set<Worker>()
  const listening = new Set<Worker>()
  const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>()
  let firstLines: readonly string[] | undefined
  let closing = false
  let wait = restartMinMs
  const figures = createCollector()

  const receive = (worker: Worker, request: WorkerRequest): void => {
    watched.hear(worker)
    switch (request.kind) {
      case 'count':
        replyToWorker(worker, { kind: 'counted', id: request.id, counted: counting(request.counts, Date.now()) })
        break
      case 'figures':
        void Promise.all([...listening].map(figures.collect)).then(all =>
          replyToWorker(worker, { kind: 'all', id: request.id, figures: all }),
        )
        break
      case 'collected':
        figures.receive(worker, request.id, request.families)
        break
      case 'ready':
        listening.add(worker)
        watched.add(worker)
        // The first worker creates what exists only once: the file, the key, the seed.
        if (!firstLines) for (let others = count - 1; others > 0; others--) start()
        firstLines ??= request.lines
        if (listening.size === count) resolve(firstLines)
    }
  }
  const replace = (worker: Worker, end: string, status: number): void => {
    living.delete(worker)
    watched.forget(worker)
    const listened = listening.delete(worker)
    if (closing) return
    failed(`a worker ended (${end})`)
    if (!firstLines) {
      reject(new WorkerFailed(status))
      return
    }
    wait = listened ? restartMinMs : Math.min(restartMaxMs, wait * 2)
    setTimeout(() => closing || start(), wait)
  }
  const start = (): void => {
    const worker = cluster.fork()
    living.add(worker)
    worker.on('message', (request: WorkerRequest) => receive(worker, request))
    worker.once('exit', (code, signal) => replace(worker, signal ?? `status ${code}`, code ?? 1))
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
      const ended = [...living].map(worker => new Promise(finish => worker.once('exit', finish)))
      signal('SIGTERM')
      await Promise.all(ended)
    },
  }
}

/** (4) */
function watchWorkers(silence: number, failed: (reason: string) => void) {
  /** The pings to which each worker has not responded. */
  const unheard = new Map<Worker, number>()
  setInterval(
    () => {
      for (const [worker, pings] of unheard) {
        unheard.set(worker, pings + 1)
        if (pings < pingsMax) replyToWorker(worker, { kind: 'ping' })
        else if (pings === pingsMax) {
          failed(`worker ${worker.process.pid} has not responded for ${silence / 1000} s, and is ended`)
          worker.process.kill('SIGKILL')
        }
      }
    },
    silence / (pingsMax + 1),
  ).unref()
  return {
    add: (worker: Worker): void => void unheard.set(worker, 0),
    hear: (worker: Worker): void => void (unheard.has(worker) && unheard.set(worker, 0)),
    forget: (worker: Worker): void => void unheard.delete(worker),
  }
}

function replyToWorker(worker: Worker, reply: PrimaryReply): void {
  if (worker.isConnected()) worker.send(reply)
}

/** Collects the metrics of workers, without those of a worker that is silent for too long. */
function createCollector() {
  const collecting = new Map<string, (families: readonly Family[]) => void>()
  let last = 0
  return {
    collect: (worker: Worker): Promise<readonly Family[]> =>
      new Promise(done => {
        const id = ++last
        const finish = (families: readonly Family[]): void => {
          collecting.delete(`${worker.id} ${id}`)
          clearTimeout(timer)
          done(families)
        }
        const timer = setTimeout(finish, collectMs, [])
        collecting.set(`${worker.id} ${id}`, finish)
        replyToWorker(worker, { kind: 'collect', id })
      }),
    receive: (worker: Worker, id: number, families: readonly Family[]): void =>
      collecting.get(`${worker.id} ${id}`)?.(families),
  }
}
