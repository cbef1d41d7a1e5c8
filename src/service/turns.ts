/**
 * Long work in turns of the event loop, so that no answer, however long, holds up others. What it
 * guards, by number:
 *  (1) In one turn of the event loop at most `turnMs` are spent on such work, however many callers
 *      ask; a single step may exceed it.
 *  (2) Callers take turns: what one has asked for delays another by one step.
 *  (3) Few works are under way at once, and fewer of one caller, so what they hold is bounded; the
 *      others have not begun. A caller with too many of them waiting is refused.
 *  (4) While others ask, a caller takes a fifth of the time at most, by one long work or by many
 *      short ones (`base/time-shares.ts`). A caller that asks alone does not wait.
 * Work that fits into the time that is left of a turn is done at once.
 */
import type { Maybe } from '../base/maybe.ts'
import { type RecentCallers, TimeShares, turnMs } from '../base/time-shares.ts'
import { refuse } from './refusal.ts'

/** Work in steps of its own choice, each short; its text, page or answer at the end. */
export type WorkSteps<T> = Generator<unknown, T>

/** Works under way: begun, and not done after their first turn. */
const underWayMax = 8
const underWayOfCallerMax = 2
/** Works of one caller that wait for their first turn. */
const waitingMax = 64

/** No part counts for more: others may have been at work while it waited for other things. */
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

/** The event loop that turns are turns of. */
export interface TurnLoop {
  /** Runs work in the next turn of the event loop. */
  readonly later: (work: () => void) => void
  readonly sleep: (work: () => void, ms: number) => void
  /** In milliseconds, at least as fine as a tenth. */
  readonly clock: () => number
  /** Milliseconds for which it has been at work, and not waited, since the process began. */
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
  /** When the first of the works that rest goes on, by the clock. */
  #wakesAtMs = Number.POSITIVE_INFINITY

  constructor(loop: TurnLoop) {
    this.#loop = loop
    this.#shares = new TimeShares(loop.callers)
  }

  /**
   * What the work returns or throws, at once if the turn has time left and the caller waits for
   * nothing.
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
   * For work that is done elsewhere, in parts: begins one. What it returns is called at its end: it
   * counts what the part has held the event loop for, and resolves in the next turn, or when the
   * caller has rested.
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

  /** Steps until the end of the work or of the turn. */
  #advance<T>(caller: string, steps: WorkSteps<T>): IteratorResult<unknown, T> {
    this.#countTurn()
    const { callers, clock } = this.#loop
    const startMs = clock()
    const before = this.#spentMs
    try {
      for (;;) {
        const end = steps.next()
        this.#spentMs = before + clock() - startMs
        if (end.done || this.#spentMs >= turnMs) return end
      }
    } finally {
      const nowMs = clock()
      const ms = nowMs - startMs
      this.#spentMs = before + ms
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

  /** The next turn: at once, unless all works that could go on rest. */
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
  #isTaken(work: Work, own: readonly Work[]): boolean {
    if (work.hasBegun) return true
    return this.#underWay < underWayMax && own.filter(each => each.hasBegun).length < underWayOfCallerMax
  }

  /** A turn of the next caller whose work may go on or begin. */
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
