/**
 * The SQLite store: the port of `service/store.ts` on one file. What always holds, by number:
 *  (1) A version is larger than any its key has had before, also after a removal: no validator ever returns.
 *  (2) A write is answered after the flush of the transaction that it is in (WAL, synchronous=FULL): no crash loses it.
 *  (3) Work that throws, or holds the transaction too long, leaves no trace; what it does afterwards throws.
 *  (4) A read sees one state, of commits alone, and waits for no writer. (Only `:memory:` has one connection, where reads
 *      take their turn among the writers.)
 *  (5) A contract that is no addition to what stands is refused at start, before anything is changed.
 *  (6) A database that is busy, full or read-only is `Unavailable`; what is our fault, or a broken file, is an ordinary error.
 * Deliberately absent: HTTP, XML, and who is asking.
 */

import { backup as copy, DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt, errorCodeOf } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import type { Service } from '../contract/service.ts'
import { type Store, type StoreReader, type StoreWriter, Unavailable } from '../service/store.ts'
import { BorrowedConnection, type Cells, type StatementRunner } from './connection.ts'
import { type Cell, sqlite } from './dialect.ts'
import { planMigration } from './migration.ts'
import { compileExpiries, removeExpired } from './records.ts'
import { compileStoreSchema, SqlReader, SqlWriter, type StoreSchema } from './sql-access.ts'
import { boundParameters, compileStatement, type Statement } from './statement.ts'
import { defaultBounds, isSqliteError, Queue, type QueueBounds, type Transaction } from './write-queue.ts'

export interface SqliteOptions extends Partial<QueueBounds> {
  /** Milliseconds to wait for another process that writes; default 5,000. */
  readonly patience?: number
  /** Milliseconds that a committed change stays readable in the feed; default seven days. */
  readonly changesKept?: number
}
export interface SqliteStore extends Store {
  /** Writes a consistent copy to another file while the store is in use. */
  backup(file: string): Promise<void>
}

/** In one step: no write restarts the copy. */
const everyPage = 2 ** 31 - 1
const week = 7 * 24 * 3600 * 1000
/** Milliseconds that one statement waits for another process: the event loop stands still meanwhile. */
const pause = 20

/** Opens the file, makes it when it is not there, and brings it to the contract's shape; throws when that is no addition. */
export function openSqliteStore(service: Service, file: string, options: SqliteOptions = {}): SqliteStore {
  const made = compileStoreSchema(service, sqlite, work => store.read(reader => work(reader as SqlReader))) // every reader here is one
  const writing = open(file, options.patience ?? 5000)
  try {
    migrate(writing, made)
  } catch (thrown) {
    writing.close()
    throw thrown
  }
  writing.exec(`pragma busy_timeout = ${pause}`)
  const store =
    file === ':memory:' || file === '' ? inMemory(made, writing, options) : onFile(made, writing, file, options)
  return store
}

function open(file: string, patience: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: patience, enableForeignKeyConstraints: false })
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864')
  return database
}

function migrate(database: DatabaseSync, made: StoreSchema): void {
  database.exec('begin immediate')
  try {
    const on = new Running(database)
    const steps = planMigration(made)
    for (let step = steps.next(); !step.done; ) {
      const { text, values = [] } = step.value
      step = steps.next(on.rows(compileStatement(sqlite, text), values))
    }
    database.exec('commit')
  } catch (thrown) {
    if (database.isTransaction) database.exec('rollback')
    throw thrown
  }
}

/** A connection and what it has prepared. */
class Running implements StatementRunner {
  readonly #database: DatabaseSync
  /** A statement that is not used any more takes what was prepared of it along. */
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
  rows(of: Statement, values: readonly Cell[]): readonly Cells[] {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      return prepared.all(...(boundParameters(of, values) as readonly SQLInputValue[])) as unknown as readonly Cells[]
    } catch (thrown) {
      throw explained(thrown)
    }
  }
  first(of: Statement, values: readonly Cell[]): Cells | undefined {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      return prepared.get(...(boundParameters(of, values) as readonly SQLInputValue[])) as unknown as Cells | undefined
    } catch (thrown) {
      throw explained(thrown)
    }
  }
  run(of: Statement, values: readonly Cell[]): void {
    try {
      const prepared = this.#prepared.get(of) ?? this.#prepare(of)
      prepared.run(...(boundParameters(of, values) as readonly SQLInputValue[]))
    } catch (thrown) {
      throw explained(thrown)
    }
  }
}

