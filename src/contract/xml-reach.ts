/** The types and global elements that declarations lead to, each once, in the order of mention. */
import type { AnyMember, AnyRootElement, AnyXmlType, TypeMembers } from './xml-type.ts'

export interface ReachedTypes {
  readonly types: readonly AnyXmlType[]
  readonly elements: readonly AnyRootElement[]
}

export function listReachedTypes(elements: Iterable<AnyRootElement>, types: Iterable<AnyXmlType> = []): ReachedTypes {
  const reached = { types: new Set<AnyXmlType>(), elements: new Set<AnyRootElement>() }
  const pending: (AnyXmlType | AnyRootElement)[] = [...elements, ...types].reverse()
  for (let next = pending.pop(); next; next = pending.pop()) {
    if ('type' in next) {
      if (reached.elements.has(next)) continue
      reached.elements.add(next)
      pending.push(next.type())
    } else if (!reached.types.has(next)) {
      reached.types.add(next)
      pending.push(...referredBy(next).reverse())
    }
  }
  return { types: [...reached.types], elements: [...reached.elements] }
}

/** The types and elements that a type's definition itself refers to. */
export function referredBy({ definition }: AnyXmlType): (AnyXmlType | AnyRootElement)[] {
  switch (definition.kind) {
    case 'builtIn':
      return []
    case 'restriction':
      return [definition.of]
    case 'list':
      return [definition.item]
    case 'union':
      return [...definition.of]
    case 'array':
      return [definition.item()]
    case 'derivable':
      return [definition.type, ...definition.derived()]
    case 'complex':
      return [...(definition.base ? [definition.base.type] : []), ...referredByMembers(definition.members)]
  }
}
const referredByMembers = (members: TypeMembers): (AnyXmlType | AnyRootElement)[] =>
  Object.values(members).flatMap(referredByMember)
function referredByMember({ particle }: AnyMember): (AnyXmlType | AnyRootElement)[] {
  switch (particle.kind) {
    case 'element':
      return [particle.type()]
    case 'reference':
      return [particle.to()]
    case 'attribute':
    case 'text':
      return [particle.type]
    case 'choice':
    case 'sequence':
      return referredByMembers(particle.members)
    default:
      return []
  }
}
