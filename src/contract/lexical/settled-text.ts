/**
 * Scalars as partners by XML Schema write them, in messages of SOAP and in parameters. Programs of
 * many of them give a day a zone (soap4r, Axis, strong-soap), or a moment none (zeep, .NET): the
 * zone of a day is left out where it must not be there, and a moment that needs one is in UTC, as
 * lists compare it. No browser loads this: JSON is taken as OpenAPI describes it.
 */
import { memoizeByObject } from '../../base/memo.ts'
import type { Scalar } from '../field.ts'
import type { Flaw } from './flaw.ts'
import { compileScalarReader, type ScalarReader } from './scalar.ts'
import { trimXmlSpace, zonePattern } from './text.ts'

/** Text → value, as `compileScalarReader`, with a zone that suits the field. */
export function compileSettledReader(shape: Scalar): ScalarReader {
  const read = compileScalarReader(shape)
  if (!isSettled(shape)) return read
  if (shape.kind === 'date') return text => read(splitZone(text)[0])
  return text => {
    const [local, zone] = splitZone(text)
    return read(zone === '' ? `${local}Z` : text)
  }
}
/** Whether the field takes any zone in such a text: then its type is that of XML Schema. */
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
