/**
 * A list is refused while the turn of the event loop is another's: the refusal is its response. A
 * promise that is rejected while nothing awaits it ends the process.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Turns } from '../../src/service/turns.ts'
import { json, startOrders } from './orders-over-rest.ts'

/** Each step of long work uses up its turn. */
function createSlowTurns(): Turns {
  let nowMs = 0
  const clock = (): number => (nowMs += 20)
  const callers = { requests: 0, hasOthers: () => false }
  return new Turns({ clock, activeMs: clock, later: setImmediate, sleep: work => void setImmediate(work), callers })
}

test('A7.6 A7.10 a list that is refused after its turn gets its response, and ends nothing else', async () => {
  const shop = await startOrders()
  Object.assign(shop.serving, { turns: createSlowTurns() })
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  try {
    const hidden = await shop.as.alice('GET', '/api/v2/customers/c-2/orders')
    const malformed = await shop.as.alice('QUERY', '/api/v2/orders', json, '{')
    const found = await shop.as.alice('QUERY', '/api/v2/orders', json, '{"q":"tea"}')
    assert.deepEqual([hidden.status, malformed.status, found.status], [404, 400, 200])
    assert.deepEqual(unhandled, [])
  } finally {
    process.off('unhandledRejection', note)
  }
})
