/**
 * Reads elements by the types of `contract/xml-type.ts`, in one pass over the cursor. What always
 * holds:
 *  (1) A value that is read is valid for its declared type: names with their namespaces, order,
 *      occurrence, attributes, nil, xsi:type and facets. An undeclared element or attribute is
 *      refused.
 *  (2) The name of an element alone decides which particle it belongs to, by the schema's rule of
 *      unique particle attribution (XML Schema Part 1 §3.8.6): nothing is tried twice. Where a
 *      wildcard breaks the rule, declared elements take precedence, as in XSD 1.1.
 *  (3) What `schema-write.ts` writes of a value is read as that value.
 */

import { Flaw, typeFlaw } from '../../contract/lexical/flaw.ts'
import { trimXmlSpace } from '../../contract/lexical/text.ts'
import { isBase64Type, lengthsOfOctets } from '../../contract/octet-types.ts'
import { countRequired } from '../../contract/xml-members.ts'
import { clarkNames, equalsText, type SimpleCodec, simpleCodecOf } from '../../contract/xml-simple.ts'
import { type AnyXmlType, isSwaRef } from '../../contract/xml-type.ts'
import { type Cursor, clarkNotation, Element, readElement, writeElement } from '../../xml/index.ts'
import { soap11, soap12 } from '../version.ts'
import { divideRun, type EarlierRows, earlierGroups, noEarlierRows, type RunPlace } from './divided-run.ts'
import { addFlaw, checkEncodings, readNil, refuseContent, takePart } from './literal-read.ts'
import {
  beginsParticle,
  type ComplexPlan,
  type DerivablePlan,
  type ElementPlan,
  findPlannedText,
  firstNames,
  isEmptiable,
  isEmptyContent,
  listFirstParticles,
  mayTake,
  type ParticlePlan,
  type SimplePlan,
  type TextPlan,
  type TypePlan,
} from './schema-plan.ts'
import {
  contentTypeNames,
  describeNames,
  describeUnexpected,
  hrefName,
  isGeneralAttribute,
  type LiteralReading,
  pathOf,
  StreamedPart,
  xsiNil,
  xsiType,
} from './values.ts'

export type ElementRow = Record<string, unknown>

/** From the `start` of the element to its `end`; returns its value. */
export function readPlannedElement(plan: ElementPlan, cursor: Cursor, reading: LiteralReading): unknown {
  const nil = cursor.attribute(xsiNil)
  if (nil !== undefined) {
    // Part 1 §3.3.4, 3.1: not even `false`, where the declaration is not nillable.
    if (!plan.isNillable) refuseContent(cursor, 'must not be nil, nor have xsi:nil')
    if (readNil(cursor, nil)) return readNilElement(plan, cursor)
  }
  const value = readTyped(plan.type(), cursor, reading, plan.initial)
  if (plan.isFixed) requireFixed(plan, cursor, value)
  return value
}

function readNilElement({ isFixed }: ElementPlan, cursor: Cursor): null {
  if (isFixed) refuseContent(cursor, 'has a fixed value and must not be nil') // Part 1 §3.3.4, 3.2.2
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    if (!isGeneralAttribute(name)) refuseContent(cursor, `is nil and must not have the attribute ${name.local}`)
  }
  if (cursor.next() !== 'end') refuseContent(cursor, 'is nil and has content')
  return null
}

function requireFixed({ type, initial = '' }: ElementPlan, cursor: Cursor, value: unknown): void {
  const text = findPlannedText(type(), value)
  if (text?.value instanceof StreamedPart)
    refuseContent(cursor, 'has a fixed value, and its octets are in a part that is not held')
  if (text) requireSame(cursor, text.codec, initial, text.value, '')
}
function requireSame(cursor: Cursor, codec: SimpleCodec, initial: string, value: unknown, prefix: string): void {
  if (value !== undefined && !equalsText(codec, value, initial, clarkNames))
    refuseContent(cursor, `${prefix}must be ${initial}`)
}

function readTyped(plan: TypePlan, cursor: Cursor, reading: LiteralReading, initial?: string): unknown {
  switch (plan.kind) {
    case 'xml':
      return readAnyElement(cursor, reading)
    case 'simple':
      return readSimple(plan, cursor, reading, initial)
    case 'derivable':
      return readDerivable(plan, cursor, reading, initial)
    case 'array':
      return readLiteralArray(plan.item(), cursor, reading)
    case 'complex':
      requireOwnType(cursor, plan)
      if (plan.isAbstract) refuseContent(cursor, 'has an abstract type: its xsi:type must name another one')
      return readComplex(plan, cursor, reading, initial)
  }
}

