/** How one field of a resource is kept: its columns, and its value as their cells and back. */
import type { AnyField, Scalar, Shape } from '../contract/field.ts'
import { parseScaledDecimal, writeScaledDecimal } from '../contract/lexical/decimal.ts'
import { foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import type { Cell, ColumnKind, Dialect } from './dialect.ts'
import { createCellCodec, doubleText, isPlainDouble } from './json-cell.ts'
import { durationKey, instantKey, integerKey, isLarge } from './sort-key.ts'

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
  const plain = foldShape(field.shape, shapeColumns, name, field, dialect)
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

const shapeColumns: ShapeCases<FieldColumns, [name: string, field: AnyField, dialect: Dialect]> = {
  scalar: (shape, name, _field, dialect) => foldScalar(shape, scalarColumns, name, dialect),
  list: nested,
  object: nested,
  union: nested,
}

function nested(_shape: Shape, name: string, field: AnyField): FieldColumns {
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

/** The casts rest on the contract's checks, which every stored value has passed. */
const scalarColumns: ScalarCases<FieldColumns, [name: string, dialect: Dialect]> = {
  string: text,
  boolean: (_shape, name, dialect) =>
    single(name, {
      kind: 'boolean',
      wide: false,
      cell: value => dialect.boolean(value === true),
      value: cell => cell === 1 || cell === true,
    }),
  int: (_shape, name) => single(name, { kind: 'integer', wide: false, cell: value => value as number }),
  long: (shape, name) =>
    isLarge(shape)
      ? ordered(
          name,
          value => integerKey(BigInt(value)),
          cell => BigInt(String(cell)),
        )
      : single(name, {
          kind: 'integer',
          wide: true,
          cell: value => value as bigint,
          value: cell => BigInt(cell as string),
        }),
  decimal: ({ digits, places }, name) => single(name, decimal(digits, places)),
  double: (_shape, name) => double(name),
  date: instant,
  time: instant,
  dateTime: instant,
  duration: (_shape, name) => ordered(name, durationKey),
  bytes: (_shape, name) => single(name, { kind: 'blob', wide: false, cell: value => value as Uint8Array }),
  enum: text,
  id: text,
  ref: text,
}
function text(_shape: Scalar, name: string): FieldColumns {
  return single(name, { kind: 'text', wide: false, cell: value => value as string })
}
function instant(_shape: Scalar, name: string): FieldColumns {
  return ordered(name, instantKey)
}

interface SingleColumn {
  readonly kind: ColumnKind
  readonly wide: boolean
  readonly cell: (value: unknown) => Cell
  readonly value?: (cell: unknown) => unknown
}
const single = (name: string, { kind, wide, cell, value }: SingleColumn): FieldColumns => ({
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
})

/** Digits that a double holds whatever they are. */
const exactDigits = 15

/** Units of the last place: they compare and sum. At most 18 digits fit in 64 bits. */
function decimal(digits: number, places: number): SingleColumn {
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

/** The exact text, and beside it a key that compares. `parse`: for values that are not text themselves. */
function ordered(name: string, keyOf: (text: string) => string, parse?: (cell: Cell) => unknown): FieldColumns {
  const column = `${name}#order`
  const key = (value: unknown): string => keyOf(String(value))
  return {
    field: name,
    columns: [
      { name, kind: 'text', wide: false },
      { name: column, kind: 'text', wide: false, key: true },
    ],
    cells: value => (isNothing(value) ? [absent, absent] : [String(value), key(value)]),
    value: parse && ((row, at) => (isNothing(row[at]) ? undefined : parse(row[at] ?? absent))),
    compared: {
      column,
      cell: value => (isNothing(value) ? absent : key(value)),
      text: parse ? undefined : name,
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
