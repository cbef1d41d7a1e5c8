/**
 * The way back: what a WSDL 1.1 says, for a client or a bridge that has nothing else. What always holds:
 *  (1) Nothing is fetched. A document that is imported is asked of `find`, which answers with octets that are at hand, or
 *      with nothing; what was not found is listed, and what refers into it is a flaw.
 *  (2) Each location is read once, and at most `limits.documents` of them: loops and floods of imports end.
 *  (3) A document with a DTD is refused by the parser, as any is.
 *  (4) A reference that leads nowhere is a flaw with its place; what can be used without it is still there.
 * Deliberately absent: types. The schemas come along as trees.
 */
import { Malformed } from '../xml/malformed.ts'
import { clark } from '../xml/name.ts'
import { type Element, parseXml } from '../xml/tree.ts'

export interface WsdlDocument {
  readonly targetNamespace: string
  readonly services: readonly WsdlService[]
  /** Elements `xs:schema`, inline ones and those that were found. */
  readonly schemas: readonly Element[]
  /** Locations that `find` had nothing for. */
  readonly missing: readonly string[]
  /** What is wrong, a sentence each; empty for most. */
  readonly flaws: readonly string[]
}
export interface WsdlService {
  readonly name: string
  readonly ports: readonly WsdlPort[]
}
export interface WsdlPort {
  readonly name: string
  /** Undefined: not a binding of SOAP. */
  readonly soap: '1.1' | '1.2' | undefined
  /** A URI; `http://schemas.xmlsoap.org/soap/http` is HTTP. */
  readonly transport: string | undefined
  /** As it stands there; it may be anything, and who calls it decides whether to (attack D3). */
  readonly address: string | undefined
  readonly operations: readonly WsdlOperation[]
}
export interface WsdlOperation {
  readonly name: string
  /** soapAction; empty where there is none. */
  readonly action: string
  readonly style: 'document' | 'rpc'
  readonly input: WsdlMessage | undefined
  /** Undefined: one-way. */
  readonly output: WsdlMessage | undefined
  readonly faults: readonly (WsdlMessage & { readonly fault: string })[]
}
export interface WsdlMessage {
  readonly use: 'literal' | 'encoded'
  /** The namespace of an RPC wrapper. */
  readonly namespace: string
  readonly encodingStyle: string | undefined
  /** What stands in the Body, in order: an element that is declared, or a type under the part's name. */
  readonly parts: readonly WsdlPart[]
  /** The parts that go as header blocks. */
  readonly headers: readonly WsdlPart[]
}
export interface WsdlPart {
  readonly name: string
  /** In James Clark's notation, `{namespace}local`. */
  readonly element?: string
  readonly type?: string
}

export interface WsdlLimits {
  readonly documents: number
}
/** More than any description of a service at hand has; a hostile one has 10,000 (attack D1). */
export const limits: WsdlLimits = { documents: 200 }

/** Octets of a location as it is written in a document, which is itself at `base`. */
export type Find = (
  location: string,
  base: string,
) => { readonly location: string; readonly bytes: Uint8Array } | undefined

/** @param location where the document came from: what imports are relative to, and nothing else */
export function readWsdl11(bytes: Uint8Array, location = '', find: Find = () => undefined): WsdlDocument | Malformed {
  const reader = new WsdlReader(find)
  const root = reader.open(bytes, location)
  if (root instanceof Malformed) return root
  if (clark(root.name) !== `{${wsdl}}definitions`) return new Malformed('the root is not wsdl:definitions', root.from)
  return reader.document(root)
}

const wsdl = 'http://schemas.xmlsoap.org/wsdl/'
const xs = 'http://www.w3.org/2001/XMLSchema'
const versions: Readonly<Record<string, '1.1' | '1.2'>> = {
  'http://schemas.xmlsoap.org/wsdl/soap/': '1.1',
  'http://schemas.xmlsoap.org/wsdl/soap12/': '1.2',
}

const of = (element: Element, uri: string, local: string): Element[] =>
  element.elements().filter(({ name }) => name.uri === uri && name.local === local)
