import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { drawVersion, followVersion } from '../../src/store/row-version.ts'

const times = fc.integer({ min: 0, max: 8.64e15 })

test('(1) a version is larger than the one before it, whatever the clock says', () => {
  fc.assert(
    fc.property(fc.array(times, { minLength: 2, maxLength: 50 }), clock => {
      let before = 1
      for (const now of clock) {
        const version = followVersion(before, now)
        assert.ok(version > before, `${before} → ${version} at ${now}`)
        before = version
      }
    }),
  )
})

test('(2) a version is larger than all that were given 64 ms before, even by a lost original', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 42 - 64 }), now => {
      assert.ok(drawVersion(now + 64) > drawVersion(now))
    }),
  )
})

test('(3) versions stay below 2^53, under any clock', () => {
  for (const now of [0, Date.now(), 2 ** 42, 8.64e15]) assert.ok(Number.isSafeInteger(drawVersion(now)), String(now))
  let version = 0
  for (let i = 0; i < 100_000; i++) version = followVersion(version, 8.64e15)
  assert.ok(version < 2 ** 52 + 2 ** 34)
})
