/**
 * Documents as text/csv (RFC 4180): a header, then a line for each item. Scalars are written
 * unchanged, except for text that a spreadsheet would read as a formula; anything else is written
 * as its JSON.
 */

import { memoizeByObject } from '../../base/memo.ts'
import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import { valueWriter } from '../../contract/field-json.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { foldScalar, isScalar, type ScalarCases } from '../../contract/shape.ts'
import type { DocumentContext, DocumentWriter, RepresentationDocument } from './document.ts'

export const csvWriter = {
  write: (document: RepresentationDocument, { only }: DocumentContext, items: readonly string[]): string => {
    const shown = listShown(document, only)
    const rows = document.items ? items.join('') : writeRow(shown, document.value)
    return `${shown.map(([name]) => quoteCell(name)).join(',')}\r\n${rows}`
  },
  writeItem: ({ value }: RepresentationDocument, { only }: DocumentContext, of: RepresentationDocument): string =>
    writeRow(listShown(of, only), value),
} satisfies DocumentWriter

type ShownFields = readonly (readonly [name: string, field: AnyField])[]
const listOpen = memoizeByObject(
  (fields: Fields): ShownFields => Object.entries(fields).filter(([, field]) => !field.isInternal),
)
const noColumns: Fields = {}
function listShown(
  { items, columns = noColumns, fields }: RepresentationDocument,
  only: ReadonlySet<string> | undefined,
): ShownFields {
  const open = listOpen(items ? columns : fields)
  return only ? open.filter(([name]) => only.has(name)) : open
}
/** A line without any character would be no row to most readers. */
const writeRow = (shown: ShownFields, row: RepresentationDocument['value']): string =>
  `${shown.map(([name, field]) => writeCell(field, ownMember(row, name))).join(',') || emptyCell}\r\n`
/** An empty text; a field without a value leaves its place empty. */
const emptyCell = '""'

function writeCell(field: AnyField, value: unknown): string {
  if (value === undefined || value === null) return ''
  const { shape } = field
  if (!isScalar(shape)) return quoteCell(valueWriter(field)(value))
  const text = writeScalar(shape, value)
  return quoteCell(foldScalar(shape, mayHoldFormula) ? disarmText(text) : text)
}

/**
 * A spreadsheet reads a cell that begins like this as a formula (OWASP, CSV injection), in some
 * languages also with the wide forms of these characters: an apostrophe before it makes it text. It
 * comes before a text that begins with such an apostrophe, too, so that no two texts have the same
 * cell. A sign and digits, as in a telephone number, are a number. Kinds with a lexical space of
 * their own cannot hold a formula.
 */
const formulaStart = /^'*(?:[=@\t\r\n\uff1d\uff20\uff0b\uff0d]|[+-](?!\d[\d ]*$))/
const disarmText = (text: string): string => (formulaStart.test(text) ? `'${text}` : text)
const mayHoldFormula: ScalarCases<boolean> = {
  string: () => true,
  boolean: () => false,
  int: () => false,
  long: () => false,
  decimal: () => false,
  double: () => false,
  date: () => false,
  time: () => false,
  dateTime: () => false,
  duration: () => false,
  bytes: () => true,
  enum: () => true,
  id: () => true,
  ref: () => true,
}

const quoteCell = (text: string): string =>
  text === '' ? emptyCell : /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
