/**
 * Writers in one line on one connection, in groups that share a transaction. What always holds:
 *  (1) One work at a time; each in a savepoint of its own, so that what it throws undoes it and nothing beside it.
 *  (2) No outcome is told, good or bad, before the transaction that it was reached in is durable. If that fails, nothing of the
 *      group happened, and all of it is unavailable.
 *  (3) A work that takes too long is undone and is unavailable; what it tries afterwards throws.
 * A group is what comes in turns of the event loop that follow one another, so a write without company waits for nobody.
 */

import { attempt, errorCodeOf } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import { Unavailable } from '../service/store.ts'

/** The transaction of a group, on the one connection that writes. Each answers at once or throws. */
export interface Transaction {
  /** May have to wait for another process. */
  begin(): Promise<void>
  commit(): void
  rollback(): void
  /** Whether it is open: some failures end it. */
  isOpen(): boolean
  save(): void
  release(): void
  undo(): void
}

/** Of a transaction: it is lost with all that it held. */
export const isSqliteError = (thrown: unknown): boolean => errorCodeOf(thrown) === 'ERR_SQLITE_ERROR'

export interface QueueBounds {
  /** Works in one transaction. */
  readonly group: number
  /** Milliseconds after which a transaction takes in no further work. */
  readonly open: number
  /** Milliseconds that one work may hold the transaction. */
  readonly work: number
}
/** A group is large enough to share the cost of a disk's flush, and short enough that nobody notices having waited. */
export const defaultBounds: QueueBounds = { group: 256, open: 50, work: 10_000 }

/** Turns of the event loop in which a group gathers: each reads what has come meanwhile, and waits for nothing. */
const mostTurns = 8

/** Something to do within the transaction; `over` is called when its time is up or it is done. */
export interface QueuedWork<T> {
  readonly run: () => Maybe<T>
  readonly over: () => void
}
interface QueueEntry {
  readonly work: QueuedWork<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (thrown: unknown) => void
}
type OnSettled = () => void

export class Queue {
  readonly #transaction: Transaction
  readonly #bounds: QueueBounds
  #waiting: QueueEntry[] = []
  #running: Promise<void> | undefined
  readonly #looks = new Set<Promise<void>>()
  #open = false
  #closed = false

  constructor(transaction: Transaction, limits: QueueBounds = defaultBounds) {
    this.#transaction = transaction
    this.#bounds = limits
  }

  add<T>(work: QueuedWork<T>): Promise<T> {
    if (this.#closed) return Promise.reject(new Unavailable())
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ work, resolve: resolve as (value: unknown) => void, reject }) // work.run answers a T
      this.#running ??= this.#drain()
    })
  }

  /** Works in the line. */
  get length(): number {
    return this.#waiting.length
  }

  /** A look at the same connection: at once when no transaction is open, and then none begins until it is over; else in line. */
  look<T>(work: QueuedWork<T>): Maybe<T> {
    if (this.#open || this.#closed) return this.add(work)
    const answer = work.run()
    if (!(answer instanceof Promise)) {
      work.over()
      return answer
    }
    const look = this.#inTime(answer).then(
      () => work.over(),
      () => work.over(),
    )
    this.#looks.add(look)
    look.finally(() => this.#looks.delete(look))
    return answer
  }

  /** Finishes what waits and takes nothing more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#running
  }

  async #drain(): Promise<void> {
    await this.#gathered()
    while (this.#waiting.length > 0) await this.#group()
    this.#running = undefined
  }

  /** The others of this turn of the event loop come along, and those of the next ones while each brings some. */
  async #gathered(): Promise<void> {
    let before = 0
    for (let turns = 0; turns < mostTurns && this.#waiting.length > before; turns++) {
      before = this.#waiting.length
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  async #group(): Promise<void> {
    this.#open = true
    await Promise.all(this.#looks)
    try {
      await this.#transaction.begin()
    } catch (thrown) {
      this.#open = false
      for (const { reject } of this.#waiting.splice(0, this.#bounds.group)) reject(thrown)
      return
    }
    const members: QueueEntry[] = []
    try {
      const told = await this.#fill(members)
      this.#transaction.commit()
      this.#open = false
      for (const tell of told) tell()
    } catch (thrown) {
      this.#discard()
      this.#open = false
      const why = isSqliteError(thrown) ? new Unavailable() : thrown
      for (const { reject } of members) reject(why)
    }
  }

  /** A rollback that fails has nothing to undo, or a connection that is lost with all it held. */
  #discard(): void {
    attempt(() => this.#transaction.isOpen() && this.#transaction.rollback(), isSqliteError)
  }

  /** Works one after the other; throws when the transaction was lost on the way. */
  async #fill(members: QueueEntry[]): Promise<readonly OnSettled[]> {
    const told: OnSettled[] = []
    const started = performance.now()
    while (members.length < this.#bounds.group && performance.now() - started < this.#bounds.open) {
      const next = this.#waiting.shift()
      if (!next) break
      members.push(next)
      const one = this.#one(next)
      told.push(one instanceof Promise ? await one : one)
    }
    return told
  }

  #one(next: QueueEntry): Maybe<OnSettled> {
    this.#transaction.save()
    let answer: unknown
    try {
      answer = next.work.run()
    } catch (thrown) {
      return this.#failed(next, thrown)
    }
    if (!(answer instanceof Promise)) return this.#done(next, answer)
    return this.#inTime(answer).then(
      value => this.#done(next, value),
      thrown => this.#failed(next, thrown),
    )
  }

  #done(next: QueueEntry, value: unknown): OnSettled {
    next.work.over()
    this.#transaction.release()
    return () => next.resolve(value)
  }

  #failed(next: QueueEntry, thrown: unknown): OnSettled {
    next.work.over()
    this.#transaction.undo()
    return () => next.reject(thrown)
  }

  #inTime(answer: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Unavailable()), this.#bounds.work)
      answer.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }
}
