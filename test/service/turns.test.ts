/** Long work in turns of the event loop: how much of a turn it takes, and whose turn it is. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecentCallers } from '../../src/base/time-shares.ts'
import { Refused } from '../../src/service/refusal.ts'
import { Turns, type WorkSteps } from '../../src/service/turns.ts'

/** Turns with a manual event loop: `next` is its next turn. */
function createLoop() {
  let nowMs = 0
  let due: (() => void)[] = []
  const done: string[] = []
  const callers = new RecentCallers()
  const sleeping: { readonly untilMs: number; readonly work: () => void }[] = []
  const turns = new Turns({
    later: work => due.push(work),
    sleep: (work, ms) => sleeping.push({ untilMs: nowMs + ms, work }),
    clock: () => nowMs,
    activeMs: () => nowMs,
    callers,
  })
  /** Without anything else to do, the loop waits for the next timer. */
  const wake = (): void => {
    if (due.length === 0) nowMs = Math.max(nowMs, Math.min(...sleeping.map(each => each.untilMs)))
    const ready = sleeping.filter(each => each.untilMs <= nowMs)
    sleeping.splice(0, sleeping.length, ...sleeping.filter(each => each.untilMs > nowMs))
    for (const each of ready) each.work()
  }
  function* work(name: string, steps: number, stepMs: number): WorkSteps<string> {
    for (let i = 1; i <= steps; i++) {
      nowMs += stepMs
      done.push(`${name}${i}`)
      if (i < steps) yield
    }
    return `${name} is done`
  }
  return {
    turns,
    callers,
    now: () => nowMs,
    pass: (ms: number) => (nowMs += ms),
    work,
    /** What was done since the last look. */
    done: () => done.splice(0).join(' '),
    next: async () => {
      if (sleeping.length > 0) wake()
      const now = due
      due = []
      for (const each of now) each()
      await Promise.resolve()
      return now.length
    },
  }
}

test('work that fits into what is left of a turn is done at once, also several in one turn', () => {
  const loop = createLoop()
  assert.equal(loop.turns.perform('alice', loop.work('a', 3, 2)), 'a is done')
  assert.equal(
    loop.turns.run('bob', () => 'at once'),
    'at once',
  )
  assert.equal(loop.turns.perform('bob', loop.work('b', 1, 3)), 'b is done')
  assert.equal(loop.done(), 'a1 a2 a3 b1')
})

test('(1) a turn of the event loop ends after ten milliseconds, however many works wait', async () => {
  const loop = createLoop()
  const all = ['a', 'b', 'c'].map(name => loop.turns.perform(name, loop.work(name, 4, 4)))
  assert.equal(loop.done(), 'a1 a2 a3')
  const turns: string[] = []
  while ((await loop.next()) > 0) turns.push(loop.done())
  for (const turn of turns) assert.ok(turn.split(' ').length <= 3, turn)
  assert.equal(turns.filter(Boolean).join(' ').split(' ').length, 9)
  assert.deepEqual(await Promise.all(all), ['a is done', 'b is done', 'c is done'])
  assert.equal(loop.turns.perform('d', loop.work('d', 1, 1)), 'd is done', 'then turns have time left again')
})

test('(1) time spent within a turn counts for all works in it', () => {
  const loop = createLoop()
  assert.equal(loop.turns.perform('a', loop.work('a', 1, 30)), 'a is done', 'a single step may exceed it')
  assert.ok(loop.turns.perform('b', loop.work('b', 1, 1)) instanceof Promise)
  assert.equal(loop.done(), 'a1')
})

test('(2) a caller with one work waits for one step of another caller, however many works that one has', async () => {
  const loop = createLoop()
  const all = [1, 2, 3].map(i => loop.turns.perform('greedy', loop.work(`g${i}-`, 2, 10)))
  const modest = loop.turns.perform('modest', loop.work('m', 2, 10))
  assert.equal(loop.done(), 'g1-1')
  const order: string[] = []
  while ((await loop.next()) > 0) order.push(loop.done())
  assert.deepEqual(order.filter(Boolean).slice(0, 4), ['g1-2', 'm1', 'g2-1', 'm2'])
  assert.equal(await modest, 'm is done')
  await Promise.all(all)
})

for (const [callers, max] of [
  [20, 8],
  [1, 2],
] as const)
  test(`(3) at most ${max} works of ${callers} callers are under way; those that wait have not begun`, async () => {
    const loop = createLoop()
    const begun = new Set<string>()
    const ended = new Set<string>()
    function* tracked(name: string): WorkSteps<void> {
      begun.add(name)
      yield* loop.work(name, 5, 10)
      ended.add(name)
    }
    const all = Array.from({ length: 20 }, (_, i) => loop.turns.perform(`caller ${i % callers}`, tracked(`w${i}`)))
    while ((await loop.next()) > 0)
      assert.ok(begun.size - ended.size <= max, `${begun.size} begun, ${ended.size} ended`)
    await Promise.all(all)
    assert.equal(ended.size, 20)
  })

