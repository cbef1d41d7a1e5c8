/**
 * RPC/encoded (rule B2.8): SOAP 1.1 §5 and SOAP 1.2 Part 2 §3, graphs of values read by the contract's fields. Guards:
 * (1) a reference leads to an element of the same message, and all of them together to no more work than a message of the
 * same values without references; a circle has no end in types of finite depth, so it is refused where they end; (2) an
 * array has the items it says it has, in one dimension and from the first on; (3) an xsi:type may name the declared type or
 * one of the same kind: what is read is what is declared.
 */

import type { AnyField, Fields, Scalar, Shape } from '../../contract/field.ts'
import { checkCount } from '../../contract/field-json.ts'
import type { Values } from '../../contract/implement.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { readScalar, xsdTypeOf } from '../../contract/lexical/scalar.ts'
import {
  foldShape,
  isScalar,
  type ListShape,
  objectFields,
  type ShapeCases,
  type UnionShape,
} from '../../contract/shape.ts'
import { itemName, toXmlName } from '../../contract/xml-message.ts'
import { type Cursor, type Element, internName, type Name, readElement } from '../../xml/index.ts'
import { asBadArguments, refuseMessage } from '../refusal.ts'
import { namesSoapVersion, type SoapVersion, soap11, soap12 } from '../version.ts'
import { dropNulls, requireComplete } from './rpc.ts'
import { type LiteralReading, xsiNil, xsiType } from './values.ts'

/** All in which the two encodings differ. */
export interface SoapEncoding {
  readonly uri: string
  readonly id: Name
  readonly ref: Name
  /** `#id` or the id itself. */
  readonly target: (reference: string) => string
  /** What of an array is said where: [type, sizes]. */
  readonly array: (element: Element) => { readonly type: string | undefined; readonly sizes: string | undefined }
  readonly writeArray: (type: string, count: number) => string
  readonly subcodes: { readonly missing: Name | undefined; readonly duplicate: Name | undefined }
}

const arrayType = internName(soap11.encoding, 'arrayType')
const itemType = internName(soap12.encoding, 'itemType')
const arraySize = internName(soap12.encoding, 'arraySize')
export const encodings: Readonly<Record<SoapVersion['number'], SoapEncoding>> = {
  '1.1': {
    uri: soap11.encoding,
    id: internName('', 'id'),
    ref: internName('', 'href'),
    target: reference => (reference.startsWith('#') ? reference.slice(1) : ''),
    array: element => {
      const [, type, sizes] = /^(.*?)\[([^[\]]*)\]$/s.exec(element.attribute(arrayType)?.trim() ?? '') ?? []
      return { type, sizes }
    },
    writeArray: (type, count) => ` enc:arrayType="${type}[${count}]"`,
    subcodes: { missing: undefined, duplicate: undefined },
  },
  '1.2': {
    uri: soap12.encoding,
    id: internName(soap12.encoding, 'id'),
    ref: internName(soap12.encoding, 'ref'),
    target: reference => reference,
    array: element => ({ type: element.attribute(itemType), sizes: element.attribute(arraySize)?.trim() }),
    writeArray: (type, count) => ` enc:itemType="${type}" enc:arraySize="${count}"`,
    subcodes: {
      missing: internName(soap12.encoding, 'MissingID'),
      duplicate: internName(soap12.encoding, 'DuplicateID'),
    },
  },
}
/** SOAP 1.1 §5.4.2.1, §5.4.2.2: where an array begins, and where an item of it stands. */
const offset = internName(soap11.encoding, 'offset')
const position = internName(soap11.encoding, 'position')
export const xsd = 'http://www.w3.org/2001/XMLSchema'
/** What one call may be read from, references followed each time. */
const most = {
  elements: 100_000, // a page of the largest list
  characters: 8 * 1024 * 1024, // of text: more than a message without references can have
  hops: 8, // from a reference to what it means; toolkits send one, at most two
}

// Reading

/** What the elements of one Body refer to, and how much of it has been read. */
interface Graph {
  readonly encoding: SoapEncoding
  readonly version: SoapVersion
  readonly namespace: string
  readonly types: string
  readonly roots: readonly Element[]
  ids: ReadonlyMap<string, Element> | undefined
  elements: number
  characters: number
  readonly reading: LiteralReading
}

