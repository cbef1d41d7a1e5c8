/**
 * RFC 9110 §5.6.7 HTTP-date. Times are milliseconds since 1970 in UTC, as of Date.now(); HTTP has
 * whole seconds.
 */
import { memoizeByNumber } from '../base/memo.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const imfPattern = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/
const rfc850Pattern =
  /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/
const asctimePattern = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/

/**
 * The one form that may be sent, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
 * @param latest replaces a later time: §8.8.2.1, a Last-Modified in the future becomes now
 */
export const writeDate = (time: number, latest = Number.POSITIVE_INFINITY): string =>
  writeSecond(Math.floor((time > latest ? latest : time) / 1000))

const writeSecond = memoizeByNumber(second => new Date(second * 1000).toUTCString(), 1000)

/**
 * Reads all three forms that recipients must accept; undefined for other text, or for a day or time
 * that does not exist.
 * @param now for the two-digit year of RFC 850: more than 50 years after now means the century
 *   before. Without it, 70 to 99 mean the last century.
 */
export function parseDate(text: string, now?: number): number | undefined {
  let part = imfPattern.exec(text)
  if (part) return timeOf(part[3]!, part[2]!, part[1]!, part[4]!, part[5]!, part[6]!)
  part = asctimePattern.exec(text)
  if (part) return timeOf(part[6]!, part[1]!, part[2]!, part[3]!, part[4]!, part[5]!)
  part = rfc850Pattern.exec(text)
  if (!part) return undefined
  const within = (year: number) => timeOf(String(year), part[2]!, part[1]!, part[4]!, part[5]!, part[6]!)
  const twoDigits = Number(part[3])
  if (now === undefined) return within(twoDigits + (twoDigits >= 70 ? 1900 : 2000))
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  const found = within(year)
  return found !== undefined && found > new Date(now).setUTCFullYear(current + 50) ? within(year - 100) : found
}

function timeOf(year: string, month: string, day: string, hour: string, minute: string, second: string) {
  const at = new Date(0)
  at.setUTCFullYear(Number(year), months.indexOf(month), Number(day))
  if (at.getUTCDate() !== Number(day) || at.getUTCMonth() !== months.indexOf(month)) return undefined
  // §5.6.7: 60 is a leap second, which this clock counts as the next second.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  return at.getTime() + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000
}
