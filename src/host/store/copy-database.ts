/**
 * A service's database, copied into an empty one: from a file to a server, or back. The source
 * stays unchanged, except for the work that a start completes in it.
 */
import { existsSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Implementation } from '../../contract/implement.ts'
import type { TellFilling } from '../../service/store.ts'
import {
  copyRows,
  findRunningInstance,
  isEmptyDatabase,
  listLeftBehind,
  type RowsOfDatabase,
  type TellCopied,
} from '../../store/copied-rows.ts'
import { sqlite } from '../../store/dialect.ts'
import { compileTables } from '../../store/table.ts'
import type { ServeOptions } from '../options.ts'
import { dataFileOf, ensureDatabaseFile, openStore } from './open-store.ts'
import { explainStoreFailure, StoreFailure } from './store-failure.ts'

export type DatabasePlace = Pick<ServeOptions, 'data' | 'database'>

/** Called as a copy goes on. */
export interface CopyWatch {
  readonly copied: TellCopied
  readonly filling: TellFilling
  /** Of a field or a resource that the contract does not have. */
  readonly leftBehind: (name: string) => void
}

/** `postgres://…`, or a file. */
export const databasePlaceOf = (text: string): DatabasePlace =>
  /^postgres(?:ql)?:/i.test(text) ? { database: text } : { data: text }

/** Throws if the service runs on the source, or if the target has anything; says what to do. */
export async function copyDatabase(
  app: Implementation,
  from: DatabasePlace,
  to: DatabasePlace,
  watch: CopyWatch,
): Promise<void> {
  if (!from.database) ensureDatabaseFile(dataFileOf(app, from))
  const file = to.database ? undefined : dataFileOf(app, to)
  if (file !== undefined && existsSync(file)) throw new StoreFailure(`${file} already exists: give another file`)
  try {
    if (to.database) await requireEmptyTarget(app, to)
    await completeStore(app, from, watch.filling)
    await completeStore(app, to, watch.filling)
    await copyAll(app, from, to, watch)
  } catch (thrown) {
    if (file !== undefined) for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
    throw thrown
  }
  await completeStore(app, to, watch.filling)
}

/** The migration of a start, and the work that a start leaves for later. */
async function completeStore(app: Implementation, place: DatabasePlace, tell: TellFilling): Promise<void> {
  const store = await openStore(app, place)
  try {
    while ((await store.fill?.(tell)) === false) await sleep(1000)
  } finally {
    await store.close()
  }
}

async function openCopiedRows(app: Implementation, place: DatabasePlace): Promise<RowsOfDatabase> {
  try {
    if (place.database) return (await import('../../store/postgres-rows.ts')).openPostgresRows(place.database)
    return (await import('../../store/sqlite-rows.ts')).openSqliteRows(dataFileOf(app, place))
  } catch (thrown) {
    throw explainStoreFailure(thrown, place.database, dataFileOf(app, place))
  }
}

async function requireEmptyTarget(app: Implementation, place: DatabasePlace): Promise<void> {
  const rows = await openCopiedRows(app, place)
  try {
    if (!(await rows.run('read', isEmptyDatabase))) throw createFullError()
  } catch (thrown) {
    throw explainStoreFailure(thrown, place.database, '')
  } finally {
    await rows.close()
  }
}

const createFullError = (): StoreFailure =>
  new StoreFailure(
    'the target database already has rows, which are never replaced: give an empty one, or another schema of it (?options=-c%20search_path%3D…)',
  )

async function copyAll(
  app: Implementation,
  from: DatabasePlace,
  to: DatabasePlace,
  { copied, leftBehind }: CopyWatch,
): Promise<void> {
  const [source, target] = await Promise.all([openCopiedRows(app, from), openCopiedRows(app, to)])
  const tables = compileTables(app.contract, sqlite)
  try {
    await source.run('read', async reading => {
      const running = await findRunningInstance(reading, Date.now())
      if (running)
        throw new StoreFailure(
          `${running.instance} uses the database, and its changes in the meantime would be missing from the copy: stop it (one that was killed is forgotten in ${running.seconds} s)`,
        )
      for (const name of await listLeftBehind(reading, tables)) leftBehind(name)
      await target.run('write', async writing => {
        if (!(await isEmptyDatabase(writing))) throw createFullError()
        await copyRows(reading, writing, tables, copied)
      })
    })
  } finally {
    await Promise.all([source.close(), target.close()])
  }
}
