/**
 * Input → JSON, checked against the contract by the service's own reader, so that the service
 * accepts what is sent, unless something depends on other items.
 */
import { type Json, mapMembers, ownMember } from '../../base/objects.ts'
import type { AnyField, Fields } from '../../contract/field.ts'
import { readFields } from '../../contract/field-json.ts'
import type { FieldProblem } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import { writeScalar } from '../../contract/lexical/scalar.ts'
import { entryFields, foldShape, type ShapeCases } from '../../contract/shape.ts'
import { writeJson } from '../../http/write-json.ts'
import { InputError } from '../errors.ts'

/** @throws InputError */
export const writeInput = (operation: string, fields: Fields, input: Values): string =>
  writeValid(operation, fields, input, () => true)

/** RFC 7396: absent fields stay as they are, and null removes one. @throws InputError */
export const writeChanges = (operation: string, fields: Fields, changes: Values): string =>
  writeValid(operation, fields, changes, ({ code, path: [name = '', ...inner] }) => {
    const isWhole = inner.length === 0
    const mayGo = changes[name] === null && fields[name]?.isOptional
    return !(isWhole && (code === 'required' || mayGo))
  })

function writeValid(
  operation: string,
  fields: Fields,
  input: Values,
  isProblem: (problem: FieldProblem) => boolean,
): string {
  const json = membersToJson(fields, input)
  const problems: FieldProblem[] = []
  readFields(fields, json, problems)
  const wrong = problems.filter(isProblem)
  if (wrong.length > 0) throw new InputError(operation, wrong)
  return writeJson(json)
}

/** Typed values as JSON; a value of no such type is left as it is, for the reader to refuse. */
const membersToJson = (fields: Fields, value: Values): { readonly [name: string]: Json } =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === undefined ? [] : [[name, valueToJson(ownMember(fields, name), member)]],
    ),
  )

const valueToJson = (field: AnyField | undefined, value: unknown): Json =>
  field && value !== null ? foldShape(field.shape, jsonCases, value) : (value as Json)

const jsonCases: ShapeCases<Json, [value: unknown]> = {
  scalar: (shape, value) => {
    const isText = value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))
    return isText ? writeScalar(shape, value) : (value as Json)
  },
  list: ({ item }, value) => (Array.isArray(value) ? value.map(each => valueToJson(item, each)) : (value as Json)),
  map: (shape, value) =>
    isMembers(value) ? mapMembers(value, each => valueToJson(entryFields(shape).value, each)) : (value as Json),
  object: ({ fields }, value) => (isMembers(value) ? membersToJson(fields, value) : (value as Json)),
  union: ({ on, of }, value) =>
    isMembers(value) ? membersToJson(ownMember(of, String(value[on])) ?? {}, value) : (value as Json),
}
const isMembers = (value: unknown): value is Values => typeof value === 'object' && value !== null
