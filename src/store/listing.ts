/**
 * A query as SQL. Its form (which fields, which comparisons, what is null) determines the text; its
 * values are bound. What always holds:
 *  (1) The order is total: the id comes last. So a cursor stays between two rows, whichever rows
 *      come or go.
 *  (2) Absent values come before all others ascending, and after them descending.
 *  (3) No text of a request becomes part of a statement: every name is looked up among the
 *      contract's columns.
 */
import { creationField, findAbsentKeys, findMissingOrder, isStoredInOrder } from '../contract/list-index.ts'
import { countedMax, type Filter, type Query, type Sort } from '../service/store.ts'
import { type Compared, valueColumns } from './column.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { walkReferences } from './json-walk.ts'
import { foldText, type Step } from './search-dialect.ts'
import { selectCandidates, selectReferrers } from './search-index.ts'
import { sql } from './sql.ts'
import { allOf, anyOf, isTextCell, joinList, parameterAt, quoteName, quoteNames } from './statement.ts'
import { columnsOf, type SearchPath, systemColumns, type Table } from './table.ts'

/**
 * Everything to run a list: the form's key and texts, and the values for the places in the texts.
 */
export interface Listing {
  /** Equal for queries with equal texts. */
  readonly form: string
  readonly values: readonly Cell[]
  /** The place of the limit among the values. The limit is one row more than the page has. */
  readonly limitAt: number
  /** Called only if the form is new. */
  readonly texts: () => Texts
}
export interface Texts {
  /**
   * The rows of each statement come before those of the next, which reads only as many as are left.
   */
  readonly page: readonly Sql[]
  readonly count: Sql
  /**
   * Yields a row if there is one at or beyond the cursor, in the direction opposite to the page's.
   */
  readonly other: Sql
  /** For a list with words, or with filters by references within items. */
  readonly near?: NearTexts
}
/** Looks at a limited number of rows of a list, from its cursor or from its beginning. */
export interface NearTexts<T = Sql> {
  /** How many of the next rows match, up to the page size plus one. */
  readonly matches: T
  /** How many next rows there are, whether they match or not. */
  readonly rows: T
  /** The same two from the beginning, up to one more than are counted. */
  readonly count: T
  readonly countRows: T
  /** The matching rows among the next ones. */
  readonly page: T
  /** The same for more rows; and the last row looked at, if there were that many. */
  readonly farPage: T
  readonly farEnd: T
}

interface SortKey {
  readonly field: string
  readonly column: string
  readonly descending: boolean
  readonly present: boolean
  readonly cell: (value: unknown) => Cell
}

/** A condition with few candidates: only those rows are looked at. */
export type Lead = { readonly tokens: readonly string[] } | { readonly filter: Filter }

/** Rows that are looked at for a frequent word. */
export const examinedMax = 2000
/** The same for a word that is too rare among those; the page ends there. */
export const farExaminedMax = 10_000

/**
 * The number of rows that may have a word, or that a filter selects, up to one more than a limit. A
 * row that is found twice counts twice.
 */
export function compileProbe(
  table: Table,
  tables: ReadonlyMap<string, Table>,
  query: Query,
  lead: Lead,
  dialect: Dialect,
  most: number,
): { readonly form: string; readonly values: readonly Cell[]; readonly text: () => Sql } {
  const values: Cell[] = []
  const form: string[] = []
  const bind = (cell: Cell): Sql => parameterAt(values.push(cell) - 1)
  const candidates = selectLeadIds(table, tables, query, lead, dialect, bind, form)
  return {
    form: ['probe', most, ...form].join('\n'),
    values,
    text: () =>
      sql`select count(*) from (select "id" from (${candidates}) as "found" limit ${sql.lit(most + 1)}) as "candidates"`,
  }
}

