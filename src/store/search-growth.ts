/**
 * The index of words of each table, from its creation to its last row. What always holds:
 *  (1) On a large table, a start does only what costs little. Existing rows come in later, in
 *      batches: each batch is a transaction that records its progress in `_shape`, so any process
 *      may do the next.
 *  (2) A read uses an index only if `_shape` says, in the read's own snapshot, that the index has
 *      all rows: another process may drop it, or make it again, at any time.
 *  (3) A read never uses words that are still being made from stored values.
 * A program that does not know an index forgets it, and the next one that does makes it again.
 */

import {
  type DatabaseShape,
  forgetShape,
  type IndexBuild,
  type MigrationStep,
  rememberShape,
  type Steps,
} from './database-shape.ts'
import type { Dialect } from './dialect.ts'
import type { ItemStatements } from './item-rows.ts'
import { findNextRows, hasManyRows, type NextRows } from './next-rows.ts'
import type { SearchPart } from './search-dialect.ts'
import { listSearchParts } from './search-index.ts'
import { sql } from './sql.ts'
import { joinList, parameterAt, quoteName } from './statement.ts'
import type { Table } from './table.ts'

export interface SearchSchema {
  readonly dialect: Dialect
  readonly tables: ReadonlyMap<string, Table>
  readonly items: ReadonlyMap<string, ItemStatements>
}

/** The key in `_shape`, which no other index has. */
export const searchName = (table: string): string => `${table}##search 2`
export const isSearchName = (name: string): boolean => name.includes('##search')

/** The content of an index. */
interface SearchShape {
  readonly search: readonly SearchPart[]
  /** Columns whose words are still to be made from stored values. */
  readonly folding?: readonly string[]
  /** The id of the last row that was added. */
  readonly upTo?: string
  /** How many rows were added. */
  readonly rows?: number
  readonly filled?: true
}
/** What a read needs to know about the index. */
export interface SearchState {
  readonly isFilled: boolean
  readonly folding: readonly string[]
}

const parseShape = (text: string): SearchShape => JSON.parse(text) as SearchShape // written by `rememberSearch`
const rememberSearch = (table: string, is: SearchShape): MigrationStep =>
  rememberShape('index', searchName(table), JSON.stringify(is))

const hasParts = (is: SearchShape, parts: readonly SearchPart[]): boolean => {
  const known = new Set(is.search.map(part => JSON.stringify(part)))
  return parts.every(part => known.has(JSON.stringify(part)))
}
const isSameSearch = (is: SearchShape, parts: readonly SearchPart[]): boolean =>
  is.search.length === parts.length && hasParts(is, parts)

/** @param text its row in `_shape`, undefined if it has none */
export function readSearchState({ tables }: SearchSchema, table: Table, text: string | undefined): SearchState {
  if (text === undefined) return { isFilled: false, folding: [] }
  const is = parseShape(text)
  const isFilled = is.filled === true && hasParts(is, listSearchParts(table, tables))
  return { isFilled, folding: is.folding ?? [] }
}

/** Called before any column is dropped: an index may use it. */
export function* dropSearches({ dialect, tables }: SearchSchema, shape: DatabaseShape): Steps {
  for (const [name, text] of shape.get('index') ?? []) {
    if (!isSearchName(name)) continue
    const of = name.slice(0, name.indexOf('##search'))
    const table = tables.get(of)
    const is = parseShape(text)
    if (table && name === searchName(of) && isSameSearch(is, listSearchParts(table, tables))) continue
    yield* dropSearch(dialect, of, is.search)
    yield forgetShape('index', name)
  }
}

function* dropSearch(dialect: Dialect, table: string, parts: readonly SearchPart[]): Steps {
  for (const text of dialect.search.drop(
    table,
    parts.map(each => each.name),
  ))
    yield { text }
}

/** @param stale by table, the columns whose words are to be made from stored values */
export function* growSearches(
  schema: SearchSchema,
  shape: DatabaseShape,
  stale: ReadonlyMap<string, readonly string[]>,
): Steps {
  for (const table of schema.tables.values()) {
    const search = listSearchParts(table, schema.tables)
    const text = shape.get('index')?.get(searchName(table.name))
    const before = text === undefined ? undefined : parseShape(text)
    const isKept = before !== undefined && isSameSearch(before, search)
    const fresh = stale.get(table.name) ?? []
    if (isKept && fresh.length === 0) continue
    const unfolded = (before?.folding ?? []).filter(column => table.words.some(each => each.column === column))
    const folding = [...new Set([...unfolded, ...fresh])]
    yield* growSearch(schema, table, { search, ...(folding.length > 0 && { folding }) }, isKept)
  }
}

function* growSearch(schema: SearchSchema, table: Table, is: SearchShape, isKept: boolean): Steps {
  const { dialect } = schema
  const isLarge = (yield* hasManyRows(table)) && (is.search.length > 0 || is.folding !== undefined)
  if (!isKept && !(isLarge && dialect.search.createConcurrently)) {
    yield* dropSearch(dialect, table.name, is.search)
    if (is.search.length > 0) for (const text of dialect.search.create(table.name, is.search)) yield { text }
  }
  if (!isLarge)
    for (let last: string | undefined = ''; last !== undefined; ) last = (yield* addRows(schema, table, is, last))?.last
  yield rememberSearch(table.name, isLarge ? is : { search: is.search, filled: true })
}

const batchRowsMax = 500

