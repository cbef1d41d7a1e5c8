/**
 * Copies everything in a database into an empty one of either kind: items with their versions,
 * files, jobs, the audit, the feed with its numbers, removed identifiers, and people.
 * What always holds:
 *  (1) The source is read in one snapshot, and the copy is one transaction: it is complete, or it
 *      does not exist.
 *  (2) Each table of the copy has as many rows as the source had, or the copy is undone.
 *  (3) Versions, sequences and identifiers stay the same, and counters continue from there, so that
 *      no tag, cursor or place in the feed changes its meaning.
 *  (4) Indexes and the recorded shape belong to the database itself: they are created, not copied.
 */
import type { Cells, StatementRunner } from './connection.ts'
import { tableKey } from './contract-differences.ts'
import { readShape, shapeRows } from './database-shape.ts'
import type { Cell, ColumnKind, Dialect, Sql } from './dialect.ts'
import { instanceSpace } from './instance-needs.ts'
import { type CopiedTable, copiedRecords } from './records.ts'
import { sql } from './sql.ts'
import { allOf, compileStatement, joinList, parameterAt, parameterList, quoteName, quoteNames } from './statement.ts'
import { columnsOf, systemColumns, type Table } from './table.ts'

/** One of the two databases: its statements, which run in one transaction, and its dialect. */
export interface CopySide {
  readonly dialect: Dialect
  readonly on: StatementRunner
}
/** A database whose rows are copied. */
export interface RowsOfDatabase {
  /** Runs the work in one transaction; a reading one sees one snapshot. */
  run<T>(does: 'read' | 'write', work: (side: CopySide) => Promise<T>): Promise<T>
  close(): Promise<void>
}
/** Called for each table with the number of rows copied so far. */
export type TellCopied = (table: string, rows: number, isOver: boolean) => void

/** Rows per query, except for rows that contain octets. */
const rowsMax = 500
const octetRowsMax = 16
/** Octets per query, approximately. */
const answerOctets = 4 * 1024 * 1024
/** Both databases allow more parameters than this in a statement. */
const parametersMax = 30_000

const listCopiedTables = (tables: ReadonlyMap<string, Table>): readonly CopiedTable[] => [
  ...[...tables.values()].map(copiedItems),
  ...copiedRecords,
]

function copiedItems(table: Table): CopiedTable {
  const columns: Record<string, ColumnKind> = {}
  for (const name of systemColumns) columns[name] = name === 'id' || name === '_kept' ? 'text' : 'integer'
  for (const { name, kind } of columnsOf(table)) columns[name] = kind
  for (const { column } of table.words) columns[column] = 'text'
  return { name: table.name, columns, key: ['id'] }
}

const askSide = async (
  { dialect, on }: CopySide,
  text: Sql,
  values: readonly Cell[] = [],
  octets?: number,
): Promise<readonly Cells[]> => on.rows(compileStatement(dialect, text, false), values, octets)

/** Whether no service has run on it yet; a database without Diglot's tables is empty, too. */
export async function isEmptyDatabase(side: CopySide): Promise<boolean> {
  if ((await askSide(side, side.dialect.hasTable('_shape'))).length === 0) return true
  const hasNoRow = async (table: string): Promise<boolean> =>
    (await askSide(side, sql`select 1 from ${quoteName(table)} limit 1`)).length === 0
  for (const table of ['_memo', '_deed', '_change']) if (!(await hasNoRow(table))) return false
  for (const of of readShape(await askSide(side, shapeRows)).keys())
    if (of.startsWith(tableKey('')) && !(await hasNoRow(of.slice(tableKey('').length)))) return false
  return true
}

export interface RunningInstance {
  /** For a person: `host, process 4711`. */
  readonly instance: string
  /** Seconds until its record expires, in case it was killed. */
  readonly seconds: number
}
/** An instance that has announced within three minutes that it uses the database. */
export async function findRunningInstance(side: CopySide, now: number): Promise<RunningInstance | undefined> {
  const [row] = await askSide(
    side,
    sql`select "value", cast("expires" as text) from "_memo" where "space" = ${parameterAt(0)} and "expires" > ${parameterAt(1)}`,
    [instanceSpace, now],
  )
  if (!row) return undefined
  const { instance } = JSON.parse(String(row[0])) as RunningInstance // as its lease wrote it
  return { instance, seconds: Math.ceil((Number(row[1]) - now) / 1000) }
}

/**
 * Fields and resources of an earlier contract, which the database still has but no program sees.
 * The copy has no table for them.
 */
export async function listLeftBehind(side: CopySide, tables: ReadonlyMap<string, Table>): Promise<readonly string[]> {
  const unknown: string[] = []
  for (const [of, parts] of readShape(await askSide(side, shapeRows))) {
    if (!of.startsWith(tableKey(''))) continue
    const name = of.slice(tableKey('').length)
    const table = tables.get(name)
    const columns = new Set(table?.fields.map(({ stored }) => stored))
    if (!table) unknown.push(name)
    else
      for (const [field, is] of parts)
        if (field !== '' && !is.startsWith('words') && !columns.has(field)) unknown.push(`${name}.${field}`)
  }
  return unknown
}

