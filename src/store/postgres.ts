/**
 * The PostgreSQL store: the port of `service/store.ts` on a pool of connections. What always holds, by number:
 *  (1) A version is larger than any its key has had before, also after a removal: no validator ever returns.
 *  (2) A write is answered after its COMMIT was; one whose COMMIT is not answered is `Unavailable`.
 *  (3) Writes are SERIALIZABLE: what was read stands beside the change. Where that fails the work runs again, until its time is up.
 *  (4) A read is one snapshot (REPEATABLE READ, READ ONLY) and waits for no writer.
 *  (5) A statement that failed ends its transaction, also when the work caught the error.
 *  (6) A connection that is lost, refused or out of time is `Unavailable`, is not used again, and the next call finds another.
 * Deliberately absent: HTTP, XML, and who is asking.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Maybe } from '../base/maybe.ts'
import type { Service } from '../contract/service.ts'
import {
  type AuditRecord,
  type ChangeRecord,
  type Store,
  type StoreReader,
  type StoreWriter,
  Unavailable,
} from '../service/store.ts'
import type { StatementRunner } from './connection.ts'
import { postgres } from './dialect.ts'
import { planMigration } from './migration.ts'
import {
  beginPlain,
  beginRead,
  beginWrite,
  keepAliveOptions,
  noTransaction,
  type PostgresPool,
  Sessions,
  transactionTimeoutMs,
} from './postgres-sessions.ts'
import { compileExpiries, removeExpired } from './records.ts'
import { compileStoreSchema, SqlReader, SqlWriter, type StoreSchema } from './sql-access.ts'
import { compileStatement, type Statement } from './statement.ts'
import { defaultBounds } from './write-queue.ts'

export type { PostgresClient, PostgresPool, PostgresQuery } from './postgres-sessions.ts'

export interface PostgresOptions {
  /** Connections at most; default 10. Of a pool that is given, its own. */
  readonly connections?: number
  /** Milliseconds that one work may take, with all its tries; default 10,000. */
  readonly work?: number
  /** Milliseconds that a committed change stays readable in the feed; default seven days. */
  readonly changesKept?: number
}
/** Milliseconds that bringing the database to the contract's shape may take: an index of a large table takes its time. */
const migrating = 3_600_000
/** Milliseconds to wait where there is another to be asked instead: of an instance that is not ready, of a copy. */
const prompt = 2000
const week = 7 * 24 * 3600 * 1000

/**
 * Connects and brings the database to the contract's shape, in the connection's first schema. Rejects when that is no
 * addition, and in the server's own words when it can't be reached.
 */
