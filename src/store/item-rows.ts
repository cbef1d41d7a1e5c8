/** The items of one table: their statements, and the mapping between a row and a value. */
import { createLateMembers } from '../base/late-members.ts'
import { BoundedCache } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { Values } from '../contract/implement.ts'
import type { Snapshot } from '../service/store.ts'
import { isSameValue } from '../service/typed-json.ts'
import { valueColumns } from './column.ts'
import type { Cells } from './connection.ts'
import { isLargeRow } from './connection.ts'
import type { Cell, Dialect, Sql } from './dialect.ts'
import { followingVersion, laterTime } from './row-version.ts'
import { sql } from './sql.ts'
import {
  compileStatement,
  joinList,
  parameterAt,
  parameterList,
  quoteName,
  quoteNames,
  type Statement,
} from './statement.ts'
import { columnsOf, systemColumns, type Table } from './table.ts'

export interface ItemStatements {
  readonly table: Table
  /** The columns that `item` reads. */
  readonly columns: Sql
  readonly item: (row: Cells) => Snapshot
  /** The cells of a value and of its search words, in the order of the statements. */
  readonly cells: (value: Values) => readonly Cell[]
  readonly kept: (kept: Values) => Cell
  /** Takes an id. */
  readonly get: Statement
  /** Takes a JSON array of ids. */
  readonly getAll: Statement
  /** Takes an id; no other transaction can change the row before this one ends. */
  readonly getForChange: Statement
  readonly version: Statement
  /**
   * Takes an id, the time, kept, a drawn version, cells. Returns the version, and whether the id
   * was used before; no row if the id is in use.
   */
  readonly insert: Statement
  readonly update: (was: Values | undefined, value: Values) => ItemUpdate
  /** Takes an id and the version seen. Returns a row if the item was removed. */
  readonly remove: Statement
}

export interface ItemUpdate {
  /**
   * Takes an id, the time, kept, the version seen, the next one, cells. Returns the times of change
   * and creation; no row if the item has another version.
   */
  readonly statement: Statement
  readonly cells: readonly Cell[]
}

export function compileItems(table: Table, dialect: Dialect): ItemStatements {
  const columns = columnsOf(table)
  const names = [...columns.map(each => each.name), ...table.words.map(each => each.column)]
  const at = quoteName(table.name)
  const own = joinList([
    ...systemColumns.map(quoteName),
    ...valueColumns(columns).map(each =>
      each.wide ? sql`cast(${quoteName(each.name)} as text)` : quoteName(each.name),
    ),
  ])
  const { json } = dialect
  const make = (text: Sql): Statement => compileStatement(dialect, text)
  const former = sql`(select "version" from "_former" where "resource" = ${sql.lit(table.name)} and "id" = ${parameterAt(0)})`
  const head = sql`"id", "_version", "_created", "_modified", "_kept"`
  const rest = (count: number, from: number): Sql => (count === 0 ? sql`` : sql`, ${parameterList(from, count)}`)
  const compileUpdate = (columns: readonly string[]): Statement => {
    const sets = columns.map((column, i) => sql`, ${quoteName(column)} = ${parameterAt(5 + i)}`)
    return make(
      sql`${dialect.updateRow} ${at} set "_version" = ${parameterAt(4)}, "_modified" = ${laterTime(sql`"_modified"`, parameterAt(1))}, "_kept" = ${parameterAt(2)}${sql.join(sets, sql``)}
        where "id" = ${parameterAt(0)} and "_version" = ${parameterAt(3)} returning "_modified", "_created"`,
    )
  }
  return {
    table,
    columns: own,
    item: createItemReader(table),
    cells: createCellsWriter(table),
    kept: outputs => (Object.keys(outputs).length === 0 ? null : table.outputs.encode(outputs)),
    get: make(sql`select ${own} from ${at} where "id" = ${parameterAt(0)}`),
    getAll: make(
      sql`select ${own} from ${at} where "id" in
        (select ${json.itemText('asked')} from ${json.items(json.of(parameterAt(0)), 'asked')})`,
    ),
    getForChange: make(sql`select ${own} from ${at} where "id" = ${parameterAt(0)} ${dialect.locking}`),
    version: make(sql`select "_version" from ${at} where "id" = ${parameterAt(0)}`),
    insert: make(
      sql`${dialect.insertRow} ${at} (${head}${names.length === 0 ? sql`` : sql`, ${quoteNames(names)}`})
        values (${parameterAt(0)}, ${followingVersion(sql`coalesce(${former}, 0)`, parameterAt(3))}, ${parameterAt(1)}, ${parameterAt(1)}, ${parameterAt(2)}${rest(names.length, 4)})
        on conflict ("id") do nothing returning "_version", exists ${former}`,
    ),
    update: createUpdates(table, compileUpdate),
    remove: make(sql`delete from ${at} where "id" = ${parameterAt(0)} and "_version" = ${parameterAt(1)} returning 1`),
  }
}

