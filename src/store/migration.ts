/**
 * Brings a database to the shape of the contract, at start. What always holds:
 *  (1) Only additions are made: a new table, an optional column, an index, a word index. No stored
 *      value is lost or read as another.
 *  (2) Any other difference is refused before the first change, all of them at once, each with the
 *      SQL that a person may run.
 *  (3) Files that an older program has kept as one value are cut into pieces, one after the other;
 *      older programs no longer start on the database.
 * The shape of the database is kept in its table `_shape`: one row for each table, field and index.
 */
import { pieceOctets } from '../service/file-content.ts'
import type { Column, FieldColumns } from './column.ts'
import { type ColumnSignature, findMisread, findMissing, signatureOf } from './column-signature.ts'
import {
  type DatabaseShape,
  forgetShape,
  type MigrationStep,
  readShape,
  rememberShape,
  type Steps,
} from './database-shape.ts'
import type { Dialect, Sql } from './dialect.ts'
import type { ItemStatements } from './item-rows.ts'
import { declareRecordTables, migratePieces, migrateTurns } from './records.ts'
import { dropSearches, growSearches, isSearchName } from './search-growth.ts'
import { foldingVersion } from './search-text.ts'
import { sql } from './sql.ts'
import type { StoreSchema } from './sql-access.ts'
import { joinList, parameterAt, quoteName } from './statement.ts'
import type { Index, Table } from './table.ts'

const shapeFormat = '2'
/** In it a file was one value. */
const formatBefore = '1'
interface Difference {
  readonly what: string
  readonly cure: readonly string[]
}
export function* planMigration(schema: StoreSchema): Steps {
  const { dialect } = schema
  const table = yield { text: dialect.hasTable('_shape') }
  if (table.length === 0) {
    for (const text of declareRecordTables(dialect)) yield { text }
    yield rememberShape('store', 'format', shapeFormat)
    yield rememberShape('store', 'jobs', 'turns')
  }
  const shape = readShape(yield { text: sql`select "of", "name", "is" from "_shape"` })
  const differences = yield* findDifferences(schema, shape)
  if (differences.length > 0) throw new Error(createMigrationError(differences))
  if (shape.get('store')?.get('format') === formatBefore) {
    yield* migrateFiles(dialect)
    yield rememberShape('store', 'format', shapeFormat)
  }
  if (shape.get('store')?.get('jobs') !== 'turns') {
    for (const text of migrateTurns(dialect)) yield { text }
    yield rememberShape('store', 'jobs', 'turns')
  }
  yield* dropSearches(schema, shape)
  const stale = new Map<string, readonly string[]>()
  for (const [name, items] of schema.items) stale.set(name, yield* growTable(items, dialect, shape))
  yield* growIndexes(schema, shape)
  yield* growSearches(schema, shape, stale)
}

/** (3) */
function* migrateFiles(dialect: Dialect): Steps {
  for (const text of migratePieces(dialect)) yield { text }
  const large = yield {
    text: sql`select "resource", "id", "part" from "_file" where length("bytes") > ${sql.lit(pieceOctets)}`,
  }
  for (const key of large) {
    const file = sql`"resource" = ${parameterAt(0)} and "id" = ${parameterAt(1)} and "part" = ${parameterAt(2)}`
    const [row] = yield { text: sql`select "bytes" from "_file" where ${file}`, values: key }
    const bytes = row?.[0] as Uint8Array // the column's type
    const content = `file ${key.join(' ')}`
    yield { text: sql`insert into "_content" ("id") values (${parameterAt(0)})`, values: [content] }
    for (let number = 0; number * pieceOctets < bytes.length; number++)
      yield {
        text: sql`insert into "_piece" ("content", "number", "bytes") values (${parameterAt(0)}, ${parameterAt(1)}, ${parameterAt(2)})`,
        values: [content, number, bytes.subarray(number * pieceOctets, (number + 1) * pieceOctets)],
      }
    yield {
      text: sql`update "_file" set "bytes" = null, "content" = ${parameterAt(3)}, "length" = ${parameterAt(4)} where ${file}`,
      values: [...key, content, bytes.length],
    }
  }
}

