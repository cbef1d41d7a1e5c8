/**
 * Two types, member by member: each difference with its effect on the set of values. Whether a
 * wider or narrower set breaks a caller depends on which side writes the values
 * (`judge-changes.ts`).
 */
import { parseClarkName } from '../base/clark-name.ts'
import { intBounds, longBounds, type NumberRange } from '../contract/lexical/number.ts'
import { basesOfBuiltIns } from '../contract/xml-simple.ts'
import { compareInOrder, compareZones, digestValue, nameZone } from './value-space.ts'
import {
  anyName,
  anyType,
  describeType,
  type ListType,
  type ObjectType,
  type ScalarType,
  type WireMember,
  type WireType,
} from './wire-type.ts'

/**
 * `wider`: the new type has all values of the old one and more. `narrower`: fewer. `other`: neither
 * contains the other. `addition`: of an optional member, or of members with any name. `removal`: of
 * a member. `default`: an absent member stands for another value.
 */
export type TypeEffect = 'wider' | 'narrower' | 'other' | 'addition' | 'removal' | 'default'
export interface TypeChange {
  /** Below a named type, or below the place where the comparison began: `v2.Order/lines[]/note`. */
  readonly place: string
  readonly effect: TypeEffect
  /** A phrase: `maxLength 20 → 10`. */
  readonly text: string
  /** For an addition: the surrounding object says that other members may come. */
  readonly isExpected?: boolean
}
export interface TypePair {
  readonly place: string
  readonly before: WireType
  readonly after: WireType
}
type TypesByName = ReadonlyMap<string, WireType>

/** @returns the changes, those of a named type once, under its name */
export function compareTypes(pair: TypePair, before: TypesByName, after: TypesByName): readonly TypeChange[] {
  return new TypeComparison(before, after).compare(pair)
}

class TypeComparison {
  readonly #before: TypesByName
  readonly #after: TypesByName
  /** Pairs of names that have been compared, or are being compared at an outer level. */
  readonly #compared = new Set<string>()

  constructor(before: TypesByName, after: TypesByName) {
    this.#before = before
    this.#after = after
  }

