/**
 * Bodies in literal form: readers compiled from the contract's fields. A reader parses, validates
 * and binds in one pass over the cursor. What always holds, by number:
 *  (1) What is bound is valid against the schema that `describe/xsd.ts` writes of the same fields:
 *      order, occurrence, nil, types, facets. An undeclared element or attribute is refused, and so
 *      is one in the wrong place.
 *  (2) A value keeps its exactness: `contract/lexical/` reads it from its text. An xsi:type repeats
 *      the declared type, or names a simple type that narrows it.
 *  (3) The structure is decided at once; values out of bounds are collected, each with the path of
 *      its element.
 *  (4) What `literal-write.ts` writes of a value is read as that value.
 */

import { memoizeByText } from '../../base/memo.ts'
import type { AnyField, Fields, Scalar, Shape } from '../../contract/field.ts'
import { checkCount } from '../../contract/given-fields.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { checkScalar, compileScalarCheck, compileScalarReader, xsdTypeOf } from '../../contract/lexical/scalar.ts'
import { compileSettledReader, readSettledScalar } from '../../contract/lexical/settled-text.ts'
import { trimXmlSpace } from '../../contract/lexical/text.ts'
import { collectEntries, findRepeatedKey, type MapEntry, repeatedKeyFlaw } from '../../contract/map-entries.ts'
import {
  foldShape,
  isScalar,
  type ListShape,
  type MapShape,
  type ScalarOf,
  type ShapeCases,
  type UnionShape,
} from '../../contract/shape.ts'
import { placeOfField, placeOfItem, type TypePlace } from '../../contract/type-names.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { isNarrowerBuiltIn, type NamesAround, simpleCodecOf } from '../../contract/xml-simple.ts'
import { type BuiltInName, builtInNames, x } from '../../contract/xml-type.ts'
import { type Cursor, internName, type Name } from '../../xml/index.ts'
import { refuseMessage } from '../refusal.ts'
import { namesSoapVersion, soap11, soap12, versions } from '../version.ts'
import {
  collectFlaw,
  contentTypeNames,
  describeNames,
  describeUnexpected,
  hrefName,
  includeName,
  type LiteralReading,
  type PartSource,
  pathOf,
  type ReadRow,
  type ReadValue,
  type Space,
  StreamedPart,
  schemaHints,
  xsdUri,
  xsiNil,
  xsiType,
} from './values.ts'

export const refuseContent = (cursor: Cursor, detail: string): never =>
  refuseMessage({ kind: 'schema', path: pathOf(cursor), detail })

/** A value out of bounds is collected; a value of the wrong type violates the schema. */
export function addFlaw(cursor: Cursor, reading: LiteralReading, { code, detail, isOfType }: Flaw): undefined {
  if (isOfType) refuseContent(cursor, detail)
  collectFlaw(reading, () => pathOf(cursor), { code, detail })
}

// Elements

/** What an element may have besides its content. */
interface ElementRules {
  /**
   * How the content is read as the type that xsi:type names; undefined: xsi:type may not name this
   * type.
   */
  readonly findType: (name: Name) => NamedContent | undefined
  readonly nillable: boolean
  readonly attributes: readonly LiteralMember[]
  /** Whether an undeclared attribute is ignored. */
  readonly ignores: (attribute: Name) => boolean
  /**
   * An element without content and attributes of its own counts as absent: its value is undefined.
   */
  readonly absentIfEmpty: boolean
}

interface LiteralMember {
  readonly key: string
  readonly name: Name
  readonly field: AnyField
  readonly read: ReadValue
  /** The element is neither bound nor required: a read-only field (rule 4 of the vocabulary). */
  readonly isIgnored: boolean
  readonly isOptional: boolean
}

const noRules: ElementRules = {
  findType: () => undefined,
  nillable: false,
  attributes: [],
  ignores: () => false,
  absentIfEmpty: false,
}

/** Reads an element with these fields. */
export function compileRowReader(fields: Fields, space: Space): ReadRow {
  const read = compileObjectReader(fields, space, noRules)
  return (cursor, reading) => read(cursor, reading) ?? {}
}

