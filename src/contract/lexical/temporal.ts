/** Dates, times and durations (XML Schema Part 2 §3.2.6–§3.2.9): text that keeps its zone. */
import type { ScalarOf } from '../shape.ts'
import { boundFlaw, type Flaw, typeFlaw } from './flaw.ts'
import { minusCode, zeroCode, zonePattern } from './text.ts'

const timeText = new RegExp(
  `^(([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,12})?|24:00:00(\\.0{1,12})?)${zonePattern}$`,
)
const zoneText = new RegExp(`^${zonePattern}$`)
const durationText =
  /^-?P(?=.)(\d{1,9}Y)?(\d{1,9}M)?(\d{1,9}D)?(T(?=.)(\d{1,9}H)?(\d{1,9}M)?(\d{1,9}(\.\d{1,12})?S)?)?$/

/**
 * Whether the day exists in its month (Part 2 §3.2.9), and the text after it matches. Written by
 * hand: a regular expression takes twice as long.
 */
export function isDay(text: string, matchesTail: (tail: string) => boolean): boolean {
  const from = text.charCodeAt(0) === minusCode ? 1 : 0
  const end = text.indexOf('-', from)
  const digits = end - from
  // A year has more than four digits only if it needs them.
  if (digits < 4 || digits > 9 || (digits > 4 && text.charCodeAt(from) === zeroCode)) return false
  const [year, month, day] = [
    parseDigits(text, from, end),
    parseDigits(text, end + 1, end + 3),
    parseDigits(text, end + 4, end + 6),
  ]
  const isWritten = year >= 0 && day > 0 && text.charCodeAt(end + 3) === minusCode
  return isWritten && day <= daysOfMonth(year, month) && matchesTail(text.slice(end + 6))
}

/** 0 for an unknown month. The months of 31 days are the odd ones, from August on the even ones. */
function daysOfMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month > 0 && month < 13 ? 30 + ((month + (month >> 3)) & 1) : 0
}

/** -1 if a character is not a digit. */
function parseDigits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - zeroCode
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

export type TemporalShape = ScalarOf<'date' | 'time' | 'dateTime' | 'duration'>
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

/** RFC 3339 §5.6: a year with four digits, and no hour 24. XML Schema 1.0 has no year 0000. */
const plainText = /^(?!0000|24:|.*T24)\d{2,4}[:-]/

export function compileTemporalCheck({ kind, zone }: TemporalShape): (value: unknown) => string | Flaw {
  const { matches, example } = formOf[kind]
  const isOfRule = (text: string): boolean =>
    plainText.test(text) && (zone === 'optional' || /Z|[+-]..:/.test(text) === (zone === 'required'))
  return value => {
    if (typeof value !== 'string' || !matches(value)) return typeFlaw(example)
    return !zone || isOfRule(value) ? value : boundFlaw('pattern', `must be ${example} (zone ${zone})`)
  }
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
