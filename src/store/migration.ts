/**
 * Brings a database to the shape of the contract, at start. What always holds:
 *  (1) Only additions are made: a new table, a column that is optional or has a default, an index,
 *      a word index. No stored value is lost or misread. Tables and optional columns that are not
 *      declared stay: they may belong to a newer program that is running, too. Slow work on a large
 *      table is postponed (`Store.fill`).
 *  (2) All other differences are refused together before the first change, each with its cure
 *      (`contract-differences.ts`). What a `MigrationWish` names is dropped.
 *  (3) Files that an older program stored as one value are cut into pieces, one after the other;
 *      older programs no longer start on the database.
 *  (4) A number of a change or a deed is never given twice: logical replication copies rows and not
 *      counters, so a counter that is behind its rows is raised.
 * The shape of the database is kept in its table `_shape`: one row for each table, field and index.
 */
import { pieceOctets } from '../service/file-content.ts'
import type { Column, FieldColumns } from './column.ts'
import type { ColumnSignature } from './column-signature.ts'
import {
  type AcceptedLosses,
  createMigrationError,
  declaredSignature,
  findDifferences,
  formatBefore,
  parseSignature,
  shapeFormat,
  tableKey,
} from './contract-differences.ts'
import { type DatabaseShape, forgetShape, readShape, rememberShape, type Steps, shapeRows } from './database-shape.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { dropNamed } from './dropped-names.ts'
import type { ItemStatements } from './item-rows.ts'
import { findDuplicates, findLargeTables, findLostIndexes, growIndexes } from './list-index-growth.ts'
import { findLongValues, type WarnOfLength } from './long-values.ts'
import {
  copiedRecords,
  declareRecordTables,
  migrateEnded,
  migrateFailed,
  migrateFormers,
  migratePieces,
  migrateQueued,
  migrateTurns,
} from './records.ts'
import { foldingVersion } from './search-dialect.ts'
import { dropSearches, growSearches } from './search-growth.ts'
import { sql } from './sql.ts'
import type { StoreSchema } from './sql-access.ts'
import { compileStatement, joinList, parameterAt, quoteName } from './statement.ts'
import type { Table } from './table.ts'

/** What a person asks for beyond additions: each loss by its name. */
export interface MigrationWish extends AcceptedLosses {
  /** Nothing is changed; the steps are only reported. */
  readonly isPlan: boolean
  /** Called in order with each step that has a description: the description, and its SQL. */
  readonly tell: (says: string, text: string) => void
}

/**
 * Called if the steps were undone and start over: what was reported about them does not count.
 * @param why in words, with the cure
 */
export type TellUndone = (why: string) => void

/**
 * The steps that take the database to the contract. Without a wish they are only additions, and it
 * throws if those are not enough.
 * @param warn called about stored values that are longer than the contract allows
 */
export function* planMigration(schema: StoreSchema, wish?: MigrationWish, warn: WarnOfLength = () => {}): Steps {
  const steps = growDatabase(schema, wish, warn)
  if (!wish) return yield* steps
  let isUntouched = true
  for (let step = steps.next(); !step.done; ) {
    const { text } = compileStatement(schema.dialect, step.value.text, false)
    if (step.value.says !== undefined || !/^\s*select/i.test(text)) isUntouched = false
    if (step.value.says !== undefined) wish.tell(step.value.says, text)
    // What a plan has not created cannot be read.
    step = steps.next(wish.isPlan && !isUntouched ? [] : yield step.value)
  }
}

/** The shape of all tables except those of items. */
const storeShape = {
  format: shapeFormat,
  jobs: 'turns',
  ended: 'by job',
  failed: 'by time',
  queued: 'by due',
  formers: 'by version',
}

/** The steps, in order, that update the tables of records left by an older program. */
const recordSteps: readonly (readonly [name: keyof typeof storeShape, texts: (dialect: Dialect) => readonly Sql[]])[] =
  [
    ['jobs', migrateTurns],
    ['ended', () => migrateEnded],
    ['failed', () => migrateFailed],
    ['queued', () => migrateQueued],
    ['formers', () => migrateFormers],
  ]

