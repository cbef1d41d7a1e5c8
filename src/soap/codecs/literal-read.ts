/**
 * Bodies in literal form: decoders and encoders compiled from the contract's fields. A decoder parses, validates and binds
 * in one pass over the cursor. What always holds, by number:
 *  (1) What is bound is valid against the schema that `describe/xsd.ts` writes of the same fields: order, occurrence, nil,
 *      types, facets; an element or attribute that is not declared is refused, as is what stands where it may not.
 *  (2) A value keeps its exactness: it is what `contract/lexical/scalar.ts` reads of its text, and nothing else is believed of it
 *      (an xsi:type may only repeat the declared type).
 *  (3) The structure decides at once; values outside their bounds are collected, each with the path of its element.
 *  (4) What an encoder writes of a value, its decoder reads as that value.
 */

import type { AnyField, Fields, Scalar, Shape } from '../../contract/field.ts'
import { checkCount } from '../../contract/field-json.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { compileScalarCheck, compileScalarReader, readScalar, xsdTypeOf } from '../../contract/lexical/scalar.ts'
import { capitalize } from '../../contract/lexical/text.ts'
import {
  foldShape,
  isScalar,
  type ListShape,
  type ScalarOf,
  type ShapeCases,
  type UnionShape,
} from '../../contract/shape.ts'
import { itemName, sharedTypeName, toXmlName } from '../../contract/xml-message.ts'
import { type Cursor, internName, type Name } from '../../xml/index.ts'
import { refuseMessage } from '../refusal.ts'
import { namesSoapVersion, soap11, soap12, versions } from '../version.ts'
import {
  contentTypes,
  href,
  includeName,
  type LiteralReading,
  type PartSource,
  pathOf,
  type ReadRow,
  type ReadValue,
  type Space,
  type StreamedPart,
  xsi,
  xsiNil,
  xsiType,
} from './values.ts'

const hints = new Set([internName(xsi, 'schemaLocation'), internName(xsi, 'noNamespaceSchemaLocation')])
const xsd = 'http://www.w3.org/2001/XMLSchema'

const broken = (cursor: Cursor, detail: string): never =>
  refuseMessage({ kind: 'schema', path: pathOf(cursor), detail })

/** Flaws of a value's bounds; all other flaws are of its type. */
const bounds = new Set([
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'pattern',
  'totalDigits',
  'minItems',
  'maxItems',
])

function flawed(cursor: Cursor, reading: LiteralReading, { code, detail }: Flaw): undefined {
  if (!bounds.has(code)) broken(cursor, detail)
  reading.found.push({ path: pathOf(cursor), code, detail })
}

// Reading

/** What the attributes of an element may say. */
interface Allowed {
  /** Types that xsi:type may name. */
  readonly types: ReadonlySet<Name>
  readonly nillable: boolean
  readonly attributes: readonly LiteralMember[]
  readonly others: ReadonlySet<Name>
}

interface LiteralMember {
  readonly key: string
  readonly name: Name
  readonly field: AnyField
  readonly read: ReadValue
  /** Neither bound nor demanded: the server's own (rule 4 of the vocabulary). */
  readonly ignored: boolean
  readonly optional: boolean
}

const nobody: ReadonlySet<Name> = new Set()

/** A decoder of an element with these fields; `type` is the name of its complex type, if it has one. */
export function compileRowReader(fields: Fields, space: Space, type?: string, given: Partial<Allowed> = {}): ReadRow {
  const all = Object.entries(fields).filter(([, field]) => !field.isInternal)
  const members = all.filter(([, field]) => !field.isAttribute).map(([key, field]) => member(key, field, space))
  const unqualified = { ...space, children: '' }
  const attributes = all.filter(([, field]) => field.isAttribute).map(([key, field]) => member(key, field, unqualified))
  const named = type === undefined ? nobody : new Set([internName(space.types, toXmlName(type))])
  const allowed: Allowed = { types: named, nillable: false, others: nobody, ...given, attributes }
  return (cursor, reading) => {
    const row: Record<string, unknown> = {}
    if (cursor.attributes > 0) readAttributes(cursor, reading, allowed, row)
    for (const { optional, name } of attributes) {
      if (!optional && cursor.attribute(name) === undefined) broken(cursor, `must have the attribute ${name.local}`)
    }
    let at = 0
    while (cursor.child() === 'start') {
      let next = at
      while (next < members.length && members[next]!.name !== cursor.name) next++
      if (next === members.length) unexpected(cursor, members, at)
      for (; at < next; at++) if (!members[at]!.optional) unexpected(cursor, members, at)
      const { key, read, ignored } = members[at++]!
      const value = read(cursor, reading)
      if (!ignored) row[key] = value
    }
    if (cursor.event !== 'end') broken(cursor, 'has text where elements are expected')
    for (; at < members.length; at++) if (!members[at]!.optional) missing(cursor, members[at]!)
    return row
  }
}

