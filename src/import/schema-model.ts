/**
 * Types and elements of schemas as a contract declares them (`contract/xml-type.ts`): the same
 * values that the generated TypeScript makes when it runs. A component is built once, on first
 * reference, so recursive types end; what cannot be expressed becomes XML, and a loss with its
 * place.
 */

import { memoizeOnce } from '../base/memo.ts'
import { Flaw } from '../contract/lexical/flaw.ts'
import { capitalize } from '../contract/lexical/text.ts'
import { compileXsdMatcher } from '../contract/lexical/xsd-pattern.ts'
import { clarkNames, isSimpleType, renameInText, simpleCodecOf } from '../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  builtInNames,
  type ComplexDefinition,
  cellTypeOf,
  defineArray,
  isSwaRef,
  Member,
  NamedType,
  type NamespaceForm,
  type Particle,
  type QualifiedName,
  RootElement,
  type SchemaFacets,
  swaRefUri,
  type TypeMembers,
  type WildcardNamespaces,
  type WildcardProcess,
  XmlType,
  x,
} from '../contract/xml-type.ts'
import { schemaNamespaces } from '../describe/read-wsdl.ts'
import { isNcName } from '../xml/character.ts'
import type { Element } from '../xml/index.ts'
import { findFreeName } from './constant-names.ts'
import { type BlockedMethods, blockOf, type DerivedType, listDerivedTypes, maySubstitute } from './derivations.ts'
import { findEndlessTypes, findRecursiveGroups } from './endless-types.ts'
import { intersectNamespaces, type JoinedNamespaces, uniteNamespaces } from './joined-wildcards.ts'
import type { Losses } from './loss.ts'
import {
  attributeOf,
  documentationOf,
  firstHeadOf,
  hasTrue,
  type SchemaComponents,
  schemaChild,
  schemaChildren,
  splitClark,
  xsNs,
} from './schema-components.ts'

export const encodingUris = [
  'http://schemas.xmlsoap.org/soap/encoding/',
  'http://www.w3.org/2003/05/soap-encoding',
] as const
const xmlUri = 'http://www.w3.org/XML/1998/namespace'
const swaRefName = `{${swaRefUri}}swaRef`
/**
 * Attributes of standard schemas: for the media types of binary data, and for XML, whose attributes
 * are the same whatever a document says about them.
 */
const knownAttributes: Readonly<Record<string, AnyXmlType>> = {
  [`{${xmlUri}}lang`]: x.string,
  [`{${xmlUri}}space`]: x.NCName,
  [`{${xmlUri}}base`]: x.anyURI,
  [`{${xmlUri}}id`]: x.ID,
  '{http://www.w3.org/2005/05/xmlmime}contentType': x.string,
  '{http://www.w3.org/2004/11/xmlmime}contentType': x.string,
  '{http://www.w3.org/ns/wsdl-instance}wsdlLocation': x.list(x.anyURI),
}
/** For media types of binary data, with the name that it had first. */
const mediaUris = ['http://www.w3.org/2005/05/xmlmime', 'http://www.w3.org/2004/11/xmlmime'] as const
/** `id` and `href`, which the encoding itself reads. */
const encodingAttributes: ReadonlySet<string> = new Set(encodingUris.map(uri => `{${uri}}commonAttributes`))
/** Octets with their media type (Describing Media Content of Binary Data in XML §2.1). */
const knownTypes: ReadonlyMap<string, AnyXmlType> = new Map(
  mediaUris.flatMap(uri =>
    (['base64Binary', 'hexBinary'] as const).map(name => {
      const contentType = x.attribute(x.string).in(uri).optional()
      return [`{${uri}}${name}`, x.namespace(uri).type(name, { value: x.text(x[name]), contentType })] as const
    }),
  ),
)

/** Describing Media Content of Binary Data in XML §2.2: on an element, or on its type. */
const expectedNames: ReadonlySet<string> = new Set(mediaUris.map(uri => `{${uri}}expectedContentTypes`))

/** A part of a type and the key that it would like. */
interface Part {
  readonly wish: string
  readonly member: AnyMember
}
interface Occurs {
  readonly min: number
  readonly max: number
  /** The minimum where there are any. */
  readonly least?: number | undefined
}
/** The place of a schema node: its schema, and a place for messages. */
interface SchemaPlace {
  readonly form: NamespaceForm
  readonly place: string
}

export class SchemaModel {
  readonly components: SchemaComponents
  readonly losses: Losses
  /** Comments of types, members and elements. */
  readonly comments = new Map<object, string>()
  readonly #types = new Map<string, AnyXmlType>()
  readonly #building = new Set<string>()
  /** By what they forbid. */
  readonly #derivables = new Map<AnyXmlType, Map<string, AnyXmlType>>()
  readonly #elements = new Map<string, AnyRootElement>()
  readonly #parts = new Map<string, AnyRootElement>()
  readonly #derived: ReadonlyMap<string, readonly DerivedType[]>

  readonly #endless: ReadonlySet<string>
  readonly #recursiveGroups: ReadonlySet<string>
  /** Unnamed types that were given a name, by their nodes and namespaces. */
  readonly #innerTypes = new Map<Element, Map<string, AnyXmlType>>()
  readonly #innerNames = new Set<string>()

  constructor(components: SchemaComponents, losses: Losses) {
    this.components = components
    this.#endless = findEndlessTypes(components)
    this.#recursiveGroups = findRecursiveGroups(components)
    this.losses = losses
    this.#derived = listDerivedTypes(components)
  }

  // Types

