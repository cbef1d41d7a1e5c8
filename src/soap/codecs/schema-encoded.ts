/**
 * RPC/encoded (SOAP 1.1 §5, SOAP 1.2 Part 2 §3) by the types of `contract/xml-type.ts`. Where the
 * encoding and the schema disagree, the encoding wins: accessors have no namespace and any order,
 * values may be shared by references, and each value is written with its type.
 */

import type { Port } from '../../contract/exchange.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { trimXmlSpace } from '../../contract/lexical/text.ts'
import { listNamedSimpleTypes } from '../../contract/xml-derivation.ts'
import { allowsNil, countRequired } from '../../contract/xml-members.ts'
import { clarkNames, equalsText, isSimpleType } from '../../contract/xml-simple.ts'
import type { AnyRootElement } from '../../contract/xml-type.ts'
import { type Cursor, Element, escapeText, internName, type Name, walkTree, writeAttribute } from '../../xml/index.ts'
import { soapPrefix } from '../fault.ts'
import type { SoapVersion } from '../version.ts'
import { type ArrayRows, listCells, readCells } from './encoded-array.ts'
import {
  checkEncodedAttributes,
  checkNodeType,
  countElement,
  countText,
  encodings,
  type Graph,
  graphLimits,
  hasText,
  isBuiltInUri,
  isNilElement,
  isStruct,
  mayStandFor,
  openGraph,
  refuseElement,
  resolveReference,
  type SoapEncoding,
  takeText,
} from './encoded-read.ts'
import {
  type AnyPlan,
  type ArrayPlan,
  type AttributePlan,
  type ComplexPlan,
  type ElementPlan,
  findPlannedText,
  firstNames,
  type GroupPlan,
  isEmptiable,
  type ParticlePlan,
  SchemaPlans,
  type SimplePlan,
  type TextPlan,
  type TypePlan,
} from './schema-plan.ts'
import { codecOfReference, type ElementRow, emptyValue, isEmptiableOnce, readAnyElement } from './schema-read.ts'
import { MessageWriting, writeReferringText, writeXmlValue } from './schema-write.ts'
import {
  inlineWriting,
  type LiteralReading,
  type LiteralWriting,
  loneWriting,
  typesIn,
  xsdUri,
  xsiType,
  xsiUri,
} from './values.ts'

export interface EncodedCodec {
  /** At the `start` of the call; moves to the `end` of Body. */
  readonly read: (cursor: Cursor, reading: LiteralReading, version: SoapVersion) => unknown
  readonly write: (value: unknown, version: SoapVersion, writing?: LiteralWriting) => string
  /** For an element that is not a call: the detail of a fault. */
  readonly writeAlone: (value: unknown, version: SoapVersion) => string
}

/** @param ports whose simple types `xsi:type` may name */
export function createEncodedCodecs(ports: Iterable<Port> = []): (root: AnyRootElement) => EncodedCodec {
  const plans = new SchemaPlans(() => listNamedSimpleTypes(ports))
  return root => ({
    read: (cursor, reading, version) => {
      const names = { namespace: root.name.uri, types: typesIn(root.name.uri) }
      const { graph, call } = openGraph(cursor, reading, version, names)
      const plan = plans.ofRoot(root).type()
      return readEncodedValue(plan, reading.isResponse ? nameReturn(plan, graph, call) : graph, call)
    },
    write: (value, version, writing = inlineWriting) =>
      writeCall(plans.ofRoot(root), value, encodings[version.number], writing),
    writeAlone: (value, version) => writeIndependent(plans.ofRoot(root), value, encodings[version.number]),
  })
}

// Reading

/** The graph of a response, with its return value, whatever the accessor is named. */
interface ResponseGraph extends Graph {
  readonly returned?: { readonly accessor: Element; readonly part: ElementPlan }
}

/**
 * SOAP 1.1 §7.1: the return value comes first, and its name does not matter; SOAP 1.2 Part 2
 * §4.2.2: `rpc:result` names it.
 */
