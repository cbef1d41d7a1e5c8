/**
 * The schemas of a port: the types of `contract/xml-type.ts` as XML Schema, one schema for each
 * namespace, with the names and forms that the messages have.
 */

import { listReachedTypes } from '../contract/xml-reach.ts'
import { clarkNames, renameInText } from '../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type ArrayDefinition,
  type ComplexDefinition,
  cellTypeOf,
  isSwaRef,
  Member,
  type NamespaceForm,
  type QualifiedName,
  type SchemaFacets,
  swaRefUri,
  type TypeMembers,
  type WildcardNamespaces,
} from '../contract/xml-type.ts'
import { type Attributes, type MarkupContent, writeTag } from './markup.ts'

const xsNs = 'http://www.w3.org/2001/XMLSchema'
const xmlNs = 'http://www.w3.org/XML/1998/namespace'
const mediaUri = 'http://www.w3.org/2005/05/xmlmime'
const encodingNs = 'http://schemas.xmlsoap.org/soap/encoding/'

/** Prefixes of one document; each namespace has one. */
export class DocumentPrefixes {
  readonly #all = new Map<string, string>([
    [xsNs, 'xs'],
    [xmlNs, 'xml'],
    [encodingNs, 'soapenc'],
  ])
  readonly #used = new Set<string>([xsNs])
  qname({ uri, local }: QualifiedName): string {
    return uri === '' ? local : `${this.prefixFor(uri)}:${local}`
  }
  prefixFor(uri: string): string {
    this.#used.add(uri)
    let prefix = this.#all.get(uri)
    if (prefix === undefined) this.#all.set(uri, (prefix = `ns${this.#all.size - 2}`))
    return prefix
  }
  declarations(): Attributes {
    return Object.fromEntries(
      [...this.#used].flatMap(uri => (uri === xmlNs || uri === '' ? [] : [[`xmlns:${this.prefixFor(uri)}`, uri]])),
    )
  }
}

/** One schema while it is being written. */
interface SchemaDraft {
  readonly uri: string
  readonly content: string[]
  readonly names: Set<string>
  readonly imports: Set<string>
  /** The forms of its local elements. */
  readonly forms: Set<'qualified' | 'unqualified'>
}

interface DerivedXmlType extends AnyXmlType {
  readonly definition: ComplexDefinition & { readonly base: NonNullable<ComplexDefinition['base']> }
}
const hasBase = (type: AnyXmlType): type is DerivedXmlType =>
  type.definition.kind === 'complex' && type.definition.name !== undefined && type.definition.base !== undefined
const derivationMethods = ['extension', 'restriction']

export class PortSchemas {
  readonly #prefixes: DocumentPrefixes
  readonly #drafts = new Map<string, SchemaDraft>()
  /** Types by the type from which they are derived. */
  readonly #derived: ReadonlyMap<AnyXmlType, readonly DerivedXmlType[]>

  constructor(elements: Iterable<AnyRootElement>, types: Iterable<AnyXmlType>, prefixes: DocumentPrefixes) {
    this.#prefixes = prefixes
    const reached = listReachedTypes(elements, types)
    this.#derived = Map.groupBy(reached.types.filter(hasBase), each => each.definition.base.type)
    for (const each of reached.types) this.#addType(each)
    for (const each of reached.elements) this.#addElement(each)
  }

