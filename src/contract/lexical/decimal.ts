import { memoizeByObject } from '../../base/memo.ts'
import { Flaw, type Of, wrong } from './flaw.ts'
import { point, zero } from './text.ts'

const decimalText = /^([+-]?)([0-9]*)(?:\.([0-9]*))?$/
/** Units of the last place, for comparing and keeping: "12.50" with two places is 1250n. Undefined when it is no decimal of that form. */
export function parseScaledDecimal(text: string, places: number): bigint | undefined {
  if (text.length > 64) return undefined
  const [, sign, whole = '', fraction = ''] = decimalText.exec(text) ?? []
  if (sign === undefined || whole + fraction === '' || /[^0]/.test(fraction.slice(places))) return undefined
  const units = BigInt(`${whole}${fraction.slice(0, places).padEnd(places, '0')}` || '0')
  return sign === '-' ? -units : units
}
/** The way back: 1250n with two places is "12.50". */
export function writeScaledDecimal(units: bigint | number, places: number): string {
  const digits = String(units < 0 ? -units : units).padStart(places + 1, '0')
  const sign = units < 0 ? '-' : ''
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`
}
/** The bounds of a decimal in units, as doubles; undefined where one is wider than a double is exact. */
interface Plain {
  readonly least: number
  readonly most: number
}
const plainOf = memoizeByObject((shape: Of<'decimal'>): Plain | 'wide' => {
  const { min, max, digits, places } = shape
  const most = 10 ** digits - 1
  const [least, highest] = [min, max].map(each =>
    each === undefined ? undefined : Number(parseScaledDecimal(each, places) ?? 0n),
  )
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

export function checkDecimal(shape: Of<'decimal'>, value: string): string | Flaw {
  const bounds = plainOf(shape)
  const whole = bounds === 'wide' ? undefined : unitsOf(value, shape.places)
  if (bounds !== 'wide' && whole !== undefined && whole >= bounds.least && whole <= bounds.most) return value
  return checkedDecimal(shape, value)
}

/** Whatever it looks like, and what is wrong with it. */
function checkedDecimal(shape: Of<'decimal'>, value: string): string | Flaw {
  const units = parseScaledDecimal(value, shape.places)
  if (units === undefined)
    return wrong(
      `decimal text with at most ${shape.places} places, such as "${writeScaledDecimal(1250, shape.places)}"`,
    )
  const unsigned = shape.min !== undefined && !shape.min.startsWith('-')
  if (unsigned && /^[+-]/.test(value)) return new Flaw('pattern', 'must have no sign')
  if (shape.min !== undefined && units < (parseScaledDecimal(shape.min, shape.places) ?? 0n))
    return new Flaw('minimum', `must be at least ${shape.min}`)
  if (shape.max !== undefined && units > (parseScaledDecimal(shape.max, shape.places) ?? 0n))
    return new Flaw('maximum', `must be at most ${shape.max}`)
  return (units < 0n ? -units : units) >= 10n ** BigInt(shape.digits)
    ? new Flaw('totalDigits', `must have at most ${shape.digits} digits`)
    : writeScaledDecimal(units, shape.places)
}
