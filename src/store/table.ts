/** A resource as a table: what the contract declares, in columns and indexes. */
import { ownMember } from '../base/objects.ts'
import { storedFieldsOf } from '../contract/computed-fields.ts'
import { type Fields, type Shape, t } from '../contract/field.ts'
import { type FilterField, findFilterField } from '../contract/filter-field.ts'
import { creationField, keyOctets, type ListIndex, listIndexesOf, type OrderKey } from '../contract/list-index.ts'
import type { Resource } from '../contract/resource.ts'
import type { Service } from '../contract/service.ts'
import { foldShape, innerFields, innermostShape } from '../contract/shape.ts'
import { type Column, type Compared, columnsOfField, type FieldColumns } from './column.ts'
import type { Dialect } from './dialect.ts'
import { type CellCodec, createCellCodec } from './json-cell.ts'
import { foldText, type Step } from './search-dialect.ts'
import { databaseName } from './sql.ts'
import { tableNameOf } from './stored-resources.ts'

export interface Table {
  /** The name in the database: the first name that the resource had. */
  readonly name: string
  readonly resource: Resource
  /** Every field except the id, whose column every table has. */
  readonly fields: readonly FieldColumns[]
  readonly compared: ReadonlyMap<string, Compared & { readonly present: boolean }>
  /** By path, the steps to the references within items that lists are filtered by. */
  readonly references: ReadonlyMap<string, readonly Step[]>
  readonly words: readonly Words[]
  readonly search: readonly SearchPath[]
  readonly indexes: readonly Index[]
  /** The indexes as the contract declares them. */
  readonly lists: readonly ListIndex[]
  /** The outputs of actions. */
  readonly outputs: CellCodec
}
/** Text within an item, folded into a column of its own. */
export interface Words {
  readonly column: string
  /** The field that the text is in. */
  readonly field: string
  readonly of: (value: Readonly<Record<string, unknown>>) => string
}
/** Where a search looks: along these references, from table to table, in this column of words. */
export interface SearchPath {
  /** The name in the contract. */
  readonly name: string
  readonly through: readonly { readonly steps: readonly Step[]; readonly table: string }[]
  /** From the last item to the text. */
  readonly path: string
  readonly column: string
}
export interface Index {
  readonly name: string
  readonly columns: readonly { readonly name: string; readonly descending: boolean }[]
  /** Only for rows with a value in this column. */
  readonly where?: string
  /**
   * Indexes digests of values that may be longer than a key: it finds equal values, but no order.
   */
  readonly isHash?: true
  readonly isUnique?: true
}

/** Columns that every item has, in the order in which rows are read. */
export const systemColumns = ['_version', '_modified', '_created', '_kept', 'id'] as const

/** Tables by their names in the database. */
export function compileTables(service: Service, dialect: Dialect): ReadonlyMap<string, Table> {
  requireFormerResourceNames(service)
  requireDistinct(service.resources.map(tableNameOf), 'resources')
  const paths = new Map(service.resources.map(each => [tableNameOf(each), compileSearchPaths(service, each)]))
  const searched = new Map<string, Set<string>>(service.resources.map(each => [tableNameOf(each), new Set()]))
  for (const [name, of] of paths)
    for (const path of of) searched.get(path.through.at(-1)?.table ?? name)?.add(path.path)
  return new Map(
    service.resources.map(each => {
      const name = tableNameOf(each)
      return [name, compileTable(each, service, dialect, paths.get(name) ?? [], [...(searched.get(name) ?? [])])]
    }),
  )
}

