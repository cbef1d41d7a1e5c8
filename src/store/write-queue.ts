/**
 * Writers wait in one line for the one connection, and share transactions in groups. What always
 * holds:
 *  (1) One unit runs at a time. Each is between `save` and `release` or `undo`, so that its
 *      exception undoes this unit and nothing else.
 *  (2) No outcome, good or bad, is reported before its transaction is durable. If the commit fails,
 *      nothing of the group has happened: each of its units is reported as unavailable, or with the
 *      error of a damaged file.
 *  (3) A unit that takes too long is undone and reported as unavailable; whatever it tries
 *      afterwards throws.
 *  (4) Callers take turns: however many units wait for one, they delay another by one unit.
 *  (5) A unit runs in the asynchronous context of its own caller, never in that of another in its
 *      group: what a host keeps there (a trace, a user) belongs to one request.
 * A group is what arrives in successive turns of the event loop, so a single write does not wait.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import { closedStore, Unavailable } from '../service/store.ts'

/**
 * The transaction of a group, on the one connection that writes. Each step but `begin` completes at
 * once or throws.
 */
export interface Transaction {
  /** May wait for another process. */
  begin(): Promise<void>
  commit(): void
  rollback(): void
  /** Some failures end a transaction. */
  isOpen(): boolean
  /** The error for each unit of work of a transaction that an error of the database has lost. */
  explainLoss(thrown: unknown, units: number): unknown
  /** Called when a unit of work begins: `undo` leads back to here. */
  save(): void
  release(): void
  undo(): void
}

/** For a transaction, it means that it is lost with all that it held. */
export const isSqliteError = (thrown: unknown): boolean => errorCodeOf(thrown) === 'ERR_SQLITE_ERROR'

export interface QueueBounds {
  /** Units of work in one transaction. */
  readonly group: number
  /** Milliseconds after which no further work joins a transaction. */
  readonly open: number
  /** Milliseconds that one unit of work may hold the transaction. */
  readonly work: number
}
/**
 * A group is large enough to share the cost of a disk flush, and so short that its wait is not
 * noticed.
 */
export const defaultBounds: QueueBounds = { group: 256, open: 10, work: 10_000 }

/**
 * Turns of the event loop in which a group gathers: each reads what has arrived, and does not wait.
 */
const gatherTurnsMax = 8

/** Access to the transaction for one unit of work; ends with the unit, or when its time is up. */
export interface UnitAccess {
  end(): void
}
interface QueueEntry {
  readonly access: UnitAccess
  readonly run: (access: UnitAccess) => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (thrown: unknown) => void
}
type OnSettled = () => void

/** Waiting units, in a line for each caller: the next is from another caller, if there is one. */
class CallerLines<T> {
  /** The caller with the next turn comes first. No line is empty. */
  readonly #lines = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(caller: string, entry: T): void {
    const line = this.#lines.get(caller)
    if (line) line.push(entry)
    else this.#lines.set(caller, [entry])
    this.#size++
  }

  take(): T | undefined {
    for (const [caller, line] of this.#lines) {
      const next = line.shift()
      this.#lines.delete(caller)
      if (line.length > 0) this.#lines.set(caller, line)
      this.#size--
      return next
    }
    return undefined
  }
}

