/**
 * Simple types and their facets (XML Schema Part 2), and what a declaration says of its values
 * besides their type: nil, default, fixed, media types.
 */
import { Flaw } from '../../contract/lexical/flaw.ts'
import { compileXsdMatcher } from '../../contract/lexical/xsd-pattern.ts'
import { clarkNames, isSimpleType, renameInText, simpleCodecOf } from '../../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyXmlType,
  isSwaRef,
  Member,
  type NamespaceForm,
  type SchemaFacets,
  XmlType,
  x,
} from '../../contract/xml-type.ts'
import { isNcName } from '../../xml/character.ts'
import type { Element } from '../../xml/index.ts'
import { attributeOf, hasTrue, schemaChild, schemaChildren, splitClark } from './schema-components.ts'
import type { SchemaPlace, SchemaSource } from './schema-source.ts'
import { mediaUris } from './standard-types.ts'

export class SimpleTypes {
  readonly #source: SchemaSource

  constructor(source: SchemaSource) {
    this.#source = source
  }

  typeOf(node: Element, around: SchemaPlace, name: { uri: string; local: string } | undefined): AnyXmlType {
    const restriction = schemaChild(node, 'restriction')
    if (restriction) {
      const of = this.#baseOfRestriction(restriction, around)
      return new XmlType({ kind: 'restriction', name, of, facets: this.facets(restriction, of, around) })
    }
    const list = schemaChild(node, 'list')
    if (list) {
      const item = this.referencesOf(list, 'itemType', around)[0] ?? x.string
      return new XmlType({ kind: 'list', name, item })
    }
    const union = schemaChild(node, 'union')
    if (union) return new XmlType({ kind: 'union', name, of: this.referencesOf(union, 'memberTypes', around) })
    this.#source.losses.add(around.place, 'a simple type without a restriction, list or union is a string', 'document')
    return x.string
  }

