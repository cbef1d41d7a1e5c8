/**
 * Reading a WSDL 1.1, for a client or a bridge without the contract. Invariants:
 *  (1) Nothing is fetched. `find` returns the octets of an imported document, or undefined; missing
 *      documents are listed, and references into them are flaws.
 *  (2) Each location is read once, and at most `wsdlLimits.documents` of them: loops and floods of
 *      imports end.
 *  (3) The parser refuses a document with a DTD.
 *  (4) A dangling reference is a flaw with its place; the rest of the document stays usable.
 *  (5) Time and memory are linear in the octets: each component is read once, however many refer to
 *      it.
 *
 * Types are not interpreted: the result contains the schemas as trees.
 */

import { parseClarkName } from '../base/clark-name.ts'
import type { DeclaredActions } from '../contract/exchange.ts'
import { isTrueText } from '../contract/lexical/text.ts'
import { describeActionPattern } from '../contract/port-names.ts'
import { Malformed } from '../xml/malformed.ts'
import { clarkNotation } from '../xml/name.ts'
import { type Element, parseXml } from '../xml/tree.ts'
import { addressingNamespaces, PolicyLookup, policyNamespaces } from './policy-lookup.ts'
import { findStandardSchema, standardNamespaces } from './standard-schemas.ts'

/** WSDL 1.1 §2.4.3 and §2.4.4, and the outbound patterns of WSDL 2.0. */
export const sentFirst = 'the service speaks first: a notification is left out'

