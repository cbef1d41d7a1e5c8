/** How a command tells what it is at, on a terminal and elsewhere. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ProgressLine } from '../../src/cli/progress-line.ts'

function record(isTTY: boolean) {
  const written: string[] = []
  let now = 0
  const line = new ProgressLine({ isTTY, write: text => written.push(text) }, () => now)
  return { written, line, pass: (ms: number) => void (now += ms) }
}

test('on a terminal one line is rewritten, and removed before any output', () => {
  const { written, line } = record(true)
  line.show('1 of 3')
  line.show('2 of 3')
  line.clear()
  line.clear()
  line.end()
  assert.deepEqual(written, ['\r\x1b[K1 of 3', '\r\x1b[K2 of 3', '\r\x1b[K'])
})

test('elsewhere a line is written every ten seconds at most, and none for short work', () => {
  const { written, line, pass } = record(false)
  line.show('1 of 3')
  pass(9999)
  line.show('2 of 3')
  assert.deepEqual(written, [])
  pass(1)
  line.show('3 of 3')
  line.show('and more')
  assert.deepEqual(written, ['diglot: 3 of 3\n'])
  line.end()
})

test('elsewhere work that shows nothing new for ten seconds is reported again', t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { written, line } = record(false)
  t.mock.timers.tick(10_000)
  assert.deepEqual(written, [], 'nothing was begun')
  line.show('create the index notes#at')
  t.mock.timers.tick(10_000)
  assert.deepEqual(written, ['diglot: create the index notes#at\n'])
  line.clear()
  t.mock.timers.tick(10_000)
  line.end()
  assert.equal(written.length, 1)
})

test('elsewhere work that shows something all the time is not reported twice at once', t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { written, line, pass } = record(false)
  t.mock.timers.tick(9_999)
  pass(10_000)
  line.show('1 of 3')
  t.mock.timers.tick(1)
  line.end()
  assert.deepEqual(written, ['diglot: 1 of 3\n'])
})
