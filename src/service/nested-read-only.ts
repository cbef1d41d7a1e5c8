/**
 * Read-only members inside the values of an item (rule A2.1): like those of the item itself, they
 * keep their values.
 */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { entryFields, foldShape, innerFields, type ShapeCases } from '../contract/shape.ts'
import { packTyped } from './typed-json.ts'

/** The new values, with the read-only members of the old ones inside their objects. */
export function keepReadOnlyMembers(fields: Fields, sent: Values, previous: Values): Values {
  if (!isAnyReadOnlyWithin(fields)) return sent
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, keepWithin(fields[name], value, previous[name])]),
  )
}

function keepWithin(field: AnyField | undefined, sent: unknown, previous: unknown): unknown {
  if (!field || !innerFields(field.shape).some(isAnyReadOnly)) return sent
  return foldShape(field.shape, mergeCases, sent, previous)
}
const mergeCases: ShapeCases<unknown, [sent: unknown, previous: unknown]> = {
  scalar: (_shape, sent) => sent,
  // List items have no name: one that is otherwise unchanged keeps its read-only members.
  list: ({ item }, sent, previous) =>
    Array.isArray(sent) && Array.isArray(previous)
      ? sent.map((each, at) =>
          packTyped(keepWithin(item, each, previous[at])) === packTyped(previous[at]) ? previous[at] : each,
        )
      : sent,
  map: (shape, sent, previous) =>
    isRow(sent) && isRow(previous)
      ? Object.fromEntries(
          Object.entries(sent).map(([key, each]) => [
            key,
            keepWithin(entryFields(shape).value, each, ownMember(previous, key)),
          ]),
        )
      : sent,
  object: ({ fields }, sent, previous) =>
    isRow(sent) && isRow(previous) ? keepWithinFields(fields, sent, previous) : sent,
  union: ({ on, of }, sent, previous) =>
    isRow(sent) && isRow(previous) && sent[on] === previous[on]
      ? { [on]: sent[on], ...keepWithinFields(of[String(sent[on])] ?? {}, sent, previous) }
      : sent,
}

function keepWithinFields(fields: Fields, sent: Values, previous: Values): Values {
  const members = Object.entries(fields).map(
    ([name, field]) =>
      [name, field.isReadOnly ? previous[name] : keepWithin(field, sent[name], previous[name])] as const,
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** Whether a member inside these fields is read-only. */
const isAnyReadOnlyWithin = memoizeByObject((fields: Fields): boolean =>
  Object.values(fields).some(({ shape }) => innerFields(shape).some(isAnyReadOnly)),
)
const isAnyReadOnly = memoizeByObject(
  (fields: Fields): boolean => isAnyReadOnlyWithin(fields) || Object.values(fields).some(field => field.isReadOnly),
)
