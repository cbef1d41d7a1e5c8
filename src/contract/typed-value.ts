/** Whether a typed value is what its fields say: the last look at what handlers computed, before it is kept. */

import { memoizeByObject } from '../base/memo.ts'
import { ownMember } from '../base/objects.ts'
import type { AnyField, Fields } from './field.ts'
import { checkCount, type FieldProblem } from './field-json.ts'
import { Flaw } from './lexical/flaw.ts'
import { checkScalar } from './lexical/scalar.ts'

type Path = readonly (string | number)[]

/** `sound` is a value of these fields: what stands in it is not looked at again. */
export const checkValue = (
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
  sound?: Readonly<Record<string, unknown>>,
): FieldProblem[] => (isSound(fields, value, sound) ? [] : flawsIn(fields, value, []))

/** Nearly every value is: so it is asked first, without a path to where it is not. */
function isSound(
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
  sound?: Readonly<Record<string, unknown>>,
): boolean {
  let found = 0
  for (const entry of entriesOf(fields)) {
    const each = memberAt(value, entry)
    if (each !== undefined) found++
    const known = sound !== undefined && each !== undefined && each === memberAt(sound, entry)
    if (!known && !isSoundField(entry.field, each)) return false
  }
  return found === Object.keys(value).length
}

function isSoundField(field: AnyField, value: unknown): boolean {
  if (value === undefined) return field.isOptional
  if (value === null) return field.isNullable
  const { shape } = field
  switch (shape.kind) {
    case 'list':
      return (
        Array.isArray(value) && !checkCount(shape, value.length) && value.every(each => isSoundField(shape.item, each))
      )
    case 'object':
      return typeof value === 'object' && isSound(shape.fields, value as Record<string, unknown>) // an object, just asked
    case 'union':
      return fieldFlaws(field, value, []).length === 0
    default:
      return !(checkScalar(shape, value) instanceof Flaw)
  }
}

interface Entry {
  readonly name: string
  readonly field: AnyField
  /** Every object has something of this name. */
  readonly inherited: boolean
}
const entriesOf = memoizeByObject((fields: Fields): readonly Entry[] =>
  Object.entries(fields).map(([name, field]) => ({ name, field, inherited: name in Object.prototype })),
)
const memberAt = (value: Readonly<Record<string, unknown>>, { name, inherited }: Entry): unknown =>
  inherited ? ownMember(value, name) : value[name]

function flawsIn(fields: Fields, value: Readonly<Record<string, unknown>>, path: Path): FieldProblem[] {
  const unknown = Object.keys(value).filter(name => !Object.hasOwn(fields, name))
  return [
    ...unknown.map(name => ({ path: [...path, name], code: 'unknown', detail: 'is not a field of this' })),
    ...Object.entries(fields).flatMap(([name, field]) => fieldFlaws(field, ownMember(value, name), [...path, name])),
  ]
}

function fieldFlaws(field: AnyField, value: unknown, path: Path): FieldProblem[] {
  const flaw = (found: Flaw): FieldProblem[] => [{ path, code: found.code, detail: found.detail }]
  if (value === undefined) return field.isOptional ? [] : flaw(new Flaw('required', 'is required'))
  if (value === null) return field.isNullable ? [] : flaw(new Flaw('type', 'must not be null'))
  const shape = field.shape
  if (shape.kind === 'list') {
    if (!Array.isArray(value)) return flaw(new Flaw('type', 'must be an array'))
    const count = checkCount(shape, value.length)
    return [...(count ? flaw(count) : []), ...value.flatMap((item, i) => fieldFlaws(shape.item, item, [...path, i]))]
  }
  if (shape.kind === 'object' || shape.kind === 'union') {
    if (typeof value !== 'object') return flaw(new Flaw('type', 'must be an object'))
    const members = value as Record<string, unknown> // an object, just asked
    if (shape.kind === 'object') return flawsIn(shape.fields, members, path)
    const { [shape.on]: which, ...rest } = members
    const of = typeof which === 'string' && Object.hasOwn(shape.of, which) ? shape.of[which] : undefined
    return of ? flawsIn(of, rest, path) : flaw(new Flaw('enum', `must be one of ${Object.keys(shape.of).join(', ')}`))
  }
  const found = checkScalar(shape, value)
  return found instanceof Flaw ? flaw(found) : []
}

/** Every reference in a value, with its place: what must exist before the value may stand. */
export function findReferences(
  fields: Fields,
  value: Readonly<Record<string, unknown>>,
  path: Path = [],
): { readonly resource: string; readonly id: string; readonly path: Path }[] {
  return referring(fields).flatMap(({ name, field }) => fieldReferences(field, ownMember(value, name), [...path, name]))
}

/** Fields that are references, or have some in them. */
const referring = memoizeByObject((fields: Fields): readonly Entry[] =>
  entriesOf(fields).filter(({ field }) => refers(field)),
)
function refers({ shape }: AnyField): boolean {
  if (shape.kind === 'list') return refers(shape.item)
  if (shape.kind === 'object') return referring(shape.fields).length > 0
  return shape.kind === 'union' ? Object.values(shape.of).some(of => referring(of).length > 0) : shape.kind === 'ref'
}

function fieldReferences(field: AnyField, value: unknown, path: Path): ReturnType<typeof findReferences> {
  const { shape } = field
  if (value === undefined || value === null) return []
  if (shape.kind === 'ref') return [{ resource: shape.resource, id: String(value), path }]
  // `checkValue` and the readers of both faces have seen that lists are arrays and objects are objects.
  if (shape.kind === 'list')
    return (value as readonly unknown[]).flatMap((item, i) => fieldReferences(shape.item, item, [...path, i]))
  if (shape.kind === 'object') return findReferences(shape.fields, value as Record<string, unknown>, path)
  if (shape.kind === 'union') {
    const members = value as Record<string, unknown>
    return findReferences(shape.of[String(members[shape.on])] ?? {}, members, path)
  }
  return []
}
