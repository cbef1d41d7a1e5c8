/** What a start leaves for later is done, or the operator reads why it is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreFiller } from '../../src/host/operations/store-filler.ts'

test('a failure reaches the log with its cause and its cure, and is tried again until all is done', async () => {
  const told: Error[] = []
  const answers = [() => Promise.reject(new Error('disk full')), async () => false, async () => true]
  let calls = 0
  const filler = new StoreFiller({ fill: () => answers[calls++]!() }, thrown => told.push(thrown as Error))
  for (let i = 0; i < 5; i++) await filler.run()
  assert.equal(calls, 3)
  assert.equal(told.length, 1)
  assert.match(told[0]?.message ?? '', /Mend the cause: it is tried again/)
  assert.match(String(told[0]?.cause), /disk full/)
})

test('one filling runs at a time, and none is reported that the end of the service stopped', async () => {
  const told: unknown[] = []
  const waiting = Promise.withResolvers<boolean>()
  let calls = 0
  const fill = (): Promise<boolean> => {
    calls++
    return waiting.promise
  }
  const filler = new StoreFiller({ fill }, thrown => told.push(thrown))
  const first = filler.run()
  await filler.run()
  filler.stop()
  waiting.reject(new Error('the store is closed'))
  await first
  assert.deepEqual([calls, told], [1, []])
})

test('a store that leaves nothing for later is asked once', async () => {
  const filler = new StoreFiller({}, () => assert.fail('nothing fails'))
  await filler.run()
  await filler.run()
})