  compare({ place, before, after }: TypePair): readonly TypeChange[] {
    const nulls = this.#compareNull(place, before, after)
    if (before.kind !== 'named' && after.kind !== 'named')
      return [...nulls, ...this.#compareKinds(place, before, after)]
    const names = `${before.kind === 'named' ? before.name : place}\n${after.kind === 'named' ? after.name : place}`
    if (this.#compared.has(names)) return nulls
    this.#compared.add(names)
    const root = after.kind === 'named' ? after.name : place
    const kinds = this.#compareKinds(root, resolveName(before, this.#before), resolveName(after, this.#after))
    return [...nulls, ...kinds]
  }

  #compareNull(place: string, before: WireType, after: WireType): readonly TypeChange[] {
    const old = allowsNull(before, this.#before)
    const now = allowsNull(after, this.#after)
    if (old === undefined || now === undefined || old === now) return []
    return [
      now
        ? { place, effect: 'wider', text: 'null refused → allowed' }
        : { place, effect: 'narrower', text: 'null allowed → refused' },
    ]
  }

  #compareKinds(place: string, before: WireType, after: WireType): readonly TypeChange[] {
    if (before.kind === 'any' || after.kind === 'any')
      return before.kind === after.kind
        ? []
        : [changeOfKind(place, before, after, before.kind === 'any' ? 'narrower' : 'wider')]
    if (before.kind === 'scalar' && after.kind === 'scalar') return compareScalars(place, before, after)
    if (before.kind === 'list' && after.kind === 'list') return this.#compareLists(place, before, after)
    if (before.kind === 'object' && after.kind === 'object') return this.#compareObjects(place, before, after)
    if (before.kind === 'choice' || after.kind === 'choice') return this.#compareChoices(place, before, after)
    return [changeOfKind(place, before, after, 'other')]
  }

  #compareLists(place: string, before: ListType, after: ListType): readonly TypeChange[] {
    return [
      ...compareFacets(place, before.facets, after.facets),
      ...this.compare({ place: `${place}[]`, before: before.item, after: after.item }),
    ]
  }

  #compareObjects(place: string, from: ObjectType, to: ObjectType): readonly TypeChange[] {
    const [left, entered] = [findSoleOptions(from, to), findSoleOptions(to, from)]
    const [before, after] = [ungroupMembers(from, left), ungroupMembers(to, entered)]
    const names = new Set([...before.members.keys(), ...after.members.keys()])
    const say =
      (effect: TypeEffect, text: string) =>
      ([name]: NamedMember) => ({
        place: `${place}/${name}`,
        effect,
        text,
      })
    return [
      ...[...entered.values()].map(say('wider', 'alone → one of a choice')),
      ...[...left.values()].map(say('narrower', 'one of a choice → alone')),
      ...compareFacets(place, before.facets, after.facets),
      ...[...names].flatMap(name => this.#compareMember(`${place}/${name}`, name, before, after)),
      ...compareOrder(place, before, after),
      ...this.#compareRest(place, before, after),
    ]
  }

  #compareMember(place: string, name: string, from: ObjectType, to: ObjectType): readonly TypeChange[] {
    const before = from.members.get(name)
    const after = to.members.get(name)
    if (!before && after)
      return after.isRequired
        ? [{ place, effect: 'narrower', text: 'required member added', isExpected: isExpected(from, name) }]
        : [{ place, effect: 'addition', text: 'optional member added', isExpected: isExpected(from, name) }]
    if (before && !after) return [{ place, effect: 'removal', text: 'member removed' }]
    if (!before || !after) return []
    const need: TypeChange[] =
      before.isRequired === after.isRequired
        ? []
        : [
            {
              place,
              effect: after.isRequired ? 'narrower' : 'wider',
              text: after.isRequired ? 'optional → required' : 'required → optional',
            },
          ]
    return [
      ...need,
      ...this.#compareDefault(place, before, after),
      ...compareOccurrences(place, before, after),
      ...this.compare({ place, before: before.type, after: after.type }),
    ]
  }

  /** For a member that callers may leave out both before and after. */
  #compareDefault(place: string, before: WireMember, after: WireMember): readonly TypeChange[] {
    if (before.isRequired || after.isRequired) return []
    const digest = ({ type, initial }: WireMember, types: TypesByName): string | undefined => {
      const end = resolveName(type, types)
      return initial === undefined ? undefined : digestValue(end.kind === 'scalar' ? end.base : '', initial)
    }
    if (digest(before, this.#before) === digest(after, this.#after)) return []
    return [{ place, effect: 'default', text: `default ${before.initial ?? '(none)'} → ${after.initial ?? '(none)'}` }]
  }

  #compareRest(place: string, before: ObjectType, after: ObjectType): readonly TypeChange[] {
    const typeOf = (rest: ObjectType['rest']): WireType | undefined =>
      rest === 'none' ? undefined : rest === 'any' ? anyType : rest
    const [old, now] = [typeOf(before.rest), typeOf(after.rest)]
    if (old && now)
      return [
        ...this.compare({
          place: `${place}/* (names)`,
          before: before.names ?? anyName,
          after: after.names ?? anyName,
        }),
        ...this.compare({ place: `${place}/*`, before: old, after: now }),
      ]
    if (old) return [{ place, effect: 'narrower', text: 'other members allowed → refused' }]
    return now ? [{ place, effect: 'addition', text: 'other members refused → allowed' }] : []
  }

  /** Options that are the same or have the same tag are compared; the others came or went. */
  #compareChoices(place: string, before: WireType, after: WireType): readonly TypeChange[] {
    const old = this.#optionsOf(before, this.#before)
    const now = this.#optionsOf(after, this.#after)
    const changes: TypeChange[] = []
    for (const [tag, option] of old) {
      const other = now.get(tag)
      if (other) changes.push(...this.compare({ place: `${place}(${tag})`, before: option, after: other }))
      else changes.push({ place, effect: 'narrower', text: `choice ${tag} removed` })
    }
    for (const tag of now.keys())
      if (!old.has(tag)) changes.push({ place, effect: 'wider', text: `choice ${tag} added` })
    return changes
  }

  #optionsOf(type: WireType, types: TypesByName): ReadonlyMap<string, WireType> {
    const options = type.kind === 'choice' ? type.options : [type]
    return new Map(options.map((option, at) => [tagOfOption(option, types, at), option]))
  }
}

