/**
 * Work done in turns: each waiting caller has one turn after the other, however many of its units
 * of work wait. What it guards:
 *  (1) At most `running` units run at a time, `runningOfCaller` per caller, so that one caller's
 *      slow work leaves places free; at most `waiting` wait, `waitingOfCaller` per caller.
 *  (2) If all places are taken, a caller gets the last place of the caller with the most, if it has
 *      fewer itself: a crowd at a few addresses shuts no other out.
 *  (3) A unit whose turn does not come in time is refused.
 */
import { Unavailable } from './store.ts'

export interface LineBounds {
  readonly running: number
  /** Default: as many as run at all. */
  readonly runningOfCaller?: number
  readonly waiting: number
  readonly waitingOfCaller: number
}

interface Waiting {
  readonly start: () => void
  readonly refuse: (why: Unavailable) => void
}

const retrySeconds = 1

export class WaitingLines {
  readonly #bounds: LineBounds
  readonly #fullLine: string
  /** The caller with the next turn comes first. No line is empty. */
  readonly #lines = new Map<string, Waiting[]>()
  readonly #runningOf = new Map<string, number>()
  #running = 0
  #waiting = 0

  /** @param fullLine the error, for an operator, if there is no place to wait */
  constructor(bounds: LineBounds, fullLine: string) {
    this.#bounds = bounds
    this.#fullLine = fullLine
  }

  get running(): number {
    return this.#running
  }
  get waiting(): number {
    return this.#waiting
  }
  /** Whether nothing runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /**
   * Does the work in its turn.
   * @param timeMs in which its turn has to come; without it, any
   * @throws Unavailable if there is no place to wait, or its turn does not come in time
   */
  async take<T>(caller: string, work: () => Promise<T>, timeMs?: number): Promise<T> {
    if (this.#mayRun(caller)) this.#begin(caller)
    else await this.#wait(caller, timeMs)
    try {
      return await work()
    } finally {
      this.#end(caller)
      this.#beginNext()
    }
  }

  /** Throws `Unavailable` if another unit of work of this caller would find no place. */
  requirePlace(caller: string): void {
    const ownLength = this.#lines.get(caller)?.length ?? 0
    const isFull = this.#waiting >= this.#bounds.waiting && this.#longestLine().length <= ownLength + 1
    if (isFull || ownLength >= this.#bounds.waitingOfCaller) throw new Unavailable(retrySeconds, this.#fullLine)
  }

  #wait(caller: string, timeMs: number | undefined): Promise<void> {
    this.requirePlace(caller)
    if (this.#waiting >= this.#bounds.waiting) this.#dismissLast(this.#longestLine()) // (2)
    const { promise, resolve: start, reject: refuse } = Promise.withResolvers<void>()
    const waiting: Waiting = { start, refuse }
    const line = this.#lines.get(caller)
    if (line) line.push(waiting)
    else this.#lines.set(caller, [waiting])
    this.#waiting++
    if (timeMs === undefined) return promise
    const timer = setTimeout(() => this.#leave(caller, waiting), timeMs) // (3)
    return promise.finally(() => clearTimeout(timer))
  }

  #leave(caller: string, waiting: Waiting): void {
    const line = this.#lines.get(caller) ?? []
    const at = line.indexOf(waiting)
    if (at === -1) return
    line.splice(at, 1)
    if (line.length === 0) this.#lines.delete(caller)
    this.#waiting--
    waiting.refuse(new Unavailable(retrySeconds, this.#fullLine))
  }

  #mayRun(caller: string): boolean {
    const { running, runningOfCaller = running } = this.#bounds
    return this.#running < running && (this.#runningOf.get(caller) ?? 0) < runningOfCaller
  }

  #begin(caller: string): void {
    this.#running++
    this.#runningOf.set(caller, (this.#runningOf.get(caller) ?? 0) + 1)
  }

  #end(caller: string): void {
    this.#running--
    const remaining = (this.#runningOf.get(caller) ?? 1) - 1
    if (remaining > 0) this.#runningOf.set(caller, remaining)
    else this.#runningOf.delete(caller)
  }

  /** A finished work's place goes to the first work of the next caller that may run one. */
  #beginNext(): void {
    const [caller, line] = this.#lines.entries().find(([each]) => this.#mayRun(each)) ?? []
    const next = line?.shift()
    if (caller === undefined || !next) return
    this.#lines.delete(caller)
    if (line && line.length > 0) this.#lines.set(caller, line)
    this.#waiting--
    this.#begin(caller)
    next.start()
  }

  #longestLine(): Waiting[] {
    let longest: Waiting[] = []
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line
    return longest
  }

  /** The line has at least two entries, otherwise `requirePlace` would have refused. */
  #dismissLast(line: Waiting[]): void {
    line.pop()?.refuse(new Unavailable(retrySeconds, this.#fullLine))
    this.#waiting--
  }
}
