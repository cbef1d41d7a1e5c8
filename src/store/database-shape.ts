/**
 * The shape of a database, which this program remembers in the table `_shape`: one row for each
 * table, field and index; and the steps that change both the database and that table.
 */
import type { Cells } from './connection.ts'
import type { Cell, Sql } from './dialect.ts'
import { sql } from './sql.ts'
import { parameterAt } from './statement.ts'
import type { Table } from './table.ts'

/**
 * One statement to run, whose rows are passed back. The same steps therefore work with a database
 * that replies at once and with one that does not.
 */
export interface MigrationStep {
  /** The step in words; absent for mere bookkeeping. */
  readonly says?: string
  readonly text: Sql
  readonly values?: readonly Cell[]
}
export type Steps<T = void> = Generator<MigrationStep, T, readonly Cells[]>

/** Table → name → signature. */
export type DatabaseShape = Map<string, Map<string, string>>

export function readShape(rows: readonly Cells[]): DatabaseShape {
  const shape: DatabaseShape = new Map()
  for (const [of, name, is] of rows) {
    const key = String(of)
    const entries = shape.get(key) ?? new Map<string, string>()
    shape.set(key, entries.set(String(name), String(is)))
  }
  return shape
}

export const shapeRows = sql`select "of", "name", "is" from "_shape"`

export const rememberShape = (of: string, name: string, is: string): MigrationStep => ({
  text: sql`insert into "_shape" ("of", "name", "is") values (${parameterAt(0)}, ${parameterAt(1)}, ${parameterAt(2)})
    on conflict ("of", "name") do update set "is" = excluded."is"`,
  values: [of, name, is],
})
export const forgetShape = (of: string, name: string): MigrationStep => ({
  text: sql`delete from "_shape" where "of" = ${parameterAt(0)} and "name" = ${parameterAt(1)}`,
  values: [of, name],
})

export interface IndexBuild {
  /** For a person. */
  readonly what: string
  readonly table: Table
  /** Whether it is still needed: another process may have completed it. */
  readonly isDue: () => Steps<boolean>
  /** Remove the remains of an earlier build, then make the index. */
  readonly texts: readonly Sql[]
  /** Records that the index is complete. */
  readonly complete: () => Steps
}
