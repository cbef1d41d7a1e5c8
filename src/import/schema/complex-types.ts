/** Complex types: content, inheritance and restriction (XML Schema Part 1 §3.4). */

import { isSimpleType } from '../../contract/xml-simple.ts'
import {
  type AnyXmlType,
  type ComplexDefinition,
  cellTypeOf,
  NamedType,
  type TypeMembers,
  XmlType,
  x,
} from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { findFreeName } from '../constant-names.ts'
import { AttributeParts } from './attribute-parts.ts'
import { type ArrayShape, nameArray, readArrayShape } from './encoded-arrays.ts'
import { GroupParts } from './group-parts.ts'
import { attributeOf, hasTrue, schemaChild, schemaChildren, splitClark, xsNs } from './schema-components.ts'
import type { SchemaPlace, SchemaSource } from './schema-source.ts'
import type { SimpleTypes } from './simple-types.ts'
import { encodingUris } from './standard-types.ts'
import { keyParts, keysOf, membersOf, nameOfAttribute, type Part, textOfType } from './type-members.ts'
import { recordUnchecked } from './unchecked-rules.ts'

/** What a type is made of, besides its name. */
type ComplexContent = Pick<ComplexDefinition, 'members' | 'isUnordered' | 'base'>

export class ComplexTypes {
  readonly #source: SchemaSource
  readonly #simple: SimpleTypes
  readonly #attributes: AttributeParts
  readonly #groups: GroupParts

  constructor(source: SchemaSource, simple: SimpleTypes) {
    this.#source = source
    this.#simple = simple
    this.#attributes = new AttributeParts(source, simple)
    this.#groups = new GroupParts(source, simple)
  }

