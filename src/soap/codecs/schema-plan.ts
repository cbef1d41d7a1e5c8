/**
 * A type of `contract/xml-type.ts` as its readers and writers use it: names interned, forms and
 * bases applied, members in the order of the elements. A plan is made once for each type and form;
 * the types it refers to are planned on first use, so types may be recursive.
 */
import { memoizeOnce } from '../../base/memo.ts'
import { findNarrowedCodec, type NamedSimpleType } from '../../contract/xml-derivation.ts'
import {
  type DerivableDefinition,
  hasAnyOrder,
  initialOf,
  isMemberNillable,
  listTaggedTypes,
  matchesNamespace,
} from '../../contract/xml-members.ts'
import { isSimpleType, type SimpleCodec, simpleCodecOf } from '../../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  builtInNames,
  type ComplexDefinition,
  isSwaRef,
  type NamespaceForm,
  type QualifiedName,
  swaRefUri,
  type TypeMembers,
  type WildcardNamespaces,
  x,
} from '../../contract/xml-type.ts'
import { internName, type Name } from '../../xml/index.ts'
import { xsdUri } from './values.ts'

export interface ArrayPlan {
  readonly kind: 'array'
  readonly name: Name | undefined
  /** For more than one dimension: its rows. */
  readonly item: () => TypePlan
  readonly dimensions: number
}
export type TypePlan = SimplePlan | { readonly kind: 'xml' } | ComplexPlan | DerivablePlan | ArrayPlan

/** How text is read, and which text is valid. */
export interface TextPlan {
  readonly codec: SimpleCodec
  readonly type: AnyXmlType
}
export interface SimplePlan extends TextPlan {
  readonly kind: 'simple'
  readonly names: ReadonlySet<Name>
  /** The text of a type derived from this one; undefined: the name belongs to no derived type. */
  readonly findNarrower: (name: Name) => TextPlan | undefined
}

export interface ComplexPlan {
  readonly kind: 'complex'
  readonly name: Name | undefined
  readonly isAbstract: boolean
  readonly isUnordered: boolean
  readonly attributes: readonly AttributePlan[]
  readonly anyAttribute: { readonly key: string; readonly matches: (uri: string) => boolean } | undefined
  readonly text: (TextPlan & { readonly key: string }) | undefined
  readonly content: readonly ParticlePlan[]
  /** All keys that a value may have. */
  readonly keys: ReadonlySet<string>
}
/** A type, and the types derived from it by the value of `$type`. */
export interface DerivablePlan {
  readonly kind: 'derivable'
  readonly base: TypePlan
  readonly byName: ReadonlyMap<Name, { readonly tag: string; readonly plan: ComplexPlan }>
  readonly byTag: ReadonlyMap<string, { readonly name: Name; readonly plan: ComplexPlan }>
}
export interface AttributePlan {
  readonly key: string
  readonly name: Name
  readonly codec: SimpleCodec
  readonly type: AnyXmlType
  readonly isOptional: boolean
  readonly initial: string | undefined
  readonly isFixed: boolean
}
interface Occurrence {
  readonly key: string
  readonly min: number
  readonly max: number
  readonly isMany: boolean
  /** The minimum if there is at least one. */
  readonly least?: number | undefined
}
export interface ElementPlan extends Occurrence {
  readonly kind: 'element'
  readonly name: Name
  readonly type: () => TypePlan
  readonly isNillable: boolean
  readonly initial: string | undefined
  readonly isFixed: boolean
}
export interface GroupPlan extends Occurrence {
  readonly kind: 'choice' | 'sequence'
  readonly parts: readonly ParticlePlan[]
}
export interface AnyPlan extends Occurrence {
  readonly kind: 'any'
  readonly matches: (uri: string) => boolean
  /** The elements that it accepts, in words for error messages. */
  readonly description: string
  /** Elements of other particles of its group: they take precedence (XSD 1.1 Part 1 §3.8.6.4). */
  readonly declared: ReadonlySet<Name>
  /** The number of elements it needs before others may come: nothing competes for those. */
  readonly due: number
}
export type ParticlePlan = ElementPlan | GroupPlan | AnyPlan

