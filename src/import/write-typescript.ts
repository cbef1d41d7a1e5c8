/**
 * An imported contract as TypeScript that a person would write: a constant and a type for each type
 * and element, in the order of their dependencies, with the comments of the document. Types that
 * contain themselves have an interface, because the compiler cannot infer one.
 */

import type { SecurityRule } from '../contract/endpoint-rule.ts'
import type { ExchangeBody, Port, PortExchange } from '../contract/exchange.ts'
import type { Grant } from '../contract/policy.ts'
import { referredBy } from '../contract/xml-reach.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type ArrayDefinition,
  type AttachmentMark,
  BodyContent,
  type BuiltInName,
  type ComplexDefinition,
  cellTypeOf,
  type NamespaceForm,
  type Particle,
  RootElement,
  type SchemaFacets,
  type TypeMembers,
} from '../contract/xml-type.ts'
import { ConstantNames } from './constant-names.ts'
import { listComponents } from './declaration-order.ts'
import { type ImportedContract, namespaceOfContract } from './imported-contract.ts'
import { quoteLiteral, writeConstant, writeDocComment, writeHeadComment, writeMemberKey } from './typescript-text.ts'

type Declared = AnyXmlType | AnyRootElement

export function writeTypescript(contract: PrintedContract, source: string): string {
  return new Printer(contract).print(source)
}

/** Ports with their types, to be placed in a file next to other declarations. */
export interface PrintedPorts {
  readonly text: string
  /** The constants of the ports. */
  readonly names: readonly string[]
}
export function writePorts(contract: PrintedContract, names: ConstantNames, writeGrants: GrantsWriter): PrintedPorts {
  return new Printer(contract, names, writeGrants).parts()
}

interface PrintedContract extends Omit<ImportedContract, 'addresses' | 'kind' | 'missing' | 'policies'> {
  /** The rules by which messages of ports prove themselves, by port name. */
  readonly rules?: ReadonlyMap<string, SecurityRule>
}
/** Grants as an array of constants; undefined: nothing is known about them. */
type GrantsWriter = (grants: readonly Grant[]) => string | undefined

class Printer {
  readonly #contract: PrintedContract
  readonly #names: ConstantNames
  readonly #writeGrants: GrantsWriter
  readonly #identifiers = new Map<Declared, string>()
  readonly #namespaces = new Map<string, { readonly name: string; readonly form: NamespaceForm }>()
  /** Declared in the same circle: a reference to one of these is a function. */
  #circle: ReadonlySet<Declared> = new Set()

  constructor(contract: PrintedContract, names = new ConstantNames(), writeGrants: GrantsWriter = () => undefined) {
    this.#contract = contract
    this.#names = names
    this.#writeGrants = writeGrants
    const declared = this.#listDeclared()
    for (const each of declared) this.#addNamespace(uriOf(each))
    this.#chooseForms(declared)
    for (const each of declared)
      if (!(each instanceof RootElement) && each.definition.kind !== 'derivable') this.#identify(each)
    for (const each of declared) if (each instanceof RootElement) this.#identify(each)
    for (const each of declared)
      if (!(each instanceof RootElement) && each.definition.kind === 'derivable') this.#identify(each)
  }

