/**
 * The assertions of WSDL 2.0 Part 1, each by its name; those of styles and of HTTP are in
 * `wsdl20-part2.ts`. Not checked: the inside of schemas.
 */
import type { Element } from '../../src/xml/tree.ts'
import { attribute, below, children, qname } from './tree.ts'
import { authenticationFlaws, Declarations, httpFlaws, styleFlaws } from './wsdl20-part2.ts'
import { grammarFlaws } from './wsdl20-structure.ts'

const wsdl = 'http://www.w3.org/ns/wsdl'
const soapBinding = 'http://www.w3.org/ns/wsdl/soap'
const httpBinding = 'http://www.w3.org/ns/wsdl/http'
const instance = 'http://www.w3.org/ns/wsdl-instance'
const xs = 'http://www.w3.org/2001/XMLSchema'
/**
 * Extensions that are understood; any other required one makes a document invalid (Part 1 §6.1).
 */
const known = [
  wsdl,
  soapBinding,
  'http://www.w3.org/ns/wsdl/http',
  'http://www.w3.org/ns/wsdl/rpc',
  'http://www.w3.org/ns/wsdl-extensions',
  'http://www.w3.org/2006/05/addressing/wsdl',
]

/** Part 2 §2: placeholder messages by label, and how faults go. */
interface Pattern {
  readonly messages: Readonly<Record<string, 'in' | 'out'>>
  readonly faults: 'replace' | 'trigger' | 'none'
}
const pattern = (messages: Pattern['messages'], faults: Pattern['faults']): Pattern => ({ messages, faults })
const patterns: Readonly<Record<string, Pattern>> = {
  'in-only': pattern({ In: 'in' }, 'none'),
  'robust-in-only': pattern({ In: 'in' }, 'trigger'),
  'in-out': pattern({ In: 'in', Out: 'out' }, 'replace'),
  'in-opt-out': pattern({ In: 'in', Out: 'out' }, 'trigger'),
  'out-only': pattern({ Out: 'out' }, 'none'),
  'robust-out-only': pattern({ Out: 'out' }, 'trigger'),
  'out-in': pattern({ Out: 'out', In: 'in' }, 'replace'),
  'out-opt-in': pattern({ Out: 'out', In: 'in' }, 'trigger'),
}
const patternOf = (operation: Element): Pattern | undefined =>
  patterns[
    /^http:\/\/www\.w3\.org\/(?:ns|2006\/01)\/wsdl\/([a-z-]+)$/.exec(attribute(operation, 'pattern') ?? '')?.[1] ?? ''
  ]

const isAbsolute = (iri: string | undefined): boolean => /^[a-z][a-z0-9+.-]*:/i.test(iri ?? '')
const hasRepeated = (names: readonly (string | undefined)[]): boolean => new Set(names).size !== names.length
const ownChildren = (element: Element): Element[] => element.elements().filter(({ name }) => name.uri === wsdl)

/** @param roots of the document and of all that it includes or imports, schemas too */
export function flaws(roots: readonly Element[]): readonly string[] {
  const descriptions = roots.filter(({ name }) => name.uri === wsdl && name.local === 'description')
  const components = new Components(roots, descriptions)
  const spaces = descriptions.map(each => attribute(each, 'targetNamespace') ?? '')
  const others = roots.filter(each => !descriptions.includes(each))
  return [
    ...descriptions.flatMap(structureFlaws),
    ...descriptions.flatMap(grammarFlaws),
    ...descriptions.flatMap(each => importFlaws(each, spaces)),
    ...strangers(descriptions, others).map(each => `Include-1081 ${each} is not imported`),
    ...others.flatMap(each => locationFlaws(each, descriptions)),
    ...components.flaws(),
  ]
}

/**
 * Part 1 §4: an import has another namespace than the document, and a location of its own.
 *
 * @param spaces of all descriptions that were found
 */