/** Makes the plans of the types of one endpoint. */
export class SchemaPlans {
  readonly #plans = new Map<AnyXmlType, Map<string, TypePlan>>()
  readonly #named: () => ReadonlyMap<Name, AnyXmlType>

  /** @param listNamed the simple types that `xsi:type` may name besides the declared ones */
  constructor(listNamed: () => readonly NamedSimpleType[]) {
    this.#named = memoizeOnce(() => new Map(listNamed().map(({ name, type }) => [internQualified(name), type])))
  }

  ofType(type: AnyXmlType, form: NamespaceForm): TypePlan {
    const { definition } = type
    const isAnonymous = definition.kind === 'complex' && definition.form === undefined
    const key = isAnonymous ? `${form.elements} ${form.attributes} ${form.uri}` : ''
    let plans = this.#plans.get(type)
    if (!plans) this.#plans.set(type, (plans = new Map()))
    let plan = plans.get(key)
    if (!plan) plans.set(key, (plan = this.#plan(type, form)))
    return plan
  }

  #plan(type: AnyXmlType, form: NamespaceForm): TypePlan {
    const { definition } = type
    if (definition.kind === 'complex') return this.#complex(definition, form)
    if (definition.kind === 'derivable') return this.#derivable(definition, form)
    if (definition.kind === 'array') {
      const name = definition.name && internQualified(definition.name)
      return {
        kind: 'array',
        name,
        item: () => this.ofType(definition.item(), form),
        dimensions: definition.dimensions,
      }
    }
    if (!isSimpleType(type)) return { kind: 'xml' }
    return {
      ...{ kind: 'simple', codec: simpleCodecOf(type), names: namesOfSimple(type), type },
      findNarrower: name => this.#findNarrower(type, name),
    }
  }
  #findNarrower(declared: AnyXmlType, name: Name): TextPlan | undefined {
    const type = name.uri === xsdUri ? builtInTypes.get(name.local) : this.#named().get(name)
    const codec = type && findNarrowedCodec(declared, type)
    return codec && { codec, type }
  }