  /** The type itself; for an element's type, which may be a derived one, see `typeOfElement`. */
  typeOf(name: string, place: string): AnyXmlType {
    const { uri, local } = splitClark(name)
    if (schemaNamespaces.has(uri) || encodingUris.includes(uri as (typeof encodingUris)[number])) {
      const builtIn = builtInTypes.get(local)
      if (builtIn) return builtIn
      if (local === 'Array') return this.#once(name, () => x.array(() => x.anyType))
    }
    if (name === swaRefName) return x.swaRef
    const complex = this.components.find('complexType', name)
    const simple = complex ? undefined : this.components.find('simpleType', name)
    const standard = complex || simple ? undefined : knownTypes.get(name)
    if (standard) return standard
    if (!complex && !simple) {
      this.losses.add(
        place,
        `the type ${this.components.describeComponent(name)} is not declared: its elements are XML`,
        'document',
      )
      return x.anyType
    }
    return this.#once(name, () => {
      const { node, form, isRedefined = false } = (complex ?? simple)!
      const around = { form, place: `type ${splitClark(name).local}` }
      const built = complex
        ? this.#complexType(node, around, { uri, local }, isRedefined)
        : this.#simpleType(node, around, isRedefined ? undefined : { uri, local })
      this.#comment(built, node)
      return built
    })
  }
  #once(name: string, make: () => AnyXmlType): AnyXmlType {
    const existing = this.#types.get(name)
    if (existing) return existing
    if (this.#building.has(name)) {
      this.losses.add(`type ${splitClark(name).local}`, 'is derived from itself: its elements are XML', 'document')
      return x.anyType
    }
    this.#building.add(name)
    const built = make()
    this.#building.delete(name)
    this.#types.set(name, built)
    return built
  }
  #comment(of: object, node: Element): void {
    this.addComment(of, documentationOf(node))
  }
  /** Keeps the first comment of a component. */
  addComment(of: object, text: string | undefined): void {
    if (text !== undefined && !this.comments.has(of)) this.comments.set(of, text)
  }

  /**
   * The type of an element: with those that `xsi:type` may name (Part 1 §3.3.4, 4.3).
   *
   * @param blocked the derivations that the element forbids
   */
  typeOfElement(name: string, place: string, blocked: BlockedMethods = new Set()): AnyXmlType {
    const type = this.typeOf(name, place)
    if (type.definition.kind !== 'complex') return type
    const found = this.components.find('complexType', name)
    const all = found ? blocked.union(blockOf(found.node)) : blocked
    if (!this.#hasConcreteDerived(name, all)) return type
    const known = this.#derivables.get(type) ?? new Map<string, AnyXmlType>()
    this.#derivables.set(type, known)
    const key = derivationMethods.filter(each => all.has(each)).join(' ')
    const derivable =
      known.get(key) ?? new XmlType({ kind: 'derivable', type, derived: () => this.#derivedTypes(name, all) })
    known.set(key, derivable)
    return derivable
  }
  /** Only by steps that are not forbidden. */
  #directlyDerived(name: string, blocked: BlockedMethods): readonly string[] {
    return (this.#derived.get(name) ?? []).flatMap(({ name: each, by }) => (blocked.has(by) ? [] : [each]))
  }
  #hasConcreteDerived(name: string, blocked: BlockedMethods, seen = new Set<string>()): boolean {
    return this.#directlyDerived(name, blocked).some(each => {
      if (seen.has(each)) return false
      seen.add(each)
      const { node, isRedefined } = this.components.find('complexType', each) ?? {}
      const isAbstract = isRedefined || (node && hasTrue(node, 'abstract'))
      return !isAbstract || this.#hasConcreteDerived(each, blocked, seen)
    })
  }
  #derivedTypes(name: string, blocked: BlockedMethods, seen = new Set<string>()): readonly AnyXmlType[] {
    return this.#directlyDerived(name, blocked).flatMap(each => {
      if (seen.has(each)) return []
      seen.add(each)
      const type = this.typeOf(each, name)
      const isConcrete = type.definition.kind === 'complex' && !type.definition.isAbstract
      return [...(isConcrete ? [type] : []), ...this.#derivedTypes(each, blocked, seen)]
    })
  }

  // Elements

  element(name: string, place: string): AnyRootElement | undefined {
    const existing = this.#elements.get(name)
    if (existing) return existing
    const found = this.components.find('element', name)
    if (!found) {
      this.losses.add(place, `the element ${name} is not declared`, 'document')
      return undefined
    }
    const around = { form: found.form, place: `element ${splitClark(name).local}` }
    let type: AnyXmlType | undefined
    const { marks } = this.#elementMarks(x.element(x.anyType), found.node, around)
    const root = new RootElement(
      splitClark(name),
      () => (type ??= this.#typeOfNode(found.node, around)),
      found.form,
      marks,
    )
    this.#elements.set(name, root)
    this.#comment(root, found.node)
    return root
  }

  /** XML Schema Part 1 §3.3.2: from its attribute, its child, the head of its group, or any. */
  #typeOfNode(node: Element, around: SchemaPlace): AnyXmlType {
    const { components } = this
    for (const each of schemaChildren(node)) this.#recordUnchecked(each, around)
    const named = components.resolve(node, attributeOf(node, 'type'), around.form.uri)
    if (named !== undefined) return this.typeOfElement(named, around.place, blockOf(node))
    const complex = schemaChild(node, 'complexType')
    if (complex) return this.#innerType(complex, node, around)
    const simple = schemaChild(node, 'simpleType')
    if (simple) return this.#simpleType(simple, around, undefined)
    const head = components.resolve(node, firstHeadOf(node), around.form.uri)
    return (head !== undefined && this.element(head, around.place)?.type()) || x.anyType
  }

  /** Reports what a schema demands besides types (Part 1 §3.11), and what XML Schema 1.1 adds. */
  #recordUnchecked(node: Element, { place }: SchemaPlace): void {
    const { local } = node.name
    if (identityConstraints.has(local))
      this.losses.add(
        place,
        `the ${local} ${attributeOf(node, 'name') ?? attributeOf(node, 'ref') ?? ''} is not checked`,
      )
    else if (local === 'assert')
      this.losses.add(place, `the assertion ${attributeOf(node, 'test') ?? ''} is not checked`)
    else if (local === 'alternative')
      this.losses.add(place, 'has the same type whatever its attributes are (xs:alternative)')
    else if (local === 'openContent' && attributeOf(node, 'mode') !== 'none')
      this.losses.add(place, 'has no elements but those that are declared (xs:openContent)')
  }

  /** Reports what a wildcard of XML Schema 1.1 excludes (Part 1 §3.10.2.2). */
  #recordNotExcluded(wildcard: Element, { place }: SchemaPlace): void {
    for (const name of ['notNamespace', 'notQName']) {
      const excluded = attributeOf(wildcard, name)
      if (excluded !== undefined) this.losses.add(place, `a wildcard accepts names that ${name} excludes: ${excluded}`)
    }
  }

  /** An unnamed type; if a group leads back to it, it gets a name. */
  #innerType(node: Element, element: Element, around: SchemaPlace): AnyXmlType {
    const group = findAncestor(element, each => each.name.local === 'group' && attributeOf(each, 'name') !== undefined)
    const { uri } = around.form
    if (!group || !this.#recursiveGroups.has(`{${uri}}${attributeOf(group, 'name')}`))
      return this.#complexType(node, around, undefined)
    const byNamespace = this.#innerTypes.get(node) ?? new Map<string, AnyXmlType>()
    this.#innerTypes.set(node, byNamespace)
    const type = byNamespace.get(uri) ?? this.#complexType(node, around, this.#nameInnerType(element, uri))
    byNamespace.set(uri, type)
    return type
  }
  #nameInnerType(element: Element, uri: string): QualifiedName {
    const local = findFreeName(
      capitalize(attributeOf(element, 'name') ?? 'type'),
      each => this.#innerNames.has(`{${uri}}${each}`) || this.components.hasType(`{${uri}}${each}`),
    )
    this.#innerNames.add(`{${uri}}${local}`)
    return { uri, local }
  }

  /** The same element for the same part, so that messages which share it share a declaration. */
  partElement(uri: string, name: string, type: string, place: string): AnyRootElement {
    const key = `${uri} ${name} ${type}`
    const existing = this.#parts.get(key)
    if (existing) return existing
    const part = x.part(
      uri,
      name,
      memoizeOnce(() => this.typeOfElement(type, place)),
    )
    this.#parts.set(key, part)
    return part
  }

  // Simple types

  #simpleType(node: Element, around: SchemaPlace, name: { uri: string; local: string } | undefined): AnyXmlType {
    const restriction = schemaChild(node, 'restriction')
    if (restriction) {
      const of = this.#baseOfRestriction(restriction, around)
      return new XmlType({ kind: 'restriction', name, of, facets: this.#facets(restriction, of, around) })
    }
    const list = schemaChild(node, 'list')
    if (list) {
      const item = this.#simpleReference(list, 'itemType', around)[0] ?? x.string
      return new XmlType({ kind: 'list', name, item })
    }
    const union = schemaChild(node, 'union')
    if (union) return new XmlType({ kind: 'union', name, of: this.#simpleReference(union, 'memberTypes', around) })
    this.losses.add(around.place, 'a simple type without a restriction, list or union is a string', 'document')
    return x.string
  }
  #baseOfRestriction(restriction: Element, around: SchemaPlace): AnyXmlType {
    const [of] = this.#simpleReference(restriction, 'base', around)
    return of && isSimpleType(of) ? of : x.string
  }
  /** The types that an attribute names, then those inside the node. */
  #simpleReference(node: Element, attribute: string, around: SchemaPlace): readonly AnyXmlType[] {
    const named = (attributeOf(node, attribute) ?? '').split(/\s+/).filter(Boolean)
    const inside = schemaChildren(node).filter(each => each.name.local === 'simpleType')
    return [
      ...named.flatMap(each => this.#requireSimple(this.components.resolve(node, each, around.form.uri), around)),
      ...inside.map(each => this.#simpleType(each, around, undefined)),
    ]
  }
  #requireSimple(name: string | undefined, { place }: SchemaPlace): AnyXmlType[] {
    const type = name === undefined ? x.anyType : this.typeOf(name, place)
    if (isSwaRef(type)) {
      this.losses.add(place, 'refers to an attachment from within a list, a union or a narrower type: it stays a URI')
      return [x.anyURI]
    }
    return [isSimpleType(type) ? type : x.string]
  }

  /** A value in a declaration, with its names in James Clark's notation. */
  #inClark(type: AnyXmlType, node: Element, raw: string, form: NamespaceForm): string {
    const qname = (text: string) => {
      const name = splitClark(this.components.resolve(node, text, form.uri) ?? '')
      return isNcName(name.local) ? name : undefined
    }
    return renameInText(type, raw, { qname }, ({ uri, local }) => (uri === '' ? local : `{${uri}}${local}`))
  }
  /** The same for a default or fixed value. */
  #namingInitial(member: AnyMember, node: Element, type: AnyXmlType, form: NamespaceForm): AnyMember {
    const { initial } = member.marks
    if (initial === undefined) return member
    return new Member(member.particle, { ...member.marks, initial: this.#inClark(type, node, initial, form) })
  }
  /** The marks of an element; with a complex type, its values contain no names. */
  #elementMarks(member: AnyMember, node: Element, { form, place }: SchemaPlace): AnyMember {
    const marked = withMarks(member, node, this.#typeNode(node, form))
    const named = this.components.resolve(node, attributeOf(node, 'type'), form.uri)
    const isSimple = named !== undefined && !this.components.find('complexType', named)
    if (!isSimple || marked.marks.initial === undefined) return marked
    return this.#namingInitial(marked, node, this.typeOf(named, place), form)
  }

  #facets(restriction: Element, of: AnyXmlType, { form, place }: SchemaPlace): SchemaFacets {
    const facets: Record<string, unknown> = {}
    const [values, patterns]: [string[], string[]] = [[], []]
    for (const node of schemaChildren(restriction)) {
      const raw = node.attributes.find(({ name }) => name.local === 'value')?.value
      const facet = node.name.local
      if (facet === 'assertion')
        this.losses.add(place, `the assertion ${attributeOf(node, 'test') ?? ''} is not checked`)
      if (raw === undefined) continue
      if (facet === 'enumeration') values.push(this.#inClark(of, node, raw, form))
      else if (facet === 'pattern') patterns.push(raw)
      else if (facetReaders.has(facet)) {
        const value = facetReaders.get(facet)?.(raw.trim(), of)
        if (value !== undefined) facets[facet] = value
        else this.losses.add(place, `the facet ${facet} cannot have the value ${raw}: it is left out`, 'document')
      } else if (laterFacets.has(facet)) this.losses.add(place, `the facet ${facet} ${raw} is not checked`)
    }
    // Several patterns of one step are alternatives (Part 2 §4.3.4).
    const pattern = patterns.length > 1 ? patterns.map(each => `(${each})`).join('|') : patterns[0]
    const isKnown = pattern === undefined || compileXsdMatcher(pattern) !== undefined
    if (!isKnown) this.losses.add(place, `the pattern ${pattern} is not checked`)
    return {
      ...(values.length > 0 && { values }),
      ...(pattern !== undefined && isKnown && { patterns: [pattern] }),
      ...facets,
    }
  }

  // Complex types

  #complexType(
    node: Element,
    around: SchemaPlace,
    name: { uri: string; local: string } | undefined,
    isRedefined = false,
  ): AnyXmlType {
    const form = name ? around.form : undefined
    const own = schemaChild(node, 'complexContent', 'simpleContent')
    const inner = own && schemaChild(own, 'extension', 'restriction')
    for (const each of [node, ...(inner ? [inner] : [])].flatMap(schemaChildren)) this.#recordUnchecked(each, around)
    const isMixed = [node, schemaChild(node, 'complexContent')].some(each => each && hasTrue(each, 'mixed'))
    if (isMixed) return x.anyType
    const isAbstract = isRedefined || hasTrue(node, 'abstract')
    const define = (definition: Pick<ComplexDefinition, 'members' | 'isUnordered' | 'base'>): AnyXmlType => {
      const complex: ComplexDefinition = { kind: 'complex', name, form: form ?? around.form, isAbstract, ...definition }
      return name ? new NamedType(complex) : new XmlType(complex)
    }
    const simple = schemaChild(node, 'simpleContent')
    if (simple) return define(this.#simpleContent(simple, around))
    const content = schemaChild(node, 'complexContent')
    const derivation = content && schemaChild(content, 'extension', 'restriction')
    if (!derivation) return define({ ...this.#ownContent(node, around), base: undefined })
    const baseName = this.components.resolve(derivation, attributeOf(derivation, 'base'), around.form.uri) ?? ''
    const { uri, local } = splitClark(baseName)
    if (local === 'Array' && encodingUris.includes(uri as (typeof encodingUris)[number]))
      return nameArray(name, this.#arrayItem(derivation, around))
    const items = this.#extendedArray(derivation, around, baseName)
    if (items) return nameArray(name, items)
    return this.#derivedContent(derivation, around, baseName, define)
  }
  /** The items of an array with another name: the encoding allows no members next to them. */
  #extendedArray(derivation: Element, around: SchemaPlace, baseName: string): ArrayShape | undefined {
    if (derivation.name.local !== 'extension' || baseName === `{${xsNs}}anyType`) return undefined
    const { definition } = this.typeOf(baseName, around.place)
    if (definition.kind !== 'array') return undefined
    const content = this.#ownContent(derivation, around)
    return Object.keys(content.members).length === 0
      ? { cell: () => cellTypeOf(definition), dimensions: definition.dimensions }
      : undefined
  }

  #derivedContent(
    derivation: Element,
    around: SchemaPlace,
    baseName: string,
    define: (definition: Pick<ComplexDefinition, 'members' | 'isUnordered' | 'base'>) => AnyXmlType,
  ): AnyXmlType {
    const type = this.typeOf(baseName, around.place)
    if (type.definition.kind !== 'complex') {
      // xs:anyType, or a type that is XML here: only an extension of the former can be expressed.
      if (baseName !== `{${xsNs}}anyType` && type.definition.kind === 'builtIn') return x.anyType
      if (baseName !== `{${xsNs}}anyType`)
        this.losses.add(around.place, `extends ${splitClark(baseName).local}, which has no members`)
      return define({ ...this.#ownContent(derivation, around), base: undefined })
    }
    if (derivation.name.local === 'extension') {
      const content = this.#ownContent(derivation, around, type)
      return define({ ...content, base: { type, by: 'extension' } })
    }
    const content = this.#ownContent(derivation, around)
    const text = membersOf(type).filter(([, { particle }]) => particle.kind === 'text')
    return define({
      ...content,
      members: {
        ...Object.fromEntries(text),
        ...content.members,
        ...this.#inheritedAttributes(type, derivation, around, content.members),
      },
      base: { type, by: 'restriction' },
    })
  }

  /** XML Schema Part 1 §3.4.2: a restriction keeps the attributes that it does not mention. */
  #inheritedAttributes(type: AnyXmlType, derivation: Element, around: SchemaPlace, own: TypeMembers): TypeMembers {
    const mentioned = new Set([
      ...schemaChildren(derivation).flatMap(each =>
        each.name.local === 'attribute' ? [this.#attributeName(each, around)] : [],
      ),
      ...Object.entries(own).map(nameOfAttribute),
    ])
    const inherited = membersOf(type).filter(
      each => each[1].particle.kind === 'attribute' && !mentioned.has(nameOfAttribute(each)),
    )
    return Object.fromEntries(
      inherited.map(([key, member]) => {
        const free = findFreeName(key, each => Object.hasOwn(own, each))
        return [free, free === key ? member : member.named(member.marks.name ?? key)]
      }),
    )
  }
  /** In James Clark's notation. */
  #attributeName(node: Element, around: SchemaPlace): string | undefined {
    const reference = this.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    return reference ?? `{${uriOfLocal(node, around.form.attributes, around)}}${attributeOf(node, 'name') ?? ''}`
  }

  #simpleContent(content: Element, around: SchemaPlace): Pick<ComplexDefinition, 'members' | 'isUnordered' | 'base'> {
    const derivation = schemaChild(content, 'extension', 'restriction')
    if (!derivation) return { members: {}, isUnordered: false, base: undefined }
    const name = this.components.resolve(derivation, attributeOf(derivation, 'base'), around.form.uri)
    const type = name === undefined ? x.string : this.typeOf(name, around.place)
    if (type.definition.kind === 'complex' && derivation.name.local === 'extension')
      return {
        members: this.#named(this.#joinedAttributes(derivation, around, type), keysOf(type)),
        isUnordered: false,
        base: { type, by: 'extension' },
      }
    const complex = type.definition.kind === 'complex' ? type : undefined
    const text = complex ? textOfType(complex) : isSimpleType(type) ? type : x.string
    const inner = schemaChild(derivation, 'simpleType')
    const narrowed = inner ? this.#simpleType(inner, around, undefined) : (text ?? x.string)
    const facets = this.#facets(derivation, narrowed, around)
    const value = Object.keys(facets).length > 0 ? x.simple(narrowed, facets) : narrowed
    const members = this.#named([
      { wish: 'value', member: x.text(value) },
      ...this.#joinedAttributes(derivation, around),
    ])
    const inherited = complex ? this.#inheritedAttributes(complex, derivation, around, members) : {}
    return {
      members: { ...members, ...inherited },
      isUnordered: false,
      base: complex && { type: complex, by: 'restriction' },
    }
  }

  /** @param base the type that this content extends */
  #ownContent(
    node: Element,
    around: SchemaPlace,
    base?: AnyXmlType,
  ): Pick<ComplexDefinition, 'members' | 'isUnordered'> {
    const taken = base ? keysOf(base) : new Set<string>()
    const group = schemaChild(node, 'sequence', 'choice', 'all', 'group')
    this.#particleCount = 0
    const { parts, isUnordered } = group ? this.#topGroup(group, around) : { parts: [], isUnordered: false }
    const attributes = this.#joinedAttributes(node, around, base)
    if (this.#particleCount > particlesMax) {
      this.losses.add(around.place, `has more than ${particlesMax} elements by its groups: they are XML`)
      const open = { wish: 'any', member: x.any().many() }
      return { members: this.#named([open, ...attributes], taken), isUnordered: false }
    }
    return { members: this.#named([...parts, ...attributes], taken), isUnordered }
  }

  /** Keys for parts: the desired ones as long as they are free. */
  #named(parts: readonly Part[], taken: ReadonlySet<string> = new Set()): TypeMembers {
    const members: Record<string, AnyMember> = {}
    const used = new Set([...taken, '__proto__'])
    for (const { wish, member } of parts) {
      const isAttribute = member.particle.kind === 'attribute'
      const key = findFreeName(isAttribute && used.has(wish) ? `${wish}Attribute` : wish, each => used.has(each))
      used.add(key)
      const needsName =
        key !== wish && (member.particle.kind === 'element' || isAttribute) && member.marks.name === undefined
      const named = needsName ? member.named(wish) : member
      const comment = this.comments.get(member)
      if (named !== member && comment !== undefined) this.comments.set(named, comment)
      members[key] = named
    }
    return members
  }

  // Groups

  #topGroup(group: Element, around: SchemaPlace): { readonly parts: readonly Part[]; readonly isUnordered: boolean } {
    const found = this.#dereferenceGroup(group, around)
    if (!found) return { parts: [], isUnordered: false }
    if (found.node.name.local !== 'all') return { parts: this.#particle(group, around), isUnordered: false }
    const parts = this.#children(found.node, found.around)
    const isOptional = occursOf(group).min === 0
    const [required] = parts.filter(({ member }) => member.marks.min > 0)
    if (isOptional && required && parts.length > 1)
      this.losses.add(
        around.place,
        `may be empty (xs:all): ${required.wish} may be absent although others are present here`,
      )
    const optional = parts.map(part =>
      isOptional ? { ...part, member: withOccurs(part.member, { min: 0, max: part.member.marks.max }) } : part,
    )
    return { parts: optional, isUnordered: parts.length > 1 }
  }
  /** A reference to a named group leads to its content. */
  #dereferenceGroup(
    group: Element,
    around: SchemaPlace,
  ): { node: Element; around: SchemaPlace; name?: string } | undefined {
    if (group.name.local !== 'group') return { node: group, around }
    const name = this.components.resolve(group, attributeOf(group, 'ref'), around.form.uri)
    const found = name === undefined ? undefined : this.components.find('group', name)
    const node = found && schemaChild(found.node, 'sequence', 'choice', 'all')
    if (found && node)
      return { node, around: { form: found.form, place: around.place }, name: splitClark(name ?? '').local }
    const missing = name === undefined ? (attributeOf(group, 'ref') ?? '') : this.components.describeComponent(name)
    this.losses.add(around.place, `the group ${missing} is not declared`, 'document')
    return undefined
  }

  #children(group: Element, around: SchemaPlace): Part[] {
    return schemaChildren(group).flatMap(each => this.#particle(each, around))
  }

  /**
   * An element, wildcard or group; a sequence that occurs once is merged into its surroundings,
   * unless it is a branch of a choice, which occurs completely or not at all (Part 1 §3.8.4).
   */
  #particle(node: Element, around: SchemaPlace, isBranch = false): Part[] {
    const occurs = occursOf(node)
    if (occurs.max === 0 || ++this.#particleCount > particlesMax) return []
    switch (node.name.local) {
      case 'element':
        return this.#elementPart(node, around, occurs)
      case 'any':
        this.#recordNotExcluded(node, around)
        return [{ wish: 'any', member: withOccurs(x.any(...wildcardOf(node, around)), occurs) }]
      case 'group': {
        const found = this.#dereferenceGroup(node, around)
        if (!found) return []
        // Part 1 §3.8.6: Model Group Correct, 2.
        if (this.#openGroups.has(found.node)) {
          this.losses.add(around.place, `the group ${found.name} contains itself: it is left out there`, 'document')
          return []
        }
        this.#openGroups.add(found.node)
        const part = this.#groupPart(found.node, found.around, occurs, decapitalize(found.name ?? 'group'), isBranch)
        this.#openGroups.delete(found.node)
        return part
      }
      case 'sequence':
      case 'all':
      case 'choice':
        return this.#groupPart(node, around, occurs, undefined, isBranch)
      default:
        return []
    }
  }
  /** For one type: nested groups may stand for any number of elements. */
  #particleCount = 0
  /** Named groups that are currently being read. */
  readonly #openGroups = new Set<Element>()

  #groupPart(node: Element, around: SchemaPlace, occurs: Occurs, name: string | undefined, isBranch: boolean): Part[] {
    if (node.name.local === 'choice') return this.#branchesPart(node, around, occurs, name)
    const isOnce = occurs.min === 1 && occurs.max === 1
    const children = this.#children(node, around)
    if (children.length === 0) return []
    const [only] = children
    if (children.length === 1 && only) {
      const joined = joinOccurs(only.member.marks, occurs)
      if (joined) return [{ ...only, member: withOccurs(only.member, joined) }]
    }
    const isDissolved = isOnce && !isBranch && node.name.local !== 'all'
    return isDissolved
      ? children
      : [this.#groupMember('sequence', children, occurs, name ?? joinNames(children, 'And', 'group'))]
  }
  /**
   * An empty branch lets the whole choice be empty; without branches, nothing at all is valid (Part
   * 1 §3.4.2, §3.8.4).
   */
  #branchesPart(node: Element, around: SchemaPlace, occurs: Occurs, name: string | undefined): Part[] {
    const branches = schemaChildren(node)
      .filter(each => particleNames.has(each.name.local) && occursOf(each).max > 0)
      .map(each => this.#particle(each, around, true))
    const children = branches.flat()
    if (branches.length === 0 && occurs.min > 0) {
      this.losses.add(around.place, 'has a choice without branches: nothing is valid there', 'document')
      return [this.#choicePart([], occurs, name)]
    }
    if (children.length === 0) return []
    const some = branches.some(parts => parts.length === 0) ? { ...occurs, min: 0 } : occurs
    const [only] = children
    const joined = children.length === 1 && only ? joinOccurs(only.member.marks, some) : undefined
    return only && joined
      ? [{ ...only, member: withOccurs(only.member, joined) }]
      : [this.#choicePart(children, some, name)]
  }
  #choicePart(children: readonly Part[], occurs: Occurs, name: string | undefined): Part {
    const branches = children.flatMap(part => {
      const { particle, marks } = part.member
      const isPlain = particle.kind === 'choice' && marks.min === 1 && !marks.isMany
      return isPlain ? Object.entries(particle.members).map(([wish, member]) => ({ wish, member })) : [part]
    })
    const isEmptiable = branches.some(({ member }) => member.marks.min === 0)
    const required = branches.map(part =>
      part.member.marks.min === 0
        ? {
            ...part,
            member: withOccurs(part.member, { min: part.member.marks.least ?? 1, max: part.member.marks.max }),
          }
        : part,
    )
    const min = isEmptiable ? 0 : occurs.min
    return this.#groupMember('choice', required, { min, max: occurs.max }, name ?? joinNames(required, 'Or', 'choice'))
  }
  #groupMember(kind: 'choice' | 'sequence', parts: readonly Part[], occurs: Occurs, wish: string): Part {
    return { wish, member: withOccurs(new Member({ kind, members: this.#named(parts) }), occurs) }
  }

  /** XML Schema Part 1 §3.3.2: an NCName, since a document can contain no other. */
  #localName(node: Element, { place }: SchemaPlace): string | undefined {
    const name = attributeOf(node, 'name')
    if (name === undefined || isNcName(name)) return name
    this.losses.add(place, `"${name}" is not the name of an ${node.name.local}: it is left out`, 'document')
    return undefined
  }

  /** The declaration of an element's type, if the schemas have one. */
  #typeNode(node: Element, { uri }: SchemaPlace['form']): Element | undefined {
    const named = this.components.resolve(node, attributeOf(node, 'type'), uri)
    if (named === undefined) return schemaChild(node, 'complexType') ?? schemaChild(node, 'simpleType')
    return (this.components.find('complexType', named) ?? this.components.find('simpleType', named))?.node
  }

  #elementPart(node: Element, around: SchemaPlace, occurs: Occurs): Part[] {
    const reference = this.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    if (reference !== undefined) return this.#referencePart(reference, around, occurs)
    const local = this.#localName(node, around)
    if (local === undefined) return []
    const place = `${around.place}, element ${local}`
    const named = this.components.resolve(node, attributeOf(node, 'type'), around.form.uri)
    const type = memoizeOnce(() => this.#typeOfNode(node, { ...around, place }))
    const uri = uriOfLocal(node, around.form.elements, around)
    const declared = this.#elementMarks(new Member({ kind: 'element', type }), node, { ...around, place }).in(uri)
    const marked = named !== undefined && this.#isEndlessHere(named, node, around) ? declared.nillable() : declared
    const member = withOccurs(marked, occurs)
    this.#comment(member, node)
    return [{ wish: local, member }]
  }

  /** An element that would lead back to the enclosing type without end: only nil can end it. */
  #isEndlessHere(type: string, node: Element, { form }: SchemaPlace): boolean {
    if (!this.#endless.has(type)) return false
    const at = findAncestor(node, each => each.name.local === 'complexType')
    const name = at && attributeOf(at, 'name')
    return name !== undefined && this.#endless.has(`{${form.uri}}${name}`)
  }

  /** A reference to the head of a substitution group is a choice among its members. */
  #referencePart(name: string, around: SchemaPlace, occurs: Occurs): Part[] {
    const refer = (each: string): Part[] => {
      const found = this.components.find('element', each)
      if (found && hasTrue(found.node, 'abstract')) return []
      if (!found) {
        this.losses.add(around.place, `the element ${each} is not declared: it is XML`, 'document')
        return [{ wish: splitClark(each).local, member: x.any({ of: [splitClark(each).uri] }) }]
      }
      const to = memoizeOnce(() => this.element(each, around.place)!)
      return [{ wish: splitClark(each).local, member: new Member({ kind: 'reference', to }) }]
    }
    const substitutes = this.components.substitutesOf(name).filter(each => maySubstitute(this.components, each, name))
    if (substitutes.length === 0) {
      const found = refer(name)
      if (found.length === 0)
        this.losses.add(around.place, `the element ${name} is abstract, and has no substitute`, 'document')
      return found.map(part => ({ ...part, member: withOccurs(part.member, occurs) }))
    }
    return [this.#choicePart([name, ...substitutes].flatMap(refer), occurs, splitClark(name).local)]
  }

  // Attributes

  /**
   * XML Schema Part 1 §3.4.2: all wildcards of a type are one, which accepts the names that each of
   * them accepts, and those that the wildcard of the extended type accepts.
   */
  #joinedAttributes(node: Element, around: SchemaPlace, base?: AnyXmlType): Part[] {
    const parts = this.#attributes(node, around)
    const inherited = base && listWildcards(membersOf(base)).at(-1)
    const wildcards = listWildcards(parts.map(({ wish, member }) => [wish, member]))
    const [first, ...others] = wildcards
    if (!first || (others.length === 0 && !inherited)) return parts
    let isExact = true
    const join = (joined: JoinedNamespaces): WildcardNamespaces => {
      isExact &&= joined.isExact
      return joined.namespaces
    }
    const both = others.reduce((one, other) => join(intersectNamespaces(one, other.namespaces)), first.namespaces)
    const all = inherited ? join(uniteNamespaces(both, inherited.namespaces)) : both
    if (!isExact)
      this.losses.add(around.place, 'has attribute wildcards that cannot be one: it accepts more than they do')
    const { process } = (schemaChild(node, 'anyAttribute') && wildcards.at(-1)) || first
    const attributes = parts.filter(({ member }) => member.particle.kind !== 'anyAttribute')
    if (all !== 'any' && 'of' in all && all.of.length === 0) return attributes
    return [...attributes, { wish: 'otherAttributes', member: x.anyAttribute(all, process) }]
  }

  #attributes(node: Element, around: SchemaPlace, seen = new Set<string>()): Part[] {
    return schemaChildren(node).flatMap((each): Part[] => {
      if (each.name.local === 'attribute') return this.#attributePart(each, around)
      if (each.name.local === 'anyAttribute') {
        this.#recordNotExcluded(each, around)
        return [{ wish: 'otherAttributes', member: x.anyAttribute(...wildcardOf(each, around)) }]
      }
      if (each.name.local !== 'attributeGroup') return []
      const name = this.components.resolve(each, attributeOf(each, 'ref'), around.form.uri)
      const found = name === undefined || seen.has(name) ? undefined : this.components.find('attributeGroup', name)
      if (name !== undefined && !found && !seen.has(name) && !encodingAttributes.has(name))
        this.losses.add(
          around.place,
          `the attributeGroup ${this.components.describeComponent(name)} is not declared`,
          'document',
        )
      if (!found || name === undefined) return []
      seen.add(name)
      return this.#attributes(found.node, { form: found.form, place: around.place }, seen)
    })
  }

  #attributePart(node: Element, around: SchemaPlace): Part[] {
    if (attributeOf(node, 'use') === 'prohibited') return []
    const reference = this.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    if (reference !== undefined) return this.#attributeReference(node, reference, around)
    const local = this.#localName(node, around)
    if (local === undefined) return []
    const uri = uriOfLocal(node, around.form.attributes, around)
    const type = this.#attributeType(node, { ...around, place: `${around.place}, attribute ${local}` })
    const member = this.#attributeMember(node, type, around.form).in(uri)
    this.#comment(member, node)
    return [{ wish: local, member }]
  }
  #attributeReference(node: Element, name: string, around: SchemaPlace): Part[] {
    const { uri, local } = splitClark(name)
    if (encodingUris.includes(uri as (typeof encodingUris)[number])) return []
    const known = knownAttributes[name]
    const found = uri === xmlUri && known ? undefined : this.components.find('attribute', name)
    if (!found && !known) this.losses.add(around.place, `the attribute ${name} is not declared: it is text`, 'document')
    const type = found
      ? this.#attributeType(found.node, { form: found.form, place: around.place })
      : (known ?? x.string)
    const declared =
      found && attributeOf(node, 'default') === undefined && attributeOf(node, 'fixed') === undefined
        ? found.node
        : node
    const isRequired = attributeOf(node, 'use') === 'required'
    const form = found?.node === declared ? found.form : around.form
    const member = this.#namingInitial(withInitial(x.attribute(type), declared), declared, type, form).in(uri)
    return [{ wish: local, member: isRequired ? member : member.optional() }]
  }
  #attributeMember(node: Element, type: AnyXmlType, form: NamespaceForm): AnyMember {
    const member = this.#namingInitial(withInitial(x.attribute(type), node), node, type, form)
    return attributeOf(node, 'use') === 'required' ? member : member.optional()
  }
  #attributeType(node: Element, around: SchemaPlace): AnyXmlType {
    const name = attributeOf(node, 'type')
    if (name !== undefined && this.components.resolve(node, name, around.form.uri) === swaRefName) return x.swaRef
    const [named] = this.#simpleReference(node, 'type', around)
    return named ?? x.anySimpleType
  }

  // Arrays of SOAP's encoding

  /** From wsdl:arrayType, or from the element that the restriction declares. */
  #arrayItem(derivation: Element, around: SchemaPlace): ArrayShape {
    for (const node of schemaChildren(derivation))
      for (const { name, value } of node.attributes)
        if (name.local === 'arrayType' && name.uri === 'http://schemas.xmlsoap.org/wsdl/')
          return this.#arrayTypeItem(node, value, around)
    const itemType = schemaChildren(derivation).flatMap(node =>
      node.attributes.flatMap(({ name, value }) =>
        name.local === 'itemType' && name.uri !== '' ? [{ node, value }] : [],
      ),
    )[0]
    if (itemType) return this.#arrayTypeItem(itemType.node, itemType.value, around)
    const sequence = schemaChild(derivation, 'sequence', 'all')
    const element = sequence && schemaChild(sequence, 'element')
    return { cell: element ? memoizeOnce(() => this.#typeOfNode(element, around)) : () => x.anyType, dimensions: 1 }
  }
  /** SOAP 1.1 §5.4.2: `int[,][]` is a list of tables; the last brackets are the array's own. */
  #arrayTypeItem(node: Element, written: string, around: SchemaPlace): ArrayShape {
    const [, qname = '', brackets = ''] = /^([^[]*)(.*)$/.exec(written.trim()) ?? []
    const name = this.components.resolve(node, qname, around.form.uri)
    const ranks = [...brackets.matchAll(/\[([^\]]*)\]/g)].map(([, inside = '']) => inside.split(',').length)
    const cell = memoizeOnce(() => (name === undefined ? x.anyType : this.typeOfElement(name, around.place)))
    if (ranks.length > bracketsMax || ranks.some(rank => rank > bracketsMax)) {
      this.losses.add(around.place, `an array of more than ${bracketsMax} dimensions: its items are XML`)
      return { cell: () => x.anyType, dimensions: 1 }
    }
    const inner = ranks.slice(0, -1)
    return {
      cell: inner.length === 0 ? cell : memoizeOnce(() => inner.reduce<AnyXmlType>(arrayAround, cell())),
      dimensions: ranks.at(-1) ?? 1,
    }
  }
}

