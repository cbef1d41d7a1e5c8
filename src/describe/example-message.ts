/** Examples of messages that another party designed: a fold over the types of their schema. */
import { Flaw } from '../contract/lexical/flaw.ts'
import { compileXsdPattern } from '../contract/lexical/xsd-pattern.ts'
import { countRequired, initialOf, mayMemberBeNil } from '../contract/xml-members.ts'
import { clarkNames, isSimpleType, type NamesAround, simpleCodecOf } from '../contract/xml-simple.ts'
import {
  type AnyMember,
  type AnyRootElement,
  type AnyXmlType,
  type AttachmentMark,
  type BuiltInName,
  type ComplexDefinition,
  hasOneMediaType,
  type QualifiedName,
  type SchemaFacets,
  type TypeMembers,
  type WildcardNamespaces,
} from '../contract/xml-type.ts'
import { writeAttribute } from '../xml/index.ts'
import {
  createChoose,
  type ExamplePlace,
  hasRoomForOptional,
  listExampleTexts,
  NoExample,
  placeWithin,
  placeWithRoom,
  requireShortText,
  takeRoom,
} from './example-text.ts'

/** The value of an element, as a handler would provide it. Throws `NoExample`. */
export function makeMessage(root: AnyRootElement, place: ExamplePlace): unknown {
  const whole = placeWithRoom(place)
  const value = makeFixed(root.type(), root.marks) ?? makeTyped(root.type(), root.name, whole, 0)
  if (value === undefined) throw new NoExample(place, 'its type has no finite value')
  return value
}

/** From this depth on optional elements are left out or nil, since a type may contain itself. */
const depthOfOptional = 5
const depthMax = 16

/** Undefined: it has no value within the depth. */
function makeTyped(type: AnyXmlType, name: QualifiedName, place: ExamplePlace, depth: number): unknown {
  if (depth > depthMax) return undefined
  const { definition } = type
  if (definition.kind === 'complex') return definition.isAbstract ? undefined : makeComplex(definition, place, depth)
  if (definition.kind === 'array') {
    const value = makeTyped(definition.item(), { uri: '', local: 'item' }, placeWithin(place, 'item'), depth + 1)
    return value === undefined ? [] : [value]
  }
  if (definition.kind === 'derivable') return makeDerivable(definition.type, definition.derived(), name, place, depth)
  if (!isSimpleType(type))
    return `<${name.local}${name.uri === '' ? '' : ` xmlns=${writeAttribute(name.uri)}`}>example</${name.local}>`
  return makeSimple(type, place)
}

function makeDerivable(
  base: AnyXmlType,
  derived: readonly AnyXmlType[],
  name: QualifiedName,
  place: ExamplePlace,
  depth: number,
): unknown {
  const { definition } = base
  if (definition.kind !== 'complex' || !definition.isAbstract) return makeTyped(base, name, place, depth)
  for (const { definition: each } of derived) {
    if (each.kind !== 'complex' || each.isAbstract || !each.name) continue
    const value = makeComplex(each, place, depth)
    if (value !== undefined) return { $type: each.name.local, ...value }
  }
  return undefined
}

type MemberValues = Record<string, unknown>

function makeComplex(definition: ComplexDefinition, place: ExamplePlace, depth: number): MemberValues | undefined {
  const { base, members } = definition
  const extended = base?.by === 'extension' ? base.type.definition : undefined
  const inherited = extended?.kind === 'complex' ? makeComplex(extended, place, depth) : {}
  const own = makeMembers(members, place, depth)
  return inherited && own && { ...inherited, ...own }
}

function makeMembers(members: TypeMembers, place: ExamplePlace, depth: number): MemberValues | undefined {
  const made: MemberValues = {}
  for (const [key, member] of Object.entries(members)) {
    const { min, max, isMany } = member.marks
    const mayBeLeftOut = depth >= depthOfOptional || isWildcard(member) || !hasRoomForOptional(place)
    const isLeftOut = min === 0 && mayBeLeftOut
    const some = Math.max(1, countRequired(member.marks, 1))
    const count = isMany ? Math.min(Math.max(min, isLeftOut ? 0 : some), max) : Number(!isLeftOut)
    const inner = placeWithin(place, key)
    takeRoom(inner, count)
    const values = Array.from({ length: count }, (_, i) =>
      makeMember(key, member, i === 0 ? inner : { ...inner, item: inner.item + i }, depth + 1),
    )
    if (values.includes(undefined) && min > 0) return undefined
    const whole = values.filter(each => each !== undefined)
    if (isMany) made[key] = whole
    else if (whole.length > 0) made[key] = whole[0]
  }
  return made
}
const isWildcard = ({ particle: { kind } }: AnyMember): boolean => kind === 'any' || kind === 'anyAttribute'

