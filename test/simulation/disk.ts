/**
 * SQLite on a simulated disk: each statement of an instance takes a little time, and may be the last
 * one of its process, stall, or meet a disk that is full or fails. What always holds:
 *  (1) A process that crashes has its connections closed where it stands: what it had not committed
 *      is gone, what it had is there.
 *  (2) A statement that fails has done nothing; SQLite may have ended the transaction with it.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Owner, owners, type Scheduler } from './virtual-time.ts'

/** An instance, as its disk knows it. */
export interface Machine extends Owner {
  readonly databases: Set<DatabaseSync>
  /** Nothing more can be written. */
  isFull: boolean
  /** Probabilities of what a statement meets. */
  readonly troubles: { crash: number; stall: number; fail: number }
  crash(): void
}

export const isMachine = (owner: Owner | undefined): owner is Machine => owner !== undefined && 'databases' in owner

const fullCode = 13
const sqliteError = (message: string, errcode: number): Error =>
  Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR', errcode, errstr: message })

/** Milliseconds of one statement, at most; and of one that stalls. */
const statementMs = 0.05
const stalls = [20, 20_000] as const

class Crashed extends Error {}
/** What is known of a statement when it is prepared. */
interface Origin {
  readonly database: DatabaseSync
  readonly writes: boolean
  readonly commits: boolean
}
const originOf = (database: DatabaseSync, text: string): Origin => ({
  database,
  writes: !/^\s*(select|begin|rollback|pragma|release|savepoint)/i.test(text),
  commits: /^commit/i.test(text),
})
/** What a process that has crashed would not come to. */
export const isOfCrash = (thrown: unknown): boolean =>
  thrown instanceof Crashed || (thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_INVALID_STATE')

/** Replaces the database of this process. */
export function installDisk(scheduler: Scheduler): void {
  const module = createRequire(import.meta.url)('node:sqlite') as Record<string, unknown> & {
    DatabaseSync: typeof DatabaseSync
    StatementSync: typeof StatementSync
  }
  const Original = module.DatabaseSync
  const origins = new WeakMap<StatementSync, Origin>()

  const perform = <T>({ database, writes, commits }: Origin, run: () => T): T => {
    const owner = owners.getStore()
    if (!isMachine(owner)) return run()
    if (owner.isGone) throw new Crashed(`${owner.name} has crashed`)
    scheduler.nowMs += scheduler.random.part() * statementMs
    const { troubles } = owner
    const { random } = scheduler
    if (random.chance(troubles.stall)) scheduler.nowMs += random.between(...stalls)
    if (random.chance(troubles.crash)) {
      if (random.chance(0.5) && commits) run()
      owner.crash() // (1)
      throw new Crashed(`${owner.name} crashes`)
    }
    if (writes && (owner.isFull || random.chance(troubles.fail))) {
      if (database.isTransaction && random.chance(0.5)) endTransaction(database) // (2)
      throw sqliteError('database or disk is full', fullCode)
    }
    return run()
  }

  class SimulatedDatabase extends Original {
    constructor(file: string, options: object = {}) {
      super(file, { ...options, timeout: 0 }) // the world, not the wall clock, waits
      const owner = owners.getStore()
      if (isMachine(owner)) owner.databases.add(this)
    }
    override exec(text: string): void {
      perform(originOf(this, text), () => super.exec(text.replace(/busy_timeout = \d+/, 'busy_timeout = 0')))
    }
    override prepare(text: string): StatementSync {
      const statement = super.prepare(text)
      origins.set(statement, originOf(this, text))
      return statement
    }
    override close(): void {
      const owner = owners.getStore()
      if (isMachine(owner)) owner.databases.delete(this)
      super.close()
    }
    override [Symbol.dispose](): void {
      if (this.isOpen) this.close()
    }
  }
  const endTransaction = (database: DatabaseSync): void => Original.prototype.exec.call(database, 'rollback')
  module.DatabaseSync = SimulatedDatabase as unknown as typeof DatabaseSync
  for (const name of ['get', 'all', 'run', 'iterate'] as const) {
    const original = module.StatementSync.prototype[name] as (...values: unknown[]) => unknown
    Object.defineProperty(module.StatementSync.prototype, name, {
      value(this: StatementSync, ...values: unknown[]) {
        return perform(origins.get(this) as Origin, () => original.apply(this, values))
      },
    })
  }
  syncBuiltinESMExports()
}