/** A WSDL 1.1, as far as a caller needs it. */
export interface WsdlDocument {
  readonly targetNamespace: string
  readonly services: readonly WsdlService[]
  /** All bindings, including those without a port: many documents leave the service to others. */
  readonly bindings: readonly WsdlBinding[]
  readonly portTypes: readonly WsdlPortType[]
  /** Elements `xs:schema`, both inline and imported. */
  readonly schemas: readonly Element[]
  /** The same schemas, each under every namespace in which it declares components. */
  readonly schemaDocuments: readonly SchemaDocument[]
  /** Locations that `find` did not find. */
  readonly missing: readonly string[]
  /** A phrase for each flaw; empty for most documents. */
  readonly flaws: readonly string[]
  /**
   * A phrase for each thing that a profile or schema forbids although its meaning is clear, and for
   * each flaw of a binding without a port.
   */
  readonly remarks: readonly string[]
  /** Settings that SOAP messages over HTTP do not have. */
  readonly leftOut: readonly LeftOut[]
  /** Its own documentation; with single spaces, like all documentation here. */
  readonly documentation: string | undefined
}
/** A part of a description that has no place in the result. */
export interface LeftOut {
  /** `operation Order input`. */
  readonly place: string
  /** A phrase that says what happens to it. */
  readonly detail: string
}
/** A schema in its own namespace, or in that of the schema that includes it. */
export interface SchemaDocument {
  readonly schema: Element
  readonly namespace: string
  readonly location: string
}
export interface WsdlPortType {
  /** In James Clark's notation. */
  readonly name: string
  /** Names; an overloaded operation occurs once for each declaration. */
  readonly operations: readonly string[]
}
export interface WsdlBinding {
  /** In James Clark's notation. */
  readonly name: string
  /** Undefined: not a binding of SOAP. */
  readonly soap: '1.1' | '1.2' | undefined
  /** If it is not a SOAP binding, its kind: a namespace, such as that of HTTP. */
  readonly other?: string | undefined
  /** A URI; `http://schemas.xmlsoap.org/soap/http` is HTTP. */
  readonly transport: string | undefined
  /** In James Clark's notation. */
  readonly portType: string | undefined
  readonly operations: readonly WsdlOperation[]
  /** `wsp:Policy` of any version attached to it; for a port, also the port's own. */
  readonly policies?: readonly Element[]
  /** From its portType or interface, otherwise its own, otherwise the port's. */
  readonly documentation?: string | undefined
}
/** A service of a WSDL, with its ports. */
export interface WsdlService {
  readonly name: string
  readonly documentation?: string | undefined
  readonly ports: readonly WsdlPort[]
}
/** The contents of its binding, under the name of the port. */
export interface WsdlPort extends WsdlBinding {
  /** As written: it may be any address, and the client decides whether to use it (attack D3). */
  readonly address: string | undefined
}
/** An operation of a binding, with its action and its messages. */
export interface WsdlOperation {
  readonly name: string
  /** soapAction; empty if absent. */
  readonly action: string
  /** The [action] of its messages (WS-Addressing 1.0 Metadata §4.4). */
  readonly addressedAs: Required<DeclaredActions>
  readonly style: 'document' | 'rpc'
  /** Undefined: it has none, or none that could be read. */
  readonly input: WsdlMessage | undefined
  /** Why no client can call it, as a sentence; undefined: clients can. */
  readonly unasked: string | undefined
  /** Undefined: one-way, or not callable. */
  readonly output: WsdlMessage | undefined
  readonly faults: readonly WsdlFault[]
  /** Whether WSDL 2.0 says that it changes nothing (Part 2 §3.1). */
  readonly isSafe?: boolean
  /** `wsp:Policy` attached to it in the binding, and to its messages there. */
  readonly policies?: Readonly<Record<'operation' | 'input' | 'output', readonly Element[]>>
  /** Its replies may not go into the response (`wsaw:Anonymous`, WSDL Binding §3.2). */
  readonly isAnsweredElsewhere?: true
  /** If WSDL 2.0 binds it to a GET: the template of the address, relative to the endpoint's. */
  readonly location?: string
  /** From its portType or interface, otherwise from its binding. */
  readonly documentation?: string
}
/** A fault of a WSDL operation. */
export interface WsdlFault extends WsdlMessage {
  readonly fault: string
  /** Whether the binding says how it is sent. */
  readonly isBound: boolean
}
/** A message of a WSDL: its parts, in order. */
export interface WsdlMessage {
  readonly use: 'literal' | 'encoded'
  /** The namespace of an RPC wrapper. */
  readonly namespace: string
  readonly encodingStyle: string | undefined
  /**
   * The content of the Body, in order: declared elements, or types under the names of their parts.
   */
  readonly parts: readonly WsdlPart[]
  /** The parts that travel next to the envelope (§5.11). */
  readonly attached?: readonly WsdlAttachment[]
  /** The parts that are header blocks, with the namespace of those that have a type. */
  readonly headers: readonly WsdlHeader[]
  /** Of the message in its operation, otherwise of the message itself. */
  readonly documentation?: string | undefined
}
/** A part that travels next to its envelope, with its allowed media types; none: any. */
export interface WsdlAttachment extends WsdlPart {
  readonly mediaTypes: readonly string[]
}
/** A header block, and the blocks that report errors about it (§3.7). */
export interface WsdlHeader extends WsdlBlock {
  readonly faults?: readonly WsdlBlock[]
}
/** A message part that travels as a header block; with a namespace if it has a type. */
export type WsdlBlock = WsdlPart & { readonly namespace?: string }
/** A part of a message, by its element or its type. */
export interface WsdlPart {
  readonly name: string
  /** In James Clark's notation, `{namespace}local`. */
  readonly element?: string
  readonly type?: string
  /** In WSDL 2.0, a phrase for content other than a declared element. */
  readonly content?: string
  readonly documentation?: string | undefined
  /** Of a header block in WSDL 2.0: its sender marks it with mustUnderstand. */
  readonly isMandatory?: boolean
}

export interface WsdlLimits {
  readonly documents: number
}
/** More than the descriptions of real services have; a hostile one may have 10,000 (attack D1). */
export const wsdlLimits: WsdlLimits = { documents: 200 }

/** Finds the octets of a location named in the document at `base`. */
export type Find = (
  location: string,
  base: string,
) => { readonly location: string; readonly bytes: Uint8Array } | undefined

/** @param location the location of the document: the base of its imports */
export function readWsdl11(bytes: Uint8Array, location = '', find: Find = () => undefined): WsdlDocument | Malformed {
  const reader = new WsdlReader(find)
  const root = reader.open(bytes, location)
  if (root instanceof Malformed) return root
  if (clarkNotation(root.name) !== `{${wsdl}}definitions`)
    return new Malformed('the root is not wsdl:definitions', root.from)
  return reader.document(root)
}

/** A WSDL 1.1, WSDL 2.0 or XML Schema, and all documents that it imports or includes. */
export interface ReadDescription {
  readonly kind: 'wsdl11' | 'wsdl20' | 'xsd'
  readonly document: WsdlDocument
  /** For WSDL 2.0: the roots `wsdl:description`, that of the first document first. */
  readonly descriptions: readonly Element[]
}
export function readDescription(
  bytes: Uint8Array,
  location = '',
  find: Find = () => undefined,
): ReadDescription | Malformed {
  const reader = new WsdlReader(find)
  const root = reader.open(bytes, location)
  if (root instanceof Malformed) return root
  const kind = rootKinds[clarkNotation(root.name)]
  if (!kind) return new Malformed('the root is not a wsdl:definitions, wsdl:description or xs:schema', root.from)
  return { kind, document: reader.document(root), descriptions: reader.descriptions }
}

