/** RPC/encoded: values with the types of their elements (SOAP 1.1 §5, SOAP 1.2 Part 2 §3). */
import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields, Shape } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { compileScalarWriter, xsdTypeOf } from '../../contract/lexical/scalar.ts'
import { listEntries } from '../../contract/map-entries.ts'
import { foldShape, type ShapeCases } from '../../contract/shape.ts'
import { placeOfField, placeOfItem, type TypePlace } from '../../contract/type-names.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { escapeText, writeAttribute } from '../../xml/index.ts'
import { soapPrefix } from '../fault.ts'
import type { SoapVersion } from '../version.ts'
import { encodings, type SoapEncoding } from './encoded-read.ts'
import { type TypeSpace, xsdUri, xsiUri } from './values.ts'

/** Each gets a value that has passed the contract's checks: the assertions below rely on that. */
type WriteTyped = (value: unknown, encoding: SoapEncoding) => string

/** The response with an xsi:type on each value: clients of this style rely on it. */
export function compileEncodedWriter(
  namespace: string,
  element: string,
  fields: Fields,
  types: TypeSpace,
): (row: Values, version: SoapVersion) => string {
  const write = compileStructWriter(fields, types)
  const own = `xmlns:m=${writeAttribute(namespace)} xmlns:t=${writeAttribute(types.uri)}`
  return (row, version) => {
    const encoding = encodings[version.number]
    const scope = `${own} xmlns:xsi="${xsiUri}" xmlns:xsd="${xsdUri}" xmlns:enc="${encoding.uri}"`
    return `<m:${element} ${scope} ${soapPrefix}:encodingStyle="${encoding.uri}">${write(row, encoding)}</m:${element}>`
  }
}

function compileStructWriter(fields: Fields, types: TypeSpace): WriteTyped {
  const parts = Object.entries(fields)
    .filter(([, field]) => !field.isInternal)
    .map(([key, field]) => ({
      key,
      write: compileTypedWriter(field, placeOfField(key, 'encoded'), toXmlName(key), types),
    }))
  return (value, encoding) => {
    const row = value as Values
    let text = ''
    for (const { key, write } of parts) {
      const member = ownMember(row, key)
      if (member !== undefined) text += write(member, encoding)
    }
    return text
  }
}

function compileTypedWriter({ shape }: AnyField, place: TypePlace, tag: string, types: TypeSpace): WriteTyped {
  const write = foldShape(shape, typedWriters, place, tag, types)
  return (value, encoding) => (value === null ? `<${tag} xsi:nil="true"/>` : write(value, encoding))
}

const typedWriters: ShapeCases<WriteTyped, [place: TypePlace, tag: string, types: TypeSpace]> = {
  scalar: (shape, place, tag, types) => {
    const [start, write] = [startTag(tag, shape, place, types), compileScalarWriter(shape)]
    return value => `${start}${escapeText(write(value))}</${tag}>`
  },
  list: (shape, place, tag, types) => {
    const itemPlace = placeOfItem(shape, place)
    const write = compileTypedWriter(shape.item, itemPlace, itemName(shape, place.field), types)
    const type = typeNameOf(shape.item.shape, itemPlace, types) ?? 'xsd:anyType'
    return (value, encoding) => {
      const items = value as readonly unknown[]
      const array = encoding.writeArray(type, [items.length])
      return `<${tag} xsi:type="enc:Array"${array}>${items.map(each => write(each, encoding)).join('')}</${tag}>`
    }
  },
  map: ({ entries }, place, tag, types) => {
    const write = typedWriters.list(entries, place, tag, types)
    return (value, encoding) => write(listEntries(value), encoding)
  },
  object: (shape, place, tag, types) => {
    const [start, write] = [startTag(tag, shape, place, types), compileStructWriter(shape.fields, types)]
    return (value, encoding) => `${start}${write(value, encoding)}</${tag}>`
  },
  union: ({ on, of }, _place, tag, types) => {
    const cases = new Map(
      Object.entries(of).map(([which, fields]) => [
        which,
        { tag: toXmlName(which), write: compileStructWriter(fields, types) },
      ]),
    )
    return (value, encoding) => {
      const variant = cases.get(String((value as Values)[on]))
      return variant
        ? `<${tag}><${variant.tag}>${variant.write(value, encoding)}</${variant.tag}></${tag}>`
        : `<${tag}/>`
    }
  },
}

function startTag(tag: string, shape: Shape, place: TypePlace, types: TypeSpace): string {
  const type = typeNameOf(shape, place, types)
  return type === undefined ? `<${tag}>` : `<${tag} xsi:type="${type}">`
}

/** A QName; undefined where the schema already gives the type of the element. */
const typeNameOf = (shape: Shape, place: TypePlace, types: TypeSpace): string | undefined =>
  foldShape<string | undefined>(shape, {
    scalar: each => `xsd:${xsdTypeOf(each)}`,
    list: () => 'enc:Array',
    map: () => 'enc:Array',
    object: each => (each.name === undefined ? undefined : `t:${types.nameOf(each, place)}`),
    union: () => undefined,
  })
