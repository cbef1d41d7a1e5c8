/**
 * The PostgreSQL store: the port of `service/store.ts` on a pool of connections. What always holds,
 * by number:
 *  (1) A version is larger than any that its key has had before, also after a removal: no validator
 *      ever returns.
 *  (2) A write is answered after its COMMIT; one whose COMMIT has no reply is `Unavailable`.
 *  (3) What the work of a write has read still holds when its change is committed
 *      (postgres-writer.ts). Where that fails the work runs again, until its time is up.
 *  (4) A read is one snapshot (REPEATABLE READ, READ ONLY) and waits for no writer.
 *  (5) A statement that failed ends its transaction, also when the work caught the error.
 *  (6) A connection that is lost, refused or out of time is `Unavailable` and is not used again;
 *      the next call finds another.
 * Deliberately absent: HTTP, XML, and the caller.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodeOf } from '../base/attempt.ts'
import type { Maybe } from '../base/maybe.ts'
import type { Service } from '../contract/service.ts'
import { KeyTurns } from '../service/key-turns.ts'
import { type ReadWork, type Store, Unavailable, type Usage, type WriteTurn, type WriteWork } from '../service/store.ts'
import type { Cells, StatementRunner } from './connection.ts'
import { findCrowded } from './crowded-filters.ts'
import type { Steps } from './database-shape.ts'
import { postgres } from './dialect.ts'
import { findDropped } from './dropped-names.ts'
import { listIndexBuilds } from './list-index-growth.ts'
import type { WarnOfLength } from './long-values.ts'
import { type MigrationWish, planMigration, type TellUndone } from './migration.ts'
import { executeSteps, IndexBuilds } from './postgres-builds.ts'
import { openPool } from './postgres-pool.ts'
import {
  beginRead,
  beginWrite,
  isBusy,
  isOutOfNumbers,
  keepAliveOptions,
  noTransaction,
  type PostgresPool,
  Sessions,
  transactionTimeoutMs,
} from './postgres-sessions.ts'
import { CollisionMemory, compileWriteStatements, PostgresWriter } from './postgres-writer.ts'
import { RecentTrouble } from './recent-trouble.ts'
import { compileExpiries, type Retention, removeExpired } from './records.ts'
import { fillRows } from './row-filling.ts'
import { listUnfilled, searchBuildOf } from './search-growth.ts'
import type { TellFormer } from './server-finder.ts'
import type { ServerRole } from './server-list.ts'
import { compileStoreSchema, SqlReader, type StoreSchema } from './sql-access.ts'
import type { Statement } from './statement.ts'
import { translateNames } from './stored-resources.ts'
import { defaultBounds } from './write-queue.ts'

export type { PostgresClient, PostgresPool, PostgresQuery } from './postgres-sessions.ts'

/** The options of the store on PostgreSQL. */
export interface PostgresOptions extends Retention {
  /**
   * Maximum number of connections, besides one that checks whether the database is up; default 10.
   * A pool that is given has its own limit.
   */
  readonly connections?: number
  /** Milliseconds for one unit of work, including all its tries; default 10,000. */
  readonly work?: number
  /** Changes beyond additions that a person requests. Default: none. */
  readonly migration?: MigrationWish
  /** Receives stored values that are longer than the contract allows. */
  readonly warn?: WarnOfLength
  /** Called if the start waits for another session and tries again. */
  readonly undone?: TellUndone
  readonly former?: TellFormer
  /** Called if statements are no longer prepared, since a pooler does not keep them. */
  readonly unprepared?: () => void
}
/** For bringing the database to the contract's shape. */
const migrationTimeoutMs = 3_600_000
/**
 * How long to wait for a row that another transaction holds: longer than deadlock detection takes.
 */
const lockTimeoutMs = 2000
/** How long to wait if another can be asked instead: an instance that is ready, a copy. */
const promptMs = 2000

/** Yields a row if the server accepts changes: it is no standby, and is not set to read-only. */
const takesChanges: Statement = {
  text: `select 1 from "_shape" where current_setting('default_transaction_read_only') = 'off' and not pg_is_in_recovery() limit 1`,
  places: [],
  straight: true,
  recurs: true,
}
/**
 * PostgreSQL Appendix A: disk_full, io_error, data_corrupted, index_corrupted. The query that
 * checks whether the database is up needs none of what fails here.
 */
const isTrouble = (thrown: unknown): boolean =>
  /^(53100|58030|XX00[12])$/.test(errorCodeOf(thrown)) || isOutOfNumbers(thrown)

const checkWritable = (probe: Sessions, timeMs: number): Promise<boolean> =>
  probe
    .run(beginRead, on => on.first(takesChanges, []), timeMs)
    .then(
      row => row !== undefined,
      () => false,
    )

/**
 * Connects and brings the database to the contract's shape, in the connection's first schema.
 * Rejects if that takes more than additions; if the database cannot be reached, with the server's
 * own error.
 */