export function member(key: string, field: AnyField, space: Space): LiteralMember {
  return {
    key,
    name: internName(space.children, toXmlName(key)),
    field,
    read: compileValueReader(field, key, { ...space, children: space.below }),
    ignored: field.isReadOnly,
    optional: field.isOptional || field.isReadOnly,
  }
}

function unexpected(cursor: Cursor, members: readonly LiteralMember[], at: number): never {
  const expected = members.slice(at, members.findIndex((each, index) => index >= at && !each.optional) + 1 || undefined)
  const names = expected.map(each => each.name.local)
  const other = members.some(each => each.name === cursor.name)
    ? 'is out of order or there twice'
    : 'is not expected here'
  return broken(cursor, names.length === 0 ? other : `${other}: ${names.join(', ')} would be`)
}

const missing = (cursor: Cursor, { name }: LiteralMember): never =>
  broken(cursor, `must have the element ${name.local}`)

/** @returns whether the element is nil */
function readAttributes(
  cursor: Cursor,
  reading: LiteralReading,
  allowed: Allowed,
  into: Record<string, unknown>,
): boolean {
  let nil = false
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    const value = cursor.attributeValue(index)
    const declared = allowed.attributes.find(each => each.name === name)
    if (declared) {
      const read = scalarOf(declared.field, value)
      if (read instanceof Flaw) flawed(cursor, reading, new Flaw(read.code, `${name.local} ${read.detail}`))
      else if (!declared.ignored) into[declared.key] = read
    } else if (name === xsiNil) {
      if (!allowed.nillable) broken(cursor, 'may not be nil')
      nil = truth(cursor, value)
    } else if (name === xsiType) {
      const type = cursor.qname(value)
      if (!type || !allowed.types.has(type)) broken(cursor, `may not be of the type ${value}`)
    } else if (name === soap11.encodingStyle || name === soap12.encodingStyle) {
      checkEncoding(name, value)
    } else if (!hints.has(name) && !allowed.others.has(name)) {
      broken(cursor, `may not have the attribute ${name.local}`)
    }
  }
  return nil
}

/** Literal content under an encodingStyle: only one that promises nothing. */
function checkEncoding(attribute: Name, value: string): void {
  const version = versions.find(each => each.encodingStyle === attribute)
  const encoding = value.trim()
  if (!version || !namesSoapVersion(version, encoding, version.literal))
    refuseMessage({ kind: 'encoding-unknown', encoding })
}

/** Of an element whose other attributes nobody reads. */
export function checkEncodings(cursor: Cursor): void {
  for (const { encodingStyle } of versions) {
    const value = cursor.attribute(encodingStyle)
    if (value !== undefined) checkEncoding(encodingStyle, value)
  }
}

const readBoolean = compileScalarReader({ kind: 'boolean' })
function truth(cursor: Cursor, text: string): boolean {
  const value = readBoolean(text)
  return typeof value === 'boolean' ? value : broken(cursor, 'has an xsi:nil that is not boolean')
}

function scalarOf({ shape }: AnyField, text: string): unknown {
  return isScalar(shape) ? readScalar(shape, text) : new Flaw('type', 'must be a scalar')
}

/** A decoder of one element of a field; `space` is that of what is in it. `others` are attributes that say nothing here. */
export function compileValueReader(
  field: AnyField,
  key: string | undefined,
  space: Space,
  others: ReadonlySet<Name> = nobody,
): ReadValue {
  const { shape } = field
  const allowed: Allowed = {
    types: typesOf(shape, key, space.types),
    nillable: field.isNullable,
    attributes: [],
    others: shape.kind === 'bytes' ? new Set([...contentTypes, ...others]) : others,
  }
  const content = foldShape(shape, contentReaders, key, space, allowed)
  if (!field.isNullable) return content
  return (cursor, reading) => {
    const nil = cursor.attribute(xsiNil)
    if (nil === undefined || !truth(cursor, nil)) return content(cursor, reading)
    readAttributes(cursor, reading, allowed, {})
    if (cursor.next() !== 'end') broken(cursor, 'is nil and has content')
    return null
  }
}

const contentReaders: ShapeCases<ReadValue, [key: string | undefined, space: Space, allowed: Allowed]> = {
  scalar: (shape, _key, _space, allowed) =>
    shape.kind === 'bytes' ? bytesReader(shape, allowed) : textReader(shape, allowed),
  list: listReader,
  object: ({ fields, name }, _key, space, allowed) => compileRowReader(fields, space, name, allowed),
  union: unionReader,
}

