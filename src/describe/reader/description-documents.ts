/**
 * A description with all documents that it imports or includes: their components and schemas.
 * Invariants:
 *  (1) Nothing is fetched. `find` returns the octets of an imported document, or undefined; missing
 *      documents are listed, and references into them are flaws.
 *  (2) Each location is read once, and at most `wsdlLimits.documents` of them: loops and floods of
 *      imports end.
 *  (3) The parser refuses a document with a DTD.
 */
import { parseClarkName } from '../../base/clark-name.ts'
import { Malformed } from '../../xml/malformed.ts'
import { clarkNotation } from '../../xml/name.ts'
import { type Element, parseXml } from '../../xml/tree.ts'
import { findStandardSchema, standardNamespaces } from './standard-schemas.ts'
import { type Find, type LeftOut, type SchemaDocument, wsdlLimits } from './wsdl-document.ts'
import {
  attributeValue,
  childrenNamed,
  describeElement,
  isSchema,
  wsdl,
  wsdl20,
  wsdlChildren,
  xs,
} from './wsdl-elements.ts'

/** What is found while a description is read, besides its contents. */
export class ReadingNotes {
  readonly flaws = new Set<string>()
  readonly remarks = new Set<string>()
  readonly leftOut: LeftOut[] = []
  #reported = this.flaws

  addFlaw(flaw: string): void {
    this.#reported.add(flaw)
  }

  /** From now on, flaws are remarks: those of bindings without a port do not concern clients. */
  reportAsRemarks(): void {
    this.#reported = this.remarks
  }
}

export class DescriptionDocuments {
  readonly #find: Find
  readonly #notes: ReadingNotes
  /** The roots `wsdl:definitions`. */
  readonly roots: Element[] = []
  /** The roots `wsdl:description` of WSDL 2.0. */
  readonly descriptions: Element[] = []
  readonly schemas = new Set<Element>()
  readonly schemaDocuments: SchemaDocument[] = []
  /** Locations that were not found. */
  readonly missing: string[] = []
  /** Namespaces for which a schema was found. */
  readonly #described = new Set<string>()
  /** Namespaces that a schema imports. */
  readonly #imported = new Set<string>()
  /** Location → root of its document. */
  readonly #rootOf = new Map<string, Element | Malformed>()
  /** Pairs of a namespace and the location of a schema without one that it includes. */
  readonly #adoptions = new Set<string>()
  /** Locations of schemas → the first schema that redefines components in them. */
  readonly #redefiners = new Map<string, Element>()
  /** Top-level components by kind and `{namespace}local`. */
  readonly #components = new Map<string, Element>()
  readonly #declaredElements = new Set<string>()
  readonly #declaredTypes = new Set<string>()

  constructor(find: Find, notes: ReadingNotes) {
    this.#find = find
    this.#notes = notes
  }

  /** @param includer the namespace of the schema that includes the document */
  open(bytes: Uint8Array, location: string, includer = ''): Element | Malformed {
    const document = parseXml(bytes)
    const root = document instanceof Malformed ? document : document.root
    this.#rootOf.set(location, root)
    if (root instanceof Malformed) return root
    if (clarkNotation(root.name) === `{${wsdl}}definitions`) this.#readDefinitions(root, location)
    if (clarkNotation(root.name) === `{${wsdl20}}description`) this.#readDescription20(root, location)
    if (isSchema(root)) this.#readSchema(root, location, attributeValue(root, 'targetNamespace') ?? includer)
    return root
  }

