/**
 * Changes that hold the store's writer for long, found while they do: a handler that waits for
 * another service holds up all changes of a SQLite store, and its own connection on PostgreSQL.
 */
import type { Call } from '../../service/call.ts'

const slowMs = 1000
const lookEveryMs = 250

interface Holder {
  readonly call: Call
  readonly since: number
}

export class SlowChanges {
  readonly #tell: (call: Call, heldMs: number) => void
  readonly #holders = new Set<Holder>()
  readonly #timer: NodeJS.Timeout

  /** @param tell is called once for each change that takes longer than a second */
  constructor(tell: (call: Call, heldMs: number) => void) {
    this.#tell = tell
    this.#timer = setInterval(() => {
      for (const holder of this.#holders) this.#look(holder)
    }, lookEveryMs).unref()
  }

  /** @returns to be called when the change has ended */
  watch(call: Call): () => void {
    const holder = { call, since: performance.now() }
    this.#holders.add(holder)
    return () => {
      if (!this.#holders.has(holder)) return
      this.#look(holder) // one that did not let the timer run
      this.#holders.delete(holder)
    }
  }

  #look(holder: Holder): void {
    const heldMs = performance.now() - holder.since
    if (heldMs < slowMs) return
    this.#holders.delete(holder)
    this.#tell(holder.call, heldMs)
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}
