/**
 * A document as a tree. Besides names and text it keeps what canonical form and signatures need:
 * prefixes, declarations, and the position of each element in the document. Adjacent text is one
 * node, CDATA sections are text, and empty text is not a node.
 */

import type { Cursor } from './cursor.ts'
import type { ParseOptions } from './limits.ts'
import { Malformed, parseOrUndefined } from './malformed.ts'
import { type Name, resolveQName, xmlUri } from './name.ts'
import { scanDocument } from './scanner.ts'

/** What an element or a document can contain. */
export type Node = Element | Text | Comment | Instruction

/** An attribute of an element; namespace declarations are not attributes (Namespaces in XML §3). */
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

/** Character data, with references resolved and CDATA sections dissolved (XML 1.0 §2.4). */
export interface Text {
  readonly kind: 'text'
  readonly value: string
}

/** A comment, without its delimiters (XML 1.0 §2.5). */
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

/** A well-formed document as a tree (XML 1.0 §2.1). */
export interface Document {
  readonly kind: 'document'
  /** The root, and the comments and processing instructions around it. */
  readonly children: readonly Node[]
  readonly root: Element
  /** In UTF-8; the offsets of elements refer to it. */
  readonly bytes: Uint8Array
}

const noChildren: readonly Node[] = []
const noAttributes: Attribute[] = []

/** An element of a document: its expanded name, its attributes and its content. */
export class Element {
  readonly kind = 'element'
  readonly name: Name
  readonly prefix: string
  readonly attributes: readonly Attribute[]
  readonly declarations: readonly Declaration[]
  /** The element around this one; undefined for a root. */
  readonly parent: Element | undefined
  /**
   * Octets [from, to) of the element in the UTF-8 form of its document; both 0 for an element that
   * the program created. That slice is itself a document, with `namespaces()` of the element around
   * as its `scope`.
   */
  from = 0
  to = 0
  /** The offset after its start tag. */
  inside = 0
  /**
   * The document, if it spells this element's own tags and direct text as in canonical form, apart
   * from order and empty elements. An element that was changed has none; the elements inside it
   * keep theirs.
   */
  spelling: Uint8Array | undefined = undefined
  #nodes: readonly Node[] = noChildren
  #table: Map<string, string> | undefined = undefined

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

  /** Changed only by `append` and `splice`. */
  get children(): readonly Node[] {
    return this.#nodes
  }

  /**
   * Adds a child while the document is read. Most elements have one, and an array literal of one
   * item reserves no room for more.
   */
  addChild(child: Node): void {
    const nodes = this.#nodes
    if (nodes === noChildren) this.#nodes = [child]
    else if (nodes.length === 1) this.#nodes = [nodes[0]!, child]
    else (nodes as Node[]).push(child) // the array belongs to this element
  }

  append(nodes: readonly Node[]): void {
    this.splice(this.children.length, 0, nodes)
  }

  /** Replaces `count` children from `at` on by these nodes. */
  splice(at: number, count: number, nodes: readonly Node[]): void {
    this.spelling = undefined
    this.#nodes = [...this.#nodes.slice(0, at), ...nodes, ...this.#nodes.slice(at + count)]
  }

  /** The value of the attribute with this name. */
  attribute(name: Name): string | undefined {
    return this.attributes.find(attribute => attribute.name === name)?.value
  }

  /**
   * The namespace of a prefix here. The empty prefix means the default namespace, or the empty
   * string without one.
   */
  namespace(prefix: string): string | undefined {
    if (prefix === 'xml') return xmlUri
    for (let element: Element | undefined = this; element; element = element.parent) {
      const uri = element.declaredUri(prefix)
      if (uri !== undefined) return uri
    }
    return prefix === '' ? '' : undefined
  }

  /** All namespaces in scope here, by prefix; `xml` only where it is declared. */
  namespaces(): Map<string, string> {
    return new Map(Array.from(this.declarationsInScope(), ({ prefix, uri }) => [prefix, uri]))
  }

