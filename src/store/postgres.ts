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
import type { Service } from '../contract/service.ts'
import { type Change, type Maybe, type Reader, type Store, Unavailable, type Writer } from '../service/store.ts'
import { SqlReader, SqlWriter, schema } from './access.ts'
import { type Cells, type Connection, Lent } from './connection.ts'
import { type Cell, postgres } from './dialect.ts'
import { migration } from './migration.ts'
import { bounds } from './queue.ts'
import { batch, expiries } from './records.ts'
import { parameters, type Statement, statement } from './statement.ts'

export interface PostgresOptions {
  /** Connections at most; default 10. Of a pool that is given, its own. */
  readonly connections?: number
  /** Milliseconds that one work may take, with all its tries; default 10,000. */
  readonly work?: number
  /** Milliseconds that a committed change stays readable in the feed; default seven days. */
  readonly changesKept?: number
}
/** What is asked of a pool: `pg.Pool` is one. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  end(): Promise<void>
}
export interface PostgresClient {
  query(config: PostgresQuery): Promise<{ readonly rows: unknown[][] }>
  /** Back to the pool; broken ones are closed, which ends their transaction. */
  release(broken?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}
export interface PostgresQuery {
  text: string
  values?: unknown[]
  name?: string
  rowMode: 'array'
  types: { getTypeParser(type: number, format?: string): (value: never) => unknown }
}

/** Milliseconds to wait for a connection. */
const patience = 5000
const week = 7 * 24 * 3600 * 1000

/** Connects and brings the database to the contract's shape, in the connection's first schema; rejects when that is no addition, and in the server's own words when it can't be reached. */
export async function postgresStore(
  service: Service,
  to: string | PostgresPool,
  options: PostgresOptions = {},
): Promise<Store> {
  const time = options.work ?? bounds.work
  const pool = typeof to === 'string' ? connected(to, options.connections ?? 10, time) : to
  const made = schema(service, postgres)
  const sessions = new Sessions(pool, time)
  const end = async (): Promise<void> => {
    await sessions.close()
    if (typeof to === 'string') await pool.end()
  }
  const migrate = async (on: Connection): Promise<void> => {
    await on.run(exclusive, [])
    const steps = migration(made)
    for (let step = steps.next(); !step.done; ) {
      const { text, values = [] } = step.value
      step = steps.next(await on.rows(statement(postgres, text, false), values))
    }
  }
  try {
    await sessions.run('begin', migrate, Number.POSITIVE_INFINITY)
  } catch (thrown) {
    await end()
    throw sessions.failure(thrown)
  }
  const sweeps = expiries(service, postgres, options.changesKept ?? week)
  return {
    read: <T>(work: (reader: Reader) => Maybe<T>) => sessions.run(looking, on => work(new SqlReader(made, on))),
    write: <T>(work: (writer: Writer) => Maybe<T>) =>
      sessions.run(changing, async on => {
        const writer = new LastlyChanged(made, on)
        const answer = await work(writer)
        await writer.tell()
        return answer
      }),
    sweep: async now => {
      let gone = 0
      for (const { statement, values } of sweeps)
        for (let went = batch; went === batch; gone += went)
          went = (await sessions.run('begin', on => on.rows(statement, values(now)))).length
      return gone
    },
    ready: () =>
      sessions
        .run(looking, on => on.first(made.records.ready, []))
        .then(
          () => true,
          () => false,
        ),
    close: end,
  }
}

/**
 * Numbers of changes are taken one transaction at a time, from here to its commit: so they rise in the order of commits, and who
 * reads on from the last number seen misses none. As the last thing before the commit, others wait for that alone.
 */
class LastlyChanged extends SqlWriter {
  #changes: Omit<Change, 'sequence'>[] | undefined = []

  override changed(change: Omit<Change, 'sequence'>): void {
    if (!this.#changes) throw new Error('the work that this was given to is over')
    this.#changes.push(change)
  }

  async tell(): Promise<void> {
    const changes = this.#changes ?? []
    this.#changes = undefined
    if (changes.length === 0) return
    await Promise.all([this.on.run(numbering, []), ...changes.map(change => super.changed(change))])
  }
}

const looking = 'begin isolation level repeatable read read only'
const changing = 'begin isolation level serializable'
/** Nobody else migrates meanwhile. The number is this program's among all that share the server. */
const exclusive: Statement = {
  text: "select set_config('lock_timeout', '0', true), pg_advisory_xact_lock(7306358, hashtext(current_schema()))",
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
    connectionTimeoutMillis: patience,
    // Whoever waits for a lock does not see that nobody waits for him any more.
    lock_timeout: time,
    keepAlive: true,
  })
  // An idle connection that breaks has left the pool already: whoever needs one gets another.
  pool.on('error', () => {})
  return pool
}

/** 64-bit integers that a double holds; a wider one is read as text. Bytes without Buffer's prototype. */
const types: PostgresQuery['types'] = {
  getTypeParser: (type: number, format?: string): ((value: never) => unknown) => {
    if (type === pg.types.builtins.INT8) return Number
    if (type === pg.types.builtins.BYTEA) return bytesOf
    return type === pg.types.builtins.FLOAT8
      ? Number
      : pg.types.getTypeParser(type, format === 'binary' ? 'binary' : 'text')
  },
}
const bytesOf = (text: string): Uint8Array => Uint8Array.fromHex(text.slice(2))

