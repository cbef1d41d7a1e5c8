/**
 * Figures that are read when they are asked for: requests under way, connections, jobs, streams,
 * sinks.
 */
import type { ChangesPage } from '../pages/changes.ts'
import type { HttpListener } from '../server/listener.ts'
import type { Store } from '../service/store.ts'
import type { Delivery, Sinks } from './delivery/sinks.ts'
import type { Metrics } from './operations/metrics.ts'
import type { OverloadGuard } from './operations/overload.ts'

export function addFrontGauges(figures: Metrics, load: OverloadGuard, listener: HttpListener): void {
  const one = (value: () => number) => () => [{ labels: {}, value: value() }]
  figures.gauge(
    'diglot_requests_in_flight',
    'Requests that are not answered yet.',
    one(() => load.inFlight),
  )
  figures.gauge(
    'diglot_connections',
    'Connections open now.',
    one(() => listener.connections()),
  )
  figures.gauge(
    'diglot_requests_shed_total',
    'Requests turned away by overload.',
    one(() => load.shed),
    'counter',
  )
}

/** Jobs are counted as far as a thousand: beyond that the number says nothing new. */
export function addWorkGauges(figures: Metrics, of: { store: Store; feed: ChangesPage; sinks: Sinks }): void {
  const states = ['queued', 'running', 'failed'] as const
  figures.gauge('diglot_jobs', 'Jobs by state, a thousand at most.', () =>
    of.store.read(reader =>
      Promise.all(states.map(async state => ({ labels: { state }, value: (await reader.jobs(state, 1000)).length }))),
    ),
  )
  figures.gauge('diglot_event_streams', 'Readers of the change feed.', () => [{ labels: {}, value: of.feed.streams() }])
  const bySink = (value: (state: Delivery) => number) => () =>
    [...of.sinks.state].map(([sink, state]) => ({ labels: { sink }, value: value(state) }))
  const { state } = of.sinks
  if (state.size === 0) return
  figures.gauge(
    'diglot_sink_delivered_total',
    'Events that a sink took.',
    bySink(each => each.delivered),
    'counter',
  )
  figures.gauge(
    'diglot_sink_failures',
    'Failures since a sink last took something.',
    bySink(each => each.failures),
  )
  figures.gauge(
    'diglot_sink_dead',
    'Sinks that are given up.',
    bySink(each => (each.dead ? 1 : 0)),
  )
}
