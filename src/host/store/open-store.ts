/** The databases and limiters of a service, by its options; drivers are loaded when needed. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { attempt } from '../../base/attempt.ts'
import type { Implementation } from '../../contract/implement.ts'
import { computeInStore } from '../../service/computed-values.ts'
import { createMemoryLimiter, createSharedLimiter, type Limiter } from '../../service/limiter.ts'
import type { FollowingStore } from '../../service/read-replica.ts'
import { type Store, type TellFilling, Unavailable } from '../../service/store.ts'
import type { WarnOfLength } from '../../store/long-values.ts'
import type { MigrationWish, TellUndone } from '../../store/migration.ts'
import { createFolderOf } from '../../store/private-file.ts'
import type { RateWindows } from '../../store/rate-windows.ts'
import type { TellFormer } from '../../store/server-finder.ts'
import { isSqliteError } from '../../store/write-queue.ts'
import type { RetentionDays, ServeOptions } from '../options.ts'
import { ensurePostgresAddress, explainStoreFailure, StoreFailure } from './store-failure.ts'

/** The database file of a service. */
export const dataFileOf = (app: Implementation, { data }: Pick<ServeOptions, 'data'>): string =>
  data ?? `./data/${app.contract.service}.sqlite`

/**
 * The name of the service to which this database file belongs; undefined if the file is missing or
 * not such a database.
 */
export async function readServiceName(file: string): Promise<string | undefined> {
  if (!existsSync(file)) return undefined
  const { DatabaseSync } = await import('node:sqlite')
  const database = attempt(() => new DatabaseSync(file, { readOnly: true }), isSqliteError)
  try {
    const seeded = () => database?.prepare(`select "key" from "_memo" where "space" = 'seed'`).get()?.['key']
    const name = attempt(seeded, isSqliteError)
    return typeof name === 'string' ? name : undefined
  } finally {
    database?.close()
  }
}

/** The database of another service, next to the one that is about to be created. */
export async function findFormerDatabase(
  app: Implementation,
  { data, database }: Pick<ServeOptions, 'data' | 'database'>,
): Promise<{ readonly file: string; readonly service: string } | undefined> {
  const ownFile = dataFileOf(app, {})
  if (data !== undefined || database !== undefined || existsSync(ownFile)) return undefined
  const folder = dirname(ownFile)
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const file = join(folder, name)
    const service = name.endsWith('.sqlite') ? await readServiceName(file) : undefined
    if (service !== undefined) return { file: `./${file}`, service }
  }
  return undefined
}

/** Callbacks while a database is migrated to the contract. */
export interface StartWatch {
  /** For stored values that are longer than the contract allows. */
  readonly warn?: WarnOfLength
  readonly undone?: TellUndone
  readonly former?: TellFormer
  readonly unprepared?: () => void
}

/** Opens the database of a service, as `serve` does. */
export async function openStore(
  app: Implementation,
  options: Pick<ServeOptions, 'data' | 'database' | 'retention'>,
  watch: StartWatch = {},
): Promise<Store> {
  const data = dataFileOf(app, options)
  if (data !== ':memory:') createFolderOf(data)
  const store = await openAt(app, options.database, data, options.retention ?? {}, watch)
  return computeInStore(app, store)
}

/** For commands on the data of a service: fails if the service has never run at this place. */
export function openKnownStore(app: Implementation, options: Pick<ServeOptions, 'data' | 'database'>): Promise<Store> {
  if (!options.database) ensureDatabaseFile(dataFileOf(app, options))
  return openStore(app, options)
}

/** Work before a service runs, or of a command: what keeps it from the store is explained. */
export async function explainOutage<T>(
  app: Implementation,
  options: Pick<ServeOptions, 'data' | 'database'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) throw thrown
    throw explainStoreFailure(thrown, options.database, dataFileOf(app, options))
  }
}

/** @throws StoreFailure */
export function ensureDatabaseFile(data: string): void {
  if (!existsSync(data)) throw new StoreFailure(`database file ${data} not found: give its path with --data`)
}

