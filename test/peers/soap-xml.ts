/** Values by name as the element of a literal message and back, for peers whose own reader and writer make the rest. */
import { XmlDocument, XmlElement } from 'libxml2-wasm'

type Tree = string | readonly Tree[] | { readonly [name: string]: Tree }

export function toXml(namespace: string, operation: string, input: unknown): string {
  return `<${operation} xmlns="${namespace}">${inside(input)}</${operation}>`
}

function inside(value: unknown): string {
  if (typeof value !== 'object' || value === null) return escaped(String(value))
  return Object.entries(value)
    .flatMap(([name, each]) => [each].flat().map(item => `<${name}>${inside(item)}</${name}>`))
    .join('')
}

/** The same of RPC/literal: nothing inside has a namespace, and a part that is not given is empty, for WSDL 1.1 has none that is optional. */
export function toRpcXml(namespace: string, operation: string, input: object, wsdl: string): string {
  using document = XmlDocument.fromString(wsdl)
  const spaces = { w: 'http://schemas.xmlsoap.org/wsdl/' }
  const parts = document.find(`//w:message[@name='${operation}Input']/w:part/@name`, spaces).map(each => each.content)
  const given = Object.fromEntries(parts.map(name => [name, Reflect.get(input, name) ?? '']))
  return `<m:${operation} xmlns:m="${namespace}">${inside(given)}</m:${operation}>`
}

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function fromXml(xml: string): Tree {
  using document = XmlDocument.fromString(xml)
  return tree(document.root)
}

/** Elements of one name make a list. */
function tree(element: XmlElement): Tree {
  const children = element.find('*').filter(each => each instanceof XmlElement)
  if (children.length === 0) return element.content
  const grouped = Object.groupBy(children, each => each.name)
  return Object.fromEntries(
    Object.entries(grouped).map(([name, each = []]) => [
      name,
      each.length === 1 && each[0] ? tree(each[0]) : each.map(tree),
    ]),
  )
}
