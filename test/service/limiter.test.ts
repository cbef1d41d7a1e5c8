/** Rates per caller in the memory of one process (rule A8.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryWindows } from '../../src/service/limiter.ts'

const spanMs = 60_000
const fill = (windows: MemoryWindows, keys: number, now: number): void => {
  for (let i = 0; i < keys; i++) windows.add(`crowd ${i}`, spanMs, 1, now)
}

test('A8.1 attack: a crowd of 250,000 new keys does not end the limit of one that is near it', () => {
  const windows = new MemoryWindows()
  windows.add('greedy', spanMs, 99, 0)
  fill(windows, 250_000, 1)
  assert.deepEqual(windows.add('greedy', spanMs, 1, 2), { count: 100, left: spanMs - 2 })
})

test('A8.1 of keys that have counted the same the newer ones are kept; ended windows go first', () => {
  const windows = new MemoryWindows()
  windows.add('old', spanMs, 1, 0)
  fill(windows, 99_999, 1)
  windows.add('new', spanMs, 1, 2)
  assert.equal(windows.add('old', spanMs, 1, 3).count, 1, 'it was dropped')
  assert.equal(windows.add('crowd 99998', spanMs, 1, 3).count, 2, 'it was kept')
  const later = new MemoryWindows()
  later.add('long', 2 * spanMs, 1, 0)
  fill(later, 99_999, 0)
  later.add('next', spanMs, 1, spanMs)
  assert.equal(later.add('long', 2 * spanMs, 1, spanMs).count, 2, 'all others had ended')
})

test('A8.1 a window ends with its time, and where the clock was set back', () => {
  const windows = new MemoryWindows()
  windows.add('a', spanMs, 5, 1000)
  assert.equal(windows.add('a', spanMs, 1, 1000 + spanMs - 1).count, 6)
  assert.equal(windows.add('a', spanMs, 1, 1000 + spanMs).count, 1)
  assert.equal(windows.add('a', spanMs, 1, 999).count, 1)
})
