/** docs/operations.md "What a write on PostgreSQL guarantees": turns and a cap. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyTurns } from '../../src/service/key-turns.ts'
import { Unavailable } from '../../src/service/store.ts'

const settle = () => new Promise(setImmediate)

test('works on one item run one after the other, callers in turn; works on others run at once', async () => {
  const turns = new KeyTurns()
  const began: string[] = []
  const ends: (() => void)[] = []
  const add = (name: string, item = 'i') =>
    turns.run({ item, caller: name.charAt(0) }, 60_000, async () => {
      began.push(name)
      await new Promise<void>(resolve => ends.push(resolve))
    })
  const all = [add('a1'), add('a2'), add('a3'), add('b1'), add('c1', 'j')]
  await settle()
  assert.deepEqual(began, ['a1', 'c1'])
  for (let i = 0; i < all.length; i++) {
    ends[i]?.()
    await settle()
  }
  await Promise.all(all)
  assert.deepEqual(began, ['a1', 'c1', 'a2', 'b1', 'a3'])
})

test('a work keeps the rest of its time, and is unavailable if its turn does not come within it', async () => {
  const turns = new KeyTurns()
  const turn = { item: 'i', caller: 'a' }
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = turns.run(turn, 60_000, () => promise)
  await assert.rejects(
    turns.run(turn, 5, () => assert.fail('not its turn')),
    Unavailable,
  )
  const second = turns.run(turn, 60_000, async left => left)
  resolve()
  await first
  assert.ok((await second) < 60_000)
})

test('at most 256 works of one caller wait for an item, and 1,024 of all callers', async () => {
  const turns = new KeyTurns()
  const { promise, resolve } = Promise.withResolvers<void>()
  const refused: string[] = []
  const add = (caller: string) =>
    turns
      .run({ item: 'i', caller }, 60_000, () => promise)
      .catch(thrown => {
        assert.ok(thrown instanceof Unavailable)
        refused.push(caller)
      })
  const all = ['a', 'b', 'c', 'd'].flatMap(caller => Array.from({ length: 257 }, () => add(caller)))
  await settle()
  assert.deepEqual(refused, ['b', 'c', 'd'])
  const late = add('e')
  await settle()
  assert.equal(refused.length, 4, 'a place of those with the most')
  resolve()
  await Promise.all([...all, late])
})