/** At the `start` of the call; goes to the `end` of Body, where multi-reference values may follow the call. */
export function compileEncodedReader(
  namespace: string,
  fields: Fields,
  types: string = namespace,
): (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => Values {
  return (cursor, reading, version) => {
    const { around } = reading
    const roots = [readElement(cursor, around)]
    while (cursor.child() === 'start') roots.push(readElement(cursor, around))
    if (cursor.event !== 'end') refuseMessage({ kind: 'structure', detail: 'the Body has text' })
    const encoding = encodings[version.number]
    const graph: Graph = {
      encoding,
      version,
      namespace,
      types,
      roots,
      ids: undefined,
      elements: most.elements,
      characters: most.characters,
      reading,
    }
    const call = roots[0]!
    inEncoding(call, version)
    return dropNulls(members(graph, call, fields), fields)
  }
}

function inEncoding(at: Element, version: SoapVersion): void {
  const style = at.attribute(version.encodingStyle)?.trim()
  if (style !== undefined && !namesSoapVersion(version, style, [version.encoding, ...version.literal]))
    refuseMessage({ kind: 'encoding-unknown', encoding: style })
}

/** The path of an element, from the child of Body that it is in. */
function place(of: Element): string {
  let path = ''
  for (let at: Element | undefined = of; at && at.name.local !== 'Body'; at = at.parent) {
    const same = at.parent?.elements(at.name) ?? []
    path = `/${at.name.local}[${Math.max(same.indexOf(at), 0) + 1}]${path}`
  }
  return path
}

/** SOAP 1.2 Part 2 §4.4, step 3. */
const broken = (at: Element, detail: string): never =>
  refuseMessage({ kind: 'encoded', subcode: asBadArguments, path: place(at), detail })

/** The element a reference leads to; itself when it is none. */
function referred(graph: Graph, accessor: Element): Element {
  let at = accessor
  for (let hops = 0; ; hops++) {
    const reference = at.attribute(graph.encoding.ref)?.trim() // of types that collapse white space, as are ids
    if (reference === undefined) return at
    if (at.children.some(child => child.kind === 'element')) broken(at, 'is a reference and has content')
    if (hops === most.hops) broken(accessor, 'refers to a reference to a reference, and so on')
    graph.ids ??= idsOf(graph)
    at = graph.ids.get(graph.encoding.target(reference)) ?? missing(graph, at)
  }
}

function missing({ encoding }: Graph, at: Element): never {
  const detail = 'refers to nothing in this message'
  const subcode = encoding.subcodes.missing
  return subcode ? refuseMessage({ kind: 'encoded', subcode, path: place(at), detail }) : broken(at, detail)
}

function idsOf({ encoding, roots, reading }: Graph): ReadonlyMap<string, Element> {
  const ids = new Map<string, Element>()
  const look = (at: Element): void => {
    const id = at.attribute(encoding.id)?.trim()
    if (id !== undefined) {
      if (ids.has(id)) duplicated(encoding, at)
      ids.set(id, at)
    }
    for (const child of at.children) if (child.kind === 'element') look(child) // no deeper than the parser lets it be
  }
  for (const root of [...roots, ...reading.blocks]) look(root)
  return ids
}

function duplicated({ subcodes }: SoapEncoding, at: Element): never {
  const detail = 'has the id of another'
  return subcodes.duplicate
    ? refuseMessage({ kind: 'encoded', subcode: subcodes.duplicate, path: place(at), detail })
    : broken(at, detail)
}

/** A struct: accessors told apart by their names, in any order (SOAP 1.1 §5.4.1). */
function members(graph: Graph, at: Element, fields: Fields): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  const known = new Map(
    Object.entries(fields)
      .filter(([, field]) => !field.isInternal)
      .map(([key, field]) => [toXmlName(key), { key, field }]),
  )
  if (at.text.trim() !== '') broken(at, 'has text where elements are expected')
  for (const child of at.elements()) {
    const { uri, local } = child.name
    const member = uri === '' || uri === graph.namespace ? known.get(local) : undefined
    if (!member) return broken(child, `is not expected here: ${[...known.keys()].join(', ') || 'nothing'} would be`)
    if (Object.hasOwn(row, member.key)) broken(child, 'is there twice')
    row[member.key] = value(graph, child, member.field, member.key)
  }
  for (const { key, field } of known.values()) {
    const attribute = field.isAttribute ? at.attribute(internName('', toXmlName(key))) : undefined
    if (attribute !== undefined && isScalar(field.shape)) row[key] = lexical(graph, at, field.shape, attribute)
  }
  return requireComplete(row, known.values(), detail => broken(at, detail))
}

export function value(graph: Graph, accessor: Element, field: AnyField, key: string | undefined): unknown {
  const at = referred(graph, accessor)
  attributes(graph, at, field)
  if (isNil(at)) return at.children.length > 0 ? broken(at, 'is nil and has content') : null
  const { shape } = field
  typed(graph, at, shape)
  if (--graph.elements < 0) broken(at, `refers to more than ${most.elements} elements`)
  return foldShape(shape, contentReaders, graph, at, key)
}
const contentReaders: ShapeCases<unknown, [graph: Graph, at: Element, key: string | undefined]> = {
  scalar: (shape, graph, at) => {
    if (at.elements().length > 0) broken(at, 'has elements where only text is expected')
    const { text } = at
    graph.characters -= text.length
    if (graph.characters < 0) broken(at, `refers to more than ${most.characters} characters`)
    return lexical(graph, at, shape, text)
  },
  list: (shape, graph, at, key) => items(graph, at, shape, key),
  object: ({ fields }, graph, at) => members(graph, at, fields),
  union: (shape, graph, at) => union(graph, at, shape),
}

function lexical(graph: Graph, at: Element, shape: Scalar, text: string): unknown {
  const found = readScalar(shape, text)
  if (!(found instanceof Flaw)) return found
  if (found.code === 'type' || found.code === 'enum') broken(at, found.detail)
  graph.reading.found.push({ path: place(at), code: found.code, detail: found.detail })
  return undefined
}

