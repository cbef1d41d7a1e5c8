/** Values of a contract in a page: references lead to what they name, structures are nested. */
import { escapeMarkup } from '../base/markup.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields, Scalar } from '../contract/field.ts'
import { writeScalar } from '../contract/lexical/scalar.ts'
import { describeField } from '../contract/operation-texts.ts'
import {
  asObject,
  entryFields,
  foldScalar,
  foldShape,
  isScalar,
  type ScalarCases,
  type ShapeCases,
} from '../contract/shape.ts'
import { buildElement, labelOf, type PageMarkup, titleOf, writeAnchor, writeParagraph } from './element.ts'

type RowOfValues = Readonly<Record<string, unknown>>

/** @param base where the addresses of items begin */
export function writeValue({ shape }: AnyField, value: unknown, base: string): PageMarkup {
  return value === undefined || value === null ? '' : foldShape(shape, valueCases, value, base)
}

/** The reader of the contract has seen that each value is of its shape. */
const valueCases: ShapeCases<PageMarkup, [value: unknown, base: string]> = {
  scalar: (shape, value, base) => writeScalarMarkup(shape, writeScalar(shape, value), base),
  list: ({ item }, value, base) => writeListMarkup(item, value as readonly unknown[], base),
  map: (shape, value, base) => writeEntries(entryFields(shape).value, value as RowOfValues, base),
  object: ({ fields }, value, base) => writeDefinitions(fields, value as RowOfValues, base),
  union: ({ on, of }, value, base) => {
    const row = value as RowOfValues
    const kind = String(row[on])
    return `${buildElement('p', {}, escapeMarkup(kind))}${writeDefinitions(of[kind] ?? {}, row, base)}`
  },
}

const writeScalarMarkup = (shape: Scalar, text: string, base: string): PageMarkup =>
  foldScalar(shape, scalarMarkup, text, base)

type MarkupWriter = (shape: Scalar, text: string, base: string) => PageMarkup
const writePlain: MarkupWriter = (_shape, text) => escapeMarkup(text)
const writeNumber: MarkupWriter = (_shape, text) => buildElement('span', { class: 'number' }, escapeMarkup(text))
/** A moment is exact in its attribute, and shorter where it is read. */
const writeTime: MarkupWriter = (_shape, text) =>
  buildElement('time', { datetime: text }, escapeMarkup(text.replace('T', ' ').replace(/(:\d\d)\.0+(?=\D|$)/, '$1')))
const scalarMarkup: ScalarCases<PageMarkup, [text: string, base: string]> = {
  string: writePlain,
  boolean: writePlain,
  int: writeNumber,
  long: writeNumber,
  decimal: writeNumber,
  double: writeNumber,
  date: writeTime,
  time: writePlain,
  dateTime: writeTime,
  duration: writePlain,
  bytes: (_shape, text) => buildElement('code', { class: 'octets' }, escapeMarkup(text)),
  enum: (_shape, text) => buildElement('span', { class: 'choice' }, escapeMarkup(text)),
  id: (_shape, text) => buildElement('code', {}, escapeMarkup(text)),
  ref: ({ resource }, text, base) => writeAnchor(`${base}/${resource}/${encodeURIComponent(text)}`, text),
}

/** Members that have a value, each with its name. */
export function writeDefinitions(
  fields: Fields,
  value: RowOfValues,
  base: string,
  only?: ReadonlySet<string> | undefined,
): PageMarkup {
  const rows = listVisibleFields(fields, only)
    .filter(([name]) => ownMember(value, name) !== undefined)
    .map(([name, field]) =>
      buildElement(
        'div',
        {},
        buildElement('dt', {}, escapeMarkup(titleOf(name, field))),
        buildElement('dd', {}, writeValue(field, value[name], base), writeDescription(field)),
      ),
    )
  return rows.length === 0 ? '' : buildElement('dl', {}, ...rows)
}

/** For everyone, not only for those who can point at it. */
const writeDescription = (field: AnyField): PageMarkup => writeParagraph(describeField(field), { class: 'hint' })

/** The keys are the service's content, and stand as they are. */
function writeEntries(value: AnyField, map: RowOfValues, base: string): PageMarkup {
  const rows = Object.entries(map).map(([key, each]) =>
    buildElement(
      'div',
      {},
      buildElement('dt', {}, escapeMarkup(key)),
      buildElement('dd', {}, writeValue(value, each, base)),
    ),
  )
  return rows.length === 0 ? '' : buildElement('dl', {}, ...rows)
}

export const listVisibleFields = (fields: Fields, only: ReadonlySet<string> | undefined): [string, AnyField][] =>
  Object.entries(fields).filter(([name, field]) => !field.isInternal && (!only || only.has(name)))

/** Objects as a table, scalars as a line. */
function writeListMarkup(item: AnyField, values: readonly unknown[], base: string): PageMarkup {
  const object = asObject(item.shape)
  if (!object)
    return isScalar(item.shape)
      ? values.map(each => writeValue(item, each, base)).join(', ')
      : buildElement('ul', {}, ...values.map(each => buildElement('li', {}, writeValue(item, each, base))))
  const columns = listVisibleFields(object.fields, undefined)
  return writeRowTable(
    columns.map(([name, field]) => ({ name, label: titleOf(name, field) })),
    values.map(each => columns.map(([name, field]) => writeValue(field, (each as RowOfValues)[name], base))),
  )
}

export interface TableColumn {
  readonly name: string
  /** Default: made of the name. */
  readonly label?: string
  /** The head of the column, by default its label. */
  readonly head?: PageMarkup
  readonly sort?: 'ascending' | 'descending' | undefined
}

/**
 * A table whose rows become cards where it is narrow; roles keep it a table for readers that hear
 * it.
 */
export function writeRowTable(columns: readonly TableColumn[], rows: readonly (readonly PageMarkup[])[]): PageMarkup {
  const heads = columns.map(({ name, label = labelOf(name), head, sort }) =>
    buildElement('th', { scope: 'col', role: 'columnheader', 'aria-sort': sort }, head ?? escapeMarkup(label)),
  )
  const lines = rows.map(cells => {
    const written = cells.map((cell, at) =>
      buildElement('td', { role: 'cell', 'data-label': columns[at]?.label ?? labelOf(columns[at]?.name ?? '') }, cell),
    )
    return buildElement('tr', { role: 'row' }, ...written)
  })
  const table = buildElement(
    'table',
    { role: 'table' },
    buildElement('thead', { role: 'rowgroup' }, buildElement('tr', { role: 'row' }, ...heads)),
    buildElement('tbody', { role: 'rowgroup' }, ...lines),
  )
  return buildElement('div', { class: 'table' }, table)
}