/** The ids of a lead's candidates. */
function selectLeadIds(
  table: Table,
  tables: ReadonlyMap<string, Table>,
  query: Query,
  lead: Lead,
  dialect: Dialect,
  bind: (cell: Cell) => Sql,
  form: string[],
): Sql {
  if ('filter' in lead) {
    form.push('lead by')
    const steps = table.references.get(lead.filter.field)
    if (steps) return selectReferrers(table, steps, dialect, namedIds(lead.filter, dialect, bind, form))
    return sql`select "id" from ${quoteName(table.name)} where ${filterCondition(table, lead.filter, bind, form)}`
  }
  const paths = searchedPaths(table, query)
  form.push('lead', ...paths.map(each => each.name))
  return selectCandidates(table, paths, tables, lead.tokens, dialect, bind)
}

export function compileListing(
  table: Table,
  tables: ReadonlyMap<string, Table>,
  query: Query,
  dialect: Dialect,
  columns: Sql,
  lead?: Lead,
  watch?: Sql,
): Listing {
  const form: string[] = []
  const values: Cell[] = []
  const bind = (cell: Cell): Sql => parameterAt(values.push(cell) - 1)
  const [inner, own] = partitionFilters(table, query.filters)
  const filters = own.map(filter => filterCondition(table, filter, bind, form))
  const references = inner.map(({ filter, steps }, i) =>
    referenceCondition(table, filter, steps, i, dialect, bind, form),
  )
  const grants = grantConditions(table, query.within, bind, form)
  const searched = bindWords(table, query, bind, form)
  const led = lead && selectLeadIds(table, tables, query, lead, dialect, bind, form)
  const candidates = led ? [sql`${quoteName(table.name)}."id" in (${led})`] : []
  const watched = watch ? [watch] : []
  const keys = sortKeys(table, query)
  const { from } = query
  const cursor = from && keys.map((key, i) => placeKey(key, i + 1 < keys.length ? from.keys[i] : from.id, bind))
  const backwards = from?.backwards === true
  const limitAt = values.length
  const atMost = dialect.limit(bind(query.size + 1))
  const part = query.offset === undefined ? atMost : sql`${atMost} offset ${bind(query.offset)}`
  form.push(
    ...keys.map(key => `${key.descending ? '-' : '+'}${key.column}`),
    ...(cursor ?? []).map(each => (each.cell === null ? '0' : '1')),
    backwards ? 'b' : 'f',
    query.offset === undefined ? '' : 'o',
    query.counted === 'exact' ? 'e' : '',
  )
  return {
    form: form.join('\n'),
    values,
    limitAt,
    texts: () =>
      compileTexts({
        ...{ table, query, own, dialect, columns, keys, cursor, part },
        ...{ filters, grants, watched, candidates },
        sought: [...references, ...wordConditions(table, searched, dialect)],
      }),
  }
}

interface ListingParts {
  readonly table: Table
  readonly query: Query
  /** Its filters, except those by references within items. */
  readonly own: readonly Filter[]
  readonly dialect: Dialect
  readonly columns: Sql
  readonly keys: readonly SortKey[]
  readonly cursor: readonly PlacedKey[] | undefined
  /** Selects, in order, from the rows that are given. */
  readonly part: Sql
  readonly filters: readonly Sql[]
  readonly grants: readonly Sql[]
  readonly watched: readonly Sql[]
  /** Conditions on words, and on references within items. */
  readonly sought: readonly Sql[]
  /** Restricts rows to the candidates of a lead; empty without a lead. */
  readonly candidates: readonly Sql[]
}