const isNil = (at: Element): boolean => /^\s*(true|1)\s*$/.test(at.attribute(xsiNil) ?? '')

/** Attributes of the encoding and of xsi, and those that the fields declare. */
function attributes({ version }: Graph, at: Element, { shape }: AnyField): void {
  inEncoding(at, version)
  for (const { name: each, value } of at.attributes) {
    if (each === offset && value.trim() !== '[0]') broken(at, 'is sent in part: offset')
    const ours = each === xsiNil || each === xsiType || each.uri === version.encoding || each === version.encodingStyle
    const plain = each.uri === '' && (each.local === 'id' || each.local === 'href')
    const declared = each.uri === '' && objectFields(shape)[each.local]?.isAttribute
    if (!ours && !plain && !declared) broken(at, `may not have the attribute ${each.local}`)
  }
}

/** Kinds of built-in types that are taken for each other: clients that know no schema guess from the value. */
const kinds: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    number:
      'byte short int integer long unsignedByte unsignedShort unsignedInt unsignedLong positiveInteger nonNegativeInteger negativeInteger nonPositiveInteger decimal float double',
    text: 'string normalizedString token language Name NCName NMTOKEN anyURI QName ID IDREF anyType anySimpleType ur-type',
    time: 'date time dateTime duration gYear gYearMonth gMonth gMonthDay gDay timeInstant',
    boolean: 'boolean',
    binary: 'base64Binary hexBinary base64',
  }).flatMap(([kind, types]) => types.split(' ').map(type => [type, kind])),
)

function typed(graph: Graph, at: Element, shape: Shape): void {
  const written = at.attribute(xsiType)
  if (written === undefined) return
  const [, prefix = '', local = ''] = /^\s*(?:([^:\s]+):)?([^:\s]+)\s*$/.exec(written) ?? []
  const uri = at.namespace(prefix)
  const isBuiltIn = uri === xsd || uri === graph.encoding.uri || uri === soap11.encoding
  if (uri === undefined || !foldShape(shape, typeMatches, local, isBuiltIn, uri === graph.types))
    broken(at, `may not be of the type ${written}`)
}

/** Whether a value of the shape may say that it is of this type. */
const typeMatches: ShapeCases<boolean, [local: string, isBuiltIn: boolean, isOurs: boolean]> = {
  scalar: (shape, local, isBuiltIn, isOurs) => {
    if (!isBuiltIn) return isOurs
    const kind = Object.hasOwn(kinds, local) ? kinds[local] : undefined
    const own = kinds[xsdTypeOf(shape)]
    if (own === 'boolean' && kind === 'number') return true // 0 and 1
    return kind !== undefined && (kind === own || kind === 'text' || (own === 'text' && kind !== 'binary'))
  },
  list: (_shape, local, isBuiltIn) => !isBuiltIn || local === 'Array', // array types are named as each toolkit likes
  object: ({ name }, local, isBuiltIn, isOurs) =>
    isBuiltIn ? isStruct(local) : isOurs && (name === undefined || isNumbered(local, toXmlName(name))),
  union: (_shape, local, isBuiltIn, isOurs) => (isBuiltIn ? isStruct(local) : isOurs),
}
const isStruct = (local: string): boolean => local === 'Struct' || local === 'anyType'
/** The type of the contract, with a number where two have its name. */
const isNumbered = (local: string, name: string): boolean =>
  local.startsWith(name) && /^\d*$/.test(local.slice(name.length))

/** SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.6: the items of an array, whatever their elements are called. */
export function items(graph: Graph, at: Element, shape: ListShape, key: string | undefined): unknown[] {
  const { sizes } = graph.encoding.array(at)
  const found = at.elements()
  if (at.text.trim() !== '') broken(at, 'has text where items are expected')
  if (sizes !== undefined && sizes !== '' && sizes !== '*') {
    if (!/^\d{1,10}$/.test(sizes)) broken(at, `has more than one dimension, or none: ${sizes}`)
    if (Number(sizes) !== found.length) broken(at, `says it has ${sizes} items and has ${found.length}`)
  }
  const flaw = checkCount(shape, found.length)
  if (flaw) graph.reading.found.push({ path: place(at), code: flaw.code, detail: flaw.detail })
  return found.map((each, index) => {
    if ((each.attribute(position)?.trim() ?? `[${index}]`) !== `[${index}]`) broken(each, 'is sent in part: position')
    const item = value(graph, each, shape.item, itemName(shape, key))
    return item === null && !shape.item.isNullable ? broken(each, 'may not be nil') : item
  })
}

function union(graph: Graph, at: Element, shape: UnionShape): Values {
  const [child, another] = at.elements()
  const found = Object.entries(shape.of).find(([key]) => toXmlName(key) === child?.name.local)
  if (!child || another || !found) return broken(at, `must have one of ${Object.keys(shape.of).join(', ')}`)
  return { [shape.on]: found[0], ...members(graph, child, found[1]) }
}
