/**
 * RPC/literal (rule B2.6; SOAP 1.1 §7, SOAP 1.2 Part 2 §4; WS-I Basic Profile 1.1 §4.7): an element
 * named after the operation around one accessor for each parameter. Only that element has a
 * namespace: clients that generate their messages from the WSDL expect no other.
 */

import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { type Cursor, internName, writeAttribute } from '../../xml/index.ts'
import { asBadArguments, asSchemaRefusal, refuseMessage } from '../refusal.ts'
import type { SoapVersion } from '../version.ts'
import { checkEncodings, compileOptionalReader, compileValueReader, refuseContent } from './literal-read.ts'
import { compileElementWriter } from './literal-write.ts'
import {
  describeUnexpected,
  type LiteralReading,
  pathOf,
  type ReadValue,
  type TypeSpace,
  type Write,
} from './values.ts'

interface Accessor {
  readonly key: string
  readonly field: AnyField
  readonly read: ReadValue
}

/**
 * At the `start` of the call; moves to its `end`. WSDL 1.1 has no optional part: where a parameter
 * is optional, an empty or a nil element means that it is not given (WS-I Basic Profile 1.1 R2211).
 * @param inner the namespace of the elements inside parameters
 */
export function compileRpcReader(
  fields: Fields,
  types: TypeSpace,
  inner: string,
): (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values {
  const space = { children: inner, below: inner, types, form: 'unqualified' } as const
  const accessors = new Map(
    visibleFields(fields).map(([key, field]) => {
      const read = (field.isOptional ? compileOptionalReader : compileValueReader)(field, key, space)
      return [internName('', toXmlName(key)), { key, field, read } satisfies Accessor]
    }),
  )
  const names = [...accessors.keys()]
  return (cursor, reading, version) => {
    const row: Record<string, unknown> = {}
    let result: ReturnName | undefined
    if (cursor.attributes > 0) checkEncodings(cursor)
    while (cursor.child() === 'start') {
      if (cursor.name === version.rpcResult && reading.isResponse) {
        if (result) refuseContent(cursor, 'is repeated')
        result = readRpcResult(cursor)
        continue
      }
      const accessor = accessors.get(cursor.name)
      if (!accessor) return refuseContent(cursor, describeUnexpected(cursor.name, names))
      if (Object.hasOwn(row, accessor.key)) refuseContent(cursor, 'is repeated')
      row[accessor.key] = accessor.read(cursor, reading)
    }
    if (cursor.event !== 'end') refuseContent(cursor, 'has text where parameters are expected')
    if (result) requireResult(result, row, accessors.values())
    return requireComplete(row, accessors.values(), detail => refuseContent(cursor, detail))
  }
}

const visibleFields = (fields: Fields) => Object.entries(fields).filter(([, field]) => !field.isInternal)

/** SOAP 1.2 Part 2 §4.2.2: the accessor of the return value, which has to be present. */
export interface ReturnName {
  readonly path: string
  readonly local: string
}
function readRpcResult(cursor: Cursor): ReturnName {
  const path = pathOf(cursor)
  const name = cursor.qname(cursor.text() ?? '')
  return name ? { path, local: name.local } : refuseMessage({ kind: 'schema', path, detail: 'must be a QName' })
}
export function requireResult(
  { path, local }: ReturnName,
  row: Record<string, unknown>,
  accessors: Iterable<Pick<Accessor, 'key'>>,
): void {
  for (const { key } of accessors) if (toXmlName(key) === local && Object.hasOwn(row, key)) return
  refuseMessage({ kind: 'schema', path, detail: `names ${local}, which the response does not have` })
}

/** SOAP 1.2 Part 2 §4.4: arguments that do not match the procedure have a subcode of their own. */
export const readAsArguments = <T>(read: () => T): T =>
  asSchemaRefusal(read, refusal => ({ ...refusal, kind: 'encoded', subcode: asBadArguments }))

/** Leaves out absent and read-only parameters, and refuses a call without a required one. */
export function requireComplete(
  row: Record<string, unknown>,
  accessors: Iterable<Pick<Accessor, 'key' | 'field'>>,
  refuse: (detail: string) => never,
): Record<string, unknown> {
  for (const { key, field } of accessors) {
    const isGiven = Object.hasOwn(row, key) && (row[key] !== null || field.isNullable)
    if (!isGiven && !field.isOptional && !field.isReadOnly) refuse(`must have ${toXmlName(key)}`)
    // A value out of bounds has been reported already, and is undefined here.
    if (!isGiven || row[key] === undefined || field.isReadOnly) delete row[key]
  }
  return row
}

/** The response: named after the operation, with the suffix Response. */
export function compileRpcWriter(namespace: string, element: string, fields: Fields, inner: string): Write {
  const prefix = inner === '' ? '' : 't:'
  const parts = visibleFields(fields).map(([key, field]) => ({
    key,
    write: compileElementWriter(field, key, toXmlName(key), prefix),
  }))
  const scope = `xmlns:m=${writeAttribute(namespace)}${inner === '' ? '' : ` xmlns:t=${writeAttribute(inner)}`}`
  const [open, close] = [`<m:${element} ${scope}>`, `</m:${element}>`]
  return (value, writing) => {
    const row = value as Values // the content of a message is a row
    let text = open
    for (const { key, write } of parts) {
      const member = ownMember(row, key)
      if (member !== undefined) text += write(member, writing)
    }
    return text + close
  }
}