/** @param wish undefined at a start */
function* growDatabase(schema: StoreSchema, wish: MigrationWish | undefined, warn: WarnOfLength): Steps {
  const { dialect } = schema
  const { drop } = wish ?? {}
  const table = yield { text: dialect.hasTable('_shape') }
  if (table.length === 0) {
    for (const text of declareRecordTables(dialect)) yield { text }
    for (const [name, is] of Object.entries(storeShape)) yield rememberShape('store', name, is)
  }
  const shape =
    table.length === 0
      ? new Map([['store', new Map(Object.entries(storeShape))]])
      : readShape(yield { text: shapeRows })
  const lost = yield* findLostIndexes(schema, shape)
  const large = yield* findLargeTables(schema, shape)
  const differences = [
    ...(yield* findDifferences(schema, shape, wish)),
    ...(yield* findDuplicates(schema, shape, wish ? new Set() : large)),
  ]
  if (differences.length > 0) throw new Error(createMigrationError(differences))
  const bounds = yield* findLongValues(schema, shape, drop !== undefined, warn)
  if (shape.get('store')?.get('format') === formatBefore) {
    yield* migrateFiles(dialect)
    yield rememberShape('store', 'format', shapeFormat)
  }
  for (const [name, texts] of recordSteps) {
    if (shape.get('store')?.get(name) === storeShape[name]) continue
    for (const text of texts(dialect)) yield { text }
    yield rememberShape('store', name, storeShape[name])
  }
  if (table.length > 0) yield* raiseCounters(dialect, Number(shape.get('store')?.get('swept') ?? 0))
  yield* dropSearches(schema, shape)
  for (const name of drop ?? []) yield* dropNamed(shape, name)
  const stale = new Map<string, readonly string[]>()
  for (const [name, items] of schema.items) stale.set(name, yield* growTable(items, dialect, shape, drop !== undefined))
  yield* growIndexes(schema, shape, large, lost, wish?.tell)
  yield* growSearches(schema, shape, stale)
  yield* bounds
}

/**
 * (4) @param swept the number of the last change that has expired: readers look only after it
 */
