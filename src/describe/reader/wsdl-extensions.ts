/** Attributes and extensions of a WSDL that mean nothing here, or that a caller has to know. */
import { isTrueText } from '../../contract/lexical/text.ts'
import { clarkNotation } from '../../xml/name.ts'
import type { Element } from '../../xml/tree.ts'
import type { ReadingNotes } from './description-documents.ts'
import { addressingNamespaces, policyNamespaces } from './policy-lookup.ts'
import { attributeValue, describeElement, mime, soapVersionOf, wsdl } from './wsdl-elements.ts'

/** WSDL 1.1 A.4: attributes without a namespace that the WSDL schemas do not declare. */
export function reportStrayAttributes(element: Element, notes: ReadingNotes): void {
  const { uri, local } = element.name
  const known =
    uri === wsdl ? wsdlAttributes[local] : Object.hasOwn(soapVersionOf, uri) ? soapAttributes[local] : undefined
  const place = describeElement(element)
  if (known)
    for (const { name } of element.attributes)
      if (name.uri === '' && !known.includes(name.local)) notes.remarks.add(`${place}: unknown attribute ${name.local}`)
  if (uri === wsdl && local !== 'types' && local !== 'documentation')
    for (const each of element.elements()) reportStrayAttributes(each, notes)
}

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