// Simple types

function readSimple(plan: SimplePlan, cursor: Cursor, reading: LiteralReading, initial: string | undefined): unknown {
  const isBase64 = isBase64Type(plan.type)
  const reference = isBase64 && reading.parts ? cursor.attribute(hrefName) : undefined
  checkEncodings(cursor)
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    const isOfOctets = isBase64 && (contentTypeNames.has(name) || (name === hrefName && reference !== undefined))
    if (!isGeneralAttribute(name) && !isOfOctets) refuseContent(cursor, `must not have the attribute ${name.local}`)
  }
  const written = cursor.attribute(xsiType)
  const stated = written === undefined ? plan : statedText(plan, cursor, written)
  return readTextContent(stated, cursor, reading, initial, reference)
}

/** Part 1 §3.3.4, 4.3: xsi:type may name a type derived from the declared one. */
function statedText(plan: SimplePlan, cursor: Cursor, written: string): TextPlan {
  const name = cursor.qname(trimXmlSpace(written))
  if (name && plan.names.has(name)) return plan
  return (name && plan.findNarrower(name)) ?? refuseContent(cursor, `must not have the xsi:type ${written}`)
}

/**
 * Text of a simple type, or of a complex type with attributes; its octets may be in a part.
 *
 * @param reference the reference to this part, if an attribute has it
 */
function readTextContent(
  { codec, type }: TextPlan,
  cursor: Cursor,
  reading: LiteralReading,
  initial: string | undefined,
  reference?: string,
): unknown {
  if (!reading.parts || !isBase64Type(type))
    return readPlannedText(codecOfReference(type, codec, reading), cursor, reading, initial)
  const octets = takePart(cursor, reading.parts, reference)
  const isEmpty = octets instanceof Uint8Array && octets.length === 0
  const text = isEmpty ? initial : octets ? undefined : cursor.value
  const value = text === undefined ? octets : codec.read(text, cursor)
  return checkOctets(type, value, cursor, reading)
}
/** A part that has not arrived yet has no length: only octets at hand are compared. */
function checkOctets(type: AnyXmlType, octets: unknown, cursor: Cursor, reading: LiteralReading): unknown {
  if (octets instanceof StreamedPart) {
    const lengths = lengthsOfOctets(type)
    if (lengths) return new StreamedPart(octets.id, lengths)
    return refuseContent(cursor, 'has a type that depends on its octets, which are in a part that is not held')
  }
  const checked = octets instanceof Uint8Array ? simpleCodecOf(type).check(octets) : octets
  return checked instanceof Flaw ? addFlaw(cursor, reading, checked) : checked
}

function readPlannedText(codec: SimpleCodec, cursor: Cursor, reading: LiteralReading, initial?: string): unknown {
  const text = cursor.text()
  if (text === undefined) return refuseContent(cursor, 'is an element where only text is expected')
  const isInitial = text === '' && initial !== undefined
  const value = isInitial ? codec.read(initial, clarkNames) : codec.read(text, cursor)
  return value instanceof Flaw ? readUnrestricted(codec, isInitial ? initial : text, value, cursor, reading) : value
}

/** The value regardless of facets, where that is forgiven. */
function readUnrestricted(
  { unrestricted }: SimpleCodec,
  text: string,
  flaw: Flaw,
  cursor: Cursor,
  reading: LiteralReading,
): unknown {
  const value = reading.forgive && unrestricted ? unrestricted.read(text, cursor) : flaw
  if (!(value instanceof Flaw) && reading.forgive?.('facets', pathOf(cursor), flaw.detail)) return value
  return addFlaw(cursor, reading, flaw)
}

/**
 * A codec that reads the octets of the attachment to which a text refers (WS-I Attachments Profile
 * 1.0 §4.4). A part may be referred to more than once.
 */
export function codecOfReference(
  type: AnyXmlType,
  codec: SimpleCodec,
  { parts, isDocument }: LiteralReading,
): SimpleCodec {
  if (isDocument || !isSwaRef(type)) return codec
  const read = (text: string): Uint8Array | Flaw => {
    const href = trimXmlSpace(text)
    const isUri = /^cid:/i.test(href)
    const found = parts?.look(isUri ? href : `cid:${encodeURIComponent(href)}`) // Apache CXF writes the id alone
    if (found) return new Uint8Array(found.buffer, found.byteOffset, found.length)
    if (!isUri) return typeFlaw('the cid: URI of an attachment of its message')
    return new Flaw('type', `refers to ${href}, a part that its message does not have`)
  }
  return { ...codec, read }
}

