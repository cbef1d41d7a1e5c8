/** A SQLite file whose rows are copied: no other program can change it until the copy is done. */
import { DatabaseSync } from 'node:sqlite'
import type { RowsOfDatabase } from './copied-rows.ts'
import { sqlite } from './dialect.ts'
import { PreparedRunner } from './sqlite-connections.ts'

/** Milliseconds to wait for a program that writes. */
const busyTimeoutMs = 5000

export function openSqliteRows(file: string): RowsOfDatabase {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false })
  return {
    run: async (_does, work) => {
      database.exec('begin immediate')
      try {
        const answer = await work({ dialect: sqlite, on: new PreparedRunner(database) })
        database.exec('commit')
        return answer
      } catch (thrown) {
        if (database.isTransaction) database.exec('rollback')
        throw thrown
      }
    },
    close: async () => database.close(),
  }
}
