/**
 * Read-only members inside the values of an item (rule A2.1): like those of the item itself, they
 * keep their values.
 */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { entryFields, foldShape, innerFields, type ShapeCases } from '../contract/shape.ts'
import { isSameValue } from './typed-json.ts'

/** The new values, with the read-only members of the old ones inside their objects. */
export function keepReadOnlyMembers(fields: Fields, input: Values, previous: Values): Values {
  if (!isAnyReadOnlyWithin(fields)) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, keepWithin(fields[name], value, ownMember(previous, name))]),
  )
}

function keepWithin(field: AnyField | undefined, input: unknown, previous: unknown): unknown {
  if (!field || !innerFields(field.shape).some(isAnyReadOnly)) return input
  return foldShape(field.shape, mergeCases, input, previous)
}
const mergeCases: ShapeCases<unknown, [sent: unknown, previous: unknown]> = {
  scalar: (_shape, input) => input,
  // List items have no name: one that is otherwise unchanged keeps its read-only members.
  list: ({ item }, input, previous) =>
    Array.isArray(input) && Array.isArray(previous)
      ? input.map((each, at) => (isSameValue(keepWithin(item, each, previous[at]), previous[at]) ? previous[at] : each))
      : input,
  map: (shape, input, previous) =>
    isRow(input) && isRow(previous)
      ? Object.fromEntries(
          Object.entries(input).map(([key, each]) => [
            key,
            keepWithin(entryFields(shape).value, each, ownMember(previous, key)),
          ]),
        )
      : input,
  object: ({ fields }, input, previous) =>
    isRow(input) && isRow(previous) ? keepWithinFields(fields, input, previous) : input,
  union: ({ on, of }, input, previous) =>
    isRow(input) && isRow(previous) && input[on] === previous[on]
      ? { [on]: input[on], ...keepWithinFields(of[String(input[on])] ?? {}, input, previous) }
      : input,
}

function keepWithinFields(fields: Fields, input: Values, previous: Values): Values {
  const members = Object.entries(fields).map(([name, field]) => {
    const before = ownMember(previous, name)
    return [name, field.isReadOnly ? before : keepWithin(field, ownMember(input, name), before)] as const
  })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** The names of fields that only the service sets. */
export const readOnlyNames = memoizeByObject((fields: Fields): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (field.isReadOnly ? [name] : [])),
)

/** Whether a member inside these fields is read-only. */
const isAnyReadOnlyWithin = memoizeByObject((fields: Fields): boolean =>
  Object.values(fields).some(({ shape }) => innerFields(shape).some(isAnyReadOnly)),
)
const isAnyReadOnly = memoizeByObject(
  (fields: Fields): boolean => isAnyReadOnlyWithin(fields) || readOnlyNames(fields).length > 0,
)
