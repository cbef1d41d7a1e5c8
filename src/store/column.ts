/** How one field of a resource is kept: its columns, and its value as their cells and back. */
import type { AnyField, Scalar } from '../contract/field.ts'
import { parseScaledDecimal, writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { isScalar } from '../contract/lexical/scalar.ts'
import type { Cell, ColumnKind, Dialect } from './dialect.ts'
import { createCellCodec, doubleText, isPlainDouble } from './json-cell.ts'
import { isLarge, sortKeyOf } from './sort-key.ts'

export interface Column {
  readonly name: string
  readonly kind: ColumnKind
  /** May hold integers that a double can't: read as text. */
  readonly wide: boolean
  /** For comparing alone: no value is made of it. */
  readonly key?: true
}
/** Those that a value is made of, in order. */
export const valueColumns = (columns: readonly Column[]): readonly Column[] => columns.filter(each => !each.key)
export interface FieldColumns {
  readonly field: string
  readonly columns: readonly Column[]
  /** The cells of a value, undefined for an absent one, in the order of the columns. */
  readonly cells: (value: unknown) => readonly Cell[]
  /** From the cells of its `valueColumns` columns, from this place of a row on; undefined when absent. Without it the one cell is the value. */
  readonly value: ((row: readonly Cell[], at: number) => unknown) | undefined
  /** What filters and sorting compare; undefined for what can't be compared. */
  readonly compared: Compared | undefined
  /** The first cell is never null. */
  readonly present: boolean
}
export interface Compared {
  readonly column: string
  readonly cell: (value: unknown) => Cell
  /** The value's own text stands in this column. */
  readonly text: string | undefined
}

const absent: Cell = null
const isNothing = (value: unknown): value is null | undefined => value === undefined || value === null

/** A field name never holds "#": names of columns beside its own can't meet another field's. */
export function columnsOfField(name: string, field: AnyField, dialect: Dialect): FieldColumns {
  const plain = isScalar(field.shape) ? scalar(name, field.shape, dialect) : nested(name, field)
  // A NaN has an empty cell.
  const present = !field.isOptional && !field.isNullable && field.shape.kind !== 'double'
  if (!field.isNullable) return { ...plain, present }
  return field.isOptional ? nullOrAbsent(plain, dialect) : { ...plain, present, value: nullWhenNothing(plain) }
}

const readerOf = (of: FieldColumns) => of.value ?? ((row: readonly Cell[], at: number) => row[at] ?? undefined)

function nullWhenNothing(of: FieldColumns): NonNullable<FieldColumns['value']> {
  const value = readerOf(of)
  return (row, at) => value(row, at) ?? null
}

/** A further column tells a null from an absent value. */
function nullOrAbsent(of: FieldColumns, dialect: Dialect): FieldColumns {
  const value = readerOf(of)
  const marks = valueColumns(of.columns).length
  return {
    ...of,
    present: false,
    columns: [...of.columns, { name: `${of.field}#null`, kind: 'boolean', wide: false }],
    cells: given => [...of.cells(given), given === null ? dialect.boolean(true) : absent],
    value: (row, at) => value(row, at) ?? (isNothing(row[at + marks]) ? undefined : null),
  }
}

function nested(name: string, field: AnyField): FieldColumns {
  const { encode, decode } = createCellCodec(field)
  return {
    field: name,
    columns: [{ name, kind: 'text', wide: false }],
    cells: value => [isNothing(value) ? absent : encode(value)],
    value: (row, at) => {
      const cell = row[at]
      return typeof cell === 'string' ? decode(cell) : undefined
    },
    compared: undefined,
    present: false,
  }
}

function scalar(name: string, shape: Scalar, dialect: Dialect): FieldColumns {
  const key = sortKeyOf(shape)
  if (key) return ordered(name, shape, key)
  if (shape.kind === 'double') return double(name)
  const { kind, wide, cell, value } = simple(shape, dialect)
  return {
    field: name,
    columns: [{ name, kind, wide }],
    cells: given => [isNothing(given) ? absent : cell(given)],
    value: value && ((row, at) => (isNothing(row[at]) ? undefined : value(row[at]))),
    compared: {
      column: name,
      cell: given => (isNothing(given) ? absent : cell(given)),
      text: kind === 'text' ? name : undefined,
    },
    present: false,
  }
}

interface Simple {
  readonly kind: ColumnKind
  readonly wide: boolean
  readonly cell: (value: unknown) => Cell
  readonly value?: (cell: unknown) => unknown
}
/** Digits that a double holds whatever they are. */
const exactDigits = 15

/** The casts rest on the contract's checks, which every stored value has passed. */
function simple(shape: Scalar, dialect: Dialect): Simple {
  switch (shape.kind) {
    case 'boolean':
      return {
        kind: 'boolean',
        wide: false,
        cell: value => dialect.boolean(value === true),
        value: cell => cell === 1 || cell === true,
      }
    case 'int':
      return { kind: 'integer', wide: false, cell: value => value as number }
    case 'long':
      return { kind: 'integer', wide: true, cell: value => value as bigint, value: cell => BigInt(cell as string) }
    case 'decimal':
      return decimal(shape.digits, shape.places)
    case 'bytes':
      return { kind: 'blob', wide: false, cell: value => value as Uint8Array }
    default:
      return { kind: 'text', wide: false, cell: value => value as string }
  }
}

/** Units of the last place: they compare and sum. At most 18 digits fit in 64 bits. */
function decimal(digits: number, places: number): Simple {
  const wide = digits > exactDigits
  return {
    kind: 'integer',
    wide,
    cell: value => parseScaledDecimal(String(value), places) ?? absent,
    value: wide
      ? cell => writeScaledDecimal(BigInt(cell as string), places)
      : cell => writeScaledDecimal(cell as number, places),
  }
}

/** The exact text, and beside it a key that compares. */
function ordered(name: string, shape: Scalar, key: (value: unknown) => string): FieldColumns {
  const column = `${name}#order`
  return {
    field: name,
    columns: [
      { name, kind: 'text', wide: false },
      { name: column, kind: 'text', wide: false, key: true },
    ],
    cells: value => (isNothing(value) ? [absent, absent] : [String(value), key(value)]),
    value: isLarge(shape) ? (row, at) => (isNothing(row[at]) ? undefined : BigInt(String(row[at]))) : undefined,
    compared: {
      column,
      cell: value => (isNothing(value) ? absent : key(value)),
      text: isLarge(shape) ? undefined : name,
    },
    present: false,
  }
}

/** A number that SQL has; what it lacks or changes (NaN, the infinities, minus zero) as text beside it. NaN compares with nothing. */
function double(name: string): FieldColumns {
  const number = (value: unknown): Cell => (typeof value !== 'number' || Number.isNaN(value) ? absent : value)
  return {
    field: name,
    columns: [
      { name, kind: 'real', wide: false },
      { name: `${name}#text`, kind: 'text', wide: false },
    ],
    cells: value => [number(value), typeof value === 'number' && !isPlainDouble(value) ? doubleText(value) : absent],
    value: (row, at) => {
      const text = row[at + 1]
      return typeof text === 'string' ? Number(text) : (row[at] ?? undefined)
    },
    compared: { column: name, cell: number, text: undefined },
    present: false,
  }
}
