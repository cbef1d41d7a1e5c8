/** How many of the rows that were read fit on a page, and how they become a page. */
import { ownMember } from '../base/objects.ts'
import type { ItemPage, PagePlace, Query, Snapshot } from '../service/store.ts'
import { type Cells, octetsOf } from './connection.ts'
import { farExaminedMax } from './listing.ts'

/** @param end where looking stopped before the page was full */
export function createPage(
  { rows, fitting: { count, octets } }: PageRows,
  query: Query,
  other: boolean,
  total: number | undefined,
  end: Snapshot | undefined,
  item: (row: Cells) => Snapshot,
): ItemPage {
  const backwards = query.from?.backwards === true
  const extra = rows.length > count
  const items = (extra ? rows.slice(0, count) : rows).map(item)
  if (backwards) items.reverse()
  const place = (item: Snapshot): PagePlace => ({
    id: item.id,
    keys:
      query.sort.length === 0
        ? [item.created]
        : query.sort.map(({ field }) => (field === 'id' ? item.id : ownMember(item.value, field))),
  })
  const ended = extra ? undefined : end
  const first = (backwards && ended) || items[0] || ended
  const last = (!backwards && ended) || items.at(-1) || ended
  const more = extra || ended !== undefined
  return {
    items,
    total,
    more: backwards ? { before: more, after: other } : { before: other, after: more },
    edges: first && last && { first: place(first), last: place(last) },
    octets,
    isCut: (extra && count < query.size) || ended !== undefined,
    ...(ended && { looked: farExaminedMax }),
  }
}

/** Whether a page by number contains the last rows of its list, so that no count is needed. */
export function isLastPage({ rows, fitting }: PageRows, query: Query): boolean {
  if (query.from || rows.length > query.size) return false
  return (rows.length > 0 || (query.offset ?? 0) === 0) && fitting.count === rows.length
}

export interface PageBounds {
  readonly size: number
  readonly octets?: number | undefined
}
interface FittingRows {
  readonly count: number
  readonly octets: number
  /** Octets of the longest row, including one that does not fit. */
  readonly longest: number
}
export interface PageRows {
  /** The rows of the page, and more. */
  readonly rows: readonly Cells[]
  readonly fitting: FittingRows
}
/** The rows of a page: as many as its size and its octets allow, but at least one. */
export function countFitting(rows: readonly Cells[], { size, octets: max = Infinity }: PageBounds): FittingRows {
  let [count, octets, longest] = [0, 0, 0]
  for (const row of rows) {
    const length = octetsOf(row)
    if (length > longest) longest = length
    if (count === size || (count > 0 && octets + length > max)) break
    octets += length
    count++
  }
  return { count, octets, longest }
}

/** A page must have room for its rows this many times over. */
const spare = 2

/**
 * Octets of the longest row that a page of each table has had. To stop a page at its octets, rows
 * must be read from SQLite one at a time, which adds a twelfth to a list of 20. If twice as many
 * rows of that length fit, all are read at once; so the first page with longer rows is completely
 * in memory before it is cut.
 */
export class RowLengths {
  readonly #longest = new Map<string, number>()

  /**
   * The octets at which reading must stop; undefined if no page of this size comes near the limit.
   */
  boundOf(table: string, { size, octets }: Pick<Query, 'size' | 'octets'>): number | undefined {
    const longest = this.#longest.get(table) ?? Infinity
    return octets !== undefined && (size + 1) * longest * spare <= octets ? undefined : octets
  }

  note(table: string, length: number): void {
    if (length > (this.#longest.get(table) ?? 0)) this.#longest.set(table, length)
  }
}
