/** Values by name as the element of a document/literal message and back, for peers whose own reader and writer make the rest. */
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
