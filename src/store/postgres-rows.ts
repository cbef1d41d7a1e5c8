/**
 * A PostgreSQL database whose rows are copied: one connection, and as much time as the copy takes.
 */
import type { RowsOfDatabase } from './copied-rows.ts'
import { postgres } from './dialect.ts'
import { openPool } from './postgres-pool.ts'
import { beginRead, beginWrite, keepAliveOptions, Sessions, transactionTimeoutMs } from './postgres-sessions.ts'

/** Copying a large database takes hours, and no caller waits for it. */
const copyTimeoutMs = 24 * 3_600_000

export function openPostgresRows(url: string): RowsOfDatabase {
  const pool = openPool(url, 'primary', {
    max: 1,
    pipeline: true,
    connectionTimeoutMillis: transactionTimeoutMs,
    ...keepAliveOptions,
  })
  const sessions = new Sessions(pool, copyTimeoutMs)
  return {
    run: async (does, work) => {
      try {
        return await sessions.run(does === 'read' ? beginRead : beginWrite, on => work({ dialect: postgres, on }))
      } catch (thrown) {
        throw sessions.failure(thrown)
      }
    },
    close: async () => {
      await sessions.close()
      await pool.end()
    },
  }
}
