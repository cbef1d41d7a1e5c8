/**
 * Transactions on a pool of connections: each on one of its own while it lasts, run again where it collided. What always holds:
 *  (1) Nothing is waited for longer than a transaction's time, neither by its caller nor by the pool: a connection that owes an
 *      answer then is closed at once, without a word to the other side, which may be gone.
 *  (2) What a connection says is heard from its first moment on: one that fails ends no process.
 *  (3) A statement of a transaction that is over is never sent: the connection may be another's by then.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorCodeOf } from '../base/attempt.ts'
import { decodeHex } from '../base/base64.ts'
import type { Maybe } from '../base/maybe.ts'
import { Unavailable, type Usage } from '../service/store.ts'
import { BorrowedConnection, type Cells, type StatementRunner } from './connection.ts'
import type { Cell } from './dialect.ts'
import { boundParameters, type Statement } from './statement.ts'

/** What is asked of a pool: `pg.Pool` is one. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  end(): Promise<void>
  /** Hears of a new connection before anything is asked of it. */
  on?(event: 'connect', listener: (client: PostgresClient) => void): unknown
  readonly totalCount?: number
  readonly idleCount?: number
  readonly waitingCount?: number
}
export interface PostgresClient {
  query(config: PostgresQuery): Promise<{ readonly rows: unknown[][] }>
  /** Back to the pool; broken ones are closed, which ends their transaction. */
  release(broken?: boolean): void
  readonly connection?: { readonly stream: { destroy(): unknown } }
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

export const beginRead = 'begin isolation level repeatable read read only'
export const beginWrite = 'begin isolation level serializable'
/** For what does not depend on what others do. */
export const beginPlain = 'begin'
/** For one statement that only reads: it is a look of its own. */
export const noTransaction = ''

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
/** PostgreSQL "bytea Hex Format": `\\x`, then the octets. */
const bytesOf = (text: string): Uint8Array => decodeHex(text.slice(2)) ?? failBytea(text)

function failBytea(text: string): never {
  throw new Error(`bytea "${text.slice(0, 8)}…" is not in hex format: set bytea_output to hex`)
}

/** Milliseconds to wait for what needs nothing but a server that answers: a connection, a look at a lock. */
export const transactionTimeoutMs = 5000
/** A server that is gone without a word is noticed within half a minute, where nothing is on the way to it. */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

export class Sessions {
  readonly #pool: PostgresPool
  readonly #time: number
  readonly #running = new Set<Promise<unknown>>()
  #closed = false
  #behind: unknown

  constructor(pool: PostgresPool, time: number) {
    this.#pool = pool
    this.#time = time
    // (2) A server that is told to stop may say so in one breath with its readiness, before anybody could listen.
    pool.on?.('connect', client => client.on('error', ignore))
  }