/** The value of an element with `absentIfEmpty` may be undefined. */
function compileObjectReader(
  fields: Fields,
  space: Space,
  baseRules: ElementRules,
): (cursor: Cursor, reading: LiteralReading) => Record<string, unknown> | undefined {
  const visible = Object.entries(fields).filter(([, field]) => !field.isInternal)
  const members = visible.filter(([, field]) => !field.isAttribute).map(([key, field]) => memberOf(key, field, space))
  const attributes = visible
    .filter(([, field]) => field.isAttribute)
    .map(([key, field]) => memberOf(key, field, { ...space, children: '' }))
  const rules: ElementRules = { ...baseRules, attributes }
  return (cursor, reading) => {
    const row: Record<string, unknown> = {}
    if (cursor.attributes > 0) readAttributes(cursor, reading, rules, row)
    const lacking = attributes.find(({ isOptional, name }) => !isOptional && cursor.attribute(name) === undefined)
    const path = lacking ? pathOf(cursor) : ''
    const first = cursor.child()
    if (rules.absentIfEmpty && first === 'end' && Object.keys(row).length === 0) return undefined
    if (lacking) refuseMessage({ kind: 'schema', path, detail: `must have the attribute ${lacking.name.local}` })
    readChildren(cursor, reading, members, row)
    return row
  }
}

/** From the first event inside the element to its `end`. */
function readChildren(
  cursor: Cursor,
  reading: LiteralReading,
  members: readonly LiteralMember[],
  row: Record<string, unknown>,
): void {
  let at = 0
  while (cursor.event === 'start') {
    let next = at
    while (next < members.length && members[next]!.name !== cursor.name) next++
    if (next === members.length) refuseMember(cursor, members, at)
    for (; at < next; at++) if (!members[at]!.isOptional) refuseMember(cursor, members, at)
    const { key, read, isIgnored } = members[at++]!
    const value = read(cursor, reading)
    if (!isIgnored) row[key] = value
    cursor.child()
  }
  if (cursor.event !== 'end') refuseContent(cursor, 'has text where elements are expected')
  for (; at < members.length; at++)
    if (!members[at]!.isOptional) refuseContent(cursor, `must have the element ${members[at]!.name.local}`)
}

const memberOf = (key: string, field: AnyField, space: Space): LiteralMember => ({
  key,
  name: internName(space.children, toXmlName(key)),
  field,
  read: compileFieldReader(field, placeOfField(key, space.form), { ...space, children: space.below }, noRules),
  isIgnored: field.isReadOnly,
  isOptional: field.isOptional || field.isReadOnly,
})

function refuseMember(cursor: Cursor, members: readonly LiteralMember[], at: number): never {
  const required = members.findIndex((each, index) => index >= at && !each.isOptional)
  const expected = members.slice(at, required + 1 || undefined).map(each => each.name)
  const names = members.map(each => each.name)
  return refuseContent(
    cursor,
    names.includes(cursor.name)
      ? `is out of order or repeated: expected ${describeNames(expected)}`
      : describeUnexpected(cursor.name, expected, names),
  )
}

/** @returns the type that xsi:type states */
function readAttributes(
  cursor: Cursor,
  reading: LiteralReading,
  rules: ElementRules,
  into: Record<string, unknown>,
): NamedContent | undefined {
  let stated: NamedContent | undefined
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    const value = cursor.attributeValue(index)
    const declared = rules.attributes.find(each => each.name === name)
    if (declared) {
      const read = readAttribute(declared.field, value)
      if (read instanceof Flaw)
        addFlaw(cursor, reading, new Flaw(read.code, `${name.local} ${read.detail}`, read.isOfType))
      else if (!declared.isIgnored) into[declared.key] = read
    } else if (name === xsiNil) {
      if (!rules.nillable) refuseContent(cursor, 'must not be nil, nor have xsi:nil')
      readNil(cursor, value)
    } else if (name === xsiType) {
      const type = cursor.qname(trimXmlSpace(value))
      stated = type && rules.findType(type)
      if (!stated) refuseContent(cursor, `must not have the xsi:type ${value}`)
    } else if (name === soap11.encodingStyle || name === soap12.encodingStyle) {
      checkEncoding(name, value)
    } else if (!schemaHints.has(name) && !rules.ignores(name)) {
      refuseContent(cursor, `must not have the attribute ${name.local}`)
    }
  }
  return stated
}

