/**
 * What load costs, and what it waits for: a simulation of the ways a service can be laid out (docs/scale.md). Requests come at
 * random; each takes its turn at a cache, an instance and a database. The times are of the order of one core and one disk;
 * `npm run bench` measures yours. `node bench/scale.ts --rate 20000 --reads 0.95 --fresh 0.5`
 */
import { parseArgs } from 'node:util'

interface Load {
  /** Requests a second. */
  readonly rate: number
  /** Part of them that only read. */
  readonly reads: number
  /** Part of the reads that a shared cache answers without asking. */
  readonly fresh: number
  /** Part of the reads that come with a validator that still holds. */
  readonly valid: number
  /** Part of the writes that go to one item. */
  readonly hot: number
}

/** Seconds of one core, and of a disk that makes a commit durable. */
interface Times {
  readonly cache: number
  readonly read: number
  readonly valid: number
  readonly write: number
  readonly query: number
  readonly commit: number
  /** One item's writes take turns for as long as a transaction lasts. */
  readonly turn: number
}

interface Layout {
  readonly name: string
  readonly instances: number
  /** Databases that writes are shared out to, by tenant or key. */
  readonly partitions: number
  /** Copies that reads are shared out to, of each. */
  readonly replicas: number
  readonly cached: boolean
  /** The database is a file within the instance. */
  readonly embedded: boolean
}

export const times: Times = {
  cache: 10e-6,
  read: 60e-6,
  valid: 45e-6,
  write: 180e-6,
  query: 90e-6,
  commit: 250e-6,
  turn: 1.5e-3,
}

export const layouts: readonly Layout[] = [
  { name: 'one process, SQLite', instances: 1, partitions: 1, replicas: 0, cached: false, embedded: true },
  { name: 'one process, SQLite, cache', instances: 1, partitions: 1, replicas: 0, cached: true, embedded: true },
  { name: '4 instances, PostgreSQL', instances: 4, partitions: 1, replicas: 0, cached: false, embedded: false },
  { name: '8 instances, cache, 2 replicas', instances: 8, partitions: 1, replicas: 2, cached: true, embedded: false },
  {
    name: '32 instances, cache, 8 parts × 2',
    instances: 32,
    partitions: 8,
    replicas: 2,
    cached: true,
    embedded: false,
  },
]

/** Many servers with one queue: who comes is served by the first that is free. */
class Station {
  readonly #free: Float64Array
  busy = 0
  constructor(servers: number) {
    this.#free = new Float64Array(servers)
  }
  serve(at: number, time: number): number {
    let first = 0
    for (let i = 1; i < this.#free.length; i++) if ((this.#free[i] ?? 0) < (this.#free[first] ?? 0)) first = i
    const end = Math.max(at, this.#free[first] ?? 0) + time
    this.#free[first] = end
    this.busy += time
    return end
  }
  used(span: number): number {
    return this.busy / (span * this.#free.length)
  }
}

/** The same numbers at every run (a linear congruential generator, Numerical Recipes). */
function dice(seed: number): () => number {
  let state = seed
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
}

export interface Result {
  readonly layout: string
  /** Milliseconds of the half, and of 99 in 100. */
  readonly half: number
  readonly most: number
  /** Part of the time that each is busy; over 1 the queue grows for as long as the load lasts. */
  readonly instances: number
  readonly database: number
  readonly hot: number
  /** Cores per thousand requests a second. */
  readonly cores: number
}

export function simulate(layout: Layout, load: Load, cost: Times = times, requests = 200_000): Result {
  const next = dice(1)
  const around = (time: number): number => -Math.log(1 - next() * 0.9999) * time // exponential: mostly short, sometimes long
  const cache = new Station(64)
  const instances = new Station(layout.instances)
  const writers = Array.from({ length: layout.partitions }, () => new Station(layout.embedded ? 1 : 4))
  const readers = Array.from({ length: layout.partitions }, () => new Station(Math.max(1, layout.replicas) * 4))
  const hot = new Station(1)
  const waits = new Float64Array(requests)
  let at = 0
  for (let i = 0; i < requests; i++) {
    at += around(1 / load.rate)
    const part = Math.floor(next() * layout.partitions)
    const reads = next() < load.reads
    let now = at
    if (layout.cached) now = cache.serve(now, around(cost.cache))
    if (!(layout.cached && reads && next() < load.fresh)) {
      now = instances.serve(now, around(reads ? (next() < load.valid ? cost.valid : cost.read) : cost.write))
      const base = reads && layout.replicas > 0 ? readers[part] : writers[part]
      if (base && !(layout.embedded && reads))
        now = base.serve(now, around(reads ? cost.query : cost.query + cost.commit))
      if (!reads && next() < load.hot) now = hot.serve(now, around(cost.turn))
    }
    waits[i] = (now - at) * 1000
  }
  waits.sort()
  const stations = [...writers, ...(layout.replicas > 0 ? readers : [])]
  const database = Math.max(...stations.map(each => each.used(at)))
  const busy = [cache, instances, ...stations].reduce((sum, each) => sum + each.busy, 0)
  return {
    layout: layout.name,
    half: waits[Math.floor(requests / 2)] ?? 0,
    most: waits[Math.floor(requests * 0.99)] ?? 0,
    instances: instances.used(at),
    database,
    hot: hot.used(at),
    cores: busy / at / (load.rate / 1000),
  }
}

function print(load: Load): void {
  const row = (...cells: readonly string[]): void =>
    console.log(cells.map((cell, i) => (i === 0 ? cell.padEnd(36) : cell.padStart(10))).join(''))
  const part = (value: number): string => `${(value * 100).toFixed(0)} %`
  const { rate, reads, fresh, valid, hot } = load
  console.log(
    `${rate} requests/s: ${part(reads)} reads, of those ${part(fresh)} fresh and ${part(valid)} still valid; ${part(hot)} of writes to one item`,
  )
  row('', '50 % ms', '99 % ms', 'instances', 'database', 'hot item', 'cores/k')
  for (const layout of layouts) {
    const is = simulate(layout, load)
    row(
      is.layout,
      is.half.toFixed(2),
      is.most.toFixed(2),
      part(is.instances),
      part(is.database),
      part(is.hot),
      is.cores.toFixed(2),
    )
  }
}

if (import.meta.main) {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { rate: text, reads: text, fresh: text, valid: text, hot: text } })
  const one = (given: string | undefined, usual: number): number => (given === undefined ? usual : Number(given))
  const base = {
    reads: one(values.reads, 0.9),
    fresh: one(values.fresh, 0.4),
    valid: one(values.valid, 0.5),
    hot: one(values.hot, 0.01),
  }
  for (const rate of values.rate === undefined ? [1_000, 8_000, 30_000, 120_000] : [Number(values.rate)])
    print({ rate, ...base })
}
