/** Rows 22 to 24 before the content is read: the same refusal as from the call itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { listOperations } from '../../src/contract/operation.ts'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { type Refusal, Refused } from '../../src/service/refusal.ts'
import { alice, clara, maria, startOrdersService } from './orders-service.ts'

const { store, calls, ask } = await startOrdersService()
await ask(maria, 'DeleteProduct', { id: 'p-20', expects: () => 'proceed' })
await ask(maria, 'DeleteOrder', { id: 'o-5', expects: () => 'proceed' })

async function precheck(caller: Caller, name: string, more: Partial<Call>): Promise<string> {
  const operation = listOperations(app.contract).find(each => each.name === name) ?? assert.fail(name)
  const admitted = await calls.admit(operation, caller, '127.0.0.1', 'rest')
  try {
    await calls.precheck({ admitted, face: 'rest', request: 'r', ...more })
    return 'passes'
  } catch (thrown) {
    if (thrown instanceof Refused) return (thrown.refusal as Refusal).kind
    throw thrown
  }
}
const holds: Partial<Call> = { expects: () => 'proceed' }
const fails: Partial<Call> = { expects: () => 'failed' }
const same: Partial<Call> = { expects: () => 'unchanged' }
/** `If-None-Match: *`: holds if nothing is there. */
const absent: Partial<Call> = { expects: current => (current ? 'failed' : 'proceed') }

test('the items that the rows speak of', async () => {
  const found = await store.read(reader => Promise.all(['p-1', 'p-20'].map(id => reader.get('products', id))))
  assert.deepEqual(
    found.map(each => each && 'value' in each),
    [true, false],
  )
})

const rows: readonly (readonly [what: string, Caller, operation: string, more: Partial<Call>, told: string])[] = [
  ['a creation has no item', clara, 'CreateOrder', {}, 'passes'],
  ['a collection has none', clara, 'ListOrders', fails, 'passes'],
  ['a stored search is no item', clara, 'GetSearch', { id: 's-none' }, 'passes'],
  ['a job is no item', clara, 'GetReportJob', { id: 'j-none' }, 'passes'],
  ['row 22: an item that is not there', maria, 'ReplaceOrder', { id: 'o-none', ...holds }, 'not-found'],
  ['row 22: one that the caller may not see', alice, 'CancelOrder', { id: 'o-2' }, 'not-found'],
  ['row 22: one that is gone', maria, 'ReplaceOrder', { id: 'o-5', ...holds }, 'gone'],
  ['row 23: a precondition that fails', maria, 'ReplaceOrder', { id: 'o-1', ...fails }, 'stale'],
  ['row 23: one that would be 304 for a read', maria, 'ReplaceOrder', { id: 'o-1', ...same }, 'stale'],
  ['row 23: one that holds', maria, 'ReplaceOrder', { id: 'o-1', ...holds }, 'passes'],
  ['row 24: a replacement without one', maria, 'ReplaceOrder', { id: 'o-1' }, 'precondition-required'],
  ['row 24: a patch without one', maria, 'PatchOrder', { id: 'o-1' }, 'precondition-required'],
  ['row 24: an action needs none', maria, 'CancelOrder', { id: 'o-1' }, 'passes'],
  ['row 24: nor does a message', maria, 'ReplaceOrder', { id: 'o-1', face: 'soap' }, 'passes'],
  ['a PUT that creates', maria, 'ReplaceProduct', { id: 'p-none', ...absent }, 'passes'],
  ['a PUT that creates again', maria, 'ReplaceProduct', { id: 'p-20', ...absent }, 'passes'],
  ['a PUT that would create, where nothing is', maria, 'ReplaceProduct', { id: 'p-none', ...fails }, 'stale'],
  ['a PUT that must not replace', maria, 'ReplaceProduct', { id: 'p-1', ...absent }, 'stale'],
  ['a PUT that may create and replaces', maria, 'ReplaceProduct', { id: 'p-1' }, 'precondition-required'],
  ['a patch creates nothing', maria, 'PatchProduct', { id: 'p-none', ...absent }, 'not-found'],
  ['a file of an item that is there', maria, 'PutProductPicture', { id: 'p-1' }, 'passes'],
  // Its tag is the file's, which the item's version does not give.
  ['a file has a precondition of its own', maria, 'PutProductPicture', { id: 'p-1', ...fails }, 'passes'],
  ['a file of an item that is not there', maria, 'PutProductPicture', { id: 'p-none' }, 'not-found'],
]
for (const [what, caller, operation, more, told] of rows)
  test(`${what}: ${told}`, async () => assert.equal(await precheck(caller, operation, more), told))
