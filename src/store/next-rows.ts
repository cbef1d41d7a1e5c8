/** Rows of a table in the order of their ids, a batch at a time. */
import type { Steps } from './database-shape.ts'
import { sql } from './sql.ts'
import { parameterAt, quoteName } from './statement.ts'
import type { Table } from './table.ts'

export interface NextRows {
  /** The id of the last row. */
  readonly last: string
  readonly count: number
}

/** Undefined if there are no rows after this id. */
export function* findNextRows({ name }: Table, after: string, rowsMax: number): Steps<NextRows | undefined> {
  const [row] = yield {
    text: sql`select max("id"), count(*) from (select "id" from ${quoteName(name)} where "id" > ${parameterAt(0)} order by "id" limit ${sql.lit(rowsMax)}) as "next"`,
    values: [after],
  }
  const [last, count] = row ?? []
  return typeof last === 'string' ? { last, count: Number(count) } : undefined
}

/** In a table with more rows, work on every row is done after the start. */
const rowsAtStartMax = 10_000

/** Whether the table has more rows than a start may look at. */
export function* hasManyRows({ name }: Table): Steps<boolean> {
  const beyond = yield { text: sql`select 1 from ${quoteName(name)} limit 1 offset ${sql.lit(rowsAtStartMax)}` }
  return beyond.length > 0
}
