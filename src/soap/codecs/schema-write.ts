/**
 * Writes elements by the types of `contract/xml-type.ts`: in the names, namespaces and order of the
 * schema. A value comes from a handler and has not been checked: one that the declared type does
 * not allow throws an `UnfitValue` with its place, so no invalid message is sent.
 */
import { PassingOctets } from '../../base/passing-octets.ts'
import { Flaw } from '../../contract/lexical/flaw.ts'
import { isBase64Type, lengthsOfOctets, limitLength } from '../../contract/octet-types.ts'
import { allowsNil, countRequired, parseAttributeKey } from '../../contract/xml-members.ts'
import { clarkNames, equalsText, type SimpleCodec } from '../../contract/xml-simple.ts'
import { type AnyXmlType, isSwaRef } from '../../contract/xml-type.ts'
import { escapeText, Malformed, type Name, parseXml, writeAttribute, writeElement, xmlUri } from '../../xml/index.ts'
import {
  type AttributePlan,
  type ComplexPlan,
  type DerivablePlan,
  type ElementPlan,
  findPlannedText,
  type GroupPlan,
  isEmptiable,
  mayTake,
  type ParticlePlan,
  type TypePlan,
} from './schema-plan.ts'
import { includeName, type LiteralWriting, xsiUri } from './values.ts'

/** A value that its declared type does not allow: a bug of the program. */
export class UnfitValue extends Error {
  /** The path of the value, from the element of the message on. */
  readonly path: readonly string[]
  readonly detail: string
  constructor(path: readonly string[], detail: string) {
    super(`${path.join('.')} ${detail}`)
    this.path = path
    this.detail = detail
  }
}

type ValueRow = Readonly<Record<string, unknown>>