const wsdl = 'http://schemas.xmlsoap.org/wsdl/'
const wsdl20 = 'http://www.w3.org/ns/wsdl'
const xs = 'http://www.w3.org/2001/XMLSchema'
/** The recommendation, and earlier drafts that old documents still name. */
export const schemaNamespaces: ReadonlySet<string> = new Set([
  xs,
  'http://www.w3.org/2000/10/XMLSchema',
  'http://www.w3.org/1999/XMLSchema',
])
const isSchema = ({ name }: Element): boolean => name.local === 'schema' && schemaNamespaces.has(name.uri)
const rootKinds: Readonly<Record<string, ReadDescription['kind']>> = {
  [`{${wsdl}}definitions`]: 'wsdl11',
  [`{${wsdl20}}description`]: 'wsdl20',
  ...Object.fromEntries([...schemaNamespaces].map(uri => [`{${uri}}schema`, 'xsd' as const])),
}
const soapVersionOf: Readonly<Record<string, '1.1' | '1.2'>> = {
  'http://schemas.xmlsoap.org/wsdl/soap/': '1.1',
  'http://schemas.xmlsoap.org/wsdl/soap12/': '1.2',
}

const childrenNamed = (element: Element, uri: string, local: string): Element[] =>
  element.elements().filter(({ name }) => name.uri === uri && name.local === local)
const wsdlChildren = (element: Element, local: string): Element[] => childrenNamed(element, wsdl, local)
/** The text of an attribute without surrounding space. */
export const attributeValue = (element: Element, local: string, uri = ''): string | undefined =>
  element.attributes.find(({ name }) => name.uri === uri && name.local === local)?.value.trim()
/** The SOAP extension elements of either version in a binding or port. */
const soapChildren = (element: Element, local: string): Element[] =>
  element.elements().filter(({ name }) => Object.hasOwn(soapVersionOf, name.uri) && name.local === local)

class WsdlReader {
  readonly #find: Find
  readonly #roots: Element[] = []
  readonly #schemas = new Set<Element>()
  readonly #schemaDocuments: SchemaDocument[] = []
  readonly descriptions: Element[] = []
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
  readonly #missing: string[] = []
  readonly #flaws = new Set<string>()
  readonly #remarks = new Set<string>()
  readonly #leftOut: LeftOut[] = []
  /** Where flaws are reported: those of bindings without a port do not concern clients. */
  #reported = this.#flaws
  readonly #bindings = new Map<Element, Omit<WsdlBinding, 'name'>>()
  /** The operations of a portType by name; overloads share one. */
  readonly #operations = new Map<Element, ReadonlyMap<string | undefined, readonly Element[]>>()
  readonly #parts = new Map<Element, readonly WsdlPart[]>()
  /** Top-level components by kind and `{namespace}local`. */
  readonly #components = new Map<string, Element>()
  readonly #declaredElements = new Set<string>()
  readonly #declaredTypes = new Set<string>()
  readonly #policies = new PolicyLookup(this.#roots, flaw => this.#addFlaw(flaw))

  constructor(find: Find) {
    this.#find = find
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
    this.#roots.push(root)
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
    if (this.#components.has(name)) this.#addFlaw(`${name} is declared twice`)
    else this.#components.set(name, element)
  }

  /** @param namespace its own, or that of the including schema (XML Schema Part 1 §4.2.1) */
  #readSchema(schema: Element, location: string, namespace: string): void {
    this.#schemas.add(schema)
    this.#schemaDocuments.push({ schema, namespace, location })
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
    if (first !== schema) this.#addFlaw(`${location} is redefined by two schemas: what both redefine has both changes`)
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
      this.#addFlaw(`more than ${wsdlLimits.documents} documents: the others were not read`)
      return undefined
    }
    const found = this.#find(written, base)
    if (!found) {
      if (!isKnown) this.#missing.push(written)
      return undefined
    }
    const known = this.#rootOf.get(found.location)
    if (known) this.#adoptSchema(known, found.location, includer)
    else {
      const root = this.open(found.bytes, found.location, includer)
      if (root instanceof Malformed) this.#addFlaw(`${written}: ${root.reason}`)
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
  #addStandardSchemas(): void {
    for (const namespace of this.#imported) {
      const bytes = this.#described.has(namespace) ? undefined : findStandardSchema(namespace)
      if (bytes) this.open(bytes, namespace)
    }
  }

