/**
 * Transactions on a pool of connections: each has a connection to itself while it lasts, and runs
 * again after a collision. What always holds:
 *  (1) Nothing waits longer than a transaction's time, neither its caller nor the pool: a
 *      connection that still owes a reply by then is closed at once, without a message to the
 *      server, which may be gone.
 *  (2) A connection has an error listener from its first moment, so a failing connection never ends
 *      the process.
 *  (3) A statement of a transaction that has ended is never sent: by then the connection may belong
 *      to another.
 *  (4) A connection that cannot be made is `Unavailable`, whatever the server's reason: a password
 *      that is being changed, a certificate that has expired, a database that is being replaced.
 *  (5) A pooler that gives each transaction another session may not know which statements that one
 *      has prepared: then no statement is prepared any more.
 */

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { errorCodeOf } from '../base/attempt.ts'
import { decodeHex } from '../base/base64.ts'
import { memoizeByObject, memoizeByText } from '../base/memo.ts'
import { refuse } from '../service/refusal.ts'
import { closedStore, Unavailable, type Usage } from '../service/store.ts'
import { type Cells, createEndedError, duplicateKey, type StatementRunner, type StatementWork } from './connection.ts'
import type { Cell } from './dialect.ts'
import { boundParameters, type Statement } from './statement.ts'

/** The part of a pool that the store needs; `pg.Pool` has it. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
  end(): Promise<void>
  /** Reports a new connection before anything is sent on it. */
  on?(event: 'connect', listener: (client: PostgresClient) => void): unknown
  readonly totalCount?: number
  readonly idleCount?: number
  readonly waitingCount?: number
}
/** The part of a `pg` client that the store uses. */
export interface PostgresClient {
  query(config: PostgresQuery): Promise<{ readonly rows: unknown[][] }>
  /** Returns it to the pool; a broken connection is closed, which ends its transaction. */
  release(broken?: boolean): void
  readonly connection?: { readonly stream: { destroy(): unknown; cork?(): void; uncork?(): void } }
  on(event: 'error', listener: (error: Error) => void): unknown
  off(event: 'error', listener: (error: Error) => void): unknown
}
/** A statement, as `pg` accepts it. */
export interface PostgresQuery {
  text: string
  values?: unknown[]
  name?: string
  rowMode: 'array'
  types: { getTypeParser(type: number, format?: string): (value: never) => unknown }
}

export const beginRead = 'begin isolation level repeatable read read only'
/** Whatever depends on other transactions is locked, or checked again (postgres-writer.ts). */
export const beginWrite = 'begin isolation level read committed'
/** For a single statement that only reads, and therefore sees one snapshot. */
export const noTransaction = ''

/**
 * 64-bit integers that fit in a double (wider ones are read as text); octets without Buffer's
 * prototype.
 */
const cellTypes: PostgresQuery['types'] = {
  getTypeParser: (type: number, format?: string): ((value: never) => unknown) => {
    if (type === pg.types.builtins.INT8) return Number
    if (type === pg.types.builtins.BYTEA) return parseBytea
    return type === pg.types.builtins.FLOAT8
      ? Number
      : pg.types.getTypeParser(type, format === 'binary' ? 'binary' : 'text')
  },
}
/** PostgreSQL "bytea Hex Format": `\\x`, then the octets. */
const parseBytea = (text: string): Uint8Array => decodeHex(text.slice(2)) ?? failBytea(text)

function failBytea(text: string): never {
  throw new Error(`bytea "${text.slice(0, 8)}…" is not in hex format: set bytea_output to hex`)
}

/** How long to wait for what only needs a live server: a connection, a look at a lock. */
export const transactionTimeoutMs = 5000
/**
 * A server that vanishes silently is noticed within half a minute, even if nothing is being sent to
 * it.
 */
export const keepAliveOptions = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

/** Tries of one unit of work: from the second one on, it locks whatever it collided with. */
const triesMax = 50

export class Sessions {
  readonly #pool: PostgresPool
  readonly #time: number
  readonly #running = new Set<Promise<unknown>>()
  readonly #tellUnprepared: () => void
  #closed = false
  #cause: unknown
  /** (5) */
  #prepares = true

