/**
 * RPC/literal (rule B2.6; SOAP 1.1 §7, SOAP 1.2 Part 2 §4; WS-I Basic Profile 1.1 §4.7): an element named after the operation
 * around one accessor for each parameter, in no namespace, told apart by their names; what is inside is of the schema.
 */

import { memberOf } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import type { Row } from '../../contract/implement.ts'
import { xmlName } from '../../contract/xml-message.ts'
import { type Cursor, name } from '../../xml/index.ts'
import { badArguments, no, schemaAs } from '../refusal.ts'
import { checkEncodings, valueReader } from './literal-read.ts'
import { elementWriter } from './literal-write.ts'
import { place, type Read, type Reading, type Write } from './values.ts'

interface Accessor {
  readonly key: string
  readonly field: AnyField
  readonly read: Read
}

/** At the `start` of the call; goes to its `end`. */
export function rpcReader(namespace: string, fields: Fields): (cursor: Cursor, reading: Reading) => Row {
  const inside = { children: namespace, below: namespace, types: namespace }
  const accessors = new Map(
    shown(fields).map(([key, field]) => {
      const read = valueReader(field.isOptional ? field.nullable() : field, key, inside)
      return [name('', xmlName(key)), { key, field, read } satisfies Accessor]
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
    return complete(silent(row, fields), accessors.values(), detail => bad(cursor, detail))
  }
}

const shown = (fields: Fields) => Object.entries(fields).filter(([, field]) => !field.isInternal)

const bad = (cursor: Cursor, detail: string): never => no({ kind: 'schema', path: place(cursor), detail })

/** SOAP 1.2 Part 2 §4.4: arguments that are not those of the procedure have a subcode of their own. */
export const asArguments = <T>(read: () => T): T =>
  schemaAs(read, refusal => ({ ...refusal, kind: 'encoded', subcode: badArguments }))

/**
 * A parameter that has nothing to say is left out or nil, or an empty text: WSDL 1.1 has no optional part, and clients that
 * keep to WS-I Basic Profile R2211 can send neither of the others.
 */
export function silent(row: Record<string, unknown>, fields: Fields): Record<string, unknown> {
  for (const [key, field] of Object.entries(fields)) if (field.isOptional && row[key] === '') delete row[key]
  return row
}

/** Members that are absent are absent, and none is that must be there. */
export function complete(
  row: Record<string, unknown>,
  accessors: Iterable<Pick<Accessor, 'key' | 'field'>>,
  missing: (detail: string) => never,
): Record<string, unknown> {
  for (const { key, field } of accessors) {
    const value = memberOf(row, key)
    const isAbsent = value === undefined || (value === null && !field.isNullable)
    if (isAbsent && !field.isOptional && !field.isReadOnly) missing(`must have ${xmlName(key)}`)
    if (isAbsent || field.isReadOnly) delete row[key]
  }
  return row
}

/** The response: named after the operation, with Response behind it. */
export function rpcWriter(namespace: string, element: string, fields: Fields): Write {
  const parts = shown(fields).map(([key, field]) => ({ key, write: elementWriter(field, key, xmlName(key), 'm:') }))
  const [open, close] = [`<m:${element} xmlns:m="${namespace}">`, `</m:${element}>`]
  return (value, writing) => {
    const row = value as Row // an answer is a row
    let written = open
    for (const { key, write } of parts) {
      const member = memberOf(row, key)
      if (member !== undefined) written += write(member, writing)
    }
    return written + close
  }
}