  document(root: Element): WsdlDocument {
    this.#addStandardSchemas()
    const services = this.#componentsOf('service').map(([, service]) => ({
      name: attributeValue(service, 'name') ?? '',
      documentation: readDocumentation(service),
      ports: wsdlChildren(service, 'port').map(port => this.#readPort(port)),
    }))
    this.#reported = this.#remarks
    const bindings = this.#componentsOf('binding').map(([name, binding]) => this.#bindingOf(binding, name))
    for (const each of this.#roots) {
      this.#checkAttributes(each)
      this.#findRequired(each, 'document')
    }
    return {
      targetNamespace: attributeValue(root, 'targetNamespace') ?? '',
      services,
      bindings,
      portTypes: this.#componentsOf('portType').map(([name, portType]) => ({
        name,
        operations: wsdlChildren(portType, 'operation').map(each => attributeValue(each, 'name') ?? ''),
      })),
      schemas: [...this.#schemas],
      schemaDocuments: this.#schemaDocuments,
      missing: this.#missing,
      flaws: [...this.#flaws],
      remarks: [...this.#remarks],
      leftOut: this.#leftOut,
      documentation: readDocumentation(root),
    }
  }

  /** By name, in the order of the documents. */
  #componentsOf(kind: string): [name: string, element: Element][] {
    return [...this.#components].flatMap(([key, element]) =>
      key.startsWith(`${kind} `) ? [[key.slice(kind.length + 1), element]] : [],
    )
  }

  #readPort(port: Element): WsdlPort {
    const binding = this.#resolve('binding', port, 'binding')
    const [address] = soapChildren(port, 'address')
    const bound = binding ? this.#bindingOf(binding, '') : unbound
    if (hasReferenceParameters(port)) this.#leftOut.push({ place: describeElement(port), detail: leftReference })
    return {
      ...bound,
      policies: [...(bound.policies ?? []), ...this.#policies.of(port)],
      documentation: bound.documentation ?? readDocumentation(port),
      name: attributeValue(port, 'name') ?? '',
      address: address && attributeValue(address, 'location'),
    }
  }

  /** Many ports may share a binding, which is read once. */
  #bindingOf(binding: Element, name: string): WsdlBinding {
    let known = this.#bindings.get(binding)
    if (!known) this.#bindings.set(binding, (known = this.#readBinding(binding)))
    return { name, ...known }
  }

  #readBinding(binding: Element): Omit<WsdlBinding, 'name'> {
    const [extension] = soapChildren(binding, 'binding')
    const portType = this.#resolve('portType', binding, 'type')
    const style = styleOf(extension, 'document')
    if (portType && extension) this.#checkBound(binding, portType)
    return {
      soap: extension && soapVersionOf[extension.name.uri],
      other: extension ? undefined : binding.elements().find(({ name }) => name.uri !== wsdl)?.name.uri,
      transport: extension && attributeValue(extension, 'transport'),
      portType: portType && this.#resolveName(binding, 'type'),
      policies: this.#policies.of(portType, binding),
      documentation: (portType && readDocumentation(portType)) ?? readDocumentation(binding),
      operations:
        portType && extension
          ? wsdlChildren(binding, 'operation').map(operation => this.#readOperation(operation, portType, style))
          : [],
    }
  }

  /** WS-I Basic Profile 1.1 R2718: a binding has the operations of its portType. */
  #checkBound(binding: Element, portType: Element): void {
    const bound = new Set(wsdlChildren(binding, 'operation').map(each => attributeValue(each, 'name')))
    for (const each of wsdlChildren(portType, 'operation'))
      if (!bound.has(attributeValue(each, 'name')))
        this.#addFlaw(`operation ${attributeValue(each, 'name')} is not in binding ${attributeValue(binding, 'name')}`)
  }

  #readOperation(bound: Element, portType: Element, style: 'document' | 'rpc'): WsdlOperation {
    const name = attributeValue(bound, 'name') ?? ''
    const [extension] = soapChildren(bound, 'operation')
    const own = styleOf(extension, style)
    const declared = this.#findOverload(bound, portType)
    if (!declared) this.#addFlaw(`operation ${name} is not in portType ${attributeValue(portType, 'name')}`)
    const message = (kind: 'input' | 'output') => {
      const [part] = declared ? wsdlChildren(declared, kind) : []
      const [binding] = wsdlChildren(bound, kind)
      return part && this.#readMessage(part, binding, `${name} ${kind}`, own)
    }
    const action = (extension && attributeValue(extension, 'soapAction')) ?? ''
    const documentation = (declared && readDocumentation(declared)) ?? readDocumentation(bound)
    return {
      ...(documentation !== undefined && { documentation }),
      name,
      action,
      addressedAs: readActions(declared ?? bound, portType, action),
      ...(prohibitsAnonymous(bound) && { isAnsweredElsewhere: true }),
      style: own,
      input: message('input'),
      unasked: declared !== undefined && isSentFirst(declared) ? sentFirst : undefined,
      output: message('output'),
      policies: {
        operation: this.#policies.of(declared, bound),
        input: this.#messagePolicies(declared, bound, 'input'),
        output: this.#messagePolicies(declared, bound, 'output'),
      },
      faults: (declared ? wsdlChildren(declared, 'fault') : []).flatMap(fault => this.#readFault(fault, bound, name)),
    }
  }

  /** WS-Policy 1.5 Attachment §4.1.4: includes those of the message itself. */
  #messagePolicies(declared: Element | undefined, bound: Element, kind: 'input' | 'output'): readonly Element[] {
    const [reference] = declared ? wsdlChildren(declared, kind) : []
    const name = reference && this.#resolveName(reference, 'message')
    const message = name === undefined ? undefined : this.#components.get(`message ${name}`)
    return this.#policies.of(message, reference, ...wsdlChildren(bound, kind))
  }

  /** §2.5: operations with the same name are distinguished by the names of their messages. */
  #findOverload(bound: Element, portType: Element): Element | undefined {
    const named = this.#operationsOf(portType).get(attributeValue(bound, 'name')) ?? []
    if (named.length < 2) return named[0]
    const [input, output] = messageNames(bound)
    const taking = named.filter(each => messageNames(each)[0] === input)
    return taking.find(each => messageNames(each)[1] === output) ?? taking[0] ?? named[0]
  }

  #operationsOf(portType: Element): ReadonlyMap<string | undefined, readonly Element[]> {
    let known = this.#operations.get(portType)
    if (!known) {
      known = Map.groupBy(wsdlChildren(portType, 'operation'), each => attributeValue(each, 'name'))
      this.#operations.set(portType, known)
    }
    return known
  }

  #readFault(fault: Element, bound: Element, operation: string): WsdlFault[] {
    const name = attributeValue(fault, 'name') ?? ''
    const binding = wsdlChildren(bound, 'fault').find(each => attributeValue(each, 'name') === name)
    const message = this.#readMessage(fault, binding, `${operation} fault ${name}`)
    return message ? [{ fault: name, isBound: binding !== undefined, ...message }] : []
  }

  /** @param style the style of the operation, if the message is its input or output */
  #readMessage(
    reference: Element,
    binding: Element | undefined,
    place: string,
    style?: 'document' | 'rpc',
  ): WsdlMessage | undefined {
    const message = this.#resolve('message', reference, 'message', place)
    if (!message) return undefined
    const [body] = binding ? [...soapExtensions(binding, 'body'), ...soapExtensions(binding, 'fault')] : []
    const headers = binding ? soapExtensions(binding, 'header').flatMap(header => this.#readHeader(header)) : []
    const named = body && attributeValue(body, 'parts')
    const only = named === undefined ? undefined : new Set(named.split(/\s+/))
    const all = this.#partsOf(message, place)
    const attached = binding ? this.#readAttached(binding, all, place) : []
    const blocks = new Set([
      ...headers.filter(({ of }) => of === message).map(({ name }) => name),
      ...attached.map(({ name }) => name),
    ])
    const read: WsdlMessage = {
      use: body && attributeValue(body, 'use') === 'encoded' ? 'encoded' : 'literal',
      namespace: (body && attributeValue(body, 'namespace')) ?? '',
      encodingStyle: body && attributeValue(body, 'encodingStyle'),
      parts: only || blocks.size > 0 ? all.filter(({ name }) => (only ? only.has(name) : !blocks.has(name))) : all,
      ...(attached.length > 0 && { attached }),
      headers: headers.map(({ of: _, ...part }) => part),
      documentation: readDocumentation(reference) ?? readDocumentation(message),
    }
    if (body && style && read.use === 'literal') this.#checkLiteral(read, style, place)
    return read
  }

  /**
   * §5.11: the parts that travel next to the envelope; several contents of one are alternatives.
   * §5.3: the content of the only part of a message need not name it.
   */
  #readAttached(binding: Element, parts: readonly WsdlPart[], place: string): readonly WsdlAttachment[] {
    const contents = listMimeParts(binding).flatMap(each =>
      each.elements().filter(({ name }) => name.uri === mime && (name.local === 'content' || name.local === 'mimeXml')),
    )
    const only = parts.length === 1 ? parts[0]?.name : undefined
    return [...Map.groupBy(contents, each => attributeValue(each, 'part') ?? only ?? '')].flatMap(([name, all]) => {
      const part = parts.find(each => each.name === name)
      if (!part) {
        this.#addFlaw(`${place}: the attachment ${name} is not a part of the message`)
        return []
      }
      const types = all.map(each => (each.name.local === 'mimeXml' ? 'text/xml' : attributeValue(each, 'type')) ?? '*')
      const isOpen = types.some(each => each === '*' || each === '*/*')
      return [{ ...part, mediaTypes: isOpen ? [] : [...new Set(types)] }]
    })
  }

  /** Many operations may share a message, whose parts are read once. */
  #partsOf(message: Element, place: string): readonly WsdlPart[] {
    let known = this.#parts.get(message)
    if (!known) {
      known = wsdlChildren(message, 'part').map(part => this.#readPart(part, place))
      this.#parts.set(message, known)
    }
    return known
  }

  /** WS-I Basic Profile 1.1 R2717, R2203, R2204. */
  #checkLiteral({ namespace, parts }: WsdlMessage, style: 'document' | 'rpc', place: string): void {
    if (style === 'rpc' && namespace === '')
      this.#remarks.add(`${place}: soap:body of an RPC operation has no namespace (R2717)`)
    const wrong = parts.find(({ element }) => (element !== undefined) === (style === 'rpc'))
    if (!wrong) return
    const rule =
      style === 'rpc' ? 'an RPC part must have a type (R2203)' : 'a document part must have an element (R2204)'
    this.#remarks.add(`${place}: part ${wrong.name}: ${rule}`)
  }

  #readHeader(header: Element): (WsdlHeader & { of: Element })[] {
    return this.#readBlock(header).map(block => {
      const faults = soapChildren(header, 'headerfault').flatMap(each => this.#readBlock(each))
      return { ...block, ...(faults.length > 0 && { faults: faults.map(({ of: _, ...fault }) => fault) }) }
    })
  }
  #readBlock(header: Element): (WsdlBlock & { of: Element })[] {
    const message = this.#resolve('message', header, 'message')
    const named =
      message &&
      wsdlChildren(message, 'part').find(each => attributeValue(each, 'name') === attributeValue(header, 'part'))
    if (message && !named)
      this.#addFlaw(
        `${header.name.local}: message ${attributeValue(message, 'name')} has no part ${attributeValue(header, 'part')}`,
      )
    const namespace = attributeValue(header, 'namespace') ?? ''
    return message && named ? [{ of: message, namespace, ...this.#readPart(named, header.name.local) }] : []
  }

  #readPart(part: Element, place: string): WsdlPart {
    const name = attributeValue(part, 'name') ?? ''
    const element = this.#resolveName(part, 'element')
    const type = this.#resolveName(part, 'type')
    if (element === undefined && type === undefined)
      this.#addFlaw(`${place}: part ${name} has neither element nor type`)
    if (element !== undefined) this.#checkDeclared(this.#declaredElements, element, `${place}: element`)
    if (type !== undefined && !type.startsWith(`{${xs}}`))
      this.#checkDeclared(this.#declaredTypes, type, `${place}: type`)
    return {
      name,
      ...(element !== undefined && { element }),
      ...(type !== undefined && { type }),
      documentation: readDocumentation(part),
    }
  }

  /** Checks only names in namespaces for which a schema was found. */
  #checkDeclared(names: ReadonlySet<string>, name: string, place: string): void {
    const uri = parseClarkName(name)?.uri ?? ''
    if (this.#missing.length > 0) return
    if (!this.#described.has(uri)) {
      if (!knownNamespaces.has(uri)) this.#remarks.add(`${place} ${name} is in a namespace without a schema`)
    } else if (!names.has(name)) this.#addFlaw(`${place} ${name} is not declared`)
  }

  #resolve(kind: string, element: Element, attribute: string, place?: string): Element | undefined {
    const name = this.#resolveName(element, attribute)
    const found = name === undefined ? undefined : this.#components.get(`${kind} ${name}`)
    const from = place ?? describeElement(element)
    if (!found)
      this.#addFlaw(`${from}: ${kind} ${name ?? attributeValue(element, attribute) ?? 'without a name'} is not found`)
    return found
  }

  #resolveName(element: Element, attribute: string): string | undefined {
    const [, prefix = '', local] = /^(?:([^:]*):)?([^:]+)$/.exec(attributeValue(element, attribute) ?? '') ?? []
    if (local === undefined) return undefined
    const uri = element.namespace(prefix)
    if (uri === undefined) this.#addFlaw(`the prefix ${prefix} is not declared`)
    return uri === undefined ? undefined : `{${uri}}${local}`
  }

  /** WSDL 1.1 A.4: attributes without a namespace that the WSDL schemas do not declare. */
  #checkAttributes(element: Element): void {
    const { uri, local } = element.name
    const known =
      uri === wsdl ? wsdlAttributes[local] : Object.hasOwn(soapVersionOf, uri) ? soapAttributes[local] : undefined
    const place = describeElement(element)
    if (known)
      for (const { name } of element.attributes)
        if (name.uri === '' && !known.includes(name.local))
          this.#remarks.add(`${place}: unknown attribute ${name.local}`)
    if (uri === wsdl && local !== 'types' && local !== 'documentation')
      for (const each of element.elements()) this.#checkAttributes(each)
  }

  /** WSDL 1.1 §2.1.3: an extension that a caller has to know. */
  #findRequired(element: Element, place: string): void {
    for (const each of element.elements()) {
      const { uri, local } = each.name
      if (uri === wsdl && local !== 'documentation' && local !== 'types')
        this.#findRequired(each, local === 'port' || local === 'binding' ? describeElement(each) : place)
      else if (!knownExtensions.has(uri) && isTrueText(attributeValue(each, 'required', wsdl)))
        this.#leftOut.push({ place, detail: `the extension ${clarkNotation(each.name)} is required, and left out` })
    }
  }

  #addFlaw(flaw: string): void {
    this.#reported.add(flaw)
  }
}

