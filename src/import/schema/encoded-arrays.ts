/** Arrays of SOAP's encoding, as a restriction of its type `Array` declares them. */
import { memoizeOnce } from '../../base/memo.ts'
import { type AnyXmlType, defineArray, type QualifiedName, XmlType, x } from '../../contract/xml-type.ts'
import type { Element } from '../../xml/index.ts'
import { schemaChild, schemaChildren } from './schema-components.ts'
import type { SchemaPlace, SchemaSource } from './schema-source.ts'

/** What an array contains, and in how many dimensions. */
export interface ArrayShape {
  readonly cell: () => AnyXmlType
  readonly dimensions: number
}

/** More dimensions than any toolkit has; types with even more take long to write. */
const bracketsMax = 8

export const nameArray = (name: QualifiedName | undefined, { cell, dimensions }: ArrayShape): AnyXmlType =>
  new XmlType(defineArray(name, cell, dimensions))
const arrayAround = (cell: AnyXmlType, dimensions: number): AnyXmlType => x.array(cell, dimensions)

/** From wsdl:arrayType, or from the element that the restriction declares. */
export function readArrayShape(source: SchemaSource, derivation: Element, around: SchemaPlace): ArrayShape {
  for (const node of schemaChildren(derivation))
    for (const { name, value } of node.attributes)
      if (name.local === 'arrayType' && name.uri === 'http://schemas.xmlsoap.org/wsdl/')
        return parseArrayType(source, node, value, around)
  const itemType = schemaChildren(derivation).flatMap(node =>
    node.attributes.flatMap(({ name, value }) =>
      name.local === 'itemType' && name.uri !== '' ? [{ node, value }] : [],
    ),
  )[0]
  if (itemType) return parseArrayType(source, itemType.node, itemType.value, around)
  const sequence = schemaChild(derivation, 'sequence', 'all')
  const element = sequence && schemaChild(sequence, 'element')
  return { cell: element ? memoizeOnce(() => source.typeOfNode(element, around)) : () => x.anyType, dimensions: 1 }
}

/** SOAP 1.1 §5.4.2: `int[,][]` is a list of tables; the last brackets are the array's own. */
function parseArrayType(source: SchemaSource, node: Element, written: string, around: SchemaPlace): ArrayShape {
  const [, qname = '', brackets = ''] = /^([^[]*)(.*)$/.exec(written.trim()) ?? []
  const name = source.components.resolve(node, qname, around.form.uri)
  const ranks = [...brackets.matchAll(/\[([^\]]*)\]/g)].map(([, inside = '']) => inside.split(',').length)
  const cell = memoizeOnce(() => (name === undefined ? x.anyType : source.typeOfElement(name, around.place)))
  if (ranks.length > bracketsMax || ranks.some(rank => rank > bracketsMax)) {
    source.losses.add(around.place, `an array of more than ${bracketsMax} dimensions: its items are XML`)
    return { cell: () => x.anyType, dimensions: 1 }
  }

  const inner = ranks.slice(0, -1)
  return {
    cell: inner.length === 0 ? cell : memoizeOnce(() => inner.reduce<AnyXmlType>(arrayAround, cell())),
    dimensions: ranks.at(-1) ?? 1,
  }
}