  #derivable(definition: DerivableDefinition, form: NamespaceForm): DerivablePlan {
    const byName = new Map<Name, { tag: string; plan: ComplexPlan }>()
    const byTag = new Map<string, { name: Name; plan: ComplexPlan }>()
    for (const { tag, type } of listTaggedTypes(definition)) {
      const plan = this.ofType(type, form)
      if (plan.kind !== 'complex' || !plan.name) continue
      byName.set(plan.name, { tag, plan })
      byTag.set(tag, { name: plan.name, plan })
    }
    return { kind: 'derivable', base: this.ofType(definition.type, form), byName, byTag }
  }

  #complex(definition: ComplexDefinition, around: NamespaceForm): ComplexPlan {
    const form = definition.form ?? around
    const base = definition.base?.by === 'extension' ? this.ofType(definition.base.type, form) : undefined
    const extended = base?.kind === 'complex' ? base : undefined
    const members = Object.entries(definition.members)
    const ownAttributes = members.flatMap(([key, member]) => this.#attribute(key, member, form))
    const wildcard = members.find(([, { particle }]) => particle.kind === 'anyAttribute')
    const text = members.find(([, { particle }]) => particle.kind === 'text')
    const isUnordered = hasAnyOrder(definition)
    return {
      kind: 'complex',
      keys: new Set([...(extended?.keys ?? ['$type']), ...members.map(([key]) => key)]),
      name: definition.name && internQualified(definition.name),
      isAbstract: definition.isAbstract,
      isUnordered,
      attributes: [...(extended?.attributes ?? []), ...ownAttributes],
      anyAttribute: wildcard ? { key: wildcard[0], matches: matcherOf(wildcard[1], form.uri) } : extended?.anyAttribute,
      text: text ? textPlan(text[0], text[1]) : extended?.text,
      content: preferDeclared(
        [...(extended?.content ?? []), ...this.#particles(definition.members, form)],
        isUnordered ? 'choice' : 'sequence',
      ),
    }
  }

  #attribute(key: string, { particle, marks }: AnyMember, form: NamespaceForm): AttributePlan[] {
    if (particle.kind !== 'attribute') return []
    const uri = marks.uri ?? (form.attributes === 'qualified' ? form.uri : '')
    return [
      {
        key,
        name: internName(uri, marks.name ?? key),
        codec: simpleCodecOf(particle.type),
        type: particle.type,
        isOptional: marks.min === 0 || (marks.initial !== undefined && !marks.isFixed),
        initial: marks.initial,
        isFixed: marks.isFixed,
      },
    ]
  }

  #particles(members: TypeMembers, form: NamespaceForm): ParticlePlan[] {
    return Object.entries(members).flatMap(([key, member]) => this.#particle(key, member, form))
  }

  #particle(key: string, member: AnyMember, form: NamespaceForm): ParticlePlan[] {
    const { particle, marks } = member
    const occurrence = { key, min: marks.min, max: marks.max, isMany: marks.isMany, least: marks.least }
    if (particle.kind === 'choice' || particle.kind === 'sequence') {
      const parts = preferDeclared(this.#particles(particle.members, form), particle.kind)
      return [{ ...occurrence, kind: particle.kind, parts }]
    }
    if (particle.kind === 'any') {
      const description = describeWildcard(particle.namespaces, form.uri)
      return [
        { ...occurrence, kind: 'any', matches: matcherOf(member, form.uri), description, declared: new Set(), due: 0 },
      ]
    }
    const about = { ...occurrence, kind: 'element', initial: marks.initial, isFixed: marks.isFixed } as const
    if (particle.kind === 'element') {
      const uri = marks.uri ?? (form.elements === 'qualified' ? form.uri : '')
      const name = internName(uri, marks.name ?? key)
      return [{ ...about, name, isNillable: marks.isNillable, type: () => this.ofType(particle.type(), form) }]
    }
    if (particle.kind !== 'reference') return []
    const to = particle.to()
    const { initial, isFixed } = initialOf(member)
    return [{ ...about, ...this.#root(to), initial, isFixed, isNillable: isMemberNillable(member) }]
  }

  /** The plan of a global element. */
  ofRoot(root: AnyRootElement): ElementPlan {
    return {
      ...{ kind: 'element', key: root.name.local, min: 1, max: 1, isMany: false },
      ...this.#root(root),
      isNillable: root.marks.isNillable,
      initial: root.marks.initial,
      isFixed: root.marks.isFixed,
    }
  }
  #root({ name, type, form }: AnyRootElement): Pick<ElementPlan, 'name' | 'type'> {
    return { name: internQualified(name), type: () => this.ofType(type(), form) }
  }
}

const builtInTypes: ReadonlyMap<string, AnyXmlType> = new Map(
  builtInNames.flatMap(name => (name === 'swaRef' ? [] : [[name, x[name]] as const])),
)
const internQualified = ({ uri, local }: QualifiedName): Name => internName(uri, local)
const textPlan = (key: string, { particle }: AnyMember): ComplexPlan['text'] =>
  particle.kind === 'text' ? { key, codec: simpleCodecOf(particle.type), type: particle.type } : undefined

function matcherOf({ particle }: AnyMember, target: string): (uri: string) => boolean {
  const namespaces: WildcardNamespaces =
    particle.kind === 'any' || particle.kind === 'anyAttribute' ? particle.namespaces : { of: [] }
  return uri => matchesNamespace(namespaces, target, uri)
}

function describeWildcard(namespaces: WildcardNamespaces, target: string): string {
  if (namespaces === 'any') return 'any element'
  if ('not' in namespaces) {
    const other = namespaces.not || target
    return other ? `any element of a namespace other than ${other}` : 'any element of a namespace'
  }
  const spaces = namespaces.of.map(uri => (uri === '' ? 'without a namespace' : `of the namespace ${uri}`))
  return spaces.length === 0 ? 'no element' : `any element ${spaces.join(' or ')}`
}

/** The names that xsi:type may state for a simple type: its own, and those that it narrows. */
function namesOfSimple(type: AnyXmlType): ReadonlySet<Name> {
  const names = new Set<Name>()
  for (let at: AnyXmlType | undefined = type; at; ) {
    const { definition }: AnyXmlType = at
    if (isSwaRef(at)) names.add(internName(swaRefUri, 'swaRef')).add(internName(xsdUri, 'anyURI'))
    else if (definition.kind === 'builtIn') names.add(internName(xsdUri, definition.name))
    if ('name' in definition && typeof definition.name === 'object') names.add(internQualified(definition.name))
    at = definition.kind === 'restriction' ? definition.of : undefined
  }
  return names
}

