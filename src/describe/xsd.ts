/**
 * The XML Schema of one version: an element for each request, response and fault, and the types
 * that they share. Each version has its namespace (rule B9.3). The schema imports nothing.
 */
import type { MessageStyle } from '../contract/endpoint-rule.ts'
import type { Fault } from '../contract/fault.ts'
import { describeFault } from '../contract/operation-texts.ts'
import { namespaceOf, type Service } from '../contract/service.ts'
import { compileTypeNames, formOfStyle, typeRootsOf } from '../contract/type-names.ts'
import { compileMessages, everyFault, type Message, type MessagePart, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeAnnotation, writeDocument, writeTag } from './markup.ts'
import { type ArrayOf, SchemaTypes } from './xsd-types.ts'

const xsNs = 'http://www.w3.org/2001/XMLSchema'
/** Describing Media Content of Binary Data in XML, §3.1: the media types of an element's octets. */
const xmimeNs = 'http://www.w3.org/2005/05/xmlmime'

/** The types and elements of one version of a contract as XML Schema 1.0. */
export function writeXsd(service: Service, version: string): string {
  return writeDocument(writeSchema(service, version))
}

/** Only the schema element, for the types of a WSDL. */
export function writeSchema(service: Service, version: string): string {
  const all = compileMessages(service, version)
  const types = typesOfStyle(all, 'document')
  const wrappers = all.flatMap(message => [
    ...wrapperTags(types, message, message.request),
    ...(message.response ? wrapperTags(types, message, message.response) : []),
  ])
  const declarations = { 'xmlns:xmime': all.some(hasFile) ? xmimeNs : undefined }
  return writeSchemaTag(namespaceOf(service, version), types, declarations, [
    ...types.definitions,
    ...wrappers,
    ...faultElementTags(types, all),
  ])
}

/** Where local elements of messages have no namespace, those of faults state that they have one. */
export const typesOfStyle = (all: readonly Message[], style: MessageStyle, arrayOf?: ArrayOf): SchemaTypes =>
  new SchemaTypes(
    compileTypeNames(typeRootsOf(all, style)),
    formOfStyle[style] === 'qualified' ? 'qualified' : 'unqualified',
    arrayOf,
  )

/** The faults that any operation declares. */
export const namedFaults = (all: readonly Message[]): readonly Fault[] =>
  everyFault(all).filter(fault => all.some(message => message.faults.includes(fault)))

export const faultElementTags = (types: SchemaTypes, all: readonly Message[]): readonly string[] =>
  everyFault(all).flatMap(fault =>
    types.element(
      toXmlName(fault.fault),
      types.content(fault.detail, 'qualified'),
      writeAnnotation(describeFault(fault)),
    ),
  )

/** @param declarations declares further prefixes */
export function writeSchemaTag(
  namespace: string,
  types: SchemaTypes,
  declarations: Attributes,
  content: readonly string[],
): string {
  return writeTag(
    'xs:schema',
    {
      'xmlns:xs': xsNs,
      'xmlns:tns': namespace,
      ...declarations,
      targetNamespace: namespace,
      elementFormDefault: types.elementForm,
    },
    content,
  )
}

function wrapperTags(types: SchemaTypes, message: Message, part: MessagePart): readonly string[] {
  const content = types.content(part.fields, 'qualified', name => (name === part.main ? mediaAttributes(message) : {}))
  return types.element(part.name, content)
}

const hasFile = ({ operation }: Message): boolean => operation.kind === 'getFile' || operation.kind === 'putFile'
/**
 * §3.2: by this a generator chooses the class of the value. For the type of a picture JAXB makes an
 * Image, which changes its octets; for other octets it makes a stream.
 */
const mediaAttributes = (message: Message): Attributes =>
  hasFile(message) ? { 'xmime:expectedContentTypes': 'application/octet-stream' } : {}
