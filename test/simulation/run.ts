/**
 * `npm run simulate -- --seeds 10000 --from 0 --trace`: whole worlds of the service in virtual time.
 * Prints each seed whose world has a problem, and ends with status 1 where there is one. A seed
 * happens again as it did, to the octet: `--seeds 1 --from N --trace` tells all of it.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { installDisk, isOfCrash } from './disk.ts'
import { installNetwork } from './partner.ts'
import { installVirtualTime, Scheduler } from './virtual-time.ts'
import type { World } from './world.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '0' },
    trace: { type: 'boolean', default: false },
    digests: { type: 'boolean', default: false },
    first: { type: 'boolean', default: false },
  },
})
const scheduler = new Scheduler()
let world: World | undefined
const realClock = performance.now.bind(performance)
const realImmediate = setImmediate
installVirtualTime(scheduler)
installDisk(scheduler)
installNetwork(() => {
  if (!world) throw new Error('no world has begun')
  return world.partner
})
// A process that has crashed would not learn what becomes of its promises.
scheduler.uncaught = thrown => {
  if (!isOfCrash(thrown)) world?.fail(`not caught: ${inspect(thrown)}`)
}
process.on('unhandledRejection', scheduler.uncaught)
const { createBase, simulate } = await import('./simulate.ts')

const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'world-'))
const enter = (of: World): void => {
  world = of
}
const began = realClock()
let failures = 0
try {
  // What is loaded when it is first asked for is loaded by the first worlds, for which time passes.
  scheduler.begin(0)
  let isMade = false
  createBase(folder).then(() => (isMade = true))
  scheduler.isLoading = () => new Promise(resolve => realImmediate(resolve))
  await scheduler.run(() => isMade, 10_000)
  for (const seed of [1, 2, 3]) await simulate(scheduler, seed, folder, { enter })
  scheduler.isLoading = undefined
  const [from, count] = [Number(values.from), Number(values.seeds)]
  for (let seed = from; seed < from + count; seed++) {
    const trace = values.trace ? { trace: (line: string) => console.log(line) } : {}
    const { problems, digest, steps } = await simulate(scheduler, seed, folder, { enter, ...trace })
    if (values.digests) console.log(`${seed} ${digest} ${steps}`)
    if (problems.length === 0) continue
    failures++
    console.log(`seed ${seed}: ${problems.length} problems\n  ${problems.slice(0, 10).join('\n  ')}`)
    if (values.first) break
  }
  const seconds = (realClock() - began) / 1000
  console.log(`${count} worlds from seed ${from}, ${failures} with problems, ${seconds.toFixed(1)} s`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = failures > 0 ? 1 : 0