/** What is not the table of a resource in `_shape`. */
const reserved = new Set(['store', 'index'])
const tableKey = (of: string): string => `table ${of}`

function createMigrationError(differences: readonly Difference[]): string {
  const lines = differences.flatMap(({ what, cure }) => [`- ${what}`, ...cure.map(line => `    ${line}`)])
  return [
    'the contract is more than an addition to the database: change the contract, or run this SQL and start again:',
    ...lines,
  ].join('\n')
}

function* findDifferences(schema: StoreSchema, shape: DatabaseShape): Steps<readonly Difference[]> {
  const found: Difference[] = []
  const format = shape.get('store')?.get('format')
  if (format !== shapeFormat && format !== formatBefore)
    return [
      {
        what: `the database has format ${format}, and this program supports ${shapeFormat}`,
        cure: ['-- start a newer program'],
      },
    ]
  for (const of of shape.keys()) {
    const table = of.replace(/^table /, '')
    if (!reserved.has(of) && !schema.tables.has(table))
      found.push({
        what: `${table} is no longer declared`,
        cure: [`drop table ${quoteColumn(table)};`, `delete from "_shape" where "of" = ${quoteText(of)};`],
      })
  }
  for (const table of schema.tables.values()) {
    const was = shape.get(tableKey(table.name))
    if (was) found.push(...(yield* findTableDifferences(table, was)))
  }
  return found
}

const quoteText = (of: string): string => `'${of.replaceAll("'", "''")}'`
const quoteColumn = (of: string): string => `"${of}"`

function* findTableDifferences(table: Table, was: ReadonlyMap<string, string>): Steps<readonly Difference[]> {
  const found: Difference[] = []
  const declared = new Set(table.fields.map(each => each.field))
  for (const [field, is] of was)
    if (is.startsWith('{') && !declared.has(field))
      found.push(describeUndeclared(table, field, JSON.parse(is) as ColumnSignature))
  for (const kept of table.fields) {
    const is = was.get(kept.field)
    const now = declaredSignature(table, kept)
    if (is === undefined) found.push(...(yield* checkNewField(table, kept, now)))
    else found.push(...(yield* checkChangedField(table, kept, JSON.parse(is) as ColumnSignature, now))) // written by `rememberShape`
  }
  return found
}

function declaredSignature(table: Table, { field }: FieldColumns): ColumnSignature {
  const declared = table.resource.fields[field]
  if (!declared) throw new Error(`${table.name} has no field ${field}`)
  return signatureOf(declared)
}

const shapeRow = (table: Table, field: string): string =>
  `"of" = ${quoteText(tableKey(table.name))} and "name" = ${quoteText(field)}`

function describeUndeclared(table: Table, field: string, was: ColumnSignature): Difference {
  const further = [
    ...(['date', 'time', 'dateTime', 'duration', 'integer'].includes(was.kind) ? [`${field}#order`] : []),
    ...(was.kind === 'double' ? [`${field}#text`] : []),
    ...(was.optional && was.nullable ? [`${field}#null`] : []),
  ]
  return {
    what: `${table.name}.${field} is no longer declared`,
    cure: [
      `-- drop the indexes that use it first`,
      ...[field, ...further].map(
        column => `alter table ${quoteColumn(table.name)} drop column ${quoteColumn(column)};`,
      ),
      `delete from "_shape" where ${shapeRow(table, field)};`,
    ],
  }
}

function* checkNewField(table: Table, kept: FieldColumns, now: ColumnSignature): Steps<readonly Difference[]> {
  if (now.optional) return []
  const rows = yield { text: sql`select 1 from ${quoteName(table.name)} limit 1` }
  if (rows.length === 0) return []
  const add = kept.columns.map(
    ({ name, kind }) => `alter table ${quoteColumn(table.name)} add column ${quoteColumn(name)} ${sqlTypeOf[kind]};`,
  )
  return [
    {
      what: `${table.name}.${kept.field} is new and required, and stored rows have no value for it: make it optional, or set it`,
      cure: [
        ...add,
        `update ${quoteColumn(table.name)} set ${kept.columns.map(({ name }) => `${quoteColumn(name)} = …`).join(', ')};`,
        `insert into "_shape" ("of", "name", "is") values (${quoteText(tableKey(table.name))}, ${quoteText(kept.field)}, ${quoteText(JSON.stringify(now))});`,
      ],
    },
  ]
}
const sqlTypeOf: Readonly<Record<Column['kind'], string>> = {
  text: 'text',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  blob: 'blob',
}

