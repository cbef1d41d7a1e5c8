/** Any service on an in-memory database, with a clock, its calls and its jobs. */
import type { Implementation, Values } from '../../src/contract/implement.ts'
import { listOperations } from '../../src/contract/operation.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call, Calls } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { type JobContext, runNextJob } from '../../src/service/job.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { Outcome } from '../../src/service/outcome.ts'
import { type Refusal, Refused } from '../../src/service/refusal.ts'
import type { Store } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

export interface StartedService {
  readonly store: Store
  readonly calls: Calls
  readonly clock: { now: number }
  /** What jobs have thrown. */
  readonly thrown: readonly unknown[]
  /** The outcome, or the refusal. */
  ask(caller: Caller, name: string, more?: Partial<Call>): Promise<Outcome | Refusal>
  put(resource: string, values: readonly Values[]): Promise<void>
  runJob(): Promise<boolean>
}

export async function startService(app: Implementation): Promise<StartedService> {
  const store = await openSqliteStore(app.contract, ':memory:')
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  let count = 0
  const thrown: unknown[] = []
  const world = { store, clock: () => clock.now, id: (prefix: string) => `${prefix}-new${++count}` }
  const calls = createServiceCalls(app, { ...world, limiter: createMemoryLimiter() })
  const jobs: JobContext = { app, ...world, failed: (_, why) => void thrown.push(why) }
  const byName = new Map(listOperations(app.contract).map(each => [each.name, each]))
  const put: StartedService['put'] = (resource, values) =>
    store.write(async writer => {
      for (const value of values) await writer.put(resource, String(value['id']), value, {}, undefined, world.clock())
    })
  for (const [resource, values] of Object.entries(app.seed().items ?? {})) await put(resource, values)
  return {
    store,
    calls,
    clock,
    thrown,
    put,
    runJob: () => runNextJob(jobs, new AbortController().signal),
    ask: async (caller, name, more = {}) => {
      const operation = byName.get(name)
      if (!operation) throw new Error(`no operation ${name}`)
      try {
        const admitted = await calls.admit(operation, caller, '127.0.0.1', 'rest')
        return await calls.perform({ admitted, face: 'rest', request: 'r', ...more })
      } catch (thrown) {
        if (thrown instanceof Refused) return thrown.refusal as Refusal // the service throws no other
        throw thrown
      }
    },
  }
}
