/**
 * Keeps the items of a resource in a table that existed before the service. It guarantees:
 *  (1) A change is only made to the row that the caller has seen: the row's tag is a digest of all
 *      its cells, so the table needs no column for it.
 *  (2) If a cell does not have its declared type, the call fails and names the cell; nothing is
 *      rounded.
 *  (3) Values are sent as parameters; statements only contain names of the table and its columns.
 */
import { createHash } from 'node:crypto'
import type { Provided, Provider, ProviderFilter, ProviderPlace, ProviderQuery } from 'diglot'
import { type Cell, type CellType, readCell, readKey, writeCell, writeKey } from './cells.ts'

export interface TableDatabase {
  /** Each `?` takes one of the values, in their order. */
  ask(statement: string, values: readonly Cell[]): Promise<readonly Record<string, Cell>[]>
  /** SQL that reads a column, and SQL for a value of a column's type. */
  readonly cast: { read(column: string): string; place(type: string): string }
}

/** Its name, how it is read, and whether the database fills it in by itself. */
export type TableColumn =
  | readonly [column: string, type: CellType]
  | readonly [column: string, type: CellType, filled: 'default' | 'generated']

export interface TableFacts {
  readonly table: string
  /** The columns of the primary key, which form the id. */
  readonly key: readonly TableColumn[]
  /** Field → column. */
  readonly columns: Readonly<Record<string, TableColumn>>
  /** Types of columns for casts, if the database needs them. */
  readonly types?: Readonly<Record<string, string>>
}

type Item = { readonly id: string } & Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, Cell>>

export function keepTable<V extends { readonly id: string }>(database: TableDatabase, facts: TableFacts): Provider<V> {
  return new Table(database, facts) as unknown as Provider<V> // the contract has the types of the columns
}

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

class Table implements Provider<Item> {
  readonly #database: TableDatabase
  readonly #facts: TableFacts
  readonly #selected: string
  readonly #name: string
  readonly #columns: readonly TableColumn[]

  constructor(database: TableDatabase, facts: TableFacts) {
    this.#database = database
    this.#facts = facts
    this.#name = facts.table.split('.').map(quote).join('.')
    const named = Object.values(facts.columns)
    const others = facts.key.filter(([column]) => !named.some(([name]) => name === column))
    this.#columns = [...others, ...named]
    this.#selected = this.#columns
      .map(([column]) => `${database.cast.read(quote(column))} as ${quote(column)}`)
      .join(', ')
  }

  async load(id: string): Promise<Provided<Item> | undefined> {
    const row = await this.#find(id)
    return row && this.#provided(row)
  }

