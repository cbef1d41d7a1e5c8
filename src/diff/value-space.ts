/**
 * Compares values of simple types by their meaning: two spellings of a value are equal (XML Schema
 * Part 2 §2.2), and ordered values are compared by their order (§3.2.6 to §3.2.14). Types are named
 * as in `wire-type.ts`; a text that is not a value of its type stands for itself.
 */
import { compareDurations, compareMoments, keyOfDuration, keyOfMoment } from '../contract/lexical/temporal-order.ts'
import { trimXmlSpace } from '../contract/lexical/text.ts'
import { findTemporalRule } from '../describe/temporal-pattern.ts'
import type { ScalarType } from './wire-type.ts'

/** One text for each value of the type, only for comparison. */
export function digestValue(base: string, text: string): string {
  const kind = kindOf(base)
  const plain = kind === 'string' ? text : trimXmlSpace(text)
  return digests[kind](plain) ?? plain
}

/** Negative: the first is less. Undefined: the type, or this pair of values, has no order. */
export function compareInOrder(base: string, one: string, other: string): number | undefined {
  const [a, b] = [trimXmlSpace(one), trimXmlSpace(other)]
  const kind = kindOf(base)
  if (kind === 'decimal') return compareDecimalTexts(a, b)
  if (kind === 'double') return orderNumbers(parseFloating(a), parseFloating(b))
  if (kind === 'time') return compareMoments(a, b)
  return kind === 'duration' ? compareDurations(a, b) : undefined
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
  __proto__: null as never,
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
  time: keyOfMoment,
  duration: keyOfDuration,
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

// Zones

const formatOfKind = { date: 'date', time: 'time', dateTime: 'date-time' } as const

/**
 * The type with its zone as the facet `zone`, which our own descriptions state by a format or a
 * pattern: a release that allows more zones is wider, however either states it.
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

/** Negative: the first has fewer values. Undefined: neither contains the other. */
export const compareZones = (one: unknown, other: unknown): number | undefined =>
  other === 'optional' ? -1 : one === 'optional' ? 1 : undefined
