/**
 * The lexical and value spaces of scalars (XML Schema Part 2), one place for JSON, XML, query parameters and the store.
 * `read` takes text to a value, `check` holds a value against its facets; both answer a flaw instead of throwing.
 */
import type { Scalar } from './field.ts'
import { memoized } from './memoized.ts'

/** Why a value is not of its type: a stable code and a sentence for people. */
export class Flaw {
  readonly code: string
  readonly detail: string
  constructor(code: string, detail: string) {
    this.code = code
    this.detail = detail
  }
}

export const isScalar = (shape: { readonly kind: string }): shape is Scalar =>
  shape.kind !== 'list' && shape.kind !== 'object' && shape.kind !== 'union'

/** The type of XML Schema Part 2 that a scalar is, or restricts. */
export function xsdTypeOf(shape: Scalar): string {
  switch (shape.kind) {
    case 'string':
    case 'int':
    case 'long':
    case 'double':
      return shape.xsd ?? shape.kind
    case 'bytes':
      return shape.encoding === 'hex' ? 'hexBinary' : 'base64Binary'
    case 'enum':
    case 'id':
    case 'ref':
      return 'string'
    default:
      return shape.kind
  }
}

type Of<K extends Scalar['kind']> = Extract<Scalar, { kind: K }>
const wrong = (what: string): Flaw => new Flaw('type', `must be ${what}`)

/** Text in its lexical form → value. White space is collapsed first for all but strings (Part 2 §4.3.6). */
export function read(shape: Scalar, text: string): unknown | Flaw {
  switch (shape.kind) {
    case 'string':
      return check(shape, shape.xsd === undefined ? text : spaced(shape.xsd, text))
    case 'id':
    case 'ref':
    case 'enum':
      return check(shape, text)
    case 'bytes':
      return check(shape, shape.encoding === 'hex' ? fromHex(trimmed(text)) : fromBase64(text))
    case 'boolean':
      return readBoolean(trimmed(text))
    case 'int':
      return check(shape, integerOf(trimmed(text)))
    case 'long':
      return check(shape, integerText.test(trimmed(text)) ? BigInt(trimmed(text).replace(/^\+/, '')) : undefined)
    case 'double':
      return check(shape, readDouble(trimmed(text)))
    default:
      return check(shape, trimmed(text))
  }
}

/** A typed value → its text, canonical where the type has a canonical form. */
export function write(shape: Scalar, value: unknown): string {
  if (shape.kind === 'bytes') {
    const bytes = value as Uint8Array // a bytes field holds bytes: `check` has seen it
    return shape.encoding === 'hex' ? bytes.toHex().toUpperCase() : bytes.toBase64()
  }
  if (shape.kind === 'double') return writeDouble(shape, Number(value)) // a number, or a bigint that `check` took for one
  return String(value)
}

/** A typed value against its facets; the value itself comes back, decimals with all their places. */
export function check(shape: Scalar, value: unknown): unknown | Flaw {
  switch (shape.kind) {
    case 'string':
      return typeof value === 'string' ? checkString(shape, value) : wrong('a string')
    case 'boolean':
      return typeof value === 'boolean' ? value : wrong('true or false')
    case 'int':
      return checkInt(shape, value)
    case 'long':
      return checkLong(shape, value)
    case 'decimal':
      return typeof value === 'string' ? checkDecimal(shape, value) : wrong('decimal text, such as "12.50"')
    case 'double':
      return checkDouble(shape, value)
    case 'bytes':
      return checkBytes(shape, value)
    case 'enum':
      return typeof value === 'string' && shape.values.includes(value)
        ? value
        : new Flaw('enum', `must be one of ${shape.values.join(', ')}`)
    case 'id':
    case 'ref':
      return typeof value === 'string' && identifier.test(value)
        ? value
        : wrong('an identifier: letters, digits, ".", "_", "~" and "-", at most 64')
    default:
      return typeof value === 'string' && temporal[shape.kind](value) ? value : wrong(temporalForm[shape.kind])
  }
}

/** RFC 3986's unreserved characters: an identifier is a path segment as it is. */
const identifier = /^[A-Za-z0-9_~-][A-Za-z0-9._~-]{0,63}$/
const integerText = /^[+-]?[0-9]{1,400}$/

/** By hand up to fifteen digits, which a double holds whatever they are. */
function integerOf(text: string): number | undefined {
  const from = text.charCodeAt(0) === minus ? 1 : 0
  if (text.length > 15 || text.length === from) return integerText.test(text) ? Number(text) : undefined
  let value = 0
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zero
    if (digit < 0 || digit > 9) return integerText.test(text) ? Number(text) : undefined
    value = value * 10 + digit
  }
  return from === 1 ? -value : value
}
const zero = 48
const minus = 45
const point = 46