  #readDefinitions(root: Element, location: string): void {
    this.roots.push(root)
    for (const types of wsdlChildren(root, 'types'))
      for (const schema of types.elements().filter(isSchema))
        this.#readSchema(schema, location, attributeValue(schema, 'targetNamespace') ?? '')
    const namespace = attributeValue(root, 'targetNamespace') ?? ''
    for (const kind of ['message', 'portType', 'binding', 'service'])
      for (const each of wsdlChildren(root, kind))
        this.#addComponent(`${kind} {${namespace}}${attributeValue(each, 'name') ?? ''}`, each)
    // A document's own services precede those of the documents that it imports.
    for (const each of wsdlChildren(root, 'import')) this.#followImport(attributeValue(each, 'location'), location)
  }

  /** WSDL 2.0 Part 1 §3.1, §4. */
  #readDescription20(root: Element, location: string): void {
    this.descriptions.push(root)
    for (const types of childrenNamed(root, wsdl20, 'types')) {
      for (const schema of types.elements().filter(isSchema))
        this.#readSchema(schema, location, attributeValue(schema, 'targetNamespace') ?? '')
      for (const each of childrenNamed(types, xs, 'import')) this.#followSchema(each, location)
    }
    for (const kind of ['import', 'include'])
      for (const each of childrenNamed(root, wsdl20, kind))
        this.#followImport(attributeValue(each, 'location'), location)
  }

  #addComponent(name: string, element: Element): void {
    if (this.#components.has(name)) this.#notes.addFlaw(`${name} is declared twice`)
    else this.#components.set(name, element)
  }

  /** @param namespace its own, or that of the including schema (XML Schema Part 1 §4.2.1) */
  #readSchema(schema: Element, location: string, namespace: string): void {
    this.schemas.add(schema)
    this.schemaDocuments.push({ schema, namespace, location })
    this.#described.add(attributeValue(schema, 'targetNamespace') ?? '')
    for (const each of schema.elements()) {
      const name = `{${namespace}}${attributeValue(each, 'name') ?? ''}`
      if (each.name.local === 'element') this.#declaredElements.add(name)
      if (each.name.local === 'complexType' || each.name.local === 'simpleType') this.#declaredTypes.add(name)
      if (!['import', 'include', 'redefine', 'override'].includes(each.name.local)) continue
      const found = this.#followSchema(each, location, each.name.local === 'import' ? undefined : namespace)
      if (each.name.local === 'redefine' && found !== undefined) this.#checkRedefined(found, schema)
    }
  }
  /** XML Schema Part 1 §4.2.2: of two schemas that redefine a third, neither sees the other. */
  #checkRedefined(location: string, schema: Element): void {
    const first = this.#redefiners.get(location) ?? schema
    this.#redefiners.set(location, first)
    if (first !== schema)
      this.#notes.addFlaw(`${location} is redefined by two schemas: what both redefine has both changes`)
  }
  /** A schema that every tool has does not count as missing if its file is. */
  #followSchema(reference: Element, base: string, includer?: string): string | undefined {
    const namespace = attributeValue(reference, 'namespace') ?? ''
    this.#imported.add(namespace)
    const isKnown = knownNamespaces.has(namespace)
    return this.#followImport(attributeValue(reference, 'schemaLocation'), base, includer, isKnown)
  }

  /** @returns the location of the document; undefined: it was not found */
  #followImport(written: string | undefined, base: string, includer?: string, isKnown = false): string | undefined {
    if (written === undefined || written === '') return undefined
    if (this.#rootOf.size + this.#adoptions.size >= wsdlLimits.documents) {
      this.#notes.addFlaw(`more than ${wsdlLimits.documents} documents: the others were not read`)
      return undefined
    }
    const found = this.#find(written, base)
    if (!found) {
      if (!isKnown) this.missing.push(written)
      return undefined
    }
    const known = this.#rootOf.get(found.location)
    if (known) this.#adoptSchema(known, found.location, includer)
    else {
      const root = this.open(found.bytes, found.location, includer)
      if (root instanceof Malformed) this.#notes.addFlaw(`${written}: ${root.reason}`)
    }
    return found.location
  }

  /**
   * A schema without a namespace takes that of each including schema (XML Schema Part 1 §4.2.1).
   */
  #adoptSchema(root: Element | Malformed, location: string, namespace: string | undefined): void {
    if (namespace === undefined || root instanceof Malformed || !isSchema(root)) return
    const adoption = `${namespace} ${location}`
    if (attributeValue(root, 'targetNamespace') !== undefined || this.#adoptions.has(adoption)) return
    this.#adoptions.add(adoption)
    this.#readSchema(root, location, namespace)
  }

  /** Adds standard schemas for imported namespaces that no document has. */
  addStandardSchemas(): void {
    for (const namespace of this.#imported) {
      const bytes = this.#described.has(namespace) ? undefined : findStandardSchema(namespace)
      if (bytes) this.open(bytes, namespace)
    }
  }

  /** By name, in the order of the documents. */
  componentsOf(kind: string): [name: string, element: Element][] {
    return [...this.#components].flatMap(([key, element]) =>
      key.startsWith(`${kind} `) ? [[key.slice(kind.length + 1), element]] : [],
    )
  }

  resolve(kind: string, element: Element, attribute: string, place?: string): Element | undefined {
    const name = this.resolveName(element, attribute)
    const found = name === undefined ? undefined : this.#components.get(`${kind} ${name}`)
    const from = place ?? describeElement(element)
    if (!found)
      this.#notes.addFlaw(
        `${from}: ${kind} ${name ?? attributeValue(element, attribute) ?? 'without a name'} is not found`,
      )
    return found
  }

  resolveName(element: Element, attribute: string): string | undefined {
    const [, prefix = '', local] = /^(?:([^:]*):)?([^:]+)$/.exec(attributeValue(element, attribute) ?? '') ?? []
    if (local === undefined) return undefined
    const uri = element.namespace(prefix)
    if (uri === undefined) this.#notes.addFlaw(`the prefix ${prefix} is not declared`)
    return uri === undefined ? undefined : `{${uri}}${local}`
  }

  /** Checks only names in namespaces for which a schema was found. */
  checkDeclared(kind: 'element' | 'type', name: string, place: string): void {
    const names = kind === 'element' ? this.#declaredElements : this.#declaredTypes
    const uri = parseClarkName(name)?.uri ?? ''
    if (this.missing.length > 0) return
    if (!this.#described.has(uri)) {
      if (!knownNamespaces.has(uri)) this.#notes.remarks.add(`${place} ${name} is in a namespace without a schema`)
    } else if (!names.has(name)) this.#notes.addFlaw(`${place} ${name} is not declared`)
  }

  /** Of a kind, by its name in James Clark's notation. */
  component(kind: string, name: string): Element | undefined {
    return this.#components.get(`${kind} ${name}`)
  }
}

/** Namespaces whose schema tools have without a document: encodings, XML, media types. */
const knownNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/soap/encoding/',
  'http://www.w3.org/2003/05/soap-encoding',
  'http://www.w3.org/XML/1998/namespace',
  'http://www.w3.org/2004/11/xmlmime',
  'http://www.w3.org/2005/05/xmlmime',
  ...standardNamespaces,
])
