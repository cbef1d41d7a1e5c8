/**
 * Simple types of XML Schema Part 2: text → value, value → text, and the checks of both. A reader
 * returns a flaw instead of throwing; the readers of its parts read a list or union.
 */
import { encodeHex } from '../base/base64.ts'
import { parseClarkName } from '../base/clark-name.ts'
import { memoizeByObject } from '../base/memo.ts'
import type { Scalar, StringType } from './field.ts'
import { boundFlaw, Flaw, typeFlaw } from './lexical/flaw.ts'
import { compileScalarCheck, compileScalarReader, compileScalarWriter } from './lexical/scalar.ts'
import { compareDurations, compareMoments, keyOfDuration, keyOfMoment } from './lexical/temporal-order.ts'
import { countCharacters, matchesNcName, trimXmlSpace } from './lexical/text.ts'
import { compileXsdMatcher } from './lexical/xsd-pattern.ts'
import type { AnyXmlType, BuiltInName, QualifiedName, SchemaFacets, SimpleDefinition } from './xml-type.ts'

/** The namespaces around a text, for QNames in it. */
export interface NamesAround {
  /** The name that a QName means here. */
  qname(text: string): QualifiedName | undefined
}
/** Gives a namespace a prefix, for QNames in a text that is written. */
export type PrefixFor = (uri: string) => string

export interface SimpleCodec {
  readonly read: (text: string, around: NamesAround) => unknown | Flaw
  /** A value → the value, or its flaw. */
  readonly check: (value: unknown) => unknown | Flaw
  /** Accepts only a value that has passed `check`. */
  readonly write: (value: unknown, prefixFor: PrefixFor) => string
  /**
   * Further texts of the same value, since a pattern may demand one (Part 2 §4.3.4); absent: none.
   */
  readonly writeOthers?: (value: unknown) => Iterable<string>
  /** White space as a pattern of the type sees it (§4.3.6). */
  readonly normalize: (text: string) => string
  /** The same key for equal values that JavaScript considers different; absent: there are none. */
  readonly keyOf?: ((value: unknown) => string) | undefined
  /** Whether a value is before a limit, at it or after it; undefined: they have no order. */
  readonly compare?: ((value: unknown, limit: unknown) => number | undefined) | undefined
  /** For a type with facets: the same without any; undefined: it has none. */
  readonly unrestricted?: SimpleCodec | undefined
}

/**
 * Whether a value equals the one that a text stands for (Part 2 §4.3.5 has the same for an
 * enumeration).
 * @param around the namespaces of the text
 */
export function equalsText(codec: SimpleCodec, value: unknown, text: string, around: NamesAround): boolean {
  const only = codec.read(text, around)
  return !(only instanceof Flaw) && keyOfValue(codec, value) === keyOfValue(codec, only)
}
function keyOfValue({ keyOf }: SimpleCodec, value: unknown): string {
  if (keyOf && !(value instanceof Flaw)) return keyOf(value)
  if (value instanceof Uint8Array) return `octets ${value.join()}`
  return typeof value === 'string' ? value : `${typeof value} ${String(value)}`
}

/** Whether a type is a simple one; `anySimpleType` is, `anyType` is not. */
export const isSimpleType = ({ definition }: AnyXmlType): boolean => {
  if (definition.kind === 'builtIn') return definition.name !== 'anyType'
  return definition.kind === 'restriction' || definition.kind === 'list' || definition.kind === 'union'
}

export const simpleCodecOf = memoizeByObject((type: AnyXmlType): SimpleCodec => {
  const { definition } = type
  if (definition.kind === 'builtIn') return builtInCodec(definition.name)
  if (definition.kind === 'restriction' || definition.kind === 'list' || definition.kind === 'union')
    return definedCodec(definition)
  throw new Error('a complex type is not a simple one: give the text a built-in type')
})

function definedCodec(definition: SimpleDefinition): SimpleCodec {
  if (definition.kind === 'list') return listCodec(simpleCodecOf(definition.item))
  if (definition.kind === 'union') return unionCodec(definition.of.map(simpleCodecOf))
  return restrictedCodec(definition.of, definition.facets)
}

// White space (§4.3.6)

