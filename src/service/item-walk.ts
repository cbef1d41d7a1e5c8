/**
 * All items that a query finds, page by page: none is left out however many there are, and items
 * that change or go on the way neither repeat others nor hide them.
 */

import type { Maybe } from '../base/maybe.ts'
import type { ItemPage, Query, Snapshot } from './store.ts'

/** Items that are in memory at once, and read in one turn of the event loop. */
const pageItems = 100

export type ItemQuery = Pick<Query, 'filters' | 'within'> & Partial<Pick<Query, 'sort'>>
export type ReadPage = (query: Query) => Maybe<ItemPage>

/**
 * In the order of the query, by default that of the contract; between two pages the event loop
 * serves others.
 */
export async function* walkItems(
  read: ReadPage,
  { sort = [], ...query }: ItemQuery,
  sizeMax = pageItems,
): AsyncGenerator<Snapshot> {
  const size = Math.min(pageItems, sizeMax)
  let from: Query['from']
  for (;;) {
    const page = await read({ ...query, sort, size, counted: false, ...(from && { from }) })
    yield* page.items
    if (!page.more.after || !page.edges) return
    from = { ...page.edges.last, backwards: false }
    await new Promise(resolve => setImmediate(resolve))
  }
}
