/**
 * Long work in turns of the event loop, so that no answer, however long, holds up others. What it
 * guards, by number:
 *  (1) In one turn of the event loop, such work takes at most `turnMs`, however many callers there
 *      are; only a single step may exceed it.
 *  (2) Callers take turns: the work of one delays another by one step.
 *  (3) Few units are under way at once, and fewer per caller, so what they hold is bounded; the
 *      others have not begun. A caller with too much waiting work is refused.
 *  (4) If others are active, a caller takes a fifth of the time at most, by one long work or by
 *      many short ones (`base/time-shares.ts`). A caller without competition does not wait.
 * Work that fits into the time left of a turn is done at once.
 */
import type { Maybe } from '../base/maybe.ts'
import { type RecentCallers, TimeShares, turnMs } from '../base/time-shares.ts'
import { refuse } from './refusal.ts'

/** Work in short steps of its own choice; it returns its text, page or answer at the end. */
export type WorkSteps<T> = Generator<unknown, T>

/** Works under way: begun, but not finished in their first turn. */
const underWayMax = 8
const underWayOfCallerMax = 2
/** Works of one caller that wait for their first turn. */
const waitingMax = 64

/** A part never counts for more: while it waited for something, others may have worked. */
const partMaxMs = 2 * turnMs

/** Ends a part of long work, and resolves when the next may begin. */
export type EndPart = () => Promise<void>

interface Work {
  readonly caller: string
  readonly steps: WorkSteps<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (thrown: unknown) => void
  hasBegun: boolean
}

/** The event loop whose turns these are. */
export interface TurnLoop {
  /** Runs work in the next turn of the event loop. */
  readonly later: (work: () => void) => void
  readonly sleep: (work: () => void, ms: number) => void
  /** In milliseconds, with a resolution of a tenth or finer. */
  readonly clock: () => number
  /** Milliseconds that it has worked, not waited, since the process began. */
  readonly activeMs: () => number
  readonly callers: Pick<RecentCallers, 'requests' | 'hasOthers'>
}

export class Turns {
  readonly #loop: TurnLoop
  /** Works by caller. The first caller is next. No queue is empty. */
  readonly #queues = new Map<string, Work[]>()
  /** (4) */
  readonly #shares: TimeShares
  #spentMs = 0
  #underWay = 0
  #isCounting = false
  /** When the first resting work continues, by the clock. */
  #wakesAtMs = Number.POSITIVE_INFINITY

  constructor(loop: TurnLoop) {
    this.#loop = loop
    this.#shares = new TimeShares(loop.callers)
  }

  /**
   * Returns or throws what the work does, at once if the turn has time left and no work of the
   * caller waits.
   */
  perform<T>(caller: string, steps: WorkSteps<T>): Maybe<T> {
    const hasBegun = this.#mayBeginAtOnce(caller)
    const end = hasBegun ? this.#advance(caller, steps) : undefined
    if (end?.done) return end.value
    return new Promise<T>((resolve, reject) => {
      const work: Work = { caller, steps, resolve, reject, hasBegun }
      if (hasBegun) this.#putBack(work)
      else this.#enqueue(work)
    })
  }

  #mayBeginAtOnce(caller: string): boolean {
    if (this.#spentMs >= turnMs || this.#underWay >= underWayMax || this.#queues.has(caller)) return false
    return this.#shares.restsUntilMs(caller) <= this.#loop.clock()
  }

  /** Work of a single step. */
  run<T>(caller: string, work: () => T): Maybe<T> {
    return this.perform(caller, singleStep(work))
  }

  /**
   * For work that is done elsewhere, in parts: begins a part. Call the function it returns at the
   * end of the part: it counts how long the part has held the event loop, and resolves in the next
   * turn, or when the caller has rested.
   */
  beginPart(caller: string): EndPart {
    const { activeMs, callers, clock, later, sleep } = this.#loop
    const [beganMs, since] = [activeMs(), callers.requests]
    return () => {
      const nowMs = clock()
      this.#shares.spend(caller, Math.min(partMaxMs, activeMs() - beganMs), nowMs, since)
      const restMs = this.#shares.restsUntilMs(caller) - nowMs
      return new Promise(resolve => {
        if (restMs > 0) sleep(resolve, restMs)
        else later(resolve)
      })
    }
  }

