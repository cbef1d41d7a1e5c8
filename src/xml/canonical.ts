/**
 * Canonical XML 1.0 and 1.1, and Exclusive XML Canonicalization 1.0: the single spelling of a tree
 * that a signature covers. It covers a document, or an element with all its content, except for at
 * most one element inside (the enveloped signature). From outside the element, only the namespaces
 * in scope count and, in the inclusive form, attributes of the xml namespace. The tree must declare
 * the prefixes that it uses, as every parsed tree does, and must have been parsed with comments if
 * the form has comments.
 *
 * Most signed elements were written in canonical form, except for the declarations of their first
 * tag: these are copied rather than written.
 */

import { joinBases } from './joined-base.ts'
import { Malformed } from './malformed.ts'
import { internName, type Name, xmlUri } from './name.ts'
import { Scope } from './namespace-scope.ts'
import type { Attribute, Document, Element, Node } from './tree.ts'

/**
 * Which canonical form: inclusive or exclusive, with or without comments (Canonical XML 1.0 and
 * 1.1, Exclusive XML Canonicalization 1.0).
 */
export interface CanonicalForm {
  /** Exclusive: a namespace is written only where it is visibly used. */
  readonly exclusive: boolean
  /** For the inclusive form; default 1.0. */
  readonly version?: '1.1'
  readonly comments: boolean
  /**
   * InclusiveNamespaces PrefixList: prefixes that the exclusive form treats as the inclusive one
   * does; `#default` is the empty prefix.
   */
  readonly prefixes?: readonly string[]
  /** An element to leave out, with all its content. */
  readonly without?: Element
  /** The greatest length in octets; a longer form is not written. Default: no limit. */
  readonly octetsMax?: number
}

/**
 * The greatest length of a canonical form of a stranger's text. A namespace is written on each
 * element that uses its prefix, unless an outer element already does: a name of 64 KB and ten
 * thousand elements of six octets turn 124 KB into 600 MB.
 */
export const canonicalOctetsMax = (sent: number): number => 1024 * 1024 + 16 * sent

/**
 * The canonical form in UTF-8, to be hashed.
 * @throws Malformed for a relative namespace name (C14N §1.3), and for a form beyond the limit
 */
export function canonicalizeOctets(node: Document | Element, form: CanonicalForm): Uint8Array {
  const expected = node.kind === 'element' ? node.to - node.from + 512 : node.bytes.length
  const out = new OctetWriter(expected, form.octetsMax)
  new CanonicalWriter(form, out).write(node)
  return out.finish()
}

/** The same as text. */
export const canonicalize = (node: Document | Element, form: CanonicalForm): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(canonicalizeOctets(node, form))

/** Up to this length, a loop here copies texts and spans faster than the engine does. */
const copiedOctetsMax = 64

/** Collects texts and spans of documents. Adjacent spans become one. */
class OctetWriter {
  readonly #octetsMax: number
  #made: Buffer
  #length = 0
  #source: Uint8Array | undefined = undefined
  #from = 0
  #to = 0

  constructor(expected: number, octetsMax = Infinity) {
    this.#octetsMax = octetsMax
    this.#made = Buffer.allocUnsafe(expected)
  }

