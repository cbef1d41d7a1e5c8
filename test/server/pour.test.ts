import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PipeSink, pipeContent } from '../../src/server/pipe.ts'

/** Takes octets at once, or holds them until it is drained. */
class Held implements PipeSink {
  destroyed = false
  writableLength = 0
  readonly #listeners = new Set<() => void>()
  readonly #room: number
  constructor(room: number) {
    this.#room = room
  }
  write(octets: Uint8Array): boolean {
    this.writableLength += octets.length
    return this.writableLength < this.#room
  }
  end(): void {}
  on(event: 'drain' | 'close', listener: () => void): void {
    if (event === 'drain') this.#listeners.add(listener)
  }
  off(_event: 'drain' | 'close', listener: () => void): void {
    this.#listeners.delete(listener)
  }
  drain(): void {
    this.writableLength = 0
    for (const each of this.#listeners) each()
  }
}

test('a source learns that a piece has been sent only when it has, not while it is held', async () => {
  const told: (boolean | undefined)[] = []
  async function* source(): AsyncGenerator<Uint8Array, void, boolean | undefined> {
    for (const length of [5, 5, 100, 5]) told.push(yield new Uint8Array(length))
  }
  const sink = new Held(50)
  const poured = pipeContent(source(), sink, undefined, () => {})
  await new Promise(setImmediate)
  assert.deepEqual(told, [false, false], 'the third waits for room')
  sink.drain()
  await new Promise(setImmediate)
  assert.deepEqual(told, [false, false, true, false])
  await poured
})