  write(): readonly string[] {
    return [...this.#drafts.values()].map(({ uri, content, imports, forms }) => {
      // Each unqualified element says so itself, because Apache CXF reads that in a client without
      // generated code.
      const elementFormDefault = forms.has('unqualified') && !forms.has('qualified') ? 'unqualified' : 'qualified'
      return writeTag(
        'xs:schema',
        { 'xmlns:xs': xsNs, targetNamespace: uri || undefined, elementFormDefault },
        [...imports].map(namespace => writeTag('xs:import', { namespace: namespace || undefined })),
        content,
      )
    })
  }

  #draft(uri: string): SchemaDraft {
    let draft = this.#drafts.get(uri)
    if (!draft)
      this.#drafts.set(uri, (draft = { uri, content: [], names: new Set(), imports: new Set(), forms: new Set() }))
    return draft
  }
  /** A name to which a schema refers. */
  #refer(name: QualifiedName, from: SchemaDraft): string {
    if (name.uri !== from.uri && name.uri !== xsNs) from.imports.add(name.uri)
    return this.#prefixes.qname(name)
  }

  #addType(type: AnyXmlType): void {
    const { definition } = type
    if (isSwaRef(type)) this.#addSwaRef()
    const name = definition.kind === 'builtIn' || definition.kind === 'derivable' ? undefined : definition.name
    if (!name) return
    const draft = this.#draft(name.uri)
    if (draft.names.has(`type ${name.local}`)) return
    draft.names.add(`type ${name.local}`)
    const form: NamespaceForm = { uri: name.uri, elements: 'qualified', attributes: 'unqualified' }
    draft.content.push(this.#typeTag(type, draft, form, name.local))
  }
  /** WS-I Attachments Profile 1.0 §4.4. */
  #addSwaRef(): void {
    const base = writeTag('xs:restriction', { base: 'xs:anyURI' })
    this.#draft(swaRefUri).content.push(writeTag('xs:simpleType', { name: 'swaRef' }, base))
  }
  #addElement({ name, type, form, marks }: AnyRootElement): void {
    const draft = this.#draft(name.uri)
    if (draft.names.has(`element ${name.local}`)) return
    draft.names.add(`element ${name.local}`)
    const about = {
      nillable: marks.isNillable || undefined,
      ...this.#initial(marks, type()),
      ...this.#expected(marks),
    }
    draft.content.push(this.#typedTag('xs:element', { name: name.local, ...about }, type(), draft, form))
  }

  /** Describing Media Content of Binary Data in XML §2.2. */
  #expected({ expects }: { readonly expects: string | undefined }): Attributes {
    if (expects === undefined) return {}
    return { [this.#prefixes.qname({ uri: mediaUri, local: 'expectedContentTypes' })]: expects }
  }

  /** A tag with a type, named or inside. */
  #typedTag(tag: string, attributes: Attributes, type: AnyXmlType, draft: SchemaDraft, form: NamespaceForm): string {
    const name = this.typeName(type)
    if (!name) return writeTag(tag, attributes, this.#typeTag(type, draft, form))
    const block = tag === 'xs:element' ? this.#blockedMethods(type) : undefined
    return writeTag(tag, { ...attributes, type: this.#refer(name, draft), block })
  }
  /** The derivation steps that lead to types which no value has here (Part 1 §3.3.4, 4.3). */
  #blockedMethods(type: AnyXmlType): string | undefined {
    const { definition } = type
    const known = definition.kind === 'derivable' ? new Set(definition.derived()) : new Set<AnyXmlType>()
    const used = new Set<string>()
    let isBlocked = false
    const visit = (base: AnyXmlType, methods: ReadonlySet<string>): void => {
      for (const each of this.#derived.get(base) ?? []) {
        const all = new Set([...methods, each.definition.base.by])
        if (known.has(each)) for (const method of all) used.add(method)
        else isBlocked ||= !each.definition.isAbstract
        visit(each, all)
      }
    }
    visit(definition.kind === 'derivable' ? definition.type : type, new Set())
    return isBlocked ? derivationMethods.filter(each => !used.has(each)).join(' ') || undefined : undefined
  }
  /** Undefined: it has no name. */
  typeName({ definition }: AnyXmlType): QualifiedName | undefined {
    if (definition.kind === 'builtIn')
      return { uri: definition.name === 'swaRef' ? swaRefUri : xsNs, local: definition.name }
    return definition.kind === 'derivable' ? this.typeName(definition.type) : definition.name
  }
  /** A type named in a message part: an unnamed one gets this name. */
  nameForPart(type: AnyXmlType, wish: QualifiedName): string {
    const known = this.typeName(type)
    if (known) return this.#prefixes.qname(known)
    const draft = this.#draft(wish.uri)
    const form: NamespaceForm = { uri: wish.uri, elements: 'qualified', attributes: 'unqualified' }
    draft.content.push(this.#typeTag(type, draft, form, wish.local))
    return this.#prefixes.qname(wish)
  }

  #typeTag(type: AnyXmlType, draft: SchemaDraft, around: NamespaceForm, name?: string): string {
    const { definition } = type
    switch (definition.kind) {
      case 'complex':
        return this.#complexTag(definition, draft, definition.form ?? around, name)
      case 'array':
        return this.#arrayTag(definition, draft, name)
      case 'restriction':
        return writeTag(
          'xs:simpleType',
          { name },
          this.#restrictionTag(definition.of, definition.facets, draft, around),
        )
      case 'list':
        return writeTag(
          'xs:simpleType',
          { name },
          this.#memberTag('xs:list', 'itemType', [definition.item], draft, around),
        )
      case 'union':
        return writeTag(
          'xs:simpleType',
          { name },
          this.#memberTag('xs:union', 'memberTypes', definition.of, draft, around),
        )
      default:
        return ''
    }
  }
  #memberTag(
    tag: string,
    attribute: string,
    types: readonly AnyXmlType[],
    draft: SchemaDraft,
    around: NamespaceForm,
  ): string {
    const named = types.flatMap(each => this.typeName(each) ?? []).map(each => this.#refer(each, draft))
    const inside = types.filter(each => !this.typeName(each)).map(each => this.#typeTag(each, draft, around))
    return writeTag(tag, { [attribute]: named.length > 0 ? named.join(' ') : undefined }, inside)
  }
  #restrictionTag(of: AnyXmlType, facets: SchemaFacets, draft: SchemaDraft, around: NamespaceForm): string {
    const base = this.typeName(of)
    const inside = base ? undefined : this.#typeTag(of, draft, around)
    return writeTag('xs:restriction', { base: base && this.#refer(base, draft) }, inside, this.#facetTags(of, facets))
  }
  #facetTags(of: AnyXmlType, { values = [], patterns = [], ...others }: SchemaFacets): MarkupContent {
    return [
      values.map(each => writeTag('xs:enumeration', { value: this.#fromClark(of, each) })),
      patterns.map(each => writeTag('xs:pattern', { value: each })),
      Object.entries(others).map(([name, value]) => writeTag(`xs:${name}`, { value })),
    ]
  }
  /** Writes a declaration's value with the prefixes of this document. */
  #fromClark(type: AnyXmlType, value: string): string {
    return renameInText(type, value, clarkNames, name => this.#prefixes.qname(name))
  }
  #initial({ isFixed, initial }: Pick<AnyMember['marks'], 'isFixed' | 'initial'>, type: AnyXmlType): Attributes {
    return { [isFixed ? 'fixed' : 'default']: initial === undefined ? initial : this.#fromClark(type, initial) }
  }

  #complexTag(definition: ComplexDefinition, draft: SchemaDraft, form: NamespaceForm, name?: string): string {
    const { members, base, isAbstract } = definition
    const attributes = { name, abstract: isAbstract || undefined }
    const isSimple = ownTextType(members) !== undefined || (base !== undefined && textTypeOf(base.type) !== undefined)
    if (isSimple) return writeTag('xs:complexType', attributes, this.#simpleContentTag(definition, draft, form))
    const content = [this.#groupTag(definition, draft, form), this.#attributeTags(members, draft, form, base)]
    const baseName = base && this.typeName(base.type)
    if (!base || !baseName) return writeTag('xs:complexType', attributes, content)
    const derivation = writeTag(`xs:${base.by}`, { base: this.#refer(baseName, draft) }, content)
    return writeTag('xs:complexType', attributes, writeTag('xs:complexContent', {}, derivation))
  }
  #simpleContentTag(definition: ComplexDefinition, draft: SchemaDraft, form: NamespaceForm): string {
    const { members, base } = definition
    const attributes = this.#attributeTags(members, draft, form, base)
    const baseName = base && this.typeName(base.type)
    if (base?.by !== 'restriction' || !baseName) {
      const of = ownTextType(members) ?? base?.type
      const name = of && (this.typeName(of) ?? this.#nameText(of, draft, form))
      const extension = writeTag('xs:extension', { base: name && this.#refer(name, draft) }, attributes)
      return writeTag('xs:simpleContent', {}, extension)
    }
    const narrowed = this.#narrowedTags(textTypeOf(base.type), ownTextType(members), draft, form)
    const content = [narrowed, attributes]
    return writeTag('xs:simpleContent', {}, writeTag('xs:restriction', { base: this.#refer(baseName, draft) }, content))
  }
  /** The text of a restriction: by facets on that of its base, or by its own type. */
  #narrowedTags(
    before: AnyXmlType | undefined,
    own: AnyXmlType | undefined,
    draft: SchemaDraft,
    form: NamespaceForm,
  ): MarkupContent {
    if (!own || own === before) return undefined
    const { definition } = own
    if (definition.kind === 'restriction' && !definition.name && definition.of === before)
      return this.#facetTags(definition.of, definition.facets)
    const name = this.typeName(own)
    if (!name) return this.#typeTag(own, draft, form)
    return writeTag('xs:simpleType', {}, writeTag('xs:restriction', { base: this.#refer(name, draft) }))
  }
  /** The base of an extension must have a name. */
  #nameText(type: AnyXmlType, draft: SchemaDraft, form: NamespaceForm): QualifiedName {
    let number = 1
    while (draft.names.has(`type Text${number}`)) number++
    draft.names.add(`type Text${number}`)
    draft.content.push(this.#typeTag(type, draft, form, `Text${number}`))
    return { uri: draft.uri, local: `Text${number}` }
  }
  #arrayTag(definition: ArrayDefinition, draft: SchemaDraft, name?: string): string {
    const of = this.#arrayTypeText(definition, draft)
    const attribute = writeTag('xs:attribute', {
      ref: 'soapenc:arrayType',
      'xmlns:wsdl': 'http://schemas.xmlsoap.org/wsdl/',
      'wsdl:arrayType': of,
    })
    draft.imports.add(encodingNs)
    const restriction = writeTag('xs:restriction', { base: `${this.#prefixes.prefixFor(encodingNs)}:Array` }, attribute)
    return writeTag('xs:complexType', { name }, writeTag('xs:complexContent', {}, restriction))
  }
  /** `xs:int[,]` for two dimensions; `xs:int[][]` for arrays in an array. */
  #arrayTypeText(array: ArrayDefinition, draft: SchemaDraft): string {
    const cell = cellTypeOf(array)
    const { definition } = cell
    const brackets = `[${','.repeat(array.dimensions - 1)}]`
    if (definition.kind === 'array' && !definition.name) return `${this.#arrayTypeText(definition, draft)}${brackets}`
    const name = this.typeName(cell)
    return `${name ? this.#refer(name, draft) : 'xs:anyType'}${brackets}`
  }

  // Particles

  #groupTag({ members, isUnordered }: ComplexDefinition, draft: SchemaDraft, form: NamespaceForm): MarkupContent {
    const entries = isUnordered ? Object.entries(members).flatMap(spreadChoice) : Object.entries(members)
    const parts = this.#particleTags(entries, draft, form)
    return parts.length === 0 ? undefined : writeTag(isUnordered ? 'xs:all' : 'xs:sequence', {}, parts)
  }
  #particleTags(members: readonly MemberEntry[], draft: SchemaDraft, form: NamespaceForm): readonly string[] {
    return members.flatMap(([key, member]) => this.#particleTag(key, member, draft, form))
  }
  #particleTag(key: string, member: AnyMember, draft: SchemaDraft, form: NamespaceForm): string[] {
    const { particle, marks } = member
    if (marks.least !== undefined && marks.least > 1) {
      const some = new Member(particle, { ...marks, min: marks.least, least: undefined })
      return [writeTag('xs:sequence', { minOccurs: 0 }, this.#particleTag(key, some, draft, form))]
    }
    const occurs = {
      minOccurs: marks.min === 1 ? undefined : marks.min,
      maxOccurs: marks.max === 1 ? undefined : marks.max === Number.POSITIVE_INFINITY ? 'unbounded' : marks.max,
    }
    switch (particle.kind) {
      case 'element': {
        const uri = marks.uri ?? (form.elements === 'qualified' ? form.uri : '')
        const about = {
          nillable: marks.isNillable || undefined,
          ...this.#initial(marks, particle.type()),
          ...occurs,
          ...this.#expected(marks),
        }
        const name = marks.name ?? key
        if (uri !== '' && uri !== draft.uri)
          return [this.#foreignTag({ uri, local: name }, particle.type(), draft, form, occurs, this.#expected(marks))]
        // In a schema without a target namespace, no element is qualified.
        const isUnqualified = uri === '' && draft.uri !== ''
        draft.forms.add(isUnqualified ? 'unqualified' : 'qualified')
        return [
          this.#typedTag(
            'xs:element',
            { name, form: isUnqualified ? 'unqualified' : undefined, ...about },
            particle.type(),
            draft,
            form,
          ),
        ]
      }
      case 'reference':
        return [writeTag('xs:element', { ref: this.#refer(particle.to().name, draft), ...occurs })]
      case 'choice':
      case 'sequence':
        return [
          writeTag(`xs:${particle.kind}`, occurs, this.#particleTags(Object.entries(particle.members), draft, form)),
        ]
      case 'any':
        return [
          writeTag('xs:any', {
            namespace: writeNamespaces(particle.namespaces, draft.uri),
            processContents: particle.process,
            ...occurs,
          }),
        ]
      default:
        return []
    }
  }
  /**
   * A local element from another namespace comes from a group there, which has a global element
   * with its name.
   */
  #foreignTag(
    name: QualifiedName,
    type: AnyXmlType,
    draft: SchemaDraft,
    form: NamespaceForm,
    occurs: Attributes,
    about: Attributes,
  ): string {
    const other = this.#draft(name.uri)
    if (!other.names.has(`element ${name.local}`)) {
      other.names.add(`element ${name.local}`)
      const there = { ...form, uri: name.uri }
      other.content.push(this.#typedTag('xs:element', { name: name.local, ...about }, type, other, there))
    }
    return writeTag('xs:element', { ref: this.#refer(name, draft), ...occurs })
  }

  /** XML Schema Part 1 §3.4.2: the wildcard comes last. */
  #attributeTags(
    members: TypeMembers,
    draft: SchemaDraft,
    form: NamespaceForm,
    base: ComplexDefinition['base'],
  ): readonly string[] {
    const wildcards = Object.values(members).flatMap(({ particle }) =>
      particle.kind === 'anyAttribute' ? [this.#attributeWildcard(particle, draft)] : [],
    )
    const attributes = Object.entries(members).flatMap(([key, member]) => this.#attributeTag(key, member, draft, form))
    const prohibited = base?.by === 'restriction' ? this.#prohibitedTags(base.type, members, draft, form) : []
    return [...attributes, ...prohibited, ...wildcards]
  }
  #attributeWildcard({ namespaces, process }: AttributeWildcard, draft: SchemaDraft): string {
    const namespace = writeNamespaces(namespaces, draft.uri)
    return writeTag('xs:anyAttribute', { namespace, processContents: process })
  }
  #attributeTag(key: string, { particle, marks }: AnyMember, draft: SchemaDraft, form: NamespaceForm): string[] {
    if (particle.kind !== 'attribute') return []
    const name = qualifyAttribute(key, marks, form)
    const about = {
      use: marks.min > 0 && (marks.isFixed || marks.initial === undefined) ? 'required' : undefined,
      ...this.#initial(marks, particle.type),
    }
    if (name.uri !== '' && name.uri !== draft.uri)
      return [this.#foreignAttribute(name, particle.type, draft, form, about)]
    const local = { name: name.local, form: name.uri === '' ? undefined : 'qualified', ...about }
    return [this.#typedTag('xs:attribute', local, particle.type, draft, form)]
  }
  /** XML Schema Part 1 §3.4.2: a restriction keeps the attributes that it does not prohibit. */
  #prohibitedTags(base: AnyXmlType, own: TypeMembers, draft: SchemaDraft, form: NamespaceForm): readonly string[] {
    const keptNames = listAttributeNames(own, form)
    return listInheritedAttributes(base, form)
      .filter(({ uri, local }) => !keptNames.some(name => name.uri === uri && name.local === local))
      .map(name => {
        const isForeign = name.uri !== '' && name.uri !== draft.uri
        const about = isForeign
          ? { ref: this.#refer(name, draft) }
          : { name: name.local, form: name.uri === '' ? undefined : 'qualified' }
        return writeTag('xs:attribute', { ...about, use: 'prohibited' })
      })
  }
  #foreignAttribute(
    name: QualifiedName,
    type: AnyXmlType,
    draft: SchemaDraft,
    form: NamespaceForm,
    about: Attributes,
  ): string {
    const other = name.uri === xmlNs ? undefined : this.#draft(name.uri)
    if (other && !other.names.has(`attribute ${name.local}`)) {
      other.names.add(`attribute ${name.local}`)
      other.content.push(this.#typedTag('xs:attribute', { name: name.local }, type, other, form))
    }
    return writeTag('xs:attribute', { ref: this.#refer(name, draft), ...about })
  }
}

type MemberEntry = readonly [key: string, member: AnyMember]
/**
 * XML Schema Part 1 §3.8.2: `xs:all` has only elements. Each branch of a choice, such as a member
 * of a substitution group, is one that may be absent.
 */
const spreadChoice = ([key, member]: MemberEntry): readonly MemberEntry[] =>
  member.particle.kind === 'choice'
    ? Object.entries(member.particle.members)
        .map(([branch, each]): MemberEntry => [branch, each.optional()])
        .flatMap(spreadChoice)
    : [[key, member]]

type AttributeWildcard = Extract<AnyMember['particle'], { readonly namespaces: WildcardNamespaces }>

const qualifyAttribute = (key: string, marks: AnyMember['marks'], form: NamespaceForm): QualifiedName => ({
  uri: marks.uri ?? (form.attributes === 'qualified' ? form.uri : ''),
  local: marks.name ?? key,
})
const listAttributeNames = (members: TypeMembers, form: NamespaceForm): readonly QualifiedName[] =>
  Object.entries(members).flatMap(([key, { particle, marks }]) =>
    particle.kind === 'attribute' ? [qualifyAttribute(key, marks, form)] : [],
  )
const listInheritedAttributes = ({ definition }: AnyXmlType, form: NamespaceForm): readonly QualifiedName[] =>
  definition.kind === 'complex'
    ? [
        ...(definition.base?.by === 'extension' ? listInheritedAttributes(definition.base.type, form) : []),
        ...listAttributeNames(definition.members, definition.form ?? form),
      ]
    : []

const ownTextType = (members: TypeMembers): AnyXmlType | undefined =>
  Object.values(members).flatMap(({ particle }) => (particle.kind === 'text' ? [particle.type] : []))[0]
/** The type of content that is only text; undefined: the content is something else. */
const textTypeOf = ({ definition }: AnyXmlType): AnyXmlType | undefined =>
  definition.kind === 'complex'
    ? (ownTextType(definition.members) ?? (definition.base && textTypeOf(definition.base.type)))
    : undefined

function writeNamespaces(namespaces: WildcardNamespaces, target: string): string {
  if (namespaces === 'any') return '##any'
  if ('not' in namespaces) return '##other'
  return namespaces.of.map(uri => (uri === '' ? '##local' : uri === target ? '##targetNamespace' : uri)).join(' ')
}
