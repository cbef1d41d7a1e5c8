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

/** A malformed count is read as 1, and a maximum below the minimum as the minimum. */
export function occursOf(node: Element): Occurs {
  const min = parseCount(attributeOf(node, 'minOccurs')) ?? 1
  const written = attributeOf(node, 'maxOccurs')
  const max = written === 'unbounded' ? Number.POSITIVE_INFINITY : (parseCount(written) ?? 1)
  return { min, max: Math.max(min, max) }
}
/** An xs:nonNegativeInteger. */
const parseCount = (text: string | undefined): number | undefined =>
  text !== undefined && /^(?:\+?\d+|-0+)$/.test(text) ? Math.abs(Number(text)) : undefined

/** What is wrong with the counts of a particle, and how they are read; undefined: nothing. */
export function describeMistakenOccurs(node: Element): string | undefined {
  const { min, max } = occursOf(node)
  const [minimum, maximum] = [attributeOf(node, 'minOccurs'), attributeOf(node, 'maxOccurs')]
  if (minimum !== undefined && parseCount(minimum) === undefined) return `has the minOccurs ${minimum}: it is read as 1`
  if (maximum === undefined ? min > 1 : maximum !== 'unbounded' && min > (parseCount(maximum) ?? 1))
    return `has a minOccurs of ${min} and a maxOccurs of ${maximum ?? 1}: it is read as ${min} times`
  if (maximum !== undefined && maximum !== 'unbounded' && parseCount(maximum) === undefined)
    return `has the maxOccurs ${maximum}: it is read as ${max}`
  return undefined
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
