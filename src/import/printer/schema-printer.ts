/**
 * Types and elements as constants, in the order of their dependencies. Types that contain
 * themselves have an interface, because the compiler cannot infer one.
 */
import { referredBy } from '../../contract/xml-reach.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type ArrayDefinition,
  type AttachmentMark,
  type ComplexDefinition,
  cellTypeOf,
  type Particle,
  RootElement,
  type SchemaFacets,
  type TypeMembers,
} from '../../contract/xml-type.ts'
import { listComponents } from '../declaration-order.ts'
import { quoteLiteral, writeDocComment, writeMemberKey } from '../typescript-text.ts'
import { type Declared, type PrintedNames, uriOf } from './printed-names.ts'
import { ValueTypes } from './value-types.ts'

export class SchemaPrinter {
  readonly #names: PrintedNames
  readonly #values: ValueTypes
  readonly #comments: ReadonlyMap<object, string>
  /** Declared in the same circle: a reference to one of these is a function. */
  #circle: ReadonlySet<Declared> = new Set()

  constructor(names: PrintedNames, comments: ReadonlyMap<object, string>) {
    this.#names = names
    this.#values = new ValueTypes(names)
    this.#comments = comments
  }

  declarations(): readonly string[] {
    const texts: string[] = []
    for (const component of listComponents(this.#names.declared, each => this.#dependenciesOf(each))) {
      const isCircle = component.length > 1 || this.#dependenciesOf(component[0]!).some(({ to }) => to === component[0])
      this.#circle = new Set(isCircle ? component : [])
      for (const each of component) texts.push(this.#declaration(each, isCircle))
    }
    this.#circle = new Set()
    return texts
  }

  /** What a declaration refers to; the parts from which it is made have to come before it. */
  #dependenciesOf(of: Declared): readonly { readonly to: Declared; readonly isEager: boolean }[] {
    const dependencies: { to: Declared; isEager: boolean }[] = []
    const follow = (each: Declared, isEager: boolean): void => {
      if (this.#names.has(each)) dependencies.push({ to: each, isEager })
      else for (const inner of referredBy(each as AnyXmlType)) follow(inner, isEager && isSimple(each))
    }
    if (of instanceof RootElement) follow(of.type(), false)
    else {
      const eager = new Set(eagerlyReferred(of))
      for (const each of referredBy(of)) follow(each, eager.has(each))
    }
    return dependencies
  }

  #declaration(of: Declared, isCircular: boolean): string {
    const name = this.#names.of(of)!
    const comment = writeDocComment(this.#comments.get(of), '')
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
      return `export type ${name} = ${this.#values.typeText(of.type())}${of.isNillable ? ' | null' : ''}`
    const { definition } = of
    if (definition.kind !== 'complex') return `export type ${name} = ${this.#values.bodyType(of)}`
    const base = definition.base?.by === 'extension' ? ` extends ${this.#values.typeText(definition.base.type)}` : ''
    return `export interface ${name}${base} ${this.#values.membersType(definition.members)}`
  }

  #rootExpression(root: AnyRootElement): string {
    const type = this.#reference(root.type(), '', root.name.uri)
    if (root.isPart) return `x.part(${quoteLiteral(root.name.uri)}, ${quoteLiteral(root.name.local)}, ${type})`
    const namespace = this.#names.namespace(root.name.uri)?.name ?? 'x'
    const marks = `${root.isNillable ? '.nillable()' : ''}${writeInitial(root.marks)}${writeExpected(root.marks)}`
    return `${namespace}.element(${quoteLiteral(root.name.local)}, ${type})${marks}`
  }

  /** A type where it is used: its name, or all of it. */
  #reference(type: AnyXmlType, indent: string, around: string): string {
    const name = this.#names.of(type)
    if (name !== undefined) return this.#circle.has(type) ? `() => ${name}` : name
    return this.#inline(type, indent, around)
  }