test('(3) a caller with 64 works waiting is refused the next; others are not', async () => {
  const loop = createLoop()
  const all = Array.from({ length: 65 }, (_, i) => loop.turns.perform('greedy', loop.work(`g${i}`, 1, 10)))
  const isBusy = (thrown: unknown) => thrown instanceof Refused && thrown.refusal.kind === 'unavailable'
  await assert.rejects(async () => loop.turns.perform('greedy', loop.work('late', 1, 1)), isBusy)
  const modest = loop.turns.perform('modest', loop.work('m', 1, 1))
  while ((await loop.next()) > 0);
  assert.equal(await modest, 'm is done')
  await Promise.all(all)
  assert.equal(await loop.turns.perform('greedy', loop.work('again', 1, 1)), 'again is done')
})

test('an error thrown by a work goes to its caller, and the next work runs', async () => {
  const loop = createLoop()
  const fail = () => {
    throw new Error('broken')
  }
  assert.throws(() => loop.turns.run('a', fail), /broken/)
  loop.turns.perform('a', loop.work('a', 1, 10))
  const later = loop.turns.run('b', fail) as Promise<never>
  const after = loop.turns.run('c', () => 'fine')
  const failed = assert.rejects(later, /broken/)
  while ((await loop.next()) > 0);
  await failed
  assert.equal(await after, 'fine')
})

test('(4) while others wait, a work that had a turn for itself rests four times as long', async () => {
  const loop = createLoop()
  const long = loop.turns.perform('long', loop.work('l', 6, 10))
  const begins: number[] = [0]
  loop.done()
  for (let i = 0; i < 50 && begins.length < 6; i++) {
    loop.callers.note(begins.length < 4 ? 'other' : 'long')
    await loop.next()
    if (loop.done().includes('l')) begins.push(loop.now() - 10)
  }
  assert.equal(await long, 'l is done')
  assert.deepEqual(begins, [0, 50, 100, 150, 160, 170])
})

test('(4) a caller that rests does not delay others', async () => {
  const loop = createLoop()
  const long = loop.turns.perform('long', loop.work('l', 2, 10))
  const next = loop.turns.perform('long', loop.work('n', 1, 1))
  loop.callers.note('other')
  await loop.next()
  assert.equal(loop.done(), 'l1')
  assert.equal(loop.turns.perform('other', loop.work('o', 2, 1)), 'o is done')
  while ((await loop.next()) > 0);
  assert.equal(loop.done(), 'o1 o2 l2 n1')
  assert.equal(await long, 'l is done')
  assert.equal(await next, 'n is done')
})

test('(4) a caller whose short works take more than a fifth of the time rests too', async () => {
  const loop = createLoop()
  for (let i = 0; i < 10; i++) {
    assert.equal(loop.turns.perform('many', loop.work('m', 1, 1)), 'm is done')
    loop.callers.note('other')
    await loop.next()
  }
  loop.done()
  const next = loop.turns.perform('many', loop.work('n', 1, 1))
  assert.ok(next instanceof Promise)
  while ((await loop.next()) > 0);
  assert.equal(await next, 'n is done')
  assert.equal(loop.now(), 10 + 40 + 1)
})

test('(4) work done elsewhere pauses for a turn, or rests as work in turns does', async () => {
  const loop = createLoop()
  let resumed = 0
  const pause = (heldMs: number) => {
    const endPart = loop.turns.beginPart('job')
    loop.pass(heldMs)
    return endPart().then(() => resumed++)
  }
  void pause(9)
  loop.callers.note('other')
  await loop.next()
  assert.equal(resumed, 1, 'the next turn')
  void pause(9)
  loop.callers.note('other')
  await loop.next()
  await loop.next()
  assert.equal(resumed, 2)
  assert.equal(loop.now(), 18 + 4 * 18)
  const early = loop.turns.perform('job', loop.work('j', 1, 1))
  assert.equal(early, 'j is done')
})

for (const [heldMs, restMs] of [
  [9.9, 0],
  [10, 40],
  [150, 400],
] as const)
  test(`(4) work that has held the event loop for ${heldMs} ms rests for ${restMs} ms to the millisecond`, async () => {
    const loop = createLoop()
    loop.turns.perform('long', loop.work('l', 1, heldMs))
    loop.callers.note('other')
    await loop.next()
    if (restMs > 0) {
      loop.pass(restMs - 1)
      const early = loop.turns.perform('long', loop.work('early', 1, 1))
      assert.ok(early instanceof Promise)
      while ((await loop.next()) > 0);
      assert.equal(await early, 'early is done')
      assert.ok(loop.now() >= heldMs + restMs)
    }
    const again = createLoop()
    again.turns.perform('long', again.work('l', 1, heldMs))
    again.callers.note('other')
    await again.next()
    again.pass(restMs)
    assert.equal(again.turns.perform('long', again.work('late', 1, 1)), 'late is done', 'at once')
  })
