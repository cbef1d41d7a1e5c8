/**
 * Types of XML as fields of a resource. A type either has fields that hold exactly its values, or
 * none at all: what only XML can express (choices, wildcards, derived types) stays in messages.
 */

import type { AnyField, Fields } from '../contract/field.ts'
import { Field, t } from '../contract/field.ts'
import { listMembers, mayMemberBeNil } from '../contract/xml-members.ts'
import { scalarsByName } from '../contract/xml-simple.ts'
import type { AnyMember, AnyXmlType, NamespaceForm, SchemaFacets } from '../contract/xml-type.ts'

/** Their values are texts of any length: JAXB has `anySimpleType` for each date without a hint. */
const textTypes: ReadonlySet<string> = new Set(['decimal', 'anySimpleType'])

/**
 * A type used by many others is repeated in each of them, so the number of fields could grow
 * without end.
 */
const fieldsMax = 1000

/** A place inside a type. */
interface FieldPlace {
  /** The types that contain this one. */
  readonly around: readonly AnyXmlType[]
  /** How many more fields are allowed, shared by everything inside one type. */
  readonly room: { left: number }
}

/** The fields of a complex type, at most a thousand including those of its parts; or undefined. */
export function fieldsOfType(
  type: AnyXmlType,
  form: NamespaceForm,
  { around, room }: FieldPlace = { around: [], room: { left: fieldsMax } },
): Fields | undefined {
  const { definition } = type
  if (definition.kind !== 'complex' || around.includes(type)) return undefined
  const fields: Record<string, AnyField> = {}
  for (const { key, member, form: inner } of listMembers(definition, form)) {
    if (room.left-- <= 0) return undefined
    const field = fieldOfMember(member, inner, { around: [...around, type], room })
    if (!field) return undefined
    fields[key] = field
  }
  return fields
}

/** The content of a member with one element, attribute or text; undefined for any other member. */
export function contentOfMember(member: AnyMember): { type: AnyXmlType; isNillable: boolean } | undefined {
  const { particle } = member
  switch (particle.kind) {
    case 'element':
      return { type: particle.type(), isNillable: mayMemberBeNil(member) }
    case 'reference':
      return { type: particle.to().type(), isNillable: mayMemberBeNil(member) }
    case 'attribute':
    case 'text':
      return { type: particle.type, isNillable: false }
    default:
      return undefined
  }
}

function fieldOfMember(member: AnyMember, form: NamespaceForm, place: FieldPlace): AnyField | undefined {
  const content = contentOfMember(member)
  const one = content && fieldOfType(content.type, form, place)
  if (!one) return undefined
  const each = content.isNillable ? one.nullable() : one
  const { isMany, min } = member.marks
  if (isMany) return t.list(each as Field<unknown>, { max: Number.POSITIVE_INFINITY }).default([])
  return min === 0 ? each.optional() : each
}

function fieldOfType(type: AnyXmlType, form: NamespaceForm, place: FieldPlace): AnyField | undefined {
  const { definition } = type
  switch (definition.kind) {
    case 'builtIn': {
      if (textTypes.has(definition.name)) return t.string()
      const scalar = scalarsByName[definition.name]
      return scalar && new Field(scalar)
    }
    case 'restriction': {
      const base = fieldOfType(definition.of, form, place)
      const [first, ...others] = definition.facets.values ?? []
      if (base?.shape.kind === 'string' && first !== undefined) return t.enum(first, ...others)
      return base && narrowInteger(base, definition.facets)
    }
    case 'complex': {
      const fields = fieldsOfType(type, form, place)
      return fields && t.object(fields)
    }
    default:
      return undefined
  }
}

/** A type narrows the bounds of its base; a field that is not an integer stays the same. */
function narrowInteger(field: AnyField, facets: SchemaFacets): AnyField {
  const { shape } = field
  if (shape.kind !== 'int' && shape.kind !== 'long') return field
  const min = readIntegerBound(facets.minInclusive, 0n) ?? readIntegerBound(facets.minExclusive, 1n)
  const max = readIntegerBound(facets.maxInclusive, 0n) ?? readIntegerBound(facets.maxExclusive, -1n)
  if (shape.kind === 'long')
    return new Field({ ...shape, ...(min !== undefined && { min }), ...(max !== undefined && { max }) })
  return new Field({
    ...shape,
    ...(min !== undefined && { min: Number(min) }),
    ...(max !== undefined && { max: Number(max) }),
  })
}
function readIntegerBound(text: string | undefined, step: bigint): bigint | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? BigInt(text.replace('+', '')) + step : undefined
}
