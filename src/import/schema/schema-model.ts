/**
 * Types and elements of schemas as a contract declares them (`contract/xml-type.ts`): the same
 * values that the generated TypeScript makes when it runs. A component is built once, on first
 * reference, so recursive types end; what cannot be expressed becomes XML, and a loss with its
 * place.
 */

import { memoizeOnce } from '../../base/memo.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import { type AnyRootElement, type AnyXmlType, type QualifiedName, RootElement, x } from '../../contract/xml-type.ts'
import { schemaNamespaces } from '../../describe/reader/wsdl-elements.ts'
import type { Element } from '../../xml/index.ts'
import { findFreeName } from '../constant-names.ts'
import type { Losses } from '../loss.ts'
import { ComplexTypes } from './complex-types.ts'
import { DerivableTypes } from './derivable-types.ts'
import { type BlockedMethods, blockOf } from './derivations.ts'
import { findRecursiveGroups } from './endless-types.ts'
import { recordContradictions } from './mistaken-declarations.ts'
import {
  attributeOf,
  documentationOf,
  firstHeadOf,
  type SchemaComponents,
  schemaChild,
  schemaChildren,
  splitClark,
} from './schema-components.ts'
import { findAncestor, type SchemaPlace, type SchemaSource } from './schema-source.ts'
import { SimpleTypes } from './simple-types.ts'
import { builtInTypes, encodingUris, knownTypes, swaRefName } from './standard-types.ts'
import { recordUnchecked } from './unchecked-rules.ts'

export class SchemaModel implements SchemaSource {
  readonly components: SchemaComponents
  readonly losses: Losses
  /** Comments of types, members and elements. */
  readonly comments = new Map<object, string>()
  readonly #types = new Map<string, AnyXmlType>()
  readonly #building = new Set<string>()
  readonly #elements = new Map<string, AnyRootElement>()
  readonly #parts = new Map<string, AnyRootElement>()

  readonly #recursiveGroups: ReadonlySet<string>
  /** Unnamed types that were given a name, by their nodes and namespaces. */
  readonly #innerTypes = new Map<Element, Map<string, AnyXmlType>>()
  readonly #innerNames = new Set<string>()

  readonly #simple: SimpleTypes
  readonly #complex: ComplexTypes
  readonly #derivable: DerivableTypes

  constructor(components: SchemaComponents, losses: Losses) {
    this.components = components
    this.losses = losses
    this.#recursiveGroups = findRecursiveGroups(components)
    this.#simple = new SimpleTypes(this)
    this.#complex = new ComplexTypes(this, this.#simple)
    this.#derivable = new DerivableTypes(this)
  }

