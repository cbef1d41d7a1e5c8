import type { Cursor, Event } from './cursor.ts'
import { internName, type Name, resolveQName } from './name.ts'
import type { Attribute, Declaration, Element, Node } from './tree.ts'

/**
 * A cursor over an element of a tree, as if it were the root of a document. The namespaces in scope
 * are those of the element in its own tree. It never fails.
 */
export function walkTree(root: Element): Cursor {
  return new Walker(root)
}

const nameless = internName('', '')
const blankPattern = /^[ \t\n\r]*$/

class Walker implements Cursor {
  event: Event = 'before'
  depth = 0
  value = ''
  target = ''
  readonly bytes = undefined
  readonly irregular = -1

  #element: Element
  /** For each open element, the index of the next child. */
  readonly #indexes: number[] = []

  /** For each open element, its name, and its position among consecutive siblings of that name. */
  readonly #names: (Name | undefined)[] = []
  readonly #ordinals: number[] = []

  constructor(root: Element) {
    this.#element = root
  }

  next(): Event {
    if (this.event === 'before') return this.#openElement(this.#element)
    if (this.event === 'after') return 'after'
    if (this.event === 'end') {
      this.depth--
      if (this.depth === 0) return (this.event = 'after')
      this.#element = this.#element.parent!
    }
    const child = this.#element.children[this.#indexes[this.depth - 1]!++]
    if (!child) return (this.event = 'end')
    return child.kind === 'element' ? this.#openElement(child) : this.#readLeaf(child)
  }

  #openElement(element: Element): Event {
    const { depth } = this
    this.#ordinals[depth] = this.#names[depth] === element.name ? this.#ordinals[depth]! + 1 : 1
    this.#names[depth] = element.name
    this.#names[depth + 1] = undefined
    this.#element = element
    this.#indexes[this.depth++] = 0
    return (this.event = 'start')
  }

  #readLeaf(node: Exclude<Node, Element>): Event {
    this.value = node.value
    if (node.kind === 'instruction') this.target = node.target
    return (this.event = node.kind)
  }

  child(): Event {
    let event = this.next()
    while (event === 'comment' || (event === 'text' && blankPattern.test(this.value))) event = this.next()
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
    return this.event === 'before' ? nameless : this.#element.name
  }

  get prefix(): string {
    return this.#element.prefix
  }

  get from(): number {
    return this.#element.from
  }

  get to(): number {
    return this.#element.to
  }

  get attributes(): number {
    return this.event === 'start' ? this.#element.attributes.length : 0
  }

  #attributeAt(index: number): Attribute {
    return this.#element.attributes[index]!
  }

  attributeName(index: number): Name {
    return this.#attributeAt(index).name
  }

  attributePrefix(index: number): string {
    return this.#attributeAt(index).prefix
  }

  attributeValue(index: number): string {
    return this.#attributeAt(index).value
  }

  attribute(name: Name): string | undefined {
    return this.#element.attribute(name)
  }

  declarations(): readonly Declaration[] {
    return this.#element.declarations
  }

  namespace(prefix: string): string | undefined {
    return this.#element.namespace(prefix)
  }

  qname(text: string): Name | undefined {
    return resolveQName(text, this)
  }

  path(): string {
    let path = ''
    let element: Element | undefined = this.#element
    for (let level = this.depth; level > 0 && element; level--, element = element.parent) {
      const ordinal = level === 1 ? ordinalOf(element) : this.#ordinals[level - 1]
      path = `/${element.name.local}[${ordinal}]${path}`
    }
    return path
  }
}

/** The position of this element among consecutive siblings of the same name. */
function ordinalOf(element: Element): number {
  const siblings = element.parent?.elements() ?? [element]
  let index = siblings.indexOf(element)
  let count = 0
  for (; index >= 0 && siblings[index]!.name === element.name; index--) count++
  return Math.max(count, 1) // an element may have a parent without being its child
}
