/** The server's own members inside of what a client sends (rule A2.1): as those of an item itself, they stay as they stand. */

import { memoizeByObject } from '../base/memo.ts'
import type { AnyField, Fields } from '../contract/field.ts'
import type { Values } from '../contract/implement.ts'
import { packTyped } from './typed-json.ts'

/** What was sent in place of what stood, with what of the server's stood inside of its objects. */
export function keepReadOnlyMembers(fields: Fields, sent: Values, stood: Values): Values {
  if (!hasInside(fields)) return sent
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, keepInside(fields[name], value, stood[name])]),
  )
}

function keepInside(field: AnyField | undefined, sent: unknown, stood: unknown): unknown {
  if (!field || !hasOwn(field)) return sent
  const { shape } = field
  if (shape.kind === 'object') return isRow(sent) && isRow(stood) ? keepInFields(shape.fields, sent, stood) : sent
  if (shape.kind === 'union') {
    if (!isRow(sent) || !isRow(stood) || sent[shape.on] !== stood[shape.on]) return sent
    return { [shape.on]: sent[shape.on], ...keepInFields(shape.of[String(sent[shape.on])] ?? {}, sent, stood) }
  }
  if (shape.kind !== 'list' || !Array.isArray(sent) || !Array.isArray(stood)) return sent
  // An item has no name to be known by: it keeps what is the server's where it stands as it was.
  return sent.map((each, at) =>
    packTyped(keepInside(shape.item, each, stood[at])) === packTyped(stood[at]) ? stood[at] : each,
  )
}

function keepInFields(fields: Fields, sent: Values, stood: Values): Values {
  const members = Object.entries(fields).map(
    ([name, field]) => [name, field.isReadOnly ? stood[name] : keepInside(field, sent[name], stood[name])] as const,
  )
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

const isRow = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value)

/** Whether something inside of it is the server's. */
const hasOwn = ({ shape }: AnyField): boolean => {
  if (shape.kind === 'list') return hasOwn(shape.item)
  if (shape.kind === 'object') return hasOwnIn(shape.fields)
  return shape.kind === 'union' && Object.values(shape.of).some(hasOwnIn)
}
const hasInside = memoizeByObject((fields: Fields): boolean => Object.values(fields).some(hasOwn))
const hasOwnIn = memoizeByObject((fields: Fields): boolean =>
  Object.values(fields).some(field => field.isReadOnly || hasOwn(field)),
)