  #listDeclared(): readonly Declared[] {
    const types = this.#contract.types.filter(
      ({ definition }) => definition.kind !== 'builtIn' && (definition.kind === 'derivable' || definition.name),
    )
    const calls = new Set(
      this.#contract.ports.flatMap(({ exchanges }) =>
        Object.values(exchanges).flatMap(({ style, input, output }) => (style === 'document' ? [] : [input, output])),
      ),
    )
    return [...types, ...this.#contract.elements.filter(each => !calls.has(each) && !(each instanceof BodyContent))]
  }

  #identify(of: Declared): void {
    const wish =
      of instanceof RootElement
        ? of.name.local
        : of.definition.kind === 'derivable'
          ? `Any${this.#identifiers.get(of.definition.type) ?? 'Type'}`
          : ('name' in of.definition && typeof of.definition.name === 'object' && of.definition.name.local) || 'Type'
    this.#identifiers.set(of, this.#names.claim(wish, of instanceof RootElement ? 'Element' : ''))
  }

  #addNamespace(uri: string | undefined): void {
    if (uri === undefined || this.#namespaces.has(uri)) return
    const form: NamespaceForm = { uri, elements: 'qualified', attributes: 'unqualified' }
    this.#namespaces.set(uri, { name: this.#names.claimNamespace(uri), form })
  }
  /** The form of most elements of a namespace; other elements state theirs. */
  #chooseForms(declared: readonly Declared[]): void {
    const counts = new Map<string, { own: number; none: number; attributes: number; plain: number }>()
    for (const each of declared) {
      const uri = uriOf(each)
      if (uri === undefined) continue
      const count = counts.get(uri) ?? { own: 0, none: 0, attributes: 0, plain: 0 }
      counts.set(uri, count)
      visitMembers(each, (member, key) => {
        if (member.particle.kind === 'element') {
          if (elementUri(member, uri) === '') count.none++
          else count.own++
        } else if (member.particle.kind === 'attribute') {
          if ((member.marks.uri ?? '') === uri) count.attributes++
          else count.plain++
        }
        return key
      })
    }
    for (const [uri, { own, none, attributes, plain }] of counts) {
      const known = this.#namespaces.get(uri)
      if (!known) continue
      this.#namespaces.set(uri, {
        ...known,
        form: {
          uri,
          elements: none > own ? 'unqualified' : 'qualified',
          attributes: attributes > plain ? 'qualified' : 'unqualified',
        },
      })
    }
  }

  print(source: string): string {
    const { text: ports } = this.parts()
    const text = this.#contract.ports.length > 0 ? [ports, this.#service()].join('\n') : ports
    return [writeHeadComment(source, this.#contract.losses), this.#imports(text), '', text, ''].join('\n')
  }

  /** The declarations before the ports, and the names of the ports. */
  parts(): PrintedPorts {
    const body: string[] = []
    const declared = [...this.#identifiers.keys()]
    for (const component of listComponents(declared, each => this.#dependenciesOf(each))) {
      const isCircle = component.length > 1 || this.#dependenciesOf(component[0]!).some(({ to }) => to === component[0])
      this.#circle = new Set(isCircle ? component : [])
      for (const each of component) body.push(this.#declaration(each, isCircle))
    }
    this.#circle = new Set()
    if (!this.#contract.ports.every(hasGrants)) body.push(this.#declareCallers())
    for (const port of this.#contract.ports) body.push(this.#port(port))
    const namespaces = [...this.#namespaces.values()].map(({ name, form }) => this.#namespace(name, form))
    return { text: [...namespaces, ...body].join('\n'), names: this.#portNames }
  }

  #imports(text: string): string {
    const code = text.replace(/\/\*\*[\s\S]*?\*\//g, '')
    const values = ['exchange', 'port', 'service', 'x'].filter(name => new RegExp(`[ (]${name}[.(]`).test(code))
    const types = ['AbstractType', 'NamedType', 'RootElement', 'ValueOf', 'XmlType'].filter(name =>
      code.includes(`${name}<`),
    )
    const names = [
      ...(this.#callers === undefined ? [] : ['type Grant']),
      ...(this.#contract.rules?.size ? ['type SecurityRule'] : []),
      ...types.map(name => `type ${name}`),
      ...values,
    ]
    return `import { ${names.join(', ')} } from 'diglot'`
  }

  #namespace(name: string, { uri, elements, attributes }: NamespaceForm): string {
    const options = [
      ...(elements === 'unqualified' ? ["elements: 'unqualified'"] : []),
      ...(attributes === 'qualified' ? ["attributes: 'qualified'"] : []),
    ]
    return `const ${name} = x.namespace(${quoteLiteral(uri)}${options.length > 0 ? `, { ${options.join(', ')} }` : ''})`
  }

  // Dependencies

  /** What a declaration refers to; the parts from which it is made have to come before it. */
  #dependenciesOf(of: Declared): readonly { readonly to: Declared; readonly isEager: boolean }[] {
    const dependencies: { to: Declared; isEager: boolean }[] = []
    const follow = (each: Declared, isEager: boolean): void => {
      if (this.#identifiers.has(each)) dependencies.push({ to: each, isEager })
      else for (const inner of referredBy(each as AnyXmlType)) follow(inner, isEager && isSimple(each))
    }
    if (of instanceof RootElement) follow(of.type(), false)
    else {
      const eager = new Set(eagerlyReferred(of))
      for (const each of referredBy(of)) follow(each, eager.has(each))
    }
    return dependencies
  }

  // Declarations

  #declaration(of: Declared, isCircular: boolean): string {
    const name = this.#identifiers.get(of)!
    const comment = writeDocComment(this.#contract.comments.get(of), '')
    const expression = of instanceof RootElement ? this.#rootExpression(of) : this.#definition(of, '')
    if (!isCircular)
      return `\n${comment}export const ${name} = ${expression}\nexport type ${name} = ValueOf<typeof ${name}>`
    return `\n${comment}${this.#valueType(of, name)}\nexport const ${name}: ${this.#annotation(of, name)} = ${expression}`
  }
  #annotation(of: Declared, name: string): string {
    if (of instanceof RootElement) return `RootElement<${name}>`
    const { definition } = of
    return definition.kind === 'complex'
      ? `${definition.isAbstract ? 'AbstractType' : 'NamedType'}<${name}, ${quoteLiteral(definition.name?.local ?? '')}>`
      : `XmlType<${name}>`
  }
  #valueType(of: Declared, name: string): string {
    if (of instanceof RootElement)
      return `export type ${name} = ${this.#typeText(of.type())}${of.isNillable ? ' | null' : ''}`
    const { definition } = of
    if (definition.kind !== 'complex') return `export type ${name} = ${this.#bodyType(of)}`
    const base = definition.base?.by === 'extension' ? ` extends ${this.#typeText(definition.base.type)}` : ''
    return `export interface ${name}${base} ${this.#membersType(definition.members)}`
  }

  #rootExpression(root: AnyRootElement): string {
    const type = this.#reference(root.type(), '', root.name.uri)
    if (root.isPart) return `x.part(${quoteLiteral(root.name.uri)}, ${quoteLiteral(root.name.local)}, ${type})`
    const namespace = this.#namespaces.get(root.name.uri)?.name ?? 'x'
    const marks = `${root.isNillable ? '.nillable()' : ''}${writeInitial(root.marks)}${writeExpected(root.marks)}`
    return `${namespace}.element(${quoteLiteral(root.name.local)}, ${type})${marks}`
  }

  /** A type where it is used: its name, or all of it. */
  #reference(type: AnyXmlType, indent: string, around: string): string {
    const name = this.#identifiers.get(type)
    if (name !== undefined) return this.#circle.has(type) ? `() => ${name}` : name
    const text = this.#inline(type, indent, around)
    return text
  }
  #inline(type: AnyXmlType, indent: string, around: string): string {
    const { definition } = type
    switch (definition.kind) {
      case 'builtIn':
        return `x.${definition.name}`
      case 'complex':
        return this.#complex('x.object(', definition, indent, around)
      case 'restriction':
        return `x.simple(${this.#eager(definition.of, indent, around)}, ${writeFacets(definition.facets)})`
      case 'list':
        return `x.list(${this.#eager(definition.item, indent, around)})`
      case 'union':
        return `x.union(${definition.of.map(each => this.#eager(each, indent, around)).join(', ')})`
      case 'array':
        return `x.array(${this.#reference(cellTypeOf(definition), indent, around)}${writeDimensions(definition)})`
      case 'derivable':
        return this.#reference(definition.type, indent, around)
    }
  }
  #eager(type: AnyXmlType, indent: string, around: string): string {
    return this.#identifiers.get(type) ?? this.#inline(type, indent, around)
  }

  #definition(type: AnyXmlType, indent: string): string {
    const { definition } = type
    const uri = uriOf(type) ?? ''
    if (definition.kind === 'derivable') {
      const derived = definition.derived().map(each => this.#identifiers.get(each) ?? 'undefined')
      const base = this.#eager(definition.type, indent, uri)
      // In a circle the compiler would infer the derived types from the annotation.
      const types = this.#circle.has(type) ? `<${base}, ${derived.map(each => `typeof ${each}`).join(' | ')}>` : ''
      return `x.derivable${types}(${base}, () => [${derived.join(', ')}])`
    }
    if (definition.kind === 'builtIn' || !definition.name) return this.#inline(type, indent, uri)
    const namespace = this.#namespaces.get(uri)?.name ?? 'x'
    const name = quoteLiteral(definition.name.local)
    switch (definition.kind) {
      case 'complex':
        return this.#complex(`${namespace}.type(${name}, `, definition, indent, uri)
      case 'restriction': {
        const facets = Object.keys(definition.facets).length > 0 ? `, ${writeFacets(definition.facets)}` : ''
        return `${namespace}.simple(${name}, ${this.#eager(definition.of, indent, uri)}${facets})`
      }
      case 'list':
        return `${namespace}.list(${name}, ${this.#eager(definition.item, indent, uri)})`
      case 'union':
        return `${namespace}.union(${[name, ...definition.of.map(each => this.#eager(each, indent, uri))].join(', ')})`
      case 'array':
        return `${namespace}.array(${name}, ${this.#reference(cellTypeOf(definition), indent, uri)}${writeDimensions(definition)})`
    }
  }

  #complex(open: string, definition: ComplexDefinition, indent: string, uri: string): string {
    const { base, isAbstract, isUnordered, members } = definition
    const baseName = base && this.#eager(base.type, indent, uri)
    const options = [
      ...(base ? [`${base.by === 'extension' ? 'extends' : 'restricts'}: ${baseName}`] : []),
      ...(isAbstract ? ['abstract: true'] : []),
      ...(isUnordered ? ["order: 'any'"] : []),
    ]
    return `${open}${this.#members(members, indent, uri)}${options.length > 0 ? `, { ${options.join(', ')} }` : ''})`
  }

  #members(members: TypeMembers, indent: string, uri: string): string {
    const entries = Object.entries(members)
    if (entries.length === 0) return '{}'
    const lines = entries.map(
      ([key, member]) =>
        `${writeDocComment(this.#contract.comments.get(member), `${indent}  `)}${indent}  ${writeMemberKey(key)}: ${this.#member(member, `${indent}  `, uri)},`,
    )
    return `{\n${lines.join('\n')}\n${indent}}`
  }

  #member(member: AnyMember, indent: string, uri: string): string {
    const { particle, marks } = member
    const form = this.#namespaces.get(uri)?.form
    let text: string
    let usual: string | undefined
    switch (particle.kind) {
      case 'element':
        text = marks.attached
          ? writeAttachment(marks.attached)
          : `x.element(${this.#reference(particle.type(), indent, uri)})`
        usual = form?.elements === 'unqualified' ? '' : uri
        break
      case 'reference': {
        const root = particle.to()
        const name = this.#identifiers.get(root) ?? 'undefined'
        text = `x.ref(${this.#circle.has(root) ? `() => ${name}` : name})`
        break
      }
      case 'attribute':
        text = `x.attribute(${this.#eager(particle.type, indent, uri)})`
        usual = form?.attributes === 'qualified' ? uri : ''
        break
      case 'text':
        text = `x.text(${this.#eager(particle.type, indent, uri)})`
        break
      case 'choice':
      case 'sequence':
        text = `x.${particle.kind}(${this.#members(particle.members, indent, uri)})`
        break
      case 'any':
        text = `x.any(${writeWildcard(particle)})`
        break
      case 'anyAttribute':
        text = `x.anyAttribute(${writeWildcard(particle)})`
        return text
    }
    if (marks.isNillable && particle.kind !== 'reference') text += '.nillable()'
    if (marks.name !== undefined) text += `.named(${quoteLiteral(marks.name)})`
    if (usual !== undefined && marks.uri !== undefined && marks.uri !== usual) text += `.in(${quoteLiteral(marks.uri)})`
    text += `${writeInitial(marks)}${writeExpected(marks)}`
    if (!marks.isMany) return marks.min === 0 ? `${text}.optional()` : text
    if (marks.least !== undefined)
      return `${text}.manyOrNone(${marks.least}${Number.isFinite(marks.max) ? `, ${marks.max}` : ''})`
    if (marks.max !== Number.POSITIVE_INFINITY) return `${text}.many(${marks.min}, ${marks.max})`
    return `${text}.many(${marks.min === 0 ? '' : marks.min})`
  }

  // Types of values

  #typeText(type: AnyXmlType): string {
    return this.#identifiers.get(type) ?? this.#bodyType(type)
  }
  #bodyType({ definition }: AnyXmlType): string {
    switch (definition.kind) {
      case 'builtIn':
        return valueTypes[definition.name] ?? 'string'
      case 'complex': {
        const members = this.#membersType(definition.members)
        return definition.base?.by === 'extension' ? `${this.#typeText(definition.base.type)} & ${members}` : members
      }
      case 'restriction': {
        const { values } = definition.facets
        const isText = this.#isText(definition.of)
        return values && isText ? values.map(quoteLiteral).join(' | ') : this.#typeText(definition.of)
      }
      case 'list':
        return `readonly (${this.#typeText(definition.item)})[]`
      case 'array':
        return definition.dimensions > 1
          ? `readonly (${this.#typeText(definition.item())})[]`
          : `readonly (${this.#typeText(definition.item())} | null)[]`
      case 'union':
        return definition.of.map(each => this.#typeText(each)).join(' | ')
      case 'derivable': {
        const derived = definition.derived().map(each => {
          const local =
            'name' in each.definition && typeof each.definition.name === 'object' ? each.definition.name.local : ''
          return `({ readonly $type: ${quoteLiteral(local)} } & ${this.#typeText(each)})`
        })
        const base = definition.type
        const isAbstract = base.definition.kind === 'complex' && base.definition.isAbstract
        const itself = `(${this.#typeText(base)} & { readonly $type?: undefined })`
        return [...(isAbstract ? [] : [itself]), ...derived].join(' | ')
      }
    }
  }
  #isText({ definition }: AnyXmlType): boolean {
    if (definition.kind === 'restriction') return this.#isText(definition.of)
    return definition.kind === 'builtIn' && (valueTypes[definition.name] ?? 'string') === 'string'
  }
  #membersType(members: TypeMembers): string {
    const lines = Object.entries(members).map(([key, member]) => {
      const isOptional = member.marks.min === 0 && !member.marks.isMany
      return `readonly ${writeMemberKey(key)}${isOptional ? '?' : ''}: ${this.#memberType(member)}${isOptional ? ' | undefined' : ''}`
    })
    return `{ ${lines.join('; ')} }`
  }
  #memberType({ particle, marks }: AnyMember): string {
    const writeOne = (): string => {
      switch (particle.kind) {
        case 'element':
          return this.#typeText(particle.type())
        case 'reference':
          return this.#identifiers.get(particle.to()) ?? 'string'
        case 'attribute':
        case 'text':
          return this.#typeText(particle.type)
        case 'sequence':
          return this.#membersType(particle.members)
        case 'choice':
          return (
            Object.entries(particle.members)
              .map(([key, member]) => `{ readonly ${writeMemberKey(key)}: ${this.#memberType(member)} }`)
              .join(' | ') || 'never'
          )
        case 'any':
          return 'string'
        case 'anyAttribute':
          return 'Readonly<Record<string, string>>'
      }
    }
    const text = marks.isNillable ? `${writeOne()} | null` : writeOne()
    return marks.isMany ? `readonly (${text})[]` : text
  }

  // Ports

  readonly #portNames: string[] = []
  /** The constant with the callers of ports whose document does not name them. */
  #callers: string | undefined
  /** A separate declaration, so that an import keeps edits to it and writes the ports anew. */
  #declareCallers(): string {
    this.#callers = this.#names.claim('callers', '')
    return `\n/** The callers of the ports: none, until this names roles, such as role('clerk'), or anyone. */\nconst ${this.#callers}: readonly Grant[] = []`
  }
  /** A separate declaration, for the same reason. */
  #declareSecurity(port: string, name: string): { readonly text: string; readonly constant: string } | undefined {
    const rule = this.#contract.rules?.get(port)
    if (!rule) return undefined
    const constant = this.#names.claim(`${name}Security`, '')
    const comment = `/** How messages to ${port} prove themselves, as the policies of its WSDL demand it. */`
    return {
      text: `\n${comment}\nconst ${constant}: SecurityRule | undefined = ${writeConstant(rule)}\n`,
      constant,
    }
  }
  #port(port: Port): string {
    const name = this.#names.claim(port.port, 'Port')
    this.#portNames.push(name)
    const security = this.#declareSecurity(port.port, name)
    const exchanges = Object.entries(port.exchanges).map(
      ([key, exchange]) => `    ${writeMemberKey(key)}: ${this.#exchange(exchange)},`,
    )
    return [
      `${security?.text ?? ''}\n/** The operations of the port ${port.port}. */`,
      `export const ${name} = port(${quoteLiteral(port.port)}, {`,
      `  namespace: ${quoteLiteral(port.namespace)},`,
      `  service: ${quoteLiteral(port.names.service)},`,
      `  portType: ${quoteLiteral(port.names.portType)},`,
      ...(port.soap === 'both' ? [] : [`  soap: ${quoteLiteral(port.soap)},`]),
      ...(port.description === undefined ? [] : [`  description: ${quoteLiteral(port.description)},`]),
      ...(security ? [`  security: ${security.constant},`] : []),
      ...(hasGrants(port) ? [] : [`  allow: ${this.#callers ?? '[]'},`]),
      ...(port.types.length === 0
        ? []
        : [`  types: [${port.types.map(each => this.#eager(each, '', '')).join(', ')}],`]),
      `  exchanges: {${exchanges.length > 0 ? `\n${exchanges.join('\n')}\n  ` : ''}},`,
      '})',
    ].join('\n')
  }
  #exchange({
    style,
    action,
    addressedAs,
    input,
    output,
    faults,
    requestHeaders,
    replyHeaders,
    mandatoryHeaders,
    headerFaults,
    allow,
    isSafe,
    location,
    description,
  }: PortExchange): string {
    const roots = (all: Readonly<Record<string, AnyRootElement>>) =>
      Object.entries(all)
        .map(([key, root]) =>
          key === this.#identifiers.get(root)
            ? key
            : `${writeMemberKey(key)}: ${this.#identifiers.get(root) ?? 'undefined'}`,
        )
        .join(', ')
    const grants = allow.length > 0 ? this.#writeGrants(allow) : undefined
    const comment = (body: ExchangeBody) =>
      typeof body === 'string' || this.#identifiers.has(body)
        ? ''
        : writeDocComment(this.#contract.comments.get(body), '      ').trimStart().replace(/\n$/, '\n      ')
    const parts = [
      ...(style === 'document' ? [] : [`style: ${quoteLiteral(style)}`]),
      `action: ${quoteLiteral(action)}`,
      ...(Object.keys(addressedAs).length > 0 ? [`addressedAs: ${writeConstant(addressedAs)}`] : []),
      `${comment(input)}input: ${this.#body(input)}`,
      ...(output === undefined ? [] : [`${comment(output)}output: ${this.#body(output)}`]),
      ...(Object.keys(faults).length > 0 ? [`faults: { ${roots(faults)} }`] : []),
      ...(Object.keys(requestHeaders).length > 0 ? [`requestHeaders: { ${roots(requestHeaders)} }`] : []),
      ...(Object.keys(replyHeaders).length > 0 ? [`replyHeaders: { ${roots(replyHeaders)} }`] : []),
      ...(Object.keys(mandatoryHeaders).length > 0 ? [`mandatoryHeaders: ${writeConstant(mandatoryHeaders)}`] : []),
      ...(Object.keys(headerFaults).length > 0 ? [`headerFaults: ${writeConstant(headerFaults)}`] : []),
      ...(grants === undefined ? [] : [`allow: ${grants}`]),
      ...(location === undefined ? (isSafe ? ['safe: true'] : []) : [`location: ${quoteLiteral(location)}`]),
      ...(description === undefined ? [] : [`description: ${quoteLiteral(description)}`]),
    ]
    return `exchange({\n${parts.map(part => `      ${part},`).join('\n')}\n    })`
  }
  #body(body: ExchangeBody): string {
    if (body === 'empty') return "'empty'"
    const known = this.#identifiers.get(body)
    if (known !== undefined) return known
    const { definition } = body.type()
    if (body instanceof BodyContent) {
      const type = this.#identifiers.get(body.type())
      return `x.body(${type ?? (definition.kind === 'complex' ? this.#callMembers(definition.members) : '{}')})`
    }
    const members = definition.kind === 'complex' ? this.#callMembers(definition.members) : '{}'
    return `x.call(${quoteLiteral(body.name.uri)}, ${quoteLiteral(body.name.local)}, ${members})`
  }
  /** Accessors have no namespace, whatever the form of other types' elements. */
  #callMembers(members: TypeMembers): string {
    return this.#members(members, '      ', '')
  }

  #service(): string {
    const { ports, description } = this.#contract
    const name = (ports[0]?.names.service ?? 'imported').replace(/Service$/, '') || 'imported'
    const kebab =
      name
        .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
        .replace(/[^A-Za-z0-9]+/g, '-')
        .toLowerCase()
        .replace(/^[^a-z]+|-+$/g, '') || 'imported'
    return [
      `\nexport const ${this.#names.claim('contract', '')} = service(${quoteLiteral(kebab)}, {`,
      `  namespace: ${quoteLiteral(namespaceOfContract(this.#contract, kebab))},`,
      ...(description === undefined ? [] : [`  description: ${quoteLiteral(description)},`]),
      '  resources: [],',
      `  ports: [${this.#portNames.join(', ')}],`,
      '})',
    ].join('\n')
  }
}