function textReader(shape: Scalar, allowed: Allowed): ReadValue {
  const readText = compileScalarReader(shape)
  return (cursor, reading) => {
    if (cursor.attributes > 0) readAttributes(cursor, reading, allowed, {})
    const text = cursor.text()
    if (text === undefined) return broken(cursor, 'is an element where only text is expected')
    const value = readText(text)
    return value instanceof Flaw ? flawed(cursor, reading, value) : value
  }
}

function listReader(shape: ListShape, key: string | undefined, space: Space, allowed: Allowed): ReadValue {
  const item = internName(space.children, itemName(shape, key))
  const read = compileValueReader(shape.item, undefined, space)
  return (cursor, reading) => {
    if (cursor.attributes > 0) readAttributes(cursor, reading, allowed, {})
    const items: unknown[] = []
    while (cursor.child() === 'start') {
      if (cursor.name !== item) broken(cursor, `is not expected here: ${item.local} would be`)
      items.push(read(cursor, reading))
    }
    if (cursor.event !== 'end') broken(cursor, 'has text where elements are expected')
    const flaw = checkCount(shape, items.length)
    if (flaw) flawed(cursor, reading, flaw)
    return items
  }
}

function unionReader(shape: UnionShape, _key: string | undefined, space: Space, allowed: Allowed): ReadValue {
  const cases = new Map(
    Object.entries(shape.of).map(([key, fields]) => [
      internName(space.children, toXmlName(key)),
      { key, read: compileRowReader(fields, space) },
    ]),
  )
  const expected = [...cases.keys()].map(each => each.local).join(', ')
  return (cursor, reading) => {
    if (cursor.attributes > 0) readAttributes(cursor, reading, allowed, {})
    if (cursor.child() !== 'start') broken(cursor, `must have one of ${expected}`)
    const found = cases.get(cursor.name)
    if (!found) return broken(cursor, `is not expected here: one of ${expected} would be`)
    const value = { [shape.on]: found.key, ...found.read(cursor, reading) }
    if (cursor.child() !== 'end') broken(cursor, 'is not expected here')
    return value
  }
}

/**
 * Octets: as text; as XOP says, instead of it (XOP §2.1), where it is base64; or in a part of the package that an attribute or
 * the text refers to.
 */
function bytesReader(shape: ScalarOf<'bytes'>, allowed: Allowed): ReadValue {
  const inside = textReader(shape, allowed)
  if (shape.encoding === 'hex') return inside
  const [check, readText] = [compileScalarCheck(shape), compileScalarReader(shape)]
  return (cursor, reading) => {
    const { parts } = reading
    if (!parts) return inside(cursor, reading)
    const reference = cursor.attribute(href)
    if (cursor.attributes > 0)
      readAttributes(cursor, reading, reference === undefined ? allowed : { ...allowed, others: referring }, {})
    const value = outside(cursor, parts, reference) ?? readText(cursor.value)
    const checked = value instanceof Uint8Array ? check(value) : value
    return checked instanceof Flaw ? flawed(cursor, reading, checked) : checked
  }
}
const referring: ReadonlySet<Name> = new Set([href, ...contentTypes])

/** The octets of the part that is referred to; undefined when they are the text at hand. Goes to the element's `end`. */
function outside(
  cursor: Cursor,
  parts: PartSource,
  reference: string | undefined,
): Uint8Array | StreamedPart | undefined {
  const event = cursor.child()
  if (event === 'end') return reference === undefined ? new Uint8Array(0) : parts.take(reference)
  if (reference !== undefined) broken(cursor, 'refers to a part and has content')
  if (event === 'start') {
    if (cursor.name !== includeName) broken(cursor, 'is an element where only text is expected')
    const bytes = parts.take(cursor.attribute(href) ?? '')
    cursor.skip()
    if (cursor.child() !== 'end') broken(cursor, 'is not expected here: an Include stands alone')
    return bytes
  }
  const text = cursor.value
  if (cursor.next() !== 'end') broken(cursor, 'is an element where only text is expected')
  return text.trim().startsWith('cid:') ? parts.take(text.trim()) : undefined // WS-I Attachments Profile §4.4 swaRef
}

/** What xsi:type may say: the built-in type that a scalar narrows, or the name that `describe/xsd-types.ts` gives the type. */
function typesOf(shape: Shape, key: string | undefined, uri: string): ReadonlySet<Name> {
  const own = (name: string): Name => internName(uri, toXmlName(name))
  const made = key === undefined ? [] : [own(capitalize(key))]
  const names = foldShape<readonly Name[]>(shape, {
    scalar: each => {
      const shared = sharedTypeName(each)
      return [internName(xsd, xsdTypeOf(each)), ...made, ...(shared === undefined ? [] : [own(shared)])]
    },
    list: () => made,
    object: ({ name }) => (name === undefined ? made : [own(name)]),
    union: () => made,
  })
  return new Set(names)
}