/** Follows names to their type; an unknown name, or one that leads to itself, is any value. */
export function resolveName(type: WireType, types: TypesByName): Exclude<WireType, { kind: 'named' }> {
  const passed = new Set<string>()
  let current = type
  while (current.kind === 'named') {
    if (passed.has(current.name)) return anyType
    passed.add(current.name)
    current = types.get(current.name) ?? anyType
  }
  return current
}

/** How a reader distinguishes the options: by the only value of a member, a name, or the kind. */
function tagOfOption(option: WireType, types: TypesByName, at: number): string {
  const type = resolveName(option, types)
  if (type.kind === 'object') {
    for (const [name, { type: inner }] of type.members) {
      const member = resolveName(inner, types)
      if (member.kind === 'scalar' && member.values?.length === 1) return `${name} ${member.values[0]}`
    }
    const [only, ...more] = type.members.keys()
    if (only !== undefined && more.length === 0) return only
  }
  if (option.kind === 'named') return option.name
  return type.kind === 'scalar' ? type.base : `${type.kind} ${at + 1}`
}

type NamedMember = readonly [name: string, member: WireMember]

/** For choices that the other type does not have: the only option that appears there. */
function findSoleOptions(type: ObjectType, other: ObjectType): ReadonlyMap<string, NamedMember> {
  const found = new Map<string, NamedMember>()
  for (const [group, { type: choice, isRequired, max = 1 }] of type.members) {
    if (choice.kind !== 'choice' || group.startsWith('{') || other.members.has(group)) continue
    const alone = choice.options.flatMap(option => {
      const [only, ...more] = option.kind === 'object' ? option.members : []
      if (!only || more.length > 0 || !only[0].startsWith('{')) return []
      return other.members.has(only[0]) && !type.members.has(only[0]) ? [only] : []
    })
    const [only, ...more] = alone
    if (!only || more.length > 0) continue
    const [name, member] = only
    found.set(group, [name, { ...member, isRequired: isRequired && member.isRequired, max: (member.max ?? 1) * max }])
  }
  return found
}
/** The type with these members instead of their groups. */
const ungroupMembers = (type: ObjectType, alone: ReadonlyMap<string, NamedMember>): ObjectType =>
  alone.size === 0 ? type : { ...type, members: new Map([...type.members].map(each => alone.get(each[0]) ?? each)) }

/** Whether the type allows this name: a wildcard of XML Schema says so for namespaces. */
function isExpected({ rest, names }: ObjectType, name: string): boolean {
  if (rest === 'none') return false
  if (names?.kind !== 'scalar' || names.base !== 'any name') return true
  const uri = parseClarkName(name)?.uri ?? ''
  const known = String(names.facets.get('namespace') ?? uri)
  const [, other] = /^not (.*)$/.exec(known) ?? []
  const isOfNamespace = other ? uri !== '' && uri !== other : known.split(' ').includes(uri)
  return isOfNamespace && !name.startsWith('@') && names.facets.get('processContents') !== 'strict'
}

/** Undefined: any value is allowed in any case. */
function allowsNull(type: WireType, types: TypesByName): boolean | undefined {
  const end = resolveName(type, types)
  if (end.kind === 'any') return undefined
  return end.isNullable || (type.kind === 'named' && type.isNullable === true)
}

const changeOfKind = (place: string, before: WireType, after: WireType, effect: TypeEffect): TypeChange => ({
  place,
  effect,
  text: `${describeType(before)} → ${describeType(after)}`,
})

