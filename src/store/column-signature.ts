/**
 * How the stored values of a field are kept. This is stored next to them, so that a contract that
 * would misread them is noticed.
 */
import { mapMembers } from '../base/objects.ts'
import type { AnyField, Fields, Scalar } from '../contract/field.ts'
import { entryFields, foldScalar, foldShape, type ScalarCases, type ShapeCases } from '../contract/shape.ts'
import { isLarge } from './sort-key.ts'

/** Has no facets: they say which values are allowed, not how values are stored. */
export interface ColumnSignature {
  readonly kind: string
  readonly optional?: true
  readonly nullable?: true
  /** A default stands in for an absent value. */
  readonly filled?: true
  readonly values?: readonly string[]
  readonly item?: ColumnSignature
  readonly members?: Signatures
  readonly of?: Readonly<Record<string, Signatures>>
}
type Signatures = Readonly<Record<string, ColumnSignature>>

export function signatureOf({ shape, isOptional, isNullable, defaultValue }: AnyField): ColumnSignature {
  const { kind, ...rest } = foldShape(shape, shapeSignatures)
  return {
    kind,
    ...(isOptional && { optional: true as const }),
    ...(isNullable && { nullable: true as const }),
    ...(defaultValue !== undefined && { filled: true as const }),
    ...rest,
  }
}
const shapeSignatures: ShapeCases<ColumnSignature> = {
  scalar: shape => foldScalar(shape, scalarSignatures),
  list: ({ item }) => ({ kind: 'list', item: signatureOf(item) }),
  map: shape => ({ kind: 'map', item: signatureOf(entryFields(shape).value) }),
  object: ({ fields }) => ({ kind: 'object', members: signatures(fields) }),
  union: ({ on, of }) => ({ kind: `union by ${on}`, of: mapMembers(of, signatures) }),
}
const ownKind = ({ kind }: Scalar): ColumnSignature => ({ kind })
const textKind = (): ColumnSignature => ({ kind: 'string' })
const scalarSignatures: ScalarCases<ColumnSignature> = {
  string: ownKind,
  boolean: ownKind,
  int: ownKind,
  long: shape => ({ kind: isLarge(shape) ? 'integer' : 'long' }),
  decimal: ({ places }) => ({ kind: `decimal of ${places} places` }),
  double: ownKind,
  date: ownKind,
  time: ownKind,
  dateTime: ownKind,
  duration: ownKind,
  bytes: ownKind,
  enum: ({ values }) => ({ kind: 'enum', values }),
  id: textKind,
  ref: textKind,
}
const signatures = (fields: Fields): Signatures => mapMembers(fields, signatureOf)

/** Kinds whose values are compared in a second column. */
export const isOrderedKind = (kind: string): boolean =>
  ['date', 'time', 'dateTime', 'duration', 'integer'].includes(kind)

/**
 * Whether values of the old kind are stored like those of the new one, so that the kind may change.
 */
const widens = (was: string, now: string): boolean =>
  was === now || (was === 'enum' && now === 'string') || (was === 'int' && now === 'long')

/**
 * Why values within a list, object or union could be misread; empty if it only grew.
 * @param at the path of the field, for a person
 */
export function findMisread(was: ColumnSignature, now: ColumnSignature, at: string): readonly string[] {
  if (!widens(was.kind, now.kind)) return [`${at} was of kind ${was.kind} and is now of kind ${now.kind}`]
  return [
    ...(was.item && now.item ? findMisreadInside(was.item, now.item, `${at}[]`) : []),
    ...(was.members && now.members ? findMisreadMembers(was.members, now.members, at) : []),
    ...Object.entries(was.of ?? {}).flatMap(([name, members]) =>
      now.of?.[name]
        ? findMisreadMembers(members, now.of[name], `${at}(${name})`)
        : [`${at} no longer has the alternative ${name}`],
    ),
  ]
}

function findMisreadInside(was: ColumnSignature, now: ColumnSignature, at: string): readonly string[] {
  const missing = findMissing(was, now)
  return [
    ...(was.optional && !now.optional && !now.filled ? [`${at} was optional and is now required`] : []),
    ...(was.filled && !now.optional && !now.filled ? [`${at} had a default and is now required without one`] : []),
    ...(was.nullable && !now.nullable ? [`${at} could be null and no longer can`] : []),
    ...(now.kind === 'enum' && missing.length > 0 ? [`${at} no longer allows ${missing.join(', ')}`] : []),
    ...findMisread(was, now, at),
  ]
}

function findMisreadMembers(was: Signatures, now: Signatures, at: string): readonly string[] {
  return [
    ...Object.entries(was).flatMap(([name, of]) =>
      now[name] ? findMisreadInside(of, now[name], `${at}.${name}`) : [`${at}.${name} is no longer declared`],
    ),
    ...Object.entries(now).flatMap(([name, of]) =>
      was[name] || of.optional || of.filled
        ? []
        : [`${at}.${name} is new and required, and stored rows have no value for it`],
    ),
  ]
}

/** Values that the enumeration has lost. */
export const findMissing = (was: ColumnSignature, now: ColumnSignature): readonly string[] =>
  (was.values ?? []).filter(value => !now.values?.includes(value))
