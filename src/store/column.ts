/**
 * How one field of a resource is stored: its columns, and how its value becomes their cells and is
 * read back.
 */
import { compileFilling } from '../contract/default-values.ts'
import type { AnyField, Scalar, Shape } from '../contract/field.ts'
import { parseScaledDecimal, writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import type { Cell, ColumnKind, Dialect } from './dialect.ts'
import { createCellCodec, doubleText, isPlainDouble } from './json-cell.ts'
import { durationKey, instantKey, integerKey, isLarge } from './sort-key.ts'

export interface Column {
  readonly name: string
  readonly kind: ColumnKind
  /** May hold integers that a double cannot, so it is read as text. */
  readonly wide: boolean
  /** Only compared: no value is read from this column. */
  readonly key?: true
}
/** The columns that a value is read from, in order. */
export const valueColumns = (columns: readonly Column[]): readonly Column[] => columns.filter(each => !each.key)
export interface FieldColumns extends StoredColumns {
  /** The name in the contract. */
  readonly field: string
}
interface StoredColumns {
  /** The name in the database: the first name that the field had. */
  readonly stored: string
  readonly columns: readonly Column[]
  /** The cells of a value (undefined if absent), in the order of the columns. */
  readonly cells: (value: unknown) => readonly Cell[]
  /**
   * Reads the value from the cells of its `valueColumns`, which begin at this place of a row;
   * undefined if absent. Without this function, the only cell is the value.
   */
  readonly value: ((row: readonly Cell[], at: number) => unknown) | undefined
  /** What filters and sorting compare; undefined if the field cannot be compared. */
  readonly compared: Compared | undefined
  /** The first cell is never null. */
  readonly present: boolean
}
export interface Compared {
  readonly column: string
  readonly cell: (value: unknown) => Cell
  /** The column that holds the value's own text. */
  readonly text: string | undefined
}

const absentCell: Cell = null
const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null

/**
 * A field name never contains "#", so an additional column cannot have the name of another field.
 */
export const columnsOfField = (name: string, field: AnyField, dialect: Dialect): FieldColumns => ({
  ...storedColumns(field.formerName ?? name, field, dialect),
  field: name,
})

function storedColumns(name: string, field: AnyField, dialect: Dialect): StoredColumns {
  const plain = foldShape(field.shape, shapeColumns, name, field, dialect)
  // NaN is stored as an empty cell.
  const present = !field.isOptional && !field.isNullable && field.shape.kind !== 'double'
  if (!field.isNullable)
    return { ...plain, present, ...(field.defaultValue !== undefined && readDefault(plain, field)) }
  return field.isOptional ? markNulls(plain, dialect) : { ...plain, present, value: readNullOrValue(plain) }
}

const readerOf = (of: StoredColumns) => of.value ?? ((row: readonly Cell[], at: number) => row[at] ?? undefined)

function readNullOrValue(of: StoredColumns): NonNullable<StoredColumns['value']> {
  const value = readerOf(of)
  return (row, at) => value(row, at) ?? null
}

/** A program that does not know the default may leave the cell empty. */
function readDefault(of: StoredColumns, { defaultValue }: AnyField): Pick<StoredColumns, 'value'> {
  const value = readerOf(of)
  return { value: (row, at) => value(row, at) ?? defaultValue }
}

/** One more column distinguishes null from absent. */
function markNulls(of: StoredColumns, dialect: Dialect): StoredColumns {
  const value = readerOf(of)
  const marks = valueColumns(of.columns).length
  return {
    ...of,
    present: false,
    columns: [...of.columns, { name: `${of.stored}#null`, kind: 'boolean', wide: false }],
    cells: value => [...of.cells(value), value === null ? dialect.boolean(true) : absentCell],
    value: (row, at) => value(row, at) ?? (isNothing(row[at + marks]) ? undefined : null),
  }
}

const shapeColumns: ShapeCases<StoredColumns, [name: string, field: AnyField, dialect: Dialect]> = {
  scalar: (shape, name, _field, dialect) => foldScalar(shape, scalarColumns, name, dialect),
  list: nestedColumns,
  map: nestedColumns,
  object: nestedColumns,
  union: nestedColumns,
}

function nestedColumns(_shape: Shape, name: string, field: AnyField): StoredColumns {
  const { encode, decode } = createCellCodec(field)
  const fill = compileFilling(field)
  return {
    stored: name,
    columns: [{ name, kind: 'text', wide: false }],
    cells: value => [isNothing(value) ? absentCell : encode(value)],
    value: (row, at) => {
      const cell = row[at]
      return typeof cell === 'string' ? fill(decode(cell)) : undefined
    },
    compared: undefined,
    present: false,
  }
}

/** The casts rely on the contract's checks, which every stored value has passed. */
const scalarColumns: ScalarCases<StoredColumns, [name: string, dialect: Dialect]> = {
  string: textColumn,
  boolean: (_shape, name, dialect) =>
    singleColumn(name, {
      kind: 'boolean',
      wide: false,
      cell: value => dialect.boolean(value === true),
      value: cell => cell === 1 || cell === true,
    }),
  int: (_shape, name) => singleColumn(name, { kind: 'integer', wide: false, cell: value => value as number }),
  long: (shape, name) =>
    isLarge(shape)
      ? orderedColumns(
          name,
          value => integerKey(BigInt(value)),
          cell => BigInt(String(cell)),
        )
      : singleColumn(name, {
          kind: 'integer',
          wide: true,
          cell: value => value as bigint,
          value: cell => BigInt(cell as string),
        }),
  decimal: ({ digits, places }, name) => singleColumn(name, decimalColumn(digits, places)),
  double: (_shape, name) => doubleColumns(name),
  date: instantColumns,
  time: instantColumns,
  dateTime: instantColumns,
  duration: (_shape, name) => orderedColumns(name, durationKey),
  bytes: (_shape, name) => singleColumn(name, { kind: 'blob', wide: false, cell: value => value as Uint8Array }),
  enum: textColumn,
  id: textColumn,
  ref: textColumn,
}
function textColumn(_shape: Scalar, name: string): StoredColumns {
  return singleColumn(name, { kind: 'text', wide: false, cell: value => value as string })
}
function instantColumns(_shape: Scalar, name: string): StoredColumns {
  return orderedColumns(name, instantKey)
}

interface SingleColumn {
  readonly kind: ColumnKind
  readonly wide: boolean
  readonly cell: (value: unknown) => Cell
  readonly value?: (cell: unknown) => unknown
}
const singleColumn = (name: string, { kind, wide, cell, value }: SingleColumn): StoredColumns => ({
  stored: name,
  columns: [{ name, kind, wide }],
  cells: value => [isNothing(value) ? absentCell : cell(value)],
  value: value && ((row, at) => (isNothing(row[at]) ? undefined : value(row[at]))),
  compared: {
    column: name,
    cell: value => (isNothing(value) ? absentCell : cell(value)),
    text: kind === 'text' ? name : undefined,
  },
  present: false,
})

/** A double holds any number of this many digits exactly. */
const exactDigits = 15

/**
 * Stored as units of the last place, which can be compared and summed. 18 digits fit in 64 bits.
 */
function decimalColumn(digits: number, places: number): SingleColumn {
  const wide = digits > exactDigits
  return {
    kind: 'integer',
    wide,
    cell: value => parseScaledDecimal(String(value), places) ?? absentCell,
    value: wide
      ? cell => writeScaledDecimal(BigInt(cell as string), places)
      : cell => writeScaledDecimal(cell as number, places),
  }
}

/**
 * The exact text, and a key to compare by.
 * @param parse for values that are not stored as text
 */
function orderedColumns(name: string, keyOf: (text: string) => string, parse?: (cell: Cell) => unknown): StoredColumns {
  const column = `${name}#order`
  return {
    stored: name,
    columns: [
      { name, kind: 'text', wide: false },
      { name: column, kind: 'text', wide: false, key: true },
    ],
    cells: value => {
      if (isNothing(value)) return [absentCell, absentCell]
      const text = String(value)
      return [text, keyOf(text)]
    },
    value: parse && ((row, at) => (isNothing(row[at]) ? undefined : parse(row[at] ?? absentCell))),
    compared: {
      column,
      cell: value => (isNothing(value) ? absentCell : keyOf(String(value))),
      text: parse ? undefined : name,
    },
    present: false,
  }
}

/**
 * A number in SQL. Values that SQL lacks or changes (NaN, the infinities, minus zero) are stored as
 * text in another column. NaN compares with nothing.
 */
function doubleColumns(name: string): StoredColumns {
  const number = (value: unknown): Cell => (typeof value !== 'number' || Number.isNaN(value) ? absentCell : value)
  return {
    stored: name,
    columns: [
      { name, kind: 'real', wide: false },
      { name: `${name}#text`, kind: 'text', wide: false },
    ],
    cells: value => [
      number(value),
      typeof value === 'number' && !isPlainDouble(value) ? doubleText(value) : absentCell,
    ],
    value: (row, at) => {
      const text = row[at + 1]
      return typeof text === 'string' ? Number(text) : (row[at] ?? undefined)
    },
    compared: { column: name, cell: number, text: undefined },
    present: false,
  }
}