/** In the schema of the encoding, the items of an array may have any names (SOAP 1.1 §5.4.2). */
function readLiteralArray(item: TypePlan, cursor: Cursor, reading: LiteralReading): unknown[] {
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    if (!isGeneralAttribute(name) && name.uri !== soap11.encoding && name.uri !== soap12.encoding)
      refuseContent(cursor, `must not have the attribute ${name.local}`)
  }
  const items: unknown[] = []
  while (cursor.child() === 'start') items.push(readTyped(item, cursor, reading))
  if (cursor.event !== 'end') refuseContent(cursor, 'has text where items are expected')
  return items
}

// Complex types

function requireOwnType(cursor: Cursor, { name }: ComplexPlan): void {
  const written = cursor.attribute(xsiType)
  if (written !== undefined && cursor.qname(trimXmlSpace(written)) !== name)
    refuseContent(cursor, `must not have the xsi:type ${written}`)
}

function readDerivable(plan: DerivablePlan, cursor: Cursor, reading: LiteralReading, initial?: string): unknown {
  const written = cursor.attribute(xsiType)
  const name = written === undefined ? undefined : cursor.qname(trimXmlSpace(written))
  const derived = name && plan.byName.get(name)
  if (!derived) return readTyped(plan.base, cursor, reading, initial)
  return { $type: derived.tag, ...readComplex(derived.plan, cursor, reading, initial) }
}

function readComplex(plan: ComplexPlan, cursor: Cursor, reading: LiteralReading, initial?: string): ElementRow {
  const row: ElementRow = {}
  readPlannedAttributes(plan, cursor, reading, row)
  if (plan.text) {
    row[plan.text.key] = readTextContent(plan.text, cursor, reading, initial)
    return row
  }
  if (isEmptyContent(plan)) requireEmpty(cursor)
  else cursor.child()
  readElements(plan, cursor, reading, row)
  return row
}
/** Goes to the first child or the end. Part 1 §3.4.4, 2.1: no characters, not even white space. */
function requireEmpty(cursor: Cursor): void {
  let event = cursor.next()
  while (event === 'comment' || (event === 'text' && cursor.value === '')) event = cursor.next()
  if (event === 'text') refuseContent(cursor, 'must be empty, even of white space')
}

/** From the first child, or the end, of the enclosing element: reads the elements up to its end. */
function readElements(plan: ComplexPlan, cursor: Cursor, reading: LiteralReading, row: ElementRow): void {
  if (plan.isUnordered) readUnordered(plan.content, cursor, reading, row)
  else readSequence(plan.content, cursor, reading, row)
  if (cursor.event === 'start') refuseUnexpected(cursor, listRemaining(plan, row), plan.content)
  if (cursor.event !== 'end') refuseContent(cursor, 'has text where elements are expected')
}

/** The particles that may still come. */
function listRemaining({ content, isUnordered }: ComplexPlan, row: ElementRow): readonly ParticlePlan[] {
  const countOf = ({ key, isMany }: ParticlePlan): number => {
    const found = Object.hasOwn(row, key) ? row[key] : undefined
    return isMany && Array.isArray(found) ? found.length : Number(found !== undefined)
  }
  const from = isUnordered
    ? 0
    : Math.max(
        content.findLastIndex(each => countOf(each) > 0),
        0,
      )
  return content.slice(from).filter(each => countOf(each) < each.max)
}

/** From the first child, or the end, of the enclosing element: the value of all its content. */
export function readPlannedElements(plan: ComplexPlan, cursor: Cursor, reading: LiteralReading): unknown {
  const row: ElementRow = {}
  readElements(plan, cursor, reading, row)
  return row
}