const readAttribute = ({ shape }: AnyField, text: string): unknown =>
  isScalar(shape) ? readSettledScalar(shape, text) : new Flaw('type', 'must be a scalar')

/** Literal content may have only an encodingStyle that promises nothing. */
function checkEncoding(attribute: Name, value: string): void {
  const version = versions.find(each => each.encodingStyle === attribute)
  const encoding = value.trim()
  if (!version || !namesSoapVersion(version, encoding, version.literal))
    refuseMessage({ kind: 'encoding-unknown', encoding })
}

/** For an element whose other attributes are not read. */
export function checkEncodings(cursor: Cursor): void {
  for (const { encodingStyle } of versions) {
    const value = cursor.attribute(encodingStyle)
    if (value !== undefined) checkEncoding(encodingStyle, value)
  }
}

const readBoolean = compileScalarReader({ kind: 'boolean' })
export function readNil(cursor: Cursor, text: string): boolean {
  const value = readBoolean(text)
  return typeof value === 'boolean' ? value : refuseContent(cursor, 'must have a boolean xsi:nil')
}

// Values

/**
 * Reads one element of a field; `space` is that of its content.
 * @param ignores which undeclared attributes are ignored
 */
export const compileValueReader = (
  field: AnyField,
  key: string,
  space: Space,
  ignores: ElementRules['ignores'] = noRules.ignores,
): ReadValue => compileFieldReader(field, placeOfField(key, space.form), space, { ...noRules, ignores })

/** The same for a parameter that may be absent: an empty or nil element is undefined. */
export const compileOptionalReader = (field: AnyField, key: string, space: Space): ReadValue => {
  const place = placeOfField(key, space.form)
  const read = compileFieldReader(field.nullable(), place, space, { ...noRules, absentIfEmpty: true })
  return field.isNullable ? read : (cursor, reading) => read(cursor, reading) ?? undefined
}

function compileFieldReader(field: AnyField, place: TypePlace, space: Space, outerRules: ElementRules): ReadValue {
  const { shape } = field
  const rules: ElementRules = {
    ...outerRules,
    findType: compileTypes(shape, place, space),
    nillable: field.isNullable,
    ignores:
      shape.kind === 'bytes' ? name => contentTypeNames.has(name) || outerRules.ignores(name) : outerRules.ignores,
  }
  const read = foldShape(shape, contentReaders, place, space, rules)
  if (!field.isNullable) return read
  return (cursor, reading) => {
    const nil = cursor.attribute(xsiNil)
    if (nil === undefined || !readNil(cursor, nil)) return read(cursor, reading)
    readAttributes(cursor, reading, rules, {})
    if (cursor.next() !== 'end') refuseContent(cursor, 'is nil and has content')
    return null
  }
}

const contentReaders: ShapeCases<ReadValue, [place: TypePlace, space: Space, rules: ElementRules]> = {
  scalar: (shape, _place, _space, rules) =>
    shape.kind === 'bytes' ? compileBytesReader(shape, rules) : compileTextReader(shape, rules),
  list: compileListReader,
  map: compileMapReader,
  object: ({ fields }, _place, space, rules) => compileObjectReader(fields, space, rules),
  union: compileUnionReader,
}

function compileTextReader(shape: Scalar, rules: ElementRules): ReadValue {
  const readText = compileSettledReader(shape)
  return (cursor, reading) => {
    const stated = cursor.attributes > 0 ? readAttributes(cursor, reading, rules, {}) : undefined
    const text = cursor.text()
    if (text === undefined) return refuseContent(cursor, 'is an element where only text is expected')
    if (rules.absentIfEmpty && isEmptyText(shape, text)) return undefined
    const value = stated?.findFlaw(text) ?? readText(text)
    return value instanceof Flaw ? addFlaw(cursor, reading, value) : value
  }
}

