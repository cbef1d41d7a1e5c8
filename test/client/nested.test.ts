/** Resources nested in resources: the same code with either client, and what types refuse. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { FaultError, NotFound } from '../../src/client/index.ts'
import { startTestService } from '../../src/testing/index.ts'
import app, { shop } from '../service/nested-shop.ts'

const running = await startTestService(shop, app)
after(() => running.close())
const rest = running.rest('ann')
const soap = running.soap('ann')

for (const [name, api] of [
  ['REST', rest],
  ['SOAP', soap],
] as const)
  test(`A1.2 B4.4 the life of a nested item: ${name}`, async () => {
    const order = await api.orders.get('o-1')
    const note = await api.notes.create({ text: `by ${name}` }, { within: order })
    assert.deepEqual([note.order, note.state], ['o-1', 'open'])
    assert.equal((await api.notes.get(note)).text, `by ${name}`)
    const found = await api.notes.get(note.id, { within: order })
    assert.ok(found.state === 'open')
    const texts: string[] = []
    for await (const { text } of api.notes.list({ within: order, sort: ['text'] })) texts.push(text)
    assert.deepEqual(texts, texts.toSorted())
    assert.ok(texts.includes(`by ${name}`) && !texts.includes('ring twice'))
    const rings: string[] = []
    for await (const { id } of api.notes.search('ring', {}, { within: order })) rings.push(id)
    assert.deepEqual(rings, ['n-1'])
    const pinned: string[] = []
    for await (const { id } of api.notes.list({ within: order, where: { pinned: true } })) pinned.push(id)
    assert.deepEqual(pinned, ['n-1'])
    const changed = await api.notes.replace(found, { text: 'other' })
    assert.ok(changed.state === 'open')
    assert.deepEqual([changed.text, changed.order], ['other', 'o-1'])
    assert.equal((await api.notes.weigh(changed)).grams, 5)
    await api.notes.scan.put(changed, new TextEncoder().encode('ink'), { mediaType: 'text/plain' })
    const file = await api.notes.scan.get(changed)
    assert.equal(new TextDecoder().decode(await file.bytes()), 'ink')
    const reply = await api.replies.create({ text: 'deep' }, { within: changed })
    const again = await api.replies.get(reply.id, { within: changed })
    assert.deepEqual(again.note, note.id)
    const replies: string[] = []
    for await (const { text } of api.replies.list({ within: changed })) replies.push(text)
    assert.deepEqual(replies, ['deep'])
    const open = await api.notes.get(changed)
    assert.ok(open.state === 'open')
    const closed = await api.notes.close(open)
    assert.equal(closed.state, 'closed')
    const small: string[] = []
    for await (const { id } of api.notes.list({ within: order, size: 1 })) small.push(id)
    assert.equal(new Set(small).size, texts.length)
  })

test('A4.7 the REST client chooses identifiers, lists by the relation and removes many in one parent', async () => {
  const order = await rest.orders.get('o-2')
  const note = await rest.notes.create({ text: 'own', pinned: true }, { within: order, id: 'n-own' })
  assert.deepEqual([note.id, note.order], ['n-own', 'o-2'])
  const ids: string[] = []
  for await (const { id } of rest.orders.notes(order)) ids.push(id)
  assert.deepEqual(ids.toSorted(), ['n-3', 'n-own'])
  assert.deepEqual(await rest.notes.removeAll({ pinned: true }, { within: order }), { removed: 1, refused: 0 })
  await assert.rejects(rest.notes.get('../o-1', { within: order }), /identifier/)
})

test('B4.4 messages name the parent by its field', async () => {
  const { notes } = await soap.ListNotes({ order: 'o-2' })
  assert.deepEqual(
    notes.map(({ id }) => id),
    ['n-3'],
  )
  const { note } = await soap.CreateNote({ order: 'o-2', note: { text: 'said' } })
  const { note: replaced } = await soap.ReplaceNote({ order: 'o-2', id: note.id, note: { text: 'anew' } })
  assert.deepEqual([replaced.order, replaced.text], ['o-2', 'anew'])
  const hidden = await soap.ListNotes({ order: 'o-3' }).catch(thrown => thrown)
  assert.ok(hidden instanceof FaultError && hidden.is(NotFound))
  const old = running.soap('ann', { version: 'v1' })
  assert.equal((await old.ListNotes({ purchase: 'o-2' })).notes.length, 2)
  const oldRest = running.rest('ann', { version: 'v1' })
  const order = await oldRest.orders.get('o-2')
  const made = await oldRest.notes.create({ text: 'old' }, { within: order })
  assert.equal(made.purchase, 'o-2')
})

test('types require the parent, and no field of it', () => {
  const never = () => {
    // @ts-expect-error: the parent is missing
    rest.notes.list()
    // @ts-expect-error: the parent is missing
    soap.notes.list({ sort: ['text'] })
    // @ts-expect-error: the parent is missing
    rest.notes.get('n-1')
    // @ts-expect-error: the parent is missing
    soap.notes.create({ text: '' })
    // @ts-expect-error: the parent is no field of content
    rest.notes.create({ text: '', order: 'o-1' }, { within: { id: 'o-1' } })
    // @ts-expect-error: the parent is missing
    soap.ListNotes({})
    // @ts-expect-error: what is in no other has no parent
    rest.orders.list({ within: { id: 'o-1' } })
  }
  assert.ok(never)
})
