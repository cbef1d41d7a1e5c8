/**
 * Moves a very long log (WAL) of SQLite into its file away from the event loop. Commits do this
 * otherwise, a thousand pages at a time; but if another program has kept the log for hours, the
 * first commit after it would move gigabytes, and hold the event loop for as long. What always
 * holds:
 *  (1) While the log is that long, no commit of this process moves it: a thread does.
 *  (2) Commits do so again as soon as the thread has moved nearly everything: they restart the log.
 */
import { Worker } from 'node:worker_threads'
import { longLogOctets } from './log-pause.ts'
import type { CheckpointReply } from './read-thread-port.ts'

/** Longer than what overlapping reads of our own leave (log-pause.ts). */
const handedOverOctets = 2 * longLogOctets
const lookEveryMs = 1000

export interface LogCheckpointOptions {
  readonly file: string
  /** The program of the thread. */
  readonly program: URL
  /** The length of the log now. */
  readonly octets: () => number
  /** Pages of the log from which a commit moves them; 0: never. */
  readonly setAutomatic: (pages: number) => void
  /** For tests. */
  readonly handedOver?: number
}

/** SQLite's default. */
const usualPages = 1000

export class LogCheckpoint {
  readonly #options: LogCheckpointOptions
  readonly #timer: NodeJS.Timeout
  #isAutomatic = true
  #worker: Worker | undefined

  constructor(options: LogCheckpointOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), lookEveryMs).unref()
    this.#look()
  }

  #look(): void {
    const { octets, handedOver = handedOverOctets } = this.#options
    if (this.#worker) return
    if (octets() > handedOver) this.#handOver()
    else this.#setAutomatic(true)
  }

  #handOver(): void {
    this.#setAutomatic(false)
    const { file, program } = this.#options
    const worker = new Worker(program, { workerData: { file, task: 'checkpoint' } })
    worker.unref()
    worker.on('message', ({ leftPages }: CheckpointReply) => this.#setAutomatic(leftPages < usualPages))
    worker.on('error', () => {}) // the next look tries again
    worker.on('exit', () => (this.#worker = undefined))
    this.#worker = worker
  }

  #setAutomatic(isAutomatic: boolean): void {
    if (isAutomatic === this.#isAutomatic) return
    this.#options.setAutomatic(isAutomatic ? usualPages : 0)
    this.#isAutomatic = isAutomatic
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#worker?.terminate()
    this.#setAutomatic(true)
  }
}
