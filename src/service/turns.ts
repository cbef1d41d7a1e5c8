/**
 * Long work in turns of the event loop, so that no answer, however long, holds up others. What it
 * guards, by number:
 *  (1) In one turn of the event loop at most `turnMs` are spent on such work, however many callers
 *      ask; a single step may exceed it.
 *  (2) Callers take turns: what one has asked for delays another by one step.
 *  (3) Few works are under way at once, and fewer of one caller, so what they hold is bounded; the
 *      others have not begun. A caller with too many of them waiting is refused.
 *  (4) While others ask, a caller rests four times as long as its work has held a whole turn: it
 *      takes a fifth of the time at most. A caller that asks alone does not wait.
 * Work that fits into the time that is left of a turn is done at once.
 */
import type { Maybe } from '../base/maybe.ts'
import type { RecentCallers } from './recent-callers.ts'
import { refuse } from './refusal.ts'

/** Work in steps of its own choice, each short; its text, page or answer at the end. */
export type WorkSteps<T> = Generator<unknown, T>

/** Milliseconds of one turn of the event loop. */
const turnMs = 10
/** Works under way: begun, and not done after their first turn. */
const underWayMax = 8
const underWayOfCallerMax = 2
/** Works of one caller that wait for their first turn. */
const waitingMax = 64

/** (4) */
const restFactor = 4
/** No rest is longer, whatever came before it. */
const restMaxMs = 400
/** While other callers ask: for how long work rests that has held the event loop for this time. */
export const restMsAfter = (heldMs: number): number => Math.min(restMaxMs, restFactor * heldMs)

interface Work {
  readonly caller: string
  readonly steps: WorkSteps<unknown>
  readonly resolve: (value: never) => void
  readonly reject: (thrown: unknown) => void
  hasBegun: boolean
}

/** Of a caller after a turn that its work had for itself. */
interface Rest {
  /** By the clock. */
  readonly untilMs: number
  /** Requests of all callers by then: if others ask later, it rests. */
  readonly seen: number
}

/** The event loop that turns are turns of. */
export interface TurnLoop {
  /** Runs work in the next turn of the event loop. */
  readonly later: (work: () => void) => void
  readonly sleep: (work: () => void, ms: number) => void
  /** In milliseconds, at least as fine as a tenth. */
  readonly clock: () => number
  readonly callers: Pick<RecentCallers, 'requests' | 'hasOthers'>
}

export class Turns {
  readonly #loop: TurnLoop
  /** Works by caller. The first caller is next. No queue is empty. */
  readonly #queues = new Map<string, Work[]>()
  readonly #rests = new Map<string, Rest>()
  #spentMs = 0
  #underWay = 0
  #isCounting = false
  /** When the first of the works that rest goes on, by the clock. */
  #wakesAtMs = Number.POSITIVE_INFINITY

  constructor(loop: TurnLoop) {
    this.#loop = loop
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
    return !this.#rests.has(caller) || this.#restsUntilMs(caller) <= this.#loop.clock()
  }

  /** Work of a single step. */
  run<T>(caller: string, work: () => T): Maybe<T> {
    return this.perform(caller, singleStep(work))
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
    const { clock, callers } = this.#loop
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
      if (ms >= turnMs) this.#rests.set(caller, { untilMs: nowMs + restMsAfter(ms), seen: callers.requests }) // (4)
    }
  }

  #countTurn(): void {
    if (this.#isCounting) return
    this.#isCounting = true
    this.#loop.later(() => {
      this.#isCounting = false
      this.#spentMs = 0
      this.#endRests()
      while (this.#spentMs < turnMs && this.#takeTurn());
      if (this.#queues.size > 0) this.#awaitNext()
    })
  }

  #endRests(): void {
    const nowMs = this.#loop.clock()
    for (const [caller, { untilMs }] of this.#rests) if (untilMs <= nowMs) this.#rests.delete(caller)
  }

  /** The next turn: at once, unless all works that could go on rest. */
  #awaitNext(): void {
    const nowMs = this.#loop.clock()
    let nextMs = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values())
      for (const work of queue)
        if (this.#isTaken(work, queue)) nextMs = Math.min(nextMs, this.#restsUntilMs(work.caller))
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

  /** (4) In the past for a caller that does not rest. */
  #restsUntilMs(caller: string): number {
    const rest = this.#rests.get(caller)
    return rest && this.#loop.callers.hasOthers(caller, rest.seen) ? rest.untilMs : 0
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
      if (this.#restsUntilMs(caller) > nowMs) continue
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
