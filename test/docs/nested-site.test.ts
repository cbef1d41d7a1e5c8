/** The site and the mock of a service whose resources are nested. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildSite } from '../../src/docs/build-site.ts'
import { createMock } from '../../src/mock/create-mock.ts'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from '../service/nested-shop.ts'

test('the site has examples of nested items, by both faces', async () => {
  const files = await buildSite(app, { address: 'https://shop.example', examples: true })
  const examplesOf = (name: string): string =>
    (files.get(`v2/operations/${name}.html`) ?? '').replaceAll(/<[^>]+>/g, '')
  const lines: Readonly<Record<string, RegExp>> = {
    GetNote: /GET \/api\/v2\/orders\/o-1\/notes\/n-1 /,
    ListNotes: /GET \/api\/v2\/orders\/o-1\/notes\?size=2 /,
    CreateNote: /POST \/api\/v2\/orders\/o-1\/notes /,
    CloseNote: /POST \/api\/v2\/orders\/o-1\/notes\/n-1\/closing /,
    ListReplies: /GET \/api\/v2\/orders\/o-1\/notes\/n-1\/replies\?size=2 /,
    CreateReply: /POST \/api\/v2\/orders\/o-1\/notes\/n-1\/replies /,
  }
  for (const [name, line] of Object.entries(lines)) {
    assert.match(examplesOf(name), line, name)
    assert.equal(examplesOf(name).match(/HTTP\/1\.1 20[01]/g)?.length, 2, name)
  }
})

test('a mock has examples in the examples of their parents, and creates more', async () => {
  await using running = await startTestService(shop, createMock(shop))
  const client = running.rest({ subject: 'someone', roles: ['clerk'] })
  const { items: orders } = await client.orders.list().first()
  assert.ok(orders.length > 0)
  let count = 0
  for (const order of orders)
    for await (const note of client.notes.list({ within: order })) {
      assert.equal(note.order, order.id)
      count++
    }
  assert.ok(count > 0)
  const [order] = orders
  assert.ok(order)
  const made = await client.notes.create({ text: 'more' }, { within: order })
  assert.deepEqual([made.order, made.text], [order.id, 'more'])
  assert.deepEqual(running.incidents, [])
})
