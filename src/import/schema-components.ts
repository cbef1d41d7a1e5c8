/** The components of a set of schemas by kind and name, each with the document that declares it. */
import type { NamespaceForm } from '../contract/xml-type.ts'
import { readDocumentation, type SchemaDocument, schemaNamespaces } from '../describe/read-wsdl.ts'
import type { Element } from '../xml/index.ts'

export const xsNs = 'http://www.w3.org/2001/XMLSchema'
export type ComponentKind = 'element' | 'attribute' | 'complexType' | 'simpleType' | 'group' | 'attributeGroup'

/** A declaration, in the namespace and the form of its schema. */
export interface SchemaComponent {
  readonly node: Element
  readonly form: NamespaceForm
  readonly location: string
}

export const attributeOf = (node: Element, local: string): string | undefined =>
  node.attributes.find(({ name }) => name.uri === '' && name.local === local)?.value.trim()
export const schemaChildren = (node: Element): Element[] =>
  node.elements().filter(({ name }) => schemaNamespaces.has(name.uri))
export const schemaChild = (node: Element, ...locals: readonly string[]): Element | undefined =>
  schemaChildren(node).find(({ name }) => locals.includes(name.local))

/** The text of xs:documentation, in one piece. */
export function documentationOf(node: Element): string | undefined {
  const annotation = schemaChild(node, 'annotation')
  return annotation && readDocumentation(annotation)
}

export class SchemaComponents {
  /** By kind, then by name in James Clark's notation. */
  readonly #all = new Map<ComponentKind, Map<string, SchemaComponent>>()
  /** Heads of substitution groups → names of their members. */
  readonly #substitutes = new Map<string, string[]>()
  readonly #documents = new Set<string>()

  constructor(documents: readonly SchemaDocument[]) {
    for (const each of documents) this.#addDocument(each)
  }

  #addDocument({ schema, namespace, location }: SchemaDocument): void {
    this.#documents.add(namespace)
    const form = (local: string) => (attributeOf(schema, local) === 'qualified' ? 'qualified' : 'unqualified')
    const forms: NamespaceForm = {
      uri: namespace,
      elements: form('elementFormDefault'),
      attributes: form('attributeFormDefault'),
    }
    const nodes = schemaChildren(schema).flatMap(node =>
      node.name.local === 'redefine' ? schemaChildren(node) : [node],
    )
    for (const node of nodes) {
      const kind = node.name.local as ComponentKind // others have no name that is looked for
      const name = attributeOf(node, 'name')
      if (name === undefined) continue
      const known = this.#of(kind)
      const key = `{${namespace}}${name}`
      if (!known.has(key)) known.set(key, { node, form: forms, location })
      const head =
        kind === 'element' ? this.resolve(node, attributeOf(node, 'substitutionGroup'), namespace) : undefined
      if (head !== undefined) this.#substitutes.set(head, [...(this.#substitutes.get(head) ?? []), key])
    }
  }
  #of(kind: ComponentKind): Map<string, SchemaComponent> {
    let known = this.#all.get(kind)
    if (!known) this.#all.set(kind, (known = new Map()))
    return known
  }

  /**
   * A QName of a schema. In one without a targetNamespace, names without prefix have its includer's
   * (Part 1 §4.2.1, 3.2), whatever other schemas there are.
   */
  resolve(node: Element, written: string | undefined, target: string): string | undefined {
    const [, prefix = '', local] = /^(?:([^:]*):)?([^:]+)$/.exec(written?.trim() ?? '') ?? []
    if (local === undefined) return undefined
    const uri = node.namespace(prefix)
    if (uri === undefined) return undefined
    const isBare = uri === '' && prefix === '' && (!hasTargetNamespace(node) || !this.#documents.has(''))
    return `{${isBare ? target : uri}}${local}`
  }

  find(kind: ComponentKind, name: string): SchemaComponent | undefined {
    return this.#all.get(kind)?.get(name)
  }
  names(kind: ComponentKind): readonly string[] {
    return [...(this.#all.get(kind)?.keys() ?? [])]
  }
  /** The members of a substitution group, through further heads, without the head itself. */
  substitutesOf(head: string, seen: Set<string> = new Set([head])): readonly string[] {
    return (this.#substitutes.get(head) ?? []).flatMap(name => {
      if (seen.has(name)) return []
      seen.add(name)
      return [name, ...this.substitutesOf(name, seen)]
    })
  }
  hasNamespace(uri: string): boolean {
    return this.#documents.has(uri)
  }
}

/** Of the schema in which a node stands. */
function hasTargetNamespace(node: Element): boolean {
  let schema = node
  while (schema.parent && schema.name.local !== 'schema') schema = schema.parent
  return attributeOf(schema, 'targetNamespace') !== undefined
}

export const splitClark = (name: string): { readonly uri: string; readonly local: string } => {
  const [, uri = '', local = name] = /^\{([^}]*)\}(.*)$/.exec(name) ?? []
  return { uri, local }
}