const children = (element: Element, local: string): Element[] => of(element, wsdl, local)
const value = (element: Element, local: string): string | undefined =>
  element.attributes.find(({ name }) => name.uri === '' && name.local === local)?.value.trim()
/** The extension elements of a binding or port: those of either version of SOAP. */
const soap = (element: Element, local: string): Element[] =>
  element.elements().filter(({ name }) => Object.hasOwn(versions, name.uri) && name.local === local)

class WsdlReader {
  private readonly find: Find
  private readonly roots: Element[] = []
  private readonly schemas: Element[] = []
  /** The root of each document, by its location. */
  private readonly seen = new Map<string, Element | Malformed>()
  /** Namespaces and the locations of schemas of none that they include. */
  private readonly adopted = new Set<string>()
  private readonly missing: string[] = []
  private readonly flaws: string[] = []
  /** Top-level components by kind and `{namespace}local`. */
  private readonly components = new Map<string, Element>()
  private readonly elements = new Set<string>()
  private readonly types = new Set<string>()

  constructor(find: Find) {
    this.find = find
  }

  /** @param includer the namespace of the schema that includes it */
  open(bytes: Uint8Array, location: string, includer = ''): Element | Malformed {
    const document = parseXml(bytes)
    const root = document instanceof Malformed ? document : document.root
    this.seen.set(location, root)
    if (root instanceof Malformed) return root
    if (clark(root.name) === `{${wsdl}}definitions`) this.definitions(root, location)
    if (clark(root.name) === `{${xs}}schema`) this.schema(root, location, value(root, 'targetNamespace') ?? includer)
    return root
  }

  private definitions(root: Element, location: string): void {
    this.roots.push(root)
    for (const types of children(root, 'types'))
      for (const schema of of(types, xs, 'schema'))
        this.schema(schema, location, value(schema, 'targetNamespace') ?? '')
    for (const each of children(root, 'import')) this.follow(value(each, 'location'), location)
    const namespace = value(root, 'targetNamespace') ?? ''
    for (const kind of ['message', 'portType', 'binding', 'service'])
      for (const each of children(root, kind)) this.add(`${kind} {${namespace}}${value(each, 'name') ?? ''}`, each)
  }

  private add(name: string, element: Element): void {
    if (this.components.has(name)) this.flaws.push(`${name} is there twice`)
    else this.components.set(name, element)
  }

  /** @param namespace of its components: its own, or that of who includes it (XML Schema Part 1 §4.2.1) */
  private schema(schema: Element, location: string, namespace: string): void {
    if (!this.schemas.includes(schema)) this.schemas.push(schema)
    for (const each of schema.elements()) {
      const name = `{${namespace}}${value(each, 'name') ?? ''}`
      if (each.name.local === 'element') this.elements.add(name)
      if (each.name.local === 'complexType' || each.name.local === 'simpleType') this.types.add(name)
      if (['import', 'include', 'redefine'].includes(each.name.local))
        this.follow(value(each, 'schemaLocation'), location, each.name.local === 'import' ? undefined : namespace)
    }
  }

  private follow(written: string | undefined, base: string, includer?: string): void {
    if (written === undefined || written === '') return
    if (this.seen.size + this.adopted.size >= limits.documents) {
      const flaw = `more than ${limits.documents} documents`
      if (!this.flaws.includes(flaw)) this.flaws.push(flaw)
      return
    }
    const found = this.find(written, base)
    if (!found) this.missing.push(written)
    if (!found) return
    const known = this.seen.get(found.location)
    if (known) {
      this.adopt(known, found.location, includer)
      return
    }
    const root = this.open(found.bytes, found.location, includer)
    if (root instanceof Malformed) this.flaws.push(`${written}: ${root.reason}`)
  }

  /** A schema of no namespace is of each that includes it (XML Schema Part 1 §4.2.1). */
  private adopt(root: Element | Malformed, location: string, namespace: string | undefined): void {
    if (namespace === undefined || root instanceof Malformed || clark(root.name) !== `{${xs}}schema`) return
    const adoption = `${namespace} ${location}`
    if (value(root, 'targetNamespace') !== undefined || this.adopted.has(adoption)) return
    this.adopted.add(adoption)
    this.schema(root, location, namespace)
  }

