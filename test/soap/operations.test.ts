/**
 * A journey through every SOAP operation of orders.md, at each endpoint, in both versions (rules
 * B2.6–B2.8, B4.4, B7.4, B9.3).
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import app from '../../examples/orders/service.ts'
import { runNextJob } from '../../src/service/job.ts'
import type { Endpoint } from '../../src/soap/face.ts'
import { createSoapFace } from '../../src/soap/http/binding.ts'
import type { Element } from '../../src/xml/index.ts'
import { likePng } from '../support/png.ts'
import { type Answer, createContext, find, type Message, sendMessage, startConversation } from './orders-over-soap.ts'

type Style = Endpoint['style']
type Tree = string | { readonly [name: string]: Tree | readonly Tree[] }

/** Content in the form of a style: in the namespace of the contract, or in none. */
function writeTree(tree: Tree, style: Style): string {
  if (typeof tree === 'string') return tree
  const prefix = style === 'document' ? 'm:' : ''
  return Object.entries(tree)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map(each => [name, each] as const))
    .map(([name, value]) => `<${prefix}${name}>${writeTree(value, style)}</${prefix}${name}>`)
    .join('')
}

const toCursor = (text: string): string => Buffer.from(text).toString('base64url')
/** Not base64, not UTF-8, not JSON, damaged, nested deeper than the stack, not a position. */
const strangeCursors = [
  '*',
  '_w',
  // names that every object inherits, and an identifier that no database can hold.
  ...['__proto__', 'constructor', 'toString'].map(each =>
    toCursor(JSON.stringify({ sort: [each], keys: ['x'], id: 'o-1' })),
  ),
  toCursor(JSON.stringify({ sort: [], keys: [1], id: 'o-\u0000' })),
  ...['none', '[', '{"$n":"x"}', '{"$b":"*"}', `${'['.repeat(50_000)}${']'.repeat(50_000)}`, '{}'].map(toCursor),
]

