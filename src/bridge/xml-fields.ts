/**
 * Types of XML as fields of a resource. A type either has fields that hold its very values, or none
 * at all: what only XML can say (choices, wildcards, derived types) stays in messages.
 */

import type { AnyField, Fields } from '../contract/field.ts'
import { Field, t } from '../contract/field.ts'
import { listMembers } from '../contract/xml-members.ts'
import { scalarsByName } from '../contract/xml-simple.ts'
import type { AnyMember, AnyXmlType, NamespaceForm } from '../contract/xml-type.ts'

/** The fields of a complex type, or undefined. `around`: the types that lead to it. */
export function fieldsOfType(
  type: AnyXmlType,
  form: NamespaceForm,
  around: readonly AnyXmlType[] = [],
): Fields | undefined {
  const { definition } = type
  if (definition.kind !== 'complex' || around.includes(type)) return undefined
  const fields: Record<string, AnyField> = {}
  for (const { key, member, form: inner } of listMembers(definition, form)) {
    const field = fieldOfMember(member, inner, [...around, type])
    if (!field) return undefined
    fields[key] = field
  }
  return fields
}

/** What a member of one element, attribute or text holds; undefined for a group or a wildcard. */
export function contentOfMember({ particle, marks }: AnyMember): { type: AnyXmlType; isNillable: boolean } | undefined {
  switch (particle.kind) {
    case 'element':
      return { type: particle.type(), isNillable: marks.isNillable }
    case 'reference': {
      const root = particle.to()
      return { type: root.type(), isNillable: marks.isNillable || root.isNillable }
    }
    case 'attribute':
    case 'text':
      return { type: particle.type, isNillable: false }
    default:
      return undefined
  }
}

function fieldOfMember(member: AnyMember, form: NamespaceForm, around: readonly AnyXmlType[]): AnyField | undefined {
  const content = contentOfMember(member)
  const one = content && fieldOfType(content.type, form, around)
  if (!one) return undefined
  const each = content.isNillable ? one.nullable() : one
  const { isMany, min } = member.marks
  if (isMany) return t.list(each as Field<unknown>, { max: Number.POSITIVE_INFINITY }) // not optional as an item
  return min === 0 ? each.optional() : each
}

function fieldOfType(type: AnyXmlType, form: NamespaceForm, around: readonly AnyXmlType[]): AnyField | undefined {
  const { definition } = type
  switch (definition.kind) {
    case 'builtIn': {
      if (definition.name === 'decimal') return t.string() // as long as it may be
      const scalar = scalarsByName[definition.name]
      return scalar && new Field(scalar)
    }
    case 'restriction': {
      const base = fieldOfType(definition.of, form, around)
      const [first, ...others] = definition.facets.values ?? []
      return base?.shape.kind === 'string' && first !== undefined ? t.enum(first, ...others) : base
    }
    case 'complex': {
      const fields = fieldsOfType(type, form, around)
      return fields && t.object(fields)
    }
    default:
      return undefined
  }
}