function compileTexts(parts: ListingParts): Texts {
  const { table, query, own, columns, keys, cursor, part, filters, grants, watched, sought, candidates } = parts
  const backwards = query.from?.backwards === true
  const conditions = [...watched, ...filters, ...grants, ...sought, ...candidates]
  const at = quoteName(table.name)
  const chosen = sql`from ${at} where ${allOf(conditions)}`
  // Without `where true`, which would keep SQLite from counting by the b-tree alone.
  const matches = conditions.length === watched.length ? sql`from ${at}` : chosen
  const beyond = cursor ? sql`and ${conditionBeyond(keys, cursor, backwards)}` : sql``
  const order = writeOrder(parts, keys, query.filters)
  return {
    page: pageTexts(parts, conditions),
    count:
      query.counted === 'exact'
        ? sql`select count(*) ${matches}`
        : sql`select count(*) from (select 1 ${matches} limit ${sql.lit(countedMax + 1)}) as "matches"`,
    other: otherText(parts, conditions),
    ...(sought.length > 0 && {
      near: nearTexts(table, {
        ...chooseLooked(table, { ...query, filters: own }, filters, [...watched, ...grants], sought),
        ...{ columns, beyond, order, part },
      }),
    }),
  }
}

/**
 * Rows beyond a cursor form ranges. Within each range, all conditions are on one place in an index,
 * so no row before the cursor is looked at, however many share the same values.
 */
function pageTexts(parts: ListingParts, conditions: readonly Sql[]): readonly Sql[] {
  const { table, query, dialect, keys, cursor, part, candidates } = parts
  const backwards = query.from?.backwards === true
  if (!cursor) return [rangeText(parts, { equal: [], conditions })]
  // Looks the candidates up once, for all ranges.
  if (candidates.length > 0)
    return [rangeText(parts, { equal: [], conditions: [conditionBeyond(keys, cursor, backwards), ...conditions] })]
  // The range's condition comes first: if an index could begin at two conditions, SQLite takes the
  // first.
  const ranges = rangesBeyond(keys, cursor, backwards).map(({ equal, condition }) => ({
    equal,
    conditions: [condition, ...conditions],
  }))
  if (!dialect.mergesRanges || ranges.length < 2) return ranges.map(range => rangeText(parts, range))
  const nameOf = (_: SortKey, i: number): Sql => quoteName(`key ${i}`)
  const keyColumns = keys.map((key, i) => sql`, ${keyColumn(table, key)} as ${nameOf(key, i)}`)
  const all = ranges.map(
    (range, i) => sql`select * from (${rangeText(parts, range, keyColumns)}) as ${quoteName(`range ${i}`)}`,
  )
  const order = joinList(keys.map((key, i) => sql`${nameOf(key, i)} ${directionOf(parts, key)}`))
  return [
    sql`select ${rowNames(table)} from (${sql.join(all, sql` union all `)}) as "ranges" order by ${order} ${part}`,
  ]
}

/**
 * The rows that meet the conditions, in the order of those keys in which they differ. If rows must
 * be sorted, as candidates always are, only their keys are: sorting whole rows costs two to ten
 * times as much.
 */
function rangeText(
  parts: ListingParts,
  { equal, conditions }: { readonly equal: readonly Filter[]; readonly conditions: readonly Sql[] },
  clauses: readonly Sql[] = [],
): Sql {
  const { table, query, dialect, columns, keys, part, candidates } = parts
  const filters = [...query.filters, ...equal]
  const sort = keys.slice(equal.length)
  const at = quoteName(table.name)
  const order = writeOrder(parts, sort, filters)
  const rows = sql`from ${at} where ${allOf(conditions)} order by ${order} ${part}`
  const select = sql`select ${columns}${sql.join(clauses, sql``)}`
  const isSorted = dialect.sortsKeys && !isStoredInOrder(table.resource, table.lists, { filters, sort })
  return candidates.length === 0 && !isSorted
    ? sql`${select} ${rows}`
    : sql`${select} from ${at} where "id" in (select "id" ${rows}) order by ${order}`
}

const rowNames = (table: Table): Sql =>
  quoteNames([...systemColumns, ...valueColumns(columnsOf(table)).map(each => each.name)])

