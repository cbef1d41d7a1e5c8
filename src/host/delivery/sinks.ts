/**
 * Hands the change feed on to sinks: webhooks, brokers, anything that is a function. What always
 * holds:
 *  (1) A sink is given every change at least once, in the order of commits, one at a time; where it
 *      is, is in the store, so that a crash repeats the last and loses none.
 *  (2) One instance at a time delivers to a sink: it has a lease.
 *  (3) A sink that fails is tried again, later each time; after `patience` it is dead, and is tried
 *      again when the service starts.
 */
import type { Implementation } from '../../contract/implement.ts'
import { type CloudEvent, toCloudEvent } from '../../service/change-feed.ts'
import { rejectOnAbort } from '../../service/job.ts'
import { type Store, Unavailable } from '../../service/store.ts'

export interface EventSink {
  /** Tells it from the others; where it is in the feed is remembered under this name. */
  readonly name: string
  /** The resources it hears of; default all. */
  readonly resources?: readonly string[]
  /** Resolves once the event is taken. What it throws is tried again; `Gone` is not. */
  readonly deliver: (event: CloudEvent, signal: AbortSignal) => Promise<void>
}
/** Thrown by a sink that will never take anything again. */
export class Gone extends Error {}
/** Thrown by a sink that says when to come again. */
export class Later extends Error {
  /** Seconds. */
  readonly after: number
  constructor(after: number) {
    super(`come again in ${after} s`)
    this.after = after
  }
}

export interface Sinks {
  /** A change was committed here. */
  wake(): void
  /** By sink: changes are waiting since when (milliseconds since 1970), and whether it is dead. */
  readonly state: ReadonlyMap<string, Delivery>
  stop(): Promise<void>
}
export interface Delivery {
  delivered: number
  failures: number
  failing: number | undefined
  dead: boolean
}

export interface Delivering {
  readonly app: Implementation
  readonly store: Store
  readonly clock: () => number
  /** Tells this instance from the others. */
  readonly id: string
  readonly failed: (sink: string, thrown: unknown) => void
  /** Milliseconds that a sink may fail before it is dead; default five days. */
  readonly patience?: number
  /**
   * Milliseconds before a failure is tried again; doubled each time, at most an hour. Default
   * 5,000.
   */
  readonly backOff?: number | undefined
}

const space = 'sink'
const leases = 'sink-lease'
const forever = 8.64e15
/** Milliseconds. */
const lease = 30_000
const pause = 1000
const longestWait = 3_600_000
const timeLimit = 20_000

export function startSinks(delivering: Delivering, sinks: readonly EventSink[]): Sinks {
  const stopping = new AbortController()
  const state = new Map<string, Delivery>()
  const wakes: (() => void)[] = []
  const running = sinks.map((sink, i) => {
    const delivery: Delivery = { delivered: 0, failures: 0, failing: undefined, dead: false }
    state.set(sink.name, delivery)
    const rest = (time: number): Promise<void> =>
      new Promise(resolve => {
        if (stopping.signal.aborted) return resolve()
        const timer = setTimeout(resolve, time).unref()
        wakes[i] = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    return deliverAll(delivering, sink, delivery, stopping.signal, rest)
  })
  const wake = (): void => {
    for (const each of wakes) each?.()
  }
  return {
    wake: () => {
      for (const [i, { name }] of sinks.entries()) if (state.get(name)?.failing === undefined) wakes[i]?.()
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
  delivering: Delivering,
  sink: EventSink,
  delivery: Delivery,
  stop: AbortSignal,
  rest: (time: number) => Promise<void>,
): Promise<void> {
  const { clock, patience = 5 * 86_400_000, backOff = 5000 } = delivering
  while (!stop.aborted && !delivery.dead) {
    try {
      const more = (await takeLease(delivering, sink)) && (await deliverNext(delivering, sink, delivery, stop))
      delivery.failing = undefined
      delivery.failures = 0
      if (!more) await rest(pause)
    } catch (thrown) {
      if (stop.aborted) break
      if (thrown instanceof Unavailable) {
        await rest(pause) // the store's failure, and not the sink's
        continue
      }
      delivery.failing ??= clock()
      delivery.failures++
      delivery.dead = thrown instanceof Gone || clock() - delivery.failing > patience
      delivering.failed(sink.name, thrown)
      const wait = Math.min(longestWait, backOff * 2 ** Math.min(20, delivery.failures - 1))
      if (!delivery.dead) await rest(thrown instanceof Later ? Math.max(wait, thrown.after * 1000) : wait)
    }
  }
  await releaseLease(delivering, sink).catch(() => {})
}

/**
 * (1) The next change that this sink hears of; those it does not are passed over. False at the end
 *     of the feed.
 */
async function deliverNext(
  { app, store, failed }: Delivering,
  sink: EventSink,
  delivery: Delivery,
  stop: AbortSignal,
): Promise<boolean> {
  const { found, swept, after } = await store.read(async reader => {
    const memo = await reader.recall(space, sink.name)
    const after = Number(memo?.value ?? 0)
    return { found: await reader.changes(after, 100), swept: memo ? await reader.swept() : 0, after }
  })
  const next = found.find(each => !sink.resources || sink.resources.includes(each.resource))
  if (next) {
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeLimit)])
    await Promise.race([sink.deliver(toCloudEvent(app, next), signal), rejectOnAbort(signal)]) // a sink may not listen to it
    delivery.delivered++
  }
  const reached = next?.sequence ?? found.at(-1)?.sequence ?? Math.max(after, swept)
  if (reached !== after)
    await store.write(async writer => {
      await writer.forget(space, sink.name)
      await writer.remember(space, sink.name, { value: String(reached), expires: forever }, 0)
    })
  if (after < swept) failed(sink.name, new Error(`changes up to ${swept} were swept away before it took them`))
  return reached !== after
}

/** (2) Renewed by each look; what is left of a lease lasts longer than a delivery may. */
function takeLease({ store, clock, id }: Delivering, { name }: EventSink): Promise<boolean> {
  return store.write(async writer => {
    const now = clock()
    const memo = await writer.recall(leases, name)
    if (memo && memo.expires > now && memo.value !== id) return false
    if (memo && memo.expires > now + timeLimit + lease / 2) return true
    await writer.forget(leases, name)
    return writer.remember(leases, name, { value: id, expires: now + lease + timeLimit }, now)
  })
}

function releaseLease({ store, id }: Delivering, { name }: EventSink): Promise<void> {
  return store.write(async writer => {
    const memo = await writer.recall(leases, name)
    if (memo?.value === id) await writer.forget(leases, name)
  })
}