export async function openPostgresStore(
  service: Service,
  to: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<Store> {
  const time = options.work ?? defaultBounds.work
  const { writes, reads, probe, close } = openSessions(to, time, options)
  const schema: StoreSchema = compileStoreSchema(service, postgres, work =>
    reads.run(noTransaction, on => work(new SqlReader(schema, on))),
  )
  try {
    await migratePatiently(schema, writes, options)
  } catch (thrown) {
    await close()
    throw thrown
  }
  const sweeps = compileExpiries(service, postgres, options)
  const statements = compileWriteStatements(schema)
  const turns = new KeyTurns()
  const run = <T>(steps: () => Steps<T>): Promise<T> => writes.run(beginWrite, on => executeSteps(steps(), on))
  const builds = new IndexBuilds({ writes, probe })
  const trouble = new RecentTrouble(isTrouble)
  const store: Store = {
    read: <T>(work: ReadWork<T>) => trouble.watch(reads.run(beginRead, on => work(new SqlReader(schema, on)))),
    write: <T>(work: WriteWork<T>, turn?: WriteTurn) => {
      const memory = new CollisionMemory()
      const attempt = async (on: StatementRunner): Promise<T> => {
        const writer = new PostgresWriter(schema, on, statements, memory)
        writer.lockRemembered()
        const answer = await writer.perform(() => work(writer))
        writer.send()
        return answer
      }
      return trouble.watch(turns.run(turn, time, remaining => writes.run(beginWrite, attempt, remaining)))
    },
    sweep: async now => {
      let count = 0
      for (const sweep of sweeps)
        for (let removed = sweep.batch; removed === sweep.batch; count += removed)
          removed = await writes.run(beginWrite, on => removeExpired(sweep, on, now))
      return count
    },
    fill: async (tell = () => {}) => {
      for (const table of await run(() => listUnfilled(schema)))
        if ((await fillRows(run, schema, table, tell)) === 'index')
          if (!(await builds.make(searchBuildOf(schema, table), tell))) return false
      for (const build of await run(() => listIndexBuilds(schema))) if (!(await builds.make(build, tell))) return false
      return true
    },
    ready: async () => (await checkWritable(probe, Math.min(time, promptMs))) && trouble.isOver,
    findDropped: () =>
      probe.run(beginRead, on => executeSteps(findDropped(schema.tables), on), Math.min(time, promptMs)),
    findCrowded: () =>
      probe.run(beginRead, on => executeSteps(findCrowded(schema.tables, postgres), on), Math.min(time, promptMs)),
    usage: () => (reads === writes ? writes.usage() : addUsage(writes.usage(), reads.usage())),
    close: async () => {
      await builds.stop()
      await close()
    },
  }
  return translateNames(store, service)
}

/**
 * Reads have half of the connections, so that no lock keeps them waiting. One more connection
 * checks whether the database is up, which distinguishes a database that is down from a busy one. A
 * given pool serves all of them.
 */
function openSessions(
  to: string | PostgresPool,
  time: number,
  { connections = 10, former, unprepared }: PostgresOptions,
) {
  if (typeof to !== 'string') {
    const all = new Sessions(to, time)
    return { writes: all, reads: all, probe: all, close: () => all.close() }
  }
  const pools: PostgresPool[] = []
  const open = (max: number): Sessions => {
    const isFirst = pools.length === 0 // one of them tells
    const pool = createPool(to, 'primary', max, time, isFirst ? former : undefined)
    pools.push(pool)
    return new Sessions(pool, time, isFirst ? unprepared : undefined)
  }
  const half = Math.floor(connections / 2)
  const writes = open(connections - half)
  const reads = half > 0 ? open(half) : writes
  const probe = open(1)
  const close = async (): Promise<void> => {
    await Promise.all([writes, reads, probe].map(each => each.close()))
    await Promise.all(pools.map(pool => pool.end()))
  }
  return { writes, reads, probe, close }
}

function addUsage(one: Usage | undefined, other: Usage | undefined): Usage | undefined {
  const [a, b] = [one?.connections, other?.connections]
  if (!one || !other || !a || !b) return undefined
  return { waiting: one.waiting + other.waiting, connections: { busy: a.busy + b.busy, idle: a.idle + b.idle } }
}

/** A standby for safe operations. */
export type Replica = Pick<Store, 'read' | 'usage' | 'close'> & {
  /** Milliseconds since the last change that it has; 0 if it is no standby. */
  lagMs(): Promise<number>
}

/** A standby that has begun since its primary's last change does not know when that was. */
const lagOfStandby: Statement = {
  text: `select extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))::float8 * 1000 where pg_is_in_recovery()`,
  places: [],
  straight: true,
  recurs: true,
}

/**
 * A copy of the same database that is only read: a standby, which gets the contract's shape from
 * its primary. By default one unit of work may take two seconds.
 */
export async function openPostgresReplica(
  service: Service,
  url: string,
  options: Pick<PostgresOptions, 'connections' | 'work'> = {},
): Promise<Replica> {
  const time = options.work ?? promptMs
  const pool = createPool(url, 'any', options.connections ?? 10, time)
  const sessions = new Sessions(pool, time)
  const schema: StoreSchema = compileStoreSchema(service, postgres, work =>
    sessions.run(noTransaction, on => work(new SqlReader(schema, on))),
  )
  const replica: Replica = {
    read: <T>(work: ReadWork<T>) => sessions.run(beginRead, on => work(new SqlReader(schema, on))),
    lagMs: async () => Number((await sessions.run(noTransaction, on => on.first(lagOfStandby, [])))?.[0] ?? 0),
    usage: () => sessions.usage(),
    close: async () => {
      await sessions.close()
      await pool.end()
    },
  }
  return translateNames(replica, service)
}

/** Another session that reads a table, such as a dump, blocks a step that changes the table. */
const heldTables =
  'another session holds a table that must be changed (a dump, an open transaction): the steps are rolled back, so that no other session waits, and tried again every few seconds; select pid, state, query from pg_stat_activity order by xact_start lists it first'
/** Other sessions that want the table wait behind such a step, so it gives up soon. */
const stepLockMs = 1000
/** For longer than that, the tables are left to the others. */
const migrateAgainMs = 2000

async function migratePatiently(schema: StoreSchema, writes: Sessions, options: PostgresOptions): Promise<void> {
  const until = performance.now() + migrationTimeoutMs
  let tries = 0
  const attempt = (on: StatementRunner): Promise<void> => {
    if (tries++ > 0) options.undone?.(heldTables)
    return migrate(schema, on, options)
  }
  for (;;) {
    try {
      return await writes.run(beginWrite, attempt, until - performance.now())
    } catch (thrown) {
      const cause = writes.failure(thrown)
      if (!isBusy(cause) || performance.now() + migrateAgainMs > until) throw cause
    }
    await sleep(migrateAgainMs)
  }
}

async function migrate(schema: StoreSchema, on: StatementRunner, { migration, warn }: PostgresOptions): Promise<void> {
  // Polls instead of waiting in the server, so that a dead server is not mistaken for a busy one.
  let lock: Cells | undefined
  while (!isTaken((lock = await awaitPromptly(on.first(migrationLock, []))))) await sleep(lockRetryMs)
  requireUnicode(lock)
  await executeSteps(planMigration(schema, migration, warn), on)
}

/** Without a schema there is neither a lock nor a place for tables, so nothing to wait for. */
function isTaken(lock: Cells | undefined): boolean {
  if (lock?.[0] !== null) return lock?.[0] === true
  throw new Error(
    'the search_path of the database names no schema that exists for this user: create one, or name another in the address, as in ?options=-c%20search_path%3Dshop',
  )
}

/** A database that is in use continues: its texts have only the characters that it can hold. */
function requireUnicode(lock: Cells | undefined): void {
  const [, , , encoding, isNew] = lock ?? []
  if (isNew !== true || encoding === 'UTF8') return
  throw new Error(
    `the database has the encoding ${encoding}, in which some characters cannot be stored: create one with encoding 'UTF8' (create database … encoding 'UTF8' template template0)`,
  )
}

function awaitPromptly<T>(answer: Maybe<T>): Promise<T> {
  const late = sleep(transactionTimeoutMs, undefined, { ref: false }).then(() =>
    Promise.reject(new Unavailable(1, 'the database does not reply')),
  )
  return Promise.race([answer, late])
}

/** The pause between two tries to get the lock. */
const lockRetryMs = 100
/**
 * Only one migration runs at a time. The number is this program's among all on the server. A limit
 * that the role has for its statements is for calls: filling a large table takes longer.
 */
const migrationLock: Statement = {
  text: `select pg_try_advisory_xact_lock(7306358, hashtext(current_schema())), set_config('lock_timeout', '${stepLockMs}', true), set_config('statement_timeout', '0', true), current_setting('server_encoding'), to_regclass(quote_ident(current_schema()) || '._shape') is null`,
  places: [],
  straight: true,
  recurs: false,
}
function createPool(url: string, role: ServerRole, max: number, time: number, former?: TellFormer): PostgresPool {
  const settings = {
    max,
    pipeline: true,
    connectionTimeoutMillis: transactionTimeoutMs,
    // A transaction that waits for a lock does not notice that its caller has given up, and
    // meanwhile others wait for its connection.
    lock_timeout: Math.ceil(Math.min(lockTimeoutMs, time / 4)),
    // The server does not notice either that a client has vanished silently: it holds that
    // transaction's locks no longer than this.
    idle_in_transaction_session_timeout: time,
    ...keepAliveOptions,
  }
  return openPool(url, role, settings, former)
}
