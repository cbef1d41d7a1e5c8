/**
 * Items that were read before. The same cells are the same item: a row that equals, cell by cell,
 * the one that was kept for its identifier is not read again. So an item that has not changed costs
 * its SQL alone, and a face that keeps something for a snapshot can tell by its identity that it
 * still holds. A row is kept when it comes for the second time within a while: most rows of a large
 * table come once, and keeping each would cost more than reading it.
 */

import { BoundedCache } from '../base/memo.ts'
import { freezeDeep } from '../base/objects.ts'
import type { Snapshot } from '../service/store.ts'
import { type Cells, isLargeRow } from './connection.ts'

/** Whose rows they are, and how one is read. */
interface RowKind {
  readonly table: { readonly name: string }
  readonly item: (row: Cells) => Snapshot
}
interface CachedRow {
  readonly table: string
  readonly row: Cells
  readonly item: Snapshot
}

/** Of all tables together. */
const itemsMax = 4096
/** A power of two. */
const passedSlots = 8192

export class RowCache {
  /** By identifier: two tables that have the same one share its place. */
  readonly #rows = new BoundedCache<string, CachedRow>(itemsMax)
  /**
   * Identifiers that came once, each by a sum in its slot until another takes it. Two may have the
   * same sum: then a row is kept that came once. Texts would outlive their requests here.
   */
  readonly #passed = new Int32Array(passedSlots)

  /** @param row begins with the cells that `systemColumns` names */
  item({ table, item: read }: RowKind, row: Cells): Snapshot {
    const id = row[4] as string // the column of identifiers is text
    const known = this.#rows.get(id)
    if (known && known.table === table.name && isSame(known.row, row)) return known.item
    const item = read(row)
    if ((known || this.#hasPassed(id)) && isKeepable(row))
      this.#rows.set(id, { table: table.name, row, item: freezeDeep(item) })
    return item
  }

  #hasPassed(id: string): boolean {
    const sum = sumOf(id)
    const slot = (sum ^ (sum >>> 15)) & (passedSlots - 1)
    if (this.#passed[slot] === sum) return true
    this.#passed[slot] = sum
    return false
  }
}

/** Of the last characters, in which identifiers differ. */
function sumOf(id: string): number {
  let sum = 0
  for (let at = Math.max(0, id.length - 8); at < id.length; at++) sum = (Math.imul(sum, 31) + id.charCodeAt(at)) | 0
  return sum
}

function isSame(a: Cells, b: Cells): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return a.length === b.length
}

/** Not a row with bytes: they cannot be compared at a glance, nor frozen. */
const isKeepable = (row: Cells): boolean =>
  !isLargeRow(row) && row.every(cell => typeof cell !== 'object' || cell === null)
