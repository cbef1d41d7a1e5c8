/** Attributes and extensions of a WSDL that mean nothing here, or that a caller has to know. */
import { isTrueText } from '../../contract/lexical/text.ts'
import { clarkNotation } from '../../xml/name.ts'
import type { Element } from '../../xml/tree.ts'
import type { ReadingNotes } from './description-documents.ts'
import { addressingNamespaces, policyNamespaces } from './policy-lookup.ts'
import { attributeValue, describeElement, listRepeated, mime, soapVersionOf, wsdl } from './wsdl-elements.ts'

/** WSDL 1.1 A.4: what the WSDL schemas do not declare; names of other namespaces are extensions. */
export function reportUndeclared(element: Element, notes: ReadingNotes): void {
  const { uri, local } = element.name
  const isOfSoap = Object.hasOwn(soapVersionOf, uri)
  const known = uri === wsdl ? wsdlAttributes[local] : isOfSoap ? soapAttributes[local] : undefined
  const place = describeElement(element)
  if (known) for (const each of listStray(element, known)) notes.remarks.add(`${place}: ${each}`)
  else if (uri === wsdl || isOfSoap) notes.remarks.add(`unknown element ${place}`)
  if (uri !== wsdl) return
  const children = element.elements().filter(each => each.name.uri !== wsdl || !free.has(each.name.local))
  if (local === 'operation')
    for (const each of listRepeated(children.map(({ name }) => name.local).filter(name => /put$/.test(name))))
      notes.remarks.add(`${place}: only the first ${each} counts`)
  for (const each of children) reportUndeclared(each, notes)
}
/** Elements of WSDL with content of any kind. */
const free: ReadonlySet<string> = new Set(['types', 'documentation'])

const listStray = ({ attributes }: Element, known: readonly string[]): readonly string[] =>
  attributes.flatMap(({ name: { uri, local }, value }) => {
    if (uri !== '') return []
    if (!known.includes(local)) return [`unknown attribute ${local}`]
    const values = attributeValues[local]
    return values && !values.includes(value.trim()) ? [`${local} must be ${values.join(' or ')}`] : []
  })

/** WSDL 1.1 §2.1.3: an extension that a caller has to know. */
export function reportRequired(element: Element, place: string, notes: ReadingNotes): void {
  for (const each of element.elements()) {
    const { uri, local } = each.name
    if (uri === wsdl && local !== 'documentation' && local !== 'types')
      reportRequired(each, local === 'port' || local === 'binding' ? describeElement(each) : place, notes)
    else if (!knownExtensions.has(uri) && isTrueText(attributeValue(each, 'required', wsdl)))
      notes.leftOut.push({ place, detail: `the extension ${clarkNotation(each.name)} is required, and left out` })
  }
}

/** Namespaces of the extensions that are read: SOAP, policies, WS-Addressing, attachments. */
const knownExtensions: ReadonlySet<string> = new Set([
  ...Object.keys(soapVersionOf),
  ...policyNamespaces,
  ...addressingNamespaces,
  mime,
])

/** WSDL 1.1 A.4.1: the attributes without a namespace, by element. */
const wsdlAttributes: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  definitions: ['name', 'targetNamespace'],
  import: ['namespace', 'location'],
  message: ['name'],
  part: ['name', 'element', 'type'],
  portType: ['name'],
  binding: ['name', 'type'],
  operation: ['name', 'parameterOrder'],
  input: ['name', 'message'],
  output: ['name', 'message'],
  fault: ['name', 'message'],
  service: ['name'],
  port: ['name', 'binding'],
}
/** WSDL 1.1 A.4.2, and WSDL 1.1 Binding Extension for SOAP 1.2. */
const soapAttributes: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  binding: ['transport', 'style'],
  operation: ['soapAction', 'style', 'soapActionRequired'],
  body: ['parts', 'use', 'encodingStyle', 'namespace'],
  fault: ['name', 'use', 'encodingStyle', 'namespace'],
  header: ['message', 'part', 'use', 'encodingStyle', 'namespace'],
  headerfault: ['message', 'part', 'use', 'encodingStyle', 'namespace'],
  address: ['location'],
}
/** WSDL 1.1 A.4.2: the attributes of SOAP with a choice of values. */
const attributeValues: Readonly<Record<string, readonly string[]>> = {
  __proto__: null as never,
  use: ['literal', 'encoded'],
  style: ['rpc', 'document'],
}
