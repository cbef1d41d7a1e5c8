import { minus, zero, zone } from './text.ts'

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

export const temporal: Readonly<Record<'date' | 'time' | 'dateTime' | 'duration', (text: string) => boolean>> = {
  date: text => isDay(text, tail => tail === '' || zoneText.test(tail)),
  time: text => timeText.test(text),
  dateTime: text => isDay(text, tail => tail[0] === 'T' && timeText.test(tail.slice(1))),
  duration: text => durationText.test(text),
}
export const temporalForm = {
  date: 'a date, such as 2026-11-21',
  time: 'a time, such as 12:30:00Z',
  dateTime: 'a date and time, such as 2026-11-21T12:30:00Z',
  duration: 'a duration, such as P1DT12H',
} as const

/** A dateTime as an instant in milliseconds, fractions kept; a time without zone is taken as UTC. For order, not for show. */
export function parseInstant(text: string): number {
  return Date.parse(/(Z|[+-][0-9]{2}:[0-9]{2})$/.test(text) ? text : `${text}Z`)
}
