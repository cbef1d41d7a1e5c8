import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'

/**
 * What a measured server says to the bench: its port once, and when it is asked, the microseconds that its collector has had
 * and the octets of its old generation. It ends with the bench.
 */
export function ready(port) {
  let collector = 0
  new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) collector += duration * 1000
  }).observe({ entryTypes: ['gc'] })
  process.on('message', asked => {
    if (asked === 'collector') setImmediate(() => process.send({ collector, old: oldOctets() }))
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}

const oldOctets = () => getHeapSpaceStatistics().find(each => each.space_name === 'old_space')?.space_used_size ?? 0