/** Whether there is a row; if there is a cursor, one at or before it. */
function otherText({ table, query, keys, cursor }: ListingParts, conditions: readonly Sql[]): Sql {
  const from = sql`from ${quoteName(table.name)}`
  const ranges = cursor ? rangesBeyond(keys, cursor, query.from?.backwards !== true, true) : [{ condition: undefined }]
  const all = ranges.map(
    ({ condition }) => sql`select 1 ${from} where ${allOf([...(condition ? [condition] : []), ...conditions])}`,
  )
  return sql`${sql.join(all, sql` union all `)} limit 1`
}

/**
 * Qualified, because a bare name would mean the column of the result, which is text if the table
 * has a wide integer.
 */
const keyColumn = (table: Table, key: Pick<SortKey, 'column'>): Sql =>
  sql`${quoteName(table.name)}.${quoteName(key.column)}`
const directionOf = ({ query, dialect }: ListingParts, { descending }: Pick<SortKey, 'descending'>): Sql =>
  descending === (query.from?.backwards === true) ? dialect.ascending : dialect.descending

/** @param filters of the rows, including each that makes them all equal in a field */
function writeOrder(parts: ListingParts, keys: readonly SortKey[], filters: readonly Filter[]): Sql {
  const { table } = parts
  const absent = findAbsentKeys(table.resource, table.lists, { filters, sort: keys }).map(({ field, descending }) => ({
    ...requireCompared(table, field),
    descending,
  }))
  return joinList([...absent, ...keys].map(key => sql`${keyColumn(table, key)} ${directionOf(parts, key)}`))
}

/**
 * The conditions that choose which rows to look at, and those left to check on each row. If no
 * index serves the filters in this order, rows are looked at whether they match them or not:
 * finding the matching ones would mean looking at all. Rows that the caller may not see are never
 * looked at.
 */
function chooseLooked(
  table: Table,
  query: Query,
  filters: readonly Sql[],
  grants: readonly Sql[],
  sought: readonly Sql[],
): Pick<LookParts, 'examined' | 'tested'> {
  const form = { filters: query.filters, sort: query.sort }
  return findMissingOrder(table.resource, table.lists, form) === undefined
    ? { examined: [...filters, ...grants], tested: sought }
    : { examined: grants, tested: [...filters, ...sought] }
}

interface LookParts {
  readonly examined: readonly Sql[]
  readonly tested: readonly Sql[]
  readonly columns: Sql
  /** The condition of the cursor. */
  readonly beyond: Sql
  readonly order: Sql
  /** Selects, in order, from the rows that are given. */
  readonly part: Sql
}

function nearTexts(table: Table, { examined, tested, columns, beyond, order, part }: LookParts): NearTexts {
  const at = quoteName(table.name)
  const from = sql`from ${at} where ${allOf(examined)}`
  const next = sql`${from} ${beyond} order by ${order}`
  const among = (place: Sql, most = examinedMax): Sql =>
    sql`from (select * ${place} limit ${sql.lit(most)}) as ${at} where ${allOf(tested)}`
  const matches = (place: Sql, counted: Sql): Sql =>
    sql`select count(*) from (select 1 ${among(place)} ${counted}) as "matches"`
  const rows = (cursor: Sql): Sql =>
    sql`select count(*) from (select 1 ${from} ${cursor} limit ${sql.lit(examinedMax + 1)}) as "rows"`
  return {
    matches: matches(next, part),
    rows: rows(beyond),
    count: matches(from, sql`limit ${sql.lit(countedMax + 1)}`),
    countRows: rows(sql``),
    page: sql`select ${columns} ${among(next)} order by ${order} ${part}`,
    farPage: sql`select ${columns} ${among(next, farExaminedMax)} order by ${order} ${part}`,
    farEnd: sql`select ${columns} ${next} limit 1 offset ${sql.lit(farExaminedMax - 1)}`,
  }
}

const signOf = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const