function nameReturn(plan: TypePlan, graph: Graph, call: Element): ResponseGraph {
  const [part] = plan.kind === 'complex' ? plan.content : []
  const [accessor, ...others] = call.elements().filter(({ name }) => name !== graph.version.rpcResult)
  if (plan.kind !== 'complex' || part?.kind !== 'element' || !accessor || findPart(plan.content, accessor)) return graph
  const isThere = others.some(each => findPart(plan.content, each) === part)
  return isThere ? graph : { ...graph, returned: { accessor, part } }
}

/**
 * A type may contain itself, and a reference may lead to an element that contains it, or into an
 * endless circle. Neither may lead deeper than elements can be nested.
 */
function readEncodedValue(plan: TypePlan, graph: ResponseGraph, accessor: Element, initial?: string): unknown {
  const at = resolveReference(graph, accessor)
  countElement(graph, at)
  if (graph.around.has(at))
    refuseElement(accessor, 'leads to a value that contains it: circular values are not supported')
  if (graph.around.size === graphLimits.depth)
    refuseElement(accessor, `is nested deeper than ${graphLimits.depth} values`)
  graph.around.add(at)
  const value = readReferred(plan, graph, at, initial)
  graph.around.delete(at)
  return value
}

function readReferred(plan: TypePlan, graph: ResponseGraph, at: Element, initial?: string): unknown {
  switch (plan.kind) {
    case 'simple':
      checkEncodedAttributes(graph, at, () => false)
      checkNodeType(graph, at, 'simple')
      return readEncodedText(chooseText(plan, at), graph, at, initial)
    case 'array':
      checkEncodedAttributes(graph, at, () => false)
      checkNodeType(graph, at, 'array')
      requireArrayType(at)
      return readArray(plan, graph, at)
    case 'xml': {
      const cursor = walkTree(at)
      cursor.next()
      const text = readAnyElement(cursor, { ...graph.reading, around: at.parent })
      countText(graph, at, String(text).length)
      return text
    }
    case 'derivable': {
      const name = statedName(at)
      const derived = name && plan.byName.get(name)
      if (!derived) return readReferred(plan.base, graph, at, initial)
      return { $type: derived.tag, ...readStruct(derived.plan, graph, at, initial) }
    }
    case 'complex':
      requireStructType(plan, at)
      if (plan.isAbstract) refuseElement(at, 'has an abstract type: its xsi:type must name another one')
      return readStruct(plan, graph, at, initial)
  }
}

// The type that xsi:type names. Toolkits name types as they like, so a foreign namespace means
// nothing.

function statedName(at: Element): Name | undefined {
  const written = at.attribute(xsiType)
  if (written === undefined) return undefined
  return at.qname(trimXmlSpace(written)) ?? refuseType(at)
}
const refuseType = (at: Element): never => refuseElement(at, `must not have the xsi:type ${at.attribute(xsiType)}`)

/** Guard (3) of `encoded-read.ts`: a derived type is checked as well, one of its kind ignored. */
function findStatedText(plan: SimplePlan, name: Name): TextPlan | undefined {
  const isBuiltIn = isBuiltInUri(name.uri)
  const stated = isBuiltIn ? internName(xsdUri, name.local === 'base64' ? 'base64Binary' : name.local) : name
  if (plan.names.has(stated)) return plan
  const narrower = plan.findNarrower(stated)
  if (narrower) return narrower
  const declared = [...plan.names]
  const isLikely = isBuiltIn
    ? declared.every(({ uri, local }) => uri !== xsdUri || mayStandFor(stated.local, local))
    : declared.every(({ uri }) => uri !== stated.uri)
  return isLikely ? plan : undefined
}

function chooseText(plan: SimplePlan, at: Element): TextPlan {
  const name = statedName(at)
  return name ? (findStatedText(plan, name) ?? refuseType(at)) : plan
}

/** SOAP 1.1 §5.4.2, SOAP 1.2 Part 2 §3.1.4: the type of items that do not state their own. */
function requireItemType(cell: TypePlan, { encoding }: Graph, at: Element): void {
  if (cell.kind !== 'simple') return
  const written = encoding.itemType(at)
  if (written === undefined) return
  const name = at.qname(trimXmlSpace(written))
  if (!name || !findStatedText(cell, name)) refuseElement(at, `must not have items of the type ${written}`)
}

