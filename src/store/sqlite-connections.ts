/**
 * Connections to one SQLite file: their prepared statements, each answered at once; what their
 * errors mean to callers; and the read connections, which share snapshots.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import { Refused } from '../service/refusal.ts'
import { closedStore, type Filter, type ItemPage, type Query, type ReadWork, Unavailable } from '../service/store.ts'
import { type Cells, duplicateKey, octetsOf, type StatementRunner } from './connection.ts'
import { CountMemory } from './count-memory.ts'
import { type Cell, sqlite } from './dialect.ts'
import { describeQuery, fewRows, judgeLength } from './long-query.ts'
import type { OpenedFiles } from './opened-files.ts'
import type { ReadThreads } from './read-thread.ts'
import type { RecentTrouble } from './recent-trouble.ts'
import { countCandidates } from './search-plan.ts'
import { sql } from './sql.ts'
import { countInRow, SqlReader, type StoreSchema, WatchedReader } from './sql-access.ts'
import { boundParameters, compileStatement, type Statement } from './statement.ts'
import type { Table } from './table.ts'
import { isSqliteError } from './write-queue.ts'

/** Takes rows up to the one that exceeds the octets: those after it are not even read. */
function takeWithin(rows: Iterable<unknown>, octetsMax: number): Cells[] {
  const taken: Cells[] = []
  let octets = 0
  for (const row of rows) {
    taken.push(row as Cells) // rows are arrays
    octets += octetsOf(row as Cells)
    if (octets > octetsMax && taken.length > 1) break
  }
  return taken
}

/** A connection and its prepared statements. */
export class PreparedRunner implements StatementRunner {
  readonly #database: DatabaseSync
  /** Keyed by statement, so that a prepared statement is released with it. */
  readonly #prepared = new WeakMap<Statement, StatementSync>()
  constructor(database: DatabaseSync) {
    this.#database = database
  }

  #prepare(of: Statement): StatementSync {
    const prepared = this.#database.prepare(of.text)
    prepared.setReturnArrays(true)
    this.#prepared.set(of, prepared)
    return prepared
  }
  // Rows are arrays (setReturnArrays), and no cell is a boolean: the dialect has none.
  rows(of: Statement, values: readonly Cell[], octets?: number): readonly Cells[] {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      const parameters = boundParameters(of, values) as readonly SQLInputValue[]
      if (octets !== undefined) return takeWithin(prepared.iterate(...parameters) as Iterable<unknown>, octets)
      return prepared.all(...parameters) as unknown as readonly Cells[]
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }
  first(of: Statement, values: readonly Cell[]): Cells | undefined {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      return prepared.get(...(boundParameters(of, values) as readonly SQLInputValue[])) as unknown as Cells | undefined
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }
  /**
   * Not `run` of node:sqlite, which returns the number of the last row inserted and throws if it is
   * beyond 2^53: FTS5 writes such rows (its tombstones) in its own tables.
   */
  run(of: Statement, values: readonly Cell[]): void {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      prepared.all(...(boundParameters(of, values) as readonly SQLInputValue[]))
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }
}

/**
 * SQLITE_BUSY, LOCKED, READONLY, IOERR, FULL and CANTOPEN pass, or the operator fixes them: the
 * caller may try again.
 */
const passingCodes = new Set([5, 6, 8, 10, 13, 14])
/** SQLITE_CONSTRAINT_UNIQUE, if the program does not know the key. */
const keyTakenCode = 2067
export function toStoreError(thrown: unknown): unknown {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined
  if (code === keyTakenCode) return new Refused(duplicateKey)
  return (typeof code === 'number' && passingCodes.has(code & 0xff)) || (code === 1 && lacksName(thrown))
    ? new Unavailable(1, thrown)
    : thrown
}
/** SQLITE_CORRUPT and NOTADB: the file is damaged, and no later try repairs it. */
const damageCodes = new Set([11, 26])
const constraintCode = 19

/**
 * Why a transaction of several units of work was lost at its commit, or between two. A constraint
 * that was deferred to the commit is reported to a unit that is alone; if there are several, the
 * others are not to blame, and each may try again.
 */
