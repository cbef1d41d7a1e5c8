/** Tables as resources: names, fields, references, and the operations on their rows. */
import { singularName } from '../../contract/field.ts'
import { isReservedCollection } from '../../contract/reserved-names.ts'
import { applyChecks } from './check-conditions.ts'
import type { FoundTables, SqlColumn, SqlTable, TableLoss } from './sql-table.ts'

export interface PlannedField {
  readonly name: string
  readonly column: string
  /** How `table.ts` reads its cells. */
  readonly cell: string
  /** The type as declared. */
  readonly text: string
  readonly filled: SqlColumn['filled']
}

export interface PlannedResource {
  readonly name: string
  readonly table: string
  readonly prefix: string
  readonly key: readonly Pick<PlannedField, 'column' | 'cell' | 'filled'>[]
  readonly fields: readonly PlannedField[]
  /** Column → its type, if statements have to name it. */
  readonly types: Readonly<Record<string, string>>
  readonly allow: readonly ('read' | 'create' | 'change' | 'remove')[]
  /** Whether clients may choose the key. */
  readonly putCreates: boolean
  readonly filter: readonly string[]
  readonly sort: readonly string[]
  /** Link → the field that it follows. */
  readonly relations: readonly string[]
  /** Fields whose values are unique. */
  readonly uniques: readonly (readonly string[])[]
}

export interface PlannedService {
  readonly resources: readonly PlannedResource[]
  readonly losses: readonly TableLoss[]
}

/** @param casts whether statements name the types of columns, as PostgreSQL requires */
export function planResources({ tables, losses }: FoundTables, casts: boolean): PlannedService {
  const allLosses = [...losses]
  const kept = tables.flatMap(found => {
    const { table, losses } = applyChecks(found)
    const why = whyLeftOut(table)
    allLosses.push(...(why === undefined ? losses : [{ place: table.name, detail: `${why}: it is left out` }]))
    return why === undefined ? [table] : []
  })
  const names = nameResources(kept)
  const resources = kept.map(table => planResource(table, kept, names, casts, allLosses))
  return { resources, losses: allLosses }
}

const keyKinds: readonly (SqlColumn['kind'] | undefined)[] = ['text', 'int', 'long', 'uuid', 'enum', 'date']
function whyLeftOut(table: SqlTable): string | undefined {
  if (table.key.length === 0) return 'the table has no primary key'
  const odd = table.key.map(name => columnOf(table, name)).find(column => !column || !keyKinds.includes(column.kind))
  if (odd) return `its key ${odd.name} is ${odd.declared || 'of no declared type'}`
  if (table.name.includes('?')) return 'its name has a question mark'
  return undefined
}
const columnOf = (table: SqlTable, name: string): SqlColumn | undefined =>
  table.columns.find(each => each.name === name)

