import { Malformed } from './malformed.ts'
import { type Name, xmlUri } from './name.ts'
import { Scope } from './namespace-scope.ts'
import type { Attribute, Document, Element, Node } from './tree.ts'

/**
 * Canonical XML 1.0 and Exclusive XML Canonicalization 1.0: the one spelling of a tree that a signature is over.
 * Of a document, or of an element with all that is in it, less at most one element inside (the enveloped signature). Parts of
 * the tree outside the element count only as both recommendations say: for the namespaces in scope and, in the inclusive
 * form, for attributes of the xml namespace. The tree must declare the prefixes it uses, as every parsed one does, and must
 * have been parsed with comments if the form has comments.
 * Most of what is signed was written in canonical form but for the declarations of its first tag: it is copied, not written anew.
 */
export interface CanonicalForm {
  /** Exclusive: only namespaces that are visibly used are written, where they are used. */
  readonly exclusive: boolean
  readonly comments: boolean
  /** Of the exclusive form: InclusiveNamespaces PrefixList. Prefixes treated as in the inclusive form; `#default` is the empty one. */
  readonly prefixes?: readonly string[]
  /** An element to leave out, with all that is in it. */
  readonly without?: Element
}

/** The canonical form in UTF-8, which is what is hashed. @throws Malformed for a relative namespace name (C14N §1.3) */
export function canonicalizeOctets(node: Document | Element, form: CanonicalForm): Uint8Array {
  const out = new Output(node.kind === 'element' ? node.to - node.from + 512 : node.bytes.length)
  new Canonical(form, out).whole(node)
  return out.octets()
}

/** The same as text. */
export const canonicalize = (node: Document | Element, form: CanonicalForm): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(canonicalizeOctets(node, form))

/** Texts and spans that are no longer are sooner copied here, octet by octet, than by the engine. */
const short = 64

/** Octets in the making, of texts and of spans of documents. Spans that follow each other are one. */
class Output {
  private made: Buffer
  private length = 0
  private source: Uint8Array | undefined = undefined
  private from = 0
  private to = 0

  constructor(expected: number) {
    this.made = Buffer.allocUnsafe(expected)
  }

  write(text: string): void {
    this.ended()
    this.room(3 * text.length)
    const { made, length } = this
    if (text.length <= short) {
      let at = 0
      for (; at < text.length; at++) {
        const code = text.charCodeAt(at)
        if (code >= 0x80) break
        made[length + at] = code
      }
      if (at === text.length) {
        this.length += at
        return
      }
    }
    this.length += made.write(text, length)
  }

  copy(source: Uint8Array, from: number, to: number): void {
    if (this.source !== source || this.to !== from) {
      this.ended()
      this.source = source
      this.from = from
    }
    this.to = to
  }

  private ended(): void {
    const { source, from, to } = this
    if (source === undefined) return
    this.room(to - from)
    const { made, length } = this
    if (to - from <= short) for (let k = 0; k < to - from; k++) made[length + k] = source[from + k]!
    else made.set(source.subarray(from, to), length)
    this.length += to - from
    this.source = undefined
  }

  private room(octets: number): void {
    if (this.length + octets <= this.made.length) return
    const more = Buffer.allocUnsafe(2 * (this.length + octets))
    this.made.copy(more, 0, 0, this.length)
    this.made = more
  }

  octets(): Uint8Array {
    this.ended()
    return this.made.subarray(0, this.length)
  }
}

class Canonical {
  private readonly form: CanonicalForm
  private readonly out: Output
  private readonly prefixes: ReadonlySet<string>
  /** What has been written on the elements around, and so need not be written again. */
  private readonly written = new Scope()

  constructor(form: CanonicalForm, out: Output) {
    this.form = form
    this.out = out
    this.prefixes = form.prefixes ? new Set(form.prefixes.map(prefix => (prefix === '#default' ? '' : prefix))) : nobody
  }

  /** C14N §2.3: outside the root, comments and processing instructions stand on lines of their own. */
  whole(node: Document | Element): void {
    if (node.kind === 'element') {
      this.element(node, true)
      return
    }
    const { comments, without } = this.form
    const kept = node.children.filter(each => each !== without && (comments || each.kind !== 'comment'))
    for (const [index, each] of kept.entries()) {
      if (index > 0) this.out.write('\n')
      if (each.kind === 'element') this.element(each, true)
      else this.node(each)
    }
  }

  private node(node: Node): void {
    const { out } = this
    if (node.kind === 'text') out.write(escapeText(node.value))
    else if (node.kind === 'element') this.element(node)
    else if (node.kind === 'instruction') out.write(`<?${node.target}${node.value === '' ? '' : ` ${node.value}`}?>`)
    else if (this.form.comments) out.write(`<!--${node.value}-->`)
  }

  private element(element: Element, isApex = false): void {
    const { spelling } = element
    if (element === this.form.without) return
    if (spelling && !isApex && element.attributes.length < 2 && this.declaresNothing(element)) {
      this.copied(element, spelling)
      return
    }
    const mark = this.written.mark()
    const tag: CanonicalTag = {
      namespaces: this.namespaces(element, isApex),
      attributes: this.attributes(element, isApex),
    }
    if (spelling) this.copied(element, spelling, isWritten(element, tag) ? undefined : tag)
    else {
      this.out.write(startTag(element, tag))
      for (const child of element.children) this.node(child)
      this.out.write(`</${qualified(element)}>`)
    }
    this.written.back(mark)
  }