function importFlaws(root: Element, spaces: readonly string[]): string[] {
  const own = attribute(root, 'targetNamespace')
  const imports = ownChildren(root).filter(({ name }) => name.local === 'import')
  const isIncluding = ownChildren(root).some(({ name }) => name.local === 'include')
  const places = imports.map(each => `${attribute(each, 'namespace')} ${attribute(each, 'location')}`)
  return [
    ...(hasRepeated(places) ? ['Import-1083 one document twice'] : []),
    ...(imports.some(each => attribute(each, 'namespace') === own) ? ['Import-1084 its own namespace'] : []),
    ...(isIncluding && spaces.length > 1 && spaces.filter(each => each === own).length < 2
      ? ['Include-1081 a document of another namespace']
      : []),
    ...foreignNames(root)
      .filter(each => each !== own && !imports.some(one => attribute(one, 'namespace') === each))
      .map(each => `Import-1082 ${each} is not imported here`),
  ]
}
/** Namespaces of found descriptions that no import names: they were included, or imported as another. */
function strangers(descriptions: readonly Element[], others: readonly Element[]): readonly string[] {
  const imported = descriptions.flatMap(each => children(each, 'import').map(one => attribute(one, 'namespace')))
  const located = others
    .flatMap(all)
    .flatMap(({ attributes }) => attributes.filter(({ name }) => name.uri === instance))
  const said = [...imported, ...located.flatMap(({ value }) => value.trim().split(/\s+/))]
  const [own, ...found] = descriptions.map(each => attribute(each, 'targetNamespace') ?? '')
  return found.filter(each => each !== own && !said.includes(each))
}

/** The namespaces of the components that a description refers to. */
function foreignNames(root: Element): readonly string[] {
  const references: Readonly<Record<string, readonly string[]>> = {
    interface: ['extends'],
    binding: ['interface'],
    service: ['interface'],
    endpoint: ['binding'],
    infault: ['ref'],
    outfault: ['ref'],
  }
  const found = all(root)
    .filter(({ name }) => name.uri === wsdl)
    .flatMap(each => (references[each.name.local] ?? []).flatMap(local => names_(each, local)))
  return [...new Set(found.map(name => name.slice(1, name.indexOf('}'))))]
}

/** Part 1 §7: pairs of a namespace and a document that describes it, outside of descriptions. */
function locationFlaws(root: Element, descriptions: readonly Element[]): string[] {
  const written = all(root).flatMap(({ attributes }) => attributes.filter(({ name }) => name.uri === instance))
  const namespaces = written.flatMap(({ value }) =>
    value
      .trim()
      .split(/\s+/)
      .filter((_, at) => at % 2 === 0),
  )
  const isDescribed = (namespace: string) => descriptions.some(each => attribute(each, 'targetNamespace') === namespace)
  return [
    ...(written.every(({ value }) => value.trim().split(/\s+/).length % 2 === 0) && namespaces.every(isAbsolute)
      ? []
      : ['Location-1093 it is no list of pairs']),
    ...(namespaces.every(isDescribed) ? [] : ['Location-1094 a document of another namespace']),
  ]
}

/** Part 1 §2.1.2: the children of a description, and their order. */
function structureFlaws(root: Element): string[] {
  const order = ['documentation', 'import', 'include', 'types', 'interface', 'binding', 'service']
  const stage = (local: string) =>
    order.indexOf(local) === 0 ? 0 : ['import', 'include'].includes(local) ? 1 : local === 'types' ? 2 : 3
  const stages = ownChildren(root).map(({ name }) => stage(name.local))
  return [
    ...(isAbsolute(attribute(root, 'targetNamespace')) ? [] : ['Description-1006 the target namespace is absolute']),
    ...(stages.some((each, i) => each < (stages[i - 1] ?? 0)) ? ['Description-1005 the order of children'] : []),
    ...(children(root, 'types').length > 1 ? ['Description-1005 types twice'] : []),
    ...(ownChildren(root).some(({ name }) => !order.includes(name.local))
      ? ['Description-1005 a child of no such name']
      : []),
    ...all(root)
      .filter(each => !known.includes(each.name.uri) && /^(?:true|1)$/.test(attribute(each, 'required') ?? ''))
      .map(each => `Extensions-1093 ${each.name.local} is required and unknown`),
    ...(all(root).some(({ attributes }) => attributes.some(({ name }) => name.uri === instance))
      ? ['Location-1092 a location of documents within one']
      : []),
    ...schemaFlaws(root),
  ]
}
/** Part 1 §3.1.3: of schemas within `types` and those that it imports; no other document's. */
const visibleNamespaces = (root: Element): string[] =>
  children(root, 'types').flatMap(types => [
    ...children(types, 'schema').map(each => attribute(each, 'targetNamespace') ?? ''),
    ...children(types, 'import').map(each => attribute(each, 'namespace') ?? ''),
  ])

