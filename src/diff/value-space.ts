/**
 * Values of simple types by their meaning: two spellings of one value are one (XML Schema Part 2
 * §2.2), and values that have an order are compared in it (§3.2.6 to §3.2.14). Types are named as
 * in `wire-type.ts`; a text that is not a value of its type stands for itself.
 */
import { trimXmlSpace } from '../contract/lexical/text.ts'
import { findTemporalRule } from '../describe/temporal-pattern.ts'
import type { ScalarType } from './wire-type.ts'

/** One text for each value of the type; only for comparing. */
export function digestValue(base: string, text: string): string {
  const kind = kindOf(base)
  const plain = kind === 'string' ? text : trimXmlSpace(text)
  return digests[kind](plain) ?? plain
}

/** Negative: the first is less. Undefined: the type, or these values, have no order. */
export function compareInOrder(base: string, one: string, other: string): number | undefined {
  const [a, b] = [trimXmlSpace(one), trimXmlSpace(other)]
  const kind = kindOf(base)
  if (kind === 'decimal') return compareDecimalTexts(a, b)
  if (kind === 'double') return orderNumbers(parseFloating(a), parseFloating(b))
  if (kind === 'time') return compareTimes(parseTime(a), parseTime(b))
  return kind === 'duration' ? compareDurations(parseDuration(a), parseDuration(b)) : undefined
}

type ValueKind =
  | 'decimal'
  | 'double'
  | 'boolean'
  | 'time'
  | 'duration'
  | 'hexBinary'
  | 'base64Binary'
  | 'token'
  | 'string'

const kindsByBase: Readonly<Record<string, ValueKind>> = {
  ...kindFor('decimal', ['number', 'integer', 'xs:decimal', 'xs:integer', 'xs:long', 'xs:int', 'xs:short', 'xs:byte']),
  ...kindFor('decimal', ['xs:unsignedLong', 'xs:unsignedInt', 'xs:unsignedShort', 'xs:unsignedByte']),
  ...kindFor('decimal', ['xs:positiveInteger', 'xs:nonNegativeInteger', 'xs:negativeInteger', 'xs:nonPositiveInteger']),
  ...kindFor('double', ['xs:double', 'xs:float']),
  ...kindFor('time', [
    'xs:dateTime',
    'xs:date',
    'xs:time',
    'xs:gYear',
    'xs:gYearMonth',
    'xs:gMonth',
    'xs:gMonthDay',
    'xs:gDay',
  ]),
  ...kindFor('string', ['string', 'xs:string', 'xs:normalizedString', 'any text']),
  'xs:boolean': 'boolean',
  'xs:duration': 'duration',
  'xs:hexBinary': 'hexBinary',
  'xs:base64Binary': 'base64Binary',
}
function kindFor(kind: ValueKind, bases: readonly string[]): Readonly<Record<string, ValueKind>> {
  return Object.fromEntries(bases.map(base => [base, kind]))
}
const kindOf = (base: string): ValueKind => kindsByBase[base] ?? (base.startsWith('xs:') ? 'token' : 'string')

/** Undefined: not a value of the type. */
const digests: Readonly<Record<ValueKind, (text: string) => string | undefined>> = {
  decimal: text => {
    const value = parseDecimal(text)
    return value && `${value.units}e-${value.places}`
  },
  double: text => (Number.isNaN(parseFloating(text) ?? 0) ? 'NaN' : parseFloating(text)?.toString()),
  boolean: text => ({ '1': 'true', '0': 'false' })[text],
  time: text => {
    const time = parseTime(text)
    return time && `${time.seconds}.${time.fraction}${time.hasZone ? 'Z' : ''}`
  },
  duration: text => {
    const duration = parseDuration(text)
    return duration && `${duration.months} ${duration.seconds}.${duration.fraction}`
  },
  hexBinary: text => text.toUpperCase(),
  base64Binary: text => text.replace(/\s/g, ''),
  token: text => text.replace(/\s+/g, ' '),
  string: () => undefined,
}

// Numbers (§3.2.3, §3.2.5)

/** `units` / 10^`places`. */
interface DecimalValue {
  readonly units: bigint
  readonly places: number
}
function parseDecimal(text: string): DecimalValue | undefined {
  const [, sign, whole = '', fraction = ''] = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text) ?? []
  if (sign === undefined || whole + fraction === '') return undefined
  const shortened = fraction.replace(/0+$/, '')
  const units = BigInt(whole + shortened || '0')
  return { units: sign === '-' ? -units : units, places: shortened.length }
}
function compareDecimalTexts(one: string, other: string): number | undefined {
  const [a, b] = [parseDecimal(one), parseDecimal(other)]
  if (!a || !b) return orderNumbers(parseFloating(one), parseFloating(other)) // JSON has exponents
  const places = Math.max(a.places, b.places)
  const [left, right] = [a, b].map(each => each.units * 10n ** BigInt(places - each.places))
  return left === undefined || right === undefined || left === right ? 0 : left < right ? -1 : 1
}
function parseFloating(text: string): number | undefined {
  const named = { INF: Number.POSITIVE_INFINITY, '-INF': Number.NEGATIVE_INFINITY, NaN: Number.NaN }[text]
  if (named !== undefined) return named
  return /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
}
const orderNumbers = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined || Number.isNaN(a - b) ? undefined : a - b

