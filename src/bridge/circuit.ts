/**
 * Decides whether to call a service that does not respond. What always holds:
 *  (1) After this many calls in a row without a response it is left alone for a while; a fault is a
 *      response.
 *  (2) Then one call tries it; the others wait until that call has a response, or its response
 *      begins.
 */
import type { BridgeLimits } from './bridge-limits.ts'

export class Circuit {
  readonly #clock: () => number
  readonly #note: (line: string) => void
  readonly #failuresMax: number
  readonly #pauseMs: number
  #failures = 0
  #pausedUntil = 0
  #isTried = false

  /** @param note receives a line when the service begins, and when it ceases, to be left alone */
  constructor(
    clock: () => number,
    note: (line: string) => void,
    { failures, pause }: Pick<BridgeLimits, 'failures' | 'pause'>,
  ) {
    this.#clock = clock
    this.#note = note
    this.#failuresMax = failures
    this.#pauseMs = pause
  }

  /** Whether the service is left alone, except for the one call that tries it. */
  get isOpen(): boolean {
    return this.#failures >= this.#failuresMax
  }

  /** Seconds that a call should wait; 0: it may proceed, and `settle` has to follow. */
  admit(): number {
    if (!this.isOpen) return 0
    const untilMs = this.#pausedUntil - this.#clock()
    const leftMs = untilMs > this.#pauseMs ? 0 : untilMs // a longer pause means that the clock was put back
    if (leftMs > 0 || this.#isTried) return Math.max(1, Math.ceil(leftMs / 1000))
    this.#isTried = true
    return 0
  }

  /** A response has begun, which may take long: the other calls do not wait for its end. */
  begin(): void {
    this.#isTried = false
    if (this.isOpen) this.#close()
  }

  #close(): void {
    if (this.isOpen) this.#note('the backend responds again')
    this.#failures = 0
  }

  settle(isAnswered: boolean): void {
    this.#isTried = false
    if (isAnswered) {
      this.#close()
      return
    }
    this.#failures++
    if (!this.isOpen) return
    this.#pausedUntil = this.#clock() + this.#pauseMs
    this.#note(`the backend has not responded ${this.#failures} times: it is not called for ${this.#pauseMs / 1000} s`)
  }
}