/** One message being written: its prefixes, and the path of the current value. */
export class MessageWriting {
  /**
   * `xml` is bound everywhere, and no other prefix may be bound to its namespace (Namespaces in XML
   * §3).
   */
  readonly #prefixes = new Map<string, string>([[xmlUri, 'xml']])
  readonly path: string[]
  readonly attachments: Pick<LiteralWriting, 'attach' | 'refer'>
  constructor(attachments: Pick<LiteralWriting, 'attach' | 'refer'>, path: readonly string[] = []) {
    this.attachments = attachments
    this.path = [...path]
  }
  readonly prefixFor = (uri: string): string => {
    let prefix = this.#prefixes.get(uri)
    if (prefix === undefined) {
      prefix = uri === xsiUri ? 'xsi' : `n${this.#prefixes.size}`
      this.#prefixes.set(uri, prefix)
    }
    return prefix
  }
  name({ uri, local }: Name): string {
    return uri === '' ? local : `${this.prefixFor(uri)}:${local}`
  }
  declarations(): string {
    let text = ''
    for (const [uri, prefix] of this.#prefixes) if (uri !== xmlUri) text += ` xmlns:${prefix}=${writeAttribute(uri)}`
    return text
  }
  fail(detail: string): never {
    throw new UnfitValue([...this.path], detail)
  }
}

/** The whole element; it declares every namespace that it uses. */
export const writePlannedElement = (plan: ElementPlan, value: unknown, attachments: LiteralWriting): string =>
  writeAlone(plan, value, new MessageWriting(attachments))

/** The elements of a type; each declares every namespace that it uses. */
export function writePlannedElements(
  { content, keys }: ComplexPlan,
  value: unknown,
  attachments: LiteralWriting,
): string {
  const writing = new MessageWriting(attachments)
  writing.path.push('Body')
  if (!isValueRow(value)) return writing.fail('must be an object')
  requireKnown({ keys }, value, writing)
  return writeParticles(content, value, writing, (plan, each, { path }) =>
    writeAlone(plan, each, new MessageWriting(attachments, path)),
  )
}

function writeAlone(plan: ElementPlan, value: unknown, writing: MessageWriting): string {
  const text = writeField(plan, value, writing)
  const tag = `<${writing.name(plan.name)}`
  return text.startsWith(tag) ? tag + writing.declarations() + text.slice(tag.length) : text
}

function writeField(plan: ElementPlan, value: unknown, writing: MessageWriting): string {
  writing.path.push(plan.key)
  const tag = writing.name(plan.name)
  let markup: string
  if (value === null && allowsNil(plan)) markup = `<${tag} ${writing.prefixFor(xsiUri)}:nil="true"/>`
  else {
    markup = writeTyped(plan, plan.type(), tag, value, writing)
    const text = plan.isFixed && findPlannedText(plan.type(), value)
    if (text) requireFixedValue(text.codec, plan, text.value, writing)
  }
  writing.path.pop()
  return markup
}

function writeTyped(plan: ElementPlan, type: TypePlan, tag: string, value: unknown, writing: MessageWriting): string {
  switch (type.kind) {
    case 'xml':
      return writeXmlValue(value, name => name === plan.name || plan === itemPlan, writing)
    case 'simple':
      return `<${tag}>${writeSimple(type, value, writing)}</${tag}>`
    case 'array': {
      if (!Array.isArray(value)) return writing.fail('must be a list')
      const items = value.map(each => writeTyped(itemPlan, type.item(), 'item', each, writing)).join('')
      return `<${tag}>${items}</${tag}>`
    }
    case 'complex':
      if (type.isAbstract) writing.fail('has an abstract type: give it a $type')
      return writeComplex(type, tag, value, '', writing)
    case 'derivable':
      return writeDerived(plan, type, tag, value, writing)
  }
}

function requireFixedValue(
  codec: SimpleCodec,
  { initial = '' }: Pick<ElementPlan, 'initial'>,
  value: unknown,
  writing: MessageWriting,
): void {
  if (!equalsText(codec, value, initial, clarkNames)) writing.fail(`must be ${initial}`)
}

/** An item of an array, whose name does not matter. */
const itemPlan: ElementPlan = {
  ...{ kind: 'element', key: 'item', min: 1, max: 1, isMany: false, isNillable: false, initial: undefined },
  ...{ isFixed: false, name: { uri: '', local: 'item' }, type: () => ({ kind: 'xml' }) },
}

function writeSimple(
  { codec, type }: NonNullable<ComplexPlan['text']> | Extract<TypePlan, { kind: 'simple' }>,
  value: unknown,
  writing: MessageWriting,
): string {
  const { attach } = writing.attachments
  if (attach && (value instanceof Uint8Array || value instanceof PassingOctets) && isBase64Type(type)) {
    const octets = value instanceof PassingOctets ? limitPassing(type, value, writing) : value
    if (octets === value) requireChecked(codec, value, writing)
    return `<xop:Include xmlns:xop="${includeName.uri}" href=${writeAttribute(attach(octets))}/>`
  }
  return escapeText(writeReferringText(type, codec, value, writing))
}

/** Writes the octets of an attachment, where one is possible, as its URI. */
export function writeReferringText(
  type: AnyXmlType,
  codec: SimpleCodec,
  value: unknown,
  writing: MessageWriting,
): string {
  const { refer } = writing.attachments
  if (!refer || !isSwaRef(type)) return writeCheckedText(codec, value, writing)
  if (refer === 'never') return writing.fail('refers to an attachment, which is possible only in a Body')
  return refer(requireChecked(codec, value, writing) as Uint8Array) // the check admits nothing else
}

/** Their number is known only at the end, so their reader learns there that they do not fit. */
function limitPassing(type: AnyXmlType, octets: PassingOctets, { path }: MessageWriting): PassingOctets {
  const place = [...path]
  const fail = (detail: string): never => {
    throw new UnfitValue(place, detail)
  }
  const lengths = lengthsOfOctets(type) ?? fail('has a type whose octets must be known before they are sent')
  return octets.through(pieces => limitLength(pieces, lengths, fail))
}

function writeCheckedText(codec: SimpleCodec, value: unknown, writing: MessageWriting): string {
  return codec.write(requireChecked(codec, value, writing), writing.prefixFor)
}

function requireChecked(codec: SimpleCodec, value: unknown, writing: MessageWriting): unknown {
  const checked = codec.check(value)
  return checked instanceof Flaw ? writing.fail(checked.detail) : checked
}

function writeDerived(
  plan: ElementPlan,
  type: DerivablePlan,
  tag: string,
  value: unknown,
  writing: MessageWriting,
): string {
  const typeName = isValueRow(value) && Object.hasOwn(value, '$type') ? value['$type'] : undefined
  if (typeName === undefined) return writeTyped(plan, type.base, tag, value, writing)
  const derived = type.byTag.get(String(typeName))
  if (!derived)
    return writing.fail(`has the $type ${String(typeName)}: use one of ${[...type.byTag.keys()].join(', ')}`)
  const typeAttribute = ` ${writing.prefixFor(xsiUri)}:type="${writing.name(derived.name)}"`
  return writeComplex(derived.plan, tag, value, typeAttribute, writing)
}

const isValueRow = (value: unknown): value is ValueRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)

function writeComplex(
  plan: ComplexPlan,
  tag: string,
  value: unknown,
  attributes: string,
  writing: MessageWriting,
): string {
  if (!isValueRow(value)) return writing.fail('must be an object')
  requireKnown(plan, value, writing)
  let start = `<${tag}${attributes}`
  for (const each of plan.attributes) start += writeAttributeOf(each, value, writing)
  start += writeOthers(plan, value, writing)
  const content = plan.text
    ? writeSimple(plan.text, ownValue(value, plan.text.key), writing)
    : writeParticles(plan.content, value, writing)
  return content === '' ? `${start}/>` : `${start}>${content}</${tag}>`
}