const collapseSpace = (text: string): string => trimXmlSpace(text.replace(/[ \t\r\n]+/g, ' '))
const keepSpace = (text: string): string => text
const spaceNormalizers: Readonly<Record<NonNullable<SchemaFacets['whiteSpace']>, (text: string) => string>> = {
  preserve: keepSpace,
  replace: text => text.replace(/[\t\r\n]/g, ' '),
  collapse: collapseSpace,
}

// Built-in types

/** Types with the same values as a field. */
export const scalarsByName: Readonly<Partial<Record<BuiltInName, Scalar>>> = {
  string: { kind: 'string' },
  boolean: { kind: 'boolean' },
  float: { kind: 'double', xsd: 'float' },
  double: { kind: 'double', xsd: 'double' },
  hexBinary: { kind: 'bytes', encoding: 'hex' },
  base64Binary: { kind: 'bytes', encoding: 'base64' },
  swaRef: { kind: 'bytes', encoding: 'base64' },
  date: { kind: 'date' },
  time: { kind: 'time' },
  dateTime: { kind: 'dateTime' },
  duration: { kind: 'duration' },
  ...mapNames(
    ['normalizedString', 'token', 'language', 'Name', 'NCName', 'NMTOKEN', 'gYear', 'gYearMonth', 'gMonth'],
    xsd => stringScalar(xsd),
  ),
  ...mapNames(['gMonthDay', 'gDay'], xsd => stringScalar(xsd)),
  // XML Schema Part 2 §3.2.17: the reader escapes what no URI may contain, so any text is one.
  anyURI: { kind: 'string', xsd: 'token' },
  ...mapNames(['ID', 'IDREF', 'ENTITY'], () => stringScalar('NCName')),
  ...mapNames(['int', 'short', 'byte', 'unsignedShort', 'unsignedByte'], xsd => ({ kind: 'int', xsd })),
  ...mapNames(
    ['long', 'integer', 'unsignedInt', 'unsignedLong', 'positiveInteger', 'nonNegativeInteger'],
    (xsd): Scalar => ({ kind: 'long', xsd }),
  ),
  ...mapNames(['negativeInteger', 'nonPositiveInteger'], (xsd): Scalar => ({ kind: 'long', xsd })),
}
function stringScalar(xsd: StringType): Scalar {
  return { kind: 'string', xsd }
}
function mapNames<const N extends string, T extends Scalar | BuiltInName = Scalar>(
  names: readonly N[],
  as: (name: N) => T,
): Record<N, T> {
  return Object.fromEntries(names.map(name => [name, as(name)])) as Record<N, T> // one for each name
}
const listItems: Readonly<Partial<Record<BuiltInName, BuiltInName>>> = {
  IDREFS: 'IDREF',
  ENTITIES: 'ENTITY',
  NMTOKENS: 'NMTOKEN',
}

/** The narrower built-in types, and what each of them narrows (Part 2 §3.3). */
export const basesOfBuiltIns: Readonly<Partial<Record<BuiltInName, BuiltInName>>> = {
  normalizedString: 'string',
  token: 'normalizedString',
  ...mapNames(['language', 'NMTOKEN', 'Name'], () => 'token'),
  NCName: 'Name',
  ...mapNames(['ID', 'IDREF', 'ENTITY'], () => 'NCName'),
  integer: 'decimal',
  ...mapNames(['long', 'nonNegativeInteger', 'nonPositiveInteger'], () => 'integer'),
  int: 'long',
  short: 'int',
  byte: 'short',
  negativeInteger: 'nonPositiveInteger',
  ...mapNames(['unsignedLong', 'positiveInteger'], () => 'nonNegativeInteger'),
  unsignedInt: 'unsignedLong',
  unsignedShort: 'unsignedInt',
  unsignedByte: 'unsignedShort',
}
/** Whether a built-in type narrows another one, so that its values are also values of that one. */
export function isNarrowerBuiltIn(name: BuiltInName, base: BuiltInName): boolean {
  let at = basesOfBuiltIns[name]
  while (at !== undefined && at !== base) at = basesOfBuiltIns[at]
  return at !== undefined
}

