/**
 * Delivers the change feed to sinks: webhooks, brokers, any function. What always holds:
 *  (1) A sink gets every change at least once, in the order of commits, one at a time; its position
 *      is in the store, so a crash repeats the last change and loses none.
 *  (2) A lease lets only one instance at a time deliver to a sink.
 *  (3) A sink that fails is retried with growing delays; once they add up to `patience`, it is dead
 *      until the service restarts. No clock counts: one that jumps ends no sink.
 *  (4) A position only moves forward, from where it was read: an instance that wakes up after its
 *      lease does not move it back.
 */
import type { Implementation } from '../../contract/implement.ts'
import type { Service } from '../../contract/service.ts'
import { type CloudEvent, toCloudEvent } from '../../service/change-feed.ts'
import { rejectOnAbort } from '../../service/job.ts'
import { clocksDifferMs, type ExpiringRecord, type Store, type StoreWriter, Unavailable } from '../../service/store.ts'

/** A receiver of committed changes: an option of `serve`. */
export interface EventSink {
  /** Unique; its position in the feed is stored under this name. */
  readonly name: string
  /** The names of the resources whose changes it gets. Default: all. */
  readonly resources?: readonly string[]
  /** Resolves once the event is accepted. After an exception, except `Gone`, it is retried. */
  readonly deliver: (event: CloudEvent, signal: AbortSignal) => Promise<void>
}
/** Thrown by a sink that will never accept events again. */
export class SinkGone extends Error {}
/** Thrown by a sink that says when to retry. */
export class RetryLater extends Error {
  /** Seconds until the next attempt. */
  readonly after: number
  constructor(after: number) {
    super(`retry in ${after} s`)
    this.after = after
  }
}

export interface Sinks {
  /** To be called when a change has been committed in this process. */
  wake(): void
  /** By sink. */
  readonly state: ReadonlyMap<string, Delivery>
  stop(): Promise<void>
}
export interface Delivery {
  delivered: number
  /** The position in the feed at which it is delivering, or fails. */
  place: number
  /** Consecutive ones. */
  failures: number
  /** Milliseconds that it was left alone between these failures. */
  pausedMs: number
  /**
   * When the next change was committed, in milliseconds since 1970. Undefined if none waits, or if
   * another instance delivers.
   */
  waiting: number | undefined
  dead: boolean
}

export interface DeliveryOptions {
  readonly app: Implementation
  readonly store: Store
  readonly clock: () => number
  /** Unique to this instance. */
  readonly id: string
  readonly failed: (sink: string, thrown: unknown) => void
  /** Milliseconds between the failures of a sink until it is dead. Default: five days. */
  readonly patience?: number
  /** Milliseconds before a retry, doubled each time up to an hour. Default: 5,000. */
  readonly backOff?: number | undefined
}

const space = 'sink'
const leases = 'sink-lease'
const latestMs = 8.64e15
const leaseMs = 30_000
const lookEveryMs = 1000
const retryMaxMs = 3_600_000
const deliveryMs = 20_000
/** Changes read at once. */
const batchMax = 100

/** A sink of an unknown resource would get nothing, and two of one name would share a position. */
export function findSinkMistakes(sinks: readonly EventSink[], { service, resources }: Service): readonly string[] {
  const known = resources.map(({ name }) => name)
  const isRepeated = ({ name }: EventSink, at: number): boolean => sinks.findIndex(each => each.name === name) < at
  return [
    ...sinks.filter(isRepeated).map(({ name }) => `the option sinks: two are named "${name}": give each its own name`),
    ...sinks.flatMap(sink =>
      (sink.resources ?? [])
        .filter(name => !known.includes(name))
        .map(name => `the sink "${sink.name}": ${service} has no resource "${name}": use ${known.join(', ')}`),
    ),
  ]
}

