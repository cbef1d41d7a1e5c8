/** B2.6 RPC/literal: elements without a namespace (WSDL 1.1 §3.5). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find, ns, startConversation } from './orders-over-soap.ts'

test('WSDL 1.1 §3.5 no element inside of an RPC/literal call or its answer has a namespace, whatever its depth', async () => {
  const shop = await startConversation({ style: 'rpc' })
  const order = `<order><customer>c-1</customer><lines><line><product>p-1</product><quantity>2</quantity></line></lines><currency>EUR</currency></order>`
  const made = await shop.post({ body: `<m:CreateOrder xmlns:m="${ns}">${order}</m:CreateOrder>` })
  assert.equal(made.status, 200, made.text)
  const line = find(made.body, 'order', 'lines', 'line', 'quantity')
  assert.deepEqual([line?.text, line?.name.uri, line?.parent?.name.uri], ['2', '', ''])
  assert.equal(made.body?.name.uri, ns)
  const qualified = await shop.post({
    body: `<m:CreateOrder xmlns:m="${ns}">${order.replace(/<(\/?)(product)>/g, '<$1m:$2>')}</m:CreateOrder>`,
  })
  assert.equal(qualified.fault?.code, 'Client')
})
