import { memberOf } from '../../base/objects.ts'
import { type AnyField, Field, type Fields, type Scalar, type Shape } from '../../contract/field.ts'
import type { Row } from '../../contract/implement.ts'
import { isScalar, write } from '../../contract/lexical/scalar.ts'
import { itemName, xmlName } from '../../contract/xml-message.ts'
import { attribute, text } from '../../xml/index.ts'
import { include, type Write, xsi } from './values.ts'

// Writing

/**
 * An encoder of the children of an element with these fields; its attributes are `attributesWriter`'s.
 * @param prefix of the child elements, with its colon; empty where the default namespace is theirs
 * @param below of the elements in them
 */
export function rowWriter(fields: Fields, prefix: string, below: string = prefix): Write {
  const parts = Object.entries(fields)
    .filter(([, field]) => !field.isInternal && !field.isAttribute)
    .map(([key, field]) => ({
      key,
      inherited: key in Object.prototype,
      write: elementWriter(field, key, prefix + xmlName(key), below),
    }))
  return (value, writing) => {
    const row = value as Row // a value that the contract's checks have passed
    let written = ''
    for (const { key, inherited, write } of parts) {
      const member = inherited ? memberOf(row, key) : row[key]
      if (member !== undefined) written += write(member, writing)
    }
    return written
  }
}

/** The attributes of an element with these fields, each with a space before it; undefined where there are none. */
export function attributesWriter(fields: Fields): ((row: Row) => string) | undefined {
  const parts = Object.entries(fields).filter(([, field]) => !field.isInternal && field.isAttribute)
  if (parts.length === 0) return undefined
  return row => {
    let written = ''
    for (const [key, { shape }] of parts) {
      const value = memberOf(row, key)
      if (value !== undefined && isScalar(shape)) written += ` ${xmlName(key)}=${attribute(write(shape, value))}`
    }
    return written
  }
}
/** An encoder of one whole element of a field. */
export function elementWriter(field: AnyField, key: string | undefined, tag: string, prefix: string): Write {
  const content = valueWriter(field.shape, key, prefix)
  const attributes = field.shape.kind === 'object' ? attributesWriter(field.shape.fields) : undefined
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  const nil = `<${tag} xmlns:xsi="${xsi}" xsi:nil="true"/>`
  return (value, writing) => {
    if (value === null) return nil
    const start = attributes ? `<${tag}${attributes(value as Row)}>` : open // an object's value is a row
    return start + content(value, writing) + close
  }
}

/** Each takes a value that the contract's checks have passed: the assertions below rest on that. */
function valueWriter(shape: Shape, key: string | undefined, prefix: string): Write {
  if (shape.kind === 'object') return rowWriter(shape.fields, prefix)
  if (shape.kind === 'list') {
    const item = elementWriter(shape.item, undefined, prefix + itemName(shape, key), prefix)
    return (value, writing) => {
      let written = ''
      for (const each of value as readonly unknown[]) written += item(each, writing)
      return written
    }
  }
  if (shape.kind === 'union') {
    const cases = new Map(
      Object.entries(shape.of).map(([key, fields]) => [
        key,
        elementWriter(new Field({ kind: 'object', fields }), key, prefix + xmlName(key), prefix),
      ]),
    )
    return (value, writing) => cases.get(String((value as Row)[shape.on]))?.(value, writing) ?? ''
  }
  return scalarWriter(shape)
}

function scalarWriter(shape: Scalar): Write {
  if (shape.kind === 'string' || shape.kind === 'enum') return value => text(value as string)
  if (shape.kind === 'bytes')
    return (value, { attach }) => {
      if (!attach || shape.encoding === 'hex') return write(shape, value)
      return `<xop:Include xmlns:xop="${include.uri}" href=${attribute(attach(value as Uint8Array))}/>`
    }
  return value => write(shape, value) // numbers, dates and identifiers have nothing to escape
}