function compileTable(
  resource: Resource,
  service: Service,
  dialect: Dialect,
  search: readonly SearchPath[],
  searched: readonly string[],
): Table {
  const { id: _id, ...others } = storedFieldsOf(resource)
  requireFormerNames(resource)
  requireDistinct(['id', ...Object.keys(others).map(name => storedName(others, name))], `fields of ${resource.name}`)
  const fields = Object.entries(others).map(([name, field]) => columnsOfField(name, field, dialect))
  const id = {
    column: 'id',
    text: 'id',
    cell: (value: unknown) => (typeof value === 'string' ? value : null),
    present: true,
  }
  const compared = new Map([
    ['id', id],
    ...fields.flatMap(each =>
      each.compared ? [[each.field, { ...each.compared, present: each.present }] as const] : [],
    ),
  ])
  const lists = listIndexesOf(resource, service)
  return {
    name: tableNameOf(resource),
    resource,
    fields,
    compared,
    references: compileReferences(resource),
    words: searched.map(path => ({
      column: wordsColumn(resource, path),
      field: path.split('.', 1)[0] ?? path,
      of: createTextReader(path),
    })),
    search,
    indexes: compileIndexes(resource, lists, compared, dialect.keyBytes),
    lists,
    outputs: createCellCodec(t.object(outputFields(resource))),
  }
}

export const columnsOf = (of: Table): readonly Column[] => of.fields.flatMap(each => each.columns)

const outputFields = (resource: Resource): Fields =>
  Object.fromEntries(
    Object.entries(resource.actions).flatMap(([name, { output }]) =>
      output ? [[name, t.object(output).optional()] as const] : [],
    ),
  )

