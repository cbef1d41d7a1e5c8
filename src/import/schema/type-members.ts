/** Members of a complex type: parts with the keys that they would like, and their final keys. */
import type { AnyMember, AnyXmlType, Particle, TypeMembers } from '../../contract/xml-type.ts'
import { findFreeName } from '../constant-names.ts'

/** A part of a type and the key that it would like. */
export interface Part {
  readonly wish: string
  readonly member: AnyMember
}

/** Keys for parts: the desired ones as long as they are free. */
export function keyParts(
  parts: readonly Part[],
  comments: Map<object, string>,
  taken: ReadonlySet<string> = new Set(),
): TypeMembers {
  const members: Record<string, AnyMember> = {}
  const used = new Set([...taken, '__proto__'])
  for (const { wish, member } of parts) {
    const isAttribute = member.particle.kind === 'attribute'
    const key = findFreeName(isAttribute && used.has(wish) ? `${wish}Attribute` : wish, each => used.has(each))
    used.add(key)
    const needsName =
      key !== wish && (member.particle.kind === 'element' || isAttribute) && member.marks.name === undefined
    const named = needsName ? member.named(wish) : member
    const comment = comments.get(member)
    if (named !== member && comment !== undefined) comments.set(named, comment)
    members[key] = named
  }
  return members
}

export const membersOf = ({ definition }: AnyXmlType): (readonly [string, AnyMember])[] =>
  definition.kind === 'complex'
    ? [
        ...(definition.base?.by === 'extension' ? membersOf(definition.base.type) : []),
        ...Object.entries(definition.members),
      ]
    : []
export const keysOf = (type: AnyXmlType): ReadonlySet<string> => new Set(membersOf(type).map(([key]) => key))
export const textOfType = (type: AnyXmlType): AnyXmlType | undefined =>
  membersOf(type).flatMap(([, { particle }]) => (particle.kind === 'text' ? [particle.type] : []))[0]

export const listWildcards = (
  members: readonly (readonly [string, AnyMember])[],
): readonly Extract<Particle, { readonly kind: 'any' | 'anyAttribute' }>[] =>
  members.flatMap(([, { particle }]) => (particle.kind === 'anyAttribute' ? [particle] : []))

/** In James Clark's notation. */
export const nameOfAttribute = ([key, { marks }]: readonly [string, AnyMember]): string =>
  `{${marks.uri ?? ''}}${marks.name ?? key}`

export const lowerInitial = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

/** `cardOrCash` for two names; for more, or for long ones, a word. */
export function joinNames(parts: readonly Part[], by: string, otherwise: string): string {
  const names = parts.map(({ wish }) => wish)
  const joined = names.map((name, at) => (at === 0 ? lowerInitial(name) : name.charAt(0).toUpperCase() + name.slice(1)))
  const text = joined.join(by)
  return text !== '' && names.length <= 3 && text.length <= 40 ? text : otherwise
}
