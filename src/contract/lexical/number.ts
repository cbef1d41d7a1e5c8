/**
 * Numbers: float and double (XML Schema Part 2 §3.2.4, §3.2.5), integer and the types derived from
 * it (§3.3.13–§3.3.25). Their texts, and the bounds of their types.
 */
import type { IntType, LongType } from '../field.ts'
import type { ScalarOf } from '../shape.ts'
import { boundFlaw, Flaw, typeFlaw } from './flaw.ts'
import { minusCode, zeroCode } from './text.ts'

export const integerText = /^[+-]?[0-9]{1,400}$/

/**
 * Parsed by hand up to fifteen characters, which a double holds exactly. Its slow twin is
 * `parseAnyInteger`.
 */
export function parseInteger(text: string): number | undefined {
  const from = text.charCodeAt(0) === minusCode ? 1 : 0
  if (text.length > 15 || text.length === from) return parseAnyInteger(text)
  let value = 0
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - zeroCode
    if (digit < 0 || digit > 9) return parseAnyInteger(text)
    value = value * 10 + digit
  }
  return from === 1 ? -value : value
}

/** The slow twin of `parseInteger`: it also accepts a plus sign, and any length. */
export const parseAnyInteger = (text: string): number | undefined => (integerText.test(text) ? Number(text) : undefined)

/** The exact value. */
export const parseBigInteger = (text: string): bigint | undefined =>
  integerText.test(text) ? BigInt(text.replace(/^\+/, '')) : undefined

const doubleText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/
const specialNumbers: Readonly<Record<string, number>> = {
  INF: Infinity,
  '+INF': Infinity,
  '-INF': -Infinity,
  NaN: NaN,
}
export function parseDouble(text: string): number | undefined {
  if (Object.hasOwn(specialNumbers, text)) return specialNumbers[text]
  return doubleText.test(text) ? Number(text) : undefined
}
export function writeDouble({ xsd }: ScalarOf<'double'>, value: number): string {
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

/** Both bounds are inclusive; undefined: unbounded. */
export interface NumberRange<N extends number | bigint = number | bigint> {
  readonly lowest: N | undefined
  readonly highest: N | undefined
}

const range = <N extends number | bigint>(lowest?: N, highest?: N): NumberRange<N> => ({ lowest, highest })

/** §3.3.17–§3.3.24: the types that fit in 32 bits. */
export const intBounds: Readonly<Record<IntType, NumberRange<number>>> = {
  int: range(-2147483648, 2147483647),
  short: range(-32768, 32767),
  byte: range(-128, 127),
  unsignedShort: range(0, 65535),
  unsignedByte: range(0, 255),
}
/** §3.3.13–§3.3.25: the types that need up to 64 bits, or more. */
export const longBounds: Readonly<Record<LongType, NumberRange<bigint>>> = {
  long: range(-(2n ** 63n), 2n ** 63n - 1n),
  integer: range(),
  unsignedInt: range(0n, 2n ** 32n - 1n),
  unsignedLong: range(0n, 2n ** 64n - 1n),
  positiveInteger: range(1n),
  nonNegativeInteger: range(0n),
  negativeInteger: range(undefined, -1n),
  nonPositiveInteger: range(undefined, 0n),
}

/** The range of a field: that of its type, narrowed by its own bounds. */
export const intRange = (shape: ScalarOf<'int'>): NumberRange<number> =>
  narrowRange(intBounds[shape.xsd ?? 'int'], shape)
export const longRange = (shape: ScalarOf<'long'>): NumberRange<bigint> =>
  narrowRange(longBounds[shape.xsd ?? 'long'], shape)

function narrowRange<N extends number | bigint>(
  { lowest, highest }: NumberRange<N>,
  { min, max }: { readonly min?: N; readonly max?: N },
): NumberRange<N> {
  return {
    lowest: min === undefined || (lowest !== undefined && lowest > min) ? lowest : min,
    highest: max === undefined || (highest !== undefined && highest < max) ? highest : max,
  }
}

/** Whether `outer` contains every number in `inner`. */
export const isRangeWithin = (inner: NumberRange, outer: NumberRange): boolean =>
  (outer.lowest === undefined || (inner.lowest !== undefined && inner.lowest >= outer.lowest)) &&
  (outer.highest === undefined || (inner.highest !== undefined && inner.highest <= outer.highest))

export function compileIntCheck(shape: ScalarOf<'int'>): (value: unknown) => number | Flaw {
  const check = compileRangeCheck(intRange(shape), intBounds[shape.xsd ?? 'int'])
  // Adding 0 turns minus zero, which whole numbers lack, into zero.
  return value => (typeof value === 'number' && Number.isInteger(value) ? check(value + 0) : typeFlaw('a whole number'))
}

export function compileLongCheck(shape: ScalarOf<'long'>): (value: unknown) => bigint | Flaw {
  const check = compileRangeCheck(longRange(shape), longBounds[shape.xsd ?? 'long'])
  return value => {
    const exact = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value
    return typeof exact === 'bigint' ? check(exact) : typeFlaw('a whole number')
  }
}

/** The bounds of a float are floats too (Part 2 §4.3.7): 0.1 is not above 0.1. */
export function compileDoubleCheck({ min, max, xsd }: ScalarOf<'double'>): (value: unknown) => number | Flaw {
  const round = xsd === 'float' ? Math.fround : (value: number) => value
  const range = { lowest: min === undefined ? min : round(min), highest: max === undefined ? max : round(max) }
  return value => {
    const number = typeof value === 'bigint' ? Number(value) : value
    return typeof number === 'number' ? checkRange(round(number), range) : typeFlaw('a number')
  }
}

/** A value outside the type's range is reported as such, even if the field has a narrower range. */
function compileRangeCheck<N extends number | bigint>(range: NumberRange<N>, ofType: NumberRange<N>) {
  return (value: N): N | Flaw => {
    const found = checkRange(value, range)
    if (!(found instanceof Flaw)) return found
    const wider = checkRange(value, ofType)
    return wider instanceof Flaw ? new Flaw(wider.code, wider.detail) : found
  }
}

/** NaN is in no range (Part 2 §3.2.5). */
function checkRange<N extends number | bigint>(value: N, { lowest, highest }: NumberRange<N>): N | Flaw {
  if (lowest !== undefined && !(value >= lowest)) return boundFlaw('minimum', `must be at least ${lowest}`)
  if (highest !== undefined && !(value <= highest)) return boundFlaw('maximum', `must be at most ${highest}`)
  return value
}