  #enqueue(work: Work): void {
    const queue = this.#queues.get(work.caller) ?? []
    if (queue.length >= waitingMax) refuse({ kind: 'unavailable', after: 1 }) // (3)
    queue.push(work)
    this.#queues.set(work.caller, queue)
    this.#countTurn()
  }

  /** Runs steps until the end of the work or of the turn. */
  #advance<T>(caller: string, steps: WorkSteps<T>): IteratorResult<unknown, T> {
    this.#countTurn()
    const { callers, clock } = this.#loop
    const startMs = clock()
    const spentBefore = this.#spentMs
    try {
      for (;;) {
        const end = steps.next()
        this.#spentMs = spentBefore + clock() - startMs
        if (end.done || this.#spentMs >= turnMs) return end
      }
    } finally {
      const nowMs = clock()
      const ms = nowMs - startMs
      this.#spentMs = spentBefore + ms
      this.#shares.spend(caller, ms, nowMs, callers.requests)
    }
  }

  #countTurn(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    this.#loop.later(() => {
      this.#isCounting = false
      this.#spentMs = 0
      while (this.#spentMs < turnMs && this.#takeTurn());
      if (this.#queues.size > 0) this.#awaitNext()
    })
  }

  /** Schedules the next turn: at once, unless all work that could continue is resting. */
  #awaitNext(): void {
    const nowMs = this.#loop.clock()
    let nextMs = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values())
      for (const work of queue)
        if (this.#isTaken(work, queue)) nextMs = Math.min(nextMs, this.#shares.restsUntilMs(work.caller))
    if (nextMs <= nowMs) this.#countTurn()
    else if (nextMs < this.#wakesAtMs) this.#wakeAt(nextMs, nextMs - nowMs)
  }

  #wakeAt(nextMs: number, restMs: number): void {
    this.#wakesAtMs = nextMs
    this.#loop.sleep(() => {
      if (this.#wakesAtMs === nextMs) this.#wakesAtMs = Number.POSITIVE_INFINITY
      this.#countTurn()
    }, restMs)
  }

  /** (3) */
  #isTaken(work: Work, ofCaller: readonly Work[]): boolean {
    if (work.hasBegun) return true
    return this.#underWay < underWayMax && ofCaller.filter(each => each.hasBegun).length < underWayOfCallerMax
  }

  /** Gives a turn to the next caller whose work may continue or begin. */
  #takeTurn(): boolean {
    const nowMs = this.#loop.clock()
    for (const [caller, queue] of this.#queues) {
      if (this.#shares.restsUntilMs(caller) > nowMs) continue
      const at = queue.findIndex(work => this.#isTaken(work, queue))
      const work = queue[at]
      if (!work) continue
      queue.splice(at, 1)
      this.#queues.delete(caller)
      if (queue.length > 0) this.#queues.set(caller, queue) // (2) behind the others
      this.#continue(work)
      return true
    }
    return false
  }

  #continue(work: Work): void {
    if (work.hasBegun) this.#underWay--
    try {
      const end = this.#advance(work.caller, work.steps)
      if (end.done)
        work.resolve(end.value as never) // of the type that its own promise has
      else this.#putBack(work)
    } catch (thrown) {
      work.reject(thrown)
    }
  }

  #putBack(work: Work): void {
    this.#underWay++
    work.hasBegun = true
    this.#queues.set(work.caller, [work, ...(this.#queues.get(work.caller) ?? [])])
    this.#countTurn()
  }
}

// biome-ignore lint/correctness/useYield: a unit of work with one step ends with it
export function* singleStep<T>(work: () => T): WorkSteps<T> {
  return work()
}

/** Runs all steps at once, and returns their result. */
export function finishSteps<T>(steps: WorkSteps<T>): T {
  for (;;) {
    const next = steps.next()
    if (next.done) return next.value
  }
}
