/**
 * Brings the indexes of lists in line with the contract. What always holds:
 *  (1) `_shape` contains an index once it is complete. An index that a contract declares and
 *      `_shape` lacks counts as missing, whatever the database has under its name: a build may have
 *      failed halfway.
 *  (2) A unique key that is no longer declared is removed only if a person asks for it: an older
 *      program that starts next to a newer one keeps it, too.
 *  (3) If the database can (`buildsConcurrently`), a start postpones the indexes of large tables:
 *      they are built while others read and write.
 *  (4) An index that somebody else removed, or that a restore did not make, is made again.
 */
import { type Difference, listUndeclared, tableKey } from './contract-differences.ts'
import {
  type DatabaseShape,
  forgetShape,
  type IndexBuild,
  readShape,
  rememberShape,
  type Steps,
  shapeRows,
} from './database-shape.ts'
import type { Dialect } from './dialect.ts'
import { columnsOfIndex, parseIndex } from './dropped-names.ts'
import { hasManyRows } from './next-rows.ts'
import { isSearchName } from './search-growth.ts'
import { type Sql, sql } from './sql.ts'
import { compileStatement, joinList, quoteName } from './statement.ts'
import type { Index, Table } from './table.ts'

export interface ListIndexSchema {
  readonly dialect: Dialect
  readonly tables: ReadonlyMap<string, Table>
}

interface WantedIndex {
  readonly table: Table
  readonly index: Index
  /** The text that `_shape` has once it is complete. */
  readonly is: string
}

const listUnmade = ({ tables }: ListIndexSchema, shape: DatabaseShape): readonly WantedIndex[] =>
  [...tables.values()].flatMap(table =>
    table.indexes
      .map(index => ({ table, index, is: JSON.stringify([table.name, index]) }))
      .filter(({ index, is }) => shape.get('index')?.get(index.name) !== is),
  )

const dropIndex = (index: string, modifier: Sql = sql``): Sql =>
  sql`drop index ${modifier}if exists ${quoteName(index)}`

/**
 * (4) Removes from `shape` the indexes that are no longer in the database.
 * @returns their names
 */
export function* findLostIndexes({ dialect, tables }: ListIndexSchema, shape: DatabaseShape): Steps<readonly string[]> {
  const known = shape.get('index')
  if (!known) return []
  const there = new Set((yield { text: dialect.indexNames }).map(([name]) => String(name)))
  const declared = [...tables.values()].flatMap(table => table.indexes.map(({ name }) => name))
  return declared.filter(name => !there.has(name) && known.delete(name))
}

/** Tables that lack an index and are so large that it is postponed. Call it before any change. */
export function* findLargeTables(schema: ListIndexSchema, shape: DatabaseShape): Steps<ReadonlySet<string>> {
  const large = new Set<string>()
  if (!schema.dialect.buildsConcurrently) return large
  for (const table of new Set(listUnmade(schema, shape).map(each => each.table)))
    if (shape.has(tableKey(table.name)) && (yield* hasManyRows(table))) large.add(table.name)
  return large
}

/**
 * @param lost as `findLostIndexes` found them
 * @param tell called with each index that is postponed
 */
export function* growIndexes(
  schema: ListIndexSchema,
  shape: DatabaseShape,
  large: ReadonlySet<string>,
  lost: readonly string[],
  tell?: (says: string, text: string) => void,
): Steps {
  const { dialect, tables } = schema
  const declared = new Set([...tables.values()].flatMap(table => table.indexes.map(each => each.name)))
  for (const [name, is] of shape.get('index') ?? [])
    if (!isSearchName(name) && !declared.has(name) && !isForeign(tables, shape, is) && (tell || !isUniqueKey(is))) {
      yield { text: dropIndex(name), says: `drop the index ${name}` }
      yield forgetShape('index', name)
    }
  for (const { table, index, is } of listUnmade(schema, shape)) {
    const { name } = index
    if (large.has(table.name)) {
      const { text } = compileStatement(dialect, createIndex(table, index, dialect, sql`concurrently `), false)
      tell?.(`create the index ${name}, while the service runs`, text)
      if (lost.includes(name)) yield forgetShape('index', name)
      continue
    }
    yield { text: dropIndex(name) }
    yield { says: `create the index ${name}`, text: createIndex(table, index, dialect) }
    yield rememberShape('index', name, is)
  }
}

