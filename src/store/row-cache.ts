/**
 * Items that were read before. The same cells are the same item: a row that is, cell by cell, the one that was kept for its
 * identifier needs no second reading. So what has not changed costs its SQL alone, and whoever keeps something beside a
 * snapshot can tell by its identity that it still holds.
 */
import type { Snapshot } from '../service/store.ts'
import type { Cells } from './connection.ts'

interface CachedRow {
  readonly row: Cells
  readonly item: Snapshot
}

/** Items of all tables together. */
const most = 4096
/** Characters of text in the longest row that is kept. */
const longest = 8192

export class RowCache {
  readonly #tables = new Map<string, Map<string, CachedRow>>()
  #count = 0

  /** @param row with the cells that `system` of `table.ts` names first */
  item(table: string, row: Cells, read: (row: Cells) => Snapshot): Snapshot {
    const known = this.#tables.get(table)?.get(row[4] as string) // the column of identifiers is text
    if (known && isSame(known.row, row)) return known.item
    const item = read(row)
    if (isKeepable(row)) this.#keep(table, { row, item: frozen(item) })
    return item
  }

  #keep(table: string, kept: CachedRow): void {
    if (this.#count >= most) {
      this.#tables.clear()
      this.#count = 0
    }
    let items = this.#tables.get(table)
    if (!items) this.#tables.set(table, (items = new Map()))
    if (!items.has(kept.item.id)) this.#count++
    items.set(kept.item.id, kept)
  }
}

function isSame(a: Cells, b: Cells): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return a.length === b.length
}

/** Bytes are left out: they can't be compared at a glance, nor frozen. */
function isKeepable(row: Cells): boolean {
  let length = 0
  for (const cell of row) {
    if (typeof cell === 'string') length += cell.length
    else if (typeof cell === 'object' && cell !== null) return false
  }
  return length <= longest
}

/** Several readers share it. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) frozen(part)
  return Object.freeze(value)
}
