/** Shares of the event loop: a fifth of the time while others ask, by one long work or by many short ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RecentCallers, restMsAfter, TimeShares } from '../../src/base/time-shares.ts'

test('a rest is four times as long as the work before it, and at most 400 ms', () => {
  for (const [heldMs, restMs] of [
    [0, 0],
    [10, 40],
    [99, 396],
    [100, 400],
    [101, 400],
    [5000, 400],
  ] as const)
    assert.equal(restMsAfter(heldMs), restMs, `${heldMs} ms`)
})

const rows: readonly (readonly [
  title: string,
  works: readonly (readonly [atMs: number, heldMs: number])[],
  rest: number,
])[] = [
  ['less than a turn', [[9.9, 9.9]], 0],
  ['a turn', [[10, 10]], 50],
  ['much more than a turn', [[500, 500]], 900],
  ['ten short works in a row', Array.from({ length: 10 }, (_, i) => [i + 1, 1] as const), 50],
  ['nine of them', Array.from({ length: 9 }, (_, i) => [i + 1, 1] as const), 0],
  // Each is forgiven by the time until the next: 1 ms in 5 is a fifth.
  ['short works in a fifth of the time', Array.from({ length: 1000 }, (_, i) => [5 * i + 1, 1] as const), 0],
  ['short works in a fourth of the time', Array.from({ length: 37 }, (_, i) => [4 * i + 1, 1] as const), 185],
  [
    'half a turn, long ago',
    [
      [5, 5],
      [35, 9],
    ],
    0,
  ],
]
for (const [title, works, restsUntil] of rows)
  test(`${title}: ${restsUntil === 0 ? 'no rest' : `a rest until ${restsUntil} ms`}`, () => {
    const callers = new RecentCallers()
    const shares = new TimeShares(callers)
    for (const [atMs, heldMs] of works) {
      assert.equal(shares.restsUntilMs('one'), 0, `before ${atMs}`)
      shares.spend('one', heldMs, atMs, callers.requests)
      callers.note('other')
    }
    assert.equal(Math.round(shares.restsUntilMs('one')), restsUntil)
    assert.equal(shares.restsUntilMs('other'), 0)
  })

test('a party that is alone does not rest, but does once others have asked since its work began', () => {
  const callers = new RecentCallers()
  const shares = new TimeShares(callers)
  callers.note('other')
  callers.note('one')
  shares.spend('one', 6, 6, callers.requests)
  callers.note('one')
  shares.spend('one', 6, 12, callers.requests)
  assert.equal(shares.restsUntilMs('one'), 0)
  callers.note('other')
  assert.equal(shares.restsUntilMs('one'), 12 + 48)
})

test('a party rests if others have asked while its work was in progress', () => {
  const callers = new RecentCallers()
  const shares = new TimeShares(callers)
  const since = callers.requests
  callers.note('other')
  callers.note('one')
  shares.spend('one', 10, 10, since)
  assert.equal(shares.restsUntilMs('one'), 50)
})

test('a party that goes on alone rests as soon as others ask', () => {
  const callers = new RecentCallers()
  const shares = new TimeShares(callers)
  shares.spend('one', 10, 10, callers.requests)
  assert.equal(shares.restsUntilMs('one'), 0)
  callers.note('other')
  callers.note('one')
  shares.spend('one', 10, 20, callers.requests)
  assert.equal(shares.restsUntilMs('one'), 60)
})

test('old entries are forgotten, current ones are not', () => {
  const callers = new RecentCallers()
  const shares = new TimeShares(callers)
  shares.spend('rests', 10, 10, 0)
  shares.spend('used', 5, 10, 0)
  callers.note('other')
  shares.spend('used', 9.99, 29.9, 1) // 0.02 are left of the first
  assert.ok(shares.restsUntilMs('used') > 0)
  assert.equal(shares.restsUntilMs('rests'), 50)
  for (let i = 0; i < 10_000; i++) shares.spend(`party ${i}`, 1, 100 + i, 0)
  assert.ok(shares.size < 1000, `${shares.size} parties are remembered`)
  shares.spend('last', 1, 20_000, 0)
  assert.equal(shares.size, 1)
})

test('whatever the pattern, a party that rests as told occupies the event loop for a fifth of the time', () => {
  const work = fc.record({
    heldMs: fc.double({ min: 0.01, max: 30, noNaN: true }),
    idleMs: fc.double({ min: 0, max: 20, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(work, { minLength: 200, maxLength: 400 }), works => {
      const callers = new RecentCallers()
      const shares = new TimeShares(callers)
      let nowMs = 0
      let heldMs = 0
      for (const each of works) {
        nowMs = Math.max(nowMs + each.idleMs, shares.restsUntilMs('one')) + each.heldMs
        heldMs += each.heldMs
        shares.spend('one', each.heldMs, nowMs, callers.requests)
        callers.note('other')
      }
      const longestMs = 40 // a turn and the longest work are ahead of their rest
      assert.ok(heldMs <= nowMs / 5 + longestMs, `${heldMs} of ${nowMs} ms`)
    }),
  )
})