  write(text: string): void {
    this.#flush()
    this.#reserve(3 * text.length)
    const made = this.#made
    const length = this.#length
    if (text.length <= copiedOctetsMax) {
      let at = 0
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (code >= 0x80) break
        made[length + at] = code
      }
      if (at === text.length) {
        this.#length += at
        return
      }
    }
    this.#length += made.write(text, length)
  }

  copy(source: Uint8Array, from: number, to: number): void {
    if (this.#source !== source || this.#to !== from) {
      this.#flush()
      this.#source = source
      this.#from = from
    }
    this.#to = to
  }

  #flush(): void {
    const source = this.#source
    const from = this.#from
    const to = this.#to
    if (source === undefined) return
    this.#reserve(to - from)
    const made = this.#made
    const length = this.#length
    if (to - from <= copiedOctetsMax) for (let k = 0; k < to - from; k++) made[length + k] = source[from + k]!
    else made.set(source.subarray(from, to), length)
    this.#length += to - from
    this.#source = undefined
  }

  #reserve(octets: number): void {
    if (this.#length + octets <= this.#made.length) return
    this.#requireShort()
    const more = Buffer.allocUnsafe(2 * (this.#length + octets))
    this.#made.copy(more, 0, 0, this.#length)
    this.#made = more
  }

  #requireShort(): void {
    if (this.#length > this.#octetsMax) throw new Malformed('its canonical form is too long', this.#length)
  }

  finish(): Uint8Array {
    this.#flush()
    this.#requireShort()
    return this.#made.subarray(0, this.#length)
  }
}

class CanonicalWriter {
  readonly #form: CanonicalForm
  readonly #out: OctetWriter
  readonly #prefixes: ReadonlySet<string>
  /** The declarations that the elements around this one have already written. */
  readonly #written = new Scope()

  constructor(form: CanonicalForm, out: OctetWriter) {
    this.#form = form
    this.#out = out
    this.#prefixes = form.prefixes
      ? new Set(form.prefixes.map(prefix => (prefix === '#default' ? '' : prefix)))
      : noPrefixes
  }

  /** C14N §2.3: outside the root, comments and processing instructions have their own lines. */
  write(node: Document | Element): void {
    if (node.kind === 'element') {
      this.#writeElement(node, true)
      return
    }
    const { comments, without } = this.#form
    const children = node.children.filter(each => each !== without && (comments || each.kind !== 'comment'))
    for (const [index, each] of children.entries()) {
      if (index > 0) this.#out.write('\n')
      if (each.kind === 'element') this.#writeElement(each, true)
      else this.#writeNode(each)
    }
  }

  #writeNode(node: Node): void {
    const out = this.#out
    if (node.kind === 'text') out.write(escapeCanonicalText(node.value))
    else if (node.kind === 'element') this.#writeElement(node)
    else if (node.kind === 'instruction') out.write(`<?${node.target}${node.value === '' ? '' : ` ${node.value}`}?>`)
    else if (this.#form.comments) out.write(`<!--${node.value}-->`)
  }

  #writeElement(element: Element, isApex = false): void {
    const { spelling } = element
    if (element === this.#form.without) return
    if (spelling && !isApex && element.attributes.length < 2 && this.#declaresNothing(element)) {
      this.#copyElement(element, spelling)
      return
    }
    const mark = this.#written.mark()
    const tag: CanonicalTag = {
      namespaces: this.#namespacesOf(element, isApex),
      attributes: this.#attributesOf(element, isApex),
    }
    if (spelling) this.#copyElement(element, spelling, hasCanonicalTag(element, tag) ? undefined : tag)
    else {
      this.#out.write(writeStartTag(element, tag))
      for (const child of element.children) this.#writeNode(child)
      this.#out.write(`</${qualifiedName(element)}>`)
    }
    this.#written.restore(mark)
  }

  /** Copies the element as the document spells it, with another start tag if one is given. */
  #copyElement(element: Element, spelling: Uint8Array, tag?: CanonicalTag): void {
    const out = this.#out
    const { from, inside, to } = element
    const isEmpty = inside === to
    if (tag) out.write(writeStartTag(element, tag))
    else if (isEmpty) {
      out.copy(spelling, from, inside - 2)
      out.write('>')
    } else out.copy(spelling, from, inside)
    let at = inside
    for (const child of element.children) {
      if (child.kind !== 'element') continue
      if (at < child.from) out.copy(spelling, at, child.from)
      this.#writeElement(child)
      at = child.to
    }
    if (isEmpty) out.write(`</${qualifiedName(element)}>`)
    else out.copy(spelling, at, to)
  }

  /**
   * C14N §2.3 namespace axis, Exclusive C14N §3: the declarations to write on this element, in
   * order.
   */
  #namespacesOf(element: Element, isApex: boolean): readonly (readonly [string, string])[] {
    if (!isApex && this.#declaresNothing(element)) return noNamespaces
    const { exclusive } = this.#form
    const needed: [string, string][] = []
    if (exclusive) {
      this.#declareIfNew(element.prefix, element.name.uri, needed)
      for (const { prefix, name } of element.attributes) if (prefix !== '') this.#declareIfNew(prefix, name.uri, needed)
    }
    if (isApex && exclusive && this.#prefixes.size === 0) requireAbsoluteScope(element)
    else {
      for (const { prefix, uri } of isApex ? element.declarationsInScope() : element.declarations) {
        if (!isAbsolute(uri)) failRelative(element)
        if (!exclusive || this.#prefixes.has(prefix)) this.#declareIfNew(prefix, uri, needed)
      }
    }
    return needed.length < 2 ? needed : needed.sort(([a], [b]) => compareCodePoints(a, b))
  }

  #declareIfNew(prefix: string, uri: string, needed: [string, string][]): void {
    if (prefix === 'xml' || this.#written.get(prefix) === uri) return
    this.#written.set(prefix, uri)
    needed.push([prefix, uri])
  }

  /** True for most elements; the check saves a seventh of a signed message. */
  #declaresNothing(element: Element): boolean {
    if (element.declarations.length > 0) return false
    if (!this.#form.exclusive) return true
    const isWritten = this.#written.get(element.prefix) === element.name.uri
    return isWritten && element.attributes.every(({ prefix }) => prefix === '')
  }

  /**
   * C14N §2.3 attribute axis, §2.4: in the inclusive form an apex gets the xml attributes of the
   * elements around it, in that of 1.1 some of them.
   */
  #attributesOf(element: Element, isApex: boolean): readonly Attribute[] {
    const { exclusive, version } = this.#form
    const all = isApex && !exclusive ? apexAttributes(element, version) : element.attributes
    if (all.length < 2) return all
    return [...all].sort(
      (a, b) => compareCodePoints(a.name.uri, b.name.uri) || compareCodePoints(a.name.local, b.name.local),
    )
  }
}

const noPrefixes: ReadonlySet<string> = new Set()
const noNamespaces: readonly (readonly [string, string])[] = []

/** The content of a start tag in canonical form, in order. */
interface CanonicalTag {
  readonly namespaces: readonly (readonly [prefix: string, uri: string])[]
  readonly attributes: readonly Attribute[]
}

/** Whether the element has exactly these declarations and attributes, in this order. */
const hasCanonicalTag = ({ declarations, attributes }: Element, tag: CanonicalTag): boolean =>
  declarations.length === tag.namespaces.length &&
  attributes.length === tag.attributes.length &&
  declarations.every(({ prefix }, index) => prefix === tag.namespaces[index]![0]) &&
  (attributes === tag.attributes || attributes.every((attribute, index) => attribute === tag.attributes[index]))

function writeStartTag(element: Element, { namespaces, attributes }: CanonicalTag): string {
  let out = `<${qualifiedName(element)}`
  for (const [prefix, uri] of namespaces) out += writeDeclaration(prefix, uri)
  for (const attribute of attributes) out += writeSpacedAttribute(attribute)
  return `${out}>`
}

const qualifiedName = ({ prefix, name }: Element): string => (prefix === '' ? name.local : `${prefix}:${name.local}`)

/** Whether it is no namespace or a URI with a scheme. The usual schemes are tested first. */
const isAbsolute = (uri: string): boolean => uri.startsWith('http:') || uri.startsWith('urn:') || absoluteUri.test(uri)
/** C14N §1.3 for all namespaces in scope, for a form that needs nothing else of them. */
function requireAbsoluteScope(element: Element): void {
  for (let outer: Element | undefined = element; outer; outer = outer.parent) {
    for (const { prefix, uri } of outer.declarations)
      if (!isAbsolute(uri) && element.namespace(prefix) === uri) failRelative(element)
  }
}

function failRelative({ from }: Element): never {
  throw new Malformed('a relative namespace name has no canonical form', from)
}

const absoluteUri = /^(?:$|[A-Za-z][-+.A-Za-z0-9]*:)/

const inheritableNames: ReadonlySet<Name> = new Set([internName(xmlUri, 'lang'), internName(xmlUri, 'space')])
const baseName = internName(xmlUri, 'base')
function apexAttributes(element: Element, version: CanonicalForm['version']): readonly Attribute[] {
  const inherited = inheritedAttributes(element)
  if (version !== '1.1') return inherited.length === 0 ? element.attributes : [...element.attributes, ...inherited]
  const base = joinAncestorBases(element)
  const attributes =
    base === undefined ? element.attributes : element.attributes.filter(({ name }) => name !== baseName)
  return [
    ...attributes,
    ...inherited.filter(({ name }) => inheritableNames.has(name)),
    ...(base ? [{ name: baseName, prefix: 'xml', value: base }] : []),
  ]
}
/** Undefined where no outer element has one; empty: it is not written. */
function joinAncestorBases(element: Element): string | undefined {
  const around: string[] = []
  for (let outer = element.parent; outer; outer = outer.parent) {
    const base = outer.attribute(baseName)
    if (base !== undefined) around.push(base)
  }
  if (around.length === 0) return undefined
  const ownBase = element.attribute(baseName)
  return [...(ownBase === undefined ? [] : [ownBase]), ...around].reduce((inner, base) => joinBases(base, inner))
}

/**
 * The xml attributes of the elements around this one, the nearest of each name, unless it has them
 * itself.
 */
function inheritedAttributes(element: Element): Attribute[] {
  const attributes = new Map<Name, Attribute>()
  for (let outer = element.parent; outer; outer = outer.parent) {
    for (const attribute of outer.attributes) {
      const { name } = attribute
      if (name.uri !== xmlUri || attributes.has(name) || element.attribute(name) !== undefined) continue
      attributes.set(name, attribute)
    }
  }
  return [...attributes.values()]
}

const writeDeclaration = (prefix: string, uri: string) =>
  ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeCanonicalValue(uri)}"`

function writeSpacedAttribute({ prefix, name, value }: Attribute): string {
  return ` ${prefix === '' ? '' : `${prefix}:`}${name.local}="${escapeCanonicalValue(value)}"`
}

/** By code point; UTF-16 code units differ above U+D7FF. */
function compareCodePoints(a: string, b: string): number {
  if (a === b) return 0
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return a.codePointAt(at)! - b.codePointAt(at)!
  }
  return a.length - b.length
}

const canonicalEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}
const escapeCanonicalText = (text: string) => text.replace(/[&<>\r]/g, character => canonicalEscapes[character]!)
const escapeCanonicalValue = (value: string) => value.replace(/[&<"\t\n\r]/g, character => canonicalEscapes[character]!)
