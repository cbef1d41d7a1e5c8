/** RFC 9110 §5.6.7 HTTP-date. Times are milliseconds since 1970 in UTC, as Date.now() gives them; HTTP has whole seconds. */
import { memoizeByNumber } from '../base/memo.ts'

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const imf = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/
const rfc850 = /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/
const asctime = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/

/** The one form that may be sent, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`. */
export const writeDate = (time: number): string => writeSecond(Math.floor(time / 1000))

const writeSecond = memoizeByNumber(second => new Date(second * 1000).toUTCString(), 1000)

/**
 * All three forms a recipient must take; undefined when it is none, or no such day or time exists.
 * @param now for the two digits of an RFC 850 year: more than 50 years after now means the century before.
 *   Without it, 70 to 99 are of the last century.
 */
export function parseDate(text: string, now?: number): number | undefined {
  let part = imf.exec(text)
  if (part) return time(part[3]!, part[2]!, part[1]!, part[4]!, part[5]!, part[6]!)
  part = asctime.exec(text)
  if (part) return time(part[6]!, part[1]!, part[2]!, part[3]!, part[4]!, part[5]!)
  part = rfc850.exec(text)
  if (!part) return undefined
  const within = (year: number) => time(String(year), part[2]!, part[1]!, part[4]!, part[5]!, part[6]!)
  const twoDigits = Number(part[3])
  if (now === undefined) return within(twoDigits + (twoDigits >= 70 ? 1900 : 2000))
  const current = new Date(now).getUTCFullYear()
  const year = current - (current % 100) + twoDigits
  const found = within(year)
  return found !== undefined && found > new Date(now).setUTCFullYear(current + 50) ? within(year - 100) : found
}

function time(year: string, month: string, day: string, hour: string, minute: string, second: string) {
  const at = new Date(0)
  at.setUTCFullYear(Number(year), months.indexOf(month), Number(day))
  if (at.getUTCDate() !== Number(day) || at.getUTCMonth() !== months.indexOf(month)) return undefined
  // §5.6.7: 60 is a leap second, which the clock here counts as the next one.
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  return at.getTime() + Number(hour) * 3_600_000 + Number(minute) * 60_000 + Number(second) * 1000
}