const hasGrants = ({ exchanges }: Port): boolean => Object.values(exchanges).some(({ allow }) => allow.length > 0)
const isSimple = (of: Declared): boolean => !(of instanceof RootElement) && of.definition.kind !== 'complex'
/** What must exist when a definition is evaluated. */
function eagerlyReferred({ definition }: AnyXmlType): readonly Declared[] {
  switch (definition.kind) {
    case 'restriction':
      return [definition.of]
    case 'list':
      return [definition.item]
    case 'union':
      return definition.of
    case 'derivable':
      return [definition.type]
    case 'complex': {
      const declared: Declared[] = definition.base ? [definition.base.type] : []
      const collect = (members: TypeMembers): void => {
        for (const { particle } of Object.values(members)) {
          if (particle.kind === 'attribute' || particle.kind === 'text') declared.push(particle.type)
          if (particle.kind === 'choice' || particle.kind === 'sequence') collect(particle.members)
        }
      }
      collect(definition.members)
      return declared
    }
    default:
      return []
  }
}

function uriOf(of: Declared): string | undefined {
  if (of instanceof RootElement) return of.isPart ? undefined : of.name.uri
  const { definition } = of
  if (definition.kind === 'derivable') return uriOf(definition.type)
  return definition.kind === 'builtIn' ? undefined : definition.name?.uri
}
const elementUri = ({ marks }: AnyMember, uri: string): string => marks.uri ?? uri
function visitMembers(of: Declared, visit: (member: AnyMember, key: string) => void): void {
  const type = of instanceof RootElement ? of.type() : of
  const { definition } = type
  // The type of a named element is visited under that name.
  if (definition.kind !== 'complex' || (of instanceof RootElement && definition.name)) return
  const visitAll = (members: TypeMembers): void => {
    for (const [key, member] of Object.entries(members)) {
      visit(member, key)
      const { particle } = member
      if (particle.kind === 'choice' || particle.kind === 'sequence') visitAll(particle.members)
      if (particle.kind !== 'element') continue
      const inner = particle.type().definition
      if (inner.kind === 'complex' && !inner.name) visitAll(inner.members)
    }
  }
  visitAll(definition.members)
}