/** SQLITE_BUSY, LOCKED, READONLY, FULL and CANTOPEN pass, or are for the operator: the caller may try again. */
const passing = new Set([5, 6, 8, 13, 14])
function explained(thrown: unknown): unknown {
  const code = thrown instanceof Error && 'errcode' in thrown ? thrown.errcode : undefined
  return typeof code === 'number' && passing.has(code & 0xff) ? new Unavailable() : thrown
}

/** Busy, closed, or an error of SQLite's. */
const isOutOfReach = (thrown: unknown): boolean =>
  thrown instanceof Unavailable || isSqliteError(thrown) || errorCodeOf(thrown) === 'ERR_INVALID_STATE'

class Grouped implements Transaction {
  readonly #database: DatabaseSync
  readonly #patience: number
  readonly #committed: () => void
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #save: StatementSync
  readonly #release: StatementSync
  constructor(database: DatabaseSync, patience: number, committed: () => void) {
    this.#database = database
    this.#patience = patience
    this.#committed = committed
    this.#begin = database.prepare('begin immediate')
    this.#commit = database.prepare('commit')
    this.#save = database.prepare('savepoint work')
    this.#release = database.prepare('release work')
  }
  async begin(): Promise<void> {
    const until = performance.now() + this.#patience
    for (let wait = 5; ; wait = Math.min(100, wait * 2)) {
      try {
        this.#begin.run()
        return
      } catch (thrown) {
        const why = explained(thrown)
        if (!(why instanceof Unavailable) || performance.now() > until) throw why
      }
      await sleep(wait)
    }
  }
  commit(): void {
    this.#commit.run()
    this.#committed()
  }
  rollback(): void {
    this.#database.exec('rollback')
  }
  isOpen(): boolean {
    return this.#database.isTransaction
  }
  save(): void {
    this.#save.run()
  }
  release(): void {
    this.#release.run()
  }
  undo(): void {
    this.#database.exec('rollback to work; release work')
  }
}

/** Both kinds write alike. `committed` hears of each transaction. */
function writers(made: StoreSchema, writing: DatabaseSync, options: SqliteOptions, committed: () => void) {
  const queue = new Queue(new Grouped(writing, options.patience ?? 5000, committed), { ...defaultBounds, ...options })
  const running = new Running(writing)
  const lend = <T>(work: (lent: BorrowedConnection) => Maybe<T>) => {
    const lent = new BorrowedConnection(running)
    return { run: () => work(lent), over: () => lent.over() }
  }
  const write = <T>(work: (writer: StoreWriter) => Maybe<T>): Promise<T> =>
    queue.add(lend(lent => work(new SqlWriter(made, lent))))
  const look = <T>(work: (reader: StoreReader) => Maybe<T>): Maybe<T> =>
    queue.look(lend(lent => work(new SqlReader(made, lent))))
  const sweeps = compileExpiries(made.service, sqlite, options.changesKept ?? week)
  const sweep = async (now: number): Promise<number> => {
    let gone = 0
    for (const sweep of sweeps)
      for (let went = sweep.batch; went === sweep.batch; gone += went)
        went = await queue.add({ run: () => removeExpired(sweep, running, now), over: () => {} })
    return gone
  }
  return { queue, write, look, sweep }
}

