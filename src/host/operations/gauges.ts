/** Gauges that are read on demand: requests in progress, connections, jobs, streams, sinks. */
import type { ChangesPage } from '../../pages/changes.ts'
import type { HttpListener } from '../../server/listener.ts'
import type { Store } from '../../service/store.ts'
import type { Delivery, Sinks } from '../delivery/sinks.ts'
import type { Metrics } from './metrics.ts'
import type { OverloadGuard } from './overload.ts'
import type { StoreFiller } from './store-filler.ts'

export function addFrontGauges(figures: Metrics, load: OverloadGuard, listener: HttpListener): void {
  const single = (value: () => number) => () => [{ labels: {}, value: value() }]
  figures.addGauge(
    'diglot_requests_in_flight',
    'Requests that are not answered yet.',
    single(() => load.inFlight),
  )
  figures.addGauge(
    'diglot_connections',
    'Connections open now.',
    single(() => listener.connections()),
  )
  figures.addGauge(
    'diglot_requests_shed_total',
    'Requests refused under load.',
    single(() => load.shed),
    'counter',
  )
}

/** Jobs are counted only up to a thousand: a larger number would add no information. */
export function addWorkGauges(
  figures: Metrics,
  parts: { store: Store; feed: ChangesPage; sinks: Sinks; clock: () => number },
): void {
  const states = ['queued', 'running', 'failed'] as const
  figures.addGauge('diglot_jobs', 'Jobs by state, a thousand at most.', () =>
    parts.store.read(reader =>
      Promise.all(states.map(async state => ({ labels: { state }, value: await reader.countJobs(state, 1000) }))),
    ),
  )
  figures.addGauge('diglot_event_streams', 'Readers of the change feed.', () => [
    { labels: {}, value: parts.feed.streams() },
  ])
  const bySink = (value: (state: Delivery) => number) => () =>
    [...parts.sinks.state].map(([sink, state]) => ({ labels: { sink }, value: value(state) }))
  const { state } = parts.sinks
  if (state.size === 0) return
  figures.addGauge(
    'diglot_sink_delivered_total',
    'Events that a sink accepted.',
    bySink(each => each.delivered),
    'counter',
  )
  figures.addGauge(
    'diglot_sink_failures',
    'Failures of a sink since its last success.',
    bySink(each => each.failures),
  )
  figures.addGauge(
    'diglot_sink_lag_seconds',
    'Seconds since the oldest change that a sink has not accepted, where this instance delivers.',
    bySink(({ waiting }) => (waiting === undefined ? 0 : Math.max(0, parts.clock() - waiting) / 1000)),
    'gauge',
    'max',
  )
  figures.addGauge(
    'diglot_sink_dead',
    'Sinks that are not retried before a restart.',
    bySink(each => (each.dead ? 1 : 0)),
  )
}

/**
 * No line where nothing is being filled. Processes on one database report the same figure, so the
 * largest counts.
 */
export function addFillGauges(figures: Metrics, filler: StoreFiller): void {
  const ofEach = (name: 'rowsDone' | 'rowsTotal') => () =>
    filler.unfinished.map(each => ({ labels: { what: each.what }, value: each[name] }))
  const [done, total] = [ofEach('rowsDone'), ofEach('rowsTotal')]
  figures.addGauge('diglot_fill_rows_done', 'Rows done of the indexes that are being filled.', done, 'gauge', 'max')
  figures.addGauge(
    'diglot_fill_rows_total',
    'All rows of the indexes that are being filled, approximately.',
    total,
    'gauge',
    'max',
  )
}
