/** The types that `xsi:type` may name in place of an element's own (XML Schema Part 1 §3.3.4). */
import { type AnyXmlType, XmlType } from '../../contract/xml-type.ts'
import { type BlockedMethods, blockOf, type DerivedType, listDerivedTypes } from './derivations.ts'
import { hasTrue } from './schema-components.ts'
import type { SchemaSource } from './schema-source.ts'

const derivationMethods = ['extension', 'restriction'] as const

export class DerivableTypes {
  readonly #source: Pick<SchemaSource, 'components' | 'typeOf'>
  readonly #derived: ReadonlyMap<string, readonly DerivedType[]>
  /** By what they forbid. */
  readonly #derivables = new Map<AnyXmlType, Map<string, AnyXmlType>>()

  constructor(source: Pick<SchemaSource, 'components' | 'typeOf'>) {
    this.#source = source
    this.#derived = listDerivedTypes(source.components)
  }

  /**
   * The type of an element: with those that `xsi:type` may name (Part 1 §3.3.4, 4.3).
   *
   * @param blocked the derivations that the element forbids
   */
  typeOfElement(name: string, place: string, blocked: BlockedMethods = new Set()): AnyXmlType {
    const type = this.#source.typeOf(name, place)
    if (type.definition.kind !== 'complex') return type
    const found = this.#source.components.find('complexType', name)
    const all = found ? blocked.union(blockOf(found.node)) : blocked
    if (!this.#hasConcreteDerived(name, all)) return type
    const known = this.#derivables.get(type) ?? new Map<string, AnyXmlType>()
    this.#derivables.set(type, known)
    const key = derivationMethods.filter(each => all.has(each)).join(' ')
    const derivable =
      known.get(key) ?? new XmlType({ kind: 'derivable', type, derived: () => this.#derivedTypes(name, all) })
    known.set(key, derivable)
    return derivable
  }

  /** Only by steps that are not forbidden. */
  #directlyDerived(name: string, blocked: BlockedMethods): readonly string[] {
    return (this.#derived.get(name) ?? []).flatMap(({ name: each, by }) => (blocked.has(by) ? [] : [each]))
  }

  #hasConcreteDerived(name: string, blocked: BlockedMethods, seen = new Set<string>()): boolean {
    return this.#directlyDerived(name, blocked).some(each => {
      if (seen.has(each)) return false
      seen.add(each)
      const { node, isRedefined } = this.#source.components.find('complexType', each) ?? {}
      const isAbstract = isRedefined || (node && hasTrue(node, 'abstract'))
      return !isAbstract || this.#hasConcreteDerived(each, blocked, seen)
    })
  }

  #derivedTypes(name: string, blocked: BlockedMethods, seen = new Set<string>()): readonly AnyXmlType[] {
    return this.#directlyDerived(name, blocked).flatMap(each => {
      if (seen.has(each)) return []
      seen.add(each)
      const type = this.#source.typeOf(each, name)
      const isConcrete = type.definition.kind === 'complex' && !type.definition.isAbstract
      return [...(isConcrete ? [type] : []), ...this.#derivedTypes(each, blocked, seen)]
    })
  }
}
