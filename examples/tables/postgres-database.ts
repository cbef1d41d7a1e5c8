/** A PostgreSQL database for `table.ts`: each cell is sent as text, so that nothing is rounded. */
import pg from 'pg'
import type { TableDatabase } from './table.ts'

export function openPostgres(address: string): TableDatabase {
  const pool = new pg.Pool({
    connectionString: address,
    options: '-c datestyle=ISO -c timezone=UTC -c bytea_output=hex',
  })
  // If an idle connection breaks, the next call replaces it.
  pool.on('error', () => {})
  return {
    ask: async (statement, values) => {
      let place = 0
      const numbered = statement.replaceAll('?', () => `$${++place}`)
      return (
        await pool.query(
          numbered,
          values.map(value => (value === null ? null : String(value))),
        )
      ).rows
    },
    cast: { read: column => `${column}::text`, place: type => `?::${type === '' ? 'text' : type}` },
  }
}
