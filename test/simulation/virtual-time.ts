/**
 * Time, timers and chance of a whole process, by one scheduler: nothing waits for a clock, and what
 * happens next is drawn by a seed. What always holds:
 *  (1) The next event is taken when nothing is left to do without time (microtasks, next ticks).
 *  (2) What happens belongs to an owner, by its asynchronous context: a process that is gone has no
 *      events.
 *  (3) Immediates of one owner keep their order, as those of one event loop; everything else that is
 *      due at nearly one time comes in any order.
 * To be installed before the first module of src/ is loaded.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Random } from './random.ts'

/** A process of the simulated world: an instance of the service, a client, or the world itself. */
export interface Owner {
  readonly name: string
  isGone: boolean
}
export const owners = new AsyncLocalStorage<Owner>()

interface Happening {
  dueMs: number
  readonly number: number
  readonly owner: Owner | undefined
  readonly run: () => void
  /** Where it was scheduled. */
  readonly context: AsyncResource
  isOver: boolean
}

/** Milliseconds of the jitter of a timer. */
const jitterMs = 0.2
const immediateMs = 0.02
/** Turns of the real event loop for each event while something is loaded. */
const loadingTurns = 3

export class Scheduler {
  random = new Random(0)
  /** Milliseconds since the world began. */
  nowMs = 0
  /** How often octets were drawn in bulk. */
  fills = 0
  /** Milliseconds since 1970 when the world began. */
  readonly epochMs = Date.UTC(2026, 0, 1)
  /** Waits, by the real clock, for what the world loads. */
  isLoading: (() => Promise<unknown>) | undefined
  /** Told of what an event throws. */
  uncaught: (thrown: unknown) => void = () => {}
  #heap: Happening[] = []
  #count = 0
  readonly #immediates = new Map<Owner | undefined, number>()

  /** A new world. */
  begin(seed: number): void {
    this.random = new Random(seed)
    this.nowMs = 0
    this.#heap = []
    this.#count = 0
    this.#immediates.clear()
  }

  get steps(): number {
    return this.#count
  }

  schedule(run: () => void, afterMs: number): Happening {
    return this.#add(run, this.nowMs + Math.max(0, afterMs) + this.random.part() * jitterMs)
  }

  scheduleImmediate(run: () => void): Happening {
    const owner = owners.getStore()
    const dueMs = Math.max(this.nowMs, this.#immediates.get(owner) ?? 0) + this.random.part() * immediateMs
    this.#immediates.set(owner, dueMs)
    return this.#add(run, dueMs)
  }

  #add(run: () => void, dueMs: number): Happening {
    const happening = {
      dueMs,
      number: this.#count++,
      owner: owners.getStore(),
      run,
      context: new AsyncResource('happening'),
      isOver: false,
    }
    const heap = this.#heap
    let at = heap.push(happening) - 1
    for (let parent = (at - 1) >> 1; at > 0 && comesBefore(happening, heap[parent]); parent = (at - 1) >> 1) {
      heap[at] = heap[parent] as Happening
      heap[parent] = happening
      at = parent
    }
    return happening
  }

  #take(): Happening | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (!last || !first || heap.length === 0) return first
    heap[0] = last
    for (let at = 0; ; ) {
      let least = at
      for (const child of [2 * at + 1, 2 * at + 2]) if (comesBefore(heap[child], heap[least])) least = child
      if (least === at) return first
      const moved = heap[at] as Happening
      heap[at] = heap[least] as Happening
      heap[least] = moved
      at = least
    }
  }

  /** Lets events happen until `isDone`, or none is left, or so many have happened. */
  async run(isDone: () => boolean, stepsMax: number): Promise<'done' | 'idle' | 'too long'> {
    for (let steps = 0; steps < stepsMax; steps++) {
      await settled() // (1)
      if (this.isLoading) for (let turns = 0; turns < loadingTurns; turns++) await this.isLoading()
      if (isDone()) return 'done'
      let next = this.#take()
      while (next && (next.isOver || next.owner?.isGone)) next = this.#take()
      if (!next) return 'idle'
      this.nowMs = Math.max(this.nowMs, next.dueMs)
      next.isOver = true
      try {
        next.context.runInAsyncScope(next.run)
      } catch (thrown) {
        this.uncaught(thrown)
      }
    }
    return 'too long'
  }
}

