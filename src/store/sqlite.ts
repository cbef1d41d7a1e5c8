/**
 * The SQLite store: the port of `service/store.ts` on one file. What always holds, by number:
 *  (1) A version is larger than any that its key has had before, even after a removal: no validator
 *      ever returns.
 *  (2) A write is answered after its transaction is flushed (WAL, synchronous=FULL): no crash loses
 *      it.
 *  (3) Work that throws, or holds the transaction too long, leaves no trace; whatever it does
 *      afterwards throws.
 *  (4) A read sees one committed state and waits for no writer; a list that may take long is read
 *      by a thread, in a snapshot that begins then. (`:memory:` has only one connection, where
 *      reads take turns with the writers, in the event loop.)
 *  (5) A contract that is more than an addition to the database is refused at start, before any
 *      change.
 *  (6) A database that is busy, full, read-only or on a failing disk is `Unavailable`; our own
 *      mistake, or a broken file, is an ordinary error.
 *  (7) Nothing is committed to a file that was removed or replaced since it was opened.
 * Deliberately absent: HTTP, XML, and the caller.
 */

import { statSync } from 'node:fs'
import { backup as copy, DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import { BoundedCache, memoizeByObject } from '../base/memo.ts'
import type { Service } from '../contract/service.ts'
import type { ReadWork, Store, StoreWriter, TellFilling, WriteTurn, WriteWork } from '../service/store.ts'
import type { Cells, StatementRunner } from './connection.ts'
import { findCrowded } from './crowded-filters.ts'
import type { Steps } from './database-shape.ts'
import { type Cell, type Sql, sqlite } from './dialect.ts'
import { requireRoom } from './disk-room.ts'
import { findDropped } from './dropped-names.ts'
import { LogCheckpoint } from './log-checkpoint.ts'
import type { WarnOfLength } from './long-values.ts'
import { type MigrationWish, planMigration } from './migration.ts'
import { OpenedFiles, requireOwnLog, separateFromLog } from './opened-files.ts'
import { createPrivateFile } from './private-file.ts'
import { ReadThreads, threadProgram } from './read-thread.ts'
import { RecentTrouble } from './recent-trouble.ts'
import { compileExpiries, type Retention, removeExpired } from './records.ts'
import { fillRows } from './row-filling.ts'
import { listUnfilled, settleSearches } from './search-growth.ts'
import { compileStoreSchema, SqlReader, SqlWriter, type StoreSchema } from './sql-access.ts'
import { lockWaitMs, PreparedRunner, Readers, toStoreError } from './sqlite-connections.ts'
import { type CommitHooks, GroupTransaction, RecordingRunner } from './sqlite-transaction.ts'
import { compileStatement, type Statement } from './statement.ts'
import { translateNames } from './stored-resources.ts'
import { defaultBounds, isSqliteError, Queue, type QueueBounds, type UnitAccess } from './write-queue.ts'

/** The options of `openSqliteStore`. */
export interface SqliteOptions extends Partial<QueueBounds>, Retention {
  /** Milliseconds to wait for another process that writes; default 5,000. */
  readonly patience?: number
  /** Changes beyond additions that a person requests. Default: none. */
  readonly migration?: MigrationWish
  /** Receives stored values that are longer than the contract allows. */
  readonly warn?: WarnOfLength
  /** Milliseconds for which a read off the event loop may run; default 5,000. */
  readonly longRead?: number
}
/** The store on SQLite, and what only a file can do. */
export interface SqliteStore extends Store {
  /** Writes a consistent copy to another file while the store is in use. */
  backup(file: string): Promise<void>
}

/** Copies in one step, so that no write restarts it. */
const allPages = 2 ** 31 - 1
/**
 * Opens or creates the file and brings it to the contract's shape; throws if that takes more than
 * additions.
 */
export function openSqliteStore(service: Service, file: string, options: SqliteOptions = {}): SqliteStore {
  const isMemory = file === ':memory:' || file === ''
  if (!isMemory) {
    createPrivateFile(file)
    requireOwnLog(file)
  }
  const schema = compileStoreSchema(service, sqlite, work => store.read(reader => work(reader as SqlReader))) // every reader here is a SqlReader
  const writing = openDatabase(file, options.patience ?? 5000)
  try {
    const empty = isMemory && !options.migration ? emptyDatabaseOf(service) : undefined
    empty?.restore(writing)
    migrateFile(writing, schema, options)
    empty?.keep(writing)
  } catch (thrown) {
    writing.close()
    throw thrown
  }
  writing.exec(`pragma busy_timeout = ${lockWaitMs}`)
  const store = isMemory ? createMemoryStore(schema, writing, options) : createFileStore(schema, writing, file, options)
  return translateNames(store, service)
}

/**
 * The empty database of a contract in memory, as octets with which its next store starts: tests
 * open one each. Node 24 cannot copy a database as octets, so every store creates its own.
 */
class EmptyDatabase {
  #octets: Uint8Array | undefined

  restore(database: DatabaseSync): void {
    if (this.#octets) (database as CopiedDatabase).deserialize?.(this.#octets)
  }
  keep(database: DatabaseSync): void {
    this.#octets ??= (database as CopiedDatabase).serialize?.()
  }
}
type CopiedDatabase = DatabaseSync & {
  readonly serialize?: () => Uint8Array
  readonly deserialize?: (octets: Uint8Array) => void
}
const emptyDatabaseOf = memoizeByObject((_of: Service) => new EmptyDatabase())

async function copyPrivately(source: DatabaseSync, file: string): Promise<void> {
  createPrivateFile(file)
  await copy(source, file, { rate: allPages })
  separateFromLog(file)
}

function openDatabase(file: string, busyTimeoutMs: number): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false })
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma journal_size_limit = 67108864')
  return database
}

