/** What base/memo.ts remembers, and that no memory grows as a caller likes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  BoundedCache,
  memoizeByNumber,
  memoizeByObject,
  memoizeByText,
  memoizeLatest,
  memoizeOnce,
} from '../../src/base/memo.ts'

/** A function of a key that writes down what it was asked for. */
function createMaker<K>(): { readonly make: (key: K) => readonly [K]; readonly asked: K[] } {
  const asked: K[] = []
  const make = (key: K): readonly [K] => {
    asked.push(key)
    return [key]
  }
  return { make, asked }
}

test('by object: computed once for each object', () => {
  const { make, asked } = createMaker<object>()
  const recall = memoizeByObject(make)
  const [one, another] = [{}, {}]
  assert.equal(recall(one), recall(one))
  assert.notEqual(recall(one), recall(another))
  assert.equal(asked.length, 2)
})

test('by text: computed once for each text, up to a number, and then anew', () => {
  const { make, asked } = createMaker<string>()
  const recall = memoizeByText(make, 2)
  for (const text of ['a', 'b', 'a', 'b']) recall(text)
  assert.deepEqual(asked, ['a', 'b'])
  for (const text of ['c', 'c', 'a']) recall(text)
  assert.deepEqual(asked, ['a', 'b', 'c', 'a'])
})

test('by text: a long one is not remembered, and evicts no other', () => {
  const { make, asked } = createMaker<string>()
  const recall = memoizeByText(make, 1, 3)
  for (const text of ['abc', 'abcd', 'abcd', 'abc']) assert.deepEqual(recall(text), [text])
  assert.deepEqual(asked, ['abc', 'abcd', 'abcd'])
})

test('by number: computed once for each number', () => {
  const { make, asked } = createMaker<number>()
  const recall = memoizeByNumber(make, 2)
  for (const number of [1, 2, 1, 3, 1]) assert.deepEqual(recall(number), [number])
  assert.deepEqual(asked, [1, 2, 3, 1])
})

test('the latest: kept while the key is the same', () => {
  const { make, asked } = createMaker<number>()
  const recall = memoizeLatest(make)
  for (const number of [1, 1, 2, 2, 1]) assert.deepEqual(recall(number), [number])
  assert.deepEqual(asked, [1, 2, 1])
})

test('once: computed on first use', () => {
  const { make, asked } = createMaker<undefined>()
  const recall = memoizeOnce(() => make(undefined))
  assert.deepEqual(asked, [])
  assert.equal(recall(), recall())
  assert.equal(asked.length, 1)
})

test('a bounded cache forgets the oldest entry first, and none when an entry changes', () => {
  const cache = new BoundedCache<string, number>(2)
  cache.set('a', 1)
  cache.set('b', 2)
  cache.set('a', 3)
  assert.deepEqual(
    ['a', 'b'].map(key => cache.get(key)),
    [3, 2],
  )
  cache.set('c', 4)
  assert.deepEqual(
    ['a', 'b', 'c'].map(key => cache.get(key)),
    [undefined, 2, 4],
  )
})
