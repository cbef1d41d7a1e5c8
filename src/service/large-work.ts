/**
 * Changes with large contents, which hold the event loop for tens of milliseconds each. What it
 * guards, by number:
 *  (1) One begins when the previous one has ended, or a tenth of a second after that one began,
 *      since its handler may wait for others. Waiting callers take turns, and a caller with too
 *      many is refused.
 *  (2) If others are active, the next one waits four times as long as the previous one kept the
 *      loop busy, so large changes take a fifth of the time. A caller without competition does not
 *      wait.
 */
import { restMsAfter } from '../base/time-shares.ts'
import type { TurnLoop } from './turns.ts'
import { WaitingLines } from './waiting-lines.ts'

/** Content of this many octets makes a change large work. */
export const largeContentOctets = 32 * 1024
/** (1) */
const placeMs = 100
const bounds = { running: 1, waiting: 256, waitingOfCaller: 64 }

type BusyLoop = Pick<TurnLoop, 'sleep' | 'callers' | 'activeMs'>

export class LargeWork {
  readonly #loop: BusyLoop
  readonly #line = new WaitingLines(bounds, 'too many changes with large contents are waiting')

  constructor(loop: BusyLoop) {
    this.#loop = loop
  }

  /**
   * Does the work in its turn.
   * @throws Unavailable if too much work of the caller is waiting
   */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const { callers, activeMs, sleep } = this.#loop
    const pause = (ms: number) => new Promise<void>(resolve => sleep(resolve, ms))
    const runAndRest = async (): Promise<void> => {
      const { requests } = callers
      const beforeMs = activeMs()
      const result = work().then(resolve, reject)
      await Promise.race([result, pause(placeMs)])
      if (callers.hasOthers(caller, requests)) await pause(restMsAfter(activeMs() - beforeMs))
    }
    this.#line.take(caller, runAndRest).catch(reject)
    return promise
  }
}