function* checkChangedField(
  table: Table,
  kept: FieldColumns,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  const at = `${table.name}.${kept.field}`
  const isNarrowed = was.kind === 'string' && now.kind === 'enum' // its values are looked at below
  const reasons = isNarrowed ? [] : findMisread(was, now, at)
  if (reasons.length > 0)
    return reasons.map(what => ({
      what,
      cure: [
        `-- convert the values of ${quoteColumn(kept.field)} in ${quoteColumn(table.name)}, then`,
        `update "_shape" set "is" = ${quoteText(JSON.stringify(now))} where ${shapeRow(table, kept.field)};`,
      ],
    }))
  return [...(yield* checkEmptyCells(table, kept, was, now)), ...(yield* checkEnumValues(table, kept, was, now))]
}

/** The meaning of an empty cell. */
const emptyMeaning = (of: ColumnSignature): string => (of.optional ? 'absent' : of.nullable ? 'null' : '')

/** Rows whose absent or null value the contract no longer allows. */
function* checkEmptyCells(
  table: Table,
  kept: FieldColumns,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  const at = `${table.name}.${kept.field}`
  const cure = (where: string) => [
    `update ${quoteColumn(table.name)} set ${quoteColumn(kept.field)} = … where ${where};`,
  ]
  const found: Difference[] = []
  const growsMark = was.nullable === true && now.nullable === true
  if (emptyMeaning(was) !== emptyMeaning(now) && emptyMeaning(was) !== '' && !(growsMark && now.optional)) {
    const empty = yield {
      text: sql`select 1 from ${quoteName(table.name)} where ${quoteName(kept.field)} is null limit 1`,
    }
    if (empty.length > 0)
      found.push({
        what: `${at} has ${emptyMeaning(was)} values, which the contract no longer allows`,
        cure: cure(`${quoteColumn(kept.field)} is null`),
      })
  }
  if (was.optional && was.nullable && !(now.optional && now.nullable)) {
    const mark = `${kept.field}#null`
    const nulls = yield {
      text: sql`select 1 from ${quoteName(table.name)} where ${quoteName(mark)} is not null limit 1`,
    }
    if (nulls.length > 0)
      found.push({
        what: `${at} has null values, which the contract no longer allows`,
        cure: cure(`${quoteColumn(mark)} is not null`),
      })
  }
  return found
}

/** Rows with a value that an enumeration has lost. */
function* checkEnumValues(
  table: Table,
  kept: FieldColumns,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  if (now.kind !== 'enum' || (was.kind === 'enum' && findMissing(was, now).length === 0)) return []
  const allowed = joinList((now.values ?? []).map(each => sql.lit(each)))
  const others = yield {
    text: sql`select distinct ${quoteName(kept.field)} from ${quoteName(table.name)} where ${quoteName(kept.field)} not in (${allowed}) limit 10`,
  }
  if (others.length === 0) return []
  const lost = others.map(([each]) => String(each))
  return [
    {
      what: `${table.name}.${kept.field} has values that the contract no longer allows: ${lost.join(', ')}`,
      cure: [
        `update ${quoteColumn(table.name)} set ${quoteColumn(kept.field)} = … where ${quoteColumn(kept.field)} in (${lost.map(quoteText).join(', ')});`,
      ],
    },
  ]
}

/**
 * Adds all that the contract has and the table lacks. Gives the columns whose words are still to be
 * made.
 */
function* growTable(items: ItemStatements, dialect: Dialect, shape: DatabaseShape): Steps<readonly string[]> {
  const { table } = items
  const was = shape.get(tableKey(table.name))
  if (!was) {
    yield { text: createTable(table, dialect) }
    yield rememberShape(tableKey(table.name), '', 'table')
  }
  for (const kept of table.fields) {
    const now = declaredSignature(table, kept)
    const is = JSON.stringify(now)
    const before = was?.get(kept.field)
    if (before === is) continue
    if (was)
      yield* addColumns(
        table,
        kept,
        dialect,
        before === undefined ? undefined : (JSON.parse(before) as ColumnSignature),
        now,
      )
    yield rememberShape(tableKey(table.name), kept.field, is)
  }
  return yield* growWords(items, dialect, was)
}

