import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { IdleLoops } from '../../src/host/jobs/idle-loops.ts'

/** Loops that look for work and find none, and what they do in turn. */
function startLoops(count: number, lookEveryMs: number) {
  const idle = new IdleLoops(lookEveryMs)
  const looks: number[] = []
  let isOver = false
  const run = async (_: unknown, loop: number): Promise<void> => {
    while (!isOver) {
      looks.push(loop)
      await idle.sleep()
    }
  }
  const running = Array.from({ length: count }, run)
  const stop = async (): Promise<void> => {
    isOver = true
    idle.wakeAll()
    await Promise.all(running)
  }
  return { idle, looks, stop }
}

test('of loops that have nothing to do one looks again after a while, in turn', async () => {
  const { looks, stop } = startLoops(3, 20)
  await pause(110)
  const seen = looks.slice(3)
  await stop()
  assert.ok(seen.length >= 2 && seen.length <= 6, `${seen.length} looks in 110 ms`)
  assert.deepEqual(
    seen,
    seen.map((_, at) => at % 3),
  )
})

test('an idle loop is woken at once, and work that arrives while all are busy is found before the next sleep', async () => {
  const { idle, looks, stop } = startLoops(2, 60_000)
  idle.wakeOne()
  await pause(0)
  assert.deepEqual(looks, [0, 1, 0])
  await stop()
  const busy = new IdleLoops(60_000)
  busy.wakeOne()
  await busy.sleep()
  const sleeping = busy.sleep()
  assert.equal(await Promise.race([sleeping, pause(20, 'asleep')]), 'asleep')
  busy.wakeAll()
  await sleeping
})
