/** Rates per caller in the memory of a process, and queries of instances that share them (A8.1). */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  type Count,
  createMemoryLimiter,
  createMemoryWindows,
  createSharedLimiter,
  MemoryWindows,
} from '../../src/service/limiter.ts'

const spanMs = 60_000
const fill = (windows: MemoryWindows, keys: number, now: number): void => {
  for (let i = 0; i < keys; i++) windows.add(`crowd ${i}`, spanMs, 1, now)
}

test('A8.1 attack: a crowd of 250,000 new keys does not end the limit of one that is near it', () => {
  const windows = new MemoryWindows()
  windows.add('greedy', spanMs, 99, 0)
  fill(windows, 250_000, 1)
  assert.deepEqual(windows.add('greedy', spanMs, 1, 2), { count: 100, leftMs: spanMs - 2 })
})

test('A8.1 among keys with equal counts the newer ones are kept; ended windows go first', () => {
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

test('A8.1 a window ends with its time, also if the clock was set back', () => {
  const windows = new MemoryWindows()
  windows.add('a', spanMs, 5, 1000)
  assert.equal(windows.add('a', spanMs, 1, 1000 + spanMs - 1).count, 6)
  assert.equal(windows.add('a', spanMs, 1, 1000 + spanMs).count, 1)
  assert.equal(windows.add('a', spanMs, 1, 999).count, 1)
})

test('A8.1 a caller receives the limit, the rest of it, and whole seconds until the window ends', async () => {
  const limiter = createMemoryLimiter()
  const rate = { count: 2, seconds: 60 }
  const rows = [
    [0, { remaining: 1, reset: 60, exceeded: false }],
    [1, { remaining: 0, reset: 60, exceeded: false }],
    [1000, { remaining: 0, reset: 59, exceeded: true }],
    [59_999, { remaining: 0, reset: 1, exceeded: true }],
    [60_000, { remaining: 1, reset: 60, exceeded: false }],
  ] as const
  for (const [now, told] of rows)
    assert.deepEqual(await limiter.take('a', rate, now), { limit: 2, window: 60, ...told }, `at ${now}`)
})

describe('A8.1 instances that share their windows', () => {
  /** A limiter, and what it has queried: keys and counts. */
  function startShared() {
    const windows = createMemoryWindows()
    const asked: Count[][] = []
    let under = 0
    let underMost = 0
    const state = { isReachable: true }
    const limiter = createSharedLimiter(async counts => {
      asked.push([...counts])
      underMost = Math.max(underMost, ++under)
      await new Promise(setImmediate)
      under--
      if (!state.isReachable) throw new Error('out of reach')
      return windows(counts, 0)
    })
    const take = (keys: readonly string[], limit: number, now = 0) =>
      Promise.all(keys.map(key => limiter.take(key, { count: limit, seconds: 60 }, now)))
    /** The texts of the queries since the last look. */
    const asks = () =>
      asked.splice(0).map(counts => counts.map(({ key, span, by }) => `${key} ${by} in ${span}`).join(', '))
    return { state, take, asks, underMost: () => underMost }
  }
  const times = (key: string, count: number): string[] => Array.from({ length: count }, () => key)

  test('one query runs at a time; requests that come meanwhile join the next, in the order of their keys', async () => {
    const { take, asks, underMost } = startShared()
    await Promise.all([take(['m'], 9), take(['z', 'b', 'z', 'a'], 9)])
    assert.deepEqual(asks(), ['m 1 in 60000', 'a 1 in 60000, b 1 in 60000, z 2 in 60000'])
    assert.equal(underMost(), 1)
  })

  for (const [takers, limit, by] of [
    [3, 10_000, 3],
    [4, 10_000, 4 + 64],
    [4, 1000, 4 + 10],
    [4, 199, 4 + 1],
    [4, 99, 4],
    [40, 100_000, 40 + 640],
  ] as const)
    test(`${takers} requests at once of ${limit} are asked for as ${by}`, async () => {
      const { take, asks } = startShared()
      await Promise.all([take(['first'], 9), take(times('a', takers), limit)])
      assert.deepEqual(asks().slice(1), [`a ${by} in 60000`])
    })

  test('each request has a number of its own, in the order of arrival, including those counted ahead', async () => {
    const { take, asks } = startShared()
    await take(['a'], 1000)
    const first = await take(times('a', 5), 1000)
    assert.deepEqual(
      first.map(({ remaining, reset }) => [remaining, reset]),
      [998, 997, 996, 995, 994].map(remaining => [remaining, 60]),
    )
    asks()
    const ahead = await take(times('a', 10), 1000, 1)
    assert.deepEqual(
      ahead.map(({ remaining, reset }) => [remaining, reset]),
      [993, 992, 991, 990, 989, 988, 987, 986, 985, 984].map(remaining => [remaining, 60]),
    )
    assert.deepEqual(asks(), [], 'ten were counted ahead')
    assert.equal((await take(['a'], 1000, 1))[0]?.remaining, 983)
    assert.deepEqual(asks(), ['a 1 in 60000'])
  })

  test('counts taken ahead never exceed the limit, and its last one is used', async () => {
    const { take } = startShared()
    await Promise.all([take(['first'], 9), take(times('a', 195), 200)])
    const last = await take(times('a', 6), 200)
    assert.deepEqual(
      last.map(({ remaining, exceeded }) => [remaining, exceeded]),
      [
        [4, false],
        [3, false],
        [2, false],
        [1, false],
        [0, false],
        [0, true],
      ],
    )
  })

  test('counts taken ahead are not used if the clock was set back', async () => {
    const { take, asks } = startShared()
    await Promise.all([take(['first'], 9, 500), take(times('a', 8), 10_000, 500)])
    asks()
    await take(['a'], 10_000, 500)
    assert.deepEqual(asks(), [])
    await take(['a'], 10_000, 499)
    assert.deepEqual(asks(), ['a 1 in 60000'])
  })

  test('unreachable windows are tried again after a second of the clock, also if it was set back', async () => {
    const { state, take, asks } = startShared()
    state.isReachable = false
    for (const [now, count] of [
      [5000, 1],
      [5999, 0],
      [4001, 0],
      [6000, 1],
      [5000, 1],
      [4001, 0],
    ] as const) {
      const [told] = await take(['a'], 100, now)
      assert.ok(told && !told.exceeded)
      assert.equal(asks().length, count, `asked at ${now}`)
    }
  })

  test('while the windows are lost the instance itself counts a caller, and responds at once', async () => {
    const { state, take, asks } = startShared()
    state.isReachable = false
    const told = await Promise.all([take(['a'], 3), take(times('b', 4), 3)])
    assert.deepEqual(
      told.flat().map(({ remaining, exceeded }) => [remaining, exceeded]),
      [
        [2, false],
        [2, false],
        [1, false],
        [0, false],
        [0, true],
      ],
    )
    assert.equal(asks().length, 1)
  })
})
