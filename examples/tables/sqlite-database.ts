/** A SQLite file for `table.ts`. */
import { DatabaseSync } from 'node:sqlite'
import type { Cell } from './cells.ts'
import type { TableDatabase } from './table.ts'

/** @param script statements for a new database, such as `create table …` */
export function openSqlite(file: string, script = ''): TableDatabase {
  const database = new DatabaseSync(file, { readBigInts: true })
  database.exec('pragma busy_timeout = 5000')
  const isEmpty =
    database.prepare(`select 1 from sqlite_schema where name not like 'sqlite\\_%' escape '\\'`).get() === undefined
  if (isEmpty) database.exec(script)
  return {
    ask: async (statement, values) => database.prepare(statement).all(...values) as Record<string, Cell>[],
    cast: { read: column => column, place: () => '?' },
  }
}