function requireStructType({ name }: ComplexPlan, at: Element): void {
  const stated = statedName(at)
  if (!stated || stated === name) return
  if (isBuiltInUri(stated.uri) ? !isStruct(stated.local) : stated.uri === name?.uri) refuseType(at)
}

function requireArrayType(at: Element): void {
  const stated = statedName(at)
  if (stated && isBuiltInUri(stated.uri) && stated.local !== 'Array' && stated.local !== 'anyType') refuseType(at)
}

function readArray(plan: ArrayPlan, graph: ResponseGraph, at: Element): unknown {
  const cell = cellPlanOf(plan)
  requireItemType(cell, graph, at)
  const read = (cells: ArrayRows<Element | undefined>): unknown =>
    cells.map(each => (each === undefined ? null : each instanceof Element ? readItem(cell, graph, each) : read(each)))
  return read(readCells(graph, at, plan.dimensions))
}
function cellPlanOf({ item, dimensions }: ArrayPlan): TypePlan {
  const plan = item()
  return dimensions > 1 && plan.kind === 'array' ? cellPlanOf(plan) : plan
}
const readItem = (plan: TypePlan, graph: ResponseGraph, accessor: Element): unknown =>
  isNil(graph, accessor) ? null : readEncodedValue(plan, graph, accessor)
/** A nil value counts too: references may name an array of them many times. */
function isNil(graph: Graph, accessor: Element): boolean {
  const at = resolveReference(graph, accessor)
  if (!isNilElement(at)) return false
  countElement(graph, at)
  return true
}

function readEncodedText({ codec, type }: TextPlan, graph: Graph, at: Element, initial?: string): unknown {
  const text = takeText(graph, at)
  const isInitial = text === '' && initial !== undefined
  const value = codecOfReference(type, codec, graph.reading).read(
    isInitial ? initial : text,
    isInitial ? clarkNames : at,
  )
  return value instanceof Flaw ? refuseElement(at, value.detail) : value
}

function readStruct(plan: ComplexPlan, graph: ResponseGraph, at: Element, initial?: string): ElementRow {
  const row: ElementRow = {}
  checkEncodedAttributes(graph, at, name => plan.attributes.some(each => each.name === name))
  for (const each of plan.attributes) {
    const value = readEncodedAttribute(each, graph, at)
    if (value !== undefined) row[each.key] = value
  }
  checkNodeType(graph, at, plan.text ? 'simple' : 'struct')
  if (plan.text) return { ...row, [plan.text.key]: readEncodedText(plan.text, graph, at, initial) }
  if (hasText(at)) refuseElement(at, 'has text where elements are expected')
  for (const each of at.elements()) if (!isResult(each, graph)) readAccessor(plan.content, graph, each, row)
  requireMembers(plan.content, at, row)
  return row
}

function readEncodedAttribute(plan: AttributePlan, graph: Graph, at: Element): unknown {
  const { name, codec, type, isOptional, initial, isFixed } = plan
  const written = at.attribute(name)
  const text = written ?? (isOptional ? initial : undefined)
  if (text === undefined) return isOptional ? undefined : refuseElement(at, `must have the attribute ${name.local}`)
  countText(graph, at, text.length)
  const value = codecOfReference(type, codec, graph.reading).read(text, written === undefined ? clarkNames : at)
  if (value instanceof Flaw) refuseElement(at, `${name.local} ${value.detail}`)
  if (isFixed && initial !== undefined && !equalsText(codec, value, initial, clarkNames))
    refuseElement(at, `${name.local} must be ${initial}`)
  return value
}

/** Whether this element names the accessor that has the return value. */
const isResult = ({ name, parent }: Element, { version, reading, roots }: Graph): boolean =>
  reading.isResponse === true && name === version.rpcResult && parent === roots[0]

