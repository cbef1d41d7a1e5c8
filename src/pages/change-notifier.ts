/** Waits for the next change: one read a second for all waiters, and none without waiters. */
import { type Store, Unavailable } from '../service/store.ts'

/** Other instances write, too. */
const readEveryMs = 1000

export class ChangeNotifier {
  isStopped = false
  readonly #store: Store
  readonly #waitMs: number
  #version = 0
  #waiting = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined
  #isReading = false
  #seen = 0

  /** Waiters are woken after at most `waitMs`. */
  constructor(store: Store, waitMs: number) {
    this.#store = store
    this.#waitMs = waitMs
  }

  /** To be called before reading the store: a change committed after that ends the wait. */
  mark(): number {
    return this.#version
  }

  /** A separate function, which is handed to the code that commits changes. */
  readonly wake = (): void => {
    this.#version++
    const waiting = this.#waiting
    this.#waiting = new Set()
    for (const wake of waiting) wake()
  }

  /**
   * Resolves at the next change after `last`, the last sequence that was read, or when `gone` is
   * aborted.
   */
  waitForChange(mark: number, last: number, gone?: AbortSignal): Promise<void> {
    this.#seen = Math.max(this.#seen, last)
    if (mark !== this.#version || this.isStopped || gone?.aborted) return Promise.resolve()
    this.#timer ??= setInterval(() => void this.#readNext(), readEveryMs).unref()
    return new Promise(resolve => {
      const wake = (): void => {
        clearTimeout(timeout)
        gone?.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      const timeout = setTimeout(wake, this.#waitMs).unref()
      gone?.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }

  async #readNext(): Promise<void> {
    if (this.#waiting.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    if (this.#isReading) return // one read at a time, however slow the store
    this.#isReading = true
    const last = await this.#findNext(this.#seen).finally(() => (this.#isReading = false))
    if (last === undefined) return
    this.#seen = last
    this.wake()
  }

  /**
   * The sequence of the next change; also undefined while the store is out of reach. Any other
   * failure wakes the waiters, and each meets it in its own request, which reports it.
   */
  async #findNext(after: number): Promise<number | undefined> {
    try {
      return (await this.#store.read(reader => reader.changes(after, 1))).at(-1)?.sequence
    } catch (thrown) {
      if (!(thrown instanceof Unavailable)) this.wake()
      return undefined
    }
  }

  stop(): void {
    this.isStopped = true
    clearInterval(this.#timer)
    this.wake()
  }
}