/**
 * WS-Addressing 1.0 Metadata §4.3: an endpoint reference within a port or an endpoint, whose
 * reference parameters each message to it has to carry.
 */
export const hasReferenceParameters = (port: Element): boolean =>
  childrenNamed(port, 'http://www.w3.org/2005/08/addressing', 'EndpointReference').some(reference =>
    reference.elements().some(({ name, children }) => name.local === 'ReferenceParameters' && children.length > 0),
  )
export const leftReference =
  'messages must carry the reference parameters of its wsa:EndpointReference: they are left out'

const unbound: WsdlBinding = { name: '', soap: undefined, transport: undefined, portType: undefined, operations: [] }

/** Namespaces whose schema tools have without a document: encodings, XML, media types. */
const knownNamespaces: ReadonlySet<string> = new Set([
  'http://schemas.xmlsoap.org/soap/encoding/',
  'http://www.w3.org/2003/05/soap-encoding',
  'http://www.w3.org/XML/1998/namespace',
  'http://www.w3.org/2004/11/xmlmime',
  'http://www.w3.org/2005/05/xmlmime',
  ...standardNamespaces,
])

/** Namespaces of the extensions that are read: SOAP, policies, WS-Addressing, attachments. */
const knownExtensions: ReadonlySet<string> = new Set([
  ...Object.keys(soapVersionOf),
  ...policyNamespaces,
  ...addressingNamespaces,
])
/** WS-Addressing 1.0 WSDL Binding (the note of 2006) §3.2. */
const prohibitsAnonymous = (bound: Element): boolean =>
  bound
    .elements()
    .some(
      ({ name, text }) =>
        name.local === 'Anonymous' &&
        name.uri === 'http://www.w3.org/2006/05/addressing/wsdl' &&
        text.trim() === 'prohibited',
    )