/** SOAP 1.1 §5.1: an accessor that may be nil may also be left out. Groups are searched, too. */
function requireMembers(parts: readonly ParticlePlan[], at: Element, row: ElementRow): void {
  for (const part of parts) {
    const names = firstNames(part).map(({ local }) => local)
    if (part.isMany) {
      const { length: count } = (row[part.key] ??= []) as readonly unknown[] // `appendMember` creates it
      if (count < countRequired(part, count))
        refuseElement(at, `must have ${countRequired(part, count)} of ${names.join(', ')}`)
      if (count > part.max) refuseElement(at, `must have at most ${part.max} of ${names.join(', ')}`)
    } else if (part.min > 0 && !Object.hasOwn(row, part.key)) {
      if (part.kind === 'element' && part.isNillable) row[part.key] = null
      else if (isEmptiableOnce(part)) row[part.key] = emptyValue(part)
      else refuseElement(at, `must have ${names.join(' or ')}`)
    }
    if (part.kind !== 'sequence' && part.kind !== 'choice') continue
    for (const inside of listGroups(part, row)) requireMembers(listChosen(part, inside), at, inside)
  }
}
/** A repeating group has one value for each repetition. */
const listGroups = ({ key }: GroupPlan, row: ElementRow): readonly ElementRow[] =>
  Object.hasOwn(row, key) ? ([row[key]].flat() as readonly ElementRow[]) : [] // as `readGrouped` creates them
const listChosen = ({ kind, parts }: GroupPlan, inside: ElementRow): readonly ParticlePlan[] =>
  kind === 'choice' ? parts.filter(({ key }) => Object.hasOwn(inside, key)) : parts

/** Accessors come in any order, so an accessor alone identifies its group. */
function readAccessor(parts: readonly ParticlePlan[], graph: ResponseGraph, accessor: Element, row: ElementRow): void {
  const { returned } = graph
  const part = returned?.accessor === accessor ? returned.part : findPart(parts, accessor)
  if (!part) {
    const names = parts.flatMap(firstNames).map(each => each.local)
    refuseElement(accessor, `is not expected here: expected ${names.join(', ')}`)
    return
  }
  if (part.kind !== 'element' && part.kind !== 'any') {
    readGrouped(part, graph, accessor, row)
    return
  }
  const isNull = part.kind === 'element' && isNil(graph, accessor)
  const isAbsent = isNull && !allowsNil(part)
  if (isAbsent && (part.isMany || part.min > 0)) refuseElement(accessor, 'must not be nil')
  const value = isNull ? null : readEncodedPart(part, graph, accessor)
  if (part.isMany) appendMember(row, part.key, value)
  else if (Object.hasOwn(row, part.key)) refuseElement(accessor, 'is repeated')
  else if (!isAbsent) row[part.key] = value
}
function readEncodedPart(part: LeafPlan, graph: ResponseGraph, accessor: Element): unknown {
  if (part.kind === 'any') return readEncodedValue(foreignPlan, graph, accessor)
  const value = readEncodedValue(part.type(), graph, accessor, part.initial)
  return isAsFixed(part, value) ? value : refuseElement(accessor, `must be ${part.initial}`)
}
function isAsFixed({ isFixed, initial, type }: ElementPlan, value: unknown): boolean {
  const text = isFixed && initial !== undefined ? findPlannedText(type(), value) : undefined
  return text === undefined || text.value === undefined || equalsText(text.codec, text.value, initial ?? '', clarkNames)
}
/** A wildcard reads its element as text. */
const foreignPlan: TypePlan = { kind: 'xml' }
type LeafPlan = ElementPlan | AnyPlan
/** A wildcard reads elements that no other part declares. */
function findPart(parts: readonly ParticlePlan[], { name: { uri, local } }: Element): ParticlePlan | undefined {
  const isDeclared = (leaf: LeafPlan): boolean =>
    leaf.kind === 'element' && leaf.name.local === local && (uri === '' || uri === leaf.name.uri)
  const isOpen = (leaf: LeafPlan): boolean => leaf.kind === 'any' && leaf.matches(uri)
  return parts.find(each => leadsTo(each, isDeclared)) ?? parts.find(each => leadsTo(each, isOpen))
}
function appendMember(row: ElementRow, key: string, value: unknown): void {
  const values = row[key]
  if (Array.isArray(values)) values.push(value)
  else row[key] = [value]
}
const leadsTo = (part: ParticlePlan, isDeclared: (leaf: LeafPlan) => boolean): boolean =>
  part.kind === 'element' || part.kind === 'any' ? isDeclared(part) : part.parts.some(each => leadsTo(each, isDeclared))

