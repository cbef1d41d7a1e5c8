import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields, Shape } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { compileScalarWriter, xsdTypeOf } from '../../contract/lexical/scalar.ts'
import { foldShape, type ShapeCases } from '../../contract/shape.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { escapeText } from '../../xml/index.ts'
import { soapPrefix } from '../fault.ts'
import type { SoapVersion } from '../version.ts'
import { encodings, type SoapEncoding, xsd } from './encoded-read.ts'
import { xsiType } from './values.ts'

// Writing

type WriteTyped = (value: unknown, encoding: SoapEncoding) => string

/** The response, with an xsi:type for each value: clients of this style rely on it. */
export function compileEncodedWriter(
  namespace: string,
  element: string,
  fields: Fields,
  types: string = namespace,
): (answer: Values, version: SoapVersion) => string {
  const content = struct(fields)
  return (answer, version) => {
    const encoding = encodings[version.number]
    const open = `<m:${element} xmlns:m="${namespace}" xmlns:t="${types}" xmlns:xsi="${xsiType.uri}" xmlns:xsd="${xsd}" xmlns:enc="${encoding.uri}" ${soapPrefix}:encodingStyle="${encoding.uri}">`
    return `${open}${content(answer, encoding)}</m:${element}>`
  }
}

function struct(fields: Fields): WriteTyped {
  const parts = Object.entries(fields)
    .filter(([, field]) => !field.isInternal)
    .map(([key, field]) => ({ key, write: typedWriter(field, key, toXmlName(key)) }))
  return (value, encoding) => {
    const row = value as Values // a value that the contract's checks have passed
    let written = ''
    for (const { key, write } of parts) {
      const member = ownMember(row, key)
      if (member !== undefined) written += write(member, encoding)
    }
    return written
  }
}

/** Each takes a value that the contract's checks have passed: the assertions below rest on that. */
function typedWriter({ shape }: AnyField, key: string | undefined, tag: string): WriteTyped {
  const content = foldShape(shape, contentWriters, key, tag)
  return (value, encoding) => (value === null ? `<${tag} xsi:nil="true"/>` : content(value, encoding))
}

const contentWriters: ShapeCases<WriteTyped, [key: string | undefined, tag: string]> = {
  scalar: (shape, _key, tag) => {
    const [start, write] = [startTag(tag, shape), compileScalarWriter(shape)]
    return value => `${start}${escapeText(write(value))}</${tag}>`
  },
  list: (shape, key, tag) => {
    const item = typedWriter(shape.item, undefined, itemName(shape, key))
    const type = typeName(shape.item.shape) ?? 'xsd:anyType'
    return (value, encoding) => {
      const items = value as readonly unknown[]
      const array = encoding.writeArray(type, items.length)
      return `<${tag} xsi:type="enc:Array"${array}>${items.map(each => item(each, encoding)).join('')}</${tag}>`
    }
  },
  object: (shape, _key, tag) => {
    const [start, content] = [startTag(tag, shape), struct(shape.fields)]
    return (value, encoding) => `${start}${content(value, encoding)}</${tag}>`
  },
  union: ({ on, of }, _key, tag) => {
    const cases = new Map(
      Object.entries(of).map(([which, fields]) => [which, { tag: toXmlName(which), write: struct(fields) }]),
    )
    return (value, encoding) => {
      const found = cases.get(String((value as Values)[on]))
      return found ? `<${tag}><${found.tag}>${found.write(value, encoding)}</${found.tag}></${tag}>` : `<${tag}/>`
    }
  },
}

function startTag(tag: string, shape: Shape): string {
  const type = typeName(shape)
  return type === undefined ? `<${tag}>` : `<${tag} xsi:type="${type}">`
}

/** As `describe/xsd-types.ts` names them. */
const typeName = (shape: Shape): string | undefined => foldShape(shape, typeNames)
const typeNames: ShapeCases<string | undefined> = {
  scalar: shape => `xsd:${xsdTypeOf(shape)}`,
  list: () => 'enc:Array',
  object: ({ name }) => (name === undefined ? undefined : `t:${toXmlName(name)}`),
  union: () => undefined,
}
