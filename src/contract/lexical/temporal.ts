/** Dates, times and durations (XML Schema Part 2 §3.2.6–§3.2.9): text that keeps its zone. */
import type { ScalarOf } from '../shape.ts'
import { type Flaw, typeFlaw } from './flaw.ts'
import { minusCode, zeroCode, zonePattern } from './text.ts'

const dateText = /^-?([1-9][0-9]{3,8}|0[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(.*)$/
const timeText = new RegExp(
  `^(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?|24:00:00(\\.0{1,12})?)${zonePattern}$`,
)
const zoneText = new RegExp(`^${zonePattern}$`)
const durationText =
  /^-?P(?=.)([0-9]{1,9}Y)?([0-9]{1,9}M)?([0-9]{1,9}D)?(T(?=.)([0-9]{1,9}H)?([0-9]{1,9}M)?([0-9]{1,9}(\.[0-9]{1,12})?S)?)?$/

/**
 * Whether the day exists in its month (Part 2 §3.2.9), and the text after it matches. A year of
 * four digits is parsed by hand; the slow twin is `isAnyDay`.
 */
export function isDay(text: string, matchesTail: (tail: string) => boolean): boolean {
  const [year, month, day] = [parseDigits(text, 0, 4), parseDigits(text, 5, 7), parseDigits(text, 8, 10)]
  const isPlain = year >= 0 && text.charCodeAt(4) === minusCode && text.charCodeAt(7) === minusCode
  if (!isPlain) return isAnyDay(text, matchesTail)
  return day > 0 && day <= daysOfMonth(year, month) && matchesTail(text.slice(10))
}

/** The slow twin of `isDay`: with years of more digits, and years before the first. */
export function isAnyDay(text: string, matchesTail: (tail: string) => boolean): boolean {
  const [, year, month, day, tail] = dateText.exec(text) ?? []
  if (year === undefined || month === undefined || tail === undefined) return false
  return Number(day) <= daysOfMonth(Number(year), Number(month)) && matchesTail(tail)
}

/** 0 for an unknown month. */
function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : month >= 1 && month <= 12 ? 31 : 0
}

/** -1 where a character is not a digit. */
function parseDigits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - zeroCode
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

type TemporalShape = ScalarOf<'date' | 'time' | 'dateTime' | 'duration'>
interface TemporalForm {
  readonly matches: (text: string) => boolean
  /** For people. */
  readonly example: string
}
const formOf: Readonly<Record<TemporalShape['kind'], TemporalForm>> = {
  date: {
    matches: text => isDay(text, tail => tail === '' || zoneText.test(tail)),
    example: 'a date, such as 2026-11-21',
  },
  time: { matches: text => timeText.test(text), example: 'a time, such as 12:30:00Z' },
  dateTime: {
    matches: text => isDay(text, tail => tail[0] === 'T' && timeText.test(tail.slice(1))),
    example: 'a date and time, such as 2026-11-21T12:30:00Z',
  },
  duration: { matches: text => durationText.test(text), example: 'a duration, such as P1DT12H' },
}

export function compileTemporalCheck({ kind }: TemporalShape): (value: unknown) => string | Flaw {
  const { matches, example } = formOf[kind]
  return value => (typeof value === 'string' && matches(value) ? value : typeFlaw(example))
}

/**
 * A dateTime in milliseconds since 1970, with fractions; a time without zone is UTC. Only for
 * comparing.
 */
export function parseInstant(text: string): number {
  const zoned = /(Z|[+-][0-9]{2}:[0-9]{2})$/.test(text) ? text : `${text}Z`
  const { sign = '', year = '', day = '', time = '', zone = '' } = otherYear.exec(zoned)?.groups ?? {}
  return Date.parse(year ? `${sign || '+'}${year.padStart(6, '0')}${day}${time || 'T00:00:00'}${zone}` : zoned)
}
/** Before the year 1, or of more than four digits: ECMAScript writes a sign and six digits. */
const otherYear =
  /^(?<sign>-?)(?<year>(?<=-)\d{4,6}|\d{5,6})(?<day>-\d\d-\d\d)(?<time>T[\d:.]+)?(?<zone>Z|[+-]\d\d:\d\d)$/
