/**
 * Documents as text/csv (RFC 4180): a header, then a line for each item. Scalars are written as
 * they are, but for text that a spreadsheet would take for a formula; anything else as its JSON.
 */

import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import { valueWriter } from '../../contract/field-json.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { foldScalar, isScalar, type ScalarCases } from '../../contract/shape.ts'
import type { DocumentContext, RepresentationDocument } from './document.ts'

export function writeCsv(document: RepresentationDocument, { only }: DocumentContext): string {
  return document.items
    ? writeCsvTable(
        document.columns ?? {},
        document.items.map(item => item.value),
        only,
      )
    : writeCsvTable(document.fields, [document.value], only)
}

export function writeCsvTable(
  fields: Fields,
  rows: readonly Readonly<Record<string, unknown>>[],
  only?: ReadonlySet<string>,
): string {
  const columns = Object.entries(fields).filter(([name, field]) => !field.isInternal && (!only || only.has(name)))
  const lines = rows.map(row => columns.map(([name, field]) => writeCell(field, ownMember(row, name))).join(','))
  return [columns.map(([name]) => quoteCell(name)).join(','), ...lines, ''].join('\r\n')
}

function writeCell(field: AnyField, value: unknown): string {
  if (value === undefined || value === null) return ''
  const { shape } = field
  if (!isScalar(shape)) return quoteCell(valueWriter(field)(value))
  const text = writeScalar(shape, value)
  return quoteCell(foldScalar(shape, mayHoldFormula) ? disarmText(text) : text)
}

/**
 * A spreadsheet takes a cell that begins so for a formula (OWASP, CSV injection): an apostrophe
 * before it makes it text. Kinds with a lexical space of their own cannot hold a formula.
 */
const formulaStart = /^[=+\-@\t\r]/
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

const quoteCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
