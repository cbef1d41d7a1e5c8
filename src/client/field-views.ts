/** Fields as a client reads and sends them. */
import { type AnyField, Field, type Fields, mayBeLeftOut } from '../contract/field.ts'
import { mapShape } from '../contract/shape.ts'

/** Fields as they are in a reply, where read-only ones are read like the rest. */
export const toReplyFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, toReplyField(field)]))

const toReplyField = (field: AnyField): AnyField =>
  new Field(mapShape(field.shape, { item: toReplyField, fields: toReplyFields }), {
    ...field,
    isReadOnly: false,
    defaultValue: undefined,
  })

/**
 * Fields as a client sends them. Read-only ones, at every depth, may be left out or sent back as
 * they were read; those with a default may be left out. `owned` are the fields that the service can
 * fill in from the caller's claims.
 */
export const toDraftFields = (fields: Fields, owned: ReadonlySet<string> = new Set()): Fields =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, field]) => !field.isInternal)
      .map(([name, field]) => [name, owned.has(name) ? toDraftField(field).optional() : toDraftField(field)]),
  )

function toDraftField(field: AnyField): AnyField {
  const shape = mapShape(field.shape, { item: toDraftField, fields: inner => toDraftFields(inner) })
  return new Field(shape, { ...field, isReadOnly: false, isOptional: mayBeLeftOut(field) })
}
