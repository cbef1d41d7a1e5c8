/** Typed values as JSON for jobs, which come back unchanged, and which values count as one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isSameValue, packTyped, unpackTyped } from '../../src/service/typed-json.ts'

test('a typed value keeps its type and its value', () => {
  const scalar = fc.oneof(
    fc.double(),
    fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY),
    fc.bigInt(),
    fc.string(),
  )
  const values = fc.oneof(scalar, fc.uint8Array({ maxLength: 4 }), fc.boolean(), fc.constant(null))
  const given = fc.dictionary(fc.constantFrom('a', 'b', 'toString'), fc.oneof(values, fc.array(values)), {
    noNullPrototype: true,
  })
  fc.assert(fc.property(given, value => assert.deepStrictEqual(unpackTyped(packTyped(value)), value)))
})

const octets = (...values: number[]): Uint8Array => Uint8Array.from(values)
const pairs: readonly (readonly [title: string, a: unknown, b: unknown, isSame: boolean])[] = [
  ['equal octets', { a: octets(1, 2) }, { a: octets(1, 2) }, true],
  ['other octets', octets(1, 2), octets(1, 3), false],
  ['octets and a list of the same numbers', octets(1, 2), [1, 2], false],
  ['octets and an object of the same members', octets(1), { 0: 1 }, false],
  ['an object of the same members and octets', { 0: 1 }, octets(1), false],
  ['equal whole numbers', [1n], [1n], true],
  ['a whole number and its text', 1n, '1', false],
  ['a member that is undefined and an absent one', { a: undefined }, {}, true],
  ['a list and a longer one', [1], [1, undefined], false],
  ['a list and an object', [], {}, false],
  ['null and an empty object', null, {}, false],
  ['zero and minus zero, which has a sign to keep', 0, -0, false],
  ['two that are no number', [Number.NaN], [Number.NaN], true],
]
for (const [title, a, b, isSame] of pairs)
  test(`whether two values are the same: ${title}`, () => assert.equal(isSameValue(a, b), isSame))