/** A group continues until one of its elements comes again; then it repeats, if it may. */
function readGrouped(part: GroupPlan, graph: ResponseGraph, accessor: Element, row: ElementRow): void {
  const latest = latestGroup(part, row)
  if (latest && hasRoom(part, latest, accessor)) {
    readAccessor(part.parts, graph, accessor, latest)
    return
  }
  if (latest && !part.isMany) refuseElement(accessor, 'is repeated')
  const inside: ElementRow = {}
  readAccessor(part.parts, graph, accessor, inside)
  if (part.isMany) appendMember(row, part.key, inside)
  else row[part.key] = inside
}
/** Whether a group has no such element yet; in a choice, in the branch that was taken. */
function hasRoom(group: GroupPlan, inside: ElementRow, accessor: Element): boolean {
  const part = findPart(group.parts, accessor)
  if (!part || !Object.hasOwn(inside, part.key)) return part !== undefined && group.kind === 'sequence'
  if (part.isMany) return true
  const within = part.kind === 'element' || part.kind === 'any' ? undefined : latestGroup(part, inside)
  return within !== undefined && hasRoom(part as GroupPlan, within, accessor)
}
function latestGroup({ key }: GroupPlan, row: ElementRow): ElementRow | undefined {
  const found = Object.hasOwn(row, key) ? row[key] : undefined
  return (Array.isArray(found) ? found.at(-1) : found) as ElementRow | undefined // as `readGrouped` creates it
}

// Writing

function writeCall(plan: ElementPlan, value: unknown, encoding: SoapEncoding, attachments: LiteralWriting): string {
  const writing = new MessageWriting({ ...attachments, attach: undefined }) // the encoding has no XOP
  const tag = writing.name(plan.name)
  const type = plan.type()
  const inside = type.kind === 'complex' ? writeStruct(type, value, encoding, writing) : ''
  return `<${tag}${writeScope(writing, encoding)}>${inside}</${tag}>`
}
/** SOAP 1.1 §5.1 rule 5: an independent element has its own name and states its type. */
function writeIndependent(plan: ElementPlan, value: unknown, encoding: SoapEncoding): string {
  const writing = new MessageWriting(loneWriting)
  const tag = writing.name(plan.name)
  const text = writeEncodedValue(plan.type(), tag, value, encoding, writing)
  return `<${tag}${writeScope(writing, encoding)}${text.slice(tag.length + 1)}`
}
const writeScope = (writing: MessageWriting, { uri }: SoapEncoding): string =>
  `${writing.declarations()} xmlns:enc="${uri}" ${soapPrefix}:encodingStyle="${uri}"`

function writeStruct(plan: ComplexPlan, value: unknown, encoding: SoapEncoding, writing: MessageWriting): string {
  if (typeof value !== 'object' || value === null) return writing.fail('must be an object')
  const row = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(row))
    if (!plan.keys.has(key) && row[key] !== undefined)
      writing.fail(`has the member ${key}, which its type does not have`)
  if (plan.text) return escapeText(writeSimpleText(plan.text, row[plan.text.key], writing))
  return writeParts(plan.content, row, encoding, writing)
}