/** What an array contains, and in how many dimensions. */
interface ArrayShape {
  readonly cell: () => AnyXmlType
  readonly dimensions: number
}
/** Of elements and groups in one type; the largest known type has some 500. */
const particlesMax = 10_000
/** More dimensions than any toolkit has; types with even more take long to write. */
const bracketsMax = 8
const nameArray = (name: QualifiedName | undefined, { cell, dimensions }: ArrayShape): AnyXmlType =>
  new XmlType(defineArray(name, cell, dimensions))
const arrayAround = (cell: AnyXmlType, dimensions: number): AnyXmlType => x.array(cell, dimensions)

/** Those of XML Schema 1.1 narrow older ones (Part 2 §3.4.26–§3.4.28). */
const builtInTypes: ReadonlyMap<string, AnyXmlType> = new Map<string, AnyXmlType>([
  ...builtInNames.flatMap(name => (name === 'swaRef' ? [] : [[name, x[name]] as const])),
  ['anyURI', x.anyURI],
  ['ur-type', x.anyType],
  ['base64', x.base64Binary],
  ['timeInstant', x.dateTime],
  ['timeDuration', x.duration],
  ['uriReference', x.anyURI],
  ['CDATA', x.normalizedString],
  ['anyAtomicType', x.anySimpleType],
  ['dateTimeStamp', x.simple(x.dateTime, { patterns: ['.*(Z|[+\\-][0-9]{2}:[0-9]{2})'] })],
  ['yearMonthDuration', x.simple(x.duration, { patterns: ['[^DT]*'] })],
  ['dayTimeDuration', x.simple(x.duration, { patterns: ['[^YM]*(T.*)?'] })],
])
const identityConstraints: ReadonlySet<string> = new Set(['key', 'keyref', 'unique'])
/** Of XML Schema 1.1. */
const laterFacets: ReadonlySet<string> = new Set(['explicitTimezone', 'minScale', 'maxScale'])
/** The value of a facet that restricts a type; undefined if it cannot have it (Part 2 §4.3). */
type ReadFacet = (raw: string, of: AnyXmlType) => string | number | undefined
const readFacetSpace: ReadFacet = raw => (/^(?:preserve|replace|collapse)$/.test(raw) ? raw : undefined)
const readFacetCount: ReadFacet = raw => (/^\+?\d{1,15}$/.test(raw) ? Number(raw) : undefined)
const readFacetBound: ReadFacet = (raw, of) => {
  const codec = simpleCodecOf(of)
  return (codec.unrestricted ?? codec).read(raw, clarkNames) instanceof Flaw ? undefined : raw
}
const facetReaders: ReadonlyMap<string, ReadFacet> = new Map([
  ['whiteSpace', readFacetSpace] as const,
  ...['length', 'minLength', 'maxLength', 'totalDigits', 'fractionDigits'].map(name => [name, readFacetCount] as const),
  ...['minInclusive', 'maxInclusive', 'minExclusive', 'maxExclusive'].map(name => [name, readFacetBound] as const),
])