function builtInCodec(name: BuiltInName): SimpleCodec {
  const item = listItems[name]
  if (item !== undefined) return restrictLength(listCodec(builtInCodec(item)), { minLength: 1 })
  if (name === 'decimal') return decimalCodec
  if (name === 'QName' || name === 'NOTATION') return qnameCodec
  const scalar = scalarsByName[name] ?? { kind: 'string' }
  const [read, check, write] = [compileScalarReader(scalar), compileScalarCheck(scalar), compileScalarWriter(scalar)]
  const writeOthers = name === 'base64Binary' || name === 'swaRef' ? undefined : otherTexts[scalar.kind]
  const normalize = spaceNormalizers[whiteSpaceOf(name)]
  return { read, check, write, ...(writeOthers && { writeOthers }), normalize, ...orderOf(name) }
}
function whiteSpaceOf(name: BuiltInName): NonNullable<SchemaFacets['whiteSpace']> {
  if (name === 'string' || name === 'anySimpleType') return 'preserve'
  return name === 'normalizedString' ? 'replace' : 'collapse'
}
const temporalNames: ReadonlySet<BuiltInName> = new Set<BuiltInName>([
  ...(['date', 'time', 'dateTime', 'gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay'] as const),
])
/** Numbers have JavaScript's order; all other texts have none. */
function orderOf(name: BuiltInName): Pick<SimpleCodec, 'keyOf' | 'compare'> | undefined {
  if (name === 'duration') return orderOfTexts(name, keyOfDuration, compareDurations)
  return temporalNames.has(name) ? orderOfTexts(name, keyOfMoment, compareMoments) : undefined
}
const orderOfTexts = (
  name: BuiltInName,
  keyOf: (text: string) => string | undefined,
  compare: (one: string, other: string) => number | undefined,
): Pick<SimpleCodec, 'keyOf' | 'compare'> => ({
  keyOf: value => `${name} ${keyOf(String(value)) ?? String(value)}`,
  compare: (value, limit) => compare(String(value), String(limit)),
})

/** Kinds of values for which several texts mean the same value. */
const otherTexts: Readonly<Partial<Record<Scalar['kind'], NonNullable<SimpleCodec['writeOthers']>>>> = {
  boolean: value => [value === true ? '1' : '0'],
  int: listIntegerTexts,
  long: listIntegerTexts,
  double: listDoubleTexts,
  bytes: octets => (octets instanceof Uint8Array ? [encodeHex(octets).toLowerCase()] : []),
}
const zerosMax = 40
function* listIntegerTexts(value: unknown): Generator<string> {
  const [, sign = '', digits = ''] = /^(-?)(\d+)$/.exec(String(value)) ?? []
  for (let length = digits.length; length < digits.length + zerosMax; length++) {
    const padded = digits.padStart(length, '0')
    yield sign + padded
    if (sign === '') yield `+${padded}`
  }
}
const placesMax = 20
function* listDoubleTexts(value: unknown): Generator<string> {
  if (typeof value !== 'number' || !Number.isFinite(value)) return
  for (let places = 0; places <= placesMax; places++) {
    const fixed = value.toFixed(places)
    if (Number(fixed) === value) yield fixed
  }
  yield value.toExponential().replace('e+', 'E').replace('e', 'E')
}

const decimalText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$/
const checkDecimal = (value: unknown): string | Flaw =>
  typeof value === 'string' && value.length <= 1000 && decimalText.test(value)
    ? value
    : typeFlaw('decimal text, such as "12.50"')
/** §3.2.3, of any length: the text stays as it is. */
const decimalCodec: SimpleCodec = {
  read: text => checkDecimal(trimXmlSpace(text)),
  check: checkDecimal,
  write: String,
  normalize: collapseSpace,
  keyOf: value => keyOfDecimal(String(value)),
}
/** 1.50 is 01.5, and 0 is -0.0. */
function keyOfDecimal(text: string): string {
  const point = pointOf(text)
  const [whole, places] = [countWholeDigits(text), countFractionDigits(text)]
  const digits = `${text.slice(point - whole, point)}.${text.slice(point + 1, point + 1 + places)}`
  return text.startsWith('-') && digits !== '.' ? `-${digits}` : digits
}

