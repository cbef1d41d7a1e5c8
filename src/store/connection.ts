/**
 * Connections to either database as readers and writers see them: they return rows as arrays, and
 * refuse every use after their work has ended.
 */

import type { Maybe } from '../base/maybe.ts'
import type { Refusal } from '../service/refusal.ts'
import type { Cell } from './dialect.ts'
import type { Statement } from './statement.ts'

export type Cells = readonly Cell[]

/** Runs statements within one transaction, for one reader or writer. */
export interface StatementRunner {
  /** Whether its work is over; then it refuses every statement. Default: false. */
  readonly hasEnded?: boolean
  /**
   * Rows as arrays, in the order of the statement's columns. If `octets` is given, it may stop
   * after the row that exceeds it.
   */
  rows(statement: Statement, values: readonly Cell[], octets?: number): Maybe<readonly Cells[]>
  first(statement: Statement, values: readonly Cell[]): Maybe<Cells | undefined>
  run(statement: Statement, values: readonly Cell[]): Maybe<void>
}
/** Work done on one connection. */
export type StatementWork<T> = (on: StatementRunner) => Maybe<T>

/** The approximate octets of a row: the characters of its texts, and eight for each other cell. */
export function octetsOf(row: Cells): number {
  let octets = 0
  for (const cell of row) octets += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8
  return octets
}

/** The value of a large row is decoded only when it is needed, and is not cached. */
export const isLargeRow = (row: Cells): boolean => octetsOf(row) > 8192

/**
 * A bug in an application that kept a reader or writer too long: the error is for its developer.
 */
export const createEndedError = (): Error => new Error('this store was used after its transaction had ended')

const refuseEnded = (): never => {
  throw createEndedError()
}
/** Replaces the connection of a reader or writer whose work has ended. */
export const endedRunner: StatementRunner = {
  hasEnded: true,
  rows: refuseEnded,
  first: refuseEnded,
  run: refuseEnded,
}

/**
 * A unique key is taken that this program does not know. Keys that it knows are checked beforehand,
 * and named.
 */
export const duplicateKey: Refusal = {
  kind: 'conflict',
  detail: 'another item has this value, which must be unique: give another value',
}
