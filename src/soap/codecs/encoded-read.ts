/**
 * RPC/encoded (rule B2.8): SOAP 1.1 §5 and SOAP 1.2 Part 2 §3, graphs of values read by the
 * contract's fields. Guards:
 *  (1) A reference leads to an element of the same message, and all references together cause no
 *      more work than a message with the same values written out. A circle never ends but a type
 *      has a finite depth, so the circle is refused where the type ends.
 *  (2) An array has exactly the items that it announces, in one dimension and from the first on.
 *  (3) An xsi:type may name the declared type or one of the same kind; the value is read as
 *      declared.
 */

import { memoizeByObject } from '../../base/memo.ts'
import type { AnyField, Fields, Scalar, Shape } from '../../contract/field.ts'
import { checkCount } from '../../contract/given-fields.ts'
import type { Values } from '../../contract/implement.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { xsdTypeOf } from '../../contract/lexical/scalar.ts'
import { readSettledScalar } from '../../contract/lexical/settled-text.ts'
import { isTrueText } from '../../contract/lexical/text.ts'
import { collectEntries, findRepeatedKey, type MapEntry, repeatedKeyFlaw } from '../../contract/map-entries.ts'
import {
  foldShape,
  isScalar,
  type ListShape,
  type MapShape,
  objectFields,
  type ShapeCases,
  type UnionShape,
} from '../../contract/shape.ts'
import { placeOfField, placeOfItem, type TypePlace } from '../../contract/type-names.ts'
import { toXmlName } from '../../contract/xml-message.ts'
import { type Cursor, type Element, internName, type Name, readElement } from '../../xml/index.ts'
import { asBadArguments, refuseMessage } from '../refusal.ts'
import { namesSoapVersion, type SoapVersion, soap11, soap12 } from '../version.ts'
import { isEmptyText } from './literal-read.ts'
import { type ReturnName, requireComplete, requireResult } from './rpc.ts'
import {
  collectFlaw,
  describeUnexpected,
  type LiteralReading,
  type TypeSpace,
  xsdUri,
  xsiNil,
  xsiType,
} from './values.ts'

/** All differences between the two encodings. */
export interface SoapEncoding {
  readonly uri: string
  readonly id: Name
  readonly ref: Name
  /** `#id` or the id itself. */
  readonly target: (reference: string) => string
  /** The sizes that an array announces. */
  readonly sizes: (array: Element) => string | undefined
  /** The attribute that says which kind of node an element is. */
  readonly nodeType: Name | undefined
  /** The type that an array states for its items; undefined: no type, or arrays. */
  readonly itemType: (array: Element) => string | undefined
  readonly writeArray: (type: string, sizes: readonly number[]) => string
  readonly subcodes: { readonly missing: Name | undefined; readonly duplicate: Name | undefined }
}

const arrayType = internName(soap11.encoding, 'arrayType')
const arraySize = internName(soap12.encoding, 'arraySize')
const itemType = internName(soap12.encoding, 'itemType')
export const encodings: Readonly<Record<SoapVersion['number'], SoapEncoding>> = {
  '1.1': {
    uri: soap11.encoding,
    id: internName('', 'id'),
    ref: internName('', 'href'),
    target: reference => (reference.startsWith('#') ? reference.slice(1) : ''),
    sizes: array => /\[([^[\]]*)\]$/.exec(array.attribute(arrayType)?.trim() ?? '')?.[1]?.trim(),
    nodeType: undefined,
    itemType: array => /^\s*([^[\]\s]+)\s*\[[^[\]]*\]\s*$/.exec(array.attribute(arrayType) ?? '')?.[1],
    writeArray: (type, sizes) => ` enc:arrayType="${type}[${sizes.join(',')}]"`,
    subcodes: { missing: undefined, duplicate: undefined },
  },
  '1.2': {
    uri: soap12.encoding,
    id: internName(soap12.encoding, 'id'),
    ref: internName(soap12.encoding, 'ref'),
    target: reference => reference,
    sizes: array => array.attribute(arraySize)?.trim(),
    nodeType: internName(soap12.encoding, 'nodeType'),
    itemType: array => array.attribute(itemType),
    writeArray: (type, sizes) => ` enc:itemType="${type}" enc:arraySize="${sizes.join(' ')}"`,
    subcodes: {
      missing: internName(soap12.encoding, 'MissingID'),
      duplicate: internName(soap12.encoding, 'DuplicateID'),
    },
  },
}
/** SOAP 1.1 §5.4.2.1, §5.4.2.2: where an array begins, and the index of an item in it. */
export const arrayOffset = internName(soap11.encoding, 'offset')
export const itemPosition = internName(soap11.encoding, 'position')