  typeOf(
    node: Element,
    around: SchemaPlace,
    name: { uri: string; local: string } | undefined,
    isRedefined = false,
  ): AnyXmlType {
    const form = name ? around.form : undefined
    const own = schemaChild(node, 'complexContent', 'simpleContent')
    const inner = own && schemaChild(own, 'extension', 'restriction')
    for (const each of [node, ...(inner ? [inner] : [])].flatMap(schemaChildren))
      recordUnchecked(each, around, this.#source.losses)
    const isMixed = [node, schemaChild(node, 'complexContent')].some(each => each && hasTrue(each, 'mixed'))
    if (isMixed) return x.anyType
    const isAbstract = isRedefined || hasTrue(node, 'abstract')
    const define = (definition: ComplexContent): AnyXmlType => {
      const complex: ComplexDefinition = { kind: 'complex', name, form: form ?? around.form, isAbstract, ...definition }
      return name ? new NamedType(complex) : new XmlType(complex)
    }
    const simple = schemaChild(node, 'simpleContent')
    if (simple) return define(this.#simpleContent(simple, around))
    const content = schemaChild(node, 'complexContent')
    const derivation = content && schemaChild(content, 'extension', 'restriction')
    if (!derivation) return define({ ...this.#ownContent(node, around), base: undefined })
    const baseName = this.#source.components.resolve(derivation, attributeOf(derivation, 'base'), around.form.uri) ?? ''
    const { uri, local } = splitClark(baseName)
    if (local === 'Array' && encodingUris.includes(uri as (typeof encodingUris)[number]))
      return nameArray(name, readArrayShape(this.#source, derivation, around))
    const items = this.#extendedArray(derivation, around, baseName)
    if (items) return nameArray(name, items)
    return this.#derivedContent(derivation, around, baseName, define)
  }

  /** The items of an array with another name: the encoding allows no members next to them. */
  #extendedArray(derivation: Element, around: SchemaPlace, baseName: string): ArrayShape | undefined {
    if (derivation.name.local !== 'extension' || baseName === `{${xsNs}}anyType`) return undefined
    const { definition } = this.#source.typeOf(baseName, around.place)
    if (definition.kind !== 'array') return undefined
    const content = this.#ownContent(derivation, around)
    return Object.keys(content.members).length === 0
      ? { cell: () => cellTypeOf(definition), dimensions: definition.dimensions }
      : undefined
  }

  #derivedContent(
    derivation: Element,
    around: SchemaPlace,
    baseName: string,
    define: (definition: ComplexContent) => AnyXmlType,
  ): AnyXmlType {
    const type = this.#source.typeOf(baseName, around.place)
    if (type.definition.kind !== 'complex') {
      // xs:anyType, or a type that is XML here: only an extension of the former can be expressed.
      if (baseName !== `{${xsNs}}anyType` && type.definition.kind === 'builtIn') return x.anyType
      if (baseName !== `{${xsNs}}anyType`)
        this.#source.losses.add(around.place, `extends ${splitClark(baseName).local}, which has no members`)
      return define({ ...this.#ownContent(derivation, around), base: undefined })
    }
    if (derivation.name.local === 'extension') {
      const content = this.#ownContent(derivation, around, type)
      return define({ ...content, base: { type, by: 'extension' } })
    }
    const content = this.#ownContent(derivation, around)
    const text = membersOf(type).filter(([, { particle }]) => particle.kind === 'text')
    return define({
      ...content,
      members: {
        ...Object.fromEntries(text),
        ...content.members,
        ...this.#inheritedAttributes(type, derivation, around, content.members),
      },
      base: { type, by: 'restriction' },
    })
  }

  /** XML Schema Part 1 §3.4.2: a restriction keeps the attributes that it does not mention. */
  #inheritedAttributes(type: AnyXmlType, derivation: Element, around: SchemaPlace, own: TypeMembers): TypeMembers {
    const mentioned = new Set([
      ...schemaChildren(derivation).flatMap(each =>
        each.name.local === 'attribute' ? [this.#attributes.nameOf(each, around)] : [],
      ),
      ...Object.entries(own).map(nameOfAttribute),
    ])
    const inherited = membersOf(type).filter(
      each => each[1].particle.kind === 'attribute' && !mentioned.has(nameOfAttribute(each)),
    )
    return Object.fromEntries(
      inherited.map(([key, member]) => {
        const free = findFreeName(key, each => Object.hasOwn(own, each))
        return [free, free === key ? member : member.named(member.marks.name ?? key)]
      }),
    )
  }

  #simpleContent(content: Element, around: SchemaPlace): ComplexContent {
    const derivation = schemaChild(content, 'extension', 'restriction')
    if (!derivation) return { members: {}, isUnordered: false, base: undefined }
    const name = this.#source.components.resolve(derivation, attributeOf(derivation, 'base'), around.form.uri)
    const type = name === undefined ? x.string : this.#source.typeOf(name, around.place)
    if (type.definition.kind === 'complex' && derivation.name.local === 'extension')
      return {
        members: this.#keyed(this.#attributes.listParts(derivation, around, type), keysOf(type)),
        isUnordered: false,
        base: { type, by: 'extension' },
      }
    const complex = type.definition.kind === 'complex' ? type : undefined
    const text = complex ? textOfType(complex) : isSimpleType(type) ? type : x.string
    const inner = schemaChild(derivation, 'simpleType')
    const narrowed = inner ? this.#simple.typeOf(inner, around, undefined) : (text ?? x.string)
    const facets = this.#simple.facets(derivation, narrowed, around)
    const value = Object.keys(facets).length > 0 ? x.simple(narrowed, facets) : narrowed
    const members = this.#keyed([
      { wish: 'value', member: x.text(value) },
      ...this.#attributes.listParts(derivation, around),
    ])
    const inherited = complex ? this.#inheritedAttributes(complex, derivation, around, members) : {}
    return {
      members: { ...members, ...inherited },
      isUnordered: false,
      base: complex && { type: complex, by: 'restriction' },
    }
  }

  /** @param base the type that this content extends */
  #ownContent(node: Element, around: SchemaPlace, base?: AnyXmlType): Omit<ComplexContent, 'base'> {
    const taken = base ? keysOf(base) : new Set<string>()
    const group = schemaChild(node, 'sequence', 'choice', 'all', 'group')
    const { parts, isUnordered } = group ? this.#groups.contentOf(group, around) : { parts: [], isUnordered: false }
    const attributes = this.#attributes.listParts(node, around, base)
    return { members: this.#keyed([...parts, ...attributes], taken), isUnordered }
  }

  #keyed(parts: readonly Part[], taken?: ReadonlySet<string>): TypeMembers {
    return keyParts(parts, this.#source.comments, taken)
  }
}