function migrateFile(database: DatabaseSync, schema: StoreSchema, { migration, warn }: SqliteOptions): void {
  database.exec('begin immediate')
  try {
    const on = new PreparedRunner(database)
    runMigration(planMigration(schema, migration, warn), on)
    database.exec('commit')
  } catch (thrown) {
    if (database.isTransaction) database.exec('rollback')
    throw thrown
  }
}

type Compile = (text: Sql) => Statement
const compileAnew: Compile = text => compileStatement(sqlite, text)

function runMigration<T>(steps: Steps<T>, on: PreparedRunner, compile = compileAnew): T {
  let step = steps.next()
  while (!step.done) {
    const { text, values = [] } = step.value
    step = steps.next(on.rows(compile(text), values))
  }
  return step.value
}

/** Enough for what settles the searches of a service with a few dozen resources. */
const recurringStepsMax = 256

/** For steps that recur: the same text gives the same statement, which stays prepared. */
function createRecurringCompiler(): Compile {
  const kept = new BoundedCache<string, Statement>(recurringStepsMax)
  return text => {
    const compiled = compileAnew(text)
    const key = `${compiled.places.join()} ${compiled.text}`
    const before = kept.get(key)
    if (!before) kept.set(key, compiled)
    return before ?? compiled
  }
}

/** Milliseconds of one turn. */
const turnMs = 5

/**
 * Runs the statements of units of work that write, on a connection that answers at once: when one
 * has had the event loop for a while, the answer comes in its next turn, after what others have
 * requested.
 */
class TurnRunner implements StatementRunner {
  readonly #on: PreparedRunner
  #endsAt = 0

  constructor(on: PreparedRunner) {
    this.#on = on
  }

  /** Called when a unit of work begins. */
  begin(): void {
    this.#endsAt = performance.now() + turnMs
  }

  rows(of: Statement, values: readonly Cell[], octets?: number): Maybe<readonly Cells[]> {
    const rows = this.#on.rows(of, values, octets)
    return performance.now() < this.#endsAt ? rows : this.#pass(rows)
  }
  first(of: Statement, values: readonly Cell[]): Maybe<Cells | undefined> {
    const row = this.#on.first(of, values)
    return performance.now() < this.#endsAt ? row : this.#pass(row)
  }
  run(of: Statement, values: readonly Cell[]): Maybe<void> {
    const result = this.#on.run(of, values)
    return performance.now() < this.#endsAt ? result : this.#pass(result)
  }