  /** The type itself; for an element's type, which may be a derived one, see `typeOfElement`. */
  typeOf(name: string, place: string): AnyXmlType {
    const { uri, local } = splitClark(name)
    if (schemaNamespaces.has(uri) || encodingUris.includes(uri as (typeof encodingUris)[number])) {
      const builtIn = builtInTypes.get(local)
      if (builtIn) return builtIn
      if (local === 'Array') return this.#once(name, () => x.array(() => x.anyType))
    }
    if (name === swaRefName) return x.swaRef
    const complex = this.components.find('complexType', name)
    const simple = complex ? undefined : this.components.find('simpleType', name)
    const standard = complex || simple ? undefined : knownTypes.get(name)
    if (standard) return standard
    if (!complex && !simple) {
      this.losses.add(
        place,
        `the type ${this.components.describeComponent(name)} is not declared: its elements are XML`,
        'document',
      )
      return x.anyType
    }
    return this.#once(name, () => {
      const { node, form, isRedefined = false } = (complex ?? simple)!
      const around = { form, place: `type ${splitClark(name).local}` }
      const built = complex
        ? this.#complex.typeOf(node, around, { uri, local }, isRedefined)
        : this.#simple.typeOf(node, around, isRedefined ? undefined : { uri, local })
      this.comment(built, node)
      return built
    })
  }

  #once(name: string, make: () => AnyXmlType): AnyXmlType {
    const existing = this.#types.get(name)
    if (existing) return existing
    if (this.#building.has(name)) {
      this.losses.add(`type ${splitClark(name).local}`, 'is derived from itself: its elements are XML', 'document')
      return x.anyType
    }
    this.#building.add(name)
    const built = make()
    this.#building.delete(name)
    this.#types.set(name, built)
    return built
  }

  comment(of: object, node: Element): void {
    this.addComment(of, documentationOf(node))
  }

  /** Keeps the first comment of a component. */
  addComment(of: object, text: string | undefined): void {
    if (text !== undefined && !this.comments.has(of)) this.comments.set(of, text)
  }

  typeOfElement(name: string, place: string, blocked?: BlockedMethods): AnyXmlType {
    return this.#derivable.typeOfElement(name, place, blocked)
  }

  element(name: string, place: string): AnyRootElement | undefined {
    const existing = this.#elements.get(name)
    if (existing) return existing
    const found = this.components.find('element', name)
    if (!found) {
      this.losses.add(place, `the element ${name} is not declared`, 'document')
      return undefined
    }
    const around = { form: found.form, place: `element ${splitClark(name).local}` }
    let type: AnyXmlType | undefined
    recordContradictions(found.node, around, this.losses)
    const { marks } = this.#simple.markElement(x.element(x.anyType), found.node, around)
    const root = new RootElement(
      splitClark(name),
      () => (type ??= this.typeOfNode(found.node, around)),
      found.form,
      marks,
    )
    this.#elements.set(name, root)
    this.comment(root, found.node)
    return root
  }

  /** XML Schema Part 1 §3.3.2: from its attribute, its child, the head of its group, or any. */
  typeOfNode(node: Element, around: SchemaPlace): AnyXmlType {
    const { components } = this
    for (const each of schemaChildren(node)) recordUnchecked(each, around, this.losses)
    const named = components.resolve(node, attributeOf(node, 'type'), around.form.uri)
    if (named !== undefined) return this.typeOfElement(named, around.place, blockOf(node))
    const complex = schemaChild(node, 'complexType')
    if (complex) return this.#innerType(complex, node, around)
    const simple = schemaChild(node, 'simpleType')
    if (simple) return this.#simple.typeOf(simple, around, undefined)
    const head = components.resolve(node, firstHeadOf(node), around.form.uri)
    return (head !== undefined && this.element(head, around.place)?.type()) || x.anyType
  }

  /** An unnamed type; if a group leads back to it, it gets a name. */
  #innerType(node: Element, element: Element, around: SchemaPlace): AnyXmlType {
    const group = findAncestor(element, each => each.name.local === 'group' && attributeOf(each, 'name') !== undefined)
    const { uri } = around.form
    if (!group || !this.#recursiveGroups.has(`{${uri}}${attributeOf(group, 'name')}`))
      return this.#complex.typeOf(node, around, undefined)
    const byNamespace = this.#innerTypes.get(node) ?? new Map<string, AnyXmlType>()
    this.#innerTypes.set(node, byNamespace)
    const type = byNamespace.get(uri) ?? this.#complex.typeOf(node, around, this.#nameInnerType(element, uri))
    byNamespace.set(uri, type)
    return type
  }

  #nameInnerType(element: Element, uri: string): QualifiedName {
    const local = findFreeName(
      capitalize(attributeOf(element, 'name') ?? 'type'),
      each => this.#innerNames.has(`{${uri}}${each}`) || this.components.hasType(`{${uri}}${each}`),
    )
    this.#innerNames.add(`{${uri}}${local}`)
    return { uri, local }
  }

  /** The same element for the same part, so that messages which share it share a declaration. */
  partElement(uri: string, name: string, type: string, place: string): AnyRootElement {
    const key = `${uri} ${name} ${type}`
    const existing = this.#parts.get(key)
    if (existing) return existing
    const part = x.part(
      uri,
      name,
      memoizeOnce(() => this.typeOfElement(type, place)),
    )
    this.#parts.set(key, part)
    return part
  }
}
