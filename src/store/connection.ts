/**
 * Connections of either database as readers and writers see them: rows as arrays, and nothing after
 * their time.
 */
import type { Maybe } from '../base/maybe.ts'
import type { Cell } from './dialect.ts'
import type { Statement } from './statement.ts'

export type Cells = readonly Cell[]

/** Runs statements within one transaction, for one reader or writer. */
export interface StatementRunner {
  /** Rows as arrays, in the order of the statement's columns. */
  rows(statement: Statement, values: readonly Cell[]): Maybe<readonly Cells[]>
  /** The first row. */
  first(statement: Statement, values: readonly Cell[]): Maybe<Cells | undefined>
  run(statement: Statement, values: readonly Cell[]): Maybe<void>
}

/** A mistake of an application that kept what it was given: it reaches its developer. */
export const createEndedError = (): Error => new Error('this store was used after its transaction had ended')

/** Refuses after the work that it was given to has ended. */
export class BorrowedConnection implements StatementRunner {
  readonly #on: StatementRunner
  #hasEnded = false
  constructor(on: StatementRunner) {
    this.#on = on
  }
  end(): void {
    this.#hasEnded = true
  }
  #requireOpen(): StatementRunner {
    if (this.#hasEnded) throw createEndedError()
    return this.#on
  }
  rows(of: Statement, values: readonly Cell[]) {
    return this.#requireOpen().rows(of, values)
  }
  first(of: Statement, values: readonly Cell[]) {
    return this.#requireOpen().first(of, values)
  }
  run(of: Statement, values: readonly Cell[]) {
    return this.#requireOpen().run(of, values)
  }
}