  /** @param tellUnprepared is called if statements are no longer prepared */
  constructor(pool: PostgresPool, time: number, tellUnprepared: () => void = ignore) {
    this.#pool = pool
    this.#time = time
    this.#tellUnprepared = tellUnprepared
    //  (2) A server that is told to stop may say so in the same packet as its readiness, before a
    //      caller could listen.
    pool.on?.('connect', client => client.on('error', ignore))
  }

  /** @param time in milliseconds, for all tries together */
  run<T>(begin: string, work: StatementWork<T>, time = this.#time): Promise<T> {
    if (this.#closed) return Promise.reject(new Unavailable(1, closedStore))
    const running = this.#runUntilDone(begin, work, performance.now() + time)
    this.#running.add(running)
    const over = () => this.#running.delete(running)
    running.then(over, over)
    return running
  }

  /** The error behind an `Unavailable`: for an operator, never for a caller. */
  failure(thrown: unknown): unknown {
    return thrown instanceof Unavailable ? (this.#cause ?? thrown) : thrown
  }

  /** Undefined if the pool does not report it. */
  usage(): Usage | undefined {
    const { totalCount, idleCount: idle, waitingCount: waiting } = this.#pool
    if (totalCount === undefined || idle === undefined || waiting === undefined) return undefined
    return { waiting, connections: { busy: totalCount - idle, idle } }
  }

  #toStoreError(thrown: unknown): unknown {
    if (isLost(thrown) || isRefusedNow(thrown)) this.#keepCause(thrown)
    return toStoreError(thrown)
  }
  #keepCause(cause: unknown): unknown {
    return (this.#cause = cause)
  }

  /** Waits until all transactions under way have ended. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#running)
  }

  async #runUntilDone<T>(begin: string, work: StatementWork<T>, until: number): Promise<T> {
    for (let [wait, tries] = [2, 1]; ; wait = Math.min(100, wait * 2), tries++) {
      try {
        return await this.#runOnce(begin, work, until)
      } catch (thrown) {
        if (!(thrown instanceof DatabaseFailure || thrown instanceof Collision)) throw thrown
        const cause = thrown instanceof Collision ? thrown : thrown.cause
        if (isOfOtherSession(cause)) this.#endPreparing()
        if (isKeyTaken(cause) && tries === takenTriesMax) refuse(duplicateKey)
        if (!isTransient(cause)) throw this.#toStoreError(cause)
        if (tries === triesMax || performance.now() + wait > until) throw new Unavailable(1, cause)
      }
      // Transactions that collided wait for different times, so that they do not collide again.
      await sleep(wait * Math.random())
    }
  }

  #endPreparing(): void {
    if (this.#prepares) this.#tellUnprepared()
    this.#prepares = false
  }

  async #runOnce<T>(begin: string, work: StatementWork<T>, until: number): Promise<T> {
    const session = new PooledTransaction(until, this.#prepares)
    try {
      const answer = await Promise.race([this.#transaction(session, begin, work), session.late])
      session.release()
      return answer
    } catch (thrown) {
      session.abandon(thrown)
      if (session.isInDoubt) throw new Unavailable(1, this.#keepCause(session.failed ?? late), 'commit')
      throw session.failed === undefined ? thrown : new DatabaseFailure(session.failed)
    } finally {
      session.endWork()
    }
  }

  async #transaction<T>(session: PooledTransaction, begin: string, work: StatementWork<T>): Promise<T> {
    const failToConnect = (thrown: unknown): never => session.fail(new Unavailable(1, this.#keepCause(thrown)))
    session.take(await this.#pool.connect().catch(failToConnect)) // (4)
    // A write waits until its transaction has begun: if the begin failed, a statement would be
    // committed on its own.
    if (begin === beginWrite) await session.end(begin)
    else if (begin !== noTransaction) session.send(begin)
    const answer = await work(session)
    session.endWork()
    if (session.failed) throw session.failed
    if (begin === noTransaction) return answer
    if (begin === beginRead) session.send('commit')
    else await session.commit()
    // For statements that the work did not wait for: committing a failed transaction rolls it back
    // without an error.
    if (session.failed) throw session.failed
    return answer
  }
}

const ignore = (): void => {}

const late = 'a unit of work did not end within its time: a slow handler, a lock, or a database that does not reply'

/**
 * Everything that all queries of a statement share is in their prototype: `pg` copies the own
 * members of each query, which costs more than making it. The server keeps prepared statements by
 * name, and the same text always has the same name.
 */
const sharedQueryOf = memoizeByObject(({ text, recurs }: Statement): PostgresQuery => {
  return { ...bareQuery(text), ...(recurs && { name: preparedNameOf(text) }) }
})
const preparedNameOf = (text: string): string =>
  `diglot ${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
const bareQuery = memoizeByText((text): PostgresQuery => ({ text, rowMode: 'array', types: cellTypes }))

class PooledTransaction implements StatementRunner {
  readonly #timer: NodeJS.Timeout
  readonly #prepares: boolean
  #client: PostgresClient | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isOver = false
  #hasWorkEnded = false
  #isCommitting = false
  #isGathering = false
  /**
   * The first failure of the connection or of a statement; the server has then ended the
   * transaction.
   */
  failed: unknown
  /** Rejects when its time is up; then the connection is closed, whatever it still owes: (1). */
  readonly late: Promise<never>

  constructor(until: number, prepares: boolean) {
    this.#prepares = prepares
    const { promise, reject } = Promise.withResolvers<never>()
    this.#timer = setTimeout(reject, Math.max(0, until - performance.now()), new Unavailable(1, late))
    this.late = promise
    promise.catch(() => this.#giveBack(true))
  }

  readonly fail = (thrown: unknown): never => {
    this.failed ??= thrown
    throw thrown
  }

  /** A connection that arrives too late goes back to the pool. */
  take(client: PostgresClient): void {
    if (this.#isOver) {
      client.release()
      throw new Unavailable(1, late)
    }
    this.#client = client
    client.on('error', ignore) // the connection breaks between two statements: the next one fails
  }

  /** Sent without waiting: the next statement runs after it, and fails if it failed. */
  send(text: string): void {
    this.end(text).catch(ignore)
  }
  end(text: string): Promise<void> {
    return this.#query(Object.create(bareQuery(text))).then(ignore)
  }

  async commit(): Promise<void> {
    this.#isCommitting = true
    await this.end('commit')
    this.#isCommitting = false
  }
  /** The commit was sent and has no reply. If the server answers, it failed and is not in doubt. */
  get isInDoubt(): boolean {
    return this.#isCommitting && (this.failed === undefined || isLost(this.failed))
  }

  async #query(query: PostgresQuery): Promise<readonly Cells[]> {
    if (this.#isOver || !this.#client) throw new Unavailable(1, late) // (3)
    this.#gatherMessages(this.#client)
    const result = this.#client.query(query)
    this.#last = result.then(ignore, ignore)
    try {
      return (await result).rows as Cell[][] // the columns are declared with the types of cells
    } catch (thrown) {
      this.failed ??= thrown
      throw toStoreError(thrown)
    }
  }

  /** Messages of one turn of the event loop are sent together: a write to a socket is expensive. */
  #gatherMessages({ connection }: PostgresClient): void {
    if (this.#isGathering) return
    this.#isGathering = true
    connection?.stream.cork?.()
    process.nextTick(() => {
      this.#isGathering = false
      connection?.stream.uncork?.()
    })
  }

  /** Whatever the work asks afterwards throws; the transaction itself runs to its end. */
  endWork(): void {
    this.#hasWorkEnded = true
  }
  get hasEnded(): boolean {
    return this.#hasWorkEnded
  }

  rows(of: Statement, values: readonly Cell[]): Promise<readonly Cells[]> {
    if (this.#hasWorkEnded) throw createEndedError()
    const query: PostgresQuery = Object.create(this.#prepares ? sharedQueryOf(of) : bareQuery(of.text))
    query.values = [...boundParameters(of, values)]
    return this.#query(query)
  }
  async first(of: Statement, values: readonly Cell[]): Promise<Cells | undefined> {
    return (await this.rows(of, values))[0]
  }
  async run(of: Statement, values: readonly Cell[]): Promise<void> {
    await this.rows(of, values)
  }

  /** Called once all statements have results, or when its time is up. */
  release(): void {
    void this.#last.then(() => this.#giveBack(isLost(this.failed)))
  }

  /**
   * The transaction failed. If a statement may still be running, only closing the connection ends
   * it now.
   */
  abandon(thrown: unknown): void {
    if ((thrown instanceof Unavailable && !isRefusedNow(this.failed)) || isLost(this.failed)) {
      this.#giveBack(true)
      return
    }
    this.send('rollback')
    this.release()
  }

  #giveBack(broken: boolean): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#client?.off('error', ignore)
    // Ending a client politely means waiting for what the server still owes: a silent connection
    // never sends it.
    if (broken) this.#client?.connection?.stream.destroy()
    this.#client?.release(broken)
  }
}

/** Rows that a unit of work has read were changed before it could commit. */
export class Collision extends Error {}

/**
 * An error of the database or of the connection to it. Any other error is the work's own, whatever
 * its code: a handler may use a server of its own, which can refuse connections, too.
 */
class DatabaseFailure {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

/**
 * Text that a statement tries to read as a number when it finds a collision:
 * invalid_text_representation (22P02) with this text means a collision, and nothing else does.
 */
export const staleReadMark = 'diglot: what was read has changed'
const isStaleRead = (thrown: unknown): boolean =>
  errorCodeOf(thrown) === '22P02' && thrown instanceof Error && thrown.message.includes(staleReadMark)

/** invalid_sql_statement_name and duplicate_prepared_statement. */
export const isOfOtherSession = (thrown: unknown): boolean => ['26000', '42P05'].includes(errorCodeOf(thrown))

/**
 * A collision, serialization_failure or deadlock_detected: the same work may succeed when it runs
 * again.
 */
const isTransient = (thrown: unknown): boolean =>
  thrown instanceof Collision ||
  isStaleRead(thrown) ||
  isKeyTaken(thrown) ||
  isOfOtherSession(thrown) ||
  ['40001', '40P01'].includes(errorCodeOf(thrown))

/**
 * unique_violation of a key in the contract: the work runs again and finds the item with that key.
 * If an older program does not know the key, it does not.
 */
const isKeyTaken = (thrown: unknown): boolean =>
  errorCodeOf(thrown) === '23505' && thrown instanceof Error && !/_pkey$/.test(String(Object(thrown).constraint))
const takenTriesMax = 3

/** lock_not_available: the connection is still good. */
export const isBusy = (thrown: unknown): boolean => errorCodeOf(thrown) === '55P03'

/**
 * undefined_column and undefined_table, on a good connection: a newer program dropped what this one
 * declares; another instance may be able to answer.
 */
const isOfDropped = (thrown: unknown): boolean => ['42703', '42P01'].includes(errorCodeOf(thrown))

/**
 * program_limit_exceeded, if the server has no transaction number left: it accepts no change until
 * a VACUUM has freed some. The message may be in any language.
 */
export const isOutOfNumbers = (thrown: unknown): boolean =>
  errorCodeOf(thrown) === '54000' && /^GetNew(TransactionId|MultiXactId)$/.test(String(Object(thrown).routine))

/** What the server refuses for a while, on a good connection. */
const isRefusedNow = (thrown: unknown): boolean => isBusy(thrown) || isOfDropped(thrown) || isOutOfNumbers(thrown)

/**
 * PostgreSQL Appendix A: connections (08), what a standby does not support or a plan older than its
 * table (0A000), resources (53), intervention (57), system errors (58), read-only, and what took
 * longer than the server allows (25P03, 25P04); and the codes of sockets and pools.
 */
const unreachableState = /^(08|0A000|53|57|58|25006|25P0[34])|^E(?!RR_)[A-Z_]+$|^ERR_(SOCKET|STREAM|SSL|TLS)_/
const lostMessage = /terminat|timeout|not queryable|closed/i
const isLost = (thrown: unknown): boolean =>
  thrown instanceof Error &&
  (unreachableState.test(errorCodeOf(thrown)) || (errorCodeOf(thrown) === '' && lostMessage.test(thrown.message)))

function toStoreError(thrown: unknown): unknown {
  return isLost(thrown) || isRefusedNow(thrown) ? new Unavailable(1, thrown) : thrown
}
