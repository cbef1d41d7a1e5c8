import type { Cursor, Event } from './cursor.ts'
import { internName, type Name } from './name.ts'
import { resolveQName } from './qname.ts'
import type { Attribute, Declaration, Element, Node } from './tree.ts'

/**
 * A cursor over an element of a tree, which it takes for the root of a document. Namespaces in scope are those of the element
 * in its own tree. It never fails.
 */
export function walkTree(root: Element): Cursor {
  return new Walker(root)
}

const nameless = internName('', '')
const blank = /^[ \t\n\r]*$/

class Walker implements Cursor {
  event: Event = 'before'
  depth = 0
  value = ''
  target = ''
  readonly bytes = undefined
  readonly irregular = -1

  private at: Element
  /** For each open element, the index of the child that comes next. */
  private readonly indexes: number[] = []

  constructor(root: Element) {
    this.at = root
  }

  next(): Event {
    if (this.event === 'before') return this.open(this.at)
    if (this.event === 'after') return 'after'
    if (this.event === 'end') {
      this.depth--
      if (this.depth === 0) return (this.event = 'after')
      this.at = this.at.parent!
    }
    const child = this.at.children[this.indexes[this.depth - 1]!++]
    if (!child) return (this.event = 'end')
    return child.kind === 'element' ? this.open(child) : this.leaf(child)
  }

  private open(element: Element): Event {
    this.at = element
    this.indexes[this.depth++] = 0
    return (this.event = 'start')
  }

  private leaf(node: Exclude<Node, Element>): Event {
    this.value = node.value
    if (node.kind === 'instruction') this.target = node.target
    return (this.event = node.kind)
  }

  child(): Event {
    let event = this.next()
    while (event === 'comment' || (event === 'text' && blank.test(this.value))) event = this.next()
    return event
  }

  text(): string | undefined {
    if (this.event !== 'start') throw new Error('text is read at the start of an element')
    let text = ''
    for (;;) {
      const event = this.next()
      if (event === 'start') return undefined
      if (event === 'end') return text
      if (event === 'text') text += this.value
    }
  }

  octets(): Uint8Array | undefined {
    const text = this.text()
    return text === undefined ? undefined : new TextEncoder().encode(text)
  }

  skip(): void {
    this.event = 'end'
  }

  finish(): void {
    this.depth = 0
    this.event = 'after'
  }

  get name(): Name {
    return this.event === 'before' ? nameless : this.at.name
  }

  get prefix(): string {
    return this.at.prefix
  }

  get from(): number {
    return this.at.from
  }

  get to(): number {
    return this.at.to
  }

  get attributes(): number {
    return this.event === 'start' ? this.at.attributes.length : 0
  }

  private listed(index: number): Attribute {
    return this.at.attributes[index]!
  }

  attributeName(index: number): Name {
    return this.listed(index).name
  }

  attributePrefix(index: number): string {
    return this.listed(index).prefix
  }

  attributeValue(index: number): string {
    return this.listed(index).value
  }

  attribute(name: Name): string | undefined {
    return this.at.attribute(name)
  }

  declarations(): readonly Declaration[] {
    return this.at.declarations
  }

  namespace(prefix: string): string | undefined {
    return this.at.namespace(prefix)
  }

  qname(text: string): Name | undefined {
    return resolveQName(text, this)
  }

  path(): string {
    let path = ''
    let element: Element | undefined = this.at
    for (let level = this.depth; level > 0 && element; level--, element = element.parent) {
      path = `/${element.name.local}[${nth(element)}]${path}`
    }
    return path
  }
}

/** How many neighbours of one name end with this element. */
function nth(element: Element): number {
  const siblings = element.parent?.elements() ?? [element]
  let index = siblings.indexOf(element)
  let count = 0
  for (; index >= 0 && siblings[index]!.name === element.name; index--) count++
  return Math.max(count, 1) // an element may have a parent that it is not a child of
}
