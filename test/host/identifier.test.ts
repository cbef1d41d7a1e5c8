import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createItemIdentifier } from '../../src/host/item-identifier.ts'

test('an identifier is a prefix, the time and 55 random bits, in characters that a path segment allows', () => {
  assert.match(createItemIdentifier('o'), /^o-[0-9a-hjkmnp-tv-z]{20}$/)
  assert.equal(createItemIdentifier('o', 0).slice(0, 11), 'o-000000000')
  assert.equal(createItemIdentifier('o', 33).slice(0, 11), 'o-000000011')
  assert.equal(createItemIdentifier('o', 2 ** 45 - 1).slice(0, 11), 'o-zzzzzzzzz')
})

test('later identifiers sort later, by octets', () => {
  const times = [0, 1, 31, 32, 1_763_000_000_000, 1_763_000_000_001, 4_000_000_000_000]
  const made = times.map(now => createItemIdentifier('n', now))
  assert.deepEqual([...made].sort(), made)
})

test('no two of many are the same, even in one millisecond', () => {
  const made = new Set(Array.from({ length: 20_000 }, () => createItemIdentifier('n', 7)))
  assert.equal(made.size, 20_000)
})
