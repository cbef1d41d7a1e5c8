/**
 * A commit without a reply: the change was made, and nobody here knows. A caller who could make it
 * twice by retrying is told to look first; any other is told to retry. Each 503 has its
 * Retry-After, which says when the service may answer (RFC 9110 §10.2.3, rule A4.22).
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Doubt } from '../../src/service/refusal.ts'
import { type Store, Unavailable } from '../../src/service/store.ts'
import { json, order, startOrders } from '../rest/orders-over-rest.ts'
import { ns, startConversation } from '../soap/orders-over-soap.ts'

/** It does all that is asked of it, but its commits get no reply. */
function loseReplies(store: Store, doubt: Doubt = 'commit'): void {
  const write = store.write.bind(store)
  const doubtful: Store['write'] = async (work, turn) => {
    await write(work, turn)
    throw new Unavailable(1, 'the connection was lost', doubt)
  }
  Object.assign(store, { write: doubtful })
}

const merge = { 'content-type': 'application/merge-patch+json' }
const key = { 'idempotency-key': '"k-1"' }
const payment = { method: 'card', amount: '4.95' }
const requests = [
  // in doubt, caller, method, target, fields, content
  [true, 'alice', 'POST', '/orders', json, order],
  [false, 'alice', 'POST', '/orders', { ...json, ...key }, order],
  [true, 'alice', 'POST', '/orders/o-1/payment', json, payment],
  [false, 'alice', 'POST', '/orders/o-1/payment', { ...json, ...key }, payment],
  [false, 'alice', 'POST', '/orders/o-1/payment', { ...json, 'if-match': '*' }, payment],
  [false, 'maria', 'PATCH', '/products/p-1', { ...merge, 'if-match': '*' }, { stock: 7 }],
  [false, 'maria', 'DELETE', '/orders?state=cancelled', {}, undefined],
  [true, 'alice', 'POST', '/reports', json, { from: '2026-01-01', to: '2026-01-31', kind: 'sales' }],
] as const

describe('A7.16 a change whose commit has no reply', () => {
  for (const [isInDoubt, caller, method, target, fields, content] of requests)
    it(`${method} ${target} with ${Object.keys(fields).join(', ')}: ${isInDoubt ? 'in doubt' : 'come again'}`, async () => {
      const shop = await startOrders()
      loseReplies(shop.store)
      const answer = await shop.as[caller](method, `/api/v2${target}`, fields, content)
      assert.equal(answer.status, 503, answer.text)
      assert.equal(answer.fields['retry-after'], '1')
      assert.match(
        answer.json['detail'],
        isInDoubt ? /cannot tell whether the change was made/ : /^The service cannot answer now/,
      )
    })

  it('a key does not help if it was lost with the record of the change', async () => {
    const shop = await startOrders()
    loseReplies(shop.store, 'record')
    const answer = await shop.as.alice('POST', '/api/v2/orders', { ...json, ...key }, order)
    assert.deepEqual([answer.status, answer.fields['retry-after']], [503, '1'])
    assert.match(answer.json['detail'], /cannot tell whether the change was made. Check before you try again.$/)
  })

  const id = '<a:MessageID xmlns:a="http://www.w3.org/2005/08/addressing">urn:m:1</a:MessageID>'
  const action = `<a:Action xmlns:a="http://www.w3.org/2005/08/addressing">${ns}/PayOrder</a:Action>`
  for (const isInDoubt of [true, false])
    it(`PayOrder ${isInDoubt ? 'without a MessageID: in doubt' : 'with a MessageID: come again'}`, async () => {
      const { store, post } = await startConversation()
      loseReplies(store)
      const body = `<PayOrder xmlns="${ns}"><id>o-1</id><method>card</method><amount>4.95</amount></PayOrder>`
      const answer = await post({ version: '1.2', body, ...(!isInDoubt && { header: id + action }) })
      assert.deepEqual([answer.status, answer.fault?.code], [503, 'Receiver'])
      assert.equal(answer.fields['retry-after'], '1')
      assert.deepEqual(answer.fault?.subcodes, isInDoubt ? [] : ['Busy'])
      assert.match(answer.fault?.reason ?? '', isInDoubt ? /cannot tell whether the change was made/ : /busy/)
    })
})