/** Part 1 §3.1.2: what inline schemas define, each once. */
function schemaFlaws(root: Element): string[] {
  const schemas = children(root, 'types').flatMap(types => children(types, 'schema'))
  const defined = schemas.flatMap(schema =>
    schema
      .elements()
      .filter(each => attribute(each, 'name') !== undefined)
      .map(each => `${each.name.local} {${attribute(schema, 'targetNamespace') ?? ''}}${attribute(each, 'name')}`),
  )
  return hasRepeated(defined) ? ['Schema-1073 two definitions of a name'] : []
}
const all = (element: Element): Element[] => [element, ...element.elements().flatMap(all)]

class Components {
  readonly #descriptions: readonly Element[]
  readonly #schemas: readonly Element[]
  readonly #elements: ReadonlySet<string>
  readonly #declarations: Declarations
  readonly #imported: ReadonlySet<string>

  constructor(roots: readonly Element[], descriptions: readonly Element[]) {
    this.#descriptions = descriptions
    const schemas = roots.flatMap(root => below(root, 'schema')).filter(({ name }) => name.uri === xs)
    this.#schemas = schemas
    this.#declarations = new Declarations(schemas)
    this.#elements = new Set(
      schemas.flatMap(schema =>
        children(schema, 'element').map(
          each => `{${attribute(schema, 'targetNamespace') ?? ''}}${attribute(each, 'name')}`,
        ),
      ),
    )
    const imports = roots.flatMap(root => below(root, 'import')).filter(({ name }) => name.uri === xs)
    const inline = schemas.filter(schema => children(schema, 'include').length > 0)
    this.#imported = new Set([
      ...imports.map(each => attribute(each, 'namespace') ?? ''),
      ...inline.map(each => attribute(each, 'targetNamespace') ?? ''),
    ])
  }

  readonly #entries = (local: string): (readonly [string, Element])[] =>
    this.#descriptions.flatMap(root =>
      children(root, local).map(
        each => [`{${attribute(root, 'targetNamespace')}}${attribute(each, 'name')}`, each] as const,
      ),
    )
  readonly #mapByName = (local: string): Map<string, Element> => new Map(this.#entries(local))

  flaws(): string[] {
    const twice = (local: string, rule: string) =>
      hasRepeated(this.#entries(local).map(([name]) => name)) ? [`${rule} two of a name`] : []
    return [
      ...twice('interface', 'Interface-1010'),
      ...twice('binding', 'Binding-1049'),
      ...twice('service', 'Service-1060'),
      ...this.#importFlaws(),
      ...this.#referenceFlaws('interface'),
      ...this.#referenceFlaws('binding'),
      ...this.#pairFlaws(),
      ...[...this.#mapByName('interface').values()].flatMap(each => this.#interfaceFlaws(each)),
      ...[...this.#mapByName('binding').values()].flatMap(each => this.#bindingFlaws(each)),
      ...[...this.#mapByName('service').values()].flatMap(each => this.#serviceFlaws(each)),
    ]
  }

  /** Part 1 §3.1.1: what is imported has the namespace that its import says. */
  #importFlaws(): string[] {
    const spaces = this.#schemas.map(each => attribute(each, 'targetNamespace'))
    const isIncluded = this.#schemas.some(each => children(each, 'include').length > 0)
    return this.#descriptions
      .flatMap(root => children(root, 'types').flatMap(types => children(types, 'import')))
      .map(each => attribute(each, 'namespace'))
      .filter(each => each !== undefined && !spaces.includes(each) && spaces.includes(undefined) && !isIncluded)
      .map(each => `Schema-1070 ${each} is not the namespace of what is imported`)
  }

  /** Part 1 §3.3: a type or element of a schema that stands for an endpoint reference. */
  #referenceFlaws(local: 'interface' | 'binding'): string[] {
    return this.#descriptions
      .flatMap(root => children(root, 'types').flatMap(all))
      .filter(each => each.name.uri === xs && attribute(each, local) !== undefined)
      .filter(each => !this.#mapByName(local).has(safely(() => qname(each, local)) ?? ''))
      .map(each => `Types-1077 ${attribute(each, local)} is no ${local}`)
  }

  /** Part 1 §3.3.3: a reference to an endpoint of an interface has a binding of this interface. */
  #pairFlaws(): string[] {
    return this.#descriptions
      .flatMap(root => children(root, 'types').flatMap(all))
      .filter(each => each.name.uri === xs && attribute(each, 'interface') !== undefined)
      .filter(each => {
        const binding = this.#mapByName('binding').get(safely(() => qname(each, 'binding')) ?? '')
        const bound = binding && safely(() => qname(binding, 'interface'))
        return bound !== undefined && bound !== safely(() => qname(each, 'interface'))
      })
      .map(each => `Schema-1079 ${attribute(each, 'binding')} is of another interface`)
  }

  /** An interface and all that it extends. */
  #withExtended(element: Element, seen: readonly Element[] = []): readonly Element[] | undefined {
    if (seen.includes(element)) return undefined
    const names = names_(element, 'extends')
    const above = names.map(name => this.#mapByName('interface').get(name))
    const found: Element[] = [element]
    for (const each of above) {
      const inner = each && this.#withExtended(each, [...seen, element])
      if (!inner) return undefined
      found.push(...inner)
    }
    return found
  }

  #partsByName(element: Element, local: string): Map<string, Element> {
    const interfaces = this.#withExtended(element) ?? [element]
    return new Map(
      interfaces.flatMap(each => {
        const root = this.#descriptions.find(root => root.elements().includes(each))
        const namespace = root && attribute(root, 'targetNamespace')
        return children(each, local).map(part => [`{${namespace}}${attribute(part, 'name')}`, part] as const)
      }),
    )
  }

  #interfaceFlaws(element: Element): string[] {
    const operations = children(element, 'operation')
    const faults = children(element, 'fault')
    return [
      ...(hasRepeated(names_(element, 'extends')) ? ['Interface-1011 extends one twice'] : []),
      ...(this.#withExtended(element) ? [] : ['Interface-1009 extends itself, or one that is not there']),
      ...(iris(element, 'styleDefault') ? [] : ['Interface-1012 a style is absolute']),
      ...(hasRepeated(faults.map(each => attribute(each, 'name'))) ? ['InterfaceFault-1015 two of a name'] : []),
      ...(hasRepeated(operations.map(each => attribute(each, 'name')))
        ? ['InterfaceOperation-1020 two of a name']
        : []),
      ...this.#inheritedFlaws(element),
      ...faults.flatMap(each => this.#contentFlaws(each, 'InterfaceFault-1017')),
      ...operations.flatMap(each => this.#operationFlaws(element, each)),
      ...operations.flatMap(each => styleFlaws(each, attribute(element, 'styleDefault') ?? '', this.#declarations)),
    ]
  }

  /** Operations of one name in two interfaces are the same operation, and so are faults. */
  #inheritedFlaws(element: Element): string[] {
    const faces = [...new Set(this.#withExtended(element) ?? [])]
    return [
      ...differing(faces, 'operation').map(name => `InterfaceOperation-1020 ${name} is two`),
      ...differing(faces, 'fault').map(name => `InterfaceFault-1015 ${name} is two`),
    ]
  }

  /** The content of a message: a declared element, or one of four tokens. */
  #contentFlaws(element: Element, rule: string): string[] {
    const value = attribute(element, 'element')
    if (value === undefined || value.startsWith('#'))
      return value === undefined || ['#any', '#none', '#other'].includes(value) ? [] : [`${rule} ${value} is no token`]
    const name = safely(() => qname(element, 'element'))
    if (name === undefined) return [`QName-resolution-1064 ${value}`]
    const namespace = name.slice(1, name.indexOf('}'))
    const root = this.#descriptions.find(each => all(each).includes(element))
    if (root && !visibleNamespaces(root).includes(namespace)) return [`Schema-1066 ${namespace} is not imported here`]
    return this.#elements.has(name) || this.#imported.has(namespace) ? [] : [`${rule} ${name} is not declared`]
  }

  #operationFlaws(within: Element, operation: Element): string[] {
    const pattern = patternOf(operation)
    const messages = ownChildren(operation).filter(({ name }) => ['input', 'output'].includes(name.local))
    const faults = ownChildren(operation).filter(({ name }) => ['infault', 'outfault'].includes(name.local))
    const uri = attribute(operation, 'pattern')
    return [
      ...(uri === undefined || isAbsolute(uri) ? [] : ['InterfaceOperation-1018 a pattern is absolute']),
      ...(iris(operation, 'style') ? [] : ['InterfaceOperation-1019 a style is absolute']),
      ...messages.flatMap(each => this.#contentFlaws(each, 'InterfaceMessageReference-1036')),
      ...(pattern ? messageFlaws(pattern, messages) : []),
      ...(pattern && Object.values(pattern.messages).some(way => !messages.some(each => directionOf(each) === way))
        ? ['MEP-1022 without a message of its pattern']
        : []),
      ...faults.flatMap(each => this.#faultFlaws(within, pattern, each)),
      ...(hasRepeated(
        faults.map(each => {
          const way = each.name.local === 'infault' ? 'in' : 'out'
          const [label] = pattern ? faultLabels(pattern, way) : []
          return `${safely(() => qname(each, 'ref'))} ${attribute(each, 'messageLabel') ?? label} ${way}`
        }),
      )
        ? ['InterfaceFaultReference-1039 the same fault twice']
        : []),
    ]
  }

  #faultFlaws(within: Element, pattern: Pattern | undefined, fault: Element): string[] {
    const direction = fault.name.local === 'infault' ? 'in' : 'out'
    const label = attribute(fault, 'messageLabel')
    const labels = pattern ? faultLabels(pattern, direction) : undefined
    const name = safely(() => qname(fault, 'ref')) ?? ''
    return [
      ...(this.#partsByName(within, 'fault').has(name) ? [] : [`QName-resolution-1064 fault ${name}`]),
      ...(labels && labels.length === 0 ? [`MessageLabel-1034 no ${fault.name.local} in this pattern`] : []),
      ...(labels && label !== undefined && !labels.includes(label) ? [`MessageLabel-1042 ${label}`] : []),
    ]
  }

  #bindingFlaws(binding: Element): string[] {
    const name = safely(() => qname(binding, 'interface'))
    const bound = name === undefined ? undefined : this.#mapByName('interface').get(name)
    const operations = children(binding, 'operation')
    const faults = children(binding, 'fault')
    const refs = (elements: readonly Element[]) => elements.map(each => safely(() => qname(each, 'ref')) ?? '')
    const missing = bound
      ? [...this.#partsByName(bound, 'operation').keys()].filter(each => !refs(operations).includes(each))
      : []
    return [
      ...(isAbsolute(attribute(binding, 'type')) ? [] : ['Binding-1048 a type is absolute']),
      ...(attribute(binding, 'interface') !== undefined && !bound ? [`QName-resolution-1064 interface ${name}`] : []),
      ...(!bound && operations.length + faults.length > 0 ? ['Binding-1044 details without an interface'] : []),
      ...(hasRepeated(refs(faults)) ? ['BindingFault-1050 a fault twice'] : []),
      ...(hasRepeated(refs(operations)) ? ['BindingOperation-1051 an operation twice'] : []),
      ...(operations.length > 0 && missing.length > 0 ? [`Binding-1045 without ${missing}`] : []),
      ...(bound && faults.length > 0
        ? this.#referredFaults(bound)
            .filter(each => !refs(faults).includes(each))
            .map(each => `Binding-1047 without ${each}`)
        : []),
      ...(bound
        ? refs(faults)
            .filter(each => !this.#partsByName(bound, 'fault').has(each))
            .map(each => `QName-resolution-1064 ${each}`)
        : []),
      ...(bound ? operations.flatMap(each => this.#boundOperationFlaws(bound, each)) : []),
      ...soapFlaws(binding, this.#declarations),
      ...httpFlaws(
        binding,
        this.#declarations,
        each => bound && this.#partsByName(bound, 'operation').get(safely(() => qname(each, 'ref')) ?? ''),
      ),
    ]
  }

  /** The faults that operations of an interface name. */
  #referredFaults(bound: Element): readonly string[] {
    const operations = [...this.#partsByName(bound, 'operation').values()]
    const referring = operations.flatMap(each => [...children(each, 'infault'), ...children(each, 'outfault')])
    return referring.flatMap(each => safely(() => qname(each, 'ref')) ?? [])
  }

  #boundOperationFlaws(bound: Element, operation: Element): string[] {
    const name = safely(() => qname(operation, 'ref')) ?? ''
    const declared = this.#partsByName(bound, 'operation').get(name)
    if (!declared) return [`QName-resolution-1064 operation ${name}`]
    const pattern = patternOf(declared)
    const messages = ownChildren(operation).filter(({ name }) => ['input', 'output'].includes(name.local))
    const faults = ownChildren(operation).filter(({ name }) => ['infault', 'outfault'].includes(name.local))
    const referred = ownChildren(declared)
      .filter(({ name }) => ['infault', 'outfault'].includes(name.local))
      .map(each => `${each.name.local} ${safely(() => qname(each, 'ref'))}`)
    const bindings = faults.map(each => `${each.name.local} ${safely(() => qname(each, 'ref'))}`)
    return [
      ...messageFlaws(pattern ?? declaredPattern(declared), messages, 'BindingMessageReference-1052'),
      ...(hasRepeated(bindings) ? ['BindingFaultReference-1055 a fault twice'] : []),
      ...bindings.filter(each => !referred.includes(each)).map(each => `BindingFaultReference-1059 ${each}`),
      ...(pattern
        ? faults
            .filter(each => {
              const label = attribute(each, 'messageLabel')
              const labels = faultLabels(pattern, each.name.local === 'infault' ? 'in' : 'out')
              return label !== undefined && !labels.includes(label)
            })
            .map(each => `MessageLabel-1057 ${attribute(each, 'messageLabel')}`)
        : []),
    ]
  }

  #serviceFlaws(service: Element): string[] {
    const name = safely(() => qname(service, 'interface')) ?? ''
    const endpoints = children(service, 'endpoint')
    return [
      ...(this.#mapByName('interface').has(name) ? [] : [`QName-resolution-1064 interface ${name}`]),
      ...(endpoints.length > 0 ? [] : ['Service: an endpoint at least']),
      ...(hasRepeated(endpoints.map(each => attribute(each, 'name'))) ? ['Endpoint: two of a name'] : []),
      ...endpoints.flatMap(each => this.#endpointFlaws(name, each)),
    ]
  }

  #endpointFlaws(service: string, endpoint: Element): string[] {
    const name = safely(() => qname(endpoint, 'binding')) ?? ''
    const binding = this.#mapByName('binding').get(name)
    const address = attribute(endpoint, 'address')
    if (!binding) return [`QName-resolution-1064 binding ${name}`]
    const bound = safely(() => qname(binding, 'interface'))
    return [
      ...(address === undefined || isAbsolute(address) ? [] : ['Endpoint-1061 an address is absolute']),
      ...authenticationFlaws(endpoint),
      ...(bound === undefined || bound === service ? [] : ['Endpoint-1062 a binding of another interface']),
    ]
  }
}

/** Names that parts of several interfaces have, which are not equivalent. */
function differing(faces: readonly Element[], local: 'operation' | 'fault'): readonly string[] {
  const found = new Map<string, string>()
  return faces
    .flatMap(each => children(each, local))
    .flatMap(part => {
      const name = attribute(part, 'name') ?? ''
      const [known, own] = [found.get(name), digest(part)]
      found.set(name, own)
      return known === undefined || known === own ? [] : [name]
    })
}
/** What an operation or a fault means: its pattern, and its messages in any order. */
function digest(part: Element): string {
  const element = safely(() => qname(part, 'element')) ?? attribute(part, 'element')
  const name = safely(() => qname(part, 'ref')) ?? ''
  const inner = ownChildren(part).filter(each => each.name.local !== 'documentation')
  const pattern = attribute(part, 'pattern')
  return JSON.stringify([part.name.local, name, element, pattern, inner.map(digest).sort()])
}

const directionOf = (message: Element): 'in' | 'out' => (message.name.local === 'input' ? 'in' : 'out')

/** A pattern outside of Part 2, as far as an operation shows it. */
function declaredPattern(operation: Element): Pattern {
  const messages = ownChildren(operation).filter(({ name }) => ['input', 'output'].includes(name.local))
  const labels = messages.map(
    each => [attribute(each, 'messageLabel') ?? '', each.name.local === 'input' ? 'in' : 'out'] as const,
  )
  return pattern(Object.fromEntries(labels), 'none')
}

/** Labels of the messages that a fault in this direction replaces, or that trigger it. */
function faultLabels({ messages, faults }: Pattern, direction: 'in' | 'out'): readonly string[] {
  if (faults === 'none') return []
  const labels = Object.entries(messages)
  if (faults === 'trigger') return labels.filter(([, each]) => each !== direction).map(([label]) => label)
  return labels
    .slice(1)
    .filter(([, each]) => each === direction)
    .map(([label]) => label)
}

function messageFlaws(
  { messages }: Pattern,
  elements: readonly Element[],
  unique = 'InterfaceMessageReference-1029',
): string[] {
  const labelled = elements.map(each => {
    const direction = each.name.local === 'input' ? 'in' : 'out'
    const possible = Object.entries(messages)
      .filter(([, one]) => one === direction)
      .map(([label]) => label)
    return { label: attribute(each, 'messageLabel') ?? (possible.length === 1 ? possible[0] : ''), possible }
  })
  return [
    ...labelled
      .filter(({ possible }) => possible.length === 0)
      .map(() => 'MessageLabel-1032 no message in this direction'),
    ...labelled
      .filter(({ label, possible }) => label !== undefined && !possible.includes(label))
      .map(({ label }) => `MessageLabel-1030 ${label}`),
    ...(hasRepeated(labelled.map(({ label }) => label)) ? [`${unique} a message twice`] : []),
  ]
}

/** Part 2 §5: a protocol is required; codes of faults are names, in SOAP 1.2 those of its five. */
function soapFlaws(binding: Element, declarations: Declarations): string[] {
  if (attribute(binding, 'type') !== soapBinding) return []
  const headers = below(binding, 'header').filter(({ name }) => name.uri === soapBinding)
  const protocol = attribute(binding, 'protocol') ?? ''
  const hasHttp = all(binding).some(({ attributes }) => attributes.some(({ name }) => name.uri === httpBinding))
  const is12 = ['1.2', undefined].includes(attribute(binding, 'version'))
  const codes = children(binding, 'fault')
    .filter(each => (attribute(each, 'code') ?? '#any') !== '#any')
    .map(each => safely(() => qname(each, 'code')))
  const iris = ['mep', 'mepDefault'].flatMap(local =>
    [binding, ...children(binding, 'operation')].map(each => attribute(each, local)),
  )
  const modules = below(binding, 'module').map(each => attribute(each, 'ref'))
  return [
    ...(isAbsolute(attribute(binding, 'protocol')) ? [] : ['SOAPBinding-2069 a protocol']),
    ...(codes.every(code => code !== undefined && (!is12 || codesOf12.includes(code)))
      ? []
      : ['SOAPBindingFault-2072 a code']),
    ...(iris.every(each => each === undefined || isAbsolute(each))
      ? []
      : ['SOAPMEP-2073, -2074 a pattern is absolute']),
    ...(modules.every(isAbsolute) ? [] : ['SOAPModule-2076 absolute']),
    ...(headers.every(each =>
      declarations.find(
        'element',
        safely(() => qname(each, 'element')),
      ),
    )
      ? []
      : ['SOAPHeaderBlock-2079 an element that is declared']),
    ...(hasHttp && !/http/i.test(protocol.split('/').at(-2) ?? '') ? ['SOAPHTTPProperties-2064 no HTTP'] : []),
  ]
}
const codesOf12: readonly string[] = [
  'DataEncodingUnknown',
  'MustUnderstand',
  'Receiver',
  'Sender',
  'VersionMismatch',
].map(code => `{http://www.w3.org/2003/05/soap-envelope}${code}`)

function names_(element: Element, local: string): string[] {
  const values = attribute(element, local)?.trim().split(/\s+/) ?? []
  return values.map(value => {
    const [, prefix = '', name = ''] = /^(?:([^:]*):)?(.*)$/.exec(value) ?? []
    return `{${element.namespace(prefix) ?? '?'}}${name}`
  })
}
const iris = (element: Element, local: string): boolean =>
  (attribute(element, local)?.trim().split(/\s+/) ?? []).every(isAbsolute)
function safely<T>(ask: () => T): T | undefined {
  try {
    return ask()
  } catch {
    return undefined
  }
}
