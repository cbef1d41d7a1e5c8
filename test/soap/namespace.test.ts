/** A namespace may have any character of a URI, such as the ampersand between the parts of a query. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'
import { anyone, fault, header, implement, resource, service, t } from '../../src/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import { createFetchTransport } from '../../src/testing/memory-fetch.ts'

const Closed = fault('Closed', { status: 409, title: 'It is closed', detail: { until: t.date() } })
const doors = resource('doors', {
  fields: { id: t.id('d'), name: t.string() },
  actions: on => ({ open: on().stay({ rel: 'opening', faults: [Closed] }) }),
}).rules({ allow: { read: [anyone], create: [anyone], open: [anyone] } })
const house = service('house', {
  namespace: 'https://house.example/types?of=doors&for=partners',
  resources: [doors],
  headers: {
    Floor: header(t.string()),
    Key: header(t.object({ number: t.int() }), { direction: 'response' }),
  },
})
const app = implement(house, {
  doors: {
    derive: ctx => {
      ctx.setHeader('Key', { number: Number(ctx.headers.Floor ?? 0) })
      return {}
    },
    open: ctx => ctx.fail(Closed, { until: '2027-01-01' }),
  },
})

for (const style of ['document', 'rpc', 'encoded'] satisfies MessageStyle[])
  test(`XML 1.0 §2.4 a message in a namespace with an ampersand is well-formed (${style})`, async () => {
    await using world = await startTestService(house, app)
    const endpoint = `${world.address}/soap/v1${style === 'document' ? '' : `/${style}`}`
    const transport = createFetchTransport(endpoint, world.fetchAs())
    const client = world.soap(undefined, { style, transport, headers: { Floor: '3' } })
    const { output, headers } = await client.CreateDoor.callForHeaders({ door: { name: 'front' } })
    assert.deepEqual([output.door.name, headers.Key?.number], ['front', 3])
    const { id } = output.door
    await assert.rejects(client.OpenDoor({ id }), (thrown: { detail?: unknown }) => {
      assert.deepEqual(thrown.detail, { until: '2027-01-01' })
      return true
    })
  })

test('XML 1.0 §2.4 the message that a page shows for an item is well-formed', async () => {
  await using world = await startTestService(house, app)
  const { id } = await world.rest().doors.create({ name: 'front' })
  const page = await world.fetchAs()(`${world.address}/api/doors/${id}`, { headers: { accept: 'text/html' } })
  assert.match(await page.text(), /types\?of=doors&amp;amp;for=partners/)
})