  document(root: Element): WsdlDocument {
    const services = [...this.components].filter(([key]) => key.startsWith('service '))
    return {
      targetNamespace: value(root, 'targetNamespace') ?? '',
      services: services.map(([, service]) => ({
        name: value(service, 'name') ?? '',
        ports: children(service, 'port').map(port => this.port(port)),
      })),
      schemas: this.schemas,
      missing: this.missing,
      flaws: this.flaws,
    }
  }

  private port(port: Element): WsdlPort {
    const binding = this.referred('binding', port, 'binding')
    const [extension] = binding ? soap(binding, 'binding') : []
    const [address] = soap(port, 'address')
    const portType = binding && this.referred('portType', binding, 'type')
    const style = styleOf(extension, 'document')
    if (binding && portType && extension) this.unbound(binding, portType)
    return {
      name: value(port, 'name') ?? '',
      soap: extension && versions[extension.name.uri],
      transport: extension && value(extension, 'transport'),
      address: address && value(address, 'location'),
      operations:
        binding && portType && extension
          ? children(binding, 'operation').map(operation => this.operation(operation, portType, style))
          : [],
    }
  }

  /** WS-I Basic Profile 1.1 R2718: a binding has the operations of its portType. */
  private unbound(binding: Element, portType: Element): void {
    const bound = new Set(children(binding, 'operation').map(each => value(each, 'name')))
    for (const each of children(portType, 'operation'))
      if (!bound.has(value(each, 'name')))
        this.flaw(`operation ${value(each, 'name')} is not in binding ${value(binding, 'name')}`)
  }

  private operation(bound: Element, portType: Element, style: 'document' | 'rpc'): WsdlOperation {
    const name = value(bound, 'name') ?? ''
    const [extension] = soap(bound, 'operation')
    const declared = this.overload(bound, portType)
    if (!declared) this.flaws.push(`operation ${name} is not in portType ${value(portType, 'name')}`)
    const message = (kind: 'input' | 'output') => {
      const [part] = declared ? children(declared, kind) : []
      const [binding] = children(bound, kind)
      return part && this.message(part, binding, `${name} ${kind}`)
    }
    return {
      name,
      action: (extension && value(extension, 'soapAction')) ?? '',
      style: styleOf(extension, style),
      input: message('input'),
      output: message('output'),
      faults: (declared ? children(declared, 'fault') : []).flatMap(fault => this.fault(fault, bound, name)),
    }
  }

  /** §2.5: operations of one name are told apart by the names of their messages. */
  private overload(bound: Element, portType: Element): Element | undefined {
    const named = children(portType, 'operation').filter(each => value(each, 'name') === value(bound, 'name'))
    if (named.length < 2) return named[0]
    const [input, output] = messageNames(bound)
    const taking = named.filter(each => messageNames(each)[0] === input)
    return taking.find(each => messageNames(each)[1] === output) ?? taking[0] ?? named[0]
  }

  private fault(fault: Element, bound: Element, operation: string): (WsdlMessage & { fault: string })[] {
    const name = value(fault, 'name') ?? ''
    const binding = children(bound, 'fault').find(each => value(each, 'name') === name)
    const message = this.message(fault, binding, `${operation} fault ${name}`)
    return message ? [{ fault: name, ...message }] : []
  }

  private message(reference: Element, binding: Element | undefined, place: string): WsdlMessage | undefined {
    const message = this.referred('message', reference, 'message', place)
    if (!message) return undefined
    const [body] = binding ? [...carried(binding, 'body'), ...carried(binding, 'fault')] : []
    const headers = binding ? carried(binding, 'header').flatMap(header => this.header(header)) : []
    const only = body && value(body, 'parts')?.split(/\s+/)
    const blocks = new Set(headers.filter(({ of }) => of === message).map(({ name }) => name))
    const parts = children(message, 'part').map(part => this.part(part, place))
    return {
      use: body && value(body, 'use') === 'encoded' ? 'encoded' : 'literal',
      namespace: (body && value(body, 'namespace')) ?? '',
      encodingStyle: body && value(body, 'encodingStyle'),
      parts: parts.filter(({ name }) => (only ? only.includes(name) : !blocks.has(name))),
      headers: headers.map(({ of: _, ...part }) => part),
    }
  }

