/** The orders service behind its front door, without a socket, as the checker asks it. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import app from '../../examples/orders/service.ts'
import { type CheckOptions, parseCaller, readProfile } from '../../src/check/index.ts'
import { readLoadedContract } from '../../src/diff/diff-sources.ts'
import { readReleasedPromises } from '../../src/diff/released-promises.ts'
import { describeFaces } from '../../src/docs/change-page.ts'
import { createFront } from '../../src/front/front.ts'
import { createGate, openGate } from '../../src/front/gate.ts'
import { createMounts } from '../../src/host/mounts.ts'
import { Metrics } from '../../src/host/operations/metrics.ts'
import { createMessageSecurity } from '../../src/host/trust/message-security.ts'
import { codings } from '../../src/host/zlib-codings.ts'
import type { Request, Response } from '../../src/http/message.ts'
import { createChangesPage } from '../../src/pages/changes.ts'
import { createMemoryLimiter } from '../../src/service/limiter.ts'
import type { Store } from '../../src/service/store.ts'
import { startOrders } from '../rest/orders-over-rest.ts'

export type Serve = (request: Request) => Promise<Response>

/** What no probe can discover about the orders service. */
const profile = await readProfile(join(import.meta.dirname, '..', '..', 'examples', 'orders', 'check.json'))

/** The release before: what is served now is the same. */
export const earlier = readReleasedPromises(await readLoadedContract(await describeFaces(app), 'the release before'))

export const ordersOptions: CheckOptions = {
  callers: ['alice:alice-secret', 'clara:clara-secret', 'maria:maria-secret'].map(parseCaller),
  profile,
  allowChanges: true,
  rate: 100_000,
}

/** Each start has a store, a clock and limits of its own. */
export const serveOrdersInMemory = async (): Promise<Serve> => (await startInMemory(false)).serve

/** Serves while `journey` runs: a suite of many holds few of them at a time. */
export async function withOrdersInMemory<T>(journey: (serve: Serve) => Promise<T>): Promise<T> {
  const { serve, store } = await startInMemory(true)
  try {
    return await journey(serve)
  } finally {
    await store.close()
  }
}

async function startInMemory(staysOpen: boolean): Promise<{ readonly serve: Serve; readonly store: Store }> {
  const { serving, store, work } = await startOrders({ settings: { trace: false }, staysOpen })
  const { load } = openGate()
  const { identities, clock } = serving
  const mounts = createMounts(serving, {
    openid: undefined,
    people: { ...identities, session: async () => undefined, cookie: () => undefined } as never, // the test has no sessions
    health: { store, load },
    figures: new Metrics(),
    peers: undefined,
    changes: createChangesPage(serving, store, createMemoryLimiter()),
    security: async () => createMessageSecurity({}, { store, identities, clock, logger: { warn: () => {} } }),
    elsewhere: undefined,
  })
  const front = createFront({ ...serving, id: randomUUID }, mounts, { gate: createGate(load, 1_000_000), codings })
  const serve = async (request: Request): Promise<Response> => {
    const response = await front(request)
    // A run that ends before its job closes the store under it.
    if (response.status === 202) work().catch(() => {})
    return response
  }
  return { serve, store }
}