/** XML Schema Part 2 §4.3.6: only these two types keep white space. */
const spaceKeepingTypes = new Set(['string', 'normalizedString'])
export const isEmptyText = (shape: Scalar, text: string): boolean =>
  text === '' || (trimXmlSpace(text) === '' && !spaceKeepingTypes.has(xsdTypeOf(shape)))

function compileListReader(shape: ListShape, place: TypePlace, space: Space, rules: ElementRules): ReadValue {
  const item = internName(space.children, itemName(shape, place.field))
  const read = compileFieldReader(shape.item, placeOfItem(shape, place), space, noRules)
  return (cursor, reading) => {
    if (cursor.attributes > 0) readAttributes(cursor, reading, rules, {})
    const items: unknown[] = []
    while (cursor.child() === 'start') {
      if (cursor.name !== item) refuseContent(cursor, describeUnexpected(cursor.name, [item]))
      items.push(read(cursor, reading))
    }
    if (cursor.event !== 'end') refuseContent(cursor, 'has text where elements are expected')
    if (rules.absentIfEmpty && items.length === 0) return undefined
    const flaw = checkCount(shape, items.length)
    if (flaw) addFlaw(cursor, reading, flaw)
    return items
  }
}

/** The entries as a list; a repeated key is a flaw that no schema can express. */
function compileMapReader({ entries }: MapShape, place: TypePlace, space: Space, rules: ElementRules): ReadValue {
  const read = compileListReader(entries, place, space, rules)
  return (cursor, reading) => {
    const rows = read(cursor, reading) as readonly MapEntry[] | undefined
    if (rows === undefined) return undefined
    const repeated = findRepeatedKey(rows)
    if (repeated !== undefined) addFlaw(cursor, reading, repeatedKeyFlaw(repeated))
    return collectEntries(rows)
  }
}

function compileUnionReader(shape: UnionShape, place: TypePlace, space: Space, rules: ElementRules): ReadValue {
  const cases = new Map(
    Object.entries(shape.of).map(([key, fields]) => {
      const read = compileObjectReader(fields, space, {
        ...noRules,
        findType: compileTypes({ kind: 'object', fields }, placeOfField(key, place.form), space),
      })
      return [internName(space.children, toXmlName(key)), { key, read }]
    }),
  )
  const expected = [...cases.keys()]
  return (cursor, reading) => {
    if (cursor.attributes > 0) readAttributes(cursor, reading, rules, {})
    const first = cursor.child()
    if (rules.absentIfEmpty && first === 'end') return undefined
    if (first !== 'start') refuseContent(cursor, `must have ${describeNames(expected)}`)
    const found = cases.get(cursor.name)
    if (!found) return refuseContent(cursor, describeUnexpected(cursor.name, expected))
    const value = { [shape.on]: found.key, ...found.read(cursor, reading) }
    if (cursor.child() !== 'end') refuseContent(cursor, 'is not expected here: only one case is')
    return value
  }
}

/**
 * Octets as base64 text; by XOP instead of the text (XOP §2.1); or in a part of the package to
 * which an attribute or the text refers.
 */
function compileBytesReader(shape: ScalarOf<'bytes'>, rules: ElementRules): ReadValue {
  const readInline = compileTextReader(shape, rules)
  if (shape.encoding === 'hex') return readInline
  const [check, readText] = [compileScalarCheck(shape), compileScalarReader(shape)]
  return (cursor, reading) => {
    const { parts } = reading
    if (!parts) return readInline(cursor, reading)
    const reference = cursor.attribute(hrefName)
    const allowed = reference === undefined ? rules : { ...rules, ignores: isReferring }
    const stated = cursor.attributes > 0 ? readAttributes(cursor, reading, allowed, {}) : undefined
    const value = takePart(cursor, parts, reference) ?? readText(cursor.value)
    if (rules.absentIfEmpty && value instanceof Uint8Array && value.length === 0) return undefined
    if (value instanceof StreamedPart && stated?.findFlawOfOctets)
      refuseContent(cursor, 'has an xsi:type with its own bounds, and its octets are in a part that is not held')
    const checked = value instanceof Uint8Array ? (stated?.findFlawOfOctets?.(value) ?? check(value)) : value
    return checked instanceof Flaw ? addFlaw(cursor, reading, checked) : checked
  }
}
const isReferring = (attribute: Name): boolean => attribute === hrefName || contentTypeNames.has(attribute)

