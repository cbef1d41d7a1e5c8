/**
 * Reads the SOAP face of a release from its WSDL. The names of ports, bindings and types are not on
 * the wire: an operation is identified by the element of its Body, a type by its place.
 */
import type { PortPolicy } from '../contract/endpoint-rule.ts'
import { type ExchangeBody, isHeaderFault, type Port, type PortExchange } from '../contract/exchange.ts'
import { countRequired, hasAnyOrder, initialOf } from '../contract/xml-members.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type AttachmentMark,
  BodyContent,
  type ComplexDefinition,
  type SchemaFacets,
  type TypeMembers,
} from '../contract/xml-type.ts'
import type { Find } from '../describe/reader/wsdl-document.ts'
import { readImportedContract } from '../import/imported-contract.ts'
import { Malformed } from '../xml/index.ts'
import {
  type DescribedInput,
  type DescribedOperation,
  type DescribedOutput,
  DiffImpossible,
  type ServiceDescription,
} from './service-description.ts'
import { anyType, type WireMember, type WireType } from './wire-type.ts'

/**
 * Throws for anything but a WSDL 1.1 or an XML Schema.
 *
 * @param given octets in the encoding that they declare, or a text
 */
export function readSoapDescription(given: Uint8Array | string, source: string, find: Find): ServiceDescription {
  const octets = typeof given === 'string' ? new TextEncoder().encode(given) : given
  const document = readImportedContract(octets, source, find)
  if (document instanceof Malformed)
    throw new DiffImpossible(`${source} cannot be read: ${document.reason} (octet ${document.at})`)
  const reader = new SoapFaceReader()
  for (const port of document.ports) reader.addPort(port, document.policies.get(port.port))
  if (document.ports.length === 0) for (const element of document.elements) reader.addElement(element)
  return {
    face: 'soap',
    source,
    operations: reader.operations,
    types: reader.types,
    remarks: document.losses.map(({ place, detail }) => `${source}, ${place}: ${detail}`),
  }
}

const clarkName = ({ uri, local }: { readonly uri: string; readonly local: string }): string => `{${uri}}${local}`

/** Describes ports and elements in the terms of a comparison. */
class SoapFaceReader {
  readonly operations = new Map<string, DescribedOperation>()
  readonly types = new Map<string, WireType>()
  readonly #names = new Map<AnyXmlType, string>()
  /** Unnamed types, which are written where they are used. */
  readonly #unnamed = new Map<AnyXmlType, WireType>()

  addPort({ soap, exchanges }: Port, policy: PortPolicy | undefined): void {
    const taken = new Set<string>()
    for (const [name, exchange] of Object.entries(exchanges)) {
      const element = exchange.input === 'empty' ? name : nameOfBody(exchange.input)
      // Operations that share an element are distinguished by name.
      const key = taken.has(element) ? `${element} ${name}` : element
      taken.add(key)
      for (const version of soap === 'both' ? ['1.1', '1.2'] : [soap])
        this.operations.set(
          `SOAP ${version} ${exchange.style} ${key}`,
          this.#operation(exchange, describePolicy(policy, name)),
        )
    }
  }

