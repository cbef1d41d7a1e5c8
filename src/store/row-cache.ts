/**
 * Items that were read before. The same cells are the same item: a row that equals, cell by cell,
 * the one that was kept for its identifier is not read again. So an item that has not changed costs
 * its SQL alone, and a face that keeps something for a snapshot can tell by its identity that it
 * still holds.
 */
import type { Snapshot } from '../service/store.ts'
import type { Cells } from './connection.ts'

interface CachedRow {
  readonly row: Cells
  readonly item: Snapshot
}

/** Of all tables together. */
const itemsMax = 4096
/** Of all texts in a row that is kept. */
const rowCharactersMax = 8192

export class RowCache {
  readonly #tables = new Map<string, Map<string, CachedRow>>()
  #count = 0

  /** @param row begins with the cells that `systemColumns` names */
  item(table: string, row: Cells, read: (row: Cells) => Snapshot): Snapshot {
    const known = this.#tables.get(table)?.get(row[4] as string) // the column of identifiers is text
    if (known && isSame(known.row, row)) return known.item
    const item = read(row)
    if (isKeepable(row)) this.#keep(table, { row, item: freezeDeep(item) })
    return item
  }

  #keep(table: string, kept: CachedRow): void {
    if (this.#count >= itemsMax) {
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

/** Not a row with bytes: they cannot be compared at a glance, nor frozen. */
function isKeepable(row: Cells): boolean {
  let length = 0
  for (const cell of row) {
    if (typeof cell === 'string') length += cell.length
    else if (typeof cell === 'object' && cell !== null) return false
  }
  return length <= rowCharactersMax
}

/** Several readers share the value. */
function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value
  for (const part of Object.values(value)) freezeDeep(part)
  return Object.freeze(value)
}
