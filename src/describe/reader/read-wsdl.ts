/**
 * Reading a WSDL 1.1, for a client or a bridge without the contract. Invariants:
 *  (1) A dangling reference is a flaw with its place; the rest of the document stays usable.
 *  (2) Time and memory are linear in the octets: each component is read once, however many refer to
 *      it.
 *
 * Types are not interpreted: the result contains the schemas as trees.
 */
import { describeActionPattern } from '../../contract/port-names.ts'
import { Malformed } from '../../xml/malformed.ts'
import { clarkNotation } from '../../xml/name.ts'
import type { Element } from '../../xml/tree.ts'
import { DescriptionDocuments, ReadingNotes } from './description-documents.ts'
import { MessageReader } from './message-reader.ts'
import { PolicyLookup } from './policy-lookup.ts'
import type { Find, WsdlBinding, WsdlDocument, WsdlOperation, WsdlPort } from './wsdl-document.ts'
import {
  attributeValue,
  describeElement,
  hasReferenceParameters,
  leftReference,
  listRepeated,
  readDeclaredAction,
  readDocumentation,
  schemaNamespaces,
  sentFirst,
  soapChildren,
  soapVersionOf,
  wsdl,
  wsdl20,
  wsdlChildren,
} from './wsdl-elements.ts'
import { reportRequired, reportUndeclared } from './wsdl-extensions.ts'

/** @param location the location of the document: the base of its imports */
export function readWsdl11(bytes: Uint8Array, location = '', find: Find = () => undefined): WsdlDocument | Malformed {
  const reader = new WsdlReader(find)
  const root = reader.documents.open(bytes, location)
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
  const root = reader.documents.open(bytes, location)
  if (root instanceof Malformed) return root
  const kind = rootKinds[clarkNotation(root.name)]
  if (!kind) return new Malformed('the root is not a wsdl:definitions, wsdl:description or xs:schema', root.from)
  return { kind, document: reader.document(root), descriptions: reader.documents.descriptions }
}

const rootKinds: Readonly<Record<string, ReadDescription['kind']>> = {
  [`{${wsdl}}definitions`]: 'wsdl11',
  [`{${wsdl20}}description`]: 'wsdl20',
  ...Object.fromEntries([...schemaNamespaces].map(uri => [`{${uri}}schema`, 'xsd' as const])),
}

class WsdlReader {
  readonly #notes = new ReadingNotes()
  readonly documents: DescriptionDocuments
  readonly #messages: MessageReader
  readonly #policies: PolicyLookup
  readonly #bindings = new Map<Element, Omit<WsdlBinding, 'name'>>()
  /** The operations of a portType by name; overloads share one. */
  readonly #operations = new Map<Element, ReadonlyMap<string | undefined, readonly Element[]>>()