  async #pass<T>(answer: Maybe<T>): Promise<T> {
    await new Promise(resolve => setImmediate(resolve))
    this.begin()
    return answer
  }
}

/** The pause between two batches: a sweep takes a third of the time at most. */
const sweepPauseMs = 20

/** For work that uses the connection itself. */
const noAccess: UnitAccess = { end: () => {} }

/** The pause that batches of rows for an index of words leave to others. */
const fillPauseMs = 10

/**
 * READONLY, IOERR, FULL and CANTOPEN: the disk accepts no change, but may later. CORRUPT and
 * NOTADB: the file is no intact database.
 */
const troubleCodes = new Set([8, 10, 11, 13, 14, 26])
const isOfDisk = (thrown: unknown): boolean =>
  thrown instanceof Error && 'errcode' in thrown && troubleCodes.has(Number(thrown.errcode) & 0xff)

/** Written rows enter the index of words this long after the first of them, */
const settleAfterMs = 1000
/** or after this many writes: until then each search looks at them. */
const settleAfterWrites = 200

/** Settles what was written; if it fails, a sweep tries again and reports the error. */
class Settler {
  readonly #settle: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #writes = 0
  constructor(settle: () => Promise<void>) {
    this.#settle = settle
  }
  /** Called for each write as it begins. */
  expect(): void {
    this.#writes++
    this.#timer ??= setTimeout(() => this.#run(), settleAfterMs).unref()
    if (this.#writes === settleAfterWrites) setImmediate(() => this.#run())
  }
  #run(): void {
    if (this.#timer === undefined) return
    this.stop()
    this.#settle().catch(() => {})
  }
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writes = 0
  }
}

/** Called before each part of a file; throws if there is no room for it. */
type RequireRoom = () => void

/** Leaves room on the disk for everything but files. */
class FileWriter extends SqlWriter {
  readonly #requireRoom: RequireRoom
  constructor(schema: StoreSchema, on: StatementRunner, requireRoom: RequireRoom) {
    super(schema, on)
    this.#requireRoom = requireRoom
  }
  override stage(...part: Parameters<SqlWriter['stage']>): Maybe<void> {
    this.#requireRoom()
    return super.stage(...part)
  }
}

/** Both kinds write alike. */
function createWriters(
  schema: StoreSchema,
  writing: DatabaseSync,
  options: SqliteOptions,
  trouble: RecentTrouble,
  { requireRoom = () => {}, ...hooks }: CommitHooks & { readonly requireRoom?: RequireRoom } = {},
) {
  const running = new RecordingRunner(writing)
  const looking = new PreparedRunner(writing)
  const transaction = new GroupTransaction(writing, running, options.patience ?? 5000, hooks)
  const queue = new Queue(transaction, { ...defaultBounds, ...options })
  const turns = new TurnRunner(running)
  const write = <T>(work: WriteWork<T>, turn?: WriteTurn): Promise<T> => {
    const run = (writer: StoreWriter): Maybe<T> => {
      settler.expect()
      turns.begin()
      return work(writer)
    }
    return trouble.watch(queue.add(new FileWriter(schema, turns, requireRoom), run, turn?.caller))
  }
  const look = <T>(work: ReadWork<T>): Maybe<T> => queue.look(new SqlReader(schema, looking), work)
  const expiries = compileExpiries(schema.service, sqlite, options)
  const sweep = async (now: number): Promise<number> => {
    let count = 0
    await settle()
    for (const sweep of expiries)
      for (let removed = sweep.batch; removed === sweep.batch; count += removed) {
        removed = await queue.add(noAccess, () => removeExpired(sweep, running, now))
        if (removed === sweep.batch) await sleep(sweepPauseMs) // what others requested meanwhile comes first
      }
    return count
  }
  const compile = createRecurringCompiler()
  const run = <T>(steps: () => Steps<T>): Promise<T> =>
    queue.add(noAccess, () => runMigration(steps(), running, compile))
  const settle = async (): Promise<void> => {
    while (await run(() => settleSearches(schema))) await sleep(fillPauseMs)
  }
  const settler = new Settler(settle)
  const fill = async (tell: TellFilling = () => {}): Promise<boolean> => {
    await settle()
    for (const table of await run(() => listUnfilled(schema)))
      await fillRows(run, schema, table, tell, () => sleep(fillPauseMs))
    return true
  }
  const close = async (): Promise<void> => {
    settler.stop()
    await queue.close()
  }
  return { queue, write, look, sweep, fill, close }
}

