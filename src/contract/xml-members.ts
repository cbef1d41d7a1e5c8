/** The members of a complex type, including those of its base, and the types that `$type` names. */
import { type ClarkName, parseClarkName } from '../base/clark-name.ts'
import { memoizeByObject } from '../base/memo.ts'
import { matchesNcName } from './lexical/text.ts'
import { isSimpleType } from './xml-simple.ts'
import type {
  AnyMember,
  AnyXmlType,
  ComplexDefinition,
  NamespaceForm,
  QualifiedName,
  WildcardNamespaces,
  XmlDefinition,
} from './xml-type.ts'

/** A member under its key, and the form of the type that declares it. */
export interface DeclaredMember {
  readonly key: string
  readonly member: AnyMember
  readonly form: NamespaceForm
}

/** The members of a base come first; text and wildcards of its own replace those of the base. */
export function listMembers(definition: ComplexDefinition, around: NamespaceForm): readonly DeclaredMember[] {
  const form = definition.form ?? around
  const own = Object.entries(definition.members).map(([key, member]) => ({ key, member, form }))
  const { base } = definition
  if (base?.by !== 'extension' || base.type.definition.kind !== 'complex') return own
  const single = new Set(own.map(({ member }) => member.particle.kind).filter(isSingle))
  const extended = listMembers(base.type.definition, form)
  return [...extended.filter(({ member }) => !single.has(member.particle.kind)), ...own]
}
/**
 * Whether its elements come in any order. An extension without elements of its own has the content
 * of its base (XML Schema Part 1 §3.4.2), and an `xs:all` allows no other one.
 */
export function hasAnyOrder({ isUnordered, base }: ComplexDefinition): boolean {
  if (isUnordered || base?.by !== 'extension') return isUnordered
  const { definition } = base.type
  return definition.kind === 'complex' && hasAnyOrder(definition)
}
/**
 * Whether a value of the type consists only of elements, without text and attributes of its own.
 */
export function hasElementsAlone({ definition }: AnyXmlType): boolean {
  if (definition.kind !== 'complex') return false
  const members = listMembers(definition, { uri: '', elements: 'unqualified', attributes: 'unqualified' })
  return members.every(({ member: { particle } }) => particle.kind !== 'text' && particle.kind !== 'attribute')
}
const isSingle = (kind: AnyMember['particle']['kind']): boolean => kind === 'text' || kind === 'anyAttribute'

export type DerivableDefinition = Extract<XmlDefinition, { readonly kind: 'derivable' }>
/** A type derived from another one, by the value of `$type`. */
export interface TaggedType {
  readonly tag: string
  readonly name: QualifiedName
  readonly type: AnyXmlType
}
/** A tag is the local name; if two types share it, the tag of the second is `{namespace}local`. */
export const listTaggedTypes = memoizeByObject(({ derived }: DerivableDefinition): readonly TaggedType[] => {
  const tags = new Set<string>()
  return derived().flatMap(type => {
    const { definition } = type
    if (definition.kind !== 'complex' || !definition.name || definition.isAbstract) return []
    const { uri, local } = definition.name
    const tag = tags.has(local) ? (uri === '' ? local : `{${uri}}${local}`) : local
    tags.add(tag)
    return [{ tag, name: definition.name, type }]
  })
})

/** Whether it may have no element at all (XML Schema Part 1 §3.9.6). */
export function mayBeWithoutElements({ particle, marks }: AnyMember): boolean {
  if (marks.min === 0) return true
  if (particle.kind !== 'choice' && particle.kind !== 'sequence') return false
  const members = Object.values(particle.members)
  return particle.kind === 'choice' ? members.some(mayBeWithoutElements) : members.every(mayBeWithoutElements)
}

/** Whether a wildcard has names of this namespace (XML Schema Part 1 §3.10.4). */
export function matchesNamespace(namespaces: WildcardNamespaces, target: string, uri: string): boolean {
  if (namespaces === 'any') return true
  // ##other has neither the target namespace nor names without one.
  if ('not' in namespaces) return uri !== '' && uri !== (namespaces.not || target)
  return namespaces.of.includes(uri)
}

/** The type of an element's text, and the member that holds it if there are others. */
export function findTextType(type: AnyXmlType): { readonly type: AnyXmlType; readonly key?: string } | undefined {
  const { definition } = type
  if (isSimpleType(type)) return { type }
  if (definition.kind === 'derivable') return findTextType(definition.type)
  if (definition.kind !== 'complex') return undefined
  for (const [key, { particle }] of Object.entries(definition.members))
    if (particle.kind === 'text') return { type: particle.type, key }
  return definition.base?.by === 'extension' ? findTextType(definition.base.type) : undefined
}

/** How many items a list must have, given how many there are. */
export const countRequired = (
  { min, least = min }: { readonly min: number; readonly least?: number | undefined },
  count: number,
): number => (count > 0 ? least : min)

/** The value of an empty element: a reference has that of its element. */
export const initialOf = ({ particle, marks }: AnyMember): Pick<AnyMember['marks'], 'initial' | 'isFixed'> =>
  particle.kind === 'reference' && marks.initial === undefined ? particle.to().marks : marks

type NilMarks = Pick<AnyMember['marks'], 'isNillable' | 'isFixed'>
/** Whether an element may be nil: no fixed value is (XML Schema Part 1 §3.3.4, 3.2.2). */
export const allowsNil = ({ isNillable, isFixed }: NilMarks): boolean => isNillable && !isFixed
/** The same for a member: a reference has what its element has. */
export const mayMemberBeNil = (member: AnyMember): boolean =>
  allowsNil({ isNillable: isMemberNillable(member), isFixed: initialOf(member).isFixed })
export const isMemberNillable = ({ particle, marks }: AnyMember): boolean =>
  marks.isNillable || (particle.kind === 'reference' && particle.to().isNillable)

/**
 * No wildcard takes attributes of these namespaces: declarations are no attributes (Namespaces in
 * XML §3), and those of XMLSchema-instance say how to read a document (XML Schema Part 1 §3.2.7).
 */
const reservedNamespaces: ReadonlySet<string> = new Set([
  'http://www.w3.org/2000/xmlns/',
  'http://www.w3.org/2001/XMLSchema-instance',
])

/**
 * The name of an attribute, from a key of `otherAttributes`; undefined if no attribute can have it.
 */
export function parseAttributeKey(key: string): ClarkName | undefined {
  const name = parseClarkName(key)
  if (!name || !matchesNcName(name.local) || reservedNamespaces.has(name.uri)) return undefined
  return name.uri === '' && name.local === 'xmlns' ? undefined : name
}
