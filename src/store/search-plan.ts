/**
 * How a list finds the rows with its words, and the rows that refer within their lists to what a
 * filter names, which are found in the same way. What always holds:
 *  (1) A word with few candidates leads: only those rows are looked at.
 *  (2) A frequent word is looked for in the order of the list, if enough of the next rows have it
 *      to fill a page; otherwise its candidates lead, up to a larger number.
 *  (3) Its matches are counted among as many rows as cost little; beyond those, the total is
 *      unknown.
 *  (4) A word with too many candidates for all of these is looked for in as many of the next rows
 *      as one request may look at: the page ends there, and says so.
 */
import { chain, type Maybe } from '../base/maybe.ts'
import { type Filter, type Query, Unavailable } from '../service/store.ts'
import type { StatementRunner } from './connection.ts'
import { compileProbe, examinedMax, type Lead, searchedPaths } from './listing.ts'
import { readSearchState, type SearchSchema, type SearchState, searchName } from './search-growth.ts'
import { foldedTokens } from './search-index.ts'
import { sql } from './sql.ts'
import { compileStatement, parameterList, type Statement } from './statement.ts'
import type { Table } from './table.ts'

export interface SearchPlan {
  /** Its candidates are looked at; without a lead, the rows of the list are, in order. */
  readonly lead?: Lead
  /** Limits the number of rows that are looked at. */
  readonly looks?: 'near' | 'far'
  readonly isFrequent: boolean
}
/** Statements of this kind by form, and states of indexes by their text in `_shape`. */
export interface SearchMemory {
  readonly statements: Map<string, Statement>
  readonly states: Map<string, SearchState>
}

/** Looks at the next rows of a list, ignoring its words. */
export interface NearbyRows {
  /** How many of them match, up to the size of a page. */
  readonly countMatches: () => Maybe<number>
  /** How many there are, up to one more than are looked at. */
  readonly countRows: () => Maybe<number>
}

/** A word with at most this many candidates leads. */
export const candidatesMax = 5000
/** The same for a word that is too rare among the next rows. */
const scatteredMax = 50_000
/** How many words of a search have their candidates counted. */
const probedWordsMax = 8
/** With this few candidates, no other word is worth counting. */
const fewEnough = 200
const keptMax = 500

const scan: SearchPlan = { isFrequent: false }

export function planSearch(
  schema: SearchSchema & { readonly searches: SearchMemory },
  on: StatementRunner,
  table: Table,
  query: Query,
  nearby: NearbyRows,
): Maybe<SearchPlan> {
  const words = (query.words ?? []).map(foldedTokens).filter(tokens => tokens.length > 0)
  if (words.length === 0 && !query.filters.some(({ field }) => table.references.has(field))) return scan
  const leads: readonly Lead[] = [
    ...query.filters.filter(isLeading).map(filter => ({ filter })),
    ...words.slice(0, probedWordsMax).map(tokens => ({ tokens })),
  ]
  const chooseLead = (most: number): Maybe<Lead | undefined> =>
    chooseFewest(leads, most, undefined, lead => countCandidates(schema, on, table, query, lead, most))
  return chain(hasIndexes(schema, on, table, query), isIndexed => {
    if (!isIndexed) return scan
    return chain(chooseLead(candidatesMax), lead => {
      if (lead) return { lead, isFrequent: false }
      return chain(isNearby(query, nearby), isNear =>
        isNear
          ? { looks: 'near', isFrequent: true }
          : chain(chooseLead(scatteredMax), lead =>
              lead ? { lead, isFrequent: true } : { looks: 'far', isFrequent: true },
            ),
      )
    })
  })
}

/** The number of a lead's candidates, up to one more than a limit. */
export function countCandidates(
  schema: SearchSchema & { readonly searches: SearchMemory },
  on: StatementRunner,
  table: Table,
  query: Query,
  lead: Lead,
  most: number,
): Maybe<number> {
  const { form, values, text } = compileProbe(table, schema.tables, query, lead, schema.dialect, most)
  const probe = keepFor(schema.searches.statements, `${table.name}\n${form}`, () =>
    compileStatement(schema.dialect, text()),
  )
  return chain(on.first(probe, values), row => Number(row?.[0]))
}

/** The index finds exactly what the filter selects. */
const isLeading = ({ is, value }: Filter): boolean => (is === 'eq' || is === 'in') && value !== null

/** The one with the fewest candidates, if they are few enough. */
function chooseFewest(
  [next, ...others]: readonly Lead[],
  fewest: number,
  lead: Lead | undefined,
  count: (lead: Lead) => Maybe<number>,
): Maybe<Lead | undefined> {
  if (!next || fewest <= fewEnough) return lead
  return chain(count(next), found =>
    found <= fewest ? chooseFewest(others, found, next, count) : chooseFewest(others, fewest, lead, count),
  )
}

/** Whether the next rows fill a page, or are all that there are. */
const isNearby = ({ size }: Query, { countMatches, countRows }: NearbyRows): Maybe<boolean> =>
  chain(countMatches(), found => found > size || chain(countRows(), rows => rows <= examinedMax))

/** Checks in the snapshot itself. Throws if words that are searched are still being made. */
function hasIndexes(
  schema: SearchSchema & { readonly searches: SearchMemory },
  on: StatementRunner,
  table: Table,
  query: Query,
): Maybe<boolean> {
  const paths = query.words ? searchedPaths(table, query) : []
  const names = [...new Set([table.name, ...paths.flatMap(path => path.through.map(each => each.table))])]
  const ask = keepFor(schema.searches.statements, `indexes ${names.length}`, () =>
    compileStatement(
      schema.dialect,
      sql`select "name", "is" from "_shape" where "of" = 'index' and "name" in (${parameterList(0, names.length)})`,
    ),
  )
  return chain(on.rows(ask, names.map(searchName)), rows => {
    const texts = new Map(rows.map(([name, is]) => [String(name), String(is)]))
    const stateOf = (name: string): SearchState | undefined => {
      const text = texts.get(searchName(name))
      const of = schema.tables.get(name)
      return of && keepFor(schema.searches.states, `${name}\n${text}`, () => readSearchState(schema, of, text))
    }
    for (const path of paths) {
      const at = path.through.at(-1)?.table ?? table.name
      if (stateOf(at)?.folding.includes(path.column))
        throw new Unavailable(foldingRetry, describeFolding(at, path.path))
    }
    return names.every(name => stateOf(name)?.isFilled === true)
  })
}

/** Seconds. */
const foldingRetry = 10
const describeFolding = (table: string, path: string): string =>
  `the words of ${table}.${path} are still being collected from stored items: this search works once all are there`

function keepFor<T>(memory: Map<string, T>, key: string, make: () => T): T {
  const remembered = memory.get(key)
  if (remembered !== undefined) return remembered
  if (memory.size >= keptMax) memory.clear()
  const value = make()
  memory.set(key, value)
  return value
}
