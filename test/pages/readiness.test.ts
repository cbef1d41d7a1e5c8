/** /health/ready: which check keeps requests away, and none that could not be asked. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Entry } from '../../src/front/entry.ts'
import type { PageContext } from '../../src/front/page.ts'
import { createHealthPages, type HealthContext } from '../../src/pages/health.ts'
import { Unavailable } from '../../src/service/store.ts'

const load = { inFlight: 1, inFlightMax: 10, isDraining: false }
const createPages = (health: HealthContext) =>
  createHealthPages({ settings: { origins: [] } } as unknown as PageContext, health) // all that it reads
async function askReady(store: HealthContext['store'], { serve } = createPages({ store, load })) {
  const request = { method: 'GET', target: '/health/ready', fields: {} }
  const { status, content } = await serve({ segments: ['health', 'ready'], request } as unknown as Entry)
  return { ready: status, ...JSON.parse(String(content)) }
}
const rows: readonly (readonly [string, HealthContext['store'], number, string, string, string])[] = [
  ['a whole store', { ready: async () => true }, 200, 'ready', 'ok', 'ok'],
  ['a store that does not write', { ready: async () => false }, 503, 'store out of reach', 'failed', 'unknown'],
  [
    'a store that is lost during the check',
    { ready: async () => true, findDropped: () => Promise.reject(new Unavailable(1, 'gone')) },
    503,
    'store out of reach',
    'failed',
    'unknown',
  ],
  [
    'a field that was dropped',
    { ready: async () => true, findDropped: async () => ['orders.note'] },
    503,
    'store without fields that this release declares',
    'ok',
    'failed',
  ],
]
for (const [what, kept, ready, status, store, shape] of rows)
  test(`/health/ready: ${what}`, async () => {
    assert.deepEqual(await askReady(kept), { ready, status, checks: { store, shape, load: 'ok', draining: 'ok' } })
  })

test('a change of status is logged once', async () => {
  const told: string[] = []
  let isReady = true
  const store = { ready: async () => isReady }
  const pages = createPages({ store, load, changed: status => void told.push(status) })
  for (const next of [true, false, false, true, true, false]) {
    isReady = next
    await askReady(store, pages)
  }
  assert.deepEqual(told, ['store out of reach', 'ready', 'store out of reach'])
})
