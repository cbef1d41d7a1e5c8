/**
 * How much is under way, and whether it is too much (row 3). Who comes then is told to come back, in a few microseconds, so
 * that those who were let in are answered in time: without it a queue grows until everybody in it has given up.
 */

export interface Overload {
  /** Requests at once; the next is answered 503. Default 4,096. */
  readonly concurrent?: number
  /**
   * Milliseconds that the event loop may be late while more than `calm` requests are under way. Default 2,000: a pause to
   * collect garbage is shorter, and a client's patience is longer.
   */
  readonly late?: number
  /** Default 256. */
  readonly calm?: number
}

/** Milliseconds between two looks at the clock. */
const pulse = 100

export class OverloadGuard {
  /** Requests that have come and are not answered. */
  inFlight = 0
  /** Requests that were turned away. */
  shed = 0
  /** Milliseconds that the event loop was late at the last look. */
  late = 0
  readonly #limits: Required<Overload>
  readonly #timer: NodeJS.Timeout

  constructor({ concurrent = 4096, late = 2000, calm = 256 }: Overload = {}) {
    this.#limits = { concurrent, late, calm }
    let due = performance.now() + pulse
    this.#timer = setInterval(() => {
      const now = performance.now()
      this.late = Math.max(0, now - due)
      due = now + pulse
    }, pulse).unref()
  }

  /** Whether one more is too many. */
  get full(): boolean {
    const { concurrent, late, calm } = this.#limits
    return this.inFlight > concurrent || (this.late > late && this.inFlight > calm)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
