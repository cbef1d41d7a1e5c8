/** The tables of a SQLite file, or of a script that creates them. A file is never changed. */
import { DatabaseSync } from 'node:sqlite'
import type { FoundTables, SqlColumn, SqlReference, SqlTable, TableLoss } from './sql-table.ts'

/** @throws {Error} for a file that is not a SQLite database */
export function readSqliteFile(file: string): FoundTables {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return readSqliteTables(database)
  } finally {
    database.close()
  }
}

/** @throws {Error} for a statement that SQLite refuses */
export function readSqlScript(script: string): FoundTables {
  const database = new DatabaseSync(':memory:')
  try {
    database.exec(script)
    return readSqliteTables(database)
  } finally {
    database.close()
  }
}

interface TableRow {
  readonly name: string
  readonly type: string
  readonly sql: string
}
function readSqliteTables(database: DatabaseSync): FoundTables {
  const rows = database
    .prepare(
      `select name, type, ifnull(sql, '') as sql from sqlite_schema where type in ('table', 'view') and name not like 'sqlite\\_%' escape '\\' order by name`,
    )
    .all() as unknown as readonly TableRow[]
  const losses: TableLoss[] = []
  const tables = rows.flatMap(row => {
    if (row.type === 'view') losses.push({ place: row.name, detail: 'a view has no key, and is left out' })
    else if (/^create virtual table/i.test(row.sql))
      losses.push({ place: row.name, detail: 'a virtual table is left out' })
    else return [readSqliteTable(database, row, losses)]
    return []
  })
  return { tables: completeReferences(tables), losses }
}

interface PragmaRow {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  readonly pk: number
  readonly hidden: number
}
function readSqliteTable(database: DatabaseSync, { name, sql }: TableRow, losses: TableLoss[]): SqlTable {
  const ask = <T>(pragma: string): T[] => database.prepare(`select * from ${pragma}(?)`).all(name) as unknown as T[]
  const rows = ask<PragmaRow>('pragma_table_xinfo').filter(({ hidden }) => hidden !== 1)
  const key = rows
    .filter(({ pk }) => pk > 0)
    .sort((a, b) => a.pk - b.pk)
    .map(each => each.name)
  const columns = rows.map(row => {
    const column = readSqliteColumn(row, key)
    const misfit = findMisfit(database, name, column)
    if (misfit !== undefined) losses.push({ place: `${name}.${row.name}`, detail: misfit })
    return misfit === undefined ? column : { ...column, kind: undefined }
  })
  const uniques = ask<{ name: string; unique: number; origin: string; partial: number }>('pragma_index_list')
    .filter(each => each.unique === 1 && each.origin !== 'pk' && each.partial === 0)
    .map(each =>
      (database.prepare('select name from pragma_index_info(?)').all(each.name) as { name: string | null }[]).map(
        column => column.name ?? '',
      ),
    )
    .filter(unique => !unique.includes(''))
  return {
    name,
    columns,
    key,
    uniques,
    references: readReferences(ask('pragma_foreign_key_list')),
    checks: listChecks(sql),
  }
}

interface ReferenceRow {
  readonly id: number
  readonly seq: number
  readonly table: string
  readonly from: string
  readonly to: string | null
}
function readReferences(rows: readonly ReferenceRow[]): SqlReference[] {
  const groups = Map.groupBy(rows, ({ id }) => id)
  return [...groups.values()].map(of => {
    const sorted = of.toSorted((a, b) => a.seq - b.seq)
    const to = sorted.map(each => each.to)
    return {
      table: of[0]?.table ?? '',
      columns: sorted.map(({ from }) => from),
      to: to.includes(null) ? [] : (to as string[]),
    }
  })
}
/** A reference that names no columns leads to the primary key. */
const completeReferences = (tables: readonly SqlTable[]): readonly SqlTable[] => {
  const named = (wish: string): SqlTable | undefined =>
    tables.find(({ name }) => name.toLowerCase() === wish.toLowerCase())
  return tables.map(table => ({
    ...table,
    references: table.references.map(each => {
      const target = named(each.table)
      return { ...each, table: target?.name ?? each.table, to: each.to.length > 0 ? each.to : (target?.key ?? []) }
    }),
  }))
}