/** Adds the next rows, in one transaction. */
function* addRows(schema: SearchSchema, table: Table, is: SearchShape, after: string): Steps<NextRows | undefined> {
  const { fill } = schema.dialect.search
  if (!needsRows(schema, is)) return undefined
  const next = yield* findNextRows(table, after, batchRowsMax)
  if (!next) return undefined
  const { last } = next
  yield* foldWords(schema, table, is.folding ?? [], after, last)
  if (is.search.length > 0)
    for (const text of fill?.(table.name, is.search) ?? []) yield { text, values: [after, last] }
  return next
}

const needsRows = ({ dialect }: SearchSchema, { folding, search }: SearchShape): boolean =>
  folding !== undefined || (dialect.search.fill !== undefined && search.length > 0)

/** A row changed since it was read is left alone: a change writes the words of what it changes. */
function* foldWords(
  { dialect, items }: SearchSchema,
  table: Table,
  folding: readonly string[],
  after: string,
  last: string,
): Steps {
  const words = table.words.filter(each => folding.includes(each.column))
  const of = items.get(table.name)
  if (words.length === 0 || !of) return
  const sets = words.map(({ column }, i) => sql`${quoteName(column)} = ${parameterAt(i + 2)}`)
  const update = sql`update ${quoteName(table.name)} set ${joinList(sets)} where "id" = ${parameterAt(0)} and "_version" = ${parameterAt(1)}`
  const rows = yield {
    text: sql`select ${of.columns} from ${quoteName(table.name)} where "id" > ${parameterAt(0)} and "id" <= ${parameterAt(1)} order by "id" ${dialect.locking}`,
    values: [after, last],
  }
  for (const each of rows.map(of.item))
    yield { text: update, values: [each.id, each.version, ...words.map(({ of }) => of(each.value))] }
}

/** The tables whose index lacks rows that existed before it. */
export function* listUnfilled(schema: SearchSchema): Steps<readonly Table[]> {
  const unfilled: Table[] = []
  for (const table of schema.tables.values()) if (yield* readUnfilled(schema, table)) unfilled.push(table)
  return unfilled
}

/** Undefined if another contract made the index. */
function* readSearch({ tables }: SearchSchema, table: Table): Steps<SearchShape | undefined> {
  const [row] = yield {
    text: sql`select "is" from "_shape" where "of" = 'index' and "name" = ${parameterAt(0)}`,
    values: [searchName(table.name)],
  }
  if (typeof row?.[0] !== 'string') return undefined
  const is = parseShape(row[0])
  return isSameSearch(is, listSearchParts(table, tables)) ? is : undefined
}

/** Undefined if the index has all rows, or if another contract made it. */
function* readUnfilled(schema: SearchSchema, table: Table): Steps<SearchShape | undefined> {
  const is = yield* readSearch(schema, table)
  return is?.filled === true ? undefined : is
}

/**
 * Settles rows that searches would otherwise look at one by one. Returns whether there are more:
 * what is written meanwhile waits for the next time.
 */
export function* settleSearches(schema: SearchSchema): Steps<boolean> {
  const { waiting } = schema.dialect.search
  let hasMore = false
  if (waiting)
    for (const table of schema.tables.values()) {
      const is = yield* readSearch(schema, table)
      if (!is || is.search.length === 0) continue
      const [row] = yield {
        text: sql`select max("id"), count(*) from (select "id" from (${waiting.ids(table.name)}) as "all" order by "id" limit ${sql.lit(batchRowsMax)}) as "next"`,
      }
      const [last, count] = row ?? []
      if (typeof last !== 'string') continue
      for (const text of waiting.settle(table.name, is.search)) yield { text, values: [last] }
      hasMore ||= Number(count) === batchRowsMax
    }
  return hasMore
}

/** Once all rows of a table have been added: how many were, by any process, and up to which id. */
export interface FilledRows {
  readonly rows: number
  readonly upTo: string
}
/** Undefined if no rows have to be added. */
export function* readFilledRows(schema: SearchSchema, table: Table): Steps<FilledRows | undefined> {
  const is = yield* readUnfilled(schema, table)
  return is && needsRows(schema, is) ? { rows: is.rows ?? 0, upTo: is.upTo ?? '' } : undefined
}

/** The result of one batch: what is still due, and how many rows any process has added so far. */
export interface FilledBatch {
  /** 'index' means `createConcurrently` */
  readonly due: 'rows' | 'index' | 'nothing'
  /** Undefined if the table had its last row already. */
  readonly rows?: number
}
/** Adds the next rows, in one transaction. */
export function* fillSearch(schema: SearchSchema, table: Table): Steps<FilledBatch> {
  const is = yield* readUnfilled(schema, table)
  if (!is) return { due: 'nothing' }
  const next = yield* addRows(schema, table, is, is.upTo ?? '')
  if (next) {
    const rows = (is.rows ?? 0) + next.count
    yield rememberSearch(table.name, { ...is, upTo: next.last, rows })
    return { due: 'rows', rows }
  }
  if (is.search.length > 0 && schema.dialect.search.createConcurrently) return { due: 'index' }
  yield rememberSearch(table.name, { search: is.search, filled: true })
  return { due: 'nothing' }
}

/** Indexes the whole table, once its rows have been added, by `createConcurrently`. */
export function searchBuildOf(schema: SearchSchema, table: Table): IndexBuild {
  return {
    what: `index of words of ${table.name}`,
    table,
    *isDue() {
      return (yield* readUnfilled(schema, table)) !== undefined
    },
    texts: schema.dialect.search.createConcurrently?.(table.name, listSearchParts(table, schema.tables)) ?? [],
    *complete() {
      const is = yield* readUnfilled(schema, table)
      if (is) yield rememberSearch(table.name, { search: is.search, filled: true })
    },
  }
}
