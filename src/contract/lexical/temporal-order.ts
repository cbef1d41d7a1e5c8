/**
 * The order of dates, times and durations (XML Schema 1.1 Part 2 §3.3.6.1, §3.3.7, appendix E.3.3).
 * It is partial: a time without a zone may be in any zone, and months differ in length. Values
 * without an order give undefined, and so does any other text.
 */

/** A time zone is at most this far from UTC, in picoseconds. */
const zoneMost = 14n * 3_600_000_000_000_000n
const picosecondsPerSecond = 1_000_000_000_000n

interface Moment {
  /** Picoseconds; if the text lacks the year, it is 1972; month and day default to 1. */
  readonly at: bigint
  readonly isZoned: boolean
}
/**
 * gYear, gYearMonth, gMonth, gMonthDay, gDay, date, dateTime or time, and a zone. A longer year has
 * no order: finding it would be expensive, and a message may contain one of megabytes.
 */
const momentText =
  /^(?:(?<year>-?\d{4,18})|-)?(?:-(?<month>\d\d)?)?(?:-(?<day>\d\d))?T?(?:(?<hour>\d\d):(?<minute>\d\d):(?<second>[\d.]+))?(?<zone>Z|[+-]\d\d:\d\d)?$/

function momentOf(text: string): Moment | undefined {
  const parts = momentText.exec(text)?.groups
  if (!parts) return undefined
  const { year = '1972', month = '1', day = '1', hour = '0', minute = '0', second = '0', zone } = parts
  // §3.3.8: the end of a day that is not given is its beginning.
  const isMidnight = hour === '24' && parts['day'] === undefined
  const minutes = (isMidnight ? 0 : Number(hour) * 60) + Number(minute) - minutesOfZone(zone)
  const seconds = daysBefore(BigInt(year), Number(month), Number(day)) * 86_400n + BigInt(minutes) * 60n
  return { at: seconds * picosecondsPerSecond + picosecondsOf(second), isZoned: zone !== undefined }
}
function minutesOfZone(zone = 'Z'): number {
  const minutes = zone === 'Z' ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))
  return zone.startsWith('-') ? -minutes : minutes
}
function picosecondsOf(seconds: string): bigint {
  const [whole = '', fraction = ''] = seconds.split('.')
  return BigInt(whole + fraction.padEnd(12, '0').slice(0, 12))
}

const floorDivide = (dividend: bigint, by: bigint): bigint => (dividend - (((dividend % by) + by) % by)) / by
/** Days up to this one, from a fixed day on, by today's calendar for all years. */
function daysBefore(year: bigint, month: number, day: number): bigint {
  const isEarly = month < 3 // the leap day is the last one of a year that begins in March
  const from = isEarly ? year - 1n : year
  const daysOfMonths = Math.floor((153 * (month + (isEarly ? 9 : -3)) + 2) / 5)
  const leapDays = floorDivide(from, 4n) - floorDivide(from, 100n) + floorDivide(from, 400n)
  return from * 365n + leapDays + BigInt(daysOfMonths + day)
}

const compareIntegers = (left: bigint, right: bigint): number => (left < right ? -1 : left > right ? 1 : 0)

export function compareMoments(one: string, other: string): number | undefined {
  const [left, right] = [momentOf(one), momentOf(other)]
  if (!left || !right) return undefined
  if (left.isZoned === right.isZoned) return compareIntegers(left.at, right.at)
  const apart = left.at - right.at
  if (apart > zoneMost) return 1
  return apart < -zoneMost ? -1 : undefined
}
/** The same key for texts of the same moment: "12:00:00Z" and "13:00:00+01:00". */
export function keyOfMoment(text: string): string | undefined {
  const moment = momentOf(text)
  return moment && `${moment.at}${moment.isZoned ? 'Z' : ''}`
}

interface Duration {
  readonly months: number
  readonly picoseconds: bigint
}
const durationText =
  /^(?<sign>-?)P(?=.*\d)(?:(?<years>\d+)Y)?(?:(?<months>\d+)M)?(?:(?<days>\d+)D)?(?:T(?:(?<hours>\d+)H)?(?:(?<minutes>\d+)M)?(?:(?<seconds>[\d.]+)S)?)?$/
function durationOf(text: string): Duration | undefined {
  const parts = durationText.exec(text)?.groups
  if (!parts) return undefined
  const { sign, years = 0, months = 0, days = 0, hours = 0, minutes = 0, seconds = '0' } = parts
  const minutesOfAll = (BigInt(days) * 24n + BigInt(hours)) * 60n + BigInt(minutes)
  const picoseconds = minutesOfAll * 60n * picosecondsPerSecond + picosecondsOf(seconds)
  const monthsOfAll = Number(years) * 12 + Number(months)
  return sign ? { months: -monthsOfAll, picoseconds: -picoseconds } : { months: monthsOfAll, picoseconds }
}

/** §3.3.6.1: the months after which all orders of long and short ones are met. */
const startsOfOrder = [
  [1696, 9],
  [1697, 2],
  [1903, 3],
  [1903, 7],
] as const
function endsOf({ months, picoseconds }: Duration): readonly bigint[] {
  return startsOfOrder.map(([year, month]) => {
    const all = year * 12 + month - 1 + months
    const days = daysBefore(BigInt(Math.floor(all / 12)), (((all % 12) + 12) % 12) + 1, 1)
    return days * 86_400n * picosecondsPerSecond + picoseconds
  })
}

export function compareDurations(one: string, other: string): number | undefined {
  const [left, right] = [durationOf(one), durationOf(other)]
  if (!left || !right) return undefined
  const others = endsOf(right)
  const [order, ...more] = endsOf(left).map((end, at) => compareIntegers(end, others[at] ?? end))
  return more.every(each => each === order) ? order : undefined
}
/** The same key for texts of the same duration: "P1D" and "PT24H". */
export function keyOfDuration(text: string): string | undefined {
  const duration = durationOf(text)
  return duration && `${duration.months} ${duration.picoseconds}`
}