const membersOf = ({ definition }: AnyXmlType): (readonly [string, AnyMember])[] =>
  definition.kind === 'complex'
    ? [
        ...(definition.base?.by === 'extension' ? membersOf(definition.base.type) : []),
        ...Object.entries(definition.members),
      ]
    : []
const keysOf = (type: AnyXmlType): ReadonlySet<string> => new Set(membersOf(type).map(([key]) => key))
const textOfType = (type: AnyXmlType): AnyXmlType | undefined =>
  membersOf(type).flatMap(([, { particle }]) => (particle.kind === 'text' ? [particle.type] : []))[0]

const listWildcards = (members: readonly (readonly [string, AnyMember])[]) =>
  members.flatMap(([, { particle }]) => (particle.kind === 'anyAttribute' ? [particle] : []))
function wildcardOf(node: Element, { form }: SchemaPlace): [WildcardNamespaces, WildcardProcess] {
  const process = attributeOf(node, 'processContents')
  const namespaces = wildcardNamespaces(attributeOf(node, 'namespace'), form.uri)
  return [namespaces, process === 'skip' || process === 'lax' ? process : 'strict']
}
function wildcardNamespaces(written: string | undefined, target: string): WildcardNamespaces {
  if (written === undefined || written === '##any') return 'any'
  if (written === '##other') return { not: target }
  return {
    of: written
      .split(/\s+/)
      .filter(Boolean)
      .map(each => (each === '##targetNamespace' ? target : each === '##local' ? '' : each)),
  }
}

