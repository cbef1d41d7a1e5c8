/**
 * Finds changes that hold the store's writer for long, while they do so: a handler that waits for
 * another service holds up all changes of a SQLite store, and its own connection on PostgreSQL.
 */
import type { WatchChange, WorkOrigin } from '../../service/handler-facts.ts'

const slowMs = 1000
const lookEveryMs = 250

interface Holder {
  readonly origin: WorkOrigin
  readonly by: 'call' | 'job'
  readonly since: number
}
type ReportSlowChange = (origin: WorkOrigin, by: Holder['by'], heldMs: number) => void

export class SlowChanges {
  readonly #report: ReportSlowChange
  readonly #holders = new Set<Holder>()
  readonly #timer: NodeJS.Timeout

  /** @param report called once for each change that takes longer than a second */
  constructor(report: ReportSlowChange) {
    this.#report = report
    this.#timer = setInterval(() => {
      for (const holder of this.#holders) this.#look(holder)
    }, lookEveryMs).unref()
  }

  /** @returns a function to call when the change has ended */
  readonly watch: WatchChange = (origin, by) => {
    const holder: Holder = { origin, by, since: performance.now() }
    this.#holders.add(holder)
    return () => {
      if (!this.#holders.has(holder)) return
      this.#look(holder) // a change that kept the timer from running
      this.#holders.delete(holder)
    }
  }

  #look(holder: Holder): void {
    const heldMs = performance.now() - holder.since
    if (heldMs < slowMs) return
    this.#holders.delete(holder)
    this.#report(holder.origin, holder.by, heldMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