  /** For a schema without operations: the element may be sent and received. */
  addElement(element: AnyRootElement): void {
    this.operations.set(`element ${clarkName(element.name)}`, {
      inputs: new Map([['content', this.#input(element)]]),
      outputs: new Map([['content', this.#output(element, 'content', 'content')]]),
      facts: new Map(),
      ways: new Map(),
    })
  }

  #operation(exchange: PortExchange, demands: ReadonlyMap<string, string>): DescribedOperation {
    const { input, output, faults, requestHeaders, replyHeaders, location } = exchange
    const { request = [], reply: answered = [] } = exchange.mandatoryHeaders
    const mandatory = [...request, ...answered.map(each => `${each} of the reply`)].toSorted().join(', ')
    const placeOf = (fault: string): string => (isHeaderFault(exchange, fault) ? 'header fault' : 'fault')
    return {
      inputs: new Map([['Body', this.#input(input)], ...this.#blocks(requestHeaders)]),
      outputs: new Map<string, DescribedOutput>([
        ...(output ? [['reply', this.#output(output, 'reply', 'content')] as const] : []),
        ...Object.entries(faults).map(([fault, each]) => {
          const name = clarkName(each.name)
          return [`${placeOf(fault)} ${name}`, this.#output(each, name, 'error')] as const
        }),
        ...Object.values(replyHeaders).map(
          each => [`header ${clarkName(each.name)}`, this.#output(each, 'reply', 'field')] as const,
        ),
      ]),
      facts: new Map([
        ['soapAction', exchange.action],
        ['reply', output === undefined ? 'none' : nameOfBody(output)],
        ...(mandatory === '' ? [] : [['mandatory header blocks', mandatory] as const]),
        ...demands,
      ]),
      ways: new Map(location === undefined ? [] : [['GET at', [location || 'the endpoint']]]),
    }
  }
  #input(body: ExchangeBody): DescribedInput {
    return { type: this.#typeOfBody(body), isRequired: true, isAlternative: false }
  }
  #blocks(headers: Readonly<Record<string, AnyRootElement>>): readonly (readonly [string, DescribedInput])[] {
    return Object.values(headers).map(each => [`header ${clarkName(each.name)}`, this.#input(each)])
  }
  #output(body: ExchangeBody, outcome: string, kind: DescribedOutput['kind']): DescribedOutput {
    return { type: this.#typeOfBody(body), outcome, kind }
  }
  #typeOfBody(body: ExchangeBody): WireType {
    if (body === 'empty') return { kind: 'object', ...noMembers }
    return nullable(narrowFixed(this.#typeOf(body.type()), body.marks), body.isNillable)
  }

  #typeOf(type: AnyXmlType): WireType {
    const { definition } = type
    switch (definition.kind) {
      case 'builtIn':
        return typeOfBuiltIn(definition.name)
      case 'restriction':
        return narrowType(this.#typeOf(definition.of), definition.facets)
      case 'list':
        return { kind: 'list', isNullable: false, item: this.#typeOf(definition.item), facets: new Map() }
      case 'union':
        return { kind: 'choice', isNullable: false, options: definition.of.map(each => this.#typeOf(each)) }
      case 'array':
        return { kind: 'list', isNullable: false, item: this.#typeOf(definition.item()), facets: new Map() }
      case 'derivable':
        return {
          kind: 'choice',
          isNullable: false,
          options: [definition.type, ...definition.derived()].filter(isConcrete).map(each => this.#typeOf(each)),
        }
      case 'complex':
        return this.#complexType(type, definition)
    }
  }
  #complexType(type: AnyXmlType, definition: ComplexDefinition): WireType {
    const unnamed = this.#unnamed.get(type)
    if (unnamed) return unnamed
    const known = this.#names.get(type)
    if (known !== undefined) return { kind: 'named', name: known }
    const name = definition.name ? clarkName(definition.name) : `type ${this.#names.size + 1}`
    this.#names.set(type, name)
    const made = this.#object(definition)
    if (!definition.name) {
      this.#unnamed.set(type, made)
      return made
    }
    this.types.set(name, made)
    return { kind: 'named', name }
  }
  #object(definition: ComplexDefinition): WireType {
    const members = this.#members(definition)
    const wildcard = Object.values(definition.members).find(({ particle }) => particle.kind === 'any')?.particle
    return {
      kind: 'object',
      isNullable: false,
      members,
      rest: members.has(anyElement) ? 'any' : 'none',
      ...(wildcard?.kind === 'any' && { names: namesOfWildcard(wildcard) }),
      isOrdered: !hasAnyOrder(definition),
      facets: new Map(),
    }
  }
  /** Includes the members of the base type, in front. */
  #members({ members, base, form }: ComplexDefinition): Map<string, WireMember> {
    const inherited = base?.by === 'extension' && base.type.definition
    const before = inherited && inherited.kind === 'complex' ? this.#members(inherited) : new Map<string, WireMember>()
    const simple =
      inherited && inherited.kind !== 'complex' && base
        ? ([['text', { type: this.#typeOf(base.type), isRequired: true }]] as const)
        : []
    return numberGroups([...before, ...simple, ...this.#listMembers(members, form)])
  }
  #listMembers(members: TypeMembers, form: ComplexDefinition['form']): readonly (readonly [string, WireMember])[] {
    return Object.entries(members).map(([key, member]) => [
      nameOfMember(key, member, form),
      {
        type: this.#typeOfMember(member, form),
        isRequired: member.marks.min > 0,
        min: Math.max(countRequired(member.marks, 1), 1),
        max: member.marks.max,
        ...describeInitial(member),
      },
    ])
  }
  #typeOfMember({ particle, marks }: AnyMember, form: ComplexDefinition['form']): WireType {
    switch (particle.kind) {
      case 'element':
        if (marks.attached) return typeOfAttachment(marks.attached)
        return nullable(narrowFixed(this.#typeOf(particle.type()), marks), marks.isNillable)
      case 'reference':
        return this.#typeOfBody(particle.to())
      case 'attribute':
      case 'text':
        return narrowFixed(this.#typeOf(particle.type), marks)
      case 'choice':
        return {
          kind: 'choice',
          isNullable: false,
          options: this.#listMembers(particle.members, form).map(option => ({
            ...emptyObject,
            members: new Map([option]),
          })),
        }
      case 'sequence':
        return { ...emptyObject, isOrdered: true, members: new Map(this.#listMembers(particle.members, form)) }
      case 'any':
        return anyType
      case 'anyAttribute':
        return namesOfWildcard(particle)
    }
  }
}

/** Octets next to the XML, with media types from which the writer may choose. */
const typeOfAttachment = ({ mediaTypes, isText }: AttachmentMark): WireType => ({
  kind: 'scalar',
  base: isText ? 'text' : 'octets',
  isNullable: false,
  ...(mediaTypes.length > 0 && { values: mediaTypes }),
  facets: new Map(),
})

/** What messages need besides what the schema says. */
function describePolicy(policy: PortPolicy | undefined, exchange: string): ReadonlyMap<string, string> {
  const security = policy?.security.get(exchange)
  const unmet = policy?.unmet.get(exchange)
  return new Map([
    ...(security ? [['security', JSON.stringify(security)] as const] : []),
    ...(unmet === undefined ? [] : [['security', unmet] as const]),
    ...(policy?.addressing ? [['addressing', 'demanded'] as const] : []),
    ...(policy?.mtom ? [['MTOM', 'demanded'] as const] : []),
  ])
}

/** XML Schema Part 1 §3.10: from which namespaces names may come, and whether they are checked. */
function namesOfWildcard(particle: Extract<AnyMember['particle'], { kind: 'any' | 'anyAttribute' }>): WireType {
  const { namespaces } = particle
  const facets = new Map<string, string>()
  if (namespaces !== 'any')
    facets.set('namespace', 'not' in namespaces ? `not ${namespaces.not}` : namespaces.of.join(' '))
  if (particle.process === 'strict') facets.set('processContents', 'strict')
  return { kind: 'scalar', base: 'any name', isNullable: false, facets }
}

/** Groups have no names: the second choice in a type is `choice 2`. */
function numberGroups(members: readonly (readonly [string, WireMember])[]): Map<string, WireMember> {
  const counts = new Map<string, number>()
  const numbered = members.map(([name, member]) => {
    if (!isGroup(name)) return [name, member] as const
    const [kind = ''] = name.split(' ')
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return [count === 1 ? kind : `${kind} ${count}`, member] as const
  })
  return new Map(numbered)
}
const isGroup = (name: string): boolean => /^(?:choice|sequence)(?: \d+)?$/.test(name)

const isConcrete = ({ definition }: AnyXmlType): boolean => definition.kind !== 'complex' || !definition.isAbstract

const noMembers = { isNullable: false, members: new Map(), rest: 'none', isOrdered: true, facets: new Map() } as const
const emptyObject = { kind: 'object', ...noMembers } as const
const anyElement = 'any element'
function nameOfBody(body: ExchangeBody): string {
  if (body === 'empty') return 'empty'
  if (!(body instanceof BodyContent)) return clarkName(body.name)
  const { definition } = body.type()
  if (definition.kind !== 'complex') return 'content'
  const members = Object.entries(definition.members).map(([key, each]) => nameOfMember(key, each, definition.form))
  return members.length > 0 ? members.join(' ') : 'content'
}

function nameOfMember(key: string, { particle, marks }: AnyMember, form: ComplexDefinition['form']): string {
  const { name: local = key, uri } = marks
  switch (particle.kind) {
    case 'element':
      if (marks.attached) return `attachment ${local}`
      return clarkName({ uri: uri ?? (form?.elements === 'qualified' ? form.uri : ''), local })
    case 'reference':
      return clarkName(particle.to().name)
    case 'attribute':
      return `@${clarkName({ uri: uri ?? (form?.attributes === 'qualified' ? form.uri : ''), local })}`
    case 'any':
      return anyElement
    default:
      return particle.kind
  }
}

const nullable = (type: WireType, isNullable: boolean): WireType =>
  isNullable && type.kind !== 'any' ? { ...type, isNullable } : type

function typeOfBuiltIn(name: string): WireType {
  if (name === 'anyType' || name === 'anySimpleType') return anyType
  const [, item] = /^(NMTOKEN|IDREF|ENTIT)(?:S|IES)$/.exec(name) ?? []
  if (item)
    return {
      kind: 'list',
      isNullable: false,
      item: typeOfBuiltIn(item === 'ENTIT' ? 'ENTITY' : item),
      facets: new Map(),
    }
  return { kind: 'scalar', base: name === 'swaRef' ? 'ref:swaRef' : `xs:${name}`, isNullable: false, facets: new Map() }
}

const narrowFixed = (type: WireType, { isFixed, initial }: ReturnType<typeof initialOf>): WireType =>
  isFixed && initial !== undefined ? narrowType(type, { values: [initial] }) : type
function describeInitial(member: AnyMember): Pick<WireMember, 'initial'> {
  const { isFixed, initial } = initialOf(member)
  return initial === undefined || isFixed ? {} : { initial }
}

/** The keyword of JSON Schema, if it has one for the facet. */
const facetNames: Readonly<Record<string, string>> = {
  __proto__: null as never,
  minInclusive: 'minimum',
  maxInclusive: 'maximum',
  minExclusive: 'exclusiveMinimum',
  maxExclusive: 'exclusiveMaximum',
}
/** Part 2 §4.3.1: the length of a list is the number of its items. */
const listFacetNames: Readonly<Record<string, string>> = {
  __proto__: null as never,
  minLength: 'minItems',
  maxLength: 'maxItems',
  length: 'length',
}
const listFacets = (facets: Readonly<Record<string, unknown>>): readonly (readonly [string, string | number])[] =>
  Object.entries(facets).flatMap(([name, value]) => {
    const known = listFacetNames[name]
    return known !== undefined && (typeof value === 'number' || typeof value === 'string')
      ? [[known, value] as const]
      : []
  })
function narrowType(type: WireType, given: SchemaFacets): WireType {
  const { values, patterns, ...facets } = given
  if (type.kind === 'choice') return { ...type, options: type.options.map(each => narrowType(each, given)) }
  if (type.kind === 'list') return { ...type, facets: new Map([...type.facets, ...listFacets(facets)]) }
  if (type.kind === 'any' && values)
    return { kind: 'scalar', base: 'any text', isNullable: false, values, facets: new Map() }
  if (type.kind !== 'scalar') return type
  const own = Object.entries(facets).map(([name, value]) => [facetNames[name] ?? name, value] as const)
  const pattern = patterns === undefined ? [] : [['pattern', patterns.join(' and ')] as const]
  return { ...type, ...(values && { values }), facets: new Map([...type.facets, ...own, ...pattern]) }
}