for (const style of ['document', 'rpc', 'encoded'] as const)
  for (const version of ['1.1', '1.2'] as const)
    test(`every operation in ${style} style, SOAP ${version}`, async () => {
      const ns = 'urn:diglot:orders:v1'
      const shop = await startConversation({ style })
      const ask = (name: string, tree: Tree, who = 'maria', more: Message = {}): Promise<Answer> =>
        shop.post({
          version,
          body: `<m:${name} xmlns:m="${ns}">${writeTree(tree, style)}</m:${name}>`,
          ...more,
          fields: { authorization: `Bearer ${who}`, ...more.fields },
        })
      const good = async (name: string, tree: Tree, who?: string): Promise<Element> => {
        const answer = await ask(name, tree, who)
        assert.equal(answer.status, 200, `${name}: ${answer.text}`)
        assert.deepEqual([answer.body?.name.uri, answer.body?.name.local], [ns, `${name}Response`], 'B2.6')
        return answer.body!
      }
      const bad = async (name: string, tree: Tree, fault: string, who?: string) => {
        const answer = await ask(name, tree, who)
        assert.equal(answer.status, 500, `${name}: ${answer.text}`)
        const detail = find(answer.fault?.detail, fault)
        assert.equal(detail?.name.uri, ns, `${name}: ${answer.text}`)
        return detail!
      }
      const text = (at: Element, ...path: string[]) => find(at, ...path)?.text

      const lines = {
        line: [
          { product: 'p-1', quantity: '2' },
          { product: 'p-2', quantity: '1' },
        ],
      }
      const order = { customer: 'c-1', lines, currency: 'EUR' }
      const made = await good('CreateOrder', { order })
      const id = text(made, 'order', 'id') ?? ''
      assert.equal(text(made, 'order', 'state'), 'placed')
      const created = text(made, 'order', 'version') ?? ''
      assert.match(created, /^\d{1,16}$/)
      const versionOfProduct = async () => Number(text(await good('GetProduct', { id: 'p-1' }), 'product', 'version'))
      const stocked = await versionOfProduct()
      assert.equal(find(made, 'order', 'lines')?.elements().length, 2)
      const mine = await good('CreateOrder', { order: { lines, currency: 'EUR' } }, 'alice')
      assert.equal(text(mine, 'order', 'customer'), 'c-1', 'a customer orders for himself')
      await bad('CreateOrder', { order: { ...order, customer: 'c-2' } }, 'Forbidden', 'alice')
      await bad('CreateOrder', { order: { ...order, customer: 'c-nope' } }, 'Invalid')
      assert.equal(text(await good('GetOrder', { id }), 'order', 'id'), id)
      await bad('GetOrder', { id: 'o-nope' }, 'NotFound')
      await bad('GetOrder', { id: 'o-2' }, 'NotFound', 'alice')

      const replaced = await good('ReplaceOrder', { id, version: created, order: { ...order, currency: 'USD' } })
      const current = text(replaced, 'order', 'version')
      assert.equal(text(replaced, 'order', 'currency'), 'USD')
      assert.ok(Number(current) > Number(created), 'the larger version is the later one')
      const stale = await bad('ReplaceOrder', { id, version: created, order }, 'VersionConflict')
      assert.equal(text(stale, 'version'), current)
      await good('ReplaceOrder', { id, order })

      await bad('PayOrder', { id, method: 'card', amount: '0.01' }, 'PaymentDeclined')
      const amount = text(await good('GetOrder', { id }), 'order', 'total') ?? ''
      const paid = await good('PayOrder', { id, method: 'card', amount })
      assert.equal(text(paid, 'payment', 'amount'), amount)
      const conflict = await bad('PayOrder', { id, method: 'card', amount }, 'StateConflict')
      assert.deepEqual(
        [
          text(conflict, 'state'),
          find(conflict, 'possible')
            ?.elements()
            .map(each => each.text),
        ],
        ['paid', ['cancel', 'ship']],
      )
      await bad('TrackOrder', { id }, 'NotFound')
      assert.equal(text(await good('ShipOrder', { id, carrier: 'ups' }), 'order', 'carrier'), 'ups')
      assert.equal(text(await good('TrackOrder', { id }), 'tracking', 'position'), 'on its way')
      assert.equal((await ask('NotifyDelivery', { id })).status, 202)
      assert.equal(text(await good('GetOrder', { id }), 'order', 'state'), 'delivered')
      await bad('DeliverOrder', { id }, 'StateConflict')
      const large = await good('CreateOrder', {
        order: { ...order, lines: { line: [{ product: 'p-1', quantity: '1000000' }] } },
      })
      const big = text(large, 'order', 'id') ?? ''
      await good('PayOrder', { id: big, method: 'card', amount: text(large, 'order', 'total') ?? '' })
      assert.equal(text(await bad('ShipOrder', { id: big, carrier: 'dhl' }, 'OutOfStock'), 'product'), 'p-1')
      await good('CancelOrder', { id: big, reason: 'too large' })
      assert.equal((await good('DeleteOrder', { id: big })).elements().length, 0)
      await bad('DeleteOrder', { id: big }, 'NotFound')

      const first = await good('ListOrders', { size: '3', sort: 'total', customer: 'c-1' })
      const ids = (page: Element) =>
        find(page, 'orders')
          ?.elements()
          .map(each => text(each, 'id')) ?? []
      assert.equal(ids(first).length, 3)
      const next = text(first, 'next') ?? ''
      const second = await good('ListOrders', { size: '3', cursor: next, customer: 'c-1' })
      const numbered = await good('ListOrders', { page: '2', size: '3', sort: 'total', customer: 'c-1' })
      assert.deepEqual(ids(second), ids(numbered), 'a cursor and a page number lead to the same')
      for (const cursor of strangeCursors) await bad('ListOrders', { cursor }, 'Invalid')
      await bad('ListOrders', { sort: 'lines' }, 'Invalid')
      await bad('ListOrders', { sort: Array(3000).fill('total').join() }, 'Invalid')
      await bad('ListOrders', { size: '101' }, 'Invalid')
      await bad('SearchOrders', { q: Array.from({ length: 501 }, (_, i) => `w${i}`).join(' ') }, 'Invalid')
      assert.ok(find(await good('SearchOrders', { q: 'anna' }), 'orders'))

      assert.equal(text(await good('GetCustomer', { id: 'c-2' }), 'customer', 'id'), 'c-2')
      assert.ok(Number(text(await good('ListCustomers', {}), 'total')) >= 3)
      assert.equal(text(await good('MergeCustomer', { id: 'c-3', into: 'c-2' }), 'customer', 'id'), 'c-2')
      const moved = await bad('GetCustomer', { id: 'c-3' }, 'NotFound')
      assert.deepEqual([text(moved, 'movedTo'), text(moved, 'within')], ['c-2', undefined], 'A7.5, B7.4')
      assert.ok((await versionOfProduct()) > stocked, 'its stock was changed by the shipment')
      assert.equal(find(await good('ListProducts', { size: '100' }), 'products')?.elements().length, 20)
      const product = await good('CreateProduct', {
        product: { name: '<&> ]]&gt;'.replace('<&>', '&lt;&amp;&gt;'), price: '1.5', stock: '1' },
      })
      assert.deepEqual([text(product, 'product', 'name'), text(product, 'product', 'price')], ['<&> ]]>', '1.50'])
      const picture = Buffer.from(likePng(Buffer.from('not a picture'))).toString('base64')
      const put = await good('PutProductPicture', { id: 'p-1', picture, mediaType: 'image/png' })
      assert.ok(text(put, 'version'))
      assert.equal(text(await good('GetProductPicture', { id: 'p-1' }), 'picture'), picture)
      await bad('GetProductPicture', { id: 'p-2' }, 'NotFound')

      const started = await good('StartReport', { from: '2026-01-01', to: '2026-02-01', kind: 'sales' })
      const job = text(started, 'job', 'id') ?? ''
      assert.equal(text(await good('GetReportJob', { id: job }), 'job', 'state'), 'queued')
      const working = {
        app,
        store: shop.store,
        clock: () => shop.clock.now,
        id: (prefix: string) => `${prefix}-1`,
        failed: () => {},
      }
      while (await runNextJob(working, new AbortController().signal));
      const done = await good('GetReportJob', { id: job })
      assert.deepEqual([text(done, 'job', 'state'), text(done, 'report', 'kind')], ['completed', 'sales'])
      if (style !== 'document') {
        const empty = await good('ListOrders', { cursor: '', sort: '', size: '1' })
        assert.equal(ids(empty).length, 1, 'a parameter that is an empty text says nothing (WS-I R2211)')
      }
      assert.deepEqual(shop.incidents, [])
    })