const describeElement = (element: Element): string =>
  `${element.name.local} ${attributeValue(element, 'name') ?? ''}`.trim()

/** WSDL 1.1 A.4.1: the attributes without a namespace, by element. */
const wsdlAttributes: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  definitions: ['name', 'targetNamespace'],
  import: ['namespace', 'location'],
  message: ['name'],
  part: ['name', 'element', 'type'],
  portType: ['name'],
  binding: ['name', 'type'],
  operation: ['name', 'parameterOrder'],
  input: ['name', 'message'],
  output: ['name', 'message'],
  fault: ['name', 'message'],
  service: ['name'],
  port: ['name', 'binding'],
}
/** WSDL 1.1 A.4.2, and WSDL 1.1 Binding Extension for SOAP 1.2. */
const soapAttributes: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  binding: ['transport', 'style'],
  operation: ['soapAction', 'style', 'soapActionRequired'],
  body: ['parts', 'use', 'encodingStyle', 'namespace'],
  fault: ['name', 'use', 'encodingStyle', 'namespace'],
  header: ['message', 'part', 'use', 'encodingStyle', 'namespace'],
  headerfault: ['message', 'part', 'use', 'encodingStyle', 'namespace'],
  address: ['location'],
}

/** §2.4.3, §2.4.4: the output comes first, or alone. */
function isSentFirst(operation: Element): boolean {
  const first = operation.elements().find(({ name }) => name.uri === wsdl && /^(?:in|out)put$/.test(name.local))
  return first?.name.local === 'output'
}