  #inline(type: AnyXmlType, indent: string, around: string): string {
    const { definition } = type
    switch (definition.kind) {
      case 'builtIn':
        return `x.${definition.name}`
      case 'complex':
        return this.#complex('x.object(', definition, indent, around)
      case 'restriction':
        return `x.simple(${this.eager(definition.of, indent, around)}, ${writeFacets(definition.facets)})`
      case 'list':
        return `x.list(${this.eager(definition.item, indent, around)})`
      case 'union':
        return `x.union(${definition.of.map(each => this.eager(each, indent, around)).join(', ')})`
      case 'array':
        return `x.array(${this.#reference(cellTypeOf(definition), indent, around)}${writeDimensions(definition)})`
      case 'derivable':
        return this.#reference(definition.type, indent, around)
    }
  }
  eager(type: AnyXmlType, indent: string, around: string): string {
    return this.#names.of(type) ?? this.#inline(type, indent, around)
  }

  #definition(type: AnyXmlType, indent: string): string {
    const { definition } = type
    const uri = uriOf(type) ?? ''
    if (definition.kind === 'derivable') {
      const derived = definition.derived().map(each => this.#names.of(each) ?? 'undefined')
      const base = this.eager(definition.type, indent, uri)
      // In a circle the compiler would infer the derived types from the annotation.
      const types = this.#circle.has(type) ? `<${base}, ${derived.map(each => `typeof ${each}`).join(' | ')}>` : ''
      return `x.derivable${types}(${base}, () => [${derived.join(', ')}])`
    }
    if (definition.kind === 'builtIn' || !definition.name) return this.#inline(type, indent, uri)
    const namespace = this.#names.namespace(uri)?.name ?? 'x'
    const name = quoteLiteral(definition.name.local)
    switch (definition.kind) {
      case 'complex':
        return this.#complex(`${namespace}.type(${name}, `, definition, indent, uri)
      case 'restriction': {
        const facets = Object.keys(definition.facets).length > 0 ? `, ${writeFacets(definition.facets)}` : ''
        return `${namespace}.simple(${name}, ${this.eager(definition.of, indent, uri)}${facets})`
      }
      case 'list':
        return `${namespace}.list(${name}, ${this.eager(definition.item, indent, uri)})`
      case 'union':
        return `${namespace}.union(${[name, ...definition.of.map(each => this.eager(each, indent, uri))].join(', ')})`
      case 'array':
        return `${namespace}.array(${name}, ${this.#reference(cellTypeOf(definition), indent, uri)}${writeDimensions(definition)})`
    }
  }

  #complex(open: string, definition: ComplexDefinition, indent: string, uri: string): string {
    const { base, isAbstract, isUnordered, members } = definition
    const baseName = base && this.eager(base.type, indent, uri)
    const options = [
      ...(base ? [`${base.by === 'extension' ? 'extends' : 'restricts'}: ${baseName}`] : []),
      ...(isAbstract ? ['abstract: true'] : []),
      ...(isUnordered ? ["order: 'any'"] : []),
    ]
    return `${open}${this.members(members, indent, uri)}${options.length > 0 ? `, { ${options.join(', ')} }` : ''})`
  }

  members(members: TypeMembers, indent: string, uri: string): string {
    const entries = Object.entries(members)
    if (entries.length === 0) return '{}'
    const lines = entries.map(
      ([key, member]) =>
        `${writeDocComment(this.#comments.get(member), `${indent}  `)}${indent}  ${writeMemberKey(key)}: ${this.#member(member, `${indent}  `, uri)},`,
    )
    return `{\n${lines.join('\n')}\n${indent}}`
  }

  #member(member: AnyMember, indent: string, uri: string): string {
    const { particle, marks } = member
    const form = this.#names.namespace(uri)?.form
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
        const name = this.#names.of(root) ?? 'undefined'
        text = `x.ref(${this.#circle.has(root) ? `() => ${name}` : name})`
        break
      }
      case 'attribute':
        text = `x.attribute(${this.eager(particle.type, indent, uri)})`
        usual = form?.attributes === 'qualified' ? uri : ''
        break
      case 'text':
        text = `x.text(${this.eager(particle.type, indent, uri)})`
        break
      case 'choice':
      case 'sequence':
        text = `x.${particle.kind}(${this.members(particle.members, indent, uri)})`
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
}

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
