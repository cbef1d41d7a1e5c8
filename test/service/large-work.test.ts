/** Changes with large contents: one at a time, with a rest in between while other callers wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { RecentCallers } from '../../src/base/time-shares.ts'
import { LargeWork } from '../../src/service/large-work.ts'
import { Unavailable } from '../../src/service/store.ts'

/** Holds the event loop. */
const hold = (ms: number): void => {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function createLine() {
  const callers = new RecentCallers()
  const line = new LargeWork({
    callers,
    sleep: setTimeout,
    activeMs: () => performance.eventLoopUtilization().active,
  })
  const begun: string[] = []
  const times: number[] = []
  const work = (name: string, ms: number, asks?: string) => async () => {
    times.push(performance.now())
    begun.push(name)
    if (asks !== undefined) callers.note(asks)
    hold(ms)
    await sleep(1)
    return name
  }
  return { line, begun, times, work }
}

test('(1) one begins after the other, and callers take turns', async () => {
  const { line, begun, work } = createLine()
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map(name => line.run(name[0] ?? '', work(name, 1)))
  assert.deepEqual(begun, ['a1'])
  assert.deepEqual(await Promise.all(all), ['a1', 'a2', 'a3', 'b1', 'b2'])
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'b2'])
})

test('(1) a caller with 64 works waiting is refused the next; others are not', async () => {
  const { line, work } = createLine()
  const all = Array.from({ length: 65 }, () => line.run('greedy', work('g', 0)))
  await assert.rejects(line.run('greedy', work('late', 0)), Unavailable)
  all.push(line.run('modest', work('m', 0)))
  await Promise.all(all)
})

test('(1) works of 256 callers wait, and the next is refused', async () => {
  const { line, work } = createLine()
  const all = Array.from({ length: 257 }, (_, i) => line.run(`caller ${i}`, work('w', 0)))
  await assert.rejects(line.run('late', work('late', 0)), Unavailable)
  await Promise.all(all)
})

test('(2) while another caller waits, the next one rests four times as long as it ran', async () => {
  const { line, times, work } = createLine()
  await Promise.all([line.run('a', work('1', 25, 'b')), line.run('a', work('2', 0))])
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 120)
})

test('(1) a change that waits for something else delays the next by a tenth of a second', async () => {
  const { line, work } = createLine()
  const { promise, resolve } = Promise.withResolvers<string>()
  const slow = line.run('a', () => promise)
  assert.equal(await line.run('b', work('next', 0)), 'next')
  resolve('slow')
  assert.equal(await slow, 'slow')
})

test('(2) the only caller does not wait', async () => {
  const { line, begun, work } = createLine()
  const first = line.run('a', work('1', 60, 'a'))
  const others = ['2', '3', '4', '5'].map(name => line.run('a', work(name, 0, 'a')))
  await first
  const timer = sleep(200).then(() => begun.push('timer'))
  await Promise.all(others)
  await timer
  assert.deepEqual(begun, ['1', '2', '3', '4', '5', 'timer'])
})

test('an error thrown by a work goes to its caller, and the next work runs', async () => {
  const { line, work } = createLine()
  const failed = line.run('a', async () => {
    throw new Error('broken')
  })
  const next = line.run('b', work('fine', 0))
  await assert.rejects(failed, /broken/)
  assert.equal(await next, 'fine')
})