test('B9.3 v1 and v2 side by side: only v2 has the note, and a change through v1 keeps it', async () => {
  const { serving, ...rest } = await createContext()
  const at = (version: string) => {
    const endpoint = { version, path: `/soap/${version}`, style: 'document', secure: false, versions: 'both' } as const
    return sendMessage(createSoapFace(serving, endpoint), endpoint.path)
  }
  const [one, two] = [at('v1'), at('v2')]
  const body = (version: string, name: string, inner: string) =>
    `<${name} xmlns="urn:diglot:orders:${version}">${inner}</${name}>`
  const order = (note = '', currency = 'EUR') =>
    `<order><customer>c-1</customer><lines><line><product>p-1</product><quantity>1</quantity></line></lines><currency>${currency}</currency>${note}</order>`
  const made = await two.post({ body: body('v2', 'CreateOrder', order('<note>ring twice</note>')) })
  const id = find(made.body, 'order', 'id')?.text
  assert.equal(find(made.body, 'order', 'note')?.text, 'ring twice')
  const seen = await one.post({ body: body('v1', 'GetOrder', `<id>${id}</id>`) })
  assert.equal(find(seen.body, 'order', 'note'), undefined)
  assert.equal((await one.post({ body: body('v1', 'CreateOrder', order('<note>x</note>')) })).fault?.code, 'Client')
  assert.equal((await one.post({ body: body('v1', 'ReplaceOrder', `<id>${id}</id>${order('', 'USD')}`) })).status, 200)
  const kept = await two.post({ body: body('v2', 'GetOrder', `<id>${id}</id>`) })
  assert.deepEqual(
    [find(kept.body, 'order', 'note')?.text, find(kept.body, 'order', 'currency')?.text],
    ['ring twice', 'USD'],
  )
  assert.equal((await one.post({ body: body('v2', 'GetOrder', `<id>${id}</id>`) })).fault?.code, 'Client', 'S10')
  assert.deepEqual(rest.incidents, [])
})

test('a page by number reaches item 10,000; beyond it, the fault names the cursor (rule A4.1)', async () => {
  const shop = await startConversation()
  const ask = (page: number) =>
    shop.post({
      body: `<ListOrders xmlns="urn:diglot:orders:v1"><page>${page}</page><size>100</size></ListOrders>`,
      fields: { authorization: 'Bearer maria' },
    })
  assert.equal((await ask(100)).status, 200)
  const beyond = await ask(101)
  assert.equal(beyond.status, 500)
  assert.match(beyond.text, /must not go beyond item 10000.*cursor/)
})

test('A4.12 B2.6 a search without words finds what a list does, and its element may be left out', async () => {
  const shop = await startConversation()
  const fields = { authorization: 'Bearer maria' }
  const ask = (name: string) =>
    shop.post({ body: `<${name} xmlns="urn:diglot:orders:v1"><size>100</size></${name}>`, fields })
  const [found, listed] = [await ask('SearchOrders'), await ask('ListOrders')]
  assert.equal(found.status, 200, found.text)
  const count = (answer: Answer) => find(answer.body, 'orders')?.elements().length
  assert.ok(Number(count(found)) > 0)
  assert.equal(count(found), count(listed))
})
