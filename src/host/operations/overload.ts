/**
 * Counts the requests in progress. If there are too many (row 3), the next one is refused in a few
 * microseconds, so that accepted ones are answered in time: otherwise a queue would grow until all
 * its clients have given up.
 */

import type { LoadGauge } from '../../front/gate.ts'

export interface Overload {
  /** Requests at once; any further one gets 503. Default: 4,096. */
  readonly concurrent?: number
  /**
   * Milliseconds that the event loop may be late while more than `calm` requests are in progress.
   * Default: 2,000, longer than a garbage collection, shorter than a client waits.
   */
  readonly late?: number
  /** Requests at once while the event loop is late. Default: 256. */
  readonly calm?: number
}

const pulseMs = 100

export class OverloadGuard implements LoadGauge {
  inFlight = 0
  inFlightMax: number
  shed = 0
  isDraining = false
  readonly #timer: NodeJS.Timeout

  constructor({ concurrent = 4096, late = 2000, calm = 256 }: Overload = {}) {
    this.inFlightMax = concurrent
    let due = performance.now() + pulseMs
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.inFlightMax = now - due > late ? calm : concurrent
      due = now + pulseMs
    }, pulseMs).unref()
  }

  /** Whether one more request would be too many. */
  get full(): boolean {
    return this.inFlight > this.inFlightMax
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
