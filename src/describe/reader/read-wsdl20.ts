/**
 * The services of a WSDL 2.0 in the terms of WSDL 1.1: an interface becomes a portType, an endpoint
 * a port, and each message has at most one element. Clauses: WSDL 2.0 Part 1 (§2) and Part 2 (§5).
 */

import { parseClarkName } from '../../base/clark-name.ts'
import { isTrueText } from '../../contract/lexical/text.ts'
import { describeActionPattern } from '../../contract/port-names.ts'
import { clarkNotation } from '../../xml/name.ts'
import type { Element } from '../../xml/tree.ts'
import { addressingNamespaces, PolicyLookup, policyNamespaces } from './policy-lookup.ts'
import type { WsdlBinding, WsdlMessage, WsdlOperation, WsdlPart, WsdlPort, WsdlService } from './wsdl-document.ts'
import {
  attributeValue,
  hasReferenceParameters,
  leftReference,
  readDeclaredAction,
  readDocumentation,
  sentFirst,
} from './wsdl-elements.ts'

/** The services described in a WSDL 2.0; its schemas are read like those of any description. */
export interface Wsdl20Services {
  readonly targetNamespace: string
  readonly services: readonly WsdlService[]
  readonly bindings: readonly WsdlBinding[]
  /** A phrase for each flaw, with its place. */
  readonly flaws: readonly string[]
  /** A phrase, with its place, for each thing that our ports do not do. */
  readonly unserved: readonly string[]
}

const wsdl20 = 'http://www.w3.org/ns/wsdl'
const wsoap = 'http://www.w3.org/ns/wsdl/soap'
const whttp = 'http://www.w3.org/ns/wsdl/http'
const wsdlx = 'http://www.w3.org/ns/wsdl-extensions'
const soapVersions: Readonly<Record<string, '1.1' | '1.2'>> = { '1.1': '1.1', '1.2': '1.2' }
/** Part 2 §2.2: the patterns in which a client sends first. */
const askingPatterns: Readonly<Record<string, { readonly hasReply: boolean }>> = {
  [`${wsdl20}/in-out`]: { hasReply: true },
  [`${wsdl20}/in-only`]: { hasReply: false },
  [`${wsdl20}/robust-in-only`]: { hasReply: false },
}
/** WSDL 2.0 Additional MEPs §2: why our client does not use the other patterns. */
const otherPatterns: Readonly<Record<string, string>> = {
  [`${wsdl20}/in-opt-out`]:
    'its response is optional (in-opt-out), which an exchange cannot express: it is left out; describe it as in-out, or as robust-in-only',
  [`${wsdl20}/out-only`]: sentFirst,
  [`${wsdl20}/robust-out-only`]: sentFirst,
  [`${wsdl20}/out-in`]: 'the service speaks first (out-in): it is left out',
  [`${wsdl20}/out-opt-in`]: 'the service speaks first (out-opt-in): it is left out',
}
const explainPattern = (pattern: string): string =>
  otherPatterns[pattern] ?? `its pattern ${pattern} is not known: it is left out; give one of ${wsdl20}/`
/** Extensions that are read, required or not. */
const knownExtensions: ReadonlySet<string> = new Set([wsdl20, ...policyNamespaces, ...addressingNamespaces])
const soapResponsePattern = 'http://www.w3.org/2003/05/soap/mep/soap-response'

/** @param descriptions the roots `wsdl:description`, that of the first document first */
export const readWsdl20Services = (descriptions: readonly Element[]): Wsdl20Services =>
  new Wsdl20Reader(descriptions).read()

const childrenNamed = (element: Element, local: string, uri = wsdl20): Element[] =>
  element.elements().filter(({ name }) => name.uri === uri && name.local === local)
const nameOf = (element: Element): string => attributeValue(element, 'name') ?? ''

interface BoundDetails {
  readonly action: string
  /** For the response pattern (Part 2 §5.10.4.2); empty: the address of the endpoint. */
  readonly location: string | undefined
  readonly input: readonly WsdlPart[]
  readonly output: readonly WsdlPart[]
}

class Wsdl20Reader {
  readonly #descriptions: readonly Element[]
  readonly #policies: PolicyLookup
  /** Top-level components by kind and `{namespace}local`. */
  readonly #components = new Map<string, Element>()
  readonly #flaws = new Set<string>()
  readonly #unserved = new Set<string>()
  /** Binding and interface → the binding that they form, which many endpoints may share. */
  readonly #bindings = new Map<string, WsdlBinding>()
  readonly #operations = new Map<Element, readonly Element[]>()
  /** For each interface, the faults by name that its operations may name. */
  readonly #faults = new Map<Element, ReadonlyMap<string, Element>>()
  /** For each binding, what it says about an operation, by name. */
  readonly #bound = new Map<Element, ReadonlyMap<string, Element>>()