export async function openPostgresStore(
  service: Service,
  to: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<Store> {
  const time = options.work ?? defaultBounds.work
  const pool = typeof to === 'string' ? connected(to, options.connections ?? 10, time) : to
  const sessions = new Sessions(pool, time)
  const made: StoreSchema = compileStoreSchema(service, postgres, work =>
    sessions.run(noTransaction, on => work(new SqlReader(made, on))),
  )
  const end = async (): Promise<void> => {
    await sessions.close()
    if (typeof to === 'string') await pool.end()
  }
  try {
    await sessions.run(beginPlain, on => migrate(made, on), migrating)
  } catch (thrown) {
    await end()
    throw sessions.failure(thrown)
  }
  const sweeps = compileExpiries(service, postgres, options.changesKept ?? week)
  return {
    read: <T>(work: (reader: StoreReader) => Maybe<T>) => sessions.run(beginRead, on => work(new SqlReader(made, on))),
    write: <T>(work: (writer: StoreWriter) => Maybe<T>) =>
      sessions.run(beginWrite, async on => {
        const writer = new Lastly(made, on)
        const answer = await work(writer)
        writer.tell()
        return answer
      }),
    sweep: async now => {
      let gone = 0
      for (const sweep of sweeps)
        for (let went = sweep.batch; went === sweep.batch; gone += went)
          went = await sessions.run(beginPlain, on => removeExpired(sweep, on, now))
      return gone
    },
    ready: () =>
      sessions
        .run(beginRead, on => on.first(made.records.ready, []), Math.min(time, prompt))
        .then(
          () => true,
          () => false,
        ),
    usage: () => sessions.usage(),
    close: end,
  }
}

export type Replica = Pick<Store, 'read' | 'usage' | 'close'>

/**
 * A copy of the same database that is only read: a standby, which is brought to the contract's shape by its original. One work
 * may take two seconds by default.
 */
export async function openPostgresReplica(
  service: Service,
  url: string,
  options: Pick<PostgresOptions, 'connections' | 'work'> = {},
): Promise<Replica> {
  const time = options.work ?? prompt
  const pool = connected(url, options.connections ?? 10, time)
  const sessions = new Sessions(pool, time)
  const made: StoreSchema = compileStoreSchema(service, postgres, work =>
    sessions.run(noTransaction, on => work(new SqlReader(made, on))),
  )
  return {
    read: <T>(work: (reader: StoreReader) => Maybe<T>) => sessions.run(beginRead, on => work(new SqlReader(made, on))),
    usage: () => sessions.usage(),
    close: async () => {
      await sessions.close()
      await pool.end()
    },
  }
}

async function migrate(made: StoreSchema, on: StatementRunner): Promise<void> {
  // Asked again and again, and not waited for: a server that is gone is not taken for one that is busy.
  while (!(await promptly(on.first(exclusive, [])))?.[0]) await sleep(turn)
  const steps = planMigration(made)
  for (let step = steps.next(); !step.done; ) {
    const { text, values = [] } = step.value
    step = steps.next(await on.rows(compileStatement(postgres, text, false), values))
  }
}

function promptly<T>(answer: Maybe<T>): Promise<T> {
  const late = sleep(transactionTimeoutMs, undefined, { ref: false }).then(() => Promise.reject(new Unavailable()))
  return Promise.race([answer, late])
}

/**
 * What is only written down, the deed and the changes, goes with the commit in one breath: nobody in the work waits for it.
 * Numbers of changes are taken one transaction at a time, from here to its commit: so they rise in the order of commits, and who
 * reads on from the last number seen misses none. As the last thing before the commit, others wait for that alone.
 */
class Lastly extends SqlWriter {
  #changes: Omit<ChangeRecord, 'sequence'>[] | undefined = []
  #deeds: AuditRecord[] | undefined = []

  override changed(change: Omit<ChangeRecord, 'sequence'>): void {
    if (!this.#changes) throw over()
    this.#changes.push(change)
  }
  override record(deed: AuditRecord): void {
    if (!this.#deeds) throw over()
    this.#deeds.push(deed)
  }

  /** Sends it. What fails of it fails the transaction, and is told at its end. */
  tell(): void {
    const [changes, deeds] = [this.#changes ?? [], this.#deeds ?? []]
    this.#changes = this.#deeds = undefined
    const told: Maybe<void>[] = deeds.map(deed => super.record(deed))
    if (changes.length > 0) told.push(this.on.run(numbering, []), ...changes.map(change => super.changed(change)))
    Promise.all(told).catch(() => {})
  }
}
const over = (): Error => new Error('the work that this was given to is over')

/** Milliseconds between two looks whether it is our turn. */
const turn = 100
/** Nobody else migrates meanwhile. The number is this program's among all that share the server. */
const exclusive: Statement = {
  text: "select pg_try_advisory_xact_lock(7306358, hashtext(current_schema())), set_config('lock_timeout', '0', true)",
  places: [],
  straight: true,
  name: undefined,
}
const numbering: Statement = {
  text: 'select pg_advisory_xact_lock(7306359, hashtext(current_schema()))',
  places: [],
  straight: true,
  name: 'diglot numbering',
}

function connected(url: string, max: number, time: number): PostgresPool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    pipeline: true,
    connectionTimeoutMillis: transactionTimeoutMs,
    // Whoever waits for a lock does not see that nobody waits for him any more.
    lock_timeout: time,
    // Nor does the server see a client that is gone without a word: the locks of its transaction are held no longer than this.
    idle_in_transaction_session_timeout: time,
    ...keepAliveOptions,
  })
  // An idle connection that breaks has left the pool already: whoever needs one gets another.
  pool.on('error', () => {})
  return pool
}
