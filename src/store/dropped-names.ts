/** Drops the tables and fields that a person gives up by name, with their values and indexes. */
import { type ColumnSignature, isOrderedKind } from './column-signature.ts'
import { type DatabaseShape, forgetShape, readShape, type Steps, shapeRows } from './database-shape.ts'
import { sql } from './sql.ts'
import { quoteName } from './statement.ts'
import type { Index, Table } from './table.ts'

/** `notes`, or `notes.text`. */
export function splitName(name: string): { readonly table: string; readonly field: string | undefined } {
  const [table = ''] = name.split('.', 1)
  return { table, field: table === name ? undefined : name.slice(table.length + 1) }
}

/** The declared tables and fields that another program has dropped since this one started. */
export function* findDropped(tables: ReadonlyMap<string, Table>): Steps<readonly string[]> {
  const shape = readShape(yield { text: shapeRows })
  return [...tables.values()].flatMap(({ name, fields }) => {
    const is = shape.get(`table ${name}`)
    return is ? fields.filter(each => !is.has(each.stored)).map(each => `${name}.${each.field}`) : [name]
  })
}

/** @param name is in the shape, and is not declared by this program */
export function* dropNamed(shape: DatabaseShape, name: string): Steps {
  const { table, field } = splitName(name)
  const key = `table ${table}`
  const was = shape.get(key)
  if (field === undefined) {
    yield* dropIndexes(shape, table, undefined)
    yield { says: `drop ${table} with all its rows`, text: sql`drop table ${quoteName(table)}` }
    for (const each of was?.keys() ?? []) yield forgetShape(key, each)
    shape.delete(key)
    return
  }
  const columns = listColumns(field, JSON.parse(was?.get(field) ?? '{}') as ColumnSignature) // as `rememberShape` wrote it
  yield* dropIndexes(shape, table, columns)
  for (const column of columns)
    yield {
      says: `drop ${table}.${column} with all its values`,
      text: sql`alter table ${quoteName(table)} drop column ${quoteName(column)}`,
    }
  yield forgetShape(key, field)
  was?.delete(field)
}

/** The columns of a field of this kind. */
export const listColumns = (field: string, { kind, optional, nullable }: ColumnSignature): readonly string[] => [
  field,
  ...(isOrderedKind(kind) ? [`${field}#order`] : []),
  ...(kind === 'double' ? [`${field}#text`] : []),
  ...(optional && nullable ? [`${field}#null`] : []),
]

function* dropIndexes(shape: DatabaseShape, table: string, columns: readonly string[] | undefined): Steps {
  for (const name of listIndexNames(shape, table, columns)) {
    yield { says: `drop the index ${name}`, text: sql`drop index if exists ${quoteName(name)}` }
    yield forgetShape('index', name)
    shape.get('index')?.delete(name)
  }
}

/** The indexes of a table, or only those that use one of the columns. */
export const listIndexNames = (
  shape: DatabaseShape,
  table: string,
  columns: readonly string[] | undefined,
): readonly string[] =>
  [...(shape.get('index') ?? [])].flatMap(([name, is]) => {
    if (!is.startsWith('[')) return [] // an index of words, which is dropped separately
    const [of, index] = parseIndex(is)
    return of === table && (!columns || columnsOfIndex(index).some(each => columns.includes(each))) ? [name] : []
  })

/** The table of an index, and its definition. */
export const parseIndex = (is: string): readonly [table: string, index: Index] => JSON.parse(is) as [string, Index] // as `growIndexes` wrote it

export const columnsOfIndex = ({ columns, where }: Index): readonly string[] => [
  ...columns.map(each => each.name),
  ...(where === undefined ? [] : [where]),
]