function inMemory(made: StoreSchema, writing: DatabaseSync, options: SqliteOptions): SqliteStore {
  const { queue, write, look, sweep } = writers(made, writing, options, () => {})
  return {
    write,
    read: look,
    sweep,
    ready: async () => writing.isOpen,
    usage: () => ({ waiting: queue.length }),
    backup: async file => void (await copy(writing, file, { rate: everyPage })),
    close: async () => {
      await queue.close()
      if (writing.isOpen) writing.close()
    },
  }
}

function onFile(made: StoreSchema, writing: DatabaseSync, file: string, options: SqliteOptions): SqliteStore {
  const readers = new Readers(made, file)
  const { queue, write, sweep } = writers(made, writing, options, () => readers.renew())
  return {
    write,
    read: work => readers.read(work),
    sweep,
    ready: async () => readers.ready(),
    usage: () => ({ waiting: queue.length }),
    backup: async to => {
      const source = new DatabaseSync(file, { readOnly: true })
      try {
        await copy(source, to, { rate: everyPage })
      } finally {
        source.close()
      }
    },
    close: async () => {
      await queue.close()
      readers.close()
      if (!writing.isOpen) return
      writing.exec('pragma optimize')
      writing.close()
    },
  }
}

/**
 * Reads that begin in one turn of the event loop share a connection and its snapshot: to take the lock of a snapshot costs twice
 * what finding a row does. A commit of ours ends the sharing, so that whoever was answered sees what they wrote; one of
 * another process is seen from the next turn on.
 */
class Readers {
  readonly #made: StoreSchema
  readonly #file: string
  readonly #free: OpenReader[] = []
  #busy = 0
  #shared: OpenReader | undefined
  #closed = false

  constructor(made: StoreSchema, file: string) {
    this.#made = made
    this.#file = file
    this.#free.push(new OpenReader(file))
  }

  read<T>(work: (reader: StoreReader) => Maybe<T>): Maybe<T> {
    const reading = this.#shared ?? this.#begin()
    const lent = new BorrowedConnection(reading.on)
    reading.users++
    let answer: Maybe<T>
    try {
      answer = work(new SqlReader(this.#made, lent))
    } catch (thrown) {
      this.#give(reading, lent)
      throw thrown
    }
    if (answer instanceof Promise) return answer.finally(() => this.#give(reading, lent))
    this.#give(reading, lent)
    return answer
  }

  #begin(): OpenReader {
    if (this.#closed || this.#busy >= mostReads) throw new Unavailable()
    const reading = this.#free.pop() ?? new OpenReader(this.#file)
    reading.begin()
    this.#busy++
    this.#shared = reading
    setImmediate(() => {
      if (this.#shared === reading) this.renew()
    })
    return reading
  }

  /** Reads from now on see what is committed now. */
  renew(): void {
    const reading = this.#shared
    this.#shared = undefined
    if (reading?.users === 0) this.#end(reading)
  }

  #give(reading: OpenReader, lent: BorrowedConnection): void {
    lent.over()
    reading.users--
    if (reading.users === 0 && reading !== this.#shared) this.#end(reading)
  }

  #end(reading: OpenReader): void {
    this.#busy--
    reading.end()
    if (this.#closed || this.#free.length >= idleReads) reading.close()
    else this.#free.push(reading)
  }

  ready(): boolean {
    return attempt(() => this.read(() => true), isOutOfReach) === true
  }

  /** Reads under way come to their end first. */
  close(): void {
    this.#closed = true
    this.renew()
    for (const reading of this.#free.splice(0)) reading.close()
  }
}
/** Reads that wait for something else hold a snapshot: connections are few. */
const mostReads = 64
const idleReads = 8

class OpenReader {
  readonly on: Running
  users = 0
  readonly #database: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  constructor(file: string) {
    this.#database = new DatabaseSync(file, { readOnly: true, timeout: pause })
    this.on = new Running(this.#database)
    this.#begin = this.#database.prepare('begin')
    this.#commit = this.#database.prepare('commit')
  }
  begin(): void {
    this.#begin.run()
  }
  end(): void {
    this.#commit.run()
  }
  close(): void {
    this.#database.close()
  }
}
