import { Malformed } from './failure.ts'
import { clark, xmlUri } from './name.ts'
import { Scope } from './scope.ts'
import type { Attribute, Document, Element, Node } from './tree.ts'

/**
 * Canonical XML 1.0 and Exclusive XML Canonicalization 1.0: the one spelling of a tree that a signature is over.
 * Of a document, or of an element with all that is in it, less at most one element inside (the enveloped signature). Parts of
 * the tree outside the element count only as both recommendations say: for the namespaces in scope and, in the inclusive
 * form, for attributes of the xml namespace. The tree must declare the prefixes it uses, as every parsed one does, and must
 * have been parsed with comments if the form has comments.
 */
export interface Form {
  /** Exclusive: only namespaces that are visibly used are written, where they are used. */
  readonly exclusive: boolean
  readonly comments: boolean
  /** Of the exclusive form: InclusiveNamespaces PrefixList. Prefixes treated as in the inclusive form; `#default` is the empty one. */
  readonly prefixes?: readonly string[]
  /** An element to leave out, with all that is in it. */
  readonly without?: Element
}

/** The canonical form as text; its UTF-8 is what is hashed. @throws Malformed for a relative namespace name (C14N §1.3) */
export function canonical(node: Document | Element, form: Form): string {
  return new Canonical(form).whole(node)
}

class Canonical {
  private readonly form: Form
  private readonly prefixes: ReadonlySet<string>
  /** What has been written on the elements around, and so need not be written again. */
  private readonly written = new Scope()

  constructor(form: Form) {
    this.form = form
    this.prefixes = new Set(form.prefixes?.map(prefix => (prefix === '#default' ? '' : prefix)))
  }

  /** C14N §2.3: outside the root, comments and processing instructions stand on lines of their own. */
  whole(node: Document | Element): string {
    if (node.kind === 'element') return this.element(node, inherited(node))
    const parts = node.children.map(child => this.node(child)).filter(part => part !== '')
    return parts.join('\n')
  }

  private node(node: Node): string {
    if (node.kind === 'text') return escapeText(node.value)
    if (node.kind === 'element') return this.element(node)
    if (node.kind === 'comment') return this.form.comments ? `<!--${node.value}-->` : ''
    return node.value === '' ? `<?${node.target}?>` : `<?${node.target} ${node.value}?>`
  }

  private element(element: Element, around?: Inherited): string {
    if (element === this.form.without) return ''
    const mark = this.written.mark()
    const prefix = element.prefix === '' ? '' : `${element.prefix}:`
    let out = `<${prefix}${element.name.local}`
    for (const [prefix, uri] of this.namespaces(element, around)) out += declaration(prefix, uri)
    for (const attribute of this.attributes(element, around)) out += written(attribute)
    out += '>'
    for (const child of element.children) out += this.node(child)
    this.written.back(mark)
    return `${out}</${prefix}${element.name.local}>`
  }

  /** C14N §2.3 namespace axis, Exclusive C14N §3: the declarations to write on this element, in order. */
  private namespaces(element: Element, around: Inherited | undefined): [string, string][] {
    if (!around && this.declaresNothing(element)) return []
    const candidates = new Map<string, string>(around ? around.namespaces : [])
    for (const { prefix, uri } of element.declarations) candidates.set(prefix, uri)
    for (const uri of candidates.values()) {
      if (!absolute.test(uri)) throw new Malformed('a relative namespace name has no canonical form', element.from)
    }
    if (this.form.exclusive) {
      for (const prefix of candidates.keys()) if (!this.prefixes.has(prefix)) candidates.delete(prefix)
      candidates.set(element.prefix, element.name.uri)
      for (const { prefix, name } of element.attributes) if (prefix !== '') candidates.set(prefix, name.uri)
    }
    const needed = [...candidates].filter(([prefix, uri]) => prefix !== 'xml' && this.written.get(prefix) !== uri)
    for (const [prefix, uri] of needed) this.written.set(prefix, uri)
    return needed.sort(([a], [b]) => order(a, b))
  }

  /** Most elements: a signed message spends a seventh less where they are seen at once. */
  private declaresNothing(element: Element): boolean {
    if (element.declarations.length > 0) return false
    if (!this.form.exclusive) return true
    const isWritten = this.written.get(element.prefix) === element.name.uri
    return isWritten && element.attributes.every(({ prefix }) => prefix === '')
  }

  /** C14N §2.3 attribute axis, §2.4: an apex in the inclusive form has the xml attributes of the elements around it. */
  private attributes(element: Element, around: Inherited | undefined): Attribute[] {
    const attributes = [...element.attributes]
    if (around && !this.form.exclusive) {
      for (const attribute of around.attributes) {
        if (element.attribute(attribute.name) === undefined) attributes.push(attribute)
      }
    }
    return attributes.sort((a, b) => order(a.name.uri, b.name.uri) || order(a.name.local, b.name.local))
  }
}

/** No namespace, or a URI with a scheme. */
const absolute = /^(?:$|[A-Za-z][-+.A-Za-z0-9]*:)/

/** What an apex gets from the elements around it: for each prefix and for each xml attribute, the nearest. */
interface Inherited {
  readonly namespaces: ReadonlyMap<string, string>
  readonly attributes: Iterable<Attribute>
}

function inherited(element: Element): Inherited {
  const attributes = new Map<string, Attribute>()
  for (let outer = element.parent; outer; outer = outer.parent) {
    for (const attribute of outer.attributes) {
      const key = clark(attribute.name)
      if (attribute.name.uri === xmlUri && !attributes.has(key)) attributes.set(key, attribute)
    }
  }
  return { namespaces: element.parent?.namespaces() ?? new Map(), attributes: attributes.values() }
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
