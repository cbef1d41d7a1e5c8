/**
 * RPC/literal (rule B2.6; SOAP 1.1 §7, SOAP 1.2 Part 2 §4; WS-I Basic Profile 1.1 §4.7): an element named after the operation
 * around one accessor for each parameter, in no namespace, told apart by their names; what is inside is of the schema.
 */

import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { type Cursor, internName } from '../../xml/index.ts'
import { asBadArguments, asSchemaRefusal, refuseMessage } from '../refusal.ts'
import { checkEncodings, compileValueReader } from './literal-read.ts'
import { compileElementWriter } from './literal-write.ts'
import { type LiteralReading, pathOf, type ReadValue, type Write } from './values.ts'

interface Accessor {
  readonly key: string
  readonly field: AnyField
  readonly read: ReadValue
}

/** At the `start` of the call; goes to its `end`. */
export function compileRpcReader(
  namespace: string,
  fields: Fields,
): (cursor: Cursor, reading: LiteralReading) => Values {
  const inside = { children: namespace, below: namespace, types: namespace }
  const accessors = new Map(
    shown(fields).map(([key, field]) => {
      const read = compileValueReader(field.isOptional ? field.nullable() : field, key, inside)
      return [internName('', toXmlName(key)), { key, field, read } satisfies Accessor]
    }),
  )
  const names = [...accessors.keys()].map(each => each.local).join(', ')
  return (cursor, reading) => {
    const row: Record<string, unknown> = {}
    if (cursor.attributes > 0) checkEncodings(cursor)
    while (cursor.child() === 'start') {
      const accessor = accessors.get(cursor.name)
      if (!accessor) return bad(cursor, `is no parameter: ${names || 'none'} would be`)
      if (Object.hasOwn(row, accessor.key)) bad(cursor, 'is there twice')
      row[accessor.key] = accessor.read(cursor, reading)
    }
    if (cursor.event !== 'end') bad(cursor, 'has text where parameters are expected')
    return requireComplete(dropNulls(row, fields), accessors.values(), detail => bad(cursor, detail))
  }
}

const shown = (fields: Fields) => Object.entries(fields).filter(([, field]) => !field.isInternal)

const bad = (cursor: Cursor, detail: string): never => refuseMessage({ kind: 'schema', path: pathOf(cursor), detail })

/** SOAP 1.2 Part 2 §4.4: arguments that are not those of the procedure have a subcode of their own. */
export const readAsArguments = <T>(read: () => T): T =>
  asSchemaRefusal(read, refusal => ({ ...refusal, kind: 'encoded', subcode: asBadArguments }))

/**
 * A parameter that has nothing to say is left out or nil, or an empty text: WSDL 1.1 has no optional part, and clients that
 * keep to WS-I Basic Profile R2211 can send neither of the others.
 */
export function dropNulls(row: Record<string, unknown>, fields: Fields): Record<string, unknown> {
  for (const [key, field] of Object.entries(fields)) if (field.isOptional && row[key] === '') delete row[key]
  return row
}

/** Leaves out what is absent or read-only, and refuses a call without a parameter that is required. */
export function requireComplete(
  row: Record<string, unknown>,
  accessors: Iterable<Pick<Accessor, 'key' | 'field'>>,
  missing: (detail: string) => never,
): Record<string, unknown> {
  for (const { key, field } of accessors) {
    const isGiven = Object.hasOwn(row, key) && (row[key] !== null || field.isNullable)
    if (!isGiven && !field.isOptional && !field.isReadOnly) missing(`must have ${toXmlName(key)}`)
    // A value outside of its bounds is reported already, and undefined here.
    if (!isGiven || row[key] === undefined || field.isReadOnly) delete row[key]
  }
  return row
}

/** The response: named after the operation, with Response behind it. */
export function compileRpcWriter(namespace: string, element: string, fields: Fields): Write {
  const parts = shown(fields).map(([key, field]) => ({
    key,
    write: compileElementWriter(field, key, toXmlName(key), 'm:'),
  }))
  const [open, close] = [`<m:${element} xmlns:m="${namespace}">`, `</m:${element}>`]
  return (value, writing) => {
    const row = value as Values // an answer is a row
    let written = open
    for (const { key, write } of parts) {
      const member = ownMember(row, key)
      if (member !== undefined) written += write(member, writing)
    }
    return written + close
  }
}
