/**
 * Finds by index which rows may have a word: rows whose own words contain it, and rows that refer
 * to those; and which rows refer within their lists to what a filter names. What always holds:
 *  (1) Candidates are a superset of the matches; a listing checks each row itself. So an index may
 *      keep only a part of a long word.
 *  (2) Each change of a row changes its place in the index, in the same transaction.
 *  (3) Until the index has all rows, searches look at each row.
 */
import type { Cell, Dialect, Sql } from './dialect.ts'
import { foldText, type SearchPart, type Step } from './search-dialect.ts'
import { sql } from './sql.ts'
import { quoteName } from './statement.ts'
import type { SearchPath, Table } from './table.ts'

/** The columns that an index orders by first: a reference in one of them needs no search part. */
const leadsIndex = (table: Table, column: string): boolean =>
  table.indexes.some(({ columns: [first], isHash }) => first?.name === column && isHash === undefined)

const referencePart = (table: Table, steps: readonly Step[]): SearchPart | undefined => {
  const [first, ...inner] = steps
  if (first === undefined || first === 'each') throw new Error(`a search path of ${table.name} must start with a field`)
  if (inner.length === 0 && leadsIndex(table, first.member)) return undefined
  const name = `${steps.map(step => (step === 'each' ? '*' : step.member)).join('.')}#refs`
  return { name, column: first.member, steps }
}

/** The parts that searches and filters need: words of this table, and references from it. */
export function listSearchParts(table: Table, tables: ReadonlyMap<string, Table>): readonly SearchPart[] {
  const parts: SearchPart[] = table.words.map(({ column }) => ({ name: column, column, steps: undefined }))
  const add = (steps: readonly Step[]): void => {
    const part = referencePart(table, steps)
    if (part && parts.every(each => each.name !== part.name)) parts.push(part)
  }
  for (const { name, search } of tables.values())
    for (const { through } of search)
      for (const [i, { steps }] of through.entries())
        if ((i === 0 ? name : through[i - 1]?.table) === table.name) add(steps)
  for (const steps of table.references.values()) add(steps)
  return parts
}

export const foldedTokens = (word: string): readonly string[] => foldText(word).split(' ').filter(Boolean)

/** A query for the ids of rows that may have all tokens at one of these paths; ids may repeat. */
export function selectCandidates(
  table: Table,
  paths: readonly SearchPath[],
  tables: ReadonlyMap<string, Table>,
  tokens: readonly string[],
  dialect: Dialect,
  bind: (cell: Cell) => Sql,
): Sql {
  if (paths.length === 0) return sql`select "id" from ${quoteName(table.name)} where false`
  const matches = paths.map(path => selectAlong(table, path, 0, tables, tokens, dialect, bind))
  return withWaitingIfIndexed(table, tables, dialect, sql.join(matches, sql` union all `))
}

/** The same for rows that may refer to one of these ids at the end of steps. */
export function selectReferrers(table: Table, steps: readonly Step[], dialect: Dialect, ids: Sql): Sql {
  const part = referencePart(table, steps)
  if (!part) throw new Error(`${table.name} has no index of the references in ${JSON.stringify(steps)}`)
  return withWaiting(table, dialect, dialect.search.referring(table.name, part, ids))
}

/** Rows that the index has not yet taken in may have any word. */
const withWaiting = (table: Table, { search }: Dialect, matches: Sql): Sql =>
  search.waiting ? sql`${matches} union all ${search.waiting.ids(table.name)}` : matches

/**
 * The same for a table that may have no index of this kind: if it has no words of its own, and its
 * references are in list indexes.
 */
const withWaitingIfIndexed = (table: Table, tables: ReadonlyMap<string, Table>, dialect: Dialect, matches: Sql): Sql =>
  listSearchParts(table, tables).length > 0 ? withWaiting(table, dialect, matches) : matches

function selectAlong(
  table: Table,
  path: SearchPath,
  at: number,
  tables: ReadonlyMap<string, Table>,
  tokens: readonly string[],
  dialect: Dialect,
  bind: (cell: Cell) => Sql,
): Sql {
  const hop = path.through[at]
  const { search } = dialect
  if (!hop) return search.having(table.name, path.column, bind(search.term(path.column, tokens)))
  const next = tables.get(hop.table)
  if (!next) throw new Error(`a search path of ${table.name} leads to the unknown table ${hop.table}`)
  const matches = selectAlong(next, path, at + 1, tables, tokens, dialect, bind)
  const referred = withWaitingIfIndexed(next, tables, dialect, matches)
  const part = referencePart(table, hop.steps)
  if (part) return search.referring(table.name, part, referred)
  const [first] = hop.steps
  const column = quoteName(first === undefined || first === 'each' ? '' : first.member)
  return sql`select "referring"."id" from (${referred}) as "named" ${search.thenJoin} ${quoteName(table.name)} as "referring" on "referring".${column} = "named"."id"`
}