function requireCompared(table: Table, field: string): Compared & { readonly present: boolean } {
  const found = table.compared.get(field)
  if (!found) throw new Error(`items of ${table.name} cannot be compared by ${field}`)
  return found
}

function filterCondition(table: Table, filter: Filter, bind: (cell: Cell) => Sql, form: string[]): Sql {
  const { column, cell } = requireCompared(table, filter.field)
  const at = quoteName(column)
  if (filter.is === 'absent') {
    form.push(filter.field, filter.value === true ? 'absent' : 'present')
    return filter.value === true ? sql`${at} is null` : sql`${at} is not null`
  }
  if (filter.is === 'in') {
    const values = Array.isArray(filter.value) ? filter.value.map(cell) : []
    const some = values.filter(each => each !== null)
    form.push(filter.field, `in ${some.length} ${some.length < values.length}`)
    const among = some.length > 0 ? [sql`${at} in (${joinList(some.map(bind))})`] : []
    return anyOf(some.length < values.length ? [...among, sql`${at} is null`] : among)
  }
  const to = cell(filter.value)
  form.push(filter.field, filter.is, to === null ? '0' : '1')
  if (to === null) return absenceCondition(filter, at)
  if (filter.is === 'eq') return sql`${at} = ${bind(to)}`
  // An item without the field equals no value.
  if (filter.is === 'ne') return sql`${at} is distinct from ${bind(to)}`
  return sql`${at} ${signOf[filter.is]} ${bind(to)}`
}

interface InnerFilter {
  readonly filter: Filter
  readonly steps: readonly Step[]
}
function partitionFilters({ references }: Table, filters: readonly Filter[]): [InnerFilter[], Filter[]] {
  const inner = filters.flatMap(filter => {
    const steps = references.get(filter.field)
    return steps ? [{ filter, steps }] : []
  })
  return [inner, filters.filter(({ field }) => !references.has(field))]
}

/** A table of the ids that the filter names: one parameter, however many there are. */
function namedIds({ field, value }: Filter, { json }: Dialect, bind: (cell: Cell) => Sql, form: string[]): Sql {
  form.push(field)
  const ids = [value].flat().filter(each => typeof each === 'string' && isTextCell(each))
  return sql`select ${json.itemText('given')} as "id" from ${json.items(json.of(bind(JSON.stringify(ids))), 'given')}`
}

/** Whether one of the references at the end of the steps is among those that the filter names. */
function referenceCondition(
  table: Table,
  filter: Filter,
  steps: readonly Step[],
  number: number,
  dialect: Dialect,
  bind: (cell: Cell) => Sql,
  form: string[],
): Sql {
  const [first] = steps
  if (first === undefined || first === 'each') throw new Error(`the filter ${filter.field} must start with a field`)
  const column = sql`${quoteName(table.name)}.${quoteName(first.member)}`
  const { sources, text } = walkReferences(column, steps, dialect.json, `of filter ${number}`)
  form.push('refers')
  const isNamed = sql`${text} in (${namedIds(filter, dialect, bind, form)})`
  return sources.length === 0 ? isNamed : sql`exists (select 1 from ${joinList(sources)} where ${isNamed})`
}

/** Comparison with null: absent values equal it, and have no order. */
function absenceCondition(filter: Filter, at: Sql): Sql {
  if (filter.is === 'eq') return sql`${at} is null`
  return filter.is === 'ne' ? sql`${at} is not null` : sql`false`
}

/**
 * Texts are compared exactly, as `isAllowed` does for one item; an item without text in the field
 * belongs to no caller.
 */
function grantConditions(table: Table, groups: Query['within'], bind: (cell: Cell) => Sql, form: string[]): Sql[] {
  if (groups === 'all') return []
  const alternatives = groups.map(group =>
    allOf(
      Object.entries(group).map(([field, own]) => {
        const column = requireCompared(table, field).text
        form.push('within', field)
        return column === undefined ? sql`false` : sql`${quoteName(column)} = ${bind(own)}`
      }),
    ),
  )
  form.push(`within ${groups.map(group => Object.keys(group).length)}`)
  return [anyOf(alternatives)]
}