/** `wsam:Action` of an input, an output or a fault (WS-Addressing 1.0 Metadata §4.4.1). */
export const readDeclaredAction = (message: Element | undefined): string | undefined =>
  addressingNamespaces
    .map(uri => message?.attributes.find(({ name }) => name.uri === uri && name.local === 'Action')?.value.trim())
    .find(Boolean)

function readActions(operation: Element, portType: Element, action: string): WsdlOperation['addressedAs'] {
  const namespace = portType.parent && attributeValue(portType.parent, 'targetNamespace')
  const [start, delimiter] = describeActionPattern(namespace ?? '', attributeValue(portType, 'name') ?? '')
  const [request = '', reply = ''] = messageNames(operation)
  const [input] = wsdlChildren(operation, 'input')
  const [output] = wsdlChildren(operation, 'output')
  return {
    request: readDeclaredAction(input) ?? (action || start + request),
    reply: readDeclaredAction(output) ?? start + reply,
    faults: Object.fromEntries(
      wsdlChildren(operation, 'fault').map(fault => {
        const name = attributeValue(fault, 'name') ?? ''
        const usual = `${start}${attributeValue(operation, 'name') ?? ''}${delimiter}Fault${delimiter}${name}`
        return [name, readDeclaredAction(fault) ?? usual]
      }),
    ),
  }
}

