/** SECURITY.md "guessing": waiting works have turns by caller, and a cap. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Unavailable } from '../../src/service/store.ts'
import { WaitingLines } from '../../src/service/waiting-lines.ts'

/** Works that end on command, and the order in which they began. */
function startWorks(turns: WaitingLines) {
  const began: string[] = []
  const ends: (() => void)[] = []
  const refused: string[] = []
  const all: Promise<void>[] = []
  return {
    began,
    refused,
    add: (...names: string[]) => {
      for (const name of names)
        all.push(
          turns
            .take(name.charAt(0), () => {
              began.push(name)
              return new Promise<void>(resolve => ends.push(resolve))
            })
            .catch(thrown => {
              assert.ok(thrown instanceof Unavailable && thrown.after === 1)
              refused.push(name)
            }),
        )
    },
    finish: async () => {
      for (let i = 0; i < ends.length; i++) {
        ends[i]?.()
        await new Promise(setImmediate)
      }
      await Promise.all(all)
    },
  }
}

describe('turns by caller', () => {
  test('each caller has one turn after the other, however many of its works wait', async () => {
    const works = startWorks(new WaitingLines({ running: 1, waiting: 9, waitingOfCaller: 9 }, 'full'))
    works.add('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1')
    await works.finish()
    assert.deepEqual(works.began, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })
  test('no more run at a time than the bounds say, and all places are free in the end', async () => {
    const turns = new WaitingLines({ running: 2, waiting: 9, waitingOfCaller: 9 }, 'full')
    const works = startWorks(turns)
    works.add('a1', 'a2', 'a3')
    await new Promise(setImmediate)
    assert.deepEqual(works.began, ['a1', 'a2'])
    await works.finish()
    const later = startWorks(turns)
    later.add('a4', 'b1', 'c1')
    await new Promise(setImmediate)
    assert.deepEqual(later.began, ['a4', 'b1'])
    await later.finish()
  })
  test('one caller has only so many places, though others are free', async () => {
    const turns = new WaitingLines({ running: 3, runningOfCaller: 2, waiting: 9, waitingOfCaller: 9 }, 'full')
    const works = startWorks(turns)
    works.add('a1', 'a2', 'a3', 'a4', 'b1')
    await new Promise(setImmediate)
    assert.deepEqual(works.began, ['a1', 'a2', 'b1'])
    works.add('b2', 'c1')
    await works.finish()
    assert.deepEqual(works.began, ['a1', 'a2', 'b1', 'a3', 'b2', 'c1', 'a4'])
    assert.ok(turns.isIdle)
  })
  test('a waiting place is free again for the next, however many have waited', async () => {
    const turns = new WaitingLines({ running: 1, waiting: 2, waitingOfCaller: 2 }, 'full')
    for (let round = 0; round < 4; round++) {
      const works = startWorks(turns)
      works.add('a1', 'b1', 'c1')
      await works.finish()
      assert.deepEqual([works.began, works.refused], [['a1', 'b1', 'c1'], []])
    }
  })
  test('a caller has only so many waiting places', async () => {
    const turns = new WaitingLines({ running: 1, waiting: 9, waitingOfCaller: 2 }, 'full')
    const works = startWorks(turns)
    works.add('a1', 'a2', 'a3', 'a4', 'b1')
    assert.throws(() => turns.requirePlace('a'), Unavailable)
    turns.requirePlace('b')
    await works.finish()
    assert.deepEqual([works.began, works.refused], [['a1', 'a2', 'b1', 'a3'], ['a4']])
  })
  test('if all places are taken, a caller with fewer gets the last one of the caller with the most', async () => {
    const works = startWorks(new WaitingLines({ running: 1, waiting: 4, waitingOfCaller: 4 }, 'full'))
    works.add('a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'c1', 'd1')
    await works.finish()
    assert.deepEqual(works.began, ['a1', 'a2', 'b1', 'c1', 'd1'])
    assert.deepEqual(works.refused, ['a5', 'a4', 'a3'])
  })
  test('if every caller has one place, the next caller is refused', async () => {
    const works = startWorks(new WaitingLines({ running: 1, waiting: 2, waitingOfCaller: 2 }, 'full'))
    works.add('a1', 'b1', 'c1', 'd1')
    await works.finish()
    assert.deepEqual([works.began, works.refused], [['a1', 'b1', 'c1'], ['d1']])
  })
  test('a work whose turn does not come in time is refused, and leaves its place', async () => {
    const turns = new WaitingLines({ running: 1, waiting: 1, waitingOfCaller: 1 }, 'full')
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = turns.take('a', () => promise)
    await assert.rejects(
      turns.take('b', () => assert.fail('not its turn'), 5),
      Unavailable,
    )
    const third = turns.take('c', async () => 3, 60_000)
    resolve()
    assert.deepEqual([await first, await third, turns.isIdle], [undefined, 3, true])
  })
  test('a work that leaves its line takes no other with it', async () => {
    const turns = new WaitingLines({ running: 1, waiting: 3, waitingOfCaller: 3 }, 'full')
    const { promise, resolve } = Promise.withResolvers<void>()
    const first = turns.take('a', () => promise)
    const late = assert.rejects(
      turns.take('b', () => assert.fail('not its turn'), 5),
      Unavailable,
    )
    const ran: number[] = []
    for (const n of [1, 2]) void turns.take('b', async () => void ran.push(n))
    await late
    resolve()
    await first
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate)
    assert.deepEqual([ran, turns.isIdle], [[1, 2], true])
  })
  test('a work that fails gives its place back', async () => {
    const turns = new WaitingLines({ running: 1, waiting: 1, waitingOfCaller: 1 }, 'full')
    await assert.rejects(
      turns.take('a', () => Promise.reject(new Error('no'))),
      /no/,
    )
    assert.equal(await turns.take('a', async () => 7), 7)
  })
})
