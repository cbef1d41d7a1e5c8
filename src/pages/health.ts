/**
 * Whether the service is alive, and whether it can respond. For operators, without credentials or
 * internals, at any load.
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
  /**
   * Called when the status differs from that of the previous response; the first is compared with
   * ready.
   */
  readonly changed?: (status: string) => void
}

/** `unknown`: it could not be checked. */
type Check = 'ok' | 'failed' | 'unknown'

export function createHealthPages(context: PageContext, health: HealthContext): Mount {
  const live = (): Maybe<Response> => writeHealth(200, 'live')
  let last = 'ready'
  const ready = async (): Promise<Response> => {
    const { status, checks } = await checkReadiness(health)
    if (status !== last) health.changed?.(status)
    last = status
    return writeHealth(status === 'ready' ? 200 : 503, status, checks)
  }
  const pages = { '/health/live': { GET: live }, '/health/ready': { GET: ready } }
  return createPages(context, pages, { name: 'operations', exempt: 'all' })
}

interface Readiness {
  readonly status: string
  readonly checks: Readonly<Record<string, Check>>
}

function writeHealth(status: number, state: string, checks?: Readiness['checks']): Response {
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
async function checkReadiness({ store, load }: HealthContext): Promise<Readiness> {
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
  if (draining) return { status: 'draining', checks }
  if (!isReached) return { status: 'store out of reach', checks }
  if (!isWhole) return { status: 'store without fields that this release declares', checks }
  return { status: full ? 'overloaded' : 'ready', checks }
}
/** Undefined if the store is out of reach. */
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