function readPlannedAttributes(plan: ComplexPlan, cursor: Cursor, reading: LiteralReading, row: ElementRow): void {
  checkEncodings(cursor)
  const others: Record<string, string> = {}
  for (let index = 0; index < cursor.attributes; index++) {
    const name = cursor.attributeName(index)
    if (plan.attributes.some(each => each.name === name) || isGeneralAttribute(name)) continue
    if (!plan.anyAttribute?.matches(name.uri)) refuseContent(cursor, `must not have the attribute ${name.local}`)
    others[clarkNotation(name)] = cursor.attributeValue(index)
  }
  for (const each of plan.attributes) {
    const { key, name, isOptional, initial, isFixed } = each
    const codec = codecOfReference(each.type, each.codec, reading)
    const attribute = cursor.attribute(name)
    const text = attribute ?? (isOptional ? initial : undefined)
    if (text === undefined && !isOptional) refuseOrForgive(cursor, reading, `must have the attribute ${name.local}`)
    if (text === undefined) continue
    const read = codec.read(text, attribute === undefined ? clarkNames : cursor)
    const value =
      read instanceof Flaw
        ? readUnrestricted(
            codec,
            text,
            new Flaw(read.code, `${name.local} ${read.detail}`, read.isOfType),
            cursor,
            reading,
          )
        : read
    if (value !== undefined) row[key] = value
    if (isFixed && initial !== undefined) requireSame(cursor, codec, initial, row[key], `${name.local} `)
  }
  if (plan.anyAttribute && Object.keys(others).length > 0) row[plan.anyAttribute.key] = others
}

/** From the first child to the first element that does not belong to these particles. */
function readSequence(
  parts: readonly ParticlePlan[],
  cursor: Cursor,
  reading: LiteralReading,
  row: ElementRow,
  earlier = noEarlierRows,
): void {
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] as ParticlePlan // within the bounds of the list
    if (!part.isMany && cursor.event === 'start' && mayTake(part, 0, cursor.name)) {
      const isGroup = part.kind === 'sequence' || part.kind === 'choice'
      const groups = isGroup ? earlierGroups({ parts, at, row, earlier }) : noEarlierRows
      row[part.key] = readParticle(part, cursor, reading, groups)
    } else setMember(part, readRepeated({ parts, at, row, earlier }, cursor, reading), row)
  }
}

/** Reads as many values of the particle as there are, within its occurrence bounds. */
function readRepeated(place: RunPlace, cursor: Cursor, reading: LiteralReading): readonly unknown[] {
  const { parts, at } = place
  const part = parts[at] as ParticlePlan // callers pass an index of the list
  const values: unknown[] = []
  const earlier = (): readonly ElementRow[] => values as ElementRow[] // only groups ask for them
  while (values.length < part.max && cursor.event === 'start' && mayTake(part, values.length, cursor.name))
    values.push(readParticle(part, cursor, reading, earlier))
  while (values.length < countRequired(part, values.length)) {
    if (!isEmptiableOnce(part)) {
      if (values.length > 0 && divideRun(place, values)) break
      refuseLacking(cursor, reading, parts.slice(at), part)
      break
    }
    values.push(emptyValue(part))
  }
  return values
}

/** XML Schema Part 1 §3.8.4, `all`. */
function readUnordered(parts: readonly ParticlePlan[], cursor: Cursor, reading: LiteralReading, row: ElementRow): void {
  const found = new Map<ParticlePlan, unknown[]>()
  while (cursor.event === 'start') {
    const { name } = cursor
    const part = parts.find(each => beginsParticle(each, name))
    if (!part) {
      refuseUnexpected(cursor, parts)
      return
    }
    const values = found.get(part) ?? []
    if (values.length === part.max) refuseContent(cursor, 'is repeated')
    values.push(readParticle(part, cursor, reading))
    found.set(part, values)
  }
  for (const part of parts) {
    const values = found.get(part) ?? []
    if (values.length < countRequired(part, values.length)) refuseLacking(cursor, reading, [part], part)
    setMember(part, values, row)
  }
}

function setMember({ key, isMany }: ParticlePlan, values: readonly unknown[], row: ElementRow): void {
  if (isMany) row[key] = values
  else if (values.length > 0) row[key] = values[0]
}

/** From the `start` of its first element to the event after its last one. */
function readParticle(
  part: ParticlePlan,
  cursor: Cursor,
  reading: LiteralReading,
  earlier: EarlierRows = noEarlierRows,
): unknown {
  if (part.kind === 'sequence' || part.kind === 'choice') {
    const { name } = cursor
    const branch = part.parts.find(each => beginsParticle(each, name))
    const row: ElementRow = {}
    readSequence(part.kind === 'sequence' ? part.parts : branch ? [branch] : [], cursor, reading, row, earlier)
    return row
  }
  const value = part.kind === 'element' ? readPlannedElement(part, cursor, reading) : readAnyElement(cursor, reading)
  cursor.child()
  return value
}