const comesBefore = (a: Happening | undefined, b: Happening | undefined): boolean =>
  a !== undefined && b !== undefined && (a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.number < b.number))

/** Next ticks come when no microtask is left; the second one comes after what the first ones began. */
async function settled(): Promise<void> {
  await new Promise<void>(resolve => process.nextTick(resolve))
  await new Promise<void>(resolve => process.nextTick(resolve))
}

/** What `setTimeout`, `setInterval` and `setImmediate` return. */
class VirtualTimer {
  happening: Happening | undefined
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  close(): void {
    if (this.happening) this.happening.isOver = true
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

/** The modules whose members are replaced. */
interface Replaced {
  [name: string]: unknown
}

/** Replaces the clock, the timers and the sources of chance of this process. */
export function installVirtualTime(scheduler: Scheduler): void {
  const require = createRequire(import.meta.url)
  const modules = (name: string) => require(name) as Replaced

  const setTimeout = (run: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): VirtualTimer => {
    const timer = new VirtualTimer()
    timer.happening = scheduler.schedule(() => run(...given), ms)
    return timer
  }
  const setInterval = (run: (...given: unknown[]) => void, ms = 1, ...given: unknown[]): VirtualTimer => {
    const timer = new VirtualTimer()
    const again = (): void => {
      timer.happening = scheduler.schedule(() => {
        again()
        run(...given)
      }, ms)
    }
    again()
    return timer
  }
  const setImmediate = (run: (...given: unknown[]) => void, ...given: unknown[]): VirtualTimer => {
    const timer = new VirtualTimer()
    timer.happening = scheduler.scheduleImmediate(() => run(...given))
    return timer
  }
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close()
  }
  const timers = {
    setTimeout,
    setInterval,
    setImmediate,
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
  }
  Object.assign(globalThis, timers)
  Object.assign(modules('node:timers'), timers)

  interface WaitOptions {
    readonly signal?: AbortSignal
  }
  const wait = <T>(begin: (done: () => void) => VirtualTimer, value: T, { signal }: WaitOptions = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = begin(() => {
        signal?.removeEventListener('abort', stop)
        resolve(value)
      })
      const stop = (): void => {
        timer.close()
        reject(
          Object.assign(new Error('The operation was aborted', { cause: signal?.reason }), {
            name: 'AbortError',
            code: 'ABORT_ERR',
          }),
        )
      }
      signal?.addEventListener('abort', stop, { once: true })
    })
  Object.assign(modules('node:timers/promises'), {
    setTimeout: <T>(ms: number, value: T, options?: WaitOptions) => wait(done => setTimeout(done, ms), value, options),
    setImmediate: <T>(value: T, options?: WaitOptions) => wait(done => setImmediate(done), value, options),
  })

  AbortSignal.timeout = ms => {
    const ending = new AbortController()
    setTimeout(() => ending.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
    return ending.signal
  }
  Date.now = () => Math.floor(scheduler.epochMs + scheduler.nowMs)
  performance.now = () => scheduler.nowMs
  performance.eventLoopUtilization = () => ({ idle: 0, active: 0, utilization: 0 })
  Math.random = () => scheduler.random.part()
  const randomBytes = (size: number): Buffer => Buffer.from(scheduler.random.fill(new Uint8Array(size)))
  Object.assign(modules('node:crypto'), {
    randomBytes,
    randomFillSync: (octets: Uint8Array) => {
      scheduler.fills++
      return scheduler.random.fill(octets)
    },
    randomUUID: () => {
      const hex = randomBytes(16).toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
    },
  })
  syncBuiltinESMExports()
}
