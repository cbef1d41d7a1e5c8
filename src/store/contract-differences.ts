/**
 * Where a contract differs from a database by more than additions: each difference, and its cure.
 * No command is suggested that loses a value without naming it.
 */
import type { Column, FieldColumns } from './column.ts'
import { type ColumnSignature, findMisread, findMissing, signatureOf } from './column-signature.ts'
import type { DatabaseShape, Steps } from './database-shape.ts'
import type { Dialect } from './dialect.ts'
import { listColumns, listIndexNames, splitName } from './dropped-names.ts'
import { findNeeds, type NeedOfName } from './instance-needs.ts'
import { sql } from './sql.ts'
import type { StoreSchema } from './sql-access.ts'
import { compileStatement, joinList, quoteName } from './statement.ts'
import type { Table } from './table.ts'

export const shapeFormat = '2'
/** The format in which a file was stored as one value. */
export const formatBefore = '1'
export interface Difference {
  readonly problem: string
  readonly cure: readonly string[]
}

/** The key of a table in `_shape`. */
export const tableKey = (of: string): string => `table ${of}`

export function createMigrationError(differences: readonly Difference[]): string {
  const lines = differences.flatMap(({ problem, cure }) => [`- ${problem}`, ...cure.map(line => `    ${line}`)])
  return ['the contract does more than add to the database: change the contract, or take these steps:', ...lines].join(
    '\n',
  )
}

/** What a person has agreed to lose. */
export interface AcceptedLosses {
  /** Tables and fields to remove with their values: `notes`, `notes.text`. */
  readonly drop: readonly string[]
  /** Milliseconds since 1970. What an instance still needs at that time is not dropped. */
  readonly now: number
}

/** @param wish undefined at a start */
export function* findDifferences(
  schema: StoreSchema,
  shape: DatabaseShape,
  { drop, now }: AcceptedLosses = { drop: [], now: 0 },
): Steps<readonly Difference[]> {
  const differences: Difference[] = []
  const format = shape.get('store')?.get('format')
  if (format !== shapeFormat && format !== formatBefore)
    return [
      {
        problem: `the database has format ${format}, and this program supports ${shapeFormat}`,
        cure: ['-- start a newer program'],
      },
    ]
  for (const name of drop) differences.push(...checkDrop(schema, shape, name))
  if (drop.length > 0) differences.push(...(yield* findNeeds(drop, now)).map(describeNeed))
  for (const table of schema.tables.values()) {
    const was = shape.get(tableKey(table.name))
    if (was) differences.push(...(yield* findTableDifferences({ dialect: schema.dialect, shape }, table, was, drop)))
    else differences.push(...(yield* suspectRenamedTable(schema, shape, table, drop)))
    const { name } = table.resource
    if (!schema.tables.has(name) && shape.has(tableKey(name)) && !drop.includes(name))
      differences.push(describeTwoTables(table))
  }
  return differences
}

function* findTableDifferences(
  place: Pick<ChangedField, 'dialect' | 'shape'>,
  table: Table,
  was: ReadonlyMap<string, string>,
  drop: readonly string[],
): Steps<readonly Difference[]> {
  const differences: Difference[] = []
  const undeclared = listUndeclared(table, was).filter(({ name }) => !drop.includes(`${table.name}.${name}`))
  for (const each of undeclared)
    if (!each.is.optional && !each.is.filled) differences.push(describeUndeclared(table, each))
  for (const declared of table.fields) {
    const is = was.get(declared.stored)
    const now = declaredSignature(table, declared)
    if (is === undefined)
      differences.push(
        ...(yield* checkNewField(place.dialect, table, declared, now)),
        ...suspectRenamedField(table, declared.field, now, undeclared),
      )
    else differences.push(...(yield* checkChangedField({ ...place, table, kept: declared }, parseSignature(is), now)))
    if (undeclared.some(({ name }) => name === declared.field)) differences.push(describeTwoNames(table, declared))
  }
  return differences
}