/** By the declared name, which is read by SQLite's own rules of affinity. */
function readSqliteColumn(
  { name, type, notnull, dflt_value, hidden, pk }: PragmaRow,
  key: readonly string[],
): SqlColumn {
  const declared = type.toLowerCase()
  const isRowid = pk === 1 && key.length === 1 && declared === 'integer'
  const filled = hidden > 1 ? 'generated' : isRowid || dflt_value !== null ? 'default' : undefined
  return {
    name,
    declared: type,
    ...kindOfAffinity(declared),
    isNullable: notnull === 0 && pk === 0,
    ...(filled && { filled }),
  }
}
function kindOfAffinity(declared: string): Pick<SqlColumn, 'kind' | 'form' | 'digits' | 'places' | 'length'> {
  const [, digits, places = '0'] = /\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)/.exec(declared) ?? []
  if (/bool/.test(declared)) return { kind: 'boolean' }
  if (/^(?:small|tiny|medium)int|^int[24]/.test(declared)) return { kind: 'int' }
  if (/int/.test(declared)) return { kind: 'long' }
  if (/^(?:decimal|numeric|money)/.test(declared) && digits !== undefined && Number(digits) <= 18)
    return { kind: 'decimal', digits: Number(digits), places: Number(places) }
  if (/real|floa|doub|^numeric|^decimal/.test(declared)) return { kind: 'double' }
  if (/^(?:datetime|timestamp)/.test(declared)) return { kind: 'dateTime', form: 'utc' }
  if (/^date/.test(declared)) return { kind: 'date' }
  if (/^time/.test(declared)) return { kind: 'time' }
  if (/char|clob|text/.test(declared)) return { kind: 'text', ...(digits && { length: Number(digits) }) }
  if (/blob/.test(declared)) return { kind: 'bytes' }
  return { kind: undefined }
}

/** Kind → the cells that do not fit it; SQLite holds any value in any column. */
const misfits: Readonly<Record<string, (column: SqlColumn) => string>> = {
  text: () => `typeof(c) <> 'text'`,
  int: () => `typeof(c) <> 'integer' or c not between -(1 << 31) and (1 << 31) - 1`,
  long: () => `typeof(c) <> 'integer'`,
  double: () => `typeof(c) not in ('integer', 'real')`,
  boolean: () => 'c not in (0, 1)',
  bytes: () => `typeof(c) <> 'blob'`,
  decimal: ({ places = 0 }) => `typeof(c) not in ('integer', 'real') or round(c, ${places}) <> c`,
  date: () => `c not glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'`,
  time: () => `c not glob '[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'`,
  dateTime: () =>
    `c not glob '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]*' or datetime(c) is null or c like '%+%' or c like '%Z'`,
}
function findMisfit(database: DatabaseSync, table: string, column: SqlColumn): string | undefined {
  const { name, kind } = column
  if (kind === undefined) return undefined
  const quote = (word: string): string => `"${word.replaceAll('"', '""')}"`
  const condition = misfits[kind]?.(column) ?? 'false'
  const { rows } = database
    .prepare(
      `select count(*) as rows from (select ${quote(name)} as c from ${quote(table)}) where c is not null and (${condition})`,
    )
    .get() as { rows: number }
  if (rows === 0) return undefined
  return `${rows === 1 ? 'a row is' : `${rows} rows are`} not of the type ${column.declared}: correct ${rows === 1 ? 'it' : 'them'}, or declare another type; the column is left out`
}

/** The conditions of a statement, found by their parentheses; quotes hide those inside them. */
function listChecks(sql: string): string[] {
  const checks: string[] = []
  for (const found of sql.matchAll(/\bcheck\s*\(/gi)) {
    const start = found.index + found[0].length
    let depth = 1
    let isQuoted = false
    let at = start
    for (; at < sql.length && depth > 0; at++) {
      if (sql[at] === "'") isQuoted = !isQuoted
      else if (!isQuoted && sql[at] === '(') depth++
      else if (!isQuoted && sql[at] === ')') depth--
    }
    checks.push(sql.slice(start, at - 1).trim())
  }
  return checks
}