export function toLossError(thrown: unknown, units: number): unknown {
  const code = thrown instanceof Error && 'errcode' in thrown ? Number(thrown.errcode) & 0xff : undefined
  const isLasting = code !== undefined && (damageCodes.has(code) || (code === constraintCode && units === 1))
  return isLasting ? toStoreError(thrown) : new Unavailable(1, thrown)
}

/** SQLITE_ERROR: a newer program dropped what this one declares; another instance may answer. */
const lacksName = (thrown: unknown): boolean =>
  thrown instanceof Error && /no such (table|column)|has no column named/.test(thrown.message)

/** How long a statement, and the event loop with it, waits for another process. */
export const lockWaitMs = 20

/** Busy, closed, or an error of SQLite's. */
const isOutOfReach = (thrown: unknown): boolean =>
  thrown instanceof Unavailable || isSqliteError(thrown) || errorCodeOf(thrown) === 'ERR_INVALID_STATE'

export interface ReaderParts {
  readonly file: string
  readonly files: OpenedFiles
  readonly threads: ReadThreads
  readonly trouble: RecentTrouble
}

/**
 * Reads that begin in one turn of the event loop share a connection and its snapshot: locking a
 * snapshot costs twice as much as finding a row. A commit of our own ends the sharing, so that
 * callers see what they have written; a commit of another process is visible from the next turn on.
 */
export class Readers {
  readonly #schema: StoreSchema
  readonly #parts: ReaderParts
  readonly #free: OpenReader[] = []
  #busy = 0
  #shared: OpenReader | undefined
  #closed = false

  constructor(schema: StoreSchema, parts: ReaderParts) {
    this.#schema = schema
    this.#parts = parts
    this.#free.push(new OpenReader(parts.file, usualCacheKiB))
  }