const valueTypes: Readonly<Partial<Record<BuiltInName, string>>> = {
  boolean: 'boolean',
  ...Object.fromEntries(
    ['float', 'double', 'int', 'short', 'byte', 'unsignedShort', 'unsignedByte'].map(name => [name, 'number']),
  ),
  ...Object.fromEntries(
    [
      ...['long', 'integer', 'unsignedInt', 'unsignedLong', 'positiveInteger', 'nonNegativeInteger'],
      ...['negativeInteger', 'nonPositiveInteger'],
    ].map(name => [name, 'bigint']),
  ),
  hexBinary: 'Uint8Array',
  base64Binary: 'Uint8Array',
  swaRef: 'Uint8Array',
  ...Object.fromEntries(['IDREFS', 'ENTITIES', 'NMTOKENS'].map(name => [name, 'readonly string[]'])),
}

const writeExpected = ({ expects }: { readonly expects: string | undefined }): string =>
  expects === undefined ? '' : `.expecting(${quoteLiteral(expects)})`

const writeAttachment = ({ mediaTypes, isText }: AttachmentMark): string =>
  `x.attachment(${[isText ? 'x.string' : 'x.base64Binary', ...mediaTypes.map(quoteLiteral)].join(', ')})`
const writeInitial = ({ initial, isFixed }: Pick<AnyMember['marks'], 'initial' | 'isFixed'>): string =>
  initial === undefined ? '' : `.${isFixed ? 'fixed' : 'default'}(${quoteLiteral(initial)})`
const writeDimensions = ({ dimensions }: ArrayDefinition): string => (dimensions > 1 ? `, ${dimensions}` : '')
const writeFacets = (facets: SchemaFacets): string =>
  `{ ${Object.entries(facets)
    .map(
      ([name, value]) =>
        `${name}: ${Array.isArray(value) ? `[${value.map(quoteLiteral).join(', ')}]` : typeof value === 'number' ? value : quoteLiteral(String(value))}`,
    )
    .join(', ')} }`.replace('{  }', '{}')
function writeWildcard({ namespaces, process }: Extract<Particle, { kind: 'any' | 'anyAttribute' }>): string {
  const isUsual = process === 'lax'
  if (namespaces === 'any' && isUsual) return ''
  const of =
    namespaces === 'any'
      ? "'any'"
      : 'not' in namespaces
        ? `{ not: ${quoteLiteral(namespaces.not)} }`
        : `{ of: [${namespaces.of.map(quoteLiteral).join(', ')}] }`
  return isUsual ? of : `${of}, ${quoteLiteral(process)}`
}
