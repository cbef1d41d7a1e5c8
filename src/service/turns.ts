/**
 * Long work in turns of the event loop, so that no answer, however long, holds up others. What it
 * guards, by number:
 *  (1) In one turn of the event loop at most `turnMs` are spent on such work, however many callers
 *      ask; a single step may exceed it.
 *  (2) Callers take turns: what one has asked for delays another by one step.
 *  (3) Few works are under way at once, so what they hold is bounded; the others have not begun.
 *      A caller with too many of them waiting is refused.
 * Work that fits into the time that is left of a turn is done at once.
 */
import type { Maybe } from '../base/maybe.ts'
import { refuse } from './refusal.ts'

/** Work in steps of its own choice, each short; its text, page or answer at the end. */
export type WorkSteps<T> = Generator<unknown, T>

/** Milliseconds of one turn of the event loop. */
const turnMs = 10
/** Works under way: begun, and not done after their first turn. */
const underWayMax = 4
/** Works of one caller that wait for their first turn. */
const waitingMax = 64

interface Work {
  readonly steps: WorkSteps<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (thrown: unknown) => void
  hasBegun: boolean
}

export class Turns {
  readonly #later: (work: () => void) => void
  readonly #clock: () => number
  /** Works by caller. The first caller is next. */
  readonly #queues = new Map<string, Work[]>()
  #spentMs = 0
  #underWay = 0
  #isCounting = false

  /**
   * @param later runs work in the next turn of the event loop
   * @param clock in milliseconds, at least as fine as a tenth
   */
  constructor(later: (work: () => void) => void, clock: () => number) {
    this.#later = later
    this.#clock = clock
  }

  /** What the work returns or throws, at once if the turn has time left and no work waits. */
  perform<T>(caller: string, steps: WorkSteps<T>): Maybe<T> {
    const hasBegun = this.#queues.size === 0 && this.#spentMs < turnMs
    if (hasBegun) {
      const end = this.#advance(steps)
      if (end.done) return end.value
    }
    return new Promise<T>((resolve, reject) => this.#enqueue(caller, { steps, resolve, reject, hasBegun }))
  }

  /** Work of a single step. */
  run<T>(caller: string, work: () => T): Maybe<T> {
    return this.perform(caller, singleStep(work))
  }

  #enqueue(caller: string, work: Work): void {
    const queue = this.#queues.get(caller) ?? []
    if (work.hasBegun) this.#underWay++
    else if (queue.length >= waitingMax) refuse({ kind: 'unavailable', after: 1 }) // (3)
    queue.push(work)
    this.#queues.set(caller, queue)
    this.#countTurn()
  }

  /** WorkSteps until the end of the work or of the turn. */
  #advance<T>(steps: WorkSteps<T>): IteratorResult<unknown, T> {
    this.#countTurn()
    const startMs = this.#clock()
    const before = this.#spentMs
    try {
      for (;;) {
        const next = steps.next()
        this.#spentMs = before + this.#clock() - startMs
        if (next.done || this.#spentMs >= turnMs) return next
      }
    } finally {
      this.#spentMs = before + this.#clock() - startMs
    }
  }

  #countTurn(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    this.#later(() => {
      this.#isCounting = false
      this.#spentMs = 0
      while (this.#spentMs < turnMs && this.#takeTurn());
      if (this.#queues.size > 0) this.#countTurn()
    })
  }

  /** A turn of the next caller whose work may go on or begin. */
  #takeTurn(): boolean {
    for (const [caller, queue] of this.#queues) {
      const at = queue.findIndex(work => work.hasBegun || this.#underWay < underWayMax)
      const work = queue[at]
      if (!work) continue
      queue.splice(at, 1)
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue) // (2) behind the others
      this.#continue(caller, work)
      return true
    }
    return false
  }

  #continue(caller: string, work: Work): void {
    if (work.hasBegun) this.#underWay--
    work.hasBegun = true
    try {
      const end = this.#advance(work.steps)
      if (end.done)
        work.resolve(end.value as never) // of the type that its own promise has
      else this.#putBack(caller, work)
    } catch (thrown) {
      work.reject(thrown)
    }
  }

  #putBack(caller: string, work: Work): void {
    this.#underWay++
    this.#queues.set(caller, [work, ...(this.#queues.get(caller) ?? [])])
  }
}

// biome-ignore lint/correctness/useYield: a work of one step ends with it
export function* singleStep<T>(work: () => T): WorkSteps<T> {
  return work()
}

/** The end of the steps, all at once. */
export function finishSteps<T>(steps: WorkSteps<T>): T {
  for (;;) {
    const next = steps.next()
    if (next.done) return next.value
  }
}
