/**
 * Units of work on the same item take turns in this process before they take a connection: so an
 * item that is locked elsewhere holds up only one connection, however many units want it.
 */
import type { WriteTurn } from './store.ts'
import { WaitingLines } from './waiting-lines.ts'

/** How many units of work on one item may wait: what finishes in a second or two. */
const bounds = { running: 1, waiting: 1024, waitingOfCaller: 256 }

export class KeyTurns {
  readonly #lines = new Map<string, WaitingLines>()

  /**
   * @param time in milliseconds; the work gets what is left of it
   * @throws Unavailable if the time is over before its turn comes, or if too many wait
   */
  async run<T>(turn: WriteTurn | undefined, time: number, work: (remaining: number) => Promise<T>): Promise<T> {
    if (turn?.item === undefined) return work(time)
    const began = performance.now()
    const { item, caller } = turn
    const lines = this.#lines.get(item) ?? new WaitingLines(bounds, `too many changes of ${item} are waiting`)
    this.#lines.set(item, lines)
    try {
      return await lines.take(caller, () => work(time - (performance.now() - began)), time)
    } finally {
      if (lines.isIdle) this.#lines.delete(item)
    }
  }
}