const isUniqueKey = (is: string): boolean => parseIndex(is)[1].isUnique === true

/** An index that only another program declares: it is dropped with its field or table. */
function isForeign(tables: ReadonlyMap<string, Table>, shape: DatabaseShape, is: string): boolean {
  const [of, index] = parseIndex(is)
  const table = tables.get(of)
  if (!table) return true
  const foreign = listUndeclared(table, shape.get(tableKey(of)) ?? new Map())
  return foreign.some(({ name }) => columnsOfIndex(index).some(each => each === name || each.startsWith(`${name}#`)))
}

function createIndex(table: Table, index: Index, dialect: Dialect, modifier: Sql = sql``): Sql {
  const columns = index.columns.map(
    ({ name: column, descending }) => sql`${quoteName(column)} ${descending ? dialect.descending : dialect.ascending}`,
  )
  const kind = index.isUnique ? sql`unique index ` : sql`index `
  const begin = sql`create ${kind}${modifier}${quoteName(index.name)} on ${quoteName(table.name)}`
  if (index.isHash) return sql`${begin} using hash (${joinList(index.columns.map(each => quoteName(each.name)))})`
  const where = index.where === undefined ? sql`` : sql` where ${quoteName(index.where)} is not null`
  return sql`${begin} (${joinList(columns)})${where}`
}

/** Groups of items with the same key that are reported; items named for each. */
const reportedGroupsMax = 5

/** Unique keys that stored items violate. */
export function* findDuplicates(
  schema: ListIndexSchema,
  shape: DatabaseShape,
  large: ReadonlySet<string>,
): Steps<readonly Difference[]> {
  const differences: Difference[] = []
  for (const { table, index } of listUnmade(schema, shape)) {
    const was = shape.get(tableKey(table.name))
    // A column that does not exist yet has no values.
    const isThere = index.columns.every(({ name }) => was?.has(name.replace(/#.*/, '')))
    if (index.isUnique && isThere && !large.has(table.name))
      differences.push(...(yield* findDuplicatesOf(table, index, schema.dialect)))
  }
  return differences
}

function* findDuplicatesOf(table: Table, index: Index, dialect: Dialect): Steps<readonly Difference[]> {
  const columns = index.columns.map(({ name }) => quoteName(name))
  const isWhole = sql.join(
    columns.map(column => sql`${column} is not null`),
    sql` and `,
  )
  const groups = sql`from ${quoteName(table.name)} where ${isWhole} group by ${joinList(columns)} having count(*) > 1`
  const rows = yield {
    text: sql`select count(*), min("id"), max("id") ${groups} order by 1 desc, 2 limit ${sql.lit(reportedGroupsMax + 1)}`,
  }
  if (rows.length === 0) return []
  const fields = index.columns.map(({ name }) => name.replace(/#.*/, '')).join(', ')
  const samples = rows
    .slice(0, reportedGroupsMax)
    .map(([count, first, last]) => `${first}, ${last}${Number(count) > 2 ? ` and ${Number(count) - 2} more` : ''}`)
  const more = rows.length > reportedGroupsMax ? `; the first ${reportedGroupsMax} of more` : ''
  const all = compileStatement(dialect, sql`select ${joinList(columns)}, count(*) ${groups}`, false).text
  return [
    {
      problem: `${table.name}: ${fields} must be unique, and these items have the same: ${samples.join('; ')}${more}`,
      cure: [`-- change all but one of each; all of them: ${all};`],
    },
  ]
}

/** The builds that a start has postponed. */
export function* listIndexBuilds(schema: ListIndexSchema): Steps<readonly IndexBuild[]> {
  const unmade = listUnmade(schema, readShape(yield { text: shapeRows }))
  return unmade.map(({ table, index, is }) => ({
    what: `index ${index.name}`,
    table,
    *isDue() {
      return (
        readShape(yield { text: shapeRows })
          .get('index')
          ?.get(index.name) !== is
      )
    },
    // PostgreSQL "CREATE INDEX CONCURRENTLY": a failed one is left behind, invalid.
    texts: [dropIndex(index.name, sql`concurrently `), createIndex(table, index, schema.dialect, sql`concurrently `)],
    *complete() {
      yield rememberShape('index', index.name, is)
    },
  }))
}
