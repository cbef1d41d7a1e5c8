/** libxml2 as the judge of schemas and documents. */
import assert from 'node:assert/strict'
import {
  XmlBufferInputProvider,
  XmlDocument,
  XmlElement,
  XsdValidator,
  xmlCleanupInputProvider,
  xmlRegisterInputProvider,
} from 'libxml2-wasm'
import type { MessageStyle } from '../../src/contract/endpoint-rule.ts'

export interface Judge {
  /** Undefined: valid. Else the first error of libxml2. */
  flaw(document: string): string | undefined
}

/**
 * Throws if libxml2 refuses the schema.
 * @param others documents that it refers to, by their locations
 */
export function judge(schema: string, others: Readonly<Record<string, string>> = {}): Judge {
  using document = XmlDocument.fromString(schema, { url: 'test.xsd' })
  const given = Object.entries(others).map(([location, text]) => [location, Buffer.from(text)] as const)
  xmlRegisterInputProvider(new XmlBufferInputProvider(Object.fromEntries(given)))
  const validator = XsdValidator.fromDoc(document)
  xmlCleanupInputProvider()
  return {
    flaw(text) {
      using instance = XmlDocument.fromString(text)
      try {
        validator.validate(instance)
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}

const schemas = 'http://www.w3.org/2001/XMLSchema'

/**
 * The schema of a WSDL. In RPC it gets an element for each wrapper, whose parts are in no namespace (WS-I BP 1.1 R2735), and
 * in no order that is checked: the readers of parts know none.
 */
export function schemaOf(wsdl: string, style: MessageStyle): string {
  using document = XmlDocument.fromString(wsdl)
  const schema = document.get('//s:schema', { s: schemas })
  assert.ok(schema instanceof XmlElement)
  const text = apart(schema)
  if (style !== 'rpc') return text
  const spaces = { w: 'http://schemas.xmlsoap.org/wsdl/' }
  const wrappers = document.find('//w:message[not(w:part[@element])]', spaces).map(message => {
    const name = (message as XmlElement).attr('name')?.value ?? '' // the path asks for elements
    const parts = message.find('w:part', spaces).map(part => {
      const [local, type] = ['name', 'type'].map(each => (part as XmlElement).attr(each)?.value)
      return `<xs:element name="${local}" type="${type}" form="unqualified" minOccurs="0" nillable="true"/>`
    })
    const element = name.replace(/Input$/, '').replace(/Output$/, 'Response')
    return `<xs:element name="${element}"><xs:complexType><xs:sequence>${parts.join('')}</xs:sequence></xs:complexType></xs:element>`
  })
  const declared = `xmlns:xs="${schemas}" xmlns:tns="${schema.attr('targetNamespace')?.value}"`
  return text.replace(/<\/[^<]*$/, end => `${wrappers.map(each => each.replace('>', ` ${declared}>`)).join('')}${end}`)
}

/** An element as a document of its own, with the namespaces in scope where it stands (Canonical XML §2.4). */
export const apart = (element: XmlElement): string => element.canonicalizeToString()