/** How much one call may read; a value that is referred to counts each time. */
export const graphLimits = {
  elements: 100_000, // a page of the largest list
  characters: 8 * 1024 * 1024, // of text: more than a message without references can have
  hops: 8, // from a reference to its value; toolkits send one, at most two
  depth: 1000, // of nested values: a linked list has one for each item
}
/** The octets of an element in a message; one with text or a longer name has more. */
export const octetsOfElement = 64
/** A message that may be longer may read more. */
function graphLimitsFor(longest: number): Graph['limits'] {
  const { elements, characters } = graphLimits
  return {
    elements: Math.max(elements, Math.ceil(longest / octetsOfElement)),
    characters: Math.max(characters, longest),
  }
}

/** What the elements of one Body refer to, and how much may still be read. */
export interface Graph {
  readonly encoding: SoapEncoding
  readonly version: SoapVersion
  readonly namespace: string
  readonly types: TypeSpace
  /** The children of Body, the call first. */
  readonly roots: readonly Element[]
  ids: ReadonlyMap<string, Element> | undefined
  readonly limits: Readonly<Record<'elements' | 'characters', number>>
  /** The elements left of the limit. */
  elements: number
  characters: number
  /** The elements being read, outermost first. */
  readonly around: Set<Element>
  readonly reading: LiteralReading
}

/**
 * At the `start` of the call; moves to the `end` of Body, where multi-reference values may follow
 * the call.
 */
