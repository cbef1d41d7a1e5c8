/**
 * SQLite restarts its log (WAL) once no read needs its content, so long reads that keep overlapping
 * would let it grow for as long as they come (SQLite "Write-Ahead Logging" §6). What always holds:
 *  (1) While the log is long, no further read of a thread begins until the earlier ones have ended
 *      and a commit has restarted the log.
 *  (2) The wait is bounded: if a read of another program keeps the log, or nothing is committed,
 *      reads continue, and wait again once it has grown by the same amount.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** More than SQLite keeps of it (`journal_size_limit`). */
export const longLogOctets = 128 << 20
const lookEveryMs = 20

export interface LogPauseOptions {
  /** The length of the log now. */
  readonly octets: () => number
  /** Milliseconds after which all reads that are under way have ended. */
  readonly timeMs: number
}

export class LogPause {
  readonly #options: LogPauseOptions
  #boundOctets = longLogOctets
  #pause: Promise<void> | undefined

  constructor(options: LogPauseOptions) {
    this.#options = options
  }

  /** Resolves when a read may begin. */
  async wait(): Promise<void> {
    const octets = this.#options.octets()
    if (octets <= longLogOctets) this.#boundOctets = longLogOctets
    if (octets <= this.#boundOctets) return
    this.#pause ??= this.#waitForCommit().finally(() => (this.#pause = undefined))
    await this.#pause
  }

  async #waitForCommit(): Promise<void> {
    const { octets, timeMs } = this.#options
    const until = performance.now() + timeMs
    while (octets() > longLogOctets && performance.now() < until) await sleep(lookEveryMs)
    this.#boundOctets = octets() + longLogOctets // (2)
  }
}
