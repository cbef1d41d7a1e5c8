/** Values of a contract on a page: references become links, structures are nested. */
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

/** The address of a resource's item; undefined: it is not known. */
export type ItemAddress = (resource: string, id: string) => string | undefined

export function writeValue({ shape }: AnyField, value: unknown, addressOf: ItemAddress): PageMarkup {
  return value === undefined || value === null ? '' : foldShape(shape, valueCases, value, addressOf)
}

/** The contract's reader has checked that each value matches its shape. */
const valueCases: ShapeCases<PageMarkup, [value: unknown, addressOf: ItemAddress]> = {
  scalar: (shape, value, addressOf) => writeScalarMarkup(shape, writeScalar(shape, value), addressOf),
  list: ({ item }, value, addressOf) => writeListMarkup(item, value as readonly unknown[], addressOf),
  map: (shape, value, addressOf) => writeEntries(entryFields(shape).value, value as RowOfValues, addressOf),
  object: ({ fields }, value, addressOf) => writeDefinitions(fields, value as RowOfValues, addressOf),
  union: ({ on, of }, value, addressOf) => {
    const row = value as RowOfValues
    const kind = String(row[on])
    return `${buildElement('p', {}, escapeMarkup(kind))}${writeDefinitions(of[kind] ?? {}, row, addressOf)}`
  },
}

const writeScalarMarkup = (shape: Scalar, text: string, addressOf: ItemAddress): PageMarkup =>
  foldScalar(shape, scalarMarkup, text, addressOf)

type MarkupWriter = (shape: Scalar, text: string, addressOf: ItemAddress) => PageMarkup
const writePlain: MarkupWriter = (_shape, text) => escapeMarkup(text)
const writeNumber: MarkupWriter = (_shape, text) => buildElement('span', { class: 'number' }, escapeMarkup(text))
/** A moment is exact in its attribute, and shorter in the visible text. */
const writeTime: MarkupWriter = (_shape, text) =>
  buildElement('time', { datetime: text }, escapeMarkup(text.replace('T', ' ').replace(/(:\d\d)\.0+(?=\D|$)/, '$1')))
const scalarMarkup: ScalarCases<PageMarkup, [text: string, addressOf: ItemAddress]> = {
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
  ref: ({ resource }, text, addressOf) => {
    const href = addressOf(resource, text)
    return href === undefined ? escapeMarkup(text) : writeAnchor(href, text)
  },
}

/** Members that have a value, each with its name. */
export function writeDefinitions(
  fields: Fields,
  value: RowOfValues,
  addressOf: ItemAddress,
  only?: ReadonlySet<string> | undefined,
): PageMarkup {
  const rows = listVisibleFields(fields, only)
    .filter(([name]) => ownMember(value, name) !== undefined)
    .map(([name, field]) =>
      buildElement(
        'div',
        {},
        buildElement('dt', {}, escapeMarkup(titleOf(name, field))),
        buildElement('dd', {}, writeValue(field, value[name], addressOf), writeDescription(field, value[name])),
      ),
    )
  return rows.length === 0 ? '' : buildElement('dl', {}, ...rows)
}

/** Visible to everyone, not only to readers who can hover. */
const writeDescription = (field: AnyField, value: unknown): PageMarkup =>
  writeParagraph(describeField(field, value), { class: 'hint' })

/** The keys are the service's content, and stay unchanged. */
function writeEntries(value: AnyField, map: RowOfValues, addressOf: ItemAddress): PageMarkup {
  const rows = Object.entries(map).map(([key, each]) =>
    buildElement(
      'div',
      {},
      buildElement('dt', {}, escapeMarkup(key)),
      buildElement('dd', {}, writeValue(value, each, addressOf)),
    ),
  )
  return rows.length === 0 ? '' : buildElement('dl', {}, ...rows)
}

export const listVisibleFields = (fields: Fields, only: ReadonlySet<string> | undefined): [string, AnyField][] =>
  Object.entries(fields).filter(([name, field]) => !field.isInternal && (!only || only.has(name)))

/** Objects as a table, scalars on one line. */
function writeListMarkup(item: AnyField, values: readonly unknown[], addressOf: ItemAddress): PageMarkup {
  const object = asObject(item.shape)
  if (!object)
    return isScalar(item.shape)
      ? values.map(each => writeValue(item, each, addressOf)).join(', ')
      : buildElement('ul', {}, ...values.map(each => buildElement('li', {}, writeValue(item, each, addressOf))))
  const columns = listVisibleFields(object.fields, undefined)
  return writeRowTable(
    columns.map(([name, field]) => ({ name, label: titleOf(name, field) })),
    values
      .map(each => (each ?? {}) as RowOfValues) // an item may be null
      .map(row => columns.map(([name, field]) => writeValue(field, ownMember(row, name), addressOf))),
  )
}

export interface TableColumn {
  readonly name: string
  /** Default: made from the name. */
  readonly label?: string
  /** The head of the column; by default its label. */
  readonly head?: PageMarkup
  readonly sort?: 'ascending' | 'descending' | undefined
}

/** A table whose rows become cards on a narrow screen; roles keep it a table for screen readers. */
export function writeRowTable(columns: readonly TableColumn[], rows: readonly (readonly PageMarkup[])[]): PageMarkup {
  const heads = columns.map(({ name, label = labelOf(name), head, sort }) =>
    buildElement('th', { scope: 'col', role: 'columnheader', 'aria-sort': sort }, head ?? escapeMarkup(label)),
  )
  const lines = rows.map(cells => {
    const cellTexts = cells.map((cell, at) =>
      buildElement('td', { role: 'cell', 'data-label': columns[at]?.label ?? labelOf(columns[at]?.name ?? '') }, cell),
    )
    return buildElement('tr', { role: 'row' }, ...cellTexts)
  })
  const table = buildElement(
    'table',
    { role: 'table' },
    buildElement('thead', { role: 'rowgroup' }, buildElement('tr', { role: 'row' }, ...heads)),
    buildElement('tbody', { role: 'rowgroup' }, ...lines),
  )
  return buildElement('div', { class: 'table' }, table)
}