export function compileEncodedReader(
  namespace: string,
  fields: Fields,
  types: TypeSpace,
): (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values {
  return (cursor, reading, version) => {
    const { graph, call } = openGraph(cursor, reading, version, { namespace, types })
    return readMembers(graph, call, fields, call)
  }
}

/** The graph of the values of a Body, and the call: the first of its children. */
export function openGraph(
  cursor: Cursor,
  reading: LiteralReading,
  version: SoapVersion,
  names: Pick<Graph, 'namespace' | 'types'>,
): { readonly graph: Graph; readonly call: Element } {
  const call = readElement(cursor, reading.around)
  const roots = [call]
  while (cursor.child() === 'start') roots.push(readElement(cursor, reading.around))
  if (cursor.event !== 'end') refuseMessage({ kind: 'structure', detail: 'the Body has text' })
  const limits = graphLimitsFor(reading.longest ?? 0)
  checkEncodingOf(call, version)
  const encoding = encodings[version.number]
  const graph = { ...names, encoding, version, roots, ids: undefined, limits, ...limits, around: new Set<Element>() }
  return { graph: { ...graph, reading }, call }
}

function checkEncodingOf(at: Element, version: SoapVersion): void {
  const style = at.attribute(version.encodingStyle)?.trim()
  if (style !== undefined && !namesSoapVersion(version, style, [version.encoding, ...version.literal]))
    refuseMessage({ kind: 'encoding-unknown', encoding: style })
}

/** The path of an element, from its child of Body on. */
function pathTo(element: Element): string {
  let path = ''
  for (let at: Element | undefined = element; at && at.name.local !== 'Body'; at = at.parent) {
    path = `/${at.name.local}[${(at.parent && ordinalsIn(at.parent).get(at)) ?? 1}]${path}`
  }
  return path
}
/**
 * The position of each child among those of its name, kept because a list may have as many flaws as
 * items.
 */
const ordinalsIn = memoizeByObject((parent: Element): ReadonlyMap<Element, number> => {
  const counts = new Map<Name, number>()
  return new Map(
    parent.elements().map(child => {
      const ordinal = (counts.get(child.name) ?? 0) + 1
      counts.set(child.name, ordinal)
      return [child, ordinal]
    }),
  )
})

/** SOAP 1.2 Part 2 §4.4, step 3. */
export const refuseElement = (at: Element, detail: string, subcode: Name = asBadArguments): never =>
  refuseMessage({ kind: 'encoded', subcode, path: pathTo(at), detail })

// References

/** The element that an accessor refers to; the accessor itself if it has no reference. */
export function resolveReference(graph: Graph, accessor: Element): Element {
  let at = accessor
  for (let hops = 0; ; hops++) {
    const reference = at.attribute(graph.encoding.ref)?.trim() // the type of ids collapses white space
    if (reference === undefined) return at
    if (at.elements().length > 0 || hasText(at)) refuseElement(at, 'is a reference and has content')
    // SOAP 1.2 Part 2 §3.1.5.3.
    if (graph.version === soap12 && at.attribute(graph.encoding.id) !== undefined)
      refuseElement(at, 'is a reference and has an id')
    if (hops === graphLimits.hops) refuseElement(accessor, `leads through more than ${graphLimits.hops} references`)
    graph.ids ??= collectIds(graph)
    const { missing } = graph.encoding.subcodes
    at =
      graph.ids.get(graph.encoding.target(reference)) ??
      refuseElement(at, `refers to ${reference}, which is not in this message`, missing)
  }
}

/** Part 2 §3.1.5.3: of the whole message, so that a Body may refer to a header block. */
function collectIds({ encoding, roots, reading }: Graph): ReadonlyMap<string, Element> {
  const ids = new Map<string, Element>()
  const collect = (at: Element): void => {
    const id = at.attribute(encoding.id)?.trim()
    if (id !== undefined) {
      if (ids.has(id)) refuseElement(at, `repeats the id ${id}`, encoding.subcodes.duplicate)
      ids.set(id, at)
    }
    for (const child of at.children) if (child.kind === 'element') collect(child) // the parser limits the depth
  }
  for (const root of [...roots, ...reading.blocks]) collect(root)
  return ids
}

// Values

/**
 * A struct: its accessors are distinguished by name, in any order (SOAP 1.1 §5.4.1).
 * @param call the element whose accessors are parameters: an empty parameter is absent
 */
function readMembers(graph: Graph, at: Element, fields: Fields, call?: Element): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  let result: ReturnName | undefined
  const visibleFields = new Map(
    Object.entries(fields)
      .filter(([, field]) => !field.isInternal)
      .map(([key, field]) => [toXmlName(key), { key, field }]),
  )
  if (hasText(at)) refuseElement(at, 'has text where elements are expected')
  for (const child of at.elements()) {
    const { uri, local } = child.name
    if (at === call && child.name === graph.version.rpcResult && graph.reading.isResponse) {
      if (result) refuseElement(child, 'is repeated')
      result = readResult(child)
      continue
    }
    const member = uri === '' || uri === graph.namespace ? visibleFields.get(local) : undefined
    if (!member) return refuseMember(child, visibleFields.keys())
    if (Object.hasOwn(row, member.key)) refuseElement(child, 'is repeated')
    row[member.key] =
      at === call && member.field.isOptional
        ? readOptional(graph, child, member.field, member.key)
        : readField(graph, child, member.field, placeOfField(member.key, 'encoded'))
  }
  for (const { key, field } of visibleFields.values()) {
    const attribute = field.isAttribute ? at.attribute(internName('', toXmlName(key))) : undefined
    if (attribute !== undefined && isScalar(field.shape)) row[key] = readText(graph, at, field.shape, attribute)
  }
  if (result) requireResult(result, row, visibleFields.values())
  return requireComplete(row, visibleFields.values(), detail => refuseElement(at, detail))
}

