/**
 * Connections of either database as readers and writers see them: rows as arrays, and nothing after
 * their time.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Refusal } from '../service/refusal.ts'
import type { Cell } from './dialect.ts'
import type { Statement } from './statement.ts'

export type Cells = readonly Cell[]

/** Runs statements within one transaction, for one reader or writer. */
export interface StatementRunner {
  /** Whether its work is over, so that it refuses what is asked. Default: it is not. */
  readonly hasEnded?: boolean
  /**
   * Rows as arrays, in the order of the statement's columns. With `octets` it may end after the row
   * that exceeds them.
   */
  rows(statement: Statement, values: readonly Cell[], octets?: number): Maybe<readonly Cells[]>
  /** The first row. */
  first(statement: Statement, values: readonly Cell[]): Maybe<Cells | undefined>
  run(statement: Statement, values: readonly Cell[]): Maybe<void>
}
/** What is done over one connection. */
export type StatementWork<T> = (on: StatementRunner) => Maybe<T>

/** Octets of a row, nearly: characters of text, and eight for each other cell. */
export function octetsOf(row: Cells): number {
  let octets = 0
  for (const cell of row) octets += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8
  return octets
}

/** Its value is not decoded before it is asked for, and is not kept. */
export const isLargeRow = (row: Cells): boolean => octetsOf(row) > 8192

/** A mistake of an application that kept what it was given: it reaches its developer. */
export const createEndedError = (): Error => new Error('this store was used after its transaction had ended')

const refuseEnded = (): never => {
  throw createEndedError()
}
/** In place of the connection, for a reader or writer whose work has ended. */
export const endedRunner: StatementRunner = {
  hasEnded: true,
  rows: refuseEnded,
  first: refuseEnded,
  run: refuseEnded,
}

/**
 * A unique key that a program does not know of is taken. One that it knows of is asked for before,
 * and named.
 */
export const takenKey: Refusal = {
  kind: 'conflict',
  detail: 'another item has this value, which must be unique: give another value',
}
