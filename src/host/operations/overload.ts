/**
 * How much is under way, and whether it is too much (row 3). Who comes then is told to come back,
 * in a few microseconds, so that those who were let in are answered in time: without it a queue
 * grows until everybody in it has given up.
 */

import type { LoadGauge } from '../../front/gate.ts'

export interface Overload {
  /** Requests at once; the next is answered 503. Default 4,096. */
  readonly concurrent?: number
  /**
   * Milliseconds that the event loop may be late while more than `calm` requests are under way.
   * Default 2,000: a pause to collect garbage is shorter, and a client's patience is longer.
   */
  readonly late?: number
  /** Default 256. */
  readonly calm?: number
}

/** Milliseconds between two looks at the clock. */
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

  /** Whether one more is too many. */
  get full(): boolean {
    return this.inFlight > this.inFlightMax
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
