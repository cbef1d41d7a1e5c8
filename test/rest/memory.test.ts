/**
 * `rest/memory.ts`: what a connection that repeats its fields is spared, and what is always
 * checked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { openGate } from '../../src/front/gate.ts'
import { refuseAtFront } from '../../src/front/refusal.ts'
import { restLimits } from '../../src/rest/limits.ts'
import { RestMemory } from '../../src/rest/memory.ts'
import type { HeadRow } from '../../src/rest/plan.ts'
import { readAnswer, request, startOrders } from './orders-over-rest.ts'

test('a decision that looks at the clock cannot be one that is remembered', () => {
  const row = { number: 11, of: 'head', question: '', no: [], source: '' } as const
  // @ts-expect-error a row of the head has no clock
  const wrong: HeadRow = { ...row, ask: (_, api) => (api.context.clock() > 0 ? undefined : undefined) }
  // @ts-expect-error nor the moment at which the request came
  const late: HeadRow = { ...row, ask: head => (head.entry.now > 0 ? undefined : undefined) }
  // @ts-expect-error nor the caller
  const known: HeadRow = { ...row, ask: head => (head.caller ? undefined : undefined) }
  assert.ok(wrong && late && known)
})

test('row 11: a version past its sunset is refused on a connection that was answered before (A9.1, RFC 8594)', async () => {
  const sunset = '2026-12-01T00:00:00Z'
  const shop = await startOrders({
    app: { ...app, contract: { ...app.contract, versions: { v1: { sunset }, v2: {} } } },
  })
  const asked = request('GET', '/api/v1/products/p-1')
  assert.equal((await readAnswer(await shop.face(asked))).status, 200)
  assert.equal((await readAnswer(await shop.face(asked))).status, 200)
  shop.clock.now = Date.parse(sunset)
  assert.equal((await readAnswer(await shop.face(asked))).status, 410)
})

test('row 5: a flood is refused on a connection that was answered before', async () => {
  let isFlooded = false
  const requireUnflooded = (): void => {
    if (isFlooded) refuseAtFront({ kind: 'too-many', after: 1, limit: 1000, window: 1 })
  }
  const shop = await startOrders({ options: { gate: { ...openGate(), requireUnflooded } } })
  const asked = request('GET', '/api/v1/products/p-1')
  assert.equal((await shop.face(asked)).status, 200)
  isFlooded = true
  assert.equal((await shop.face(asked)).status, 429)
})

test('one head serves every identifier, and no other route, method or fields', async () => {
  const shop = await startOrders()
  const first = request('GET', '/api/v1/products/p-1', { accept: 'application/xml' })
  const again = { ...first, target: '/api/v1/products/p-2' }
  const other = { ...first, target: '/api/v1/products' }
  for (const asked of [first, again, other, first, { ...first, method: 'HEAD' }]) {
    const answer = await readAnswer(await shop.face(asked))
    assert.deepEqual([answer.status, answer.fields['content-type']], [200, 'application/xml;charset=utf-8'])
  }
  const json = await readAnswer(await shop.face(request('GET', '/api/v1/products/p-1', { accept: 'application/json' })))
  assert.equal(json.fields['content-type'], 'application/json')
})

test('what is bounded by number drops its oldest, and a variant keeps its tag whether it is remembered or not', () => {
  const memory = new RestMemory()
  const tag = memory.variantTag('first')
  for (let i = 0; i < restLimits.variantsKept; i++) memory.variantTag(`variant ${i}`)
  assert.equal(memory.variantTag('first'), tag)
  const octets = new Uint8Array(restLimits.codedOctetsKept / 16)
  for (let i = 0; i < 20; i++) memory.keepCoded(`key ${i}`, octets)
  assert.deepEqual([memory.findCoded('key 0'), memory.findCoded('key 19')], [undefined, octets])
  memory.keepCoded('too large', new Uint8Array(octets.length + 1))
  assert.equal(memory.findCoded('too large'), undefined)
})
