/**
 * Indexes that PostgreSQL builds while others read and write (`create index concurrently`). What
 * always holds:
 *  (1) One process per database builds at a time. When its turn has come, it checks again whether
 *      the index is due, and it records the index as complete before the next turn begins.
 *  (2) The remains of a failed build are removed first: its index is invalid, and in the way.
 *  (3) Closing the store ends the build, however long it would take.
 */
import { type TellFilling, Unavailable } from '../service/store.ts'
import type { StatementRunner } from './connection.ts'
import type { IndexBuild, Steps } from './database-shape.ts'
import { postgres } from './dialect.ts'
import { noTransaction, type Sessions } from './postgres-sessions.ts'
import { countRows } from './row-filling.ts'
import { sql } from './sql.ts'
import { compileStatement, parameterAt, type Statement } from './statement.ts'

/** Runs steps one after the other on a connection. */
export async function executeSteps<T>(steps: Steps<T>, on: StatementRunner): Promise<T> {
  let step = steps.next()
  while (!step.done) {
    const { text, values = [] } = step.value
    step = steps.next(await on.rows(compileStatement(postgres, text, false), values))
  }
  return step.value
}

const createPlainStatement = (text: string): Statement => ({ text, places: [], straight: true, recurs: false })
/**
 * This program's number among all programs on the server, used for nothing else: the lock is held
 * for as long as a build lasts, and no start waits for it.
 */
const building = '7306361, hashtext(current_schema())'
/**
 * A build waits for transactions that began before it, longer than others may wait for a lock, and
 * takes longer than the role may allow a statement.
 */
const buildingLock = createPlainStatement(
  `select pg_try_advisory_lock(${building}), pg_backend_pid(), set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false)`,
)
/** `reset` restores the limits with which the connection began. */
const buildingEnd = createPlainStatement(
  `select pg_advisory_unlock(${building}), (select count(set_config(name, reset_val, false)) from pg_settings where name in ('lock_timeout', 'statement_timeout'))`,
)
/** PostgreSQL "CREATE INDEX Progress Reporting". */
const buildingProgress = compileStatement(
  postgres,
  sql`select phase, blocks_done, blocks_total from pg_stat_progress_create_index where pid = ${parameterAt(0)}`,
)
const buildingCancel = compileStatement(postgres, sql`select pg_cancel_backend(${parameterAt(0)})`)

/** Indexing a large table takes long. */
export const buildTimeoutMs = 3_600_000
const progressEveryMs = 1000

/** The sessions that a build uses. */
export interface BuildSessions {
  readonly writes: Sessions
  /** Watches a build, and cancels it. */
  readonly probe: Sessions
}

export class IndexBuilds {
  readonly #sessions: BuildSessions
  readonly #stopped = Promise.withResolvers<never>()
  /** The server's process id for the build. */
  #building: number | undefined

  constructor(sessions: BuildSessions) {
    this.#sessions = sessions
    this.#stopped.promise.catch(() => {})
  }

  /** False if another process is building. */
  make(build: IndexBuild, tell: TellFilling): Promise<boolean> {
    const work = (on: StatementRunner): Promise<boolean> =>
      Promise.race([this.#makeInTurn(build, tell, on), this.#stopped.promise])
    return this.#sessions.writes.run(noTransaction, work, buildTimeoutMs)
  }

  /** (1) */
  async #makeInTurn(build: IndexBuild, tell: TellFilling, on: StatementRunner): Promise<boolean> {
    const [isOurs, pid] = (await on.first(buildingLock, [])) ?? []
    try {
      if (isOurs !== true) return false
      this.#building = Number(pid)
      if (await executeSteps(build.isDue(), on)) await this.#make(build, tell, on)
      return true
    } finally {
      this.#building = undefined
      if (isOurs === true) await on.run(buildingEnd, [])
    }
  }

  async #make({ what, table, texts, complete }: IndexBuild, tell: TellFilling, on: StatementRunner): Promise<void> {
    const rowsTotal = await countRows(steps => executeSteps(steps(), on), table)
    let isOver = false
    const tellShare = (share: number, phase?: string): void =>
      tell({ what, rowsDone: Math.floor(share * rowsTotal), rowsTotal, isOver, ...(phase && { phase }) })
    tellShare(0)
    const watching = setInterval(() => {
      void this.#look().then(
        ([phase, share]) => !isOver && tellShare(share, phase),
        () => {}, // the next round asks again
      )
    }, progressEveryMs).unref()
    try {
      for (const text of texts) await on.run(compileStatement(postgres, text, false), [])
      await executeSteps(complete(), on)
    } finally {
      clearInterval(watching)
    }
    isOver = true
    tellShare(1)
  }

  async #look(): Promise<readonly [phase: string, share: number]> {
    const { probe } = this.#sessions
    const [phase = '', done, total] =
      (await probe.run(noTransaction, on => on.first(buildingProgress, [this.#building ?? 0]))) ?? []
    return [String(phase), measureBuild(String(phase), Number(total) > 0 ? Number(done) / Number(total) : 0)]
  }

  /** (3) */
  async stop(): Promise<void> {
    const pid = this.#building
    this.#stopped.reject(new Unavailable(1, 'the store is closed while an index is built'))
    if (pid === undefined) return
    await this.#sessions.probe.run(noTransaction, on => on.run(buildingCancel, [pid])).catch(() => {})
  }
}

/**
 * How much of a build is done, from 0 to 1: it passes over the table twice, once to read the rows
 * and once to find those that were written meanwhile.
 * @param share of the blocks in this phase
 */
export function measureBuild(phase: string, share: number): number {
  if (phase === 'building index' || phase === 'building index: scanning table') return share / 2
  if (phase === 'index validation: scanning table') return 0.5 + share / 2
  if (/^(building index|index validation|waiting for writers before validation)/.test(phase)) return 0.5
  return phase === 'waiting for old snapshots' ? 1 : 0
}
