/**
 * The lexical and value spaces of scalars (XML Schema Part 2), the same for JSON, XML, query
 * parameters and the store. A reader turns text into a value, a check compares a value with its
 * facets; both return a flaw instead of throwing. They are compiled once for a shape; `readScalar`
 * and `checkScalar` remember them for as long as the shape lives.
 */
import { decodeBase64, decodeHex, encodeBase64, encodeHex } from '../../base/base64.ts'
import { memoizeByObject } from '../../base/memo.ts'
import type { Scalar } from '../field.ts'
import { foldScalar, type ScalarCases, type ScalarOf } from '../shape.ts'
import { compileDecimalCheck } from './decimal.ts'
import { boundFlaw, Flaw, typeFlaw } from './flaw.ts'
import {
  compileDoubleCheck,
  compileIntCheck,
  compileLongCheck,
  parseBigInteger,
  parseDouble,
  parseInteger,
  writeDouble,
} from './number.ts'
import { compileTemporalCheck } from './temporal.ts'
import { compileStringCheck, isIdentifier, normalizeXmlSpace, trimXmlSpace } from './text.ts'

/** The built-in type of XML Schema that a scalar has, or restricts. */
export const xsdTypeOf = (shape: Scalar): string => foldScalar(shape, xsdTypes)
const kindAsType = ({ kind }: Scalar): string => kind
const facetAsType = (shape: ScalarOf<'string' | 'int' | 'long' | 'double'>): string => shape.xsd ?? shape.kind
const stringType = (): string => 'string'
const xsdTypes: ScalarCases<string> = {
  string: facetAsType,
  boolean: kindAsType,
  int: facetAsType,
  long: facetAsType,
  decimal: kindAsType,
  double: facetAsType,
  date: kindAsType,
  time: kindAsType,
  dateTime: kindAsType,
  duration: kindAsType,
  bytes: ({ encoding }) => (encoding === 'hex' ? 'hexBinary' : 'base64Binary'),
  enum: stringType,
  id: stringType,
  ref: stringType,
}

/** A typed value → the same value, a decimal with all its places; or the flaw. */
export type ScalarCheck = (value: unknown) => unknown | Flaw
export const compileScalarCheck = (shape: Scalar): ScalarCheck => foldScalar(shape, checks)
export const checkScalar = (shape: Scalar, value: unknown): unknown | Flaw => scalarCheckOf(shape)(value)
const scalarCheckOf = /* @__PURE__ */ memoizeByObject(compileScalarCheck)

/** Octets (XML Schema Part 2 §3.2.15 hexBinary, §3.2.16 base64Binary). */
const compileBytesCheck =
  ({ encoding, max = Infinity }: ScalarOf<'bytes'>) =>
  (value: unknown): Uint8Array | Flaw => {
    if (!(value instanceof Uint8Array)) return typeFlaw(encoding === 'hex' ? 'hexadecimal bytes' : 'base64 bytes')
    return value.length > max ? boundFlaw('maxLength', `must have at most ${max} octets`) : value
  }

const checkIdentifier = (value: unknown): string | Flaw =>
  typeof value === 'string' && isIdentifier(value)
    ? value
    : typeFlaw('an identifier: at most 64 letters, digits, ".", "_", "~" and "-"')
const checks: ScalarCases<ScalarCheck> = {
  string: compileStringCheck,
  boolean: () => value => (typeof value === 'boolean' ? value : typeFlaw('true or false')),
  int: compileIntCheck,
  long: compileLongCheck,
  decimal: compileDecimalCheck,
  double: compileDoubleCheck,
  date: compileTemporalCheck,
  time: compileTemporalCheck,
  dateTime: compileTemporalCheck,
  duration: compileTemporalCheck,
  bytes: compileBytesCheck,
  enum:
    ({ values }) =>
    value =>
      typeof value === 'string' && values.includes(value)
        ? value
        : new Flaw('enum', `must be one of ${values.join(', ')}`),
  id: () => checkIdentifier,
  ref: () => checkIdentifier,
}

/** Text → value. White space is collapsed first, except in strings (Part 2 §4.3.6). */
export type ScalarReader = (text: string) => unknown | Flaw
export const compileScalarReader = (shape: Scalar): ScalarReader => foldScalar(shape, readers)
export const readScalar = (shape: Scalar, text: string): unknown | Flaw => scalarReaderOf(shape)(text)
const scalarReaderOf = /* @__PURE__ */ memoizeByObject(compileScalarReader)

function compileTrimmedReader(shape: Scalar): ScalarReader {
  const check = compileScalarCheck(shape)
  return text => check(trimXmlSpace(text))
}
function compileIntReader(shape: ScalarOf<'int'>): ScalarReader {
  const check = compileIntCheck(shape)
  return text => check(parseInteger(trimXmlSpace(text)))
}
function compileLongReader(shape: ScalarOf<'long'>): ScalarReader {
  const check = compileLongCheck(shape)
  return text => check(parseBigInteger(trimXmlSpace(text)))
}
export function compileDoubleReader(shape: ScalarOf<'double'>): ScalarReader {
  const check = compileDoubleCheck(shape)
  return text => check(parseDouble(trimXmlSpace(text)))
}
function compileStringReader(shape: ScalarOf<'string'>): ScalarReader {
  const check = compileStringCheck(shape)
  const { xsd } = shape
  return xsd === undefined ? check : text => check(normalizeXmlSpace(xsd, text))
}
export function compileBytesReader(shape: ScalarOf<'bytes'>): ScalarReader {
  const check = compileBytesCheck(shape)
  return shape.encoding === 'hex' ? text => check(decodeHex(trimXmlSpace(text))) : text => check(decodeBase64(text))
}
function readBoolean(text: string): boolean | Flaw {
  const value = trimXmlSpace(text)
  if (value === 'true' || value === '1') return true
  return value === 'false' || value === '0' ? false : typeFlaw('true or false')
}
const readers: ScalarCases<ScalarReader> = {
  string: compileStringReader,
  boolean: () => readBoolean,
  int: compileIntReader,
  long: compileLongReader,
  decimal: compileTrimmedReader,
  double: compileDoubleReader,
  date: compileTrimmedReader,
  time: compileTrimmedReader,
  dateTime: compileTrimmedReader,
  duration: compileTrimmedReader,
  bytes: compileBytesReader,
  enum: compileScalarCheck,
  id: compileScalarCheck,
  ref: compileScalarCheck,
}

/** A checked value → its text, in canonical form if the type has one. */
export type ScalarWriter = (value: unknown) => string
export const compileScalarWriter = (shape: Scalar): ScalarWriter => foldScalar(shape, writers)
export const writeScalar = (shape: Scalar, value: unknown): string => compileScalarWriter(shape)(value)

const plainWriter = (): ScalarWriter => String
const writers: ScalarCases<ScalarWriter> = {
  string: plainWriter,
  boolean: plainWriter,
  int: plainWriter,
  long: plainWriter,
  decimal: plainWriter,
  double: shape => value => writeDouble(shape, Number(value)), // the check accepts a bigint too
  date: plainWriter,
  time: plainWriter,
  dateTime: plainWriter,
  duration: plainWriter,
  bytes: ({ encoding }) =>
    encoding === 'hex' ? value => encodeHex(value as Uint8Array) : value => encodeBase64(value as Uint8Array),
  enum: plainWriter,
  id: plainWriter,
  ref: plainWriter,
}
