/** The orders service on an in-memory database, seeded, with a manual clock. */

import app from '../../examples/orders/service.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { type StartedService, startService } from './service-of.ts'

export const alice: Caller = { subject: 'alice', roles: ['customer'], claims: { customer: 'c-1' } }
export const clara: Caller = { subject: 'clara', roles: ['clerk'], claims: {} }
export const maria: Caller = { subject: 'maria', roles: ['manager'], claims: {} }

export const startOrdersService = (): Promise<StartedService> => startService(app)

/** Content as a face gives it. */
export const input = (
  value: Record<string, unknown>,
  server: Call extends never ? never : { path: (string | number)[]; value: unknown }[] = [],
) => ({
  input: () => ({ value, server }),
})
