/**
 * Transactions on a pool of connections: each on one of its own while it lasts, run again where it collided, given up when its
 * time is over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Maybe, Unavailable } from '../service/store.ts'
import { type Cells, type Connection, Lent } from './connection.ts'
import type { Cell } from './dialect.ts'
import { parameters, type Statement } from './statement.ts'

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

export const looking = 'begin isolation level repeatable read read only'
export const changing = 'begin isolation level serializable'
/** For what does not depend on what others do. */
export const plain = 'begin'

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

export class Sessions {
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
      // A write waits until its transaction has begun: a statement sent after a begin that failed would stand by itself.
      if (begin === looking) session.send(begin)
      else await session.end(begin)
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
