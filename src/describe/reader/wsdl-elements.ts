/** The elements of WSDL and of its extensions: their names, and what is read of any of them. */
import type { Element } from '../../xml/tree.ts'
import { addressingNamespaces } from './policy-lookup.ts'

export const wsdl = 'http://schemas.xmlsoap.org/wsdl/'
export const wsdl20 = 'http://www.w3.org/ns/wsdl'
export const xs = 'http://www.w3.org/2001/XMLSchema'
/** The recommendation, and earlier drafts that old documents still name. */
export const schemaNamespaces: ReadonlySet<string> = new Set([
  xs,
  'http://www.w3.org/2000/10/XMLSchema',
  'http://www.w3.org/1999/XMLSchema',
])
export const isSchema = ({ name }: Element): boolean => name.local === 'schema' && schemaNamespaces.has(name.uri)
export const soapVersionOf: Readonly<Record<string, '1.1' | '1.2'>> = {
  'http://schemas.xmlsoap.org/wsdl/soap/': '1.1',
  'http://schemas.xmlsoap.org/wsdl/soap12/': '1.2',
}

export const childrenNamed = (element: Element, uri: string, local: string): Element[] =>
  element.elements().filter(({ name }) => name.uri === uri && name.local === local)
export const wsdlChildren = (element: Element, local: string): Element[] => childrenNamed(element, wsdl, local)
/** The text of an attribute without surrounding space. */
export const attributeValue = (element: Element, local: string, uri = ''): string | undefined =>
  element.attributes.find(({ name }) => name.uri === uri && name.local === local)?.value.trim()
/** The SOAP extension elements of either version in a binding or port. */
export const soapChildren = (element: Element, local: string): Element[] =>
  element.elements().filter(({ name }) => Object.hasOwn(soapVersionOf, name.uri) && name.local === local)

export const mime = 'http://schemas.xmlsoap.org/wsdl/mime/'
/** The SOAP elements of a message, including those in the parts of a MIME package (§5). */
export const soapExtensions = (binding: Element, local: string): Element[] =>
  [binding, ...listMimeParts(binding)].flatMap(each => soapChildren(each, local))
export const listMimeParts = (binding: Element): Element[] =>
  childrenNamed(binding, mime, 'multipartRelated').flatMap(each => childrenNamed(each, mime, 'part'))

export const describeElement = (element: Element): string =>
  `${element.name.local} ${attributeValue(element, 'name') ?? ''}`.trim()

/** Each value that is there more than once. */
export function listRepeated(values: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return [...new Set(values.filter(each => seen.size === seen.add(each).size))]
}

/** The texts of `documentation` within an element, with single spaces; undefined without any. */
export function readDocumentation(element: Element): string | undefined {
  const texts = childrenNamed(element, element.name.uri, 'documentation').map(joinText)
  return texts.join(' ').replace(/\s+/g, ' ').trim() || undefined
}
const joinText = (node: Element): string =>
  node.children
    .map(child => (child.kind === 'element' ? joinText(child) : child.kind === 'text' ? child.value : ''))
    .join('')

/** `wsam:Action` of an input, an output or a fault (WS-Addressing 1.0 Metadata §4.4.1). */
export const readDeclaredAction = (message: Element | undefined): string | undefined =>
  addressingNamespaces
    .map(uri => message?.attributes.find(({ name }) => name.uri === uri && name.local === 'Action')?.value.trim())
    .find(Boolean)

/**
 * WS-Addressing 1.0 Metadata §4.3: an endpoint reference within a port or an endpoint, whose
 * reference parameters each message to it has to carry.
 */
export const hasReferenceParameters = (port: Element): boolean =>
  childrenNamed(port, 'http://www.w3.org/2005/08/addressing', 'EndpointReference').some(reference =>
    reference.elements().some(({ name, children }) => name.local === 'ReferenceParameters' && children.length > 0),
  )
export const leftReference =
  'messages must carry the reference parameters of its wsa:EndpointReference: they are left out'

/** WSDL 1.1 §2.4.3 and §2.4.4, and the outbound patterns of WSDL 2.0. */
export const sentFirst = 'the service speaks first: a notification is left out'
