/** The smallest content of an element that an XML Schema describes, as XML. */
import type { ClarkName } from '../base/clark-name.ts'
import { memoizeByObject } from '../base/memo.ts'
import { escapeText } from '../xml/index.ts'
import type { Element } from '../xml/tree.ts'

const xs = 'http://www.w3.org/2001/XMLSchema'
const depthMax = 12

const plainAttribute = (element: Element, name: string): string | undefined =>
  element.attributes.find(each => each.name.uri === '' && each.name.local === name)?.value

const childrenOf = (element: Element | undefined, ...names: readonly string[]): readonly Element[] =>
  element?.elements().filter(({ name }) => name.uri === xs && names.includes(name.local)) ?? []

/** Global declarations by kind and Clark name; the first of two with the same name. */
const indexDeclarations = memoizeByObject((schemas: readonly Element[]): ReadonlyMap<string, Element> => {
  const found = new Map<string, Element>()
  for (const schema of schemas)
    for (const each of childrenOf(schema, 'element', 'complexType', 'simpleType')) {
      const kind = each.name.local === 'element' ? 'element' : 'type'
      const key = `${kind} {${plainAttribute(schema, 'targetNamespace') ?? ''}}${plainAttribute(each, 'name')}`
      if (!found.has(key)) found.set(key, each)
    }
  return found
})

export class SchemaSampler {
  readonly #schemas: readonly Element[]

  constructor(schemas: readonly Element[]) {
    this.#schemas = schemas
  }

  /** A global declaration, by kind and Clark name. */
  find(kind: 'element' | 'type', uri: string, local: string): Element | undefined {
    return indexDeclarations(this.#schemas).get(`${kind} {${uri}}${local}`)
  }

  /** Whether local elements are in the namespace; true for one without a schema. */
  qualifiesLocals(uri: string): boolean {
    const own = this.#schemas.filter(schema => (plainAttribute(schema, 'targetNamespace') ?? '') === uri)
    return own.length === 0 || own.some(schema => saysQualified(schema, schema))
  }

  /** The content of a declared element: what it requires, and nothing else. */
  writeContent(declaration: Element, depth = 0): string {
    const [inline] = childrenOf(declaration, 'complexType', 'simpleType')
    const type = inline ?? this.#resolveType(declaration)
    return type === undefined ? textOfBuiltIn(plainAttribute(declaration, 'type')) : this.#writeType(type, depth)
  }

  /** The content of a part of this type; undefined if no schema has it. */
  writePart({ uri, local }: ClarkName): string | undefined {
    if (uri === xs) return textOfBuiltIn(local)
    const type = this.find('type', uri, local)
    return type && this.#writeType(type, 0)
  }

  #resolveType(declaration: Element): Element | undefined {
    const name = declaration.qname(plainAttribute(declaration, 'type') ?? '')
    return name && name.uri !== xs ? this.find('type', name.uri, name.local) : undefined
  }

  #writeType(type: Element, depth: number): string {
    if (depth > depthMax) return ''
    if (type.name.local === 'simpleType') return this.#writeSimple(type)
    const [extension] = childrenOf(childrenOf(type, 'complexContent', 'simpleContent')[0], 'extension')
    if (extension) return this.#writeParticles(extension, depth)
    return this.#writeParticles(type, depth)
  }

  #writeParticles(holder: Element, depth: number): string {
    return childrenOf(holder, 'sequence', 'all', 'choice')
      .flatMap(group => {
        const particles = childrenOf(group, 'element', 'sequence', 'choice')
        return group.name.local === 'choice' ? particles.slice(0, 1) : particles
      })
      .map(particle => this.#writeParticle(particle, depth))
      .join('')
  }

  #writeParticle(particle: Element, depth: number): string {
    if (plainAttribute(particle, 'minOccurs') === '0') return ''
    if (particle.name.local !== 'element') return this.#writeParticles(particle, depth + 1)
    const reference = particle.qname(plainAttribute(particle, 'ref') ?? '')
    const declaration = reference ? this.find('element', reference.uri, reference.local) : particle
    if (!declaration) return ''
    const schema = schemaOf(declaration)
    const isQualified = reference !== undefined || formOf(declaration, schema) === 'qualified'
    const uri = plainAttribute(schema, 'targetNamespace') ?? ''
    const name = plainAttribute(declaration, 'name') ?? ''
    const content = this.writeContent(declaration, depth + 1)
    return isQualified
      ? `<p:${name} xmlns:p="${escapeText(uri)}">${content}</p:${name}>`
      : `<${name}>${content}</${name}>`
  }

  #writeSimple(type: Element): string {
    const [restriction] = childrenOf(type, 'restriction')
    const [value] = childrenOf(restriction, 'enumeration')
    if (value) return escapeText(plainAttribute(value, 'value') ?? '')
    const base = restriction?.qname(plainAttribute(restriction, 'base') ?? '')
    const named = base && base.uri !== xs ? this.find('type', base.uri, base.local) : undefined
    const [least] = childrenOf(restriction, 'minInclusive')
    if (least) return plainAttribute(least, 'value') ?? '1'
    const text = named ? this.#writeSimple(named) : textOfBuiltIn(base?.local)
    return text === unknownText ? fitText(restriction) : text
  }
}

/** Whether a local element is qualified, by its own form or by the schema's. */
const saysQualified = (below: Element, schema: Element): boolean =>
  below
    .elements()
    .some(each => (isLocalElement(each) && formOf(each, schema) === 'qualified') || saysQualified(each, schema))

const isLocalElement = (element: Element): boolean =>
  element.name.uri === xs && element.name.local === 'element' && element.parent?.name.local !== 'schema'

const formOf = (element: Element, schema: Element): string | undefined =>
  plainAttribute(element, 'form') ?? plainAttribute(schema, 'elementFormDefault')

function schemaOf(element: Element): Element {
  let at = element
  while (at.name.local !== 'schema' && at.parent) at = at.parent
  return at
}

/** An identifier that no item has. */
const unknownText = 'probe'

/**
 * A text in the bounds of its type. One that a pattern refuses becomes another word, since a
 * service that refuses it has not looked for an item.
 */
function fitText(restriction: Element | undefined): string {
  const lengthOf = (name: string) => {
    const [facet] = childrenOf(restriction, name)
    return facet && Number(plainAttribute(facet, 'value'))
  }
  const least = lengthOf('length') ?? lengthOf('minLength') ?? 0
  const most = lengthOf('length') ?? lengthOf('maxLength') ?? Infinity
  if (!(least <= unknownText.length && unknownText.length <= most)) return 'x'.repeat(Math.min(least || 1, 1000))
  const patterns = childrenOf(restriction, 'pattern').map(each => plainAttribute(each, 'value') ?? '')
  return patterns.length === 0 || patterns.some(mayMatch) ? unknownText : 'sample'
}
/** Part 2 §4.3.4, as far as it agrees with ECMAScript; of other patterns nothing is known. */
function mayMatch(pattern: string): boolean {
  try {
    return new RegExp(`^(?:${pattern})$`, 'u').test(unknownText)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return true
    throw thrown
  }
}

const builtInTexts: Readonly<Record<string, string>> = {
  __proto__: null as never,
  boolean: 'false',
  date: '2026-01-01',
  dateTime: '2026-01-01T00:00:00Z',
  time: '00:00:00Z',
  anyURI: 'urn:example:probe',
  string: unknownText,
  token: unknownText,
  NCName: unknownText,
  base64Binary: '',
  hexBinary: '',
}
const textOfBuiltIn = (type: string | undefined): string => builtInTexts[type?.replace(/^.*:/, '') ?? 'string'] ?? '1'