/** Copies every table. Both databases have the shape of the contract, and the target is empty. */
export async function copyRows(
  from: CopySide,
  to: CopySide,
  tables: ReadonlyMap<string, Table>,
  tell: TellCopied,
): Promise<void> {
  for (const table of listCopiedTables(tables)) await copyOneTable(from, to, table, tell)
  const swept = await askSide(from, sql`select "is" from "_shape" where "of" = 'store' and "name" = 'swept'`)
  for (const row of swept)
    await askSide(to, sql`insert into "_shape" ("of", "name", "is") values ('store', 'swept', ${parameterAt(0)})`, row)
}

async function copyOneTable(from: CopySide, to: CopySide, table: CopiedTable, tell: TellCopied): Promise<void> {
  const { name, key, columns } = table
  const names = Object.keys(columns)
  const most = Math.floor(parametersMax / names.length)
  let count = 0
  let last: readonly Cell[] | undefined
  for (;;) {
    const batch = await readNext(from, table, last)
    if (batch.length === 0) break
    const rows = batch.map(row => row.map((cell, at) => convertCell(cell, columns[names[at] ?? ''], to.dialect)))
    for (let at = 0; at < rows.length; at += most) await addCopiedRows(to, table, rows.slice(at, at + most))
    const end = batch.at(-1) ?? []
    last = key.map(each => end[names.indexOf(each)] ?? null)
    count += batch.length
    tell(name, count, false)
  }
  if (table.counts) await continueCounter(from, to, table)
  await requireSameCount(from, to, table)
  tell(name, count, true)
}

/** (2) */
async function requireSameCount(from: CopySide, to: CopySide, { name, own }: CopiedTable): Promise<void> {
  const text = sql`select cast(count(*) as text) from ${quoteName(name)}`
  const [[there] = []] = await askSide(from, sql`${text} where ${allOf(exceptOwn(own))}`)
  const [[here] = []] = await askSide(to, text)
  if (here !== there)
    throw new Error(
      `the copy of ${name} has ${here} rows, and its source ${there}: nothing was copied; report this as a bug`,
    )
}

/** Reads the next rows in the order of the key, starting after the last row's key. */
function readNext(
  from: CopySide,
  { name, key, columns, own }: CopiedTable,
  last: readonly Cell[] | undefined,
): Promise<readonly Cells[]> {
  const selected = Object.entries(columns).map(([column, kind]) =>
    kind === 'integer' ? sql`cast(${quoteName(column)} as text)` : quoteName(column),
  )
  const place = key.map((column, at) =>
    columns[column] === 'integer' ? sql`cast(${parameterAt(at)} as ${from.dialect.types.integer})` : parameterAt(at),
  )
  const conditions = [...(last ? [sql`(${quoteNames(key)}) > (${joinList(place)})`] : []), ...exceptOwn(own)]
  // With its table: PostgreSQL takes the bare name for the text that is selected under it, which
  // has another order.
  const order = key.map(column => sql`${quoteName(name)}.${quoteName(column)}`)
  const most = Object.values(columns).includes('blob') ? octetRowsMax : rowsMax
  const text = sql`select ${joinList(selected)} from ${quoteName(name)} where ${allOf(conditions)}
    order by ${joinList(order)} limit ${sql.lit(most)}`
  return askSide(from, text, last, answerOctets)
}

const exceptOwn = (own: CopiedTable['own']): readonly Sql[] =>
  own ? [sql`${quoteName(own[0])} <> ${sql.lit(own[1])}`] : []

function convertCell(cell: Cell, kind: ColumnKind | undefined, { boolean, wholeNumber }: Dialect): Cell {
  if (cell === null) return null
  if (kind === 'integer') return wholeNumber(String(cell))
  return kind === 'boolean' ? boolean(cell === 1 || cell === true) : cell
}

async function addCopiedRows(
  to: CopySide,
  { name, columns, counts }: CopiedTable,
  rows: readonly Cells[],
): Promise<void> {
  const names = Object.keys(columns)
  const values = rows.map((_, at) => sql`(${parameterList(at * names.length, names.length)})`)
  const overriding = counts ? to.dialect.counting.overriding : sql``
  await askSide(
    to,
    sql`insert into ${quoteName(name)} (${quoteNames(names)}) ${overriding} values ${joinList(values)}`,
    rows.flat(),
  )
}

async function continueCounter(from: CopySide, to: CopySide, { name, key }: CopiedTable): Promise<void> {
  const [counter = ''] = key
  const [row] = await askSide(from, from.dialect.counting.last(name, counter))
  const last = row?.[0] ?? null
  if (last === null || Number(last) < 1) return
  for (const text of to.dialect.counting.continueFrom(name, counter))
    await askSide(to, text, [to.dialect.wholeNumber(String(last))])
}
