/** Rows that were read before: which are kept, and when a kept item is given again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isShared, type Snapshot } from '../../src/service/store.ts'
import type { Cells } from '../../src/store/connection.ts'
import { RowCache } from '../../src/store/row-cache.ts'

const row = (id: string, version: number, text: string): Cells => [version, 0, 0, null, id, text]
const read = ([version, , , , id, text]: Cells): Snapshot => ({
  id: String(id),
  version: Number(version),
  modified: 0,
  created: 0,
  value: { id, text },
  kept: {},
})
const orders = { table: { name: 'orders' }, item: read }
const products = { table: { name: 'products' }, item: read }

test('a row that is read for the second time is kept, and given again while its cells are the same', () => {
  const cache = new RowCache()
  const first = cache.item(orders, row('o-1', 1, 'a'))
  const second = cache.item(orders, row('o-1', 1, 'a'))
  assert.notEqual(first, second)
  assert.deepEqual([isShared(first), isShared(second)], [false, true])
  assert.equal(cache.item(orders, row('o-1', 1, 'a')), second)
  assert.throws(() => Object.assign(second.value, { text: 'b' }), TypeError)
})

test('a kept row whose cells have changed is another item from then on', () => {
  const cache = new RowCache()
  for (let i = 0; i < 2; i++) cache.item(orders, row('o-1', 1, 'a'))
  const changed = cache.item(orders, row('o-1', 1, 'b')) // the cells decide, not the version
  assert.equal(changed.value['text'], 'b')
  assert.equal(cache.item(orders, row('o-1', 1, 'b')), changed)
})

test('the same identifier in two tables is two items', () => {
  const cache = new RowCache()
  for (let i = 0; i < 2; i++) cache.item(orders, row('x', 1, 'a'))
  for (let i = 0; i < 2; i++) assert.equal(cache.item(products, row('x', 1, 'b')).value['text'], 'b')
  assert.equal(cache.item(orders, row('x', 1, 'a')).value['text'], 'a')
})

test('rows that are read once take no place of rows that recur, and leave in their turn', () => {
  const cache = new RowCache()
  const hot = () => cache.item(orders, row('hot', 1, 'a'))
  hot()
  const kept = hot()
  for (let i = 0; i < 20_000; i++) cache.item(orders, row(`once-${i}`, 1, 'a'))
  assert.equal(hot(), kept)
  for (let i = 0; i < 40_000; i++) for (let j = 0; j < 2; j++) cache.item(orders, row(`twice-${i}`, 1, 'a'))
  assert.notEqual(hot(), kept)
})

test('a row with octets, or with long texts, is read each time', () => {
  const cache = new RowCache()
  const octets: Cells = [...row('o-1', 1, 'a'), new Uint8Array(3)]
  const long = row('o-2', 1, 'x'.repeat(8193))
  for (const each of [octets, long]) for (let i = 0; i < 3; i++) assert.equal(isShared(cache.item(orders, each)), false)
})

test('4,096 recurring rows are all kept, and the next one displaces only the oldest', () => {
  const cache = new RowCache()
  const items = Array.from({ length: 4097 }, (_, at) => row(`again-${at}`, 1, 'a'))
  const twice = (each: Cells) => [cache.item(orders, each), cache.item(orders, each)][1]
  for (let round = 0; round < 3; round++) {
    const kept = items.slice(0, 4096).map(twice)
    assert.deepEqual(
      items.slice(0, 4096).filter((each, at) => cache.item(orders, each) !== kept[at]),
      [],
    )
    twice(items[4096]!)
    assert.notEqual(cache.item(orders, items[0]!), kept[0])
    assert.deepEqual(
      items.slice(2, 4096).filter((each, at) => cache.item(orders, each) !== kept[at + 2]),
      [],
    )
  }
})

test('rows that are read together are all kept when they recur, whatever their identifiers', () => {
  for (let page = 0; page < 400; page++) {
    const cache = new RowCache()
    const read = () => Array.from({ length: 25 }, (_, at) => cache.item(orders, row(`o-${25 * page + at}`, 1, 'a')))
    read()
    assert.ok(read().every(isShared), `page ${page}`)
  }
})

test('of identifiers with the same ending, the last one read is kept', () => {
  const cache = new RowCache()
  const item = (id: string) => cache.item(orders, row(`${id}-1234567890123456`, 1, id))
  const [a, b] = [item('a'), item('b')]
  assert.deepEqual([a.value['text'], b.value['text']], ['a', 'b'])
  assert.equal(item('b'), b)
  assert.equal(item('a').value['text'], 'a')
})
