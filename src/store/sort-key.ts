/**
 * Keys that sort values in the order of their type (XML Schema Part 2 §3.2) in a database that
 * compares text byte by byte: an instant in any zone, a duration, a whole number of any size. Equal
 * keys mean equal values.
 */
import { isRangeWithin, longRange, type NumberRange } from '../contract/lexical/number.ts'
import type { ScalarOf } from '../contract/shape.ts'

const zonePattern = /(?:Z|([+-])(\d\d):(\d\d))?$/
const datePattern = /^(-?\d+)-(\d\d)-(\d\d)/
const timePattern = /(\d\d):(\d\d):(\d\d)(?:\.(\d+))?/

/**
 * Minutes reach at most a tenth of this either way (years have nine digits), so every key has the
 * same number of digits.
 */
const minutesMiddle = 5e15

/** For a date, a time or a dateTime. A value without a zone counts as UTC. */
export function instantKey(text: string): string {
  const [zone, sign, zoneHours = '0', zoneMinutes = '0'] = zonePattern.exec(text) ?? ['']
  const local = text.slice(0, text.length - zone.length)
  const [date = '', year, month, day] = datePattern.exec(local) ?? []
  const [, hours = '0', minutes = '0', seconds = '00', fraction = ''] = timePattern.exec(local.slice(date.length)) ?? []
  const days = year === undefined ? 0 : daysSince1970(Number(year), Number(month), Number(day))
  const offset = (Number(zoneHours) * 60 + Number(zoneMinutes)) * (sign === '-' ? -1 : 1)
  const whole = days * 1440 + Number(hours) * 60 + Number(minutes) - offset
  return `${minutesMiddle + whole}${seconds}${trimZeros(fraction)}`
}

/** Written by hand: a regular expression for trailing zeros would retry at each run of zeros. */
function trimZeros(fraction: string): string {
  let to = fraction.length
  while (fraction[to - 1] === '0') to--
  return fraction.slice(0, to)
}

/** The proleptic Gregorian calendar; a year begins in March, so that a leap day is its last. */
function daysSince1970(year: number, month: number, day: number): number {
  const shifted = month > 2 ? year : year - 1
  const era = Math.floor(shifted / 400)
  const ofEra = shifted - era * 400
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return era * 146097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719468
}

const durationPattern = /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?$/
/**
 * The mean month of the Gregorian calendar. Months and seconds have no total order (§3.2.6.2); this
 * is the closest approximation.
 */
const monthSeconds = 2_629_746n

export function durationKey(text: string): string {
  const [, sign, ...parts] = durationPattern.exec(text) ?? []
  const [years, months, days, hours, minutes, seconds] = parts.slice(0, 6).map(part => BigInt(part ?? 0))
  const allMonths = (years ?? 0n) * 12n + (months ?? 0n)
  const allSeconds = (((days ?? 0n) * 24n + (hours ?? 0n)) * 60n + (minutes ?? 0n)) * 60n + (seconds ?? 0n)
  const parted = (allMonths * monthSeconds + allSeconds) * 10n ** 12n + BigInt((parts[6] ?? '').padEnd(12, '0'))
  const signed = (units: bigint): bigint => (sign === '-' ? -units : units)
  return `${5n * 10n ** 32n + signed(parted)}/${5n * 10n ** 12n + signed(allMonths)}`
}

/** A whole number of at most 400 digits: its length, then its digits, both inverted if negative. */
export function integerKey(value: bigint): string {
  const digits = String(value < 0n ? -value : value)
  if (value >= 0n) return `p${String(digits.length).padStart(3, '0')}${digits}`
  return `n${999 - digits.length}${digits.replace(/\d/g, digit => String(9 - Number(digit)))}`
}

const sixtyFourBits: NumberRange = { lowest: -(2n ** 63n - 1n), highest: 2n ** 63n - 1n }
/** Whether a whole number may need more than 64 bits. */
export const isLarge = (shape: ScalarOf<'long'>): boolean =>
  shape.xsd !== undefined && shape.xsd !== 'long' && !isRangeWithin(longRange(shape), sixtyFourBits)