const derivationMethods = ['extension', 'restriction'] as const
const particleNames: ReadonlySet<string> = new Set(['element', 'any', 'group', 'sequence', 'all', 'choice'])

function occursOf(node: Element): Occurs {
  const max = attributeOf(node, 'maxOccurs')
  return {
    min: Number(attributeOf(node, 'minOccurs') ?? 1),
    max: max === 'unbounded' ? Number.POSITIVE_INFINITY : Number(max ?? 1),
  }
}
function withOccurs(member: AnyMember, { min, max, least }: Occurs): AnyMember {
  if (least !== undefined) return member.manyOrNone(least, max)
  const many = max > 1 ? member.many(min, max) : new Member(member.particle, { ...member.marks, max: 1, isMany: false })
  return max > 1 ? many : new Member(many.particle, { ...many.marks, min })
}
/** The occurrences of a particle that is alone in a group, combined into one range, if possible. */
function joinOccurs(inner: Occurs, outer: Occurs): Occurs | undefined {
  if (outer.min === 1 && outer.max === 1) return inner
  if (inner.min === 1 && inner.max === 1) return outer
  const isOptional = outer.min === 0 && outer.max === 1
  if (inner.least !== undefined) return isOptional ? inner : undefined
  if (isOptional && inner.min > 1) return { min: 0, max: inner.max, least: inner.min }
  const isLoose = inner.min <= 1 && (inner.max === 1 || inner.max === Number.POSITIVE_INFINITY)
  return isLoose ? { min: inner.min * outer.min, max: inner.max === 1 ? outer.max : inner.max } : undefined
}
/** @param type the declaration of its type, which may also state expected media types */
function withMarks(member: AnyMember, node: Element, type: Element | undefined): AnyMember {
  const isNillable = hasTrue(node, 'nillable')
  const marked = withInitial(isNillable ? member.nillable() : member, node)
  const expected = findExpected(node) ?? (type && findExpected(type))
  return expected === undefined ? marked : marked.expecting(expected)
}
const findExpected = ({ attributes }: Element): string | undefined =>
  attributes.find(({ name }) => expectedNames.has(`{${name.uri}}${name.local}`))?.value.trim()