/** Names of the contract become names of the database, which distinguishes fewer of them. */
function requireDistinct(names: readonly string[], of: string): void {
  const seen = new Map<string, string>()
  for (const name of names) {
    const other = seen.get(name.toLowerCase())
    if (other !== undefined)
      throw new Error(`${of}: "${other}" and "${name}" differ only in case, which a database ignores: rename one`)
    seen.set(name.toLowerCase(), name)
    if (/^(_|sqlite_)/i.test(name) || /["#\0]/.test(name) || Buffer.byteLength(name) > 50)
      throw new Error(
        `${of}: "${name}" is not a valid name in a database: use at most 50 bytes without " and #, not beginning with _ or sqlite_`,
      )
  }
}

const storedName = (fields: Fields, name: string): string => fields[name]?.formerName ?? name

/** The name for `total`, or for several keys: `(state,-total)`. */
const storedIndexName = (fields: Fields, own: string): string =>
  own.replace(/[^(),-]+/g, name => storedName(fields, name))

function compileReferences(resource: Resource): Table['references'] {
  const steps = (path: NonNullable<FilterField['path']>): readonly Step[] =>
    path.flatMap(([name, { shape }], i) => stepsInto(i === 0 ? storedName(resource.fields, name) : name, shape))
  return new Map(
    (resource.given.filter ?? []).flatMap(name => {
      const path = findFilterField(resource, name)?.path
      return path ? [[name, steps(path)] as const] : []
    }),
  )
}

/** The steps into a member, and into the items of each of its lists. */
const stepsInto = (member: string, shape: Shape): readonly Step[] => [
  { member },
  ...Array.from({ length: listDepth(shape) }, () => 'each' as const),
]

/** A resource has one name in the database. */
function requireFormerResourceNames({ resources }: Service): void {
  for (const { name, formerName } of resources) {
    if (formerName === undefined) continue
    const place = `the resource ${name}: was: '${formerName}'`
    if (name === formerName) throw new Error(`${place} is its current name: give its former name, or remove it`)
    const other = resources.find(each => each.name !== name && tableNameOf(each) === formerName)
    if (other) throw new Error(`${place} is the name of ${other.name} in the database: remove it from one`)
  }
}

/** A field has one name in the database, and its members have none. */
function requireFormerNames({ name: resource, fields }: Resource): void {
  for (const [name, { formerName, shape }] of Object.entries(fields)) {
    const inside = Object.entries(Object.assign({}, ...innerFields(innermostShape(shape))) as Fields)
    for (const [member, { formerName: was }] of inside)
      if (was !== undefined)
        throw new Error(`${resource}.${name}.${member}: .was('${was}') is for fields of a resource, not for members`)
    if (formerName === undefined) continue
    if (name === 'id') throw new Error(`${resource}.id: .was('${formerName}') is not for the id: remove it`)
    if (name === formerName)
      throw new Error(
        `${resource}.${name}: .was('${formerName}') is its current name: give its former name, or remove it`,
      )
    const other = Object.keys(fields).find(each => each !== name && storedName(fields, each) === formerName)
    if (other !== undefined)
      throw new Error(
        `${resource}.${name}: .was('${formerName}') is the name of ${resource}.${other} in the database: remove it from one`,
      )
  }
}

/** @param path from the item to the text */
function wordsColumn({ fields }: Resource, path: string): string {
  const [first = '', ...others] = path.split('.')
  return databaseName(`${[storedName(fields, first), ...others].join('.')}#words`)
}

/**
 * The paths of `rules({ search })`, each followed through the contract. `review` has checked that
 * they end at text.
 */
function compileSearchPaths(service: Service, resource: Resource): SearchPath[] {
  return (resource.given.search ?? []).map(path => {
    let at: Resource = resource
    let inside: string[] = []
    let steps: Step[] = []
    let fields: Fields = resource.fields
    const through: { steps: readonly Step[]; table: string }[] = []
    const parts = path.split('.')
    for (const [i, part] of parts.entries()) {
      const field = Object.hasOwn(fields, part) ? fields[part] : undefined
      if (!field) throw new Error(`${resource.name}: unknown field "${part}" in the search path "${path}"`)
      inside.push(part)
      const shape = innermostShape(field.shape)
      const member = steps.length === 0 ? storedName(at.fields, part) : part
      steps.push(...stepsInto(member, field.shape))
      fields = Object.assign({}, ...innerFields(shape))
      const next = shape.kind === 'ref' && i + 1 < parts.length ? findReferred(service, shape.resource) : undefined
      if (next) {
        through.push({ steps, table: tableNameOf(next) })
        at = next
        inside = []
        steps = []
        fields = at.fields
      }
    }
    return { name: path, through, path: inside.join('.'), column: wordsColumn(at, inside.join('.')) }
  })
}

const findReferred = (service: Service, name: string): Resource | undefined =>
  service.resources.find(each => each.name === name)

/** How many lists are nested around the innermost items. */
const listDepth = (shape: Shape): number =>
  foldShape<number>(shape, {
    scalar: () => 0,
    list: ({ item }) => 1 + listDepth(item.shape),
    map: () => 0,
    object: () => 0,
    union: () => 0,
  })

/** All the text at a path within an item, folded. */
function createTextReader(path: string): Words['of'] {
  const parts = path.split('.')
  return value => textsAt(value, parts).map(foldText).join('')
}
function textsAt(value: unknown, parts: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap(each => textsAt(each, parts))
  const [part, ...rest] = parts
  if (part === undefined) return value === undefined || value === null ? [] : [String(value)]
  if (typeof value !== 'object' || value === null) return []
  return textsAt(ownMember(value as Readonly<Record<string, unknown>>, part), rest)
}

/** The indexes of a resource in columns, if the keys of this database can hold its fields. */
function compileIndexes(
  resource: Resource,
  lists: readonly ListIndex[],
  compared: ReadonlyMap<string, Compared & { readonly present: boolean }>,
  keyBytes: number,
): Index[] {
  const { fields } = resource
  const id = { name: 'id', descending: false }
  const isTooLong = (field: string): boolean => {
    const shape = fields[field]?.shape
    return shape !== undefined && keyOctets(shape) > keyBytes
  }
  const columnOf = ({ field, descending }: OrderKey) => {
    const name = field === creationField ? field : compared.get(field)?.column
    return name === undefined || isTooLong(field) ? [] : [{ name, descending }]
  }
  return lists.flatMap(({ name: declaredName, keys, isUnique, isSparse }): Index[] => {
    const name = databaseName(`${tableNameOf(resource)}#${storedIndexName(fields, declaredName)}`)
    const [first] = keys
    const at = first && compared.get(first.field)
    if (at && declaredName === first?.field && isTooLong(declaredName))
      return [{ name, columns: [{ name: at.column, descending: false }], isHash: true }]
    const columns = keys.flatMap(columnOf)
    if (isUnique) return [{ name, columns, isUnique }]
    if (columns.length === 0) return []
    const last = columns.some(each => each.name === 'id') ? [] : [id]
    return [{ name, columns: [...columns, ...last], ...(isSparse && at && { where: at.column }) }]
  })
}