interface UndeclaredField {
  /** The name in the database. */
  readonly name: string
  readonly is: ColumnSignature
}
/** Fields that only another program declares. */
export function listUndeclared(table: Table, was: ReadonlyMap<string, string>): readonly UndeclaredField[] {
  const declared = new Set(table.fields.map(each => each.stored))
  return [...was].flatMap(([name, is]) =>
    isSignature(is) && !declared.has(name) ? [{ name, is: parseSignature(is) }] : [],
  )
}
export const isSignature = (is: string): boolean => is.startsWith('{')
export const parseSignature = (is: string): ColumnSignature => JSON.parse(is) as ColumnSignature // as `rememberShape` wrote it

const command = 'diglot migrate <service.ts> --apply'

/** The database already uses the new name: the values stored under it would become invisible. */
const describeTwoNames = (table: Table, { field, stored }: FieldColumns): Difference => ({
  problem: `${table.name}.${field} is in the database by that name, and the contract says that it was ${stored}`,
  cure: [
    `-- remove .was('${stored}') from the contract: the database does not need it`,
    `-- or, to lose the values of ${field}: ${command} --drop ${table.name}.${field}`,
  ],
})

/** The same for a resource. */
const describeTwoTables = ({ name: stored, resource: { name } }: Table): Difference => ({
  problem: `${name} is in the database by that name, and the contract says that it was ${stored}`,
  cure: [
    `-- remove was: '${stored}' from the contract: the database does not need it`,
    `-- or, to lose the items that are under ${name}: ${command} --drop ${name}`,
  ],
})

/**
 * A field that went and one of the same kind that came are probably one field, renamed: its values
 * would read as absent. For an optional field that went, this is the only warning; a required one
 * is also reported as undeclared.
 */
const suspectRenamedField = (
  table: Table,
  field: string,
  now: ColumnSignature,
  undeclared: readonly UndeclaredField[],
): readonly Difference[] =>
  undeclared
    .filter(({ name, is }) => name !== field && findMisread(is, now, '').length === 0)
    .map(({ name }) => ({
      problem: `${table.name}.${name} is gone and ${table.name}.${field} of the same kind is new: was it renamed?`,
      cure: [
        `-- if so, declare ${field} with .was('${name}')`,
        `-- if not, leave ${name} declared next to it for one release, or remove its values by name:`,
        `-- ${command} --drop ${table.name}.${name}`,
      ],
    }))

/** A table with rows that went, and a new one that has all of its fields. */
function* suspectRenamedTable(
  schema: StoreSchema,
  shape: DatabaseShape,
  table: Table,
  drop: readonly string[],
): Steps<readonly Difference[]> {
  const differences: Difference[] = []
  const declared = new Map(table.fields.map(each => [each.stored, declaredSignature(table, each)]))
  for (const [key, was] of shape) {
    const name = key.replace(/^table /, '')
    if (name === key || name === table.resource.name || schema.tables.has(name) || drop.includes(name)) continue
    const fields = [...was].filter(([, is]) => isSignature(is))
    const isAlike = fields.every(([field, is]) => {
      const now = declared.get(field)
      return now && findMisread(parseSignature(is), now, '').length === 0
    })
    if (!isAlike || (yield { text: sql`select 1 from ${quoteName(name)} limit 1` }).length === 0) continue
    differences.push({
      problem: `${name} is gone and ${table.name} with the same fields is new: was it renamed?`,
      cure: [
        `-- if so, declare ${table.name} with was: '${name}'`,
        `-- if not, leave ${name} declared next to it for one release, or remove its rows by name:`,
        `-- ${command} --drop ${name}`,
      ],
    })
  }
  return differences
}

const describeNeed = ({ name, instance, seconds }: NeedOfName): Difference => ({
  problem: `${name} is declared by a running instance (${instance}), which cannot continue without it`,
  cure: [
    `-- start the program that does not declare it in its place, then try again`,
    `-- the record of an instance that was killed expires in ${seconds} s`,
  ],
})

