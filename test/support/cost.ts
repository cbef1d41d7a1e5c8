/** What work costs, and how that grows with size, judged by CPU time: other processes do not count. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds of this thread's CPU that the work takes. */
export function measureCpuMs(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** Milliseconds of this process's CPU, its other threads included. */
async function measureProcessMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * The work takes less CPU than the bound: a try that a collection of garbage, a compilation or a busy
 * machine made slow is repeated, and work that costs too much fails in each.
 *
 * @param work may be done again and again
 */
export async function assertCpuMsBelow(boundMs: number, work: () => unknown, title = ''): Promise<void> {
  const tries: number[] = []
  for (let i = 0; i < 8; i++) {
    const spentMs = await measureProcessMs(work)
    if (spentMs < boundMs) return
    tries.push(spentMs)
    await sleep(i * 100)
  }
  assert.fail(`${title}: ${tries.join(', ')} ms of CPU, where less than ${boundMs} are allowed`)
}

const factor = 8
/**
 * Linear work takes eight times as long for eight times the size, quadratic work 64 times. On a busy
 * machine the large one is slower than its share: 15 times were seen for four times the size.
 */
const ratioMax = 36
const triesMax = 6
/** The clock of a thread's CPU does not tell less apart. */
const leastMs = 1

/**
 * The work takes linear time: a try that a collection of garbage or a compilation made slow is
 * repeated, and quadratic work fails in each.
 *
 * @param prepare work of a size; what it does itself is not measured
 * @param size half of it, and four times it, are compared: enough for some milliseconds where it
 *     costs anything
 */
export function assertLinear(prepare: (size: number) => () => unknown, size: number): void {
  const tries: string[] = []
  const small = Math.ceil(size / 2)
  for (let i = 0; i < triesMax; i++) {
    const smallMs = measureCpuMs(prepare(small))
    const largeMs = measureCpuMs(prepare(factor * small))
    if (largeMs < ratioMax * Math.max(smallMs, leastMs)) return
    tries.push(`${smallMs} ms for ${small}, ${largeMs} ms for ${factor * small}`)
  }
  assert.fail(tries.join('; '))
}