/** §2.4.5: the names of an operation's input and output, with their defaults. */
function messageNames(operation: Element): readonly [input: string | undefined, output: string | undefined] {
  const name = attributeValue(operation, 'name') ?? ''
  const [input] = wsdlChildren(operation, 'input')
  const [output] = wsdlChildren(operation, 'output')
  const asks = input && output && operation.children.indexOf(input) < operation.children.indexOf(output)
  return [
    input && (attributeValue(input, 'name') ?? (output ? `${name}${asks ? 'Request' : 'Solicit'}` : name)),
    output && (attributeValue(output, 'name') ?? (input ? `${name}Response` : name)),
  ]
}

const styleOf = (extension: Element | undefined, otherwise: 'document' | 'rpc'): 'document' | 'rpc' => {
  const style = extension && attributeValue(extension, 'style')
  return style === 'rpc' || style === 'document' ? style : otherwise
}

const mime = 'http://schemas.xmlsoap.org/wsdl/mime/'
/** The SOAP elements of a message, including those in the parts of a MIME package (§5). */
const soapExtensions = (binding: Element, local: string): Element[] =>
  [binding, ...listMimeParts(binding)].flatMap(each => soapChildren(each, local))
const listMimeParts = (binding: Element): Element[] =>
  childrenNamed(binding, mime, 'multipartRelated').flatMap(each => childrenNamed(each, mime, 'part'))

/** The texts of `documentation` within an element, with single spaces; undefined without any. */
export function readDocumentation(element: Element): string | undefined {
  const texts = childrenNamed(element, element.name.uri, 'documentation').map(joinText)
  return texts.join(' ').replace(/\s+/g, ' ').trim() || undefined
}
const joinText = (node: Element): string =>
  node.children
    .map(child => (child.kind === 'element' ? joinText(child) : child.kind === 'text' ? child.value : ''))
    .join('')