  readonly read = <T>(work: ReadWork<T>): Maybe<T> => {
    const { trouble } = this.#parts
    const reader = new FileReader(this.#schema, this, this.#parts)
    let answer: Maybe<T>
    try {
      answer = work(reader)
    } catch (thrown) {
      reader.end()
      trouble.notice(thrown)
      throw thrown
    }
    if (answer instanceof Promise) return trouble.watch(answer).finally(() => reader.end())
    reader.end()
    return answer
  }

  /** A connection and its snapshot, for one more reader. */
  enter(): OpenReader {
    const reading = this.#shared ?? this.#begin()
    reading.users++
    return reading
  }

  #begin(): OpenReader {
    if (this.#closed) throw new Unavailable(1, closedStore)
    if (this.#busy >= readsMax) throw new Unavailable(1, `${readsMax} reads are open already`)
    const reading = this.#free.pop() ?? this.#open()
    reading.begin()
    this.#busy++
    this.#shared = reading
    setImmediate(() => {
      if (this.#shared === reading) this.renew()
    })
    return reading
  }

  #open(): OpenReader {
    this.#parts.files.requireUnmoved() // otherwise it would open another database
    try {
      return new OpenReader(this.#parts.file, this.#busy === 0 ? usualCacheKiB : otherCacheKiB)
    } catch (thrown) {
      throw toStoreError(thrown)
    }
  }

  /** Later reads see what is committed by now. */
  renew(): void {
    const reading = this.#shared
    this.#shared = undefined
    if (reading?.users === 0) this.#end(reading)
  }

  leave(reading: OpenReader): void {
    reading.users--
    if (reading.users === 0 && reading !== this.#shared) this.#end(reading)
  }

  #end(reading: OpenReader): void {
    this.#busy--
    // The result was already returned: a failing disk ends the connection, not the process.
    const isEnded = attempt(() => reading.end(), isSqliteError) !== undefined
    if (!isEnded || this.#closed || this.#free.length >= idleReadersMax) reading.close()
    else if (reading.cacheKiB === usualCacheKiB) this.#free.push(reading)
    else this.#free.unshift(reading)
  }

  ready(): boolean {
    return attempt(() => this.read(() => true), isOutOfReach) === true
  }

  /** Reads under way keep their connection until they end. */
  close(): void {
    this.#closed = true
    this.renew()
    for (const reading of this.#free.splice(0)) reading.close()
  }
}
/**
 * Reads in the event loop, but leaves lists that may take long to a thread. Meanwhile it holds no
 * connection, so what it reads afterwards is read in a later snapshot.
 */
class FileReader extends SqlReader {
  readonly #readers: Readers
  readonly #parts: ReaderParts
  #reading: OpenReader | undefined
  constructor(schema: StoreSchema, readers: Readers, parts: ReaderParts) {
    const reading = readers.enter()
    super(schema, reading.on)
    this.#readers = readers
    this.#parts = parts
    this.#reading = reading
  }

  override list(resource: string, query: Query): Maybe<ItemPage> {
    const table = this.schema.tables.get(resource)
    const filters = table ? judgeLength(table, query) : 'short'
    if (!table || filters === 'short' || this.on.hasEnded) return super.list(resource, query)
    if (filters.some(filter => this.#leavesFew(table, query, filter))) return super.list(resource, query)
    this.#leave()
    this.on = this.#readLater()
    const describe = (): string => describeQuery(resource, query)
    this.#parts.files.requireUnmoved() // because a thread may open the file only now
    return this.#parts.threads.read(query.party ?? '', describe, async on =>
      new WatchedReader(this.schema, on).list(resource, query),
    )
  }

  #leavesFew(table: Table, query: Query, filter: Filter): boolean {
    const count = countCandidates(this.schema, this.on, table, query, { filter }, fewRows)
    return !(count instanceof Promise) && count <= fewRows // this runner answers at once
  }

  #readLater(): StatementRunner {
    return {
      rows: (...args) => this.#enter().rows(...args),
      first: (...args) => this.#enter().first(...args),
      run: (...args) => this.#enter().run(...args),
    }
  }

  #enter(): PreparedRunner {
    this.#reading ??= this.#readers.enter()
    this.on = this.#reading.on
    return this.#reading.on
  }

  protected override count(of: Statement, values: readonly Cell[]): Maybe<number> {
    return this.#reading ? this.#reading.count(of, values) : super.count(of, values)
  }

  #leave(): void {
    if (this.#reading) this.#readers.leave(this.#reading)
    this.#reading = undefined
  }

  override end(): void {
    super.end()
    this.#leave()
  }
}

/** A read that waits for something else holds a snapshot, so connections are limited. */
const readsMax = 64
const idleReadersMax = 8
/**
 * Cache for pages of the file that a connection keeps until the next commit. The connection that
 * nearly all reads share has more, so that reads of a table of this size ask the system for
 * nothing.
 */
const usualCacheKiB = 32_768
const otherCacheKiB = 2000

/** The value changes for a connection when another connection has committed. */
const dataVersion = compileStatement(sqlite, sql`pragma data_version`)

class OpenReader {
  readonly on: PreparedRunner
  readonly cacheKiB: number
  users = 0
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #counts = new CountMemory()
  #hasFollowed = false
  constructor(file: string, cacheKiB: number) {
    this.cacheKiB = cacheKiB
    this.#database = new DatabaseSync(file, { readOnly: true, timeout: lockWaitMs })
    this.#database.exec(`pragma cache_size = -${cacheKiB}`)
    this.on = new PreparedRunner(this.#database)
    this.#begin = this.#database.prepare('begin')
    this.#commit = this.#database.prepare('commit')
  }
  begin(): void {
    this.#begin.get()
    this.#hasFollowed = false
  }
  count(of: Statement, values: readonly Cell[]): number {
    if (!this.#hasFollowed) this.#counts.follow(this.on.first(dataVersion, [])?.[0])
    this.#hasFollowed = true
    return this.#counts.recall(of, values, () => countInRow(this.on.first(of, values)))
  }
  end(): true {
    this.#commit.get()
    return true
  }
  close(): void {
    this.#database.close()
  }
}
