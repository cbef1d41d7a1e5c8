import type { Cursor } from './cursor.ts'
import { type Malformed, parseOrUndefined } from './malformed.ts'
import { type Name, xmlUri } from './name.ts'
import { resolveQName } from './qname.ts'
import { type ParseOptions, scanDocument } from './scanner.ts'

/**
 * A document as a tree: what canonical form and signatures need beside names and text, which is prefixes, declarations and
 * where each element stands in the document. Adjacent text is one node, CDATA sections are text, empty text is no node.
 */
export type Node = Element | Text | Comment | Instruction

export interface Attribute {
  readonly name: Name
  /** As written; empty for none. */
  readonly prefix: string
  readonly value: string
}

/** A namespace declaration: the prefix is empty for the default, the uri for `xmlns=""`. */
export interface Declaration {
  readonly prefix: string
  readonly uri: string
}

export interface Text {
  readonly kind: 'text'
  readonly value: string
}

export interface Comment {
  readonly kind: 'comment'
  readonly value: string
}

/** A processing instruction. */
export interface Instruction {
  readonly kind: 'instruction'
  readonly target: string
  readonly value: string
}

export interface Document {
  readonly kind: 'document'
  /** The root, and the comments and processing instructions around it. */
  readonly children: readonly Node[]
  readonly root: Element
  /** In UTF-8: what the offsets of elements count in. */
  readonly bytes: Uint8Array
}

const childless: readonly Node[] = []
const bare: Attribute[] = []

export class Element {
  readonly kind = 'element'
  readonly name: Name
  readonly prefix: string
  readonly attributes: readonly Attribute[]
  readonly declarations: readonly Declaration[]
  /** The element around this one; undefined for a root. */
  readonly parent: Element | undefined
  /**
   * Octets [from, to) of the element in the UTF-8 form of the document it was read from; both 0 for one made here. That slice
   * is a document too, with `namespaces()` of the element around as its `scope`.
   */
  from = 0
  to = 0
  /** The offset after its start tag. */
  inside = 0
  /**
   * The document, where it spells this element's own tags and the text directly in it as canonical form does, order and empty
   * elements left out. What is changed here has no spelling there: the elements in it keep theirs.
   */
  spelling: Uint8Array | undefined = undefined
  private nodes: readonly Node[] = childless
  private table: Map<string, string> | undefined = undefined

  constructor(
    parent: Element | undefined,
    name: Name,
    prefix: string,
    attributes: readonly Attribute[] = [],
    declarations: readonly Declaration[] = [],
  ) {
    this.parent = parent
    this.name = name
    this.prefix = prefix
    this.attributes = attributes
    this.declarations = declarations
  }

  /** Changed by `append` and `splice`, and by nothing else. */
  get children(): readonly Node[] {
    return this.nodes
  }

  /** One more child, as the document has it. Most elements have one, and an array that is made of one has no room for more. */
  read(child: Node): void {
    if (this.nodes === childless) this.nodes = [child]
    else (this.nodes as Node[]).push(child) // the array is this element's own
  }

  append(nodes: readonly Node[]): void {
    this.splice(this.children.length, 0, nodes)
  }

  /** Puts these in the place of so many children from `at` on. */
  splice(at: number, count: number, nodes: readonly Node[]): void {
    this.spelling = undefined
    this.nodes = [...this.nodes.slice(0, at), ...nodes, ...this.nodes.slice(at + count)]
  }

  /** The value of the attribute of this name. */
  attribute(name: Name): string | undefined {
    return this.attributes.find(attribute => attribute.name === name)?.value
  }

  /** What a prefix stands for here; the empty one asks for the default namespace, whose absence is the empty string. */
  namespace(prefix: string): string | undefined {
    if (prefix === 'xml') return xmlUri
    for (let element: Element | undefined = this; element; element = element.parent) {
      const uri = element.declared(prefix)
      if (uri !== undefined) return uri
    }
    return prefix === '' ? '' : undefined
  }

