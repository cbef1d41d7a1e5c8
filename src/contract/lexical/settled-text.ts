/**
 * Scalars as XML Schema partners write them, in SOAP messages and in parameters. Many of their
 * programs give a day a zone (soap4r, Axis, strong-soap), or a moment none (zeep, .NET): a day's
 * zone is dropped if it is not allowed, and a moment that needs one is in UTC, as lists compare it.
 * No browser loads this: JSON is accepted as OpenAPI describes it.
 */
import { memoizeByObject } from '../../base/memo.ts'
import type { Scalar } from '../field.ts'
import type { Flaw } from './flaw.ts'
import { compileScalarReader, type ScalarReader } from './scalar.ts'
import { trimXmlSpace, zonePattern } from './text.ts'

/** Text → value, like `compileScalarReader`, with a zone that suits the field. */
export function compileSettledReader(shape: Scalar): ScalarReader {
  const read = compileScalarReader(shape)
  if (!isSettled(shape)) return read
  if (shape.kind === 'date') return text => read(splitZone(text)[0])
  return text => {
    const [local, zone] = splitZone(text)
    return read(zone === '' ? `${local}Z` : text)
  }
}
/** Whether the field accepts any zone in such a text: then its type is that of XML Schema. */
export const isSettled = (shape: Scalar): boolean =>
  (shape.kind === 'date' && shape.zone === 'prohibited') || (shape.kind === 'dateTime' && shape.zone === 'required')
const zoneEnd = new RegExp(`${zonePattern}$`)
function splitZone(text: string): readonly [local: string, zone: string] {
  const trimmed = trimXmlSpace(text)
  const local = trimmed.replace(zoneEnd, '')
  return [local, trimmed.slice(local.length)]
}

export const readSettledScalar = (shape: Scalar, text: string): unknown | Flaw => settledReaderOf(shape)(text)
const settledReaderOf = memoizeByObject(compileSettledReader)