function createTable(table: Table, dialect: Dialect): Sql {
  const { text, integer } = dialect.types
  const own = [
    sql`"id" ${text} primary key`,
    ...['_version', '_created', '_modified'].map(column => sql`${quoteName(column)} ${integer} not null`),
    sql`"_kept" ${text}`,
    ...table.fields.flatMap(each =>
      each.columns.map(column => sql`${quoteName(column.name)} ${dialect.types[column.kind]}`),
    ),
  ]
  return sql`create table ${quoteName(table.name)} (${joinList(own)})`
}

function* addColumns(
  table: Table,
  kept: FieldColumns,
  dialect: Dialect,
  was: ColumnSignature | undefined,
  now: ColumnSignature,
): Steps {
  const add = function* (column: Column): Steps {
    yield {
      text: sql`alter table ${quoteName(table.name)} add column ${quoteName(column.name)} ${dialect.types[column.kind]}`,
    }
  }
  if (!was) {
    for (const column of kept.columns) yield* add(column)
    return
  }
  const marked = (of: ColumnSignature): boolean => of.optional === true && of.nullable === true
  const mark = kept.columns.at(-1)
  if (marked(was) || !marked(now) || !mark) return
  yield* add(mark)
  if (was.nullable)
    yield {
      text: sql`update ${quoteName(table.name)} set ${quoteName(mark.name)} = ${parameterAt(0)} where ${quoteName(kept.field)} is null`,
      values: [dialect.boolean(true)],
    }
}

/** Columns of words are made from stored values, so they come and go as searches need them. */
function* growWords(
  { table }: ItemStatements,
  dialect: Dialect,
  was: ReadonlyMap<string, string> | undefined,
): Steps<readonly string[]> {
  const wanted = new Set(table.words.map(each => each.column))
  for (const [column, is] of was ?? [])
    if (is.startsWith('words') && !wanted.has(column)) {
      yield { text: sql`alter table ${quoteName(table.name)} drop column ${quoteName(column)}` }
      yield forgetShape(tableKey(table.name), column)
    }
  const stale = table.words.filter(each => was?.get(each.column) !== foldingVersion)
  for (const { column } of stale) {
    if (!was?.has(column))
      yield { text: sql`alter table ${quoteName(table.name)} add column ${quoteName(column)} ${dialect.types.text}` }
    yield rememberShape(tableKey(table.name), column, foldingVersion)
  }
  return was ? stale.map(each => each.column) : []
}

function* growIndexes(schema: StoreSchema, shape: DatabaseShape): Steps {
  const was = new Map([...(shape.get('index') ?? [])].filter(([name]) => !isSearchName(name)))
  const wanted = new Map<string, { table: Table; index: Index }>()
  for (const table of schema.tables.values())
    for (const index of table.indexes) wanted.set(index.name, { table, index })
  const drop = (index: string): MigrationStep => ({ text: sql`drop index if exists ${quoteName(index)}` })
  for (const index of was.keys())
    if (!wanted.has(index)) {
      yield drop(index)
      yield forgetShape('index', index)
    }
  for (const [key, { table, index }] of wanted) {
    const is = JSON.stringify([table.name, index])
    if (was.get(key) === is) continue
    yield drop(key)
    yield { text: createIndex(table, index, schema.dialect) }
    yield rememberShape('index', key, is)
  }
}

function createIndex(table: Table, index: Index, dialect: Dialect): Sql {
  const columns = index.columns.map(
    ({ name: column, descending }) => sql`${quoteName(column)} ${descending ? dialect.descending : dialect.ascending}`,
  )
  if (index.isHash)
    return sql`create index ${quoteName(index.name)} on ${quoteName(table.name)} using hash (${joinList(index.columns.map(each => quoteName(each.name)))})`
  const where = index.where === undefined ? sql`` : sql` where ${quoteName(index.where)} is not null`
  return sql`create index ${quoteName(index.name)} on ${quoteName(table.name)} (${joinList(columns)})${where}`
}
