/**
 * The server's own members inside of what a client sends (rule A2.1): as those of an item itself,
 * they stay as they stand.
 */

import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { foldShape, innerFields, type ShapeCases } from '../contract/shape.ts'
import { packTyped } from './typed-json.ts'

/** What was sent in place of what stood, with what of the server's stood inside of its objects. */
export function keepReadOnlyMembers(fields: Fields, sent: Values, stood: Values): Values {
  if (!hasInnerServerFields(fields)) return sent
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, keepInside(fields[name], value, stood[name])]),
  )
}

function keepInside(field: AnyField | undefined, sent: unknown, stood: unknown): unknown {
  if (!field || !innerFields(field.shape).some(hasServerFields)) return sent
  return foldShape(field.shape, merges, sent, stood)
}
const merges: ShapeCases<unknown, [sent: unknown, stood: unknown]> = {
  scalar: (_shape, sent) => sent,
  // An item has no name to be known by: it keeps what is the server's where it stands as it was.
  list: ({ item }, sent, stood) =>
    Array.isArray(sent) && Array.isArray(stood)
      ? sent.map((each, at) =>
          packTyped(keepInside(item, each, stood[at])) === packTyped(stood[at]) ? stood[at] : each,
        )
      : sent,
  object: ({ fields }, sent, stood) => (isRow(sent) && isRow(stood) ? keepInFields(fields, sent, stood) : sent),
  union: ({ on, of }, sent, stood) =>
    isRow(sent) && isRow(stood) && sent[on] === stood[on]
      ? { [on]: sent[on], ...keepInFields(of[String(sent[on])] ?? {}, sent, stood) }
      : sent,
}

function keepInFields(fields: Fields, sent: Values, stood: Values): Values {
  const members = Object.entries(fields).map(
    ([name, field]) => [name, field.isReadOnly ? stood[name] : keepInside(field, sent[name], stood[name])] as const,
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** Whether something inside of these fields, or one of them, is the server's. */
const hasInnerServerFields = memoizeByObject((fields: Fields): boolean =>
  Object.values(fields).some(({ shape }) => innerFields(shape).some(hasServerFields)),
)
const hasServerFields = memoizeByObject(
  (fields: Fields): boolean => hasInnerServerFields(fields) || Object.values(fields).some(field => field.isReadOnly),
)