/** Table → resource: a plural in lower camel case, each once. */
function nameResources(tables: readonly SqlTable[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  return new Map(
    tables.map(({ name }) => {
      const many = pluralName(camelName(name, 'table'))
      return [name, claimFreeName(isReservedCollection(many) ? `${many}Rows` : many, taken)]
    }),
  )
}
const pluralName = (name: string): string => {
  if (singularName(name) !== name) return name
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return /(?:s|x|z|ch|sh)$/.test(name) ? `${name}es` : `${name}s`
}
function camelName(name: string, otherwise: string): string {
  const words = name
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
  const [first = '', ...rest] = words.map(word => (word === word.toUpperCase() ? word.toLowerCase() : word))
  const joined =
    first.charAt(0).toLowerCase() +
    first.slice(1) +
    rest.map(each => each.charAt(0).toUpperCase() + each.slice(1)).join('')
  return /^[a-z]/.test(joined) ? joined : `${otherwise}${joined}`
}
function claimFreeName(wish: string, taken: Set<string>): string {
  let name = wish
  for (let number = 2; taken.has(name); number++) name = `${wish}${number}`
  taken.add(name)
  return name
}

function planResource(
  table: SqlTable,
  tables: readonly SqlTable[],
  names: ReadonlyMap<string, string>,
  casts: boolean,
  losses: TableLoss[],
): PlannedResource {
  const lose = (column: string, detail: string): void => {
    const place = `${table.name}.${column}`
    if (!losses.some(each => each.place === place)) losses.push({ place, detail })
  }
  const name = names.get(table.name) ?? table.name
  const references = planReferences(table, tables, names, lose)
  const taken = new Set(['id'])
  const isOwnKey = (column: string): boolean => table.key.length === 1 && table.key[0] === column
  const fields = table.columns
    .filter(column => !isOwnKey(column.name))
    .flatMap(column => {
      const field = planField(column, references.get(column.name), table.key.includes(column.name), taken)
      if (!field)
        lose(column.name, `a contract has no type for ${column.declared || 'a column without one'}: it is left out`)
      return field ? [field] : []
    })
  if (isOwnKey(table.key[0] ?? '') && references.has(table.key[0] ?? ''))
    lose(table.key[0] ?? '', 'the key is a reference as well: it is the id alone')
  const fieldOf = (column: string): PlannedField | undefined => fields.find(each => each.column === column)
  const uniques = table.uniques.flatMap(columns => {
    const found = columns.map(fieldOf)
    return found.every(each => each !== undefined) ? [found.map(each => each.name)] : []
  })
  const lacking = table.columns.find(
    column => !column.isNullable && column.filled === undefined && !isOwnKey(column.name) && !fieldOf(column.name),
  )
  const key = table.key.map(column => planKey(columnOf(table, column)))
  const whyNot = whyNotCreated(table, lacking)
  if (whyNot !== undefined) losses.push({ place: table.name, detail: `${whyNot}: clients cannot create rows` })
  const isListed = new Set([
    ...uniques.flat(),
    ...fields.filter(each => /^t\.(?:ref|enum|boolean)/.test(each.text)).map(each => each.name),
  ])
  return {
    name,
    table: table.name,
    prefix: name.charAt(0),
    key,
    fields,
    types: casts ? Object.fromEntries(table.columns.map(each => [each.name, each.declared])) : {},
    allow: ['read', ...(whyNot === undefined ? (['create'] as const) : []), 'change', 'remove'],
    putCreates: whyNot === undefined && isTextKey(table),
    filter: fields.filter(each => isListed.has(each.name)).map(each => each.name),
    sort: fields.filter(each => /^t\.(?:date|int|long|decimal|double)/.test(each.text)).map(each => each.name),
    relations: fields.filter(each => each.text.startsWith('t.ref')).map(each => each.name),
    uniques,
  }
}

type LossWriter = (column: string, detail: string) => void

/** Column → the resource that it refers to, and how its key is written. */
function planReferences(
  table: SqlTable,
  tables: readonly SqlTable[],
  names: ReadonlyMap<string, string>,
  lose: LossWriter,
): ReadonlyMap<string, readonly [resource: string, cell: string]> {
  const found = new Map<string, readonly [string, string]>()
  for (const { columns, table: other, to } of table.references) {
    const [column = ''] = columns
    const target = tables.find(each => each.name === other)
    const resource = names.get(other)
    if (!target || resource === undefined) lose(column, `it refers to ${other}, which is left out: it is a value`)
    else if (columns.length > 1)
      lose(columns.join(', '), `the reference to ${other} has several columns: they are values`)
    else if (to.length !== 1 || target.key.length !== 1 || to[0] !== target.key[0])
      lose(column, `it refers to ${other}.${to.join(', ')}, which is not the key: it is a value`)
    else found.set(column, [resource, `${keyCell(columnOf(target, to[0] ?? ''))}-id`])
  }
  return found
}

const keyCell = (column: SqlColumn | undefined): string =>
  column?.kind === 'int' || column?.kind === 'long' ? 'long' : column?.kind === 'uuid' ? 'uuid' : 'text'
const planKey = (column: SqlColumn | undefined): PlannedResource['key'][number] => ({
  column: column?.name ?? '',
  cell: column?.kind === 'int' ? 'int' : keyCell(column),
  filled: column?.filled,
})

/** Whether an identifier that the service generates fits. */
const proposedLength = 32
const isTextKey = (table: SqlTable): boolean => {
  const column = table.key.length === 1 ? columnOf(table, table.key[0] ?? '') : undefined
  return column?.kind === 'text' && (column.length ?? proposedLength) >= proposedLength
}
function whyNotCreated(table: SqlTable, lacking: SqlColumn | undefined): string | undefined {
  if (lacking) return `${lacking.name} cannot be given, and has no default`
  const [first = ''] = table.key
  if (table.key.length > 1) return 'the key has several columns'
  const column = columnOf(table, first)
  return column?.filled !== undefined || isTextKey(table) ? undefined : `the database generates no key ${first}`
}

function planField(
  column: SqlColumn,
  reference: readonly [resource: string, cell: string] | undefined,
  isKeyPart: boolean,
  taken: Set<string>,
): PlannedField | undefined {
  const declared = reference ? { text: `t.ref('${reference[0]}')`, cell: reference[1] } : declareField(column)
  if (!declared || column.name.includes('?')) return undefined
  const wish = camelName(column.name, 'column')
  const short = reference ? wish.replace(/(?<=.)Id$/, '') : wish
  const isSet = isKeyPart || column.filled === 'generated'
  const marks = isSet ? '.readOnly().optional()' : column.isNullable || column.filled ? '.optional()' : ''
  return {
    name: claimFreeName(short === 'id' ? 'ownId' : short, taken),
    column: column.name,
    cell: declared.cell,
    text: declared.text + marks,
    filled: isKeyPart ? 'generated' : column.filled,
  }
}

export const quoteConstant = (text: string): string =>
  `'${text.replaceAll(/[\\']/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`

function declareField(column: SqlColumn): { readonly text: string; readonly cell: string } | undefined {
  const { kind, form, digits = 18, places = 0, length, values = [] } = column
  const bounds = (write: (bound: string) => string): string =>
    writeBounds({ min: column.minimum, max: column.maximum }, write)
  const same = (cell: string, facets = ''): { text: string; cell: string } => ({ text: `t.${kind}(${facets})`, cell })
  switch (kind) {
    case 'text':
      return { text: `t.string(${length === undefined ? '' : `{ max: ${length} }`})`, cell: 'text' }
    case 'uuid':
      return { text: `t.string({ pattern: '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' })`, cell: 'uuid' }
    case 'enum':
      return values.length === 0 ? undefined : { text: `t.enum(${values.map(quoteConstant).join(', ')})`, cell: 'text' }
    case 'int':
      return same(
        'int',
        bounds(bound => bound),
      )
    case 'long':
      return same(
        'long',
        bounds(bound => `${bound}n`),
      )
    case 'decimal': {
      const facets = bounds(quoteConstant)
      return { text: `t.decimal(${digits}, ${places}${facets === '' ? '' : `, ${facets}`})`, cell: `decimal-${places}` }
    }
    case 'double':
      return same(
        'double',
        bounds(bound => bound),
      )
    case 'boolean':
      return same('boolean')
    case 'bytes':
      return same(form ?? 'bytes')
    case 'date':
    case 'time':
      return same('text')
    case 'dateTime':
      return same(form ?? 'iso')
    case undefined:
      return undefined
  }
}
const writeBounds = (
  facets: Readonly<Record<string, string | undefined>>,
  write: (bound: string) => string,
): string => {
  const options = Object.entries(facets).flatMap(([name, bound]) =>
    bound === undefined ? [] : [`${name}: ${write(bound)}`],
  )
  return options.length === 0 ? '' : `{ ${options.join(', ')} }`
}
