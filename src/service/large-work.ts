/**
 * Changes with large contents, which hold the event loop for tens of milliseconds each. What it
 * guards, by number:
 *  (1) Few are under way, more than one since a handler may wait for others; the callers that wait
 *      take turns, and a caller with too many is refused.
 *  (2) While others ask, a place stays empty four times as long as the loop was busy while a change
 *      was in it: large changes take a fifth of the time. A caller that asks alone does not wait.
 */
import { restMsAfter, type TurnLoop } from './turns.ts'
import { WaitingLines } from './waiting-lines.ts'

/** Octets of a content from which its change is large work. */
export const largeContentOctets = 32 * 1024
/** (2) At most, whatever a handler waited for. */
const restMaxMs = 1000
const bounds = { running: 4, waiting: 256, waitingOfCaller: 64 }

/** The event loop that large work holds. */
export interface BusyLoop extends Pick<TurnLoop, 'sleep' | 'callers'> {
  /** Milliseconds for which it has been at work, and not waited, since the process began. */
  readonly activeMs: () => number
}

export class LargeWork {
  readonly #loop: BusyLoop
  readonly #line = new WaitingLines(bounds, 'changes with large contents: too many of them wait')

  constructor(loop: BusyLoop) {
    this.#loop = loop
  }

  /**
   * What the work resolves to, in its turn.
   * @throws Unavailable if too many works of the caller wait
   */
  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const { callers, activeMs, sleep } = this.#loop
    const runAndRest = async (): Promise<void> => {
      const { requests } = callers
      const beforeMs = activeMs()
      await work().then(resolve, reject)
      const restMs = restMsAfter(activeMs() - beforeMs, restMaxMs)
      if (callers.hasOthers(caller, requests)) await new Promise<void>(rested => sleep(rested, restMs))
    }
    this.#line.take(caller, runAndRest).catch(reject)
    return promise
  }
}