  /** All namespaces in scope here, by prefix; with `xml` only where it is declared. */
  namespaces(): Map<string, string> {
    return new Map(Array.from(this.inScope(), ({ prefix, uri }) => [prefix, uri]))
  }

  /** The declarations that make them. */
  inScope(): Iterable<Declaration> {
    const found = new Map<string, Declaration>()
    for (let element: Element | undefined = this; element; element = element.parent) {
      for (const each of element.declarations) if (!found.has(each.prefix)) found.set(each.prefix, each)
    }
    return found.values()
  }

  /** A QName in content, such as the value of xsi:type. Undefined when it is none, or its prefix is not declared. */
  qname(text: string): Name | undefined {
    return resolveQName(text, this)
  }

  /** What a declaration of this very element says of a prefix. */
  declared(prefix: string): string | undefined {
    if (this.declarations.length === 0) return undefined
    if (this.declarations.length < 8) return this.declarations.find(declaration => declaration.prefix === prefix)?.uri
    this.table ??= new Map(this.declarations.map(({ prefix, uri }) => [prefix, uri]))
    return this.table.get(prefix)
  }

  /** The child elements, of one name if one is given. */
  elements(name?: Name): Element[] {
    return this.children.filter(child => child.kind === 'element' && (!name || child.name === name)) as Element[]
  }

  /** The text directly in this element. */
  get text(): string {
    const [only] = this.children
    if (only?.kind === 'text' && this.children.length === 1) return only.value
    return this.children.map(child => (child.kind === 'text' ? child.value : '')).join('')
  }
}

/** The document in these bytes, all of it. Comments are in the tree only when asked for. */
export function parseXml(bytes: Uint8Array, options: ParseOptions = {}): Document | Malformed {
  return parseOrUndefined(() => {
    const cursor = scanDocument(bytes, options)
    const children: Node[] = []
    let root: Element | undefined
    for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
      if (event === 'start') children.push((root = createElement(cursor)))
      else if (event !== 'text') children.push(leaf(cursor))
    }
    return { kind: 'document', children, root: root!, bytes: cursor.bytes } as const
  })
}

/**
 * At an element's `start`: the element with all that is in it; the cursor is then at its `end`. With a `parent` the namespaces
 * in scope there are those in scope here; it does not become one of the parent's children.
 */
export function createElement(cursor: Cursor, parent?: Element): Element {
  const root = opened(cursor, parent)
  let open = root
  for (let before = cursor.to; ; before = cursor.to) {
    const event = cursor.next()
    if (cursor.irregular >= before) open.spelling = undefined
    if (event === 'start') {
      const inner = opened(cursor, open)
      open.read(inner)
      open = inner
    } else if (event === 'end') {
      open.to = cursor.to
      if (open === root) return root
      open = open.parent!
    } else {
      if (event !== 'text') open.spelling = undefined
      open.read(leaf(cursor))
    }
  }
}

function opened(cursor: Cursor, parent: Element | undefined): Element {
  const attributes = cursor.attributes === 0 ? bare : [attribute(cursor, 0)] // most have one, as of children
  for (let index = 1; index < cursor.attributes; index++) attributes.push(attribute(cursor, index))
  const made = new Element(parent, cursor.name, cursor.prefix, attributes, cursor.declarations())
  made.from = cursor.from
  made.inside = cursor.to
  if (cursor.irregular < cursor.from) made.spelling = cursor.bytes
  return made
}

const attribute = (cursor: Cursor, index: number): Attribute => ({
  name: cursor.attributeName(index),
  prefix: cursor.attributePrefix(index),
  value: cursor.attributeValue(index),
})

function leaf(cursor: Cursor): Node {
  if (cursor.event === 'text') return { kind: 'text', value: cursor.value }
  if (cursor.event === 'comment') return { kind: 'comment', value: cursor.value }
  return { kind: 'instruction', target: cursor.target, value: cursor.value }
}
