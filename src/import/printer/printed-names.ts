/** The constants of a printed contract: a name for each type, element and namespace. */
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  BodyContent,
  type NamespaceForm,
  RootElement,
  type TypeMembers,
} from '../../contract/xml-type.ts'
import type { ConstantNames } from '../constant-names.ts'
import type { ImportedContract } from '../imported-contract.ts'

export type Declared = AnyXmlType | AnyRootElement

/** A namespace by its constant, with the form of most of its elements and attributes. */
interface PrintedNamespace {
  readonly name: string
  readonly form: NamespaceForm
}

export class PrintedNames {
  readonly #contract: Pick<ImportedContract, 'types' | 'elements' | 'ports'>
  readonly #names: ConstantNames
  readonly #identifiers = new Map<Declared, string>()
  readonly #namespaces = new Map<string, PrintedNamespace>()

  constructor(contract: Pick<ImportedContract, 'types' | 'elements' | 'ports'>, names: ConstantNames) {
    this.#contract = contract
    this.#names = names
    const declared = this.#listDeclared()
    for (const each of declared) this.#addNamespace(uriOf(each))
    this.#chooseForms(declared)
    for (const each of declared)
      if (!(each instanceof RootElement) && each.definition.kind !== 'derivable') this.#identify(each)
    for (const each of declared) if (each instanceof RootElement) this.#identify(each)
    for (const each of declared)
      if (!(each instanceof RootElement) && each.definition.kind === 'derivable') this.#identify(each)
  }

  /** The constant of a declaration; undefined: it has none, and is printed where it is used. */
  of(declared: Declared): string | undefined {
    return this.#identifiers.get(declared)
  }

  has(declared: Declared): boolean {
    return this.#identifiers.has(declared)
  }

  /** Everything that has a constant. */
  get declared(): readonly Declared[] {
    return [...this.#identifiers.keys()]
  }

  namespace(uri: string): PrintedNamespace | undefined {
    return this.#namespaces.get(uri)
  }

  get namespaces(): readonly PrintedNamespace[] {
    return [...this.#namespaces.values()]
  }

  /** A constant for something else. */
  claim(wish: string, suffix: string): string {
    return this.#names.claim(wish, suffix)
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
}

export function uriOf(of: Declared): string | undefined {
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
