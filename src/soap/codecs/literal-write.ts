import { ownMember } from '../../base/objects.ts'
import { type AnyField, Field, type Fields, type Scalar } from '../../contract/field.ts'
import type { Values } from '../../contract/implement.ts'
import { compileScalarWriter } from '../../contract/lexical/scalar.ts'
import { listEntries } from '../../contract/map-entries.ts'
import {
  foldScalar,
  foldShape,
  isScalar,
  objectFields,
  type ScalarCases,
  type ShapeCases,
} from '../../contract/shape.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { escapeText, writeAttribute } from '../../xml/index.ts'
import { includeName, type Write, xsiUri } from './values.ts'

// Writing

/**
 * An encoder of the children of an element with these fields; `compileAttributesWriter` writes its
 * attributes.
 * @param prefix of the child elements, with its colon; empty where they are in the default
 *   namespace
 * @param below the prefix of the elements inside them
 */
export function compileRowWriter(fields: Fields, prefix: string, below: string = prefix): Write {
  const parts = Object.entries(fields)
    .filter(([, field]) => !field.isInternal && !field.isAttribute)
    .map(([key, field]) => ({
      key,
      inherited: key in Object.prototype,
      write: compileElementWriter(field, key, prefix + toXmlName(key), below),
    }))
  return (value, writing) => {
    const row = value as Values // a value that has passed the contract's checks
    let text = ''
    for (const { key, inherited, write } of parts) {
      const member = inherited ? ownMember(row, key) : row[key]
      if (member !== undefined) text += write(member, writing)
    }
    return text
  }
}

/**
 * The attributes of an element with these fields, each with a space before it; undefined where
 * there are none.
 */
export function compileAttributesWriter(fields: Fields): ((row: Values) => string) | undefined {
  const parts = Object.entries(fields).flatMap(([key, { shape, isInternal, isAttribute }]) =>
    !isInternal && isAttribute && isScalar(shape) ? [{ key, write: compileScalarWriter(shape) }] : [],
  )
  if (parts.length === 0) return undefined
  return row => {
    let text = ''
    for (const { key, write } of parts) {
      const value = ownMember(row, key)
      if (value !== undefined) text += ` ${toXmlName(key)}=${writeAttribute(write(value))}`
    }
    return text
  }
}
/** An encoder of one whole element of a field. */
export function compileElementWriter(field: AnyField, key: string | undefined, tag: string, prefix: string): Write {
  const content = foldShape(field.shape, contentWriters, key, prefix)
  const attributes = compileAttributesWriter(objectFields(field.shape))
  const [open, close] = [`<${tag}>`, `</${tag}>`]
  const nil = `<${tag} xmlns:xsi="${xsiUri}" xsi:nil="true"/>`
  return (value, writing) => {
    if (value === null) return nil
    const start = attributes ? `<${tag}${attributes(value as Values)}>` : open // an object's value is a row
    return start + content(value, writing) + close
  }
}

/** Each gets a value that has passed the contract's checks: the assertions below rely on that. */
const contentWriters: ShapeCases<Write, [key: string | undefined, prefix: string]> = {
  scalar: shape => foldScalar(shape, textWriters),
  list: (shape, key, prefix) => {
    const item = compileElementWriter(shape.item, undefined, prefix + itemName(shape, key), prefix)
    return (value, writing) => {
      let text = ''
      for (const each of value as readonly unknown[]) text += item(each, writing)
      return text
    }
  },
  map: ({ entries }, key, prefix) => {
    const write = contentWriters.list(entries, key, prefix)
    return (value, writing) => write(listEntries(value), writing)
  },
  object: ({ fields }, _key, prefix) => compileRowWriter(fields, prefix),
  union: ({ on, of }, _key, prefix) => {
    const cases = new Map(
      Object.entries(of).map(([key, fields]) => [
        key,
        compileElementWriter(new Field({ kind: 'object', fields }), key, prefix + toXmlName(key), prefix),
      ]),
    )
    return (value, writing) => cases.get(String((value as Values)[on]))?.(value, writing) ?? ''
  },
}

const escapedText = (): Write => value => escapeText(value as string)
/** For text that never has anything to escape. */
const plainText = (shape: Scalar): Write => compileScalarWriter(shape)
const textWriters: ScalarCases<Write> = {
  string: escapedText,
  boolean: plainText,
  int: plainText,
  long: plainText,
  decimal: plainText,
  double: plainText,
  date: plainText,
  time: plainText,
  dateTime: plainText,
  duration: plainText,
  bytes: shape => {
    const inside = compileScalarWriter(shape)
    return (value, { attach }) => {
      if (!attach || shape.encoding === 'hex') return inside(value)
      return `<xop:Include xmlns:xop="${includeName.uri}" href=${writeAttribute(attach(value as Uint8Array))}/>`
    }
  },
  enum: escapedText,
  id: plainText,
  ref: plainText,
}
