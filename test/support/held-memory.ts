import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Runs the engine's garbage collector. */
export const collectGarbage: () => void = runInNewContext('gc')

/** The octets that the heap and array buffers hold after a collection. */
export function heldOctets(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/**
 * Waits until less than `limitOctets` more is held than `beforeOctets`, and fails after two seconds:
 * the engine frees what has died in its own time, array buffers in another thread.
 */
export async function assertReleased(beforeOctets: number, limitOctets: number): Promise<void> {
  let kept = heldOctets() - beforeOctets
  for (let turn = 0; turn < 100 && kept >= limitOctets; turn++) {
    await setTimeout(20)
    kept = heldOctets() - beforeOctets
  }
  assert.ok(kept < limitOctets, `${kept} octets are held`)
}
