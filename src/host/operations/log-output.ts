/**
 * Standard error as the log uses it: lines are written at once. What it guards:
 *  (1) A log that accepts no lines (a full disk, a reader that has left) ends no request and no
 *      process. Lost lines are counted, and their number is reported once the log accepts lines
 *      again.
 *  (2) A line is written completely before the next one, even if only half of it was accepted at
 *      first.
 *  (3) The log waits for a slow reader, at most a second, and then not again until it reads; but
 *      where the descriptor itself blocks (most pipes), the system waits for as long as it takes.
 */
import { writeSync } from 'node:fs'
import { errorCodeOf } from '../../base/attempt.ts'

const waitMs = 1000
const retryMs = 5

export class LogOutput {
  readonly #file: number
  readonly #reportLost: (lines: number) => void
  /** (2) The rest of a line that was accepted in part. */
  #rest: Uint8Array = new Uint8Array()
  #lost = 0

  /** @param file the descriptor of the file */
  constructor(file: number, reportLost: (lines: number) => void) {
    this.#file = file
    this.#reportLost = reportLost
  }

  write(line: string): void {
    if (!this.#finish()) {
      this.#lost++
      return
    }
    const lines = this.#lost
    this.#lost = 0
    if (lines > 0) this.#reportLost(lines)
    this.#rest = Buffer.from(line)
    const { length } = this.#rest
    if (this.#finish() || this.#rest.length < length) return
    this.#rest = new Uint8Array()
    this.#lost++
  }

  /** False where part of the line is left. */
  #finish(): boolean {
    const until = performance.now() + (this.#lost === 0 ? waitMs : 0) // (3)
    while (this.#rest.length > 0) {
      const count = writeSome(this.#file, this.#rest)
      if (typeof count === 'number') this.#rest = this.#rest.subarray(count)
      else if (count === 'never' || performance.now() >= until) return false
      else Atomics.wait(sleeper, 0, 0, retryMs)
    }
    return true
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4))

/** How many octets were accepted; if none, whether the reader may just be slow. */
function writeSome(file: number, octets: Uint8Array): number | 'later' | 'never' {
  try {
    return writeSync(file, octets)
  } catch (thrown) {
    return ['EAGAIN', 'EBUSY'].includes(errorCodeOf(thrown)) ? 'later' : 'never'
  }
}
