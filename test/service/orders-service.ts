/** The orders service on an in-memory database, seeded, with a manual clock. */

import app from '../../examples/orders/service.ts'
import { listOperations, type Operation } from '../../src/contract/operation.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call, Calls } from '../../src/service/call.ts'
import { createServiceCalls } from '../../src/service/calls.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { Outcome } from '../../src/service/outcome.ts'
import { type Refusal, Refused } from '../../src/service/refusal.ts'
import type { Store } from '../../src/service/store.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'

export const alice: Caller = { subject: 'alice', roles: ['customer'], claims: { customer: 'c-1' } }
export const clara: Caller = { subject: 'clara', roles: ['clerk'], claims: {} }
export const maria: Caller = { subject: 'maria', roles: ['manager'], claims: {} }

export interface OrdersService {
  readonly store: Store
  readonly calls: Calls
  readonly clock: { now: number }
  /** The outcome, or the refusal. */
  ask(caller: Caller, name: string, more?: Partial<Call>): Promise<Outcome | Refusal>
}

export async function startOrdersService(): Promise<OrdersService> {
  const store = await openSqliteStore(app.contract, ':memory:')
  const clock = { now: Date.UTC(2026, 10, 21, 12) }
  let count = 0
  const calls = createServiceCalls(app, {
    store,
    limiter: createMemoryLimiter(),
    clock: () => clock.now,
    id: prefix => `${prefix}-new${++count}`,
  })
  const { items = {} } = app.seed()
  await store.write(async writer => {
    for (const { name } of app.contract.resources)
      for (const value of items[name] ?? [])
        await writer.put(name, String(value['id']), value, {}, undefined, clock.now)
  })
  const byName = new Map<string, Operation>(listOperations(app.contract).map(each => [each.name, each]))
  return {
    store,
    calls,
    clock,
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
/** Content as a face gives it. */
export const input = (
  value: Record<string, unknown>,
  server: Call extends never ? never : { path: (string | number)[]; value: unknown }[] = [],
) => ({
  input: () => ({ value, server }),
})
