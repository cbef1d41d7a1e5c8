/**
 * Whether a service that does not answer is asked at all. What always holds:
 *  (1) After so many calls in a row without an answer it is left alone for a while; a fault is an
 *      answer.
 *  (2) Then one call tries it; the others wait for the outcome of that one.
 */

const failuresMax = 5
const restMs = 5000

export class Circuit {
  readonly #clock: () => number
  readonly #note: (line: string) => void
  #failures = 0
  #restsUntil = 0
  #isTried = false

  /** @param note gets a line where it begins and where it ends to be left alone */
  constructor(clock: () => number, note: (line: string) => void) {
    this.#clock = clock
    this.#note = note
  }

  /** Seconds for which a call should wait; 0: it may ask, and `settle` has to follow. */
  admit(): number {
    if (this.#failures < failuresMax) return 0
    const leftMs = this.#restsUntil - this.#clock()
    if (leftMs > 0 || this.#isTried) return Math.max(1, Math.ceil(leftMs / 1000))
    this.#isTried = true
    return 0
  }

  settle(isAnswered: boolean): void {
    this.#isTried = false
    if (isAnswered) {
      if (this.#failures >= failuresMax) this.#note('the service behind answers again')
      this.#failures = 0
      return
    }
    this.#failures++
    if (this.#failures < failuresMax) return
    this.#restsUntil = this.#clock() + restMs
    this.#note(`the service behind has not answered ${this.#failures} times: it is left alone for ${restMs / 1000} s`)
  }
}