/**
 * The octets of the part that the element refers to; undefined where they are in its text. Moves to
 * the element's `end`.
 */
export function takePart(
  cursor: Cursor,
  parts: PartSource,
  reference: string | undefined,
): Uint8Array | StreamedPart | undefined {
  const event = cursor.child()
  if (event === 'end') return reference === undefined ? new Uint8Array(0) : parts.take(reference)
  if (reference !== undefined) refuseContent(cursor, 'refers to a part and has content')
  if (event === 'start') {
    if (cursor.name !== includeName) refuseContent(cursor, 'is an element where only text is expected')
    const bytes = parts.take(cursor.attribute(hrefName) ?? '')
    cursor.skip()
    if (cursor.child() !== 'end') refuseContent(cursor, 'is not expected here: an Include stands alone')
    return bytes
  }
  const text = cursor.value
  if (cursor.next() !== 'end') refuseContent(cursor, 'is an element where only text is expected')
  return text.trim().startsWith('cid:') ? parts.take(text.trim()) : undefined // WS-I Attachments Profile §4.4 swaRef
}

// Types by their names

/** A type that xsi:type names, where it may name one. */
interface NamedContent {
  /** What is wrong with a text of this type. */
  readonly findFlaw: (text: string) => Flaw | undefined
  /** The same for octets in a part. */
  readonly findFlawOfOctets?: (octets: Uint8Array) => Flaw | undefined
}
/** The type of the field itself, whose reader finds all flaws. */
const ownType: NamedContent = { findFlaw: () => undefined }

/**
 * What xsi:type may say: the published type, the built-in type that a scalar narrows, and those
 * types of the contract that narrow this one. A value has to be valid for both types and is read as
 * its field's type.
 */
function compileTypes(shape: Shape, place: TypePlace, { types }: Space): ElementRules['findType'] {
  const published = types.nameOf(shape, place)
  const isOwn = ({ uri, local }: Name): boolean => uri === types.uri && local === published
  if (!isScalar(shape)) return name => (isOwn(name) ? ownType : undefined)
  const base = xsdTypeOf(shape)
  return name => {
    if (isOwn(name) || (name.uri === xsdUri && name.local === base)) return ownType
    if (name.uri === xsdUri) return isNarrowerName(name.local, base) ? builtInType(name.local) : undefined
    const named = published === undefined && name.uri === types.uri ? types.findScalar(name.local) : undefined
    const isNarrower = named && (xsdTypeOf(named) === base || isNarrowerName(xsdTypeOf(named), base))
    return isNarrower ? scalarType(named) : undefined
  }
}
const findBuiltIn = (local: string): BuiltInName | undefined => builtInNames.find(each => each === local)
function isNarrowerName(local: string, base: string): boolean {
  const [name, wider] = [findBuiltIn(local), findBuiltIn(base)]
  return name !== undefined && wider !== undefined && isNarrowerBuiltIn(name, wider)
}
const asFlaw = (value: unknown): Flaw | undefined => (value instanceof Flaw ? value : undefined)
const scalarType = (shape: Scalar): NamedContent => ({
  findFlaw: text => asFlaw(readSettledScalar(shape, text)),
  findFlawOfOctets: octets => asFlaw(checkScalar(shape, octets)),
})
const builtInType = memoizeByText((local: string): NamedContent => {
  const name = findBuiltIn(local)
  const codec = name && simpleCodecOf(x[name])
  return { findFlaw: text => asFlaw(codec?.read(text, noNames)) }
})
/** No type narrower than a built-in one has QNames. */
const noNames: NamesAround = { qname: () => undefined }
