/**
 * Rows that enter an index of words after a start, batch after batch. The database itself says how
 * far this has come, so it works if several processes take turns with the batches.
 */
import type { TellFilling } from '../service/store.ts'
import type { Steps } from './database-shape.ts'
import { findNextRows } from './next-rows.ts'
import { type FilledBatch, fillSearch, readFilledRows, type SearchSchema } from './search-growth.ts'
import type { Table } from './table.ts'

/** Runs steps in a transaction of its own. */
export type RunSteps = <T>(steps: () => Steps<T>) => Promise<T>

/** Counted in one transaction, in some ten milliseconds. */
const countedRowsMax = 50_000

/** Counts without holding others up, however large the table. */
export async function countRows(run: RunSteps, table: Table, after = ''): Promise<number> {
  let count = 0
  for (let from: string | undefined = after; from !== undefined; ) {
    const at: string = from
    const next = await run(() => findNextRows(table, at, countedRowsMax))
    count += next?.count ?? 0
    from = next?.count === countedRowsMax ? next.last : undefined
  }
  return count
}

/**
 * Adds all rows that are missing.
 * @param pause between two batches
 * @returns what is due then
 */
export async function fillRows(
  run: RunSteps,
  schema: SearchSchema,
  table: Table,
  tell: TellFilling,
  pause: () => Promise<void> = async () => {},
): Promise<FilledBatch['due']> {
  const progress = await run(() => readFilledRows(schema, table))
  if (!progress) return (await run(() => fillSearch(schema, table))).due
  const subject = `words of ${table.name}`
  let rowsDone = progress.rows
  let rowsTotal = rowsDone + (await countRows(run, table, progress.upTo))
  for (;;) {
    tell({ what: subject, rowsDone, rowsTotal, isOver: false })
    const { due, rows } = await run(() => fillSearch(schema, table))
    rowsDone = rows ?? rowsDone
    rowsTotal = Math.max(rowsTotal, rowsDone)
    if (due === 'rows') await pause()
    else {
      tell({ what: subject, rowsDone, rowsTotal, isOver: true })
      return due
    }
  }
}