  /** `time` in milliseconds, with all its tries. */
  run<T>(begin: string, work: (on: StatementRunner) => Maybe<T>, time = this.#time): Promise<T> {
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

  /** Undefined of a pool that does not say. */
  usage(): Usage | undefined {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool
    if (totalCount === undefined || idle === undefined || waiting === undefined) return undefined
    return { waiting, connections: { busy: totalCount - idle, idle } }
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

  async #untilItHolds<T>(begin: string, work: (on: StatementRunner) => Maybe<T>, until: number): Promise<T> {
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

  async #once<T>(begin: string, work: (on: StatementRunner) => Maybe<T>, until: number): Promise<T> {
    const session = new PooledTransaction(until)
    const lent = new BorrowedConnection(session)
    try {
      const answer = await Promise.race([this.#transaction(session, begin, lent, work), session.late])
      session.release()
      return answer
    } catch (thrown) {
      session.abandon(thrown)
      throw session.failed ?? thrown
    } finally {
      lent.over()
    }
  }

  async #transaction<T>(
    session: PooledTransaction,
    begin: string,
    lent: BorrowedConnection,
    work: (on: StatementRunner) => Maybe<T>,
  ): Promise<T> {
    session.take(await this.#pool.connect())
    // A write waits until its transaction has begun: a statement sent after a begin that failed would stand by itself.
    if (begin === beginWrite) await session.end(begin)
    else if (begin !== noTransaction) session.send(begin)
    const answer = await work(lent)
    lent.over()
    if (session.failed) throw session.failed
    if (begin === noTransaction) return answer
    if (begin === beginRead) session.send('commit')
    else await session.end('commit')
    // What the work sent without waiting for it: the commit of a transaction that failed undoes it, and says nothing.
    if (session.failed) throw session.failed
    return answer
  }
}

const ignore = (): void => {}

class PooledTransaction implements StatementRunner {
  readonly #timer: NodeJS.Timeout
  #client: PostgresClient | undefined
  #last: Promise<unknown> = Promise.resolve()
  #over = false
  /** The first failure of a statement: the server has ended the transaction then. */
  failed: unknown
  /** Rejects when its time is up; then the connection is closed, whatever it owes (1). */
  readonly late: Promise<never>

  constructor(until: number) {
    const { promise, reject } = Promise.withResolvers<never>()
    this.#timer = setTimeout(reject, Math.max(0, until - performance.now()), new Unavailable())
    this.late = promise
    promise.catch(() => this.#giveBack(true))
  }

  /** A connection that comes too late goes back. */
  take(client: PostgresClient): void {
    if (this.#over) {
      client.release()
      throw new Unavailable()
    }
    this.#client = client
    client.on('error', ignore) // it breaks while nothing is asked of it: the next statement fails
  }

  /** Without waiting for the answer: what is sent next is answered after it, and fails if it failed. */
  send(text: string): void {
    this.end(text).catch(ignore)
  }
  end(text: string): Promise<void> {
    return this.#ask({ text, rowMode: 'array', types }).then(ignore)
  }

  async #ask(query: PostgresQuery): Promise<readonly Cells[]> {
    if (this.#over || !this.#client) throw new Unavailable() // (3)
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
    const query = { text: of.text, values: [...boundParameters(of, values)], rowMode: 'array' as const, types }
    return this.#ask(of.name === undefined ? query : { ...query, name: of.name })
  }
  async first(of: Statement, values: readonly Cell[]): Promise<Cells | undefined> {
    return (await this.rows(of, values))[0]
  }
  async run(of: Statement, values: readonly Cell[]): Promise<void> {
    await this.rows(of, values)
  }

  /** Once all that was sent is answered, at the latest when its time is up. */
  release(): void {
    void this.#last.then(() => this.#giveBack(isLost(this.failed)))
  }

  /** The transaction did not come to its end. A statement may still be under way: then only closing the connection ends it now. */
  abandon(thrown: unknown): void {
    if (thrown instanceof Unavailable || isLost(this.failed)) {
      this.#giveBack(true)
      return
    }
    this.send('rollback')
    this.release()
  }

  #giveBack(broken: boolean): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#timer)
    this.#client?.off('error', ignore)
    // To end a client politely is to wait for the answers that are on their way: of a connection that is silent none comes.
    if (broken) this.#client?.connection?.stream.destroy()
    this.#client?.release(broken)
  }
}

/** serialization_failure and deadlock_detected: the same work may succeed now. */
const isTransient = (thrown: unknown): boolean => ['40001', '40P01'].includes(errorCodeOf(thrown))

/**
 * PostgreSQL Appendix A: connections (08), what a standby does not support and a plan that is older than its table (0A000),
 * resources (53), intervention (57), lock not available, read-only; and what sockets and pools say.
 */
const outOfReach = /^(08|0A000|53|57|55P03|25006|25P03)|^E(?!RR_)[A-Z_]+$|^ERR_(SOCKET|STREAM|SSL|TLS)_/
const lost = /terminat|timeout|not queryable|closed/i
const isLost = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (outOfReach.test(errorCodeOf(thrown)) || (errorCodeOf(thrown) === '' && lost.test(thrown.message)))

function explained(thrown: unknown): unknown {
  return isLost(thrown) ? new Unavailable() : thrown
}