export const hasText = (at: Element): boolean => at.text.trim() !== ''

function refuseMember(at: Element, names: Iterable<string>): never {
  const expected = Array.from(names, local => internName('', local))
  return refuseElement(at, describeUnexpected(at.name, expected))
}

function readResult(at: Element): ReturnName {
  const name = at.qname(at.text)
  return name ? { path: pathTo(at), local: name.local } : refuseElement(at, 'must be a QName')
}

/**
 * As in RPC/literal, an empty or nil parameter is not given; an array announced as empty is given.
 */
function readOptional(graph: Graph, accessor: Element, field: AnyField, key: string): unknown {
  const at = resolveReference(graph, accessor)
  const { shape } = field
  const isEmpty = at.elements().length === 0 && (isScalar(shape) ? isEmptyText(shape, at.text) : !hasText(at))
  const hasMarks = isNilElement(at) || graph.encoding.sizes(at) !== undefined || hasDeclaredAttribute(at, field)
  if (isEmpty && !hasMarks) {
    checkAttributes(graph, at, field)
    return undefined
  }
  const value = readField(graph, at, field, placeOfField(key, 'encoded'))
  return field.isNullable ? value : (value ?? undefined)
}

const hasDeclaredAttribute = (at: Element, { shape }: AnyField): boolean =>
  at.attributes.some(({ name }) => isDeclaredAttribute(name, shape))
const isDeclaredAttribute = ({ uri, local }: Name, shape: Shape): boolean =>
  uri === '' && objectFields(shape)[local]?.isAttribute === true

function readField(graph: Graph, accessor: Element, field: AnyField, place: TypePlace): unknown {
  const at = resolveReference(graph, accessor)
  checkAttributes(graph, at, field)
  if (isNilElement(at)) return at.children.length > 0 ? refuseElement(at, 'is nil and has content') : null
  checkType(graph, at, field.shape, place)
  checkNodeType(graph, at, foldShape(field.shape, nodeTypes))
  countElement(graph, at)
  return foldShape(field.shape, contentReaders, graph, at, place)
}
/** Guard (1): each value counts every time it is referred to. */
export function countElement(graph: Graph, at: Element): void {
  if (--graph.elements < 0) refuseElement(at, `leads to more than ${graph.limits.elements} elements`)
}
/** The text of an element without child elements; it counts each time. */
export function takeText(graph: Graph, at: Element): string {
  if (at.elements().length > 0) refuseElement(at, 'has elements where only text is expected')
  const { text } = at
  countText(graph, at, text.length)
  return text
}
export function countText(graph: Graph, at: Element, count: number): void {
  graph.characters -= count
  if (graph.characters < 0) refuseElement(at, `leads to more than ${graph.limits.characters} characters`)
}
const nodeTypes: ShapeCases<'simple' | 'struct' | 'array', []> = {
  scalar: () => 'simple',
  list: () => 'array',
  map: () => 'array',
  object: () => 'struct',
  union: () => 'struct',
}
const contentReaders: ShapeCases<unknown, [graph: Graph, at: Element, place: TypePlace]> = {
  scalar: (shape, graph, at) => readText(graph, at, shape, takeText(graph, at)),
  list: (shape, graph, at, place) => readItems(graph, at, shape, place),
  map: (shape, graph, at, place) => readMap(graph, at, shape, place),
  object: ({ fields }, graph, at) => readMembers(graph, at, fields),
  union: (shape, graph, at) => readUnion(graph, at, shape),
}

