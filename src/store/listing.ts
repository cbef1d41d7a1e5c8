/**
 * A query as SQL. Its form (which fields, which comparisons, what is null) makes the text; its values are bound. What
 * always holds:
 *  (1) The order is total: the id is last. So a cursor stands between two rows, whatever came or went.
 *  (2) Absent values come before all others ascending, after all descending.
 *  (3) No text of a request is part of a statement: every name is looked up among the contract's columns.
 */
import type { Filter, Query } from '../service/store.ts'
import type { Compared } from './column.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { foldText } from './search-text.ts'
import { sql } from './sql.ts'
import { allOf, anyOf, joinList, parameterAt, quoteName } from './statement.ts'
import type { SearchPath, Step, Table } from './table.ts'

/** What a list needs to be run: the form's key and texts, and its values in the places that the texts name. */
export interface Listing {
  /** Equal for queries whose texts are equal. */
  readonly form: string
  readonly values: readonly Cell[]
  /** Made only when the form is new. */
  readonly texts: () => Texts
}
export interface Texts {
  readonly page: Sql
  readonly count: Sql
  /** One row when there is any at or beyond the cursor in the direction that the page was not read in. */
  readonly other: Sql
}

interface Key {
  readonly column: string
  readonly descending: boolean
  readonly present: boolean
  readonly cell: (value: unknown) => Cell
}

export function compileListing(
  table: Table,
  tables: ReadonlyMap<string, Table>,
  query: Query,
  dialect: Dialect,
  columns: Sql,
): Listing {
  const form: string[] = []
  const values: Cell[] = []
  const bind = (cell: Cell): Sql => parameterAt(values.push(cell) - 1)
  const conditions = [
    ...query.filters.map(filter => condition(table, filter, bind, form)),
    ...within(table, query.within, bind, form),
    ...(query.words ?? []).flatMap(word => occurs(table, tables, word, dialect, bind, form)),
  ]
  const keys = sortKeys(table, query)
  const { from } = query
  const cursor = from && keys.map((key, i) => place(key, i + 1 < keys.length ? from.keys[i] : from.id, bind))
  const backwards = from?.backwards === true
  const size = bind(query.size + 1)
  const offset = query.offset === undefined ? undefined : bind(query.offset)
  form.push(
    ...keys.map(key => `${key.descending ? '-' : '+'}${key.column}`),
    ...(cursor ?? []).map(each => (each.cell === null ? '0' : '1')),
    backwards ? 'b' : 'f',
    offset ? 'o' : '',
  )
  return {
    form: form.join('\n'),
    values,
    texts: () => {
      const chosen = sql`from ${quoteName(table.name)} where ${allOf(conditions)}`
      const beyond = (back: boolean, at: boolean) => (cursor ? sql`and ${after(keys, cursor, back, at)}` : sql``)
      const order = joinList(
        keys.map(
          // Qualified: a bare name would be the column of the result, which is text where the table has a wide integer.
          key =>
            sql`${quoteName(table.name)}.${quoteName(key.column)} ${key.descending === backwards ? dialect.ascending : dialect.descending}`,
        ),
      )
      return {
        page: sql`select ${columns} ${chosen} ${beyond(backwards, false)} order by ${order} limit ${size}${offset ? sql` offset ${offset}` : sql``}`,
        count: sql`select count(*) ${chosen}`,
        other: sql`select 1 ${chosen} ${beyond(!backwards, true)} limit 1`,
      }
    },
  }
}

const signs = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const

function comparable(table: Table, field: string): Compared & { readonly present: boolean } {
  const found = table.compared.get(field)
  if (!found) throw new Error(`${table.name} can't be compared by ${field}`)
  return found
}

function condition(table: Table, filter: Filter, bind: (cell: Cell) => Sql, form: string[]): Sql {
  const { column, cell } = comparable(table, filter.field)
  const at = quoteName(column)
  if (filter.is === 'in') {
    const given = Array.isArray(filter.value) ? filter.value.map(cell) : []
    const some = given.filter(each => each !== null)
    form.push(filter.field, `in ${some.length} ${some.length < given.length}`)
    const among = some.length > 0 ? [sql`${at} in (${joinList(some.map(bind))})`] : []
    return anyOf(some.length < given.length ? [...among, sql`${at} is null`] : among)
  }
  const to = cell(filter.value)
  form.push(filter.field, filter.is, to === null ? '0' : '1')
  if (to === null) return absence(filter, at)
  if (filter.is === 'eq') return sql`${at} = ${bind(to)}`
  // An item without the field has no value that equals this one.
  if (filter.is === 'ne') return sql`${at} is distinct from ${bind(to)}`
  return sql`${at} ${signs[filter.is]} ${bind(to)}`
}

/** Compared with no value: absent values are equal to it, and have no order. */
function absence(filter: Filter, at: Sql): Sql {
  if (filter.is === 'eq') return sql`${at} is null`
  return filter.is === 'ne' ? sql`${at} is not null` : sql`false`
}

