/** How often a particle occurs (XML Schema Part 1 §3.9.1). */
import { type AnyMember, Member } from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { attributeOf } from './schema-components.ts'

export interface Occurs {
  readonly min: number
  readonly max: number
  /** The minimum where there are any. */
  readonly least?: number | undefined
}

export function occursOf(node: Element): Occurs {
  const max = attributeOf(node, 'maxOccurs')
  return {
    min: Number(attributeOf(node, 'minOccurs') ?? 1),
    max: max === 'unbounded' ? Number.POSITIVE_INFINITY : Number(max ?? 1),
  }
}

export function withOccurs(member: AnyMember, { min, max, least }: Occurs): AnyMember {
  if (least !== undefined) return member.manyOrNone(least, max)
  const many = max > 1 ? member.many(min, max) : new Member(member.particle, { ...member.marks, max: 1, isMany: false })
  return max > 1 ? many : new Member(many.particle, { ...many.marks, min })
}

/** The occurrences of a particle that is alone in a group, combined into one range, if possible. */
export function joinOccurs(inner: Occurs, outer: Occurs): Occurs | undefined {
  if (outer.min === 1 && outer.max === 1) return inner
  if (inner.min === 1 && inner.max === 1) return outer
  const isOptional = outer.min === 0 && outer.max === 1
  if (inner.least !== undefined) return isOptional ? inner : undefined
  if (isOptional && inner.min > 1) return { min: 0, max: inner.max, least: inner.min }
  const isLoose = inner.min <= 1 && (inner.max === 1 || inner.max === Number.POSITIVE_INFINITY)
  return isLoose ? { min: inner.min * outer.min, max: inner.max === 1 ? outer.max : inner.max } : undefined
}