function withInitial(member: AnyMember, node: Element): AnyMember {
  const raw = (local: string) => node.attributes.find(({ name }) => name.uri === '' && name.local === local)?.value
  const [fixed, initial] = [raw('fixed'), raw('default')]
  return fixed !== undefined ? member.fixed(fixed) : initial !== undefined ? member.default(initial) : member
}
/** Part 1 §3.2.2, §3.3.2; XML Schema 1.1 lets a declaration name its namespace. */
const uriOfLocal = (node: Element, usual: string, { form }: SchemaPlace): string =>
  attributeOf(node, 'targetNamespace') ?? ((attributeOf(node, 'form') ?? usual) === 'qualified' ? form.uri : '')
function findAncestor(node: Element, isMeant: (element: Element) => boolean): Element | undefined {
  let at = node.parent
  while (at && !isMeant(at)) at = at.parent
  return at
}
/** In James Clark's notation. */
const nameOfAttribute = ([key, { marks }]: readonly [string, AnyMember]): string =>
  `{${marks.uri ?? ''}}${marks.name ?? key}`
const decapitalize = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)
/** `cardOrCash` for two names; for more, or for long ones, a word. */
function joinNames(parts: readonly Part[], by: string, otherwise: string): string {
  const names = parts.map(({ wish }) => wish)
  const joined = names.map((name, at) => (at === 0 ? decapitalize(name) : name.charAt(0).toUpperCase() + name.slice(1)))
  const text = joined.join(by)
  return text !== '' && names.length <= 3 && text.length <= 40 ? text : otherwise
}

export type { Particle }
