/**
 * The XML Schema of one version: an element for each request, response and fault, and the types
 * that they share. Each version has its namespace (rule B9.3). The schema imports nothing.
 */
import { builtInFaults, type Fault } from '../contract/fault.ts'
import { namespaceOf, type Service } from '../contract/service.ts'
import { compileMessages, type Message, type MessagePart, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeDocument, writeTag } from './markup.ts'
import { Types } from './xsd-types.ts'

const xsNs = 'http://www.w3.org/2001/XMLSchema'
/** Describing Media Content of Binary Data in XML, §3.1: the media types of an element's octets. */
const xmimeNs = 'http://www.w3.org/2005/05/xmlmime'

export function writeXsd(service: Service, version: string): string {
  return writeDocument(writeSchema(service, version))
}

/** The schema element alone, for the types of a WSDL. */
export function writeSchema(service: Service, version: string): string {
  const all = compileMessages(service, version)
  const types = new Types()
  const wrappers = all.flatMap(message => [
    wrapperTag(types, message, message.request),
    ...(message.response ? [wrapperTag(types, message, message.response)] : []),
  ])
  const faults = everyFault(all).map(fault => faultElementTag(types, fault))
  return schemaTag(namespaceOf(service, version), 'qualified', all.some(hasFile), ...types.all, ...wrappers, ...faults)
}

/** Faults that operations declare, and those of every service, each once. */
export function everyFault(all: readonly Message[]): readonly Fault[] {
  const every = [...all.flatMap(message => message.faults), ...builtInFaults]
  return [...new Map(every.map(fault => [fault.fault, fault])).values()]
}

/** The faults that some operation declares. */
export const namedFaults = (all: readonly Message[]): readonly Fault[] =>
  everyFault(all).filter(fault => all.some(message => message.faults.includes(fault)))

export function faultElementTag(types: Types, fault: Fault): string {
  return writeTag(
    'xs:element',
    { name: toXmlName(fault.fault) },
    writeTag('xs:complexType', {}, types.content(fault.detail)),
  )
}

export function schemaTag(
  namespace: string,
  form: 'qualified' | 'unqualified',
  files: boolean,
  ...content: readonly string[]
): string {
  return writeTag(
    'xs:schema',
    {
      'xmlns:xs': xsNs,
      'xmlns:tns': namespace,
      'xmlns:xmime': files ? xmimeNs : undefined,
      targetNamespace: namespace,
      elementFormDefault: form,
    },
    content,
  )
}

function wrapperTag(types: Types, message: Message, part: MessagePart): string {
  const content = types.content(part.fields, 'literal', name => (name === part.main ? mediaAttributes(message) : {}))
  return writeTag('xs:element', { name: part.name }, writeTag('xs:complexType', {}, content))
}

const hasFile = ({ operation }: Message): boolean => operation.kind === 'getFile' || operation.kind === 'putFile'
/**
 * §3.2: by this a generator chooses the class of the value. JAXB makes an Image of the type of a
 * picture, which changes its octets; of other octets it makes a stream.
 */
const mediaAttributes = (message: Message): Attributes =>
  hasFile(message) ? { 'xmime:expectedContentTypes': 'application/octet-stream' } : {}
