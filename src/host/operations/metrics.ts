/**
 * Metrics for operators: rate, errors and duration of each operation and face, responses by status,
 * requests in progress, jobs, the store, the process. Counting is two additions in memory;
 * prom-client, loaded when the metrics are first read, writes them.
 */
import { setTimeout } from 'node:timers/promises'
import type { MetricObjectWithValues, MetricValue } from 'prom-client'
import { memoizeOnce } from '../../base/memo.ts'
import type { MountName } from '../../front/entry.ts'
import type { Call } from '../../service/call.ts'
import type { FollowingStore } from '../../service/read-replica.ts'
import type { Store, Usage } from '../../service/store.ts'

/** Upper bounds of the histogram's buckets: from a read in memory to a client's time limit. */
export const histogramBoundsSeconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

interface Durations {
  readonly labels: Readonly<Record<string, string>>
  count: number
  /** Seconds. */
  sum: number
  /** Not cumulative; the last one is above all bounds. */
  readonly buckets: number[]
}

/**
 * Counters of a running service. Labels are names from the contract and words of ours, so their
 * number is bounded.
 */
export class Metrics {
  readonly #calls = {
    rest: new Map<string, Map<string, Durations>>(),
    soap: new Map<string, Map<string, Durations>>(),
    job: new Map<string, Map<string, Durations>>(),
  }
  readonly #answers = {
    rest: new Map<number, number>(),
    soap: new Map<number, number>(),
    operations: new Map<number, number>(),
  }
  readonly #gauges = new Map<string, Gauge>()

  /** `took` in milliseconds. */
  countCall(face: Call['face'], operation: string, outcome: string, took: number): void {
    const line = this.#calls[face].get(operation)?.get(outcome) ?? this.#addLine(face, operation, outcome)
    const seconds = took / 1000
    let at = 0
    while (at < histogramBoundsSeconds.length && seconds > (histogramBoundsSeconds[at] ?? 0)) at++
    line.count++
    line.sum += seconds
    line.buckets[at] = (line.buckets[at] ?? 0) + 1
  }

  #addLine(face: Call['face'], operation: string, outcome: string): Durations {
    const line = createDurations({ face, operation, outcome })
    const lines = this.#calls[face].get(operation)
    if (lines) lines.set(outcome, line)
    else this.#calls[face].set(operation, new Map([[outcome, line]]))
    return line
  }

  countResponse(face: MountName, status: number): void {
    const counts = this.#answers[face]
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }

  /**
   * Adds a figure that is read on demand.
   * @param aggregator how the values of several processes are combined
   */
  addGauge(
    name: string,
    help: string,
    read: Gauge['read'],
    type: Gauge['type'] = 'gauge',
    aggregator: Gauge['aggregator'] = 'sum',
  ): void {
    this.#gauges.set(name, { help, read, type, aggregator })
  }

  /** All figures, in the form of prom-client. */
  async listFamilies(): Promise<Family[]> {
    const readings = [...this.#gauges].map(async ([name, { help, read, type, aggregator }]): Promise<Family> => {
      const values = await readInTime(read())
      return createFamily(name, type, help, [...values], aggregator)
    })
    return [
      createFamily(
        'diglot_call_duration_seconds',
        'histogram',
        'Calls by operation, face and outcome.',
        Object.values(this.#calls).flatMap(each =>
          [...each.values()].flatMap(lines => [...lines.values()].flatMap(cumulateBuckets)),
        ),
      ),
      createFamily(
        'diglot_http_responses_total',
        'counter',
        'Responses by face and status.',
        Object.entries(this.#answers).flatMap(([face, counts]) =>
          [...counts].map(([status, value]) => ({ labels: { face, status: String(status) }, value })),
        ),
      ),
      ...(await Promise.all(readings)),
    ]
  }
}