/** Callbacks while a migration proceeds. */
export interface MigrationWatch extends StartWatch {
  /** Called once the steps are committed, with their number; filling follows. */
  readonly committed: (steps: number) => Promise<void>
  readonly filling: TellFilling
}

/**
 * Migrates the database of a service to its contract, or only lists the steps. What a service would
 * fill after its start is filled here.
 * @returns the number of steps listed
 */
export async function migrateDatabase(
  app: Implementation,
  options: Pick<ServeOptions, 'data' | 'database'>,
  wish: MigrationWish,
  { committed, filling, warn, undone }: Partial<MigrationWatch> = {},
): Promise<number> {
  let count = 0
  const migration: MigrationWish = {
    ...wish,
    tell: (step, text) => {
      count++
      wish.tell(step, text)
    },
  }
  const data = dataFileOf(app, options)
  const isNew = !options.database && !existsSync(data)
  if (isNew && wish.isPlan) warn?.(`database file ${data} not found: a start, or --apply, creates it`)
  else if (isNew) createFolderOf(data)
  const watch: StartWatch = {
    ...(warn && { warn }),
    undone: reason => {
      count = 0
      undone?.(reason)
    },
  }
  const file = wish.isPlan && isNew ? ':memory:' : data
  const store = await openAt(app, options.database, file, {}, { migration, ...watch })
  try {
    if (options.database && !wish.isPlan) await (await openWindows(options.database)).close()
    await committed?.(count)
    // Another process may have a part under way: wait until that one has completed it.
    while (!wish.isPlan && (await store.fill?.(filling)) === false) await sleep(fillAgainMs)
  } finally {
    await store.close()
  }
  return count
}
const fillAgainMs = 1000

/** Opens a standby, which is asked first for safe operations. */
export async function openReplica(
  app: Implementation,
  { database, replica }: Pick<ServeOptions, 'database' | 'replica'>,
): Promise<(FollowingStore & Pick<Store, 'usage' | 'close'>) | undefined> {
  if (replica === undefined) return undefined
  if (!database)
    throw new StoreFailure('a replica is a standby of a PostgreSQL database: give the address of that database, too')
  ensurePostgresAddress(replica, 'any')
  const { openPostgresReplica } = await import('../../store/postgres.ts')
  return computeInStore(app, await openPostgresReplica(app.contract, replica))
}

async function openAt(
  app: Implementation,
  database: string | undefined,
  file: string,
  { changesDays, formerDays }: RetentionDays,
  more: StartWatch & { readonly migration?: MigrationWish },
): Promise<Store> {
  const kept = {
    ...more,
    ...(changesDays !== undefined && { changesKept: changesDays * dayMs }),
    ...(formerDays !== undefined && { formerKept: formerDays * dayMs }),
  }
  if (database) ensurePostgresAddress(database, 'primary')
  try {
    if (database) return await (await import('../../store/postgres.ts')).openPostgresStore(app.contract, database, kept)
    return (await import('../../store/sqlite.ts')).openSqliteStore(app.contract, file, kept)
  } catch (thrown) {
    throw explainStoreFailure(thrown, database, file)
  }
}
const dayMs = 24 * 3600 * 1000

/** With their table, which a role that may only use tables cannot make. */
async function openWindows(database: string): Promise<RateWindows> {
  const { openRateWindows } = await import('../../store/rate-windows.ts')
  // A broken connection fails with an error without a code.
  return openRateWindows(database).catch((thrown: unknown) => {
    throw explainStoreFailure(new Unavailable(1, thrown), database, '')
  })
}

/** Instances share limits through their database, processes through the first process. */
export async function openLimiter({
  database,
  siblings,
}: Pick<ServeOptions, 'database' | 'siblings'>): Promise<{ limiter: Limiter; close(): Promise<void> }> {
  const close = async (): Promise<void> => {}
  if (database) {
    const windows = await openWindows(database)
    return { limiter: createSharedLimiter(windows.count), close: windows.close }
  }
  return { limiter: siblings ? createSharedLimiter(siblings.count) : createMemoryLimiter(), close }
}