  #baseOfRestriction(restriction: Element, around: SchemaPlace): AnyXmlType {
    const [of] = this.referencesOf(restriction, 'base', around)
    return of && isSimpleType(of) ? of : x.string
  }

  /** The types that an attribute names, then those inside the node. */
  referencesOf(node: Element, attribute: string, around: SchemaPlace): readonly AnyXmlType[] {
    const named = (attributeOf(node, attribute) ?? '').split(/\s+/).filter(Boolean)
    const inside = schemaChildren(node).filter(each => each.name.local === 'simpleType')
    return [
      ...named.flatMap(each =>
        this.#requireSimple(this.#source.components.resolve(node, each, around.form.uri), around),
      ),
      ...inside.map(each => this.typeOf(each, around, undefined)),
    ]
  }

  #requireSimple(name: string | undefined, { place }: SchemaPlace): AnyXmlType[] {
    const type = name === undefined ? x.anyType : this.#source.typeOf(name, place)
    if (isSwaRef(type)) {
      this.#source.losses.add(
        place,
        'refers to an attachment from within a list, a union or a narrower type: it stays a URI',
      )
      return [x.anyURI]
    }
    return [isSimpleType(type) ? type : x.string]
  }

  /** A value in a declaration, with its names in James Clark's notation. */
  #renameValue(type: AnyXmlType, node: Element, raw: string, form: NamespaceForm): string {
    const qname = (text: string) => {
      const name = splitClark(this.#source.components.resolve(node, text, form.uri) ?? '')
      return isNcName(name.local) ? name : undefined
    }
    return renameInText(type, raw, { qname }, ({ uri, local }) => (uri === '' ? local : `{${uri}}${local}`))
  }

  /** The same for a default or fixed value. */
  renameInitial(member: AnyMember, node: Element, type: AnyXmlType, form: NamespaceForm): AnyMember {
    const { initial } = member.marks
    if (initial === undefined) return member
    return new Member(member.particle, { ...member.marks, initial: this.#renameValue(type, node, initial, form) })
  }

  /** The marks of an element; with a complex type, its values contain no names. */
  markElement(member: AnyMember, node: Element, { form, place }: SchemaPlace): AnyMember {
    const marked = withMarks(member, node, this.#typeNode(node, form))
    const named = this.#source.components.resolve(node, attributeOf(node, 'type'), form.uri)
    const isSimple = named !== undefined && !this.#source.components.find('complexType', named)
    if (!isSimple || marked.marks.initial === undefined) return marked
    return this.renameInitial(marked, node, this.#source.typeOf(named, place), form)
  }

  /** The declaration of an element's type, if the schemas have one. */
  #typeNode(node: Element, { uri }: SchemaPlace['form']): Element | undefined {
    const named = this.#source.components.resolve(node, attributeOf(node, 'type'), uri)
    if (named === undefined) return schemaChild(node, 'complexType') ?? schemaChild(node, 'simpleType')
    return (this.#source.components.find('complexType', named) ?? this.#source.components.find('simpleType', named))
      ?.node
  }

  facets(restriction: Element, of: AnyXmlType, { form, place }: SchemaPlace): SchemaFacets {
    const facets: Record<string, unknown> = {}
    const [values, patterns]: [string[], string[]] = [[], []]
    for (const node of schemaChildren(restriction)) {
      const raw = node.attributes.find(({ name }) => name.local === 'value')?.value
      const facet = node.name.local
      if (facet === 'assertion')
        this.#source.losses.add(place, `the assertion ${attributeOf(node, 'test') ?? ''} is not checked`)
      if (raw === undefined) continue
      if (facet === 'enumeration') values.push(this.#renameValue(of, node, raw, form))
      else if (facet === 'pattern') patterns.push(raw)
      else if (facetReaders.has(facet)) {
        const value = facetReaders.get(facet)?.(raw.trim(), of)
        if (value !== undefined) facets[facet] = value
        else
          this.#source.losses.add(place, `the facet ${facet} cannot have the value ${raw}: it is left out`, 'document')
      } else if (laterFacets.has(facet)) this.#source.losses.add(place, `the facet ${facet} ${raw} is not checked`)
    }
    // Several patterns of one step are alternatives (Part 2 §4.3.4).
    const pattern = patterns.length > 1 ? patterns.map(each => `(${each})`).join('|') : patterns[0]
    const isKnown = pattern === undefined || compileXsdMatcher(pattern) !== undefined
    if (!isKnown) this.#source.losses.add(place, `the pattern ${pattern} is not checked`)
    return {
      ...(values.length > 0 && { values }),
      ...(pattern !== undefined && isKnown && { patterns: [pattern] }),
      ...facets,
    }
  }
}

/** Of XML Schema 1.1. */
const laterFacets: ReadonlySet<string> = new Set(['explicitTimezone', 'minScale', 'maxScale'])
/** The value of a facet that restricts a type; undefined if it cannot have it (Part 2 §4.3). */
type ReadFacet = (raw: string, of: AnyXmlType) => string | number | undefined
const readFacetSpace: ReadFacet = raw => (/^(?:preserve|replace|collapse)$/.test(raw) ? raw : undefined)
const readFacetCount: ReadFacet = raw => (/^\+?\d{1,15}$/.test(raw) ? Number(raw) : undefined)
const readFacetBound: ReadFacet = (raw, of) => {
  const codec = simpleCodecOf(of)
  return (codec.unrestricted ?? codec).read(raw, clarkNames) instanceof Flaw ? undefined : raw
}

const facetReaders: ReadonlyMap<string, ReadFacet> = new Map([
  ['whiteSpace', readFacetSpace] as const,
  ...['length', 'minLength', 'maxLength', 'totalDigits', 'fractionDigits'].map(name => [name, readFacetCount] as const),
  ...['minInclusive', 'maxInclusive', 'minExclusive', 'maxExclusive'].map(name => [name, readFacetBound] as const),
])

/** Describing Media Content of Binary Data in XML §2.2: on an element, or on its type. */
const expectedNames: ReadonlySet<string> = new Set(mediaUris.map(uri => `{${uri}}expectedContentTypes`))

/** @param type the declaration of its type, which may also state expected media types */
function withMarks(member: AnyMember, node: Element, type: Element | undefined): AnyMember {
  const isNillable = hasTrue(node, 'nillable')
  const marked = withInitial(isNillable ? member.nillable() : member, node)
  const expected = findExpected(node) ?? (type && findExpected(type))
  return expected === undefined ? marked : marked.expecting(expected)
}

const findExpected = ({ attributes }: Element): string | undefined =>
  attributes.find(({ name }) => expectedNames.has(`{${name.uri}}${name.local}`))?.value.trim()

export function withInitial(member: AnyMember, node: Element): AnyMember {
  const raw = (local: string) => node.attributes.find(({ name }) => name.uri === '' && name.local === local)?.value
  const [fixed, initial] = [raw('fixed'), raw('default')]
  return fixed !== undefined ? member.fixed(fixed) : initial !== undefined ? member.default(initial) : member
}