function writeParts(
  parts: readonly ParticlePlan[],
  row: Readonly<Record<string, unknown>>,
  encoding: SoapEncoding,
  writing: MessageWriting,
): string {
  let text = ''
  for (const part of parts) {
    const member = Object.hasOwn(row, part.key) ? row[part.key] : undefined
    const values = part.isMany
      ? ((member as readonly unknown[] | undefined) ?? [])
      : member === undefined
        ? []
        : [member]
    if (values.length < part.min && !isEmptiable(part)) writing.fail(`must have ${part.key}`)
    writing.path.push(part.key)
    for (const each of values) {
      if (part.kind === 'element') text += writeAccessor(part, each, encoding, writing)
      else if (part.kind === 'any') text += writeXmlValue(each, ({ uri }) => part.matches(uri), writing)
      else if (typeof each !== 'object' || each === null) writing.fail('must be an object')
      else {
        const chosen = part.kind === 'choice' ? part.parts.filter(({ key }) => Object.hasOwn(each, key)) : part.parts
        text += writeParts(chosen, each as Readonly<Record<string, unknown>>, encoding, writing)
      }
    }
    writing.path.pop()
  }
  return text
}

function writeAccessor(part: ElementPlan, value: unknown, encoding: SoapEncoding, writing: MessageWriting): string {
  if (value === null && !allowsNil(part)) writing.fail('must not be null')
  const text = writeEncodedValue(part.type(), part.name.local, value, encoding, writing)
  return value === null || isAsFixed(part, value) ? text : writing.fail(`must be ${part.initial}`)
}

function writeEncodedValue(
  plan: TypePlan,
  tag: string,
  value: unknown,
  encoding: SoapEncoding,
  writing: MessageWriting,
): string {
  const xsi = writing.prefixFor(xsiUri)
  if (value === null) return `<${tag} ${xsi}:nil="true"/>`
  switch (plan.kind) {
    case 'simple':
      return `<${tag}${typeAttribute(plan, writing)}>${escapeText(writeSimpleText(plan, value, writing))}</${tag}>`
    case 'xml':
      return writeXmlValue(value, name => name.local === tag, writing)
    case 'array': {
      const { sizes, cells } = listCells(value, plan.dimensions, detail => writing.fail(detail))
      const item = cellPlanOf(plan)
      const of = statedTypeName(item, writing) ?? `${writing.prefixFor(xsdUri)}:anyType`
      const items = cells.map(each => writeEncodedValue(item, 'item', each, encoding, writing)).join('')
      return `<${tag} ${xsi}:type="enc:Array"${encoding.writeArray(of, sizes)}>${items}</${tag}>`
    }
    case 'derivable': {
      const typeName = typeof value === 'object' && '$type' in value ? String(value.$type) : undefined
      const derived = typeName === undefined ? undefined : plan.byTag.get(typeName)
      if (typeName !== undefined && !derived)
        writing.fail(`has the $type ${typeName}, which is not derived from its type`)
      return writeEncodedValue(derived?.plan ?? plan.base, tag, value, encoding, writing)
    }
    case 'complex': {
      const inside = writeStruct(plan, value, encoding, writing)
      let start = `<${tag}${typeAttribute(plan, writing)}`
      for (const each of plan.attributes) {
        const member = (value as Readonly<Record<string, unknown>>)[each.key] // writeStruct has seen an object
        if (member !== undefined)
          start += ` ${writing.name(each.name)}=${writeAttribute(writeSimpleText(each, member, writing))}`
      }
      return `${start}>${inside}</${tag}>`
    }
  }
}

function typeAttribute(plan: TypePlan, writing: MessageWriting): string {
  const name = statedTypeName(plan, writing)
  return name === undefined ? '' : ` ${writing.prefixFor(xsiUri)}:type="${name}"`
}
/** For an array, the array type; a type without a name has none. */
function statedTypeName(plan: TypePlan, writing: MessageWriting): string | undefined {
  if (plan.kind === 'derivable') return statedTypeName(plan.base, writing)
  if (plan.kind === 'array') return 'enc:Array'
  if (plan.kind === 'complex') return plan.name && writing.name(plan.name)
  const name: Name | undefined =
    plan.kind === 'simple' && isSimpleType(plan.type) ? [...plan.names].find(Boolean) : undefined
  return name && writing.name(name)
}

const writeSimpleText = ({ codec, type }: TextPlan, value: unknown, writing: MessageWriting): string =>
  writeReferringText(type, codec, value, writing)
