/**
 * Jobs that begin by the clock. At most once for each instant over all instances: the instant is
 * written down in the transaction that starts the job. After a time in which nobody ran, the last
 * instant that was missed is made up for, and no other.
 */
import type { Values } from '../contract/implement.ts'
import type { Caller } from '../contract/policy.ts'
import { queuedJob } from './job.ts'
import type { Store } from './store.ts'

export interface Schedule {
  /** Tells it from the others; what has run under this name is remembered. */
  readonly name: string
  readonly job: string
  /**
   * Seconds, counted from midnight UTC of 1 January 1970; or five fields of cron, in UTC: `30 3 * *
   * 1-5`.
   */
  readonly at: number | string
  /** Of the job, in the contract's types; for the instant in milliseconds since 1970. */
  readonly input: (instant: number) => Values
  /** In whose name it runs, and who may see it. */
  readonly as: Caller
}

/** The last instant up to now; undefined for a time that never comes. */
export type Instants = (now: number) => number | undefined

/** Throws when it is not a schedule, with the cure. */
export function parseSchedule(at: Schedule['at']): Instants {
  if (typeof at === 'string') return parseCron(at)
  if (!(Number.isInteger(at) && at > 0)) throw new Error(`${at} seconds is no interval: give a whole number above 0`)
  return now => Math.floor(now / (at * 1000)) * at * 1000
}

const ranges = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 7],
] as const

/** crontab(5): where day and weekday are both restricted, either will do. */
function parseCron(text: string): Instants {
  const fields = text.trim().split(/\s+/)
  if (fields.length !== 5) throw new Error(`"${text}" is no schedule: give minute, hour, day, month and weekday`)
  const [minutes, hours, days, months, weekdays] = ranges.map(([name, least, most], i) =>
    parseNumbers(fields[i] ?? '', name, least, most),
  ) as [number[], number[], number[], number[], number[]] // one for each range
  const anyDay = fields[2]?.startsWith('*')
  const anyWeekday = fields[4]?.startsWith('*')
  const onDay = (date: Date): boolean => {
    const day = days.includes(date.getUTCDate())
    const weekday = weekdays.some(each => each % 7 === date.getUTCDay())
    return months.includes(date.getUTCMonth() + 1) && (anyDay || anyWeekday ? day && weekday : day || weekday)
  }
  return now => {
    const today = Math.floor(now / day) * day
    for (let start = today; start > today - longest; start -= day) {
      if (!onDay(new Date(start))) continue
      const times = hours.flatMap(hour => minutes.map(minute => start + (hour * 60 + minute) * 60_000))
      const last = times.findLast(each => each <= now)
      if (last !== undefined) return last
    }
    return undefined
  }
}
const day = 86_400_000
/** 29 February comes once in eight years where a century is none (1896, 1904). */
const longest = 8 * 366 * day

function parseNumbers(field: string, name: string, least: number, most: number): number[] {
  const wrong = (): never => {
    throw new Error(`"${field}" is no ${name} of a schedule: they are ${least} to ${most}, *, lists, ranges and steps`)
  }
  const found = field.split(',').flatMap(part => {
    const [, range = '', step = '1'] = /^(\*|\d+(?:-\d+)?)(?:\/(\d+))?$/.exec(part) ?? wrong()
    const [low = least, high = part.includes('/') ? most : low] =
      range === '*' ? [least, most] : range.split('-').map(Number)
    if (low < least || high > most || low > high || Number(step) === 0) wrong()
    return Array.from({ length: Math.floor((high - low) / Number(step)) + 1 }, (_, i) => low + i * Number(step))
  })
  return [...new Set(found)].sort((a, b) => a - b)
}

const space = 'schedule'
const forever = 8.64e15

/**
 * Starts the job where its instant has come and nobody has; answers whether it did. The first look
 * of all starts nothing.
 */
export function startDueJobs(
  store: Store,
  { name, job, input, as }: Schedule,
  instants: Instants,
  { clock, id }: { readonly clock: () => number; readonly id: (prefix: string) => string },
): Promise<boolean> {
  return store.write(async writer => {
    const now = clock()
    const instant = instants(now)
    if (instant === undefined) return false
    const last = await writer.recall(space, name)
    if (last && Number(last.value) >= instant) return false
    await writer.forget(space, name)
    await writer.remember(space, name, { value: String(instant), expires: forever }, now)
    if (last) await writer.putJob(queuedJob(id('j'), job, as, input(instant), now))
    return last !== undefined
  })
}