function* raiseCounters({ counting }: Dialect, swept: number): Steps {
  if (!counting.behind) return
  const behind: [table: string, counter: string, used: number][] = []
  for (const { name, key } of copiedRecords.filter(each => each.counts)) {
    const [counter = ''] = key
    const [highest] = yield { text: sql`select max(${quoteName(counter)}) from ${quoteName(name)}` }
    const used = Math.max(Number(highest?.[0] ?? 0), name === '_change' ? swept : 0)
    const found = yield { text: counting.behind(name, counter), values: [used] }
    if (found.length > 0) behind.push([name, counter, used])
  }
  for (const [name, counter, used] of behind)
    for (const text of counting.continueFrom(name, counter))
      yield {
        says: `continue the numbers of ${name} after ${used}, which its counter has not reached`,
        text,
        values: [used],
      }
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

/**
 * Adds everything that the contract has and the table lacks. Returns the columns whose words are
 * still to be made.
 */
function* growTable(
  items: ItemStatements,
  dialect: Dialect,
  shape: DatabaseShape,
  isAsked: boolean,
): Steps<readonly string[]> {
  const { table } = items
  const was = shape.get(tableKey(table.name))
  if (!was) {
    yield { says: `create the table of ${table.name}`, text: createTable(table, dialect) }
    yield rememberShape(tableKey(table.name), '', 'table')
  }
  for (const kept of table.fields) {
    const now = declaredSignature(table, kept)
    const is = JSON.stringify(now)
    const before = was?.get(kept.stored)
    const signature = before === undefined ? undefined : parseSignature(before)
    if (now.filled && signature && (signature.optional || (isAsked && !now.nullable)))
      yield* fillEmptyCells(table, kept, dialect)
    if (before === is) continue
    if (was) yield* addColumns(table, kept, dialect, signature, now)
    yield rememberShape(tableKey(table.name), kept.stored, is)
  }
  return yield* growWords(items, dialect, was, isAsked)
}

function createTable(table: Table, dialect: Dialect): Sql {
  const { text, integer } = dialect.types
  const columns = [
    sql`"id" ${text} primary key`,
    ...['_version', '_created', '_modified'].map(column => sql`${quoteName(column)} ${integer} not null`),
    sql`"_kept" ${text}`,
    ...table.fields.flatMap(each =>
      each.columns.map((column, at) => declareColumn(column, defaultCells(table, each)[at], dialect)),
    ),
    ...table.words.map(({ column }) => sql`${quoteName(column)} ${text}`),
  ]
  return sql`create table ${quoteName(table.name)} (${joinList(columns)})`
}

/** The cells of a field's default; none if it has no default. */
function defaultCells({ resource }: Table, { field, cells }: FieldColumns): readonly Cell[] {
  const value = resource.fields[field]?.defaultValue
  return value === undefined ? [] : cells(value)
}

/**
 * Both databases store the default of an added column once for all existing rows, however many;
 * rows written by an older program, which does not know the column, get it, too.
 */
function declareColumn({ name, kind }: Column, cell: Cell | undefined, dialect: Dialect): Sql {
  const plain = sql`${quoteName(name)} ${dialect.types[kind]}`
  return cell === undefined || cell === null ? plain : sql`${plain} default ${writeDefault(cell, dialect)}`
}

function writeDefault(cell: Exclude<Cell, null>, dialect: Dialect): Sql {
  if (typeof cell === 'string') return sql.lit(cell)
  if (cell instanceof Uint8Array) return dialect.octets(cell)
  return typeof cell === 'boolean' ? sql.raw(String(cell)) : dialect.number(cell)
}

/** Fills the empty cells of rows that a program without the default has written. */
function* fillEmptyCells(table: Table, kept: FieldColumns, dialect: Dialect): Steps {
  const cells = defaultCells(table, kept)
  const filled = kept.columns.flatMap(({ name }, at) => {
    const cell = cells[at] ?? null
    return cell === null ? [] : [sql`${quoteName(name)} = ${writeDefault(cell, dialect)}`]
  })
  if (filled.length === 0) return
  const isEmpty = sql.join(
    kept.columns.map(({ name }) => sql`${quoteName(name)} is null`),
    sql` and `,
  )
  if ((yield { text: sql`select 1 from ${quoteName(table.name)} where ${isEmpty} limit 1` }).length === 0) return
  yield {
    says: `fill ${table.name}.${kept.field} with its default where it is empty`,
    text: sql`update ${quoteName(table.name)} set ${joinList(filled)} where ${isEmpty}`,
  }
}

function* addColumns(
  table: Table,
  kept: FieldColumns,
  dialect: Dialect,
  was: ColumnSignature | undefined,
  now: ColumnSignature,
): Steps {
  const add = function* (column: Column, cell?: Cell): Steps {
    yield {
      says: `add ${table.name}.${column.name}`,
      text: sql`alter table ${quoteName(table.name)} add column ${declareColumn(column, cell, dialect)}`,
    }
  }
  if (!was) {
    const cells = defaultCells(table, kept)
    for (const [at, column] of kept.columns.entries()) yield* add(column, cells[at])
    return
  }
  const marked = (of: ColumnSignature): boolean => of.optional === true && of.nullable === true
  const mark = kept.columns.at(-1)
  if (marked(was) || !marked(now) || !mark) return
  yield* add(mark)
  if (was.nullable)
    yield {
      text: sql`update ${quoteName(table.name)} set ${quoteName(mark.name)} = ${parameterAt(0)} where ${quoteName(kept.stored)} is null`,
      values: [dialect.boolean(true)],
    }
}

/** Marks words that are no longer maintained: they are made again when a search needs them. */
const wordsLeft = 'words left'

/**
 * Columns of words are made from stored values. An older instance may still write one that nothing
 * here searches, so it stays until a person asks for its removal.
 */
function* growWords(
  { table }: ItemStatements,
  dialect: Dialect,
  was: ReadonlyMap<string, string> | undefined,
  isAsked: boolean,
): Steps<readonly string[]> {
  const declared = new Set(table.words.map(each => each.column))
  for (const [column, is] of was ?? [])
    if (is.startsWith('words') && !declared.has(column)) {
      if (isAsked) {
        const text = sql`alter table ${quoteName(table.name)} drop column ${quoteName(column)}`
        yield { says: `drop the words ${table.name}.${column}, which no search looks at`, text }
        yield forgetShape(tableKey(table.name), column)
      } else if (is !== wordsLeft) yield rememberShape(tableKey(table.name), column, wordsLeft)
    }
  const stale = table.words.filter(each => was?.get(each.column) !== foldingVersion)
  for (const { column } of stale) {
    if (was && !was.has(column))
      yield { text: sql`alter table ${quoteName(table.name)} add column ${quoteName(column)} ${dialect.types.text}` }
    yield rememberShape(tableKey(table.name), column, foldingVersion)
  }
  return was ? stale.map(each => each.column) : []
}