  constructor(descriptions: readonly Element[]) {
    this.#descriptions = descriptions
    this.#policies = new PolicyLookup(descriptions, flaw => this.#flaws.add(flaw))
    for (const root of descriptions)
      for (const kind of ['interface', 'binding', 'service'])
        for (const each of childrenNamed(root, kind)) this.#addComponent(kind, root, each)
  }
  #addComponent(kind: string, root: Element, element: Element): void {
    const name = `{${attributeValue(root, 'targetNamespace') ?? ''}}${nameOf(element)}`
    if (this.#components.has(`${kind} ${name}`)) this.#flaws.add(`${kind} ${name} is declared twice`)
    else this.#components.set(`${kind} ${name}`, element)
  }

  read(): Wsdl20Services {
    const services = this.#namesOf('service').map(([, service]) => this.#readService(service))
    const bindings = this.#namesOf('binding').flatMap(([, binding]) => {
      const name = attributeValue(binding, 'interface') === undefined ? undefined : this.#resolve(binding, 'interface')
      return name === undefined ? [] : [this.#bindingOf(binding, name)]
    })
    for (const root of this.#descriptions) this.#checkRequired(root)
    return {
      targetNamespace: (this.#descriptions[0] && attributeValue(this.#descriptions[0], 'targetNamespace')) ?? '',
      services,
      bindings,
      flaws: [...this.#flaws],
      unserved: [...this.#unserved],
    }
  }
  #namesOf(kind: string): [name: string, element: Element][] {
    return [...this.#components].flatMap(([key, element]) =>
      key.startsWith(`${kind} `) ? [[key.slice(kind.length + 1), element]] : [],
    )
  }

  /** §2.14, §2.15; a binding that names no interface serves that of any service (§2.9.1). */
  #readService(service: Element): WsdlService {
    const served = this.#resolve(service, 'interface')
    const ports = childrenNamed(service, 'endpoint').flatMap((endpoint): WsdlPort[] => {
      const binding = this.#find('binding', endpoint)
      const bound = binding && attributeValue(binding, 'interface') !== undefined
      const name = bound ? this.#resolve(binding, 'interface') : served
      if (!binding || name === undefined) return []
      const read = this.#bindingOf(binding, name)
      if (hasReferenceParameters(endpoint)) this.#unserved.add(`endpoint ${nameOf(endpoint)}: ${leftReference}`)
      return [
        {
          ...read,
          name: nameOf(endpoint),
          policies: [...(read.policies ?? []), ...this.#policies.of(endpoint)],
          documentation: read.documentation ?? readDocumentation(endpoint),
          address: attributeValue(endpoint, 'address'),
        },
      ]
    })
    return { name: nameOf(service), documentation: readDocumentation(service), ports }
  }

  /** @param portType the name of the interface */
  #bindingOf(binding: Element, portType: string): WsdlBinding {
    const name = `{${this.#namespaceOf(binding)}}${nameOf(binding)}`
    const key = `${name} ${portType}`
    const known = this.#bindings.get(key)
    if (known) return known
    const result = this.#readBinding(binding, name, portType)
    this.#bindings.set(key, result)
    return result
  }
  #namespaceOf(element: Element): string {
    return (element.parent && attributeValue(element.parent, 'targetNamespace')) ?? ''
  }

  /** Part 2 §5.2–§5.5; the version of SOAP is 1.2 by default. */
  #readBinding(binding: Element, name: string, portType: string): WsdlBinding {
    const type = attributeValue(binding, 'type') ?? ''
    const version = attributeValue(binding, 'version', wsoap) ?? '1.2'
    const soap = type === wsoap ? soapVersions[version] : undefined
    if (type === wsoap && soap === undefined)
      this.#flaws.add(`binding ${nameOf(binding)}: SOAP ${version} is not a known version`)
    const found = this.#components.get(`interface ${portType}`)
    if (!found) this.#flaws.add(`binding ${nameOf(binding)}: interface ${portType} is not found`)
    const operations = found && soap ? this.#operationsOf(found) : []
    return {
      name,
      soap,
      ...(soap === undefined && { other: type }),
      transport: attributeValue(binding, 'protocol', wsoap),
      portType,
      policies: this.#policies.of(...(found ? this.#listInterfaces(found) : []), binding),
      documentation: (found && readDocumentation(found)) ?? readDocumentation(binding),
      operations: operations.flatMap(each => this.#readOperation(each, binding) ?? []),
    }
  }