/** XML's white space off both ends. By hand: an expression that looks for blanks at the end tries at each run of them. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}
const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 13

function readBoolean(text: string): boolean | Flaw {
  if (text === 'true' || text === '1') return true
  return text === 'false' || text === '0' ? false : wrong('true or false')
}

const doubleText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/
const specials: Readonly<Record<string, number>> = { INF: Infinity, '+INF': Infinity, '-INF': -Infinity, NaN: NaN }
function readDouble(text: string): number | undefined {
  if (Object.hasOwn(specials, text)) return specials[text]
  return doubleText.test(text) ? Number(text) : undefined
}
function writeDouble({ xsd }: Of<'double'>, value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : xsd === 'float' ? writeFloat(value) : String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'INF' : '-INF'
}

/** The shortest text that reads back to the same float (Part 2 §3.2.4): 9 digits always do. */
export function writeFloat(value: number): string {
  const float = Math.fround(value)
  for (let digits = 1; digits < 9; digits++) {
    const near = Number(value.toPrecision(digits))
    if (Math.fround(near) === float) return String(near)
  }
  return String(Number(value.toPrecision(9)))
}

/** White space as the XSD type says (Part 2 §4.3.6): normalizedString replaces, the others collapse. */
function spaced(xsd: NonNullable<Of<'string'>['xsd']>, text: string): string {
  const replaced = text.replace(/[\t\r\n]/g, ' ')
  return xsd === 'normalizedString' ? replaced : replaced.replace(/ +/g, ' ').replace(/^ | $/g, '')
}

const nameStart =
  'A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\u{10000}-\\u{EFFFF}'