function readText(graph: Graph, at: Element, shape: Scalar, text: string): unknown {
  const value = readSettledScalar(shape, text)
  if (!(value instanceof Flaw)) return value
  if (value.isOfType) refuseElement(at, value.detail)
  collectFlaw(graph.reading, () => pathTo(at), value)
  return undefined
}

export const isNilElement = (at: Element): boolean => isTrueText(at.attribute(xsiNil))

/**
 * Attributes of the encoding and of xsi, those that the fields declare, and SOAP's own on a header
 * block.
 */
const checkAttributes = (graph: Graph, at: Element, { shape }: AnyField): void =>
  checkEncodedAttributes(graph, at, name => isDeclaredAttribute(name, shape))
export function checkEncodedAttributes(graph: Graph, at: Element, isDeclared: (name: Name) => boolean): void {
  const { version, encoding, reading } = graph
  checkEncodingOf(at, version)
  // SOAP 1.2 Part 2 §3.1.5.2; in SOAP 1.1 it may be an attribute of the type.
  if (version === soap12 && at.attribute(encoding.id) !== undefined) graph.ids ??= collectIds(graph)
  const ofBlock = reading.blocks.includes(at) ? [version.role, version.mustUnderstand, version.relay] : []
  for (const { name } of at.attributes) {
    const isKnown =
      name === xsiNil ||
      name === xsiType ||
      name.uri === encoding.uri ||
      name === version.encodingStyle ||
      ofBlock.includes(name)
    const isReference = name.uri === '' && (name.local === 'id' || name.local === 'href')
    if (!isKnown && !isReference && !isDeclared(name)) refuseElement(at, `must not have the attribute ${name.local}`)
  }
}

/** SOAP 1.2 Part 2 §3.1.7: a stated node type has to be right. */
export function checkNodeType({ encoding }: Graph, at: Element, kind: 'simple' | 'struct' | 'array'): void {
  const stated = encoding.nodeType && at.attribute(encoding.nodeType)?.trim()
  if (stated !== undefined && stated !== kind)
    refuseElement(at, `has the nodeType ${stated}, where ${kind} is expected`)
}

/**
 * Built-in types that stand for each other, by kind: clients that know no schema guess from the
 * value.
 */
const kindOfType: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    number:
      'byte short int integer long unsignedByte unsignedShort unsignedInt unsignedLong positiveInteger nonNegativeInteger negativeInteger nonPositiveInteger decimal float double',
    text: 'string normalizedString token language Name NCName NMTOKEN anyURI QName ID IDREF anyType anySimpleType ur-type',
    time: 'date time dateTime duration gYear gYearMonth gMonth gMonthDay gDay timeInstant',
    boolean: 'boolean',
    binary: 'base64Binary hexBinary base64',
  }).flatMap(([kind, types]) => types.split(' ').map(type => [type, kind])),
)

/** Whether a value stated to be of one built-in type is read where another is declared. */
export function mayStandFor(stated: string, declared: string): boolean {
  const kind = Object.hasOwn(kindOfType, stated) ? kindOfType[stated] : undefined
  const declaredKind = kindOfType[declared]
  if (declaredKind === 'boolean' && kind === 'number') return true // 0 and 1
  return (
    kind !== undefined && (kind === declaredKind || kind === 'text' || (declaredKind === 'text' && kind !== 'binary'))
  )
}
/** Whether a name belongs to the types that XML Schema and both encodings define. */
export const isBuiltInUri = (uri: string): boolean =>
  uri === xsdUri || uri === soap11.encoding || uri === soap12.encoding

function checkType(graph: Graph, at: Element, shape: Shape, place: TypePlace): void {
  const written = at.attribute(xsiType)
  if (written === undefined) return
  const [, prefix = '', local = ''] = /^\s*(?:([^:\s]+):)?([^:\s]+)\s*$/.exec(written) ?? []
  const uri = at.namespace(prefix)
  const { types } = graph
  const type = {
    local,
    isBuiltIn: uri !== undefined && isBuiltInUri(uri),
    isOurs: uri === types.uri,
    published: types.nameOf(shape, place),
  }
  if (uri === undefined || !foldShape(shape, typeMatches, type))
    refuseElement(at, `must not have the xsi:type ${written}`)
}