  private header(header: Element): (WsdlPart & { of: Element })[] {
    const message = this.referred('message', header, 'message')
    const named = message && children(message, 'part').find(each => value(each, 'name') === value(header, 'part'))
    if (message && !named) this.flaw(`header: message ${value(message, 'name')} has no part ${value(header, 'part')}`)
    return message && named ? [{ of: message, ...this.part(named, 'header') }] : []
  }

  private part(part: Element, place: string): WsdlPart {
    const name = value(part, 'name') ?? ''
    const element = this.qname(part, 'element')
    const type = this.qname(part, 'type')
    if (element === undefined && type === undefined)
      this.flaws.push(`${place}: part ${name} has no element and no type`)
    if (element !== undefined) this.known(this.elements, element, `${place}: element`)
    if (type !== undefined && !type.startsWith(`{${xs}}`)) this.known(this.types, type, `${place}: type`)
    return { name, ...(element !== undefined && { element }), ...(type !== undefined && { type }) }
  }

  /** Whether a name is declared, as far as can be known: a namespace of which nothing was found is not judged. */
  private known(names: ReadonlySet<string>, name: string, place: string): void {
    const namespace = name.slice(0, name.indexOf('}') + 1)
    const isOurs = this.schemas.some(schema => `{${value(schema, 'targetNamespace') ?? ''}}` === namespace)
    if (isOurs && this.missing.length === 0 && !names.has(name)) this.flaw(`${place} ${name} is not declared`)
  }

  private referred(kind: string, element: Element, attribute: string, place?: string): Element | undefined {
    const name = this.qname(element, attribute)
    const found = name === undefined ? undefined : this.components.get(`${kind} ${name}`)
    const from = place ?? `${element.name.local} ${value(element, 'name') ?? ''}`.trim()
    if (!found) this.flaw(`${from}: ${kind} ${name ?? value(element, attribute) ?? 'of no name'} is not there`)
    return found
  }

  private qname(element: Element, attribute: string): string | undefined {
    const [, prefix = '', local] = /^(?:([^:]*):)?([^:]+)$/.exec(value(element, attribute) ?? '') ?? []
    if (local === undefined) return undefined
    const uri = element.namespace(prefix)
    if (uri === undefined) this.flaw(`nothing declares the prefix ${prefix}`)
    return uri === undefined ? undefined : `{${uri}}${local}`
  }

  private flaw(flaw: string): void {
    if (!this.flaws.includes(flaw)) this.flaws.push(flaw)
  }
}

/** §2.4.5: what an operation's input and output are called, also where they do not say so. */
function messageNames(operation: Element): readonly [input: string | undefined, output: string | undefined] {
  const name = value(operation, 'name') ?? ''
  const [input] = children(operation, 'input')
  const [output] = children(operation, 'output')
  const asks = input && output && operation.children.indexOf(input) < operation.children.indexOf(output)
  return [
    input && (value(input, 'name') ?? (output ? `${name}${asks ? 'Request' : 'Solicit'}` : name)),
    output && (value(output, 'name') ?? (input ? `${name}Response` : name)),
  ]
}

const styleOf = (extension: Element | undefined, otherwise: 'document' | 'rpc'): 'document' | 'rpc' => {
  const style = extension && value(extension, 'style')
  return style === 'rpc' || style === 'document' ? style : otherwise
}

const mime = 'http://schemas.xmlsoap.org/wsdl/mime/'
/** What SOAP carries of a message, also where it is the first part of a MIME package (§5). */
function carried(binding: Element, local: string): Element[] {
  const parts = of(binding, mime, 'multipartRelated').flatMap(each => of(each, mime, 'part'))
  return [binding, ...parts].flatMap(each => soap(each, local))
}