/** Texts are compared exactly, as `allowed` does with one item; a field that holds none is nobody's. */
function within(table: Table, groups: Query['within'], bind: (cell: Cell) => Sql, form: string[]): Sql[] {
  if (groups === 'all') return []
  const alternatives = groups.map(group =>
    allOf(
      Object.entries(group).map(([field, own]) => {
        const column = comparable(table, field).text
        form.push('within', field)
        return column === undefined ? sql`false` : sql`${quoteName(column)} = ${bind(own)}`
      }),
    ),
  )
  form.push(`within ${groups.map(group => Object.keys(group).length)}`)
  return [anyOf(alternatives)]
}

/** The word is in some path; text without any word says nothing. */
function occurs(
  table: Table,
  tables: ReadonlyMap<string, Table>,
  word: string,
  dialect: Dialect,
  bind: (cell: Cell) => Sql,
  form: string[],
): Sql[] {
  const text = foldText(word)
  if (text === '') return []
  form.push('word')
  const part = bind(text)
  return [anyOf(table.search.map(path => found(table.name, path, 0, tables, dialect, part)))]
}

/** Through the next reference to the rows that it may name, or, at the end of the path, in the words themselves. */
function found(
  table: string,
  path: SearchPath,
  at: number,
  tables: ReadonlyMap<string, Table>,
  dialect: Dialect,
  part: Sql,
): Sql {
  const hop = path.through[at]
  if (!hop) return dialect.contains(sql`${quoteName(table)}.${quoteName(path.column)}`, part)
  const named = sql`(select ${quoteName(hop.table)}."id" from ${quoteName(hop.table)} where ${found(hop.table, path, at + 1, tables, dialect, part)})`
  return reaching(table, hop.steps, dialect, `${at}`, reference => sql`${reference} in ${named}`)
}

/** A condition on each reference at the end of the steps. */
function reaching(
  table: string,
  steps: readonly Step[],
  dialect: Dialect,
  alias: string,
  holds: (reference: Sql) => Sql,
): Sql {
  const [first, ...inner] = steps
  if (first === undefined || first === 'each') throw new Error(`a search path of ${table} does not start with a field`)
  const column = sql`${quoteName(table)}.${quoteName(first.member)}`
  if (inner.length === 0) return holds(column)
  const { json } = dialect
  const sources: Sql[] = []
  let at = json.of(column)
  let text = at
  for (const step of inner) {
    if (step === 'each') {
      const item = `item ${alias} ${sources.length}`
      sources.push(json.items(at, item))
      at = json.item(item)
      text = json.itemText(item)
    } else {
      text = json.memberText(at, step.member)
      at = json.member(at, step.member)
    }
  }
  return sources.length === 0 ? holds(text) : sql`exists (select 1 from ${joinList(sources)} where ${holds(text)})`
}

const created: Key = {
  column: '_created',
  descending: true,
  present: true,
  cell: value => (typeof value === 'number' ? value : null),
}

function sortKeys(table: Table, query: Query): Key[] {
  const asked = query.sort.map(({ field, descending }) => ({ ...comparable(table, field), descending }))
  const id = { ...comparable(table, 'id'), descending: false }
  return [...(asked.length > 0 ? asked : [created]), id]
}

interface Placed {
  readonly cell: Cell
  readonly value: Sql
}
function place(key: Key, of: unknown, bind: (cell: Cell) => Sql): Placed {
  const cell = key.cell(of)
  return { cell, value: cell === null ? sql`null` : bind(cell) }
}

/**
 * The rows after a place in the order of the keys, or before it: where the first key that differs is beyond. The leading
 * bound on the first key says nothing new, but lets an index start there.
 */
function after(keys: readonly Key[], cursor: readonly Placed[], backwards: boolean, inclusive: boolean): Sql {
  const same = (i: number): Sql => {
    const at = cursor[i]
    return !at || at.cell === null
      ? sql`${quoteName(keys[i]?.column ?? '')} is null`
      : sql`${quoteName(keys[i]?.column ?? '')} = ${at.value}`
  }
  const alternatives = keys.map((key, i) =>
    allOf([...Array.from({ length: i }, (_, j) => same(j)), beyondOne(key, cursor[i], key.descending !== backwards)]),
  )
  if (inclusive) alternatives.push(allOf(keys.map((_, i) => same(i))))
  return allOf([...leading(keys[0], cursor[0], backwards), anyOf(alternatives)])
}

function beyondOne(key: Key, at: Placed | undefined, falling: boolean): Sql {
  const column = quoteName(key.column)
  if (!at || at.cell === null) return falling ? sql`false` : sql`${column} is not null`
  if (!falling) return sql`${column} > ${at.value}`
  return key.present ? sql`${column} < ${at.value}` : sql`(${column} < ${at.value} or ${column} is null)`
}

function leading(key: Key | undefined, at: Placed | undefined, backwards: boolean): Sql[] {
  if (!key || !at || at.cell === null) return []
  const falling = key.descending !== backwards
  if (!falling) return [sql`${quoteName(key.column)} >= ${at.value}`]
  return key.present ? [sql`${quoteName(key.column)} <= ${at.value}`] : []
}