/** Transactions, each on a connection of its own while it lasts. */
class Sessions {
  readonly #pool: PostgresPool
  readonly #time: number
  readonly #running = new Set<Promise<unknown>>()
  #closed = false
  #behind: unknown

  constructor(pool: PostgresPool, time: number) {
    this.#pool = pool
    this.#time = time
  }

  /** `time` in milliseconds, with all its tries. */
  run<T>(begin: string, work: (on: Connection) => Maybe<T>, time = this.#time): Promise<T> {
    if (this.#closed) return Promise.reject(new Unavailable())
    const running = this.#untilItHolds(begin, work, performance.now() + time)
    this.#running.add(running)
    const over = () => this.#running.delete(running)
    running.then(over, over)
    return running
  }

  /** What is behind an `Unavailable`: for an operator, never for a caller. */
  failure(thrown: unknown): unknown {
    return thrown instanceof Unavailable ? (this.#behind ?? thrown) : thrown
  }

  #explained(thrown: unknown): unknown {
    if (isLost(thrown)) this.#behind = thrown
    return explained(thrown)
  }

  /** What is under way comes to its end. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#running)
  }

  async #untilItHolds<T>(begin: string, work: (on: Connection) => Maybe<T>, until: number): Promise<T> {
    for (let wait = 2; ; wait = Math.min(100, wait * 2)) {
      try {
        return await this.#once(begin, work, until)
      } catch (thrown) {
        if (!isTransient(thrown)) throw this.#explained(thrown)
        if (performance.now() + wait > until) throw new Unavailable()
      }
      // Those who collided don't meet again.
      await sleep(wait * Math.random())
    }
  }

  async #once<T>(begin: string, work: (on: Connection) => Maybe<T>, until: number): Promise<T> {
    const session = new Session(await this.#pool.connect())
    const lent = new Lent(session)
    try {
      session.send(begin)
      const answer = await inTime(work(lent), until)
      lent.over()
      if (session.failed) throw session.failed
      if (begin === looking) session.send('commit')
      else await session.end('commit')
      session.release()
      return answer
    } catch (thrown) {
      lent.over()
      session.abandon(thrown)
      throw session.failed ?? thrown
    }
  }
}

async function inTime<T>(answer: Maybe<T>, until: number): Promise<T> {
  if (!(answer instanceof Promise) || until === Number.POSITIVE_INFINITY) return answer
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable()), Math.max(0, until - performance.now()))
  })
  return await Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

const ignore = (): void => {}

class Session implements Connection {
  readonly #client: PostgresClient
  #last: Promise<unknown> = Promise.resolve()
  /** The first failure of a statement: the server has ended the transaction then. */
  failed: unknown

  constructor(client: PostgresClient) {
    this.#client = client
    client.on('error', ignore) // a connection that breaks while nothing is asked of it; the next statement fails
  }

  /** Without waiting for the answer: what is sent next is answered after it, and fails if it failed. */
  send(text: string): void {
    this.end(text).catch(ignore)
  }
  end(text: string): Promise<void> {
    return this.#ask({ text, rowMode: 'array', types }).then(ignore)
  }

  async #ask(query: PostgresQuery): Promise<readonly Cells[]> {
    const asked = this.#client.query(query)
    this.#last = asked.then(ignore, ignore)
    try {
      return (await asked).rows as Cell[][] // the columns are declared with the types of cells
    } catch (thrown) {
      this.failed ??= thrown
      throw explained(thrown)
    }
  }

  rows(of: Statement, values: readonly Cell[]): Promise<readonly Cells[]> {
    const query = { text: of.text, values: [...parameters(of, values)], rowMode: 'array' as const, types }
    return this.#ask(of.name === undefined ? query : { ...query, name: of.name })
  }
  async first(of: Statement, values: readonly Cell[]): Promise<Cells | undefined> {
    return (await this.rows(of, values))[0]
  }
  async run(of: Statement, values: readonly Cell[]): Promise<void> {
    await this.rows(of, values)
  }

  /** Once all that was sent is answered. */
  release(broken = false): void {
    void this.#last.then(() => {
      this.#client.off('error', ignore)
      this.#client.release(broken || isLost(this.failed))
    })
  }

  /** The transaction did not come to its end. A statement may still be under way: then only closing the connection ends it now. */
  abandon(thrown: unknown): void {
    if (thrown instanceof Unavailable || isLost(this.failed)) {
      this.#client.release(true)
      return
    }
    this.send('rollback')
    this.release()
  }
}

const stateOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''

/** serialization_failure and deadlock_detected: the same work may succeed now. */
const isTransient = (thrown: unknown): boolean => ['40001', '40P01'].includes(stateOf(thrown))

/**
 * PostgreSQL Appendix A: connections (08), resources (53), intervention (57), lock not available, read-only; and what
 * sockets and pools say.
 */
const outOfReach = /^(08|53|57|55P03|25006|25P03)|^(E[A-Z]+)$/
const lost = /terminat|timeout|not queryable|closed/i
const isLost = (thrown: unknown): boolean =>
  thrown instanceof Error && (outOfReach.test(stateOf(thrown)) || (stateOf(thrown) === '' && lost.test(thrown.message)))

function explained(thrown: unknown): unknown {
  return isLost(thrown) ? new Unavailable() : thrown
}
