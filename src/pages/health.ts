/**
 * Is the service alive, can it answer? For operators, without credentials or internals, at any
 * load.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Mount } from '../front/entry.ts'
import type { LoadGauge } from '../front/gate.ts'
import { createPages, type PageContext } from '../front/page.ts'
import type { Response } from '../http/message.ts'
import { type Store, Unavailable } from '../service/store.ts'

export interface HealthContext {
  readonly store: Pick<Store, 'ready' | 'findDropped'>
  readonly load: Pick<LoadGauge, 'inFlight' | 'inFlightMax' | 'isDraining'>
}

/** `unknown`: it could not be asked. */
type Check = 'ok' | 'failed' | 'unknown'

export function createHealthPages(context: PageContext, health: HealthContext): Mount {
  const live = (): Maybe<Response> => writeHealth(200, 'live')
  const ready = () => checkReadiness(health)
  const pages = { '/health/live': { GET: live }, '/health/ready': { GET: ready } }
  return createPages(context, pages, { name: 'operations', exempt: 'all' })
}

function writeHealth(status: number, state: string, checks?: Readonly<Record<string, Check>>): Response {
  return {
    status,
    fields: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...(status === 503 && { 'retry-after': '1' }),
    },
    content: JSON.stringify({ status: state, ...(checks && { checks }) }),
  }
}

/** Whether a load balancer should send requests here, and why not. */
async function checkReadiness({ store, load }: HealthContext): Promise<Response> {
  const dropped = await askDropped({ store })
  const isReached = dropped !== undefined
  const draining = load.isDraining
  const full = load.inFlight > load.inFlightMax
  const isWhole = dropped?.length === 0
  const checks = {
    store: checkOf(isReached),
    shape: isReached ? checkOf(isWhole) : 'unknown',
    load: checkOf(!full),
    draining: checkOf(!draining),
  }
  if (draining) return writeHealth(503, 'draining', checks)
  if (!isReached) return writeHealth(503, 'store out of reach', checks)
  if (!isWhole) return writeHealth(503, 'store without fields that this release declares', checks)
  return full ? writeHealth(503, 'overloaded', checks) : writeHealth(200, 'ready', checks)
}
/** Undefined where the store is out of reach. */
async function askDropped({ store }: Pick<HealthContext, 'store'>): Promise<readonly string[] | undefined> {
  if (!(await store.ready())) return undefined
  try {
    return (await store.findDropped?.()) ?? []
  } catch (thrown) {
    if (thrown instanceof Unavailable) return undefined
    throw thrown
  }
}
const checkOf = (isGood: boolean): Check => (isGood ? 'ok' : 'failed')