export function startSinks(delivering: DeliveryOptions, sinks: readonly EventSink[]): Sinks {
  const stopping = new AbortController()
  const state = new Map<string, Delivery>()
  const wakes: (() => void)[] = []
  const running = sinks.map((sink, i) => {
    const delivery: Delivery = {
      delivered: 0,
      place: 0,
      failures: 0,
      pausedMs: 0,
      waiting: undefined,
      dead: false,
    }
    state.set(sink.name, delivery)
    const sleep = (time: number): Promise<void> =>
      new Promise(resolve => {
        if (stopping.signal.aborted) return resolve()
        const timer = setTimeout(resolve, time).unref()
        wakes[i] = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    return deliverAll(delivering, sink, delivery, stopping.signal, sleep)
  })
  const wake = (): void => {
    for (const each of wakes) each?.()
  }
  return {
    wake: () => {
      for (const [i, { name }] of sinks.entries()) if (state.get(name)?.failures === 0) wakes[i]?.()
    },
    state,
    stop: async () => {
      stopping.abort(new Error('the service is stopping'))
      wake()
      await Promise.all(running)
    },
  }
}

async function deliverAll(
  delivering: DeliveryOptions,
  sink: EventSink,
  delivery: Delivery,
  stop: AbortSignal,
  sleep: (time: number) => Promise<void>,
): Promise<void> {
  const { patience = 5 * 86_400_000, backOff = 5000 } = delivering
  while (!stop.aborted && !delivery.dead) {
    try {
      const more = await deliverNextChanges(delivering, sink, delivery, stop)
      if (!more) await sleep(lookEveryMs)
    } catch (thrown) {
      if (stop.aborted) break
      if (thrown instanceof Unavailable) {
        await sleep(lookEveryMs) // the store failed, not the sink
        continue
      }
      delivery.failures++
      delivery.dead = thrown instanceof SinkGone || delivery.pausedMs > patience
      delivering.failed(sink.name, thrown)
      if (delivery.dead) break
      const wait = Math.min(retryMaxMs, backOff * 2 ** Math.min(20, delivery.failures - 1))
      const pauseMs = thrown instanceof RetryLater ? Math.max(wait, thrown.after * 1000) : wait
      await sleep(pauseMs)
      delivery.pausedMs += pauseMs
    }
  }
  await releaseLease(delivering, sink).catch(() => {})
}

/**
 * (1) Delivers the next changes for this sink, each before moving its position on, and skips other
 *     changes. False at the end of the feed, and where another instance delivers: then this one
 *     only reads, so an idle sink holds up no writer.
 */
async function deliverNextChanges(
  delivering: DeliveryOptions,
  sink: EventSink,
  delivery: Delivery,
  stop: AbortSignal,
): Promise<boolean> {
  const batch = await readNextChanges(delivering, sink)
  if (batch.after !== delivery.place) endFailures(delivery) // another instance has delivered since
  if (batch.lease === "another's") delivery.waiting = undefined
  if (batch.lease !== 'held') return batch.lease === 'due' && takeLease(delivering, sink)
  const { found, after, expired } = batch
  if (expired > after) return skipExpired(delivering, sink, after, expired)
  let reached = after
  for (const change of found.filter(each => !sink.resources || sink.resources.includes(each.resource))) {
    stop.throwIfAborted()
    delivery.place = reached
    delivery.waiting = change.at
    const signal = AbortSignal.any([stop, AbortSignal.timeout(deliveryMs)])
    const event = toCloudEvent(delivering.app, change)
    await Promise.race([sink.deliver(event, signal), rejectOnAbort(signal)]) // a sink may ignore the signal
    delivery.delivered++
    endFailures(delivery)
    if (!(await movePosition(delivering, sink, reached, change.sequence))) return true
    reached = change.sequence
  }
  endFailures(delivery)
  delivery.waiting = undefined
  const end = found.at(-1)?.sequence ?? after
  if (end !== reached) await movePosition(delivering, sink, reached, end)
  return end !== after
}

function endFailures(delivery: Delivery): void {
  delivery.failures = 0
  delivery.pausedMs = 0
}

async function skipExpired(
  delivering: DeliveryOptions,
  sink: EventSink,
  after: number,
  expired: number,
): Promise<boolean> {
  await movePosition(delivering, sink, after, expired)
  delivering.failed(sink.name, new Error(`changes up to ${expired} expired before they were delivered`))
  return true
}

/**
 * Reads in one snapshot: the lease, the position of the sink, the changes after it, and the number
 * of the last change that expired before it was delivered.
 */
function readNextChanges({ store, clock, id }: DeliveryOptions, { name }: EventSink) {
  return store.read(async reader => {
    const lease = judgeLease(await reader.recall(leases, name), id, clock())
    const memo = await reader.recall(space, name)
    const after = toPosition(memo)
    if (lease !== 'held') return { lease, after } as const
    const found = await reader.changes(after, batchMax)
    const [next] = found
    const swept = memo ? await reader.swept() : 0
    return { lease, after, found, expired: next ? Math.min(swept, next.sequence - 1) : swept } as const
  })
}

/**
 * (4) @returns whether this instance may continue from there: no other instance has done so while
 *     this one was suspended for longer than its lease
 */
function movePosition(delivering: DeliveryOptions, { name }: EventSink, from: number, to: number): Promise<boolean> {
  return delivering.store.write(async writer => {
    if (toPosition(await writer.recall(space, name)) !== from) return false
    await writer.forget(space, name)
    await writer.remember(space, name, { value: String(to), expires: latestMs }, 0)
    return renewLease(writer, delivering, name)
  })
}

const toPosition = (memo: ExpiringRecord | undefined): number => Number(memo?.value ?? 0)

function takeLease(delivering: DeliveryOptions, { name }: EventSink): Promise<boolean> {
  return delivering.store.write(writer => renewLease(writer, delivering, name))
}

/** (2) Renewed in time: the rest of a lease is longer than the time limit of a delivery. */
async function renewLease(writer: StoreWriter, { clock, id }: DeliveryOptions, name: string): Promise<boolean> {
  const now = clock()
  const judged = judgeLease(await writer.recall(leases, name), id, now)
  if (judged !== 'due') return judged === 'held'
  await writer.forget(leases, name)
  return writer.remember(leases, name, { value: id, expires: now + leaseMs + deliveryMs }, now)
}

function judgeLease(memo: ExpiringRecord | undefined, id: string, now: number): 'held' | "another's" | 'due' {
  const isAhead = memo !== undefined && memo.expires > now + leaseMs + deliveryMs + clocksDifferMs
  if (isAhead) return 'due' // the clock of its instance ran ahead
  if (memo && memo.expires > now && memo.value !== id) return "another's"
  return memo && memo.expires > now + deliveryMs + leaseMs / 2 ? 'held' : 'due'
}

function releaseLease({ store, id }: DeliveryOptions, { name }: EventSink): Promise<void> {
  return store.write(async writer => {
    const memo = await writer.recall(leases, name)
    if (memo?.value === id) await writer.forget(leases, name)
  })
}