/** How many words of a search get a condition each; few rows have more. */
const writtenWordsMax = 8

interface SearchedWords {
  readonly paths: readonly SearchPath[]
  readonly written: readonly Sql[]
  /**
   * A JSON array of all other words. A separate text for each number of words could reach a
   * megabyte.
   */
  readonly others: Sql | undefined
}
/** Text that contains no word restricts nothing. */
function bindWords(table: Table, query: Query, bind: (cell: Cell) => Sql, form: string[]): SearchedWords {
  const words = (query.words ?? []).map(foldText).filter(text => text !== '')
  const written = words.slice(0, writtenWordsMax).map(bind)
  const others = words.length > writtenWordsMax ? bind(JSON.stringify(words.slice(writtenWordsMax))) : undefined
  const paths = words.length > 0 ? searchedPaths(table, query) : []
  form.push(`words ${written.length}${others ? ' and others' : ''}`, ...paths.map(each => each.name))
  return { paths, written, others }
}

/** Each word must occur in one of the paths. */
function wordConditions(table: Table, { paths, written, others }: SearchedWords, dialect: Dialect): Sql[] {
  const occurs = (part: Sql): Sql => anyOf(paths.map(path => pathCondition(table.name, path, 0, dialect, part)))
  if (!others) return written.map(occurs)
  const { json } = dialect
  const isMissing = sql`(${occurs(json.itemText('sought word'))}) is not true`
  return [
    ...written.map(occurs),
    sql`not exists (select 1 from ${json.items(json.of(others), 'sought word')} where ${isMissing})`,
  ]
}

export const searchedPaths = (table: Table, { paths }: Query): readonly SearchPath[] =>
  table.search.filter(each => paths?.includes(each.name) ?? true)

/**
 * Follows the next reference, by id, to the row that it names; at the end of the path, looks in the
 * words themselves.
 */
function pathCondition(row: string, path: SearchPath, at: number, dialect: Dialect, part: Sql): Sql {
  const hop = path.through[at]
  if (!hop) return dialect.contains(sql`${quoteName(row)}.${quoteName(path.column)}`, part)
  const [first] = hop.steps
  if (first === undefined || first === 'each') throw new Error(`the search path ${path.name} must start with a field`)
  const next = `named ${at}`
  const column = sql`${quoteName(row)}.${quoteName(first.member)}`
  const { sources, text } = walkReferences(column, hop.steps, dialect.json, `${at}`)
  const from = joinList([...sources, sql`${quoteName(hop.table)} as ${quoteName(next)}`])
  return sql`exists (select 1 from ${from} where ${quoteName(next)}."id" = ${text} and ${pathCondition(next, path, at + 1, dialect, part)})`
}

const creationKey: SortKey = {
  field: creationField,
  column: '_created',
  descending: true,
  present: true,
  cell: value => (typeof value === 'number' ? value : null),
}

function sortKeys(table: Table, query: Query): SortKey[] {
  const keyOf = ({ field, descending }: Sort): SortKey => ({ field, ...requireCompared(table, field), descending })
  const keys = query.sort.map(keyOf)
  return [...(keys.length > 0 ? keys : [creationKey]), keyOf({ field: 'id', descending: false })]
}

interface PlacedKey {
  readonly cell: Cell
  readonly value: Sql
}
function placeKey(key: SortKey, of: unknown, bind: (cell: Cell) => Sql): PlacedKey {
  const cell = key.cell(of)
  return { cell, value: cell === null ? sql`null` : bind(cell) }
}

/** Rows that are equal in the first keys of an order, and lie beyond a place in the next one. */
interface KeyRange {
  /** One for each key in which they are equal. */
  readonly equal: readonly Filter[]
  readonly condition: Sql
}

