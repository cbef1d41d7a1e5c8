/** The operations that only read: what is there for whom, in which state, and since when. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../../src/contract/policy.ts'
import type { Call } from '../../src/service/call.ts'
import { inMemoryFile } from '../../src/service/file-content.ts'
import { searchWordsMax } from '../../src/service/reads.ts'
import { searchWords } from '../../src/service/search.ts'
import { likePng } from '../support/png.ts'
import { alice, clara, input, maria, startOrdersService } from './orders-service.ts'

const orders = await startOrdersService()
const { ask, store, clock } = orders
const notFound = { kind: 'not-found' }
const versionOf = async (id: string): Promise<number> => {
  const found = await ask(maria, 'GetOrder', { id })
  return found.kind === 'item' ? found.item.version : assert.fail(found.kind)
}

describe('A3.4 a sub-resource that only reads', () => {
  for (const [id, state, kind] of [
    ['o-1', 'placed', 'not-found'],
    ['o-2', 'paid', 'not-found'],
    ['o-3', 'shipped', 'output'],
    ['o-4', 'delivered', 'output'],
    ['o-5', 'cancelled', 'not-found'],
    ['o-none', 'absent', 'not-found'],
  ] as const)
    test(`of an order that is ${state}: ${kind}`, async () => {
      assert.equal((await ask(maria, 'TrackOrder', { id })).kind, kind)
    })
  test('belongs to the owner of its item', async () => {
    const own = await ask(alice, 'TrackOrder', { id: 'o-4' })
    assert.ok(own.kind === 'output' && own.item.id === 'o-4' && !own.created)
    assert.deepEqual(Object.keys(own.output), ['carrier', 'trackingNumber', 'position'])
    assert.deepEqual(await ask(alice, 'TrackOrder', { id: 'o-3' }), notFound)
  })
})

describe('the kept output of an action', () => {
  test('is there once the action was done', async () => {
    assert.deepEqual(await ask(clara, 'GetOrderPayment', { id: 'o-1' }), notFound)
    const order = await ask(clara, 'GetOrder', { id: 'o-1' })
    const amount = order.kind === 'item' && order.item.value['total']
    await ask(clara, 'PayOrder', { id: 'o-1', ...input({ method: 'card', amount }) })
    const paid = await ask(clara, 'GetOrderPayment', { id: 'o-1' })
    assert.ok(paid.kind === 'output' && !paid.created)
    assert.deepEqual([paid.output['amount'], paid.item.version], [amount, await versionOf('o-1')])
    assert.deepEqual(await ask(alice, 'GetOrderPayment', { id: 'o-2' }), notFound)
  })
})

describe('a file', () => {
  const put = (octets: Uint8Array) =>
    ask(maria, 'PutProductPicture', {
      id: 'p-1',
      file: { mediaType: 'image/png', octets: inMemoryFile(likePng(octets)) },
    })
  test('is there once it was sent, with a version and a time of its own', async () => {
    assert.deepEqual(await ask(clara, 'GetProductPicture', { id: 'p-1' }), notFound)
    assert.deepEqual(await ask(clara, 'GetProductPicture', { id: 'p-none' }), notFound)
    clock.now += 5000
    await put(new Uint8Array(9))
    const found = await ask(clara, 'GetProductPicture', { id: 'p-1' })
    assert.ok(found.kind === 'file' && !found.created && found.octets)
    assert.deepEqual([found.file.mediaType, found.file.modified, found.octets.length], ['image/png', clock.now, 9])
    const seen: unknown[] = []
    const expects: Call['expects'] = current => {
      seen.push([current?.version, current?.modified])
      return 'unchanged'
    }
    const again = await ask(clara, 'GetProductPicture', { id: 'p-1', expects })
    assert.ok(again.kind === 'unchanged')
    assert.deepEqual(seen, [[found.file.version, found.file.modified]])
    assert.deepEqual([again.current.version, again.current.modified], [found.file.version, found.file.modified])
  })
})

describe('RFC 9110 §13.2.2 a precondition of a read', () => {
  const reads: readonly (readonly [Caller, operation: string, id: string])[] = [
    [clara, 'GetOrder', 'o-2'],
    [clara, 'TrackOrder', 'o-3'],
    [clara, 'GetOrderPayment', 'o-1'],
  ]
  for (const [caller, operation, id] of reads)
    test(`is compared with the item: ${operation}`, async () => {
      const version = await versionOf(id)
      const given: unknown[] = []
      const ofVerdict =
        (verdict: ReturnType<NonNullable<Call['expects']>>): NonNullable<Call['expects']> =>
        current => {
          given.push(current?.version)
          return verdict
        }
      const same = await ask(caller, operation, { id, expects: ofVerdict('unchanged') })
      assert.ok(same.kind === 'unchanged' && same.current.version === version && same.current.id === id)
      assert.deepEqual(await ask(caller, operation, { id, expects: ofVerdict('failed') }), { kind: 'stale', version })
      assert.ok(['item', 'output'].includes((await ask(caller, operation, { id, expects: ofVerdict('proceed') })).kind))
      assert.deepEqual(given, [version, version, version])
    })
})

describe('A4.1 a list', () => {
  test('without a query has twenty items, and counts none', async () => {
    const found = await ask(clara, 'ListOrders')
    assert.ok(found.kind === 'page')
    assert.deepEqual([found.page.items.length, found.page.total], [20, undefined])
  })
  for (const [count, kind] of [
    [searchWordsMax, 'page'],
    [searchWordsMax + 1, 'invalid'],
  ] as const)
    test(`A4.14 a search for ${count} words gives ${kind}`, async () => {
      const words = Array.from({ length: count }, (_, i) => `word${i}`)
      const query = { filters: [], sort: [], size: 5, counted: true, words }
      const found = await ask(clara, 'SearchOrders', { query })
      assert.equal(found.kind, kind)
      if (found.kind === 'invalid')
        assert.deepEqual(found.problems, [{ path: ['q'], code: 'maxLength', detail: 'has more than 500 words' }])
    })
  test('A4.13 words are runs of letters, digits, _ and %, in lower case, each once', () => {
    assert.deepEqual(searchWords('Gift-wrap, GIFT  50% a_b Ärger 東京 ２'), [
      'gift',
      'wrap',
      '50%',
      'a_b',
      'ärger',
      '東京',
      '２',
    ])
    assert.deepEqual(searchWords(' .,;!?"\'() '), [])
  })
})

test('reads return what the store has, and write nothing', async () => {
  const before = await store.read(reader => reader.deeds(0, Infinity, 999))
  for (const operation of ['GetOrder', 'TrackOrder', 'ListOrders', 'GetProductPicture', 'GetOrderPayment'])
    await ask(clara, operation, { id: operation === 'GetProductPicture' ? 'p-1' : 'o-3' })
  assert.deepEqual(await store.read(reader => reader.deeds(0, Infinity, 999)), before)
})