const nameChar = `${nameStart}\\-.0-9\\u00B7\\u0300-\\u036F\\u203F\\u2040`
const ncName = new RegExp(`^[${nameStart}][${nameChar}]*$`, 'u')
const zone = '(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?'
/** XML Schema Part 2 §3.2, §3.3. */
const stringForm: Readonly<Record<NonNullable<Of<'string'>['xsd']>, RegExp>> = {
  normalizedString: /^[^\t\r\n]*$/,
  token: /^(?! )(?!.* {2})(?!.* $)[^\t\r\n]*$/s, // a line separator is a character like any other
  language: /^[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*$/,
  Name: new RegExp(`^[:${nameStart}][:${nameChar}]*$`, 'u'),
  NCName: ncName,
  NMTOKEN: new RegExp(`^[:${nameChar}]+$`, 'u'),
  anyURI: /^[^\p{Cc} <>{}|\\^`"]*$/u,
  QName: new RegExp(`^([${nameStart}][${nameChar}]*:)?[${nameStart}][${nameChar}]*$`, 'u'),
  gYear: new RegExp(`^-?([1-9][0-9]{3,}|0[0-9]{3})${zone}$`),
  gYearMonth: new RegExp(`^-?([1-9][0-9]{3,}|0[0-9]{3})-(0[1-9]|1[0-2])${zone}$`),
  gMonth: new RegExp(`^--(0[1-9]|1[0-2])${zone}$`),
  gMonthDay: new RegExp(`^--(?!02-3|(0[469]|11)-31)(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])${zone}$`),
  gDay: new RegExp(`^---(0[1-9]|[12][0-9]|3[01])${zone}$`),
}

const patterns = new Map<string, RegExp>()
/** A pattern of the contract, anchored at both ends as XSD's are. Contracts are few and trusted: the map stays small. */
export function patternOf(pattern: string): RegExp {
  let known = patterns.get(pattern)
  if (!known) patterns.set(pattern, (known = new RegExp(`^(?:${pattern})$`, 'u')))
  return known
}

function checkString(shape: Of<'string'>, value: string): string | Flaw {
  if (!plain.test(value) && unsendable.test(value))
    return new Flaw('character', 'has a character that XML cannot carry')
  // A character is one UTF-16 unit or two: they are counted where that makes a difference.
  if (shape.min !== undefined && value.length < shape.min * 2 && lengthOf(value) < shape.min)
    return new Flaw('minLength', `must have at least ${shape.min} characters`)
  if (shape.max !== undefined && value.length > shape.max && lengthOf(value) > shape.max)
    return new Flaw('maxLength', `must have at most ${shape.max} characters`)
  if (shape.xsd !== undefined && !stringForm[shape.xsd].test(value)) return wrong(`of type ${shape.xsd}`)
  if (shape.pattern !== undefined && !patternOf(shape.pattern).test(value))
    return new Flaw('pattern', `must match ${shape.pattern}`)
  return value
}

/** Characters of one unit each, which nearly every text has alone: none of them is unsendable. */
const plain = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/
/** What XML 1.0 §2.2 has no Char for: a value that one face could not say is refused by both. */
const unsendable =
  /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** Characters, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = text.length
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xd800) length--
  return length
}

/** XML Schema Part 2 §3.3.16–§3.3.24. */
const intBounds: Readonly<
  Record<NonNullable<Of<'int'>['xsd']>, { readonly lowest: number; readonly highest: number }>
> = {
  int: { lowest: -2147483648, highest: 2147483647 },
  short: { lowest: -32768, highest: 32767 },
  byte: { lowest: -128, highest: 127 },
  unsignedShort: { lowest: 0, highest: 65535 },
  unsignedByte: { lowest: 0, highest: 255 },
}
function checkInt(shape: Of<'int'>, value: unknown): number | Flaw {
  if (typeof value !== 'number' || !Number.isInteger(value)) return wrong('a whole number')
  const { lowest, highest } = intBounds[shape.xsd ?? 'int']
  return bounded(value + 0, Math.max(shape.min ?? lowest, lowest), Math.min(shape.max ?? highest, highest))
}

const longBounds: Readonly<Record<NonNullable<Of<'long'>['xsd']>, readonly [bigint | undefined, bigint | undefined]>> =
  {
    long: [-(2n ** 63n), 2n ** 63n - 1n],
    integer: [undefined, undefined],
    unsignedInt: [0n, 2n ** 32n - 1n],
    unsignedLong: [0n, 2n ** 64n - 1n],
    positiveInteger: [1n, undefined],
    nonNegativeInteger: [0n, undefined],
    negativeInteger: [undefined, -1n],
    nonPositiveInteger: [undefined, 0n],
  }
function checkLong(shape: Of<'long'>, value: unknown): bigint | Flaw {
  const whole = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof whole !== 'bigint') return wrong('a whole number')
  const [lowest, highest] = longBounds[shape.xsd ?? 'long']
  const inType = bounded(whole, lowest, highest)
  return inType instanceof Flaw ? inType : bounded(whole, shape.min, shape.max)
}

/** NaN is in no range (Part 2 §3.2.5). */
function bounded<N extends number | bigint>(value: N, min: N | undefined, max: N | undefined): N | Flaw {
  if (min !== undefined && !(value >= min)) return new Flaw('minimum', `must be at least ${min}`)
  if (max !== undefined && !(value <= max)) return new Flaw('maximum', `must be at most ${max}`)
  return value
}

function checkDouble(shape: Of<'double'>, value: unknown): number | Flaw {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number') return wrong('a number')
  if (shape.xsd !== 'float') return bounded(number, shape.min, shape.max)
  return bounded(Math.fround(number), floated(shape.min), floated(shape.max))
}
/** The bounds of a float are floats too (Part 2 §4.3.7): 0.1 is not above 0.1. */
const floated = (bound: number | undefined): number | undefined =>
  bound === undefined ? undefined : Math.fround(bound)

function checkBytes(shape: Of<'bytes'>, value: unknown): Uint8Array | Flaw {
  if (!(value instanceof Uint8Array)) return wrong(shape.encoding === 'hex' ? 'hexadecimal bytes' : 'base64 bytes')
  return shape.max !== undefined && value.length > shape.max
    ? new Flaw('maxLength', `must have at most ${shape.max} octets`)
    : value
}
function fromHex(text: string): Uint8Array | undefined {
  return /^([0-9a-fA-F]{2})*$/.test(text) ? Uint8Array.fromHex(text) : undefined
}
/** RFC 4648 §4 with white space ignored, as XML Schema Part 2 §3.2.16 allows it. */
function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: 'strict' })
  } catch {
    return undefined
  }
}

const decimalText = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/
/** Units of the last place, for comparing and keeping: "12.50" with two places is 1250n. Undefined when it is no decimal of that form. */
export function scaled(text: string, places: number): bigint | undefined {
  if (text.length > 64) return undefined
  const [, sign, whole = '', fraction = ''] = decimalText.exec(text) ?? []
  if (sign === undefined || whole + fraction === '' || /[^0]/.test(fraction.slice(places))) return undefined
  const units = BigInt(`${whole}${fraction.slice(0, places).padEnd(places, '0')}` || '0')
  return sign === '-' ? -units : units
}
/** The way back: 1250n with two places is "12.50". */
export function unscaled(units: bigint | number, places: number): string {
  const digits = String(units < 0 ? -units : units).padStart(places + 1, '0')
  const sign = units < 0 ? '-' : ''
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}
/** The bounds of a decimal in units, as doubles; undefined where one is wider than a double is exact. */
interface Plain {
  readonly least: number
  readonly most: number
}
const plainOf = memoized((shape: Of<'decimal'>): Plain | 'wide' => {
  const { min, max, digits, places } = shape
  const most = 10 ** digits - 1
  const [least, highest] = [min, max].map(each => (each === undefined ? undefined : Number(scaled(each, places) ?? 0n)))
  const wide = digits > 15 || Math.max(Math.abs(least ?? 0), Math.abs(highest ?? 0)) > most
  return wide ? 'wide' : { least: least ?? -most, most: highest ?? most }
})

/** Units of a text that is written as it is kept: digits, all its places, nothing before or between. Undefined for any other. */
function unitsOf(text: string, places: number): number | undefined {
  const at = places === 0 ? text.length : text.length - places - 1
  if (at < 1 || text.length > 16 || (at > 1 && text.charCodeAt(0) === zero)) return undefined
  let units = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (i !== at && (code < zero || code > zero + 9)) return undefined
    if (i === at && code !== point) return undefined
    if (i !== at) units = units * 10 + code - zero
  }
  return units
}

function checkDecimal(shape: Of<'decimal'>, value: string): string | Flaw {
  const bounds = plainOf(shape)
  const whole = bounds === 'wide' ? undefined : unitsOf(value, shape.places)
  if (bounds !== 'wide' && whole !== undefined && whole >= bounds.least && whole <= bounds.most) return value
  return checkedDecimal(shape, value)
}

/** Whatever it looks like, and what is wrong with it. */
function checkedDecimal(shape: Of<'decimal'>, value: string): string | Flaw {
  const units = scaled(value, shape.places)
  if (units === undefined)
    return wrong(`decimal text with at most ${shape.places} places, such as "${unscaled(1250, shape.places)}"`)
  const unsigned = shape.min !== undefined && !shape.min.startsWith('-')
  if (unsigned && /^[+-]/.test(value)) return new Flaw('pattern', 'must have no sign')
  if (shape.min !== undefined && units < (scaled(shape.min, shape.places) ?? 0n))
    return new Flaw('minimum', `must be at least ${shape.min}`)
  if (shape.max !== undefined && units > (scaled(shape.max, shape.places) ?? 0n))
    return new Flaw('maximum', `must be at most ${shape.max}`)
  return (units < 0n ? -units : units) >= 10n ** BigInt(shape.digits)
    ? new Flaw('totalDigits', `must have at most ${shape.digits} digits`)
    : unscaled(units, shape.places)
}

const dateText = /^-?([1-9][0-9]{3,8}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(.*)$/
const timeText = new RegExp(
  `^(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?|24:00:00(\\.0{1,12})?)${zone}$`,
)
const zoneText = new RegExp(`^${zone}$`)
const durationText =
  /^-?P(?=.)([0-9]{1,9}Y)?([0-9]{1,9}M)?([0-9]{1,9}D)?(T(?=.)([0-9]{1,9}H)?([0-9]{1,9}M)?([0-9]{1,9}(\.[0-9]{1,12})?S)?)?$/

/** The day exists in its month (Part 2 §3.2.9); what follows the day is for `rest`. */
function isDay(text: string, rest: (tail: string) => boolean): boolean {
  const [year, month, day] = [wholeAt(text, 0, 4), wholeAt(text, 5, 7), wholeAt(text, 8, 10)]
  const isPlain = year >= 0 && text.charCodeAt(4) === minus && text.charCodeAt(7) === minus
  return isPlain ? day > 0 && day <= daysOf(year, month) && rest(text.slice(10)) : isFarDay(text, rest)
}

/** A year of more than four digits, or before the first: or no day at all. */
function isFarDay(text: string, rest: (tail: string) => boolean): boolean {
  const [, year, month, day, tail] = dateText.exec(text) ?? []
  if (year === undefined || month === undefined || tail === undefined) return false
  return Number(day) <= daysOf(Number(year), Number(month)) && rest(tail)
}

/** 0 for a month that there is not. */
function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : month >= 1 && month <= 12 ? 31 : 0
}

/** The number that these digits are; -1 where there is something else. */
function wholeAt(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - zero
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

const temporal: Readonly<Record<'date' | 'time' | 'dateTime' | 'duration', (text: string) => boolean>> = {
  date: text => isDay(text, tail => tail === '' || zoneText.test(tail)),
  time: text => timeText.test(text),
  dateTime: text => isDay(text, tail => tail[0] === 'T' && timeText.test(tail.slice(1))),
  duration: text => durationText.test(text),
}
const temporalForm = {
  date: 'a date, such as 2026-11-21',
  time: 'a time, such as 12:30:00Z',
  dateTime: 'a date and time, such as 2026-11-21T12:30:00Z',
  duration: 'a duration, such as P1DT12H',
} as const

/** A dateTime as an instant in milliseconds, fractions kept; a time without zone is taken as UTC. For order, not for show. */
export function instant(text: string): number {
  return Date.parse(/(Z|[+-][0-9]{2}:[0-9]{2})$/.test(text) ? text : `${text}Z`)
}