/** Adds the use of each store, labelled with its name. */
export function addStoreGauges(figures: Metrics, stores: readonly (readonly [string, Pick<Store, 'usage'>])[]): void {
  const byStore = (read: (usage: Usage) => readonly MetricSample[]) => () =>
    stores.flatMap(([store, one]) => {
      const now = one.usage?.()
      return now ? read(now).map(({ labels, value }) => ({ labels: { store, ...labels }, value })) : []
    })
  figures.addGauge(
    'diglot_store_waiting',
    'Calls that wait for a connection, or for their turn to write.',
    byStore(({ waiting }) => [{ labels: {}, value: waiting }]),
  )
  figures.addGauge(
    'diglot_store_connections',
    'Connections to a database, busy and idle.',
    byStore(({ connections }) =>
      Object.entries(connections ?? {}).map(([state, value]) => ({ labels: { state }, value: Number(value) })),
    ),
  )
  figures.addGauge(
    'diglot_store_log_octets',
    'Length of the log (WAL) of a SQLite file.',
    byStore(({ logOctets }) => (logOctets === undefined ? [] : [{ labels: {}, value: logOctets }])),
    'gauge',
    'max',
  )
}

export function addReplicaGauge(figures: Metrics, replica: FollowingStore): void {
  const read = async () => {
    const lagMs = await replica.lagMs?.()
    return lagMs === undefined ? [] : [{ labels: {}, value: lagMs / 1000 }]
  }
  figures.addGauge('diglot_replica_lag_seconds', 'Age of the last change that the replica has.', read, 'gauge', 'max')
}

/** A store that is busy or out of reach has no figures, and does not delay others. */
async function readInTime(reading: ReturnType<Gauge['read']>): Promise<readonly MetricSample[]> {
  if (!(reading instanceof Promise)) return reading
  const late = new AbortController()
  const none = setTimeout(gaugeMs, [], { signal: late.signal, ref: false })
  none.catch(() => {})
  return Promise.race([reading.catch(() => []), none]).finally(() => late.abort())
}
const gaugeMs = 500

interface Gauge {
  readonly help: string
  readonly type: 'gauge' | 'counter'
  readonly aggregator: 'sum' | 'max'
  readonly read: () => readonly MetricSample[] | Promise<readonly MetricSample[]>
}
export type MetricSample = MetricValue<string> & { readonly metricName?: string }
export type Family = MetricObjectWithValues<MetricSample>

const createFamily = (
  name: string,
  type: string,
  help: string,
  values: MetricSample[],
  aggregator: Gauge['aggregator'] = 'sum',
): Family => ({ name, help, type, aggregator, values }) as unknown as Family // prom-client's enum of types has these words

const createDurations = (labels: Record<string, string>): Durations => ({
  labels,
  count: 0,
  sum: 0,
  buckets: new Array(histogramBoundsSeconds.length + 1).fill(0),
})

function cumulateBuckets({ labels, count, sum, buckets }: Durations): MetricSample[] {
  const name = 'diglot_call_duration_seconds'
  let below = 0
  const lines = buckets.map((inside, at) => {
    below += inside
    return {
      labels: { ...labels, le: histogramBoundsSeconds[at] === undefined ? '+Inf' : String(histogramBoundsSeconds[at]) },
      value: below,
      metricName: `${name}_bucket`,
    }
  })
  return [
    ...lines,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: count, metricName: `${name}_count` },
  ]
}

/**
 * Metrics of the process: event loop, garbage collection, memory, descriptors, CPU; from the first
 * read on.
 */
const openProcessMetrics = memoizeOnce(async (): Promise<() => Promise<Family[]>> => {
  const { collectDefaultMetrics, Registry } = (await import('prom-client')).default
  const register = new Registry()
  collectDefaultMetrics({ register })
  return () => register.getMetricsAsJSON() as Promise<Family[]> // values may have their own name, which the type lacks
})

/** All figures of this process. */
export const collectMetrics = async (figures: Metrics): Promise<Family[]> => [
  ...(await figures.listFamilies()),
  ...(await (await openProcessMetrics())()),
]

/** The text for Prometheus, for one process or for several that form one service. */
export async function writeExposition(processes: readonly (readonly Family[])[]): Promise<string> {
  const { default: prometheus } = await import('prom-client')
  return prometheus.AggregatorRegistry.aggregate(processes.map(families => [...families])).metrics()
}
export const expositionType = 'text/plain; version=0.0.4; charset=utf-8'
