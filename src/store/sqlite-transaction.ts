/**
 * The transaction that units of work on SQLite share. What always holds, by number:
 *  (1) What a unit wrote before it threw is gone; what the others of its group wrote stays.
 *  (2) A unit has no savepoint, because SQLite would then copy each page that the unit changes,
 *      which is a fifth of the cost of a change. Instead, writes are recorded. If a unit throws
 *      after it has written, everything is rolled back, and what the units before it wrote is
 *      written again.
 *  (3) Units that throw late cost the others little: after one, units have savepoints until the end
 *      of the first group in which none throws late.
 *  (4) The record is bounded: beyond its bounds, the next units of the group have savepoints.
 *  (5) If another process has written between the rollback and the next begin, what the earlier
 *      units have read may no longer hold, so the whole group is undone.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoizeByObject } from '../base/memo.ts'
import { Unavailable } from '../service/store.ts'
import { type Cells, octetsOf } from './connection.ts'
import type { Cell } from './dialect.ts'
import { PreparedRunner, toLossError, toStoreError } from './sqlite-connections.ts'
import type { Statement } from './statement.ts'
import type { Transaction } from './write-queue.ts'

/** Recorded statements: enough for more than two hundred units of a few statements each. */
const recordedMax = 4000
const recordedOctetsMax = 4 << 20

/** Only a statement that begins with `select` certainly changes nothing. */
const mayWrite = memoizeByObject((of: Statement) => !/^\s*select\b/i.test(of.text))

interface RecordedWrite {
  readonly of: Statement
  readonly values: readonly Cell[]
}

/** Runs the statements of units of work on the writing connection, and records changes. */
export class RecordingRunner extends PreparedRunner {
  readonly #database: DatabaseSync
  /** How many statements have written since the transaction began. */
  count = 0
  /** Whether everything written can be written again. */
  isWhole = true
  #record: RecordedWrite[] = []
  #octets = 0

  constructor(database: DatabaseSync) {
    super(database)
    this.#database = database
  }

  override rows(of: Statement, values: readonly Cell[], octets?: number): readonly Cells[] {
    if (!mayWrite(of)) return super.rows(of, values, octets)
    this.requireTransaction()
    const rows = super.rows(of, values, octets)
    this.#add(of, values)
    return rows
  }
  override first(of: Statement, values: readonly Cell[]): Cells | undefined {
    if (!mayWrite(of)) return super.first(of, values)
    this.requireTransaction()
    const row = super.first(of, values)
    this.#add(of, values)
    return row
  }
  override run(of: Statement, values: readonly Cell[]): void {
    if (mayWrite(of)) this.requireTransaction()
    super.run(of, values)
    if (mayWrite(of)) this.#add(of, values)
  }

  /**
   * Some errors of SQLite end its transaction; a statement after that would be its own transaction.
   */
  requireTransaction(): void {
    if (!this.#database.isTransaction)
      throw new Unavailable(1, 'SQLite has ended the transaction: the error before this one tells why')
  }

  #add(of: Statement, values: readonly Cell[]): void {
    this.count++
    this.isWhole &&= this.count <= recordedMax && this.#octets < recordedOctetsMax
    if (!this.isWhole) return
    this.#octets += octetsOf(values)
    this.#record.push({ of, values })
  }

  /** Called when another transaction begins, or this one has ended. */
  forget(): void {
    this.count = 0
    this.isWhole = true
    this.#record = []
    this.#octets = 0
  }

  /** Repeats the first statements of the last transaction in a new one. */
  writeAgain(count: number): void {
    const first = this.#record.slice(0, count)
    this.forget()
    for (const { of, values } of first) this.run(of, values)
  }
}

export interface CommitHooks {
  /** Called before each commit, which does not happen if this throws. */
  readonly committing?: () => void
  /** Called after each commit. */
  readonly committed?: () => void
}

export class GroupTransaction implements Transaction {
  readonly #database: DatabaseSync
  readonly #on: RecordingRunner
  readonly #busyTimeoutMs: number
  readonly #hooks: CommitHooks
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #save: StatementSync
  readonly #release: StatementSync
  readonly #dataVersion: StatementSync
  /** It changes if and only if another connection commits. */
  #seen: unknown
  /** (3) */
  #isWary = false
  #hasThrownLate = false
  /** How much was written before the current work. */
  #before = 0
  #hasSavepoint = false

  constructor(database: DatabaseSync, on: RecordingRunner, busyTimeoutMs: number, hooks: CommitHooks = {}) {
    this.#database = database
    this.#on = on
    this.#busyTimeoutMs = busyTimeoutMs
    this.#hooks = hooks
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#save = database.prepare('savepoint work')
    this.#release = database.prepare('release work')
    this.#dataVersion = database.prepare('pragma data_version')
  }

  async begin(): Promise<void> {
    const until = performance.now() + this.#busyTimeoutMs
    for (let wait = 5; ; wait = Math.min(100, wait * 2)) {
      try {
        this.#begin.get()
        break
      } catch (thrown) {
        const why = toStoreError(thrown)
        if (!(why instanceof Unavailable) || performance.now() > until) throw why
      }
      await sleep(wait)
    }
    this.#on.forget()
    this.#hasThrownLate = false
    this.#seen = this.#readDataVersion()
  }

  #readDataVersion(): unknown {
    return this.#dataVersion.get()?.['data_version']
  }

  commit(): void {
    this.#hooks.committing?.()
    this.#commit.get()
    this.#on.forget()
    this.#isWary = this.#hasThrownLate
    this.#hooks.committed?.()
  }
  rollback(): void {
    this.#database.exec('rollback')
  }
  isOpen(): boolean {
    return this.#database.isTransaction
  }
  explainLoss(thrown: unknown, units: number): unknown {
    return toLossError(thrown, units)
  }

  save(): void {
    this.#on.requireTransaction()
    this.#before = this.#on.count
    this.#hasSavepoint = this.#isWary || !this.#on.isWhole // (4)
    if (this.#hasSavepoint) this.#save.get()
  }
  release(): void {
    this.#on.requireTransaction()
    if (this.#hasSavepoint) this.#release.get()
  }
  undo(): void {
    this.#on.requireTransaction()
    const hasWritten = this.#on.count > this.#before
    if (this.#hasSavepoint) this.#database.exec('rollback to work; release work')
    else if (hasWritten) this.#undoByRecord()
    this.#hasThrownLate ||= hasWritten
  }

  /** (1) (2) */
  #undoByRecord(): void {
    this.#database.exec('rollback')
    this.#begin.get()
    const dataVersion = this.#readDataVersion()
    if (this.#before > 0 && dataVersion !== this.#seen)
      throw new Unavailable(1, 'another process wrote while a transaction was made again') // (5)
    this.#seen = dataVersion
    this.#isWary = true
    this.#on.writeAgain(this.#before)
  }
}