function checkDrop(schema: StoreSchema, shape: DatabaseShape, name: string): readonly Difference[] {
  const { table, field } = splitName(name)
  const was = shape.get(tableKey(table))
  const isKnown = field === undefined ? was !== undefined : isSignature(was?.get(field) ?? '')
  const declared = schema.tables.get(table)
  if (!isKnown)
    return [{ problem: `${name} is not in the database`, cure: ['-- name a table, or a field as table.field'] }]
  if (declared && (field === undefined || declared.fields.some(each => each.stored === field)))
    return [{ problem: `${name} is declared, and cannot be dropped`, cure: ['-- remove it from the contract first'] }]
  return []
}

const quoteText = (of: string): string => `'${of.replaceAll("'", "''")}'`
const quoteColumn = (of: string): string => `"${of}"`

export function declaredSignature(table: Table, { field }: FieldColumns): ColumnSignature {
  const declared = table.resource.fields[field]
  if (!declared) throw new Error(`${table.name} has no field ${field}`)
  return signatureOf(declared)
}

const shapeRow = (table: Table, field: string): string =>
  `"of" = ${quoteText(tableKey(table.name))} and "name" = ${quoteText(field)}`

const describeUndeclared = (table: Table, { name, is }: UndeclaredField): Difference => ({
  problem: `${table.name}.${name} is no longer declared, and it is a required ${is.kind}: programs that declare it could not read new rows`,
  cure: [
    `-- if it was renamed, declare the field that it is now with .was('${name}')`,
    `-- to remove it without losing its values, declare it optional for one release`,
    `-- to lose them: ${command} --drop ${table.name}.${name}`,
  ],
})

function* checkNewField(
  dialect: Dialect,
  table: Table,
  kept: FieldColumns,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  if (now.optional || now.filled) return []
  const rows = yield { text: sql`select 1 from ${quoteName(table.name)} limit 1` }
  if (rows.length === 0) return []
  const add = kept.columns.map(
    ({ name, kind }) =>
      `alter table ${quoteColumn(table.name)} add column ${quoteColumn(name)} ${writeType(dialect, kind)};`,
  )
  return [
    {
      problem: `${table.name}.${kept.field} is new and required, and stored rows have no value for it: make it optional, give it a default, or set it`,
      cure: [
        ...add,
        `update ${quoteColumn(table.name)} set ${kept.columns.map(({ name }) => `${quoteColumn(name)} = …`).join(', ')};`,
        `insert into "_shape" ("of", "name", "is") values (${quoteText(tableKey(table.name))}, ${quoteText(kept.stored)}, ${quoteText(JSON.stringify(now))});`,
      ],
    },
  ]
}
interface ChangedField {
  readonly dialect: Dialect
  readonly shape: DatabaseShape
  readonly table: Table
  readonly kept: FieldColumns
}
function* checkChangedField(
  field: ChangedField,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  const { table, kept } = field
  const at = `${table.name}.${kept.field}`
  const isNarrowed = was.kind === 'string' && now.kind === 'enum' // its values are looked at below
  const reasons = isNarrowed ? [] : findMisread(was, now, at)
  if (reasons.length > 0)
    return reasons.map(reason => ({
      problem: reason,
      cure: [
        `-- declare a field of the new kind next to ${kept.field}, fill it, and leave ${kept.field} out in the next release`,
        ...conversionSteps(field, was, now),
      ],
    }))
  return [...(yield* checkEmptyCells(table, kept, was, now)), ...(yield* checkEnumValues(table, kept, was, now))]
}

/**
 * SQLite never changes the type of a column, and so of its cells: the values are copied to a new
 * column, which then takes over the name. The next start rebuilds the indexes. A field of several
 * columns has a computed one, which no SQL can convert.
 */