/** Statements kept per table: a service changes the same few sets of fields again and again. */
const updatesMax = 64

/**
 * Updates only the columns whose values change. For each column that a statement names, a database
 * checks the indexes even if the value stays the same: SQLite rewrites the entry.
 */
function createUpdates(table: Table, compile: (columns: readonly string[]) => Statement): ItemStatements['update'] {
  const parts = [
    ...table.fields.map(({ field, columns, cells }) => ({
      field,
      columns: columns.map(each => each.name),
      cells: (value: Values) => cells(ownMember(value, field)),
    })),
    ...table.words.map(({ field, column, of }) => ({
      field,
      columns: [column],
      cells: (value: Values) => [of(value)],
    })),
  ]
  const fields = table.fields.map(each => each.field)
  const compileFor = (changed: readonly string[]) => {
    const changedParts = parts.filter(each => changed.includes(each.field))
    return { statement: compile(changedParts.flatMap(each => each.columns)), changedParts }
  }
  const updates = new BoundedCache<string, ReturnType<typeof compileFor>>(updatesMax)
  return (was, value) => {
    const changed = was ? fields.filter(name => !isSameValue(ownMember(was, name), ownMember(value, name))) : fields
    const key = changed.join()
    let update = updates.get(key)
    if (!update) updates.set(key, (update = compileFor(changed)))
    return { statement: update.statement, cells: update.changedParts.flatMap(each => each.cells(value)) }
  }
}

/** Compiled for each field, so that each cell of a row is looked at once. */
function createItemReader(table: Table): ItemStatements['item'] {
  let next: number = systemColumns.length
  const fields = table.fields.map(({ field, columns, value }) => {
    const at = next
    next += valueColumns(columns).length
    return { field, at, value }
  })
  const hasId = Object.hasOwn(table.resource.fields, 'id')
  const { decode } = table.outputs
  const nothing: Values = Object.freeze({})
  const readValue = (row: Cells): Values => {
    const item: Record<string, unknown> = hasId ? { id: row[4] } : {}
    for (const { field, at, value } of fields) {
      const cell = value === undefined ? row[at] : value(row, at)
      if (value === undefined ? cell !== null : cell !== undefined) item[field] = cell
    }
    return item
  }
  return row => {
    const [version, modified, created, kept, id] = row
    // The columns of the table are declared with these types, and `_kept` is what `kept` wrote.
    const head = {
      id: id as string,
      version: version as number,
      modified: modified as number,
      created: created as number,
      kept: typeof kept === 'string' ? (decode(kept) as Values) : nothing,
    }
    return isLargeRow(row) ? readLater(head, () => readValue(row)) : { ...head, value: readValue(row) }
  }
}

/** A page of large rows is a lot of work, so each is decoded when it is first used. */
const readLater = (head: Omit<Snapshot, 'value'>, read: () => Values): Snapshot =>
  addLateValue(head, { read, value: undefined })
interface LateValue {
  readonly read: () => Values
  value: Values | undefined
}
const addLateValue = createLateMembers<LateValue, Pick<Snapshot, 'value'>>({
  value: late => (late.value ??= late.read()),
})

function createCellsWriter({ fields, words }: Table): ItemStatements['cells'] {
  const writers = fields.map(({ field, cells }) => ({ field, inherited: field in Object.prototype, cells }))
  return value => {
    const written: Cell[] = []
    for (const { field, inherited, cells } of writers)
      written.push(...cells(inherited ? ownMember(value, field) : value[field]))
    for (const { of } of words) written.push(of(value))
    return written
  }
}
