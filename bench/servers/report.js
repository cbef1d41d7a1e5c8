import { PerformanceObserver } from 'node:perf_hooks'

/**
 * What a measured server says to the bench: its port once, and the microseconds that its collector has had when it is asked
 * for them. It ends with the bench.
 */
export function ready(port) {
  let collector = 0
  new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) collector += duration * 1000
  }).observe({ entryTypes: ['gc'] })
  process.on('message', asked => {
    if (asked === 'collector') setImmediate(() => process.send({ collector }))
  })
  process.on('disconnect', () => process.exit())
  process.send({ port })
}
