/**
 * Exact decimals (XML Schema Part 2 §3.2.3): text with fixed places, compared and stored as whole
 * units.
 */
import type { ScalarOf } from '../shape.ts'
import { boundFlaw, type Flaw, typeFlaw } from './flaw.ts'
import { pointCode, zeroCode } from './text.ts'

const decimalText = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/
const decimalCharactersMax = 64

/**
 * Units of the last place: "12.50" with two places is 1250n. Undefined if the text needs more
 * places.
 */
export function parseScaledDecimal(text: string, places: number): bigint | undefined {
  if (text.length > decimalCharactersMax) return undefined
  const [, sign, whole = '', fraction = ''] = decimalText.exec(text) ?? []
  if (sign === undefined || whole + fraction === '' || /[^0]/.test(fraction.slice(places))) return undefined
  const units = BigInt(`${whole}${fraction.slice(0, places).padEnd(places, '0')}` || '0')
  return sign === '-' ? -units : units
}

/**
 * The fast twin of `parseScaledDecimal`, for canonical text: digits and all places, without a sign
 * or leading zeros. Undefined for any other text, and for text of more than 16 characters.
 */
export function parseCanonicalDecimal(text: string, places: number): number | undefined {
  const at = places === 0 ? text.length : text.length - places - 1
  if (at < 1 || text.length > 16 || (at > 1 && text.charCodeAt(0) === zeroCode)) return undefined
  let units = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (i !== at && (code < zeroCode || code > zeroCode + 9)) return undefined
    if (i === at && code !== pointCode) return undefined
    if (i !== at) units = units * 10 + code - zeroCode
  }
  return units
}

/** The inverse: 1250n with two places is "12.50". */
export function writeScaledDecimal(units: bigint | number, places: number): string {
  const digits = String(units < 0 ? -units : units).padStart(places + 1, '0')
  const sign = units < 0 ? '-' : ''
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Nearly every decimal is canonical: such text is compared as a double, without a bigint. */
export function compileDecimalCheck(shape: ScalarOf<'decimal'>): (value: unknown) => string | Flaw {
  const { places } = shape
  const range = exactRange(shape)
  return value => {
    if (typeof value !== 'string') return typeFlaw('decimal text, such as "12.50"')
    if (range) {
      const units = parseCanonicalDecimal(value, places)
      if (units !== undefined && units >= range.lowest && units <= range.highest) return value
    }
    return checkAnyDecimal(shape, value)
  }
}

/** The bounds in units; undefined if a double is not exact for all values. */
function exactRange({ min, max, digits, places }: ScalarOf<'decimal'>) {
  const largest = 10 ** digits - 1
  const lowest = min === undefined ? -largest : Number(parseScaledDecimal(min, places) ?? 0n)
  const highest = max === undefined ? largest : Number(parseScaledDecimal(max, places) ?? 0n)
  return digits > 15 || Math.max(Math.abs(lowest), Math.abs(highest)) > largest ? undefined : { lowest, highest }
}

/** The slow twin: text in any form → its canonical text, or the flaw. */
export function checkAnyDecimal({ digits, places, min, max }: ScalarOf<'decimal'>, value: string): string | Flaw {
  const units = parseScaledDecimal(value, places)
  if (units === undefined)
    return typeFlaw(`decimal text with at most ${places} places, such as "${writeScaledDecimal(1250, places)}"`)
  if (min !== undefined && !min.startsWith('-') && /^[+-]/.test(value)) return boundFlaw('pattern', 'must have no sign')
  if (min !== undefined && units < (parseScaledDecimal(min, places) ?? 0n))
    return boundFlaw('minimum', `must be at least ${min}`)
  if (max !== undefined && units > (parseScaledDecimal(max, places) ?? 0n))
    return boundFlaw('maximum', `must be at most ${max}`)
  return (units < 0n ? -units : units) >= 10n ** BigInt(digits)
    ? boundFlaw('totalDigits', `must have at most ${digits} digits`)
    : writeScaledDecimal(units, places)
}
