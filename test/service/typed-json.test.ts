/** Values that the service stores as JSON, for jobs, come back as they were. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { packTyped, unpackTyped } from '../../src/service/typed-json.ts'

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
