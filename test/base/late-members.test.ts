/** Members that are made when they are asked for, by accessors that all objects of a kind share. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLateMembers } from '../../src/base/late-members.ts'

const add = createLateMembers<number[], { readonly count: number; readonly sum: number }>({
  count: seen => seen.push(1),
  sum: seen => seen.reduce((a, b) => a + b, 0),
})

test('a late member is computed from its own object on first use, and is in a copy', () => {
  const seen: number[] = []
  const one = add({ name: 'one' }, seen)
  const other = add({ name: 'other' }, [5])
  assert.deepEqual(seen, [])
  assert.deepEqual([one.count, one.count, one.sum, other.sum, one.name], [1, 2, 2, 5, 'one'])
  assert.deepEqual(Object.keys(one), ['name', 'count', 'sum'])
  assert.deepEqual({ ...other }, { name: 'other', count: 2, sum: 6 })
})

test('all objects have the same accessors', () => {
  const accessorsOf = (of: object) =>
    Object.values(Object.getOwnPropertyDescriptors(of)).flatMap(each => each.get ?? [])
  const [one, other] = [add({}, []), add({}, [])].map(accessorsOf)
  assert.equal(one?.length, 2)
  assert.ok(one.every((each, i) => each === other?.[i]))
})