function makeMember(key: string, member: AnyMember, place: ExamplePlace, depth: number): unknown {
  const { particle, marks } = member
  switch (particle.kind) {
    case 'element': {
      if (mayMemberBeNil(member) && depth > depthOfOptional + 1) return null
      const type = particle.type()
      const name = { uri: marks.uri ?? '', local: marks.name ?? key }
      const made = makeFixed(type, marks) ?? makeTyped(type, name, place, depth)
      return marks.attached && !hasOneMediaType(marks.attached) ? nameMediaType(marks.attached, made) : made
    }
    case 'reference': {
      const root = particle.to()
      if (mayMemberBeNil(member) && depth > depthOfOptional + 1) return null
      return makeFixed(root.type(), initialOf(member)) ?? makeTyped(root.type(), root.name, place, depth)
    }
    case 'attribute':
    case 'text':
      return makeFixed(particle.type, marks) ?? makeSimple(particle.type, place)
    case 'sequence': {
      const made = makeMembers(particle.members, place, depth)
      const isEmpty = made !== undefined && Object.keys(made).length === 0
      return isEmpty && marks.min === 0 ? undefined : made // empty, it would be read as missing
    }
    case 'choice':
      return makeChoice(particle.members, place, depth)
    case 'any':
      return makeForeign(particle.namespaces)
    case 'anyAttribute':
      return undefined
  }
}

/** A media type within the allowed range, where the allowed types are open. */
function nameMediaType({ mediaTypes, isText }: AttachmentMark, made: unknown): unknown {
  const range = mediaTypes.find(each => each.includes('*')) ?? (mediaTypes.length === 0 ? '*' : undefined)
  if (range === undefined) return made
  const [, whole = isText ? 'text' : 'application'] = /^([^*/]+)\//.exec(range) ?? []
  return { ...(made as object), mediaType: `${whole}/${usualSubtypes[whole] ?? 'example'}` } // a value of such a type
}
/** RFC 4735 has the subtype `example` for all others. */
const usualSubtypes: Readonly<Record<string, string>> = {
  __proto__: null as never,
  application: 'octet-stream',
  image: 'png',
  text: 'plain',
}

/** The first branch that has a value, in an order given by the seed. */
function makeChoice(members: TypeMembers, place: ExamplePlace, depth: number): MemberValues | undefined {
  const all = Object.entries(members)
  const from = createChoose(place)(all.length)
  for (let i = 0; i < all.length; i++) {
    const [key, member] = all[(from + i) % all.length] ?? []
    if (key === undefined || !member) continue
    const value = makeMembers({ [key]: member }, place, depth)?.[key]
    if (value !== undefined) return { [key]: value }
  }
  return undefined
}

function makeForeign(namespaces: WildcardNamespaces): string {
  const uri = typeof namespaces === 'object' && 'of' in namespaces ? namespaces.of[0] : 'urn:example:any'
  return uri ? `<example xmlns=${writeAttribute(uri)}>example</example>` : '<example>example</example>'
}

// Simple types

/** Names in values use James Clark's notation, which needs no prefix. */
const plainNames: NamesAround = { qname: text => ({ uri: '', local: text }) }

function makeFixed(type: AnyXmlType, { isFixed, initial }: ReturnType<typeof initialOf>): unknown {
  if (!isFixed || initial === undefined || !isSimpleType(type)) return undefined
  const value = simpleCodecOf(type).read(initial, clarkNames)
  return value instanceof Flaw ? undefined : value
}

/** The first candidate that the codec of the type accepts. Throws `NoExample`. */
export function makeSimple(type: AnyXmlType, place: ExamplePlace): unknown {
  const codec = simpleCodecOf(type)
  const given = place.given[place.name]
  for (const text of given === undefined ? listSimpleTexts(type, place) : [given]) {
    const value = codec.read(text, plainNames)
    if (!(value instanceof Flaw) && !(codec.check(value) instanceof Flaw)) return value
  }
  throw new NoExample(place, given === undefined ? 'no text fits its facets' : `"${given}" does not fit its type`)
}

