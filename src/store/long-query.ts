/** Which lists may look at many rows, and how a log names them. */
import { findMissingOrder } from '../contract/list-index.ts'
import type { Filter, Query } from '../service/store.ts'
import type { Table } from './table.ts'

/** A list of at most this many rows is read in the event loop, whatever its order. */
export const fewRows = 200

/**
 * Short if an index has the rows in the order of the list. Otherwise the list may be long, unless
 * the index of one of these filters leaves few rows.
 */
export function judgeLength(table: Table, query: Query): 'short' | readonly Filter[] {
  const { words = [], counted, filters, within, sort } = query
  const groups = within === 'all' ? [] : within
  const restriction = groups.length === 1 ? Object.entries(groups[0] ?? {}) : []
  const granted = restriction.map(([field, value]): Filter => ({ field, is: 'eq', value }))
  const form = { filters: [...filters, ...granted], sort }
  const isOrdered = groups.length < 2 && findMissingOrder(table.resource, table.lists, form) === undefined
  if (isOrdered && words.length === 0 && counted !== 'exact') return 'short'
  return form.filters.filter(
    ({ field, is, value }) => is === 'eq' && value !== null && value !== undefined && !table.references.has(field),
  )
}

/** The form of a query, without its values. */
export function describeQuery(resource: string, { filters, sort, words, counted }: Query): string {
  const parts = [
    ...filters.map(({ field, is }) => `${field}[${is}]`),
    ...(words ? [`${words.length} words`] : []),
    ...(sort.length > 0 ? [`sorted by ${sort.map(key => `${key.descending ? '-' : ''}${key.field}`).join(',')}`] : []),
    ...(counted === 'exact' ? ['counted exactly'] : []),
  ]
  return `a list of ${resource}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
}
