/** Pages for whoever runs the service: is it alive, can it answer. No credentials, nothing of the inside. */
import type { Request, Response } from '../http/message.ts'
import type { Store } from '../service/store.ts'

const says = (status: number, state: string): Response => ({
  status,
  fields: {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(status === 503 && { 'retry-after': '1' }),
  },
  content: JSON.stringify({ status: state }),
})
const notAllowed: Response = { status: 405, fields: { allow: 'GET, HEAD', 'cache-control': 'no-store' } }

export function operationsPages(store: Store, draining: () => boolean) {
  return (request: Request): Response | Promise<Response> | undefined => {
    if (!request.target.startsWith('/health/')) return undefined
    const reads = request.method === 'GET' || request.method === 'HEAD'
    if (request.target === '/health/live') return reads ? says(200, 'live') : notAllowed
    if (request.target !== '/health/ready') return undefined
    return reads ? ready(store, draining()) : notAllowed
  }
}

async function ready(store: Store, draining: boolean): Promise<Response> {
  if (draining) return says(503, 'draining')
  return (await store.ready()) ? says(200, 'ready') : says(503, 'store out of reach')
}