// Times (§3.2.7 to §3.2.14)

/** Seconds since 1970 in UTC; without a zone, as if in UTC. */
interface TimeValue {
  readonly seconds: number
  /** Of a second, without zeros at its end. */
  readonly fraction: string
  readonly hasZone: boolean
}
/** Years, months, days, hours, minutes (i), seconds, fractions and zones, as a type has them. */
const timeForms: readonly RegExp[] = [
  /^(?<y>-?\d{4,})-(?<m>\d\d)-(?<d>\d\d)T(?<h>\d\d):(?<i>\d\d):(?<s>\d\d)(?:\.(?<f>\d+))?(?<z>Z|[+-]\d\d:\d\d)?$/,
  /^(?<h>\d\d):(?<i>\d\d):(?<s>\d\d)(?:\.(?<f>\d+))?(?<z>Z|[+-]\d\d:\d\d)?$/,
  /^(?<y>-?\d{4,})(?:-(?<m>\d\d)(?:-(?<d>\d\d))?)?(?<z>Z|[+-]\d\d:\d\d)?$/,
  /^--(?<m>\d\d)(?:-(?<d>\d\d))?(?<z>Z|[+-]\d\d:\d\d)?$/,
  /^---(?<d>\d\d)(?<z>Z|[+-]\d\d:\d\d)?$/,
]
function parseTime(text: string): TimeValue | undefined {
  const groups = timeForms.map(form => form.exec(text)?.groups).find(Boolean)
  if (!groups) return undefined
  const {
    y = '1972',
    m = '12',
    d = y === '1972' && groups['m'] === undefined ? '31' : '1',
    h = '0',
    i = '0',
    s = '0',
    f = '',
    z,
  } = groups
  const seconds = countDays(Number(y), Number(m), Number(d)) * 86_400 + Number(h) * 3600 + Number(i) * 60 + Number(s)
  return { seconds: seconds - readZone(z) * 60, fraction: f.replace(/0+$/, ''), hasZone: z !== undefined }
}
/** Minutes. */
function readZone(zone: string | undefined): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? '') ?? []
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1)
}
/** Days since 1970 in the proleptic Gregorian calendar. */
function countDays(year: number, month: number, day: number): number {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime() / 86_400_000
}

/** §3.2.7.4: a time without a zone may be that of any zone, up to 14 hours away. */
function compareTimes(a: TimeValue | undefined, b: TimeValue | undefined): number | undefined {
  if (!a || !b) return undefined
  const difference = a.seconds - b.seconds || Number(`0.${a.fraction}`) - Number(`0.${b.fraction}`)
  return a.hasZone === b.hasZone || Math.abs(difference) > 14 * 3600 ? difference : undefined
}

// Durations (§3.2.6)

interface DurationValue {
  readonly months: number
  readonly seconds: number
  readonly fraction: string
}
const durationForm = /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/
function parseDuration(text: string): DurationValue | undefined {
  const found = durationForm.exec(text)
  if (!found || !/\d/.test(text)) return undefined
  const [years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = found
    .slice(2, 8)
    .map(each => Number(each ?? 0))
  const sign = found[1] === '-' ? -1 : 1
  return {
    months: sign * (years * 12 + months) || 0,
    seconds: sign * (days * 86_400 + hours * 3600 + minutes * 60 + seconds) || 0,
    fraction: (found[8] ?? '').replace(/0+$/, '').replace(/^(?=.)/, sign < 0 ? '-' : ''),
  }
}
/** §3.2.6.2: whichever of these months they are added to. */
const startMonths: readonly (readonly [year: number, month: number])[] = [
  [1696, 9],
  [1697, 2],
  [1903, 3],
  [1903, 7],
]
function compareDurations(a: DurationValue | undefined, b: DurationValue | undefined): number | undefined {
  if (!a || !b) return undefined
  const fractions = readFraction(a) - readFraction(b)
  const differences = startMonths.map(
    ([year, month]) =>
      (countDays(year, month + a.months, 1) - countDays(year, month + b.months, 1)) * 86_400 + a.seconds - b.seconds ||
      fractions,
  )
  const [first = 0] = differences
  return differences.every(each => Math.sign(each) === Math.sign(first)) ? first : undefined
}
const readFraction = ({ fraction }: DurationValue): number =>
  Number(fraction.startsWith('-') ? `-0.${fraction.slice(1)}` : `0.${fraction}`)

// Zones

const formatOfKind = { date: 'date', time: 'time', dateTime: 'date-time' } as const

/**
 * The type with its zone as the facet `zone`, which our own descriptions say by a format or a
 * pattern: a release that allows more zones is wider, whichever way either has it.
 */
export function nameZone(type: ScalarType): ScalarType {
  const { pattern, format = '', ...others } = Object.fromEntries(type.facets)
  const rule = findTemporalRule(pattern === undefined ? undefined : String(pattern), String(format))
  if (!rule) return type
  const { kind, zone } = rule
  const isJson = type.base === 'string'
  return {
    ...type,
    facets: new Map(Object.entries({ ...others, ...(isJson && { format: formatOfKind[kind] }), zone })),
  }
}

/** Negative: the first has fewer values. Undefined: neither holds the other. */
export const compareZones = (one: unknown, other: unknown): number | undefined =>
  other === 'optional' ? -1 : one === 'optional' ? 1 : undefined
