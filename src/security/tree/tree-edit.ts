/**
 * Puts XML into a tree: decrypted content, and additions to an outgoing message. The one parser
 * reads it, within the limits that remain at this depth of the document, and prefixes mean what
 * they mean at that place.
 */
import { type Attribute, defaultXmlLimits, Element, Malformed, type Node, parseXml } from '../../xml/index.ts'

/** The nodes of this text with `parent` as their parent, but not yet among its children. */
export function parseFragment(text: Uint8Array | string, parent: Element): Node[] | Malformed {
  const content = typeof text === 'string' ? Buffer.from(text) : text
  const octets = Buffer.concat([Buffer.from('<x>'), content, Buffer.from('</x>')])
  const depth = Math.max(1, defaultXmlLimits.depth - depthOf(parent))
  const document = parseXml(octets, { instructions: 'refuse', scope: scopeAt(parent), limits: { depth } })
  if (document instanceof Malformed) return document
  return document.root.children.map(child => (child.kind === 'element' ? cloneInto(child, parent) : child))
}

/** The elements of a text that the service itself wrote. */
export function trustedFragment(text: string, parent: Element): Element[] {
  const nodes = parseFragment(text, parent)
  if (nodes instanceof Malformed) throw new TypeError(nodes.reason)
  return nodes.filter(node => node.kind === 'element')
}

/**
 * A copy of an element under another parent.
 * @param change the attributes of a copy
 * @param made receives each copy and its original
 */
export function cloneInto(
  element: Element,
  parent: Element | undefined,
  change: (element: Element) => readonly Attribute[] = ({ attributes }) => attributes,
  made: (copy: Element, element: Element) => void = () => {},
): Element {
  const copy = new Element(parent, element.name, element.prefix, change(element), element.declarations)
  copy.from = element.from
  copy.to = element.to
  made(copy, element)
  copy.append(element.children.map(child => (child.kind === 'element' ? cloneInto(child, copy, change, made) : child)))
  return copy
}

/** Replaces an element by nodes. */
export function replaceElement(element: Element, nodes: readonly Node[]): void {
  const parent = element.parent!
  parent.splice(parent.children.indexOf(element), 1, nodes)
}

function depthOf(element: Element): number {
  let depth = 0
  for (let at: Element | undefined = element; at; at = at.parent) depth++
  return depth
}

function scopeAt(element: Element): ReadonlyMap<string, string> {
  const scope = new Map<string, string>()
  for (let at: Element | undefined = element; at; at = at.parent) {
    for (const { prefix, uri } of at.declarations) if (!scope.has(prefix)) scope.set(prefix, uri)
  }
  return scope
}

/** Whether the condition holds for an element, or for one around it. */
export function isInside(element: Element, holds: (outer: Element) => boolean): boolean {
  for (let at: Element | undefined = element; at; at = at.parent) if (holds(at)) return true
  return false
}
