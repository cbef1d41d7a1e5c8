/** The components of a set of schemas by kind and name, each with the document that declares it. */

import { type ClarkName, parseClarkName } from '../../base/clark-name.ts'
import { memoizeByObject } from '../../base/memo.ts'
import { isTrueText } from '../../contract/lexical/text.ts'
import type { NamespaceForm } from '../../contract/xml-type.ts'
import type { SchemaDocument } from '../../describe/reader/wsdl-document.ts'
import { readDocumentation, schemaNamespaces } from '../../describe/reader/wsdl-elements.ts'
import type { Element } from '../../xml/index.ts'
import { findFreeName } from '../constant-names.ts'

export const xsNs = 'http://www.w3.org/2001/XMLSchema'
export type ComponentKind = 'element' | 'attribute' | 'complexType' | 'simpleType' | 'group' | 'attributeGroup'

/** A declaration, in the namespace and the form of its schema. */
export interface SchemaComponent {
  readonly node: Element
  readonly form: NamespaceForm
  readonly location: string
  /** It was redefined, so no message can name it (Part 1 §4.2.2). */
  readonly isRedefined?: boolean
}

/** An earlier declaration keeps its place among the others. */
interface FoundComponent extends SchemaComponent {
  readonly kind: ComponentKind
  /** In James Clark's notation. */
  readonly key: string
  /** For a component inside `xs:redefine` or `xs:override`. */
  readonly stead?: 'redefine' | 'override'
}

export const attributeOf = (node: Element, local: string): string | undefined =>
  node.attributes.find(({ name }) => name.uri === '' && name.local === local)?.value.trim()
/** Whether an attribute is true, as an XML Schema boolean. */
export const hasTrue = (node: Element, local: string): boolean => isTrueText(attributeOf(node, local))
export const schemaChildren = (node: Element): Element[] =>
  node.elements().filter(({ name }) => schemaNamespaces.has(name.uri))
export const schemaChild = (node: Element, ...locals: readonly string[]): Element | undefined =>
  schemaChildren(node).find(({ name }) => locals.includes(name.local))

/** Heads of substitution groups; XML Schema 1.1 has several. */
const headsOf = (node: Element): readonly string[] =>
  (attributeOf(node, 'substitutionGroup') ?? '').split(/\s+/).filter(Boolean)
/** The head whose type an element without a type has (XML Schema 1.1 Part 1 §3.3.2.1). */
export const firstHeadOf = (node: Element): string | undefined => headsOf(node)[0]

/** The text of xs:documentation, in one piece. */
export function documentationOf(node: Element): string | undefined {
  const annotation = schemaChild(node, 'annotation')
  return annotation && readDocumentation(annotation)
}

export class SchemaComponents {
  /** A phrase for each declaration that its schema must not contain. */
  readonly flaws: string[] = []
  /** A phrase for each rule that a schema sets for all of its types and no type here has. */
  readonly unsaid: readonly string[]
  /** By kind, then by name in James Clark's notation. */
  readonly #all = new Map<ComponentKind, Map<string, SchemaComponent>>()
  /** Heads of substitution groups → names of their members. */
  readonly #substitutes = new Map<string, string[]>()
  readonly #documents = new Set<string>()
  /** Names inside redefinitions that mean the original: by node, then by written name. */
  readonly #redefined = new Map<Element, Map<string, string>>()

  constructor(documents: readonly SchemaDocument[]) {
    for (const { namespace } of documents) this.#documents.add(namespace)
    this.unsaid = documents.flatMap(listUnsaid)
    const found = documents.flatMap(listDeclaredComponents)
    const taken = new Set(found.map(({ kind, key }) => `${spaceOf(kind)} ${key}`))
    // Replacements are known before other components, whichever document was read first.
    for (const each of found.filter(({ stead }) => stead)) this.#addComponent(each, taken)
    for (const each of found.filter(({ stead }) => !stead)) this.#addComponent(each, taken)
  }