/** A type that xsi:type names, and the published type. */
interface StatedType {
  readonly local: string
  readonly isBuiltIn: boolean
  readonly isOurs: boolean
  readonly published: string | undefined
}
/** Whether a value of the shape may state this type. */
const typeMatches: ShapeCases<boolean, [type: StatedType]> = {
  scalar: (shape, { local, isBuiltIn, isOurs }) => (isBuiltIn ? mayStandFor(local, xsdTypeOf(shape)) : isOurs),
  list: (_shape, { local, isBuiltIn }) => !isBuiltIn || local === 'Array', // each toolkit names array types as it likes
  map: (_shape, { local, isBuiltIn }) => !isBuiltIn || local === 'Array',
  object: ({ name }, { local, isBuiltIn, isOurs, published }) =>
    isBuiltIn ? isStruct(local) : isOurs && (name === undefined || local === published),
  union: (_shape, { local, isBuiltIn, isOurs }) => (isBuiltIn ? isStruct(local) : isOurs),
}
export const isStruct = (local: string): boolean => local === 'Struct' || local === 'anyType'

/**
 * SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.6: the items of an array, whatever the names of their
 * elements.
 */
function readItems(graph: Graph, at: Element, shape: ListShape, place: TypePlace): unknown[] {
  const items = listArrayItems(graph, at)
  const flaw = checkCount(shape, items.length)
  if (flaw) collectFlaw(graph.reading, () => pathTo(at), flaw)
  return items.map(each => {
    const item = readField(graph, each, shape.item, placeOfItem(shape, place))
    return item === null && !shape.item.isNullable ? refuseElement(each, 'must not be nil') : item
  })
}
/** An array of structs; each key occurs once. */
function readMap(graph: Graph, at: Element, { entries }: MapShape, place: TypePlace): Values {
  const rows = readItems(graph, at, entries, place) as MapEntry[]
  const repeated = findRepeatedKey(rows)
  if (repeated !== undefined) {
    const { code, detail } = repeatedKeyFlaw(repeated)
    collectFlaw(graph.reading, () => pathTo(at), { code, detail })
  }
  return collectEntries(rows)
}
/** Guard (2). */
export function listArrayItems({ encoding }: Graph, at: Element): readonly Element[] {
  const sizes = encoding.sizes(at)
  const items = at.elements()
  if (hasText(at)) refuseElement(at, 'has text where items are expected')
  const begin = at.attribute(arrayOffset)?.trim() ?? '[0]'
  if (begin !== '[0]') refuseElement(at, 'is a part of an array: send all of it')
  if (sizes !== undefined && sizes !== '' && sizes !== '*') {
    if (!/^\d{1,10}$/.test(sizes)) refuseElement(at, `must have one dimension, not [${sizes}]`)
    if (Number(sizes) !== items.length) refuseElement(at, `announces ${sizes} items and has ${items.length}`)
  }
  for (const [index, each] of items.entries()) {
    const announced = each.attribute(itemPosition)?.trim() ?? `[${index}]`
    if (announced !== `[${index}]`) refuseElement(each, `is at ${announced} of an array: send all of it, in order`)
  }
  return items
}

function readUnion(graph: Graph, at: Element, shape: UnionShape): Values {
  const [child, another] = at.elements()
  const found = Object.entries(shape.of).find(([key]) => toXmlName(key) === child?.name.local)
  if (!child || another || !found) return refuseElement(at, `must have one of ${Object.keys(shape.of).join(', ')}`)
  return { [shape.on]: found[0], ...readMembers(graph, child, found[1]) }
}