/** How many keys of an order get ranges of their own: a caller may name many keys. */
const rangedKeysMax = 3

/**
 * The rows after (or before) a place in the order of the keys, as ordered ranges: first the rows
 * that differ from the place only in the last key, or in any key after the first few.
 * @param inclusive includes the row at the place
 */
function rangesBeyond(
  keys: readonly SortKey[],
  cursor: readonly PlacedKey[],
  backwards: boolean,
  inclusive = false,
): readonly KeyRange[] {
  const [first, others] = [keys.slice(0, rangedKeysMax), keys.slice(rangedKeysMax)]
  if (others.length === 0) return rangeEachKey(keys, cursor, backwards, inclusive)
  const same = first.map((key, i) => equality(key, cursor[i]))
  const beyond = conditionBeyond(others, cursor.slice(rangedKeysMax), backwards, inclusive)
  return [
    { equal: same.map(each => each.filter), condition: allOf([...same.map(each => each.condition), beyond]) },
    ...rangeEachKey(first, cursor, backwards, false),
  ]
}

/** The same, with separate ranges for each key. */
function rangeEachKey(
  keys: readonly SortKey[],
  cursor: readonly PlacedKey[],
  backwards: boolean,
  inclusive: boolean,
): readonly KeyRange[] {
  const last = keys.length - 1
  return keys
    .flatMap((key, i) => {
      const same = keys.slice(0, i).map((each, at) => equality(each, cursor[at]))
      const equal = same.map(each => each.filter)
      const isIncluded = inclusive && i === last
      return piecesBeyond(key, cursor[i], key.descending !== backwards, isIncluded).map(piece => ({
        equal: piece.isAbsent ? [...equal, absenceOf(key)] : equal,
        condition: allOf([...same.map(each => each.condition), piece.condition]),
      }))
    })
    .toReversed()
}

const absenceOf = ({ field }: SortKey): Filter => ({ field, is: 'absent', value: true })
function equality(key: SortKey, at: PlacedKey | undefined): { readonly filter: Filter; readonly condition: Sql } {
  const column = quoteName(key.column)
  if (!at || at.cell === null) return { filter: absenceOf(key), condition: sql`${column} is null` }
  return { filter: { field: key.field, is: 'eq', value: at.cell }, condition: sql`${column} = ${at.value}` }
}

/** From the last to the first: absent values come before all others ascending. */
function piecesBeyond(
  key: SortKey,
  at: PlacedKey | undefined,
  falling: boolean,
  isIncluded: boolean,
): readonly { readonly condition: Sql; readonly isAbsent?: true }[] {
  const column = quoteName(key.column)
  if (!at || at.cell === null) return falling ? [] : [{ condition: sql`${column} is not null` }]
  const sign = sql`${signOf[`${falling ? 'lt' : 'gt'}${isIncluded ? 'e' : ''}`]}`
  const beyond = { condition: sql`${column} ${sign} ${at.value}` }
  return falling && !key.present ? [{ condition: sql`${column} is null`, isAbsent: true }, beyond] : [beyond]
}

/**
 * The same as one condition. The bound on the first key adds nothing, but lets an index start
 * there.
 */
function conditionBeyond(
  keys: readonly SortKey[],
  cursor: readonly PlacedKey[],
  backwards: boolean,
  inclusive = false,
): Sql {
  const ranges = rangeEachKey(keys, cursor, backwards, inclusive).map(range => range.condition)
  return allOf([...leadingBound(keys[0], cursor[0], backwards), anyOf(ranges)])
}

function leadingBound(key: SortKey | undefined, at: PlacedKey | undefined, backwards: boolean): Sql[] {
  if (!key || !at || at.cell === null) return []
  const falling = key.descending !== backwards
  if (!falling) return [sql`${quoteName(key.column)} >= ${at.value}`]
  return key.present ? [sql`${quoteName(key.column)} <= ${at.value}`] : []
}
