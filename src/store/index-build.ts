/** An index that is to be built outside of a transaction, while others read and write. */
import type { Steps } from './database-shape.ts'
import type { Sql } from './sql.ts'
import type { Table } from './table.ts'

export interface IndexBuild {
  /** For a person. */
  readonly what: string
  readonly table: Table
  /** Whether no other process has completed it. */
  readonly isDue: () => Steps<boolean>
  /** What removes the remains of an earlier build, then makes it. */
  readonly texts: readonly Sql[]
  /** Remembers that it is complete. */
  readonly complete: () => Steps
}