/** Texts to try, best first. */
function listSimpleTexts(type: AnyXmlType, place: ExamplePlace): readonly string[] {
  const { facets, root } = collectFacets(type)
  if (facets.values) return orderBySeed(facets.values, place)
  const [min, max] = [facets.length ?? facets.minLength, facets.length ?? facets.maxLength]
  requireShortText(place, min)
  const { definition } = root
  if (definition.kind === 'union') return definition.of.flatMap(each => listSimpleTexts(each, place))
  if (definition.kind === 'list') {
    const items = listSimpleTexts(definition.item, place)
    return items.map(item => Array.from({ length: Math.max(min ?? 1, 1) }, () => item).join(' '))
  }
  const builtIn = definition.kind === 'builtIn' ? definition.name : 'string'
  const expressions = (facets.patterns ?? []).flatMap(each => compileXsdPattern(each) ?? [])
  const texts = listExampleTexts(place, { min, max, expressions, xsd: builtIn })
  const typed = [...listBounds(facets), ...listBuiltInTexts(builtIn, place, min ?? 0)]
  return expressions.length > 0 ? [...texts, ...typed] : [...typed, ...texts]
}

const orderBySeed = (values: readonly string[], place: ExamplePlace): readonly string[] => {
  const from = createChoose(place)(values.length)
  return [...values.slice(from), ...values.slice(0, from)]
}

/** All facets of a type and of the types that it restricts; the nearest counts. */
function collectFacets(type: AnyXmlType): { readonly facets: SchemaFacets; readonly root: AnyXmlType } {
  let facets: SchemaFacets = {}
  let root = type
  for (; root.definition.kind === 'restriction'; root = root.definition.of) {
    const { patterns = [] } = root.definition.facets
    facets = {
      ...root.definition.facets,
      ...facets,
      ...(patterns.length > 0 && { patterns: [...(facets.patterns ?? []), ...patterns] }),
    }
  }
  return { facets, root }
}

/** Values on a bound, or one step inside it. */
function listBounds({ minInclusive, maxInclusive, minExclusive, maxExclusive }: SchemaFacets): readonly string[] {
  const inside = (bound: string | undefined, step: number): string[] => {
    if (bound === undefined) return []
    if (/^[+-]?[0-9]{1,15}$/.test(bound)) return [String(Number(bound) + step)]
    return /^[+-]?[0-9]*\.[0-9]+$/.test(bound) ? [moveDecimal(bound, step)] : []
  }
  const within = [minInclusive, maxInclusive].flatMap(each => each ?? [])
  const small = minInclusive === undefined && minExclusive === undefined ? [] : inside(minInclusive ?? minExclusive, 1)
  return [...small, ...within, ...inside(minExclusive, 1), ...inside(maxExclusive, -1)]
}
/** Moves a decimal by one unit of its last place. */
function moveDecimal(text: string, step: number): string {
  const places = text.split('.')[1]?.length ?? 0
  return (Number(text) + step * 10 ** -places).toFixed(places)
}

function listBuiltInTexts(name: BuiltInName, place: ExamplePlace, length: number): readonly string[] {
  const choose = createChoose(place)
  const number = String(1 + choose(20))
  const day = `2026-01-${String(1 + choose(28)).padStart(2, '0')}`
  const texts: Partial<Record<BuiltInName, readonly string[]>> = {
    boolean: [choose(2) === 1 ? 'true' : 'false'],
    decimal: [`${number}.50`, `${number}.5`, number, '0.5', '1', '0'],
    float: [`${number}.5`],
    double: [`${number}.5`],
    date: [day, `${day}Z`],
    time: ['09:30:00Z', '09:30:00', '09:30:00.000'],
    dateTime: [`${day}T09:30:00Z`, `${day}T09:30:00`, `${day}T09:30:00.000Z`, `${day}T09:30:00+00:00`],
    duration: [...'HMS'].map(unit => `PT${number}${unit}`).concat([...'DMY'].map(unit => `P${number}${unit}`)),
    hexBinary: ['0a'.repeat(Math.max(length, 1))],
    base64Binary: [
      Buffer.from('example'.padEnd(length, 'x')).toString('base64'),
      Buffer.alloc(length, 'x').toString('base64'),
    ],
    swaRef: [Buffer.from('example').toString('base64')],
    ID: [`id-${choose(1_000_000)}`],
    negativeInteger: [`-${number}`],
    nonPositiveInteger: [`-${number}`],
  }
  return texts[name] ?? [...(isTextName(name) ? [] : [number, '1', '0', '-1'])]
}
const textNames: ReadonlySet<BuiltInName> = new Set<BuiltInName>([
  ...(['string', 'normalizedString', 'token', 'language', 'Name', 'NCName', 'NMTOKEN', 'IDREF', 'ENTITY'] as const),
  ...(['anyURI', 'QName', 'NOTATION', 'anySimpleType', 'IDREFS', 'ENTITIES', 'NMTOKENS'] as const),
  ...(['gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay'] as const),
])
const isTextName = (name: BuiltInName): boolean => textNames.has(name)