function parseNameValue(value: unknown): QualifiedName | undefined {
  const name = typeof value === 'string' ? parseClarkName(value) : undefined
  return name && matchesNcName(name.local) ? name : undefined
}
/** §3.2.18: the namespace is a part of the value, the prefix is not. */
const qnameCodec: SimpleCodec = {
  read: (text, around) => {
    const name = around.qname(trimXmlSpace(text))
    if (!name) return typeFlaw('a QName whose prefix is declared')
    return name.uri === '' ? name.local : `{${name.uri}}${name.local}`
  },
  check: value => (parseNameValue(value) ? value : typeFlaw('a name, such as "{urn:example}name"')),
  write: (value, prefixFor) => {
    const name = parseNameValue(value)
    return name?.uri ? `${prefixFor(name.uri)}:${name.local}` : (name?.local ?? '')
  },
  normalize: collapseSpace,
}

// Lists and unions

function listCodec(item: SimpleCodec): SimpleCodec {
  const each = (values: readonly unknown[], of: (value: unknown) => unknown | Flaw): unknown => {
    const read: unknown[] = []
    for (const value of values) {
      const one = of(value)
      if (one instanceof Flaw) return one
      read.push(one)
    }
    return read
  }
  return {
    read: (text, around) => {
      const trimmed = trimXmlSpace(text)
      return trimmed === '' ? [] : each(trimmed.split(/[ \t\r\n]+/), one => item.read(String(one), around))
    },
    check: value => (Array.isArray(value) ? each(value, checkListItem(item)) : typeFlaw('a list')),
    write: (value, prefixFor) => (value as readonly unknown[]).map(one => item.write(one, prefixFor)).join(' '), // `check` has passed it
    normalize: collapseSpace,
    keyOf: value => (value as readonly unknown[]).map(one => keyOfValue(item, one)).join(' '), // `check` has passed it
    unrestricted: item.unrestricted && listCodec(item.unrestricted),
  }
}
/** White space in an item would split it in two; an empty item would be lost. */
const checkListItem =
  (item: SimpleCodec) =>
  (value: unknown): unknown | Flaw => {
    const isSplit = typeof value === 'string' && (value === '' || /[ \t\r\n]/.test(value))
    return isSplit ? typeFlaw('an item without white space') : item.check(value)
  }

function unionCodec(of: readonly SimpleCodec[]): SimpleCodec {
  const codecOf = (value: unknown): SimpleCodec | undefined => of.find(each => !(each.check(value) instanceof Flaw))
  const first = (attempt: (codec: SimpleCodec) => unknown | Flaw): unknown | Flaw => {
    let flaw: unknown = typeFlaw('a value of one of the types')
    for (const codec of of) {
      const value = attempt(codec)
      if (!(value instanceof Flaw)) return value
      flaw = value
    }
    return flaw
  }
  return {
    read: (text, around) => first(codec => codec.read(text, around)),
    check: value => first(codec => codec.check(value)),
    write: (value, prefixFor) => codecOf(value)?.write(value, prefixFor) ?? String(value),
    writeOthers: value => codecOf(value)?.writeOthers?.(value) ?? [],
    keyOf: value => {
      const codec = codecOf(value)
      return codec ? keyOfValue(codec, value) : String(value)
    },
    normalize: of.every(each => each.normalize === collapseSpace) ? collapseSpace : keepSpace,
    unrestricted: of.some(each => each.unrestricted)
      ? unionCodec(of.map(each => each.unrestricted ?? each))
      : undefined,
  }
}

// SchemaFacets

type CheckFacet = (value: unknown) => Flaw | undefined