function createMemoryStore(schema: StoreSchema, writing: DatabaseSync, options: SqliteOptions): SqliteStore {
  const trouble = new RecentTrouble(isOfDisk)
  const { queue, write, look, sweep, close } = createWriters(schema, writing, options, trouble)
  return {
    write,
    read: look,
    sweep,
    ready: async () => writing.isOpen && trouble.isOver,
    usage: () => ({ waiting: queue.length }),
    backup: file => copyPrivately(writing, file),
    close: async () => {
      await close()
      if (writing.isOpen) writing.close()
    },
  }
}

function createFileStore(
  schema: StoreSchema,
  writing: DatabaseSync,
  file: string,
  options: SqliteOptions,
): SqliteStore {
  const logOctets = (): number => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const timeMs = options.longRead ?? longReadMs
  const threads = new ReadThreads({ file, timeMs, lockWaitMs, logOctets, toStoreError })
  const files = new OpenedFiles(file)
  const trouble = new RecentTrouble(isOfDisk)
  const readers = new Readers(schema, { file, files, threads, trouble })
  const { queue, write, sweep, fill, close } = createWriters(schema, writing, options, trouble, {
    committing: () => files.requireUnmoved(),
    committed: () => readers.renew(),
    requireRoom: () => requireRoom(file, () => countSpareOctets(writing)),
  })
  attempt(() => optimize(writing), isSqliteError)
  const checkpoint = new LogCheckpoint({
    file,
    program: threadProgram,
    octets: logOctets,
    setAutomatic: pages => {
      if (writing.isOpen) writing.exec(`pragma wal_autocheckpoint = ${pages}`)
    },
  })
  const looking = new PreparedRunner(writing) // waits for no writer
  const refreshing = setInterval(() => {
    if (files.findMoved() === undefined) refreshStatistics(file)
  }, statisticsMs).unref()
  return {
    write,
    read: readers.read,
    sweep,
    fill,
    ready: async () => files.findMoved() === undefined && readers.ready() && trouble.isOver,
    findDropped: async () => runMigration(findDropped(schema.tables), looking),
    findCrowded: async () => runMigration(findCrowded(schema.tables, sqlite), looking),
    usage: () => ({ waiting: queue.length, logOctets: logOctets() }),
    backup: async to => {
      const source = new DatabaseSync(file, { readOnly: true })
      try {
        await copyPrivately(source, to)
      } finally {
        source.close()
      }
    },
    close: async () => {
      clearInterval(refreshing)
      await close()
      readers.close()
      await Promise.all([threads.close(), checkpoint.close()])
      if (writing.isOpen) writing.close()
    },
  }
}

/** Octets of pages that are unused now. */
const countSpareOctets = (of: DatabaseSync): number =>
  Number(of.prepare('select freelist_count * page_size as n from pragma_freelist_count, pragma_page_size').get()?.['n'])

/** A caller whose list takes longer requests less, or the rest. */
const longReadMs = 5000

const statisticsMs = 60_000
/**
 * SQLite "PRAGMA optimize": statistics of tables that have grown tenfold, from a sample of their
 * rows (0x10; reading all would block everyone for seconds at a million), whatever was queried here
 * (0x10000), so that queries choose their index by what is stored now. If no table has grown, it
 * takes 0.2 ms. The next run retries what a lock or the disk prevents.
 */
const optimize = (database: DatabaseSync): void => database.exec('pragma optimize = 0x10012')
/** Uses a connection of its own, since a transaction may be open on the one that writes. */
function refreshStatistics(file: string): void {
  attempt(() => {
    using own = new DatabaseSync(file)
    own.exec('pragma wal_autocheckpoint = 0') // that is for changes, or for a thread
    optimize(own)
  }, isSqliteError)
}