/** Whether an element of this type, or of a derived one, has this attribute. */
export function declaresAttribute(plan: TypePlan, name: Name): boolean {
  if (plan.kind === 'complex') return plan.attributes.some(each => each.name === name)
  if (plan.kind !== 'derivable') return false
  return (
    declaresAttribute(plan.base, name) || [...plan.byName.values()].some(each => declaresAttribute(each.plan, name))
  )
}

/** The text in a value of an element, with its codec. */
export function findPlannedText(
  plan: TypePlan,
  value: unknown,
): { readonly codec: SimpleCodec; readonly value: unknown } | undefined {
  if (plan.kind === 'simple') return { codec: plan.codec, value }
  if (plan.kind === 'derivable') return findPlannedText(plan.base, value)
  if (plan.kind !== 'complex' || !plan.text) return undefined
  return { codec: plan.text.codec, value: (value as Readonly<Record<string, unknown>> | null)?.[plan.text.key] } // its row
}

/** Whether `xsi:type` may say that a value has the type of this name. */
export function isTypeNamed(plan: TypePlan, name: Name): boolean {
  if (plan.kind === 'derivable') return plan.byName.has(name) || isTypeNamed(plan.base, name)
  return plan.kind === 'complex' ? plan.name === name : plan.kind === 'simple' && plan.names.has(name)
}

// What may come next

/** Wildcards that leave elements to the other particles of their group that declare them. */
const preferDeclared = (parts: readonly ParticlePlan[], kind: GroupPlan['kind']): readonly ParticlePlan[] =>
  parts.map((part, at) => {
    if (part.kind !== 'any') return part
    const others: GroupPlan = {
      ...{ key: '', min: 1, max: 1, isMany: false, kind },
      parts: kind === 'choice' ? parts : parts.slice(at + 1),
    }
    const names = listFirstParticles(others).flatMap(each => (each.kind === 'element' ? [each.name] : []))
    return { ...part, declared: new Set(names), due: kind === 'sequence' ? part.min : 0 }
  })
/**
 * Whether a particle may take this element next.
 * @param count how many it has already
 */
export const mayTake = (part: ParticlePlan, count: number, name: Name): boolean =>
  beginsParticle(part, name) || (part.kind === 'any' && count < part.due && part.matches(name.uri))

/** Whether an element of this name can begin this particle. */
export function beginsParticle(particle: ParticlePlan, name: Name): boolean {
  if (particle.kind === 'element') return particle.name === name
  if (particle.kind === 'any') return particle.matches(name.uri) && !particle.declared.has(name)
  if (particle.kind === 'choice') return particle.parts.some(each => beginsParticle(each, name))
  for (const each of particle.parts) {
    if (beginsParticle(each, name)) return true
    if (!isEmptiable(each)) return false
  }
  return false
}
/** Whether a schema allows neither elements nor text; unordered content belongs to an RPC call. */
export const isEmptyContent = ({ content, text, isUnordered }: ComplexPlan): boolean =>
  content.length === 0 && !text && !isUnordered
/** Whether it may be empty (XML Schema Part 1 §3.9.6). */
export function isEmptiable(particle: ParticlePlan): boolean {
  if (particle.min === 0) return true
  if (particle.kind === 'choice') return particle.parts.some(isEmptiable)
  return particle.kind === 'sequence' && particle.parts.every(isEmptiable)
}
/** The elements and wildcards that may come first. */
export function listFirstParticles(particle: ParticlePlan): readonly (ElementPlan | AnyPlan)[] {
  if (particle.kind === 'element' || particle.kind === 'any') return [particle]
  if (particle.kind === 'choice') return particle.parts.flatMap(listFirstParticles)
  const until = particle.parts.findIndex(each => !isEmptiable(each))
  return particle.parts.slice(0, until < 0 ? undefined : until + 1).flatMap(listFirstParticles)
}
/** The names that may come first, for error messages. */
export const firstNames = (particle: ParticlePlan): readonly Name[] =>
  listFirstParticles(particle).map(each => (each.kind === 'any' ? internName('', each.description) : each.name))
