import { Flaw, type Of, wrong } from './flaw.ts'
import { minus, zero } from './text.ts'

export const integerText = /^[+-]?[0-9]{1,400}$/

/** By hand up to fifteen digits, which a double holds whatever they are. */
export function integerOf(text: string): number | undefined {
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

const doubleText = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/
const specials: Readonly<Record<string, number>> = { INF: Infinity, '+INF': Infinity, '-INF': -Infinity, NaN: NaN }
export function readDouble(text: string): number | undefined {
  if (Object.hasOwn(specials, text)) return specials[text]
  return doubleText.test(text) ? Number(text) : undefined
}
export function writeDouble({ xsd }: Of<'double'>, value: number): string {
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
export function checkInt(shape: Of<'int'>, value: unknown): number | Flaw {
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
export function checkLong(shape: Of<'long'>, value: unknown): bigint | Flaw {
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

export function checkDouble(shape: Of<'double'>, value: unknown): number | Flaw {
  const number = typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number') return wrong('a number')
  if (shape.xsd !== 'float') return bounded(number, shape.min, shape.max)
  return bounded(Math.fround(number), floated(shape.min), floated(shape.max))
}
/** The bounds of a float are floats too (Part 2 §4.3.7): 0.1 is not above 0.1. */
const floated = (bound: number | undefined): number | undefined =>
  bound === undefined ? undefined : Math.fround(bound)