function restrictedCodec(of: AnyXmlType, facets: SchemaFacets): SimpleCodec {
  const base = simpleCodecOf(of)
  const normalize = facets.whiteSpace === undefined ? base.normalize : spaceNormalizers[facets.whiteSpace]
  const patterns = (facets.patterns ?? []).map(pattern => ({ pattern, matches: compileXsdMatcher(pattern) }))
  const checks = [...valueChecks(base, facets), ...boundChecks(base, facets), ...digitChecks(facets)]
  const sized = restrictLength(base, facets)
  const checkText = (text: string): Flaw | undefined => {
    const wrong = patterns.find(({ matches }) => matches && !matches(text))
    return wrong && boundFlaw('pattern', `must match ${wrong.pattern}`)
  }
  const { writeOthers: listOthers } = base
  const writeOthers =
    listOthers && ((value: unknown) => Iterator.from(listOthers(value)).filter(each => !checkText(each)))
  /** The usual text of a value, unless a pattern demands another one. */
  const write: SimpleCodec['write'] = (value, prefixFor) => {
    const usual = base.write(value, prefixFor)
    if (patterns.length === 0 || !writeOthers || !checkText(usual)) return usual
    return Iterator.from(writeOthers(value)).next().value ?? usual
  }
  const checkValue = (value: unknown): unknown | Flaw => {
    if (value instanceof Flaw) return value
    for (const check of checks) {
      const flaw = check(value)
      if (flaw) return flaw
    }
    return value
  }
  return {
    read: (written, around) => {
      const text = patterns.length > 0 || facets.whiteSpace ? normalize(written) : written
      return checkText(text) ?? checkValue(sized.read(text, around))
    },
    check: value => {
      const checked = checkValue(sized.check(value))
      if (checked instanceof Flaw) return checked
      if (facets.whiteSpace && typeof checked === 'string' && normalize(checked) !== checked)
        return typeFlaw('text without white space that its type would change')
      return (patterns.length > 0 && checkText(write(checked, () => 'p'))) || checked
    },
    write,
    ...(writeOthers && { writeOthers }),
    normalize,
    keyOf: base.keyOf,
    compare: base.compare,
    unrestricted: base.unrestricted ?? base,
  }
}

/**
 * §4.3.1–§4.3.3: characters of a text, octets of bytes, items of a list. A name has no length: any
 * is valid.
 */
function restrictLength(base: SimpleCodec, { length, minLength, maxLength }: SchemaFacets): SimpleCodec {
  const [min, max] = [length ?? minLength ?? 0, length ?? maxLength ?? Number.POSITIVE_INFINITY]
  const isName = (base.unrestricted ?? base) === qnameCodec
  if (isName || (min === 0 && max === Number.POSITIVE_INFINITY)) return base
  const check = (value: unknown): unknown | Flaw => {
    const size = sizeOf(value)
    if (size === undefined || (size >= min && size <= max)) return value
    return size < min
      ? boundFlaw('minLength', `must have a length of at least ${min}`)
      : boundFlaw('maxLength', `must have a length of at most ${max}`)
  }
  return { ...base, read: (text, around) => check(base.read(text, around)), check: value => check(base.check(value)) }
}
function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'string') return countCharacters(value)
  return value instanceof Uint8Array || Array.isArray(value) ? value.length : undefined
}

/** Values in declarations and in JSON are already in James Clark's notation. */
export const clarkNames: NamesAround = { qname: parseNameValue }

/**
 * Rewrites the names in a text of a declaration, since prefixes only have a meaning in one
 * document.
 */
export function renameInText(
  type: AnyXmlType,
  text: string,
  around: NamesAround,
  writeName: (name: QualifiedName) => string,
): string {
  const { definition } = type
  const rename = (of: AnyXmlType, part: string): string => renameInText(of, part, around, writeName)
  switch (definition.kind) {
    case 'restriction':
      return rename(definition.of, text)
    case 'list':
      return collapseSpace(text)
        .split(' ')
        .map(each => rename(definition.item, each))
        .join(' ')
    case 'union': {
      const of = definition.of.find(each => !(simpleCodecOf(each).read(text, around) instanceof Flaw))
      return of ? rename(of, text) : text
    }
    case 'builtIn': {
      const isName = definition.name === 'QName' || definition.name === 'NOTATION'
      const name = isName ? around.qname(trimXmlSpace(text)) : undefined
      return name ? writeName(name) : text
    }
    default:
      return text
  }
}

/** §4.3.5: by value, so that 1.0 is among 1 and 2. */
function valueChecks(base: SimpleCodec, { values }: SchemaFacets): CheckFacet[] {
  if (!values) return []
  const keys = new Set(values.map(text => keyOfValue(base, base.read(text, clarkNames))))
  const phrase = values.length > 12 ? `${values.slice(0, 12).join(', ')}, …` : values.join(', ')
  return [value => (keys.has(keyOfValue(base, value)) ? undefined : new Flaw('enum', `must be one of ${phrase}`))]
}