const ownValue = (row: ValueRow, key: string): unknown => (Object.hasOwn(row, key) ? row[key] : undefined)

/** A member that no declaration names would be lost. */
function requireKnown(plan: Pick<ComplexPlan, 'keys'>, row: ValueRow, writing: MessageWriting): void {
  for (const key of Object.keys(row))
    if (!plan.keys.has(key) && row[key] !== undefined)
      writing.fail(`has the member ${key}, which its type does not have`)
}

function writeAttributeOf(plan: AttributePlan, row: ValueRow, writing: MessageWriting): string {
  const { key, name, codec, type, isOptional, isFixed } = plan
  const value = ownValue(row, key)
  if (value === undefined) return isOptional ? '' : writing.fail(`must have ${key}`)
  writing.path.push(key)
  const text = ` ${writing.name(name)}=${writeAttribute(writeReferringText(type, codec, value, writing))}`
  if (isFixed) requireFixedValue(codec, plan, value, writing)
  writing.path.pop()
  return text
}

function writeOthers({ anyAttribute }: ComplexPlan, row: ValueRow, writing: MessageWriting): string {
  const others = anyAttribute && ownValue(row, anyAttribute.key)
  if (!anyAttribute || others === undefined) return ''
  if (!isValueRow(others)) return writing.fail(`must have an object as ${anyAttribute.key}`)
  let text = ''
  for (const [key, value] of Object.entries(others)) {
    const name = parseAttributeKey(key)
    if (!name || !anyAttribute.matches(name.uri)) return writing.fail(`must not have the attribute ${key}`)
    text += ` ${writing.name(name)}=${writeAttribute(String(value))}`
  }
  return text
}

/** How an element among others is written. */
type WriteParticleElement = (plan: ElementPlan, value: unknown, writing: MessageWriting) => string

function writeParticles(
  parts: readonly ParticlePlan[],
  row: ValueRow,
  writing: MessageWriting,
  write: WriteParticleElement = writeField,
): string {
  let text = ''
  for (const part of parts) {
    const { key, max, isMany } = part
    const value = ownValue(row, key)
    if (isMany && value !== undefined && !Array.isArray(value)) writing.fail(`must have a list as ${key}`)
    const values: readonly unknown[] = isMany ? ((value as unknown[]) ?? []) : value === undefined ? [] : [value]
    const min = countRequired(part, values.length)
    if (values.length < min) writing.fail(isMany ? `must have at least ${min} of ${key}` : `must have ${key}`)
    if (values.length > max) writing.fail(`must have at most ${max} of ${key}`)
    for (const [at, each] of values.entries()) text += writeParticle(part, at, each, writing, write)
  }
  return text
}

/** @param at how many of them came before this one */
function writeParticle(
  part: ParticlePlan,
  at: number,
  value: unknown,
  writing: MessageWriting,
  write: WriteParticleElement,
): string {
  if (part.kind === 'element') return write(part, value, writing)
  writing.path.push(part.key)
  const text =
    part.kind === 'any'
      ? writeXmlValue(value, name => mayTake(part, at, name), writing)
      : writeGroup(part, value, writing, write)
  writing.path.pop()
  return text
}

function writeGroup(part: GroupPlan, value: unknown, writing: MessageWriting, write: WriteParticleElement): string {
  if (!isValueRow(value)) return writing.fail('must be an object')
  const keys = Object.keys(value).filter(key => value[key] !== undefined)
  const expected = part.parts.map(each => each.key)
  const unknown = keys.find(key => !expected.includes(key))
  if (unknown !== undefined) writing.fail(`has ${unknown}: expected ${expected.join(', ')}`)
  if (part.kind === 'sequence') return writeParticles(part.parts, value, writing, write)
  if (keys.length === 0 && !isEmptiable({ ...part, min: 1 })) writing.fail(`must have one of ${expected.join(', ')}`)
  if (keys.length > 1) writing.fail(`has ${keys.join(' and ')}: a choice has exactly one`)
  return writeParticles(
    part.parts.filter(each => each.key === keys[0]),
    value,
    writing,
    write,
  )
}

const utf8 = new TextEncoder()
/** The text of one element, parsed so that nothing else enters the message. */
export function writeXmlValue(value: unknown, fits: (name: Name) => boolean, writing: MessageWriting): string {
  if (typeof value !== 'string') return writing.fail('must be the text of an XML element')
  const document = parseXml(utf8.encode(value))
  if (document instanceof Malformed) return writing.fail(`is not well-formed XML: ${document.reason}`)
  if (!fits(document.root.name)) writing.fail(`must not be the element ${document.root.name.local}`)
  return writeElement(document.root)
}
