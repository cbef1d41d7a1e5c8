/**
 * Works that change the same thing take turns in this process before they take a connection: so a
 * thing that is locked elsewhere holds up only one connection, however many works want it.
 */
import type { WriteTurn } from './store.ts'
import { WaitingLines } from './waiting-lines.ts'

/** How many works on one thing may wait: as many as finish in a second or two. */
const bounds = { running: 1, waiting: 1024, waitingOfCaller: 256 }

export class KeyTurns {
  readonly #lines = new Map<string, WaitingLines>()

  /**
   * @param time in milliseconds; the work gets what is left of it
   * @throws Unavailable if the time is over before its turn comes, or if too many wait
   */
  async run<T>(turn: WriteTurn | undefined, time: number, work: (left: number) => Promise<T>): Promise<T> {
    if (turn?.item === undefined) return work(time)
    const began = performance.now()
    const { item, caller } = turn
    const lines = this.#lines.get(item) ?? new WaitingLines(bounds, `as many changes of ${item} wait as may`)
    this.#lines.set(item, lines)
    try {
      return await lines.take(caller, () => work(time - (performance.now() - began)), time)
    } finally {
      if (lines.isIdle) this.#lines.delete(item)
    }
  }
}