/** §4.3.7–§4.3.10. A value that has no order relative to a bound is not within it. */
function boundChecks(base: SimpleCodec, facets: SchemaFacets): CheckFacet[] {
  const check = (
    bound: string | undefined,
    holds: (order: number) => boolean,
    code: string,
    phrase: string,
  ): CheckFacet[] => {
    const limit = bound === undefined ? undefined : (base.unrestricted ?? base).read(bound, clarkNames)
    if (bound === undefined || limit instanceof Flaw) return []
    const compare = compareWith(base, limit)
    return [
      value => {
        const order = compare(value)
        return order !== undefined && holds(order) ? undefined : boundFlaw(code, `must be ${phrase} ${bound}`)
      },
    ]
  }
  return [
    ...check(facets.minInclusive, order => order >= 0, 'minimum', 'at least'),
    ...check(facets.minExclusive, order => order > 0, 'minimum', 'more than'),
    ...check(facets.maxInclusive, order => order <= 0, 'maximum', 'at most'),
    ...check(facets.maxExclusive, order => order < 0, 'maximum', 'less than'),
  ]
}

const doubleLengthMax = 15
function compareWith(
  { compare = compareOrdered }: SimpleCodec,
  limit: unknown,
): (value: unknown) => number | undefined {
  if (
    compare !== compareOrdered ||
    typeof limit !== 'string' ||
    limit.length > doubleLengthMax ||
    !decimalText.test(limit)
  )
    return value => compare(value, limit)
  const double = Number(limit)
  // A double distinguishes any two decimals of 15 digits, and keeps their order (IEEE 754).
  return value =>
    typeof value === 'string' && value.length <= doubleLengthMax && decimalText.test(value)
      ? Number(value) - double
      : compareOrdered(value, limit)
}

function compareOrdered(left: unknown, right: unknown): number | undefined {
  if (typeof left === 'number' && typeof right === 'number') return compareNumbers(left, right)
  if (typeof left === 'bigint' && typeof right === 'bigint') return left < right ? -1 : left > right ? 1 : 0
  if (typeof left !== 'string' || typeof right !== 'string') return undefined
  return decimalText.test(left) && decimalText.test(right) ? compareDecimals(left, right) : undefined
}

/** Infinities equal themselves, and NaN has no order (§3.2.4). */
function compareNumbers(left: number, right: number): number | undefined {
  if (left === right) return 0
  return Number.isNaN(left) || Number.isNaN(right) ? undefined : left - right
}

function compareDecimals(one: string, other: string): number {
  const places = Math.max(...[one, other].map(text => fractionOf(text).length))
  const [left, right] = [unitsOf(one, places), unitsOf(other, places)]
  return left < right ? -1 : left > right ? 1 : 0
}
function fractionOf(text: string): string {
  const point = text.indexOf('.')
  return point < 0 ? '' : text.slice(point + 1)
}
const unitsOf = (text: string, places: number): bigint => {
  const whole = text.split('.')[0]?.replace(/^[+-]/, '') ?? ''
  const units = BigInt(whole + fractionOf(text).padEnd(places, '0') || '0')
  return text.startsWith('-') ? -units : units
}

/** §4.3.11, §4.3.12. */
function digitChecks({ totalDigits, fractionDigits }: SchemaFacets): CheckFacet[] {
  const check = (max: number | undefined, count: (text: string) => number, phrase: string): CheckFacet[] =>
    max === undefined
      ? []
      : [
          value =>
            count(String(value)) > max ? boundFlaw('totalDigits', `must have at most ${max} ${phrase}`) : undefined,
        ]
  return [
    ...check(totalDigits, text => countWholeDigits(text) + countFractionDigits(text), 'digits'),
    ...check(fractionDigits, countFractionDigits, 'digits behind the point'),
  ]
}

const zero = 0x30
function pointOf(text: string): number {
  const point = text.indexOf('.')
  return point < 0 ? text.length : point
}
/** Before the point, without leading zeros. */
function countWholeDigits(text: string): number {
  const point = pointOf(text)
  let from = text.startsWith('-') || text.startsWith('+') ? 1 : 0
  while (from < point && text.charCodeAt(from) === zero) from++
  return point - from
}
/** After the point, without zeros at the end. */
function countFractionDigits(text: string): number {
  const from = pointOf(text) + 1
  let to = text.length
  while (to > from && text.charCodeAt(to - 1) === zero) to--
  return Math.max(to - from, 0)
}
