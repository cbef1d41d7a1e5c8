import type { Maybe } from '../base/maybe.ts'
import type { Cell } from './dialect.ts'
import type { Statement } from './statement.ts'

export type Cells = readonly Cell[]

/** What runs statements: within one transaction, for one reader or writer. */
export interface StatementRunner {
  /** Rows as arrays, in the order of the statement's columns. */
  rows(statement: Statement, values: readonly Cell[]): Maybe<readonly Cells[]>
  /** The first row. */
  first(statement: Statement, values: readonly Cell[]): Maybe<Cells | undefined>
  run(statement: Statement, values: readonly Cell[]): Maybe<void>
}

/** Refuses once the work that it was given to is over. */
export class BorrowedConnection implements StatementRunner {
  readonly #on: StatementRunner
  #over = false
  constructor(on: StatementRunner) {
    this.#on = on
  }
  over(): void {
    this.#over = true
  }
  #alive(): StatementRunner {
    if (this.#over) throw new Error('the work that this was given to is over')
    return this.#on
  }
  rows(of: Statement, values: readonly Cell[]) {
    return this.#alive().rows(of, values)
  }
  first(of: Statement, values: readonly Cell[]) {
    return this.#alive().first(of, values)
  }
  run(of: Statement, values: readonly Cell[]) {
    return this.#alive().run(of, values)
  }
}