const describeMissing = (part: ParticlePlan): string => `comes without ${describeNames(firstNames(part))}`
export const isEmptiableOnce = (part: ParticlePlan): boolean => isEmptiable({ ...part, min: 1 })
/** The value of an optional group of which no element is present. */
export function emptyValue(part: ParticlePlan): ElementRow {
  const parts = part.kind === 'sequence' ? part.parts : part.kind === 'choice' ? part.parts.filter(isEmptiable) : []
  const row: ElementRow = {}
  for (const each of part.kind === 'choice' ? parts.slice(0, 1) : parts) {
    if (each.isMany) row[each.key] = []
    else if (each.min > 0) row[each.key] = emptyValue(each)
  }
  return row
}

/** Refuses a missing requirement, or forgives it. */
function refuseOrForgive(cursor: Cursor, { forgive }: LiteralReading, detail: string): void {
  if (!forgive?.('missing', pathOf(cursor), detail)) refuseContent(cursor, detail)
}
/** @param parts those that may come next, one of which is missing */
function refuseLacking(
  cursor: Cursor,
  reading: LiteralReading,
  parts: readonly ParticlePlan[],
  missing: ParticlePlan,
): void {
  if (cursor.event !== 'text' && reading.forgive?.('missing', pathOf(cursor), describeMissing(missing))) return
  if (cursor.event === 'start') refuseUnexpected(cursor, parts)
  if (cursor.event === 'text') refuseContent(cursor, 'has text where elements are expected')
  const sequence = { kind: 'sequence', key: '', min: 1, max: 1, isMany: false, parts } as const
  const [first, another] = listFirstParticles(sequence)
  const isElement = first?.kind === 'element' && !another
  refuseContent(cursor, `must have ${isElement ? 'the element ' : ''}${describeNames(firstNames(sequence))}`)
}
/** @param declared the enclosing particles, of which these may come next */
function refuseUnexpected(
  cursor: Cursor,
  parts: readonly ParticlePlan[],
  declared: readonly ParticlePlan[] = parts,
): never {
  const sequence = { kind: 'sequence', key: '', min: 1, max: 1, isMany: false, parts } as const
  const names = declared.flatMap(firstNames)
  return refuseContent(
    cursor,
    names.includes(cursor.name)
      ? `is out of order or repeated: expected ${describeNames(firstNames(sequence))}`
      : describeUnexpected(cursor.name, firstNames(sequence), names),
  )
}

// XML

/**
 * The words before a colon. A pattern for a word and its colon would take n² steps on text without
 * a colon.
 */
const listPrefixes = (text: string): readonly string[] =>
  text.includes(':') ? text.split(/[\s"'(<>]/).flatMap(word => word.split(':').slice(0, -1).filter(Boolean)) : []

/** The text of the whole element, self-contained: with the namespaces that it uses. */
export function readAnyElement(cursor: Cursor, { around, kept }: LiteralReading): string {
  const element = readElement(cursor, around)
  const mentioned = new Map<string, string>()
  const mention = (prefix: string) => {
    const uri = prefix === 'xml' ? undefined : cursor.namespace(prefix) // the cursor is at the element's end
    if (uri !== undefined) mentioned.set(prefix, uri)
  }
  visitTexts(element, text => listPrefixes(text).forEach(mention))
  visitPrefixes(element, prefix => !mentioned.has(prefix) && mention(prefix))
  for (const each of element.declarations) mentioned.delete(each.prefix)
  const declarations = [...element.declarations, ...Array.from(mentioned, ([prefix, uri]) => ({ prefix, uri }))]
  const alone = new Element(undefined, element.name, element.prefix, element.attributes, declarations)
  alone.append(element.children)
  const markup = writeElement(alone)
  if (kept && !kept.allows(markup.length))
    refuseContent(cursor, 'repeats namespaces that are declared around it: declare them where they are used')
  return markup
}
/** Visits the prefixes of names: each is declared once, not on each element that uses it. */
function visitPrefixes(element: Element, visit: (prefix: string) => void): void {
  for (const child of element.elements()) {
    if (child.prefix !== '') visit(child.prefix)
    for (const { prefix } of child.attributes) if (prefix !== '') visit(prefix)
    visitPrefixes(child, visit)
  }
}
function visitTexts(element: Element, visit: (text: string) => void): void {
  for (const { value } of element.attributes) visit(value)
  for (const child of element.children)
    if (child.kind === 'element') visitTexts(child, visit)
    else if (child.kind === 'text') visit(child.value)
}