/** Bases whose values are all values of another base (XML Schema Part 2 §3; JSON Schema §6.1.1). */
const widerBases: Readonly<Record<string, string>> = {
  __proto__: null as never,
  integer: 'number',
  ...Object.fromEntries(Object.entries(basesOfBuiltIns).map(([name, base]) => [`xs:${name}`, `xs:${base}`])),
  // In practice each text of one is a text of the other.
  'xs:float': 'xs:double',
}
export function isWithinBase(base: string, wide: string): boolean {
  for (let at: string | undefined = base; at !== undefined; at = widerBases[at]) if (at === wide) return true
  return false
}

/** A client that expects a text reads any simple XML value; a name needs its prefixes. */
const isWrittenAs = (base: string, wide: string): boolean =>
  isWithinBase(base, wide) || (wide === 'xs:string' && base.startsWith('xs:') && base !== 'xs:QName')

function compareScalars(place: string, given: ScalarType, other: ScalarType): readonly TypeChange[] {
  const [before, after] = [includeBounds(nameZone(given)), includeBounds(nameZone(other))]
  const values = compareEnumerations(place, before, after)
  if (isSameRange(before, after)) return values
  const facets = compareFacets(place, before.facets, after.facets, [before.base, after.base])
  if (before.base === after.base) return [...values, ...facets]
  const effect = isWrittenAs(before.base, after.base)
    ? 'wider'
    : isWrittenAs(after.base, before.base)
      ? 'narrower'
      : 'other'
  return [{ place, effect, text: `${before.base} → ${after.base}` }, ...values, ...facets]
}

/** For integers: inclusive bounds without meaningless signs and zeros. */
const includeBounds = (type: ScalarType): ScalarType =>
  isWithinBase(type.base, 'xs:integer') ? { ...type, facets: new Map([...type.facets].map(includeBound)) } : type
function includeBound([name, value]: readonly [string, string | number]): readonly [string, string | number] {
  const text = String(value).trim().replace('+', '')
  if (!isBound(name) || !/^-?\d+$/.test(text)) return [name, value]
  const step = name === 'exclusiveMaximum' ? -1n : name === 'exclusiveMinimum' ? 1n : 0n
  return [/max/i.test(name) ? 'maximum' : 'minimum', String(BigInt(text) + step)]
}
const isBound = (facet: string): boolean => /^(?:exclusive)?(?:min|max)imum$/i.test(facet)

/** Integers within the same bounds: `xs:int`, and `xs:integer` restricted to them. */
function isSameRange(before: ScalarType, after: ScalarType): boolean {
  if (before.base === after.base) return false
  const [old, now] = [rangeOf(before), rangeOf(after)]
  return old !== undefined && now !== undefined && old === now
}
/** Undefined: not an integer, or restricted by more than bounds. */
function rangeOf({ base, facets }: ScalarType): string | undefined {
  if (!isWithinBase(base, 'xs:integer')) return undefined
  if ([...facets.keys()].some(name => name !== 'minimum' && name !== 'maximum')) return undefined
  const known: Partial<Record<string, NumberRange>> = { ...longBounds, ...intBounds }
  const { lowest, highest } = known[base.slice('xs:'.length)] ?? {}
  return `${facets.get('minimum') ?? lowest ?? ''} to ${facets.get('maximum') ?? highest ?? ''}`
}

function compareEnumerations(
  place: string,
  { base: from, values: before }: ScalarType,
  { base: to, values: after }: ScalarType,
): readonly TypeChange[] {
  if (!before && !after) return []
  if (!before) return [{ place, effect: 'narrower', text: `any value → one of ${after?.join(', ')}` }]
  if (!after) return [{ place, effect: 'wider', text: `one of ${before.join(', ')} → any value` }]
  const change = (effect: TypeEffect, word: string) => (value: string) => ({
    place,
    effect,
    text: `value ${value} ${word}`,
  })
  const [old, now] = [
    new Set(before.map(value => digestValue(from, value))),
    new Set(after.map(value => digestValue(to, value))),
  ]
  return [
    ...before.filter(value => !now.has(digestValue(from, value))).map(change('narrower', 'removed')),
    ...after.filter(value => !old.has(digestValue(to, value))).map(change('wider', 'added')),
  ]
}