  /** As the document has it, but for the start tag if another is given. */
  private copied(element: Element, spelling: Uint8Array, tag?: CanonicalTag): void {
    const { out } = this
    const { from, inside, to } = element
    const isEmpty = inside === to
    if (tag) out.write(startTag(element, tag))
    else if (isEmpty) {
      out.copy(spelling, from, inside - 2)
      out.write('>')
    } else out.copy(spelling, from, inside)
    let at = inside
    for (const child of element.children) {
      if (child.kind !== 'element') continue
      if (at < child.from) out.copy(spelling, at, child.from)
      this.element(child)
      at = child.to
    }
    if (isEmpty) out.write(`</${qualified(element)}>`)
    else out.copy(spelling, at, to)
  }

  /** C14N §2.3 namespace axis, Exclusive C14N §3: the declarations to write on this element, in order. */
  private namespaces(element: Element, isApex: boolean): readonly (readonly [string, string])[] {
    if (!isApex && this.declaresNothing(element)) return nothing
    const { exclusive } = this.form
    const needed: [string, string][] = []
    if (exclusive) {
      this.need(element.prefix, element.name.uri, needed)
      for (const { prefix, name } of element.attributes) if (prefix !== '') this.need(prefix, name.uri, needed)
    }
    for (const { prefix, uri } of isApex ? element.inScope() : element.declarations) {
      if (!isAbsolute(uri)) throw new Malformed('a relative namespace name has no canonical form', element.from)
      if (!exclusive || this.prefixes.has(prefix)) this.need(prefix, uri, needed)
    }
    return needed.length < 2 ? needed : needed.sort(([a], [b]) => order(a, b))
  }

  private need(prefix: string, uri: string, needed: [string, string][]): void {
    if (prefix === 'xml' || this.written.get(prefix) === uri) return
    this.written.set(prefix, uri)
    needed.push([prefix, uri])
  }

  /** Most elements: a signed message spends a seventh less where they are seen at once. */
  private declaresNothing(element: Element): boolean {
    if (element.declarations.length > 0) return false
    if (!this.form.exclusive) return true
    const isWritten = this.written.get(element.prefix) === element.name.uri
    return isWritten && element.attributes.every(({ prefix }) => prefix === '')
  }

  /** C14N §2.3 attribute axis, §2.4: an apex in the inclusive form has the xml attributes of the elements around it. */
  private attributes(element: Element, isApex: boolean): readonly Attribute[] {
    const added = isApex && !this.form.exclusive ? inherited(element) : []
    if (element.attributes.length + added.length < 2) return added.length === 0 ? element.attributes : added
    return [...element.attributes, ...added].sort(
      (a, b) => order(a.name.uri, b.name.uri) || order(a.name.local, b.name.local),
    )
  }
}

const nobody: ReadonlySet<string> = new Set()
const nothing: readonly (readonly [string, string])[] = []

/** What canonical form has in a start tag, in its order. */
interface CanonicalTag {
  readonly namespaces: readonly (readonly [prefix: string, uri: string])[]
  readonly attributes: readonly Attribute[]
}

/** Whether the element has just these, in this order. */
const isWritten = ({ declarations, attributes }: Element, tag: CanonicalTag): boolean =>
  declarations.length === tag.namespaces.length &&
  attributes.length === tag.attributes.length &&
  declarations.every(({ prefix }, index) => prefix === tag.namespaces[index]![0]) &&
  (attributes === tag.attributes || attributes.every((attribute, index) => attribute === tag.attributes[index]))

function startTag(element: Element, { namespaces, attributes }: CanonicalTag): string {
  let out = `<${qualified(element)}`
  for (const [prefix, uri] of namespaces) out += declaration(prefix, uri)
  for (const attribute of attributes) out += written(attribute)
  return `${out}>`
}

const qualified = ({ prefix, name }: Element): string => (prefix === '' ? name.local : `${prefix}:${name.local}`)

/** No namespace, or a URI with a scheme; the usual ones are seen at once. */
const isAbsolute = (uri: string): boolean => uri.startsWith('http:') || uri.startsWith('urn:') || absolute.test(uri)
const absolute = /^(?:$|[A-Za-z][-+.A-Za-z0-9]*:)/

/** The xml attributes of the elements around this one that it has not itself, for each name the nearest. */
function inherited(element: Element): Attribute[] {
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

const declaration = (prefix: string, uri: string) => ` xmlns${prefix === '' ? '' : `:${prefix}`}="${escapeValue(uri)}"`

function written({ prefix, name, value }: Attribute): string {
  return ` ${prefix === '' ? '' : `${prefix}:`}${name.local}="${escapeValue(value)}"`
}

/** By code point, in which UTF-16 differs from UTF-8 above U+D7FF. */
function order(a: string, b: string): number {
  if (a === b) return 0
  for (let at = 0; at < a.length && at < b.length; at++) {
    if (a.charCodeAt(at) !== b.charCodeAt(at)) return a.codePointAt(at)! - b.codePointAt(at)!
  }
  return a.length - b.length
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#x9;',
  '\n': '&#xA;',
  '\r': '&#xD;',
}
const escapeText = (text: string) => text.replace(/[&<>\r]/g, character => escapes[character]!)
const escapeValue = (value: string) => value.replace(/[&<"\t\n\r]/g, character => escapes[character]!)