  async list(query: ProviderQuery<Item>) {
    const backwards = query.before !== undefined
    const place = query.before ?? query.after
    const conditions = [
      ...query.filters.map(filter => this.#filter(filter)),
      ...(query.within === 'all' ? [] : [this.#within(query.within)]),
      ...(place ? [this.#beyond(query.sort, place, backwards)] : []),
    ]
    const where = joinParts(conditions, ' and ', 'true')
    const text = `select ${this.#selected} from ${this.#name} as t where ${where.text} order by ${this.#order(query.sort, backwards)} limit ${query.limit + 1}`
    const rows = await this.#database.ask(text, where.values)
    const items = rows.slice(0, query.limit).map(row => this.#provided(row))
    return { items: backwards ? items.reverse() : items, more: rows.length > query.limit }
  }

  async save(id: string, value: Item, expected: number | undefined): Promise<Provided<Item> | 'stale'> {
    return expected === undefined ? this.#insert(id, value) : this.#update(id, value, expected)
  }

  /** (1) */
  async remove(id: string, expected: number): Promise<boolean> {
    const row = await this.#find(id)
    if (!row || versionOf(row) !== expected) return false
    const same = this.#same(row)
    const text = `delete from ${this.#name} where ${same.text} returning ${this.#selected}`
    return (await this.#database.ask(text, same.values)).length === 1
  }

  async #find(id: string): Promise<Row | undefined> {
    const cells = readKey(this.#facts.key, id)
    if (!cells) return undefined
    const where = joinParts(
      this.#facts.key.map(([column], at) => this.#compared(column, '=', cells[at] ?? null)),
      ' and ',
      'true',
    )
    const [row] = await this.#database.ask(
      `select ${this.#selected} from ${this.#name} where ${where.text}`,
      where.values,
    )
    return row
  }

  async #insert(id: string, value: Item): Promise<Provided<Item> | 'stale'> {
    const cells = this.#written(
      value,
      ([, , filled], cell) => filled === undefined || (filled === 'default' && cell !== null),
    )
    const isMade = this.#facts.key.some(([, , filled]) => filled !== undefined)
    const keys = isMade ? undefined : readKey(this.#facts.key, id)
    this.#facts.key.forEach(([column], at) => {
      if (keys) cells.set(column, keys[at] ?? null)
    })
    const names = [...cells.keys()]
    const places = names.map(column => this.#place(column))
    const into =
      names.length === 0
        ? 'default values'
        : `(${names.map(quote).join(', ')}) values (${places.join(', ')}) on conflict do nothing`
    const text = `insert into ${this.#name} ${into} returning ${this.#selected}`
    const [row] = await this.#database.ask(text, [...cells.values()])
    return row ? this.#provided(row) : 'stale'
  }

  /** (1) */
  async #update(id: string, value: Item, expected: number): Promise<Provided<Item> | 'stale'> {
    const row = await this.#find(id)
    if (!row || versionOf(row) !== expected) return 'stale'
    const isKey = (column: string): boolean => this.#facts.key.some(([name]) => name === column)
    const cells = this.#written(
      value,
      ([column, , filled], cell) => !isKey(column) && filled !== 'generated' && (filled === undefined || cell !== null),
    )
    if (cells.size === 0) return this.#provided(row)
    const set = [...cells.keys()].map(column => `${quote(column)} = ${this.#place(column)}`).join(', ')
    const same = this.#same(row)
    const text = `update ${this.#name} set ${set} where ${same.text} returning ${this.#selected}`
    const [changed] = await this.#database.ask(text, [...cells.values(), ...same.values])
    return changed ? this.#provided(changed) : 'stale'
  }

  #written(value: Item, isWanted: (column: TableColumn, cell: Cell) => boolean): Map<string, Cell> {
    const cells = new Map<string, Cell>()
    for (const [field, column] of Object.entries(this.#facts.columns)) {
      const cell = writeCell(column[1], value[field])
      if (isWanted(column, cell)) cells.set(column[0], cell)
    }
    return cells
  }

  /** (1), (2) */
  #provided(row: Row): Provided<Item> {
    const place = (column: string): string => `${this.#facts.table}.${column}`
    const id = writeKey(this.#facts.key, row, this.#facts.table)
    const fields = Object.entries(this.#facts.columns).flatMap(([field, [column, type]]) => {
      const cell = row[column] ?? null
      return cell === null ? [] : [[field, readCell(type, cell, `${place(column)} of ${id}`)] as const]
    })
    return { value: { id, ...Object.fromEntries(fields) }, version: versionOf(row) }
  }

  #place(column: string): string {
    return this.#database.cast.place(this.#facts.types?.[column] ?? '')
  }
  #compared(column: string, operator: string, cell: Cell): Part {
    return { text: `${quote(column)} ${operator} ${this.#place(column)}`, values: [cell] }
  }
  #same(row: Row): Part {
    const parts = this.#columns.map(([column]) => ({
      text: `${this.#database.cast.read(quote(column))} is not distinct from ${this.#database.cast.place('')}`,
      values: [row[column] ?? null],
    }))
    return joinParts(parts, ' and ', 'true')
  }

  #columnOf(field: string): TableColumn {
    const [only] = this.#facts.key
    const found = field === 'id' ? only : this.#facts.columns[field]
    if (!found) throw new Error(`${this.#facts.table} has no column for ${field}`)
    return found
  }
  /** If the key has several columns, the id stands for all of them. */
  #cellsOf(field: string, value: unknown): readonly (readonly [TableColumn, Cell])[] | undefined {
    if (field !== 'id') return [[this.#columnOf(field), writeCell(this.#columnOf(field)[1], value)]]
    const cells = readKey(this.#facts.key, String(value))
    return cells && this.#facts.key.map((column, at) => [column, cells[at] ?? null])
  }

  #filter(filter: ProviderFilter<Item>): Part {
    if (filter.is === 'in')
      return joinParts(
        filter.value.map(each => this.#equal(filter.field, each)),
        ' or ',
        'false',
      )
    if (filter.is === 'eq') return this.#equal(filter.field, filter.value)
    if (filter.is === 'ne') {
      const equal = this.#equal(filter.field, filter.value)
      return { text: `not (${equal.text})`, values: equal.values }
    }
    if (filter.is === 'absent') {
      const absent = this.#equal(filter.field, null)
      return filter.value ? absent : { text: `not (${absent.text})`, values: absent.values }
    }
    const operator = { gt: '>', gte: '>=', lt: '<', lte: '<=' }[filter.is]
    const [column, type] = this.#columnOf(filter.field)
    return this.#compared(column, operator, writeCell(type, filter.value))
  }
  #equal(field: string, value: unknown): Part {
    const cells = this.#cellsOf(field, value)
    const parts = cells?.map(([[column], cell]) => this.#compared(column, 'is not distinct from', cell))
    return parts ? joinParts(parts, ' and ', 'true') : { text: 'false', values: [] }
  }
  #within(records: readonly Readonly<Record<string, unknown>>[]): Part {
    const each = (record: Readonly<Record<string, unknown>>): Part =>
      joinParts(
        Object.entries(record).map(([field, value]) => this.#equal(field, value)),
        ' and ',
        'true',
      )
    return joinParts(records.map(each), ' or ', 'false')
  }

  /**
   * An absent value comes before all others; the key comes last. `t.` means the column itself, not
   * the text that is read from it.
   */
  #order(sort: ProviderQuery<Item>['sort'], backwards: boolean): string {
    const keys = this.#facts.key.map(([column]) => `t.${quote(column)} ${backwards ? 'desc' : 'asc'}`)
    const fields = sort.map(({ field, descending }) => {
      const ends = descending !== backwards ? 'desc nulls last' : 'asc nulls first'
      return `t.${quote(this.#columnOf(field)[0])} ${ends}`
    })
    return [...fields, ...keys].join(', ')
  }
  /** The rows after a place: equal to it in the first keys, and after it in the next one. */
  #beyond(sort: ProviderQuery<Item>['sort'], place: ProviderPlace<Item>, backwards: boolean): Part {
    const ids = readKey(this.#facts.key, place.id) ?? []
    const keys = [
      ...sort.map(({ field, descending }) => {
        const [column, type] = this.#columnOf(field)
        return { column, cell: writeCell(type, place[field]), down: descending !== backwards }
      }),
      ...this.#facts.key.map(([column], at) => ({ column, cell: ids[at] ?? null, down: backwards })),
    ]
    const steps = keys.map((key, at) => {
      const before = keys.slice(0, at).map(({ column, cell }) => this.#compared(column, 'is not distinct from', cell))
      return joinParts([...before, this.#past(key)], ' and ', 'true')
    })
    return joinParts(steps, ' or ', 'false')
  }
  #past({ column, cell, down }: { column: string; cell: Cell; down: boolean }): Part {
    if (cell === null) return { text: down ? 'false' : `${quote(column)} is not null`, values: [] }
    const past = this.#compared(column, down ? '<' : '>', cell)
    return down ? { text: `(${past.text} or ${quote(column)} is null)`, values: past.values } : past
  }
}

interface Part {
  readonly text: string
  readonly values: readonly Cell[]
}
const joinParts = (parts: readonly Part[], between: string, none: string): Part => ({
  text: parts.length === 0 ? none : `(${parts.map(({ text }) => text).join(between)})`,
  values: parts.flatMap(({ values }) => values),
})

/** (1) 48 bits, which a number holds exactly. */
const versionOf = (row: Row): number =>
  Number.parseInt(
    createHash('sha256')
      .update(JSON.stringify(Object.entries(row), (_, cell) => (typeof cell === 'bigint' ? `${cell}n` : cell)))
      .digest('hex')
      .slice(0, 12),
    16,
  )
