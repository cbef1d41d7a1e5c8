/**
 * The elements of header blocks, in one schema for each of their namespaces, because messages
 * change with the version and headers do not.
 */
import type { NamedHeader } from '../contract/header.ts'
import { asObject } from '../contract/shape.ts'
import { compileTypeNames, placeOfField, typeRootsOfHeaders } from '../contract/type-names.ts'
import { type Message, toXmlName } from '../contract/xml-message.ts'
import { type Attributes, writeAnnotation, writeTag } from './markup.ts'
import { writeSchemaTag } from './xsd.ts'
import { annotationOf, SchemaTypes } from './xsd-types.ts'

/** A header, and the qualified name of its element in the description. */
export interface UsedHeader {
  readonly header: NamedHeader
  readonly element: string
}

/** The headers that occur in any message, each once. */
export function usedHeaders(all: readonly Message[]): readonly UsedHeader[] {
  const headers = distinctHeaders(all)
  const uris = namespacesOf(headers)
  return headers.map(header => ({
    header,
    element: `${headerPrefix(uris.indexOf(header.uri))}:${toXmlName(header.name)}`,
  }))
}

const distinctHeaders = (all: readonly Message[]): readonly NamedHeader[] => [
  ...new Map(all.flatMap(({ headers }) => headers.map(each => [each.name, each] as const))).values(),
]
const namespacesOf = (headers: readonly NamedHeader[]): readonly string[] => [...new Set(headers.map(({ uri }) => uri))]
const headerPrefix = (index: number): string => `h${index + 1}`

/** Declares the prefixes of the headers. */
export const declareHeaders = (all: readonly Message[]): Attributes =>
  Object.fromEntries(namespacesOf(distinctHeaders(all)).map((uri, index) => [`xmlns:${headerPrefix(index)}`, uri]))

export function writeHeaderSchemas(all: readonly Message[]): readonly string[] {
  const headers = distinctHeaders(all)
  return namespacesOf(headers).map(uri => {
    const own = headers.filter(each => each.uri === uri)
    const types = new SchemaTypes(compileTypeNames(typeRootsOfHeaders(own)), 'qualified')
    return writeSchemaTag(uri, types, {}, [...types.definitions, ...own.map(each => headerTag(types, each))])
  })
}

/** A block may have any attribute from another namespace (SOAP 1.2 Part 1 §5.2). */
const foreignAttributes = writeTag('xs:anyAttribute', { namespace: '##other', processContents: 'lax' })

function headerTag(types: SchemaTypes, { name, content }: NamedHeader): string {
  const about = content !== 'xml' && writeAnnotation(annotationOf(content))
  const element = (...inner: readonly string[]) =>
    writeTag('xs:element', { name: toXmlName(name) }, about, writeTag('xs:complexType', {}, inner))
  if (content === 'xml') {
    const anything = { processContents: 'lax', minOccurs: 0, maxOccurs: 'unbounded' }
    const sequence = writeTag('xs:sequence', {}, writeTag('xs:any', anything))
    return writeTag(
      'xs:element',
      { name: toXmlName(name) },
      writeTag('xs:complexType', { mixed: true }, sequence, foreignAttributes),
    )
  }
  const object = asObject(content.shape)
  if (object) return element(...types.content(object.fields, 'qualified'), foreignAttributes)
  const base = types.typeOf(content.shape, placeOfField(name, 'qualified'))
  return element(writeTag('xs:simpleContent', {}, writeTag('xs:extension', { base }, foreignAttributes)))
}
