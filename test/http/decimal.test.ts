import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeDecimal } from '../../src/http/fields.ts'

test('a count is written as it is by String', () => {
  for (const count of [0, 9, 999, 1000, 1001, 1009, 999_999, 1_000_000, Number.MAX_SAFE_INTEGER])
    assert.equal(writeDecimal(count), String(count))
  fc.assert(fc.property(fc.maxSafeNat(), count => assert.equal(writeDecimal(count), String(count))))
})
