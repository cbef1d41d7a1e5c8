/** Documents as text/csv (RFC 4180): a header, then a line for each item. Scalars as they are, anything else as its JSON. */

import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import { valueWriter } from '../../contract/field-json.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { isScalar } from '../../contract/shape.ts'
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
  return quoteCell(isScalar(field.shape) ? writeScalar(field.shape, value) : valueWriter(field)(value))
}

const quoteCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
