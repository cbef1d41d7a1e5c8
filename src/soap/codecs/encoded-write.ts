import { ownMember } from '../../base/objects.ts'
import type { AnyField, Fields, Shape } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { isScalar, writeScalar, xsdTypeOf } from '../../contract/lexical/scalar.ts'
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
  const content = contentWriter(shape, key, tag)
  return (value, encoding) => (value === null ? `<${tag} xsi:nil="true"/>` : content(value, encoding))
}

function contentWriter(shape: Shape, key: string | undefined, tag: string): WriteTyped {
  const type = typeName(shape)
  const start = type === undefined ? `<${tag}>` : `<${tag} xsi:type="${type}">`
  if (shape.kind === 'object') {
    const content = struct(shape.fields)
    return (value, encoding) => `${start}${content(value, encoding)}</${tag}>`
  }
  if (shape.kind === 'list') {
    const name = itemName(shape, key)
    const item = typedWriter(shape.item, undefined, name)
    const of = typeName(shape.item.shape) ?? 'xsd:anyType'
    return (value, encoding) => {
      const items = value as readonly unknown[]
      const array = encoding.writeArray(of, items.length)
      return `<${tag} xsi:type="enc:Array"${array}>${items.map(each => item(each, encoding)).join('')}</${tag}>`
    }
  }
  if (shape.kind === 'union') {
    const cases = new Map(
      Object.entries(shape.of).map(([which, fields]) => [which, { tag: toXmlName(which), write: struct(fields) }]),
    )
    return (value, encoding) => {
      const found = cases.get(String((value as Values)[shape.on]))
      return found ? `<${tag}><${found.tag}>${found.write(value, encoding)}</${found.tag}></${tag}>` : `<${tag}/>`
    }
  }
  return value => `${start}${escapeText(writeScalar(shape, value))}</${tag}>`
}

/** As `describe/xsd-types.ts` names them. */
function typeName(shape: Shape): string | undefined {
  if (isScalar(shape)) return `xsd:${xsdTypeOf(shape)}`
  if (shape.kind === 'list') return 'enc:Array'
  return shape.kind === 'object' && shape.name !== undefined ? `t:${toXmlName(shape.name)}` : undefined
}
