/**
 * Documents as text/csv (RFC 4180): a header, then a line for each item. Scalars are written as
 * they are, but for text that a spreadsheet would take for a formula; anything else as its JSON.
 */

import { ownMember } from '../../base/objects.ts'
import type { AnyField } from '../../contract/field.ts'
import { valueWriter } from '../../contract/field-json.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { foldScalar, isScalar, type ScalarCases } from '../../contract/shape.ts'
import type { WorkSteps } from '../../service/turns.ts'
import type { DocumentContext, RepresentationDocument } from './document.ts'

export function* writeCsv(
  { fields, value, items, columns = {} }: RepresentationDocument,
  { only }: DocumentContext,
): WorkSteps<string> {
  const shown = Object.entries(items ? columns : fields).filter(
    ([name, field]) => !field.isInternal && (!only || only.has(name)),
  )
  let text = `${shown.map(([name]) => quoteCell(name)).join(',')}\r\n`
  for (const row of items?.map(item => item.value) ?? [value]) {
    text += `${shown.map(([name, field]) => writeCell(field, ownMember(row, name))).join(',')}\r\n`
    yield
  }
  return text
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