function conversionSteps(
  { dialect, shape, table, kept }: ChangedField,
  was: ColumnSignature,
  now: ColumnSignature,
): readonly string[] {
  const [column] = kept.columns
  if (!column || kept.columns.length > 1) return []
  const of = quoteColumn(table.name)
  const name = quoteColumn(column.name)
  const fresh = quoteColumn(`${column.name}#new`)
  const former = listColumns(kept.stored, was)
  return [
    '-- or, if no other instance runs, in one transaction:',
    'begin;',
    `alter table ${of} add column ${fresh} ${writeType(dialect, column.kind)};`,
    `update ${of} set ${fresh} = …; -- converted from ${name}`,
    ...listIndexNames(shape, table.name, former).flatMap(index => [
      `drop index if exists ${quoteColumn(index)};`,
      `delete from "_shape" where "of" = 'index' and "name" = ${quoteText(index)};`,
    ]),
    ...former.map(each => `alter table ${of} drop column ${quoteColumn(each)};`),
    `alter table ${of} rename column ${fresh} to ${name};`,
    `update "_shape" set "is" = ${quoteText(JSON.stringify(now))} where ${shapeRow(table, kept.stored)};`,
    'commit;',
  ]
}
const writeType = (dialect: Dialect, kind: Column['kind']): string =>
  compileStatement(dialect, dialect.types[kind], false).text

/**
 * What an empty cell means. If there is a default for absent values, only an older program that
 * does not know it leaves a cell empty.
 */
const emptyMeaning = (of: ColumnSignature): string =>
  of.optional ? 'absent' : of.nullable ? 'null' : of.filled ? 'absent' : ''

/** Rows with an absent or null value that the contract no longer allows. */
function* checkEmptyCells(
  table: Table,
  kept: FieldColumns,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  const at = `${table.name}.${kept.field}`
  const cure = (where: string) => [
    `update ${quoteColumn(table.name)} set ${quoteColumn(kept.stored)} = … where ${where};`,
  ]
  const differences: Difference[] = []
  const growsMark = was.nullable === true && now.nullable === true
  const isFilled = was.optional === true && now.filled === true
  if (
    emptyMeaning(was) !== emptyMeaning(now) &&
    emptyMeaning(was) !== '' &&
    !isFilled &&
    !(growsMark && now.optional)
  ) {
    const empty = yield {
      text: sql`select 1 from ${quoteName(table.name)} where ${quoteName(kept.stored)} is null limit 1`,
    }
    if (empty.length > 0)
      differences.push({
        problem: `${at} has ${emptyMeaning(was)} values, which the contract no longer allows`,
        cure: cure(`${quoteColumn(kept.stored)} is null`),
      })
  }
  if (was.optional && was.nullable && !(now.optional && now.nullable)) {
    const mark = `${kept.stored}#null`
    const nulls = yield {
      text: sql`select 1 from ${quoteName(table.name)} where ${quoteName(mark)} is not null limit 1`,
    }
    if (nulls.length > 0)
      differences.push({
        problem: `${at} has null values, which the contract no longer allows`,
        cure: cure(`${quoteColumn(mark)} is not null`),
      })
  }
  return differences
}

/** Rows with a value that the enumeration has lost. */
function* checkEnumValues(
  table: Table,
  kept: FieldColumns,
  was: ColumnSignature,
  now: ColumnSignature,
): Steps<readonly Difference[]> {
  if (now.kind !== 'enum' || (was.kind === 'enum' && findMissing(was, now).length === 0)) return []
  const allowed = joinList((now.values ?? []).map(each => sql.lit(each)))
  const others = yield {
    text: sql`select distinct ${quoteName(kept.stored)} from ${quoteName(table.name)} where ${quoteName(kept.stored)} not in (${allowed}) limit 10`,
  }
  if (others.length === 0) return []
  const lostValues = others.map(([each]) => String(each))
  return [
    {
      problem: `${table.name}.${kept.field} has values that the contract no longer allows: ${lostValues.join(', ')}`,
      cure: [
        `update ${quoteColumn(table.name)} set ${quoteColumn(kept.stored)} = … where ${quoteColumn(kept.stored)} in (${lostValues.map(quoteText).join(', ')});`,
      ],
    },
  ]
}
