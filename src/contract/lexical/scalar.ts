/**
 * The lexical and value spaces of scalars (XML Schema Part 2), one place for JSON, XML, query parameters and the store.
 * `readScalar` takes text to a value, `checkScalar` holds a value against its facets; both answer a flaw instead of throwing.
 */

import type { Scalar } from '../field.ts'
import { checkBytes, fromBase64, fromHex } from './binary.ts'
import { checkDecimal } from './decimal.ts'
import { Flaw, wrong } from './flaw.ts'
import { checkDouble, checkInt, checkLong, integerOf, integerText, readDouble, writeDouble } from './number.ts'
import { temporal, temporalForm } from './temporal.ts'
import { checkString, spaced, trimmed } from './text.ts'

export const isScalar = (shape: { readonly kind: string }): shape is Scalar =>
  shape.kind !== 'list' && shape.kind !== 'object' && shape.kind !== 'union'

/** The type of XML Schema Part 2 that a scalar is, or restricts. */
export function xsdTypeOf(shape: Scalar): string {
  switch (shape.kind) {
    case 'string':
    case 'int':
    case 'long':
    case 'double':
      return shape.xsd ?? shape.kind
    case 'bytes':
      return shape.encoding === 'hex' ? 'hexBinary' : 'base64Binary'
    case 'enum':
    case 'id':
    case 'ref':
      return 'string'
    default:
      return shape.kind
  }
}

/** Text in its lexical form → value. White space is collapsed first for all but strings (Part 2 §4.3.6). */
export function readScalar(shape: Scalar, text: string): unknown | Flaw {
  switch (shape.kind) {
    case 'string':
      return checkScalar(shape, shape.xsd === undefined ? text : spaced(shape.xsd, text))
    case 'id':
    case 'ref':
    case 'enum':
      return checkScalar(shape, text)
    case 'bytes':
      return checkScalar(shape, shape.encoding === 'hex' ? fromHex(trimmed(text)) : fromBase64(text))
    case 'boolean':
      return readBoolean(trimmed(text))
    case 'int':
      return checkScalar(shape, integerOf(trimmed(text)))
    case 'long':
      return checkScalar(shape, integerText.test(trimmed(text)) ? BigInt(trimmed(text).replace(/^\+/, '')) : undefined)
    case 'double':
      return checkScalar(shape, readDouble(trimmed(text)))
    default:
      return checkScalar(shape, trimmed(text))
  }
}

/** A typed value → its text, canonical where the type has a canonical form. */
export function writeScalar(shape: Scalar, value: unknown): string {
  if (shape.kind === 'bytes') {
    const bytes = value as Uint8Array // a bytes field holds bytes: `checkScalar` has seen it
    return shape.encoding === 'hex' ? bytes.toHex().toUpperCase() : bytes.toBase64()
  }
  if (shape.kind === 'double') return writeDouble(shape, Number(value)) // a number, or a bigint that `checkScalar` took for one
  return String(value)
}

/** A typed value against its facets; the value itself comes back, decimals with all their places. */
export function checkScalar(shape: Scalar, value: unknown): unknown | Flaw {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string' ? checkString(shape, value) : wrong('a string')
    case 'boolean':
      return typeof value === 'boolean' ? value : wrong('true or false')
    case 'int':
      return checkInt(shape, value)
    case 'long':
      return checkLong(shape, value)
    case 'decimal':
      return typeof value === 'string' ? checkDecimal(shape, value) : wrong('decimal text, such as "12.50"')
    case 'double':
      return checkDouble(shape, value)
    case 'bytes':
      return checkBytes(shape, value)
    case 'enum':
      return typeof value === 'string' && shape.values.includes(value)
        ? value
        : new Flaw('enum', `must be one of ${shape.values.join(', ')}`)
    case 'id':
    case 'ref':
      return typeof value === 'string' && identifier.test(value)
        ? value
        : wrong('an identifier: letters, digits, ".", "_", "~" and "-", at most 64')
    default:
      return typeof value === 'string' && temporal[shape.kind](value) ? value : wrong(temporalForm[shape.kind])
  }
}

/** RFC 3986's unreserved characters: an identifier is a path segment as it is. */
const identifier = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}$/

function readBoolean(text: string): boolean | Flaw {
  if (text === 'true' || text === '1') return true
  return text === 'false' || text === '0' ? false : wrong('true or false')
}