  /** The declarations in scope here. */
  declarationsInScope(): Iterable<Declaration> {
    const found = new Map<string, Declaration>()
    for (let element: Element | undefined = this; element; element = element.parent) {
      for (const each of element.declarations) if (!found.has(each.prefix)) found.set(each.prefix, each)
    }
    return found.values()
  }

  /**
   * A QName in content, such as the value of xsi:type. Undefined for other text, or an undeclared
   * prefix.
   */
  qname(text: string): Name | undefined {
    return resolveQName(text, this)
  }

  /** The namespace that this element itself declares for a prefix. */
  declaredUri(prefix: string): string | undefined {
    if (this.declarations.length === 0) return undefined
    if (this.declarations.length < 8) return this.declarations.find(declaration => declaration.prefix === prefix)?.uri
    this.#table ??= new Map(this.declarations.map(({ prefix, uri }) => [prefix, uri]))
    return this.#table.get(prefix)
  }

  /** The child elements; only those with this name, if one is given. */
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

/** The whole document in these bytes. Comments are in the tree only on request. */
export function parseXml(bytes: Uint8Array, options: ParseOptions = {}): Document | Malformed {
  return parseOrUndefined(() => {
    const cursor = scanDocument(bytes, options)
    const children: Node[] = []
    let root: Element | undefined
    for (let event = cursor.next(); event !== 'after'; event = cursor.next()) {
      if (event === 'start') children.push((root = readElement(cursor)))
      else if (event !== 'text') children.push(readLeaf(cursor))
    }
    return { kind: 'document', children, root: root!, bytes: cursor.bytes } as const
  })
}

/**
 * From an element's `start` to its `end`: the element with all its content. With a `parent`, the
 * namespaces in scope there are in scope here; the element does not become its child.
 */
export function readElement(cursor: Cursor, parent?: Element): Element {
  const root = readStartTag(cursor, parent)
  let open = root
  for (let before = cursor.to; ; before = cursor.to) {
    const event = cursor.next()
    if (cursor.irregular >= before) open.spelling = undefined
    if (event === 'start') {
      const inner = readStartTag(cursor, open)
      open.addChild(inner)
      open = inner
    } else if (event === 'end') {
      open.to = cursor.to
      if (open === root) return root
      open = open.parent!
    } else {
      if (event !== 'text') open.spelling = undefined
      open.addChild(readLeaf(cursor))
    }
  }
}

function readStartTag(cursor: Cursor, parent: Element | undefined): Element {
  const attributes = readAllAttributes(cursor)
  const element = new Element(parent, cursor.name, cursor.prefix, attributes, cursor.declarations())
  element.from = cursor.from
  element.inside = cursor.to
  if (cursor.irregular < cursor.from) element.spelling = cursor.bytes
  return element
}

/** A growing array reserves room for sixteen more, a literal does not. */
function readAllAttributes(cursor: Cursor): Attribute[] {
  const count = cursor.attributes
  if (count === 0) return noAttributes
  if (count === 1) return [readAttribute(cursor, 0)]
  const found = [readAttribute(cursor, 0), readAttribute(cursor, 1)]
  for (let index = 2; index < count; index++) found.push(readAttribute(cursor, index))
  return found
}

const readAttribute = (cursor: Cursor, index: number): Attribute => ({
  name: cursor.attributeName(index),
  prefix: cursor.attributePrefix(index),
  value: cursor.attributeValue(index),
})

function readLeaf(cursor: Cursor): Node {
  if (cursor.event === 'text') return { kind: 'text', value: cursor.value }
  if (cursor.event === 'comment') return { kind: 'comment', value: cursor.value }
  return { kind: 'instruction', target: cursor.target, value: cursor.value }
}

const utf8 = new TextEncoder()
/** The name of the single element that a text contains. Undefined: the text is not an element. */
export function readRootName(text: string): Name | undefined {
  const document = parseXml(utf8.encode(text))
  return document instanceof Malformed ? undefined : document.root.name
}
