/** What stored values of a field look like: kept beside them, so that a contract that would misread them is noticed. */
import type { AnyField, Fields } from '../contract/field.ts'
import { isLarge } from './sort-key.ts'

/** Facets are not in here: they say which values may come, not how they are kept. */
export interface ColumnSignature {
  readonly kind: string
  readonly optional?: true
  readonly nullable?: true
  readonly values?: readonly string[]
  readonly item?: ColumnSignature
  readonly members?: Signatures
  readonly of?: Readonly<Record<string, Signatures>>
}
type Signatures = Readonly<Record<string, ColumnSignature>>

export function signatureOf(field: AnyField): ColumnSignature {
  const marks = {
    ...(field.isOptional && { optional: true as const }),
    ...(field.isNullable && { nullable: true as const }),
  }
  const { shape } = field
  switch (shape.kind) {
    case 'list':
      return { kind: 'list', ...marks, item: signatureOf(shape.item) }
    case 'object':
      return { kind: 'object', ...marks, members: signatures(shape.fields) }
    case 'union':
      return { kind: `union by ${shape.on}`, ...marks, of: mapped(shape.of, signatures) }
    case 'enum':
      return { kind: 'enum', ...marks, values: shape.values }
    case 'decimal':
      return { kind: `decimal of ${shape.places} places`, ...marks }
    case 'long':
      return { kind: isLarge(shape) ? 'integer' : 'long', ...marks }
    case 'id':
    case 'ref':
      return { kind: 'string', ...marks }
    default:
      return { kind: shape.kind, ...marks }
  }
}
const mapped = <A, B>(of: Readonly<Record<string, A>>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(of).map(([name, each]) => [name, change(each)]))
const signatures = (fields: Fields): Signatures => mapped(fields, signatureOf)

/** Kinds whose values are kept as another's are, so that one may become the other. */
const widens = (was: string, now: string): boolean =>
  was === now || (was === 'enum' && now === 'string') || (was === 'int' && now === 'long')

export const isCompatible = (was: ColumnSignature, now: ColumnSignature): boolean =>
  widens(was.kind, now.kind) || (was.kind === 'string' && now.kind === 'enum')

/** Why values within a list, object or union could be misread; nothing for what only grew. `at` is for people. */
export function findMisread(was: ColumnSignature, now: ColumnSignature, at: string): readonly string[] {
  if (!widens(was.kind, now.kind)) return [`${at} was of kind ${was.kind} and is of kind ${now.kind}`]
  const inside = [
    ...(was.item && now.item ? misreadInside(was.item, now.item, `${at}[]`) : []),
    ...(was.members && now.members ? misreadMembers(was.members, now.members, at) : []),
    ...Object.entries(was.of ?? {}).flatMap(([name, members]) =>
      now.of?.[name]
        ? misreadMembers(members, now.of[name], `${at}(${name})`)
        : [`${at} no longer has the alternative ${name}`],
    ),
  ]
  return inside
}

function misreadInside(was: ColumnSignature, now: ColumnSignature, at: string): readonly string[] {
  const gone = findMissing(was, now)
  return [
    ...(was.optional && !now.optional ? [`${at} was optional and is required`] : []),
    ...(was.nullable && !now.nullable ? [`${at} could be null and can't any more`] : []),
    ...(now.kind === 'enum' && gone.length > 0 ? [`${at} no longer allows ${gone.join(', ')}`] : []),
    ...findMisread(was, now, at),
  ]
}

function misreadMembers(was: Signatures, now: Signatures, at: string): readonly string[] {
  return [
    ...Object.entries(was).flatMap(([name, of]) =>
      now[name] ? misreadInside(of, now[name], `${at}.${name}`) : [`${at}.${name} is no longer declared`],
    ),
    ...Object.entries(now).flatMap(([name, of]) =>
      was[name] || of.optional ? [] : [`${at}.${name} is new and required: rows that stand have none`],
    ),
  ]
}

/** Values of an enumeration that are gone. */
export const findMissing = (was: ColumnSignature, now: ColumnSignature): readonly string[] =>
  (was.values ?? []).filter(value => !now.values?.includes(value))
