/** A document as a tree, for questions by local name. */
import { Malformed } from '../../src/xml/malformed.ts'
import { type Element, parseXml } from '../../src/xml/tree.ts'

export function rootOf(text: string): Element {
  const document = parseXml(new TextEncoder().encode(text))
  if (document instanceof Malformed) throw new Error(document.reason)
  return document.root
}
export const children = (element: Element, local: string): Element[] =>
  element.elements().filter(child => child.name.local === local)
export const only = (element: Element, local: string): Element => {
  const [found, ...more] = children(element, local)
  if (!found || more.length > 0) throw new Error(`${element.name.local} has ${more.length + (found ? 1 : 0)} ${local}`)
  return found
}
export function below(element: Element, local: string): Element[] {
  const inner = element.elements().flatMap(child => below(child, local))
  return element.name.local === local ? [element, ...inner] : inner
}
/** An attribute in no namespace, or in that of its prefix. */
export const attribute = (element: Element, local: string): string | undefined =>
  element.attributes.find(each => each.name.local === local)?.value
/** A QName in an attribute, as `{namespace}local`. */
export function qname(element: Element, local: string): string | undefined {
  const value = attribute(element, local)
  if (value === undefined) return undefined
  const [, prefix = '', name = ''] = /^(?:([^:]*):)?(.*)$/.exec(value) ?? []
  const uri = element.namespace(prefix)
  if (uri === undefined) throw new Error(`${value}: the prefix ${prefix} is not declared`)
  return `{${uri}}${name}`
}