  /** The first of a name counts; the original of a redefinition gets a new name. */
  #addComponent({ kind, key, stead, ...component }: FoundComponent, taken: Set<string>): void {
    const known = this.#of(kind)
    const own = this.#redefinitions.get(`${kind} ${key}`) ?? key
    const first = known.get(own)
    if (first) {
      if (!stead) this.#compareWithFirst(first, component.node, `${kind} ${key}`)
      return
    }
    if (stead) this.#replacing.add(component.node)
    known.set(own, own === key ? component : { ...component, isRedefined: true })
    if (stead === 'redefine') this.#addRedefinition(kind, key, component, taken)
    const { node, form } = component
    if (kind !== 'element') return
    for (const each of headsOf(node)) {
      const head = this.resolve(node, each, form.uri)
      if (head === undefined) continue
      const known = this.#substitutes.get(head)
      if (known) known.push(key)
      else this.#substitutes.set(head, [key])
    }
  }

  /** Components inside `xs:redefine` or `xs:override`, which replace others of their name. */
  readonly #replacing = new Set<Element>()
  /** Part 1 §3.15.6: names are unique, but documents may repeat what they have in common. */
  #compareWithFirst({ node: first }: SchemaComponent, other: Element, component: string): void {
    if (this.#replacing.has(first) || first === other) return
    if (digestDeclaration(first) !== digestDeclaration(other))
      this.flaws.push(`${component} is declared twice, in different ways: the first declaration counts`)
  }

  /** The new names of redefined originals → their former names. */
  readonly #originals = new Map<string, string>()
  /** Kind and name → the name that their next declaration gets. */
  readonly #redefinitions = new Map<string, string>()
  #addRedefinition(kind: ComponentKind, key: string, { node, form }: SchemaComponent, taken: Set<string>): void {
    const original = findFreeName(`${key}Original`, each => taken.has(`${spaceOf(kind)} ${each}`))
    taken.add(`${spaceOf(kind)} ${original}`)
    this.#redefinitions.set(`${kind} ${key}`, original)
    this.#originals.set(original, key)
    const ownReferences = listOwnReferences(node).filter(
      ({ at, written }) => this.resolve(at, written, form.uri) === key,
    )
    if (ownReferences.length === 0 && spaceOf(kind) === 'type')
      this.flaws.push(
        `${kind} ${key} is in xs:redefine and is not derived from itself: it replaces the component that it should change`,
      )
    for (const { at } of ownReferences) {
      const renamed = this.#redefined.get(at) ?? new Map<string, string>()
      this.#redefined.set(at, renamed.set(key, original))
    }
  }

  #of(kind: ComponentKind): Map<string, SchemaComponent> {
    let components = this.#all.get(kind)
    if (!components) this.#all.set(kind, (components = new Map()))
    return components
  }

  /**
   * Resolves a QName in a schema. Without a targetNamespace, names without a prefix are in the
   * including schema's (Part 1 §4.2.1, 3.2), whatever other schemas there are.
   */
  resolve(node: Element, written: string | undefined, target: string): string | undefined {
    const [, prefix = '', local] = /^(?:([^:]*):)?([^:]+)$/.exec(written?.trim() ?? '') ?? []
    if (local === undefined) return undefined
    const uri = node.namespace(prefix)
    if (uri === undefined) return written?.trim() // no component has such a name
    const isBare = uri === '' && prefix === '' && (!hasTargetNamespace(node) || !this.#documents.has(''))
    const name = `{${isBare ? target : uri}}${local}`
    return this.#redefined.get(node)?.get(name) ?? name
  }

  find(kind: ComponentKind, name: string): SchemaComponent | undefined {
    return this.#all.get(kind)?.get(name)
  }
  hasType(name: string): boolean {
    return this.find('complexType', name) !== undefined || this.find('simpleType', name) !== undefined
  }
  names(kind: ComponentKind): readonly string[] {
    return [...(this.#all.get(kind)?.keys() ?? [])]
  }

  /** The members of a substitution group, including those of further heads, without the head. */
  substitutesOf(head: string, seen: Set<string> = new Set([head])): readonly string[] {
    return (this.#substitutes.get(head) ?? []).flatMap(name => {
      if (seen.has(name)) return []
      seen.add(name)
      return [name, ...this.substitutesOf(name, seen)]
    })
  }

  /** A name for a reader: a redefined original has none of its own. */
  describeComponent(name: string): string {
    const redefined = this.#originals.get(name)
    return redefined === undefined ? name : `that ${redefined} redefines`
  }
  hasNamespace(uri: string): boolean {
    return this.#documents.has(uri)
  }
}

/** The components of a schema, and those with which it replaces others. */
function listDeclaredComponents({ schema, namespace, location }: SchemaDocument): readonly FoundComponent[] {
  const form = (local: string) => (attributeOf(schema, local) === 'qualified' ? 'qualified' : 'unqualified')
  const forms: NamespaceForm = {
    uri: namespace,
    elements: form('elementFormDefault'),
    attributes: form('attributeFormDefault'),
  }

  const read = (node: Element, stead?: 'redefine' | 'override'): readonly FoundComponent[] => {
    const name = attributeOf(node, 'name')
    if (name === undefined) return []
    const kind = node.name.local as ComponentKind // others have no name to look up
    return [{ kind, key: `{${namespace}}${name}`, node, form: forms, location, ...(stead && { stead }) }]
  }
  return schemaChildren(schema).flatMap(node => {
    const { local } = node.name
    return local === 'redefine' || local === 'override'
      ? schemaChildren(node).flatMap(each => read(each, local))
      : read(node)
  })
}

/** What a component declares, whatever prefixes it uses and whatever comments it has. */
const digestDeclaration = memoizeByObject((node: Element): string => {
  const attributes = node.attributes.map(({ name, value }) => `${name.local}=${value.trim().replace(/^[^:\s]+:/, '')}`)
  const inside = schemaChildren(node).filter(({ name }) => name.local !== 'annotation')
  return JSON.stringify([node.name.local, attributes.sort(), inside.map(digestDeclaration)])
})

/** XML Schema 1.1 Part 1 §3.4.2.2, §3.4.2.3.3. */
function listUnsaid({ schema, namespace }: SchemaDocument): readonly string[] {
  const of = `of the schema ${namespace || 'without a namespace'}`
  const open = schemaChild(schema, 'defaultOpenContent')
  const attributes = attributeOf(schema, 'defaultAttributes')
  return [
    ...(open ? [`types ${of} have no elements but those that are declared (xs:defaultOpenContent)`] : []),
    ...(attributes === undefined ? [] : [`types ${of} have no attributes of the group ${attributes} by default`]),
    ...schemaChildren(schema)
      .filter(({ name }) => name.local === 'notation')
      .map(each => `the notation ${attributeOf(each, 'name') ?? ''} ${of} is left out`),
  ]
}

/** Simple and complex types share their names (Part 1 §2.5). */
const spaceOf = (kind: ComponentKind): string => (kind === 'simpleType' || kind === 'complexType' ? 'type' : kind)

/** Places where a redefinition refers to its original: a base, or references (§4.2.2, 5-7). */
function listOwnReferences(node: Element): readonly { readonly at: Element; readonly written: string | undefined }[] {
  const { local } = node.name
  if (local === 'group' || local === 'attributeGroup') return listGroupReferences(node, local)
  const content = schemaChild(node, 'complexContent', 'simpleContent') ?? node
  const derivation = schemaChild(content, 'extension', 'restriction')
  return derivation ? [{ at: derivation, written: attributeOf(derivation, 'base') }] : []
}

const listGroupReferences = (node: Element, local: string): ReturnType<typeof listOwnReferences> =>
  schemaChildren(node).flatMap(each => [
    ...(each.name.local === local ? [{ at: each, written: attributeOf(each, 'ref') }] : []),
    ...listGroupReferences(each, local),
  ])
/** The schema that contains a node. */
export function schemaAround(node: Element): Element {
  let schema = node
  while (schema.parent && schema.name.local !== 'schema') schema = schema.parent
  return schema
}

const hasTargetNamespace = (node: Element): boolean => attributeOf(schemaAround(node), 'targetNamespace') !== undefined

/** Splits a name that was read: an attribute that names nothing is read as a local part, too. */
export const splitClark = (name: string): ClarkName => parseClarkName(name) ?? { uri: '', local: name }
