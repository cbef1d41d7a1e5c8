/** Attributes, groups of them and their wildcards, as parts of a complex type. */
import {
  type AnyMember,
  type AnyXmlType,
  type NamespaceForm,
  type WildcardNamespaces,
  x,
} from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { recordContradictions } from './mistaken-declarations.ts'
import { attributeOf, schemaChild, schemaChildren, splitClark } from './schema-components.ts'
import { localNameOf, type SchemaPlace, type SchemaSource, uriOfLocal } from './schema-source.ts'
import { type SimpleTypes, withInitial } from './simple-types.ts'
import { encodingAttributes, encodingUris, knownAttributes, swaRefName, xmlUri } from './standard-types.ts'
import { listWildcards, membersOf, type Part } from './type-members.ts'
import { recordNotExcluded } from './unchecked-rules.ts'
import { intersectNamespaces, type JoinedNamespaces, uniteNamespaces, wildcardOf } from './wildcards.ts'

export class AttributeParts {
  readonly #source: SchemaSource
  readonly #simple: SimpleTypes

  constructor(source: SchemaSource, simple: SimpleTypes) {
    this.#source = source
    this.#simple = simple
  }

  /**
   * XML Schema Part 1 §3.4.2: all wildcards of a type are one, which accepts the names that each of
   * them accepts, and those that the wildcard of the extended type accepts.
   */
  listParts(node: Element, around: SchemaPlace, base?: AnyXmlType): Part[] {
    const parts = this.#attributes(node, around)
    const inherited = base && listWildcards(membersOf(base)).at(-1)
    const wildcards = listWildcards(parts.map(({ wish, member }) => [wish, member]))
    const [first, ...others] = wildcards
    if (!first || (others.length === 0 && !inherited)) return parts
    let isExact = true
    const join = (joined: JoinedNamespaces): WildcardNamespaces => {
      isExact &&= joined.isExact
      return joined.namespaces
    }
    const both = others.reduce((one, other) => join(intersectNamespaces(one, other.namespaces)), first.namespaces)
    const all = inherited ? join(uniteNamespaces(both, inherited.namespaces)) : both
    if (!isExact)
      this.#source.losses.add(around.place, 'has attribute wildcards that cannot be one: it accepts more than they do')
    const { process } = (schemaChild(node, 'anyAttribute') && wildcards.at(-1)) || first
    const attributes = parts.filter(({ member }) => member.particle.kind !== 'anyAttribute')
    if (all !== 'any' && 'of' in all && all.of.length === 0) return attributes
    return [...attributes, { wish: 'otherAttributes', member: x.anyAttribute(all, process) }]
  }

  #attributes(node: Element, around: SchemaPlace, seen = new Set<string>()): Part[] {
    return schemaChildren(node).flatMap((each): Part[] => {
      if (each.name.local === 'attribute') return this.#attributePart(each, around)
      if (each.name.local === 'anyAttribute') {
        recordNotExcluded(each, around, this.#source.losses)
        return [{ wish: 'otherAttributes', member: x.anyAttribute(...wildcardOf(each, around)) }]
      }
      if (each.name.local !== 'attributeGroup') return []
      const name = this.#source.components.resolve(each, attributeOf(each, 'ref'), around.form.uri)
      const found =
        name === undefined || seen.has(name) ? undefined : this.#source.components.find('attributeGroup', name)
      if (name !== undefined && !found && !seen.has(name) && !encodingAttributes.has(name))
        this.#source.losses.add(
          around.place,
          `the attributeGroup ${this.#source.components.describeComponent(name)} is not declared`,
          'document',
        )
      if (!found || name === undefined) return []
      seen.add(name)
      return this.#attributes(found.node, { form: found.form, place: around.place }, seen)
    })
  }

  #attributePart(node: Element, around: SchemaPlace): Part[] {
    if (attributeOf(node, 'use') === 'prohibited') return []
    recordContradictions(node, around, this.#source.losses)
    const reference = this.#source.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    if (reference !== undefined) return this.#attributeReference(node, reference, around)
    const local = localNameOf(node, around, this.#source.losses)
    if (local === undefined) return []
    const uri = uriOfLocal(node, around.form.attributes, around)
    const type = this.#attributeType(node, { ...around, place: `${around.place}, attribute ${local}` })
    const member = this.#attributeMember(node, type, around.form).in(uri)
    this.#source.comment(member, node)
    return [{ wish: local, member }]
  }

  #attributeReference(node: Element, name: string, around: SchemaPlace): Part[] {
    const { uri, local } = splitClark(name)
    if (encodingUris.includes(uri as (typeof encodingUris)[number])) return []
    const known = knownAttributes[name]
    const found = uri === xmlUri && known ? undefined : this.#source.components.find('attribute', name)
    if (!found && !known)
      this.#source.losses.add(around.place, `the attribute ${name} is not declared: it is text`, 'document')
    const type = found
      ? this.#attributeType(found.node, { form: found.form, place: around.place })
      : (known ?? x.string)
    const declared =
      found && attributeOf(node, 'default') === undefined && attributeOf(node, 'fixed') === undefined
        ? found.node
        : node
    const isRequired = attributeOf(node, 'use') === 'required'
    const form = found?.node === declared ? found.form : around.form
    const member = this.#simple.renameInitial(withInitial(x.attribute(type), declared), declared, type, form).in(uri)
    return [{ wish: local, member: isRequired ? member : member.optional() }]
  }

  #attributeMember(node: Element, type: AnyXmlType, form: NamespaceForm): AnyMember {
    const member = this.#simple.renameInitial(withInitial(x.attribute(type), node), node, type, form)
    return attributeOf(node, 'use') === 'required' ? member : member.optional()
  }

  #attributeType(node: Element, around: SchemaPlace): AnyXmlType {
    const name = attributeOf(node, 'type')
    if (name !== undefined && this.#source.components.resolve(node, name, around.form.uri) === swaRefName)
      return x.swaRef
    const [named] = this.#simple.referencesOf(node, 'type', around)
    return named ?? x.anySimpleType
  }

  /** In James Clark's notation. */
  nameOf(node: Element, around: SchemaPlace): string | undefined {
    const reference = this.#source.components.resolve(node, attributeOf(node, 'ref'), around.form.uri)
    return reference ?? `{${uriOfLocal(node, around.form.attributes, around)}}${attributeOf(node, 'name') ?? ''}`
  }
}
