/**
 * Works that change the same thing take turns in this process, before they take a connection: a
 * thing that is locked elsewhere holds up one connection, however many ask for it.
 */
import type { WriteTurn } from './store.ts'
import { WaitingLines } from './waiting-lines.ts'

/** Works on one thing that wait: as many as are done in a second or two. */
const bounds = { running: 1, waiting: 1024, waitingOfCaller: 256 }

export class KeyTurns {
  readonly #lines = new Map<string, WaitingLines>()

  /**
   * @param time in milliseconds; the work is given what is left of it
   * @throws Unavailable when it is over before its turn comes, or too many wait
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
