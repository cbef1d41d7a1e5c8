/** The operations that change an item: which refusal comes first, and what a change returns. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { t } from '../../src/contract/field.ts'
import { implement } from '../../src/contract/implement.ts'
import { type Caller, role } from '../../src/contract/policy.ts'
import { resource } from '../../src/contract/resource.ts'
import { service } from '../../src/contract/service.ts'
import type { Call } from '../../src/service/call.ts'
import { inMemoryFile } from '../../src/service/file-content.ts'
import { likePng } from '../support/png.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'
import { startService } from './service-of.ts'

const proceed: Partial<Call> = { expects: () => 'proceed' }
const failed: Partial<Call> = { expects: () => 'failed' }
const unchanged: Partial<Call> = { expects: () => 'unchanged' }
const draft = { customer: 'c-1', lines: [{ product: 'p-1', quantity: 2 }], currency: 'EUR' }
const product = { name: 'Lamp', price: '1.00', stock: 1 }
type Shop = Awaited<ReturnType<typeof startOrdersService>>
const itemOf = async ({ ask }: Shop, id: string) => {
  const found = await ask(maria, id.startsWith('p') ? 'GetProduct' : 'GetOrder', { id })
  return found.kind === 'item' ? found.item : assert.fail(found.kind)
}
const changesOf = async ({ store }: Shop) => (await store.read(reader => reader.changes(0, 1000))).length

describe('RFC 9110 §13.2.1 of several reasons to refuse a change the first one is reported', () => {
  // o-2 is paid: it is not edited, and not removed.
  const rows: readonly (readonly [why: string, Caller, operation: string, more: Partial<Call>, kind: string])[] = [
    ['it is not there', maria, 'ReplaceOrder', { id: 'o-none' }, 'not-found'],
    ['it has no address', maria, 'ReplaceOrder', {}, 'not-found'],
    ['its caller may not see it', alice, 'CancelOrder', { id: 'o-2', ...failed }, 'not-found'],
    ['its caller may not do this', alice, 'ShipOrder', { id: 'o-4', ...failed }, 'forbidden'],
    ['the precondition fails', maria, 'ReplaceOrder', { id: 'o-2', ...failed, ...input({}) }, 'stale'],
    ['a precondition of a read holds', maria, 'ReplaceOrder', { id: 'o-2', ...unchanged, ...input({}) }, 'stale'],
    ['it has no precondition', maria, 'ReplaceOrder', { id: 'o-2', ...input({}) }, 'precondition-required'],
    ['a field is missing', maria, 'ReplaceOrder', { id: 'o-2', ...proceed, ...input({}) }, 'invalid'],
    ['its state does not allow it', maria, 'ReplaceOrder', { id: 'o-2', ...proceed, ...input(draft) }, 'conflict'],
    ['the precondition fails', maria, 'DeleteOrder', { id: 'o-2', ...failed }, 'stale'],
    ['it has no precondition', maria, 'DeleteOrder', { id: 'o-2' }, 'precondition-required'],
    ['its state does not allow it', maria, 'DeleteOrder', { id: 'o-2', ...proceed }, 'conflict'],
    ['the precondition fails', maria, 'PayOrder', { id: 'o-2', ...failed }, 'stale'],
    ['its state does not allow it', maria, 'PayOrder', { id: 'o-2', ...input({}) }, 'conflict'],
    ['it is not there', maria, 'PutProductPicture', { id: 'p-none' }, 'not-found'],
    ['there is no file to compare with', maria, 'PutProductPicture', { id: 'p-1', ...failed }, 'stale'],
  ]
  for (const [why, caller, operation, more, kind] of rows)
    test(`${operation}: ${why}`, async () => {
      const shop = await startOrdersService()
      const before = await changesOf(shop)
      assert.equal((await shop.ask(caller, operation, more)).kind, kind)
      assert.equal(await changesOf(shop), before, 'nothing was changed')
    })
  test('a conflict reports the state and the possible transitions, a precondition the version', async () => {
    const shop = await startOrdersService()
    assert.deepEqual(await shop.ask(clara, 'PayOrder', { id: 'o-2', ...input({}) }), {
      kind: 'conflict',
      state: 'paid',
      possible: ['cancel', 'ship'],
    })
    const { version } = await itemOf(shop, 'o-1')
    for (const more of [failed, unchanged])
      assert.deepEqual(await shop.ask(maria, 'ReplaceOrder', { id: 'o-1', ...more, ...input(draft) }), {
        kind: 'stale',
        version,
      })
  })
})

describe('a replacement', () => {
  test('keeps what the server has set, and makes a new version', async () => {
    const shop = await startOrdersService()
    const before = await itemOf(shop, 'o-1')
    const told = await shop.ask(clara, 'ReplaceOrder', { id: 'o-1', ...proceed, ...input({ ...draft, note: 'n' }) })
    assert.ok(told.kind === 'item' && !told.created)
    const { value, version } = told.item
    assert.ok(version > before.version)
    assert.deepEqual(
      [value['id'], value['state'], value['placedAt'], value['note']],
      ['o-1', 'placed', before.value['placedAt'], 'n'],
    )
  })
  test('that changes nothing makes no version and reports no change', async () => {
    const shop = await startOrdersService()
    const before = await itemOf(shop, 'p-1')
    const changes = await changesOf(shop)
    const { id: _, ...same } = before.value
    const told = await shop.ask(maria, 'ReplaceProduct', { id: 'p-1', ...proceed, ...input(same) })
    assert.ok(told.kind === 'item' && !told.created && told.item.version === before.version)
    assert.equal(await changesOf(shop), changes)
  })
})

describe('A4.4 a PUT creates, if the contract allows it', () => {
  test('an item that never existed, and one that is gone', async () => {
    const shop = await startOrdersService()
    const put = (id: string, more: Partial<Call> = {}) =>
      shop.ask(maria, 'ReplaceProduct', { id, ...more, ...input(product) })
    const made = await put('p-77')
    assert.ok(made.kind === 'item' && made.created && made.item.value['id'] === 'p-77')
    assert.equal((await put('p-78', failed)).kind, 'stale')
    await shop.ask(maria, 'DeleteProduct', { id: 'p-77', ...proceed })
    const again = await put('p-77')
    assert.ok(again.kind === 'item' && again.created && again.item.version > made.item.version)
    assert.equal((await put('p-77')).kind, 'precondition-required', 'now it is there')
    assert.equal((await shop.ask(alice, 'ReplaceProduct', { id: 'p-79', ...input(product) })).kind, 'forbidden')
  })
  test('never one that has moved, and none if the contract does not allow it', async () => {
    const shop = await startOrdersService()
    await shop.ask(maria, 'MergeCustomer', { id: 'c-3', ...input({ into: 'c-2' }) })
    const replaced = await shop.ask(maria, 'ReplaceCustomer', { id: 'c-3', ...proceed, ...input({}) })
    assert.deepEqual(replaced, { kind: 'moved', to: 'c-2' })
    assert.equal((await shop.ask(maria, 'ReplaceOrder', { id: 'o-777', ...input(draft) })).kind, 'not-found')
  })
})

test('A5.2 a PUT of a caller that may not create reveals no identifier: secret, gone or never there', async () => {
  const owner = role('owner').owning({ owner: 'name' })
  const desk = role('desk')
  const plots = resource('plots', { fields: { id: t.id('p'), owner: t.string(), size: t.int() } }).rules({
    putCreates: true,
    precondition: false,
    allow: { read: [owner, desk], create: [desk], change: [owner], remove: [desk] },
  })
  const app = implement(service('land', { namespace: 'urn:land', resources: [plots] }), {})
  const { ask, put } = await startService(app)
  const dirk: Caller = { subject: 'dirk', roles: ['desk', 'owner'], claims: { name: 'dirk' } }
  const eve: Caller = { subject: 'eve', roles: ['owner'], claims: { name: 'eve' } }
  await put('plots', [
    { id: 'p-1', owner: 'dirk', size: 1 },
    { id: 'p-2', owner: 'dirk', size: 2 },
    { id: 'p-3', owner: 'eve', size: 3 },
  ])
  await ask(dirk, 'DeletePlot', { id: 'p-2' })
  const replace = (caller: Caller, id: string, value: Record<string, unknown>) =>
    ask(caller, 'ReplacePlot', { id, ...input(value) })
  for (const id of ['p-1', 'p-2', 'p-9'])
    for (const value of [{ owner: 'eve', size: 4 }, { owner: 'dirk', size: 4 }, {}])
      assert.deepEqual(await replace(eve, id, value), { kind: 'not-found' }, `${id} ${JSON.stringify(value)}`)
  const changed = await replace(eve, 'p-3', { owner: 'eve', size: 4 })
  assert.ok(changed.kind === 'item' && !changed.created)
  const made = await replace(dirk, 'p-9', { owner: 'dirk', size: 5 })
  assert.ok(made.kind === 'item' && made.created)
})

describe('A5.2 a field that a grant binds to a claim', () => {
  const member = role('member')
  const notes = resource('notes', {
    fields: { id: t.id('n'), owner: t.string({ max: 8 }), team: t.string().optional() },
  }).rules({
    precondition: false,
    allow: {
      read: [role('reader')],
      create: [member.owning({ owner: 'name' }), role('lead').owning({ team: 'team' })],
    },
  })
  const app = implement(service('desk', { namespace: 'urn:desk', resources: [notes] }), {})
  const create = async (caller: Caller, value: Record<string, unknown>) => {
    const { ask } = await startService(app)
    const told = await ask(caller, 'CreateNote', input(value))
    return told.kind === 'item' ? told.item.value : told.kind
  }
  const ann: Caller = { subject: 'ann', roles: ['member'], claims: { name: 'ann' } }
  const both: Caller = { subject: 'bea', roles: ['member', 'lead'], claims: { name: 'bea', team: 'red' } }
  const bare: Caller = { subject: 'eve', roles: ['member'], claims: {} }

  test('is filled if it is left out and only one grant can be meant', async () => {
    assert.deepEqual(await create(ann, {}), { id: 'n-new1', owner: 'ann' })
    assert.deepEqual(await create(ann, { owner: 'ann', team: 'blue' }), { id: 'n-new1', owner: 'ann', team: 'blue' })
    assert.equal(await create(ann, { owner: 'bob' }), 'forbidden')
    assert.equal(await create(both, {}), 'invalid')
    assert.deepEqual(await create(both, { owner: 'x', team: 'red' }), { id: 'n-new1', owner: 'x', team: 'red' })
    assert.equal(await create(bare, { owner: 'ann' }), 'forbidden')
  })
  test('is not filled with a claim that is no value of it', async () => {
    const long: Caller = { ...ann, claims: { name: 'annabella' } }
    assert.equal(await create(long, {}), 'forbidden')
  })
})

describe('an action', () => {
  test('with a kept output has created it; any other returns the item as it is now', async () => {
    const shop = await startOrdersService()
    const amount = (await itemOf(shop, 'o-1')).value['total']
    const paid = await shop.ask(clara, 'PayOrder', { id: 'o-1', ...input({ method: 'card', amount }) })
    assert.ok(paid.kind === 'output' && paid.created && paid.item.value['state'] === 'paid')
    assert.equal(paid.output['amount'], amount)
    assert.equal((await itemOf(shop, 'o-1')).version, paid.item.version)
    const shipped = await shop.ask(clara, 'ShipOrder', { id: 'o-1', ...input({ carrier: 'dhl' }) })
    assert.ok(['item', 'output'].includes(shipped.kind) && 'item' in shipped && !shipped.created)
    assert.equal('item' in shipped && shipped.item.value['state'], 'shipped')
  })
})

describe('a removal', () => {
  test('names the item, and tells the feed that it is gone', async () => {
    const shop = await startOrdersService()
    const { version } = await itemOf(shop, 'p-20')
    assert.deepEqual(await shop.ask(maria, 'DeleteProduct', { id: 'p-20', ...proceed }), {
      kind: 'removed',
      id: 'p-20',
    })
    const last = (await shop.store.read(reader => reader.changes(0, 1000))).at(-1)
    assert.deepEqual(
      [last?.resource, last?.id, last?.what, last?.version, last?.operation],
      ['products', 'p-20', 'removed', version, 'DeleteProduct'],
    )
  })
})

describe('a file', () => {
  test('is made once and replaced from then on, each with a version of its own', async () => {
    const shop = await startOrdersService()
    const versions: (number | undefined)[] = []
    const put = (octets: Uint8Array) =>
      shop.ask(maria, 'PutProductPicture', {
        id: 'p-1',
        expects: current => {
          versions.push(current?.version)
          return 'proceed'
        },
        file: { mediaType: 'image/png', octets: inMemoryFile(likePng(octets)) },
      })
    const item = await itemOf(shop, 'p-1')
    const first = await put(new Uint8Array(8))
    const second = await put(new Uint8Array(9))
    assert.ok(first.kind === 'file' && second.kind === 'file')
    assert.deepEqual([first.created, second.created], [true, false])
    assert.ok(second.file.version > first.file.version)
    assert.deepEqual(versions, [undefined, first.file.version])
    assert.equal((await itemOf(shop, 'p-1')).version, item.version, 'the item is as it was')
  })
})