/** Ends the wait for one unit of work at a time; the timer of the first serves those after it. */
class UnitTimer {
  readonly #limitMs: number
  #timer: NodeJS.Timeout | undefined
  #endsAt = 0
  #reject: (thrown: unknown) => void = () => {}

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** The answer of the unit that begins now. */
  limit(answer: Promise<unknown>): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    answer.then(resolve, reject)
    this.#reject = reject
    this.#endsAt = performance.now() + this.#limitMs
    this.#timer ??= setTimeout(() => this.#look(), this.#limitMs)
    return promise
  }

  /** Without effect on a unit that has ended. */
  #look(): void {
    const leftMs = this.#endsAt - performance.now()
    this.#timer = leftMs > 0 ? setTimeout(() => this.#look(), Math.ceil(leftMs)) : undefined
    if (leftMs > 0) return
    const why = `a unit of work held the store for more than ${this.#limitMs} ms: do slow work in a job`
    this.#reject(new Unavailable(1, why))
  }

  /** Called when no unit is left; a timer would keep the process alive. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#reject = () => {}
  }
}

export class Queue {
  readonly #transaction: Transaction
  readonly #bounds: QueueBounds
  readonly #timer: UnitTimer
  readonly #waiting = new CallerLines<QueueEntry>()
  #running: Promise<void> | undefined
  readonly #looks = new Set<Promise<void>>()
  #open = false
  #closed = false

  constructor(transaction: Transaction, limits: QueueBounds = defaultBounds) {
    this.#transaction = transaction
    this.#bounds = limits
    this.#timer = new UnitTimer(limits.work)
  }

  /** @param caller whose turn it takes */
  add<T, L extends UnitAccess>(access: L, work: (access: L) => Maybe<T>, caller = ''): Promise<T> {
    if (this.#closed) return Promise.reject(new Unavailable(1, closedStore))
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const run = AsyncLocalStorage.bind(work) as QueueEntry['run'] // which gets only this access
    this.#waiting.add(caller, { access, run, resolve: resolve as (value: unknown) => void, reject }) // `run` gives a T
    this.#running ??= this.#drain()
    return promise
  }

  /** Units that wait in line. */
  get length(): number {
    return this.#waiting.size
  }

  /**
   * Looks at the same connection. This happens at once if no transaction is open, and none begins
   * before its end; otherwise it waits in line.
   */
  look<T, L extends UnitAccess>(access: L, work: (access: L) => Maybe<T>): Maybe<T> {
    if (this.#open || this.#closed) return this.add(access, work)
    let answer: Maybe<T>
    try {
      answer = work(access)
    } catch (thrown) {
      access.end()
      throw thrown
    }
    if (!(answer instanceof Promise)) {
      access.end()
      return answer
    }
    const timer = new UnitTimer(this.#bounds.work)
    const end = (): void => {
      timer.stop()
      access.end()
    }
    const look = timer.limit(answer).then(end, end)
    this.#looks.add(look)
    look.finally(() => this.#looks.delete(look))
    return answer
  }

  /** Finishes waiting work, and refuses new work. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #drain(): Promise<void> {
    while (this.#waiting.size > 0) {
      await this.#gather()
      await this.#runGroup()
    }
    this.#timer.stop()
    this.#running = undefined
  }

  /**
   * What arrives in this turn of the event loop joins, and what arrives in the next turns as long
   * as each brings some. Runs before every group, so that endless writers leave the loop to others
   * between two groups.
   */
  async #gather(): Promise<void> {
    let before = 0
    for (let turns = 0; turns < gatherTurnsMax && this.#waiting.size > before; turns++) {
      before = this.#waiting.size
      await nextTurn()
    }
  }

  async #runGroup(): Promise<void> {
    this.#open = true
    if (this.#looks.size > 0) await Promise.all(this.#looks)
    try {
      await this.#transaction.begin()
    } catch (thrown) {
      this.#open = false
      for (let i = 0; i < this.#bounds.group; i++) this.#waiting.take()?.reject(thrown)
      return
    }
    const members: QueueEntry[] = []
    try {
      const outcomes = await this.#fill(members)
      this.#transaction.commit()
      this.#open = false
      for (const tell of outcomes) tell()
    } catch (thrown) {
      this.#discard()
      this.#open = false
      const why = isSqliteError(thrown) ? this.#transaction.explainLoss(thrown, members.length) : thrown
      for (const { reject } of members) reject(why)
    }
  }

  /**
   * A failed rollback had nothing to undo, or has lost its connection and everything that it held.
   */
  #discard(): void {
    attempt(() => this.#transaction.isOpen() && this.#transaction.rollback(), isSqliteError)
  }

  /** Runs units one after the other; throws when the transaction is lost on the way. */
  async #fill(members: QueueEntry[]): Promise<readonly OnSettled[]> {
    const outcomes: OnSettled[] = []
    const started = performance.now()
    while (members.length < this.#bounds.group && performance.now() - started < this.#bounds.open) {
      const next = this.#waiting.take()
      if (!next) break
      members.push(next)
      const outcome = this.#runOne(next)
      outcomes.push(outcome instanceof Promise ? await outcome : outcome)
    }
    return outcomes
  }

  #runOne(next: QueueEntry): Maybe<OnSettled> {
    this.#transaction.save()
    let answer: unknown
    try {
      answer = next.run(next.access)
    } catch (thrown) {
      return this.#fail(next, thrown)
    }
    if (!(answer instanceof Promise)) return this.#finish(next, answer)
    return this.#timer.limit(answer).then(
      value => this.#finish(next, value),
      thrown => this.#fail(next, thrown),
    )
  }

  #finish(next: QueueEntry, value: unknown): OnSettled {
    next.access.end()
    this.#transaction.release()
    return () => next.resolve(value)
  }

  #fail(next: QueueEntry, thrown: unknown): OnSettled {
    next.access.end()
    this.#transaction.undo()
    return () => next.reject(thrown)
  }
}