  /** §2.2.1: an interface has the operations of those that it extends, each once. */
  #operationsOf(face: Element): readonly Element[] {
    const known = this.#operations.get(face)
    if (known) return known
    const operations = new Set<Element>()
    for (const each of this.#listInterfaces(face))
      for (const operation of childrenNamed(each, 'operation')) operations.add(operation)
    const result = [...operations]
    this.#operations.set(face, result)
    return result
  }
  /** The interface, then those that it extends; a circle ends where it began. */
  #listInterfaces(face: Element): ReadonlySet<Element> {
    const seen = new Set([face])
    for (const each of seen)
      for (const name of (attributeValue(each, 'extends') ?? '').split(/\s+/).filter(Boolean)) {
        const found = this.#components.get(`interface ${this.#expand(each, name)}`)
        if (found) seen.add(found)
        else this.#flaws.add(`interface ${nameOf(each)}: interface ${name} is not found`)
      }
    return seen
  }

  #readOperation(operation: Element, binding: Element): WsdlOperation | undefined {
    const name = nameOf(operation)
    const pattern = attributeValue(operation, 'pattern') ?? `${wsdl20}/in-out`
    const asking = askingPatterns[pattern]
    const bound = this.#findBound(operation, binding)
    const details = this.#readDetails(bound, binding)
    const message = (kind: 'input' | 'output', headers: readonly WsdlPart[]): WsdlMessage => {
      const [reference] = childrenNamed(operation, kind)
      return reference ? this.#readMessage(reference, headers) : emptyMessage(headers)
    }
    const documentation = readDocumentation(operation)
    const policiesOf = (kind: 'input' | 'output') =>
      this.#policies.of(...childrenNamed(operation, kind), ...(bound ? childrenNamed(bound, kind) : []))
    return {
      ...(documentation !== undefined && { documentation }),
      name,
      action: details.action,
      addressedAs: this.#readActions(operation, details.action, asking?.hasReply === true),
      style: 'document',
      input: asking && message('input', details.input),
      unasked: asking ? undefined : explainPattern(pattern),
      output: asking?.hasReply ? message('output', details.output) : undefined,
      faults: this.#readFaults(operation),
      isSafe: isTrueText(attributeValue(operation, 'safe', wsdlx)),
      policies: {
        operation: this.#policies.of(operation, bound),
        input: policiesOf('input'),
        output: policiesOf('output'),
      },
      ...(details.location !== undefined && { location: details.location }),
    }
  }

  /** §2.5.1: a message has an element, nothing, anything, or content that is not XML. */
  #readMessage(reference: Element, headers: readonly WsdlPart[]): WsdlMessage {
    const content = attributeValue(reference, 'element') ?? '#other'
    if (content === '#none') return emptyMessage(headers)
    if (content.startsWith('#')) {
      const phrase = content === '#any' ? 'any element' : 'not XML'
      return { ...emptyMessage(headers), parts: [{ name: 'body', content: phrase }] }
    }
    return { ...emptyMessage(headers), parts: [{ name: 'body', element: this.#expand(reference, content) }] }
  }

  /** §2.6: the interface, or one that it extends, declares faults; operations name them. */
  #readFaults(operation: Element): WsdlOperation['faults'] {
    return this.#declaredFaults(operation).map(({ name, fault }) => ({
      fault: name,
      isBound: true,
      ...this.#readMessage(fault, []),
    }))
  }
  #declaredFaults(operation: Element): readonly { reference: Element; name: string; fault: Element }[] {
    const references = [...childrenNamed(operation, 'outfault'), ...childrenNamed(operation, 'infault')]
    const faults = operation.parent && this.#faultsOf(operation.parent)
    return references.flatMap(reference => {
      const name = this.#resolve(reference, 'ref') ?? ''
      const fault = faults?.get(name)
      if (!fault) this.#flaws.add(`operation ${nameOf(operation)}: fault ${name} is not found`)
      return fault ? [{ reference, name: parseClarkName(name)?.local ?? '', fault }] : []
    })
  }

  #faultsOf(face: Element): ReadonlyMap<string, Element> {
    let known = this.#faults.get(face)
    if (!known) {
      const faces = [...this.#listInterfaces(face)]
      const named = faces.flatMap(each =>
        childrenNamed(each, 'fault').map(fault => [`{${this.#namespaceOf(each)}}${nameOf(fault)}`, fault] as const),
      )
      this.#faults.set(face, (known = new Map(named.reverse())))
    }
    return known
  }
  #boundOf(binding: Element): ReadonlyMap<string, Element> {
    let known = this.#bound.get(binding)
    if (!known) {
      const named = childrenNamed(binding, 'operation').map(each => [this.#resolve(each, 'ref') ?? '', each] as const)
      this.#bound.set(binding, (known = new Map(named.reverse())))
    }
    return known
  }

  /**
   * WS-Addressing 1.0 Metadata §4.4.2: without a reply, an action has no direction token; the
   * action of a fault does not name the operation.
   */
  #readActions(operation: Element, action: string, hasReply: boolean): WsdlOperation['addressedAs'] {
    const face = operation.parent
    const namespace = face ? this.#namespaceOf(face) : ''
    const [start] = describeActionPattern(namespace, face ? nameOf(face) : '')
    const usual = `${start}${nameOf(operation)}`
    const [input] = childrenNamed(operation, 'input')
    const [output] = childrenNamed(operation, 'output')
    return {
      request: readDeclaredAction(input) ?? (action || `${usual}${hasReply ? 'Request' : ''}`),
      reply: readDeclaredAction(output) ?? `${usual}Response`,
      faults: Object.fromEntries(
        this.#declaredFaults(operation).map(({ reference, name, fault }) => [
          name,
          readDeclaredAction(reference) ?? readDeclaredAction(fault) ?? start + name,
        ]),
      ),
    }
  }

  /** What the binding says about the operation. */
  #findBound(operation: Element, binding: Element): Element | undefined {
    const namespace = operation.parent ? this.#namespaceOf(operation.parent) : ''
    return this.#boundOf(binding).get(`{${namespace}}${nameOf(operation)}`)
  }

  #readDetails(bound: Element | undefined, binding: Element): BoundDetails {
    const pattern = (bound && attributeValue(bound, 'mep', wsoap)) ?? attributeValue(binding, 'mepDefault', wsoap) ?? ''
    const isRetrieved = pattern.replace(/\/$/, '') === soapResponsePattern
    const headersOf = (kind: 'input' | 'output'): WsdlPart[] =>
      (bound ? childrenNamed(bound, kind) : []).flatMap(each =>
        childrenNamed(each, 'header', wsoap).flatMap(header => this.#readHeader(header)),
      )
    return {
      action: (bound && attributeValue(bound, 'action', wsoap)) ?? '',
      location: isRetrieved ? ((bound && attributeValue(bound, 'location', whttp)) ?? '') : undefined,
      input: headersOf('input'),
      output: headersOf('output'),
    }
  }
  #readHeader(header: Element): WsdlPart[] {
    const element = this.#resolve(header, 'element')
    const isMandatory = isTrueText(attributeValue(header, 'mustUnderstand'))
    return element === undefined ? [] : [{ name: parseClarkName(element)?.local ?? '', element, isMandatory }]
  }

  /** §6.1.1: a required extension changes the meaning of the rest. */
  #checkRequired(element: Element): void {
    for (const each of element.elements()) {
      if (each.name.uri === wsdl20 && each.name.local === 'types') continue
      const isModule = each.name.uri === wsoap && each.name.local === 'module'
      const isRequired = isTrueText(attributeValue(each, 'required', isModule ? '' : wsdl20))
      if (isRequired && isModule) this.#unserved.add(`the SOAP module ${attributeValue(each, 'ref')} is required`)
      else if (isRequired && !knownExtensions.has(each.name.uri))
        this.#unserved.add(`the extension ${clarkNotation(each.name)} is required`)
      this.#checkRequired(each)
    }
  }

  #find(kind: string, element: Element): Element | undefined {
    const name = this.#resolve(element, kind)
    const found = name === undefined ? undefined : this.#components.get(`${kind} ${name}`)
    if (name !== undefined && !found)
      this.#flaws.add(`${element.name.local} ${nameOf(element)}: ${kind} ${name} is not found`)
    return found
  }
  #resolve(element: Element, attribute: string): string | undefined {
    const text = attributeValue(element, attribute)
    if (text === undefined || text === '')
      this.#flaws.add(`${element.name.local} ${nameOf(element)} has no ${attribute}`)
    return text === undefined || text === '' ? undefined : this.#expand(element, text)
  }
  /** In James Clark's notation. */
  #expand(element: Element, name: string): string {
    const at = name.indexOf(':')
    const uri = element.namespace(name.slice(0, Math.max(0, at)))
    if (uri === undefined) this.#flaws.add(`the prefix ${name.slice(0, at)} is not declared`)
    return `{${uri ?? ''}}${name.slice(at + 1)}`
  }
}

const emptyMessage = (headers: readonly WsdlPart[]): WsdlMessage => ({
  use: 'literal',
  namespace: '',
  encodingStyle: undefined,
  parts: [],
  headers,
})
