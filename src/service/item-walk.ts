/**
 * All items that a query finds, page by page: none is skipped however many there are, and items
 * that change or disappear meanwhile neither repeat others nor hide them.
 */

import type { Maybe } from '../base/maybe.ts'
import type { ItemPage, Query, Snapshot } from './store.ts'
import type { EndPart } from './turns.ts'

/** Items that are in memory at once, and are read in one turn of the event loop. */
const pageItems = 100

export type ItemQuery = Pick<Query, 'filters' | 'within'> & Partial<Pick<Query, 'sort'>>
export type ReadPage = (query: Query) => Maybe<ItemPage>
/** Called when the reading of a page begins. */
export type BeginPart = () => EndPart

/** The event loop serves others between two parts. */
export const endWithTurn: EndPart = () => new Promise(resolve => setImmediate(resolve))

export interface WalkOptions {
  readonly sizeMax?: number | undefined
  /** Default: each page ends with the turn of the event loop. */
  readonly beginPart?: BeginPart | undefined
}

/** In the order of the query, by default that of the contract. */
export async function* walkItems(
  read: ReadPage,
  { sort = [], ...query }: ItemQuery,
  { sizeMax = pageItems, beginPart = () => endWithTurn }: WalkOptions = {},
): AsyncGenerator<Snapshot> {
  const size = Math.min(pageItems, sizeMax)
  let from: Query['from']
  for (;;) {
    const endPart = beginPart()
    const page = await read({ ...query, sort, size, counted: false, ...(from && { from }) })
    yield* page.items
    if (!page.more.after || !page.edges) return
    from = { ...page.edges.last, backwards: false }
    await endPart()
  }
}
