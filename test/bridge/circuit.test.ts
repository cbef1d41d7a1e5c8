/** When a backend that does not respond is left alone, and when it is tried again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Circuit } from '../../src/bridge/circuit.ts'

function failUntilPaused() {
  const time = { now: 1_000_000_000 }
  const notes: string[] = []
  const circuit = new Circuit(
    () => time.now,
    line => void notes.push(line),
    { failures: 2, pause: 5000 },
  )
  for (let i = 0; i < 2; i++) {
    assert.equal(circuit.admit(), 0)
    circuit.settle(false)
  }
  return { time, notes, circuit }
}

test('a backend that fails twice is left alone for its pause, then tried by one call', () => {
  const { time, notes, circuit } = failUntilPaused()
  assert.deepEqual([circuit.isOpen, circuit.admit()], [true, 5])
  time.now += 4999
  assert.equal(circuit.admit(), 1)
  time.now += 1
  assert.deepEqual([circuit.admit(), circuit.admit()], [0, 1], 'the others wait for the first')
  circuit.settle(true)
  assert.deepEqual([circuit.isOpen, circuit.admit(), notes.at(-1)], [false, 0, 'the backend responds again'])
})

test('a clock that is put back does not extend the pause', () => {
  const { time, circuit } = failUntilPaused()
  time.now -= 86_400_000
  assert.deepEqual([circuit.admit(), circuit.admit()], [0, 1])
  circuit.settle(false)
  assert.equal(circuit.admit(), 5, 'the next pause counts by the clock as it is now')
})
