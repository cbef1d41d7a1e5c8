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

const knownText = JSON.stringify(
  Array.from({ length: 2000 }, (_, i) => ({ id: `o-${i}`, lines: [i, i * 2], note: 'é'.repeat(i % 30) })),
)

/** Work of the engine alone, as messages make it: texts, objects, tables. */
function workAsKnown(): void {
  for (let i = 0; i < 24; i++) {
    const names = new Map<string, number>()
    for (const { id, note } of JSON.parse(knownText)) names.set(id + note, id.length)
    assert.equal([...names.keys()].sort().length, 2000)
  }
}
/** What `workAsKnown` took on the machine that the bounds were written on. */
const knownMs = 40
/** A machine that is slower than this has bounds that are too low for it. */
const slownessMax = 4

/** How many times as long as on the machine of the bounds work takes on this one, now. */
export function measureSlowness(): number {
  return Math.min(slownessMax, Math.max(1, measureCpuMs(workAsKnown) / knownMs))
}

/**
 * The work takes less CPU than the bound, which is one for a machine of two cores of 2024: where the
 * same work of the engine alone takes twice as long, the bound is twice as high. A try that a
 * collection of garbage, a compilation or a busy machine made slow is repeated, and work that costs
 * too much fails in each.
 *
 * @param work may be done again and again
 */
export async function assertCpuMsBelow(boundMs: number, work: () => unknown, title = ''): Promise<void> {
  const tries: string[] = []
  for (let i = 0; i < 10; i++) {
    const spentMs = await measureProcessMs(work)
    if (spentMs < boundMs) return
    const slowness = measureSlowness()
    if (spentMs < boundMs * slowness) return
    tries.push(`${spentMs} (${slowness.toFixed(1)} times as slow)`)
    await sleep(i * 100)
  }
  assert.fail(`${title}: ${tries.join(', ')} ms of CPU, where less than ${boundMs} are allowed`)
}

/**
 * What depends on the clock of a machine that others use holds in one of a few tries; what is wrong
 * fails in each.
 *
 * @param work throws where it does not hold
 */
export async function assertInSomeTry(work: () => unknown, triesMax = 5): Promise<void> {
  for (let i = 1; ; i++) {
    try {
      await work()
      return
    } catch (error) {
      if (i >= triesMax) throw error
    }
    await sleep(i * 200)
  }
}

const factor = 8
/**
 * Linear work takes eight times as long for eight times the size, quadratic work 64 times. On a busy
 * machine the large one is slower than its share: 15 times were seen for four times the size.
 */
const ratioMax = 36
const linearTriesMax = 6
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
  for (let i = 0; i < linearTriesMax; i++) {
    const smallMs = measureCpuMs(prepare(small))
    const largeMs = measureCpuMs(prepare(factor * small))
    if (largeMs < ratioMax * Math.max(smallMs, leastMs)) return
    tries.push(`${smallMs} ms for ${small}, ${largeMs} ms for ${factor * small}`)
  }
  assert.fail(tries.join('; '))
}
