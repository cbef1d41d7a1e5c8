/** Pages for whoever runs the service: is it alive, can it answer, what does it do. No credentials, nothing of the inside. */

import type { Maybe } from '../base/maybe.ts'
import type { Request, Response } from '../http/message.ts'
import type { Store } from '../service/store.ts'

export interface HealthContext {
  readonly store: Store
  readonly draining: () => boolean
  /** More is under way than can be answered in time. */
  readonly full: () => boolean
  /** The media type of the figures, and their text. */
  readonly figuresType: string
  readonly figures: () => Promise<string>
}

type Check = 'ok' | 'failed'
const says = (status: number, state: string, checks?: Readonly<Record<string, Check>>): Response => ({
  status,
  fields: {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(status === 503 && { 'retry-after': '1' }),
  },
  content: JSON.stringify({ status: state, ...(checks && { checks }) }),
})
const notAllowed: Response = { status: 405, fields: { allow: 'GET, HEAD', 'cache-control': 'no-store' } }

export function createHealthPages(operated: HealthContext): (request: Request) => Maybe<Response> | undefined {
  const pages: Readonly<Record<string, () => Maybe<Response>>> = {
    '/health/live': () => says(200, 'live'),
    '/health/ready': () => ready(operated),
    '/metrics': async () => ({
      status: 200,
      fields: { 'content-type': operated.figuresType, 'cache-control': 'no-store' },
      content: await operated.figures(),
    }),
  }
  return ({ target, method }) => {
    const page = Object.hasOwn(pages, target) ? pages[target] : undefined
    if (!page) return undefined
    return method === 'GET' || method === 'HEAD' ? page() : notAllowed
  }
}

/** Whether a load balancer should send requests here, and if not, why. */
async function ready({ store, draining, full }: HealthContext): Promise<Response> {
  const reached = await store.ready()
  const checks = { store: of(reached), load: of(!full()), draining: of(!draining()) }
  if (draining()) return says(503, 'draining', checks)
  if (!reached) return says(503, 'store out of reach', checks)
  return full() ? says(503, 'overloaded', checks) : says(200, 'ready', checks)
}
const of = (good: boolean): Check => (good ? 'ok' : 'failed')