/** Facets that a larger number widens (+1) or narrows (−1); others narrow. */
const facetSigns: Readonly<Record<string, 1 | -1>> = {
  __proto__: null as never,
  zone: 1,
  maxLength: 1,
  maximum: 1,
  exclusiveMaximum: 1,
  maxItems: 1,
  maxProperties: 1,
  totalDigits: 1,
  fractionDigits: 1,
  minLength: -1,
  minimum: -1,
  exclusiveMinimum: -1,
  minItems: -1,
  minProperties: -1,
}
type TypeFacets = ReadonlyMap<string, string | number>

/** @param bases the bases of the bounds' values, before and after */
function compareFacets(
  place: string,
  before: TypeFacets,
  after: TypeFacets,
  [from, to]: readonly [string, string] = ['number', 'number'],
): readonly TypeChange[] {
  return [...new Set([...before.keys(), ...after.keys()])].flatMap(name => {
    const [old, now] = [before.get(name), after.get(name)]
    if (old === now) return []
    // Another format is reported once, since its zone belongs to it.
    if (name === 'zone' && before.get('format') !== after.get('format')) return []
    if (isBound(name) && digestValue(from, String(old)) === digestValue(to, String(now))) return []
    const text = `${name} ${old ?? '(none)'} → ${now ?? '(none)'}`
    return [{ place, effect: effectOfFacet(isBound(name) ? to : 'number', name, old, now), text }]
  })
}
function effectOfFacet(
  base: string,
  name: string,
  before: string | number | undefined,
  after: string | number | undefined,
): TypeEffect {
  if (before === undefined) return 'narrower'
  if (after === undefined) return 'wider'
  const order = name === 'zone' ? compareZones(after, before) : compareInOrder(base, String(after), String(before))
  const sign = facetSigns[name]
  return sign === undefined || !order ? 'other' : order * sign > 0 ? 'wider' : 'narrower'
}

function compareOccurrences(place: string, before: WireMember, after: WireMember): readonly TypeChange[] {
  const { min: least = 1, max: most = 1 } = before
  const { min: leastNow = 1, max: mostNow = 1 } = after
  const describe = (max: number): string => (max === Number.POSITIVE_INFINITY ? 'unbounded' : String(max))
  const fewer: TypeEffect = leastNow < least ? 'wider' : 'narrower'
  const more: TypeEffect = mostNow > most ? 'wider' : 'narrower'
  return [
    // Whether it may be absent has already been compared.
    ...(before.isRequired && after.isRequired && least !== leastNow
      ? [{ place, effect: fewer, text: `at least ${least} → ${leastNow}` }]
      : []),
    ...(most === mostNow ? [] : [{ place, effect: more, text: `at most ${describe(most)} → ${describe(mostNow)}` }]),
  ]
}

/** In a sequence, members that are in both keep their order. */
function compareOrder(place: string, before: ObjectType, after: ObjectType): readonly TypeChange[] {
  if (before.isOrdered !== after.isOrdered) return compareFreedom(place, before, after)
  if (!before.isOrdered) return []
  const common = (of: ObjectType, other: ObjectType): string[] =>
    [...of.members.keys()].filter(name => !name.startsWith('@') && other.members.has(name))
  const [old, now] = [common(before, after), common(after, before)]
  const moved = now.find((name, at) => old[at] !== name)
  return moved === undefined ? [] : [{ place, effect: 'other', text: `order of members changed at ${moved}` }]
}

/** An order needs two members; a sequence and an `all` with one member are the same. */
function compareFreedom(place: string, before: ObjectType, after: ObjectType): readonly TypeChange[] {
  const inBoth = [...before.members.keys()].filter(name => !name.startsWith('@') && after.members.has(name))
  if (inBoth.length < 2) return []
  return [
    before.isOrdered
      ? { place, effect: 'wider', text: 'order of members fixed → free' }
      : { place, effect: 'narrower', text: 'order of members free → fixed' },
  ]
}