  constructor(find: Find) {
    this.documents = new DescriptionDocuments(find, this.#notes)
    this.#messages = new MessageReader(this.documents, this.#notes)
    this.#policies = new PolicyLookup(this.documents.roots, flaw => this.#notes.addFlaw(flaw))
  }

  document(root: Element): WsdlDocument {
    this.documents.addStandardSchemas()
    const services = this.documents.componentsOf('service').map(([, service]) => ({
      name: attributeValue(service, 'name') ?? '',
      documentation: readDocumentation(service),
      ports: wsdlChildren(service, 'port').map(port => this.#readPort(port)),
    }))
    this.#notes.reportAsRemarks()
    const bindings = this.documents.componentsOf('binding').map(([name, binding]) => this.#bindingOf(binding, name))
    for (const each of this.documents.roots) {
      reportUndeclared(each, this.#notes)
      reportRequired(each, 'document', this.#notes)
    }
    return {
      targetNamespace: attributeValue(root, 'targetNamespace') ?? '',
      services,
      bindings,
      portTypes: this.documents.componentsOf('portType').map(([name, portType]) => ({
        name,
        operations: wsdlChildren(portType, 'operation').map(each => attributeValue(each, 'name') ?? ''),
      })),
      schemas: [...this.documents.schemas],
      schemaDocuments: this.documents.schemaDocuments,
      missing: this.documents.missing,
      flaws: [...this.#notes.flaws],
      remarks: [...this.#notes.remarks],
      leftOut: this.#notes.leftOut,
      documentation: readDocumentation(root),
    }
  }

  #readPort(port: Element): WsdlPort {
    const binding = this.documents.resolve('binding', port, 'binding')
    const [address] = soapChildren(port, 'address')
    const bound = binding ? this.#bindingOf(binding, '') : unbound
    if (hasReferenceParameters(port)) this.#notes.leftOut.push({ place: describeElement(port), detail: leftReference })
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
    const portType = this.documents.resolve('portType', binding, 'type')
    const style = styleOf(extension, 'document')
    if (portType && extension) this.#checkBound(binding, portType)
    return {
      soap: extension && soapVersionOf[extension.name.uri],
      other: extension ? undefined : binding.elements().find(({ name }) => name.uri !== wsdl)?.name.uri,
      transport: extension && attributeValue(extension, 'transport'),
      portType: portType && this.documents.resolveName(binding, 'type'),
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
        this.#notes.addFlaw(
          `operation ${attributeValue(each, 'name')} is not in binding ${attributeValue(binding, 'name')}`,
        )
  }

  #readOperation(bound: Element, portType: Element, style: 'document' | 'rpc'): WsdlOperation {
    const name = attributeValue(bound, 'name') ?? ''
    const [extension] = soapChildren(bound, 'operation')
    const own = styleOf(extension, style)
    const declared = this.#findOverload(bound, portType)
    if (!declared) this.#notes.addFlaw(`operation ${name} is not in portType ${attributeValue(portType, 'name')}`)
    const message = (kind: 'input' | 'output') => {
      const [part] = declared ? wsdlChildren(declared, kind) : []
      const [binding] = wsdlChildren(bound, kind)
      return part && this.#messages.readMessage(part, binding, `${name} ${kind}`, own)
    }
    const action = (extension && attributeValue(extension, 'soapAction')) ?? ''
    const documentation = (declared && readDocumentation(declared)) ?? readDocumentation(bound)
    const faults = declared ? wsdlChildren(declared, 'fault') : []
    const read: WsdlOperation = {
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
      faults: faults.flatMap(fault => this.#messages.readFault(fault, bound, name)),
    }
    if (declared) this.#checkFaults(name, faults, wsdlChildren(bound, 'fault'))
    return read
  }

  /** §2.4.4, §2.5: faults have names, each its own, by which the binding refers to them. */
  #checkFaults(operation: string, declared: readonly Element[], bound: readonly Element[]): void {
    const nameOf = (fault: Element) => attributeValue(fault, 'name') ?? ''
    const names = declared.map(nameOf)
    if (names.includes('')) this.#notes.addFlaw(`${operation}: a fault has no name`)
    for (const each of listRepeated(names.filter(Boolean)))
      this.#notes.addFlaw(`${operation}: fault ${each} is declared twice`)
    for (const each of bound.map(nameOf))
      if (!names.includes(each)) this.#notes.remarks.add(`${operation}: fault ${each} is bound, but not declared`)
  }

  /** WS-Policy 1.5 Attachment §4.1.4: includes those of the message itself. */
  #messagePolicies(declared: Element | undefined, bound: Element, kind: 'input' | 'output'): readonly Element[] {
    const [reference] = declared ? wsdlChildren(declared, kind) : []
    const name = reference && this.documents.resolveName(reference, 'message')
    const message = name === undefined ? undefined : this.documents.component('message', name)
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
}

const unbound: WsdlBinding = { name: '', soap: undefined, transport: undefined, portType: undefined, operations: [] }

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

/** §2.4.3, §2.4.4: the output comes first, or alone. */
function isSentFirst(operation: Element): boolean {
  const first = operation.elements().find(({ name }) => name.uri === wsdl && /^(?:in|out)put$/.test(name.local))
  return first?.name.local === 'output'
}

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
